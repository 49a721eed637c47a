// What a doubt costs is what the same sweep comes to without it. Tried are the few that look dearest: edges
// that are read whole, and tables without a grain that the steps name as what widened them. A sweep of the
// region is made for each, so their number is bounded by its size.

#include "analysis/widest.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "graph/base/words.hpp"

namespace backreach {

namespace {

constexpr std::size_t kMostTried = 6, kMostVisits = 2'000'000;

Widest::Size SizeOf(const Sweeper& sweeper, const std::vector<Dirt>& dirt) {
  const LineageGraph& g = sweeper.graph();
  Widest::Size out;
  out.cells = 0;
  const auto& members = sweeper.region().members();
  for (std::size_t i = 0; i < members.size(); ++i) {
    const Dataset& d = g[members[i]];
    const SpanSet& cells = dirt[i].cells;
    if (!d.stores() || cells.empty()) continue;
    const bool bounded = IsFinite(cells.front().start) && IsFinite(cells.back().end);
    if (!d.layout || d.written_whole() || !bounded)
      ++out.whole;
    else
      *out.cells += d.layout->Count(cells);
  }
  return out;
}

// A table is worth as much as a year of days, in comparing alone.
std::int64_t Worth(const Widest::Size& size) { return size.whole * 365 + size.cells.value_or(0); }

}  // namespace

std::optional<Widest> FindWidest(const Sweeper& sweeper, const std::vector<Seed>& seeds,
                                 const SweepRules& rules, const std::vector<Dirt>& rebuilt,
                                 const Plan& plan) {
  const LineageGraph& g = sweeper.graph();
  std::vector<Widest> tries;
  std::vector<const AssumedMapping*> whole;
  for (const AssumedMapping& a : plan.assumed) {
    const Edge& e = g[a.edges[0]];
    if (!e.self() && e.known == Known::kAssumed && std::holds_alternative<reads::All>(e.effective))
      whole.push_back(&a);
  }
  std::stable_sort(whole.begin(), whole.end(), [](const AssumedMapping* a, const AssumedMapping* b) {
    constexpr std::int64_t kUnbounded = std::int64_t{1} << 60;
    return a->cells.value_or(kUnbounded) > b->cells.value_or(kUnbounded);
  });
  for (const AssumedMapping* a : whole) {
    Widest& w = tries.emplace_back();
    w.edges = a->edges;
    w.dataset = g[a->edges[0]].to;
    w.stanza = a->stanza;
  }
  std::map<DatasetId, int> wideners;
  for (const Step& s : plan.steps)
    for (const DatasetId id : s.widened_by) ++wideners[id];
  for (const auto& [id, steps] : wideners) tries.emplace_back().dataset = id;
  const std::size_t most = std::min(kMostTried, kMostVisits / (sweeper.region().members().size() + 1));
  if (tries.size() > most) tries.resize(most);
  if (tries.empty()) return std::nullopt;
  const Widest::Size now = SizeOf(sweeper, rebuilt);
  Widest* best = nullptr;
  for (Widest& w : tries) {
    SweepRules narrower = rules;
    narrower.because = nullptr;
    Sweeper other = sweeper;
    std::set<DatasetId> narrow = rules.narrow ? *rules.narrow : std::set<DatasetId>();
    if (w.edges.empty()) {
      narrow.insert(w.dataset);
      narrower.narrow = &narrow;
    } else {
      other.ReadAsSame(std::set<EdgeId>(w.edges.begin(), w.edges.end()));
    }
    w.now = now;
    w.then = SizeOf(sweeper, other.Run(seeds, narrower));
    if (!best || Worth(w.then) < Worth(best->then)) best = &w;
  }
  // A few cells less are no news.
  if (Worth(now) - Worth(best->then) < std::max<std::int64_t>(10, Worth(now) / 10)) return std::nullopt;
  return *best;
}

}  // namespace backreach
