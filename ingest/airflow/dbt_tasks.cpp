// Whatever a task is, its call becomes a command line and is read as one (dbt_command.hpp). A mapped task
// does what all its instances do.

#include "ingest/airflow/dbt_tasks.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "graph/base/words.hpp"
#include "ingest/commands/dbt_command.hpp"

namespace backreach {

namespace {

using Fields = std::map<std::string, Json>;  // of one instance of a mapped task

constexpr std::size_t kMostInstances = 1000;
constexpr const char* kTemplated = "{{ ... }}";

Json WithoutWrapping(const Json& j, int depth = 0) {
  const Json& v = Unwrap(j);
  if (depth > 32 || !v.is_structured()) return v;
  Json out = v;
  for (Json& item : out) item = WithoutWrapping(item, depth + 1);
  return out;
}

bool Contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// The instances of a mapped task, each with the fields that are its own; one without any for other tasks.
std::vector<Fields> Instances(const Json& task) {
  const Json* input = Find(task, {"expand_input"});
  const Json* value = input ? Find(*input, {"value"}) : nullptr;
  if (!value) return {{}};
  const Json plain = WithoutWrapping(*value);
  std::vector<Fields> out;
  if (plain.is_array()) {  // expand_kwargs
    for (const Json& item : plain) {
      if (!item.is_object()) return {{{"*", kTemplated}}};
      out.emplace_back();
      for (const auto& field : item.items()) out.back()[field.key()] = field.value();
    }
    return out;
  }
  if (!plain.is_object() || TypeOf(*value) == "xcomref") return {{{"*", kTemplated}}};
  out.emplace_back();
  for (const auto& field : plain.items()) {
    std::vector<Fields> next;
    const bool list = field.value().is_array() && out.size() * field.value().size() <= kMostInstances;
    const Json items = list ? field.value() : Json::array({kTemplated});
    for (const Fields& before : out)
      for (const Json& item : items) {
        next.push_back(before);
        next.back()[field.key()] = item;
      }
    out = std::move(next);
  }
  return out;
}

class TaskReader {
 public:
  TaskReader(const Json& task, const TaskView& view, const Fields& own)
      : view_(view), own_(own), mapped_(Find(task, {"expand_input"}) != nullptr) {
    type_ = TextAt(task, {"task_type", "_task_type"}).value_or("");
    module_ = TextAt(task, {"_task_module"}).value_or("");
    for (const std::string& field : Words("template_fields", false)) fields_.insert(field);
  }

  TaskCalls Read() {
    TaskCalls out;
    if (own_.count("*")) {
      if (IsDbtOperator() || type_ == "BashOperator")
        Unknown("its instances are known only when it runs", out);
      return out;
    }
    if (Contains(type_, "Sensor") || Idle()) {
      out.harmless = true;
    } else if (StartsWith(type_, "DbtCloud")) {
      Cloud(out);
    } else if (IsDbtOperator()) {
      Operator(out);
    } else {
      Commands(out);
    }
    return out;
  }

 private:
  Json Field(const char* name) const {
    if (const auto it = own_.find(name); it != own_.end()) return it->second;
    const Json* found = view_.Get({name});
    return found ? WithoutWrapping(*found) : Json();
  }
  // A text or a list of texts, with their templates marked.
  std::vector<std::string> Words(const char* name, bool marked = true) const {
    return WordsOf(Field(name), marked);
  }
  static std::vector<std::string> WordsOf(const Json& j, bool marked = true) {
    std::vector<std::string> out;
    const auto add = [&](const Json& item) {
      std::string text = item.is_string()   ? item.get<std::string>()
                         : item.is_object() ? kTemplated
                                            : item.dump();
      if (StartsWith(text, "Truncated.")) text = kTemplated;
      out.push_back(marked ? MarkTemplates(text) : text);
    };
    if (j.is_array())
      for (const Json& item : j) add(item);
    else if (!j.is_null() && j != "")
      add(j);
    return out;
  }

  bool Idle() const {
    static const std::set<std::string> types = {"EmptyOperator",
                                                "DummyOperator",
                                                "LatestOnlyOperator",
                                                "BranchPythonOperator",
                                                "BranchDayOfWeekOperator",
                                                "BranchDateTimeOperator",
                                                "_BranchPythonDecoratedOperator",
                                                "ShortCircuitOperator",
                                                "_ShortCircuitDecoratedOperator",
                                                "TriggerDagRunOperator",
                                                "ExternalTaskMarker",
                                                "EmailOperator"};
    return types.count(type_) || StartsWith(type_, "SlackAPI") || StartsWith(type_, "SlackWebhook");
  }
  bool IsDbtOperator() const {
    return StartsWith(module_, "cosmos.") || StartsWith(module_, "airflow_dbt") ||
           fields_.count("dbt_cmd_flags") || (StartsWith(type_, "Dbt") && EndsWith(type_, "Operator"));
  }

  static void Unknown(const std::string& why, TaskCalls& out) {
    DbtRunFact run;
    run.unknown = why;
    out.runs.push_back(std::move(run));
  }
  void Add(const std::vector<ScriptCommand>& commands, TaskCalls& out) const {
    DbtCalls calls = ReadDbtCalls(commands);
    out.harmless = calls.understood;
    for (DbtRunFact& run : calls.runs) out.runs.push_back(std::move(run));
  }

  // An operator's subcommand by its class's name; "" where that does not tell.
  std::string Subcommand() const {
    const bool watcher = Contains(module_, ".watcher") || Contains(type_, "Watcher");
    if (Contains(type_, "Producer")) return "build";
    if (watcher) return "ls";  // it waits for the producer
    static constexpr std::pair<const char*, const char*> names[] = {{"RunOperation", "run-operation"},
                                                                    {"Run", "run"},
                                                                    {"Build", "build"},
                                                                    {"Seed", "seed"},
                                                                    {"Snapshot", "snapshot"},
                                                                    {"Clone", "clone"},
                                                                    {"Retry", "retry"},
                                                                    {"Test", "test"},
                                                                    {"LS", "ls"},
                                                                    {"Ls", "ls"},
                                                                    {"List", "ls"},
                                                                    {"Source", "source"},
                                                                    {"Compile", "compile"},
                                                                    {"Docs", "docs"},
                                                                    {"Deps", "deps"},
                                                                    {"Debug", "debug"},
                                                                    {"Clean", "clean"},
                                                                    {"Show", "show"},
                                                                    {"Parse", "parse"},
                                                                    {"Init", "init"},
                                                                    {"Generate", "docs"},
                                                                    {"Setup", "deps"},
                                                                    {"Teardown", "clean"}};
    const std::size_t dbt = type_.find("Dbt");
    const std::string rest = dbt == std::string::npos ? type_ : type_.substr(dbt + 3);
    for (const auto& [name, command] : names)
      if (StartsWith(rest, name)) return command;
    return "";
  }

  void Operator(TaskCalls& out) const {
    const std::string command = Subcommand();
    if (command.empty()) return Unknown("the class " + type_ + " does not tell what it does with dbt", out);
    std::vector<std::string> words = {"dbt", command};
    bool kept = mapped_;
    for (const auto& [field, option] :
         {std::pair{"select", "--select"}, std::pair{"models", "--select"}, std::pair{"exclude", "--exclude"},
          std::pair{"selector", "--selector"}, std::pair{"selector_name", "--selector"}}) {
      kept = kept || fields_.count(field);
      const std::string joined = Join(Words(field), " ");
      if (joined.empty()) continue;
      kept = true;
      words.push_back(option), words.push_back(joined);
    }
    for (const char* field : {"project_dir", "dir"})
      if (const auto folder = Words(field); folder.size() == 1)
        words.insert(words.end(), {"--project-dir", folder[0]});
    const Json refresh = Field("full_refresh");
    const std::string text = refresh.is_string() ? Lower(refresh.get<std::string>()) : refresh.dump();
    if (text == "true")
      words.push_back("--full-refresh");
    else if (refresh.is_string() && !text.empty() && text != "false")
      words.push_back(MarkTemplates("{% if %}--full-refresh{% endif %}"));
    for (std::string& flag : Words("dbt_cmd_flags")) words.push_back(std::move(flag));
    const std::size_t before = out.runs.size();
    Add(ReadArguments(words, {}), out);
    if (!kept)
      for (std::size_t i = before; i < out.runs.size(); ++i)
        if (out.runs[i].unknown.empty())
          out.runs[i].unknown = "what it selects is not kept when the DAG is serialized";
  }

  void Cloud(TaskCalls& out) const {
    if (type_ != "DbtCloudRunJobOperator") {
      out.harmless = true;
      return;
    }
    const Json steps = Field("steps_override");
    if (steps.is_null() || steps.empty())
      return Unknown("the steps of its dbt Cloud job are not in the serialized DAG", out);
    std::vector<ScriptCommand> commands;
    for (const std::string& step : WordsOf(steps))
      for (ScriptCommand& command : ReadShell(step, {})) commands.push_back(std::move(command));
    Add(commands, out);
    if (out.runs.empty() && !out.harmless) Unknown("a template gives the steps of its dbt Cloud job", out);
  }

  // `{"A": "b"}`, or a list of names and values.
  static void Environment(const Json& j, std::map<std::string, std::string>& out) {
    if (j.is_object())
      for (const auto& item : j.items())
        if (item.value().is_string()) out[item.key()] = MarkTemplates(item.value().get<std::string>());
    if (!j.is_array()) return;
    for (const Json& item : j)
      if (const Text name = TextAt(item, {"name"});
          name && item.contains("value") && item["value"].is_string())
        out[*name] = MarkTemplates(item["value"].get<std::string>());
  }

  void Commands(TaskCalls& out) const {
    ScriptStart start;
    for (const char* field : {"env", "env_vars", "environment"}) Environment(Field(field), start.env);
    if (const auto folder = Words("cwd"); folder.size() == 1) start.folder = FolderIn("", folder[0]);
    if (const Json line = Field("bash_command"); line.is_string() && Readable(line))
      Add(ReadShell(MarkTemplates(line.get<std::string>()), start), out);
    if (const Json line = Field("command"); line.is_string() && Readable(line))
      Add(OfImage(ReadShell(MarkTemplates(line.get<std::string>()), start), out), out);
    else if (line.is_array())
      Container(WordsOf(line), start, out);
    std::vector<std::string> words = Words("cmds");
    const bool started = !words.empty();
    for (std::string& word : Words("arguments")) words.push_back(std::move(word));
    if (started)
      Add(ReadArguments(words, start), out);
    else if (!words.empty())
      Container(words, start, out);
    Nested(start, out);
  }
  static bool Readable(const Json& text) {
    return !StartsWith(text.get<std::string>(), "Truncated.") &&
           !StartsWith(text.get<std::string>(), "DYNAMIC (set");
  }

  void Container(const std::vector<std::string>& words, const ScriptStart& start, TaskCalls& out) const {
    const std::size_t before = out.runs.size();
    Add(OfImage(ReadArguments(words, start), out), out);
    // `-c "dbt run"` for whatever shell the image has.
    if (out.runs.size() == before && !out.harmless && StartsWith(words[0], "-") &&
        std::any_of(words.begin(), words.end(), [](const std::string& w) { return Contains(w, "dbt "); }))
      Unknown("the image says which program it starts", out);
  }
  // A command that the image's own program is given as its arguments.
  std::vector<ScriptCommand> OfImage(std::vector<ScriptCommand> commands, TaskCalls& out) const {
    const std::string image = Join(Words("image"), "");
    if (commands.size() != 1 || CallsDbt(commands[0])) return commands;
    ScriptCommand as_dbt = commands[0];
    as_dbt.words.insert(as_dbt.words.begin(), {"dbt", 0});
    const auto call = ReadDbtCall(as_dbt);
    static const std::set<std::string> subcommands = {"run", "build", "seed", "snapshot", "retry", "clone"};
    if (!call || !subcommands.count(call->command)) return commands;
    if (Contains(image, "dbt-labs/dbt-") || Contains(image, "fishtownanalytics/dbt")) return {as_dbt};
    // Other programs have a `run` as well, and hardly one a selection.
    if (!Contains(image, "dbt") && call->select.empty() && call->exclude.empty() && call->selector.empty() &&
        call->unknown.empty())
      return commands;
    Unknown("the image says which program it starts", out);
    return {};
  }

  // Containers' commands that stand deeper: ECS, Batch, Cloud Run; a dbt task of Databricks.
  void Nested(const ScriptStart& start, TaskCalls& out) const {
    std::vector<Json> todo;
    for (const char* field : {"overrides", "container_overrides", "json", "tasks"})
      if (Json j = Field(field); j.is_structured()) todo.push_back(std::move(j));
    while (!todo.empty()) {
      const Json at = std::move(todo.back());
      todo.pop_back();
      if (at.is_object()) {
        ScriptStart own = start;
        for (const char* key : {"environment", "env"})
          if (at.contains(key)) Environment(at[key], own.env);
        for (const char* key : {"command", "args"})
          if (at.contains(key) && at[key].is_array()) Container(WordsOf(at[key]), own, out);
        if (const Json* dbt = Find(at, {"dbt_task"}); dbt && dbt->is_object() && dbt->contains("commands")) {
          if (const Text folder = TextAt(*dbt, {"project_directory"}))
            own.folder = FolderIn("", MarkTemplates(*folder));
          for (const std::string& line : WordsOf((*dbt)["commands"])) Add(ReadShell(line, own), out);
        }
      }
      for (const Json& item : at)
        if (item.is_structured()) todo.push_back(item);
    }
  }

  const TaskView& view_;
  const Fields& own_;
  bool mapped_;
  std::string type_, module_;
  std::set<std::string> fields_;
};

}  // namespace

TaskCalls DbtCallsOf(const Json& task, const TaskView& view) {
  TaskCalls out;
  out.harmless = true;
  for (const Fields& own : Instances(task)) {
    TaskCalls one = TaskReader(task, view, own).Read();
    out.harmless = out.harmless && one.harmless;
    for (DbtRunFact& run : one.runs) out.runs.push_back(std::move(run));
  }
  return out;
}

}  // namespace backreach
