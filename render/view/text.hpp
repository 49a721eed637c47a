// Answers for people in a terminal.
#pragma once

#include <string>

#include "analysis/plan/plan.hpp"
#include "graph/lineage/lineage.hpp"

namespace backreach {

struct TextStyle {
  int width = 80;
  bool colour = false;
  bool all = false;  // every step of a long plan
  // What was asked, as words of a command line without the command: for commands that can be pasted. Without
  // it they are made from the plan's own request.
  std::string asked = {};
};

std::string PlanText(const LineageGraph& graph, const Plan& plan, const TextStyle& style);

// Names as short as they can be without confusion among all datasets of a graph.
class ShortNames {
 public:
  explicit ShortNames(const LineageGraph& graph);
  std::string operator()(DatasetId id) const;
  std::string List(const std::vector<DatasetId>& ids, std::size_t most = 5) const;

 private:
  const LineageGraph& graph_;
  std::vector<std::string> names_;
};

// How many cells a step writes: "31 days", "4 cells" where they stand for several values of a dimension.
std::string StepCells(const Step& step);
// "0 tasks and 0 ways out of hooks and tasks are known".
std::string LookedInto(const LineageGraph& graph);
// That no copy is out of reach, and on what ground that is said.
std::string NoCopies(const LineageGraph& graph, const Plan& plan, const ShortNames& names);

}  // namespace backreach
