// Closure, order and spans on generated graphs, in nanoseconds an edge, beside Boost's BFS and topological
// sort on the same graph in the same run.

#include <fmt/format.h>

#include <algorithm>
#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/filtered_graph.hpp>
#include <boost/graph/topological_sort.hpp>
#include <chrono>
#include <random>

#include "analysis/planner.hpp"
#include "analysis/sweep/sweep.hpp"
#include "graph/lineage/traversal.hpp"

using namespace backreach;

namespace {

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <typename F>
double Best(int rounds, F f) {
  double best = 1e9;
  for (int i = 0; i < rounds; ++i) {
    const double start = Now();
    f();
    best = std::min(best, Now() - start);
  }
  return best;
}

// A layered graph with three edges a node, numbered as an ingest numbers it; ids beside are shuffled, as
// names are.
RankedRows Layered(std::uint32_t nodes, std::mt19937& random) {
  RankedRows rows;
  rows.offsets.reserve(nodes + 1);
  for (std::uint32_t v = 0; v < nodes; ++v) {
    const std::uint32_t layer = std::max<std::uint32_t>(64, nodes / 64);
    for (int k = 0; k < 3; ++k) {
      const std::uint64_t to = v + 1 + random() % layer;
      if (to < nodes) rows.targets.push_back(static_cast<std::uint32_t>(to));
    }
    rows.offsets.push_back(static_cast<std::uint32_t>(rows.targets.size()));
  }
  return rows;
}

using Csr = boost::compressed_sparse_row_graph<boost::directedS>;

void Walk(std::uint32_t edges) {
  std::mt19937 random(11);
  const std::uint32_t nodes = edges / 3;
  const RankedRows rows = Layered(nodes, random);
  std::size_t reached = 0, edge_count = 0;
  const int rounds = edges > 2'000'000 ? 3 : 7;
  const double ours = Best(rounds, [&] {
    const auto out = Reachable(rows, {0, 1, 2});
    reached = out.size();
    edge_count = 0;
    for (const std::uint32_t v : out) edge_count += rows.offsets[v + 1] - rows.offsets[v];
  });
  // Boost's graph has the same edges, its vertices in the order of names, not of topology.
  std::vector<std::uint32_t> name(nodes);
  for (std::uint32_t v = 0; v < nodes; ++v) name[v] = v;
  std::shuffle(name.begin(), name.end(), random);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> list;
  list.reserve(rows.targets.size());
  for (std::uint32_t v = 0; v < nodes; ++v)
    for (std::uint32_t e = rows.offsets[v]; e < rows.offsets[v + 1]; ++e)
      list.emplace_back(name[v], name[rows.targets[e]]);
  const Csr csr(boost::edges_are_unsorted, list.begin(), list.end(), nodes);
  list.clear();
  list.shrink_to_fit();
  std::size_t boost_reached = 0;
  const double boost_time = Best(rounds > 3 ? 3 : 2, [&] {
    std::vector<boost::default_color_type> color(nodes, boost::white_color);
    boost::queue<std::uint64_t> queue;
    const auto colors =
        boost::make_iterator_property_map(color.begin(), boost::get(boost::vertex_index, csr));
    for (const std::uint32_t root : {0u, 1u, 2u})
      if (color[name[root]] == boost::white_color)
        boost::breadth_first_visit(csr, static_cast<Csr::vertex_descriptor>(name[root]), queue,
                                   boost::default_bfs_visitor(), colors);
    std::vector<bool> in(nodes, false);
    boost_reached = 0;
    for (std::uint32_t v = 0; v < nodes; ++v)
      if (color[v] != boost::white_color) in[v] = true, ++boost_reached;
    const auto keep = [&in](Csr::vertex_descriptor v) { return static_cast<bool>(in[v]); };
    const boost::filtered_graph<Csr, boost::keep_all, std::function<bool(Csr::vertex_descriptor)>> part(
        csr, boost::keep_all(), keep);
    std::vector<Csr::vertex_descriptor> order;
    boost::topological_sort(part, std::back_inserter(order));
    if (order.size() != boost_reached) fmt::print("Boost's order is incomplete\n");
  });
  if (reached != boost_reached)
    fmt::print("the two reach different sets: {} and {}\n", reached, boost_reached);
  fmt::print(
      "walk {:>10} edges: closure and order {:6.2f} ns an edge, Boost BFS + topological sort {:7.2f}: {:.1f} "
      "times as long\n",
      edge_count, ours * 1e9 / edge_count, boost_time * 1e9 / edge_count, boost_time / ours);
}

// Hours feed days, days feed days and months: the usual mix, `same` throughout.
LineageGraph Generated(std::uint32_t nodes) {
  LineageGraph g;
  std::mt19937 random(5);
  const auto layout = [](const char* grain) {
    return std::make_shared<const Layout>(Calendar(*ParseGrain(grain), Zone::Utc()));
  };
  const auto hour = layout("hour"), day = layout("day"), month = layout("month");
  g.datasets.resize(nodes);
  for (std::uint32_t v = 0; v < nodes; ++v) {
    Dataset& d = g.datasets[v];
    d.name = fmt::format("d{:08}", v);
    d.layout = v < nodes / 10 ? hour : v < nodes * 9 / 10 ? day : month;
    d.calendar = d.layout->blocks()[0].calendar;
    d.grain = d.calendar.grain();
    d.first = d.calendar.Floor(1577836800);
    d.zone_assumed = false;
    d.writes = Writes::kReplace;
    d.writes_stated = v > 0;
  }
  g.edges.reserve(nodes * std::size_t{3});
  for (std::uint32_t v = 0; v < nodes; ++v)
    for (int k = 0; k < 3; ++k) {
      const std::uint64_t to = v + 1 + random() % std::max<std::uint32_t>(64, nodes / 64);
      if (to >= nodes) continue;
      Edge e;
      e.from = DatasetId{v};
      e.to = DatasetId{static_cast<std::uint32_t>(to)};
      e.reads = e.effective = reads::Same{};
      g.edges.push_back(std::move(e));
    }
  std::stable_sort(g.edges.begin(), g.edges.end(), [](const Edge& a, const Edge& b) {
    return std::tie(a.from, a.to) < std::tie(b.from, b.to);
  });
  g.Number();
  return g;
}

Request Ask(const LineageGraph& g, int spans) {
  Request r;
  r.now = *ParseInstant("2026-04-20T00:00Z", true);
  Target t;
  t.dataset = DatasetId{0};
  const Instant from = *ParseInstant("2024-01-01T00:00Z", true);
  for (int i = 0; i < spans; ++i)
    t.asked.Add(SpanSet(Span{from + i * 3 * kDay, from + i * 3 * kDay + kHour}));
  t.cells = g.datasets[0].layout->AlignOut(t.asked);
  r.targets.push_back(t);
  return r;
}

void Spans(std::uint32_t edges) {
  const LineageGraph g = Generated(edges / 3);
  const Region region(g, {DatasetId{0}});
  std::size_t edge_count = 0;
  for (const DatasetId id : region.members()) edge_count += g.out(id).size();
  const double bare = Best(20, [&] { Reachable(g.ranked(), {g.entry_rank(DatasetId{0})}); });
  for (const int spans : {1, 16, 256}) {
    if (edges > 2'000'000 && spans == 16) continue;
    const Request request = Ask(g, spans);
    const Frame frame(g, request.now);
    const Sweeper sweeper(g, frame, region);
    const std::vector<Seed> seeds = {{DatasetId{0}, request.targets[0].cells, request.targets[0].cells}};
    const double sweep = Best(spans == 1 ? 20 : edges > 2'000'000 ? 1 : 3, [&] { sweeper.Run(seeds, {}); });
    fmt::print(
        "spans {:>9} edges, {:>3} intervals: one sweep {:7.1f} ns an edge, {:.1f} times the bare walk "
        "({:.1f})\n",
        edge_count, spans, sweep * 1e9 / edge_count, sweep / bare, bare * 1e9 / edge_count);
  }
  if (edges > 2'000'000) return;
  const Request request = Ask(g, 1);
  std::size_t steps = 0;
  const double plan = Best(2, [&] { steps = MakePlan(g, request).steps.size(); });
  fmt::print("plan  {:>9} edges: the whole plan {:7.1f} ns an edge ({} steps, {:.2f} s)\n", edge_count,
             plan * 1e9 / edge_count, steps, plan);
}

void Diamonds() {
  // Layers of two-wide diamonds of views: exponentially many paths.
  const auto build = [](int layers) {
    LineageGraph g;
    const auto day = std::make_shared<const Layout>(Calendar(*ParseGrain("day"), Zone::Utc()));
    const std::uint32_t n = 2 + static_cast<std::uint32_t>(layers) * 3;
    g.datasets.resize(n);
    for (std::uint32_t v = 0; v < n; ++v) {
      Dataset& d = g.datasets[v];
      d.name = fmt::format("d{:05}", v);
      if (v == 0 || v + 1 == n)
        d.layout = day, d.grain = day->blocks()[0].calendar.grain(), d.writes = Writes::kReplace,
        d.writes_stated = v > 0;
      else
        d.kind = Kind::kView;
      d.first = v == 0 || v + 1 == n ? 1577836800 : kMinInstant;
    }
    const auto edge = [&](std::uint32_t a, std::uint32_t b) {
      Edge e;
      e.from = DatasetId{a}, e.to = DatasetId{b}, e.reads = e.effective = reads::Same{};
      g.edges.push_back(e);
    };
    std::uint32_t at = 0;
    for (int i = 0; i < layers; ++i) {
      edge(at, at + 1), edge(at, at + 2), edge(at + 1, at + 3), edge(at + 2, at + 3);
      at += 3;
    }
    edge(at, n - 1);
    g.Number();
    return g;
  };
  const LineageGraph one = build(0), thirty = build(30), sixty = build(60);
  const Request request = Ask(one, 1);
  const auto time = [&](const LineageGraph& g) { return Best(200, [&] { MakePlan(g, request); }); };
  const double a = time(one), b = time(thirty), c = time(sixty);
  fmt::print(
      "diamonds: a plan of one edge {:.1f} us, 30 layers of diamonds {:.1f} us ({:.1f} times), 60 layers "
      "{:.1f} us\n",
      a * 1e6, b * 1e6, b / a, c * 1e6);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "all";
  if (what == "all" || what == "walk")
    for (const std::uint32_t edges : {100'000u, 1'000'000u, 10'000'000u}) Walk(edges);
  if (what == "all" || what == "spans")
    for (const std::uint32_t edges : {100'000u, 1'000'000u}) Spans(edges);
  if (what == "spans-10m") Spans(10'000'000);  // sixteen gigabytes of datasets and edges
  if (what == "all" || what == "diamonds") Diamonds();
}
