// Sets of stretches, and walks over ranked graphs.

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>

#include "graph/lineage/traversal.hpp"
#include "graph/time/span.hpp"

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

TEST_CASE("what can be reached is counted as it is found by walking, for more nodes than one round holds") {
  std::mt19937 random(3);
  for (const std::uint32_t nodes : {1u, 7u, 700u, 1500u}) {
    RankedRows rows;
    for (std::uint32_t v = 0; v < nodes; ++v) {
      for (int k = 0; k < 2; ++k)
        if (const std::uint32_t t = v + 1 + random() % 40; t < nodes) rows.targets.push_back(t);
      rows.offsets.push_back(static_cast<std::uint32_t>(rows.targets.size()));
    }
    std::vector<bool> counted(nodes);
    for (std::uint32_t v = 0; v < nodes; ++v) counted[v] = random() % 3 != 0;
    const std::vector<std::uint32_t> counts = CountReachable(rows, counted);
    for (std::uint32_t v = 0; v < nodes; v += 1 + nodes / 50) {
      std::uint32_t expected = 0;
      for (const std::uint32_t t : Reachable(rows, {v})) expected += t != v && counted[t];
      CHECK(counts[v] == expected);
    }
  }
}

TEST_CASE("a list of spans keeps one inside itself, and many as well") {
  SpanSet one(Span{1, 2}), many = one;
  for (int i = 1; i < 20; ++i) many.Append({10 * i, 10 * i + 1});
  CHECK(one.size() == 1);
  CHECK(many.size() == 20);
  SpanSet copy = many, moved = std::move(copy);
  CHECK(moved == many);
  CHECK(copy.empty());  // NOLINT: what was moved from is empty, and can be used again
  copy = one;
  copy.Append({5, 6});
  moved = one;
  CHECK(copy.size() == 2);
  CHECK(moved == one);
  many.Become({3, 4});
  CHECK(many == SpanSet(Span{3, 4}));
}
