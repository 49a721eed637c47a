// Mappings that nobody stated.

#include <fmt/format.h>

#include <set>

#include "analysis/hazards/all.hpp"
#include "graph/words.hpp"

namespace backreach::hazards {

namespace {

void Find(const HazardContext& c, std::vector<Hazard>& out) {
  std::set<EdgeId> done;
  for (const Step& step : c.plan.steps) {
    for (const EdgeId e : c.graph.in(step.dataset)) {
      const Edge& edge = c.graph[e];
      if (!edge.self() || !std::holds_alternative<reads::Unknown>(edge.reads) || !done.insert(e).second)
        continue;
      const std::string& name = c.graph[step.dataset].name;
      out.push_back(MakeHazard(
          "mapping-assumed", HazardSeverity::kNote, step.dataset, {},
          fmt::format("{} reads itself{}, and nothing says which rows: taken as {}", name,
                      edge.note.empty() ? "" : " (" + edge.note + ")", FormatReads(edge.effective)),
          fmt::format("declare it: edges: [{{from: {}, to: {}, reads: {{window: [-1, -1]}}}}]", name, name)));
    }
  }
}

}  // namespace

HazardKind MappingAssumed() {
  return {"mapping-assumed",
          HazardSeverity::kNote,
          "a dataset is seen to read itself, and nothing says which of its own rows",
          "it is taken to read all of its past (or, where rows are changed in place, the same cells)",
          "declare the edge: {from: a, to: a, reads: {window: [-1, -1]}}, with a memory if it forgets",
          Find};
}

}  // namespace backreach::hazards
