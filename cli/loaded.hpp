// A loaded graph, and a request read against it: what most commands begin with.
#pragma once

#include "analysis/plan/request.hpp"
#include "cli/command.hpp"
#include "graph/join/builder.hpp"

namespace backreach {

// Throws Error(kStore) where there is no store, and Error(kBadRequest) where nothing was ingested.
const BuiltGraph& LoadGraph(const Arguments& arguments);
Request ReadRequestOf(const Arguments& arguments, const BuiltGraph& built,
                      const std::vector<std::string>& targets);
// How the store has its relations made.
const LineageGraph& JoinForGood(std::vector<SourceFacts> facts);
// 1 if a hazard that is not accepted stands at or above --fail-on.
struct Plan;
Status StatusOf(const Plan& plan);

}  // namespace backreach
