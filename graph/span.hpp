// Spans of time and sets of them: the only way in which this program holds partitions. Never expanded into
// cells inside the analysis.
#pragma once

#include <boost/container/small_vector.hpp>
#include <string>
#include <vector>

#include "graph/time.hpp"

namespace backreach {

// A half-open stretch [start, end) of instants. kMinInstant and kMaxInstant mean "no known beginning / end".
struct Span {
  Instant start = 0;
  Instant end = 0;
  bool empty() const { return start >= end; }
  friend bool operator==(const Span&, const Span&) = default;
};

inline constexpr Span kAllTime{kMinInstant, kMaxInstant};

// A set of instants as sorted, disjoint, merged spans. Adding in order is O(1); out of order is collected and
// normalised once (see SpanSet::Builder).
class SpanSet {
 public:
  using List = boost::container::small_vector<Span, 1>;
  SpanSet() = default;
  explicit SpanSet(Span span) {
    if (!span.empty()) spans_.push_back(span);
  }
  // Any order, overlaps allowed.
  static SpanSet FromUnsorted(std::vector<Span> spans);
  static SpanSet All() { return SpanSet(kAllTime); }

  bool empty() const { return spans_.empty(); }
  std::size_t size() const { return spans_.size(); }
  const List& spans() const { return spans_; }
  auto begin() const { return spans_.begin(); }
  auto end() const { return spans_.end(); }
  const Span& front() const { return spans_.front(); }
  const Span& back() const { return spans_.back(); }
  bool IsAll() const { return spans_.size() == 1 && spans_[0] == kAllTime; }

  // Appends a span that starts at or after the start of the last one; touching spans are merged.
  void Append(Span span);
  void Clear() { spans_.clear(); }

  bool Contains(Instant t) const;
  bool Intersects(const SpanSet& other) const;
  bool Intersects(Span span) const;
  bool Covers(const SpanSet& other) const;

  friend SpanSet Union(const SpanSet& a, const SpanSet& b);
  friend SpanSet Intersection(const SpanSet& a, const SpanSet& b);
  friend SpanSet Difference(const SpanSet& a, const SpanSet& b);
  SpanSet Clip(Instant lo, Instant hi) const;
  void Add(const SpanSet& other);

  friend bool operator==(const SpanSet&, const SpanSet&) = default;

 private:
  // Most sets are one stretch: it needs no memory of its own.
  List spans_;
};

SpanSet Union(const SpanSet& a, const SpanSet& b);
SpanSet Intersection(const SpanSet& a, const SpanSet& b);
SpanSet Difference(const SpanSet& a, const SpanSet& b);

}  // namespace backreach
