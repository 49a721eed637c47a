// Dimensions beside time: a request for some values of a dimension is planned on a graph in which every
// dataset that has dimensions stands once for each combination of their values, and the answer is folded
// back.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analysis/plan/plan.hpp"
#include "analysis/plan/request.hpp"

namespace backreach {

// Values of dimensions: {"region": {"eu"}}.
using DimensionValues = std::map<std::string, std::vector<std::string>>;

struct Expanded {
  LineageGraph graph;
  Request request;
  std::vector<DatasetId> base;          // of each dataset of the expanded graph: the one it stands for
  std::vector<DimensionValues> values;  // and for which values
  std::vector<std::string> notes;       // where an edge widens over a dimension
};

// True if the request asks for less than all values of a dimension.
bool NeedsExpansion(const Request& request);
Expanded Expand(const LineageGraph& graph, const Request& request);
// The plan of the expanded graph, in terms of the original one.
Plan Fold(const LineageGraph& graph, const Request& request, const Expanded& expanded, Plan plan);

}  // namespace backreach
