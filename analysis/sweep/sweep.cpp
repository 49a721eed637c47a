// The problem: given dirty cells of some datasets, find the dirty cells of all that read them, without ever
// listing cells. The idea: visit datasets in topological order; each pulls, over every edge from a dirty
// parent, the stretch of time in which its own cells must lie to read something dirty, widens that to whole
// cells, carries it forward where it reads itself, and clips it to its history. Views pull without widening.
// Invariants: sets are sorted and merged; nothing is visited twice, but for cycles, whose members are swept
// round by round until nothing grows (a stretch that goes on growing into its own shift is run out to the end
// at once). Cost: edges of the region x spans on them.

#include "analysis/sweep/sweep.hpp"

#include <algorithm>
#include <unordered_map>

namespace backreach {

const char* ToString(HazardSeverity severity) {
  return severity == HazardSeverity::kBlocking  ? "blocking"
         : severity == HazardSeverity::kWarning ? "warning"
                                                : "note";
}

Region::Region(const LineageGraph& graph, const std::vector<DatasetId>& from)
    : position_(graph.datasets.size(), kNone) {
  std::vector<std::uint32_t> roots;
  for (const DatasetId id : from) roots.push_back(graph.entry_rank(id));
  for (const std::uint32_t rank : Reachable(graph.ranked(), roots)) {
    const DatasetId id = graph.order()[rank];
    position_[id.value] = static_cast<std::uint32_t>(members_.size());
    members_.push_back(id);
  }
}

Sweeper::Sweeper(const LineageGraph& graph, const Frame& frame, const Region& region)
    : graph_(graph), frame_(frame), region_(region) {}

const Reads& Sweeper::ReadsOf(const Edge& edge) const {
  static const Reads same = reads::Same{};
  if (as_same_.empty()) return edge.effective;
  const EdgeId id{static_cast<std::uint32_t>(&edge - graph_.edges.data())};
  return as_same_.count(id) ? same : edge.effective;
}

Mapping Sweeper::MappingOf(const Edge& edge, const TimeSide& child) const {
  return Mapping(ReadsOf(edge), child, graph_[edge.from].side(), frame_.now());
}

SpanSet Sweeper::CellsEndingIn(const Layout& layout, const SpanSet& ends) const {
  SpanSet out;
  for (const Span& s : ends) {
    const Instant from = IsFinite(s.start) ? layout.Floor(s.start - 1) : s.start;
    const Instant to = IsFinite(s.end) ? layout.Floor(s.end - 1) : s.end;
    out.Append({from, to});
  }
  return out;
}

Sweeper::Pulled Sweeper::Pull(const Edge& edge, const Dirt& parent) const {
  const Dataset& child = graph_[edge.to];
  Pulled out;
  if (!parent.ends.empty()) {
    if (!child.stores())
      out.ends = *parent.ends;
    else if (child.layout)
      out.region = CellsEndingIn(*child.layout, *parent.ends);
  }
  if (parent.today) {
    if (!child.stores())
      out.today = true;
    else if (!child.layout)
      out.region = SpanSet::All();
  }
  if (parent.pass.empty()) return out;
  const Reads& by = ReadsOf(edge);
  if (std::holds_alternative<reads::Same>(by)) {
    out.region.Add(parent.pass);
    return out;
  }
  const bool latest = std::holds_alternative<reads::Latest>(by);
  if (!latest && !std::holds_alternative<reads::LatestThen>(by)) {
    out.region.Add(MappingOf(edge, child.side()).Preimage(parent.pass));
    return out;
  }
  // The newest complete partition: today's, and the one of each cell's end.
  const Layout& layout = *graph_[edge.from].layout;
  const bool today = parent.pass.Intersects(frame_.NewestComplete(edge.from));
  if ((latest || !child.partitioned()) && today && (latest || child.stores())) {
    out.region = SpanSet::All();
    return out;
  }
  SpanSet ends;
  for (const Span& s : layout.AlignOut(parent.pass)) {
    // From when its first cell is complete until the cell behind its last one is.
    const Instant from = IsFinite(s.start) ? frame_.CompleteAt(edge.from, layout.Next(s.start)) : kMinInstant;
    const bool last = !IsFinite(s.end) || s.end >= graph_[edge.from].last_end;
    ends.Append({from, last ? kMaxInstant : frame_.CompleteAt(edge.from, layout.Next(s.end))});
  }
  if (!child.stores())
    out.ends.Add(ends), out.today = out.today || today;
  else if (child.layout)
    out.region.Add(CellsEndingIn(*child.layout, ends));
  return out;
}

SpanSet Sweeper::PullRows(const Edge& edge, const Dirt& parent, const RowTime& row_time) const {
  if (!parent.passes()) return {};
  if (std::holds_alternative<reads::Latest>(edge.effective) ||
      std::holds_alternative<reads::LatestThen>(edge.effective) || !parent.ends.empty() || parent.today)
    return Pull(edge, parent).region;
  const Dataset& child = graph_[edge.to];
  if (row_time.exact)
    return MappingOf(edge, TimeSide{nullptr, &child.calendar, false, true}).Preimage(parent.pass);
  const Layout rows(Calendar(row_time.grain, &child.calendar.zone(), child.calendar.starts_at(),
                             child.calendar.week_start()));
  return rows.AlignOut(
      MappingOf(edge, TimeSide{&rows, &rows.blocks()[0].calendar, false}).Preimage(parent.pass));
}

SpanSet Sweeper::Image(const Edge& edge, const SpanSet& cells) const {
  if (cells.empty()) return {};
  const bool then = std::holds_alternative<reads::LatestThen>(edge.effective);
  if (!then && !std::holds_alternative<reads::Latest>(edge.effective))
    return MappingOf(edge, graph_[edge.to].side()).Image(cells);
  const Span newest = frame_.NewestComplete(edge.from);
  if (!then || !graph_[edge.to].partitioned()) return newest.empty() ? SpanSet() : SpanSet(newest);
  return NewestThen(edge, edge.to, cells);
}

SpanSet Sweeper::NewestThen(const Edge& edge, DatasetId reader, const SpanSet& cells) const {
  const Dataset& parent = graph_[edge.from];
  if (!graph_[reader].partitioned()) {
    const Span newest = frame_.NewestComplete(edge.from);
    return newest.empty() ? SpanSet() : SpanSet(newest);
  }
  // The newest that was complete when the first cell ended, up to that of the last one's end.
  const Layout& layout = *parent.layout;
  const Layout& own = *graph_[reader].layout;
  const auto newest_at = [&](Instant t) -> Span {
    if (!IsFinite(t)) return {t, t};
    Instant end =
        layout.Floor(parent.complete_after ? AddDuration(layout.zone(), t, *parent.complete_after, -1) : t);
    while (frame_.CompleteAt(edge.from, layout.Next(end)) <= t) end = layout.Next(end);
    while (frame_.CompleteAt(edge.from, end) > t) end = layout.Floor(end - 1);
    end = std::min(end, parent.last_end);
    return {layout.Floor(end - 1), end};
  };
  std::vector<Span> out;
  for (const Span& s : cells) {
    const Instant from = IsFinite(s.start) ? newest_at(own.Next(s.start)).start : s.start;
    out.push_back({from, IsFinite(s.end) ? newest_at(s.end).end : s.end});
  }
  return SpanSet::FromUnsorted(std::move(out));
}

SpanSet Sweeper::Carry(DatasetId id, const SpanSet& cells, Instant until, const SpanSet& blocked) const {
  const Dataset& d = graph_[id];
  if (!d.layout || cells.empty()) return cells;
  std::vector<Mapping> maps;
  bool shifts_only = true, endless = false;
  Duration memory{0, Duration::Unit::kMinute};
  for (const EdgeId e : graph_.in(id)) {
    const Edge& edge = graph_[e];
    if (!edge.self() || std::holds_alternative<reads::Same>(edge.effective)) continue;
    if (std::holds_alternative<reads::Latest>(edge.effective) ||
        std::holds_alternative<reads::LatestThen>(edge.effective) ||
        std::holds_alternative<reads::Key>(edge.effective))
      continue;  // reads its own newest: the same cell or one before, which is never ahead of itself
    maps.push_back(MappingOf(edge, d.side()));
    shifts_only = shifts_only && !std::holds_alternative<reads::ToDate>(edge.effective);
    if (!edge.memory)
      endless = true;
    else if (MaxSeconds(*edge.memory) > MaxSeconds(memory))
      memory = *edge.memory;
  }
  if (maps.empty()) return cells;
  const Layout& layout = *d.layout;
  const auto next_of = [&](const SpanSet& front) {
    SpanSet region;
    for (const Mapping& map : maps) region.Add(map.Preimage(front));
    return layout.AlignOut(region.Clip(front.front().start, kMaxInstant)).Clip(kMinInstant, until);
  };
  SpanSet out = cells;
  for (const Span& start : cells) {
    if (!IsFinite(start.end)) continue;
    // How far this stretch may carry: cells that start less than `memory` after its last cell does.
    Instant limit = until, first_limit = until;
    if (!endless) {
      limit = std::min(until, layout.Ceil(AddDuration(layout.zone(), layout.Floor(start.end - 1), memory)));
      if (IsFinite(start.start))
        first_limit = std::min(until, layout.Ceil(AddDuration(layout.zone(), start.start, memory)));
    }
    SpanSet front(start);
    while (!front.empty()) {
      const SpanSet image = Difference(next_of(front).Clip(front.front().start, limit), blocked);
      const SpanSet next = Difference(image, front);
      if (next.empty() && (endless || image.empty() || image == front)) break;
      bool runs_on =
          shifts_only && front.size() == 1 && !next.empty() && next.front().start == front.back().end;
      if (runs_on && !endless) {
        // A memory counts for each cell by itself: only if a single cell runs into its own shift do all of
        // them.
        const SpanSet one(Span{layout.Floor(front.back().end - 1), front.back().end});
        const SpanSet after = Difference(next_of(one), one);
        runs_on = !after.empty() && after.front().start == one.back().end;
      }
      if (runs_on) {
        // It runs into its own shift, and so do all that follow, up to where something does not carry.
        Instant stop = limit;
        for (const Span& b : blocked)
          if (b.start >= front.back().end) {
            stop = std::min(stop, b.start);
            break;
          }
        front = SpanSet(Span{front.front().start, stop});
        out.Add(front);
        if (stop >= limit) break;
        continue;
      }
      // With a memory the chains of the stretch's cells end alike: a turn that is out of reach for the first
      // one is so for all.
      SpanSet within;
      for (const Span& s : endless ? next : image)
        if (endless || !IsFinite(start.start) || s.start < first_limit) within.Append(s);
      const SpanSet fresh = Difference(within, out);
      out.Add(within);
      front = endless ? fresh : within;  // what is there already goes on by itself, if nothing ends it
    }
  }
  return out;
}

struct Sweeper::State {
  const SweepRules& rules;
  std::vector<Dirt> dirt;
  std::unordered_map<std::uint32_t, Dirt> seeds;  // few: what was asked for
  std::vector<bool> seeded;
  const Dirt& SeedOf(std::uint32_t at) const {
    static const Dirt none;
    return seeded[at] ? seeds.at(at) : none;
  }
};

// The usual case, without building anything: a dataset that reads the same time of all its dirty parents, and
// one stretch in each of them.
bool Sweeper::VisitPlain(DatasetId id, State& state) const {
  const SweepRules& rules = state.rules;
  if (!graph_.plain(id)) return false;
  const std::uint32_t at = region_.At(id);
  if (state.seeded[at]) return false;
  Span all{0, 0};
  bool alike = true;
  for (const LineageGraph::Incoming& in : graph_.incoming(id)) {
    const std::uint32_t from = region_.AtOrNone(in.from);
    if (from == Region::kNone) continue;
    const Dirt& parent = state.dirt[from];
    if (parent.pass.empty()) {
      if (parent.passes()) return false;
      continue;
    }
    if (!in.same || parent.pass.size() != 1 || !parent.ends.empty() || parent.today) return false;
    alike = alike && in.alike;
    const Span& span = parent.pass.front();
    if (all.empty())
      all = span;
    else if (span.start <= all.end && all.start <= span.end)
      all = {std::min(all.start, span.start), std::max(all.end, span.end)};
    else
      return false;
  }
  if (!alike && !all.empty()) {
    const SpanSet cells = graph_[id].layout->AlignOut(SpanSet(all));
    if (cells.size() != 1) return false;
    all = cells.front();
  }
  const Bounds& b = frame_[id];
  all = {std::max(all.start, b.first),
         std::min(all.end, rules.until == SweepRules::Until::kComplete ? b.built_end : b.begun_end)};
  if (all.empty()) return true;
  state.dirt[at].cells.Become(all);
  state.dirt[at].pass.Become(all);
  return true;
}

// Everything about one dataset, from its parents as they are now.
void Sweeper::Visit(DatasetId id, State& state) const {
  const std::uint32_t at = region_.At(id);
  const Dataset& d = graph_[id];
  const SweepRules& rules = state.rules;
  Dirt out;
  SpanSet rows;
  std::optional<RowTime> row_time = d.row_time;
  if (rules.narrow && rules.narrow->count(id)) row_time = RowTime{};
  if (rules.narrow_wholes && d.stores() && !d.layout && !row_time) row_time = RowTime{};
  struct Part {
    EdgeId edge;
    SpanSet region;
  };
  std::vector<Part> parts;
  for (const EdgeId e : graph_.in(id)) {
    const Edge& edge = graph_[e];
    if (edge.self() || !region_.Has(edge.from)) continue;
    const Dirt& parent = state.dirt[region_.At(edge.from)];
    if (!parent.passes()) continue;
    Pulled pulled = Pull(edge, parent);
    if (pulled.empty()) continue;
    out.AddEnds(pulled.ends);
    out.today = out.today || pulled.today;
    out.cells.Add(pulled.region);
    if (row_time && d.stores()) rows.Add(PullRows(edge, parent, *row_time));
    if (rules.because) parts.push_back({e, std::move(pulled.region)});
  }
  const Dirt& seed = state.SeedOf(at);
  SpanSet carried;
  if (!d.stores()) {
    out.cells.Add(seed.cells);
    out.pass = out.cells;
  } else if (!d.layout) {
    if (!out.cells.empty() || !seed.cells.empty()) out.cells = SpanSet::All();
    if (rules.blocked && !out.cells.empty()) out.cells = Difference(out.cells, rules.blocked(id, out.cells));
    if (!out.cells.IsAll()) out.cells.Clear();
    if (!out.cells.empty()) {
      out.pass = row_time ? rows : SpanSet::All();
      out.pass.Add(seed.pass);
    }
  } else {
    const Bounds& b = frame_[id];
    const Instant until = rules.until == SweepRules::Until::kComplete ? b.built_end : b.begun_end;
    out.cells = d.layout->AlignOut(out.cells).Clip(b.first, until);
    out.cells.Add(seed.cells);
    // What is not rebuilt does not carry its own past on either.
    SpanSet blocked;
    if (rules.drop_gone && b.kept_from > b.first)
      blocked = Difference(SpanSet(Span{kMinInstant, b.kept_from}), seed.cells);
    if (rules.blocked) blocked.Add(rules.blocked(id, SpanSet::All()));
    if (!blocked.empty()) out.cells = Difference(out.cells, blocked);
    const SpanSet before = out.cells;
    out.cells = Carry(id, out.cells, until, blocked);
    carried = Difference(out.cells, before);
    if (row_time) {
      if (!row_time->exact) {
        const Layout row_layout(
            Calendar(row_time->grain, &d.calendar.zone(), d.calendar.starts_at(), d.calendar.week_start()));
        rows = row_layout.AlignOut(rows);
      }
      rows.Add(carried);
      rows.Add(seed.pass);
      out.pass = Intersection(rows, out.cells);
    } else {
      out.pass = out.cells;
    }
  }
  if (rules.unchanged)
    if (const auto it = rules.unchanged->find(id); it != rules.unchanged->end())
      out.pass = Difference(out.pass, it->second);
  if (rules.within) {
    const Dirt& bound = (*rules.within)[at];
    out.cells = Intersection(out.cells, bound.cells);
    out.pass = Intersection(out.pass, out.cells);
  }
  if (rules.because && !out.empty()) {
    std::vector<Because>& reasons = (*rules.because)[at];
    reasons.clear();
    for (Part& part : parts) {
      SpanSet own =
          d.stores() ? (d.layout ? Intersection(d.layout->AlignOut(part.region), out.cells) : SpanSet::All())
                     : part.region;
      if (own.empty()) continue;
      if (own == out.cells)
        reasons.push_back({part.edge, std::nullopt});
      else
        reasons.push_back({part.edge, std::move(own)});
    }
    if (!carried.empty()) {
      const SpanSet own = Intersection(carried, out.cells);
      for (const EdgeId e : graph_.in(id))
        if (graph_[e].self() && !std::holds_alternative<reads::Same>(graph_[e].effective) && !own.empty())
          reasons.push_back({e, own});
    }
  }
  state.dirt[at] = std::move(out);
}

namespace {

Instant AtMost(const Grain& grain) {
  switch (grain.unit) {
    case Grain::Unit::kHour: return kHour;
    case Grain::Unit::kHours: return grain.count * kHour;
    case Grain::Unit::kDay: return kDay;
    case Grain::Unit::kWeek: return 7 * kDay;
    case Grain::Unit::kMonth: return 31 * kDay;
    case Grain::Unit::kQuarter: return 92 * kDay;
    default: return 366 * kDay;
  }
}

}  // namespace

// Where a stretch that a cycle of shifts pushes along cannot be stopped: what every member holds, can be
// built and is asked for, less than one turn of the cycle away from no end of it.
SpanSet Sweeper::Unhindered(std::uint32_t component, const State& state) const {
  const auto [begin, end] = graph_.members(component);
  SpanSet open = SpanSet::All();
  Instant turn = 2 * kDay;
  for (std::uint32_t m = begin; m < end; ++m) {
    const DatasetId id = graph_.order()[m];
    const Dataset& d = graph_[id];
    const std::uint32_t at = region_.AtOrNone(id.value);
    for (const EdgeId e : graph_.in(id)) {
      const auto* window = std::get_if<reads::Window>(&graph_[e].effective);
      if (!window || graph_.component(graph_[e].from) != component) continue;
      const Grain unit = window->unit.value_or(d.calendar.grain());
      turn += std::max(std::abs(window->start), std::abs(window->end)) * AtMost(unit) + 2 * kDay;
    }
    if (!d.stores() || !d.layout || at == Region::kNone) continue;
    const Bounds& b = frame_[id];
    turn += 2 * AtMost(*d.grain);
    open = open.Clip(state.rules.drop_gone ? std::max(b.first, b.kept_from) : b.first,
                     state.rules.until == SweepRules::Until::kComplete ? b.built_end : b.begun_end);
    if (state.rules.blocked) open = Difference(open, state.rules.blocked(id, open));
    if (state.rules.within) open = Intersection(open, (*state.rules.within)[at].cells);
  }
  SpanSet out;
  for (const Span& s : open) {
    const Instant from = IsFinite(s.start) ? s.start + turn : s.start,
                  to = IsFinite(s.end) ? s.end - turn : s.end;
    if (from < to) out.Add(SpanSet(Span{from, to}));
  }
  return out;
}

// The members of a cycle, round by round until nothing grows. What grows by touching pieces, turn after turn,
// is carried at once to where something could hinder it.
void Sweeper::Settle(std::uint32_t component, State& state) const {
  const auto [begin, end] = graph_.members(component);
  const auto& order = graph_.order();
  bool shifts_only = true;
  for (std::uint32_t m = begin; m < end; ++m)
    for (const EdgeId e : graph_.in(order[m]))
      if (graph_.component(graph_[e].from) == component &&
          !(std::holds_alternative<reads::Same>(graph_[e].effective) ||
            std::holds_alternative<reads::Window>(graph_[e].effective) ||
            std::holds_alternative<reads::Previous>(graph_[e].effective)))
        shifts_only = false;
  const std::uint32_t size = end - begin;
  constexpr std::uint32_t kMostRounds = 5000;
  std::vector<std::uint32_t> ahead(size, 0), back(size, 0);  // rounds in a row in which a stretch grew
  std::optional<SpanSet> unhindered;
  for (std::uint32_t round = 0;; ++round) {
    bool changed = false;
    for (std::uint32_t m = begin; m < end; ++m) {
      const DatasetId id = order[m];
      const std::uint32_t at = region_.At(id);
      const Dirt old = state.dirt[at];
      Visit(id, state);
      Dirt& now = state.dirt[at];
      now.cells.Add(old.cells);  // growth only, whatever is taken out on the way
      now.pass.Add(old.pass);
      now.AddEnds(*old.ends);
      now.today = now.today || old.today;
      if (now.cells == old.cells && now.pass == old.pass && *now.ends == *old.ends &&
          now.today == old.today) {
        ahead[m - begin] = back[m - begin] = 0;
        continue;
      }
      changed = true;
      const SpanSet fresh = Difference(now.cells, old.cells);
      bool grew_ahead = false, grew_back = false;
      for (const Span& s : fresh) {
        bool behind_one = false, before_one = false;
        for (const Span& o : old.cells) {
          behind_one = behind_one || s.start == o.end;
          before_one = before_one || s.end == o.start;
        }
        // What closes the gap between two stretches tells no direction.
        grew_ahead = grew_ahead || (behind_one && !before_one);
        grew_back = grew_back || (before_one && !behind_one);
      }
      ahead[m - begin] = grew_ahead ? ahead[m - begin] + 1 : 0;
      back[m - begin] = grew_back ? back[m - begin] + 1 : 0;
      const bool run_ahead = round >= kMostRounds || (shifts_only && ahead[m - begin] > size + 2),
                 run_back = round >= kMostRounds || (shifts_only && back[m - begin] > size + 2);
      if (!run_ahead && !run_back) continue;
      const Dataset& d = graph_[id];
      SpanSet more;
      if (round < kMostRounds && !unhindered) unhindered = Unhindered(component, state);
      for (const Span& s : fresh) {
        Span free{kMinInstant, kMaxInstant};
        if (round < kMostRounds) {
          free = {s.start, s.start};
          for (const Span& u : *unhindered)
            if (u.start <= s.start && s.end <= u.end) free = u;
        }
        for (const Span& o : old.cells) {
          if (run_ahead && (s.start == o.end || round >= kMostRounds) && s.start < free.end)
            more.Add(SpanSet(Span{s.start, free.end}));
          if (run_back && (s.end == o.start || round >= kMostRounds) && free.start < s.end)
            more.Add(SpanSet(Span{free.start, s.end}));
        }
      }
      if (d.stores() && d.layout) {
        const Bounds& b = frame_[id];
        more = d.layout->AlignOut(more).Clip(
            b.first, state.rules.until == SweepRules::Until::kComplete ? b.built_end : b.begun_end);
        if (state.rules.blocked) more = Difference(more, state.rules.blocked(id, more));
        if (state.rules.within) more = Intersection(more, (*state.rules.within)[at].cells);
      }
      now.cells.Add(more);
      now.pass.Add(more);
    }
    if (!changed) return;
  }
}

std::vector<Dirt> Sweeper::Run(const std::vector<Seed>& seeds, const SweepRules& rules) const {
  const std::size_t n = region_.members().size();
  State state{rules, std::vector<Dirt>(n), {}, std::vector<bool>(n)};
  if (rules.because) rules.because->assign(n, {});
  for (const Seed& seed : seeds) {
    state.seeded[region_.At(seed.dataset)] = true;
    Dirt& s = state.seeds[region_.At(seed.dataset)];
    s.cells.Add(seed.cells);
    s.pass.Add(seed.pass);
  }
  const bool plain = !rules.because && !rules.blocked && !rules.within && !rules.drop_gone &&
                     !rules.unchanged && (!rules.narrow || rules.narrow->empty());
  for (std::size_t i = 0; i < n; ++i) {
    const DatasetId id = region_.members()[i];
    if (!graph_.in_cycle(id)) {
      if (!plain || !VisitPlain(id, state)) Visit(id, state);
      continue;
    }
    const std::uint32_t component = graph_.component(id);
    Settle(component, state);
    while (i + 1 < n && graph_.component(region_.members()[i + 1]) == component) ++i;
  }
  return std::move(state.dirt);
}

}  // namespace backreach
