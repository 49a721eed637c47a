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
    if (d.writes != Writes::kMerge && d.writes != Writes::kDeleteInsert) continue;
    for (const Finding& f : d.findings) {
      if (f.fact.code != "bounded-match") continue;
      const SpanSet cells = Older(c, w, f);
      if (cells.empty()) continue;
      Hazard h = MakeHazard("bounded-match", HazardSeverity::kBlocking, w.dataset, cells,
                            fmt::format("{}: {}; older rows would be there twice", d.name, f.fact.detail),
                            "take the predicate away for this run, or delete the period first");
      h.evidence["seen"] = {FormatSeen(f.seen)};
      out.push_back(std::move(h));
      break;
    }
  }
}

}  // namespace

HazardKind BoundedMatch() {
  return {"bounded-match",
          HazardSeverity::kBlocking,
          "a merge or delete+insert whose predicates limit the target side to recent rows, and the cells are "
          "older",
          "old rows are not matched, and the new ones are inserted beside them: duplicates",
          "run with the predicates off, or delete the period first",
          Find};
}

}  // namespace backreach::hazards
