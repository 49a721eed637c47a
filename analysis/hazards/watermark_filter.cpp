// Runs that take only rows newer than what the table holds: nothing of the past.

#include <fmt/format.h>

#include "analysis/hazards/all.hpp"
#include "graph/words.hpp"

namespace backreach::hazards {

namespace {

void Find(const HazardContext& c, std::vector<Hazard>& out) {
  for (const Written& w : WrittenCells(c)) {
    const Dataset& d = c.graph[w.dataset];
    if (w.along || d.writes == Writes::kWhole || d.writes == Writes::kRefresh) continue;
    for (const Finding& f : d.findings) {
      if (f.fact.code != "watermark-filter") continue;
      const SpanSet cells = BeyondReach(c, w, f);
      if (cells.empty()) continue;
      Hazard h = MakeHazard(
          "watermark-filter", HazardSeverity::kBlocking, w.dataset, cells,
          fmt::format("an ordinary run of {} {}: it changes nothing, or not the rows that were corrected",
                      d.name, f.fact.detail),
          "give the query a range (variables declared in meta.backreach.vars, or microbatch), or rebuild it "
          "whole");
      h.evidence["seen"] = {FormatSeen(f.seen)};
      out.push_back(std::move(h));
      break;
    }
  }
}

}  // namespace

HazardKind WatermarkFilter() {
  return {"watermark-filter",
          HazardSeverity::kBlocking,
          "the rows that a run takes are bounded by the table's own content, or by the run's date with a "
          "reach that ends before the cells",
          "an ordinary run selects nothing, or not the changed rows, for a past range: it is green and "
          "changes nothing",
          "pass the range to the query (variables, microbatch), or rebuild whole",
          Find};
}

}  // namespace backreach::hazards
