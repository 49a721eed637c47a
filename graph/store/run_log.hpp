// The log of runs as rows of the store.
#pragma once

#include <vector>

#include "graph/facts/run_log.hpp"
#include "graph/store/database/database.hpp"

namespace backreach {

// In the order in which they were started. None in a store of a layout that had no log.
std::vector<LoggedRun> ReadRunLog(Database& db);
// Writes a new entry (number 0) or one that was changed.
void WriteRun(Database& db, const LoggedRun& run);

}  // namespace backreach
