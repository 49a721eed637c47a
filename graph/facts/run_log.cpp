// What the entries of the log say.

#include "graph/facts/run_log.hpp"

namespace backreach {

const char* ToString(LoggedStep::State state) {
  static constexpr const char* kWords[] = {"planned", "started", "done", "failed"};
  return kWords[static_cast<int>(state)];
}

const char* ToString(LoggedRun::State state) {
  static constexpr const char* kWords[] = {"in progress", "finished", "abandoned"};
  return kWords[static_cast<int>(state)];
}

LoggedCells Rebuilt(const LoggedRun& run, const LoggedStep& step) {
  if (run.state == LoggedRun::State::kFinished || step.state == LoggedStep::State::kDone)
    return {step.whole, step.spans};
  return {false, step.done};
}

LoggedCells Held(const LoggedRun& run, const LoggedStep& step) {
  if (run.state != LoggedRun::State::kInProgress) return {};
  return {step.whole, step.spans};
}

}  // namespace backreach
