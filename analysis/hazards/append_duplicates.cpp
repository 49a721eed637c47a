// An append run again: the rows of the period are there twice.

#include <fmt/format.h>

#include "analysis/hazards/all.hpp"
#include "graph/words.hpp"

namespace backreach::hazards {

namespace {

void Find(const HazardContext& c, std::vector<Hazard>& out) {
  for (const Written& w : WrittenCells(c)) {
    const Dataset& d = c.graph[w.dataset];
    if (d.writes != Writes::kAppend) continue;
    Hazard h = MakeHazard(
        "append-duplicates", HazardSeverity::kBlocking, w,
        fmt::format("{} would be there twice: {} appends{}", CountText(d, w.spans, w.whole), d.name,
                    d.writes_why.empty() ? "" : " (" + d.writes_why + ")"),
        d.key.empty() ? "delete the cells first, or write by merge on a business key"
                      : fmt::format("write by merge on {}, or delete the cells first", Join(d.key, ", ")));
    if (!d.writes_why.empty()) h.evidence["why"] = {d.writes_why};
    out.push_back(std::move(h));
  }
}

}  // namespace

HazardKind AppendDuplicates() {
  return {"append-duplicates",
          HazardSeverity::kBlocking,
          "a step reruns cells that are there already, of a dataset whose way of writing appends",
          "every row of the rerun cells is there twice; sums double, and only a uniqueness test on the "
          "business key would tell",
          "write by merge on the business key, or delete the cells first, in the same transaction",
          Find};
}

}  // namespace backreach::hazards
