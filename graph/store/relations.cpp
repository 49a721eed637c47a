// Rows are written in the order of their keys, and what is null in most rows takes a byte. Numbers of
// datasets are their topological numbers: every edge leads to a higher one, but inside of a cycle.

#include "graph/store/relations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <tuple>
#include <vector>

#include "graph/base/words.hpp"
#include "graph/reads/reads_json.hpp"
#include "graph/store/database/given_rows.hpp"

namespace backreach {

namespace {

constexpr const char* kTables = R"sql(
CREATE TABLE graph (
  contract INTEGER NOT NULL, made_from TEXT NOT NULL, fingerprint TEXT NOT NULL
) STRICT;
CREATE TABLE other_seen (
  id INTEGER PRIMARY KEY, source TEXT NOT NULL, file TEXT, place TEXT
) STRICT;
CREATE TABLE dataset (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, kind TEXT NOT NULL, holds_data INTEGER NOT NULL, cycle INTEGER,
  platform TEXT, relation TEXT, grain TEXT, timezone TEXT, first TEXT, last TEXT, complete_after TEXT,
  row_time TEXT, retention TEXT, writes TEXT, writes_why TEXT, key TEXT, owner TEXT, contact TEXT,
  source TEXT, file TEXT, place TEXT
) STRICT;
CREATE TABLE other_name (
  name TEXT NOT NULL, dataset INTEGER NOT NULL, how TEXT NOT NULL, PRIMARY KEY (name, dataset)
) STRICT, WITHOUT ROWID;
CREATE TABLE edge (
  parent INTEGER NOT NULL, child INTEGER NOT NULL, n INTEGER NOT NULL,
  reads TEXT, cannot_stand INTEGER, known TEXT NOT NULL, memory TEXT, job TEXT, first_seen TEXT,
  last_seen TEXT, failed_only INTEGER, note TEXT, seen INTEGER,
  PRIMARY KEY (parent, child, n)
) STRICT, WITHOUT ROWID;
CREATE TABLE edge_said (
  parent INTEGER NOT NULL, child INTEGER NOT NULL, reads TEXT, known TEXT NOT NULL, seen INTEGER NOT NULL
) STRICT;
CREATE TABLE job (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, orchestrator TEXT, schedule TEXT, timezone TEXT, run_grain TEXT,
  pool TEXT, slots INTEGER, max_parallel INTEGER, seconds_per_cell REAL, sequential INTEGER NOT NULL,
  separable INTEGER NOT NULL, owner TEXT, seen INTEGER
) STRICT;
CREATE TABLE job_dataset (
  job INTEGER NOT NULL, role TEXT NOT NULL, dataset INTEGER NOT NULL, PRIMARY KEY (job, role, dataset)
) STRICT, WITHOUT ROWID;
CREATE TABLE pool (name TEXT PRIMARY KEY, slots INTEGER, usual_load INTEGER) STRICT, WITHOUT ROWID;
CREATE TABLE copy (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, kind TEXT NOT NULL, destination TEXT, owner TEXT, contact TEXT,
  taken TEXT, holds_all INTEGER, holds_from TEXT, holds_to TEXT, holds_last TEXT, refresh TEXT, keeps TEXT,
  personal_data INTEGER NOT NULL, known INTEGER NOT NULL, exposure INTEGER NOT NULL, note TEXT, seen INTEGER
) STRICT;
CREATE TABLE copy_of (
  copy INTEGER NOT NULL, n INTEGER NOT NULL, name TEXT NOT NULL, dataset INTEGER, other_copy INTEGER,
  PRIMARY KEY (copy, n)
) STRICT, WITHOUT ROWID;
CREATE TABLE way_out (
  dataset INTEGER, name TEXT NOT NULL, destination TEXT NOT NULL, user TEXT, job TEXT, first_seen TEXT,
  last_seen TEXT, times INTEGER, what TEXT, seen INTEGER NOT NULL
) STRICT;
CREATE TABLE also_said (what TEXT NOT NULL, id INTEGER NOT NULL, seen INTEGER NOT NULL) STRICT;
CREATE TABLE conflict (
  dataset INTEGER NOT NULL, field TEXT NOT NULL, value TEXT, used INTEGER NOT NULL, seen INTEGER NOT NULL
) STRICT;
CREATE TABLE unresolved (
  name TEXT NOT NULL, what TEXT NOT NULL, dataset INTEGER, message TEXT, seen INTEGER NOT NULL
) STRICT;
)sql";
// What is looked up by another column than the key; all names, all places, and who said what.
constexpr const char* kIndexes = R"sql(
CREATE INDEX dataset_name ON dataset (name);
CREATE INDEX edge_child ON edge (child);
CREATE VIEW name (name, dataset, how) AS
  SELECT name, id, 'canonical' FROM dataset UNION ALL SELECT name, dataset, how FROM other_name;
CREATE VIEW seen (id, source, file, place) AS
  SELECT id, source, file, place FROM dataset UNION ALL SELECT id, source, file, place FROM other_seen;
CREATE VIEW said (what, id, source, file, place) AS
  SELECT 'dataset', id, source, file, place FROM dataset WHERE source IS NOT NULL
  UNION ALL SELECT 'job', j.id, s.source, s.file, s.place FROM job j JOIN other_seen s ON s.id = j.seen
  UNION ALL SELECT 'copy', c.id, s.source, s.file, s.place FROM copy c JOIN other_seen s ON s.id = c.seen
  UNION ALL SELECT a.what, a.id, s.source, s.file, s.place FROM also_said a JOIN other_seen s ON s.id = a.seen;
)sql";

constexpr const char* kDrop = R"sql(
DROP VIEW IF EXISTS said; DROP VIEW IF EXISTS seen; DROP VIEW IF EXISTS name;
DROP TABLE IF EXISTS graph; DROP TABLE IF EXISTS other_seen; DROP TABLE IF EXISTS dataset;
DROP TABLE IF EXISTS other_name; DROP TABLE IF EXISTS edge; DROP TABLE IF EXISTS edge_said;
DROP TABLE IF EXISTS job; DROP TABLE IF EXISTS job_dataset; DROP TABLE IF EXISTS pool;
DROP TABLE IF EXISTS copy; DROP TABLE IF EXISTS copy_of; DROP TABLE IF EXISTS way_out;
DROP TABLE IF EXISTS also_said; DROP TABLE IF EXISTS conflict; DROP TABLE IF EXISTS unresolved;
)sql";

// Rows of one table, in any order with those of others. An empty text is null.
class Rows {
 public:
  Rows(Database& db, const char* table, int columns) : sink_(db.Rows(table, columns)) {}
  template <typename... T>
  void Add(const T&... values) {
    row_.Set(values...);
    sink_->Add(row_);
  }
  void Finish() { sink_->Finish(); }

 private:
  std::unique_ptr<RowSink> sink_;
  GivenRow row_;
};

using Number = std::optional<std::uint32_t>;

std::string LengthOf(const std::optional<Duration>& d) { return d ? FormatDuration(*d) : ""; }

class Writer {
 public:
  Writer(Database& db, const LineageGraph& graph)
      : db_(db),
        g_(graph),
        seen_(db, "other_seen", 4),
        also_said_(db, "also_said", 3),
        seens_(static_cast<std::uint32_t>(graph.datasets.size())) {}

  void All() {
    Datasets();
    Names();
    Edges();
    Jobs();
    Copies();
    Rest();
    seen_.Finish(), also_said_.Finish();
  }

 private:
  Number NumberOf(DatasetId id) const { return id.valid() ? Number(g_.rank(id)) : Number(); }

  void Write(std::uint32_t id, const Seen& seen) {
    seen_.Add(id, Exactly{seen.source}, seen.at.file, seen.at.place);
  }
  std::uint32_t Put(const Seen& seen) {
    Write(seens_, seen);
    return seens_++;
  }
  // The first stands in the row itself.
  Number First(const std::vector<Seen>& seen) { return seen.empty() ? Number() : Number(Put(seen[0])); }
  void Others(const char* what, std::uint32_t id, const std::vector<Seen>& seen) {
    for (std::size_t i = 1; i < seen.size(); ++i) also_said_.Add(what, id, Put(seen[i]));
  }

  void Datasets() {
    std::uint32_t n = 0;
    db_.InsertGiven("dataset", 22, [&](GivenRow& row) {
      if (n == g_.order().size()) return false;
      const DatasetId id = g_.order()[n];
      const Dataset& d = g_[id];
      static const Seen nobody;
      const Seen& seen = d.seen.empty() ? nobody : d.seen[0];
      row.Set(n, Exactly{d.name}, ToString(d.kind), d.stores(),
              g_.in_cycle(id) ? Number(g_.component(id)) : Number(), d.platform, Join(d.relation, "."),
              d.grain ? FormatGrain(*d.grain) : std::string(),
              d.layout && !d.zone_assumed ? d.calendar.zone().name() : std::string(), d.first_text,
              d.last_text, LengthOf(d.complete_after),
              !d.row_time         ? std::string()
              : d.row_time->exact ? std::string("exact")
                                  : FormatGrain(d.row_time->grain),
              LengthOf(d.retention), d.writes == Writes::kUnknown ? "" : ToString(d.writes), d.writes_why,
              Join(d.key, ", "), d.owner, d.contact, seen.source, seen.at.file, seen.at.place);
      ++n;
      return true;
    });
    Rows conflicts(db_, "conflict", 5);
    for (n = 0; n < g_.order().size(); ++n) {
      const Dataset& d = g_[g_.order()[n]];
      Others("dataset", n, d.seen);
      for (const Conflict& c : d.conflicts)
        for (const Conflict::Value& v : c.values)
          for (const Seen& s : v.seen) conflicts.Add(n, Exactly{c.field}, v.value, v.value == c.used, Put(s));
    }
    conflicts.Finish();
  }

  void Names() {
    struct Name {
      const std::string* text;
      std::uint32_t dataset;
      bool alias;
    };
    // The datasets are sorted, and so, nearly always, are their first aliases, their second ones, and so on.
    constexpr std::size_t kOfAKind = 3;
    std::vector<Name> lists[2 * kOfAKind], all, merged;
    for (std::uint32_t i = 0; i < g_.datasets.size(); ++i) {
      const Dataset& d = g_.datasets[i];
      const std::uint32_t n = g_.rank(DatasetId{i});
      const auto add = [&](const std::vector<std::string>& names, std::vector<Name>* of_kind, bool alias) {
        std::size_t k = 0;
        for (const std::string& name : names)
          if (!name.empty() && name != d.name)
            of_kind[std::min(k++, kOfAKind - 1)].push_back({&name, n, alias});
      };
      add(d.aliases, lists, true), add(d.short_names, lists + kOfAKind, false);
    }
    const auto before = [](const Name& a, const Name& b) {
      return std::tie(*a.text, a.dataset, b.alias) < std::tie(*b.text, b.dataset, a.alias);
    };
    for (std::vector<Name>& list : lists) {
      if (!std::is_sorted(list.begin(), list.end(), before)) std::sort(list.begin(), list.end(), before);
      merged.clear();
      std::merge(all.begin(), all.end(), list.begin(), list.end(), std::back_inserter(merged), before);
      all.swap(merged);
    }
    const auto same = [](const Name& a, const Name& b) {
      return a.dataset == b.dataset && *a.text == *b.text;
    };
    all.erase(std::unique(all.begin(), all.end(), same), all.end());
    static const std::string kAlias = "alias", kShort = "short";
    std::size_t i = 0;
    db_.InsertGiven("other_name", 3, [&](GivenRow& row) {
      if (i == all.size()) return false;
      row.Set(*all[i].text, all[i].dataset, all[i].alias ? kAlias : kShort);
      ++i;
      return true;
    });
  }

  void Edges() {
    struct Line {
      std::uint32_t parent, child;
      EdgeId id;
    };
    std::vector<Line> lines;
    lines.reserve(g_.edges.size());
    for (std::uint32_t n = 0; n < g_.order().size(); ++n) {
      const std::size_t begin = lines.size();
      for (const EdgeId id : g_.out(g_.order()[n])) lines.push_back({n, g_.rank(g_[id].to), id});
      std::sort(
          lines.begin() + static_cast<std::ptrdiff_t>(begin), lines.end(),
          [](const Line& a, const Line& b) { return std::tie(a.child, a.id) < std::tie(b.child, b.id); });
    }
    static const std::string kKnown[] = {ToString(Known::kDeclared), ToString(Known::kProven),
                                         ToString(Known::kInferred), ToString(Known::kAssumed)};
    const auto is_same_pair = [&](std::size_t a, std::size_t b) {
      return lines[a].parent == lines[b].parent && lines[a].child == lines[b].child;
    };
    std::size_t i = 0;
    std::uint32_t several = 0;
    db_.InsertGiven("edge", 13, [&](GivenRow& row) {
      if (i == lines.size()) return false;
      const auto [parent, child, id] = lines[i];
      const Edge& e = g_[id];
      several = i > 0 && is_same_pair(i - 1, i) ? several + 1 : 0;
      row.Set(parent, child, several, ReadsOf(e.reads),
              e.effective == e.reads ? std::optional<bool>() : std::optional(true),
              kKnown[static_cast<std::size_t>(e.known)], LengthOf(e.memory), e.job, e.first_seen, e.last_seen,
              e.failed_only ? std::optional(true) : std::optional<bool>(), e.note, SeenOf(e, parent, child));
      ++i;
      return true;
    });
    for (const auto& [id, seen] : seen_later_) Write(id, *seen);
    Rows said(db_, "edge_said", 5);
    for (i = 0; i < lines.size(); ++i) {
      if (i > 0 && is_same_pair(i - 1, i)) continue;
      for (const EdgeStatement& s : g_[lines[i].id].stated)
        said.Add(lines[i].parent, lines[i].child, s.reads, ToString(s.known), Put(s.seen));
    }
    said.Finish();
  }
  const std::string& ReadsOf(const Reads& reads) {
    static const std::string kSame = "\"same\"", kUnknown;
    if (std::holds_alternative<reads::Same>(reads)) return kSame;
    if (std::holds_alternative<reads::Unknown>(reads)) return kUnknown;
    return json_ = ReadsToJson(reads).value_or("");
  }
  // Most edges are stated where their reader is.
  Number SeenOf(const Edge& e, std::uint32_t parent, std::uint32_t child) {
    if (e.seen.empty()) return {};
    for (const std::uint32_t n : {child, parent}) {
      const std::vector<Seen>& seen = g_[g_.order()[n]].seen;
      if (!seen.empty() && seen[0] == e.seen[0]) return n;
    }
    seen_later_.emplace_back(seens_, &e.seen[0]);  // not while another table is being filled
    return seens_++;
  }

  void Jobs() {
    Rows rows(db_, "job", 14), datasets(db_, "job_dataset", 3), pools(db_, "pool", 3);
    const auto each = [&](std::uint32_t job, const char* role, const std::vector<DatasetId>& ids) {
      std::vector<std::uint32_t> numbers;
      for (const DatasetId id : ids) numbers.push_back(g_.rank(id));
      std::sort(numbers.begin(), numbers.end());
      numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
      for (const std::uint32_t n : numbers) datasets.Add(job, role, n);
    };
    for (std::uint32_t n = 0; n < g_.jobs.size(); ++n) {
      const Job& j = g_.jobs[n];
      const ScheduleFact schedule = j.schedule.value_or(ScheduleFact());
      rows.Add(n, Exactly{j.name}, j.orchestrator, schedule.cron ? schedule.cron : schedule.every,
               schedule.timezone, j.run_grain ? FormatGrain(*j.run_grain) : std::string(), j.pool, j.slots,
               j.max_parallel, j.seconds_per_cell, j.sequential, j.separable, j.owner, First(j.seen));
      Others("job", n, j.seen);
      each(n, "reads", j.reads), each(n, "starts on", j.fires_on), each(n, "writes", j.writes);
    }
    for (const Pool& p : g_.pools) pools.Add(Exactly{p.name}, p.slots, p.usual_load);
    rows.Finish(), datasets.Finish(), pools.Finish();
  }

  void Copies() {
    Rows rows(db_, "copy", 18), ofs(db_, "copy_of", 5);
    for (std::uint32_t n = 0; n < g_.copies.size(); ++n) {
      const Copy& c = g_.copies[n];
      const HoldsFact holds = c.holds.value_or(HoldsFact());
      const RefreshFact refresh = c.refresh.value_or(RefreshFact());
      rows.Add(n, Exactly{c.id}, Exactly{c.kind}, c.where, c.owner, c.contact, Join(c.taken, ", "),
               c.holds ? std::optional(holds.all) : std::nullopt, holds.from, holds.to, holds.last,
               refresh.cron, refresh.keeps, c.personal_data, c.known, c.exposure, c.note, First(c.seen));
      Others("copy", n, c.seen);
      for (std::uint32_t i = 0; i < c.of.size(); ++i)
        ofs.Add(n, i, Exactly{c.of[i].name}, NumberOf(c.of[i].dataset),
                c.of[i].copy.valid() ? Number(c.of[i].copy.value) : Number());
    }
    rows.Finish(), ofs.Finish();
  }

  void Rest() {
    Rows ways(db_, "way_out", 10), unresolved(db_, "unresolved", 5);
    for (const Extract& e : g_.extracts)
      ways.Add(NumberOf(e.dataset), Exactly{e.fact.dataset}, Exactly{e.fact.destination}, e.fact.user,
               e.fact.job, e.fact.first_seen, e.fact.last_seen, e.fact.times, e.fact.what, Put(e.seen));
    for (const Unresolved& u : g_.unresolved)
      unresolved.Add(Exactly{u.fact.name}, Exactly{u.fact.what}, NumberOf(u.dataset), u.fact.message,
                     Put(u.seen));
    ways.Finish(), unresolved.Finish();
  }

  Database& db_;
  const LineageGraph& g_;
  Rows seen_, also_said_;
  std::uint32_t seens_;  // below the number of datasets: where that dataset was first seen
  std::vector<std::pair<std::uint32_t, const Seen*>> seen_later_;
  std::string json_;
};

}  // namespace

bool HasRelations(Database& db, const std::string& made_from) {
  if (!db.HasTable("graph")) return false;
  Statement q(db, "SELECT contract, made_from FROM graph");
  return q.executeStep() && q.getColumn(0).getInt() == kRelationsContract &&
         q.getColumn(1).getString() == made_from;
}

void DropRelations(Database& db) { db.Exec(kDrop); }

void WriteRelations(Database& db, const LineageGraph& graph, const std::string& made_from) {
  DropRelations(db);
  db.Exec(kTables);
  Writer(db, graph).All();
  db.Exec(kIndexes);
  Rows graph_row(db, "graph", 3);
  graph_row.Add(std::int64_t{kRelationsContract}, made_from, graph.fingerprint);
  graph_row.Finish();
}

}  // namespace backreach
