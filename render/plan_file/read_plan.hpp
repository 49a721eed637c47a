// A plan as it is read back from its JSON, for all that goes on with it: feeds, and what looks at it later.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/plan/recorded.hpp"

namespace backreach {

// A step as a feed needs it.
struct FeedSpan {
  std::string from, to;
};
// A line of shell (or of SQL, by the engine `sql`), and the words of one that calls a program.
struct FeedLine {
  std::string text;
  std::vector<std::string> words;
};
struct FeedMethod {
  std::string engine, effect, client;
  std::vector<FeedLine> commands;
};
struct FeedStep {
  int id = 0, wave = 0;
  std::vector<int> after;
  std::string dataset, action;
  bool whole = false, sequential = false;
  std::vector<std::string> interleaved;
  std::optional<int> run;
  std::vector<FeedSpan> spans;
  std::vector<FeedMethod> methods;
  std::vector<std::string> dbt_checks;  // queries whose every row is a fault, with dbt's ref()
  std::string staged_check;             // a query of the rows that are about to be written: each row a fault
  std::string position, back;           // what to note before the step, and the command to return; or ""
};
struct FeedHazard {
  std::string line;  // for people: "append-duplicates fct_orders: ..."
  bool blocking = false, accepted = false;
};
struct FeedPlan {
  std::string id, summary, now;
  std::vector<FeedStep> steps;
  std::vector<std::string> afterwards;
  std::vector<FeedHazard> hazards;
  // How many cells of the plan may run at a time without making anybody else late, and from when on.
  std::optional<int> at_a_time;
  std::string best_start;
};

// Reads a plan and checks its form. Throws Error(kBadRequest) with the place of what is wrong: `path` is for
// the message.
FeedPlan ReadFeedPlan(const std::string& plan_json, const std::string& path);
// All of it, for what looks at a plan later.
RecordedPlan ReadRecordedPlan(const std::string& plan_json, const std::string& path);

}  // namespace backreach
