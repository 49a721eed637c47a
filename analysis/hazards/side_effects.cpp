// Hooks and tasks that send, copy or unload, once more for every run.

#include <fmt/format.h>

#include <algorithm>

#include "analysis/hazards/all.hpp"
#include "graph/base/words.hpp"

namespace backreach::hazards {

namespace {

void Find(const HazardContext& c, std::vector<Hazard>& out) {
  for (const Written& w : WrittenCells(c)) {
    const Dataset& d = c.graph[w.dataset];
    std::vector<std::string> effects = d.side_effects;
    for (const Finding& f : d.findings)
      if (f.fact.code == "side-effects") effects.push_back(f.fact.detail);
    for (const JobId id : d.jobs)
      for (const Finding& f : c.graph[id].findings)
        if (f.fact.code == "side-effects") effects.push_back(c.graph[id].name + " " + f.fact.detail);
    std::sort(effects.begin(), effects.end());
    effects.erase(std::unique(effects.begin(), effects.end()), effects.end());
    if (effects.empty()) continue;
    Hazard h = MakeHazard("side-effects", HazardSeverity::kWarning, w,
                          fmt::format("rebuilding {} does more than write it: {}", d.name, ListOf(effects)),
                          "switch this off for the rebuild, or tell those who receive it");
    h.evidence["effects"] = effects;
    out.push_back(std::move(h));
  }
}

}  // namespace

HazardKind SideEffects() {
  return {"side-effects",
          HazardSeverity::kWarning,
          "the job of a step also sends, notifies, exports or triggers",
          "it does so again for every cell that is rebuilt",
          "switch it off for the rebuild, or tell those who receive it",
          Find};
}

}  // namespace backreach::hazards
