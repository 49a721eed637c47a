// What the correction reaches and the plan does not rebuild.

#include <fmt/format.h>

#include <algorithm>

#include "analysis/hazards/all.hpp"
#include "graph/base/words.hpp"

namespace backreach::hazards {

namespace {

void Find(const HazardContext& c, std::vector<Hazard>& out) {
  for (const auto& entry : c.plan.left_stale) {
    if (entry.reason != StaleReason::kExcluded && entry.reason != StaleReason::kProtected) continue;
    const Dataset& d = c.graph[entry.cells.dataset];
    const bool excluded = std::any_of(c.plan.request.exclusions.begin(), c.plan.request.exclusions.end(),
                                      [&](const Exclusion& e) { return e.dataset == entry.cells.dataset; });
    if (!excluded && !d.never_rebuild && !d.full_refresh_off)
      continue;  // what lies below is named by what it reads
    std::string message = fmt::format("{} stays on the old values ({})", d.name, ToString(entry.reason));
    if (!entry.mixes_into.empty())
      message += fmt::format("; {} then mixes old and new", NamesText(c.graph, entry.mixes_into));
    else if (!entry.read_by.empty())
      message += fmt::format("; read by {}", NamesText(c.graph, entry.read_by));
    Hazard h = MakeHazard("left-stale", HazardSeverity::kWarning, entry.cells.dataset,
                          entry.cells.whole ? SpanSet::All() : entry.cells.spans, message,
                          "rebuild it as well, or tell the readers which numbers are the old ones");
    for (const DatasetId id : entry.mixes_into) h.evidence["mixes_into"].push_back(c.graph[id].name);
    out.push_back(std::move(h));
  }
}

}  // namespace

HazardKind LeftStale() {
  return {"left-stale",
          HazardSeverity::kWarning,
          "something excluded or protected stays on the old values",
          "what reads both it and the corrected data mixes old and new",
          "rebuild it too, or tell its readers; the plan names what then mixes",
          Find};
}

}  // namespace backreach::hazards
