// backreach diff: what changed between two moments of the store.

#include <fmt/format.h>

#include <algorithm>

#include "analysis/request_text.hpp"
#include "cli/command.hpp"
#include "cli/loaded.hpp"
#include "cli/output.hpp"
#include "graph/base/words.hpp"
#include "graph/store/store.hpp"
#include "render/view/diff.hpp"

namespace backreach {

namespace {

// The newest version of a source at a moment, or null.
const StoredVersion* At(const StoredSource& source, const std::string& moment) {
  const StoredVersion* out = nullptr;
  for (const StoredVersion& v : source.versions)
    if (v.ingested_at <= moment) out = &v;
  return out;
}

std::vector<SourceChange> ChangedSources(const std::vector<StoredSource>& history, Instant from, Instant to) {
  std::vector<SourceChange> out;
  for (const StoredSource& s : history) {
    const StoredVersion *a = At(s, FormatInstant(from)), *b = At(s, FormatInstant(to));
    SourceChange c{
        s.kind, s.name, a ? a->number : 0, b ? b->number : 0, a ? a->sha256 : "", b ? b->sha256 : ""};
    if (c.before != c.after) out.push_back(std::move(c));
  }
  return out;
}

// Just before the newest version was ingested.
Instant BeforeTheLast(const std::vector<StoredSource>& history) {
  std::string last;
  for (const StoredSource& s : history)
    for (const StoredVersion& v : s.versions) last = std::max(last, v.ingested_at);
  return ParseInstant(last, true).value_or(0) - 1;
}

// Nothing had been ingested yet, and nothing of that was forgotten: all is new since.
bool BeforeAll(const std::vector<StoredSource>& history, Instant moment) {
  for (const StoredSource& s : history)
    if (s.versions[0].number > 1 || s.versions[0].ingested_at <= FormatInstant(moment)) return false;
  return true;
}

// The dataset in one of the graphs; nothing if it is not there.
std::optional<DatasetId> Placed(const BuiltGraph& built, const std::string& given) {
  const NameMatch match = built.names.Find(given);
  return match.found ? std::optional(DatasetId{*match.found}) : std::nullopt;
}

Status Run(const Arguments& a) {
  const std::string format = FormatOf(a, {"text", "json"}, "text");
  const Store store = Store::OpenForReading(StorePath(a));
  const std::vector<StoredSource> history = store.History();
  DiffView view;
  view.to = MomentOf(a, "to").value_or(ClockNow());
  const auto from = MomentOf(a, "from");
  view.from = from ? *from : BeforeTheLast(history);
  if (view.from > view.to)
    throw Error(fmt::format("backreach: error: --from {} lies after --to {}", FormatInstant(view.from),
                            FormatInstant(view.to)));
  const BuiltGraph before =
      BuildGraph(BeforeAll(history, view.from) ? std::vector<SourceFacts>() : store.Load(false, view.from));
  const BuiltGraph after = BuildGraph(store.Load(false, view.to));
  view.from_fingerprint = before.graph.fingerprint, view.to_fingerprint = after.graph.fingerprint;
  view.sources = ChangedSources(history, view.from, view.to);
  view.diff = Compare(before.graph, after.graph);
  if (const auto target = a.value("target")) {
    const auto in_before = Placed(before, *target);
    // Names that neither knows are refused in the words of the later one.
    const auto in_after =
        in_before ? Placed(after, *target) : std::optional(FindDataset(after.graph, after.names, *target));
    view.target = in_after ? after.graph[*in_after].name : before.graph[*in_before].name;
    view.reach = CompareReach(before.graph, in_before, after.graph, in_after, view.diff);
  }
  WriteOut(a, format == "json" ? DiffJson(view) : DiffText(view, TerminalWidth()));
  return Status::kDone;
}

}  // namespace

Command DiffCommand() {
  using Kind = OptionSpec::Kind;
  return {"diff",
          "",
          0,
          0,
          "what changed between two moments of the store",
          "  backreach diff --target fct_orders\n"
          "  backreach diff --from 2026-10-01 --format json",
          std::vector<OptionSpec>{
              {Kind::kValue, "from", "WHEN",
               "an instant, or a date (its end, UTC); default: before the newest ingest"},
              {Kind::kValue, "to", "WHEN", "default: now"},
              {Kind::kValue, "target", "DATASET", "what that changes for a correction of this dataset"},
              {Kind::kValue, "format", "FORMAT", "text (default) or json"}} +
              CommonOptions(),
          Run};
}

}  // namespace backreach
