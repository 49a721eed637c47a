// dbt's run_results.json: how each node of an invocation ended.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "graph/diagnostics.hpp"

namespace backreach {

struct RunResults {
  std::string generated_at;  // metadata.generated_at; "" if the file does not say
  std::string command;       // args.which, e.g. `build`; "" if the file does not say
  std::map<std::string, std::string>
      statuses;  // unique id -> `success`, `error`, `pass`, `fail`, `warn`, ...

  // False for `compile`, `docs generate` and the like, which write the same file and execute nothing.
  bool executed() const;
};

// Nothing, and an error in `diagnostics`, if the file cannot be read.
std::optional<RunResults> ReadRunResults(const std::string& path, Diagnostics& diagnostics);

}  // namespace backreach
