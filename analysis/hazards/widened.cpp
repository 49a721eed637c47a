// Whole rebuilds that dirty more than the correction.

#include <fmt/format.h>

#include "analysis/hazards/all.hpp"
#include "graph/base/words.hpp"

namespace backreach::hazards {

namespace {

void Find(const HazardContext& c, std::vector<Hazard>& out) {
  for (const Step& step : c.plan.steps) {
    if (step.widened_by.empty()) continue;
    const Dataset& d = c.graph[step.dataset];
    Hazard h = MakeHazard(
        "widened", HazardSeverity::kNote, step.dataset, step.spans,
        fmt::format(
            "{} is wider by {} because {} rebuilt whole: any of its rows may have changed", d.name,
            step.widened_cost ? CountOf(*step.widened_cost, step.calendar->grain()) : "all of its past",
            NamesText(c.graph, step.widened_by) + (step.widened_by.size() == 1 ? " is" : " are")),
        fmt::format("declare row_time (dbt: event_time) on {} if rebuilding it changes only rows of the "
                    "corrected dates; --narrow {} tries it",
                    c.graph[step.widened_by[0]].name, c.graph[step.widened_by[0]].name));
    for (const DatasetId id : step.widened_by) h.evidence["by"].push_back(c.graph[id].name);
    if (step.widened_cost) h.evidence["partitions"] = {std::to_string(*step.widened_cost)};
    out.push_back(std::move(h));
  }
}

}  // namespace

HazardKind Widened() {
  return {"widened",
          HazardSeverity::kNote,
          "a dataset that is rebuilt whole makes every cell of its readers dirty",
          "more is rebuilt than the correction changes",
          "declare row_time on the whole dataset (dbt: event_time), or give it a grain; plan --narrow "
          "DATASET does it for one plan",
          Find};
}

}  // namespace backreach::hazards
