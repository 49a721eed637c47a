// The answer, as values: what to rebuild in which order, what is right by itself, what stays wrong and why.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "analysis/plan/request.hpp"
#include "graph/lineage/lineage.hpp"

namespace backreach {

// Cells of one dataset: `whole`, or spans of whole partitions.
struct Cells {
  DatasetId dataset;
  SpanSet spans;
  bool whole = false;
};

struct StepReads {
  Cells cells;
  bool clipped = false;  // the mapping asks for more than the parent ever had
};

struct StepBecause {
  EdgeId edge;
  std::optional<SpanSet> spans;  // the step's cells that this edge dirtied; nothing: all of them
};

enum class Effect { kNone, kReplaced, kUnknown, kOverwrittenOpen, kDuplicated, kLost, kKeptOld };
const char* ToString(Effect effect);

// Ways to run a step, as far as they are decisions; render/engines turns them into lines. The period is the
// step's own: its stretches, or its cells one by one and oldest first (`each_cell`).
namespace way {
// One run without a period: it takes what the query takes.
struct DbtRun {
  std::string selector;
  bool full_refresh = false;
};
struct DbtSeed {
  std::string selector;
};
// A window of event times for each stretch, or the one given. `in_order`: batch after batch, never at once.
struct DbtBatches {
  std::string selector;
  std::optional<Span> window;
  bool in_order = false;
};
// The period in project variables: `from`, and `to` unless it is empty. `inclusive`: `to` is the last day (or
// hour) of the period and not the first after it.
struct DbtVars {
  std::string selector, from, to;
  bool inclusive = false, each_cell = false;
};
// The platform's own statement that makes a stored view anew. `relation`: as dbt writes it, or "";
// `client`: the registry's line of shell that runs SQL there, or "".
struct Refresh {
  std::string kind;  // dynamic-table, materialized-view, streaming-table
  std::string platform, relation;
  std::vector<std::string> parts;  // database, schema, table
  std::string client;
};
// A line of shell of the registry with its placeholders; `runs`: what one run writes, if not a cell.
struct Shell {
  std::string line, key_format;
  bool each_cell = false;
  std::optional<Grain> runs;
  std::optional<SpanSet> spans = {};  // of all steps that the run writes, where it writes several
};
// A restatement of one model alone, for each stretch; a whole step names no dates.
struct SqlMeshRestate {
  std::string model;
};
// A backfill of one asset's partitions by Dagster's API: `dimensions` with the name of that of time ("": the
// only one) among them, in the order of their names.
struct DagsterBackfill {
  std::vector<std::string> asset;
  std::string key_format, time_dimension;
  std::map<std::string, std::vector<std::string>> dimensions;
};
}  // namespace way
// Nothing: the method's commands are complete as they are.
using Way = std::variant<std::monostate, way::DbtRun, way::DbtSeed, way::DbtBatches, way::DbtVars,
                         way::Refresh, way::Shell, way::SqlMeshRestate, way::DagsterBackfill>;

// `commands`: lines to be run in turn, where `way` does not say it.
struct Method {
  std::string engine;
  std::vector<std::string> commands;
  Effect effect = Effect::kNone;
  Way way = {};
};

struct Check {
  std::string name, kind, text;  // kind: "sql" or "dbt-test"
};

struct DetectedBy {
  std::string test;                     // a test's unique id, or
  std::vector<std::string> constraint;  // an enforced constraint's columns
};

// Cells of a step with the values of dimensions beside time that they are for.
struct StepPart {
  std::map<std::string, std::vector<std::string>> values;
  SpanSet spans;
};

struct Step {
  int id = 0;
  int wave = 0;
  std::vector<int> after;
  DatasetId dataset;
  bool correct = false;                // where the correction lands, by hand; else a rebuild
  const Calendar* calendar = nullptr;  // of its cells; null for a whole step
  bool whole = false;
  bool sequential = false;
  std::vector<DatasetId> interleaved;
  std::optional<int> run;
  SpanSet spans;                // empty for a whole step
  SpanSet dirty;                // the cells that are dirty, also where the step is whole
  std::vector<StepPart> parts;  // where the dataset has dimensions and not all values were asked for
  std::optional<std::int64_t> partitions;  // nothing where the first one is unknown
  std::vector<StepReads> reads;
  std::vector<Cells> rewrites;
  std::vector<StepBecause> because;
  std::optional<double> seconds;
  std::int64_t from_runs = 0;
  Effect effect = Effect::kNone;
  std::vector<DetectedBy> detected_by;
  std::vector<Method> methods;
  std::vector<Check> before_publish, after_run;
  std::vector<std::string> hazards;   // codes, sorted
  std::vector<DatasetId> widened_by;  // the nearest whole rebuilds that made it wider
  std::optional<std::int64_t> widened_cost;
};

struct Hazard {
  std::string code;
  HazardSeverity severity = HazardSeverity::kWarning;
  DatasetId dataset;  // invalid where no side is known
  SpanSet spans;
  bool whole = false;
  std::string message, remedy;
  std::map<std::string, std::vector<std::string>> evidence;
  bool accepted = false;
};

enum class StaleReason { kExcluded, kProtected, kSnapshot, kCannotRebuild, kInputsExpired, kOutsideReturn };
const char* ToString(StaleReason reason);

struct LeftStale {
  Cells cells;
  StaleReason reason = StaleReason::kExcluded;
  std::vector<DatasetId> read_by, mixes_into;
};

struct Afterwards {
  Cells cells;
  std::vector<DatasetId> waits_for;
  std::string what;
};

struct Fresh {
  DatasetId dataset;
  std::vector<StepBecause> because;
};

struct Heals {
  Instant at = 0;
  SpanSet spans;
};

struct AffectedCopy {
  std::string id;
  std::vector<std::string> of;
  std::vector<DatasetId> datasets;
  std::string kind, where, owner, contact, note;
  std::vector<std::string> taken;
  DatasetId keyed_by;  // whose calendar names the affected spans
  SpanSet affected;
  bool known = true;
  std::string content;  // declared, derived, unknown
  std::optional<Heals> heals;
  std::string action;
  bool personal_data = false;
  std::string content_text;            // what it holds, in words: "2026-03", "the last 90 days before", "unknown"
  std::string stays;                   // which part never heals, in words; "" where all of it does, or nothing
  std::string mismatch;                // what it was trained on is rebuilt and it is not, in words
  std::vector<DatasetId> features;     // rebuilt datasets that a model was trained on
  std::vector<std::string> by, feeds;  // who pulls it; datasets of ours that come back from it
  Text first_seen, last_seen;          // of one that was only seen
  std::int64_t times = 0;
};

// An edge whose mapping nobody stated and no code proves: all that it reads by.
struct AssumedMapping {
  std::vector<EdgeId> edges;
  DatasetId step;                     // where it dirties cells; invalid: at a view
  std::optional<std::int64_t> cells;  // that it alone dirties, and the same days would not
  std::string stanza;                 // that would state it
};

// A dataset beside the plan that misses its service level while the plan runs.
struct LateDataset {
  DatasetId dataset;
  Instant from = 0, to = 0;
};
// What becomes of a pool if the plan starts then, with so many of its cells at a time in all.
struct PoolForecast {
  std::int64_t at_a_time = 0;
  Instant start = 0, end = 0;
  std::vector<LateDataset> late;
};
// A pool that steps of the plan take slots of, while others go on using it (analysis/pools).
struct PoolUse {
  std::string pool;
  std::optional<std::int64_t> slots, usual_load;
  std::vector<int> steps;
  std::vector<PoolForecast> forecasts;  // as asked, all at once; then the best one
  std::optional<PoolForecast> advised;  // the largest cap and the best start that make nobody late
  std::vector<std::string> unknown;     // what would have to be known for (more of) a forecast
  std::vector<std::string> assumptions;
  std::string sentence;
};
// The one thing nobody said that widens a plan most: an edge that is read whole, or a table without a grain
// whose rows may carry a time. What would be rebuilt as it is, and with that one thing said.
struct Widest {
  std::vector<EdgeId> edges;  // read whole; empty: `dataset` passes everything
  DatasetId dataset;          // that reads by them, or that is rebuilt whole
  struct Size {
    std::int64_t whole = 0;  // tables of which everything is rebuilt
    std::optional<std::int64_t> cells;
  } now, then;
  std::string stanza;
};

struct Totals {
  std::int64_t datasets = 0, steps = 0, copies = 0;
  std::optional<std::int64_t> partitions;
  std::optional<double> seconds, critical_path;
  int threads = 1;
};

struct Plan {
  std::string id;
  Request request;
  bool nothing_to_do = false;
  std::string summary;
  std::vector<std::string> notes;
  std::vector<Step> steps;
  std::vector<Afterwards> afterwards;
  std::vector<Fresh> fresh;
  std::vector<AffectedCopy> copies;
  std::vector<LeftStale> left_stale;
  std::vector<Hazard> hazards;
  std::vector<AssumedMapping> assumed;
  std::vector<PoolUse> pools;
  std::optional<Widest> widest;
  Totals totals;
};

// Keys and counts of spans, for messages: "2026-03-01 .. 2026-03-31", "3 spans from ... to ...".
std::string SpansText(const Dataset& dataset, const SpanSet& spans);
std::string KeyOf(const Dataset& dataset, Instant cell_start);
// First and last key of a span, both included; the first is empty where the beginning is unknown.
std::pair<std::string, std::string> KeysOf(const Calendar& calendar, Span span);
// "a view", "a table by day", ...
std::string ShortName(const LineageGraph& graph, DatasetId id);

}  // namespace backreach
