#include <fmt/format.h>

#include <algorithm>

#include "analysis/hazards/all.hpp"
#include "graph/words.hpp"

namespace backreach::hazards {

namespace {

void Find(const HazardContext& c, std::vector<Hazard>& out) {
  for (const Written& w : WrittenCells(c)) {
    const Dataset& d = c.graph[w.dataset];
    for (const Change& change : d.changes) {
      if (change.kind != "schema") continue;
      // Inside: the day is among the cells, or lies between them.
      const bool inside = w.whole || w.spans.empty() ||
                          (w.spans.front().start < change.on && change.on < w.spans.back().end) ||
                          w.spans.Contains(change.on);
      if (!inside) continue;
      Hazard h = MakeHazard("schema-change", HazardSeverity::kWarning, w,
                            fmt::format("the shape of the table changes inside the range: {} on {}{}", d.name,
                                        change.on_text, change.what.empty() ? "" : " (" + change.what + ")"),
                            "rebuild the two sides of that day by themselves, and check both");
      h.evidence["on"] = {change.on_text};
      out.push_back(std::move(h));
    }
  }
}

}  // namespace

HazardKind SchemaChange() {
  return {"schema-change",
          HazardSeverity::kWarning,
          "a declared change (schema) lies inside the range",
          "the rebuilt cells are written by today's code over both sides of the change",
          "check both sides of the day by themselves, before publishing",
          Find};
}

}  // namespace backreach::hazards
