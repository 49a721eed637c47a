// Stored views of a dbt project: how they are told to make themselves anew.
#pragma once

#include <string>

#include "graph/facts/facts.hpp"
#include "ingest/dbt/writes.hpp"

namespace backreach {

// Notes in the fact's `methods`: `refresh` (what it is), `relation` (as dbt writes it, quoted),
// `refreshed_by` (DbtWrite::refreshed), and `dbt_refreshes` where an ordinary run of dbt does it. Nothing for
// what is no such view.
void NoteRefresh(const DbtWriteConfig& config, const DbtWrite& write, const std::string& relation_name,
                 DatasetFact& fact);

}  // namespace backreach
