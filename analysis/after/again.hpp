// A plan that is taken up again: its request as its file has it, and what is left of it by the log of runs.
#pragma once

#include "analysis/plan/plan.hpp"
#include "analysis/plan/recorded.hpp"
#include "graph/facts/run_log.hpp"
#include "graph/names/names.hpp"

namespace backreach {

// Throws Error(kBadRequest) where a dataset of the request is not in the graph any more.
Request RequestAgain(const LineageGraph& graph, const NameIndex& names, const RecordedPlan& plan);

// The plan without the steps, and the cells, that the run has done. Ids stay; waves are counted anew.
Plan WithoutDone(const LineageGraph& graph, Plan plan, const LoggedRun& run);

}  // namespace backreach
