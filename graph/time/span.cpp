// Set algebra over sorted, disjoint stretches: each operation is one pass over both.

#include "graph/time/span.hpp"

#include <algorithm>

namespace backreach {

void SpanList::reserve(std::size_t n) {
  if (n <= capacity_) return;
  Span* more = new Span[n];
  std::copy(begin(), end(), more);
  Free();
  many_ = more;
  capacity_ = static_cast<std::uint32_t>(n);
}

void SpanSet::Append(Span span) {
  if (span.empty()) return;
  if (!spans_.empty() && span.start <= spans_.back().end) {
    spans_.back().end = std::max(spans_.back().end, span.end);
  } else {
    spans_.push_back(span);
  }
}

SpanSet SpanSet::FromUnsorted(std::vector<Span> spans) {
  std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.start < b.start; });
  SpanSet out;
  for (const Span& span : spans) out.Append(span);
  return out;
}

bool SpanSet::Contains(Instant t) const { return Intersects(Span{t, t + 1}); }

bool SpanSet::Intersects(Span span) const {
  const auto it = std::upper_bound(spans_.begin(), spans_.end(), span.start,
                                   [](Instant t, const Span& s) { return t < s.end; });
  return it != spans_.end() && it->start < span.end && !span.empty();
}

bool SpanSet::Intersects(const SpanSet& other) const {
  auto a = spans_.begin(), b = other.spans_.begin();
  while (a != spans_.end() && b != other.spans_.end()) {
    if (a->start < b->end && b->start < a->end) return true;
    if (a->end <= b->end)
      ++a;
    else
      ++b;
  }
  return false;
}

bool SpanSet::Covers(const SpanSet& other) const { return Difference(other, *this).empty(); }

SpanSet Union(const SpanSet& a, const SpanSet& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  SpanSet out;
  out.spans_.reserve(a.size() + b.size());
  auto i = a.begin(), j = b.begin();
  while (i != a.end() || j != b.end()) {
    const bool left = j == b.end() || (i != a.end() && i->start <= j->start);
    out.Append(left ? *i++ : *j++);
  }
  return out;
}

SpanSet Intersection(const SpanSet& a, const SpanSet& b) {
  SpanSet out;
  auto i = a.begin(), j = b.begin();
  while (i != a.end() && j != b.end()) {
    const Span both{std::max(i->start, j->start), std::min(i->end, j->end)};
    if (!both.empty()) out.spans_.push_back(both);
    if (i->end <= j->end)
      ++i;
    else
      ++j;
  }
  return out;
}

SpanSet Difference(const SpanSet& a, const SpanSet& b) {
  SpanSet out;
  auto j = b.begin();
  for (Span span : a) {
    while (j != b.end() && j->end <= span.start) ++j;
    for (auto k = j; k != b.end() && k->start < span.end; ++k) {
      if (k->start > span.start) out.spans_.push_back({span.start, k->start});
      span.start = std::max(span.start, k->end);
    }
    if (!span.empty()) out.spans_.push_back(span);
  }
  return out;
}

SpanSet SpanSet::Clip(Instant lo, Instant hi) const {
  SpanSet out;
  for (const Span& span : spans_) {
    const Span cut{std::max(span.start, lo), std::min(span.end, hi)};
    if (!cut.empty()) out.spans_.push_back(cut);
  }
  return out;
}

void SpanSet::Add(const SpanSet& other) {
  if (other.empty()) return;
  if (spans_.empty()) {
    spans_ = other.spans_;
  } else if (spans_.size() == 1 && other.spans_.size() == 1) {  // the common case, without an allocation
    const Span& b = other.spans_[0];
    Span& a = spans_[0];
    if (a.start <= b.end && b.start <= a.end) {
      a = {std::min(a.start, b.start), std::max(a.end, b.end)};
    } else {
      *this = Union(*this, other);
    }
  } else {
    *this = Union(*this, other);
  }
}

}  // namespace backreach
