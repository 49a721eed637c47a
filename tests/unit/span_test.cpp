#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>

#include "graph/span.hpp"

using namespace backreach;

TEST_CASE("set algebra agrees with sets of numbers") {
  std::mt19937 random(3);
  const auto make = [&] {
    std::vector<Span> spans;
    for (std::uint32_t i = 0; i < random() % 6; ++i) {
      const Instant a = random() % 40;
      spans.push_back({a, a + static_cast<Instant>(random() % 8)});
    }
    return SpanSet::FromUnsorted(spans);
  };
  const auto members = [](const SpanSet& s) {
    std::set<Instant> out;
    for (Instant t = -1; t < 60; ++t)
      if (s.Contains(t)) out.insert(t);
    return out;
  };
  for (int round = 0; round < 3000; ++round) {
    const SpanSet a = make(), b = make();
    const auto x = members(a), y = members(b), u = members(Union(a, b)), i = members(Intersection(a, b)),
               d = members(Difference(a, b));
    for (Instant t = -1; t < 60; ++t) {
      CHECK(u.count(t) == (x.count(t) || y.count(t)));
      CHECK(i.count(t) == (x.count(t) && y.count(t)));
      CHECK(d.count(t) == (x.count(t) && !y.count(t)));
    }
    CHECK(a.Intersects(b) == !i.empty());
    CHECK(a.Covers(b) == std::includes(x.begin(), x.end(), y.begin(), y.end()));
    SpanSet c = a;
    c.Add(b);
    CHECK(c == Union(a, b));
    for (std::size_t k = 1; k < c.size(); ++k) CHECK(c.spans()[k - 1].end < c.spans()[k].start);
  }
}
