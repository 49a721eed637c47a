#include "graph/store/connection.hpp"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "graph/base/error.hpp"
#include "graph/store/schema.hpp"

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

void RefuseStore(const std::string& path, const std::string& why) {
  throw Error(path + ": error: " + why + "\n  the file was not touched", Status::kStore);
}

void StoreDamaged(const std::string& path, const std::string& what) {
  throw Error(path + ": error: the store is damaged (" + what +
                  ")\n"
                  "  move it away and ingest the sources again",
              Status::kStore);
}

void TranslateError(const std::string& path, const SQLite::Exception& e) {
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

std::optional<Connection::FileState> Connection::StateOf(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return std::nullopt;
  return FileState{static_cast<std::int64_t>(info.st_size), static_cast<std::int64_t>(info.st_mtim.tv_sec),
                   static_cast<std::int64_t>(info.st_mtim.tv_nsec), static_cast<std::uint64_t>(info.st_ino)};
}

std::unique_ptr<Connection> Connection::ForReading(const std::string& path) {
  RefuseStump(path);
  const std::string folder = std::filesystem::absolute(path).parent_path().string();
  if (access(folder.c_str(), W_OK) == 0)
    return std::unique_ptr<Connection>(new Connection(path, path, SQLite::OPEN_READONLY));
  // A log is read through an index beside it, which has to be made where there is none.
  if (SizeOf(path + "-wal") > 0) {
    try {
      std::unique_ptr<Connection> out(new Connection(path, path, SQLite::OPEN_READONLY));
      out->Pragma("user_version");
      return out;
    } catch (const SQLite::Exception&) {
      RefuseLog(path);
    }
  }
  const std::optional<FileState> state = StateOf(path);
  std::unique_ptr<Connection> out(
      new Connection(path, ImmutableUri(path), SQLite::OPEN_READONLY | SQLite::OPEN_URI));
  out->without_log_ = state;
  return out;
}

std::unique_ptr<Connection> Connection::ForWriting(const std::string& path) {
  RefuseStump(path);
  std::unique_ptr<Connection> out(new Connection(path, path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE));
  out->exec("PRAGMA synchronous = NORMAL");
  out->exec(kLittleCache);
  return out;
}

std::unique_ptr<Connection> Connection::ForNewFile(const std::string& path, const std::string& beside) {
  std::unique_ptr<Connection> out(new Connection(path, beside, SQLite::OPEN_READWRITE));
  out->SetPageSize();
  out->exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF");
  out->exec(kLittleCache);
  return out;
}

bool Connection::HasTable(const char* name) {
  SQLite::Statement q(*this, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?");
  q.bind(1, name);
  return q.executeStep();
}

int Connection::CheckedLayout() {
  const int layout = Pragma("user_version"), id = Pragma("application_id");
  const bool empty = execAndGet("SELECT count(*) FROM sqlite_master").getInt() == 0;
  if (empty && layout == 0 && (id == 0 || id == kApplicationId)) return 0;
  if (id != kApplicationId) RefuseStore(path_, "not a backreach store: another program's database");
  if (layout > kLayout)
    RefuseStore(path_, fmt::format("written by a newer backreach (layout {}, this one knows up to {})",
                                   layout, kLayout));
  // A layout that is said, but is not there: one changed bit must not make another store of it.
  if (layout < 1 || !HasTable("source") || (layout >= 4) != HasTable("block") ||
      (layout >= 5) != HasTable("state"))
    StoreDamaged(path_, fmt::format("its tables are not those of layout {}", layout));
  return layout;
}

void Connection::SayLayout() {
  exec(fmt::format("PRAGMA user_version = {}; PRAGMA application_id = {}", kLayout, kApplicationId));
}

void Connection::Shrink() {
  try {
    exec("VACUUM");
  } catch (const SQLite::Exception& e) {
    throw Error(fmt::format("{}: error: it is forgotten, but the file could not be made smaller: {}\n"
                            "  what was forgotten may stand in unused parts of it until a later forget "
                            "takes them away",
                            path_, e.getErrorStr()),
                Status::kStore);
  }
}

void Connection::Checkpoint() {
  // Whoever reads meanwhile keeps the log in use for as long; the next ingest takes it in.
  try {
    setBusyTimeout(1'000);
    SQLite::Statement(*this, "PRAGMA wal_checkpoint(TRUNCATE)").executeStep();
    setBusyTimeout(30'000);
  } catch (const SQLite::Exception&) {
    return;  // what was committed is safe in the log
  }
}

void Connection::CheckUnchanged() const {
  if (!without_log_ || (StateOf(path_) == without_log_ && SizeOf(path_ + "-wal") == 0)) return;
  throw Error(path_ + ": error: somebody wrote to the store while it was read\n  try again", Status::kStore);
}

}  // namespace backreach
