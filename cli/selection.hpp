// Sets of datasets by dbt's selectors, over the nodes that the store keeps for them.
#pragma once

#include "cli/command.hpp"
#include "graph/join/builder.hpp"
#include "graph/selection/selector.hpp"

namespace backreach {

struct Selection {
  std::vector<DatasetId> datasets;     // in the graph's order
  std::vector<std::string> unmatched;  // criteria that no node of any project meets
};

// `--state FOLDER` among the arguments is what `state:` and `result:` compare with. Throws Error(kBadRequest)
// for what dbt refuses too, and for a state folder that cannot be read.
Selection SelectDatasets(const Arguments& arguments, const BuiltGraph& built, const SelectorRequest& request);

}  // namespace backreach
