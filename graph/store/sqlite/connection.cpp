#include "graph/store/sqlite/connection.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

#include "graph/base/error.hpp"
#include "graph/store/database/schema.hpp"
#include "graph/store/sqlite/given_rows.hpp"

namespace backreach {

namespace {

// Rows are appended: what was written is not looked at again.
constexpr const char* kLittleCache = "PRAGMA cache_size = -800";

std::int64_t SizeOf(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 ? static_cast<std::int64_t>(info.st_size) : 0;
}

// SQLite takes a file of one byte for an empty one, and would write over it.
void RefuseStump(const std::string& path) {
  if (const std::int64_t size = SizeOf(path); size > 0 && size < 512)
    RefuseStore(path, "not a backreach store: the file is no SQLite database");
}

std::string ImmutableUri(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path)
    uri += c == '?' || c == '#' || c == '%' ? fmt::format("%{:02X}", c) : std::string(1, c);
  return uri + "?immutable=1";
}

[[noreturn]] void RefuseLog(const std::string& path) {
  throw Error(
      path + ": error: its newest facts are in a log beside it (" + path +
          "-wal), which cannot be used here: you may not write this folder\n"
          "  let someone who may ingest a source again (an unchanged one will do): that takes the log in",
      Status::kStore);
}

}  // namespace

std::string WhyUnusable(const std::string& path, bool writing) {
  struct stat info {};
  const std::string folder = std::filesystem::absolute(path).parent_path().string();
  if (stat(path.c_str(), &info) != 0) {
    const int why = errno;
    if (why == EACCES) return "you may not enter its folder (" + folder + ")";
    if (why != ENOENT) return std::string("cannot be a store: ") + std::strerror(why);
    if (stat(folder.c_str(), &info) != 0)
      return "its folder cannot be used: " + std::string(std::strerror(errno));
    if (!S_ISDIR(info.st_mode)) return folder + " is no folder";
    if (access(folder.c_str(), W_OK | X_OK) != 0)
      return "you may not write its folder (" + folder + "), where it would be made";
    return "";
  }
  if (S_ISDIR(info.st_mode))
    return "is a folder, and a store is a file\n  name the file in it: " + path + "/graph.db";
  if (!S_ISREG(info.st_mode)) return "is no regular file, and a store is one";
  if (access(path.c_str(), R_OK) != 0) return "you may not read it: its owner can give you the right";
  if (!writing) return "";
  if (access(path.c_str(), W_OK) != 0)
    return "you may read it, but not write it: its owner can give you the right";
  if (access(folder.c_str(), W_OK | X_OK) != 0)
    return "you may not write its folder (" + folder + "), where its log is kept";
  return "";
}

namespace {

[[noreturn]] void TranslateError(const std::string& path, const SQLite::Exception& e) {
  const int code = e.getErrorCode();
  if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
    throw Error(path +
                    ": error: locked by another backreach for more than 30 seconds\n"
                    "  nothing was changed: try again when it has finished",
                Status::kStore);
  if (code == SQLITE_NOTADB) RefuseStore(path, "not a backreach store: the file is no SQLite database");
  if (code == SQLITE_CORRUPT) StoreDamaged(path, e.getErrorStr());
  if (code == SQLITE_FULL)
    throw Error(path + ": error: the disk is full; nothing was changed", Status::kStore);
  const std::string why =
      WhyUnusable(path, code == SQLITE_CANTOPEN || code == SQLITE_READONLY || code == SQLITE_PERM);
  throw Error(path + ": error: " + (why.empty() ? std::string("the store cannot be used: ") + e.what() : why),
              Status::kStore);
}

}  // namespace

namespace {

// Calls f, and says SQLite's errors in our words.
template <typename F>
decltype(auto) Guarded(const std::string& path, F f) {
  try {
    return f();
  } catch (const SQLite::Exception& e) {
    TranslateError(path, e);
  }
}

class SqliteStatement : public PreparedStatement {
 public:
  SqliteStatement(SQLite::Database& db, const std::string& path, const std::string& sql)
      : path_(path), statement_(db, sql) {}
  void BindNumber(int place, std::int64_t number) override { statement_.bind(place, number); }
  void BindReal(int place, double number) override { statement_.bind(place, number); }
  void BindText(int place, std::string_view text) override { statement_.bind(place, std::string(text)); }
  void BindBytes(int place, std::string_view bytes) override {
    statement_.bindNoCopy(place, static_cast<const void*>(bytes.data()), static_cast<int>(bytes.size()));
  }
  bool Step() override {
    return Guarded(path_, [&] { return statement_.executeStep(); });
  }
  void Reset() override {
    Guarded(path_, [&] { statement_.reset(); });
  }
  std::int64_t Number(int column) const override { return statement_.getColumn(column).getInt64(); }
  std::string_view Bytes(int column) const override {
    const SQLite::Column c = statement_.getColumn(column);
    const char* bytes = static_cast<const char*>(c.getBlob());
    return {bytes ? bytes : "", static_cast<std::size_t>(c.getBytes())};
  }

 private:
  const std::string& path_;
  mutable SQLite::Statement statement_;
};

// A prepared insert for each row, by SQLite's own interface: SQLiteCpp lends no text that is not a
// std::string. Texts have to live until the row is written, as those of one call do.
class SqliteRows : public RowSink {
 public:
  SqliteRows(SQLite::Database& db, const std::string& path, const std::string& table, int columns)
      : db_(db.getHandle()), path_(path), columns_(columns) {
    std::string sql = fmt::format("INSERT INTO {} VALUES (?", table);
    for (int i = 1; i < columns; ++i) sql += ", ?";
    sql += ")";
    Check(sqlite3_prepare_v2(db_, sql.c_str(), -1, &insert_, nullptr));
  }
  SqliteRows(const SqliteRows&) = delete;
  SqliteRows& operator=(const SqliteRows&) = delete;
  ~SqliteRows() override { sqlite3_finalize(insert_); }
  void Add(const GivenRow& row) override {
    Guarded(path_, [&] {
      for (int column = 0; column < columns_; ++column) Bind(column + 1, row.cell(column));
      if (const int code = sqlite3_step(insert_); code != SQLITE_DONE) Check(code);
      Check(sqlite3_reset(insert_));
    });
  }
  void Finish() override {}

 private:
  void Check(int code) const {
    if (code != SQLITE_OK) throw SQLite::Exception(db_, code);
  }
  // A column that is null in row after row is bound once.
  void Bind(int place, const GivenRow::Cell& cell) {
    using Kind = GivenRow::Cell::Kind;
    const std::uint64_t bit = std::uint64_t{1} << place;
    if (cell.kind == Kind::kNull && !(said_ & bit)) return;
    said_ = cell.kind == Kind::kNull ? said_ & ~bit : said_ | bit;
    switch (cell.kind) {
      case Kind::kNull: Check(sqlite3_bind_null(insert_, place)); break;
      case Kind::kNumber: Check(sqlite3_bind_int64(insert_, place, cell.number)); break;
      case Kind::kReal: Check(sqlite3_bind_double(insert_, place, cell.real)); break;
      case Kind::kText:
        Check(sqlite3_bind_text64(insert_, place, cell.text, cell.size, SQLITE_STATIC, SQLITE_UTF8));
        break;
    }
  }

  sqlite3* db_;
  const std::string& path_;
  int columns_;
  sqlite3_stmt* insert_ = nullptr;
  std::uint64_t said_ = 0;  // columns that are bound to a value
};

struct FileState {
  std::int64_t size = 0, seconds = 0, nanoseconds = 0;
  std::uint64_t inode = 0;
  friend bool operator==(const FileState&, const FileState&) = default;
};

std::optional<FileState> StateOf(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return std::nullopt;
  return FileState{static_cast<std::int64_t>(info.st_size), static_cast<std::int64_t>(info.st_mtim.tv_sec),
                   static_cast<std::int64_t>(info.st_mtim.tv_nsec), static_cast<std::uint64_t>(info.st_ino)};
}

class SqliteDatabase : public Database {
 public:
  SqliteDatabase(const std::string& path, const std::string& uri, int flags)
      : db_(uri, flags | SQLite::OPEN_NOMUTEX, 30'000) {
    path_ = path;
  }
  // The file is read without its log, which nobody can use here.
  void WithoutLog(std::optional<FileState> state) { without_log_ = state; }

  void Exec(const std::string& sql) override {
    Guarded(path_, [&] { db_.exec(sql); });
  }
  std::unique_ptr<PreparedStatement> Prepare(const std::string& sql) override {
    return Guarded(path_, [&] { return std::make_unique<SqliteStatement>(db_, path_, sql); });
  }
  void Begin(bool writing) override { Exec(writing ? "BEGIN IMMEDIATE" : "BEGIN"); }
  void Commit() override { Exec("COMMIT"); }
  void Rollback() noexcept override { db_.tryExec("ROLLBACK"); }
  std::string Whole(const std::string& table) override { return table + " NOT INDEXED"; }
  bool HasTable(const std::string& name) override {
    return Guarded(path_, [&] {
      SQLite::Statement q(db_, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?");
      q.bind(1, name);
      return q.executeStep();
    });
  }
  std::vector<std::string> TablesLike(const std::string& prefix) override {
    return Guarded(path_, [&] {
      std::vector<std::string> out;
      SQLite::Statement q(db_, "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB ?");
      q.bind(1, prefix + "*");
      while (q.executeStep()) out.push_back(q.getColumn(0).getString());
      return out;
    });
  }
  int CheckedLayout() override;
  void SayLayout() override {
    Exec(fmt::format("PRAGMA user_version = {}; PRAGMA application_id = {}", kLayout, kApplicationId));
  }
  void PrepareEmpty() override {
    if (CheckedLayout() == 0) SetPageSize();
    UseLog();
  }
  void Settle() override { Exec("PRAGMA foreign_keys = ON"); }
  void InsertGiven(const std::string& table, int columns,
                   const std::function<bool(GivenRow&)>& next) override {
    Guarded(path_, [&] { sqlite::InsertGiven(db_, table, columns, next); });
  }
  std::unique_ptr<RowSink> Rows(const std::string& table, int columns) override {
    return Guarded(path_, [&] { return std::make_unique<SqliteRows>(db_, path_, table, columns); });
  }
  void Compact() override;
  // Brings what was committed into the file itself, so that it can be read without its log.
  void Checkpoint() override;
  void CheckUnchanged() const override;
  std::vector<std::string> Complaints() override;

  // A block takes four pages and a bit.
  void SetPageSize() { Exec("PRAGMA page_size = 16384"); }
  void UseLog() {
    const std::string mode =
        Guarded(path_, [&] { return db_.execAndGet("PRAGMA journal_mode").getString(); });
    if (mode != "wal") Exec("PRAGMA journal_mode = WAL");
  }
  int Pragma(const char* name) {
    return Guarded(path_, [&] { return db_.execAndGet(std::string("PRAGMA ") + name).getInt(); });
  }

 private:
  SQLite::Database db_;
  std::optional<FileState> without_log_;
};

int SqliteDatabase::CheckedLayout() {
  const int layout = Pragma("user_version"), id = Pragma("application_id");
  const bool empty =
      Guarded(path_, [&] { return db_.execAndGet("SELECT count(*) FROM sqlite_master").getInt() == 0; });
  if (empty && layout == 0 && (id == 0 || id == kApplicationId)) return 0;
  if (id != kApplicationId) RefuseStore(path_, "not a backreach store: another program's database");
  if (layout > kLayout)
    RefuseStore(path_, fmt::format("written by a newer backreach (layout {}, this one knows up to {})",
                                   layout, kLayout));
  // A layout that is said, but is not there: one changed bit must not make another store of it.
  if (layout < 1 || !HasTable("source") || (layout >= 4) != HasTable("block") ||
      (layout >= 5) != HasTable("state") || (layout >= 6) != HasTable("run"))
    StoreDamaged(path_, fmt::format("its tables are not those of layout {}", layout));
  return layout;
}

void SqliteDatabase::Compact() {
  try {
    db_.exec("VACUUM");
  } catch (const SQLite::Exception& e) {
    throw Error(fmt::format("{}: error: it is forgotten, but the file could not be made smaller: {}\n"
                            "  what was forgotten may stand in unused parts of it until a later forget "
                            "takes them away",
                            path_, e.getErrorStr()),
                Status::kStore);
  }
}

void SqliteDatabase::Checkpoint() {
  // Whoever reads meanwhile keeps the log in use for as long; the next ingest takes it in.
  try {
    db_.setBusyTimeout(1'000);
    SQLite::Statement(db_, "PRAGMA wal_checkpoint(TRUNCATE)").executeStep();
    db_.setBusyTimeout(30'000);
  } catch (const SQLite::Exception&) {
    return;  // what was committed is safe in the log
  }
}

void SqliteDatabase::CheckUnchanged() const {
  if (!without_log_ || (StateOf(path_) == without_log_ && SizeOf(path_ + "-wal") == 0)) return;
  throw Error(path_ + ": error: somebody wrote to the store while it was read\n  try again", Status::kStore);
}

std::vector<std::string> SqliteDatabase::Complaints() {
  return Guarded(path_, [&] {
    std::vector<std::string> found;
    SQLite::Statement q(db_, "PRAGMA integrity_check");
    while (q.executeStep())
      if (q.getColumn(0).getString() != "ok") found.push_back(q.getColumn(0).getString());
    return found;
  });
}

}  // namespace

namespace sqlite {

std::unique_ptr<Database> ForReading(const std::string& path) {
  RefuseStump(path);
  return Guarded(path, [&]() -> std::unique_ptr<Database> {
    const std::string folder = std::filesystem::absolute(path).parent_path().string();
    if (access(folder.c_str(), W_OK) == 0) {
      // Somebody was killed in the middle of a write: what it began is undone, for which the file is written.
      if (SizeOf(path + "-journal") > 0 && access(path.c_str(), W_OK) == 0)
        SqliteDatabase(path, path, SQLite::OPEN_READWRITE).HasTable("source");
      return std::make_unique<SqliteDatabase>(path, path, SQLite::OPEN_READONLY);
    }
    // A log is read through an index beside it, which has to be made where there is none.
    if (SizeOf(path + "-wal") > 0) {
      try {
        auto out = std::make_unique<SqliteDatabase>(path, path, SQLite::OPEN_READONLY);
        out->Pragma("user_version");
        return out;
      } catch (const std::exception&) {
        RefuseLog(path);
      }
    }
    const std::optional<FileState> state = StateOf(path);
    auto out =
        std::make_unique<SqliteDatabase>(path, ImmutableUri(path), SQLite::OPEN_READONLY | SQLite::OPEN_URI);
    out->WithoutLog(state);
    return out;
  });
}

std::unique_ptr<Database> ForWriting(const std::string& path) {
  RefuseStump(path);
  return Guarded(path, [&] {
    auto out = std::make_unique<SqliteDatabase>(path, path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    out->Exec("PRAGMA synchronous = NORMAL");
    out->Exec(kLittleCache);
    return out;
  });
}

std::unique_ptr<Database> ForNewFile(const std::string& path, const std::string& beside) {
  return Guarded(path, [&] {
    auto out = std::make_unique<SqliteDatabase>(path, beside, SQLite::OPEN_READWRITE);
    out->SetPageSize();
    out->Exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF");
    out->Exec(kLittleCache);
    return out;
  });
}

void UseLog(Database& db) { static_cast<SqliteDatabase&>(db).UseLog(); }

}  // namespace sqlite

}  // namespace backreach
