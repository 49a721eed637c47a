// Rebuilt datasets of which nobody knows how they are written.

#include <fmt/format.h>

#include "analysis/hazards/all.hpp"
#include "graph/base/words.hpp"

namespace backreach::hazards {

namespace {

void Find(const HazardContext& c, std::vector<Hazard>& out) {
  for (const Written& w : WrittenCells(c)) {
    const Dataset& d = c.graph[w.dataset];
    if (d.writes != Writes::kUnknown) continue;
    out.push_back(MakeHazard("write-unknown", HazardSeverity::kWarning, w,
                             fmt::format("nothing tells how {} is written{}", d.name,
                                         d.writes_why.empty() ? "" : ": " + d.writes_why),
                             "declare it in a registry: writes: replace, whole, append, merge, ..."));
  }
}

}  // namespace

HazardKind WriteUnknown() {
  return {"write-unknown",
          HazardSeverity::kWarning,
          "nothing tells how the dataset is written",
          "a rerun may replace, double or change nothing: unknown",
          "say it in the registry: writes: replace (whole, append, merge, delete_insert, dynamic_overwrite)",
          Find};
}

}  // namespace backreach::hazards
