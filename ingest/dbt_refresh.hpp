// Stored views of a dbt project: who makes them anew.
#pragma once

#include <string>

#include "graph/facts.hpp"

namespace backreach {

// What a config says of a materialized view, a dynamic or a streaming table.
struct DbtRefresh {
  std::string relation_name;          // as dbt writes it, quoted
  std::string target_lag, scheduler;  // Snowflake
  bool auto_refresh = false;          // Redshift
  bool scheduled = false;             // Databricks: a schedule
  bool enable_refresh = true;         // BigQuery
  bool refreshable = false;           // ClickHouse
};

// Notes in the fact's `methods`: `refresh` (what it is), `relation`, `refreshed_by` (`itself` or `order`),
// and `dbt_refreshes` where an ordinary run of dbt does it. Nothing for what is no such view.
void NoteRefresh(const std::string& adapter, const std::string& materialized, const DbtRefresh& refresh,
                 DatasetFact& fact);

}  // namespace backreach
