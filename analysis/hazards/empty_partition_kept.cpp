// A partition that the correction empties, where a run replaces only what it has rows for.

#include <fmt/format.h>

#include "analysis/hazards/all.hpp"
#include "graph/base/words.hpp"

namespace backreach::hazards {

namespace {

void Find(const HazardContext& c, std::vector<Hazard>& out) {
  for (const Written& w : WrittenCells(c)) {
    const Dataset& d = c.graph[w.dataset];
    if (!ReplacesPresentCells(d)) continue;
    out.push_back(MakeHazard("empty-partition-kept", HazardSeverity::kWarning, w,
                             fmt::format("a cell of {} that becomes empty keeps its old rows: {}", d.name,
                                         d.writes == Writes::kDynamicOverwrite
                                             ? "only partitions with rows in the result are replaced"
                                             : "only days with rows in the result are deleted"),
                             "delete the cells first, or compare which cells have rows before and after"));
  }
}

}  // namespace

HazardKind EmptyPartitionKept() {
  return {"empty-partition-kept",
          HazardSeverity::kWarning,
          "dynamic partition overwrite, or delete+insert on the grain",
          "a cell that the correction empties keeps its old rows: only cells with rows in the result are "
          "replaced",
          "compare the cells of input and output afterwards, and delete those that should be empty",
          Find};
}

}  // namespace backreach::hazards
