// What changed between two graphs: two moments of one store. Pure, by names, since numbers live in one graph.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/lineage/lineage.hpp"

namespace backreach {

// "" where it is not known.
struct FieldChange {
  std::string field, before, after;
};

struct EdgeReading {
  Reads reads;
  Known known = Known::kDeclared;
  friend bool operator==(const EdgeReading&, const EdgeReading&) = default;
};

// A dataset or copy, or an edge: added where there is no before, removed where there is no after.
struct NodeChange {
  enum class What { kAdded, kRemoved, kChanged } what = What::kChanged;
  std::string name;
  std::vector<FieldChange> fields;  // of a changed one
};
struct EdgeChange {
  std::string from, to;
  std::vector<EdgeReading> before, after;
};

struct GraphDiff {
  std::vector<NodeChange> datasets, copies;  // by name
  std::vector<EdgeChange> edges;             // by from, then to
  bool empty() const { return datasets.empty() && copies.empty() && edges.empty(); }
};
GraphDiff Compare(const LineageGraph& before, const LineageGraph& after);

// What that means for a correction of one dataset, which need not be in both graphs.
struct ReachChange {
  std::vector<std::string> reached, no_longer;                // datasets below it
  std::vector<std::string> copies_reached, copies_no_longer;  // by id
  GraphDiff on_the_way;                                       // changes of what it reaches, or reached
};
ReachChange CompareReach(const LineageGraph& before, std::optional<DatasetId> in_before,
                         const LineageGraph& after, std::optional<DatasetId> in_after, const GraphDiff& diff);

}  // namespace backreach
