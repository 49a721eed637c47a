// backreach init: a registry to fill in, from what the graph knows and suspects.

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "analysis/doubts.hpp"
#include "analysis/planner.hpp"
#include "analysis/request_text.hpp"
#include "analysis/sweep/frame.hpp"
#include "cli/command.hpp"
#include "cli/loaded.hpp"
#include "cli/output.hpp"
#include "graph/base/words.hpp"
#include "graph/store/store.hpp"
#include "ingest/importer.hpp"
#include "render/view/stanzas.hpp"
#include "render/view/text.hpp"

namespace backreach {

namespace {

constexpr std::size_t kUsual = 60;

// A plan's size, for one line: "12 tables, 7,713 cells".
struct PlanSize {
  std::int64_t whole = 0, cells = 0;
  bool unbounded = false;
};
PlanSize SizeOf(const Plan& plan) {
  PlanSize out;
  for (const Step& s : plan.steps) {
    if (s.whole)
      ++out.whole;
    else if (s.partitions)
      out.cells += *s.partitions;
    else
      out.unbounded = true;
  }
  return out;
}
std::string SizeText(const PlanSize& size) {
  return fmt::format("{} whole and {}{}", Plural(size.whole, "table"), Plural(size.cells, "cell"),
                     size.unbounded ? " and more of unknown number" : "");
}

// A correction of one cell, the last complete one, or of the whole table where it has none.
Request OneCell(const LineageGraph& graph, DatasetId id, Instant now) {
  Request request;
  request.now = now;
  Target target;
  target.dataset = id;
  const Dataset& d = graph[id];
  const Span cell = d.layout ? Frame(graph, now).NewestComplete(id) : Span{0, 0};
  if (cell.start < cell.end) {
    target.asked = target.cells = SpanSet(cell);
  } else {
    target.whole = true;
    target.asked = target.cells = SpanSet::All();
  }
  request.targets.push_back(std::move(target));
  return request;
}

// What one correction costs as things are, and with every line of the draft taken.
std::string Difference(const Arguments& a, const BuiltGraph& built, DatasetId id, const std::string& draft,
                       Instant now) {
  const std::string name = built.graph[id].name;
  const PlanSize before = SizeOf(MakePlan(built.graph, OneCell(built.graph, id, now)));
  Diagnostics diagnostics;
  std::vector<SourceFacts> facts = Store::OpenForReading(StorePath(a)).Load(true);
  const auto read = ReadRegistryText("draft", Taken(draft), diagnostics);
  if (!read) return fmt::format("one day of {} costs {} as it is.", name, SizeText(before));
  facts.push_back(*read);
  const LineageGraph& with = JoinForGood(std::move(facts));
  for (std::uint32_t i = 0; i < with.datasets.size(); ++i) {
    if (with.datasets[i].name != name) continue;
    const PlanSize after = SizeOf(MakePlan(with, OneCell(with, DatasetId{i}, now)));
    return fmt::format("The last cell of {} costs {} as it is, {} if every line below were right and taken.",
                       name, SizeText(before), SizeText(after));
  }
  return "";
}

std::string ReadWhole(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return in ? text.str() : std::string();
}

Status Run(const Arguments& a) {
  const BuiltGraph& built = LoadGraph(a);
  const Instant now = ClockNow();
  std::optional<DatasetId> below;
  if (const auto given = a.value("for")) below = FindDataset(built.graph, built.names, *given);
  const auto out = a.value("out");
  std::error_code ec;
  const bool exists = out && std::filesystem::exists(*out, ec);
  const std::string existing = exists ? ReadWhole(*out) : "";
  const std::vector<Doubt> doubts = FindDoubts(built.graph, now, below);
  const std::size_t most = a.flag("all") ? doubts.size() : kUsual;
  std::vector<std::string> head = {
      "What backreach could not know, what matters most first in each section. A line counts once its # is "
      "taken away",
      "and this file is ingested: backreach ingest registry " + (out ? ShellWord(*out) : "registry.yml")};
  RegistryDraft draft = DraftRegistry(built.graph, doubts, most, existing);
  if (draft.entries == 0) {
    Say(a, exists ? "nothing new: " + *out + " has it all\n" : "nothing is left open\n");
    return Status::kDone;
  }
  if (below) head.push_back(Difference(a, built, *below, draft.text, now));
  if (draft.left_out > 0)
    head.push_back(fmt::format("{} that matter less are left out (--all).",
                               Plural(static_cast<std::int64_t>(draft.left_out), "line")));
  std::string text;
  for (const std::string& line : head) text += "# " + line + "\n";
  text += draft.text;
  if (exists) text = existing + (EndsWith(existing, "\n") ? "" : "\n") + "---\n" + text;
  WriteOut(a, text);
  if (out)
    Say(a, fmt::format("{}: {} {}\n", *out, Plural(static_cast<std::int64_t>(draft.entries), "entry"),
                       exists ? "added" : "written, none of them taken yet"));
  return Status::kDone;
}

}  // namespace

Command InitCommand() {
  using Kind = OptionSpec::Kind;
  return {
      "init",
      "",
      0,
      0,
      "a registry to fill in: what nobody said, with what speaks for each line, what matters most first",
      "  backreach init --out registry.yml\n"
      "  backreach init --for fct_orders",
      std::vector<OptionSpec>{
          {Kind::kValue, "out", "FILE", "write to this file; to one that exists only what is new is added"},
          {Kind::kValue, "for", "DATASET", "only what a correction of this dataset can reach"},
          {Kind::kFlag, "all", "", "all of it, however little it matters"}} +
          CommonOptions(),
      Run};
}

}  // namespace backreach
