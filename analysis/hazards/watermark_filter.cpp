#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "analysis/hazards/all.hpp"
#include "graph/words.hpp"

namespace backreach::hazards {

namespace {

// The cells that begin more than `days` before now; all of them where nobody knows how far the bound reaches.
SpanSet Older(const HazardContext& c, const Written& w, const Finding& f) {
  const auto it = f.fact.data.find("days");
  if (it == f.fact.data.end() || w.whole || w.spans.empty()) return w.whole ? SpanSet::All() : w.spans;
  const Instant bound =
      c.frame.now() - static_cast<Instant>(std::atof(it->second.c_str()) * static_cast<double>(kDay));
  const Layout& layout = *c.graph[w.dataset].layout;
  return w.spans.Clip(kMinInstant, layout.Floor(bound) == bound ? bound : layout.Next(bound));
}

void Find(const HazardContext& c, std::vector<Hazard>& out) {
  for (const Written& w : WrittenCells(c)) {
    const Dataset& d = c.graph[w.dataset];
    if (w.along || d.writes == Writes::kWhole || d.writes == Writes::kRefresh) continue;
    for (const Finding& f : d.findings) {
      if (f.fact.code != "watermark-filter") continue;
      const SpanSet cells = Older(c, w, f);
      if (cells.empty() || (w.whole && f.fact.data.count("days") && !d.layout && false)) continue;
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
