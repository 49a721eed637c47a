// The lineage graph: what all sources together say, names resolved. Built once by the builder, then const.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph/facts/facts.hpp"
#include "graph/lineage/traversal.hpp"
#include "graph/reads/reads.hpp"
#include "graph/time/calendar.hpp"
#include "graph/time/time.hpp"

namespace backreach {

// An index into one graph; it dies with the graph and is never stored or printed.
template <typename Tag>
struct Id {
  std::uint32_t value = 0xFFFFFFFFu;
  bool valid() const { return value != 0xFFFFFFFFu; }
  friend bool operator==(const Id&, const Id&) = default;
  friend auto operator<=>(const Id&, const Id&) = default;
};
using DatasetId = Id<struct DatasetTag>;
using EdgeId = Id<struct EdgeTag>;
using JobId = Id<struct JobTag>;
using CopyId = Id<struct CopyTag>;

enum class Kind {
  kSource,
  kTable,
  kView,
  kEphemeral,
  kSnapshot,
  kSeed,
  kDashboard,
  kFeature,
  kFile,
  kExternal
};
enum class Writes {
  kUnknown,
  kReplace,
  kWhole,
  kAppend,
  kMerge,
  kDeleteInsert,
  kDynamicOverwrite,
  kSnapshot,
  kRefresh,
  kNone
};
const char* ToString(Kind kind);
const char* ToString(Writes writes);
std::optional<Kind> ParseKind(std::string_view text);
std::optional<Writes> ParseWrites(std::string_view text);

// Where a fact was seen: `dbt:shop`, `target/manifest.json`, `/nodes/model.shop.a`.
struct Seen {
  std::string source;
  Place at;
  friend bool operator==(const Seen&, const Seen&) = default;
  friend auto operator<=>(const Seen&, const Seen&) = default;
};
std::string FormatSeen(const Seen& seen);

struct Conflict {
  std::string field;
  struct Value {
    std::string value;
    std::vector<Seen> seen;
  };
  std::vector<Value> values;
  std::string used;
};

// A declared change inside a dataset's history (schema, key, layout).
struct Change {
  Instant on = 0;
  std::string on_text, kind, what;
};

// Rows carry an event time: rebuilding changes only rows whose time lies in what the parents changed.
struct RowTime {
  bool exact = true;
  Grain grain;  // where not exact
};

struct Finding {
  FindingFact fact;
  Seen seen;
};

// A name of a dataset, who says it, and by which rule it is one.
struct NameSaid {
  std::string name, how;
  Seen seen;
  friend bool operator==(const NameSaid&, const NameSaid&) = default;
  friend auto operator<=>(const NameSaid&, const NameSaid&) = default;
};

struct Dataset {
  std::string name;
  Kind kind = Kind::kTable;
  std::vector<std::string> aliases;
  std::vector<std::string> short_names;
  std::string platform;
  std::vector<std::string> relation;  // database, schema, table, as the platform stores them

  std::optional<Grain> grain;            // nothing: unknown; Grain::none(): known to have none
  std::shared_ptr<const Layout> layout;  // null without a grain
  Calendar calendar;                     // zone, starts_at, week start; the unit where there is a grain
  bool zone_assumed = true;
  std::string column;  // which column tells a row's partition
  std::string key_format;
  std::string first_text, last_text;
  Instant first = kMinInstant;     // start of the first partition
  Instant last_end = kMaxInstant;  // end of the last one
  bool first_is_begin = false;     // `first` is where dbt builds from nothing: the table may be older
  bool built_anew = false;         // in this plan a run of it is a full refresh
  // Where these were stated, for people: "batch_size (dbt:shop /nodes/...)"; empty where nobody did.
  std::string grain_from, first_from, row_time_from;
  std::optional<Duration> complete_after, run_date_offset, retention;
  std::optional<Duration> fresh_within;  // its service level: so long after a tick its run has to be through
  std::optional<Instant> keeps_from;
  std::optional<RowTime> row_time;

  bool operational = false;
  Writes writes = Writes::kUnknown;
  bool writes_stated = false;
  std::string writes_why;
  std::vector<std::string> key;
  bool key_stated = false;
  std::optional<bool> proven_unique, proven_not_null;
  bool full_refresh_off = false;
  std::map<std::string, std::vector<std::string>> dimensions;
  std::map<std::string, std::string> vars;
  std::string rollback, owner, contact, group;
  bool never_rebuild = false, deletions = false, sequential = false;
  std::vector<std::string> side_effects, tags;
  std::vector<Change> changes;
  std::vector<Finding> findings;
  std::vector<GrainSign> signs;  // of how it may be cut in time; never planned with
  std::map<std::string, std::string> methods;
  std::vector<CheckFact> checks;
  std::vector<TimingFact> timings;  // of runs, oldest first
  std::optional<MeasureFact> measure;
  std::vector<Seen> seen;
  std::vector<Conflict> conflicts;
  std::vector<JobId> jobs;         // that write it
  std::vector<std::string> built;  // stretches that a source knows to be there: `start/end`, instants
  std::vector<NameSaid> names;     // only where it has several, or several sources say it
  bool grain_inferred = false;     // seen in runs

  // Holds data of its own; the others are right as soon as what they read is.
  bool stores() const { return kind != Kind::kView && kind != Kind::kEphemeral && kind != Kind::kDashboard; }
  bool partitioned() const { return layout != nullptr; }
  // Every run replaces all of it, beside a grain.
  bool written_whole() const { return layout && writes == Writes::kWhole; }
  TimeSide side() const { return {stores() ? layout.get() : nullptr, &calendar, stores() && !layout}; }
};

enum class Known { kDeclared, kProven, kInferred, kAssumed };
const char* ToString(Known known);

// What one source states of an edge that several state.
struct EdgeStatement {
  std::string reads;  // the contract's JSON form; "" where unknown
  Known known = Known::kDeclared;
  Seen seen;
};

// Where a mapping that nobody stated was read, or why none could be.
struct ReadInCode {
  std::string text;   // what the importer kept (ingest/code_reach.hpp), until the mapping is made
  std::string place;  // `models/a.sql:12`
  std::string why;    // what stood in the way of more
};

struct Edge {
  DatasetId from, to;
  Reads reads;      // as stated
  Reads effective;  // as planned with: `all` where the stated one cannot stand
  Known known = Known::kDeclared;
  std::optional<Duration> memory;
  std::map<std::string, std::map<std::string, std::vector<std::string>>> dimension_map;
  std::map<std::string, std::string> dimension_to;  // the parent's dimension -> the reader's; "": none
  std::string job, first_seen, last_seen, note;
  bool failed_only = false;
  bool in_place = false;                   // a statement that changes rows in place was seen to read itself
  std::shared_ptr<const ReadInCode> code;  // of a mapping that nobody stated
  std::vector<Seen> seen;
  std::vector<EdgeStatement> stated;  // only where there are several, those that were not used among them
  std::vector<std::vector<std::string>> columns;  // of `from` and of `to`, "" for whole rows
  std::vector<std::string> jobs;                  // all that were seen to make it; `job` is the first
  std::int64_t times = 0;                         // runs that showed it
  bool self() const { return from == to; }
};

struct Job {
  std::string name;
  std::string orchestrator;
  std::optional<ScheduleFact> schedule;
  std::vector<DatasetId> fires_on;
  std::vector<DatasetId> reads, writes;
  std::vector<std::string> after;
  std::string pool, owner, parent;
  std::optional<std::int64_t> slots, max_parallel;
  std::optional<double> seconds_per_cell;
  std::optional<Grain> run_grain;
  bool separable = false, sequential = false;
  bool opaque = false;              // nobody knows what it reads and writes
  std::string cells_per_run;        // `1`, a number, `all`; "" where nobody said
  std::vector<std::string> starts;  // jobs that a run of it starts, by name
  std::vector<Finding> findings;
  std::map<std::string, std::string> methods;
  std::vector<Seen> seen;
};

struct Pool {
  std::string name;
  std::optional<std::int64_t> slots, usual_load;
  std::vector<Seen> seen;
};

struct CopyOf {
  DatasetId dataset;
  CopyId copy;
  std::string name;  // as written
  bool placed() const { return dataset.valid() || copy.valid(); }
};

struct Copy {
  std::string id;
  std::vector<CopyOf> of;
  std::string kind = "other", where, owner, contact, note;
  std::vector<std::string> by, taken;
  std::vector<DatasetId> feeds;
  std::optional<HoldsFact> holds;
  std::optional<RefreshFact> refresh;
  bool personal_data = false, known = true, exposure = false;
  std::vector<Seen> seen;
  std::string expires;
  // Of one that was seen in runs.
  std::int64_t times = 0;
  std::string first_seen, last_seen;
};

struct Extract {
  ExtractFact fact;
  DatasetId dataset;
  Seen seen;
};

// What a log of statements shows; the dataset where the fact names one that is known.
struct History {
  HistoryFact fact;
  DatasetId dataset;
  Seen seen;
};

// A finding of the audit that was decided.
struct Ignore {
  IgnoreFact fact;
  DatasetId dataset;
  Seen seen;
};

struct Unresolved {
  UnresolvedFact fact;
  DatasetId dataset;
  Seen seen;
};

// A name in a registry that no other source knows, and that the registry does not explain either.
struct UnknownName {
  std::string what;  // dataset, pool, output, selector
  std::string name;
  std::vector<std::string> near;
  Seen seen;
};

class LineageGraph {
 public:
  std::vector<Dataset> datasets;  // sorted by name
  std::vector<Edge> edges;        // sorted by (from, to, reads), from and to by name
  std::vector<Job> jobs;          // sorted by name
  std::vector<Pool> pools;
  std::map<std::string, std::string> clients;  // platform -> the line of shell that runs `{sql}` there
  std::vector<Copy> copies;                    // sorted by id
  std::vector<Extract> extracts;
  std::vector<History> history;
  std::vector<Ignore> ignores;
  std::vector<Unresolved> unresolved;
  std::vector<UnknownName> unknown_names;  // sorted by what they are, then by name
  std::vector<std::string> disabled;  // unique ids of what projects have switched off: known by name alone
  std::vector<Source> sources;        // sorted by kind, then name
  std::string fingerprint;

  const Dataset& operator[](DatasetId id) const { return datasets[id.value]; }
  const Edge& operator[](EdgeId id) const { return edges[id.value]; }
  const Job& operator[](JobId id) const { return jobs[id.value]; }
  const Copy& operator[](CopyId id) const { return copies[id.value]; }

  // Compressed rows, both ways; filled by Number().
  struct Row {
    const EdgeId* first;
    const EdgeId* last;
    const EdgeId* begin() const { return first; }
    const EdgeId* end() const { return last; }
    std::size_t size() const { return static_cast<std::size_t>(last - first); }
  };
  Row out(DatasetId id) const { return row(out_offsets_, out_edges_, id); }
  Row in(DatasetId id) const { return row(in_offsets_, in_edges_, id); }

  // Datasets in topological order, strongly connected parts side by side; ties by name.
  const std::vector<DatasetId>& order() const { return order_; }
  std::uint32_t rank(DatasetId id) const { return rank_[id.value]; }
  // The strongly connected part of a dataset; parts are numbered in topological order.
  std::uint32_t component(DatasetId id) const { return component_[id.value]; }
  bool in_cycle(DatasetId id) const { return cyclic_[component_[id.value]]; }  // self-edges are no cycle
  std::size_t components() const { return cyclic_.size(); }
  // Members of a part, in order(): [first, last).
  std::pair<std::uint32_t, std::uint32_t> members(std::uint32_t component) const {
    return {component_begin_[component], component_begin_[component + 1]};
  }

  // The same graph by rank, for the bare walk. What enters a cycle enters at its first member, which leads to
  // all.
  const RankedRows& ranked() const { return ranked_; }
  std::uint32_t entry_rank(DatasetId id) const {
    return in_cycle(id) ? component_begin_[component_[id.value]] : rank_[id.value];
  }

  // What the sweep asks of every edge, side by side.
  struct Incoming {
    std::uint32_t from;
    bool same;   // the child reads the same time of it
    bool alike;  // which is cut as the child is
  };
  struct IncomingRow {
    const Incoming* first;
    const Incoming* last;
    const Incoming* begin() const { return first; }
    const Incoming* end() const { return last; }
  };
  // In the order of in(id).
  IncomingRow incoming(DatasetId id) const {
    return {incoming_.data() + in_offsets_[id.value], incoming_.data() + in_offsets_[id.value + 1]};
  }
  // Nothing about the dataset needs more than the union of what its parents pass: stored by a grain, no rows'
  // time, no reading of itself.
  bool plain(DatasetId id) const { return plain_[id.value] != 0; }

  // Lays out the rows and numbers the datasets; to be called once edges are complete and sorted.
  void Number();

 private:
  Row row(const std::vector<std::uint32_t>& offsets, const std::vector<EdgeId>& ids, DatasetId id) const {
    return {ids.data() + offsets[id.value], ids.data() + offsets[id.value + 1]};
  }
  std::vector<std::uint32_t> out_offsets_, in_offsets_, rank_, component_, component_begin_;
  std::vector<EdgeId> out_edges_, in_edges_;
  std::vector<DatasetId> order_;
  std::vector<bool> cyclic_;
  RankedRows ranked_;
  std::vector<Incoming> incoming_;
  std::vector<std::uint8_t> plain_;
};

}  // namespace backreach
