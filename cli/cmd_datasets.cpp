// backreach datasets: what is known, or what dbt's selectors choose of it.

#include <fmt/format.h>

#include "analysis/request_text.hpp"
#include "cli/command.hpp"
#include "cli/loaded.hpp"
#include "cli/output.hpp"
#include "cli/selection.hpp"
#include "graph/base/words.hpp"
#include "render/plan_file/json.hpp"
#include "render/view/text.hpp"

namespace backreach {

namespace {

Status Run(const Arguments& a) {
  const std::string format = FormatOf(a, {"text", "json"}, "text");
  const BuiltGraph& built = LoadGraph(a);
  const LineageGraph& g = built.graph;
  std::vector<DatasetId> ids;
  const bool chosen = !a.words.empty() || !a.list("exclude").empty() || !a.list("resource-type").empty() ||
                      !a.list("exclude-resource-type").empty() || a.value("selector");
  if (a.value("selector") && (!a.words.empty() || !a.list("exclude").empty()))
    throw Error(
        "backreach: error: --selector chooses alone: give it without SELECTOR and --exclude, or write out "
        "what "
        "it stands for");
  if (!chosen) {
    for (std::uint32_t i = 0; i < g.datasets.size(); ++i) ids.push_back(DatasetId{i});
  } else {
    const Selection selection =
        SelectDatasets(a, built,
                       {a.words, a.list("exclude"), a.list("resource-type"), a.list("exclude-resource-type"),
                        a.value("selector").value_or("")});
    ids = selection.datasets;
    for (const std::string& text : selection.unmatched)
      Say(a, fmt::format("note: '{}' matches no node of dbt\n", text));
  }
  if (a.flag("unknown")) {
    // What has no grain, by how many datasets of known grain lie below.
    std::vector<bool> cut(g.datasets.size());
    for (std::size_t rank = 0; rank < cut.size(); ++rank) cut[rank] = g[g.order()[rank]].layout != nullptr;
    const std::vector<std::uint32_t> below = CountReachable(g.ranked(), cut);
    std::vector<std::pair<std::uint32_t, DatasetId>> unknown;
    for (const DatasetId id : ids)
      if (!g[id].grain && g[id].stores()) unknown.emplace_back(below[g.entry_rank(id)], id);
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
    text +=
        "\nto paste into a registry, each with the grain that it has (day is only an example):\n\nbackreach: "
        "1\n"
        "datasets:\n";
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
          "SELECTOR...",
          0,
          -1,
          "the datasets that are known, or those that dbt's selectors choose",
          "  backreach datasets tag:daily,config.materialized:incremental\n"
          "  backreach datasets --unknown",
          std::vector<OptionSpec>{
              {Kind::kList, "exclude", "SELECTOR", "leave these out"},
              {Kind::kValue, "selector", "NAME", "what the project's selectors.yml calls by this name"},
              {Kind::kValue, "state", "FOLDER",
               "an older target folder of dbt, for state:, result: and source_status:"},
              {Kind::kList, "resource-type", "TYPE", "only these: model, source, seed, snapshot, ..."},
              {Kind::kList, "exclude-resource-type", "TYPE", "none of these"},
              {Kind::kFlag, "unknown", "", "those whose grain nobody said, with a registry stanza to paste"},
              {Kind::kValue, "as-of", "WHEN",
               "by what the store held then: an instant, or a date (its end, UTC)"},
              {Kind::kValue, "format", "FORMAT", "text (default) or json"}} +
              CommonOptions(),
          Run};
}

}  // namespace backreach
