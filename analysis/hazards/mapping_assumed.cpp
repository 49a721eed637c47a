// Mappings that nobody stated: where the code shows signs of more than the same days (read as `all`), where
// no code tells (read as `same`), and a dataset that reads itself nobody knows how.

#include <fmt/format.h>

#include <set>

#include "analysis/hazards/all.hpp"
#include "analysis/hazards/assumed.hpp"
#include "graph/base/words.hpp"
#include "graph/base/yaml_text.hpp"

namespace backreach::hazards {

namespace {

void OfItself(const HazardContext& c, const Step& step, const Edge& edge, std::vector<Hazard>& out) {
  const std::string& name = c.graph[step.dataset].name;
  out.push_back(
      MakeHazard("mapping-assumed", HazardSeverity::kNote, step.dataset, {},
                 fmt::format("{} reads itself{}, and nothing says which rows: taken as {}", name,
                             edge.note.empty() ? "" : " (" + edge.note + ")", FormatReads(edge.effective)),
                 fmt::format("declare it: edges: [{{from: {}, to: {}, reads: {{window: [-1, -1]}}}}]",
                             YamlText(name), YamlText(name))));
}

// The step at which it shows: the reader itself, or the first one behind views.
DatasetId ShownAt(const HazardContext& c, DatasetId reader) {
  std::vector<DatasetId> todo = {reader};
  std::set<DatasetId> seen;
  for (std::size_t i = 0; i < todo.size(); ++i) {
    if (!c.StepsOf(todo[i]).empty()) return todo[i];
    if (c.graph[todo[i]].stores()) continue;
    for (const EdgeId e : c.graph.out(todo[i]))
      if (seen.insert(c.graph[e].to).second) todo.push_back(c.graph[e].to);
  }
  return reader;
}

void Find(const HazardContext& c, std::vector<Hazard>& out) {
  std::set<EdgeId> done;
  for (const Step& step : c.plan.steps)
    for (const EdgeId e : c.graph.in(step.dataset))
      if (c.graph[e].self() && std::holds_alternative<reads::Unknown>(c.graph[e].reads) &&
          done.insert(e).second)
        OfItself(c, step, c.graph[e], out);
  std::vector<std::string> same;
  DatasetId first;
  for (const AssumedMapping& a : c.plan.assumed) {
    const Edge& edge = c.graph[a.edges[0]];
    if (edge.self() || edge.known != Known::kAssumed) continue;
    const std::string ends = c.graph[edge.from].name + " -> " + c.graph[edge.to].name;
    if (!std::holds_alternative<reads::All>(edge.effective)) {
      same.push_back(ends);
      if (!first.valid()) first = ShownAt(c, edge.to);
      continue;
    }
    const std::string place = edge.code ? edge.code->place : "",
                      why = edge.code && !edge.code->why.empty() ? edge.code->why : edge.note;
    Hazard h = MakeHazard(
        "mapping-assumed", HazardSeverity::kWarning, ShownAt(c, edge.to), {},
        fmt::format("{}: read whole, since nobody said which days: {}{}{}", ends, why,
                    place.empty() ? "" : " (" + place + ")",
                    a.cells ? fmt::format("; {} more", CountOf(*a.cells, *c.graph[edge.to].grain)) : ""),
        "if it reads the same days alone, say so: " + a.stanza);
    h.evidence["edge"] = {c.graph[edge.from].name, c.graph[edge.to].name};
    h.evidence["parent"] = {c.graph[edge.from].name};
    if (!place.empty()) h.evidence["place"] = {place};
    out.push_back(std::move(h));
  }
  if (same.empty()) return;
  Hazard h =
      MakeHazard("mapping-assumed", HazardSeverity::kNote, first, {},
                 fmt::format("{} read{} the same days, which nobody said and no code tells: {}",
                             same.size() == 1 ? "1 edge" : fmt::format("{} edges", same.size()),
                             same.size() == 1 ? "s" : "", ListOf(same, 3)),
                 "say it in a registry (the plan's JSON has the stanzas under 'assumed'), or plan with "
                 "--strict, which takes them as all");
  h.evidence["edges"] = same;
  out.push_back(std::move(h));
}

}  // namespace

HazardKind MappingAssumed() {
  return {
      "mapping-assumed",
      HazardSeverity::kNote,
      "nobody stated which cells of a parent an edge reads, and the code does not prove it",
      "what the code shows signs of is read whole, what no code tells as the same days; of itself a dataset "
      "is taken to read all of its past (or, where rows are changed in place, the same cells)",
      "declare the edge: {from: a, to: b, reads: same}, or {window: [-6, 0]}, or what else it reads",
      Find};
}

}  // namespace backreach::hazards
