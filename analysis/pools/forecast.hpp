// What else runs on the pools that a plan's steps take slots of, and what the plan makes of it: who would
// miss a service level and when, and with how many cells at a time, from which hour on, nobody would.
#pragma once

#include <vector>

#include "analysis/plan/plan.hpp"
#include "graph/lineage/lineage.hpp"

namespace backreach {

// One entry for each pool that a rebuild of the plan uses, by name. Steps and their estimates must be there.
std::vector<PoolUse> ForecastPools(const LineageGraph& graph, const Plan& plan);

}  // namespace backreach
