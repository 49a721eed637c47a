// A task keeps its SQL wherever its operator wants it: so every text of its templated fields is read, as a
// statement where it is one, as a script where a shell gets it. Files that a client wrote and a copying
// command sends on are followed within a script: the rows went where the file went.

#include "ingest/airflow/exports.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "graph/base/words.hpp"
#include "ingest/airflow/operators.hpp"
#include "ingest/commands/shell.hpp"

namespace backreach {

namespace {

constexpr std::string_view kTemplate = "{{ ... }}";

std::string Shown(const Json* j) {
  if (!j) return "";
  const Json& v = Unwrap(*j);
  if (v.is_string()) return v.get<std::string>();
  if (v.is_array() && !v.empty()) return Shown(&v[0]);
  return v.is_null() ? "" : v.dump();
}

// What a shell does not know is a template again for whoever reads SQL.
std::string WithTemplates(std::string_view word) {
  std::string out;
  for (const char c : word) {
    if (c == kUnknownText)
      out += kTemplate;
    else
      out += c;
  }
  return out;
}

bool MayExport(const std::string& upper) {
  for (const std::string_view word :
       {"COPY", "UNLOAD", "EXPORT", "OUTFILE", "DIRECTORY", "INTO FUNCTION", "EXTERNAL"})
    if (upper.find(word) != std::string::npos) return true;
  return false;
}

class Finder {
 public:
  Finder(const std::string& type, const TaskView& view) : type_(type), view_(view) {}

  TaskExports Find_() {
    for (const ExportOperator& known : ExportOperators())
      if (type_ == known.operator_class) Operator(known);
    Fields();
    for (const char* field : {"bash_command", "command", "commands"})
      if (const Text script = view_.GetText({field})) Script(*script);
    Arguments();
    BigQueryJob();
    return std::move(out_);
  }

 private:
  void Add(std::vector<SqlTable> tables, std::string destination, std::string how) {
    for (const TaskExport& known : out_.ways)
      if (known.destination == destination && known.tables.size() == tables.size() &&
          std::equal(tables.begin(), tables.end(), known.tables.begin(),
                     [](const SqlTable& a, const SqlTable& b) { return a.name == b.name; }))
        return;
    out_.ways.push_back({std::move(tables), std::move(destination), std::move(how)});
  }

  void Operator(const ExportOperator& known) {
    const auto joined = [&](std::string_view arguments, std::string_view separator) {
      std::vector<std::string> parts;
      for (const std::string& argument : Split(arguments, ' ')) {
        const std::string value = argument.empty() ? "" : Shown(view_.Get({argument.c_str()}));
        if (!value.empty()) parts.push_back(value);
      }
      return Join(parts, separator);
    };
    std::string destination = joined(known.destination, "/");
    if (destination.empty())
      destination = "(not in the serialized DAG)";
    else if (destination.find("://") == std::string::npos)
      destination = std::string(known.scheme) + destination;
    std::vector<SqlTable> tables;
    const std::string table = joined(known.tables, ".");
    if (!table.empty()) tables.push_back({table, false});
    if (tables.empty() && !known.sql.empty())
      tables = TablesRead(Shown(view_.Get({std::string(known.sql).c_str()})));
    Add(std::move(tables), destination, std::string(known.operator_class));
  }

  // ---- SQL in fields ----

  void Fields() {
    static const std::set<std::string> scripts = {"bash_command", "command",   "commands",     "env",
                                                  "cmds",         "arguments", "configuration"};
    std::set<std::string> names = {"sql",     "query",         "hql",          "statement", "statements",
                                   "queries", "sql_statement", "select_query", "sqls",      "query_string"};
    if (const Json* fields = view_.Get({"template_fields"}); fields && Unwrap(*fields).is_array())
      for (const Json& field : Unwrap(*fields))
        if (field.is_string()) names.insert(field.get<std::string>());
    for (const std::string& name : names)
      if (!scripts.count(name))
        if (const Json* value = view_.Get({name.c_str()}))
          Texts(*value, [&](const std::string& text) { Sql(text); });
  }

  // Every text in a value, however deep.
  template <typename F>
  static void Texts(const Json& value, F f) {
    std::vector<const Json*> todo = {&value};
    std::size_t seen = 0;
    while (!todo.empty() && ++seen < 10'000) {
      const Json& at = *todo.back();
      todo.pop_back();
      if (at.is_string()) f(at.template get<std::string>());
      if (at.is_structured())
        for (const Json& item : at) todo.push_back(&item);
    }
  }

  void Sql(const std::string& text) {
    if (StartsWith(text, "Truncated.")) return;
    if (Notifies(text)) out_.notifies = true;
    if (!MayExport(Upper(text))) return;
    for (SqlExport& found : FindExports(text)) Add(std::move(found.tables), found.destination, found.how);
  }

  // ---- scripts ----

  void Script(const std::string& text) {
    if (StartsWith(text, "Truncated.")) return;
    const std::string marked = MarkTemplates(text);
    for (const ScriptCommand& command : ReadShell(marked, {})) Command(command, text);
    HereDocuments(text);
  }

  void Arguments() {
    std::vector<std::string> words;
    for (const char* field : {"cmds", "command", "commands", "arguments"})
      if (const Json* value = view_.Get({field}); value && Unwrap(*value).is_array())
        for (const Json& word : Unwrap(*value))
          if (word.is_string()) words.push_back(MarkTemplates(word.get<std::string>()));
    if (words.empty()) return;
    std::string all;
    for (const std::string& word : words) all += WithTemplates(word) + " ";
    for (const ScriptCommand& command : ReadArguments(words, {})) Command(command, all);
  }

  // The option that a client takes its SQL by; `-` and `--` forms, with or without `=`.
  static std::vector<std::string> Given(const std::vector<std::string>& words,
                                        std::initializer_list<const char*> options) {
    std::vector<std::string> out;
    for (std::size_t i = 1; i < words.size(); ++i)
      for (const char* option : options) {
        const std::string o(option);
        if (words[i] == o && i + 1 < words.size()) out.push_back(words[i + 1]);
        if (StartsWith(words[i], o + "=")) out.push_back(words[i].substr(o.size() + 1));
        if (o.size() == 2 && words[i].size() > 2 && StartsWith(words[i], o) && words[i][2] != '-')
          out.push_back(words[i].substr(2));
      }
    return out;
  }

  void Command(const ScriptCommand& command, const std::string& script) {
    std::vector<std::string> words;
    for (const ScriptWord& word : command.words) words.push_back(WithTemplates(word.text));
    if (words.empty()) return;
    const std::string program = BaseName(words[0]);
    static const std::map<std::string, std::vector<const char*>> clients = {
        {"psql", {"-c", "--command"}},
        {"snowsql", {"-q", "--query"}},
        {"snow", {"-q", "--query"}},
        {"mysql", {"-e", "--execute"}},
        {"duckdb", {"-c", "-s"}},
        {"clickhouse-client", {"-q", "--query"}},
        {"clickhouse", {"-q", "--query"}},
        {"trino", {"--execute"}},
        {"presto", {"--execute"}},
        {"beeline", {"-e"}},
        {"hive", {"-e"}},
        {"spark-sql", {"-e"}},
        {"sqlcmd", {"-Q", "-q"}},
        {"databricks", {"--statement"}},
        {"vsql", {"-c"}},
        {"rsql", {"-c"}},
        {"impala-shell", {"-q"}}};
    if (const auto it = clients.find(program); it != clients.end()) {
      for (const char* option : it->second)
        for (const std::string& sql : Given(words, {option})) Client(sql, script);
      if (program == "duckdb" && words.size() > 2 && words.back().find(' ') != std::string::npos)
        Client(words.back(), script);
      return;
    }
    if (program == "bq") return BigQuery(words, script);
    if (program == "aws" && words.size() > 2) {
      for (const std::string& sql : Given(words, {"--sql", "--query-string"})) Client(sql, script);
      if (words[1] == "s3") Sent(words, 3);
      return;
    }
    if (program == "gsutil") return Sent(words, 2);
    if (program == "gcloud" && words.size() > 3 && words[1] == "storage") return Sent(words, 3);
    if (program == "azcopy" || program == "rclone") return Sent(words, 2);
    if (program == "scp" || program == "rsync" || program == "cp" || program == "mv") return Sent(words, 1);
    if (program == "curl") {
      for (const std::string& file : Given(words, {"-T", "--upload-file", "--data-binary", "-d"})) {
        std::string url;
        for (const std::string& word : words)
          if (word.find("://") != std::string::npos) url = word;
        SendOn(StartsWith(file, "@") ? file.substr(1) : file, url);
      }
    }
  }

  // What a client is told to run: rows to its standard output go where the script sends them.
  void Client(const std::string& given, const std::string& script) {
    std::string sql = given;
    for (std::size_t at;
         (at = sql.find("\\copy")) != std::string::npos || (at = sql.find("\\COPY")) != std::string::npos;)
      sql.erase(at, 1);
    for (SqlExport& found : FindExports(sql)) {
      std::string to = found.destination;
      if (Upper(to) == "STDOUT") to = BehindPipe(script, to);
      files_[to] = found.tables;
      last_ = found.tables;
      Add(std::move(found.tables), to, found.how);
    }
  }

  // `... > FILE` behind a client's command; its own output where there is none.
  static std::string BehindPipe(const std::string& script, const std::string& otherwise) {
    const std::size_t at = Upper(script).find("STDOUT");
    if (at == std::string::npos) return otherwise;
    for (std::size_t i = at; i < script.size(); ++i) {
      if (script[i] != '>' ||
          (i > 0 && (script[i - 1] == '2' || script[i - 1] == '=' || script[i - 1] == '-')))
        continue;
      std::size_t from = i + 1;
      while (from < script.size() && (script[from] == '>' || script[from] == ' ')) ++from;
      std::size_t end = from;
      while (end < script.size() && script[end] != ' ' && script[end] != '\n' && script[end] != ';' &&
             script[end] != '&' && script[end] != '|')
        ++end;
      if (end > from) return script.substr(from, end - from);
    }
    return otherwise;
  }

  // `bq query 'EXPORT DATA ...'`, `bq extract TABLE URI`.
  void BigQuery(const std::vector<std::string>& words, const std::string& script) {
    std::vector<std::string> plain;
    for (std::size_t i = 1; i < words.size(); ++i)
      if (!StartsWith(words[i], "-")) plain.push_back(words[i]);
    if (plain.empty()) return;
    if (plain[0] == "query" && plain.size() > 1) return Client(plain.back(), script);
    if ((plain[0] == "extract" || plain[0] == "export") && plain.size() > 2) {
      std::string table = plain[1];
      for (char& c : table)
        if (c == ':') c = '.';
      if (const std::size_t mark = table.find_first_of("$@"); mark != std::string::npos) table.resize(mark);
      Add({{table, table.find("{{") != std::string::npos}}, plain[2], "bq extract");
    }
    if (plain[0] == "cp" && plain.size() > 2) return;
  }

  // `aws s3 cp FROM TO` and its like: `from` is the first word that may be a source.
  void Sent(const std::vector<std::string>& words, std::size_t from) {
    std::vector<std::string> plain;
    for (std::size_t i = from; i < words.size(); ++i)
      if (!StartsWith(words[i], "-") || words[i] == "-") plain.push_back(words[i]);
    if (!plain.empty() && (plain[0] == "cp" || plain[0] == "copy" || plain[0] == "mv" || plain[0] == "sync" ||
                           plain[0] == "rsync"))
      plain.erase(plain.begin());
    if (plain.size() < 2) return;
    SendOn(plain[plain.size() - 2], plain.back());
  }
  void SendOn(const std::string& from, const std::string& to) {
    if (to.empty()) return;
    if (from == "-") {
      if (!last_.empty()) Replace("STDOUT", last_, to);
      return;
    }
    for (const auto& [file, tables] : std::map<std::string, std::vector<SqlTable>>(files_)) {
      if (file.empty() || !(StartsWith(file, from) || StartsWith(from, file))) continue;
      Replace(file, tables, to);
      files_[to] = tables;
    }
  }
  // The rows went on: the place in between is one of the script's own.
  void Replace(const std::string& file, const std::vector<SqlTable>& tables, const std::string& to) {
    for (TaskExport& way : out_.ways)
      if (way.destination == file && file.find("://") == std::string::npos) {
        way.destination = to;
        return;
      }
    Add(tables, to, "files are copied");
  }

  // SQL that a client gets from the script itself: psql <<SQL ... SQL.
  void HereDocuments(const std::string& text) {
    for (std::size_t at = 0; (at = text.find("<<", at)) != std::string::npos;) {
      at += 2;
      if (at < text.size() && text[at] == '<') {
        ++at;
        continue;
      }
      if (at < text.size() && text[at] == '-') ++at;
      while (at < text.size() && (text[at] == ' ' || text[at] == '\'' || text[at] == '"' || text[at] == '\\'))
        ++at;
      std::size_t end = at;
      while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_'))
        ++end;
      if (end == at) continue;
      const std::string word = text.substr(at, end - at);
      const std::size_t body = text.find('\n', end);
      if (body == std::string::npos) return;
      std::size_t close = body;
      while ((close = text.find(word, close + 1)) != std::string::npos) {
        const std::size_t line = text.rfind('\n', close);
        if (text.find_first_not_of(" \t", line + 1) == close) break;
      }
      Client(text.substr(body, close == std::string::npos ? close : close - body), text);
      if (close == std::string::npos) return;
      at = close + word.size();
    }
  }

  // ---- BigQuery's jobs as they are configured ----

  static std::string TableOf(const Json& j) {
    if (!j.is_object()) return "";
    const Json& v = Unwrap(j);
    std::vector<std::string> parts;
    for (const char* key : {"projectId", "datasetId", "tableId"})
      if (const Text part = TextAt(v, {key}); part && !part->empty()) parts.push_back(*part);
    return Join(parts, ".");
  }
  void BigQueryJob() {
    const Json* given = view_.Get({"configuration"});
    if (!given) return;
    const Json& configuration = Unwrap(*given);
    if (configuration.is_string()) return Sql(configuration.get<std::string>());
    if (!configuration.is_object()) return;
    if (const Json* query = Find(configuration, {"query"}))
      if (const Text sql = TextAt(Unwrap(*query), {"query"})) Sql(*sql);
    if (const Json* extract = Find(configuration, {"extract"})) {
      const Json& e = Unwrap(*extract);
      const Json* table = Find(e, {"sourceTable"});
      const std::string name = table ? TableOf(*table) : "";
      const std::string to = Shown(Find(e, {"destinationUris", "destinationUri"}));
      Add(name.empty() ? std::vector<SqlTable>()
                       : std::vector<SqlTable>{{name, name.find("{{") != std::string::npos}},
          to.empty() ? "(not in the serialized DAG)" : to, "an extract job");
    }
    // A copy into another project leaves as well.
    if (const Json* copy = Find(configuration, {"copy"})) {
      const Json& c = Unwrap(*copy);
      const Json *from = Find(c, {"sourceTable"}), *to = Find(c, {"destinationTable"});
      const std::string source = from ? TableOf(*from) : "", target = to ? TableOf(*to) : "";
      const auto project = [](const std::string& n) { return n.substr(0, n.find('.')); };
      if (!source.empty() && !target.empty() && project(source) != project(target))
        Add({{source, false}}, target, "a copy job");
    }
  }

  const std::string& type_;
  const TaskView& view_;
  TaskExports out_;
  std::map<std::string, std::vector<SqlTable>> files_;  // what the script wrote so far
  std::vector<SqlTable> last_;                          // what went to standard output last
};

}  // namespace

TaskExports ExportsOf(const std::string& type, const TaskView& view) { return Finder(type, view).Find_(); }

}  // namespace backreach
