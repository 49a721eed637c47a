// backreach copies: what was taken from a dataset, or from all; with a range, what is wrong in it.

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include "analysis/planner.hpp"
#include "analysis/request_text.hpp"
#include "analysis/sweep/sweep.hpp"
#include "cli/command.hpp"
#include "cli/loaded.hpp"
#include "cli/output.hpp"
#include "graph/base/words.hpp"
#include "render/plan_file/json.hpp"
#include "render/view/copies.hpp"
#include "render/view/words.hpp"

namespace backreach {

namespace {

// Those below a dataset, or all: copies of copies with them.
std::vector<CopyId> CopiesBelow(const Arguments& a, const BuiltGraph& built) {
  const LineageGraph& g = built.graph;
  std::optional<Region> below;
  if (!a.words.empty()) below.emplace(g, std::vector<DatasetId>{FindDataset(g, built.names, a.words[0])});
  std::vector<bool> taken(g.copies.size(), false);
  for (bool more = true; more;) {
    more = false;
    for (std::uint32_t i = 0; i < g.copies.size(); ++i) {
      if (taken[i]) continue;
      bool is = !below;
      for (const CopyOf& of : g.copies[i].of)
        is =
            is || (of.dataset.valid() && below->Has(of.dataset)) || (of.copy.valid() && taken[of.copy.value]);
      if (is) taken[i] = more = true;
    }
  }
  std::vector<CopyId> ids;
  for (std::uint32_t i = 0; i < g.copies.size(); ++i)
    if (taken[i]) ids.push_back(CopyId{i});
  return ids;
}

bool AsksForRange(const Arguments& a) {
  return a.value("from") || a.value("to") || a.flag("whole") || !a.list("range").empty();
}

void WriteNotices(const Arguments& a, const LineageGraph& g, const std::vector<ListedCopy>& listed,
                  const std::string& what) {
  const std::string folder = *a.value("notices");
  if (folder.empty()) throw Error("backreach: error: --notices needs a folder to write to");
  if (mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST)
    throw Error(fmt::format("{}: error: the folder cannot be made: {}", folder, std::strerror(errno)));
  const auto notices = CopyNotices(g, listed, what);
  for (const auto& [name, text] : notices) WriteFile(folder + "/" + name, text, StorePath(a));
  Say(a,
      fmt::format("{} written to {}\n", Plural(static_cast<std::int64_t>(notices.size()), "notice"), folder));
}

Status Run(const Arguments& a) {
  const std::string format = FormatOf(a, {"text", "json", "csv"}, "text");
  const bool range = AsksForRange(a);
  if (range && a.words.empty())
    throw Error(
        "backreach: error: a range needs the dataset that is corrected: backreach copies DATASET --from ...");
  const BuiltGraph& built = LoadGraph(a);
  const LineageGraph& g = built.graph;
  const std::vector<CopyId> ids = CopiesBelow(a, built);
  std::vector<ListedCopy> listed;
  std::optional<Plan> plan;
  std::string what;
  if (range) {
    plan.emplace(MakePlan(g, ReadRequestOf(a, built, {a.words[0]})));
    for (const Target& t : plan->request.targets)
      what += fmt::format("{}{} is corrected for {}", what.empty() ? "" : "; ", g[t.dataset].name,
                          t.whole || t.cells.empty() ? "all of it" : SpansText(g[t.dataset], t.cells));
    what += ".";
    for (const AffectedCopy& affected : plan->copies) {
      const auto it =
          std::find_if(g.copies.begin(), g.copies.end(), [&](const Copy& c) { return c.id == affected.id; });
      listed.push_back({it == g.copies.end() ? nullptr : &*it, &affected});
    }
  } else {
    for (const CopyId id : ids) listed.push_back({&g[id], nullptr});
  }
  if (a.value("notices")) WriteNotices(a, g, listed, what);
  if (format == "json") {
    WriteOut(a, plan ? AffectedCopiesJson(g, *plan) : CopiesJson(g, ids));
    return Status::kDone;
  }
  std::string text = format == "csv" ? CopiesCsv(g, listed) : CopiesText(g, listed);
  if (listed.empty() && format == "text")
    text =
        a.words.empty() ? "no copies are known: no registry names one, and no exposure\n"
        : range
            ? fmt::format("no copy that is known below {} holds any of it; backreach audit looks for more\n",
                          Printable(a.words[0]))
            : fmt::format(
                  "no copies are known below {}; that is no proof that there are none (backreach audit)\n",
                  Printable(a.words[0]));
  WriteOut(a, text);
  return Status::kDone;
}

}  // namespace

Command CopiesCommand() {
  using Kind = OptionSpec::Kind;
  return {"copies",
          "DATASET",
          0,
          1,
          "every known copy outside the platform, or those below a dataset; a notice for each owner",
          "  backreach copies revenue_daily --format csv\n"
          "  backreach copies fct_orders --from 2026-03-01 --to 2026-03-31 --notices notices",
          std::vector<OptionSpec>{
              {Kind::kValue, "format", "FORMAT", "text (default), json or csv"},
              {Kind::kValue, "notices", "DIR", "write a notice for each owner here, in Markdown"},
              {Kind::kValue, "out", "FILE", "write to this file"}} +
              RequestOptions() + CommonOptions(),
          Run};
}

}  // namespace backreach
