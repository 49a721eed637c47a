// How a dbt model writes: adapter x materialization x strategy x key -> one of our ways of writing.
#pragma once

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
};

struct DbtWrite {
  std::string mode;              // WriteFact::mode
  std::vector<std::string> key;  // the columns that are really matched on
  std::string why;               // one clause for people
};

DbtWrite ResolveDbtWrite(const DbtWriteConfig& config);

}  // namespace backreach
