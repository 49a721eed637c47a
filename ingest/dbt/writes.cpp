// The rules of each adapter and its defaults. An adapter that is not in the table, a strategy of a project's
// own and a custom materialization are unknown, and said to be so: never guessed.

#include "ingest/dbt/writes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace backreach {

namespace {

// What `microbatch` does to one batch on each adapter.
enum class Batch { kReplaceRange, kMergeOnKey, kOverwritePartitions, kDeleteKeysInRange, kUnknown };

struct AdapterRule {
  std::string_view adapter;
  std::string_view strategies;     // blank separated, as written in configs
  std::string_view default_keyed;  // with a unique_key
  std::string_view default_plain;  // without one
  bool keyless_merge_appends;      // merge without a key is MERGE ON FALSE (or a plain insert)
  Batch batch;
};

constexpr AdapterRule kAdapters[] = {
    {"snowflake", "append merge delete+insert microbatch insert_overwrite", "merge", "append", true,
     Batch::kReplaceRange},
    {"bigquery", "merge insert_overwrite microbatch", "merge", "merge", true, Batch::kOverwritePartitions},
    {"postgres", "append delete+insert merge microbatch", "delete+insert", "append", true,
     Batch::kMergeOnKey},
    {"redshift", "append delete+insert merge microbatch", "delete+insert", "append", true,
     Batch::kReplaceRange},
    {"databricks", "append merge insert_overwrite replace_where delete+insert microbatch", "merge", "merge",
     true, Batch::kReplaceRange},
    {"spark", "append merge insert_overwrite microbatch", "append", "append", true,
     Batch::kOverwritePartitions},
    {"duckdb", "append delete+insert merge microbatch", "delete+insert", "append", true,
     Batch::kReplaceRange},
    {"athena", "append insert_overwrite merge microbatch", "insert_overwrite", "insert_overwrite", true,
     Batch::kOverwritePartitions},
    {"trino", "append merge delete+insert microbatch", "append", "append", true, Batch::kReplaceRange},
    {"clickhouse", "append delete_insert delete+insert insert_overwrite microbatch legacy", "delete_insert",
     "append", true, Batch::kDeleteKeysInRange},
    {"sqlserver", "append delete+insert merge microbatch", "merge", "append", true, Batch::kReplaceRange},
    {"fabric", "append delete+insert merge microbatch", "merge", "append", true, Batch::kReplaceRange},
};

const AdapterRule* RuleFor(const std::string& adapter) {
  for (const AdapterRule& rule : kAdapters)
    if (rule.adapter == adapter) return &rule;
  return nullptr;
}

bool Offers(const AdapterRule& rule, const std::string& strategy) {
  const std::string padded = " " + std::string(rule.strategies) + " ";
  return padded.find(" " + strategy + " ") != std::string::npos;
}

DbtWrite Incremental(const DbtWriteConfig& c) {
  const AdapterRule* rule = RuleFor(c.adapter);
  const bool keyed = !c.key.empty();
  if (!rule)
    return {"unknown", {}, fmt::format("adapter '{}' is not one whose writing is known here", c.adapter)};
  const bool iceberg = c.adapter == "athena" && c.table_type == "iceberg";
  if (c.adapter == "clickhouse" && c.inserts_only)
    return {"append", {}, "inserts_only on clickhouse: rows are only added"};
  std::string strategy = c.strategy;
  std::string stated = fmt::format("strategy {}", strategy);
  if (strategy.empty() || strategy == "default") {
    strategy = std::string(keyed ? rule->default_keyed : rule->default_plain);
    if (iceberg)
      return {"unknown", {}, "athena has no default strategy for iceberg tables: dbt refuses to run it"};
    if (c.adapter == "athena" && !c.partitioned) strategy = "append";
    stated = fmt::format("{}, the default of {} {}", strategy, c.adapter,
                         keyed ? "with a unique_key" : "without a unique_key");
  }
  if (!Offers(*rule, strategy))
    return {"unknown", {}, fmt::format("strategy '{}' is not one of {}'s own", strategy, c.adapter)};
  if (strategy == "append") {
    if (keyed) stated += "; the unique_key is not used";
    return {"append", {}, stated};
  }
  if (strategy == "merge") {
    if (!keyed)
      return {"append", {}, stated + " without a unique_key matches nothing: every row is inserted"};
    return {"merge", c.key, stated};
  }
  if (strategy == "delete+insert" || strategy == "delete_insert" || strategy == "legacy") {
    if (!keyed)
      return {"append", {}, stated + " without a unique_key deletes nothing: every row is inserted"};
    if (strategy == "legacy") return {"merge", c.key, stated + ": the table is copied and swapped"};
    return {"delete_insert", c.key, stated};
  }
  if (strategy == "insert_overwrite") {
    if (c.adapter == "snowflake")
      return {"whole", {}, "insert_overwrite on snowflake replaces the whole table"};
    if (c.adapter == "athena" && !c.partitioned)
      return {"append", {}, "insert_overwrite without partitioned_by only inserts on athena"};
    if (iceberg)
      return {"unknown", {}, "athena has no insert_overwrite for iceberg tables: dbt refuses to run it"};
    if (c.adapter == "bigquery" && c.static_partitions)
      return {"replace", {}, "insert_overwrite of listed partitions: those are emptied and filled again"};
    if (c.adapter == "databricks" && c.clustered)
      return {"dynamic_overwrite", {}, stated + " by liquid_clustered_by"};
    if (!c.partitioned) return {"whole", {}, "insert_overwrite without partitions replaces the whole table"};
    return {"dynamic_overwrite", {}, stated};
  }
  if (strategy == "replace_where") {
    if (!c.has_predicates) return {"whole", {}, "replace_where without predicates replaces the whole table"};
    return {"replace", {}, stated};
  }
  // microbatch
  Batch batch = rule->batch;
  if ((c.adapter == "fabric" && keyed) || iceberg) batch = Batch::kMergeOnKey;
  switch (batch) {
    case Batch::kReplaceRange:
      return {"replace", {}, fmt::format("microbatch on {} replaces the range of each batch", c.adapter)};
    case Batch::kOverwritePartitions:
      return {
          "dynamic_overwrite",
          {},
          fmt::format("microbatch on {} overwrites the partitions that the batch has rows for", c.adapter)};
    case Batch::kMergeOnKey:
      if (!keyed)
        return {"append",
                {},
                fmt::format("microbatch on {} merges on the unique_key, and there is none", c.adapter)};
      return {"merge", c.key, fmt::format("microbatch on {} merges on the unique_key", c.adapter)};
    case Batch::kDeleteKeysInRange:
      if (!keyed)
        return {"append",
                {},
                fmt::format("microbatch on {} deletes by the unique_key, and there is none", c.adapter)};
      return {"delete_insert", c.key,
              fmt::format("microbatch on {} deletes by key within the range", c.adapter)};
    case Batch::kUnknown: break;
  }
  return {"unknown", {}, stated};
}

DbtWrite Refreshed(const DbtWriteConfig& c) {
  const auto by_itself = [&](const std::string& why) {
    return DbtWrite{"refresh",
                    {},
                    fmt::format("{}: holds a copy that {} refreshes by itself{}", c.materialized,
                                c.adapter.empty() ? "the warehouse" : c.adapter, why),
                    "itself"};
  };
  const auto told = [&](const std::string& why) {
    return DbtWrite{
        "refresh",
        {},
        fmt::format("{}: holds a copy that {} refreshes only when told{}", c.materialized, c.adapter, why),
        "told"};
  };
  if (c.adapter == "clickhouse") {
    if (c.refreshable) return by_itself(" (refreshable)");
    return {"append",
            {},
            fmt::format("{} on clickhouse is an insert trigger: it adds what is inserted into what it reads",
                        c.materialized),
            "trigger"};
  }
  if (c.adapter == "snowflake" && c.materialized == "dynamic_table") {
    if (c.scheduler_off) return told(" (scheduler: disable)");
    return c.target_lag ? by_itself(" (target_lag)") : told(" (no target_lag)");
  }
  if (c.adapter == "postgres") return told("");
  if (c.adapter == "redshift")
    return c.auto_refresh == true ? by_itself(" (auto_refresh)") : told(" (no auto_refresh)");
  if (c.adapter == "databricks") return c.scheduled ? by_itself(" (schedule)") : told(" (no schedule)");
  if (c.adapter == "bigquery" && c.auto_refresh == false) return told(" (enable_refresh: false)");
  return by_itself("");
}

}  // namespace

bool IsRefreshed(const std::string& materialized) {
  return materialized == "materialized_view" || materialized == "materializedview" ||
         materialized == "dynamic_table" || materialized == "streaming_table";
}

DbtWrite ResolveDbtWrite(const DbtWriteConfig& c) {
  if (c.materialized == "table") return {"whole", {}, "materialized as table: every run replaces all of it"};
  if (c.materialized == "seed") return {"whole", {}, "a seed: loaded from its file as a whole"};
  if (c.materialized == "snapshot") return {"snapshot", c.key, "a snapshot records today's values"};
  if (c.materialized == "incremental") return Incremental(c);
  if (IsRefreshed(c.materialized)) return Refreshed(c);
  if (c.materialized == "external")
    return {"whole", {}, "materialized as an external file: every run replaces it"};
  if (c.materialized == "view" || c.materialized == "ephemeral") return {"none", {}, "stores nothing"};
  return {"unknown", {}, fmt::format("materialization '{}' is the project's own", c.materialized)};
}

}  // namespace backreach
