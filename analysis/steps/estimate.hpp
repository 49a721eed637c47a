// How long a plan's steps take, by what earlier runs took.
#pragma once

#include "analysis/plan/plan.hpp"
#include "graph/lineage/lineage.hpp"

namespace backreach {

// Fills `seconds` and `from_runs` of every step (a registry's word on seconds per cell comes first; nothing
// where neither it nor a run tells), and the totals: the plan's seconds with `threads` steps at a time, in
// the plan's order, and its critical path; nothing if any step is unknown. What a person corrects by hand
// counts for nothing.
void FillEstimates(const LineageGraph& graph, Plan& plan);

}  // namespace backreach
