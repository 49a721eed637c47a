// From a graph and a request to a plan. Pure: no clock, no file, no environment.
#pragma once

#include "analysis/plan.hpp"
#include "analysis/request.hpp"
#include "graph/lineage.hpp"

namespace backreach {

Plan MakePlan(const LineageGraph& graph, const Request& request);

}  // namespace backreach
