// Batches that each insert all of an unfiltered parent.

#include <fmt/format.h>

#include "analysis/hazards/all.hpp"
#include "graph/base/words.hpp"

namespace backreach::hazards {

namespace {

void Find(const HazardContext& c, std::vector<Hazard>& out) {
  for (const Written& w : WrittenCells(c)) {
    const Dataset& d = c.graph[w.dataset];
    for (const Finding& f : d.findings)
      if (f.fact.code == "unfiltered-batch")
        out.push_back(
            MakeHazard("unfiltered-batch", HazardSeverity::kBlocking, w,
                       fmt::format("every batch of {} reads all of {} (no event_time) and inserts it again",
                                   d.name, f.fact.detail),
                       "give the parent an event_time, or filter it by the batch in the query"));
  }
}

}  // namespace

HazardKind UnfilteredBatch() {
  return {"unfiltered-batch",
          HazardSeverity::kBlocking,
          "a microbatch reads a parent without event time on an adapter that inserts all rows of its result",
          "every batch inserts the whole parent: rows are multiplied by the number of batches",
          "give the parent an event_time, or filter it in the query",
          Find};
}

}  // namespace backreach::hazards
