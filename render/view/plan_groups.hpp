// A plan's hazards and steps put together where they say the same, so that a plan of forty tables can be
// read.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "analysis/plan/plan.hpp"

namespace backreach {

// Hazards of one code and severity that one sentence says: with their datasets' names behind it.
struct HazardGroup {
  std::string code;
  HazardSeverity severity;
  std::vector<const Hazard*> hazards;  // one: its own message is the sentence
  std::string sentence, remedy;        // full names in them
};
// In the plan's order, those that are not accepted. `apart`: each by itself.
std::vector<HazardGroup> GroupHazards(const LineageGraph& graph, const Plan& plan, bool apart);
// Whom a group is about: names where they are few, else the numbers of their steps ("steps 2-9 and 14").
std::string WhoOf(const HazardGroup& group, const Plan& plan,
                  const std::function<std::string(DatasetId)>& name);

// Steps of one wave that one command does, or one step.
struct StepGroup {
  int wave = 0;
  std::vector<const Step*> steps;
  std::vector<std::string> commands;  // whole lines to be typed in turn
};
// Models are selected by their names alone where that means them and nothing else.
std::vector<StepGroup> GroupSteps(const LineageGraph& graph, const Plan& plan);
// "2", "2-9", "2, 5 and 7": numbers of steps.
std::string NumbersText(std::vector<int> numbers);
// A command on several lines that can be pasted as they stand.
std::string CommandLines(const std::string& command, int width, const std::string& indent);

}  // namespace backreach
