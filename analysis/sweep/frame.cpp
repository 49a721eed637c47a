// Bounds are computed once for each dataset; all else asks them.

#include "analysis/sweep/frame.hpp"

#include <algorithm>

namespace backreach {

Frame::Frame(const LineageGraph& graph, Instant now)
    : graph_(graph), now_(now), bounds_(graph.datasets.size()), known_(graph.datasets.size(), false) {
  for (const Dataset& d : graph.datasets) any_retention_ = any_retention_ || d.retention || d.keeps_from;
}

const Bounds& Frame::Computed(DatasetId id) const {
  bounds_[id.value] = Compute(graph_[id]);
  known_[id.value] = true;
  return bounds_[id.value];
}

void Frame::BeginsAt(DatasetId id, Instant first) {
  (*this)[id];
  bounds_[id.value].first = std::min(bounds_[id.value].first, first);
}

Bounds Frame::Compute(const Dataset& d) const {
  Bounds b;
  if (!d.stores()) return b;
  b.first = d.first;
  const Zone& zone = d.calendar.zone();
  if (d.retention) b.kept_from = AddDuration(zone, now_, *d.retention, -1);
  if (d.keeps_from) b.kept_from = std::max(b.kept_from, *d.keeps_from);
  if (!d.layout) return b;
  const Layout& layout = *d.layout;
  if (IsFinite(b.kept_from)) b.kept_from = layout.Ceil(b.kept_from);
  const Duration wait = d.complete_after.value_or(Duration{0, Duration::Unit::kMinute});
  Instant end = layout.Floor(AddDuration(zone, now_, wait, -1));
  while (AddDuration(zone, layout.Next(end), wait) <= now_) end = layout.Next(end);
  while (AddDuration(zone, end, wait) > now_) end = layout.Floor(end - 1);
  b.complete_end = std::min(end, d.last_end);
  b.begun_end = std::min(layout.Next(now_), d.last_end);
  b.built_end = d.written_whole() ? b.begun_end : b.complete_end;
  return b;
}

Instant Frame::CompleteAt(DatasetId id, Instant end) const {
  const Dataset& d = graph_[id];
  if (!IsFinite(end) || !d.complete_after) return end;
  return AddDuration(d.calendar.zone(), end, *d.complete_after);
}

Span Frame::NewestComplete(DatasetId id) const {
  const Dataset& d = graph_[id];
  const Bounds& b = (*this)[id];
  if (!d.layout || b.complete_end <= b.first) return {0, 0};
  return {d.layout->Floor(b.complete_end - 1), b.complete_end};
}

}  // namespace backreach
