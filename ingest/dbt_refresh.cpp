// Each platform has its own answer to who refreshes. Snowflake's dynamic tables keep up by themselves within
// their lag, and dbt's run leaves that to them unless there is none or the scheduler is off.

#include "ingest/dbt_refresh.hpp"

#include "graph/words.hpp"

namespace backreach {

namespace {

bool ByItself(const std::string& adapter, const DbtRefresh& r) {
  if (adapter == "snowflake") return !r.target_lag.empty() && Lower(r.scheduler) != "disable";
  if (adapter == "bigquery") return r.enable_refresh;
  if (adapter == "redshift") return r.auto_refresh;
  if (adapter == "databricks" || adapter == "spark") return r.scheduled;
  if (adapter == "clickhouse") return r.refreshable;
  // Streaming databases keep every view up to date.
  return adapter == "materialize" || adapter == "risingwave";
}

}  // namespace

void NoteRefresh(const std::string& adapter, const std::string& materialized, const DbtRefresh& r,
                 DatasetFact& fact) {
  const bool dynamic = materialized == "dynamic_table", streaming = materialized == "streaming_table";
  if (!dynamic && !streaming && materialized != "materialized_view" && materialized != "materializedview")
    return;
  fact.methods["refresh"] = dynamic ? "dynamic-table" : streaming ? "streaming-table" : "materialized-view";
  if (!r.relation_name.empty()) fact.methods["relation"] = r.relation_name;
  const bool itself = ByItself(adapter, r);
  fact.methods["refreshed_by"] = itself ? "itself" : "order";
  if (adapter == "snowflake" && dynamic && !itself) fact.methods["dbt_refreshes"] = "yes";
}

}  // namespace backreach
