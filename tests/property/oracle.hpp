// The slow and obvious planner: every cell of every dataset is listed, and what it reads is found by walking
// the clock in steps of half an hour. It shares no arithmetic with the planner that it judges, but the zones'
// offsets.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/plan/plan.hpp"
#include "graph/lineage/lineage.hpp"

namespace backreach::oracle {

struct Cell {
  Instant start, end;
  bool reached = false, would = false, built = false, later = false, gone = false, blocked = false,
       complete = false, begun = false, asked = false;
};

// A stretch of time on which all cells are listed. Requests and histories must lie well inside it.
struct Horizon {
  Instant start, end;
};

class World {
 public:
  World(const LineageGraph& graph, const Request& request, Horizon horizon);

  // Fills the flags of all cells by their definitions.
  void Solve();
  const std::vector<Cell>& cells(DatasetId id) const { return cells_[id.value]; }

  // Differences between the plan and the definitions: steps, what is left stale, what is for afterwards,
  // order.
  std::vector<std::string> Compare(const Plan& plan) const;
  // Applies the correction, runs the plan, and compares every cell with a rebuild of everything.
  std::vector<std::string> Simulate(const Plan& plan) const;

 private:
  struct Stretch {
    Instant start, end;
  };
  void ListCells(DatasetId id);
  Civil CivilAt(const Zone& zone, Instant t) const { return t + zone.OffsetAt(t); }
  // The first half hour at which the clock shows `c` or more.
  Instant FirstShowing(const Zone& zone, Civil c) const;
  Instant ShiftBy(const Zone& zone, Instant t, const Grain& unit, std::int64_t n) const;
  // What [a, b) of the child reads of the parent; `own` is the child's cell, if it is one.
  std::vector<Stretch> ReadStretch(const Edge& edge, Instant a, Instant b, bool held) const;
  // All stored cells that a cell reads, views resolved. `held`: what it was made from, else what a rebuild
  // reads.
  using CellRef = std::pair<std::uint32_t, std::size_t>;
  std::vector<CellRef> Reads(DatasetId id, std::size_t cell, bool held, bool with_self = true) const;
  void ReadsThrough(DatasetId reader, Instant a, Instant b, Instant end, bool held, bool with_self,
                    DatasetId own, std::vector<CellRef>& out) const;

  const LineageGraph& g_;
  const Request& request_;
  Horizon horizon_;
  mutable std::map<std::pair<CellRef, int>, std::vector<CellRef>> known_reads_;
  std::vector<std::vector<Cell>> cells_;
};

}  // namespace backreach::oracle
