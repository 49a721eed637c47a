// What `run` does to the log of runs: pure changes of entries, to be made inside one transaction of the
// store.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/plan/recorded.hpp"
#include "graph/facts/run_log.hpp"

namespace backreach {

// An entry for the start of a plan: its steps with all that they write.
LoggedRun EntryOf(const RecordedPlan& plan);

// Why a plan must not be started, a line each; empty if it may. `force`: blocking hazards that are not
// accepted are taken as accepted; cells that a run in progress holds never are.
std::vector<std::string> RefusalsOf(const std::vector<LoggedRun>& log, const RecordedPlan& plan, bool force);

// The entry of this plan that is in progress, or the newest one; null where it was never started.
LoggedRun* FindRun(std::vector<LoggedRun>& log, const std::string& plan, bool in_progress);
const LoggedRun* FindRun(const std::vector<LoggedRun>& log, const std::string& plan, bool in_progress);

struct StepReport {
  int id = 0;
  LoggedStep::State state = LoggedStep::State::kDone;
  std::optional<SpanSet> cells;  // of it alone, where it is not all of the step
  std::string at, position;
};
// Throws Error(kBadRequest) for a step that the run does not have.
void LogStep(LoggedRun& run, const StepReport& report);

// How many of a run's steps are done, of how many.
struct Progress {
  std::size_t done = 0, all = 0;
  std::vector<int> failed, started;
};
Progress ProgressOf(const LoggedRun& run);

// The steps whose tables can go back to where they were before a run, of those that it has begun.
std::vector<const LoggedStep*> ToTakeBack(const LoggedRun& run);

}  // namespace backreach
