// Rows that the correction deletes, where a run only adds and updates.

#include <fmt/format.h>

#include "analysis/hazards/all.hpp"
#include "graph/base/words.hpp"

namespace backreach::hazards {

namespace {

void Find(const HazardContext& c, std::vector<Hazard>& out) {
  for (const Step& step : c.plan.steps) {
    std::vector<DatasetId> from;
    if (c.graph[step.dataset].deletions) from.push_back(step.dataset);
    for (const StepReads& read : step.reads)
      if (c.graph[read.cells.dataset].deletions && read.cells.dataset != step.dataset)
        from.push_back(read.cells.dataset);
    if (from.empty() || step.correct) continue;
    Hazard h = MakeHazard("deletions", HazardSeverity::kWarning, step.dataset,
                          step.whole ? SpanSet::All() : step.spans,
                          fmt::format("rows of {} were deleted on request: the numbers of {} will fall, and "
                                      "a copy from before may bring them back",
                                      NamesText(c.graph, from), c.graph[step.dataset].name),
                          "expect the fall when you compare counts (verify --expect), and see to the copies");
    for (const DatasetId id : from) h.evidence["deleted_in"].push_back(c.graph[id].name);
    out.push_back(std::move(h));
  }
}

}  // namespace

HazardKind Deletions() {
  return {"deletions",
          HazardSeverity::kWarning,
          "rows were deleted on request in what a step reads or writes",
          "numbers will fall, and a copy from before may bring deleted rows back",
          "expect the fall, and delete in the copies too",
          Find};
}

}  // namespace backreach::hazards
