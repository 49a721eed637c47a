// dbt's own command line: the subcommand is the first word that is no option and no option's value;
// selections take every word up to the next option.

#include "ingest/commands/dbt_command.hpp"

#include <algorithm>
#include <set>

#include "graph/base/words.hpp"

namespace backreach {

namespace {

using Names = std::set<std::string, std::less<>>;

const Names& OneValue() {
  static const Names names = {"--project-dir",
                              "--profiles-dir",
                              "--profile",
                              "-t",
                              "--target",
                              "--target-path",
                              "--state",
                              "--defer-state",
                              "--vars",
                              "--args",
                              "--threads",
                              "--selector",
                              "--indirect-selection",
                              "--log-format",
                              "--log-format-file",
                              "--log-level",
                              "--log-level-file",
                              "--log-path",
                              "--log-file-max-bytes",
                              "--printer-width",
                              "--record-timing-info",
                              "-r",
                              "--warn-error-options",
                              "--event-time-start",
                              "--event-time-end",
                              "--sample",
                              "--output",
                              "-o",
                              "--limit",
                              "--inline",
                              "--inline-direct",
                              "--partial-parse-file-path",
                              "--packages-install-path",
                              "--host",
                              "--port",
                              "--source",
                              "--add-package",
                              "--invocation-id"};
  return names;
}

bool HasState(const std::vector<std::string>& words) {
  for (const std::string& word : words)
    for (const std::string& part : Split(word, ' '))
      for (const std::string& criterion : Split(part, ',')) {
        const std::size_t begin = criterion.find_first_not_of("@+0123456789");
        if (begin == std::string::npos) continue;
        for (const char* method : {"state:", "result:", "source_status:"})
          if (criterion.compare(begin, std::string_view(method).size(), method) == 0) return true;
      }
  return false;
}

class CallReader {
 public:
  CallReader(const std::vector<ScriptWord>& words, DbtRunFact& fact) : words_(words), fact_(fact) {}

  // False if the call writes nothing, whatever else it says.
  bool Read() {
    for (at_ = 1; at_ < words_.size(); ++at_) Word(words_[at_]);
    if (help_) return false;
    if (unknown_command_) {
      fact_.unknown = "a template says which command of dbt runs";
      return true;
    }
    if (fact_.command.empty()) return false;
    static const Names silent = {
        "test", "compile", "show",      "ls",  "list",   "parse", "deps", "debug",       "clean",      "init",
        "docs", "source",  "freshness", "man", "system", "login", "lint", "environment", "invocation", "sl"};
    if (silent.count(fact_.command)) return false;
    static const Names known = {"run", "build", "seed", "snapshot"};
    if (!known.count(fact_.command)) {
      fact_.unknown =
          fact_.command == "retry"           ? "`dbt retry` runs what failed in the run before"
          : fact_.command == "run-operation" ? "`dbt run-operation` calls a macro, which may write anything"
          : fact_.command == "clone"         ? "`dbt clone` writes what it selects to another schema"
                                             : "`dbt " + fact_.command + "` is a command that is not known";
      return true;
    }
    if (fact_.unknown.empty() && (HasState(fact_.select) || HasState(fact_.exclude)))
      fact_.unknown = "it selects by the state or the results of another run";
    for (const auto& [given, words] :
         {std::pair{selects_, &fact_.select}, std::pair{excludes_, &fact_.exclude}})
      if (given && fact_.unknown.empty() && Blank(*words)) fact_.unknown = "what it selects is an empty text";
    return true;
  }

 private:
  static bool Blank(const std::vector<std::string>& words) {
    return std::all_of(words.begin(), words.end(), [](const std::string& w) {
      return w.find_first_not_of(" \t\n") == std::string::npos;
    });
  }
  bool Sometimes(const ScriptWord& w) const { return w.block != words_[0].block; }
  void Unknown(const char* why) {
    if (fact_.unknown.empty()) fact_.unknown = why;
  }

  void Word(const ScriptWord& w) {
    if (w.text.size() > 1 && w.text[0] == '-') return Option(w);
    if (HasUnknown(w.text)) return fact_.command.empty() ? void(unknown_command_ = true) : Unknown(kTemplate);
    if (w.text.empty()) return;
    if (Sometimes(w)) return Unknown(kSometimes);
    if (fact_.command.empty())
      fact_.command = w.text;
    else if (fact_.command != "docs" && fact_.command != "source" && fact_.command != "run-operation")
      Unknown("dbt takes no further words there");
  }

  void Option(const ScriptWord& w) {
    const std::size_t equals = w.text.find('=');
    const std::string name = w.text.substr(0, equals);
    if (HasUnknown(name)) return Unknown(kTemplate);
    if (name == "-f" || name == "--full-refresh" || name == "--no-full-refresh") {
      fact_.full_refresh = Sometimes(w) ? Text("unknown") : name[2] == 'n' ? Text() : Text("true");
    } else if (name == "--help" || name == "-h" || name == "--version" || name == "-V" || name == "-v") {
      help_ = help_ || !Sometimes(w);
    } else if (std::vector<std::string>* list = ListOf(name)) {
      if (Sometimes(w)) Unknown(kSometimes);
      if (equals != std::string::npos) Take(w.text.substr(equals + 1), *list);
      // Behind `--select=a` further words are not its own.
      while (equals == std::string::npos && at_ + 1 < words_.size() && !IsOption(words_[at_ + 1].text)) {
        if (Sometimes(words_[++at_])) Unknown(kSometimes);
        Take(words_[at_].text, *list);
      }
    } else if (name == "--output-keys") {
      while (at_ + 1 < words_.size() && !IsOption(words_[at_ + 1].text)) ++at_;
    } else if (OneValue().count(name)) {
      std::string value = equals != std::string::npos ? w.text.substr(equals + 1) : "";
      if (equals == std::string::npos && at_ + 1 < words_.size()) value = words_[++at_].text;
      One(name, value, Sometimes(w));
    } else if (name[1] != '-' && name.size() > 2) {
      Cluster(w);
    }
  }
  static bool IsOption(const std::string& word) { return word.size() > 1 && word[0] == '-'; }

  // `-xf`, `-stag:a`.
  void Cluster(const ScriptWord& w) {
    for (std::size_t i = 1; i < w.text.size(); ++i) {
      const char c = w.text[i];
      if (c == 's' || c == 'm') {
        if (i + 1 < w.text.size()) {
          if (Sometimes(w)) Unknown(kSometimes);
          selects_ = true;
          return Take(w.text.substr(i + 1), fact_.select);
        }
        return;
      }
      if (c == 't' || c == 'r' || c == 'o') return;
      if (c == 'f') fact_.full_refresh = Sometimes(w) ? "unknown" : "true";
      if (c == 'h') help_ = true;
    }
  }

  std::vector<std::string>* ListOf(const std::string& name) {
    static const Names select = {"-s", "--select", "-m", "--models", "--model"};
    if (select.count(name)) return selects_ = true, &fact_.select;
    if (name == "--exclude") return excludes_ = true, &fact_.exclude;
    if (name == "--resource-type" || name == "--resource-types") return &fact_.resource_types;
    if (name == "--exclude-resource-type" || name == "--exclude-resource-types") return &fact_.exclude_types;
    return nullptr;
  }
  void Take(const std::string& value, std::vector<std::string>& list) {
    if (HasUnknown(value)) return Unknown(kTemplate);
    std::string words = value;  // as dbt reads them: blanks of any kind
    std::replace_if(
        words.begin(), words.end(), [](char c) { return c == '\n' || c == '\t' || c == '\r'; }, ' ');
    list.push_back(std::move(words));
  }
  void One(const std::string& name, const std::string& value, bool sometimes) {
    if (name == "--selector") {
      fact_.selector = value;
      if (HasUnknown(value) || sometimes) Unknown(kTemplate);
    } else if (name == "--project-dir") {
      fact_.folder = sometimes ? "" : FolderIn(fact_.folder, value);
    }
  }

  static constexpr const char* kTemplate = "a template or a variable says what it selects";
  static constexpr const char* kSometimes = "a condition says what it selects";
  const std::vector<ScriptWord>& words_;
  DbtRunFact& fact_;
  std::size_t at_ = 0;
  bool help_ = false, unknown_command_ = false, selects_ = false, excludes_ = false;
};

// Programs that read and write no data.
bool Idle(const std::string& program) {
  static const Names names = {
      "echo", "printf", "sleep",  "true",  "false", "test", "[",      "[[",   "set",  "exit", ":",
      "date", "pwd",    "which",  "mkdir", "ls",    "trap", "ulimit", "wait", "tee",  "grep", "return",
      "pip",  "pip3",   "source", ".",     "local", "kill", "shopt",  "head", "tail", "cat",  "wc"};
  return names.count(program) > 0;
}

}  // namespace

bool CallsDbt(const ScriptCommand& command) {
  if (command.words.empty()) return false;
  const std::string program = BaseName(command.words[0].text);
  return program == "dbt" || program == "dbtf" || program == "dbt.exe" || program == "dbt-fusion";
}

std::optional<DbtRunFact> ReadDbtCall(const ScriptCommand& command) {
  if (!CallsDbt(command)) return std::nullopt;
  DbtRunFact fact;
  fact.folder = command.folder;
  for (const char* name : {"DBT_PROJECT_DIR", "DBT_ENGINE_PROJECT_DIR"})
    if (const auto it = command.env.find(name); it != command.env.end() && !it->second.empty())
      fact.folder = FolderIn(command.folder, it->second);
  if (const auto it = command.env.find("DBT_FULL_REFRESH"); it != command.env.end())
    fact.full_refresh = HasUnknown(it->second)                             ? Text("unknown")
                        : it->second == "1" || Lower(it->second) == "true" ? Text("true")
                                                                           : Text();
  if (!CallReader(command.words, fact).Read()) return std::nullopt;
  return fact;
}

DbtCalls ReadDbtCalls(const std::vector<ScriptCommand>& commands) {
  DbtCalls out;
  bool others = false;
  for (const ScriptCommand& command : commands) {
    if (CallsDbt(command))
      out.understood = true;
    else
      others = others || !Idle(command.words.empty() ? ":" : BaseName(command.words[0].text));
    if (auto fact = ReadDbtCall(command)) out.runs.push_back(std::move(*fact));
  }
  out.understood = (out.understood || !commands.empty()) && !others;
  return out;
}

}  // namespace backreach
