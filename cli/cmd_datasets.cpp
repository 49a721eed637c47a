#include <fmt/format.h>

#include "analysis/request_text.hpp"
#include "cli/command.hpp"
#include "cli/loaded.hpp"
#include "graph/words.hpp"
#include "render/json.hpp"
#include "render/text.hpp"

namespace backreach {

namespace {

Status Run(const Arguments& a) {
  const std::string format = FormatOf(a, {"text", "json"}, "text");
  const BuiltGraph built = LoadGraph(a);
  const LineageGraph& g = built.graph;
  std::vector<DatasetId> ids;
  if (a.words.empty()) {
    for (std::uint32_t i = 0; i < g.datasets.size(); ++i) ids.push_back(DatasetId{i});
  } else {
    for (const std::string& word : a.words)
      for (const DatasetId id : FindDatasets(g, built.names, word)) ids.push_back(id);
  }
  if (a.flag("unknown")) {
    // What has no grain, by how many datasets of known grain lie directly below.
    std::vector<std::pair<std::size_t, DatasetId>> unknown;
    for (const DatasetId id : ids) {
      if (g[id].grain || !g[id].stores()) continue;
      std::size_t below = 0;
      for (const EdgeId e : g.out(id)) below += g[g[e].to].layout != nullptr;
      unknown.emplace_back(below, id);
    }
    std::stable_sort(unknown.begin(), unknown.end(),
                     [](const auto& x, const auto& y) { return x.first > y.first; });
    ids.clear();
    for (const auto& [n, id] : unknown) ids.push_back(id);
  }
  if (format == "json") {
    WriteOut(a, DatasetsJson(g, ids));
    return Status::kDone;
  }
  std::string text;
  for (const DatasetId id : ids) {
    const Dataset& d = g[id];
    const std::string grain = d.grain ? FormatGrain(*d.grain) : d.stores() ? "grain unknown" : "";
    text += fmt::format("{:<48} {:<10} {:<14} {}\n", Printable(d.name), ToString(d.kind), grain,
                        d.writes == Writes::kUnknown ? "" : ToString(d.writes));
  }
  if (a.flag("unknown") && !ids.empty()) {
    text += "\nto paste into a registry, with the grain that each one has:\n\nbackreach: 1\ndatasets:\n";
    for (const DatasetId id : ids)
      text += fmt::format("  - {{name: \"{}\", partitions: day}}\n", Printable(g[id].name));
  }
  if (ids.empty()) Say(a, "note: no dataset matches\n");
  WriteOut(a, text);
  return Status::kDone;
}

}  // namespace

Command DatasetsCommand() {
  using Kind = OptionSpec::Kind;
  return {"datasets",
          "NAME...",
          0,
          -1,
          "the datasets that are known",
          "  backreach datasets\n"
          "  backreach datasets --unknown",
          std::vector<OptionSpec>{
              {Kind::kFlag, "unknown", "", "those whose grain nobody said, with a registry stanza to paste"},
              {Kind::kValue, "format", "FORMAT", "text (default) or json"}} +
              CommonOptions(),
          Run};
}

}  // namespace backreach
