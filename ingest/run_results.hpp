// dbt's run_results.json: how each node of an invocation ended.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "graph/diagnostics.hpp"

namespace backreach {

// Unique id -> `success`, `error`, `skipped`, `pass`, `fail`, `warn`, ...; nothing, and an error in
// `diagnostics`, if the file cannot be read.
std::optional<std::map<std::string, std::string>> ReadRunStatuses(const std::string& path,
                                                                  Diagnostics& diagnostics);

}  // namespace backreach
