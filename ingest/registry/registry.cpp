// The hand-maintained registry (formats.md section 3): strict, with the line of every fault. Form is checked
// here; names, and what depends on other sources, are resolved when the graph is built.

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>

#include "graph/base/digest.hpp"
#include "graph/base/shell.hpp"
#include "graph/base/words.hpp"
#include "graph/reads/reads_json.hpp"
#include "graph/time/calendar.hpp"
#include "ingest/declared/entries.hpp"
#include "ingest/importer.hpp"
#include "ingest/read/file.hpp"
#include "ingest/read/yaml_map.hpp"

namespace backreach {

namespace {

constexpr std::size_t kMostBytes = 256u << 20;
// `{from: 2026-01-01, to: 2026-01-31}`: days, both included.
std::optional<Reads> ReadFixed(YamlMap& reads, const YAML::Node& node, const std::string& edge) {
  YamlMap map(node, reads.file(), "fixed of " + edge, reads.diagnostics());
  if (!map.valid()) return std::nullopt;
  std::optional<std::int64_t> days[2];
  for (const char* end : {"from", "to"}) {
    const Text text = map.GetText(end);
    if (text) days[*end == 't'] = ParseDay(*text);
    if (!days[*end == 't'])
      map.Fail(end, text ? fmt::format("'{}' of fixed of {} is no day: 2026-03-01", *text, edge)
                         : fmt::format("fixed of {} needs 'from' and 'to'", edge));
  }
  map.Finish();
  if (!days[0] || !days[1]) return std::nullopt;
  if (*days[0] > *days[1]) {
    reads.Fail("fixed", fmt::format("fixed of {} begins after it ends", edge));
    return std::nullopt;
  }
  return reads::Fixed{*days[0], *days[1]};
}

std::optional<Reads> ReadReads(YamlMap& edge, const YAML::Node& node) {
  const std::vector<std::string> words = {"same", "previous", "following",  "key",
                                          "all",  "latest",   "latest_then"};
  if (const auto word = ScalarText(node)) {
    if (std::find(words.begin(), words.end(), *word) != words.end())
      return ReadsFromJson("\"" + *word + "\"");
    const auto near = Nearest(*word, words, 1);
    edge.Fail(
        "reads", fmt::format("unknown reads '{}' of {}", *word, edge.what()),
        {near.empty()
             ? "one of same, previous, following, key, all, latest, latest_then, {window: [s, e]}, "
               "{to_date: year}, {period: month}, {fixed: {from: 2026-01-01, to: 2026-01-01}}, or a list"
             : "did you mean '" + near[0] + "'?"});
    return std::nullopt;
  }
  YamlMap map(node, edge.file(), "reads of " + edge.what(), edge.diagnostics());
  if (!map.valid()) return std::nullopt;
  std::optional<Reads> out;
  if (const Text period = map.GetWord("to_date", {"week", "month", "quarter", "year"})) {
    out = reads::ToDate{ParseGrain(*period)->unit};
  } else if (const Text whole = map.GetWord("period", {"week", "month", "quarter", "year"})) {
    reads::Period p{ParseGrain(*whole)->unit, 0};
    if (const Text offset = map.GetText("offset")) {
      char* end = nullptr;
      const long long n = std::strtoll(offset->c_str(), &end, 10);
      if (offset->empty() || *end != '\0' || n < -100'000 || n > 100'000)
        map.Fail("offset", fmt::format("offset '{}' of {} must be a whole number: -1", *offset, edge.what()));
      else
        p.offset = n;
    }
    out = p;
  } else if (const auto fixed = map.Get("fixed")) {
    out = ReadFixed(map, *fixed, edge.what());
  } else if (const auto window = map.Get("window")) {
    reads::Window w;
    bool good = window->IsSequence() && window->size() == 2;
    for (int i = 0; good && i < 2; ++i) {
      const auto text = ScalarText((*window)[i]).value_or("");
      char* end = nullptr;
      const long long n = std::strtoll(text.c_str(), &end, 10);
      good = !text.empty() && *end == '\0' && n > -10'000'000 && n < 10'000'000;
      (i == 0 ? w.start : w.end) = n;
    }
    if (!good) {
      map.Fail("window", fmt::format("window of {} must be two whole numbers: [-6, 0]", edge.what()));
    } else if (w.start > w.end) {
      map.Fail("window",
               fmt::format("window [{}, {}] of {} begins after it ends", w.start, w.end, edge.what()),
               {fmt::format("write [{}, {}]", w.end, w.start)});
    } else {
      out = w;
    }
    if (const Text unit = GetGrain(map, "unit"); unit && out) {
      const auto grain = ParseGrain(*unit);
      if (grain->none())
        map.Fail("unit", fmt::format("unit of {} cannot be none", edge.what()));
      else
        std::get<reads::Window>(*out).unit = *grain;
    }
    if (map.GetWord("by", {"key"}) && out) std::get<reads::Window>(*out).by_key = true;
  } else {
    edge.Fail("reads",
              fmt::format("reads of {} has none of 'window', 'to_date', 'period' and 'fixed'", edge.what()));
  }
  if (!out || !std::holds_alternative<reads::Period>(*out)) {
    if (map.Get("offset"))
      map.Fail("offset", fmt::format("offset of {}: only a 'period' has one", edge.what()));
  }
  map.Get("unit"), map.Get("by"), map.Get("window");
  map.Finish();
  return out;
}

// What a dataset cannot read of itself: rows that it has not written yet.
void RefuseOfItself(YamlMap& edge, const Reads& reads) {
  const auto* window = std::get_if<reads::Window>(&reads);
  if (window && window->end > 0)
    edge.Fail(
        "reads",
        fmt::format("window [{}, {}] of {} reaches ahead: a dataset cannot read what it has not written yet",
                    window->start, window->end, edge.what()));
  if (std::holds_alternative<reads::Following>(reads) || std::holds_alternative<reads::Period>(reads) ||
      std::holds_alternative<reads::Fixed>(reads))
    edge.Fail("reads",
              fmt::format("{} of {}: a dataset reads of itself what it wrote before, 'previous' or a window",
                          FormatReads(reads), edge.what()));
}

void ReadEdge(const YAML::Node& node, const std::string& file, Diagnostics& diagnostics, Facts& facts) {
  YamlMap map(node, file, "an edge", diagnostics);
  if (!map.valid()) return;
  EdgeFact edge;
  const Text from = map.GetText("from"), to = map.GetText("to");
  if (!from || !to) {
    map.Fail(from ? "to" : "from", fmt::format("an edge needs 'from' and 'to'"));
    map.Get("reads"), map.Get("memory"), map.Get("map");
    return map.Finish();
  }
  map.set_what(fmt::format("edge {} -> {}", *from, *to));
  edge.from = *from;
  edge.to = *to;
  edge.reads = "\"same\"";
  edge.at = map.place();
  if (const auto node_reads = map.Get("reads")) {
    std::vector<Reads> list;
    if (node_reads->IsSequence() && node_reads->size() == 0)
      map.Fail("reads", fmt::format("reads of {} is an empty list", map.what()));
    const auto add = [&](const YAML::Node& one) {
      if (const auto parsed = ReadReads(map, one)) {
        list.push_back(*parsed);
        if (edge.from == edge.to) RefuseOfItself(map, *parsed);
      }
    };
    if (node_reads->IsSequence())
      for (const auto& one : *node_reads) add(one);
    else
      add(*node_reads);
    if (!list.empty()) edge.reads = ReadsListToJson(list);
  }
  edge.memory = map.GetDuration("memory");
  if (edge.memory && edge.from != edge.to)
    map.Fail("memory",
             fmt::format("memory of {}: only a dataset that reads itself has a memory", map.what()));
  if (const auto node_map = map.Get("map"); node_map && node_map->IsMap()) {
    for (const auto& dimension : *node_map) {
      if (!dimension.second.IsMap()) continue;
      for (const auto& value : dimension.second) {
        auto& targets = edge.dimension_map.Make()[dimension.first.Scalar()][value.first.Scalar()];
        if (value.second.IsSequence())
          for (const auto& t : value.second) targets.push_back(t.Scalar());
        else
          targets.push_back(value.second.Scalar());
      }
    }
  }
  map.Finish();
  facts.edges.push_back(std::move(edge));
}

ScheduleFact ReadSchedule(YamlMap& job, const YAML::Node& node, const EntryDefaults& defaults) {
  ScheduleFact s;
  YamlMap map(node, job.file(), "schedule of " + job.what(), job.diagnostics());
  if (!map.valid()) return s;
  s.cron = map.GetText("cron");
  s.timezone = map.GetZone("timezone");
  if (s.cron && !s.timezone) s.timezone = defaults.timezone;
  s.on = map.GetList("on");
  if (const Text rewrites = map.GetText("rewrites")) {
    if (*rewrites == "all" || *rewrites == "latest" || ParseDuration(*rewrites))
      s.rewrites = rewrites;
    else
      map.Fail("rewrites",
               fmt::format("rewrites '{}' of {} must be all, latest or a duration", *rewrites, job.what()));
  }
  if (const auto covers = map.Get("covers")) {
    if (const auto word = ScalarText(*covers)) {
      if (*word == "interval" || *word == "tick")
        s.covers = *word, s.covers_declared = true;
      else
        map.Fail("covers",
                 fmt::format("covers '{}' of {} must be interval, tick or {{last: 1d}}", *word, job.what()));
    } else {
      YamlMap last(*covers, job.file(), "covers of " + job.what(), job.diagnostics());
      if (const Text duration = last.valid() ? last.GetDuration("last") : std::nullopt)
        s.covers = "last " + *duration, s.covers_declared = true;
      if (last.valid()) last.Finish();
    }
  }
  if (!s.cron && s.on.empty() && !s.covers && !s.rewrites)
    map.Fail("cron", fmt::format("{} has neither 'cron' nor 'on'", map.what()));
  map.Finish();
  return s;
}

void ReadJob(const YAML::Node& node, const std::string& file, const EntryDefaults& defaults,
             Diagnostics& diagnostics, Facts& facts) {
  YamlMap map(node, file, "a job", diagnostics);
  if (!map.valid()) return;
  JobFact job;
  job.at = map.place();
  const Text name = map.GetText("name");
  if (!name) map.Fail("name", "a job needs a 'name'");
  job.name = name.value_or("");
  map.set_what("job '" + job.name + "'");
  job.writes = map.GetList("writes");
  job.reads = map.GetList("reads");
  job.after = map.GetList("after");
  if (const auto schedule = map.Get("schedule")) job.schedule = ReadSchedule(map, *schedule, defaults);
  job.run_grain = GetGrain(map, "run_grain");
  job.separable = map.GetBool("separable");
  job.sequential = map.GetBool("sequential").value_or(false);
  job.pool = map.GetText("pool");
  job.slots = map.GetNumber("slots", 0, 1'000'000);
  job.max_parallel = map.GetNumber("max_parallel", 1, 1'000'000);
  job.seconds_per_cell = map.GetDecimal("seconds_per_cell");
  job.owner = map.GetText("owner");
  if (const Text command = map.GetText("command")) {
    if (command->find('\0') != std::string::npos)
      map.Fail("command",
               fmt::format("the command of {} holds a byte 0, and no shell's line can", map.what()));
    job.methods["shell"] = *command;
  }
  map.Finish();
  facts.jobs.push_back(std::move(job));
}

// Refuses a name or id that stands twice, naming both places.
class Names {
 public:
  explicit Names(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}
  void Take(const char* what, const std::string& name, const std::string& file, int line) {
    if (name.empty()) return;
    const std::string here = fmt::format("{}:{}", file, line);
    const auto [it, fresh] = places_.emplace(std::string(what) + "\n" + name, here);
    if (!fresh)
      diagnostics_.Error(here, fmt::format("{} '{}' stands twice", what, name),
                         {fmt::format("first in {}, again in {}: keep one, or rename", it->second, here)});
  }

 private:
  Diagnostics& diagnostics_;
  std::map<std::string, std::string> places_;
};

std::optional<ClientFact> ReadClient(const YAML::Node& node, const std::string& path, Names& names,
                                     Diagnostics& diagnostics) {
  YamlMap map(node, path, "a client", diagnostics);
  if (!map.valid()) return std::nullopt;
  const Text platform = map.GetText("platform"), command = map.GetText("command");
  map.set_what("client of '" + platform.value_or("") + "'");
  if (!platform || !command)
    map.Fail(platform ? "command" : "platform", "a client needs 'platform' and 'command'");
  else if (command->find("{sql}") == std::string::npos)
    map.Fail("command", fmt::format("the command of the {} does not say where the SQL goes", map.what()),
             {"write {sql} there: psql -c {sql}"});
  else if (command->find('\0') != std::string::npos)
    map.Fail("command",
             fmt::format("the command of the {} holds a byte 0, and no shell's line can", map.what()));
  else if (!StandsBare(*command, "{sql}"))
    map.Fail(
        "command",
        fmt::format("{{sql}} stands in quotes, or in what is not read, in the command of the {}", map.what()),
        {"write it bare: it is quoted where it is filled in"});
  names.Take("client", Lower(platform.value_or("")), path, map.line());
  map.Finish();
  if (!platform || !command) return std::nullopt;
  return ClientFact{Lower(*platform), *command, map.place()};
}

// A finding of the audit that was decided: it needs a reason, and something that it matches by.
void ReadIgnore(const YAML::Node& node, const std::string& path, Diagnostics& diagnostics, Facts& facts) {
  YamlMap map(node, path, "an ignore entry", diagnostics);
  if (!map.valid()) return;
  static const std::vector<std::string> codes = {
      "undocumented-extract", "probable-extract", "frozen-copy", "never-seen",
      "unknown-dataset",      "no-owner",         "expired",     "retrained"};
  IgnoreFact fact;
  fact.at = map.place();
  fact.code = map.GetWord("code", codes);
  fact.dataset = map.GetText("dataset");
  fact.destination = map.GetText("destination");
  fact.user = map.GetText("user");
  const Text reason = map.GetText("reason");
  if (!reason || reason->empty())
    map.Fail("reason",
             "an ignore entry needs a 'reason': it is read by whoever asks later why nothing was said");
  fact.reason = reason.value_or("");
  fact.until = map.GetDate("until");
  if (!fact.dataset && !fact.destination && !fact.user)
    map.Fail("dataset",
             "an ignore entry needs 'dataset', 'destination' or 'user': without any it would silence all");
  map.Finish();
  facts.ignores.push_back(std::move(fact));
}

template <typename F>
void EachOf(YamlMap& top, const std::string& key, F f) {
  const auto node = top.Get(key);
  if (!node) return;
  if (!node->IsSequence()) return top.Fail(key, fmt::format("'{}' must be a list", key));
  for (const auto& item : *node) f(item);
}

// The documents of a file; those without anything in them are left out.
std::optional<std::vector<YAML::Node>> Documents(const std::string& path, const std::string& text,
                                                 Diagnostics& diagnostics) {
  std::vector<YAML::Node> out;
  try {
    for (const YAML::Node& document : YAML::LoadAll(text))
      if (!document.IsNull()) out.push_back(document);
    return out;
  } catch (const YAML::Exception& e) {
    std::vector<std::string> notes;
    const auto lines = Split(text, '\n');
    const auto line = static_cast<std::size_t>(std::max(0, e.mark.line));
    for (std::size_t i = line > 0 ? line - 1 : 0; i <= line && i < lines.size(); ++i) {
      const std::size_t tab = lines[i].find_first_not_of(' ');
      if (tab == std::string::npos || lines[i][tab] != '\t') continue;
      notes.push_back(fmt::format("line {} is indented with a tab: YAML takes blanks only", i + 1));
      break;
    }
    diagnostics.Error(YamlWhere(path, e.mark), "this is not YAML: " + e.msg, notes);
    return std::nullopt;
  }
}

void ReadEntries(YamlMap& top, const EntryDefaults& defaults, Names& names, Facts& facts) {
  const std::string& path = top.file();
  Diagnostics& diagnostics = top.diagnostics();
  EachOf(top, "datasets", [&](const YAML::Node& node) {
    YamlMap map(node, path, "a dataset", diagnostics);
    if (!map.valid()) return;
    DatasetFact fact;
    fact.at = map.place();
    const Text name = map.GetText("name");
    fact.select = map.GetText("select");
    if (fact.select) {
      map.set_what("datasets of '" + *fact.select + "'");
      if (name) map.Fail("select", "an entry has a 'name' or a 'select', not both");
      if (fact.select->empty()) map.Fail("select", "'select' selects nothing: write a selector of dbt");
      if (map.Get("aliases"))
        map.Fail("aliases", map.what() + " cannot share aliases: give each its own entry");
    } else {
      if (!name || name->empty()) map.Fail("name", "a dataset needs a 'name' (or a 'select')");
      fact.name = name.value_or("");
      map.set_what("dataset '" + fact.name + "'");
      names.Take("dataset", fact.name, path, map.line());
    }
    ReadDatasetEntry(map, defaults, fact);
    map.Finish();
    facts.datasets.push_back(std::move(fact));
  });
  EachOf(top, "edges", [&](const YAML::Node& node) { ReadEdge(node, path, diagnostics, facts); });
  EachOf(top, "jobs", [&](const YAML::Node& node) {
    ReadJob(node, path, defaults, diagnostics, facts);
    if (!facts.jobs.empty()) names.Take("job", facts.jobs.back().name, path, node.Mark().line + 1);
  });
  EachOf(top, "pools", [&](const YAML::Node& node) {
    YamlMap map(node, path, "a pool", diagnostics);
    if (!map.valid()) return;
    PoolFact pool;
    pool.at = map.place();
    const Text name = map.GetText("name");
    if (!name) map.Fail("name", "a pool needs a 'name'");
    pool.name = name.value_or("");
    map.set_what("pool '" + pool.name + "'");
    names.Take("pool", pool.name, path, map.line());
    pool.slots = map.GetNumber("slots", 0, 1'000'000);
    pool.usual_load = map.GetNumber("usual_load", 0, 1'000'000);
    map.Finish();
    facts.pools.push_back(std::move(pool));
  });
  EachOf(top, "clients", [&](const YAML::Node& node) {
    if (const auto client = ReadClient(node, path, names, diagnostics)) facts.clients.push_back(*client);
  });
  EachOf(top, "copies", [&](const YAML::Node& node) {
    YamlMap map(node, path, "a copy", diagnostics);
    if (!map.valid()) return;
    CopyFact copy;
    copy.at = map.place();
    const Text id = map.GetText("id");
    if (!id || id->empty()) map.Fail("id", "a copy needs an 'id'");
    copy.id = id.value_or("");
    map.set_what("copy '" + copy.id + "'");
    names.Take("copy", copy.id, path, map.line());
    ReadCopyEntry(map, copy);
    if (copy.of.empty())
      map.Fail("of", fmt::format("copy '{}' does not say what it was taken from ('of')", copy.id));
    map.Finish();
    facts.copies.push_back(std::move(copy));
  });
  EachOf(top, "ignore", [&](const YAML::Node& node) { ReadIgnore(node, path, diagnostics, facts); });
}

// What is appended to a registry may begin a document of its own: each is read as if it stood in the first.
void ReadText(const std::string& path, const std::string& text, Names& names, Diagnostics& diagnostics,
              std::vector<SourceFacts>& out) {
  if (const auto fault = EncodingFault(text)) return diagnostics.Error(path, *fault);
  const auto documents = Documents(path, text, diagnostics);
  if (!documents) return;
  if (documents->empty())
    return diagnostics.Error(path, "not a registry: the file is empty",
                             {"a registry begins with: backreach: 1"});
  std::deque<YamlMap> tops;
  for (const YAML::Node& root : *documents) {
    if (!root.IsMap())
      return diagnostics.Error(tops.empty() ? path : YamlWhere(path, root.Mark()),
                               tops.empty() ? "not a registry: the file holds no mapping"
                                            : "this document of the registry holds no mapping",
                               {"a registry begins with: backreach: 1"});
    if (!CheckYamlSize(root, path, diagnostics)) return;
    YamlMap& top = tops.emplace_back(root, path, "the registry", diagnostics);
    const Text version = top.GetText("backreach");
    if (!version && tops.size() == 1)
      diagnostics.Error(path, "not a registry: there is no 'backreach: 1'",
                        {"a registry begins with: backreach: 1"});
    else if (version && *version != "1")
      top.Fail("backreach",
               fmt::format("registry version '{}' is not known; this backreach reads version 1", *version));
  }
  EntryDefaults defaults;
  bool given = false;
  for (YamlMap& top : tops) {
    const auto node = top.Get("defaults");
    if (!node) continue;
    YamlMap map(*node, path, "defaults", diagnostics);
    if (!map.valid()) continue;
    if (given) top.Fail("defaults", "'defaults' stands in another document of this file too: keep one");
    given = true;
    defaults.timezone = map.GetZone("timezone");
    defaults.week_start = map.GetWord("week_start", Weekdays());
    map.Finish();
  }
  SourceFacts source;
  source.source = {"registry", BaseName(path), AbsolutePath(path), Sha256Hex(text), ""};
  for (YamlMap& top : tops) {
    ReadEntries(top, defaults, names, source.facts);
    top.Finish();
  }
  out.push_back(std::move(source));
}

void ReadFile(const std::string& path, Names& names, Diagnostics& diagnostics,
              std::vector<SourceFacts>& out) {
  if (const auto text = ReadSmallFile(path, kMostBytes, diagnostics))
    ReadText(path, *text, names, diagnostics, out);
}

std::vector<SourceFacts> Run(const ImportRequest& request, Diagnostics& diagnostics) {
  std::vector<SourceFacts> out;
  Names names(diagnostics);
  for (const std::string& path : request.inputs) ReadFile(path, names, diagnostics, out);
  return out;
}

}  // namespace

std::optional<SourceFacts> ReadRegistryText(const std::string& file, const std::string& text,
                                            Diagnostics& diagnostics) {
  std::vector<SourceFacts> out;
  Names names(diagnostics);
  ReadText(file, text, names, diagnostics, out);
  if (diagnostics.has_errors() || out.empty()) return std::nullopt;
  return std::move(out[0]);
}

Importer RegistryImporter() {
  return {"registry",
          "FILE...",
          "The hand-maintained registry: datasets, edges, jobs, pools and copies (YAML)",
          "  backreach ingest registry registry.yml\n"
          "  backreach ingest registry registry/*.yml --store prod.db",
          true,
          {},
          Run};
}

}  // namespace backreach
