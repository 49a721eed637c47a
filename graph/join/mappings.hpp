// Which stated mappings can stand between the datasets that they join.
#pragma once

#include "graph/lineage/lineage.hpp"

namespace backreach {

// Sets `effective` of every edge. What cannot stand is read as `all`, and becomes an unresolved `mapping`.
// `strict`: one that nobody stated is read as `all`.
void JudgeMappings(LineageGraph& graph, bool strict = false);

}  // namespace backreach
