// Which stated mappings can stand between the datasets that they join.
#pragma once

#include "graph/lineage.hpp"

namespace backreach {

// Sets `effective` of every edge. What cannot stand is read as `all`, and becomes an unresolved `mapping`.
void JudgeMappings(LineageGraph& graph);

}  // namespace backreach
