// Snapshots and tables that no run can compute again.

#include <fmt/format.h>

#include <algorithm>

#include "analysis/hazards/all.hpp"
#include "graph/base/words.hpp"

namespace backreach::hazards {

namespace {

void Find(const HazardContext& c, std::vector<Hazard>& out) {
  for (const auto& entry : c.plan.left_stale) {
    const Dataset& d = c.graph[entry.cells.dataset];
    const bool snapshot = d.kind == Kind::kSnapshot || d.writes == Writes::kSnapshot;
    if (!snapshot && !d.never_rebuild && !(d.full_refresh_off && entry.reason == StaleReason::kProtected))
      continue;
    if (entry.reason != StaleReason::kSnapshot && entry.reason != StaleReason::kProtected) continue;
    std::string message =
        snapshot ? fmt::format(
                       "{} is a snapshot: a run records today's values, its history cannot be computed again",
                       d.name)
        : d.never_rebuild ? fmt::format("{} is marked never to be rebuilt", d.name)
                          : fmt::format("{} could only be rebuilt whole, and full_refresh is off", d.name);
    if (!entry.read_by.empty()) message += fmt::format("; read by {}", NamesText(c.graph, entry.read_by));
    out.push_back(MakeHazard("cannot-rebuild", HazardSeverity::kWarning, entry.cells.dataset,
                             entry.cells.whole ? SpanSet::All() : entry.cells.spans, message,
                             snapshot
                                 ? "correct its rows by hand where it matters, and mark them as corrected"
                                 : "lift the mark, or correct it by hand"));
  }
  for (const Written& w : WrittenCells(c)) {
    const Dataset& d = c.graph[w.dataset];
    if (w.along || !w.whole || d.layout || (d.writes != Writes::kMerge && d.writes != Writes::kDeleteInsert))
      continue;
    const bool asked_whole = std::any_of(c.plan.request.targets.begin(), c.plan.request.targets.end(),
                                         [&](const Target& t) { return t.whole; });
    if (asked_whole) continue;
    out.push_back(MakeHazard(
        "cannot-rebuild", HazardSeverity::kWarning, w,
        fmt::format("{} merges on a key and has no grain: it cannot be rebuilt for a period alone", d.name),
        "declare its partitions (registry or meta.backreach), or rebuild it whole"));
  }
}

}  // namespace

HazardKind CannotRebuild() {
  return {"cannot-rebuild",
          HazardSeverity::kWarning,
          "a snapshot, a never-rebuild mark, full_refresh: false on what could only be rebuilt whole, or a "
          "keyed merge without a grain asked for a period",
          "it keeps its old values (such a merge stays a step, and cannot be limited to the period)",
          "correct it by hand, or accept that it stays",
          Find};
}

}  // namespace backreach::hazards
