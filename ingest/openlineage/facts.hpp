// What a ledger of runs says as facts: datasets, jobs, and edges with the time and the runs that showed them.
#pragma once

#include "graph/facts/facts.hpp"
#include "ingest/openlineage/ledger.hpp"

namespace backreach::openlineage {

// All facts of a source, the ledger's own bytes among them.
Facts FactsOf(const Ledger& ledger);

}  // namespace backreach::openlineage
