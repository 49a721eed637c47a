// backreach ingest: one subcommand for each importer.

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <map>

#include "cli/command.hpp"
#include "cli/loaded.hpp"
#include "graph/base/words.hpp"
#include "graph/store/store.hpp"
#include "graph/time/time.hpp"
#include "ingest/importer.hpp"
#include "render/view/stanzas.hpp"

namespace backreach {

namespace {

// A registry's names must be its own: an id or name that another registry in the store has is refused too.
void CheckAgainstStore(const std::vector<SourceFacts>& given, const std::vector<SourceFacts>& stored,
                       Diagnostics& diagnostics) {
  std::map<std::string, std::string> taken;
  const auto each = [](const SourceFacts& s, auto f) {
    for (const DatasetFact& d : s.facts.datasets)
      if (!d.select) f("dataset", d.name, d.at);
    for (const JobFact& j : s.facts.jobs) f("job", j.name, j.at);
    for (const PoolFact& p : s.facts.pools) f("pool", p.name, p.at);
    for (const CopyFact& c : s.facts.copies) f("copy", c.id, c.at);
  };
  for (const SourceFacts& s : stored) {
    bool replaced = s.source.kind != "registry";
    for (const SourceFacts& g : given)
      replaced = replaced || (g.source.kind == s.source.kind && g.source.key == s.source.key);
    if (replaced) continue;
    each(s, [&](const char* what, const std::string& name, const Place& at) {
      taken[std::string(what) + "\n" + name] = s.source.key + ":" + at.place;
    });
  }
  for (const SourceFacts& g : given) {
    if (g.source.kind != "registry") continue;
    each(g, [&](const char* what, const std::string& name, const Place& at) {
      const auto it = taken.find(std::string(what) + "\n" + name);
      if (it != taken.end())
        diagnostics.Error(at.file + ":" + at.place,
                          fmt::format("{} '{}' stands in another registry too", what, name),
                          {fmt::format("in {} as well: keep one", it->second)});
    });
  }
}

std::string Counted(const Facts& f) {
  std::vector<std::string> parts;
  const auto add = [&](std::size_t n, const char* word) {
    if (n > 0) parts.push_back(Plural(static_cast<std::int64_t>(n), word));
  };
  add(f.datasets.size(), "dataset"), add(f.edges.size(), "edge"), add(f.jobs.size(), "job"),
      add(f.checks.size(), "check");
  if (!f.copies.empty())
    parts.push_back(f.copies.size() == 1 ? "1 copy"
                                         : Thousands(static_cast<std::int64_t>(f.copies.size())) + " copies");
  const auto unresolved = std::count_if(f.unresolved.begin(), f.unresolved.end(),
                                        [](const UnresolvedFact& u) { return u.what != "disabled"; });
  const auto opaque = std::count_if(f.jobs.begin(), f.jobs.end(), [](const JobFact& j) { return j.opaque; });
  add(f.extracts.size(), "way out"), add(static_cast<std::size_t>(unresolved), "unresolved name");
  if (!f.extracts.empty() && f.extracts.size() > 1)
    for (std::string& p : parts)
      if (EndsWith(p, "way outs")) p = p.substr(0, p.size() - 8) + "ways out";
  if (opaque > 0) parts.push_back(Plural(static_cast<std::int64_t>(opaque), "job") + " of unknown effect");
  return parts.empty() ? "nothing" : Join(parts, ", ");
}

template <int N>
Status RunImporter(const Arguments& arguments) {
  const Importer& importer = Importers()[N];
  ImportRequest request{arguments.words, {}};
  for (const ImportOption& option : importer.options)
    if (const auto list = arguments.list(option.name); !list.empty()) request.options[option.name] = list;
  Diagnostics diagnostics;
  // Kept to the end of the process, which comes at once: taking a hundred thousand facts apart again is of no
  // use.
  static std::vector<SourceFacts>& facts = *new std::vector<SourceFacts>;
  facts = importer.run(request, diagnostics);
  const std::string path = StorePath(arguments);
  if (diagnostics.has_errors() || facts.empty()) {
    std::cerr << Format(diagnostics);
    return Status::kBadRequest;
  }
  const std::string now = FormatInstant(ClockNow());
  for (SourceFacts& f : facts) f.source.ingested_at = now;
  Store store = Store::OpenForWriting(path);
  if (std::string_view(importer.name) == "registry") {
    CheckAgainstStore(facts, store.LoadReadable("registry"), diagnostics);
    if (diagnostics.has_errors()) {
      std::cerr << Format(diagnostics);
      return Status::kBadRequest;
    }
  }
  if (!arguments.flag("quiet")) std::cerr << Format(diagnostics);
  std::vector<std::string> counted;
  for (const SourceFacts& f : facts)
    counted.push_back(fmt::format("{}:{}: {}", f.source.kind, Printable(f.source.name), Counted(f.facts)));
  const bool registry = std::string_view(importer.name) == "registry";
  const LineageGraph* joined = nullptr;
  const auto join = [&joined](std::vector<SourceFacts> all) -> const LineageGraph& {
    return *(joined = &JoinForGood(std::move(all)));
  };
  const std::size_t written = store.Replace(std::move(facts), {importer.adds_up, join, importer.merge});
  for (const std::string& text : counted) Say(arguments, text + (written == 0 ? " (unchanged)\n" : "\n"));
  if (registry && joined)
    for (const UnknownName& name : joined->unknown_names) Say(arguments, UnknownNameText(name) + "\n");
  return Status::kDone;
}

template <int... N>
std::vector<Command> SubcommandsOf(std::integer_sequence<int, N...>) {
  std::vector<Command> out;
  const auto add = [&](int i, Status (*run)(const Arguments&)) {
    if (i >= static_cast<int>(Importers().size())) return;
    const Importer& importer = Importers()[i];
    std::vector<OptionSpec> options;
    for (const ImportOption& o : importer.options)
      options.push_back(
          {o.repeatable ? OptionSpec::Kind::kList : OptionSpec::Kind::kValue, o.name, o.placeholder, o.help});
    out.push_back({importer.name, importer.argument, 1, importer.many_inputs ? -1 : 1, importer.summary,
                   importer.examples, options + CommonOptions(), run});
  };
  (add(N,
       [](const Arguments& a) -> Status {
         if constexpr (N < 64) return RunImporter<N>(a);
       }),
   ...);
  return out;
}

}  // namespace

Command IngestCommand() {
  return {"ingest",
          "",
          0,
          0,
          "read what a source says into the store (it replaces what that source said before)",
          "",
          {},
          nullptr,
          SubcommandsOf(std::make_integer_sequence<int, 16>())};
}

}  // namespace backreach
