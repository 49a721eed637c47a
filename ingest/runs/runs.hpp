// Records of runs that happened: dbt's run_results.json, Airflow's runs as its API or its command line
// exports them, OpenLineage's events.
#pragma once

#include <string>
#include <vector>

#include "graph/base/diagnostics.hpp"
#include "graph/facts/run_seen.hpp"

namespace backreach {

// Each takes the text of a file and its path, for messages; what cannot be read is an error with its place.
std::vector<RunSeen> ReadDbtRuns(const std::string& text, const std::string& path, Diagnostics& diagnostics);
std::vector<RunSeen> ReadAirflowRuns(const std::string& text, const std::string& path,
                                     Diagnostics& diagnostics);
std::vector<RunSeen> ReadOpenLineageRuns(const std::string& text, const std::string& path,
                                         Diagnostics& diagnostics);

}  // namespace backreach
