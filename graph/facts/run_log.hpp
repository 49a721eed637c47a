// The log of what was rebuilt, and of what is in progress: one entry for each start of a plan. Datasets go by
// their canonical names and cells by their instants, so an entry outlives the graph that its plan was made
// from.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "graph/time/span.hpp"
#include "graph/time/time.hpp"

namespace backreach {

// Cells that one step of a run writes: its own, or (`along`) what the same run writes beside.
struct LoggedStep {
  enum class State { kPlanned, kStarted, kDone, kFailed };
  int id = 0;
  std::string dataset;
  bool whole = false, along = false;
  SpanSet spans;                                          // empty where `whole`
  std::map<std::string, std::vector<std::string>> where;  // of dimensions beside time; empty: all values
  State state = State::kPlanned;
  SpanSet done;          // of a step that is not done: the cells of it that are
  std::string at;        // an instant: the last that was logged of it, or ""
  std::string position;  // of the table before it, to go back to
  friend bool operator==(const LoggedStep&, const LoggedStep&) = default;
};

struct LoggedRun {
  enum class State { kInProgress, kFinished, kAbandoned };
  std::int64_t number = 0;  // from 1; 0: not in the log yet
  std::string plan, started_at, ended_at, by, summary;
  State state = State::kInProgress;
  std::vector<LoggedStep> steps;
  friend bool operator==(const LoggedRun&, const LoggedRun&) = default;
};

const char* ToString(LoggedStep::State state);
const char* ToString(LoggedRun::State state);

// The cells that a step has rebuilt so far: all of them where its run was finished. `whole` tells of a step
// that writes all of a table.
struct LoggedCells {
  bool whole = false;
  SpanSet spans;
  bool empty() const { return !whole && spans.empty(); }
};
LoggedCells Rebuilt(const LoggedRun& run, const LoggedStep& step);
// What a run in progress holds: all that it is to write.
LoggedCells Held(const LoggedRun& run, const LoggedStep& step);

}  // namespace backreach
