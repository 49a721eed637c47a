// SQLMesh's `state export`: models as snapshots, of which the one that prod runs counts. Intervals are UTC,
// whatever zone a model's cron is in; `lookback` says which intervals an ordinary run takes again, not what
// one of them reads.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "graph/base/digest.hpp"
#include "graph/base/words.hpp"
#include "graph/time/calendar.hpp"
#include "graph/time/schedule.hpp"
#include "ingest/importer.hpp"
#include "ingest/read/file.hpp"
#include "ingest/sql/scan.hpp"

namespace backreach {

namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostBytes = std::size_t{2} << 30;

const Json* Find(const Json& j, const char* key) {
  if (!j.is_object()) return nullptr;
  const auto it = j.find(key);
  return it == j.end() || it->is_null() ? nullptr : &*it;
}
Text TextAt(const Json& j, const char* key) {
  const Json* found = Find(j, key);
  if (!found) return std::nullopt;
  if (found->is_string()) return found->get<std::string>();
  return std::nullopt;
}
bool TrueAt(const Json& j, const char* key) {
  const Json* found = Find(j, key);
  return found && found->is_boolean() && found->get<bool>();
}
std::optional<std::int64_t> NumberAt(const Json& j, const char* key) {
  const Json* found = Find(j, key);
  if (!found || !found->is_number_integer()) return std::nullopt;
  return found->get<std::int64_t>();
}

// The parts of a quoted name, `"shop"."public"."orders"`, without their quotes.
std::vector<std::string> Parts(const std::string& name) {
  std::vector<std::string> out = {""};
  char quote = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (quote) {
      if (c != quote)
        out.back() += c;
      else if (i + 1 < name.size() && name[i + 1] == quote && quote != ']')
        out.back() += name[++i];
      else
        quote = 0;
    } else if (c == '"' || c == '`') {
      quote = c;
    } else if (c == '[') {
      quote = ']';
    } else if (c == '.') {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  return out;
}

std::string Column(const std::string& quoted) { return Join(Parts(quoted), "."); }

// An interval unit as a grain.
Text GrainOf(const std::string& unit) {
  static const std::map<std::string, const char*> grains = {{"year", "year"},
                                                            {"month", "month"},
                                                            {"day", "day"},
                                                            {"hour", "hour"},
                                                            {"half_hour", "30 minutes"},
                                                            {"quarter_hour", "15 minutes"},
                                                            {"five_minute", "5 minutes"}};
  const auto it = grains.find(unit);
  return it == grains.end() ? Text() : Text(it->second);
}

// The unit that SQLMesh takes where none was set: the longest that fits between two ticks.
Text UnitOfCron(const std::string& text) {
  const auto cron = Cron::Parse(text);
  if (!cron) return std::nullopt;
  constexpr Civil kFrom = 1704067199;  // the last second of 2023
  std::int64_t least = 0;
  std::optional<Civil> before = cron->Next(kFrom);
  for (int i = 0; i < 500 && before; ++i) {
    const auto next = cron->Next(*before);
    if (!next) break;
    if (least == 0 || *next - *before < least) least = *next - *before;
    before = next;
  }
  constexpr std::pair<std::int64_t, const char*> kUnits[] = {{365 * kDay, "year"},
                                                             {28 * kDay, "month"},
                                                             {kDay, "day"},
                                                             {kHour, "hour"},
                                                             {30 * kMinute, "half_hour"},
                                                             {15 * kMinute, "quarter_hour"},
                                                             {5 * kMinute, "five_minute"}};
  for (const auto& [seconds, unit] : kUnits)
    if (least >= seconds) return unit;
  return std::nullopt;
}

// N units, as a duration.
Text Length(const std::string& unit, std::int64_t n) {
  if (n <= 0 || n > 100'000) return std::nullopt;
  if (unit == "year") return fmt::format("{}y", n);
  if (unit == "month") return fmt::format("{}mo", n);
  if (unit == "day") return fmt::format("{}d", n);
  if (unit == "hour") return fmt::format("{}h", n);
  return fmt::format("{}m", n * (unit == "half_hour" ? 30 : unit == "quarter_hour" ? 15 : 5));
}

struct Model {
  const Json* snapshot;
  const Json* node;
  std::vector<std::string> parts;
  std::string kind, unit;  // unit: "" where it has no intervals of its own
  Place at;
};

class StateReader {
 public:
  StateReader(std::string space, const std::string& path, Diagnostics& diagnostics, Facts& facts)
      : space_(std::move(space)), path_(path), diagnostics_(diagnostics), facts_(facts) {}

  void Read(const Json& document) {
    Choose(document);
    for (const auto& [name, model] : models_) Make(name, model);
  }

 private:
  std::string Full(const std::vector<std::string>& parts) const { return space_ + "/" + Join(parts, "."); }

  // Of several versions of a model the one that prod has; else the newest.
  void Choose(const Json& document) {
    std::map<std::string, std::string> promoted;  // name -> fingerprint
    if (const Json* environments = Find(document, "environments");
        environments && environments->is_object()) {
      const Json* chosen = Find(*environments, "prod");
      if (!chosen && environments->size() == 1) chosen = &environments->begin().value();
      const Json* inner = chosen ? Find(*chosen, "environment") : nullptr;
      if (inner) chosen = inner;
      const Json* list = chosen ? Find(*chosen, "snapshots") : nullptr;
      if (list && list->is_array())
        for (const Json& s : *list)
          if (const Text name = TextAt(s, "name"))
            if (const Json* print = Find(s, "fingerprint")) promoted[*name] = print->dump();
    }
    std::size_t n = 0;
    for (const Json& s : *Find(document, "snapshots")) {
      const std::string place = fmt::format("/snapshots/{}", n++);
      const Text name = TextAt(s, "name");
      const Json* node = Find(s, "node");
      const Json* kind = node ? Find(*node, "kind") : nullptr;
      if (!name || !node || !kind) {
        // A standalone audit builds nothing.
        if (!name || !node)
          diagnostics_.Warning(path_ + ": " + place, "a snapshot without a name and a node: left out");
        continue;
      }
      Model model{
          &s, node, Parts(*name), Upper(TextAt(*kind, "name").value_or("")), "", {BaseName(path_), place}};
      if (model.parts.back().empty()) continue;
      const auto known = models_.find(*name);
      if (known == models_.end())
        models_.emplace(*name, std::move(model));
      else if (Before(*known->second.snapshot, s, promoted))
        known->second = std::move(model);
    }
    for (auto& [name, model] : models_) {
      model.unit = TextAt(*model.node, "interval_unit").value_or("");
      if (!GrainOf(model.unit)) model.unit = UnitOfCron(CronOf(model)).value_or("");
      suffixes_[Lower(Join(model.parts, "."))] = name;
      if (model.parts.size() > 2)
        suffixes_[Lower(model.parts[model.parts.size() - 2] + "." + model.parts.back())] = name;
    }
  }

  // Does the second of two versions count rather than the first?
  static bool Before(const Json& a, const Json& b, const std::map<std::string, std::string>& promoted) {
    const auto rank = [&](const Json& s) {
      const Json* print = Find(s, "fingerprint");
      const auto it = promoted.find(TextAt(s, "name").value_or(""));
      return std::tuple(it != promoted.end() && print && print->dump() == it->second,
                        NumberAt(s, "unpaused_ts").value_or(0), NumberAt(s, "created_ts").value_or(0));
    };
    return rank(a) < rank(b);
  }

  static std::string CronOf(const Model& model) {
    const std::string cron = TextAt(*model.node, "cron").value_or("@daily");
    static const std::map<std::string, const char*> presets = {
        {"@hourly", "0 * * * *"},  {"@daily", "0 0 * * *"},   {"@midnight", "0 0 * * *"},
        {"@weekly", "0 0 * * 0"},  {"@monthly", "0 0 1 * *"}, {"@yearly", "0 0 1 1 *"},
        {"@annually", "0 0 1 1 *"}};
    const auto it = presets.find(cron);
    return it == presets.end() ? cron : it->second;
  }

  static bool ByTime(const Model& model) { return model.kind == "INCREMENTAL_BY_TIME_RANGE"; }
  static bool Runs(const Model& model) {
    return model.kind != "VIEW" && model.kind != "SEED" && model.kind != "EMBEDDED" &&
           model.kind != "EXTERNAL";
  }

  void Make(const std::string& name, const Model& model) {
    const Json& node = *model.node;
    DatasetFact fact;
    fact.name = Full(model.parts);
    fact.at = model.at;
    fact.owner = TextAt(node, "owner");
    fact.relation = model.parts;
    fact.platform = TextAt(node, "dialect");
    if (fact.platform && fact.platform->empty()) fact.platform.reset();
    if (const Text short_name = TextAt(node, "name")) fact.short_names.push_back(*short_name);
    Kind(model, fact);
    if (const Json* intervals = Find(*model.snapshot, "intervals"))
      for (const Span& span : Spans(*intervals))
        fact.built.Make().push_back(FormatInstant(span.start) + "/" + FormatInstant(span.end));
    Audits(node, fact);
    if (Runs(model)) {
      fact.methods["sqlmesh"] = TextAt(node, "name").value_or(Join(model.parts, "."));
      Job(model, fact);
    }
    const std::string dataset = fact.name;
    facts_.datasets.push_back(std::move(fact));
    Parents(name, model, dataset);
  }

  void Kind(const Model& model, DatasetFact& fact) {
    const Json& kind = *Find(*model.node, "kind");
    const std::string& k = model.kind;
    fact.kind = "table";
    fact.writes_relation = k != "EXTERNAL" && k != "EMBEDDED";
    const auto whole = [&](const char* mode) {
      fact.write.mode = mode;
      fact.partitions.emplace_back().grain = "none";
    };
    if (k == "INCREMENTAL_BY_TIME_RANGE") {
      fact.write.mode = "replace";
      Partitions(model, fact);
    } else if (k == "FULL") {
      whole("whole");
    } else if (k == "VIEW") {
      if (TrueAt(kind, "materialized"))
        fact.write.mode = "refresh", fact.methods["refreshed_by"] = "told";
      else
        fact.kind = "view";
    } else if (k == "EMBEDDED") {
      fact.kind = "ephemeral";
    } else if (k == "EXTERNAL") {
      fact.kind = "source";
    } else if (k == "SEED") {
      fact.kind = "seed";
    } else if (k == "INCREMENTAL_BY_UNIQUE_KEY") {
      whole("merge");
      fact.write.key_given = true;
      if (const Json* key = Find(kind, "unique_key"); key && key->is_array()) {
        for (const Json& column : *key)
          if (column.is_string()) fact.write.key.push_back(Column(column.get<std::string>()));
      } else if (const Text one = TextAt(kind, "unique_key")) {
        fact.write.key.push_back(Column(*one));
      }
    } else if (k == "INCREMENTAL_BY_PARTITION") {
      whole("dynamic_overwrite");
    } else if (k == "INCREMENTAL_UNMANAGED") {
      whole(TrueAt(kind, "insert_overwrite") ? "dynamic_overwrite" : "append");
    } else if (StartsWith(k, "SCD_TYPE_2")) {
      fact.kind = "snapshot";
      fact.write.mode = "snapshot";
      return;  // that a restatement skips it says nothing more
    } else if (k == "MANAGED") {
      fact.write.mode = "refresh";
    }
    fact.write.why = "SQLMesh's kind " + k;
    if (TrueAt(kind, "disable_restatement")) fact.never_rebuild = true;
  }

  void Partitions(const Model& model, DatasetFact& fact) {
    PartitionFact& block = fact.partitions.emplace_back();
    block.timezone = "UTC";
    block.grain = GrainOf(model.unit);
    const Json& kind = *Find(*model.node, "kind");
    if (const Json* column = Find(kind, "time_column")) {
      const Text name = column->is_string() ? Text(column->get<std::string>()) : TextAt(*column, "column");
      if (name) block.column = Column(*name);
    }
    if (!block.grain) {
      facts_.unresolved.push_back({CronOf(model), "grain", fact.name,
                                   fmt::format("{} has the cron '{}' and no interval_unit, and none follows "
                                               "from it: taken whole",
                                               fact.name, CronOf(model)),
                                   fact.at});
      return;
    }
    const auto date = [](const Text& text) {
      return text && ParseDate(*text, Calendar()).span ? text : Text();
    };
    block.first = date(TextAt(*model.node, "start"));
    block.last = date(TextAt(*model.node, "end"));
    if (block.first) return;
    // A start that is missing, or relative to the day it is read: what was built begins it.
    if (const Json* intervals = Find(*model.snapshot, "intervals"))
      if (const auto spans = Spans(*intervals); !spans.empty())
        block.first = FormatInstant(spans.front().start);
  }

  static std::vector<Span> Spans(const Json& intervals) {
    std::vector<Span> out;
    if (!intervals.is_array()) return out;
    constexpr std::int64_t kMost = 32'503'680'000'000;  // the year 3000, in milliseconds
    for (const Json& i : intervals) {
      if (!i.is_array() || i.size() != 2 || !i[0].is_number_integer() || !i[1].is_number_integer()) continue;
      const auto from = i[0].get<std::int64_t>(), to = i[1].get<std::int64_t>();
      if (from < to && from > -kMost && to < kMost) out.push_back({FloorDiv(from, 1000), FloorDiv(to, 1000)});
    }
    std::sort(out.begin(), out.end(), [](const Span& a, const Span& b) { return a.start < b.start; });
    return out;
  }

  // Audits see the intervals of their run alone.
  void Audits(const Json& node, const DatasetFact& fact) {
    const Json* audits = Find(node, "audits");
    if (!audits || !audits->is_array()) return;
    static const std::map<std::string, const char*> kinds = {
        {"unique_values", "unique"}, {"unique_combination_of_columns", "unique"}, {"not_null", "not_null"}};
    for (const Json& audit : *audits) {
      if (!audit.is_array() || audit.empty() || !audit[0].is_string()) continue;
      const auto name = audit[0].get<std::string>();
      const auto kind = kinds.find(Lower(name));
      const Text columns = audit.size() > 1 ? TextAt(audit[1], "columns") : Text();
      std::vector<std::string> list;
      for (std::string column : Split(columns.value_or(""), ',')) {
        std::erase_if(column,
                      [](char c) { return c == '(' || c == ')' || c == '[' || c == ']' || c == ' '; });
        if (!column.empty()) list.push_back(Column(column));
      }
      // Of several columns `unique_values` and `not_null` ask for each by itself.
      std::vector<std::vector<std::string>> sets;
      if (Lower(name) == "unique_combination_of_columns")
        sets.push_back(list);
      else
        for (const std::string& column : list) sets.push_back({column});
      if (sets.empty()) sets.emplace_back();
      for (const auto& set : sets) {
        CheckFact check;
        check.id = fmt::format("audit {}({}) of {}", name, Join(set, ", "), fact.name);
        check.dataset = fact.name;
        check.kind = kind == kinds.end() || set.empty() ? "other" : kind->second;
        check.columns = set;
        check.covers_all_rows = false;
        check.at = fact.at;
        facts_.checks.push_back(std::move(check));
      }
    }
  }

  void Job(const Model& model, const DatasetFact& fact) {
    const Json& kind = *Find(*model.node, "kind");
    JobFact job;
    job.name = space_ + "/" + fact.methods.at("sqlmesh");
    job.orchestrator = "sqlmesh";
    job.at = model.at;
    job.owner = fact.owner;
    job.writes.push_back(fact.name);
    ScheduleFact& s = job.schedule.emplace();
    s.cron = CronOf(model);
    s.timezone = TextAt(*model.node, "cron_tz").value_or("UTC");
    s.covers = "interval";
    if (const auto lookback = NumberAt(kind, "lookback"); lookback && *lookback > 0)
      s.rewrites = Length(model.unit, *lookback + 1);
    if (ByTime(model)) {
      const auto batch = NumberAt(kind, "batch_size");
      job.cells_per_run = batch && *batch > 0 ? std::to_string(*batch) : std::string("all");
      if (const auto most = NumberAt(kind, "batch_concurrency"); most && *most > 0) job.max_parallel = *most;
    }
    jobs_by_dataset_[fact.name] = job.name;
    facts_.jobs.push_back(std::move(job));
  }

  // Edges are a snapshot's parents. What is no model is only in the query, and so is a model that reads
  // itself.
  void Parents(const std::string& name, const Model& model, const std::string& dataset) {
    std::set<std::string> done;
    if (const Json* parents = Find(*model.snapshot, "parents"); parents && parents->is_array())
      for (const Json& parent : *parents)
        if (const Text parent_name = TextAt(parent, "name");
            parent_name && done.insert(*parent_name).second) {
          const auto known = models_.find(*parent_name);
          Edge(Full(Parts(*parent_name)), dataset, model,
               known != models_.end() && ByTime(model) && ByTime(known->second));
        }
    for (const std::vector<std::string>& table : TablesOf(model)) {
      const auto it = suffixes_.find(Lower(Join(table, ".")));
      if (it == suffixes_.end())
        External(table, dataset, model);
      else if (it->second == name && done.insert(name).second)
        Itself(dataset, model);
    }
  }

  std::vector<std::vector<std::string>> TablesOf(const Model& model) const {
    std::vector<std::vector<std::string>> out;
    const Json* query = Find(*model.node, "query");
    const Text sql = query && query->is_object() ? TextAt(*query, "sql") : TextAt(*model.node, "query");
    if (sql)
      for (const SqlTable& table : TablesRead(*sql))
        if (!table.jinja && table.name.find_first_of("@{}$() ") == std::string::npos && !table.name.empty())
          out.push_back(Parts(table.name));
    // Of models in Python only what they declare is known.
    if (const Json* declared = Find(*model.node, "depends_on"); declared && declared->is_array())
      for (const Json& one : *declared)
        if (one.is_string()) out.push_back(Parts(one.get<std::string>()));
    return out;
  }

  void Edge(const std::string& from, const std::string& to, const Model& model, bool both) {
    EdgeFact edge;
    edge.from = from;
    edge.to = to;
    edge.at = model.at;
    edge.known = "assumed";
    if (const auto job = jobs_by_dataset_.find(to); job != jobs_by_dataset_.end()) edge.job = job->second;
    // What SQLMesh itself goes by: the intervals that overlap. What the query takes of them it does not say.
    if (both) edge.reads = "\"same\"", edge.note = "SQLMesh passes on the intervals that overlap";
    facts_.edges.push_back(std::move(edge));
  }

  void Itself(const std::string& dataset, const Model& model) {
    EdgeFact edge;
    edge.from = edge.to = dataset;
    edge.at = model.at;
    edge.known = "assumed";
    edge.note = "its query names it";
    facts_.edges.push_back(std::move(edge));
  }

  // A table that SQLMesh does not build, and does not list.
  void External(std::vector<std::string> table, const std::string& dataset, const Model& model) {
    const Text catalog = TextAt(*model.node, "default_catalog");
    if (table.size() == 2 && catalog && !catalog->empty()) table.insert(table.begin(), *catalog);
    const std::string name = Full(table);
    if (externals_.insert(name).second) {
      DatasetFact fact;
      fact.name = name;
      fact.kind = "source";
      fact.at = model.at;
      fact.relation = table;
      fact.platform = TextAt(*model.node, "dialect");
      fact.short_names.push_back(Join(table, "."));
      facts_.datasets.push_back(std::move(fact));
    }
    for (const EdgeFact& e : facts_.edges)
      if (e.from == name && e.to == dataset) return;
    Edge(name, dataset, model, false);
  }

  std::string space_;
  const std::string& path_;
  Diagnostics& diagnostics_;
  Facts& facts_;
  std::map<std::string, Model> models_;  // by quoted name
  std::map<std::string, std::string> suffixes_, jobs_by_dataset_;
  std::set<std::string> externals_;
};

std::vector<SourceFacts> Run(const ImportRequest& request, Diagnostics& diagnostics) {
  const auto given = request.options.find("name");
  const std::string name = given == request.options.end() ? "sqlmesh" : given->second.back();
  const std::string& path = request.inputs[0];
  const auto text = ReadSmallFile(path, kMostBytes, diagnostics);
  if (!text) return {};
  if (const auto fault = EncodingFault(*text)) {
    diagnostics.Error(path, *fault);
    return {};
  }
  Json document;
  try {
    document = Json::parse(WithoutMark(*text));
  } catch (const Json::exception& e) {
    diagnostics.Error(path, std::string("this is not JSON: ") + e.what());
    return {};
  }
  const Json* snapshots = Find(document, "snapshots");
  if (!snapshots || !snapshots->is_array()) {
    diagnostics.Error(path, "no state of SQLMesh's: it has no list of snapshots",
                      {"make it with: sqlmesh state export -o state.json"});
    return {};
  }
  SourceFacts source;
  source.source = {"sqlmesh", name, name, Sha256Hex(*text), ""};
  StateReader(name, path, diagnostics, source.facts).Read(document);
  if (diagnostics.has_errors()) return {};
  return {source};
}

}  // namespace

Importer SqlMeshImporter() {
  return {"sqlmesh",
          "FILE",
          "SQLMesh's state, as `sqlmesh state export` writes it",
          "  backreach ingest sqlmesh state.json\n"
          "  backreach ingest sqlmesh state.json --name shop",
          false,
          {{"name", "the project's name, which its models begin with (default: sqlmesh)", false}},
          Run};
}

}  // namespace backreach
