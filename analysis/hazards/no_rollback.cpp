// Steps that overwrite in place with no earlier state to go back to.

#include <fmt/format.h>

#include "analysis/hazards/all.hpp"
#include "graph/base/words.hpp"

namespace backreach::hazards {

namespace {

void Find(const HazardContext& c, std::vector<Hazard>& out) {
  for (const Written& w : WrittenCells(c)) {
    const Dataset& d = c.graph[w.dataset];
    if (w.along || d.rollback != "none" || d.writes == Writes::kUnknown || d.writes == Writes::kAppend ||
        d.writes == Writes::kNone || d.writes == Writes::kRefresh)
      continue;
    out.push_back(
        MakeHazard("no-rollback", HazardSeverity::kNote, w,
                   fmt::format("{} is overwritten in place and nothing keeps what was there", d.name),
                   "copy the cells aside first, or declare rollback: snapshots"));
  }
}

}  // namespace

HazardKind NoRollback() {
  return {"no-rollback",
          HazardSeverity::kNote,
          "a step overwrites in place, and nothing keeps the earlier state",
          "if the rebuild goes wrong there is no way back",
          "copy the cells aside first, or declare what keeps them (rollback: snapshots, time_travel 7d)",
          Find};
}

}  // namespace backreach::hazards
