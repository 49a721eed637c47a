// Facts go in and out through the column lists of columns.hpp. A source's rows carry a hash that is computed
// alike when they are written and when they are read: rows that somebody changed by hand are noticed.

#include "graph/store/store.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>
#include <xxhash.h>

#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "graph/error.hpp"
#include "graph/store/columns.hpp"
#include "graph/store/schema.hpp"

namespace backreach {

using Json = nlohmann::ordered_json;

namespace {

// ---- Lists and structs as JSON text; empty ones as NULL ----

void PutText(Json& j, const char* name, const Text& value) {
  if (value) j[name] = *value;
}
void GetText(const Json& j, const char* name, Text& value) {
  if (j.contains(name)) value = j[name].get<std::string>();
}

Json ToJson(const std::string& s) { return s; }
Json ToJson(const PartitionFact& p) {
  Json j = Json::object();
  PutText(j, "grain", p.grain), PutText(j, "timezone", p.timezone), PutText(j, "starts_at", p.starts_at);
  PutText(j, "column", p.column), PutText(j, "week_start", p.week_start), PutText(j, "first", p.first);
  PutText(j, "last", p.last), PutText(j, "key_format", p.key_format), PutText(j, "from", p.from);
  PutText(j, "until", p.until);
  return j;
}
Json ToJson(const ChangeFact& c) { return {{"on", c.on}, {"kind", c.kind}, {"what", c.what}}; }
Json ToJson(const FindingFact& f) {
  return {
      {"code", f.code}, {"detail", f.detail}, {"data", f.data}, {"file", f.at.file}, {"place", f.at.place}};
}
Json ToJson(const HoldsFact& h) {
  Json j = Json::object();
  if (h.all) j["all"] = true;
  PutText(j, "from", h.from), PutText(j, "to", h.to), PutText(j, "last", h.last);
  return j;
}
Json ToJson(const RefreshFact& r) {
  Json j = Json::object();
  PutText(j, "cron", r.cron), PutText(j, "timezone", r.timezone), PutText(j, "keeps", r.keeps);
  if (r.holds) j["holds"] = ToJson(*r.holds);
  return j;
}
Json ToJson(const ScheduleFact& s) {
  Json j = Json::object();
  PutText(j, "class", s.type), PutText(j, "cron", s.cron), PutText(j, "timezone", s.timezone);
  PutText(j, "rewrites", s.rewrites), PutText(j, "covers", s.covers), PutText(j, "every", s.every);
  if (!s.on.empty()) j["on"] = s.on;
  return j;
}

void FromJson(const Json& j, std::string& s) { s = j.get<std::string>(); }
void FromJson(const Json& j, PartitionFact& p) {
  GetText(j, "grain", p.grain), GetText(j, "timezone", p.timezone), GetText(j, "starts_at", p.starts_at);
  GetText(j, "column", p.column), GetText(j, "week_start", p.week_start), GetText(j, "first", p.first);
  GetText(j, "last", p.last), GetText(j, "key_format", p.key_format), GetText(j, "from", p.from);
  GetText(j, "until", p.until);
}
void FromJson(const Json& j, ChangeFact& c) {
  c = {j.at("on").get<std::string>(), j.at("kind").get<std::string>(), j.at("what").get<std::string>()};
}
void FromJson(const Json& j, FindingFact& f) {
  f.code = j.at("code").get<std::string>();
  f.detail = j.at("detail").get<std::string>();
  f.data = j.at("data").get<std::map<std::string, std::string>>();
  f.at = {j.at("file").get<std::string>(), j.at("place").get<std::string>()};
}
void FromJson(const Json& j, HoldsFact& h) {
  h.all = j.value("all", false);
  GetText(j, "from", h.from), GetText(j, "to", h.to), GetText(j, "last", h.last);
}
void FromJson(const Json& j, RefreshFact& r) {
  GetText(j, "cron", r.cron), GetText(j, "timezone", r.timezone), GetText(j, "keeps", r.keeps);
  if (j.contains("holds")) FromJson(j["holds"], r.holds.emplace());
}
void FromJson(const Json& j, ScheduleFact& s) {
  GetText(j, "class", s.type), GetText(j, "cron", s.cron), GetText(j, "timezone", s.timezone);
  GetText(j, "rewrites", s.rewrites), GetText(j, "covers", s.covers), GetText(j, "every", s.every);
  if (j.contains("on")) s.on = j["on"].get<std::vector<std::string>>();
}

template <typename T>
Text Encode(const std::vector<T>& list) {
  if (list.empty()) return std::nullopt;
  Json j = Json::array();
  for (const T& item : list) j.push_back(ToJson(item));
  return j.dump();
}
template <typename K, typename T>
Text Encode(const std::map<K, T>& map) {
  if (map.empty()) return std::nullopt;
  return Json(map).dump();
}
template <typename T>
Text EncodeStruct(const std::optional<T>& value) {
  if (!value) return std::nullopt;
  return ToJson(*value).dump();
}
template <typename T>
void Decode(const Text& text, std::vector<T>& list) {
  if (!text) return;
  for (const Json& item : Json::parse(*text)) FromJson(item, list.emplace_back());
}
template <typename K, typename T>
void Decode(const Text& text, std::map<K, T>& map) {
  if (text) map = Json::parse(*text).get<std::map<K, T>>();
}
template <typename T>
void DecodeStruct(const Text& text, std::optional<T>& value) {
  if (text) FromJson(Json::parse(*text), value.emplace());
}

// ---- The visitors of a column list ----

class Hasher {
 public:
  Hasher() : state_(XXH3_createState()) {
    XXH3_64bits_reset(state_);
    pending_.reserve(kMost + 4096);
  }
  ~Hasher() { XXH3_freeState(state_); }
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;
  void Add(const char* data, std::size_t size) {
    const std::uint64_t length = size;
    pending_.append(reinterpret_cast<const char*>(&length), sizeof length).append(data, size);
    if (pending_.size() > kMost) Flush();
  }
  void AddNull() {
    const std::uint64_t none = ~std::uint64_t{0};
    pending_.append(reinterpret_cast<const char*>(&none), sizeof none);
  }
  std::string Hex() {
    Flush();
    return fmt::format("{:016x}", XXH3_64bits_digest(state_));
  }

 private:
  static constexpr std::size_t kMost = 1 << 15;
  void Flush() {
    XXH3_64bits_update(state_, pending_.data(), pending_.size());
    pending_.clear();
  }
  XXH3_state_t* state_;
  std::string pending_;  // many small pieces cost more one by one than together
};

struct NameLister {
  std::vector<std::string> names;
  template <typename T>
  void operator()(const char* name, T&) {
    names.push_back(name);
  }
};

class Writer {
 public:
  Writer(SQLite::Statement& statement, Hasher& hash) : statement_(statement), hash_(hash) {}
  void Begin() { at_ = 3; }
  // Lists and maps are bound as text that is made here; what the fact itself holds lives until the row is
  // stepped.
  void operator()(const char*, const std::string& s) { Put(s); }
  void operator()(const char*, const Bytes& b) {
    hash_.Add(b.bytes.data(), b.bytes.size());
    statement_.bindNoCopy(at_++, b.bytes.data(), static_cast<int>(b.bytes.size()));
  }
  void operator()(const char*, const Text& s) { s ? Put(*s) : Null(); }
  void operator()(const char*, bool b) { b ? Put(std::int64_t{1}) : Null(); }
  void operator()(const char*, const std::optional<bool>& b) { b ? Put(std::int64_t{*b}) : Null(); }
  void operator()(const char*, std::int64_t n) { Put(n); }
  void operator()(const char*, const std::optional<std::int64_t>& n) { n ? Put(*n) : Null(); }
  void operator()(const char* name, double d) { (*this)(name, std::optional(d)); }
  void operator()(const char*, const std::optional<double>& d) {
    if (!d) return Null();
    hash_.Add(reinterpret_cast<const char*>(&*d), sizeof *d);
    statement_.bind(at_++, *d);
  }
  template <typename T>
  void operator()(const char* name, const Seldom<T>& seldom) {
    (*this)(name, *seldom);
  }
  template <typename T>
  void operator()(const char*, const std::vector<T>& list) {
    Made(Encode(list));
  }
  template <typename K, typename T>
  void operator()(const char*, const std::map<K, T>& map) {
    Made(Encode(map));
  }
  template <typename T>
  void operator()(const char*, const std::optional<T>& value) {
    Made(EncodeStruct(value));
  }

 private:
  void Put(const std::string& s) {
    hash_.Add(s.data(), s.size());
    statement_.bindNoCopy(at_++, s);
  }
  void Made(const Text& s) {
    if (!s) return Null();
    hash_.Add(s->data(), s->size());
    statement_.bind(at_++, *s);
  }
  void Put(std::int64_t n) {
    hash_.Add(reinterpret_cast<const char*>(&n), sizeof n);
    statement_.bind(at_++, n);
  }
  void Null() {
    hash_.AddNull();
    statement_.bind(at_++);
  }
  SQLite::Statement& statement_;
  Hasher& hash_;
  int at_ = 3;
};

class Reader {
 public:
  Reader(SQLite::Statement& statement, Hasher& hash) : statement_(statement), hash_(hash) {}
  void Begin() { at_ = 0; }
  void operator()(const char*, std::string& s) { s = Get().value_or(""); }
  void operator()(const char*, Bytes& b) {
    const SQLite::Column column = statement_.getColumn(at_++);
    b.bytes.assign(static_cast<const char*>(column.getBlob()), static_cast<std::size_t>(column.getBytes()));
    hash_.Add(b.bytes.data(), b.bytes.size());
  }
  void operator()(const char*, Text& s) { s = Get(); }
  void operator()(const char*, bool& b) { b = Number().value_or(0) != 0; }
  void operator()(const char*, std::optional<bool>& b) {
    if (const auto n = Number()) b = *n != 0;
  }
  void operator()(const char*, std::int64_t& n) { n = Number().value_or(0); }
  void operator()(const char*, std::optional<std::int64_t>& n) { n = Number(); }
  void operator()(const char* name, double& d) {
    std::optional<double> read;
    (*this)(name, read);
    d = read.value_or(0);
  }
  void operator()(const char*, std::optional<double>& d) {
    const SQLite::Column column = statement_.getColumn(at_++);
    if (column.isNull()) return hash_.AddNull();
    d = column.getDouble();
    hash_.Add(reinterpret_cast<const char*>(&*d), sizeof *d);
  }
  template <typename T>
  void operator()(const char*, Seldom<T>& seldom) {
    if (const Text text = Get()) Decode(text, seldom.Make());
  }
  template <typename T>
  void operator()(const char*, std::vector<T>& list) {
    Decode(Get(), list);
  }
  template <typename K, typename T>
  void operator()(const char*, std::map<K, T>& map) {
    Decode(Get(), map);
  }
  template <typename T>
  void operator()(const char*, std::optional<T>& value) {
    DecodeStruct(Get(), value);
  }

 private:
  Text Get() {
    const SQLite::Column column = statement_.getColumn(at_++);
    if (column.isNull()) {
      hash_.AddNull();
      return std::nullopt;
    }
    const char* text = column.getText();
    const auto size = static_cast<std::size_t>(column.getBytes());
    hash_.Add(text, size);
    return std::string(text, size);
  }
  std::optional<std::int64_t> Number() {
    const SQLite::Column column = statement_.getColumn(at_++);
    if (column.isNull()) {
      hash_.AddNull();
      return std::nullopt;
    }
    const std::int64_t n = column.getInt64();
    hash_.Add(reinterpret_cast<const char*>(&n), sizeof n);
    return n;
  }
  SQLite::Statement& statement_;
  Hasher& hash_;
  int at_ = 0;
};

template <typename T>
std::vector<std::string> ColumnNames() {
  T fact;
  NameLister lister;
  Columns(lister, fact);
  return lister.names;
}

template <typename T>
std::string InsertSql(const char* table) {
  std::string names, marks;
  for (const std::string& name : ColumnNames<T>()) {
    names += ", \"" + name + "\"";
    marks += ", ?";
  }
  return fmt::format("INSERT INTO \"{}\" (source, n{}) VALUES (?, ?{})", table, names, marks);
}

template <typename T>
std::string SelectSql(const char* table) {
  std::string names;
  for (const std::string& name : ColumnNames<T>()) names += (names.empty() ? "\"" : ", \"") + name + "\"";
  return fmt::format("SELECT {} FROM \"{}\" WHERE source = ? ORDER BY n", names, table);
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

}  // namespace

int NewestLayout() { return static_cast<int>(LayoutScripts().size()); }

struct Store::Impl {
  std::string path;
  SQLite::Database db;
  // One thread uses a store at a time.
  Impl(std::string p, const std::string& uri, int flags)
      : path(std::move(p)), db(uri, flags | SQLite::OPEN_NOMUTEX, 30'000) {}

  int Pragma(const char* name) { return db.execAndGet(std::string("PRAGMA ") + name).getInt(); }

  // Throws if the file is somebody else's, or newer than this program.
  int CheckedLayout() {
    const int layout = Pragma("user_version"), id = Pragma("application_id");
    if (id != kApplicationId &&
        (layout != 0 || db.execAndGet("SELECT count(*) FROM sqlite_master").getInt() != 0))
      Refuse(path, "not a backreach store: another program's database");
    if (layout > NewestLayout())
      Refuse(path, fmt::format("written by a newer backreach (layout {}, this one knows up to {})", layout,
                               NewestLayout()));
    return layout;
  }
};

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

const std::string& Store::path() const { return impl_->path; }
int Store::layout() const { return impl_->Pragma("user_version"); }

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
    auto impl = std::make_unique<Impl>(path, uri, flags);
    const int layout = impl->CheckedLayout();
    if (layout < NewestLayout() && layout > 0)
      Refuse(path, fmt::format("written by an older backreach (layout {}, this one reads {}): ingest any "
                               "source again to bring it up to date",
                               layout, NewestLayout()));
    if (layout == 0)
      throw Error(path +
                  ": error: the store is empty: no source was ingested\n"
                  "  begin with: backreach ingest dbt target/");
    return Store(std::move(impl));
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
    auto impl = std::make_unique<Impl>(path, path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    SQLite::Database& db = impl->db;
    if (impl->CheckedLayout() < NewestLayout()) {
      if (impl->CheckedLayout() == 0)
        db.exec("PRAGMA page_size = 8192");  // facts come and go by the thousand
      if (db.execAndGet("PRAGMA journal_mode").getString() != "wal") db.exec("PRAGMA journal_mode = WAL");
      SQLite::Transaction transaction(db, SQLite::TransactionBehavior::IMMEDIATE);
      for (int layout = impl->CheckedLayout(); layout < NewestLayout(); ++layout) {
        db.exec(LayoutScripts()[layout]);
        db.exec(fmt::format("PRAGMA user_version = {}", layout + 1));
      }
      db.exec(fmt::format("PRAGMA application_id = {}", kApplicationId));
      transaction.commit();
    }
    db.exec("PRAGMA foreign_keys = ON");
    db.exec("PRAGMA synchronous = NORMAL");
    db.exec("PRAGMA cache_size = -800");  // rows are appended: what was written is not looked at again
    return Store(std::move(impl));
  } catch (const SQLite::Exception& e) {
    Translate(path, e);
  }
}

std::vector<Source> Store::Sources() const {
  try {
    SQLite::Statement q(impl_->db,
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
  try {
    SQLite::Database& db = impl_->db;
    SQLite::Transaction snapshot(db);  // one state for all tables
    std::vector<SourceFacts> out;
    std::vector<std::pair<std::int64_t, std::string>> ids;
    std::vector<std::string> node_hashes;
    SQLite::Statement q(db,
                        "SELECT id, kind, name, key, sha256, ingested_at, beside_sha256, rows_hash, "
                        "nodes_hash FROM source ORDER BY kind, name, key");
    while (q.executeStep()) {
      ids.emplace_back(q.getColumn(0).getInt64(), q.getColumn(7).getString());
      node_hashes.push_back(q.getColumn(8).getString());
      out.push_back({{q.getColumn(1).getString(), q.getColumn(2).getString(), q.getColumn(3).getString(),
                      q.getColumn(4).getString(), q.getColumn(5).getString(), q.getColumn(6).getString()},
                     {}});
    }
    for (std::size_t i = 0; i < out.size(); ++i) {
      Hasher hash, nodes_hash;
      const auto read = [&](const char* table, auto& facts, Hasher& into) {
        using T = typename std::remove_reference_t<decltype(facts)>::value_type;
        SQLite::Statement select(db, SelectSql<T>(table));
        select.bind(1, ids[i].first);
        Reader reader(select, into);
        while (select.executeStep()) {
          reader.Begin();
          Columns(reader, facts.emplace_back());
        }
      };
      Tables(out[i].facts, [&](const char* table, auto& facts) { read(table, facts, hash); });
      if (with_nodes)
        NodeTables(out[i].facts, [&](const char* table, auto& facts) { read(table, facts, nodes_hash); });
      if (hash.Hex() != ids[i].second ||
          (with_nodes && !node_hashes[i].empty() && nodes_hash.Hex() != node_hashes[i]))
        throw Error(
            fmt::format(
                "{}: error: the rows of {}:{} are not those that were ingested (hash {}, expected {})\n"
                "  somebody changed them, or the file is damaged: ingest this source again",
                impl_->path, out[i].source.kind, out[i].source.name, hash.Hex(), ids[i].second),
            Status::kStore);
    }
    return out;
  } catch (const SQLite::Exception& e) {
    Translate(impl_->path, e);
  } catch (const nlohmann::json::exception& e) {
    throw Error(impl_->path + ": error: the store is damaged: " + e.what(), Status::kStore);
  }
}

std::size_t Store::Replace(const std::vector<SourceFacts>& sources) {
  try {
    SQLite::Database& db = impl_->db;
    SQLite::Transaction transaction(db, SQLite::TransactionBehavior::IMMEDIATE);
    std::size_t written = 0;
    for (const SourceFacts& given : sources) {
      const Source& s = given.source;
      SQLite::Statement same(
          db,
          "SELECT id, sha256 || beside_sha256, rows_hash, nodes_hash FROM source WHERE kind = ? AND key = ?");
      same.bind(1, s.kind), same.bind(2, s.key);
      const bool there = same.executeStep();
      const std::int64_t old_id = there ? same.getColumn(0).getInt64() : 0;
      const std::string old_sha = there ? same.getColumn(1).getString() : "";
      const std::string old_hash = there ? same.getColumn(2).getString() : "";
      const std::string old_nodes_hash = there ? same.getColumn(3).getString() : "";
      same.reset();
      SQLite::Statement insert(
          db,
          "INSERT INTO source (kind, name, key, sha256, beside_sha256, ingested_at, rows_hash) "
          "VALUES (?, ?, ?, ?, ?, ?, '')");
      const auto write = [&] {
        insert.bind(1, s.kind), insert.bind(2, s.name), insert.bind(3, s.key), insert.bind(4, s.sha256);
        insert.bind(5, s.beside_sha256), insert.bind(6, s.ingested_at);
        insert.exec();
        const std::int64_t id = db.getLastInsertRowid();
        Hasher hash, nodes_hash;
        const auto put = [&](const char* table, auto& facts, Hasher& into) {
          using T = typename std::remove_reference_t<decltype(facts)>::value_type;
          SQLite::Statement statement(db, InsertSql<T>(table));
          Writer writer(statement, into);
          std::int64_t n = 0;
          for (T& fact : facts) {
            statement.bind(1, id), statement.bind(2, n++);
            writer.Begin();
            Columns(writer, fact);
            statement.exec();
            statement.reset();
          }
        };
        Facts& facts = const_cast<Facts&>(given.facts);
        Tables(facts, [&](const char* table, auto& list) { put(table, list, hash); });
        NodeTables(facts, [&](const char* table, auto& list) { put(table, list, nodes_hash); });
        SQLite::Statement update(db, "UPDATE source SET rows_hash = ?, nodes_hash = ? WHERE id = ?");
        update.bind(1, hash.Hex()), update.bind(2, nodes_hash.Hex()), update.bind(3, id);
        update.exec();
        return hash.Hex();
      };
      if (there && old_sha == s.sha256 + s.beside_sha256) {
        // The same bytes: the same facts, unless this program has learnt to read more of them.
        Hasher hash, nodes_hash;
        const auto probe = [&](const char* table, auto& facts, Hasher& into) {
          using T = typename std::remove_reference_t<decltype(facts)>::value_type;
          SQLite::Statement unused(db, InsertSql<T>(table));
          Writer writer(unused, into);
          for (T& fact : facts) {
            writer.Begin();
            Columns(writer, fact);
            unused.clearBindings();
          }
        };
        Facts& facts = const_cast<Facts&>(given.facts);
        Tables(facts, [&](const char* table, auto& list) { probe(table, list, hash); });
        NodeTables(facts, [&](const char* table, auto& list) { probe(table, list, nodes_hash); });
        if (hash.Hex() == old_hash && nodes_hash.Hex() == old_nodes_hash) continue;
      }
      if (there) {
        SQLite::Statement erase(db, "DELETE FROM source WHERE id = ?");
        erase.bind(1, old_id);
        erase.exec();
      }
      write();
      ++written;
    }
    transaction.commit();
    return written;
  } catch (const SQLite::Exception& e) {
    Translate(impl_->path, e);
  }
}

std::vector<std::string> Store::Check() const {
  std::vector<std::string> found;
  try {
    SQLite::Statement q(impl_->db, "PRAGMA integrity_check");
    while (q.executeStep())
      if (q.getColumn(0).getString() != "ok") found.push_back(q.getColumn(0).getString());
    Load();
  } catch (const SQLite::Exception& e) {
    found.push_back(e.what());
  } catch (const Error& e) {
    found.push_back(e.what());
  }
  return found;
}

}  // namespace backreach
