// What a run writes beside the cells that it is asked for: other outputs of its job, and the rest of a
// coarser run.
#pragma once

#include <vector>

#include "analysis/plan/plan.hpp"
#include "analysis/sweep/sweep.hpp"

namespace backreach {

// Fills `rewrites` and `run` of the steps, and lets runs that write several outputs wait for what any of them
// reads (unless that would make a circle: then the job runs once for each output). Waves are set anew.
void FillRuns(const LineageGraph& graph, const Frame& frame, std::vector<Step>& steps);

// Numbers the steps by wave (the longest chain before each), ids from 1; `after` holds positions on entry and
// ids on return. False if the steps wait for each other in a circle.
bool NumberByWave(std::vector<Step>& steps);

}  // namespace backreach
