// Names first: a name is folded as its engine folds it, gets the database and schema of the session, and is
// then one of a temporary table (whose sources stand for it), of a catalogue (which is nobody's data), or of
// a dataset, which has a number from then on. Tallies are kept by numbers, so a log of any length takes the
// memory of its different datasets, users and ways out.

#include "ingest/queries/collector.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "graph/base/words.hpp"

namespace backreach::queries {

namespace {

constexpr std::size_t kMostSessions = 20'000;  // that are remembered at a time
constexpr std::size_t kMostAlike = 200;        // statements not understood for one reason that are listed
constexpr std::size_t kMostIds = 20;           // of a table's writers

std::uint64_t HashOf(std::string_view text) {
  std::uint64_t h = 0xcbf29ce484222325u;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  h ^= h >> 31;
  return h * 0x9E3779B97F4A7C15u;
}

// The statement without what changes from day to day: its words, no literals, numbers or comments.
std::uint64_t ShapeOf(std::string_view text) {
  std::uint64_t h = 0xcbf29ce484222325u;
  bool blank = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\'') {
      const std::size_t close = text.find('\'', i + 1);
      i = close == std::string_view::npos ? text.size() : close;
      continue;
    }
    if (c == '-' && i + 1 < text.size() && text[i + 1] == '-') {
      i = text.find('\n', i);
      if (i == std::string_view::npos) break;
      continue;
    }
    if (c == '/' && i + 1 < text.size() && text[i + 1] == '*') {
      i = text.find("*/", i);
      if (i == std::string_view::npos) break;
      ++i;
      continue;
    }
    if ((c >= '0' && c <= '9') || c == ' ' || c == '\n' || c == '\t' || c == '\r') {
      blank = true;
      continue;
    }
    if (blank) h = (h ^ 32u) * 0x100000001b3u;
    blank = false;
    h = (h ^ static_cast<unsigned char>(c | 0x20)) * 0x100000001b3u;
  }
  return h;
}

// A destination with what changes from run to run as `*`: dates, hours, ids of runs.
std::string FoldPlace(std::string_view text) {
  const auto digit = [&](std::size_t i) { return i < text.size() && text[i] >= '0' && text[i] <= '9'; };
  const auto hex = [&](std::size_t i) {
    return digit(i) ||
           (i < text.size() && ((text[i] >= 'a' && text[i] <= 'f') || (text[i] >= 'A' && text[i] <= 'F')));
  };
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t n = 0;
    while (digit(i + n)) ++n;
    std::size_t h = 0;
    while (hex(i + h) || (h > 7 && i + h < text.size() && text[i + h] == '-')) ++h;
    if (h >= 32) {
      out += '*', i += h;
      continue;
    }
    const bool year = n == 4 && (text[i] == '1' || text[i] == '2');
    if (year && i + 4 < text.size() && (text[i + 4] == '-' || text[i + 4] == '_' || text[i + 4] == '/') &&
        digit(i + 5) && digit(i + 6) && !digit(i + 7)) {
      const char mark = text[i + 4];
      std::size_t j = i + 7;
      if (j < text.size() && text[j] == mark && digit(j + 1) && digit(j + 2) && !digit(j + 3)) j += 3;
      out += '*', i = j;
    } else if (n == 8 || n == 10 || n == 12 || n == 14 || (n == 6 && text[i] == '2')) {
      out += '*', i += n;
    } else if (n > 0 && !out.empty() && out.back() == '=') {  // day=3
      out += '*', i += n;
    } else if (n > 0) {
      out.append(text.substr(i, n)), i += n;
    } else {
      out += text[i++];
    }
  }
  return out;
}

std::string DayText(Instant t) { return FormatInstant(t); }

bool HoldsText(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// The value of a key in a comment that holds JSON: "node_id": "model.shop.m".
std::string ValueOf(std::string_view text, std::string_view key) {
  std::size_t at = text.find("\"" + std::string(key) + "\"");
  if (at == std::string_view::npos) return "";
  at = text.find(':', at);
  if (at == std::string_view::npos) return "";
  at = text.find_first_not_of(": ", at);
  if (at == std::string_view::npos) return "";
  if (text[at] == '"') {
    const std::size_t close = text.find('"', at + 1);
    return close == std::string_view::npos ? "" : std::string(text.substr(at + 1, close - at - 1));
  }
  const std::size_t close = text.find_first_of(",} ", at);
  return std::string(text.substr(at, close == std::string_view::npos ? close : close - at));
}
// `dag_id=nightly` in a comment.
std::string WordBehind(std::string_view text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return "";
  const std::size_t from = at + mark.size(), close = text.find_first_of(" ,;*\n\"'", from);
  return std::string(text.substr(from, close == std::string_view::npos ? close : close - from));
}

// What comments at both ends of a text say of who runs it. Texts may be long, comments are not.
std::string Ends(std::string_view text) {
  if (text.size() < 3000) return std::string(text);
  return std::string(text.substr(0, 1500)) + "\n" + std::string(text.substr(text.size() - 1500));
}

bool MarkedAsJob(std::string_view text, std::string_view tag, std::string_view client) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text.size() > first + 1 &&
      ((text[first] == '/' && text[first + 1] == '*') || (text[first] == '-' && text[first + 1] == '-'))) {
    const std::string_view head = text.substr(first, 600);
    if (HoldsText(head, "\"app\": \"dbt\"") || HoldsText(head, "\"app\":\"dbt\"") ||
        HoldsText(head, "dag_id") || HoldsText(head, "airflow") || HoldsText(head, "dagster") ||
        HoldsText(head, "sqlmesh"))
      return true;
  }
  const auto named = [](std::string_view t) {
    const std::string l = Lower(t.substr(0, 2000));
    return HoldsText(l, "airflow") || HoldsText(l, "dagster") || HoldsText(l, "\"app\": \"dbt\"") ||
           HoldsText(l, "\"app\":\"dbt\"") || HoldsText(l, "dbt_") || l == "dbt" || HoldsText(l, "sqlmesh");
  };
  return (!tag.empty() && named(tag)) || (!client.empty() && named(client));
}

std::set<std::string> BehindOf(const Statement& s) {
  std::set<std::string> out;
  const std::string text = Ends(s.text) + "\n" + std::string(s.tag);
  if (const std::string node = ValueOf(text, "node_id"); !node.empty()) out.insert("dbt " + node);
  if (const std::string dag = WordBehind(text, "dag_id="); !dag.empty())
    out.insert("airflow " + dag +
               (WordBehind(text, "task_id=").empty() ? "" : "." + WordBehind(text, "task_id=")));
  if (const std::size_t at = text.find("airflow-dag"); at != std::string::npos) {
    const std::string dag = ValueOf(std::string_view(text).substr(at), "value");
    if (!dag.empty()) out.insert("airflow " + dag);
  }
  if (HoldsText(text, "Looker Query Context")) out.insert("Looker " + ValueOf(text, "history_slug"));
  if (HoldsText(text, "Metabase::")) out.insert("Metabase " + WordBehind(text, "queryHash: "));
  if (HoldsText(text, "tableau-query-origins")) {
    const std::string board = ValueOf(text, "dashboard-luid"), book = ValueOf(text, "workbook-luid");
    out.insert("Tableau " + (board.empty() ? "workbook " + book : "dashboard " + board));
  }
  if (HoldsText(text, "looker_studio_report_id")) out.insert("Looker Studio");
  if (StartsWith(s.id, "sheets_dataconnector")) out.insert("Connected Sheets");
  if (StartsWith(s.id, "airflow_")) out.insert("airflow " + std::string(s.id.substr(8)));
  return out;
}

bool HasControls(std::string_view text) {
  for (const char c : text.substr(0, 4096))
    if (static_cast<unsigned char>(c) < 9 || c == 0x7f) return true;
  return false;
}

}  // namespace

Collector::Collector(std::string dialect, std::string source)
    : dialect_name_(std::move(dialect)),
      source_(std::move(source)),
      dialect_(DialectOf(dialect_name_)),
      reader_({dialect_, false}) {}

Collector::Id Collector::IdOf(std::string_view name) {
  const auto it = ids_.find(name);
  if (it != ids_.end()) return it->second;
  const Id id = static_cast<Id>(names_.size());
  names_.emplace_back(name);
  ids_.emplace(names_.back(), id);
  return id;
}

Collector::Session& Collector::SessionOf(std::string_view key) {
  const std::string text(key);
  const auto [it, fresh] = sessions_.try_emplace(text);
  if (fresh) {
    session_order_.push_back(text);
    if (session_order_.size() > kMostSessions) {
      sessions_.erase(session_order_.front());
      session_order_.pop_front();
    }
  }
  return it->second;
}

void Collector::Add(Tally& t, const Statement& s) {
  t.times += s.times;
  t.digest += HashOf(s.id);
  t.job = t.job || s.of_job;
  if (!s.at) return;
  t.first = std::min(t.first, *s.at), t.last = std::max(t.last, *s.at);
  const std::int64_t day = FloorDiv(*s.at, kDay);
  if (day != t.last_day) ++t.days, t.last_day = day;
}

std::string Collector::Folded(std::string_view part, bool quoted) const {
  switch (dialect_) {
    case SqlDialect::kSnowflake:
    case SqlDialect::kOracle: return quoted ? std::string(part) : Upper(part);
    case SqlDialect::kPostgres:
    case SqlDialect::kRedshift:
    case SqlDialect::kTrino: return quoted ? std::string(part) : Lower(part);
    case SqlDialect::kSpark:
    case SqlDialect::kDuckDb: return Lower(part);
    default: return std::string(part);
  }
}

bool Collector::IsSystem(const std::vector<std::string>& parts, SqlDialect dialect) {
  for (const std::string& part : parts) {
    const std::string l = Lower(part);
    if (l == "information_schema" || l == "pg_catalog" || l == "account_usage" || l == "pg_toast")
      return true;
  }
  if (parts.empty()) return true;
  const std::string first = Lower(parts[0]), last = Lower(parts.back());
  if (parts.size() >= 2 && (Lower(parts[parts.size() - 2]) == "sys")) return true;
  if (parts.size() == 1 && (last == "dual" || last == "sysibm")) return true;
  const bool pg =
      dialect == SqlDialect::kPostgres || dialect == SqlDialect::kRedshift || dialect == SqlDialect::kUnknown;
  if (pg && StartsWith(last, "pg_")) return true;
  if (dialect == SqlDialect::kRedshift && parts.size() == 1)
    for (const char* prefix : {"stl_", "stv_", "svl_", "svv_", "sys_", "svcs_"})
      if (StartsWith(last, prefix)) return true;
  if (dialect == SqlDialect::kSpark && parts.size() >= 2 && first == "system") return true;
  if (dialect == SqlDialect::kDuckDb && StartsWith(last, "duckdb_")) return true;
  if (dialect == SqlDialect::kClickHouse && first == "system") return true;
  return StartsWith(last, "__tables");
}

std::vector<std::string> Collector::PartsOf(const SqlName& name, const Statement& s,
                                            const Session* session) const {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < name.parts; ++i) parts.push_back(Folded(name.part[i], name.IsQuoted(i)));
  if (parts.empty() || IsSystem(parts, dialect_)) return {};
  if (dialect_ == SqlDialect::kBigQuery) {
    std::string& last = parts.back();  // a partition or a moment of it
    if (const std::size_t mark = last.find_first_of("$@"); mark != std::string::npos && mark > 0)
      last.resize(mark);
    if (parts.size() == 2 && !s.database.empty()) parts.insert(parts.begin(), std::string(s.database));
    if (parts.size() == 1 && !s.schema.empty()) {
      parts.insert(parts.begin(), std::string(s.schema));
      if (!s.database.empty()) parts.insert(parts.begin(), std::string(s.database));
    }
    return parts;
  }
  const auto database = [&]() -> std::string {
    if (session && !session->database.empty()) return session->database;
    return Folded(s.database, true);
  };
  if (parts.size() == 3 && parts[1].empty())
    parts[1] = dialect_ == SqlDialect::kSqlServer ? "dbo" : Folded("public", false);
  if (parts.size() == 1) {
    std::string schema;
    if (session && !session->path.empty()) {
      schema = session->path[0];
      for (const std::string& one : session->path) {  // the first of them in which the name is known
        const std::string full = (database().empty() ? "" : database() + ".") + one + "." + parts[0];
        const auto known = ids_.find(full);
        if (known != ids_.end() && known->second < tables_.size() && tables_[known->second]) {
          schema = one;
          break;
        }
      }
    } else if (!s.schema.empty()) {
      schema = Folded(s.schema, true);
    } else if (dialect_ == SqlDialect::kPostgres || dialect_ == SqlDialect::kRedshift) {
      schema = "public";
    } else if (dialect_ == SqlDialect::kDuckDb) {
      schema = "main";
    }
    if (!schema.empty()) {
      const auto dotted = Split(schema, '.');
      parts.insert(parts.begin(), dotted.begin(), dotted.end());
    }
  }
  if (parts.size() == 2 && dialect_ != SqlDialect::kDuckDb && !database().empty())
    parts.insert(parts.begin(), database());
  return parts;
}

std::string Collector::NameOf(const std::vector<std::string>& parts) {
  std::string name = Join(parts, ".");
  for (const std::string& part : parts)
    if (HoldsText(part, ".")) {
      odd_.emplace(name, parts);
      break;
    }
  return name;
}

Collector::Temporary* Collector::TemporaryOf(const SqlName& name, const Statement& s) {
  if (s.session.empty() && dialect_ != SqlDialect::kDuckDb && !s.text.empty() && s.file.empty())
    return nullptr;
  const auto it = sessions_.find(std::string(s.session));
  if (it == sessions_.end() || it->second.temporary.empty() || name.empty()) return nullptr;
  const auto found = it->second.temporary.find(Folded(name.last(), name.IsQuoted(name.parts - 1u)));
  return found == it->second.temporary.end() ? nullptr : &found->second;
}

void Collector::Resolve(const SqlName& name, const Statement& s, std::vector<Id>& out, bool& pulls) {
  if (name.parts == 1 || (name.parts == 2 && StartsWith(Lower(name.part[0]), "pg_temp")) ||
      dialect_ == SqlDialect::kSnowflake || dialect_ == SqlDialect::kBigQuery) {
    if (const Temporary* temporary = TemporaryOf(name, s)) {
      out.insert(out.end(), temporary->sources.begin(), temporary->sources.end());
      pulls = pulls && temporary->pulls;
      return;
    }
  }
  if (name.last().substr(0, 1) == "#") return;  // made in a part of the log that is not here
  const auto session = sessions_.find(std::string(s.session));
  const std::vector<std::string> parts =
      PartsOf(name, s, session == sessions_.end() ? nullptr : &session->second);
  if (parts.empty()) return;
  if (EndsWith(parts.back(), "*")) {  // which of them were read the log may tell
    std::string prefix = NameOf(parts);
    prefix.pop_back();
    bool any = false;
    for (const std::string& table : s.referenced)
      if (StartsWith(table, prefix)) out.push_back(IdOf(table)), any = true;
    if (any) return;
  }
  out.push_back(IdOf(NameOf(parts)));
}

void Collector::Resolve(const std::vector<SqlName>& names, const Statement& s, std::vector<Id>& out) {
  out.clear();
  bool pulls = true;
  for (const SqlName& name : names) Resolve(name, s, out, pulls);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
}

void Collector::Count(const Statement& s, const char* what) { Add(counts_[what], s); }

void Collector::Failed(const Statement& s) {
  Count(s, s.cancelled ? "cancelled" : "failed");
  if (!s.cancelled && failed_.size() < 100'000) failed_.emplace_back(s.id);
}

void Collector::Take(const Statement& given) {
  Statement s = given;
  ++statements_all_;
  Count(s, "statements");
  if (s.text.empty()) return;
  if (HasControls(s.text)) return NotUnderstood(s, "its text is binary", true);
  s.of_job = s.of_job || MarkedAsJob(s.text, s.tag, s.client);
  const std::vector<SqlDeed>& deeds = reader_.Read(s.text);
  const bool cut = reader_.cut() || (s.limit > 0 && s.text.size() >= s.limit);
  if (cut) {
    bool out = false;
    for (const SqlDeed& deed : deeds) out = out || deed.kind == SqlDeed::Kind::kTakesOut || deed.possible;
    if (s.failed) return Failed(s);
    // What a log says beside its text may tell as much.
    if (out && !s.referenced.empty())
      for (const SqlDeed& deed : deeds)
        if (deed.kind == SqlDeed::Kind::kTakesOut && !deed.destination.empty()) {
          for (const std::string& name : s.referenced) Extract(s, IdOf(name), deed.destination, deed.how);
          return;
        }
    NotUnderstood(s, "its text was cut off", out);
    for (const SqlDeed& deed : deeds)
      if (deed.kind == SqlDeed::Kind::kWrites) Deed(deed, s);
    return;
  }
  if (s.failed) {
    for (const SqlDeed& deed : deeds)
      if (deed.kind == SqlDeed::Kind::kTakesOut && !s.cancelled) {
        NotUnderstood(s, "it failed before a row moved", false);
        break;
      }
    Failed(s);
    if (!s.cancelled) return;
    for (const SqlDeed& deed : deeds)
      if (deed.kind == SqlDeed::Kind::kTakesOut) Deed(deed, s);
    return;
  }
  // A text that was read in one place is looked at again by what it calls: keep a copy of what is needed.
  for (std::size_t i = 0; i < deeds.size(); ++i) Deed(deeds[i], s);
}

void Collector::Deed(const SqlDeed& deed, const Statement& s) {
  using Kind = SqlDeed::Kind;
  switch (deed.kind) {
    case Kind::kReads: return Reads(deed, s);
    case Kind::kTakesOut: return TakesOut(deed, s);
    case Kind::kWrites: return Writes(deed, s);
    case Kind::kMakesView: return MakesView(deed, s);
    case Kind::kRenames:
    case Kind::kSwaps:
    case Kind::kDrops:
    case Kind::kOutside: return Moves(deed, s);
    case Kind::kSearchPath: return SearchPath(deed, s);
    case Kind::kAttaches:
      if (!deed.target.empty()) attached_[Lower(deed.target.last())] = deed.destination;
      return;
    case Kind::kPrepares: {
      Resolve(deed.reads, s, scratch_);
      SessionOf(s.session).temporary["\x01" + Lower(deed.target.last())] = {scratch_, deed.rows};
      return;
    }
    case Kind::kRuns: {
      const auto session = sessions_.find(std::string(s.session));
      if (session == sessions_.end()) return;
      const auto found = session->second.temporary.find("\x01" + Lower(deed.target.last()));
      if (found == session->second.temporary.end()) return;
      if (!s.of_job)
        for (const Id id : found->second.sources) Read(id, s, found->second.pulls);
      return;
    }
    case Kind::kDefines: {
      if (deed.how == "procedure" || deed.how == "function") {
        bool& out = routines_[Lower(deed.target.last())];
        out = out || deed.possible;
      }
      return;
    }
    case Kind::kCalls: {
      const auto known = routines_.find(Lower(deed.target.last()));
      if (known != routines_.end() && !known->second) return;  // its body is here, and takes nothing out
      return NotUnderstood(
          s,
          fmt::format("it calls {}, and what that does is not in the log", std::string(deed.target.last())),
          true);
    }
    case Kind::kFetches: return TakeFetch(s, deed.destination, deed.place);
    case Kind::kLoads: Count(s, "loads"); return;
    case Kind::kNotUnderstood: return NotUnderstood(s, deed.trouble, deed.possible);
  }
}

void Collector::Read(Id dataset, const Statement& s, bool rows) {
  IsTable(dataset);
  const auto it = user_ids_.find(s.user);
  Id user;
  if (it == user_ids_.end()) {
    user = static_cast<Id>(users_.size());
    users_.emplace_back(s.user);
    user_ids_.emplace(users_.back(), user);
  } else {
    user = it->second;
  }
  const std::uint64_t via = s.via == "text" ? 0u : s.via == "access" ? 1u : s.via == "lineage" ? 2u : 3u;
  Tally& t = reads_[via << 62 | static_cast<std::uint64_t>(rows) << 61 |
                    static_cast<std::uint64_t>(dataset) << 28 | (user & 0xFFFFFFFu)];
  Add(t, s);
}

void Collector::Reads(const SqlDeed& deed, const Statement& s) {
  if (deed.possible) return NotUnderstood(s, deed.trouble, true);
  Resolve(deed.reads, s, scratch_);
  if (scratch_.empty() && deed.anything && !s.referenced.empty())
    for (const std::string& name : s.referenced) scratch_.push_back(IdOf(name));
  if (!deed.trouble.empty()) NotUnderstood(s, deed.trouble, false);
  Count(s, "reads");
  if (s.of_job) {
    for (const Id id : scratch_) IsTable(id);
    return;
  }
  for (const Id id : scratch_) Read(id, s, deed.rows);
  // A routine whose body takes rows out, called like a function.
  if (!deed.reads.empty()) return;
  for (const auto& [routine, out] : routines_)
    if (out && HoldsText(s.text, routine + "("))
      NotUnderstood(s, fmt::format("it calls {}, whose body takes rows out", routine), true);
}

void Collector::TakeRead(const Statement& s, const std::string& dataset, bool rows) {
  ++statements_all_;
  Count(s, "statements");
  if (!s.of_job) Read(IdOf(dataset), s, rows);
}

void Collector::Extract(const Statement& s, Id dataset, const std::string& destination,
                        const std::string& how, bool frozen) {
  IsTable(dataset);
  const std::string key = names_[dataset] + "\n" + (frozen ? destination : FoldPlace(destination)) + "\n" +
                          std::string(s.user) + "\n" + std::string(s.via) +
                          (s.cancelled ? "\ncancelled" : "");
  Extract_& e = extracts_[key];
  if (!e.seen.insert(HashOf(s.id)).second) return;
  if (e.tally.times == 0) {
    e.how = how, e.file = s.file, e.line = s.line, e.destination = destination;
    e.cancelled = s.cancelled, e.frozen = frozen;
  }
  if (e.client.empty()) e.client = s.client;
  if (e.behind.size() < 20) {
    const std::set<std::string> behind = BehindOf(s);
    e.behind.insert(behind.begin(), behind.end());
  }
  e.ids.emplace_back(s.id);
  Add(e.tally, s);
}

void Collector::TakesOut(const SqlDeed& deed, const Statement& s) {
  Count(s, "exports");
  if (deed.session_wide) {  // every table of a database
    for (Id id = 0; id < tables_.size(); ++id)
      if (tables_[id] && !views_.count(id) && OutsideOf(Split(names_[id], '.')).empty())
        Extract(s, id, deed.destination, deed.how);
    return NotUnderstood(s, fmt::format("{} takes every table at once to {}", deed.how, deed.destination),
                         true);
  }
  Resolve(deed.reads, s, scratch_);
  if (scratch_.empty() && deed.anything && !s.referenced.empty() && deed.calls.empty())
    for (const std::string& name : s.referenced) scratch_.push_back(IdOf(name));
  const std::vector<Id> sources = scratch_;
  if (!deed.trouble.empty())
    NotUnderstood(s, deed.trouble, true);
  else if (!deed.calls.empty() && sources.empty())
    NotUnderstood(s,
                  fmt::format("it takes out what {} gives, whose body is not in the log",
                              std::string(deed.calls[0].last())),
                  true);
  if (deed.destination.empty()) return;
  for (const Id id : sources) Extract(s, id, deed.destination, deed.how);
}

void Collector::TakeExtract(const Statement& s, const std::vector<std::string>& datasets,
                            std::string destination, const std::string& how) {
  ++statements_all_;
  Count(s, "exports");
  for (const std::string& dataset : datasets) Extract(s, IdOf(dataset), destination, how);
}

void Collector::TakeFetch(const Statement& s, std::string_view stage, std::string_view place) {
  if (HoldsText(stage, "worksheet_data")) return;  // the web client's own
  Count(s, "fetches");
  ExtractFact f;
  f.dataset = std::string(stage), f.destination = place.empty() ? std::string("client") : std::string(place);
  f.user = s.user.empty() ? Text() : Text(s.user);
  f.fetched = true, f.times = 1;
  f.ids = {std::string(s.id)};
  f.via = std::string(s.via);
  f.what = "files of a stage are fetched";
  f.at = {std::string(s.file), std::to_string(s.line)};
  if (s.at) f.first_seen = f.last_seen = Text(DayText(*s.at));
  fetches_.push_back(std::move(f));
}

void Collector::TakeClient(const std::string& user, const std::string& client) {
  Statement s;
  Add(clients_[{user, client}], s);
}

std::string Collector::OutsideOf(const std::vector<std::string>& parts) const {
  if (parts.empty()) return "";
  const auto known = ids_.find(Join(parts, "."));
  if (known != ids_.end())
    if (const auto it = outside_.find(known->second); it != outside_.end())
      return Join(parts, ".") + (it->second.empty() ? "" : " on " + it->second);
  if (parts.size() >= 2) {
    const std::string schema = Join({parts.begin(), parts.end() - 1}, ".");
    if (outside_schemas_.count(schema) || outside_schemas_.count(parts[parts.size() - 2]))
      return Join(parts, ".");
  }
  if (!attached_.empty() && parts.size() >= 2)
    if (const auto it = attached_.find(Lower(parts[0])); it != attached_.end())
      return Join(parts, ".") + (it->second.empty() ? "" : " on " + it->second);
  return "";
}

void Collector::Writes(const SqlDeed& deed, const Statement& s) {
  Resolve(deed.reads, s, scratch_);
  const std::vector<Id> sources = scratch_;
  const std::string folded = Folded(deed.target.last(), deed.target.IsQuoted(deed.target.parts - 1u));
  if (deed.temporary || deed.target.last().substr(0, 1) == "#") {
    SessionOf(s.session).temporary[folded] = {sources, false};
    return;
  }
  if (deed.target.parts == 1 || dialect_ == SqlDialect::kSnowflake)
    if (Temporary* temporary = TemporaryOf(deed.target, s)) {
      temporary->sources.insert(temporary->sources.end(), sources.begin(), sources.end());
      return;
    }
  const auto session = sessions_.find(std::string(s.session));
  const std::vector<std::string> parts =
      PartsOf(deed.target, s, session == sessions_.end() ? nullptr : &session->second);
  if (parts.empty()) return;
  Count(s, "writes");
  if (const std::string outside = OutsideOf(parts); !outside.empty() && deed.verb != SqlDeed::Verb::kChange) {
    for (const Id id : sources) Extract(s, id, outside, deed.how + " into a table outside");
    return;
  }
  const char* verb = deed.verb == SqlDeed::Verb::kClone     ? "clone"
                     : deed.verb == SqlDeed::Verb::kCreate  ? "create"
                     : deed.verb == SqlDeed::Verb::kInsert  ? "insert"
                     : deed.verb == SqlDeed::Verb::kRefresh ? "refresh"
                                                            : "change";
  std::vector<std::string> names;
  for (const Id id : sources) names.push_back(names_[id]);
  TakeWrite(s, NameOf(parts), names, verb, std::string(s.text));
  if (!deed.trouble.empty()) NotUnderstood(s, deed.trouble, false);
}

void Collector::TakeWrite(const Statement& s, const std::string& target_name,
                          const std::vector<std::string>& source_names, const char* verb,
                          const std::string& shape) {
  const Id target = IdOf(target_name);
  Write& w = writes_[target];
  if (w.tally.times == 0) w.user = std::string(s.user), w.verb = verb, w.via = std::string(s.via);
  if (std::string_view(verb) == "change") w.verb = verb;
  const bool again = std::find(w.ids.begin(), w.ids.end(), s.id) != w.ids.end();
  if (!again || s.via == "text") Add(w.tally, s);
  if (!again && w.ids.size() < kMostIds) w.ids.emplace_back(s.id);
  if (w.shapes.size() < 3) w.shapes.insert(shape.empty() ? 0 : ShapeOf(shape));
  for (const std::string& name : source_names) {
    const Id source = IdOf(name);
    IsTable(source);
    const bool in_place = std::string_view(verb) == "change";
    if (source == target && !in_place) continue;  // rows that are taken or not by what is there
    w.sources.insert(source);
    Add(edges_[static_cast<std::uint64_t>(source) << 32 | target], s);
  }
  // UPDATE and MERGE go over the rows that are there.
  if (std::string_view(verb) == "change" && !shape.empty() && !source_names.empty()) {
    const std::string head = Upper(std::string_view(shape).substr(0, 400));
    if (HoldsText(head, "UPDATE") || HoldsText(head, "MERGE"))
      Add(edges_[static_cast<std::uint64_t>(target) << 32 | target], s);
  }
}

void Collector::MakesView(const SqlDeed& deed, const Statement& s) {
  Resolve(deed.reads, s, scratch_);
  const std::vector<Id> sources = scratch_;
  if (deed.temporary) {
    SessionOf(s.session).temporary[Folded(deed.target.last(), deed.target.IsQuoted(deed.target.parts - 1u))] =
        {sources, deed.rows};
    return;
  }
  const auto session = sessions_.find(std::string(s.session));
  const std::vector<std::string> parts =
      PartsOf(deed.target, s, session == sessions_.end() ? nullptr : &session->second);
  if (parts.empty()) return;
  const Id view = IdOf(NameOf(parts));
  views_.insert(view), IsTable(view);
  for (const Id source : sources)
    if (source != view) IsTable(source), Add(edges_[static_cast<std::uint64_t>(source) << 32 | view], s);
}

void Collector::Moves(const SqlDeed& deed, const Statement& s) {
  using Kind = SqlDeed::Kind;
  if (deed.kind == Kind::kOutside && deed.session_wide) {
    outside_schemas_[Folded(deed.target.last(), deed.target.IsQuoted(deed.target.parts - 1u))] =
        deed.destination;
    return;
  }
  if (deed.kind != Kind::kOutside && TemporaryOf(deed.target, s)) {
    if (deed.kind == Kind::kDrops)
      SessionOf(s.session).temporary.erase(
          Folded(deed.target.last(), deed.target.IsQuoted(deed.target.parts - 1u)));
    return;
  }
  const auto session = sessions_.find(std::string(s.session));
  const Session* in = session == sessions_.end() ? nullptr : &session->second;
  const std::vector<std::string> parts = PartsOf(deed.target, s, in);
  if (parts.empty()) return;
  const std::string name = NameOf(parts);
  if (deed.kind == Kind::kOutside) {
    outside_[IdOf(name)] = deed.destination;
    auto& move = moves_[{"outside", name}];
    move.first = deed.destination;
    return Add(move.second, s);
  }
  const char* what = deed.kind == Kind::kRenames ? "renamed"
                     : deed.kind == Kind::kSwaps ? "swapped"
                                                 : "dropped";
  std::string other;
  if (!deed.other.empty()) {
    std::vector<std::string> to = PartsOf(deed.other, s, in);
    // A new name without a schema stays where the table is.
    if (deed.other.parts == 1) {
      std::vector<std::string> there = parts;
      there.back() = Folded(deed.other.last(), deed.other.IsQuoted(0));
      to = std::move(there);
    }
    other = NameOf(to);
  }
  auto& move = moves_[{std::string(what), name + "\n" + other}];
  move.first = other;
  Add(move.second, s);
}

void Collector::SearchPath(const SqlDeed& deed, const Statement& s) {
  Session& session = SessionOf(s.session);
  if (deed.session_wide && deed.names.size() == 1) {
    session.database = Folded(deed.names[0].last(), deed.names[0].IsQuoted(0));
    return;
  }
  session.path.clear();
  for (const SqlName& name : deed.names) {
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < name.parts; ++i) parts.push_back(Folded(name.part[i], name.IsQuoted(i)));
    if (parts.size() == 2) session.database = parts[0], parts.erase(parts.begin());
    const std::string schema = Join(parts, ".");
    if (schema != "$user" && schema != "\"$user\"" && Lower(schema) != "default")
      session.path.push_back(schema);
  }
}

void Collector::NotUnderstood(const Statement& s, std::string reason, bool possible) {
  Count(s, "not understood");
  std::size_t& alike = like_it_[reason + "\n" + std::string(s.user)];
  if (++alike > kMostAlike) return;
  UnresolvedFact f;
  f.name = std::string(s.id);
  f.what = possible ? "extract" : "statement";
  f.message = std::move(reason);
  if (!s.user.empty()) f.message += fmt::format(" (by {})", std::string(s.user));
  f.at = {std::string(s.file), std::to_string(s.line)};
  unresolved_.push_back(std::move(f));
}

namespace {
Text TimeText(Instant t) { return t > kMinInstant && t < kMaxInstant ? Text(FormatInstant(t)) : Text(); }
}  // namespace

void Collector::EndOfFile() {
  const auto fact = [&](const char* what, std::string name, const Tally& t) {
    HistoryFact f;
    f.what = what, f.name = std::move(name);
    f.times = t.times, f.days = t.days;
    f.first_seen = TimeText(t.first), f.last_seen = TimeText(t.last);
    f.digest = fmt::format("{:016x}", t.digest);
    f.of_job = t.job;
    return f;
  };
  for (const auto& [key, tally] : reads_) {
    const auto dataset = static_cast<Id>(key >> 28 & 0x1FFFFFFFFu);
    const bool rows = (key >> 61 & 1u) != 0;
    HistoryFact f = fact(rows ? "pull" : "read", names_[dataset], tally);
    const std::string& user = users_[key & 0xFFFFFFFu];
    if (!user.empty()) f.user = user;
    static const char* const kVias[] = {"text", "access", "lineage", "jobs"};
    f.via = kVias[key >> 62];
    history_.push_back(std::move(f));
  }
  reads_.clear();
  for (const auto& [target, w] : writes_) {
    HistoryFact f = fact("write", names_[target], w.tally);
    f.other = w.verb, f.via = w.via;
    if (!w.user.empty()) f.user = w.user;
    f.ids = w.ids;
    for (const Id id : w.sources)
      if (f.sources.size() < 50) f.sources.push_back(names_[id]);
    std::sort(f.sources.begin(), f.sources.end());
    history_.push_back(std::move(f));
  }
  writes_.clear();
  for (const auto& [what, tally] : counts_) history_.push_back(fact("statements", what, tally));
  counts_.clear();
}

Facts Collector::Facts_() {
  EndOfFile();
  Facts facts;
  for (const auto& [key, move] : moves_) {
    HistoryFact f;
    f.what = key.first;
    f.name = key.second.substr(0, key.second.find('\n'));
    if (!move.first.empty()) f.other = move.first;
    f.times = move.second.times, f.days = move.second.days;
    f.first_seen = TimeText(move.second.first), f.last_seen = TimeText(move.second.last);
    f.of_job = move.second.job;
    history_.push_back(std::move(f));
  }
  for (const auto& [who, tally] : clients_) {
    HistoryFact f;
    f.what = "client", f.name = who.first, f.other = who.second;
    history_.push_back(std::move(f));
  }
  if (!failed_.empty()) {
    HistoryFact f;
    f.what = "failed", f.name = source_;
    std::sort(failed_.begin(), failed_.end());
    f.ids = failed_;
    history_.push_back(std::move(f));
  }
  std::sort(history_.begin(), history_.end(), [](const HistoryFact& a, const HistoryFact& b) {
    return std::tie(a.what, a.name, a.user, a.other, a.via, a.digest) <
           std::tie(b.what, b.name, b.user, b.other, b.via, b.digest);
  });
  facts.history = std::move(history_);
  for (auto& [key, e] : extracts_) {
    const auto parts = Split(key, '\n');
    ExtractFact f;
    f.dataset = parts[0], f.destination = e.ids.size() > 1 && !e.frozen ? parts[1] : e.destination;
    if (!parts[2].empty()) f.user = parts[2];
    f.first_seen = TimeText(e.tally.first), f.last_seen = TimeText(e.tally.last);
    f.times = e.tally.times;
    f.what = fmt::format("{}{}", e.how, e.cancelled ? ", cancelled halfway," : "");
    f.at = {e.file, std::to_string(e.line)};
    std::sort(e.ids.begin(), e.ids.end());
    f.ids = std::move(e.ids);
    f.via = parts[3];
    if (!e.client.empty()) f.client = e.client;
    f.behind.assign(e.behind.begin(), e.behind.end());
    f.frozen = e.frozen, f.cancelled = e.cancelled;
    facts.extracts.push_back(std::move(f));
  }
  for (ExtractFact& f : fetches_) facts.extracts.push_back(std::move(f));
  for (const auto& [reason, alike] : like_it_) {
    if (alike <= kMostAlike) continue;
    const auto parts = Split(reason, '\n');
    UnresolvedFact f;
    f.name = source_ + ": " + parts[0] + " (more)";
    f.what = "extract";
    f.message = fmt::format("{} more statements{}: {}", alike - kMostAlike,
                            parts[1].empty() ? "" : " by " + parts[1], parts[0]);
    unresolved_.push_back(std::move(f));
  }
  facts.unresolved = std::move(unresolved_);
  // Edges, and a dataset for each name.
  std::vector<std::uint64_t> keys;
  for (const auto& [key, tally] : edges_) keys.push_back(key);
  std::sort(keys.begin(), keys.end(), [&](std::uint64_t a, std::uint64_t b) {
    return std::tie(names_[a >> 32], names_[a & 0xFFFFFFFFu]) <
           std::tie(names_[b >> 32], names_[b & 0xFFFFFFFFu]);
  });
  std::set<Id> named;
  for (Id id = 0; id < tables_.size(); ++id)
    if (tables_[id]) named.insert(id);
  for (const std::uint64_t key : keys) {
    const Tally& t = edges_[key];
    EdgeFact e;
    e.from = names_[key >> 32], e.to = names_[key & 0xFFFFFFFFu];
    e.known = "assumed";
    if (e.from == e.to) e.reads = "\"same\"", e.note = "a statement that changes rows in place";
    e.first_seen = TimeText(t.first), e.last_seen = TimeText(t.last);
    named.insert(static_cast<Id>(key >> 32)), named.insert(static_cast<Id>(key & 0xFFFFFFFFu));
    facts.edges.push_back(std::move(e));
  }
  for (const HistoryFact& f : facts.history)
    if (f.what == "write")
      if (const auto it = ids_.find(f.name); it != ids_.end()) named.insert(it->second);
  std::vector<Id> sorted(named.begin(), named.end());
  std::sort(sorted.begin(), sorted.end(), [&](Id a, Id b) { return names_[a] < names_[b]; });
  for (const Id id : sorted) {
    DatasetFact d;
    d.name = names_[id];
    if (views_.count(id)) d.kind = "view";
    d.platform = dialect_name_;
    const auto odd = odd_.find(d.name);
    d.relation = odd == odd_.end() ? Split(d.name, '.') : odd->second;
    d.stored = d.relation;
    facts.datasets.push_back(std::move(d));
  }
  return facts;
}

}  // namespace backreach::queries
