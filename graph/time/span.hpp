// Spans of time and sets of them: the only way in which this program holds partitions. Never expanded into
// cells inside the analysis.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "graph/time/time.hpp"

namespace backreach {

// A half-open stretch [start, end) of instants. kMinInstant and kMaxInstant mean "no known beginning / end".
struct Span {
  Instant start = 0;
  Instant end = 0;
  bool empty() const { return start >= end; }
  friend bool operator==(const Span&, const Span&) = default;
};

inline constexpr Span kAllTime{kMinInstant, kMaxInstant};

// A list of spans that keeps a single one in its own 24 bytes: nearly every list has one, there are several
// for each dataset of a sweep, and a sweep is bound by the memory that it walks through.
class SpanList {
 public:
  SpanList() : one_{} {}
  SpanList(const SpanList& other) : one_{} { *this = other; }
  SpanList(SpanList&& other) noexcept : size_(other.size_), capacity_(other.capacity_), one_{} {
    Take(other);
  }
  SpanList& operator=(const SpanList& other) {
    if (this == &other) return *this;
    reserve(other.size_);
    std::copy(other.begin(), other.end(), begin());
    size_ = other.size_;
    return *this;
  }
  SpanList& operator=(SpanList&& other) noexcept {
    if (this == &other) return *this;
    Free();
    size_ = other.size_, capacity_ = other.capacity_;
    Take(other);
    return *this;
  }
  ~SpanList() { Free(); }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Span* begin() { return capacity_ == 1 ? &one_ : many_; }
  Span* end() { return begin() + size_; }
  const Span* begin() const { return capacity_ == 1 ? &one_ : many_; }
  const Span* end() const { return begin() + size_; }
  Span& operator[](std::size_t i) { return begin()[i]; }
  const Span& operator[](std::size_t i) const { return begin()[i]; }
  Span& back() { return begin()[size_ - 1]; }
  const Span& front() const { return begin()[0]; }
  const Span& back() const { return begin()[size_ - 1]; }
  void clear() { size_ = 0; }
  void push_back(Span span) {
    if (size_ == capacity_) reserve(std::size_t{2} * capacity_ + 2);
    begin()[size_++] = span;
  }
  void reserve(std::size_t n);
  friend bool operator==(const SpanList& a, const SpanList& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  void Take(SpanList& other) {
    if (capacity_ == 1)
      one_ = other.one_;
    else
      many_ = other.many_;
    other.size_ = 0, other.capacity_ = 1;
  }
  void Free() {
    if (capacity_ > 1) delete[] many_;
  }
  std::uint32_t size_ = 0, capacity_ = 1;  // capacity 1: the span lies in here
  union {
    Span one_;
    Span* many_;
  };
};

// A set of instants as sorted, disjoint, merged spans.
class SpanSet {
 public:
  using List = SpanList;
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

  // Becomes this one span, which must not be empty.
  void Become(Span span) {
    spans_.clear();
    spans_.push_back(span);
  }
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
