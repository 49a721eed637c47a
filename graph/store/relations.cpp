// Rows are written in the order of their keys, and what is null in most rows takes a byte. Numbers of
// datasets are their topological numbers: every edge leads to a higher one, but inside of a cycle.

#include "graph/store/relations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <tuple>
#include <vector>

#include "graph/reads_json.hpp"
#include "graph/words.hpp"

namespace backreach {

namespace {

constexpr const char* kTables = R"sql(
CREATE TABLE graph (
  contract INTEGER NOT NULL, made_from TEXT NOT NULL, fingerprint TEXT NOT NULL
) STRICT;
CREATE TABLE dataset (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, kind TEXT NOT NULL, holds_data INTEGER NOT NULL, cycle INTEGER,
  platform TEXT, relation TEXT, grain TEXT, timezone TEXT, first TEXT, last TEXT, complete_after TEXT,
  row_time TEXT, retention TEXT, writes TEXT, writes_why TEXT, key TEXT, owner TEXT, contact TEXT,
  source TEXT, file TEXT, place TEXT
) STRICT;
CREATE TABLE name (
  name TEXT NOT NULL, dataset INTEGER NOT NULL, how TEXT NOT NULL, PRIMARY KEY (name, dataset)
) STRICT, WITHOUT ROWID;
CREATE TABLE edge (
  parent INTEGER NOT NULL, child INTEGER NOT NULL, n INTEGER NOT NULL,
  reads TEXT, planned TEXT, known TEXT NOT NULL, memory TEXT, job TEXT, first_seen TEXT, last_seen TEXT,
  failed_only INTEGER, note TEXT, source TEXT, file TEXT, place TEXT,
  PRIMARY KEY (parent, child, n)
) STRICT, WITHOUT ROWID;
CREATE TABLE edge_said (
  parent INTEGER NOT NULL, child INTEGER NOT NULL, reads TEXT, known TEXT NOT NULL,
  source TEXT NOT NULL, file TEXT, place TEXT
) STRICT;
CREATE TABLE job (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, orchestrator TEXT, schedule TEXT, timezone TEXT, run_grain TEXT,
  pool TEXT, slots INTEGER, max_parallel INTEGER, seconds_per_cell REAL, sequential INTEGER NOT NULL,
  separable INTEGER NOT NULL, owner TEXT, source TEXT, file TEXT, place TEXT
) STRICT;
CREATE TABLE job_dataset (
  job INTEGER NOT NULL, role TEXT NOT NULL, dataset INTEGER NOT NULL, PRIMARY KEY (job, role, dataset)
) STRICT, WITHOUT ROWID;
CREATE TABLE pool (name TEXT PRIMARY KEY, slots INTEGER, usual_load INTEGER) STRICT, WITHOUT ROWID;
CREATE TABLE copy (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, kind TEXT NOT NULL, destination TEXT, owner TEXT, contact TEXT,
  taken TEXT, holds_all INTEGER, holds_from TEXT, holds_to TEXT, holds_last TEXT, refresh TEXT, keeps TEXT,
  personal_data INTEGER NOT NULL, known INTEGER NOT NULL, exposure INTEGER NOT NULL, note TEXT,
  source TEXT, file TEXT, place TEXT
) STRICT;
CREATE TABLE copy_of (
  copy INTEGER NOT NULL, n INTEGER NOT NULL, name TEXT NOT NULL, dataset INTEGER, other_copy INTEGER,
  PRIMARY KEY (copy, n)
) STRICT, WITHOUT ROWID;
CREATE TABLE way_out (
  dataset INTEGER, name TEXT NOT NULL, destination TEXT NOT NULL, user TEXT, job TEXT, first_seen TEXT,
  last_seen TEXT, times INTEGER, what TEXT, source TEXT, file TEXT, place TEXT
) STRICT;
CREATE TABLE also_said (
  what TEXT NOT NULL, id INTEGER NOT NULL, source TEXT NOT NULL, file TEXT, place TEXT
) STRICT;
CREATE TABLE conflict (
  dataset INTEGER NOT NULL, field TEXT NOT NULL, value TEXT, used INTEGER NOT NULL,
  source TEXT NOT NULL, file TEXT, place TEXT
) STRICT;
CREATE TABLE unresolved (
  name TEXT NOT NULL, what TEXT NOT NULL, dataset INTEGER, message TEXT, source TEXT NOT NULL, file TEXT,
  place TEXT
) STRICT;
)sql";
// What is looked up by another column than the key; and who said what, whatever it is of.
constexpr const char* kIndexes = R"sql(
CREATE INDEX edge_child ON edge (child);
CREATE VIEW said (what, id, source, file, place) AS
  SELECT 'dataset', id, source, file, place FROM dataset WHERE source IS NOT NULL
  UNION ALL SELECT 'job', id, source, file, place FROM job WHERE source IS NOT NULL
  UNION ALL SELECT 'copy', id, source, file, place FROM copy WHERE source IS NOT NULL
  UNION ALL SELECT what, id, source, file, place FROM also_said;
)sql";

constexpr const char* kDrop = R"sql(
DROP VIEW IF EXISTS said;
DROP TABLE IF EXISTS graph; DROP TABLE IF EXISTS dataset; DROP TABLE IF EXISTS name;
DROP TABLE IF EXISTS edge; DROP TABLE IF EXISTS edge_said; DROP TABLE IF EXISTS job;
DROP TABLE IF EXISTS job_dataset; DROP TABLE IF EXISTS pool; DROP TABLE IF EXISTS copy;
DROP TABLE IF EXISTS copy_of; DROP TABLE IF EXISTS way_out; DROP TABLE IF EXISTS also_said;
DROP TABLE IF EXISTS conflict; DROP TABLE IF EXISTS unresolved;
)sql";

// A text that is not null where it is empty.
struct Exactly {
  const std::string& text;
};

// Rows of one table. Texts have to live until the row is written, as those of one call do; an empty one is
// null.
class Rows {
 public:
  Rows(Connection& db, const char* table, int columns) : insert_(db, Sql(table, columns)) {}
  template <typename... T>
  void Add(const T&... values) {
    int column = 0;
    (Bind(++column, values), ...);
    insert_.exec();
    insert_.reset();
  }

 private:
  static std::string Sql(const char* table, int columns) {
    std::string out = fmt::format("INSERT INTO {} VALUES (?", table);
    for (int i = 1; i < columns; ++i) out += ", ?";
    return out + ")";
  }
  void Bind(int column, const std::string& text) {
    if (text.empty())
      insert_.bind(column);
    else
      insert_.bindNoCopy(column, text);
  }
  void Bind(int column, const Exactly& exactly) { insert_.bindNoCopy(column, exactly.text); }
  void Bind(int column, const char* text) { insert_.bindNoCopy(column, text); }
  void Bind(int column, const Text& text) { Bind(column, text ? *text : kNothing); }
  void Bind(int column, std::int64_t n) { insert_.bind(column, n); }
  void Bind(int column, std::uint32_t n) { insert_.bind(column, static_cast<std::int64_t>(n)); }
  void Bind(int column, bool b) { insert_.bind(column, b ? 1 : 0); }
  void Bind(int column, double d) { insert_.bind(column, d); }
  template <typename T>
  void Bind(int column, const std::optional<T>& value) {
    if (value)
      Bind(column, *value);
    else
      insert_.bind(column);
  }
  inline static const std::string kNothing;
  SQLite::Statement insert_;
};

using Number = std::optional<std::uint32_t>;

std::string LengthOf(const std::optional<Duration>& d) { return d ? FormatDuration(*d) : ""; }
std::string JsonOf(const Reads& reads) { return ReadsToJson(reads).value_or(""); }

class Writer {
 public:
  Writer(Connection& db, const LineageGraph& graph) : db_(db), g_(graph), also_said_(db, "also_said", 5) {}

  void All() {
    Datasets();
    Names();
    Edges();
    Jobs();
    Copies();
    Rest();
  }

 private:
  Number NumberOf(DatasetId id) const { return id.valid() ? Number(g_.rank(id)) : Number(); }

  // The first stands in the row itself.
  const Seen& First(const std::vector<Seen>& seen) const {
    static const Seen nobody;
    return seen.empty() ? nobody : seen[0];
  }
  void Others(const char* what, std::uint32_t id, const std::vector<Seen>& seen) {
    for (std::size_t i = 1; i < seen.size(); ++i)
      also_said_.Add(what, id, Exactly{seen[i].source}, seen[i].at.file, seen[i].at.place);
  }

  void Datasets() {
    Rows rows(db_, "dataset", 22), conflicts(db_, "conflict", 7);
    for (std::uint32_t n = 0; n < g_.order().size(); ++n) {
      const DatasetId id = g_.order()[n];
      const Dataset& d = g_[id];
      const Seen& seen = First(d.seen);
      rows.Add(n, Exactly{d.name}, ToString(d.kind), d.stores(),
               g_.in_cycle(id) ? Number(g_.component(id)) : Number(), d.platform, Join(d.relation, "."),
               d.grain ? FormatGrain(*d.grain) : "",
               d.layout && !d.zone_assumed ? d.calendar.zone().name() : std::string(), d.first_text,
               d.last_text, LengthOf(d.complete_after),
               !d.row_time         ? std::string()
               : d.row_time->exact ? std::string("exact")
                                   : FormatGrain(d.row_time->grain),
               LengthOf(d.retention), d.writes == Writes::kUnknown ? std::string() : ToString(d.writes),
               d.writes_why, Join(d.key, ", "), d.owner, d.contact, seen.source, seen.at.file, seen.at.place);
      Others("dataset", n, d.seen);
      for (const Conflict& c : d.conflicts)
        for (const Conflict::Value& v : c.values)
          for (const Seen& s : v.seen)
            conflicts.Add(n, c.field, v.value, v.value == c.used, Exactly{s.source}, s.at.file, s.at.place);
    }
  }

  void Names() {
    struct Name {
      std::string_view text;
      std::uint32_t dataset;
      int how;
    };
    std::vector<Name> names;
    for (std::uint32_t n = 0; n < g_.order().size(); ++n) {
      const Dataset& d = g_[g_.order()[n]];
      names.push_back({d.name, n, 0});
      for (const std::string& alias : d.aliases) names.push_back({alias, n, 1});
      for (const std::string& name : d.short_names) names.push_back({name, n, 2});
    }
    std::sort(names.begin(), names.end(), [](const Name& a, const Name& b) {
      return std::tie(a.text, a.dataset, a.how) < std::tie(b.text, b.dataset, b.how);
    });
    Rows rows(db_, "name", 3);
    static constexpr const char* kHow[] = {"canonical", "alias", "short"};
    const Name* before = nullptr;
    for (const Name& name : names) {
      if (before && before->text == name.text && before->dataset == name.dataset) continue;
      rows.Add(Exactly{std::string(name.text)}, name.dataset, kHow[name.how]);
      before = &name;
    }
  }

  void Edges() {
    Rows rows(db_, "edge", 15), said(db_, "edge_said", 7);
    std::vector<EdgeId> out;
    for (std::uint32_t n = 0; n < g_.order().size(); ++n) {
      out.assign(g_.out(g_.order()[n]).begin(), g_.out(g_.order()[n]).end());
      std::sort(out.begin(), out.end(), [&](EdgeId a, EdgeId b) {
        return std::pair(g_.rank(g_[a].to), a) < std::pair(g_.rank(g_[b].to), b);
      });
      std::uint32_t several = 0;
      for (std::size_t i = 0; i < out.size(); ++i) {
        const Edge& e = g_[out[i]];
        const std::uint32_t child = g_.rank(e.to);
        const bool again = i > 0 && g_[out[i - 1]].to == e.to;
        several = again ? several + 1 : 0;
        const Seen& seen = First(e.seen);
        const std::string reads = JsonOf(e.reads);
        rows.Add(n, child, several, reads, e.effective == e.reads ? reads : JsonOf(e.effective),
                 ToString(e.known), LengthOf(e.memory), e.job, e.first_seen, e.last_seen,
                 e.failed_only ? std::optional(true) : std::nullopt, e.note, seen.source, seen.at.file,
                 seen.at.place);
        if (again) continue;
        for (const EdgeStatement& s : e.stated)
          said.Add(n, child, s.reads, ToString(s.known), Exactly{s.seen.source}, s.seen.at.file,
                   s.seen.at.place);
      }
    }
  }

  void Jobs() {
    Rows rows(db_, "job", 16), datasets(db_, "job_dataset", 3), pools(db_, "pool", 3);
    const auto each = [&](std::uint32_t job, const char* role, const std::vector<DatasetId>& ids) {
      std::vector<std::uint32_t> numbers;
      for (const DatasetId id : ids) numbers.push_back(g_.rank(id));
      std::sort(numbers.begin(), numbers.end());
      numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
      for (const std::uint32_t n : numbers) datasets.Add(job, role, n);
    };
    for (std::uint32_t n = 0; n < g_.jobs.size(); ++n) {
      const Job& j = g_.jobs[n];
      const Seen& seen = First(j.seen);
      const ScheduleFact schedule = j.schedule.value_or(ScheduleFact());
      rows.Add(n, Exactly{j.name}, j.orchestrator, schedule.cron ? schedule.cron : schedule.every,
               schedule.timezone, j.run_grain ? FormatGrain(*j.run_grain) : "", j.pool, j.slots,
               j.max_parallel, j.seconds_per_cell, j.sequential, j.separable, j.owner, seen.source,
               seen.at.file, seen.at.place);
      Others("job", n, j.seen);
      each(n, "reads", j.reads), each(n, "starts on", j.fires_on), each(n, "writes", j.writes);
    }
    for (const Pool& p : g_.pools) pools.Add(Exactly{p.name}, p.slots, p.usual_load);
  }

  void Copies() {
    Rows rows(db_, "copy", 20), ofs(db_, "copy_of", 5);
    for (std::uint32_t n = 0; n < g_.copies.size(); ++n) {
      const Copy& c = g_.copies[n];
      const Seen& seen = First(c.seen);
      const HoldsFact holds = c.holds.value_or(HoldsFact());
      const RefreshFact refresh = c.refresh.value_or(RefreshFact());
      rows.Add(n, Exactly{c.id}, Exactly{c.kind}, c.where, c.owner, c.contact, Join(c.taken, ", "),
               c.holds ? std::optional(holds.all) : std::nullopt, holds.from, holds.to, holds.last,
               refresh.cron, refresh.keeps, c.personal_data, c.known, c.exposure, c.note, seen.source,
               seen.at.file, seen.at.place);
      Others("copy", n, c.seen);
      for (std::uint32_t i = 0; i < c.of.size(); ++i)
        ofs.Add(n, i, Exactly{c.of[i].name}, NumberOf(c.of[i].dataset),
                c.of[i].copy.valid() ? Number(c.of[i].copy.value) : Number());
    }
  }

  void Rest() {
    Rows ways(db_, "way_out", 12), unresolved(db_, "unresolved", 7);
    for (const Extract& e : g_.extracts)
      ways.Add(NumberOf(e.dataset), Exactly{e.fact.dataset}, Exactly{e.fact.destination}, e.fact.user,
               e.fact.job, e.fact.first_seen, e.fact.last_seen, e.fact.times, e.fact.what, e.seen.source,
               e.seen.at.file, e.seen.at.place);
    for (const Unresolved& u : g_.unresolved)
      unresolved.Add(Exactly{u.fact.name}, Exactly{u.fact.what}, NumberOf(u.dataset), u.fact.message,
                     Exactly{u.seen.source}, u.seen.at.file, u.seen.at.place);
  }

  Connection& db_;
  const LineageGraph& g_;
  Rows also_said_;
};

}  // namespace

bool HasRelations(Connection& db, const std::string& made_from) {
  if (!db.HasTable("graph")) return false;
  SQLite::Statement q(db, "SELECT contract, made_from FROM graph");
  return q.executeStep() && q.getColumn(0).getInt() == kRelationsContract &&
         q.getColumn(1).getString() == made_from;
}

void DropRelations(Connection& db) { db.exec(kDrop); }

void WriteRelations(Connection& db, const LineageGraph& graph, const std::string& made_from) {
  DropRelations(db);
  db.exec(kTables);
  Writer(db, graph).All();
  db.exec(kIndexes);
  Rows(db, "graph", 3).Add(std::int64_t{kRelationsContract}, made_from, graph.fingerprint);
}

}  // namespace backreach
