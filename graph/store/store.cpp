// What a source said is packed into blocks (blocks.hpp), each a row with its hash: SQLite is there for all or
// nothing, for readers beside a writer and for finding one source's blocks.

#include "graph/store/store.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>
#include <xxhash.h>

#include <filesystem>
#include <optional>

#include "graph/error.hpp"
#include "graph/store/blocks.hpp"
#include "graph/store/schema.hpp"
#include "graph/words.hpp"

namespace backreach {

namespace {

// What tells whether bytes are those that were written.
std::int64_t HashOf(std::string_view bytes) {
  return static_cast<std::int64_t>(XXH3_64bits(bytes.data(), bytes.size()));
}

// The hashes of all blocks of a source, in their order: a block that is missing is noticed too.
class BlocksHash {
 public:
  void Add(std::string_view part, std::int64_t hash) {
    bytes_.Text(part);
    bytes_.Raw(&hash, sizeof hash);
  }
  std::string Hex() const {
    return fmt::format("{:016x}", static_cast<std::uint64_t>(HashOf(bytes_.bytes())));
  }

 private:
  ByteWriter bytes_;
};

struct Hashes {
  BlocksHash facts, nodes;
};

constexpr std::string_view kNodes = "node", kConfigs = "node config";

// Calls emit(part, number of facts, bytes) for each block of a source. A part of nodes counts no facts.
template <typename F>
void Pack(const Facts& given, Hashes& hashes, F emit) {
  Facts& facts = const_cast<Facts&>(given);  // one list of fields serves writing and reading
  Lists(facts, [&](std::string_view part, auto& list) {
    PackList(list, [&](std::size_t count, std::string_view bytes) {
      const std::int64_t hash = HashOf(bytes);
      hashes.facts.Add(part, hash);
      emit(part, count, bytes, hash);
    });
  });
  const auto nodes = [&](std::string_view part, const std::deque<std::string>& blocks) {
    for (const std::string& bytes : blocks) {
      const std::int64_t hash = HashOf(bytes);
      hashes.nodes.Add(part, hash);
      emit(part, 0, bytes, hash);
    }
  };
  nodes(kNodes, given.nodes.nodes);
  nodes(kConfigs, given.nodes.configs);
}

[[noreturn]] void Refuse(const std::string& path, const std::string& why) {
  throw Error(path + ": error: " + why + "\n  the file was not touched", Status::kStore);
}

[[noreturn]] void Translate(const std::string& path, const SQLite::Exception& e) {
  const int code = e.getErrorCode();
  if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
    throw Error(path +
                    ": error: locked by another backreach for more than 30 seconds\n"
                    "  nothing was changed: try again when it has finished",
                Status::kStore);
  if (code == SQLITE_NOTADB) Refuse(path, "not a backreach store: the file is no SQLite database");
  if (code == SQLITE_CORRUPT)
    throw Error(path + ": error: the store is damaged (" + e.getErrorStr() +
                    ")\n"
                    "  move it away and ingest the sources again",
                Status::kStore);
  if (code == SQLITE_FULL)
    throw Error(path + ": error: the disk is full; nothing was changed", Status::kStore);
  throw Error(path + ": error: the store cannot be used: " + e.what(), Status::kStore);
}

// A connection; one thread uses it at a time.
class Connection : public SQLite::Database {
 public:
  Connection(const std::string& path, const std::string& uri, int flags)
      : SQLite::Database(uri, flags | SQLite::OPEN_NOMUTEX, 30'000), path_(path) {}

  int Pragma(const char* name) { return execAndGet(std::string("PRAGMA ") + name).getInt(); }

  // Throws if the file is somebody else's, or newer than this program.
  int CheckedLayout() {
    const int layout = Pragma("user_version"), id = Pragma("application_id");
    if (id != kApplicationId &&
        (layout != 0 || execAndGet("SELECT count(*) FROM sqlite_master").getInt() != 0))
      Refuse(path_, "not a backreach store: another program's database");
    if (layout > kLayout)
      Refuse(path_, fmt::format("written by a newer backreach (layout {}, this one knows up to {})", layout,
                                kLayout));
    return layout;
  }

  // In an empty file, before anything else is done: a block takes four pages and a bit.
  void SetPageSize() { exec("PRAGMA page_size = 16384"); }

  void BringUpToDate() {
    if (const int layout = CheckedLayout(); layout < kLayout) {
      if (layout == 0) SetPageSize();
      if (execAndGet("PRAGMA journal_mode").getString() != "wal") exec("PRAGMA journal_mode = WAL");
      SQLite::Transaction transaction(*this, SQLite::TransactionBehavior::IMMEDIATE);
      if (const int now = CheckedLayout(); now < kLayout) {  // nobody was faster
        if (now > 0) exec(kMoveOlder);
        exec(kSchema);
        if (now > 0) exec(kTakeOlder);
        SayLayout();
      }
      transaction.commit();
    }
    exec("PRAGMA foreign_keys = ON");
    exec("PRAGMA synchronous = NORMAL");
    exec(kLittleCache);
  }
  void SayLayout() {
    exec(fmt::format("PRAGMA user_version = {}; PRAGMA application_id = {}", kLayout, kApplicationId));
  }

  // Rows are appended: what was written is not looked at again.
  static constexpr const char* kLittleCache = "PRAGMA cache_size = -800";

 private:
  std::string path_;
};

int ReadWrite() { return SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE; }

std::size_t ReplaceIn(Connection& db, const std::vector<SourceFacts>& sources);

// Writes a store that is not there yet beside its place, without journal, and moves it there when it is
// whole. False if somebody else put one there meanwhile, or the file system cannot move without overwriting.
bool WriteNew(const std::string& path, const std::vector<SourceFacts>& sources) {
  const std::string beside = fmt::format("{}.new-{}", path, getpid());
  struct Remove {
    const std::string& path;
    ~Remove() { unlink(path.c_str()); }
  } remove{beside};
  unlink(beside.c_str());  // of a process that was killed and had this number
  {
    Connection db(path, beside, ReadWrite());
    db.SetPageSize();
    db.exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF");
    db.exec(Connection::kLittleCache);
    db.exec(kSchema);
    db.SayLayout();
    ReplaceIn(db, sources);
    db.exec("PRAGMA journal_mode = WAL");  // for all who come later
  }
  const int fd = open(beside.c_str(), O_RDWR | O_CLOEXEC);
  const bool safe = fd >= 0 && fdatasync(fd) == 0;
  if (fd >= 0) close(fd);
  return safe && link(beside.c_str(), path.c_str()) == 0;
}

}  // namespace

struct Store::Impl {
  std::string path;
  std::unique_ptr<Connection> open;
  bool absent = false;  // nothing is there, and nothing was written yet

  // The connection; opened for writing where there is none.
  Connection& Db() {
    if (!open) {
      open = std::make_unique<Connection>(path, path, ReadWrite());
      open->BringUpToDate();
      absent = false;
    }
    return *open;
  }
};

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

const std::string& Store::path() const { return impl_->path; }
int Store::layout() const { return impl_->Db().Pragma("user_version"); }

Store Store::OpenForReading(const std::string& path) {
  std::error_code ec;
  if (!std::filesystem::exists(path, ec))
    throw Error(path +
                    ": error: there is no store here\n"
                    "  make one with: backreach ingest dbt target/   (or name another with --store)",
                Status::kStore);
  try {
    // A WAL database needs a writable folder even to be read; where there is none nobody can be writing.
    const std::string folder = std::filesystem::absolute(path).parent_path().string();
    const bool writable = access(folder.c_str(), W_OK) == 0;
    std::string uri = path;
    int flags = SQLite::OPEN_READONLY;
    if (!writable) {
      uri = "file:";
      for (const char c : path)
        uri += c == '?' || c == '#' || c == '%' ? fmt::format("%{:02X}", c) : std::string(1, c);
      uri += "?immutable=1";
      flags |= SQLite::OPEN_URI;
    }
    auto connection = std::make_unique<Connection>(path, uri, flags);
    const int layout = connection->CheckedLayout();
    if (layout < kLayout && layout > 0)
      Refuse(path, fmt::format("written by an older backreach (layout {}, this one reads {}): ingest its "
                               "sources again",
                               layout, kLayout));
    if (layout == 0)
      throw Error(path +
                  ": error: the store is empty: no source was ingested\n"
                  "  begin with: backreach ingest dbt target/");
    return Store(std::make_unique<Impl>(Impl{path, std::move(connection), false}));
  } catch (const SQLite::Exception& e) {
    Translate(path, e);
  }
}

Store Store::OpenForWriting(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code ec;
  if (!folder.empty()) std::filesystem::create_directories(folder, ec);
  if (ec)
    throw Error(fmt::format("{}: error: the folder cannot be made: {}", folder.string(), ec.message()),
                Status::kStore);
  try {
    auto impl = std::make_unique<Impl>(Impl{path, nullptr, false});
    impl->absent = std::filesystem::symlink_status(path, ec).type() == std::filesystem::file_type::not_found;
    if (!impl->absent) impl->Db();
    return Store(std::move(impl));
  } catch (const SQLite::Exception& e) {
    Translate(path, e);
  }
}

std::vector<Source> Store::Sources() const {
  try {
    if (impl_->absent) return {};
    SQLite::Statement q(impl_->Db(),
                        "SELECT kind, name, key, sha256, ingested_at, beside_sha256 FROM source "
                        "ORDER BY kind, name, key");
    std::vector<Source> out;
    while (q.executeStep())
      out.push_back({q.getColumn(0).getString(), q.getColumn(1).getString(), q.getColumn(2).getString(),
                     q.getColumn(3).getString(), q.getColumn(4).getString(), q.getColumn(5).getString()});
    return out;
  } catch (const SQLite::Exception& e) {
    Translate(impl_->path, e);
  }
}

std::vector<SourceFacts> Store::Load(bool with_nodes) const {
  std::vector<Source> outdated;
  std::vector<SourceFacts> out = LoadAll(with_nodes, false, outdated);
  if (outdated.empty()) return out;
  std::vector<std::string> names, lines;
  for (const Source& s : outdated) {
    names.push_back(s.kind + ":" + s.name);
    lines.push_back(s.kind == "registry" ? "backreach ingest registry " + s.key
                                         : fmt::format("backreach ingest {} ...   ({})", s.kind, s.name));
  }
  throw Error(fmt::format("{}: error: what {} said was kept in the form of an older backreach\n"
                          "  ingest {} again: {}",
                          impl_->path, ListOf(names), names.size() == 1 ? "it" : "them",
                          Join(lines, "\n                      ")),
              Status::kStore);
}

std::vector<SourceFacts> Store::LoadReadable() const {
  std::vector<Source> outdated;
  return LoadAll(false, true, outdated);
}

namespace {

// Reads the blocks of one source; throws Error with the complaint if they are not what was written.
void ReadFacts(SQLite::Statement& blocks, std::int64_t source, const std::string& facts_hash,
               const std::optional<std::string>& nodes_hash, const std::string& complaint, Facts& facts) {
  blocks.reset();
  blocks.bind(1, source);
  const auto each = [&](std::string_view part, BlocksHash& hash, auto take) {
    blocks.bind(2, std::string(part));
    while (blocks.executeStep()) {
      const SQLite::Column column = blocks.getColumn(0);
      const std::string_view bytes(static_cast<const char*>(column.getBlob()),
                                   static_cast<std::size_t>(column.getBytes()));
      hash.Add(part, HashOf(bytes));
      if (HashOf(bytes) != blocks.getColumn(1).getInt64()) throw Error(complaint, Status::kStore);
      take(bytes);
    }
    blocks.reset();
  };
  Hashes hashes;
  Lists(facts, [&](std::string_view part, auto& list) {
    each(part, hashes.facts, [&](std::string_view bytes) { UnpackBlock(bytes, complaint.c_str(), list); });
  });
  if (nodes_hash) {
    each(kNodes, hashes.nodes, [&](std::string_view b) { facts.nodes.nodes.emplace_back(b); });
    each(kConfigs, hashes.nodes, [&](std::string_view b) { facts.nodes.configs.emplace_back(b); });
  }
  if (hashes.facts.Hex() != facts_hash || (nodes_hash && hashes.nodes.Hex() != *nodes_hash))
    throw Error(complaint, Status::kStore);
}

}  // namespace

std::vector<SourceFacts> Store::LoadAll(bool with_nodes, bool only_readable,
                                        std::vector<Source>& outdated) const {
  try {
    if (impl_->absent) return {};
    SQLite::Database& db = impl_->Db();
    SQLite::Transaction snapshot(db);  // one state for all tables
    std::vector<SourceFacts> out;
    SQLite::Statement sources(db,
                              "SELECT id, facts_hash, nodes_hash, kind, name, key, sha256, ingested_at, "
                              "beside_sha256 FROM source ORDER BY kind, name, key");
    SQLite::Statement blocks(db, "SELECT bytes, hash FROM block WHERE source = ? AND part = ? ORDER BY n");
    while (sources.executeStep()) {
      const auto text = [&](int column) { return sources.getColumn(column).getString(); };
      SourceFacts& read =
          out.emplace_back(SourceFacts{{text(3), text(4), text(5), text(6), text(7), text(8)}, {}});
      if (text(1).empty()) {
        outdated.push_back(read.source);
        continue;
      }
      const std::string complaint = fmt::format(
          "{}: error: the facts of {}:{} are not those that were ingested\n"
          "  somebody changed them, or the file is damaged: ingest this source again",
          impl_->path, read.source.kind, read.source.name);
      try {
        ReadFacts(blocks, sources.getColumn(0).getInt64(), text(1),
                  with_nodes ? std::optional(text(2)) : std::nullopt, complaint, read.facts);
      } catch (const Error&) {
        if (!only_readable) throw;
        read.facts = {};
      }
    }
    return out;
  } catch (const SQLite::Exception& e) {
    Translate(impl_->path, e);
  }
}

namespace {

// True if the blocks that are there hash to these: a source's row says only what they should.
bool HasBlocks(Connection& db, std::int64_t source, const Hashes& expected) {
  SQLite::Statement blocks(db, "SELECT part, bytes FROM block WHERE source = ? ORDER BY n");
  blocks.bind(1, source);
  Hashes there;
  while (blocks.executeStep()) {
    const std::string part = blocks.getColumn(0).getString();
    const SQLite::Column bytes = blocks.getColumn(1);
    const std::int64_t hash =
        HashOf({static_cast<const char*>(bytes.getBlob()), static_cast<std::size_t>(bytes.getBytes())});
    (part == kNodes || part == kConfigs ? there.nodes : there.facts).Add(part, hash);
  }
  return there.facts.Hex() == expected.facts.Hex() && there.nodes.Hex() == expected.nodes.Hex();
}

std::size_t ReplaceIn(Connection& db, const std::vector<SourceFacts>& sources) {
  SQLite::Transaction transaction(db, SQLite::TransactionBehavior::IMMEDIATE);
  std::size_t written = 0;
  SQLite::Statement same(
      db,
      "SELECT id, sha256 || beside_sha256, facts_hash, nodes_hash FROM source WHERE kind = ? AND key = ?");
  SQLite::Statement erase(db, "DELETE FROM source WHERE id = ?");
  SQLite::Statement insert(db,
                           "INSERT INTO source (kind, name, key, sha256, beside_sha256, ingested_at, "
                           "facts_hash, nodes_hash) VALUES (?, ?, ?, ?, ?, ?, '', '')");
  SQLite::Statement block(
      db, "INSERT INTO block (source, part, n, facts, hash, bytes) VALUES (?, ?, ?, ?, ?, ?)");
  SQLite::Statement finish(db, "UPDATE source SET facts_hash = ?, nodes_hash = ? WHERE id = ?");
  for (const SourceFacts& given : sources) {
    const Source& s = given.source;
    same.bind(1, s.kind), same.bind(2, s.key);
    if (same.executeStep()) {
      // The same bytes: the same facts, unless this program has learnt to read more of them.
      if (same.getColumn(1).getString() == s.sha256 + s.beside_sha256) {
        Hashes hashes;
        Pack(given.facts, hashes, [](auto&&...) {});
        if (hashes.facts.Hex() == same.getColumn(2).getString() &&
            hashes.nodes.Hex() == same.getColumn(3).getString() &&
            HasBlocks(db, same.getColumn(0).getInt64(), hashes)) {
          same.reset();
          continue;
        }
      }
      erase.bind(1, same.getColumn(0).getInt64());
      erase.exec();
      erase.reset();
    }
    same.reset();
    insert.bind(1, s.kind), insert.bind(2, s.name), insert.bind(3, s.key), insert.bind(4, s.sha256);
    insert.bind(5, s.beside_sha256), insert.bind(6, s.ingested_at);
    insert.exec();
    insert.reset();
    const std::int64_t id = db.getLastInsertRowid();
    std::int64_t n = 0;
    Hashes hashes;
    Pack(given.facts, hashes,
         [&](std::string_view part, std::size_t facts, std::string_view bytes, std::int64_t hash) {
           block.bind(1, id);
           block.bind(2, std::string(part));
           block.bind(3, n++), block.bind(4, static_cast<std::int64_t>(facts)), block.bind(5, hash);
           block.bindNoCopy(6, bytes.data(), static_cast<int>(bytes.size()));
           block.exec();
           block.reset();
         });
    finish.bind(1, hashes.facts.Hex()), finish.bind(2, hashes.nodes.Hex()), finish.bind(3, id);
    finish.exec();
    finish.reset();
    ++written;
  }
  transaction.commit();
  return written;
}

}  // namespace

std::size_t Store::Replace(const std::vector<SourceFacts>& sources) {
  try {
    if (impl_->absent && WriteNew(impl_->path, sources)) {
      impl_->absent = false;
      return sources.size();
    }
    return ReplaceIn(impl_->Db(), sources);
  } catch (const SQLite::Exception& e) {
    Translate(impl_->path, e);
  }
}

std::vector<std::string> Store::Check() const {
  std::vector<std::string> found;
  try {
    SQLite::Statement q(impl_->Db(), "PRAGMA integrity_check");
    while (q.executeStep())
      if (q.getColumn(0).getString() != "ok") found.push_back(q.getColumn(0).getString());
    Load(true);
  } catch (const SQLite::Exception& e) {
    found.push_back(e.what());
  } catch (const Error& e) {
    found.push_back(e.what());
  }
  return found;
}

}  // namespace backreach
