// backreach show: everything known of one dataset.

#include <fmt/format.h>

#include "analysis/request_text.hpp"
#include "analysis/suspicions.hpp"
#include "cli/command.hpp"
#include "cli/loaded.hpp"
#include "cli/output.hpp"
#include "graph/base/words.hpp"
#include "graph/reads/reads_json.hpp"
#include "render/plan_file/json.hpp"
#include "render/view/stanzas.hpp"
#include "render/view/words.hpp"

namespace backreach {

namespace {

std::string Text(const LineageGraph& g, DatasetId id) {
  const Dataset& d = g[id];
  std::string out = Printable(d.name) + "\n";
  const auto line = [&](const char* what, const std::string& value) {
    if (!value.empty()) out += fmt::format("  {:<14} {}\n", what, Printable(value));
  };
  line("kind", ToString(d.kind));
  if (d.names.empty()) line("also called", ListOf(d.aliases, 20));
  for (const NameSaid& n : d.names)
    line("called", fmt::format("{}: {} [{}]", n.name, n.how, FormatSeen(n.seen)));
  const auto by = [](const std::string& from) { return from.empty() ? std::string() : " (" + from + ")"; };
  const std::string inferred = d.grain_inferred ? ", as runs show it; nobody stated it" : "";
  line("grain", d.grain ? FormatGrain(*d.grain) + inferred + by(d.grain_from) : d.stores() ? "unknown" : "");
  if (const auto guess = GuessGrain(d)) line("suspected", GuessText(*guess) + " (never planned with)");
  if (d.layout && !d.layout->single())
    for (const Block& b : d.layout->blocks())
      line("",
           fmt::format("{} from {}", FormatGrain(b.calendar.grain()),
                       IsFinite(b.from) ? FormatCivilInstant(b.from, b.calendar.zone()) : "the beginning"));
  line("zone", d.calendar.zone().name() + (d.zone_assumed ? " (assumed: nobody gave one)" : ""));
  if (IsFinite(d.first))
    line("first", (d.layout ? d.layout->Key(d.first) : d.first_text) +
                      (d.first_is_begin ? ", where a build from nothing starts" : "") + by(d.first_from));
  if (IsFinite(d.last_end)) line("last", d.layout ? d.layout->Key(d.last_end - 1) : d.last_text);
  if (d.complete_after) line("complete after", FormatDuration(*d.complete_after));
  if (d.retention) line("keeps", FormatDuration(*d.retention));
  line("writes", d.writes == Writes::kUnknown
                     ? "unknown" + (d.writes_why.empty() ? "" : " (" + d.writes_why + ")")
                     : ToString(d.writes) + (d.writes_why.empty() ? "" : " (" + d.writes_why + ")"));
  line("key", Join(d.key, ", "));
  if (d.row_time)
    line("row time", (d.row_time->exact ? "exact" : FormatGrain(d.row_time->grain)) + by(d.row_time_from));
  line("owner", OwnerText(d.owner, d.contact, " (", ")"));
  for (const JobId job : d.jobs) line("written by", g[job].name);
  for (const EdgeId e : g.in(id)) {
    const Edge& edge = g[e];
    std::vector<std::string> seen;
    for (const Seen& s : edge.seen) seen.push_back(FormatSeen(s));
    line("reads", fmt::format("{}: {} [{}]", g[edge.from].name, FormatReads(edge.reads), Join(seen, "; ")));
    if (edge.code && edge.known == Known::kInferred && edge.code->text.empty() && edge.times > 0)
      line("", fmt::format("seen in {}; to state it: {{from: {}, to: {}, reads: {}}}", edge.code->place,
                           g[edge.from].name, d.name, ReadsListToJson({edge.reads}).value_or("unknown")));
    if (!edge.last_seen.empty())
      line("", fmt::format("seen {} .. {}{}", edge.first_seen.empty() ? "?" : edge.first_seen, edge.last_seen,
                           edge.failed_only ? ", only in runs that failed or were aborted" : ""));
    // What two sources say differently of one edge, the one that was not used among them.
    if (edge.stated.size() > 1)
      for (const EdgeStatement& s : edge.stated)
        line("", fmt::format("{} by {} ({})", s.reads.empty() ? "mapping unknown" : s.reads,
                             FormatSeen(s.seen), ToString(s.known)));
  }
  for (const EdgeId e : g.out(id)) line("read by", g[g[e].to].name);
  for (const Copy& copy : g.copies)
    for (const CopyOf& of : copy.of)
      if (of.dataset == id) line("copy", copy.id + (copy.where.empty() ? "" : " (" + copy.where + ")"));
  for (const CheckFact& check : d.checks)
    if (check.kind != "other")
      line("check", check.id + ": " + check.kind + " (" + Join(check.columns, ", ") + ")");
  if (d.measure) {
    const MeasureFact& m = *d.measure;
    if (m.rows) line("rows", Thousands(*m.rows) + (m.bytes ? ", " + Thousands(*m.bytes) + " bytes" : ""));
    if (!m.relation_type.empty()) line("in the platform", m.relation_type);
    if (const auto type = m.column_types.find(Lower(d.column)); type != m.column_types.end())
      line("cut by", d.column + " (" + type->second + ")");
    if (!m.freshness.empty())
      line("last loaded",
           (m.loaded_at.empty() ? "unknown" : m.loaded_at) + " (freshness: " + m.freshness + ")");
  }
  for (const TimingFact& t : d.timings)
    line("ran for", fmt::format("{:.1f} s{}{}{}{}", t.seconds,
                                t.batches ? ", " + (*t.batches == 1 ? std::string("1 batch")
                                                                    : Thousands(*t.batches) + " batches")
                                          : std::string(),
                                t.rows ? ", " + Plural(*t.rows, "row") : std::string(),
                                t.full_refresh ? ", full refresh" : "",
                                t.ended_at.empty() ? "" : ", told " + t.ended_at));
  for (const Conflict& c : d.conflicts) {
    std::vector<std::string> said;
    for (const auto& v : c.values)
      said.push_back("'" + v.value + "' by " + (v.seen.empty() ? "?" : FormatSeen(v.seen[0])));
    line("conflict", fmt::format("{}: {}; used: {}", c.field, Join(said, ", "), c.used));
  }
  for (const Seen& s : d.seen) line("known from", FormatSeen(s));
  return out;
}

Status Run(const Arguments& a) {
  const std::string format = FormatOf(a, {"text", "json"}, "text");
  const BuiltGraph& built = LoadGraph(a);
  const DatasetId id = FindDataset(built.graph, built.names, a.words[0]);
  WriteOut(a, format == "json" ? DatasetsJson(built.graph, {id}) : Text(built.graph, id));
  return Status::kDone;
}

}  // namespace

Command ShowCommand() {
  using Kind = OptionSpec::Kind;
  return {
      "show",
      "DATASET",
      1,
      1,
      "everything that is known of one dataset, and who said it",
      "  backreach show fct_orders\n"
      "  backreach show model.shop.fct_orders --format json",
      std::vector<OptionSpec>{{Kind::kValue, "format", "FORMAT", "text (default) or json"}} + CommonOptions(),
      Run};
}

}  // namespace backreach
