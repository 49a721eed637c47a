// backreach doctor: what the store holds, and what is still unknown.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analysis/doubts.hpp"
#include "cli/command.hpp"
#include "cli/loaded.hpp"
#include "cli/output.hpp"
#include "graph/base/words.hpp"
#include "graph/store/store.hpp"
#include "render/view/stanzas.hpp"
#include "render/view/words.hpp"

namespace backreach {

namespace {

// Why there are fewer datasets than the sources told of: some of theirs are one.
std::string Joined(const LineageGraph& g) {
  std::int64_t told = 0;
  std::vector<std::string> examples;
  for (const Dataset& d : g.datasets) {
    std::int64_t here = 0;
    for (const Seen& s : d.seen) here += !StartsWith(s.source, "registry:");
    told += std::max<std::int64_t>(here, 1);
    if (here > 1) examples.push_back(d.name);
  }
  const std::int64_t joined = told - static_cast<std::int64_t>(g.datasets.size());
  if (joined == 0) return "";
  return "            " +
         Wrapped(
             fmt::format("the sources tell of {}: {} the same table as another (in {})", Thousands(told),
                         joined == 1 ? "1 is" : Thousands(joined) + " are", Printable(ListOf(examples, 3))),
             TerminalWidth(), 12) +
         "\n";
}

// The jobs whose reads and writes nobody knows: a correction may pass through each.
std::string Opaque(const LineageGraph& g) {
  std::vector<std::string> names;
  for (const Job& job : g.jobs)
    if (job.opaque) names.push_back(job.name);
  if (names.empty()) return "";
  const std::string list = Join(names, ", ");
  return fmt::format(
             "effect      unknown of {}, which may read and write anything; a registry can say it\n          "
             "  ",
             Plural(static_cast<std::int64_t>(names.size()), "job")) +
         Wrapped(Printable(list), TerminalWidth(), 12) + "\n";
}

// The same list that init writes, to read.
Status Assumed(const Arguments& a) {
  const BuiltGraph& built = LoadGraph(a);
  const std::vector<Doubt> doubts = FindDoubts(built.graph, ClockNow());
  std::string text =
      doubts.empty()
          ? "nothing is left open\n"
          : "What nobody said, what matters most first; backreach init writes it as a registry.\n" +
                DoubtsText(built.graph, doubts, a.flag("all") ? doubts.size() : 40, TerminalWidth());
  WriteOut(a, text);
  return Status::kDone;
}

// Names in registries that nothing else knows.
std::string Strangers(const LineageGraph& g) {
  if (g.unknown_names.empty()) return "";
  std::string out = fmt::format("unknown     {} in registries that nothing else knows\n",
                                Plural(static_cast<std::int64_t>(g.unknown_names.size()), "name"));
  for (const UnknownName& name : g.unknown_names)
    out += "  ! " + Wrapped(UnknownNameText(name), TerminalWidth(), 4) + "\n";
  return out;
}

Status Run(const Arguments& a) {
  if (a.flag("assumed")) return Assumed(a);
  const Store store = Store::OpenForReading(StorePath(a));
  std::string text = fmt::format("store       {} (layout {})\n", store.path(), store.layout());
  bool found = false;
  for (const std::string& fault : store.Check()) {
    text += "  x " + Printable(fault) + "\n";
    found = true;
  }
  if (found) {
    WriteOut(a, text);
    return Status::kStore;
  }
  for (const std::string& note : store.Notes()) text += "  ! " + Printable(note) + "\n";
  const BuiltGraph& built = LoadGraph(a);
  const LineageGraph& g = built.graph;
  std::size_t unknown_grain = 0, unknown_writes = 0, assumed_zone = 0, assumed_edges = 0, cyclic = 0,
              conflicts = 0;
  for (std::uint32_t i = 0; i < g.datasets.size(); ++i) {
    const Dataset& d = g.datasets[i];
    if (!d.stores()) continue;
    unknown_grain += !d.grain;
    unknown_writes += d.writes == Writes::kUnknown && !g.in(DatasetId{i}).size() == 0;
    assumed_zone += d.layout && d.zone_assumed;
    cyclic += g.in_cycle(DatasetId{i});
    conflicts += d.conflicts.size();
  }
  for (const Edge& e : g.edges)
    assumed_edges += std::holds_alternative<reads::Unknown>(e.reads) || e.known == Known::kAssumed;
  const auto count = [](std::size_t n, const char* word) {
    return Plural(static_cast<std::int64_t>(n), word);
  };
  text += fmt::format("graph       {}, {}, {}, {}, from {}\n", count(g.datasets.size(), "dataset"),
                      count(g.edges.size(), "edge"), count(g.jobs.size(), "job"),
                      count(g.copies.size(), "copy"), count(g.sources.size(), "source"));
  text += Joined(g);
  text += fmt::format("grain       unknown for {} (backreach datasets --unknown)\n",
                      Plural(static_cast<std::int64_t>(unknown_grain), "dataset"));
  text += fmt::format("writing     unknown for {} that something writes\n",
                      Plural(static_cast<std::int64_t>(unknown_writes), "dataset"));
  text += fmt::format("zone        assumed to be UTC for {} with a grain\n",
                      Plural(static_cast<std::int64_t>(assumed_zone), "dataset"));
  text += fmt::format("mappings    assumed on {} (what matters most: backreach doctor --assumed)\n",
                      Plural(static_cast<std::int64_t>(assumed_edges), "edge"));
  if (cyclic > 0)
    text +=
        fmt::format("cycles      {} stand in cycles of datasets (a plan says whether their days do, too)\n",
                    Plural(static_cast<std::int64_t>(cyclic), "dataset"));
  if (conflicts > 0)
    text += fmt::format("conflicts   {} (backreach show DATASET; the used value is named)\n",
                        Plural(static_cast<std::int64_t>(conflicts), "fact"));
  text += Opaque(g);
  text += Strangers(g);
  if (g.unresolved.empty()) {
    text += "unresolved  nothing\n";
  } else {
    text += fmt::format("unresolved  {}\n", Plural(static_cast<std::int64_t>(g.unresolved.size()), "name"));
    std::set<std::string> said;  // what concerns two datasets stands at both, and is said once
    for (const Unresolved& u : g.unresolved) {
      // A line to paste is not broken.
      const std::size_t paste = u.fact.message.find("{name: ");
      const std::string what = u.fact.message.substr(0, paste);
      if (paste != std::string::npos && !said.insert(u.fact.message).second) continue;
      text += "  ! " +
              Wrapped(Printable(what + (paste == std::string::npos ? " [" : "[") + FormatSeen(u.seen) + "]"),
                      TerminalWidth(), 4) +
              "\n";
      if (paste != std::string::npos) text += "      - " + Printable(u.fact.message.substr(paste)) + "\n";
    }
  }
  WriteOut(a, text);
  return Status::kDone;
}

}  // namespace

Command DoctorCommand() {
  return {"doctor",
          "",
          0,
          0,
          "is the store sound, and what does it not know?",
          "  backreach doctor\n"
          "  backreach doctor --assumed",
          std::vector<OptionSpec>{
              {OptionSpec::Kind::kFlag, "assumed", "",
               "what nobody said, what matters most first, and the line of a registry that says it"},
              {OptionSpec::Kind::kFlag, "all", "", "of that all, however little it matters"}} +
              CommonOptions(),
          Run};
}

}  // namespace backreach
