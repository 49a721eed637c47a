// A business key that changes inside the range.

#include <fmt/format.h>

#include "analysis/hazards/all.hpp"
#include "graph/base/words.hpp"

namespace backreach::hazards {

namespace {

void Find(const HazardContext& c, std::vector<Hazard>& out) {
  for (const Written& w : WrittenCells(c)) {
    const Dataset& d = c.graph[w.dataset];
    for (const Change& change : d.changes) {
      if (change.kind != "key") continue;
      if (!Inside(w, change)) continue;
      Hazard h = MakeHazard("key-change", HazardSeverity::kWarning, w,
                            fmt::format("the business key changes inside the range: {} on {}{}", d.name,
                                        change.on_text, change.what.empty() ? "" : " (" + change.what + ")"),
                            "delete the rows of the period first, or those of the other side stay beside the "
                            "new ones; check both sides of that day");
      h.evidence["on"] = {change.on_text};
      out.push_back(std::move(h));
    }
  }
}

}  // namespace

HazardKind KeyChange() {
  return {"key-change",
          HazardSeverity::kWarning,
          "a declared change (key) lies inside the range",
          "rows of one side do not match those of the other: a match by key finds nothing, or too much",
          "check both sides of the day by themselves, before publishing",
          Find};
}

}  // namespace backreach::hazards
