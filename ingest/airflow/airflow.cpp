// Airflow's serialized DAGs (JSON v1 flat and wrapped, v2, v3). A DAG's schedule is told by its timetable
// class; which day a run writes is taken from it only where the class says so, never from a cron.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "graph/base/digest.hpp"
#include "graph/base/words.hpp"
#include "graph/time/time.hpp"
#include "ingest/airflow/across.hpp"
#include "ingest/airflow/dbt_tasks.hpp"
#include "ingest/airflow/exports.hpp"
#include "ingest/airflow/moves.hpp"
#include "ingest/airflow/rows.hpp"
#include "ingest/airflow/task.hpp"
#include "ingest/importer.hpp"
#include "ingest/sql/scan.hpp"

namespace backreach {

namespace {

std::string LastDotted(const std::string& path) {
  const auto at = path.rfind('.');
  return at == std::string::npos ? path : path.substr(at + 1);
}

Text ZoneName(const Json* j) {
  if (!j) return std::nullopt;
  const Json& zone = Unwrap(*j);
  if (zone.is_string()) return zone.get<std::string>();
  if (zone.is_number()) {
    const auto seconds = zone.get<std::int64_t>();
    return seconds == 0 ? std::string("UTC")
                        : fmt::format("UTC{}{:02}:{:02}", seconds < 0 ? '-' : '+', std::abs(seconds) / 3600,
                                      std::abs(seconds) / 60 % 60);
  }
  return std::nullopt;
}

// Seconds, or a relativedelta's parts: months stay months, all else has a fixed length in UTC. Parts that set
// a day or hour instead of adding one stay as they are, which no schedule understands.
Text DurationText(const Json& j) {
  const Json& v = Unwrap(j);
  if (v.is_number()) return fmt::format("{} s", v.get<double>());
  if (!v.is_object()) return std::nullopt;
  static const std::map<std::string, std::int64_t> months = {{"years", 12}, {"months", 1}},
                                                   seconds = {{"weeks", 604800},
                                                              {"days", 86400},
                                                              {"hours", 3600},
                                                              {"minutes", 60},
                                                              {"seconds", 1}};
  std::int64_t m = 0, s = 0;
  for (const auto& item : v.items()) {
    if (!item.value().is_number_integer()) return v.dump();
    const auto n = item.value().get<std::int64_t>();
    if (n < 0 || n > 1'000'000) return v.dump();
    if (const auto it = months.find(item.key()); it != months.end())
      m += n * it->second;
    else if (const auto other = seconds.find(item.key()); other != seconds.end())
      s += n * other->second;
    else if (n != 0)
      return v.dump();
  }
  if (m == 0) return fmt::format("{} s", s);
  return fmt::format("{} month{}", m, m == 1 ? "" : "s") + (s == 0 ? "" : fmt::format(" {} s", s));
}

// An instant as documents have it: seconds since 1970, bare or wrapped, or a text with a zone.
Text InstantText(const Json* j) {
  if (!j) return std::nullopt;
  const Json& v = Unwrap(*j);
  if (v.is_number() && std::abs(v.get<double>()) < 1e11)
    return FormatInstant(static_cast<Instant>(v.get<double>()));
  if (!v.is_string()) return std::nullopt;
  const auto t = ParseInstant(v.get<std::string>(), true);
  return t ? Text(FormatInstant(*t)) : Text();
}

// Which Airflow wrote a document: 1 is the form of Airflow 2, later ones are of Airflow 3. Where none is
// given, or one that does not fit, the words tell: datasets became assets, and a schedule_interval became a
// timetable.
std::string EngineVersion(const Json& document) {
  const Json* version = Find(document, {"__version"});
  if (version && version->is_number() && version->get<double>() < 2) return "2";
  const Json& dag = document["dag"];
  const Json* timetable = Find(dag, {"timetable", "_timetable"});
  const std::string type = timetable ? TypeOf(*timetable) : "";
  const bool old_words = dag.contains("schedule_interval") || dag.contains("dataset_triggers") ||
                         dag.contains("_dag_id") || type.find("Dataset") != std::string::npos;
  return old_words || !version ? "2" : "3";
}

class DagReader {
 public:
  DagReader(std::string space, Diagnostics& diagnostics, Facts& facts)
      : space_(std::move(space)), diagnostics_(diagnostics), facts_(facts), across_(space_) {}

  // Assets of all DAGs first: references by name may come before the asset itself.
  void CollectAssets(const Json& j) {
    std::vector<const Json*> todo = {&j};
    while (!todo.empty()) {
      const Json& at = *todo.back();
      todo.pop_back();
      if (at.is_object()) {
        const std::string type = TypeOf(at);
        const Json& v = Unwrap(at);
        if ((type == "asset" || type == "dataset") && v.is_object()) {
          const Text uri = TextAt(v, {"uri"}), name = TextAt(v, {"name"});
          if (uri) {
            assets_[*uri].insert(name.value_or(*uri));
            if (name) by_name_[*name] = *uri;
          }
        }
        for (const auto& item : at.items()) todo.push_back(&item.value());
      } else if (at.is_array()) {
        for (const Json& item : at) todo.push_back(&item);
      }
    }
  }

  // What only all DAGs together tell.
  void Finish(const std::string& file) {
    across_.Resolve(facts_.jobs);
    for (const auto& [uri, names] : assets_) {
      DatasetFact fact;
      fact.name = uri;
      fact.at = {file, "asset " + uri};
      for (const std::string& name : names)
        if (name != uri) fact.short_names.push_back(name);
      facts_.datasets.push_back(std::move(fact));
    }
  }

  void Dag(const Json& document, const std::string& where, const std::string& file) {
    const Json& dag = document["dag"];
    const std::string id = TextAt(dag, {"dag_id", "_dag_id"}).value_or("");
    const Json* client = Find(document, {"client_defaults"});
    const Json* defaults = client ? Find(*client, {"tasks"}) : nullptr;
    mapped_.clear();
    ScheduleFact schedule = Schedule(dag);
    Aliases(id, dag, file);
    schedule.engine_version = EngineVersion(document);
    schedule.start = InstantText(Find(dag, {"start_date"}));
    if (const Json* most = Find(dag, {"max_active_runs"}); most && most->is_number())
      schedule.max_runs = most->get<std::int64_t>();
    if (const Json* types = Find(dag, {"allowed_run_types"}); types && Unwrap(*types).is_array()) {
      const Json& list = Unwrap(*types);
      schedule.backfill_refused = std::none_of(list.begin(), list.end(), [](const Json& t) {
        return t.is_string() && t.get<std::string>().find("backfill") != std::string::npos;
      });
    }
    const Json* tasks = Find(dag, {"tasks"});
    if (!tasks || !tasks->is_array())
      return diagnostics_.Warning(where, fmt::format("DAG '{}' has no list of tasks: left out", id));
    std::map<std::string, std::vector<std::string>> after;
    for (const Json& wrapped : *tasks) {
      const Json& task = Unwrap(wrapped);
      const Text task_id = TextAt(task, {"task_id"});
      const Json* downstream = Find(task, {"downstream_task_ids", "_downstream_task_ids"});
      if (!task_id || !downstream) continue;
      for (const Json& next : Unwrap(*downstream))
        if (next.is_string()) after[next.get<std::string>()].push_back(JobName(id, *task_id));
    }
    for (const Json& wrapped : *tasks) Task(id, Unwrap(wrapped), defaults, schedule, after, where, file);
  }

 private:
  std::string JobName(const std::string& dag, const std::string& task) const {
    return space_ + "/" + dag + "." + task;
  }

  // A class of one's own may have the name of one of Airflow's and do something else: it keeps its whole
  // path.
  static std::string ClassName(const Json& timetable) {
    static const std::set<std::string> known = {"CronDataIntervalTimetable",
                                                "DeltaDataIntervalTimetable",
                                                "CronTriggerTimetable",
                                                "MultipleCronTriggerTimetable",
                                                "DeltaTriggerTimetable",
                                                "CronPartitionTimetable",
                                                "EventsTimetable"};
    const std::string path = TypeOf(timetable), name = LastDotted(path);
    return known.count(name) && path.find('.') != std::string::npos && !StartsWith(path, "airflow.") ? path
                                                                                                     : name;
  }

  static void Times(const Json& v, ScheduleFact& s) {
    s.cron = TextAt(v, {"expression"});
    if (const Json* several = Find(v, {"expressions"}); several && several->is_array()) {
      std::vector<std::string> list;
      for (const Json& e : *several)
        if (e.is_string()) list.push_back(e.get<std::string>());
      s.cron = Join(list, " | ");
    }
    s.timezone = ZoneName(Find(v, {"timezone"}));
    if (const Json* delta = Find(v, {"delta"})) s.every = DurationText(*delta);
    if (const Json* interval = Find(v, {"interval"})) s.interval = DurationText(*interval);
    if (const Json* dates = Find(v, {"event_dates"}); dates && Unwrap(*dates).is_array())
      for (const Json& date : Unwrap(*dates))
        if (const Text at = InstantText(&date)) s.events.push_back(*at);
  }

  ScheduleFact Schedule(const Json& dag) {
    ScheduleFact s;
    const Json* zone = Find(dag, {"timezone"});
    const Json* timetable = Find(dag, {"timetable", "_timetable"});
    const Json* interval = Find(dag, {"schedule_interval"});
    if (timetable) {
      s.type = ClassName(*timetable);
      const Json& v = Unwrap(*timetable);
      const Json* nested = Find(v, {"timetable"});  // assets or time
      if (nested) s.inner = ClassName(*nested);
      Times(nested ? Unwrap(*nested) : v, s);
      Condition(v, s.on);
      if (const Json* condition = Find(v, {"asset_condition", "dataset_condition"}))
        s.condition = ConditionText(*condition);
      mapped_ = ReadsOfMappers(v);
      // The data interval of these classes ended at the tick; a trigger's says nothing of the day it writes.
      const std::string& times = s.inner ? *s.inner : *s.type;
      if (times == "CronDataIntervalTimetable" || times == "DeltaDataIntervalTimetable")
        s.covers = "interval";
    } else if (interval) {
      if (interval->is_string()) {
        static const std::map<std::string, std::string> presets = {
            {"@hourly", "0 * * * *"},  {"@daily", "0 0 * * *"},       {"@weekly", "0 0 * * 0"},
            {"@monthly", "0 0 1 * *"}, {"@quarterly", "0 0 1 */3 *"}, {"@yearly", "0 0 1 1 *"}};
        const auto text = interval->get<std::string>();
        const auto preset = presets.find(text);
        if (text == "@once")
          s.type = "OnceTimetable";
        else if (text == "@continuous")
          s.type = "ContinuousTimetable";
        else if (text == "Dataset" || text == "Asset")
          s.type = "DatasetTriggeredTimetable";
        else {
          s.type = "CronDataIntervalTimetable";
          s.cron = preset == presets.end() ? text : preset->second;
          s.timezone = ZoneName(zone).value_or("UTC");
          s.covers = "interval";
        }
      } else {
        s.type = "DeltaDataIntervalTimetable";
        s.every = DurationText(*interval);
        s.covers = "interval";
      }
    } else {
      s.type = "NullTimetable";
    }
    if (const Json* triggers = Find(dag, {"dataset_triggers"})) {
      s.type = "DatasetTriggeredTimetable";
      Condition(*triggers, s.on);
    }
    return s;
  }

  // The assets of a condition, wherever they stand in it.
  void Condition(const Json& j, std::vector<std::string>& out) {
    std::vector<const Json*> todo = {&j};
    std::set<std::string> found(out.begin(), out.end());
    while (!todo.empty()) {
      const Json& at = *todo.back();
      todo.pop_back();
      if (at.is_array())
        for (const Json& item : at) todo.push_back(&item);
      if (!at.is_object()) continue;
      const std::string type = TypeOf(at);
      const bool old_trigger = type.empty() && at.contains("uri") && at["uri"].is_string();
      if (type == "asset" || type == "dataset" || type == "asset_ref" || old_trigger) {
        if (const Text uri = UriOf(at)) found.insert(*uri);
        if (old_trigger) assets_[at["uri"].get<std::string>()];
        continue;
      }
      for (const auto& item : at.items())
        if (item.key() != "partition_mapper_config" && item.key() != "default_partition_mapper")
          todo.push_back(&item.value());
    }
    out.assign(found.begin(), found.end());
  }

  // An alias in a schedule: what stands behind it only runs know. Airflow 2 drops it from the condition.
  void Aliases(const std::string& id, const Json& dag, const std::string& file) {
    const Json* dependencies = Find(dag, {"dag_dependencies"});
    if (!dependencies || !dependencies->is_array()) return;
    for (const Json& d : *dependencies) {
      const Text type = TextAt(d, {"dependency_type"}), name = TextAt(d, {"dependency_id"});
      if (!type || !name || (type != "asset-alias" && type != "dataset-alias") ||
          TextAt(d, {"target"}) != id.c_str())
        continue;
      Unresolved(
          *name, "asset-alias",
          fmt::format("DAG {} starts when what stands behind the alias '{}' changes, which only runs know",
                      id, *name),
          {file, id});
    }
  }

  // What a run reads of an asset that its partitioned schedule maps.
  const MappedReads* MappedOf(const std::string& uri) const {
    if (mapped_.empty()) return nullptr;
    auto it = mapped_.find(uri);
    if (const auto names = assets_.find(uri); it == mapped_.end() && names != assets_.end())
      for (const std::string& name : names->second)
        if (it == mapped_.end()) it = mapped_.find(name);
    if (it == mapped_.end()) it = mapped_.find("");
    return it == mapped_.end() ? nullptr : &it->second;
  }

  Text UriOf(const Json& j) const {
    const Json& v = Unwrap(j);
    if (const Text uri = TextAt(v, {"uri"})) return uri;
    if (const Text name = TextAt(v, {"name"})) {
      const auto it = by_name_.find(*name);
      return it != by_name_.end() ? it->second : *name;
    }
    return std::nullopt;
  }

  std::vector<std::string> Assets(const Json* list, const std::string& job, const char* side,
                                  const Place& place) {
    std::vector<std::string> out;
    if (!list) return out;
    const Json& items = Unwrap(*list);
    if (!items.is_array()) return out;
    for (const Json& item : items) {
      const std::string type = TypeOf(item);
      if (type == "asset" || type == "dataset" || type == "asset_ref" || type == "asset_name_ref" ||
          type == "asset_uri_ref") {
        if (const Text uri = UriOf(item)) out.push_back(*uri);
        continue;
      }
      if (type == "asset_alias" || type == "dataset_alias") {
        const std::string name = TextAt(Unwrap(item), {"name"}).value_or("?");
        Unresolved(name, "asset-alias",
                   fmt::format("{} of {} is the alias '{}': which assets stand behind it only its runs know",
                               side, job, name),
                   place);
      } else if (item.is_string()) {
        Unresolved(item.get<std::string>(), "plain-lineage",
                   fmt::format("{} of {} is the text '{}', no asset", side, job, item.get<std::string>()),
                   place);
      } else {
        Unresolved(item.dump(), "plain-lineage",
                   fmt::format("{} of {} is another catalogue's entity: {}", side, job, Unwrap(item).dump()),
                   place);
      }
    }
    return out;
  }

  void Unresolved(const std::string& name, const std::string& what, const std::string& message,
                  const Place& place) {
    facts_.unresolved.push_back({name, what, std::nullopt, message, place});
  }

  static std::string Shown(const Json* j) {
    if (!j) return "";
    const Json& v = Unwrap(*j);
    if (v.is_string()) return v.get<std::string>();
    if (v.is_array() && !v.empty()) return Shown(&v[0]);
    return v.is_null() ? "" : v.dump();
  }

  void Task(const std::string& dag, const Json& task, const Json* defaults, const ScheduleFact& schedule,
            const std::map<std::string, std::vector<std::string>>& after, const std::string& where,
            const std::string& file) {
    const Text task_id = TextAt(task, {"task_id"});
    if (!task_id)
      return diagnostics_.Warning(where, fmt::format("a task of DAG '{}' has no task_id: left out", dag));
    const Json* partial = Find(task, {"partial_kwargs"});
    if (partial) partial = &Unwrap(*partial);
    const TaskView view{&task, partial, defaults};
    JobFact job;
    job.name = JobName(dag, *task_id);
    job.orchestrator = "airflow";
    job.at = {file, dag + "." + *task_id};
    job.schedule = schedule;
    job.pool = view.GetText({"pool"}).value_or("default_pool");
    const Json* slots = view.Get({"pool_slots"});
    job.slots = slots && slots->is_number() ? slots->get<std::int64_t>() : 1;
    job.owner = view.GetText({"owner"}).value_or("airflow");
    const auto truth = [&](const char* key) {
      const Json* j = view.Get({key});
      return j && j->is_boolean() && j->get<bool>();
    };
    job.sequential = truth("depends_on_past") || truth("wait_for_downstream");
    for (const char* key : {"max_active_tis_per_dag", "max_active_tis_per_dagrun"})
      if (const Json* most = view.Get({key}); most && most->is_number() && !job.max_parallel)
        job.max_parallel = most->get<std::int64_t>();
    job.reads = Assets(view.Get({"inlets", "_inlets"}), job.name, "an inlet", job.at);
    job.writes = Assets(view.Get({"outlets", "_outlets"}), job.name, "an outlet", job.at);
    if (const auto it = after.find(*task_id); it != after.end()) {
      job.after = it->second;
      std::sort(job.after.begin(), job.after.end());
      job.after.erase(std::unique(job.after.begin(), job.after.end()), job.after.end());
    }
    job.methods["airflow"] = dag + " " + *task_id;
    if (dag.find(' ') != std::string::npos) job.methods["airflow_dag"] = dag;
    for (const std::string& out : job.writes) {
      for (const std::string& in : job.reads) Edge(in, out, job, std::nullopt, std::nullopt);
      // A DAG that starts when an asset changes reads it, even where its tasks do not say so.
      if (job.reads.empty())
        for (const std::string& trigger : schedule.on)
          Edge(trigger, out, job, "its DAG starts when this changes; the task declares no inlet", "assumed");
    }
    Fields(task, view, job, where);
    TaskCalls calls = DbtCallsOf(task, view);
    if (calls.runs.empty()) AddTaskMoves(task, view, space_, uris(), job, facts_, known_);
    across_.Add(dag, *task_id, task, view, facts_.jobs.size());
    job.dbt_runs = std::move(calls.runs);
    job.opaque = !calls.harmless && job.dbt_runs.empty() && job.reads.empty() && job.writes.empty() &&
                 job.findings.empty();
    facts_.jobs.push_back(std::move(job));
  }

  void Edge(const std::string& from, const std::string& to, const JobFact& job, Text note, Text known) {
    if (from == to) return;
    EdgeFact edge;
    edge.from = from;
    edge.to = to;
    edge.job = job.name;
    edge.known = std::move(known);
    edge.note = std::move(note);
    edge.at = job.at;
    if (const MappedReads* mapped = MappedOf(from)) {
      edge.reads = mapped->reads;
      edge.known.reset();
      edge.note = "its DAG's " + mapped->how;
    }
    facts_.edges.push_back(std::move(edge));
  }

  // URIs of all assets, which are datasets of their own.
  const std::vector<std::string>& uris() {
    if (uris_.empty())
      for (const auto& [uri, names] : assets_) uris_.push_back(uri), known_.insert(uri);
    return uris_;
  }

  // Templated fields: what was cut off, what writes out, what names its target by a template.
  void Fields(const Json& task, const TaskView& view, JobFact& job, const std::string& where) {
    const std::string type = TextAt(task, {"task_type", "_task_type"}).value_or("");
    if (const Json* fields = view.Get({"template_fields"}); fields && Unwrap(*fields).is_array()) {
      for (const Json& field : Unwrap(*fields)) {
        if (!field.is_string()) continue;
        const auto name = field.get<std::string>();
        const Json* value = Find(task, {name.c_str()});
        if (!value || !value->is_string()) continue;
        const std::string text = value->get<std::string>();
        if (StartsWith(text, "Truncated. You can change this behaviour")) {
          const std::string message = fmt::format(
              "{}: '{}' was cut off when Airflow stored it ([core] max_templated_field_length): what it "
              "reads and writes is unknown",
              job.name, name);
          Unresolved(job.name, "truncated", message, job.at);
          diagnostics_.Note(where, message);
        }
      }
    }
    const bool trigger = type.find("TriggerDagRun") != std::string::npos,
               sensor = type.find("ExternalTask") != std::string::npos;
    if (const Text target = view.GetText({trigger ? "trigger_dag_id" : "external_dag_id"});
        target && (trigger || sensor)) {
      if (target->find("{{") != std::string::npos)
        Unresolved(*target, "template",
                   fmt::format("{} {} a DAG that a template names: {}", job.name,
                               trigger ? "starts" : "waits for", *target),
                   job.at);
      else if (trigger)
        job.findings.push_back({"side-effects", "starts DAG " + *target, {}, job.at});
    }
    const TaskExports exports = ExportsOf(type, view);
    for (const TaskExport& way : exports.ways) AddExtracts(way.tables, way.destination, way.how, job);
    if (exports.notifies) job.findings.push_back({"side-effects", "its SQL notifies", {}, job.at});
  }

  void AddExtracts(const std::vector<SqlTable>& tables, const std::string& destination,
                   const std::string& how, JobFact& job) {
    const std::string what = fmt::format("task {} writes out ({})", job.name, how);
    std::vector<std::string> names;
    for (const SqlTable& table : tables)
      names.push_back(table.jinja ? "{{ " + table.name + " }}" : table.name);
    if (names.empty()) names = job.reads;
    if (names.empty()) {
      Unresolved(destination, "extract",
                 fmt::format("{} to {}, and what it takes is not to be seen", what, destination), job.at);
      names.push_back("(unknown)");
    }
    for (const std::string& name : names) {
      ExtractFact extract;
      extract.dataset = name;
      extract.destination = destination;
      extract.job = job.name;
      extract.what = what;
      extract.at = job.at;
      facts_.extracts.push_back(std::move(extract));
    }
    job.findings.push_back({"side-effects", "writes out to " + destination, {}, job.at});
  }

  std::string space_;
  Diagnostics& diagnostics_;
  Facts& facts_;
  std::map<std::string, std::set<std::string>> assets_;  // uri -> names
  std::map<std::string, std::string> by_name_;
  AcrossDags across_;
  std::map<std::string, MappedReads> mapped_;  // of the DAG at hand
  std::vector<std::string> uris_;
  std::set<std::string> known_;  // names that have a dataset
};

std::vector<SourceFacts> Run(const ImportRequest& request, Diagnostics& diagnostics) {
  const auto given = request.options.find("name");
  const std::string name = given == request.options.end() ? "airflow" : given->second.back();
  AirflowFiles files = ReadAirflowFiles(request.inputs, diagnostics);
  const std::vector<AirflowRow>& rows = files.rows;
  // Several versions of one DAG: the newest counts.
  std::map<std::string, std::size_t> newest;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string id = TextAt(rows[i].document["dag"], {"dag_id", "_dag_id"}).value_or("");
    const auto [it, fresh] = newest.emplace(id, i);
    if (!fresh && rows[i].created >= rows[it->second].created) it->second = i;
  }
  SourceFacts source;
  source.source = {"airflow", name, name, Sha256Hex(Join(files.digests, "\n")), ""};
  if (files.digests.size() == 1) source.source.sha256 = files.digests[0];
  DagReader reader(name, diagnostics, source.facts);
  for (const auto& [id, i] : newest) reader.CollectAssets(rows[i].document);
  for (const auto& [id, i] : newest)
    reader.Dag(rows[i].document, rows[i].at.empty() ? rows[i].file : rows[i].file + ", " + rows[i].at,
               rows[i].file);
  reader.Finish(files.names.empty() ? "" : files.names[0]);
  source.facts.pools = std::move(files.pools);
  if (diagnostics.has_errors()) return {};
  return {source};
}

}  // namespace

Importer AirflowImporter() {
  return {"airflow",
          "FILE...",
          "Airflow's serialized DAGs: JSON, JSON lines (rows of the table serialized_dag), or a dump of the "
          "database",
          "  backreach ingest airflow serialized_dag.jsonl\n"
          "  backreach ingest airflow airflow_dump.sql\n"
          "  backreach ingest airflow dags/*.json --name prod",
          true,
          {{"name", "the installation's name, which its jobs begin with (default: airflow)", false}},
          Run};
}

}  // namespace backreach
