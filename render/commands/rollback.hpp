// How a table goes back to where it was before a step, where its format or its platform keeps that.
#pragma once

#include <optional>
#include <string>

#include "graph/lineage/lineage.hpp"

namespace backreach {

// `position`: the statement whose answer is to be noted before the step, or "" where the time will do.
// `back`: the statement that returns, with `{position}` where the noted answer belongs. `note`: for people.
struct Rollback {
  std::string kind;  // as the registry says it: snapshots, time_travel 7d
  std::string position, back, note;
};

std::optional<Rollback> RollbackOf(const Dataset& dataset);

}  // namespace backreach
