// From a graph and a request to a plan. Pure: no clock, no file, no environment.
#pragma once

#include "analysis/plan/plan.hpp"
#include "analysis/plan/request.hpp"
#include "graph/lineage/lineage.hpp"

namespace backreach {

Plan MakePlan(const LineageGraph& graph, const Request& request);

}  // namespace backreach
