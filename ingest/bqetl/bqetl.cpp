// bigquery-etl: each table has a folder PROJECT/DATASET/TABLE with a metadata.yaml, which says how it is cut
// and when its query runs; dags.yaml has the schedules. The parameter that a run passes is its own date, and
// the partition that it writes lies `date_partition_offset` days from that.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "graph/base/digest.hpp"
#include "graph/base/words.hpp"
#include "graph/time/calendar.hpp"
#include "ingest/importer.hpp"
#include "ingest/read/file.hpp"
#include "ingest/read/yaml_tree.hpp"
#include "ingest/sql/moves.hpp"

namespace backreach {

namespace {

std::string Full(const std::string& table) { return "bigquery/" + table; }

// `3h`, `30m`: a length as schedules have it.
Text Every(const std::string& text) {
  const auto d = ParseDuration(text);
  if (!d || d->unit == Duration::Unit::kMonth || d->unit == Duration::Unit::kYear) return std::nullopt;
  return fmt::format("{} s", MaxSeconds(*d));
}

bool IsTemplate(const std::string& text) { return text.find("{{") != std::string::npos; }

class Reader {
 public:
  Reader(std::string space, Diagnostics& diagnostics, Facts& facts)
      : space_(std::move(space)), diagnostics_(diagnostics), facts_(facts) {}

  void Dags(const YAML::Node& root) {
    if (!root.IsMap()) return;
    for (const auto& item : root) {
      if (!item.first.IsScalar() || !item.second.IsMap()) continue;
      ScheduleFact s;
      const YAML::Node& dag = item.second;
      const YAML::Node defaults = YamlAt(dag, "default_args");
      const Text interval = YamlText(dag, "schedule_interval");
      static const std::map<std::string, const char*> presets = {
          {"@hourly", "0 * * * *"},  {"@daily", "0 0 * * *"},  {"@weekly", "0 0 * * 0"},
          {"@monthly", "0 0 1 * *"}, {"@yearly", "0 0 1 1 *"}, {"once", "@once"}};
      if (interval) {
        const auto preset = presets.find(*interval);
        if (const Text every = Every(*interval))
          s.every = every;
        else
          s.cron = preset == presets.end() ? *interval : preset->second;
      }
      s.timezone = "UTC";
      s.covers = "interval";  // the parameter is the logical date, the start of a run's interval
      if (const Text start = YamlText(defaults, "start_date"))
        if (const auto t = ParseInstant(*start + (start->size() == 10 ? "T00:00:00" : ""), true))
          s.start = FormatInstant(*t);
      s.max_runs = YamlNumber(dag, "max_active_runs");
      Dag& known = dags_[item.first.Scalar()];
      known.schedule = std::move(s);
      known.owner = YamlText(defaults, "owner");
      known.depends_on_past = YamlTrue(defaults, "depends_on_past");
    }
  }

  // A metadata.yaml; the last three folders of its path are the table's name.
  void Table(const std::string& path, const YAML::Node& root) {
    namespace fs = std::filesystem;
    const fs::path folder = fs::path(AbsolutePath(path)).parent_path();
    const std::string table = folder.filename().string(), dataset = folder.parent_path().filename().string(),
                      project = folder.parent_path().parent_path().filename().string();
    if (table.empty() || dataset.empty() || project.empty())
      return diagnostics_.Warning(path, "this lies in no folder PROJECT/DATASET/TABLE: left out");
    const std::string id = project + "." + dataset + "." + table;
    DatasetFact fact;
    fact.name = Full(id);
    fact.short_names.push_back(id);
    fact.platform = "bigquery";
    fact.relation = {project, dataset, table};
    fact.at = {id + "/metadata.yaml", "1"};
    fact.owner = Join(YamlTexts(root, "owners"), ", ");
    if (fact.owner->empty()) fact.owner.reset();
    std::error_code ignored;
    const bool view = fs::exists(folder / "view.sql", ignored);
    if (view) fact.kind = "view";
    Cut(YamlAt(root, "bigquery"), fact);
    const YAML::Node scheduling = YamlAt(root, "scheduling");
    const Text dag = YamlText(scheduling, "dag_name");
    if (dag) {
      fact.kind = "table";
      fact.writes_relation = true;
      Scheduled(*dag, scheduling, folder.string(), {project, dataset, table}, fact);
    } else {
      Reads(scheduling, folder.string(), view ? "view.sql" : "query.sql", {project, dataset, table},
            fact.name, "", fact.at);
    }
    facts_.datasets.push_back(std::move(fact));
  }

  void Finish() {
    for (auto& [name, job] : jobs_) {
      for (auto* list : {&job.reads, &job.writes, &job.after}) {
        std::sort(list->begin(), list->end());
        list->erase(std::unique(list->begin(), list->end()), list->end());
      }
      facts_.jobs.push_back(std::move(job));
    }
  }

 private:
  struct Dag {
    ScheduleFact schedule;
    Text owner;
    bool depends_on_past = false;
  };

  std::string JobName(const std::string& dag, const std::string& task) const {
    return space_ + "/" + dag + "." + task;
  }

  static void Cut(const YAML::Node& bigquery, DatasetFact& fact) {
    const YAML::Node cut = YamlAt(bigquery, "time_partitioning");
    if (!cut.IsDefined() || !cut.IsMap()) return;
    const std::string type = Lower(YamlText(cut, "type").value_or("day"));
    PartitionFact& block = fact.partitions.emplace_back();
    block.timezone = "UTC";  // BigQuery cuts by UTC
    if (type == "hour" || type == "day" || type == "month" || type == "year") block.grain = type;
    block.column = YamlText(cut, "field");
    if (const auto days = YamlNumber(cut, "expiration_days"); days && *days > 0)
      fact.retention = fmt::format("{}d", *days);
  }

  // `project.dataset__table__v1` of tasks: what the generator of DAGs calls them.
  static std::string TaskOf(const std::vector<std::string>& table) {
    std::string name = table[2], version = "v1";
    if (const auto at = name.rfind("_v"); at != std::string::npos && at + 2 < name.size() &&
                                          name.find_first_not_of("0123456789", at + 2) == std::string::npos) {
      version = name.substr(at + 1);
      name.resize(at);
    }
    return table[1] + "__" + name + "__" + version;
  }

  void Scheduled(const std::string& dag, const YAML::Node& s, const std::string& folder,
                 const std::vector<std::string>& table, DatasetFact& fact) {
    const std::string task = YamlText(s, "task_name").value_or(TaskOf(table));
    JobFact& job = jobs_[JobName(dag, task)];
    job.name = JobName(dag, task);
    job.orchestrator = "airflow";
    job.at = YamlPlace(fact.at.file, s);
    job.owner = fact.owner;
    bool past = YamlTrue(s, "depends_on_past");
    if (const auto known = dags_.find(dag); known != dags_.end()) {
      job.schedule = known->second.schedule;
      if (!job.owner) job.owner = known->second.owner;
      past = past || (known->second.depends_on_past && !YamlAt(s, "depends_on_past").IsDefined());
    }
    Written(s, job, fact);
    for (const YAML::Node& on : YamlItems(s, "depends_on"))
      if (const Text other = YamlText(on, "task_id"))
        job.after.push_back(JobName(YamlText(on, "dag_name").value_or(dag), *other));
    for (const YAML::Node& next : YamlItems(s, "external_downstream_tasks"))
      if (const Text other = YamlText(next, "task_id")) {
        const std::string name = JobName(YamlText(next, "dag_name").value_or(dag), *other);
        JobFact& waiting = jobs_[name];
        if (waiting.name.empty()) waiting.name = name, waiting.orchestrator = "airflow", waiting.at = job.at;
        waiting.after.push_back(JobName(dag, task));
      }
    for (const char* key : {"depends_on_table_partitions_existing", "depends_on_tables_existing"})
      for (const YAML::Node& on : YamlItems(s, key))
        if (const Text other = YamlText(on, "table_id")) {
          // A shard's name ends in the run's date.
          if (IsTemplate(*other))
            facts_.unresolved.push_back(
                {*other, "template", fact.name,
                 fmt::format("{} waits for a table that a template names: {}", job.name, *other), job.at});
          else
            Edge(*other, fact.name, job.name, job.at);
        }
    if (past) Itself(fact, job);
    Reads(s, folder, "query.sql", table, fact.name, job.name, job.at);
  }

  // What a run writes: its partition, all of the table, or nobody knows.
  void Written(const YAML::Node& s, JobFact& job, DatasetFact& fact) {
    const YAML::Node parameter = YamlAt(s, "date_partition_parameter"),
                     destination = YamlAt(s, "destination_table");
    const bool null_parameter = parameter.IsDefined() && parameter.IsNull(),
               elsewhere = destination.IsDefined() && destination.IsNull();
    const Text named = YamlText(s, "destination_table");
    if (elsewhere || (named && IsTemplate(*named))) {
      fact.write.why = elsewhere ? "destination_table is null: the query writes by itself"
                                 : "destination_table is a template: " + *named;
      if (named)
        facts_.unresolved.push_back(
            {*named, "template", fact.name,
             fmt::format("which partition {} writes is a template: {}", job.name, *named), job.at});
    } else if (null_parameter) {
      fact.write.mode = "whole";
      fact.write.why = "date_partition_parameter is null: every run replaces the table";
      if (fact.partitions.empty()) fact.partitions.emplace_back().grain = "none";
    } else if (!fact.partitions.empty()) {
      fact.write.mode = "replace";
      fact.write.why = "a run replaces the partition of its date";
      if (const auto days = YamlNumber(s, "date_partition_offset"); days && *days != 0) {
        // The run of a date writes the partition that many days from it.
        if (*days < 0)
          fact.run_date_offset = fmt::format("{}d", -*days);
        else
          fact.note = fmt::format("its runs write the partition {} days ahead of their date", *days);
      }
    }
    job.writes.push_back(fact.name);
  }

  // Its backfills have to go on up to the day on which they are entered, since each day is made from the one
  // before.
  void Itself(const DatasetFact& fact, JobFact& job) {
    job.sequential = true;
    if (fact.partitions.empty() || !fact.partitions[0].grain || fact.partitions[0].grain == "none") return;
    EdgeFact edge;
    edge.from = edge.to = fact.name;
    edge.job = job.name;
    edge.known = "inferred";
    edge.reads = "{\"window\":[-1,-1]}";
    edge.note = "depends_on_past: each partition is made from the one before";
    edge.at = job.at;
    facts_.edges.push_back(std::move(edge));
  }

  void Reads(const YAML::Node& s, const std::string& folder, const char* query,
             const std::vector<std::string>& own, const std::string& dataset, const std::string& job,
             const Place& at) {
    for (const YAML::Node& item : YamlItems(s, "referenced_tables")) {
      if (!item.IsSequence()) continue;
      std::vector<std::string> parts;
      for (const YAML::Node& part : item)
        if (part.IsScalar()) parts.push_back(part.Scalar());
      if (!parts.empty()) Edge(Join(parts, "."), dataset, job, at);
    }
    std::error_code ignored;
    const std::string path = folder + "/" + query;
    if (!std::filesystem::exists(path, ignored)) return;
    const auto sql = ReadSmallFile(path, std::size_t{16} << 20, diagnostics_);
    if (!sql) return;
    const SqlMoves moves = MovesOf(*sql);
    for (const SqlTable& table : moves.reads) {
      std::vector<std::string> parts = Split(table.name, '.');
      if (table.jinja) {
        facts_.unresolved.push_back(
            {table.name,
             "template",
             dataset,
             fmt::format("{} reads a table that a template names: {}", dataset, table.name),
             {at.file, query}});
        continue;
      }
      if (parts.size() == 1) continue;  // a table that the query made, or a function
      if (parts.size() == 2) parts.insert(parts.begin(), own[0]);
      if (parts.size() == 3) Edge(Join(parts, "."), dataset, job, {at.file, query});
    }
  }

  void Edge(const std::string& from, const std::string& to, const std::string& job, const Place& at) {
    const std::string name = Full(from);
    if (name == to || !edges_.insert(name + "\n" + to).second) return;
    EdgeFact edge;
    edge.from = name;
    edge.to = to;
    edge.known = "assumed";
    edge.at = at;
    if (!job.empty()) {
      edge.job = job;
      jobs_[job].reads.push_back(name);
    }
    facts_.edges.push_back(std::move(edge));
  }

  std::string space_;
  Diagnostics& diagnostics_;
  Facts& facts_;
  std::map<std::string, Dag> dags_;
  std::map<std::string, JobFact> jobs_;
  std::set<std::string> edges_;
};

std::vector<SourceFacts> Run(const ImportRequest& request, Diagnostics& diagnostics) {
  const auto given = request.options.find("name");
  const std::string name = given == request.options.end() ? "bqetl" : given->second.back();
  const auto wanted = [](const std::string& file) { return file == "metadata.yaml" || file == "dags.yaml"; };
  const std::vector<std::string> paths = FilesOf(request.inputs, wanted, diagnostics);
  if (paths.empty() && !diagnostics.has_errors())
    diagnostics.Error(request.inputs[0], "no metadata.yaml and no dags.yaml below this folder",
                      {"give the folder of the repository, or its folder sql/"});
  SourceFacts source;
  Reader reader(name, diagnostics, source.facts);
  std::string digests;
  std::vector<YamlFile> tables;
  for (const std::string& path : paths) {
    auto file = ReadYamlFile(path, diagnostics);
    if (!file) continue;
    digests += file->sha256 + "\n";
    if (BaseName(path) == "dags.yaml")
      for (const YAML::Node& document : file->documents) reader.Dags(document);
    else
      tables.push_back(std::move(*file));
  }
  for (const YamlFile& file : tables)
    for (const YAML::Node& document : file.documents)
      if (document.IsMap()) reader.Table(file.path, document);
  reader.Finish();
  if (diagnostics.has_errors()) return {};
  source.source = {"bqetl", name, name, Sha256Hex(digests), ""};
  return {source};
}

}  // namespace

Importer BqetlImporter() {
  return {"bqetl",
          "FILE|FOLDER...",
          "bigquery-etl's metadata.yaml of each table, and its dags.yaml",
          "  backreach ingest bqetl bigquery-etl/\n"
          "  backreach ingest bqetl dags.yaml sql/my-project/",
          true,
          {{"name", "what its jobs' names begin with (default: bqetl)", false}},
          Run};
}

}  // namespace backreach
