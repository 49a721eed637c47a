// Samples come from their seed alone, so that a printed seed brings a failure back.

#include "tests/property/graphs.hpp"

#include <fmt/format.h>

namespace backreach::oracle {

Instant At(const char* text) { return *ParseInstant(text, true); }

Dataset MakeDataset(const std::string& name, const Grain& grain, const Zone* zone, Instant first) {
  Dataset d;
  d.name = name;
  d.grain = grain;
  d.calendar = Calendar(grain.none() ? Grain{Grain::Unit::kDay, 1} : grain, zone);
  d.zone_assumed = false;
  if (!grain.none()) {
    d.layout = std::make_shared<const Layout>(d.calendar);
    d.first = d.calendar.Ceil(first);
  }
  return d;
}

Edge MakeEdge(std::uint32_t from, std::uint32_t to, Reads reads) {
  Edge e;
  e.from = DatasetId{from};
  e.to = DatasetId{to};
  e.reads = e.effective = std::move(reads);
  return e;
}

void Finish(LineageGraph& graph) {
  std::stable_sort(graph.edges.begin(), graph.edges.end(), [](const Edge& a, const Edge& b) {
    return std::tie(a.from, a.to) < std::tie(b.from, b.to);
  });
  for (Edge& e : graph.edges) {
    const Dataset& parent = graph[e.from];
    const bool latest = std::holds_alternative<reads::Latest>(e.effective) ||
                        std::holds_alternative<reads::LatestThen>(e.effective);
    if (latest && (!parent.layout || !parent.stores())) e.effective = reads::All{};
  }
  graph.Number();
}

Target WholeCells(const LineageGraph& graph, DatasetId id, Span span) {
  Target t;
  t.dataset = id;
  t.asked = t.cells = graph[id].layout ? graph[id].layout->AlignOut(SpanSet(span)) : SpanSet::All();
  t.whole = !graph[id].layout;
  if (t.whole) t.asked = SpanSet::All();
  return t;
}

Sample RandomSample(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto pick = [&](std::uint64_t n) { return random() % n; };
  const auto chance = [&](std::uint64_t one_in) { return pick(one_in) == 0; };
  static const Zone* const zones[] = {Zone::Utc(), Zone::Find("America/New_York"), Zone::Find("Asia/Kolkata"),
                                      Zone::Find("Australia/Sydney")};
  static const Grain grains[] = {
      {Grain::Unit::kHours, 6}, {Grain::Unit::kDay, 1},   {Grain::Unit::kDay, 1},    {Grain::Unit::kDay, 1},
      {Grain::Unit::kWeek, 1},  {Grain::Unit::kMonth, 1}, {Grain::Unit::kHours, 12}, {}};
  Sample s;
  const std::uint32_t n = 2 + static_cast<std::uint32_t>(pick(4));
  const Zone* common = zones[pick(4)];
  s.text = fmt::format("seed {}:", seed);
  for (std::uint32_t i = 0; i < n; ++i) {
    const Zone* zone = chance(4) ? zones[pick(4)] : common;
    const Grain grain = i == 0 ? grains[pick(6)] : grains[pick(8)];
    Dataset d = MakeDataset(std::string(1, static_cast<char>('a' + i)), grain, zone,
                            At("2026-02-01T00:00Z") + static_cast<Instant>(pick(20)) * kDay);
    if (i > 0 && i + 1 < n && chance(4)) {
      d.kind = Kind::kView;
      d.layout = nullptr;
      d.grain.reset();
      d.first = kMinInstant;
      d.calendar = Calendar(Grain{Grain::Unit::kDay, 1}, zone);
    }
    if (d.layout && chance(10))
      d.complete_after = Duration{static_cast<std::int64_t>(1 + pick(3)), Duration::Unit::kDay};
    if (d.stores() && i > 0 && chance(12)) d.never_rebuild = true, s.simulate = false;
    if (d.layout && i > 0 && chance(14))
      d.retention = Duration{static_cast<std::int64_t>(20 + pick(30)), Duration::Unit::kDay},
      s.simulate = false;
    if (d.layout && i > 0 && chance(16))  // given up in the middle of what is asked for
      d.last_end = d.calendar.Floor(At("2026-02-25T00:00Z") + static_cast<Instant>(pick(30)) * kDay);
    if (i > 0) d.writes = Writes::kReplace, d.writes_stated = true;
    s.text +=
        fmt::format(" {}({}{} {}{}{})", d.name, d.stores() ? "" : "view ",
                    d.grain ? FormatGrain(*d.grain) : "-", zone->name(), d.never_rebuild ? " protected" : "",
                    (d.retention ? " keeps " + FormatDuration(*d.retention) : "") +
                        (IsFinite(d.last_end) ? " until " + FormatInstant(d.last_end) : ""));
    s.graph.datasets.push_back(std::move(d));
  }
  const auto mapping = [&](std::uint32_t from, std::uint32_t to) -> Reads {
    const Dataset &parent = s.graph.datasets[from], &child = s.graph.datasets[to];
    const bool dates =
        (!child.layout || child.grain->bears_dates()) && (!parent.layout || parent.grain->bears_dates());
    const bool whole = child.stores() && !child.layout;
    switch (pick(13)) {
      case 0: {
        if (whole) return reads::Same{};
        const auto start = static_cast<std::int64_t>(pick(5)) - 3;
        return reads::Window{start, start + static_cast<std::int64_t>(pick(3)),
                             child.layout ? std::optional<Grain>() : Grain{Grain::Unit::kDay, 1}, false};
      }
      case 1: {
        if (whole) return reads::Same{};
        static const Grain units[] = {{Grain::Unit::kDay, 1},   {Grain::Unit::kHour, 1},
                                      {Grain::Unit::kDay, 1},   {Grain::Unit::kHour, 1},
                                      {Grain::Unit::kMonth, 1}, {Grain::Unit::kWeek, 1}};
        const Grain unit = units[pick(child.stores() ? 6 : 4)];
        const auto start = -static_cast<std::int64_t>(pick(unit.unit == Grain::Unit::kMonth ? 2 : 4));
        return reads::Window{start, chance(2) ? start : static_cast<std::int64_t>(pick(2)), unit, false};
      }
      case 2: return reads::Previous{};
      case 3:
        return whole ? Reads(reads::Same{})
                     : Reads(reads::ToDate{chance(2) ? Grain::Unit::kMonth : Grain::Unit::kWeek});
      case 4:
        return dates && !whole && child.stores() && parent.stores() && parent.layout ? Reads(reads::Key{})
                                                                                     : Reads(reads::Same{});
      case 5: return chance(3) ? Reads(reads::All{}) : Reads(reads::Same{});
      case 6: return reads::Latest{};
      case 7: return reads::LatestThen{};
      case 8: return reads::Following{};
      case 9:
        return whole ? Reads(reads::Same{})
                     : Reads(reads::Period{chance(2) ? Grain::Unit::kMonth : Grain::Unit::kWeek,
                                           static_cast<std::int64_t>(pick(4)) - 2});
      case 10: {
        if (!chance(2)) return reads::Same{};
        const std::int64_t day = *ParseDay("2026-02-15") + static_cast<std::int64_t>(pick(50));
        return reads::Fixed{day, day + static_cast<std::int64_t>(pick(3))};
      }
      default: return reads::Same{};
    }
  };
  for (std::uint32_t to = 1; to < n; ++to) {
    const std::uint32_t edges = 1 + (chance(3) ? 1 : 0);
    for (std::uint32_t k = 0; k < edges; ++k) {
      const auto from = static_cast<std::uint32_t>(pick(to));
      Edge e = MakeEdge(from, to, mapping(from, to));
      bool twice = false;
      for (const Edge& other : s.graph.edges)
        twice = twice || (other.from == e.from && other.to == e.to && other.effective == e.effective);
      if (twice) continue;
      s.text += fmt::format(" {}->{} {};", s.graph.datasets[from].name, s.graph.datasets[to].name,
                            FormatReads(e.effective));
      s.graph.edges.push_back(std::move(e));
    }
    if (s.graph.datasets[to].layout && chance(6)) {
      const auto lag = -1 - static_cast<std::int64_t>(pick(3));
      Edge e =
          MakeEdge(to, to, reads::Window{lag - static_cast<std::int64_t>(pick(2)), lag, std::nullopt, false});
      if (chance(3))
        e.memory = Duration{static_cast<std::int64_t>(2 + pick(20)), Duration::Unit::kDay},
        s.simulate = false;
      s.text += fmt::format(" {} reads itself {}{};", s.graph.datasets[to].name, FormatReads(e.effective),
                            e.memory ? " memory " + FormatDuration(*e.memory) : "");
      s.graph.edges.push_back(std::move(e));
    }
  }
  // A cycle that steps back in time: something later is read for earlier days.
  if (n > 2 && chance(8)) {
    const auto from = 1 + static_cast<std::uint32_t>(pick(n - 1)),
               to = static_cast<std::uint32_t>(pick(from));
    if (s.graph.datasets[from].layout && s.graph.datasets[to].layout && to > 0) {
      const auto lag = -1 - static_cast<std::int64_t>(pick(9));
      s.graph.edges.push_back(MakeEdge(
          from, to,
          reads::Window{lag - static_cast<std::int64_t>(pick(2)), lag, Grain{Grain::Unit::kDay, 1}, false}));
      s.text += fmt::format(" {}->{} {};", s.graph.datasets[from].name, s.graph.datasets[to].name,
                            FormatReads(s.graph.edges.back().effective));
    }
  }
  Finish(s.graph);
  s.request.now = At("2026-04-10T00:00Z") + static_cast<Instant>(pick(48)) * 1800;
  const DatasetId target{chance(5) ? static_cast<std::uint32_t>(pick(n)) : 0};
  const Dataset& t = s.graph[target];
  if (!t.stores()) {
    const Instant from = At("2026-03-01T00:00Z") + static_cast<Instant>(pick(30)) * kDay;
    Target view;
    view.dataset = target;
    view.asked = view.cells = SpanSet(Span{from, from + static_cast<Instant>(1 + pick(3)) * kDay});
    s.simulate = false;  // its definition is corrected, not a cell
    s.request.targets.push_back(view);
    return s.request.targets.clear(),
           s.request.targets.push_back(WholeCells(s.graph, DatasetId{0}, Span{from, from + kDay})), s;
  }
  const bool near_now = chance(6);
  const Instant from = near_now ? s.request.now - static_cast<Instant>(pick(4)) * kDay
                                : At("2026-02-20T00:00Z") + static_cast<Instant>(pick(40)) * kDay;
  Target wanted = WholeCells(s.graph, target, Span{from, from + static_cast<Instant>(1 + pick(4)) * kDay});
  if (t.layout && chance(4)) {
    const Instant second = from - static_cast<Instant>(5 + pick(10)) * kDay;
    wanted.cells.Add(t.layout->AlignOut(SpanSet(Span{second, second + 1})));
    wanted.asked = wanted.cells;
  }
  s.text += " target " + t.name;
  for (const Span& span : wanted.cells)
    if (IsFinite(span.start)) s.text += " " + FormatInstant(span.start) + ".." + FormatInstant(span.end);
  s.text += " now " + FormatInstant(s.request.now);
  s.request.targets.push_back(std::move(wanted));
  if (chance(8)) {
    const DatasetId out{1 + static_cast<std::uint32_t>(pick(n - 1))};
    if (out != target && s.graph[out].stores()) {
      Exclusion e;
      e.dataset = out;
      e.spans = SpanSet::All();
      if (s.graph[out].layout && chance(2))
        e.spans = s.graph[out].layout->AlignOut(SpanSet(Span{from, from + 2 * kDay}));
      s.text += " without " + s.graph[out].name;
      s.request.exclusions.push_back(std::move(e));
      s.simulate = false;
    }
  }
  return s;
}

}  // namespace backreach::oracle
