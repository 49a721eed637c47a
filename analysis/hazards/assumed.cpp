// What an edge costs is counted at its reader: cells that only this edge dirties, and that reading the same
// days would not.

#include "analysis/hazards/assumed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "graph/base/words.hpp"
#include "graph/base/yaml_text.hpp"
#include "graph/reads/reads_json.hpp"

namespace backreach {

namespace {

bool Assumed(const Edge& e) {
  if (e.known == Known::kAssumed) return true;
  return e.known == Known::kInferred && e.code != nullptr;
}

// Cells of the step that these edges dirty, beyond what others do and what `same` would.
std::optional<std::int64_t> CostOf(const HazardContext& c, const Step& step,
                                   const std::vector<EdgeId>& edges) {
  const Dataset& child = c.graph[step.dataset];
  if (!child.layout || step.whole || edges.empty()) return std::nullopt;
  SpanSet own, others;
  for (const StepBecause& b : step.because) {
    const bool mine = std::find(edges.begin(), edges.end(), b.edge) != edges.end();
    (mine ? own : others).Add(b.spans ? *b.spans : step.dirty);
  }
  const DatasetId from = c.graph[edges[0]].from;
  const auto& region = c.sweeper.region();
  if (region.Has(from)) others.Add(child.layout->AlignOut(c.rebuilt[region.At(from)].pass));
  const SpanSet extra = Intersection(Difference(own, others), step.dirty);
  if (extra.empty() || !IsFinite(extra.front().start) || !IsFinite(extra.back().end)) return std::nullopt;
  return child.layout->Count(extra);
}

}  // namespace

std::string ReadsOfAll(const LineageGraph& graph, const std::vector<EdgeId>& edges) {
  std::vector<std::string> texts;
  for (const EdgeId e : edges) texts.push_back(FormatReads(graph[e].effective));
  return ListOf(texts);
}

std::string ReadsStanza(const LineageGraph& graph, const std::vector<EdgeId>& edges) {
  std::vector<Reads> all;
  for (const EdgeId e : edges) all.push_back(graph[e].effective);
  std::string text = ReadsListToJson(all).value_or("same");
  if (text.size() > 2 && text[0] == '"') text = text.substr(1, text.size() - 2);
  std::string out;  // JSON is YAML; without quotes it is what people write
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') continue;
    out += text[i];
    if ((text[i] == ':' || text[i] == ',') && i + 1 < text.size() && text[i + 1] != ' ') out += ' ';
  }
  return out;
}

std::vector<AssumedMapping> FindAssumed(const HazardContext& c) {
  std::map<std::pair<DatasetId, DatasetId>, AssumedMapping> found;
  const auto add = [&](const StepBecause& b, const Step* step) {
    const Edge& e = c.graph[b.edge];
    if (!Assumed(e)) return;
    AssumedMapping& a = found[{e.to, e.from}];
    if (std::find(a.edges.begin(), a.edges.end(), b.edge) == a.edges.end()) a.edges.push_back(b.edge);
    a.step = step ? step->dataset : DatasetId{};
  };
  for (const Step& step : c.plan.steps)
    for (const StepBecause& b : step.because) add(b, &step);
  for (const Fresh& fresh : c.plan.fresh)
    for (const StepBecause& b : fresh.because) add(b, nullptr);
  std::vector<AssumedMapping> out;
  for (auto& [ends, a] : found) {
    // All that the edge reads by, also what dirties nothing this time.
    a.edges.clear();
    for (const EdgeId e : c.graph.in(ends.first))
      if (c.graph[e].from == ends.second && Assumed(c.graph[e])) a.edges.push_back(e);
    for (const Step* step : c.StepsOf(ends.first)) {
      const auto cost = CostOf(c, *step, a.edges);
      if (cost) a.cells = a.cells.value_or(0) + *cost;
    }
    const bool all = std::holds_alternative<reads::All>(c.graph[a.edges[0]].effective);
    a.stanza = fmt::format("edges: [{{from: {}, to: {}, reads: {}}}]", YamlText(c.graph[ends.second].name),
                           YamlText(c.graph[ends.first].name), all ? "same" : ReadsStanza(c.graph, a.edges));
    out.push_back(std::move(a));
  }
  return out;
}

}  // namespace backreach
