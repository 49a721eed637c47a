// A match whose predicates see only recent rows, and older cells: duplicates.

#include <fmt/format.h>

#include "analysis/hazards/all.hpp"
#include "graph/base/words.hpp"

namespace backreach::hazards {

namespace {

void Find(const HazardContext& c, std::vector<Hazard>& out) {
  for (const Written& w : WrittenCells(c)) {
    const Dataset& d = c.graph[w.dataset];
    const bool matches =
        d.writes == Writes::kMerge || d.writes == Writes::kDeleteInsert || d.writes == Writes::kReplace;
    if (!matches) continue;
    for (const Finding& f : d.findings) {
      if (f.fact.code != "bounded-match") continue;
      const SpanSet cells = BeyondReach(c, w, f);
      if (cells.empty()) continue;
      Hazard h = MakeHazard("bounded-match", HazardSeverity::kBlocking, w.dataset, cells,
                            fmt::format("{}: {}; older rows would be there twice", d.name, f.fact.detail),
                            "take the predicate away for this run, or delete the period first" +
                                FullRefreshRemedy(c, w.dataset));
      h.evidence["seen"] = {FormatSeen(f.seen)};
      h.evidence["certainty"] = {kByText};
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
