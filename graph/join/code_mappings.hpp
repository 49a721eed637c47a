// Mappings that nobody stated, from what importers saw in the readers' code.
#pragma once

#include <string>
#include <vector>

#include "graph/facts/code_reach.hpp"
#include "graph/lineage/lineage.hpp"

namespace backreach {

// Gives edges of unknown mapping one, where both ends are cut by time: proven, recognised (`inferred`) or
// assumed, as far as it can be read in the code that they carry. An edge that reads by several becomes
// several.
void TakeMappingsFromCode(LineageGraph& graph);

// One end, for the mapping between two columns that cut it.
struct CodeEnd {
  Calendar calendar;      // zone, starts_at, week start, grain
  bool instants = false;  // not cut: any second may be asked for
  bool zone_known = false;
};
// The tightest mapping in the contract's words that covers a reach; a list is the union.
std::vector<Reads> ReadsOfReach(const TimeReach& reach, const CodeEnd& child, const CodeEnd& parent);

}  // namespace backreach
