// A merge that updates some columns and leaves the others as they were.

#include <fmt/format.h>

#include "analysis/hazards/all.hpp"
#include "graph/base/words.hpp"

namespace backreach::hazards {

namespace {

void Find(const HazardContext& c, std::vector<Hazard>& out) {
  for (const Written& w : WrittenCells(c)) {
    const Dataset& d = c.graph[w.dataset];
    if (d.writes == Writes::kWhole) continue;
    for (const Finding& f : d.findings)
      if (f.fact.code == "columns-kept")
        out.push_back(
            MakeHazard("columns-kept", HazardSeverity::kWarning, w,
                       fmt::format("a merge into {} leaves columns as they were: {}", d.name, f.fact.detail),
                       "update all columns for this run, or delete the period first"));
  }
}

}  // namespace

HazardKind ColumnsKept() {
  return {"columns-kept",
          HazardSeverity::kWarning,
          "a merge that updates only some columns",
          "the other columns keep their old values in rows that exist, and every test stays green",
          "update all columns for this run, or delete the period first",
          Find};
}

}  // namespace backreach::hazards
