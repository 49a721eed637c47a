// --full-refresh: the graph in which the runs of some datasets build them from nothing.
#pragma once

#include "analysis/plan/plan.hpp"
#include "graph/lineage/lineage.hpp"

namespace backreach {

struct BuiltAnew {
  LineageGraph graph;  // ids as in the original
  Request request;     // with the datasets for which it was taken
};

// `ordinary`: the plan of the same request without --full-refresh. Throws Error(kBadRequest) where rows would
// be lost, or where nothing is known that builds a named dataset from nothing.
BuiltAnew BuildAnew(const LineageGraph& graph, const Request& request, const Plan& ordinary);

}  // namespace backreach
