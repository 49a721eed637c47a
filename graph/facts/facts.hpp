// What sources say: plain values as importers write them, the store keeps them and the builder joins them.
// Nothing here is resolved: names are as the source wrote them, times and grains are text in the contract's
// form.
#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace backreach {

// A text, or nothing. Most of a fact's texts are nothing, so that is what is kept small: one pointer.
class Text {
 public:
  Text() = default;
  Text(std::nullopt_t) {}
  Text(std::string s) : text_(std::make_unique<std::string>(std::move(s))) {}
  Text(std::string_view s) : text_(std::make_unique<std::string>(s)) {}
  Text(const char* s) : text_(std::make_unique<std::string>(s)) {}
  Text(const std::optional<std::string>& s) : text_(s ? std::make_unique<std::string>(*s) : nullptr) {}
  Text(const Text& other) : text_(other ? std::make_unique<std::string>(*other) : nullptr) {}
  Text(Text&&) noexcept = default;
  Text& operator=(const Text& other) { return *this = Text(other); }
  Text& operator=(Text&&) noexcept = default;
  ~Text() = default;

  bool has_value() const { return text_ != nullptr; }
  explicit operator bool() const { return has_value(); }
  const std::string& operator*() const { return *text_; }
  std::string& operator*() { return *text_; }
  const std::string* operator->() const { return text_.get(); }
  std::string* operator->() { return text_.get(); }
  std::string value_or(std::string_view otherwise) const { return text_ ? *text_ : std::string(otherwise); }
  void reset() { text_.reset(); }

  friend bool operator==(const Text& a, const Text& b) { return a && b ? *a == *b : !a && !b; }
  template <std::size_t N>
  friend bool operator==(const Text& a, const char (&b)[N]) {
    return a && *a == b;
  }
  friend std::strong_ordering operator<=>(const Text& a, const Text& b) {
    if (!a || !b) return a.has_value() <=> b.has_value();
    return *a <=> *b;
  }

 private:
  std::unique_ptr<std::string> text_;
};

// A list or map that hardly any fact has: one pointer until something is put into it.
template <typename T>
class Seldom {
 public:
  Seldom() = default;
  Seldom(const Seldom& other) : value_(other.value_ ? std::make_unique<T>(*other.value_) : nullptr) {}
  Seldom(Seldom&&) noexcept = default;
  Seldom& operator=(const Seldom& other) { return *this = Seldom(other); }
  Seldom& operator=(Seldom&&) noexcept = default;
  ~Seldom() = default;
  bool empty() const { return !value_ || value_->empty(); }
  const T& operator*() const {
    static const T none;
    return value_ ? *value_ : none;
  }
  T& Make() {
    if (!value_) value_ = std::make_unique<T>();
    return *value_;
  }

 private:
  std::unique_ptr<T> value_;
};

// Where a fact stands: the file by its base name, and a line (`14`) or a JSON pointer
// (`/nodes/model.shop.a`).
struct Place {
  std::string file;
  std::string place;
  friend bool operator==(const Place&, const Place&) = default;
  friend auto operator<=>(const Place&, const Place&) = default;
};

// One block of a dataset's partitions; a dataset has several if its grain changed.
struct PartitionFact {
  Text grain;  // `day`, `6 hours`, `none`
  Text timezone, starts_at, column, week_start, first, last, key_format;
  Text from, until;  // of several blocks
  friend bool operator==(const PartitionFact&, const PartitionFact&) = default;
};

struct ChangeFact {
  std::string on, kind, what;
};

// How a dataset is written, as far as the source tells. `mode` is one of replace, whole, append, merge,
// delete_insert, dynamic_overwrite, snapshot, refresh, none, unknown.
struct WriteFact {
  Text mode;
  std::vector<std::string> key;
  bool key_given = false;  // a key was stated, if only an empty one
  Text why;                // how the mode follows: "strategy merge, the default of snowflake with a key"
  Text full_refresh;       // "true" or "false" where configured
};

// Something an importer saw in code that a run of this dataset does: a hazard's evidence.
struct FindingFact {
  std::string code;    // a hazard's code, or a word of the importer's own
  std::string detail;  // for people
  std::map<std::string, std::string> data;
  Place at;
};

// By which rule a name belongs to a dataset, as the source that gave it knows.
enum class NameRule : unsigned char {
  kGiven,     // the source calls it so
  kSpelling,  // the same address in another spelling: case, scheme, slashes, quotes
  kSymlink,   // the source says that both names lead to the same data
  kRenamed,   // it was built under this name, and renamed or swapped
  kPart,      // a partition, shard or file of it
  kUnstored   // the relation that it would be if it were stored: producers speak of it as if it were
};

// A name under which a source knows a dataset beside its canonical one.
struct NameFact {
  std::string name;
  NameRule rule = NameRule::kGiven;
  std::string detail;
};

// A sign that one of its columns cuts a dataset in time, which its source shows and does not state. It is
// offered to people with its evidence, and nothing is ever planned with it.
struct GrainSign {
  enum class Kind : unsigned char {
    kNone,
    kWatermark,  // an ordinary run takes what is newer than the column's newest
    kCut,        // the query cuts the column to `grain`
    kDays,       // it holds days, without a time
    kPartition,  // the adapter partitions by it, and names no unit of time
    kCluster,    // the adapter clusters by it
    kSort,       // the adapter sorts by it
    kReader,     // a reader takes the column that itself shows such signs from it
    kLoaded      // it is what says when rows were loaded
  };
  Kind kind = Kind::kNone;
  std::string column;  // lower case
  Text grain;          // where the sign tells one: `day`
  friend bool operator==(const GrainSign&, const GrainSign&) = default;
};

struct DatasetFact {
  std::string name;
  Text kind;  // source, table, view, ephemeral, snapshot, seed, dashboard, feature, file, external
  std::vector<std::string> aliases;
  std::vector<std::string> short_names;  // other names by which it may be asked for, which need not be unique
  Text platform;                         // `snowflake`, `bigquery`, ...: which fold the relation's parts
  std::vector<std::string> relation;     // database, schema, table as the platform stores them
  bool writes_relation = false;  // the source writes it (a dbt model), not only reads it (a dbt source)
  std::vector<PartitionFact> partitions;
  Text complete_after, run_date_offset;
  std::map<std::string, std::string> vars;
  Text row_time, retention, keeps_from, origin;
  WriteFact write;
  std::optional<bool> proven_unique, proven_not_null;
  std::map<std::string, std::vector<std::string>> dimensions;
  Text rollback, owner, contact, group, url, fresh_within;
  std::optional<bool> never_rebuild, deletions, sequential;
  std::vector<std::string> side_effects, tags;
  std::vector<ChangeFact> changes;
  std::vector<FindingFact> findings;
  std::map<std::string, std::string> methods;  // engine -> what names this dataset there (a dbt selector)
  Text note;
  Place at;
  Seldom<std::vector<std::string>> built;  // stretches that are known to be there: `start/end`, instants
  std::vector<std::string> stored;  // the relation's parts letter by letter, where the source knows them so
  Seldom<std::vector<NameFact>> names;
  bool grain_inferred = false;  // nobody stated it: it was seen in runs
  // Only tests are said to write it: where the project is known that ran them, there is no such table.
  bool of_tests = false;
  Seldom<std::vector<GrainSign>> signs;
  // Of a registry's entry: dbt's selector, in the place of a name. What it states holds for each dataset that
  // matches when the graph is joined.
  Text select;
};

// `reads` in the contract's JSON form (`"same"`, `{"window":[-6,0]}`), null where unknown.
struct EdgeFact {
  std::string from, to;
  Text reads, memory, job;
  Seldom<std::map<std::string, std::map<std::string, std::vector<std::string>>>> dimension_map;
  Text known;  // proven, inferred or assumed; nothing: declared
  Text first_seen, last_seen, note;
  bool failed_only = false;
  Place at;
  Text code;  // what the reader's code tells of it (ingest/code_reach.hpp), where nobody stated a mapping
  // Which dimension of the reader one of the parent's meets, where the names differ; "": none, so that
  // each value of the parent reaches all of the reader.
  Seldom<std::map<std::string, std::string>> dimension_to;
  // Pairs of a column of `from` and one of `to`, "" where it acts on whole rows.
  Seldom<std::vector<std::vector<std::string>>> columns;
  std::vector<std::string> jobs;  // all that were seen to make it, where there are several
  std::int64_t times = 0;         // runs that showed it
  Text seen_in;                   // where a mapping that nobody stated was seen: "12 runs of etl/sessions"
};

// When a job runs. `cron` may be several, ` | ` between them; `every` and `interval` (what a run of a trigger
// covers before its tick) are lengths as graph/schedule.hpp reads them; `inner` is the class of the times
// beside `on`, where `type` is one of both; `start` and `events` are instants.
struct ScheduleFact {
  Text type, cron, timezone, rewrites, covers, every;
  std::vector<std::string> on;
  Text interval, inner, start;
  std::vector<std::string> events;
  Text engine_version;           // of what runs it: "2" or "3" of Airflow
  bool covers_declared = false;  // a person said which partition a run writes; else it follows from the class
  bool backfill_refused = false;         // configured to take no backfills
  std::optional<std::int64_t> max_runs;  // at a time
  Text condition;                        // of `on`, where it is more than any of them: `a & (b | c)`
};

// A call of dbt that a job makes, as far as the job tells: which nodes it takes only the manifest knows.
struct DbtRunFact {
  std::string command;  // run, build, seed, snapshot; else one of which nobody knows what it writes
  std::vector<std::string> select, exclude, resource_types, exclude_types;  // as they are given to dbt
  std::string selector;                                                     // of selectors.yml
  // The project's folder, or the one that dbt is started in and searches upwards from; `?` where a part is
  // not known (`?/shop`), "" for nothing.
  std::string folder;
  Text full_refresh;    // true, or unknown where only the run decides
  std::string unknown;  // why nobody can tell what it selects, in words; "" if it can be told
};

struct JobFact {
  std::string name;
  Text orchestrator;
  std::optional<ScheduleFact> schedule;
  std::vector<std::string> reads, writes, after;
  Text pool, owner, run_grain;
  std::optional<std::int64_t> slots, max_parallel;
  std::optional<double> seconds_per_cell;
  std::optional<bool> separable;
  bool sequential = false;
  std::vector<FindingFact> findings;
  std::map<std::string, std::string> methods;
  Place at;
  std::vector<DbtRunFact> dbt_runs;
  bool opaque = false;  // it does something, and its source does not tell what it reads and writes
  Text cells_per_run;   // `1`, a number, or `all`: how many cells one run writes where several are asked for
  std::vector<std::string> starts;  // jobs that a run of it starts
  Text parent;          // the job that it is a part of
  bool tests = false;   // it looks at what it reads: what it is said to write is no data
};

struct PoolFact {
  std::string name;
  std::optional<std::int64_t> slots, usual_load;
  Place at;
};

// What runs SQL on a platform: a line of shell that holds `{sql}`.
struct ClientFact {
  std::string platform, command;
  Place at;
};

// What a copy holds: `all`, a range, or the last so many days before it was taken.
struct HoldsFact {
  bool all = false;
  Text from, to, last;
};

struct RefreshFact {
  Text cron, timezone, keeps;
  std::optional<HoldsFact> holds;
};

struct CopyFact {
  std::string id;
  std::vector<std::string> of;
  Text kind, where, owner, contact, note;
  std::vector<std::string> by, taken, feeds;
  std::optional<HoldsFact> holds;
  std::optional<RefreshFact> refresh;
  bool personal_data = false;
  bool known = true;      // written down in a registry or an exposure
  bool exposure = false;  // documentation by itself
  Place at;
  Text expires;  // the day from which on its file is not kept any more
  std::int64_t times = 0;  // of one that was seen in runs
  Text first_seen, last_seen;
};

// A way out of the platform that an importer saw in code: for audit, and a copy unless a registry covers it.
struct ExtractFact {
  std::string dataset;      // what is taken, as the source names it
  std::string destination;  // a place; never empty
  Text user, job, statement_id, first_seen, last_seen;
  std::int64_t times = 0;
  std::string what;  // for people: "hook of model.shop.orders copies out"
  Place at;
  std::vector<std::string> ids;     // of the statements that were seen to do it
  Text via;                         // the log that tells: `text` of statements, `access`, `lineage`, `unload`, `jobs`
  Text client;                      // what the statements came through
  std::vector<std::string> behind;  // dashboards and jobs that comments, tags and labels name
  bool frozen = false;              // the destination is a table inside the platform that nothing brings up to date
  bool cancelled = false;           // stopped halfway: some rows may have left
  bool fetched = false;             // `dataset` is a stage whose files were taken
};

// What logs of statements show beside lineage and ways out, folded over repetitions. Two logs may tell of the
// same statements: facts of equal `digest` do, and so may those of another `via`.
struct HistoryFact {
  // read: a client reads `name`; pull: reads rows of it as a whole. write: `name` is written from `sources`.
  // outside: `name` lies outside the platform. renamed, swapped: to and with `other`. dropped. statements:
  // what was looked at, of one kind. client: what the sessions of `user` came through. failed: `ids` moved
  // nothing.
  std::string what;
  std::string name;
  Text user, other, via;
  std::vector<std::string> sources;
  Text first_seen, last_seen;
  std::int64_t times = 0, days = 0;
  Text digest;
  std::vector<std::string> ids;  // the first few
  bool of_job = false;           // of a tool that runs by a schedule, by its comments, tags and labels
  Place at;
};

// A finding of the audit that was decided: quiet until the day. What is not given matches everything.
struct IgnoreFact {
  Text code, dataset, destination, user;
  std::string reason;
  Text until;
  Place at;
};

struct UnresolvedFact {
  std::string name;  // what could not be placed
  std::string what;  // template, missing-node, truncated, ...
  Text dataset;      // the side that is known
  std::string message;
  Place at;
};

// A check that exists on a dataset: evidence for keys.
struct CheckFact {
  std::string id;
  std::string dataset;
  std::string kind;  // unique, not_null, constraint, other
  std::vector<std::string> columns;
  bool covers_all_rows = true, fails_run = true, enabled = true;
  Text last_status;
  Place at;
};

// How long a run that ran took.
struct TimingFact {
  std::string dataset;
  double seconds = 0;
  std::optional<std::int64_t> batches, rows;  // batches that the seconds are the sum of; nothing: one run
  bool full_refresh = false;                  // it rebuilt all of a dataset that runs otherwise add to
  std::string ended_at;                       // an instant, as the file gives it
  Place at;
};

// What the platform told of a dataset when it was last asked.
struct MeasureFact {
  std::string dataset;
  std::string relation_type;  // `base table`, `view`, ...; lower case
  std::optional<std::int64_t> rows, bytes;
  std::map<std::string, std::string> column_types;  // lower case
  std::string loaded_at, freshness;                 // a source's newest row, and how fresh that was found
  Place at;
};

// A node of a dbt project as its selectors see it: tests, exposures, metrics and the like among them; its
// macros, since a change of one is a change of what calls it; the project itself (type `project`); and what
// selectors.yml gives a name to (type
// `selector`), whose `tags` are its definition, operands before what joins them: `=CRITERION`, `|N` and `&N`
// for the union and the intersection of the N sets before, `-` for the first of the two before without the
// second,
// `$NAME` for another one's, `?` for a form that is not known.
struct NodeFact {
  std::string id, type, name, package, path, patch_path, group, access, source_name, version;
  std::vector<std::string> fqn, tags, parents;
  // Config values as text, lists item by item; a name with a dot is a key inside a mapping.
  std::map<std::string, std::vector<std::string>> config;
  std::map<std::string, std::string> more;  // checksum, relation, test type, ...
};

// The same, packed in blocks (graph/packed_nodes.hpp): configs that nodes of a block share stand once.
struct PackedNodes {
  std::deque<std::string> nodes;
  bool empty() const { return nodes.empty(); }
};

struct Facts {
  std::deque<DatasetFact> datasets;  // never moved while it grows: there may be very many
  std::vector<EdgeFact> edges;
  std::vector<JobFact> jobs;
  std::vector<PoolFact> pools;
  std::vector<ClientFact> clients;
  std::vector<CopyFact> copies;
  std::vector<ExtractFact> extracts;
  std::vector<UnresolvedFact> unresolved;
  std::vector<CheckFact> checks;
  std::vector<TimingFact> timings;
  std::vector<MeasureFact> measures;
  PackedNodes nodes;
  std::vector<HistoryFact> history;
  std::vector<IgnoreFact> ignores;
  // What a source that adds up has seen, thing by thing, in a form of its importer's: asked only by the next
  // ingest, which makes all other facts of it anew.
  std::deque<std::string> observed;
};

// One source: `dbt:shop`, `registry:/home/.../registry.yml`.
struct Source {
  std::string kind;         // dbt, airflow, registry, ...
  std::string name;         // what is printed and fingerprinted (a registry: the file's base name)
  std::string key;          // what a later ingest replaces (a registry: its absolute path)
  std::string sha256;       // of the file's bytes
  std::string ingested_at;  // an instant; never part of a plan or an export
  std::string beside_sha256 =
      {};  // of the files read with it (run results, catalog, ...); "" if there were none
};

struct SourceFacts {
  Source source;
  Facts facts;
};

}  // namespace backreach
