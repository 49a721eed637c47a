// Partitions that are cut otherwise from some day inside the range on.

#include <fmt/format.h>

#include "analysis/hazards/all.hpp"
#include "graph/base/words.hpp"

namespace backreach::hazards {

namespace {

void Find(const HazardContext& c, std::vector<Hazard>& out) {
  for (const Written& w : WrittenCells(c)) {
    const Dataset& d = c.graph[w.dataset];
    if (w.whole || w.spans.empty()) continue;
    for (const Change& change : d.changes)
      if (change.kind == "layout" && Crosses(w, change.on))
        out.push_back(MakeHazard("layout-change", HazardSeverity::kWarning, w,
                                 fmt::format("the layout of {} changes on {} ({}), inside the range", d.name,
                                             change.on_text, change.what),
                                 "run the two sides by themselves"));
    if (!d.layout || d.layout->single()) continue;
    for (const Block& block : d.layout->blocks())
      if (IsFinite(block.from) && Crosses(w, block.from))
        out.push_back(MakeHazard("layout-change", HazardSeverity::kWarning, w,
                                 fmt::format("{} is cut by {} from {} on: the range has cells of both kinds",
                                             d.name, FormatGrain(block.calendar.grain()),
                                             FormatCivilInstant(block.from, block.calendar.zone())),
                                 "run the two sides by themselves: the plan has a step for each"));
  }
}

}  // namespace

HazardKind LayoutChange() {
  return {"layout-change",
          HazardSeverity::kWarning,
          "the grain or layout of the dataset changes inside the range",
          "cells of both sides are cut differently: a run of one cannot write the other",
          "run the two sides as steps of their own, each with the command of its time",
          Find};
}

}  // namespace backreach::hazards
