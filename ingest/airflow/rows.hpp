// The files that Airflow's serialized DAGs come in: one document, an array of them, rows of the table
// serialized_dag as JSON lines (with the column data, or data_compressed in base64), or a dump of the
// database.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "graph/base/diagnostics.hpp"
#include "graph/facts/facts.hpp"

namespace backreach {

struct AirflowRow {
  nlohmann::json document;  // {"__version": ..., "dag": {...}}
  std::string file, at;     // base name; "line 3"
  std::string created;      // of several versions of a DAG the newest counts
};

struct AirflowFiles {
  std::vector<AirflowRow> rows;
  std::vector<PoolFact> pools;  // of dumps that hold them
  std::vector<std::string> names, digests;
};

AirflowFiles ReadAirflowFiles(const std::vector<std::string>& paths, Diagnostics& diagnostics);

}  // namespace backreach
