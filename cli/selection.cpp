// Each project is asked by itself, since paths and `package:this` have meaning only inside one.

#include "cli/selection.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "graph/base/words.hpp"
#include "graph/selection/packed_nodes.hpp"
#include "graph/store/store.hpp"
#include "ingest/dbt/artifacts.hpp"
#include "ingest/importer.hpp"

namespace backreach {

namespace {

struct State {
  std::vector<NodeFact> nodes;
  std::optional<std::map<std::string, std::string>> results, loaded_at;
};

State ReadState(const std::string& folder) {
  State out;
  Diagnostics diagnostics;
  std::vector<SourceFacts> facts = DbtImporter().run({{folder}, {}}, diagnostics);
  const auto beside = [&](const char* name) {
    const std::string path = (std::filesystem::path(folder) / name).string();
    std::error_code ec;
    return !diagnostics.has_errors() && std::filesystem::exists(path, ec) ? path : std::string();
  };
  if (const std::string path = beside("run_results.json"); !path.empty())
    out.results = ReadRunStatuses(path, diagnostics);
  if (const std::string path = beside("sources.json"); !path.empty())
    out.loaded_at = ReadLoadedAt(path, diagnostics);
  if (diagnostics.has_errors()) {
    std::string text = Format(diagnostics);
    while (!text.empty() && text.back() == '\n') text.pop_back();
    throw Error("--state: " + text +
                "\n  give a target folder of dbt, with the manifest of an earlier state");
  }
  for (SourceFacts& f : facts)
    for (NodeFact& n : Unpack(f.facts.nodes)) out.nodes.push_back(std::move(n));
  return out;
}

}  // namespace

Selection SelectDatasets(const Arguments& arguments, const BuiltGraph& built,
                         const SelectorRequest& request) {
  State state;
  SelectorInput input;
  if (const auto folder = arguments.value("state")) {
    state = ReadState(*folder);
    input.has_state = true;
    if (state.results) input.results = &*state.results;
    if (state.loaded_at) input.loaded_before = &*state.loaded_at;
    for (const NodeFact& n : state.nodes) input.state.push_back(&n);
  }
  const std::vector<SourceFacts> sources =
      Store::OpenForReading(StorePath(arguments)).Load(true, MomentOf(arguments, "as-of"));
  std::set<DatasetId> found;
  std::map<std::string, std::size_t> unmatched;
  std::size_t projects = 0;
  std::set<std::string> named;  // selectors of projects that do not have the one that was asked for
  const auto choose = [&](const Facts& facts) {
    input.nodes.clear();
    const std::vector<NodeFact> nodes = Unpack(facts.nodes);
    for (const NodeFact& n : nodes) input.nodes.push_back(&n);
    if (!request.named.empty()) {
      std::set<std::string> here;
      for (const NodeFact& n : nodes)
        if (n.type == "selector") here.insert(n.name);
      if (!here.count(request.named)) return named.merge(here);
    }
    ++projects;
    input.loaded.clear();
    for (const MeasureFact& m : facts.measures)
      if (!m.freshness.empty()) input.loaded[m.dataset] = m.loaded_at;
    const SelectorResult result = Select(input, request);
    for (const std::string& text : std::set<std::string>(result.warnings.begin(), result.warnings.end()))
      ++unmatched[text];
    for (const std::string& id : result.ids)
      if (const auto dataset = built.names.FindExact(id)) found.insert(DatasetId{*dataset});
  };
  for (const SourceFacts& source : sources) {
    if (!source.facts.nodes.empty()) choose(source.facts);
    if (source.source.kind == "dbt" && source.facts.nodes.empty() && !source.facts.datasets.empty())
      throw Error(
          fmt::format("backreach: error: dbt:{} was ingested before selectors were kept\n"
                      "  ingest it again: backreach ingest dbt target/",
                      source.source.name));
  }
  if (projects == 0 && !request.named.empty())
    throw Error(fmt::format("backreach: error: no selectors.yml has a selector '{}'\n  {}", request.named,
                            named.empty() ? "the dbt projects in the store name none"
                                          : "known: " + Join({named.begin(), named.end()}, ", ")));
  if (projects == 0) choose({});  // what is no selector at all is still refused
  Selection out;
  out.datasets.assign(found.begin(), found.end());
  for (const auto& [text, count] : unmatched)
    if (count == projects) out.unmatched.push_back(text);
  return out;
}

}  // namespace backreach
