// Each kind of log in a class of its own: it makes statements of rows, or tells the collector what a log
// says without their text.

#include "ingest/queries/logs.hpp"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <list>

#include "graph/base/words.hpp"

namespace backreach::queries {

namespace {

using C = Column;
namespace dom = simdjson::dom;

bool SameWord(std::string_view a, std::string_view b) { return Lower(a) == Lower(b); }
bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string_view TextOf(const dom::element& e, std::string_view key) {
  std::string_view s;
  if (e.is_object() && !e[key].get(s)) return s;
  return {};
}

// A JSON text that stands in a cell.
class Cell {
 public:
  bool Parse(std::string_view text, dom::element& out) {
    if (text.empty() || (text[0] != '{' && text[0] != '[')) return false;
    return !parser_.parse(text.data(), text.size()).get(out);
  }

 private:
  dom::parser parser_;
};

// Whether a statement ended well, by the words of all engines.
void Status(std::string_view status, std::string_view error, Statement& s) {
  const std::string word = Lower(status);
  const bool bad = word == "fail" || word == "failed" || word == "failed_with_error" ||
                   word == "failed_with_incident" || word == "incident" || word == "error" ||
                   word == "aborted";
  s.cancelled = word == "canceled" || word == "cancelled" || (word == "aborted");
  s.failed = bad || s.cancelled;
  (void)error;
}

// Texts of statements with a row each: Snowflake's QUERY_HISTORY, Redshift's SYS_QUERY_HISTORY, Databricks'
// query.history, BigQuery's JOBS, and whatever has a text and some of the columns.
class StatementLog : public LogReader {
 public:
  StatementLog(std::string dialect, const Columns& columns, Collector& collector, Across& across)
      : dialect_(std::move(dialect)),
        jobs_(columns.Has(C::kJobType)),
        collector_(collector),
        across_(across) {
    if (dialect_ == "redshift") limit_ = 4000;
    if (dialect_ == "snowflake") limit_ = 100'000;
  }

  void Take(Record& r) override {
    Statement s;
    if (r[C::kId].empty()) made_ = fmt::format("{}:{}", r.file, r.line);
    s.id = r[C::kId].empty() ? std::string_view(made_) : r[C::kId];
    s.user = r[C::kUser], s.text = r[C::kText], s.database = r[C::kDatabase], s.schema = r[C::kSchema];
    s.session = r[C::kSession], s.tag = r[C::kTag];
    s.client = std::string(r[C::kClient]);
    s.at = TimeOf(r[C::kStart]);
    s.file = r.file, s.line = r.line;
    s.limit = limit_;
    Status(r[C::kStatus], r[C::kErrorCode], s);
    if (jobs_) return Job(r, s);
    collector_.Take(s);
    if (across_.downloads.empty()) return;
    const auto download = across_.downloads.find(std::string(s.id));
    if (download != across_.downloads.end() && !s.failed) Downloaded(s, download->second);
  }

  void End() override {
    for (const Kept& kept : scripts_) {
      if (across_.parents.count(kept.id)) continue;
      Statement s = kept.statement;
      s.id = kept.id, s.user = kept.user, s.text = kept.text, s.database = kept.database, s.file = kept.file,
      s.session = {};
      collector_.Take(s);
    }
    scripts_.clear();
  }

 private:
  struct Kept {
    std::string id, user, text, database, file;
    Statement statement;
  };

  // BigQuery's JOBS.
  void Job(Record& r, Statement& s) {
    dom::element e;
    if (!r[C::kErrorCode].empty() && cell_.Parse(r[C::kErrorCode], e)) {
      s.failed = true;
      s.cancelled = TextOf(e, "reason") == "stopped" || TextOf(e, "reason") == "cancelled";
    } else if (!r[C::kErrorCode].empty() && !SameWord(r[C::kErrorCode], "null")) {
      s.failed = true;
    }
    if (cell_.Parse(r[C::kSession], e)) session_ = std::string(TextOf(e, "session_id"));
    s.session = r[C::kSession].empty() ? std::string_view() : std::string_view(session_);
    if (!r[C::kParent].empty()) {
      across_.parents.insert(std::string(r[C::kParent]));
      if (s.session.empty()) s.session = r[C::kParent];  // temporary tables of a script are its own
    }
    Labels(r, s);
    std::vector<std::string> referenced, destination;
    Tables(r[C::kReferenced], referenced);
    Tables(r[C::kDestination], destination);
    s.referenced = referenced;
    const std::string_view type = r[C::kJobType];
    if (type == "EXTRACT") {
      s.via = "jobs";
      if (s.failed) return Failed(s);
      return collector_.TakeExtract(s, referenced, "unknown", "an EXTRACT job");
    }
    if (type == "COPY") return Copied(s, referenced, destination);
    if (type == "LOAD" || (type.empty() && s.text.empty())) {
      collector_.Count(s, "statements");
      return collector_.Count(s, "loads");
    }
    if (r[C::kType] == "SCRIPT") {  // its statements are jobs of their own
      if (scripts_.size() < 10'000)
        scripts_.push_back({std::string(s.id), std::string(s.user), std::string(s.text),
                            std::string(s.database), std::string(s.file), s});
      return;
    }
    collector_.Take(s);
  }
  void Failed(const Statement& s) {
    collector_.Count(s, "statements");
    collector_.Failed(s);
  }
  void Labels(Record& r, Statement& s) {
    const std::string_view labels = r[C::kLabels];
    if (labels.size() > 2) s.tag = labels;
    s.of_job = Contains(labels, "airflow-dag") || Contains(labels, "dbt_") || StartsWith(s.id, "airflow_") ||
               StartsWith(s.id, "scheduled_query_");
    if (Contains(labels, "looker_studio")) s.client = "Looker Studio";
    if (Contains(labels, "looker-context")) s.client = "Looker";
    if (StartsWith(s.id, "sheets_dataconnector")) s.client = "Connected Sheets";
  }
  void Copied(Statement& s, const std::vector<std::string>& from, const std::vector<std::string>& to) {
    s.via = "jobs";
    if (s.failed) return Failed(s);
    if (to.empty()) return collector_.NotUnderstood(s, "a COPY job that does not say where to", true);
    const auto project = [](const std::string& name) { return name.substr(0, name.find('.')); };
    const bool away = std::none_of(from.begin(), from.end(),
                                   [&](const std::string& f) { return project(f) == project(to[0]); });
    if (away && !from.empty()) return collector_.TakeExtract(s, from, to[0], "a COPY job to another project");
    collector_.Count(s, "statements");
    s.via = "text";
    collector_.TakeWrite(s, to[0], from, "clone", "");
  }
  // `[{"project_id":"p","dataset_id":"d","table_id":"t"}]`, or one; what BigQuery makes for itself left out.
  void Tables(std::string_view text, std::vector<std::string>& out) {
    dom::element e;
    if (!cell_.Parse(text, e)) return;
    const auto add = [&](const dom::element& one) {
      const std::string_view set = TextOf(one, "dataset_id"), table = TextOf(one, "table_id");
      if (set.empty() || table.empty() || set[0] == '_' || SameWord(set, "INFORMATION_SCHEMA")) return;
      std::string name(table);
      if (const std::size_t mark = name.find_first_of("$@"); mark != std::string::npos && mark > 0)
        name.resize(mark);
      out.push_back(collector_.NameOf({std::string(TextOf(one, "project_id")), std::string(set), name}));
    };
    dom::array list;
    if (!e.get(list))
      for (const dom::element one : list) add(one);
    else
      add(e);
  }
  // The result of a statement was taken as a file: an extract of what it read.
  void Downloaded(const Statement& s, const std::pair<std::string, std::string>& event) {
    StatementReader reader({DialectOf(dialect_), false});
    std::vector<std::string> tables;
    for (const SqlDeed& deed : reader.Read(s.text))
      for (const SqlName& name : deed.reads) {
        std::vector<std::string> parts;
        for (std::size_t i = 0; i < name.parts; ++i) parts.push_back(Lower(name.part[i]));
        tables.push_back(Join(parts, "."));
      }
    Statement taken = s;
    taken.id = event.first;
    if (!tables.empty())
      collector_.TakeExtract(taken, tables, "download " + event.second, "a result is downloaded");
  }

  std::string dialect_, made_, session_;
  bool jobs_;
  std::size_t limit_ = 0;
  Collector& collector_;
  Across& across_;
  Cell cell_;
  std::list<Kept> scripts_;
};

// PostgreSQL's csvlog and jsonlog. A statement is logged before it runs, unless its duration is logged: what
// an ERROR row of its session says next decides whether it happened.
class PostgresLog : public LogReader {
 public:
  explicit PostgresLog(Collector& collector) : collector_(collector) {}

  void Take(Record& r) override {
    const std::string session(r[C::kSession]);
    const std::string_view severity = r[C::kSeverity];
    if (severity == "ERROR" || severity == "FATAL" || severity == "PANIC") return Error(r, session);
    Release(session);
    std::string_view text = r[C::kMessage];
    const bool done = StartsWith(text, "duration: ");
    if (done) {
      const std::size_t at = text.find("  ");
      if (at == std::string_view::npos) return;
      text.remove_prefix(at + 2);
      if (StartsWith(text, "plan:") || StartsWith(text, "parse ") || StartsWith(text, "bind ")) return;
    }
    if (StartsWith(text, "statement: ")) {
      text.remove_prefix(11);
    } else if (StartsWith(text, "execute ")) {
      const std::size_t at = text.find(": ");
      if (at == std::string_view::npos || StartsWith(text, "execute fetch from")) return;
      text.remove_prefix(at + 2);
    } else {
      return;  // connections, checkpoints and the like
    }
    if (done)
      return Now(r, session, text, false, false, std::string(session) + "/" + std::string(r[C::kLineNumber]));
    Pending p;
    p.session = session, p.user = std::string(r[C::kUser]), p.database = std::string(r[C::kDatabase]);
    p.client = std::string(r[C::kClient]), p.text = std::string(text),
    p.line_number = std::string(r[C::kLineNumber]);
    p.at = TimeOf(r[C::kStart]), p.file = std::string(r.file), p.line = r.line;
    order_.push_back(std::move(p));
    pending_[session] = std::prev(order_.end());
    if (order_.size() > 4096) Release(order_.front().session);
  }
  void End() override {
    while (!order_.empty()) Release(order_.front().session);
  }

 private:
  struct Pending {
    std::string session, user, database, client, text, line_number, file;
    std::optional<Instant> at;
    std::size_t line = 0;
  };
  void Happened(const Pending& p, bool failed, bool cancelled) {
    Statement s;
    const std::string id = p.session + "/" + p.line_number;
    s.id = id, s.user = p.user, s.text = p.text, s.session = p.session, s.database = p.database,
    s.client = p.client;
    s.at = p.at, s.file = p.file, s.line = p.line;
    s.failed = failed, s.cancelled = cancelled;
    collector_.Take(s);
  }
  void Release(const std::string& session) {
    const auto it = pending_.find(session);
    if (it == pending_.end()) return;
    Happened(*it->second, false, false);
    order_.erase(it->second);
    pending_.erase(it);
  }
  void Error(Record& r, const std::string& session) {
    const std::string_view query = r[C::kFailedQuery].empty() ? r[C::kText] : r[C::kFailedQuery];
    const bool cancelled = r[C::kSqlState] == "57014" || Contains(r[C::kMessage], "canceling statement");
    const auto it = pending_.find(session);
    if (it != pending_.end() &&
        (query.empty() || it->second->text == query || Contains(it->second->text, query))) {
      Happened(*it->second, true, cancelled);
      order_.erase(it->second);
      pending_.erase(it);
      return;
    }
    Release(session);
    if (!query.empty())
      Now(r, session, query, true, cancelled, session + "/" + std::string(r[C::kLineNumber]));
  }
  void Now(Record& r, const std::string& session, std::string_view text, bool failed, bool cancelled,
           const std::string& id) {
    Statement s;
    s.id = id, s.user = r[C::kUser], s.text = text, s.session = session, s.database = r[C::kDatabase];
    s.client = std::string(r[C::kClient]);
    s.at = TimeOf(r[C::kStart]), s.file = r.file, s.line = r.line;
    s.failed = failed, s.cancelled = cancelled;
    collector_.Take(s);
  }
  Collector& collector_;
  std::list<Pending> order_;
  std::unordered_map<std::string, std::list<Pending>::iterator> pending_;
};

// pg_stat_statements: texts with how often they ran, and no times.
class PgStatStatements : public LogReader {
 public:
  explicit PgStatStatements(Collector& collector) : collector_(collector) {}
  void Take(Record& r) override {
    Statement s;
    const std::string id =
        r[C::kRecord].empty() ? fmt::format("{}:{}", r.file, r.line) : std::string(r[C::kRecord]);
    s.id = id, s.user = r[C::kUser], s.text = r[C::kText], s.database = r[C::kDatabase];
    s.file = r.file, s.line = r.line, s.via = "stats";
    s.times = std::max(1, std::atoi(std::string(r[C::kCalls]).c_str()));
    collector_.Take(s);
  }

 private:
  Collector& collector_;
};

// Snowflake's ACCESS_HISTORY: what was read and changed, by statement.
class AccessHistory : public LogReader {
 public:
  explicit AccessHistory(Collector& collector) : collector_(collector) {}
  void Take(Record& r) override {
    Statement s;
    s.id = r[C::kId], s.user = r[C::kUser], s.at = TimeOf(r[C::kStart]), s.file = r.file, s.line = r.line,
    s.via = "access";
    std::vector<std::string> read, written;
    std::string place;
    Objects(r[C::kDirect], read, place);
    place.clear();
    Objects(r[C::kModified], written, place);
    collector_.Count(s, "rows of access history");
    if (!place.empty() && !read.empty())
      return collector_.TakeExtract(s, read, place, "rows leave, by the access history,");
    if (!written.empty()) {
      for (const std::string& target : written) collector_.TakeWrite(s, target, read, "insert", "");
      return;
    }
    if (place.empty())
      for (const std::string& name : read) collector_.TakeRead(s, name, false);
  }

 private:
  void Objects(std::string_view text, std::vector<std::string>& tables, std::string& place) {
    dom::element e;
    dom::array list;
    if (!cell_.Parse(text, e) || e.get(list)) return;
    for (const dom::element one : list) {
      const std::string domain = Lower(TextOf(one, "objectDomain"));
      const std::string_view name = TextOf(one, "objectName");
      dom::array locations;
      if (one.is_object() && !one["locations"].get(locations))
        for (const dom::element location : locations) {
          std::string_view where;
          if (!location.get(where) && place.empty()) place = std::string(where);
        }
      if (domain == "stage") place = "@" + std::string(name);
      const bool table = domain == "table" || domain == "view" || domain == "materialized view" ||
                         domain == "external table" || domain == "dynamic table" ||
                         domain == "iceberg table" || domain.empty();
      if (table && !name.empty() && !Contains(Lower(name), ".information_schema.") &&
          !Contains(Lower(name), "account_usage"))
        tables.emplace_back(name);
    }
  }
  Collector& collector_;
  Cell cell_;
};

// Snowflake's SESSIONS: what users come through.
class SessionLog : public LogReader {
 public:
  explicit SessionLog(Collector& collector) : collector_(collector) {}
  void Take(Record& r) override {
    dom::element e;
    std::string client(r[C::kApplication]);
    if (cell_.Parse(r[C::kEnvironment], e))
      if (const std::string_view named = TextOf(e, "APPLICATION"); !named.empty())
        client = std::string(named);
    if (!client.empty() && !r[C::kUser].empty()) collector_.TakeClient(std::string(r[C::kUser]), client);
  }

 private:
  Collector& collector_;
  Cell cell_;
};

// Redshift's SYS_UNLOAD_HISTORY and STL_UNLOAD_LOG: where a statement's rows went, and not which they were.
class UnloadLog : public LogReader {
 public:
  explicit UnloadLog(Collector& collector) : collector_(collector) {}
  void Take(Record& r) override {
    Statement s;
    s.id = r[C::kId].empty() ? r[C::kText] : r[C::kId];
    s.user = r[C::kUser], s.at = TimeOf(r[C::kStart]), s.file = r.file, s.line = r.line, s.via = "unload";
    std::string place(r[C::kLocation]);
    // A file for each slice: `..._0000_part_00`.
    if (const std::size_t part = place.rfind("_part_"); part != std::string::npos) place.resize(part);
    const std::size_t tail = place.find_last_of('_');
    if (r[C::kStatus].empty() && tail != std::string::npos && place.size() - tail == 5)
      place.resize(tail + 1);
    const std::string status = Lower(r[C::kStatus]);
    if (status == "failed") return;
    s.cancelled = status == "aborted" || status == "canceled";
    collector_.Count(s, "rows of the unload log");
    if (!place.empty()) collector_.TakeExtract(s, {"(unknown)"}, place, "UNLOAD");
  }

 private:
  Collector& collector_;
};

// Redshift's SYS_QUERY_TEXT and STL_QUERYTEXT: a statement's text in pieces.
class TextPieces : public LogReader {
 public:
  TextPieces(std::string dialect, Collector& collector)
      : dialect_(std::move(dialect)), collector_(collector) {}
  void Take(Record& r) override {
    const std::string id(r[C::kId].empty() ? r[C::kText] : r[C::kId]);
    if (pieces_.size() > 2000 && !pieces_.count(id)) Flush(order_.front());
    const auto [it, fresh] = pieces_.try_emplace(id);
    Pieces& p = it->second;
    if (fresh) {
      order_.push_back(id);
      p.user = std::string(r[C::kUser]), p.session = std::string(r[C::kSession]), p.at = TimeOf(r[C::kStart]);
      p.file = std::string(r.file), p.line = r.line;
    }
    p.texts[std::atol(std::string(r[C::kSequence]).c_str())] = std::string(r[C::kChunk]);
  }
  void End() override {
    while (!order_.empty()) Flush(order_.front());
  }

 private:
  struct Pieces {
    std::string user, session, file;
    std::optional<Instant> at;
    std::size_t line = 0;
    std::map<long, std::string> texts;
  };
  void Flush(const std::string given) {
    const std::string id = given;
    const auto it = pieces_.find(id);
    order_.pop_front();
    if (it == pieces_.end()) return;
    std::string text;
    bool gap = false;
    long next = 0;
    for (const auto& [n, piece] : it->second.texts) gap = gap || n != next++, text += piece;
    Statement s;
    s.id = id, s.user = it->second.user, s.text = text, s.session = it->second.session, s.at = it->second.at;
    s.file = it->second.file, s.line = it->second.line, s.via = "pieces";
    if (gap)
      collector_.NotUnderstood(s, "pieces of its text are missing", true);
    else
      collector_.Take(s);
    pieces_.erase(it);
  }
  std::string dialect_;
  Collector& collector_;
  std::map<std::string, Pieces> pieces_;
  std::deque<std::string> order_;
};

// Databricks' table_lineage: a row for each table that is read or written.
class LineageLog : public LogReader {
 public:
  explicit LineageLog(Collector& collector) : collector_(collector) {}
  void Take(Record& r) override {
    Statement s;
    s.id = !r[C::kId].empty() ? r[C::kId] : !r[C::kRecord].empty() ? r[C::kRecord] : r[C::kEvent];
    s.user = r[C::kUser], s.at = TimeOf(r[C::kStart]), s.file = r.file, s.line = r.line, s.via = "lineage";
    s.client = r[C::kEntityType].empty() ? "external" : std::string(r[C::kEntityType]);
    const std::string source = Lower(r[C::kSourceTable]), target = Lower(r[C::kTargetTable]);
    collector_.Count(s, "rows of lineage");
    if (source.empty() || StartsWith(source, "system.")) return;
    if (!target.empty()) return collector_.TakeWrite(s, target, {source}, "insert", "");
    if (!r[C::kTargetPath].empty())
      return collector_.TakeExtract(
          s, {source}, std::string(r[C::kTargetPath]),
          fmt::format("{} writes files", r[C::kEntityType].empty() ? std::string("a client")
                                                                   : Lower(r[C::kEntityType]) + " " +
                                                                         std::string(r[C::kEntityId])));
    collector_.TakeRead(s, source, false);
  }

 private:
  Collector& collector_;
};

// Databricks' audit log: results that were downloaded.
class DatabricksAudit : public LogReader {
 public:
  DatabricksAudit(Collector& collector, Across& across) : collector_(collector), across_(across) {}
  void Take(Record& r) override {
    Statement s;
    made_ = fmt::format("{}:{}", r.file, r.line);
    s.id = r[C::kEvent].empty() ? std::string_view(made_) : r[C::kEvent];
    s.at = TimeOf(r[C::kStart]), s.file = r.file, s.line = r.line, s.via = "audit";
    dom::element who;
    if (cell_.Parse(r[C::kIdentity], who)) user_ = std::string(TextOf(who, "email"));
    s.user = user_;
    collector_.Count(s, "audit events");
    dom::element params;
    Cell other;
    const bool has = other.Parse(r[C::kParams], params);
    const std::string_view action = r[C::kAction];
    if (action == "downloadQueryResult") {
      const std::string form = has ? std::string(TextOf(params, "fileType")) : "";
      if (form == "arrows") return;  // how the editor shows a result
      const std::string query = has ? std::string(TextOf(params, "queryId")) : "";
      across_.downloads[query] = {std::string(s.id), form};
      collector_.NotUnderstood(s, fmt::format("the result of statement {} was downloaded as {}", query, form),
                               true);
    } else if (action == "downloadPreviewResults" || action == "downloadLargeResults") {
      collector_.NotUnderstood(s,
                               fmt::format("a notebook download: nothing says of which table ({})",
                                           has ? std::string(TextOf(params, "notebookFullPath")) : ""),
                               true);
    } else if (action == "workspaceExport" && has && TextOf(params, "workspaceExportFormat") != "SOURCE") {
      collector_.NotUnderstood(s, "a notebook with its results was exported", true);
    }
  }

 private:
  Collector& collector_;
  Across& across_;
  Cell cell_;
  std::string made_, user_;
};

// BigQuery's audit log.
class BigQueryAudit : public LogReader {
 public:
  explicit BigQueryAudit(Collector& collector) : collector_(collector) {}
  void Take(Record& r) override {
    dom::element payload, e;
    if (!cell_.Parse(r[C::kPayload], payload)) return;
    Statement s;
    s.at = TimeOf(r[C::kStart]), s.file = r.file, s.line = r.line, s.via = "audit";
    const std::string user(payload["authenticationInfo"].get(e) ? std::string_view()
                                                                : TextOf(e, "principalEmail"));
    s.user = user;
    collector_.Count(s, "audit events");
    dom::element metadata;
    Cell inner;
    if (payload["metadata"].get(metadata)) {
      const std::string_view text = TextOf(payload, "metadataJson");
      if (!inner.Parse(text, metadata)) return;
    }
    dom::element job;
    if (!metadata["jobChange"].get(e) && !e["job"].get(job)) return Job(job, s);
    if (!metadata["jobInsertion"].get(e) && !e["job"].get(job)) return;  // told again when it ends
    if (!metadata["tableDataRead"].get(e)) Read(payload, metadata, e, s);
  }

 private:
  static std::string Table(std::string_view path) {  // projects/p/datasets/d/tables/t
    const auto parts = Split(path, '/');
    if (parts.size() < 6) return std::string(path);
    std::string table = parts[5];
    if (const std::size_t mark = table.find_first_of("$@"); mark != std::string::npos && mark > 0)
      table.resize(mark);
    return parts[1] + "." + parts[3] + "." + table;
  }
  static std::string LastOf(std::string_view path) {
    const std::size_t at = path.rfind('/');
    return std::string(at == std::string_view::npos ? path : path.substr(at + 1));
  }
  void Job(const dom::element& job, Statement& s) {
    const std::string id = LastOf(TextOf(job, "jobName"));
    s.id = id;
    dom::element config, status, error;
    if (!job["jobStatus"].get(status) && !status["errorResult"].get(error) && error.is_object()) {
      return collector_.Failed(s);
    }
    if (job["jobConfig"].get(config)) return;
    dom::element extract, copy;
    if (!config["extractConfig"].get(extract)) {
      dom::array uris;
      std::string place = "unknown";
      if (!extract["destinationUris"].get(uris))
        for (const dom::element uri : uris) {
          std::string_view text;
          if (!uri.get(text)) {
            place = std::string(text);
            break;
          }
        }
      const std::string_view table = TextOf(extract, "sourceTable");
      if (!table.empty()) collector_.TakeExtract(s, {Table(table)}, place, "an EXTRACT job");
      return;
    }
    if (!config["tableCopyConfig"].get(copy)) {
      dom::array sources;
      std::vector<std::string> from;
      if (!copy["sourceTables"].get(sources))
        for (const dom::element one : sources) {
          std::string_view text;
          if (!one.get(text)) from.push_back(Table(text));
        }
      const std::string to = Table(TextOf(copy, "destinationTable"));
      const auto project = [](const std::string& name) { return name.substr(0, name.find('.')); };
      if (!from.empty() && project(from[0]) != project(to))
        collector_.TakeExtract(s, from, to, "a COPY job to another project");
      return;
    }
    dom::element query;
    if (!config["queryConfig"].get(query)) {
      const auto path = Split(TextOf(job, "jobName"), '/');
      const std::string project = path.size() > 1 ? path[1] : "", text(TextOf(query, "query"));
      s.database = project, s.text = text;
      if (TextOf(query, "queryTruncated") == "true") s.limit = 1;
      collector_.Take(s);
    }
  }
  void Read(const dom::element& payload, const dom::element& metadata, const dom::element& read,
            Statement& s) {
    const std::string table = Table(TextOf(payload, "resourceName"));
    const std::string job = LastOf(TextOf(read, "jobName"));
    s.id = job;
    const std::string_view reason = TextOf(read, "reason");
    dom::element app, sheet;
    if (!metadata["firstPartyAppMetadata"].get(app) && !app["sheetsMetadata"].get(sheet)) {
      s.client = "Connected Sheets";
      return collector_.TakeRead(s, table, true);
    }
    if (reason == "CREATE_READ_SESSION" || reason == "TABLEDATA_LIST_REQUEST") {
      const std::string session = LastOf(TextOf(read, "sessionName"));
      s.id = session;
      collector_.TakeRead(s, table, true);
    }
  }
  Collector& collector_;
  Cell cell_;
};

// A script: one statement after the other, each named by its line.
class ScriptFile : public LogReader {
 public:
  explicit ScriptFile(Collector& collector) : collector_(collector) {}
  void Take(Record& r) override {
    const std::string_view text = r[C::kText];
    std::size_t line = 1, at = 0;
    while (at < text.size()) {
      const std::size_t end = EndOf(text, at);
      std::size_t from = at;
      SkipBlank(text, from, end, line);
      if (from < end) {
        Statement s;
        const std::string id = fmt::format("{}:{}", r.file, line);
        s.id = id, s.text = text.substr(from, end - from), s.file = r.file, s.line = line,
        s.session = "script";
        collector_.Take(s);
      }
      line += static_cast<std::size_t>(
          std::count(text.begin() + static_cast<std::ptrdiff_t>(from),
                     text.begin() + static_cast<std::ptrdiff_t>(std::min(end + 1, text.size())), '\n'));
      at = end + 1;
    }
  }

 private:
  static void SkipBlank(std::string_view text, std::size_t& from, std::size_t end, std::size_t& line) {
    while (from < end) {
      const char c = text[from];
      if (c == '-' && from + 1 < end && text[from + 1] == '-') {
        from = std::min(end, text.find('\n', from));
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
        line += c == '\n';
        ++from;
      } else {
        return;
      }
    }
  }
  // The semicolon that ends a statement: in no string, comment or dollar quote; a line for psql's own
  // commands.
  static std::size_t EndOf(std::string_view t, std::size_t i) {
    bool begun = false;
    int depth = 0;
    for (; i < t.size(); ++i) {
      const char c = t[i];
      if (c == ';' && depth <= 0) return i;
      if (!begun && c == '\\') return std::min(t.find('\n', i), t.size());
      if (c == '\'' || c == '"' || c == '`') {
        begun = true;
        for (++i; i < t.size() && t[i] != c; ++i) {
        }
      } else if (c == '-' && i + 1 < t.size() && t[i + 1] == '-') {
        i = std::min(t.find('\n', i), t.size());
      } else if (c == '/' && i + 1 < t.size() && t[i + 1] == '*') {
        const std::size_t end = t.find("*/", i + 2);
        i = end == std::string_view::npos ? t.size() : end + 1;
      } else if (c == '$') {
        const std::size_t close = t.find('$', i + 1);
        if (close != std::string_view::npos && close - i < 40 &&
            t.substr(i + 1, close - i - 1).find_first_of(" \n\t(),;.'") == std::string_view::npos) {
          const std::size_t end = t.find(t.substr(i, close - i + 1), close + 1);
          i = end == std::string_view::npos ? t.size() : end + (close - i);
        }
        begun = true;
      } else if (c != ' ' && c != '\n' && c != '\t' && c != '\r') {
        begun = true;
      }
    }
    return t.size();
  }
  Collector& collector_;
};

}  // namespace

int TurnOf(const Columns& c) {
  if (c.Has(C::kService) && c.Has(C::kAction)) return 0;  // downloads, which name statements
  if (c.Has(C::kModified) || c.Has(C::kSourceTable) || c.Has(C::kApplication)) return 2;
  return 1;
}

std::unique_ptr<LogReader> ReaderFor(const Columns& c, bool csvlog, bool sql, const std::string& dialect,
                                     Collector& collector, Across& across) {
  if (sql) return std::make_unique<ScriptFile>(collector);
  if (csvlog || (c.Has(C::kMessage) && c.Has(C::kSeverity) && c.Has(C::kLineNumber)))
    return std::make_unique<PostgresLog>(collector);
  if (c.Has(C::kPayload)) return std::make_unique<BigQueryAudit>(collector);
  if (c.Has(C::kService) && c.Has(C::kAction)) return std::make_unique<DatabricksAudit>(collector, across);
  if (c.Has(C::kModified)) return std::make_unique<AccessHistory>(collector);
  if (c.Has(C::kSourceTable)) return std::make_unique<LineageLog>(collector);
  if (c.Has(C::kSequence) && c.Has(C::kChunk)) return std::make_unique<TextPieces>(dialect, collector);
  if (c.Has(C::kLocation) && !c.Has(C::kType)) return std::make_unique<UnloadLog>(collector);
  if (c.Has(C::kCalls) && c.Has(C::kText)) return std::make_unique<PgStatStatements>(collector);
  if (c.Has(C::kApplication) && !c.Has(C::kText)) return std::make_unique<SessionLog>(collector);
  if (c.Has(C::kText) || c.Has(C::kJobType))
    return std::make_unique<StatementLog>(dialect, c, collector, across);
  return nullptr;
}

}  // namespace backreach::queries
