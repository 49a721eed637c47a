// Steps and their order: who waits for whom, waves, and the unrolling of cycles that step back in time.
#pragma once

#include <vector>

#include "analysis/plan/plan.hpp"
#include "analysis/sweep/sweep.hpp"

namespace backreach {

struct PlannedDataset {
  DatasetId dataset;
  SpanSet cells;  // everything for a whole step
};

// A cycle that does not step back in time, as found among the planned datasets.
struct Cycle {
  std::vector<DatasetId> members;
  std::vector<EdgeId> edges;  // one way around
};

struct Ordered {
  std::vector<Step> steps;  // ids, waves, after, spans, reads; in their final order
  std::vector<Cycle> cycles;
  std::vector<std::string> notes;
};

// `planned` by position in the region; an empty set is no step.
Ordered OrderSteps(const Sweeper& sweeper, const std::vector<PlannedDataset>& planned);

}  // namespace backreach
