// Every dataset's history as seen from `now`: where it begins, where it is complete, what has begun, and what
// it no longer keeps.
#pragma once

#include <vector>

#include "graph/lineage/lineage.hpp"

namespace backreach {

struct Bounds {
  Instant first = kMinInstant;         // start of the first partition
  Instant complete_end = kMaxInstant;  // end of the last complete one
  Instant built_end = kMaxInstant;     // end of what a run makes right: of a table written whole all of it
  Instant begun_end = kMaxInstant;     // end of the last one that has begun
  Instant kept_from = kMinInstant;     // cells that start before are gone (retention)
};

class Frame {
 public:
  Frame(const LineageGraph& graph, Instant now);
  Instant now() const { return now_; }
  const Bounds& operator[](DatasetId id) const { return known_[id.value] ? bounds_[id.value] : Computed(id); }
  // When the cell that ends at `end` is complete.
  Instant CompleteAt(DatasetId id, Instant end) const;
  // The newest complete cell; empty if there is none.
  Span NewestComplete(DatasetId id) const;
  // Takes a dataset as being there from `first` on, if its own first partition is later.
  void BeginsAt(DatasetId id, Instant first);
  bool any_retention() const { return any_retention_; }

 private:
  Bounds Compute(const Dataset& d) const;
  const Bounds& Computed(DatasetId id) const;
  const LineageGraph& graph_;
  Instant now_;
  bool any_retention_ = false;
  mutable std::vector<Bounds> bounds_;
  mutable std::vector<bool> known_;
};

}  // namespace backreach
