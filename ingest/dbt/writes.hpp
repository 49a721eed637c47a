// How a dbt model writes: adapter x materialization x strategy x key -> one of our ways of writing.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace backreach {

struct DbtWriteConfig {
  std::string adapter;
  std::string materialized;  // lower case
  std::string strategy;      // "" where not given
  bool key_given = false;    // unique_key is not null
  std::vector<std::string> key;
  bool partitioned = false;  // partition_by / partitioned_by is set (and the adapter reads it)
  bool has_predicates = false;
  bool static_partitions = false;  // BigQuery: `partitions` lists those that insert_overwrite replaces
  bool clustered = false;          // Databricks: liquid_clustered_by
  std::string table_type;          // Athena: hive (the default) or iceberg
  bool inserts_only = false;       // ClickHouse
  // Of what the platform refreshes: ClickHouse's `refreshable`, Databricks' `schedule`, Redshift's
  // `auto_refresh` or BigQuery's `enable_refresh`, Snowflake's `target_lag` and `scheduler: disable`.
  bool refreshable = false, scheduled = false, target_lag = false, scheduler_off = false;
  std::optional<bool> auto_refresh;
};

struct DbtWrite {
  std::string mode;              // WriteFact::mode
  std::vector<std::string> key;  // the columns that are really matched on
  std::string why;               // one clause for people
  // Who refreshes it: `itself` (the platform), `told` (somebody's command), `trigger` (every insert into what
  // it reads); empty where nothing does.
  std::string refreshed = {};
};

// A materialization whose rows the platform takes from its inputs by a refresh.
bool IsRefreshed(const std::string& materialized);

DbtWrite ResolveDbtWrite(const DbtWriteConfig& config);

}  // namespace backreach
