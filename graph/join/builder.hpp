// Joins what all sources say into one lineage graph: resolves names, merges facts by rank (a registry's word
// beats every importer's), lays calendars, and decides which mappings can stand.
#pragma once

#include <vector>

#include "graph/facts/facts.hpp"
#include "graph/lineage/lineage.hpp"
#include "graph/names/names.hpp"

namespace backreach {

struct BuiltGraph {
  LineageGraph graph;
  NameIndex names;  // ids are DatasetId values
};

// Pure: the result does not depend on the order of `sources`, or on when they were ingested.
BuiltGraph BuildGraph(std::vector<SourceFacts> sources);

// The same, for a process that answers one question and ends: nothing is ever taken apart again, which would
// take longer than the answer for a large graph.
// `strict`: mappings that are only assumed are read as `all`.
const BuiltGraph& BuildGraphForGood(std::vector<SourceFacts> sources, bool strict = false);

}  // namespace backreach
