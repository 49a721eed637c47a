// Argo's Workflows, CronWorkflows and templates of them, as DAGs of jobs. A manifest declares no tables: what
// a job reads and writes is told by artifacts in buckets, by SQL in its arguments and scripts, by calls of
// dbt, and by annotations (`backreach/reads`, `backreach/writes`: names, a comma between them).

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

bool IsTemplate(const std::string& text) { return text.find("{{") != std::string::npos; }

// The task names in an expression, `a.Succeeded && (b.Failed || c)`.
std::vector<std::string> NamesIn(const std::string& expression) {
  std::vector<std::string> out;
  std::string word;
  for (const char c : expression + " ") {
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
        c == '.') {
      word += c;
      continue;
    }
    if (!word.empty()) out.push_back(word.substr(0, word.find('.')));
    word.clear();
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

// Does a text look like SQL? Its first word, comments left out, is one of a statement's.
bool LooksLikeSql(const std::string& text) {
  const SqlTokens tokens = TokenizeSql(text);
  if (tokens.size() < 3) return false;
  for (const char* verb : {"SELECT", "INSERT", "MERGE", "UPDATE", "DELETE", "CREATE", "WITH", "COPY",
                           "UNLOAD", "TRUNCATE", "EXPORT"})
    if (tokens[0].Is(verb)) return true;
  return false;
}

class Reader {
 public:
  Reader(std::string space, Facts& facts)
      : space_(std::move(space)), facts_(facts), into_{facts, known_, [](const std::string& name) {
                                                         return name;
                                                       }} {}

  // Templates of all files first: a workflow may refer to one in another file.
  void Collect(const YAML::Node& document) {
    const std::string kind = YamlText(document, "kind").value_or("");
    if (kind != "WorkflowTemplate" && kind != "ClusterWorkflowTemplate") return;
    const std::string name = NameOf(document);
    for (const YAML::Node& t : YamlItems(YamlAt(document, "spec"), "templates"))
      if (const Text inner = YamlText(t, "name")) shared_.emplace(name + "/" + *inner, t);
  }

  bool Workflow(const std::string& path, const YAML::Node& document) {
    const std::string kind = YamlText(document, "kind").value_or("");
    static const std::set<std::string> kinds = {"Workflow", "CronWorkflow", "WorkflowTemplate",
                                                "ClusterWorkflowTemplate"};
    if (!kinds.count(kind)) return false;
    workflow_ = NameOf(document);
    path_ = path;
    YAML::Node spec = YamlAt(document, "spec");
    std::optional<ScheduleFact> schedule;
    if (kind == "CronWorkflow") {
      schedule = Schedule(spec);
      spec.reset(YamlAt(spec, "workflowSpec"));
    }
    Annotations(document);
    templates_.clear();
    for (const YAML::Node& t : YamlItems(spec, "templates"))
      if (const Text name = YamlText(t, "name")) templates_.emplace(*name, t);
    pool_.reset();
    if (YamlAt(spec, "synchronization").IsDefined()) pool_ = Pool(YamlAt(spec, "synchronization"));
    owner_ = Owner(document);
    const std::string entry = YamlText(spec, "entrypoint").value_or("");
    // One template that is its own task: the workflow is the job.
    const auto first = templates_.find(entry);
    if (first != templates_.end() && !IsGroup(first->second)) One(workflow_, first->second, {}, schedule);
    for (const auto& [name, body] : templates_)
      if (IsGroup(body)) Group(name == entry ? "" : name, body, schedule);
    return true;
  }

 private:
  static std::string NameOf(const YAML::Node& document) {
    const YAML::Node metadata = YamlAt(document, "metadata");
    std::string name =
        YamlText(metadata, "name").value_or(YamlText(metadata, "generateName").value_or("workflow"));
    while (!name.empty() && name.back() == '-') name.pop_back();
    const Text space = YamlText(metadata, "namespace");
    return space ? *space + "/" + name : name;
  }

  static Text Owner(const YAML::Node& document) {
    for (const char* where : {"annotations", "labels"})
      for (const char* key : {"backreach/owner", "owner", "team"})
        if (const Text owner = YamlText(YamlAt(YamlAt(document, "metadata"), where), key)) return owner;
    return std::nullopt;
  }

  static ScheduleFact Schedule(const YAML::Node& spec) {
    ScheduleFact s;
    s.type = "CronWorkflow";
    std::vector<std::string> crons = YamlTexts(spec, "schedules");
    if (const Text one = YamlText(spec, "schedule"); one && crons.empty()) crons.push_back(*one);
    if (!crons.empty()) s.cron = Join(crons, " | ");
    s.timezone = YamlText(spec, "timezone").value_or("UTC");
    if (const Text policy = YamlText(spec, "concurrencyPolicy"); policy && *policy != "Allow") s.max_runs = 1;
    return s;
  }

  // Annotations of the workflow hold for each of its jobs.
  void Annotations(const YAML::Node& document) {
    reads_ = Listed(YamlAt(document, "metadata"), "backreach/reads");
    writes_ = Listed(YamlAt(document, "metadata"), "backreach/writes");
  }
  static std::vector<std::string> Listed(const YAML::Node& metadata, const char* key) {
    std::vector<std::string> out;
    for (std::string name : Split(YamlText(YamlAt(metadata, "annotations"), key).value_or(""), ',')) {
      name.erase(0, name.find_first_not_of(" \t\r\n"));
      name.erase(name.find_last_not_of(" \t\r\n") + 1);
      if (!name.empty()) out.push_back(name);
    }
    return out;
  }

  static bool IsGroup(const YAML::Node& body) {
    return YamlAt(body, "dag").IsDefined() || YamlAt(body, "steps").IsDefined();
  }

  std::string JobName(const std::string& group, const std::string& task) const {
    return space_ + "/" + workflow_ + "." + (group.empty() ? "" : group + ".") + task;
  }

  // The jobs of a template that holds a DAG, or steps: a list of lists, each waiting for the one before.
  void Group(const std::string& name, const YAML::Node& body, const std::optional<ScheduleFact>& schedule) {
    const YAML::Node dag = YamlAt(body, "dag");
    if (dag.IsDefined()) {
      for (const YAML::Node& task : YamlItems(dag, "tasks")) {
        const Text task_name = YamlText(task, "name");
        if (!task_name) continue;
        std::vector<std::string> after = YamlTexts(task, "dependencies");
        if (const Text depends = YamlText(task, "depends")) {
          const auto more = NamesIn(*depends);
          after.insert(after.end(), more.begin(), more.end());
        }
        for (std::string& a : after) a = JobName(name, a);
        Task(name, *task_name, task, std::move(after), schedule);
      }
      return;
    }
    std::vector<std::string> before;
    for (const YAML::Node& level : YamlItems(body, "steps")) {
      std::vector<std::string> here;
      const std::size_t n = level.IsSequence() ? level.size() : 1;
      for (std::size_t i = 0; i < n; ++i) {
        const YAML::Node step = level.IsSequence() ? level[i] : level;
        const Text step_name = YamlText(step, "name");
        if (!step_name) continue;
        Task(name, *step_name, step, before, schedule);
        here.push_back(JobName(name, *step_name));
      }
      if (!here.empty()) before = std::move(here);
    }
  }

  void Task(const std::string& group, const std::string& name, const YAML::Node& task,
            std::vector<std::string> after, const std::optional<ScheduleFact>& schedule) {
    YAML::Node body = YamlAt(task, "inline");
    if (const Text called = YamlText(task, "template"); called && !body.IsDefined()) {
      const auto it = templates_.find(*called);
      if (it != templates_.end()) body.reset(it->second);
    }
    if (const YAML::Node ref = YamlAt(task, "templateRef"); ref.IsDefined()) {
      const auto it =
          shared_.find(YamlText(ref, "name").value_or("") + "/" + YamlText(ref, "template").value_or(""));
      if (it != shared_.end()) body.reset(it->second);
    }
    Make(JobName(group, name), task, body, std::move(after), schedule);
  }

  void One(const std::string& name, const YAML::Node& body, std::vector<std::string> after,
           const std::optional<ScheduleFact>& schedule) {
    Make(space_ + "/" + name, YAML::Node(), body, std::move(after), schedule);
  }

  void Make(const std::string& name, const YAML::Node& task, const YAML::Node& body,
            std::vector<std::string> after, const std::optional<ScheduleFact>& schedule) {
    JobFact job;
    job.name = name;
    job.orchestrator = "argo";
    job.at = YamlPlace(path_, task.IsMap() ? task : body);
    job.owner = owner_;
    job.schedule = schedule;
    job.after = std::move(after);
    std::sort(job.after.begin(), job.after.end());
    job.after.erase(std::unique(job.after.begin(), job.after.end()), job.after.end());
    job.pool = pool_;
    if (const YAML::Node sync = YamlAt(body, "synchronization"); sync.IsDefined())
      if (const Text pool = Pool(sync)) job.pool = pool;
    if (job.pool) job.slots = 1;
    job.max_parallel = YamlNumber(body, "parallelism");
    Named(reads_, job.reads, job), Named(writes_, job.writes, job);
    Named(Listed(YamlAt(body, "metadata"), "backreach/reads"), job.reads, job);
    Named(Listed(YamlAt(body, "metadata"), "backreach/writes"), job.writes, job);
    Artifacts(YamlAt(body, "inputs"), job.reads, job);
    Artifacts(YamlAt(body, "outputs"), job.writes, job);
    for (const YAML::Node& holder : {task, body})
      for (const YAML::Node& p :
           YamlItems(YamlAt(holder, holder.is(task) ? "arguments" : "inputs"), "parameters"))
        Sql(YamlText(p, "value").value_or(""), job);
    Commands(body, job);
    for (const std::string& out : job.writes)
      for (const std::string& in : job.reads) Edge(in, out, job);
    const bool runs = YamlAt(body, "container").IsDefined() || YamlAt(body, "script").IsDefined() ||
                      YamlAt(body, "resource").IsDefined() || YamlAt(body, "containerSet").IsDefined();
    job.opaque = runs && !harmless_ && job.reads.empty() && job.writes.empty() && job.dbt_runs.empty();
    facts_.jobs.push_back(std::move(job));
  }

  // A mutex lets one in at a time; how many a semaphore does stands in a ConfigMap.
  Text Pool(const YAML::Node& sync) {
    for (const char* key : {"mutexes", "mutex"})
      for (const YAML::Node& mutex : YamlItems(sync, key))
        if (const Text name = YamlText(mutex, "name"); name && !IsTemplate(*name))
          return Kept("mutex/" + *name, 1);
    for (const char* key : {"semaphores", "semaphore"})
      for (const YAML::Node& semaphore : YamlItems(sync, key)) {
        const YAML::Node ref = YamlAt(semaphore, "configMapKeyRef");
        const Text name = YamlText(ref, "name"), inner = YamlText(ref, "key");
        if (name && inner && !IsTemplate(*name + *inner))
          return Kept("semaphore/" + *name + "/" + *inner, {});
      }
    return std::nullopt;
  }
  Text Kept(const std::string& name, std::optional<std::int64_t> slots) {
    const std::string full = space_ + "/" + name;
    if (pools_.insert(full).second) facts_.pools.push_back({full, slots, {}, {BaseName(path_), ""}});
    return full;
  }

  void Named(const std::vector<std::string>& names, std::vector<std::string>& list, const JobFact& job) {
    for (const std::string& name : names) {
      AddNamed(name, job.at, into_);
      if (std::find(list.begin(), list.end(), name) == list.end()) list.push_back(name);
    }
  }

  // Files in buckets.
  void Artifacts(const YAML::Node& side, std::vector<std::string>& list, const JobFact& job) {
    for (const YAML::Node& artifact : YamlItems(side, "artifacts")) {
      static constexpr std::pair<const char*, const char*> kStores[] = {
          {"s3", "s3://"}, {"gcs", "gs://"}, {"oss", "oss://"}, {"azure", "wasb://"}};
      for (const auto& [key, scheme] : kStores) {
        const YAML::Node store = YamlAt(artifact, key);
        if (!store.IsDefined()) continue;
        const std::string bucket =
            YamlText(store, "bucket").value_or(YamlText(store, "container").value_or(""));
        const std::string path = YamlText(store, "key").value_or(YamlText(store, "blob").value_or(""));
        if (bucket.empty() || path.empty()) continue;  // of the installation's own store
        const std::string uri = scheme + bucket + "/" + path;
        if (IsTemplate(uri))
          facts_.unresolved.push_back(
              {uri, "template", std::nullopt,
               fmt::format("{}: an artifact that a template names: {}", job.name, uri), job.at});
        else
          Named({uri}, list, job);
      }
    }
  }

  void Sql(const std::string& text, JobFact& job) {
    if (LooksLikeSql(text)) AddMoves(MovesOf(text), job, into_);
  }

  // A container's words, a script's text.
  void Commands(const YAML::Node& body, JobFact& job) {
    harmless_ = false;
    std::vector<ScriptCommand> commands;
    const YAML::Node container = YamlAt(body, "container"), script = YamlAt(body, "script");
    std::vector<std::string> words = YamlTexts(container, "command");
    for (std::string& word : YamlTexts(container, "args")) {
      Sql(word, job);
      words.push_back(std::move(word));
    }
    for (std::string& word : words) word = MarkTemplates(word);
    if (!words.empty()) commands = ReadArguments(words, {});
    if (const Text source = YamlText(script, "source")) {
      Sql(*source, job);
      const auto with = YamlTexts(script, "command");
      const std::string shell = with.empty() ? "" : BaseName(with[0]);
      if (shell == "sh" || shell == "bash" || shell == "ash" || shell == "zsh")
        commands = ReadShell(MarkTemplates(*source), {});
    }
    DbtCalls calls = ReadDbtCalls(commands);
    job.dbt_runs = std::move(calls.runs);
    static const std::set<std::string> quiet = {"echo",  "cowsay", "sleep", "true",
                                                "false", "date",   "exit",  "printf"};
    harmless_ =
        calls.understood ||
        (!commands.empty() && std::all_of(commands.begin(), commands.end(), [](const ScriptCommand& c) {
          return c.words.empty() || quiet.count(BaseName(c.words[0].text));
        }));
  }

  void Edge(const std::string& from, const std::string& to, const JobFact& job) {
    if (from == to) return;
    for (const EdgeFact& e : facts_.edges)
      if (e.from == from && e.to == to && e.job == job.name) return;
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
  std::set<std::string> known_, pools_;
  MovesInto into_;
  std::map<std::string, YAML::Node> shared_, templates_;
  std::string workflow_, path_;
  Text pool_, owner_;
  std::vector<std::string> reads_, writes_;
  bool harmless_ = false;
};

std::vector<SourceFacts> Run(const ImportRequest& request, Diagnostics& diagnostics) {
  const auto given = request.options.find("name");
  const std::string name = given == request.options.end() ? "argo" : given->second.back();
  const auto wanted = [](const std::string& file) {
    return EndsWith(file, ".yaml") || EndsWith(file, ".yml") || EndsWith(file, ".json");
  };
  const std::vector<std::string> paths = FilesOf(request.inputs, wanted, diagnostics);
  SourceFacts source;
  std::string digests;
  std::vector<YamlFile> files;
  for (const std::string& path : paths)
    if (auto file = ReadYamlFile(path, diagnostics)) {
      digests += file->sha256 + "\n";
      files.push_back(std::move(*file));
    }
  Reader reader(name, source.facts);
  for (const YamlFile& file : files)
    for (const YAML::Node& document : file.documents) reader.Collect(document);
  std::size_t found = 0;
  for (const YamlFile& file : files)
    for (const YAML::Node& document : file.documents)
      if (reader.Workflow(file.path, document)) ++found;
  if (found == 0 && !diagnostics.has_errors())
    diagnostics.Error(request.inputs[0], "no Workflow, CronWorkflow or template of one",
                      {"expected manifests with kind: Workflow, CronWorkflow, WorkflowTemplate or "
                       "ClusterWorkflowTemplate"});
  if (diagnostics.has_errors()) return {};
  source.source = {"argo", name, name, Sha256Hex(digests), ""};
  return {source};
}

}  // namespace

Importer ArgoImporter() {
  return {"argo",
          "FILE|FOLDER...",
          "Argo's Workflows, CronWorkflows and templates: jobs, their order, and what data they declare",
          "  backreach ingest argo workflows/\n"
          "  backreach ingest argo nightly.yaml templates.yaml --name prod",
          true,
          {{"name", "the cluster's name, which its jobs begin with (default: argo)", false}},
          Run};
}

}  // namespace backreach
