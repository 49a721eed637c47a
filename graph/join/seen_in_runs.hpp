// What only runs have shown is judged beside what all other sources say: edges that a manifest knows better,
// outputs that left the platform, names that look like another's.
#pragma once

#include <deque>

#include "graph/facts/facts.hpp"
#include "graph/lineage/lineage.hpp"

namespace backreach {

// Takes away edges that only runs showed between two datasets which a manifest joins through views: the path
// says the same, and knows the mappings. The last edge of the path keeps when they were seen. For edges that
// are sorted by their ends.
void LeaveToManifests(LineageGraph& graph);

// Outputs of jobs whose bucket, host or file system nothing reads from, and no other source knows. `note` is
// the label of the source that saw them.
std::deque<CopyFact> CopiesOutside(const LineageGraph& graph);

// Adds to what is unresolved: datasets whose names differ so little that they may be one, with the line of a
// registry that says so.
void SayLookAlikes(LineageGraph& graph);

}  // namespace backreach
