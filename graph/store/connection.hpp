// A connection to the file: who may open it, what is refused, and SQLite's errors in our words.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace backreach {

// Throws Error(kStore): the file was not touched.
[[noreturn]] void RefuseStore(const std::string& path, const std::string& why);
[[noreturn]] void StoreDamaged(const std::string& path, const std::string& what);
// Throws Error(kStore) for what SQLite complains of.
// Why the system lets nobody use the file: a folder, rights; empty if it does. `writing`: for what has to be
// written too.
std::string WhyUnusable(const std::string& path, bool writing);
[[noreturn]] void TranslateError(const std::string& path, const SQLite::Exception& e);

// A connection; one thread uses it at a time.
class Connection : public SQLite::Database {
 public:
  // Neither creates nor changes the file.
  static std::unique_ptr<Connection> ForReading(const std::string& path);
  // Creates the file where there is none; it may be of an older layout (migrations.hpp).
  static std::unique_ptr<Connection> ForWriting(const std::string& path);
  // An empty file that nobody else knows of: without journal.
  static std::unique_ptr<Connection> ForNewFile(const std::string& path, const std::string& beside);

  // Throws if the file is somebody else's, not what its layout says, or newer than this program; 0: empty.
  int CheckedLayout();
  // In an empty file, before anything else is done: a block takes four pages and a bit.
  void SetPageSize() { exec("PRAGMA page_size = 16384"); }
  void SayLayout();
  bool HasTable(const char* name);
  int Pragma(const char* name) { return execAndGet(std::string("PRAGMA ") + name).getInt(); }
  // Brings what was committed into the file itself, so that it can be read without its log.
  void Checkpoint();
  void Shrink();  // after what was forgotten is committed; throws Error(kStore) with these words
  // Throws if the file was read without its log, and was written to meanwhile.
  void CheckUnchanged() const;
  const std::string& path() const { return path_; }

 private:
  struct FileState {
    std::int64_t size = 0, seconds = 0, nanoseconds = 0;
    std::uint64_t inode = 0;
    friend bool operator==(const FileState&, const FileState&) = default;
  };
  static std::optional<FileState> StateOf(const std::string& path);
  Connection(const std::string& path, const std::string& uri, int flags)
      : SQLite::Database(uri, flags | SQLite::OPEN_NOMUTEX, 30'000), path_(path) {}
  std::string path_;
  std::optional<FileState> without_log_;
};

}  // namespace backreach
