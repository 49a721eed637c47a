// What is known of a dbt manifest between its walk (dbt.cpp) and the judgement of the whole (dbt_settle.cpp).
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "graph/base/diagnostics.hpp"
#include "graph/facts/facts.hpp"
#include "ingest/dbt/mappings.hpp"
#include "ingest/dbt/nodes.hpp"
#include "ingest/dbt/partitions.hpp"
#include "ingest/dbt/semantics.hpp"
#include "ingest/dbt/signs.hpp"
#include "ingest/dbt/sql.hpp"
#include "ingest/dbt/writes.hpp"

namespace backreach {

// What only the writing of a model depends on, until the adapter and all other nodes are known.
struct PendingWrite {
  DbtWriteConfig config;
  std::string batch_size, begin;
  DbtPartitionConfig partition;
  std::vector<std::string> static_partitions;  // BigQuery's insert_overwrite of listed partitions
  bool skips_matched = false;                  // a merge that only inserts
  bool microbatch = false, has_partition_by = false, python = false;
  std::vector<std::string> hooks;       // the text of pre- and post-hooks
  std::string sql;                      // of incremental models
  std::vector<std::string> predicates;  // incremental_predicates
  std::vector<std::string> update_columns, exclude_columns;
  std::string on_schema_change;
  std::string relation_name;  // of what the platform refreshes, as the platform writes it
  DbtLayoutConfig layout;     // how the platform lays it out, which may tell how it is cut in time
};

// What is kept of a node until the adapter and all other nodes are known.
struct PendingNode {
  explicit PendingNode(DatasetFact& f) : fact(f) {}
  DatasetFact& fact;  // among the facts already
  std::unique_ptr<PendingWrite> write = std::make_unique<PendingWrite>();
  // Where a model that has code stands in the manifest, which is mapped as long as this lives: to keep the
  // texts of all models would take as much memory as the file.
  std::string_view code_at;
  std::set<std::string> days;               // columns that hold days, lower case
  std::map<std::string, Grain::Unit> cuts;  // columns that it cuts to a unit of time
  std::string resource_type, event_time, package;
  std::vector<std::string> parents;
  bool external = false;
  bool microbatch = false;  // told here once `write` is settled and gone
  // Parents that a microbatch model takes the name of, so that dbt does not cut them to the batch, and where.
  std::map<std::string, std::string> rendered;
};

// An on-run-start or on-run-end hook; dbt runs those of installed packages too.
struct PendingOperation {
  std::string id, text, package;
};

struct PendingTest {
  CheckFact check;
  std::vector<std::string> parents;
  std::string attached;
  std::string model_kwarg;
};

struct PendingExposure {
  CopyFact copy;
  std::string id, type;
  std::vector<std::string> parents;
  bool holds_extract = false;
  std::string group, meta_block;
  Text url;
};

// A manifest as far as it can be understood member by member.
struct DbtManifest {
  std::string path, file, project, adapter;
  // Name -> body, by package: the project's own, those of packages that hooks call, and all as long as it is
  // not known which these are.
  std::map<std::string, MacroBodies> macros;
  Facts facts;  // datasets stand in it already
  std::deque<PendingNode> nodes;
  std::vector<PendingOperation> operations;
  std::deque<PendingTest> tests;
  std::vector<CheckFact> constraints;
  DbtNodeReader selector_nodes;
  std::vector<PendingExposure> exposures;
  // What is no data itself and passes on what it depends on, whatever its kind.
  std::unordered_map<std::string, std::vector<std::string>> passages;
  DbtSemantics semantics;
  std::unordered_set<std::string> disabled;
  std::map<std::string, std::pair<std::string, std::string>> groups;  // name -> owner, mail
};

// What needs the adapter, or other nodes: grains, ways of writing, what SQL and hooks do, edges, copies.
void SettleDbtManifest(DbtManifest manifest, SourceFacts& out, Diagnostics& diagnostics);

}  // namespace backreach
