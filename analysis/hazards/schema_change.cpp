// A shape of the table that changes inside the range.

#include <fmt/format.h>

#include "analysis/hazards/all.hpp"
#include "graph/base/words.hpp"

namespace backreach::hazards {

namespace {

void Find(const HazardContext& c, std::vector<Hazard>& out) {
  for (const Written& w : WrittenCells(c)) {
    const Dataset& d = c.graph[w.dataset];
    for (const Change& change : d.changes) {
      if (change.kind != "schema") continue;
      if (!Inside(w, change)) continue;
      std::string then;
      for (const Finding& f : d.findings) {
        if (f.fact.code != "on-schema-change") continue;
        if (f.fact.detail == "ignore") then = "; a new column is ignored: old cells stay without it";
        if (f.fact.detail == "fail") then = "; a run fails if the columns differ";
        if (f.fact.detail == "append_new_columns") then = "; new columns are added, old ones stay";
        if (f.fact.detail == "sync_all_columns") then = "; columns are added and dropped to fit";
      }
      Hazard h = MakeHazard(
          "schema-change", HazardSeverity::kWarning, w,
          fmt::format("the shape of the table changes inside the range: {} on {}{}", d.name, change.on_text,
                      (change.what.empty() ? "" : " (" + change.what + ")") + then),
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
