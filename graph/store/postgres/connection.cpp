// Results come in binary: numbers as eight bytes, texts and blocks as they are. A statement's rows are
// fetched as they are asked for; when another is begun meanwhile, what is left of the first is taken in. One
// writer at a time is kept by an advisory lock that ends with its transaction, so that nobody who is killed
// leaves one behind.

#include "graph/store/postgres/connection.hpp"

#include <fmt/format.h>
#include <libpq-fe.h>

#include <array>
#include <cmath>
#include <cstring>
#include <deque>
#include <utility>

#include "graph/base/error.hpp"
#include "graph/base/words.hpp"
#include "graph/store/database/schema.hpp"
#include "graph/store/postgres/dialect.hpp"

namespace backreach::postgres {

namespace {

constexpr const char* kDefaultSchema = "backreach";
constexpr const char* kLockTimedOut = "55P03";
// What is written in one go to COPY.
constexpr std::size_t kCopyBytes = 256 << 10;

struct FreeResult {
  void operator()(PGresult* result) const { PQclear(result); }
};
using Result = std::unique_ptr<PGresult, FreeResult>;
struct CloseConnection {
  void operator()(PGconn* connection) const { PQfinish(connection); }
};

std::string Trimmed(const char* text) {
  std::string out = text ? text : "";
  while (!out.empty() && (out.back() == '\n' || out.back() == ' ')) out.pop_back();
  return out;
}

class PostgresStatement;

class PostgresDatabase : public Database {
 public:
  PostgresDatabase(const std::string& address, bool writing);

  void Exec(const std::string& sql) override {
    Quiet();
    Result result(PQexec(connection_.get(), Definitions(sql).c_str()));
    Check(result.get(), PGRES_COMMAND_OK);
  }
  std::unique_ptr<PreparedStatement> Prepare(const std::string& sql) override;
  void Begin(bool writing) override {
    Exec(writing ? "BEGIN" : "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    if (writing) Lock();
  }
  void Commit() override { Exec("COMMIT"); }
  void Rollback() noexcept override {
    try {
      Quiet();
    } catch (...) {  // what is left of a broken connection is of no use
    }
    Result(PQexec(connection_.get(), "ROLLBACK"));
  }
  bool HasTable(const std::string& name) override {
    return !Names(
                "SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema() AND tablename = "
                "$1",
                name)
                .empty();
  }
  std::vector<std::string> TablesLike(const std::string& prefix) override {
    return Names(
        "SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema() AND "
        "starts_with(tablename::text, "
        "$1) ORDER BY 1",
        prefix);
  }
  int CheckedLayout() override;
  void SayLayout() override {}  // `state` says it
  void InsertGiven(const std::string& table, int columns,
                   const std::function<bool(GivenRow&)>& next) override {
    const std::unique_ptr<RowSink> sink = Rows(table, columns);
    for (GivenRow row; next(row);) sink->Add(row);
    sink->Finish();
  }
  std::unique_ptr<RowSink> Rows(const std::string& table, int columns) override;

  // Rows that are lines of COPY.
  void Copy(const std::string& table, const std::string& lines);

  PGconn* raw() const { return connection_.get(); }
  // Takes in what a statement has not fetched yet, so that another can be sent.
  void Quiet();
  void SetActive(PostgresStatement* statement) { active_ = statement; }
  PostgresStatement* active() const { return active_; }
  [[noreturn]] void Fail(const PGresult* result) const;
  void Check(const PGresult* result, ExecStatusType expected) const {
    const ExecStatusType status = PQresultStatus(result);
    if (status != expected && status != PGRES_TUPLES_OK && status != PGRES_EMPTY_QUERY) Fail(result);
  }
  std::string NextName() { return fmt::format("s{}", ++statements_); }

 private:
  void Connect(const std::string& address);
  void FindSchema(const std::string& address, bool writing);
  void Lock();
  std::vector<std::string> Names(const char* sql, const std::string& argument);

  std::unique_ptr<PGconn, CloseConnection> connection_;
  PostgresStatement* active_ = nullptr;
  int statements_ = 0;
};

class PostgresStatement : public PreparedStatement {
 public:
  PostgresStatement(PostgresDatabase& db, const std::string& sql) : db_(db), name_(db.NextName()) {
    const std::string numbered = NumberPlaces(sql);
    while (numbered.find(fmt::format("${}", values_.size() + 1)) != std::string::npos) values_.emplace_back();
    db_.Quiet();
    const Result prepared(PQprepare(db_.raw(), name_.c_str(), numbered.c_str(), 0, nullptr));
    db_.Check(prepared.get(), PGRES_COMMAND_OK);
  }
  ~PostgresStatement() override {
    try {
      Reset();
      db_.Quiet();
    } catch (...) {  // the connection is gone, and the statement with it
    }
    Result(PQexec(db_.raw(), ("DEALLOCATE " + name_).c_str()));
  }

  void BindNumber(int place, std::int64_t number) override { Set(place, std::to_string(number), 0); }
  void BindReal(int place, double number) override { Set(place, fmt::format("{:.17g}", number), 0); }
  void BindText(int place, std::string_view text) override { Set(place, Keepable(text), 0); }
  void BindBytes(int place, std::string_view bytes) override {
    Value& v = values_.at(static_cast<std::size_t>(place - 1));
    v.lent = bytes, v.format = 1, v.null = false;
  }

  bool Step() override {
    if (!sent_) Send();
    if (!taken_.empty()) {
      row_ = std::move(taken_.front());
      taken_.pop_front();
      return true;
    }
    if (done_) return Over();
    row_ = Fetch();
    return row_ != nullptr || Over();
  }
  void Reset() override {
    if (sent_ && !done_) {
      while (Fetch()) {
      }
    }
    sent_ = done_ = false;
    taken_.clear();
    row_.reset();
  }
  void TakeIn() {
    while (Result row = Fetch()) taken_.push_back(std::move(row));
  }

  std::int64_t Number(int column) const override {
    if (PQgetisnull(row_.get(), 0, column)) return 0;
    const auto* bytes = reinterpret_cast<const unsigned char*>(PQgetvalue(row_.get(), 0, column));
    const int size = PQgetlength(row_.get(), 0, column);
    std::uint64_t number = size > 0 && (bytes[0] & 0x80) ? ~std::uint64_t{0} : 0;
    for (int i = 0; i < size; ++i) number = number << 8 | bytes[i];
    return static_cast<std::int64_t>(number);
  }
  std::string_view Bytes(int column) const override {
    return {PQgetvalue(row_.get(), 0, column), static_cast<std::size_t>(PQgetlength(row_.get(), 0, column))};
  }

 private:
  struct Value {
    std::string kept;
    std::string_view lent;
    int format = 0;
    bool null = true;
  };

  // Asking again begins anew, as with SQLite.
  bool Over() {
    sent_ = done_ = false;
    return false;
  }

  void Set(int place, std::string text, int format) {
    Value& v = values_.at(static_cast<std::size_t>(place - 1));
    v.kept = std::move(text);
    v.lent = v.kept, v.format = format, v.null = false;
  }

  void Send() {
    db_.Quiet();
    std::vector<const char*> texts;
    std::vector<int> lengths, formats;
    for (const Value& v : values_) {
      texts.push_back(v.null ? nullptr : v.lent.data() ? v.lent.data() : "");
      lengths.push_back(static_cast<int>(v.lent.size()));
      formats.push_back(v.format);
    }
    if (!PQsendQueryPrepared(db_.raw(), name_.c_str(), static_cast<int>(texts.size()), texts.data(),
                             lengths.data(), formats.data(), 1))
      db_.Fail(nullptr);
    PQsetSingleRowMode(db_.raw());
    db_.SetActive(this);
    sent_ = true;
    done_ = false;
  }

  // The next row from the server; nothing when there is none.
  Result Fetch() {
    if (done_) return nullptr;
    Result result(PQgetResult(db_.raw()));
    if (result && PQresultStatus(result.get()) == PGRES_SINGLE_TUPLE) return result;
    done_ = true;
    if (db_.active() == this) db_.SetActive(nullptr);
    const ExecStatusType status = result ? PQresultStatus(result.get()) : PGRES_COMMAND_OK;
    while (Result rest{PQgetResult(db_.raw())}) {
    }
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) db_.Fail(result.get());
    return nullptr;
  }

  PostgresDatabase& db_;
  std::string name_;
  std::vector<Value> values_;
  std::deque<Result> taken_;
  Result row_;
  bool sent_ = false, done_ = false;
};

// Lines of COPY, sent a good deal at a time: a row a message would cost a way to the server each.
class PostgresRows : public RowSink {
 public:
  PostgresRows(PostgresDatabase& db, std::string table, int columns)
      : db_(db), table_(std::move(table)), columns_(columns) {}
  void Add(const GivenRow& row) override {
    for (int column = 0; column < columns_; ++column) {
      if (column > 0) lines_ += '\t';
      const GivenRow::Cell& cell = row.cell(column);
      switch (cell.kind) {
        case GivenRow::Cell::Kind::kNull: lines_ += "\\N"; break;
        case GivenRow::Cell::Kind::kNumber: lines_ += std::to_string(cell.number); break;
        case GivenRow::Cell::Kind::kReal: lines_ += fmt::format("{:.17g}", cell.real); break;
        case GivenRow::Cell::Kind::kText: AppendForCopy(Keepable({cell.text, cell.size}), lines_); break;
      }
    }
    lines_ += '\n';
    if (lines_.size() > kCopyBytes) Finish();
  }
  void Finish() override {
    if (!lines_.empty()) db_.Copy(table_, lines_);
    lines_.clear();
  }

 private:
  PostgresDatabase& db_;
  std::string table_;
  int columns_;
  std::string lines_;
};

// `postgresql://user@host:5432/db`: what was connected to, without a password.
std::string Label(PGconn* connection, const std::string& schema) {
  const auto text = [](const char* t) { return std::string(t ? t : ""); };
  return fmt::format("postgresql://{}@{}:{}/{} (schema {})", text(PQuser(connection)),
                     text(PQhost(connection)), text(PQport(connection)), text(PQdb(connection)), schema);
}

// The address as it may be shown: a password in it is nobody's business.
std::string WithoutPassword(const std::string& address) {
  const std::size_t start = address.find("://") + 3, end = address.find_first_of("/?", start);
  const std::size_t at = address.substr(0, end).rfind('@');
  std::string out = address;
  if (at != std::string::npos && at > start) {
    const std::size_t colon = address.find(':', start);
    if (colon < at) out = address.substr(0, colon) + address.substr(at);
  }
  if (const std::size_t query = out.find("password="); query != std::string::npos)
    out.replace(query, out.find('&', query) - query, "password=...");
  return out;
}

PostgresDatabase::PostgresDatabase(const std::string& address, bool writing) {
  path_ = WithoutPassword(address);
  Connect(address);
  FindSchema(address, writing);
}

void PostgresDatabase::Connect(const std::string& address) {
  // Words of ours come first, so that the address overrides them.
  const char* keywords[] = {"application_name", "connect_timeout", "client_encoding", "dbname", nullptr};
  const char* values[] = {"backreach", "30", "UTF8", address.c_str(), nullptr};
  connection_.reset(PQconnectdbParams(keywords, values, 1));
  if (PQstatus(connection_.get()) != CONNECTION_OK)
    throw Error(fmt::format("{}: error: the server cannot be used: {}\n"
                            "  the address is that of libpq: postgresql://user@host:5432/database",
                            path_, Trimmed(PQerrorMessage(connection_.get()))),
                Status::kStore);
  PQsetNoticeProcessor(
      connection_.get(), [](void*, const char*) {}, nullptr);
  if (PQserverVersion(connection_.get()) < 110000)
    RefuseStore(path_, "PostgreSQL is older than 11 there, which a store needs");
}

void PostgresDatabase::FindSchema(const std::string& address, bool writing) {
  std::string schema = kDefaultSchema;
  if (address.find("search_path") != std::string::npos) {
    const std::vector<std::string> given = Names(
        "SELECT trim(both ' \"' from split_part(current_setting('search_path'), ',', 1)) WHERE $1::text = ''",
        "");
    if (!given.empty() && !given[0].empty()) schema = given[0];
  }
  path_ = Label(connection_.get(), schema);
  const std::unique_ptr<char, void (*)(void*)> quoted(
      PQescapeIdentifier(connection_.get(), schema.data(), schema.size()), PQfreemem);
  const bool there = !Names("SELECT nspname::text FROM pg_namespace WHERE nspname = $1", schema).empty();
  if (!there && !writing)
    throw Error(path_ +
                    ": error: there is no store here\n"
                    "  make one with: backreach ingest dbt target/   (or name another with --store)",
                Status::kStore);
  if (!there) {
    // Of several that are first at the same moment each finds it there afterwards.
    const Result made(
        PQexec(connection_.get(), fmt::format("CREATE SCHEMA IF NOT EXISTS {}", quoted.get()).c_str()));
    if (Names("SELECT nspname::text FROM pg_namespace WHERE nspname = $1", schema).empty()) Fail(made.get());
  }
  Exec(fmt::format("SET search_path TO {}", quoted.get()));
  Exec("SET lock_timeout = '30s'; SET standard_conforming_strings = on; SET datestyle = ISO");
}

// One key a schema; held until the transaction ends.
void PostgresDatabase::Lock() {
  const Result locked(PQexec(connection_.get(),
                             "SELECT pg_advisory_xact_lock(1651206755, hashtext(current_schema()::text))"));
  const char* state = PQresultErrorField(locked.get(), PG_DIAG_SQLSTATE);
  if (state && std::string_view(state) == kLockTimedOut)
    throw Error(path_ +
                    ": error: locked by another backreach for more than 30 seconds\n"
                    "  nothing was changed: try again when it has finished",
                Status::kStore);
  Check(locked.get(), PGRES_TUPLES_OK);
}

void PostgresDatabase::Quiet() {
  if (PostgresStatement* statement = std::exchange(active_, nullptr)) statement->TakeIn();
}

void PostgresDatabase::Fail(const PGresult* result) const {
  const char* said = result ? PQresultErrorMessage(result) : PQerrorMessage(connection_.get());
  const char* code = result ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : nullptr;
  const std::string_view state = code ? code : "";
  std::string what = "the store cannot be used: " + Trimmed(said);
  if (state == kLockTimedOut || state == "40001")
    what =
        "locked by another for more than 30 seconds\n  nothing was changed: try again when it has finished";
  else if (state == "42501")
    what = "you may not do this there: " + Trimmed(said) +
           "\n  nothing was changed: the schema's owner can give you the right";
  else if (StartsWith(state, "53"))
    what = "the server has no room: " + Trimmed(said) + "\n  nothing was changed";
  throw Error(fmt::format("{}: error: {}", path_, what), Status::kStore);
}

std::vector<std::string> PostgresDatabase::Names(const char* sql, const std::string& argument) {
  Quiet();
  const char* values[] = {argument.c_str()};
  const Result result(PQexecParams(connection_.get(), sql, 1, nullptr, values, nullptr, nullptr, 0));
  Check(result.get(), PGRES_TUPLES_OK);
  std::vector<std::string> out;
  for (int i = 0; i < PQntuples(result.get()); ++i) out.emplace_back(PQgetvalue(result.get(), i, 0));
  return out;
}

int PostgresDatabase::CheckedLayout() {
  const std::vector<std::string> tables = Names(
      "SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema() AND $1::text = ''", "");
  if (tables.empty()) return 0;
  for (const char* name : {"state", "source", "version", "block", "content"})
    if (std::find(tables.begin(), tables.end(), name) == tables.end())
      RefuseStore(path_, "not a backreach store: the schema holds tables of others");
  const std::vector<std::string> layouts = Names("SELECT layout::text FROM state WHERE $1::text = ''", "");
  if (layouts.size() != 1) StoreDamaged(path_, "what it says of itself is not there");
  const int layout = std::atoi(layouts[0].c_str());
  if (layout > kLayout)
    RefuseStore(path_, fmt::format("written by a newer backreach (layout {}, this one knows up to {})",
                                   layout, kLayout));
  if (layout < 5) StoreDamaged(path_, fmt::format("it says layout {}, which no server ever had", layout));
  return layout;
}

std::unique_ptr<PreparedStatement> PostgresDatabase::Prepare(const std::string& sql) {
  return std::make_unique<PostgresStatement>(*this, sql);
}

std::unique_ptr<RowSink> PostgresDatabase::Rows(const std::string& table, int columns) {
  return std::make_unique<PostgresRows>(*this, table, columns);
}

void PostgresDatabase::Copy(const std::string& table, const std::string& lines) {
  Quiet();
  const Result begun(PQexec(connection_.get(), ("COPY " + table + " FROM STDIN").c_str()));
  if (PQresultStatus(begun.get()) != PGRES_COPY_IN) Fail(begun.get());
  if (PQputCopyData(connection_.get(), lines.data(), static_cast<int>(lines.size())) != 1 ||
      PQputCopyEnd(connection_.get(), nullptr) != 1)
    Fail(nullptr);
  const Result ended(PQgetResult(connection_.get()));
  while (Result rest{PQgetResult(connection_.get())}) {
  }
  Check(ended.get(), PGRES_COMMAND_OK);
}

}  // namespace

std::unique_ptr<Database> ForReading(const std::string& address) {
  return std::make_unique<PostgresDatabase>(address, false);
}

std::unique_ptr<Database> ForWriting(const std::string& address) {
  return std::make_unique<PostgresDatabase>(address, true);
}

}  // namespace backreach::postgres
