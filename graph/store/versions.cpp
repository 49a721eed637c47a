#include "graph/store/versions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "graph/base/digest.hpp"
#include "graph/base/error.hpp"
#include "graph/store/blocks.hpp"
#include "graph/store/database/schema.hpp"

namespace backreach {

namespace {

constexpr std::string_view kNodes = "node", kObserved = "observed";

// Of a version: over its parts and their blocks, in their order. A block that is missing is noticed too.
struct Hashes {
  ListHash facts, nodes;
  void Add(std::string_view part, std::string_view block) {
    ListHash& list = part == kNodes ? nodes : facts;
    list.Add(part), list.Add(block);
  }
};

// Calls emit(part, number of facts, bytes, address) for each block. Nodes are counted by nobody.
template <typename F>
Hashes Pack(const Facts& given, F emit) {
  Facts& facts = const_cast<Facts&>(given);  // one list of fields serves writing and reading
  Hashes hashes;
  const auto each = [&](std::string_view part, std::size_t count, std::string_view bytes) {
    const std::string address = BlockHash(bytes);
    hashes.Add(part, address);
    emit(part, count, bytes, address);
  };
  Lists(facts, [&](std::string_view part, auto& list) {
    PackList(list, [&](std::size_t count, std::string_view bytes) { each(part, count, bytes); });
  });
  for (const std::string& bytes : given.nodes.nodes) each(kNodes, 0, bytes);
  for (const std::string& bytes : given.observed) each(kObserved, 0, bytes);
  return hashes;
}

// What stands for the form of this hash: layout 6 added tables that it does not go over.
constexpr std::int64_t kForm = 5;

std::string StateHash(const std::vector<SourceRow>& sources) {
  // By id, since names may be equal.
  std::vector<const SourceRow*> rows;
  for (const SourceRow& s : sources) rows.push_back(&s);
  std::sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) { return a->id < b->id; });
  ListHash hash;
  hash.Add(kForm);
  for (const SourceRow* s : rows) {
    hash.Add(s->id), hash.Add(s->kind), hash.Add(s->name), hash.Add(s->key);
    hash.Add(std::int64_t{s->adds_up}), hash.Add(static_cast<std::int64_t>(s->versions.size()));
    for (const VersionRow& v : s->versions) {
      hash.Add(v.id), hash.Add(v.number), hash.Add(v.ingested_at), hash.Add(v.sha256);
      hash.Add(v.beside_sha256), hash.Add(v.facts_hash), hash.Add(v.nodes_hash);
    }
  }
  return hash.Hex();
}

//: an index that lost an entry must not hide a row.
std::vector<SourceRow> ReadRows(Database& db) {
  std::map<std::int64_t, SourceRow> by_id;
  Statement sources(db, "SELECT id, kind, name, key, adds_up FROM " + db.Whole("source"));
  while (sources.executeStep()) {
    const auto text = [&](int column) { return sources.getColumn(column).getString(); };
    SourceRow& s = by_id[sources.getColumn(0).getInt64()];
    s.id = sources.getColumn(0).getInt64();
    s.kind = text(1), s.name = text(2), s.key = text(3), s.adds_up = sources.getColumn(4).getInt64() != 0;
  }
  Statement versions(db,
                     "SELECT id, source, number, ingested_at, sha256, beside_sha256, facts_hash, "
                     "nodes_hash FROM " +
                         db.Whole("version"));
  while (versions.executeStep()) {
    const auto number = [&](int column) { return versions.getColumn(column).getInt64(); };
    const auto text = [&](int column) { return versions.getColumn(column).getString(); };
    const auto source = by_id.find(number(1));
    if (source == by_id.end()) StoreDamaged(db.path(), "a version of no source");
    source->second.versions.push_back(
        {number(0), number(1), number(2), text(3), text(4), text(5), text(6), text(7)});
  }
  std::vector<SourceRow> out;
  for (auto& [id, s] : by_id) {
    std::sort(s.versions.begin(), s.versions.end(),
              [](const VersionRow& a, const VersionRow& b) { return a.number < b.number; });
    out.push_back(std::move(s));
  }
  std::sort(out.begin(), out.end(), [](const SourceRow& a, const SourceRow& b) {
    return std::tie(a.kind, a.name, a.key) < std::tie(b.kind, b.name, b.key);
  });
  return out;
}

}  // namespace

const VersionRow* SourceRow::At(const std::optional<std::string>& as_of) const {
  for (auto it = versions.rbegin(); it != versions.rend(); ++it)
    if (!as_of || it->ingested_at <= *as_of) return &*it;
  return nullptr;
}

Source SourceRow::AsSource(const VersionRow& v) const {
  return {kind, name, key, v.sha256, v.ingested_at, v.beside_sha256};
}

std::vector<SourceRow> ReadSources(Database& db) {
  Statement state(db, "SELECT layout, hash FROM " + db.Whole("state"));
  const int layout = db.CheckedLayout();
  if (!state.executeStep() || state.getColumn(0).getInt64() != layout)
    StoreDamaged(db.path(), "what it says of itself is not there");
  const std::string expected = state.getColumn(1).getString();
  std::vector<SourceRow> out = ReadRows(db);
  std::set<std::pair<std::string, std::string>> keys;
  for (const SourceRow& s : out)
    if (s.versions.empty() || !keys.emplace(s.kind, s.key).second)
      StoreDamaged(db.path(), "its list of sources holds one twice, or one without facts");
  if (StateHash(out) != expected)
    StoreDamaged(db.path(), "its list of sources is not the one that was written");
  return out;
}

void WriteState(Database& db) {
  Statement q(db,
              "INSERT INTO state (id, layout, hash) VALUES (1, ?, ?) "
              "ON CONFLICT (id) DO UPDATE SET layout = excluded.layout, hash = excluded.hash");
  q.bind(1, kLayout), q.bind(2, StateHash(ReadRows(db)));
  q.exec();
}

namespace {

std::string ComplaintOf(const Database& db, const SourceRow& source) {
  return fmt::format(
      "{}: error: the facts of {}:{} are not those that were ingested\n"
      "  somebody changed them, or the file is damaged: ingest this source again",
      db.path(), source.kind, source.name);
}

// The addresses of a version's blocks by part, in their order; calls take(part, bytes) for each whose part is
// `wanted`. False where the blocks are not those of the version.
template <typename Wanted, typename Take>
bool EachBlock(Database& db, const VersionRow& version, Wanted wanted, Take take) {
  Statement blocks(db,
                   "SELECT c.part, b.hash, b.bytes FROM content c JOIN block b ON b.id = c.block "
                   "WHERE c.version = ? ORDER BY c.part, c.n");
  std::map<std::string, std::vector<std::string>, std::less<>> addresses;
  blocks.bind(1, version.id);
  while (blocks.executeStep()) {
    const std::string part = blocks.getColumn(0).getString();
    std::string& address = addresses[part].emplace_back(blocks.getColumn(1).bytes());
    if (!wanted(part)) continue;
    const std::string_view bytes = blocks.getColumn(2).bytes();
    if (BlockHash(bytes) != address) return false;
    take(part, bytes);
  }
  // Parts as they were packed; those that only a newer backreach knows count at the end.
  Hashes hashes;
  const auto add = [&](std::string_view part) {
    const auto it = addresses.find(part);
    if (it == addresses.end()) return;
    for (const std::string& address : it->second) hashes.Add(part, address);
    addresses.erase(it);
  };
  Facts facts;
  Lists(facts, [&](std::string_view part, auto&) { add(part); });
  add(kNodes);
  add(kObserved);
  while (!addresses.empty()) add(std::string(addresses.begin()->first));
  return hashes.facts.Hex() == version.facts_hash && hashes.nodes.Hex() == version.nodes_hash;
}

}  // namespace

void ReadVersion(Database& db, const SourceRow& source, const VersionRow& version, bool with_nodes,
                 Facts& facts, std::size_t* skipped) {
  const std::string complaint = ComplaintOf(db, source);
  const bool whole = EachBlock(
      db, version, [&](std::string_view part) { return part != kObserved && (part != kNodes || with_nodes); },
      [&](std::string_view part, std::string_view bytes) {
        bool known = part == kNodes;
        if (known) facts.nodes.nodes.emplace_back(bytes);
        Lists(facts, [&](std::string_view name, auto& list) {
          if (name != part) return;
          known = true;
          UnpackBlock(bytes, complaint.c_str(), list, skipped);
        });
        known = known || part == kObserved;
        if (!known && skipped) ++*skipped;
      });
  if (!whole) throw Error(complaint, Status::kStore);
}

void ReadNodes(Database& db, const SourceRow& source, const VersionRow& version, PackedNodes& nodes) {
  const bool whole = EachBlock(
      db, version, [](std::string_view part) { return part == kNodes; },
      [&](std::string_view, std::string_view bytes) { nodes.nodes.emplace_back(bytes); });
  if (!whole) throw Error(ComplaintOf(db, source), Status::kStore);
}

void ReadObserved(Database& db, const SourceRow& source, const VersionRow& version,
                  std::deque<std::string>& observed) {
  const bool whole = EachBlock(
      db, version, [](std::string_view part) { return part == kObserved; },
      [&](std::string_view, std::string_view bytes) { observed.emplace_back(bytes); });
  if (!whole) throw Error(ComplaintOf(db, source), Status::kStore);
}

bool IsWhole(Database& db, const VersionRow& version) {
  return EachBlock(
      db, version, [](auto&&) { return true; }, [](auto&&...) {});
}

namespace {

// The number that a row got; `RETURNING id` gives it.
std::int64_t IdOf(Statement& insert) {
  const std::int64_t id = insert.executeStep() ? insert.getColumn(0).getInt64() : 0;
  insert.exec();
  insert.reset();
  return id;
}

// Puts blocks in, or finds them.
class BlockWriter {
 public:
  explicit BlockWriter(Database& db)
      : find_(db, "SELECT id, bytes FROM block WHERE hash = ?"),
        insert_(db, "INSERT INTO block (hash, facts, bytes) VALUES (?, ?, ?) RETURNING id"),
        repair_(db, "UPDATE block SET bytes = ? WHERE id = ?"),
        content_(db, "INSERT INTO content (version, part, n, block) VALUES (?, ?, ?, ?)") {}

  void Put(std::int64_t version, std::string_view part, std::size_t facts, std::string_view bytes,
           const std::string& address) {
    if (part != part_) part_ = part, n_ = 0;
    content_.bind(1, version), content_.bind(2, part_), content_.bind(3, n_++);
    content_.bind(4, Block(facts, bytes, address));
    content_.exec();
    content_.reset();
  }

 private:
  std::int64_t Block(std::size_t facts, std::string_view bytes, const std::string& address) {
    find_.bindBytes(1, address);
    std::int64_t id = 0;
    bool damaged = false;
    if (find_.executeStep()) {
      id = find_.getColumn(0).getInt64();
      damaged = find_.getColumn(1).bytes() != bytes;
    }
    find_.reset();
    if (damaged) {
      repair_.bindBytes(1, bytes), repair_.bind(2, id);
      repair_.exec();
      repair_.reset();
    }
    if (id != 0) return id;
    insert_.bindBytes(1, address);
    insert_.bind(2, static_cast<std::int64_t>(facts));
    insert_.bindBytes(3, bytes);
    return IdOf(insert_);
  }
  Statement find_, insert_, repair_, content_;
  std::string part_;
  std::int64_t n_ = 0;
};

// All facts of both lists, each once, in an order of their own: which was said first does not matter.
template <typename List>
void Unite(List& list, List& more) {
  std::map<std::string, std::size_t> order;
  ByteWriter bytes;
  FactWriter writer(bytes);
  List all = std::move(list);
  for (auto& fact : more) all.push_back(std::move(fact));
  std::size_t n = 0;
  for (auto& fact : all) {
    bytes.Clear();
    writer.Write(fact, nullptr);
    order.emplace(bytes.bytes(), n++);
  }
  list.clear();
  for (const auto& [key, at] : order) list.push_back(std::move(all[at]));
}

void UniteFacts(Facts& before, Facts& facts) {
  Lists(facts, [&](std::string_view part, auto& list) {
    Lists(before, [&](std::string_view other, auto& old) {
      if constexpr (std::is_same_v<decltype(list), decltype(old)>)
        if (part == other) Unite(list, old);
    });
  });
}

void AddUp(Database& db, const SourceRow* source, const Meeting& meeting, SourceFacts& given) {
  Facts& facts = given.facts;
  const bool more = source && !source->versions.back().facts_hash.empty();
  Facts before;
  if (more && meeting.merge)
    ReadObserved(db, *source, source->versions.back(), before.observed);
  else if (more)
    ReadVersion(db, *source, source->versions.back(), true, before);
  if (!meeting.merge)
    UniteFacts(before, facts);
  else if (more)
    meeting.merge(before, facts);
  // The content is named by what it says: which file came last does not matter.
  ListHash hash;
  Pack(facts, [&](std::string_view part, std::size_t, std::string_view, const std::string& address) {
    hash.Add(part), hash.Add(address);
  });
  given.source.sha256 = Sha256Hex(hash.Hex());
}

std::int64_t InsertVersion(Database& db, std::int64_t source, std::int64_t number, const Source& s) {
  Statement insert(db,
                   "INSERT INTO version (source, number, ingested_at, sha256, beside_sha256, "
                   "facts_hash, nodes_hash) VALUES (?, ?, ?, ?, ?, '', '') RETURNING id");
  insert.bind(1, source), insert.bind(2, number), insert.bind(3, s.ingested_at), insert.bind(4, s.sha256);
  insert.bind(5, s.beside_sha256);
  return IdOf(insert);
}

std::int64_t InsertSource(Database& db, const Source& s, bool adds_up) {
  Statement insert(db, "INSERT INTO source (kind, name, key, adds_up) VALUES (?, ?, ?, ?) RETURNING id");
  insert.bind(1, s.kind), insert.bind(2, s.name), insert.bind(3, s.key);
  insert.bind(4, adds_up ? 1 : 0);
  return IdOf(insert);
}

const SourceRow* FindSource(const std::vector<SourceRow>& sources, const Source& s) {
  for (const SourceRow& row : sources)
    if (row.kind == s.kind && row.key == s.key) return &row;
  return nullptr;
}

}  // namespace

bool WriteVersion(Database& db, const std::vector<SourceRow>& sources, const Meeting& meeting,
                  SourceFacts& given) {
  const Source& s = given.source;
  const SourceRow* row = FindSource(sources, s);
  if (meeting.adds_up) AddUp(db, row, meeting, given);
  std::int64_t version = 0;
  // The same bytes: the same facts, unless this program has learnt to read more of them.
  if (row && row->versions.back().sha256 == s.sha256 &&
      row->versions.back().beside_sha256 == s.beside_sha256) {
    const VersionRow& last = row->versions.back();
    const Hashes hashes = Pack(given.facts, [](auto&&...) {});
    if (hashes.facts.Hex() == last.facts_hash && hashes.nodes.Hex() == last.nodes_hash) {
      if (IsWhole(db, last)) return false;
      Statement erase(db, "DELETE FROM content WHERE version = ?");  // damaged: written anew
      erase.bind(1, last.id);
      erase.exec();
      version = last.id;
    }
  }
  if (version == 0) {
    const std::int64_t source = row ? row->id : InsertSource(db, s, meeting.adds_up);
    version = InsertVersion(db, source, row ? row->versions.back().number + 1 : 1, s);
  }
  BlockWriter writer(db);
  const Hashes hashes = Pack(
      given.facts, [&](std::string_view part, std::size_t facts, std::string_view bytes,
                       const std::string& address) { writer.Put(version, part, facts, bytes, address); });
  Statement finish(db, "UPDATE version SET facts_hash = ?, nodes_hash = ? WHERE id = ?");
  finish.bind(1, hashes.facts.Hex()), finish.bind(2, hashes.nodes.Hex()), finish.bind(3, version);
  finish.exec();
  return true;
}

void WriteLostVersion(Database& db, const Source& source) {
  InsertVersion(db, InsertSource(db, source, false), 1, source);
}

std::string NameOfNewest(const std::vector<SourceRow>& sources) {
  ListHash hash;
  for (const SourceRow& s : sources) {
    const VersionRow& v = s.versions.back();
    hash.Add(s.kind), hash.Add(s.name), hash.Add(s.key), hash.Add(v.sha256), hash.Add(v.beside_sha256);
    hash.Add(v.facts_hash);
  }
  return hash.Hex();
}

void RemoveUnusedBlocks(Database& db) {
  db.Exec("DELETE FROM block WHERE id NOT IN (SELECT block FROM content)");
}

}  // namespace backreach
