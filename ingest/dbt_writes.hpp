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
};

struct DbtWrite {
  std::string mode;              // WriteFact::mode
  std::vector<std::string> key;  // the columns that are really matched on
  std::string why;               // one clause for people
};

DbtWrite ResolveDbtWrite(const DbtWriteConfig& config);

}  // namespace backreach
