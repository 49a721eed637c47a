// Mappings that nobody stated.

#include <fmt/format.h>

#include <set>

#include "analysis/hazards/all.hpp"
#include "graph/words.hpp"

namespace backreach::hazards {

namespace {

// Code that was read and did not tell which of the parent's rows a cell needs.
void ReadWhole(const HazardContext& c, const Edge& edge, std::vector<Hazard>& out) {
  const std::string &from = c.graph[edge.from].name, &to = c.graph[edge.to].name;
  Hazard h = MakeHazard(
      "mapping-assumed", HazardSeverity::kWarning, edge.to, {},
      fmt::format("{} is taken to read all of {}{}", to, from, edge.note.empty() ? "" : ": " + edge.note),
      fmt::format("say what it reads: edges: [{{from: {}, to: {}, reads: {{window: [-7, 0]}}}}]", from, to));
  h.evidence["parent"] = {from};
  out.push_back(std::move(h));
}

void Find(const HazardContext& c, std::vector<Hazard>& out) {
  std::set<EdgeId> done;
  for (const Step& step : c.plan.steps) {
    for (const EdgeId e : c.graph.in(step.dataset)) {
      const Edge& edge = c.graph[e];
      if (!edge.self() && edge.known == Known::kAssumed && std::holds_alternative<reads::All>(edge.reads) &&
          done.insert(e).second)
        ReadWhole(c, edge, out);
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
  return {
      "mapping-assumed",
      HazardSeverity::kNote,
      "nothing says which rows of what it reads (or of itself) a dataset needs: its code was read and does "
      "not tell (a warning), or it is seen to read itself",
      "it is taken to read all of it (of itself all of its past or, where rows are changed in place, the "
      "same cells): more is rebuilt than may be needed",
      "declare the edge: {from: a, to: b, reads: {window: [-6, 0]}}; for one that reads itself with a "
      "memory if it forgets",
      Find};
}

}  // namespace backreach::hazards
