// Merges by key, where rows that vanish from the input stay.

#include <fmt/format.h>

#include <algorithm>

#include "analysis/hazards/all.hpp"
#include "graph/base/words.hpp"

namespace backreach::hazards {

namespace {

void Find(const HazardContext& c, std::vector<Hazard>& out) {
  for (const Written& w : WrittenCells(c)) {
    const Dataset& d = c.graph[w.dataset];
    if (w.along || (d.writes != Writes::kMerge && d.writes != Writes::kDeleteInsert)) continue;
    if (ReplacesPresentCells(d)) continue;  // rows removed from a cell that still has some go with it
    std::vector<DatasetId> readers;
    for (const EdgeId e : c.graph.out(w.dataset))
      if (!c.graph[e].self() && std::find(readers.begin(), readers.end(), c.graph[e].to) == readers.end())
        readers.push_back(c.graph[e].to);
    Hazard h = MakeHazard("merge-keeps-removed-rows", HazardSeverity::kWarning, w,
                          fmt::format("rows that the correction removes stay in {}{}", d.name,
                                      readers.empty() ? "" : ", and so in " + NamesText(c.graph, readers)),
                          "delete the period first, in the same transaction, or rebuild whole");
    for (const DatasetId id : readers) h.evidence["readers"].push_back(c.graph[id].name);
    out.push_back(std::move(h));
  }
}

}  // namespace

HazardKind MergeKeepsRemovedRows() {
  return {"merge-keeps-removed-rows",
          HazardSeverity::kWarning,
          "a merge or delete+insert by key (delete+insert on the partition's own column apart)",
          "rows that the correction removes stay, here and in everything that is built from it",
          "delete the period first in the same transaction, or rebuild whole",
          Find};
}

}  // namespace backreach::hazards
