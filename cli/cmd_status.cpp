// backreach status: is a correction in progress on a dataset?

#include <algorithm>
#include <set>

#include "analysis/request_text.hpp"
#include "cli/command.hpp"
#include "cli/loaded.hpp"
#include "cli/output.hpp"
#include "graph/store/store.hpp"
#include "render/view/run_log.hpp"

namespace backreach {

namespace {

// A view or a dashboard shows what it reads: what stores data behind it.
std::vector<std::string> ShownBy(const LineageGraph& g, DatasetId id) {
  std::vector<DatasetId> todo = {id};
  std::set<DatasetId> seen = {id};
  std::vector<std::string> out;
  while (!todo.empty()) {
    const DatasetId at = todo.back();
    todo.pop_back();
    out.push_back(g[at].name);
    if (g[at].stores()) continue;
    for (const EdgeId e : g.in(at))
      if (seen.insert(g[e].from).second) todo.push_back(g[e].from);
  }
  std::sort(out.begin(), out.end());
  return out;
}

Status Run(const Arguments& a) {
  const std::string format = FormatOf(a, {"text", "json", "openlineage"}, "text");
  const std::vector<LoggedRun> log = Store::OpenForReading(StorePath(a)).RunLog();
  const BuiltGraph& built = LoadGraph(a);
  StatusQuestion question;
  if (!a.words.empty()) {
    question.asked = a.words[0];
    question.names = ShownBy(built.graph, FindDataset(built.graph, built.names, a.words[0]));
  }
  WriteOut(a, format == "json"          ? StatusJson(&built.graph, log, question)
              : format == "openlineage" ? StatusEvents(&built.graph, log, question)
                                        : StatusText(&built.graph, log, question, TerminalWidth()));
  return Status::kDone;
}

}  // namespace

Command StatusCommand() {
  using Kind = OptionSpec::Kind;
  return {"status",
          "DATASET",
          0,
          1,
          "is a correction in progress on a dataset, or on any",
          "  backreach status revenue_daily\n"
          "  backreach status --format openlineage",
          std::vector<OptionSpec>{{Kind::kValue, "format", "FORMAT",
                                   "text (default), json, or openlineage: its events, one a line"},
                                  {Kind::kValue, "out", "FILE", "write to this file"}} +
              CommonOptions(),
          Run};
}

}  // namespace backreach
