// Time zones that nobody stated.

#include <fmt/format.h>

#include <set>

#include "analysis/hazards/all.hpp"
#include "graph/base/words.hpp"

namespace backreach::hazards {

namespace {

// A neighbour, through views, whose zone was given and is another one.
DatasetId OtherZone(const LineageGraph& graph, DatasetId id) {
  std::vector<std::pair<DatasetId, bool>> todo = {{id, true}, {id, false}};  // downwards or upwards
  std::set<std::pair<DatasetId, bool>> seen;
  while (!todo.empty()) {
    const auto [at, down] = todo.back();
    todo.pop_back();
    for (const EdgeId e : down ? graph.out(at) : graph.in(at)) {
      const DatasetId next = down ? graph[e].to : graph[e].from;
      const Dataset& d = graph[next];
      if (!d.zone_assumed && d.calendar.zone().name() != "UTC") return next;
      if (!d.stores() && seen.insert({next, down}).second) todo.push_back({next, down});
    }
  }
  return {};
}

void Find(const HazardContext& c, std::vector<Hazard>& out) {
  std::set<DatasetId> mentioned;
  for (const Step& step : c.plan.steps) mentioned.insert(step.dataset);
  for (const auto& e : c.plan.left_stale) mentioned.insert(e.cells.dataset);
  for (const auto& e : c.plan.afterwards) mentioned.insert(e.cells.dataset);
  for (const DatasetId id : mentioned) {
    const Dataset& d = c.graph[id];
    if (!d.zone_assumed || !d.layout) continue;
    const DatasetId other = OtherZone(c.graph, id);
    if (!other.valid()) continue;
    out.push_back(MakeHazard("timezone-assumed", HazardSeverity::kNote, id, {},
                             fmt::format("{}: zone UTC, since nobody gave one; {} has {}", d.name,
                                         c.graph[other].name, c.graph[other].calendar.zone().name()),
                             "declare it: partitions: {timezone: ...}"));
  }
}

}  // namespace

HazardKind TimezoneAssumed() {
  return {"timezone-assumed",
          HazardSeverity::kNote,
          "a dataset whose zone nobody gave has a neighbour with another one",
          "it was cut in UTC: if that is wrong, its cells are hours away from where they are",
          "declare its zone: partitions: {timezone: ...}",
          Find};
}

}  // namespace backreach::hazards
