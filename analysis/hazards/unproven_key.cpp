// Merges on a key that nothing shows to be unique.

#include <fmt/format.h>

#include "analysis/hazards/all.hpp"
#include "analysis/steps/checks.hpp"
#include "graph/base/words.hpp"

namespace backreach::hazards {

namespace {

void Find(const HazardContext& c, std::vector<Hazard>& out) {
  for (const Written& w : WrittenCells(c)) {
    const Dataset& d = c.graph[w.dataset];
    if (d.writes != Writes::kMerge && d.writes != Writes::kDeleteInsert) continue;
    if (d.key.empty() || d.proven_unique == true) continue;
    if (d.writes == Writes::kDeleteInsert && KeyIsGrain(d)) continue;
    if (KeyIsProven(d, d.key)) continue;
    Hazard h = MakeHazard(
        "unproven-key", HazardSeverity::kWarning, w,
        fmt::format("{} is written by key ({}), and nothing proves that the key is unique", d.name,
                    Join(d.key, ", ")),
        fmt::format("add a uniqueness test on {} over all rows, or declare proven: {{unique: true}}",
                    Join(d.key, ", ")));
    h.evidence["key"] = d.key;
    out.push_back(std::move(h));
  }
}

}  // namespace

HazardKind UnprovenKey() {
  return {"unproven-key",
          HazardSeverity::kWarning,
          "a merge, or a delete+insert on more than its grain, matches on a key that no enforced constraint "
          "and no uniqueness test proves",
          "if the key is not unique the run fails, or rows are multiplied, and no test says so",
          "add a uniqueness test on the key (all rows, severity error), or say in the registry: proven: "
          "{unique: true}",
          Find};
}

}  // namespace backreach::hazards
