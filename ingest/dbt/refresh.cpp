// Snowflake's dynamic tables keep up by themselves within their lag, and dbt's run leaves that to them unless
// there is none or the scheduler is off.

#include "ingest/dbt/refresh.hpp"

namespace backreach {

void NoteRefresh(const DbtWriteConfig& config, const DbtWrite& write, const std::string& relation_name,
                 DatasetFact& fact) {
  if (write.refreshed.empty()) return;
  const bool dynamic = config.materialized == "dynamic_table";
  fact.methods["refreshed_by"] = write.refreshed;
  fact.methods["refresh"] = dynamic                                    ? "dynamic-table"
                            : config.materialized == "streaming_table" ? "streaming-table"
                                                                       : "materialized-view";
  if (!relation_name.empty()) fact.methods["relation"] = relation_name;
  if (config.adapter == "snowflake" && dynamic && write.refreshed == "told")
    fact.methods["dbt_refreshes"] = "yes";
}

}  // namespace backreach
