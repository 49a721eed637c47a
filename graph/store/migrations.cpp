// Layouts 1 to 3 had a row for each fact, which no program since could read; layout 4 had blocks of facts by
// source and number; layout 5 had no log of runs. Each step makes the layout after it.

#include "graph/store/migrations.hpp"

#include <fmt/format.h>

#include "graph/base/error.hpp"
#include "graph/store/database/schema.hpp"
#include "graph/store/hash.hpp"
#include "graph/store/layout4.hpp"
#include "graph/store/versions.hpp"

namespace backreach {

namespace {

constexpr const char* kOlder = "older_";

// The hashes of all blocks of a source, as layout 4 took them.
class Layout4Hash {
 public:
  void Add(std::string_view part, std::string_view bytes) {
    const std::uint64_t hash = IdentityHash(bytes);
    bytes_.Text(part);
    bytes_.Raw(&hash, sizeof hash);
  }
  std::string Hex() const { return fmt::format("{:016x}", IdentityHash(bytes_.bytes())); }

 private:
  ByteWriter bytes_;
};

struct Expected {
  std::string facts, nodes;
};

// True if the facts are those that were ingested.
bool ReadBlocks(Statement& blocks, std::int64_t source, bool with_nodes, const Expected& expected,
                Facts& facts) {
  constexpr const char* kDamaged = "damaged";
  blocks.bind(1, source);
  const auto each = [&](std::string_view part, Layout4Hash& hash, auto take) {
    blocks.bind(2, std::string(part));
    while (blocks.executeStep()) {
      const std::string_view bytes = blocks.getColumn(0).bytes();
      hash.Add(part, bytes);
      take(bytes);
    }
    blocks.reset();
  };
  Layout4Hash facts_hash, nodes_hash;
  Lists(facts, [&](std::string_view part, auto& list) {
    each(part, facts_hash, [&](std::string_view bytes) { UnpackLayout4(bytes, kDamaged, list); });
  });
  std::vector<std::string> nodes, configs;
  if (with_nodes) {
    each("node", nodes_hash, [&](std::string_view bytes) { nodes.emplace_back(bytes); });
    each("node config", nodes_hash, [&](std::string_view bytes) { configs.emplace_back(bytes); });
    facts.nodes = RepackLayout4Nodes(nodes, configs, kDamaged);
  }
  return facts_hash.Hex() == expected.facts && (!with_nodes || nodes_hash.Hex() == expected.nodes);
}

void Rename(Database& db, const std::string& table, const std::string& to) {
  if (db.HasTable(table)) db.Exec(fmt::format("ALTER TABLE \"{}\" RENAME TO \"{}\"", table, to));
}

// To layout 4: sources stay known, and say that their facts are not.
void FromRows(Database& db) {
  for (const char* table : {"source", "dataset", "edge", "job", "pool", "copy", "extract", "unresolved",
                            "check", "timing", "measure", "node", "node_config"})
    Rename(db, table, std::string(kOlder) + table);
  db.Exec(R"sql(
    CREATE TABLE source (
      id INTEGER PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, key TEXT NOT NULL,
      sha256 TEXT NOT NULL, beside_sha256 TEXT NOT NULL, ingested_at TEXT NOT NULL,
      facts_hash TEXT NOT NULL, nodes_hash TEXT NOT NULL) STRICT;
    CREATE TABLE block (source INTEGER, part TEXT, n INTEGER, facts INTEGER, hash INTEGER, bytes BLOB) STRICT;
    INSERT INTO source SELECT id, kind, name, key, sha256, '', ingested_at, '', '' FROM older_source;
  )sql");
}

// To layout 5: each source's facts are its first version.
void FromBlocks(Database& db) {
  std::vector<OlderSource> sources = ReadLayout4(db, true);
  bool damaged = false;
  for (const OlderSource& s : sources) damaged = damaged || !s.complaint.empty();
  if (damaged) {  // somebody may still make something of it
    Rename(db, "block", std::string(kOlder) + "block");
    Rename(db, "source", std::string(kOlder) + "source");
  } else {
    db.Exec("DROP TABLE block; DROP TABLE source");
  }
  db.Exec(kSchema);
  for (OlderSource& s : sources) {
    if (s.lost || !s.complaint.empty())
      WriteLostVersion(db, s.facts.source);
    else
      WriteVersion(db, {}, {}, s.facts);
  }
  WriteState(db);
}

// To layout 6: a log of runs, empty.
void AddRunLog(Database& db) {
  db.Exec(kRunTables);
  WriteState(db);
}

// Each brings a store of a layout below the number to it.
struct Migration {
  int to;
  void (*run)(Database& db);
};
constexpr Migration kMigrations[] = {{4, FromRows}, {5, FromBlocks}, {6, AddRunLog}};

}  // namespace

std::vector<OlderSource> ReadLayout4(Database& db, bool with_nodes) {
  std::vector<OlderSource> out;
  Statement sources(db,
                    "SELECT id, facts_hash, nodes_hash, kind, name, key, sha256, ingested_at, "
                    "beside_sha256 FROM " +
                        db.Whole("source") + " ORDER BY kind, name, key");
  Statement blocks(db, "SELECT bytes FROM block WHERE source = ? AND part = ? ORDER BY n");
  while (sources.executeStep()) {
    const auto text = [&](int column) { return sources.getColumn(column).getString(); };
    OlderSource& s = out.emplace_back();
    s.facts.source = {text(3), text(4), text(5), text(6), text(7), text(8)};
    s.lost = text(1).empty();
    if (s.lost) continue;
    bool whole = false;
    try {
      whole =
          ReadBlocks(blocks, sources.getColumn(0).getInt64(), with_nodes, {text(1), text(2)}, s.facts.facts);
    } catch (const Error&) {
      whole = false;  // bytes that are no facts
    }
    if (whole) continue;
    blocks.reset();
    s.facts.facts = {};
    s.complaint = fmt::format(
        "{}: error: the facts of {}:{} are not those that were ingested\n"
        "  somebody changed them, or the file is damaged: ingest this source again",
        db.path(), s.facts.source.kind, s.facts.source.name);
  }
  return out;
}

void BringUpToDate(Database& db) {
  if (const int layout = db.CheckedLayout(); layout < kLayout) {
    db.PrepareEmpty();
    Transaction transaction(db, true);
    if (const int now = db.CheckedLayout(); now < kLayout) {  // nobody was faster
      if (now == 0) {
        db.Exec(kSchema);
        db.Exec(kRunTables);
        WriteState(db);
      } else {
        for (const Migration& m : kMigrations)
          if (now < m.to) m.run(db);
      }
      db.SayLayout();
    }
    transaction.commit();
  }
  db.Settle();
}

void DropOlderRows(Database& db) {
  if (!db.HasTable("older_source")) return;
  for (const SourceRow& s : ReadSources(db))
    if (s.versions.back().facts_hash.empty()) return;
  const std::vector<std::string> tables = db.TablesLike(kOlder);
  // What points to the sources goes first.
  for (const std::string& table : tables)
    if (table != "older_source") db.Exec(fmt::format("DROP TABLE \"{}\"", table));
  db.Exec("DROP TABLE older_source");
}

}  // namespace backreach
