// Files that commands read beside the store: a saved plan, and whatever a command takes.
#pragma once

#include <string>

#include "analysis/plan/recorded.hpp"
#include "cli/command.hpp"

namespace backreach {

// All bytes of a file; throws Error(kBadRequest) with `note` where it cannot be read.
std::string ReadWhole(const std::string& path, const std::string& note);
RecordedPlan ReadPlanFile(const std::string& path);
// --at, or the clock: as it is written down.
std::string LogMoment(const Arguments& arguments);

}  // namespace backreach
