// Datasets without a grain, taken whole.

#include <fmt/format.h>

#include "analysis/hazards/all.hpp"
#include "graph/base/words.hpp"

namespace backreach::hazards {

namespace {

void Find(const HazardContext& c, std::vector<Hazard>& out) {
  for (const Step& step : c.plan.steps) {
    const Dataset& d = c.graph[step.dataset];
    if (d.grain) continue;
    out.push_back(MakeHazard("grain-unknown", HazardSeverity::kNote, step.dataset, SpanSet::All(),
                             fmt::format("{}: no grain known, so all of it", d.name),
                             "declare its partitions (registry, or meta.backreach in dbt); partitions: none "
                             "if it is written whole"));
  }
}

}  // namespace

HazardKind GrainUnknown() {
  return {"grain-unknown",
          HazardSeverity::kNote,
          "nobody said how a rebuilt dataset is cut in time",
          "it is rebuilt whole, and everything below it may have changed anywhere",
          "declare its partitions, or partitions: none if it has none",
          Find};
}

}  // namespace backreach::hazards
