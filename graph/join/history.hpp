// What logs of statements show, made into what other sources say: which tables are written by jobs and which
// were written once and stay as they were, which names are one table under two names, and what lies outside.
// That takes all logs at once, and what the other sources know.
#pragma once

#include <vector>

#include "graph/facts/facts.hpp"

namespace backreach {

// Changes the facts of sources of kind `queries` in place; nothing else is touched.
void SettleHistory(std::vector<SourceFacts>& sources);

}  // namespace backreach
