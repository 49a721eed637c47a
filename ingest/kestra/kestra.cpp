// Kestra's flows as DAGs of jobs: tasks follow one another, but in Parallel, Dag and the branches of If and
// Switch. What data a task moves is told by its SQL, by the tables and places that its own arguments name,
// and by calls of dbt in its commands.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "graph/base/digest.hpp"
#include "graph/base/words.hpp"
#include "ingest/commands/dbt_command.hpp"
#include "ingest/importer.hpp"
#include "ingest/read/yaml_tree.hpp"
#include "ingest/sql/moves.hpp"

namespace backreach {

namespace {

constexpr int kDeepest = 64;

bool IsTemplate(const std::string& text) { return text.find("{{") != std::string::npos; }

// Tasks that take rows out, and which of their arguments say where to.
struct WayOut {
  const char* type;  // a part of the task's type
  const char* scheme;
  std::vector<const char*> place;
};
const std::vector<WayOut>& WaysOut() {
  static const std::vector<WayOut> ways = {
      {"aws.s3.Upload", "s3://", {"bucket", "key"}},
      {"gcp.gcs.Upload", "", {"to"}},
      {"fs.sftp.Upload", "sftp:", {"host", "to"}},
      {"fs.ftp.Upload", "ftp:", {"host", "to"}},
      {"fs.ftps.Upload", "ftps:", {"host", "to"}},
      {"fs.smb.Upload", "smb:", {"host", "to"}},
      {"googleworkspace.sheets.Load", "sheets:", {"spreadsheetId", "range"}},
      {"googleworkspace.drive.Upload", "drive:", {"name"}},
      {"azure.storage.blob.Upload", "wasb://", {"container", "name"}},
      {"gcp.bigquery.ExtractToGcs", "", {"destinationUris"}},
      {"jdbc.snowflake.Download", "snowflake stage ", {"stageName"}},
      {"notifications.mail.MailSend", "mailto:", {"to"}},
      {"email.MailSend", "mailto:", {"to"}}};
  return ways;
}

class Reader {
 public:
  Reader(std::string space, Facts& facts)
      : space_(std::move(space)), facts_(facts), into_{facts, known_, [](const std::string& name) {
                                                         return name;
                                                       }} {}

  bool Flow(const std::string& path, const YAML::Node& flow) {
    const Text id = YamlText(flow, "id"), name_space = YamlText(flow, "namespace");
    if (!id || !name_space || !(YamlAt(flow, "tasks").IsDefined() || YamlAt(flow, "triggers").IsDefined()))
      return false;
    path_ = path;
    flow_ = *name_space + "." + *id;
    schedule_ = Schedule(flow);
    owner_ = YamlText(YamlAt(flow, "labels"), "owner");
    if (!owner_) owner_ = YamlText(YamlAt(flow, "labels"), "team");
    Ends& mine = flows_[flow_];
    const std::size_t first = facts_.jobs.size();
    mine.ends = Sequence(YamlItems(flow, "tasks"), {}, 0);
    for (std::size_t i = first; i < facts_.jobs.size(); ++i)
      if (facts_.jobs[i].after.empty()) mine.roots.push_back(i);
    for (const YAML::Node& trigger : YamlItems(flow, "triggers")) Listens(trigger);
    return true;
  }

  // Flows that start when others end, and those that tasks start.
  void Finish() {
    for (const auto& [flow, other] : listens_) {
      const auto from = flows_.find(other);
      for (const std::size_t root : flows_[flow].roots) {
        std::vector<std::string>& after = facts_.jobs[root].after;
        if (from == flows_.end())
          after.push_back(space_ + "/" + other);
        else
          after.insert(after.end(), from->second.ends.begin(), from->second.ends.end());
      }
    }
    for (const auto& [job, other] : starts_) {
      const auto to = flows_.find(other);
      std::vector<std::string>& starts = facts_.jobs[job].starts;
      if (to == flows_.end())
        starts.push_back(space_ + "/" + other);
      else
        for (const std::size_t root : to->second.roots) starts.push_back(facts_.jobs[root].name);
    }
    for (JobFact& job : facts_.jobs) {
      std::sort(job.after.begin(), job.after.end());
      job.after.erase(std::unique(job.after.begin(), job.after.end()), job.after.end());
    }
  }

 private:
  struct Ends {
    std::vector<std::size_t> roots;  // jobs that wait for none of their own flow
    std::vector<std::string> ends;
  };

  static std::optional<ScheduleFact> Schedule(const YAML::Node& flow) {
    ScheduleFact s;
    std::vector<std::string> crons;
    for (const YAML::Node& trigger : YamlItems(flow, "triggers")) {
      const std::string type = YamlText(trigger, "type").value_or("");
      if (!EndsWith(type, ".Schedule") || YamlTrue(trigger, "disabled")) continue;
      if (const Text cron = YamlText(trigger, "cron")) crons.push_back(*cron);
      if (!s.timezone) s.timezone = YamlText(trigger, "timezone");
    }
    const auto most = YamlNumber(YamlAt(flow, "concurrency"), "limit");
    if (crons.empty() && !most) return std::nullopt;
    if (!crons.empty()) {
      s.type = "Schedule";
      s.cron = Join(crons, " | ");
      if (!s.timezone) s.timezone = "UTC";
    }
    s.max_runs = most;
    return s;
  }

  void Listens(const YAML::Node& trigger) {
    if (!EndsWith(YamlText(trigger, "type").value_or(""), ".Flow") || YamlTrue(trigger, "disabled")) return;
    const auto add = [&](const YAML::Node& on) {
      const Text space = YamlText(on, "namespace"), id = YamlText(on, "flowId");
      if (space && id) listens_.emplace_back(flow_, *space + "." + *id);
    };
    const auto conditions = [&](const YAML::Node& at) {
      for (const YAML::Node& condition : YamlItems(at, "conditions")) {
        add(condition);
        // Conditions by a name of their own, inside a MultipleCondition.
        const YAML::Node several = YamlAt(condition, "conditions");
        if (several.IsDefined() && several.IsMap())
          for (const auto& item : several) add(item.second);
      }
    };
    conditions(trigger);
    for (const YAML::Node& flow : YamlItems(YamlAt(trigger, "preconditions"), "flows")) add(flow);
  }

  // One after the other; returns the jobs at its end.
  std::vector<std::string> Sequence(const std::vector<YAML::Node>& tasks, std::vector<std::string> before,
                                    int depth) {
    for (const YAML::Node& task : tasks) before = Task(task, before, depth);
    return before;
  }

  std::vector<std::string> Task(const YAML::Node& task, const std::vector<std::string>& before, int depth) {
    const Text id = YamlText(task, "id");
    if (!task.IsMap() || !id || YamlTrue(task, "disabled") || depth > kDeepest) return before;
    const std::string type = YamlText(task, "type").value_or("");
    std::vector<std::string> ends;
    const auto add = [&](std::vector<std::string> more) {
      ends.insert(ends.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
    };
    if (EndsWith(type, ".Parallel") || EndsWith(type, ".EachParallel")) {
      for (const YAML::Node& inner : YamlItems(task, "tasks")) add(Task(inner, before, depth + 1));
    } else if (EndsWith(type, ".Dag")) {
      add(Dag(task, before, depth));
    } else if (EndsWith(type, ".If")) {
      add(Sequence(YamlItems(task, "then"), before, depth + 1));
      add(Sequence(YamlItems(task, "else"), before, depth + 1));
    } else if (EndsWith(type, ".Switch")) {
      const YAML::Node cases = YamlAt(task, "cases");
      if (cases.IsDefined() && cases.IsMap())
        for (const auto& item : cases)
          if (item.first.IsScalar()) add(Sequence(YamlItems(cases, item.first.Scalar()), before, depth + 1));
      add(Sequence(YamlItems(task, "defaults"), before, depth + 1));
    } else if (YamlAt(task, "tasks").IsDefined()) {
      add(Sequence(YamlItems(task, "tasks"), before, depth + 1));
    } else {
      return {Job(*id, type, task, before)};
    }
    std::sort(ends.begin(), ends.end());
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
    return ends.empty() ? before : ends;
  }

  // Tasks of a Dag may stand in any order: each waits for the ends of what it names.
  std::vector<std::string> Dag(const YAML::Node& dag, const std::vector<std::string>& before, int depth) {
    std::map<std::string, YAML::Node> waiting;
    for (const YAML::Node& item : YamlItems(dag, "tasks"))
      if (const Text id = YamlText(YamlAt(item, "task"), "id")) waiting.emplace(*id, item);
    std::map<std::string, std::vector<std::string>> ends;
    std::set<std::string> named;
    bool moved = true;
    while (moved && !waiting.empty()) {
      moved = false;
      for (auto it = waiting.begin(); it != waiting.end();) {
        const std::vector<std::string> on = YamlTexts(it->second, "dependsOn");
        const bool ready =
            std::none_of(on.begin(), on.end(), [&](const std::string& o) { return waiting.count(o); });
        if (!ready) {
          ++it;
          continue;
        }
        std::vector<std::string> after;
        for (const std::string& o : on) {
          named.insert(o);
          after.insert(after.end(), ends[o].begin(), ends[o].end());
        }
        ends[it->first] = Task(YamlAt(it->second, "task"), after.empty() ? before : after, depth + 1);
        it = waiting.erase(it);
        moved = true;
      }
    }
    std::vector<std::string> out;
    for (const auto& [id, mine] : ends)
      if (!named.count(id)) out.insert(out.end(), mine.begin(), mine.end());
    return out;
  }

  std::string Job(const std::string& id, const std::string& type, const YAML::Node& task,
                  const std::vector<std::string>& before) {
    JobFact job;
    job.name = space_ + "/" + flow_ + "." + id;
    job.orchestrator = "kestra";
    job.at = YamlPlace(path_, task);
    job.owner = owner_;
    job.schedule = schedule_;
    job.after = before;
    const bool core = type.find(".core.") != std::string::npos;
    for (const char* key : {"sql", "query"})
      for (const std::string& sql : YamlTexts(task, key)) {
        AddMoves(MovesOf(sql), job, into_);
        for (const SqlExport& found : FindExports(sql))
          Leaves(found.tables, found.destination, found.how, job);
      }
    Tables(task, job);
    for (const WayOut& way : WaysOut())
      if (type.find(way.type) != std::string::npos) Uploads(way, task, job);
    bool harmless = core;
    Commands(task, job, harmless);
    if (EndsWith(type, ".Subflow") || EndsWith(type, ".ForEachItem") || EndsWith(type, ".flow.Flow")) {
      const Text space = YamlText(task, "namespace"), other = YamlText(task, "flowId");
      if (space && other && !IsTemplate(*space + *other))
        starts_.emplace_back(facts_.jobs.size(), *space + "." + *other);
    }
    job.opaque =
        !harmless && job.reads.empty() && job.writes.empty() && job.dbt_runs.empty() && job.findings.empty();
    std::string name = job.name;
    facts_.jobs.push_back(std::move(job));
    return name;
  }

  // Tables and files that a task's arguments name.
  void Tables(const YAML::Node& task, JobFact& job) {
    const auto take = [&](const char* key, std::vector<std::string>& list) {
      for (const std::string& name : YamlTexts(task, key)) {
        if (IsTemplate(name)) {
          facts_.unresolved.push_back({name, "template", std::nullopt,
                                       fmt::format("{}: its {} is a template: {}", job.name, key, name),
                                       job.at});
          continue;
        }
        AddNamed(name, job.at, into_);
        if (std::find(list.begin(), list.end(), name) == list.end()) list.push_back(name);
      }
    };
    const std::string type = YamlText(task, "type").value_or("");
    if (type.find(".bigquery.") == std::string::npos && type.find(".jdbc.") == std::string::npos) return;
    std::vector<std::string> from, to;
    for (const char* key : {"sourceTable", "sourceTables"}) take(key, from);
    if (EndsWith(type, "LoadFromGcs")) take("from", from);
    for (const char* key : {"destinationTable", "table"}) take(key, to);
    const std::vector<std::string>& sources = from.empty() ? job.reads : from;
    for (const std::string& t : to)
      for (const std::string& f : sources) Edge(f, t, job);
    job.reads.insert(job.reads.end(), from.begin(), from.end());
    job.writes.insert(job.writes.end(), to.begin(), to.end());
  }

  void Uploads(const WayOut& way, const YAML::Node& task, JobFact& job) {
    std::vector<std::string> parts;
    for (const char* key : way.place) {
      const auto texts = YamlTexts(task, key);
      if (!texts.empty()) parts.push_back(texts[0]);
    }
    const std::string destination = parts.empty() ? "(not in the flow)" : way.scheme + Join(parts, "/");
    std::vector<SqlTable> tables;
    for (const std::string& name : YamlTexts(task, "sourceTable")) tables.push_back({name, IsTemplate(name)});
    Leaves(tables, destination, YamlText(task, "type").value_or(""), job);
  }

  void Leaves(const std::vector<SqlTable>& tables, const std::string& destination, const std::string& how,
              JobFact& job) {
    const std::string what = fmt::format("task {} writes out ({})", job.name, how);
    if (tables.empty())
      facts_.unresolved.push_back(
          {destination, "extract", std::nullopt,
           fmt::format("{} to {}, and what it takes is not to be seen", what, destination), job.at});
    for (const SqlTable& table : tables.empty() ? std::vector<SqlTable>{{"(unknown)", false}} : tables) {
      ExtractFact extract;
      extract.dataset = table.name;
      extract.destination = destination;
      extract.job = job.name;
      extract.what = what;
      extract.at = job.at;
      facts_.extracts.push_back(std::move(extract));
    }
    job.findings.push_back({"side-effects", "writes out to " + destination, {}, job.at});
  }

  static void Commands(const YAML::Node& task, JobFact& job, bool& harmless) {
    std::vector<std::string> lines = YamlTexts(task, "commands");
    if (const Text script = YamlText(task, "script")) {
      const std::string type = YamlText(task, "type").value_or("");
      if (type.find(".shell.") != std::string::npos) lines.push_back(*script);
    }
    std::vector<ScriptCommand> commands;
    for (const std::string& line : lines) {
      auto more = ReadShell(MarkTemplates(line), {});
      commands.insert(commands.end(), std::make_move_iterator(more.begin()),
                      std::make_move_iterator(more.end()));
    }
    DbtCalls calls = ReadDbtCalls(commands);
    job.dbt_runs = std::move(calls.runs);
    harmless = harmless || calls.understood;
  }

  void Edge(const std::string& from, const std::string& to, const JobFact& job) {
    if (from == to) return;
    EdgeFact edge;
    edge.from = from;
    edge.to = to;
    edge.job = job.name;
    edge.known = "assumed";
    edge.at = job.at;
    facts_.edges.push_back(std::move(edge));
  }

  std::string space_;
  Facts& facts_;
  std::set<std::string> known_;
  MovesInto into_;
  std::map<std::string, Ends> flows_;
  std::vector<std::pair<std::string, std::string>> listens_;  // a flow, and one that it starts after
  std::vector<std::pair<std::size_t, std::string>> starts_;   // a job's place, and a flow that it starts
  std::string path_, flow_;
  std::optional<ScheduleFact> schedule_;
  Text owner_;
};

std::vector<SourceFacts> Run(const ImportRequest& request, Diagnostics& diagnostics) {
  const auto given = request.options.find("name");
  const std::string name = given == request.options.end() ? "kestra" : given->second.back();
  const auto wanted = [](const std::string& file) {
    return EndsWith(file, ".yaml") || EndsWith(file, ".yml");
  };
  SourceFacts source;
  Reader reader(name, source.facts);
  std::string digests;
  std::size_t found = 0;
  for (const std::string& path : FilesOf(request.inputs, wanted, diagnostics)) {
    const auto file = ReadYamlFile(path, diagnostics);
    if (!file) continue;
    digests += file->sha256 + "\n";
    for (const YAML::Node& document : file->documents)
      if (reader.Flow(path, document)) ++found;
  }
  reader.Finish();
  if (found == 0 && !diagnostics.has_errors())
    diagnostics.Error(request.inputs[0], "no flow of Kestra's",
                      {"expected files with id, namespace and tasks, as `kestra flow export` writes them"});
  if (diagnostics.has_errors()) return {};
  source.source = {"kestra", name, name, Sha256Hex(digests), ""};
  return {source};
}

}  // namespace

Importer KestraImporter() {
  return {"kestra",
          "FILE|FOLDER...",
          "Kestra's flows: jobs, their order, and what data they declare",
          "  backreach ingest kestra flows/\n"
          "  backreach ingest kestra nightly.yaml --name prod",
          true,
          {{"name", "the installation's name, which its jobs begin with (default: kestra)", false}},
          Run};
}

}  // namespace backreach
