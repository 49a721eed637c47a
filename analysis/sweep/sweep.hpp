// One sweep of span sets through the graph, in topological order: which cells of every dataset are dirty, and
// what they pass on. The planner makes several, with different limits.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "analysis/plan/request.hpp"
#include "analysis/sweep/frame.hpp"
#include "graph/lineage/lineage.hpp"

namespace backreach {

// What one dataset holds after a sweep. One line of the cache, since a sweep goes back to it once for every
// reader.
struct alignas(64) Dirt {
  // Whole cells; for a view the stretches that it passes through; everything for a whole table.
  SpanSet cells;
  SpanSet pass;          // what readers see of it: the cells, or less where rows carry their own time
  Seldom<SpanSet> ends;  // below `latest_then` in a view: cells of a reader that end in here are dirty
  bool today = false;    // the same: today's newest is dirty, which is all that a reader without grain asks
  void AddEnds(const SpanSet& more) {
    if (!more.empty()) ends.Make().Add(more);
  }
  bool empty() const { return cells.empty() && ends.empty() && !today; }
  bool passes() const { return !pass.empty() || !ends.empty() || today; }
};

// Why a dataset is dirty: one edge, and the cells that it dirtied (nothing: all of them).
struct Because {
  EdgeId edge;
  std::optional<SpanSet> cells;
};

// A set of datasets that can be reached, in topological order, and a place for something about each.
class Region {
 public:
  Region(const LineageGraph& graph, const std::vector<DatasetId>& from);
  const std::vector<DatasetId>& members() const { return members_; }
  bool Has(DatasetId id) const { return position_[id.value] != kNone; }
  std::uint32_t At(DatasetId id) const { return position_[id.value]; }
  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;
  std::uint32_t AtOrNone(std::uint32_t dataset) const { return position_[dataset]; }

 private:
  std::vector<DatasetId> members_;
  std::vector<std::uint32_t> position_;
};

// Something that starts a sweep: cells of a dataset, and what they pass.
struct Seed {
  DatasetId dataset;
  SpanSet cells;
  SpanSet pass;
};

struct SweepRules {
  enum class Until { kComplete, kBegun } until = Until::kBegun;
  // Cells that cannot be rebuilt: taken out as they appear. Null: nothing is.
  std::function<SpanSet(DatasetId, const SpanSet& cells)> blocked;
  // Cells that must stay inside this (another sweep's). Null: no such bound.
  const std::vector<Dirt>* within = nullptr;
  bool narrow_wholes = false;                            // whole rebuilds pass what `row_time: exact` would
  bool drop_gone = false;                                // leave out what a dataset no longer keeps
  std::vector<std::vector<Because>>* because = nullptr;  // to be filled, by position
  const std::set<DatasetId>* narrow = nullptr;           // datasets to be treated as `row_time: exact`
  const std::map<DatasetId, SpanSet>* unchanged = nullptr;  // cells that pass nothing on
};

class Sweeper {
 public:
  Sweeper(const LineageGraph& graph, const Frame& frame, const Region& region);

  std::vector<Dirt> Run(const std::vector<Seed>& seeds, const SweepRules& rules) const;
  // From now on these edges read the same days, whatever the graph says: to see what that would save.
  void ReadAsSame(std::set<EdgeId> edges) { as_same_ = std::move(edges); }

  // Where a cell of the child of `edge` must lie to read something of `pass` (and, for `ends`, see Dirt).
  struct Pulled {
    SpanSet region;
    SpanSet ends;
    bool today = false;
    bool empty() const { return region.empty() && ends.empty() && !today; }
  };
  Pulled Pull(const Edge& edge, const Dirt& parent) const;
  // The same for a child that is judged instant by instant, or by another grain (row_time).
  SpanSet PullRows(const Edge& edge, const Dirt& parent, const RowTime& row_time) const;
  // What `cells` of the child read of the parent through this edge alone; `end_only` for `latest`.
  SpanSet Image(const Edge& edge, const SpanSet& cells) const;
  // The partitions of the edge's parent that were the newest complete ones when `cells` of `reader` ended.
  SpanSet NewestThen(const Edge& edge, DatasetId reader, const SpanSet& cells) const;
  // Dirty cells of a dataset that reads itself, carried forward to `until`; what is in `blocked` does not
  // carry.
  SpanSet Carry(DatasetId id, const SpanSet& cells, Instant until, const SpanSet& blocked) const;
  // Cells of a stored dataset that end inside the set.
  SpanSet CellsEndingIn(const Layout& layout, const SpanSet& ends) const;

  const LineageGraph& graph() const { return graph_; }
  const Frame& frame() const { return frame_; }
  const Region& region() const { return region_; }

 private:
  struct State;
  void Visit(DatasetId id, State& state) const;
  bool VisitPlain(DatasetId id, State& state) const;
  SpanSet Unhindered(std::uint32_t component, const State& state) const;
  void Settle(std::uint32_t component, State& state) const;
  Mapping MappingOf(const Edge& edge, const TimeSide& child) const;

  const Reads& ReadsOf(const Edge& edge) const;

  const LineageGraph& graph_;
  const Frame& frame_;
  const Region& region_;
  std::set<EdgeId> as_same_;
};

}  // namespace backreach
