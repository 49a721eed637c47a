// Every rule as semantics words it, cell by cell, without a thought for speed.

#include "tests/property/oracle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace backreach::oracle {

namespace {

constexpr Instant kStep = 1800;

// Which cell of a wall-clock grain a clock's reading falls into: a number that changes from cell to cell.
std::int64_t Label(const Grain& grain, Civil c, std::int64_t starts_at, int week_start) {
  c -= starts_at;
  const std::int64_t day = FloorDiv(c, kDay);
  switch (grain.unit) {
    case Grain::Unit::kHours: return FloorDiv(c, grain.count * kHour);
    case Grain::Unit::kDay: return day;
    case Grain::Unit::kWeek: return FloorDiv(day + 3 - week_start, 7);
    default: {
      const CivilDate d = CivilFromDays(day);
      if (grain.unit == Grain::Unit::kMonth) return d.year * 12 + d.month;
      if (grain.unit == Grain::Unit::kQuarter) return d.year * 4 + (d.month - 1) / 3;
      return d.year;
    }
  }
}

}  // namespace

World::World(const LineageGraph& graph, const Request& request, Horizon horizon)
    : g_(graph), request_(request), horizon_(horizon), cells_(graph.datasets.size()) {
  for (std::uint32_t i = 0; i < g_.datasets.size(); ++i) ListCells(DatasetId{i});
}

void World::ListCells(DatasetId id) {
  const Dataset& d = g_[id];
  auto& cells = cells_[id.value];
  if (!d.stores()) return;
  if (!d.layout) {
    Cell whole{kMinInstant, kMaxInstant};
    whole.complete = whole.begun = true;
    cells.push_back(whole);
    return;
  }
  const Zone& zone = d.calendar.zone();
  const Grain& grain = *d.grain;
  // Walk the clock; a cell begins where its label first appears. Hours elapse. (Walked once for each
  // calendar.)
  static std::map<std::string, std::vector<Instant>> walked;
  auto& starts =
      walked[fmt::format("{} {} {} {} {} {}", zone.name(), FormatGrain(grain), d.calendar.starts_at(),
                         d.calendar.week_start(), horizon_.start, horizon_.end)];
  std::int64_t highest = std::numeric_limits<std::int64_t>::min();
  const bool listed = !starts.empty();
  for (Instant t = horizon_.start; !listed && t < horizon_.end; t += kStep) {
    const Civil c = CivilAt(zone, t);
    if (grain.unit == Grain::Unit::kHour) {
      if (FloorMod(c, kHour) == 0) starts.push_back(t);
      continue;
    }
    const std::int64_t label = Label(grain, c, d.calendar.starts_at(), d.calendar.week_start());
    if (label > highest) {
      if (highest != std::numeric_limits<std::int64_t>::min()) starts.push_back(t);
      highest = label;
    }
  }
  for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
    Cell cell{starts[i], starts[i + 1]};
    if (cell.start < d.first || cell.end > d.last_end) continue;
    const Instant complete_at =
        d.complete_after ? ShiftBy(zone, cell.end,
                                   Grain{d.complete_after->unit == Duration::Unit::kDay ? Grain::Unit::kDay
                                                                                        : Grain::Unit::kHour,
                                         1},
                                   d.complete_after->count)
                         : cell.end;
    cell.complete = complete_at <= request_.now;
    cell.begun = cell.start <= request_.now;
    if (d.retention)
      cell.gone = cell.start < ShiftBy(zone, request_.now, Grain{Grain::Unit::kDay, 1}, -d.retention->count);
    cells.push_back(cell);
  }
}

Instant World::FirstShowing(const Zone& zone, Civil c) const {
  for (Instant t = std::max(horizon_.start, FloorDiv(c - 12 * kHour, kStep) * kStep);
       t < horizon_.end + 90 * kDay; t += kStep)
    if (CivilAt(zone, t) >= c) {
      // The clocks change at half hours only: between two of them the second itself can be named.
      const Instant second = t - (CivilAt(zone, t) - c);
      return second > t - kStep && CivilAt(zone, second) == c ? second : t;
    }
  return horizon_.end;
}

Instant World::ShiftBy(const Zone& zone, Instant t, const Grain& unit, std::int64_t n) const {
  switch (unit.unit) {
    case Grain::Unit::kMinutes: return t + n * unit.count * kMinute;
    case Grain::Unit::kHour: return t + n * kHour;
    case Grain::Unit::kHours: return FirstShowing(zone, CivilAt(zone, t) + n * unit.count * kHour);
    case Grain::Unit::kDay: return FirstShowing(zone, CivilAt(zone, t) + n * kDay);
    case Grain::Unit::kWeek: return FirstShowing(zone, CivilAt(zone, t) + n * 7 * kDay);
    default: break;
  }
  const Civil c = CivilAt(zone, t);
  const std::int64_t day = FloorDiv(c, kDay);
  CivilDate d = CivilFromDays(day);
  const std::int64_t months = d.year * 12LL + d.month - 1 +
                              n * (unit.unit == Grain::Unit::kMonth     ? 1
                                   : unit.unit == Grain::Unit::kQuarter ? 3
                                                                        : 12);
  const std::int64_t year = FloorDiv(months, 12);
  const int month = static_cast<int>(FloorMod(months, 12)) + 1;
  return FirstShowing(
      zone, DaysFromCivil(year, month, std::min(d.day, DaysInMonth(year, month))) * kDay + c - day * kDay);
}

std::vector<World::Stretch> World::ReadStretch(const Edge& edge, Instant a, Instant b, bool) const {
  const Dataset &child = g_[edge.to], &parent = g_[edge.from];
  const Zone& zone = child.calendar.zone();
  if (std::holds_alternative<reads::Same>(edge.effective)) return {{a, b}};
  if (std::holds_alternative<reads::All>(edge.effective)) return {{kMinInstant, kMaxInstant}};
  if (std::holds_alternative<reads::Previous>(edge.effective)) return {{kMinInstant, b}};
  if (std::holds_alternative<reads::Following>(edge.effective)) return {{a, kMaxInstant}};
  if (const auto* days = std::get_if<reads::Fixed>(&edge.effective)) {
    const auto at = [&](std::int64_t day) {
      return FirstShowing(parent.calendar.zone(), day * kDay + parent.calendar.starts_at());
    };
    return {{at(days->from), at(days->to + 1)}};
  }
  if (const auto* period = std::get_if<reads::Period>(&edge.effective)) {
    // The period that holds `t`, moved: months from its first day, weeks by sevens of days.
    const auto moved = [&](Instant t, std::int64_t more) {
      const Civil c = CivilAt(zone, t) - child.calendar.starts_at();
      const std::int64_t day = FloorDiv(c, kDay);
      if (period->unit == Grain::Unit::kWeek)
        return FirstShowing(
            zone,
            (day - FloorMod(day + 3 - child.calendar.week_start(), 7) + 7 * (period->offset + more)) * kDay +
                child.calendar.starts_at());
      const std::int64_t length = period->unit == Grain::Unit::kMonth     ? 1
                                  : period->unit == Grain::Unit::kQuarter ? 3
                                                                          : 12;
      const CivilDate d = CivilFromDays(day);
      const std::int64_t months =
          FloorDiv(d.year * 12LL + d.month - 1, length) * length + length * (period->offset + more);
      return FirstShowing(
          zone, DaysFromCivil(FloorDiv(months, 12), static_cast<int>(FloorMod(months, 12)) + 1, 1) * kDay +
                    child.calendar.starts_at());
    };
    return {{moved(a, 0), moved(b - 1, 1)}};
  }
  if (const auto* w = std::get_if<reads::Window>(&edge.effective)) {
    const Grain unit = w->unit.value_or(child.calendar.grain());
    // The end of the cell, and its own last second, which shifts by itself.
    const Instant until = std::max(ShiftBy(zone, b, unit, w->end), ShiftBy(zone, b - 1, unit, w->end) + 1);
    if (!w->by_key) return {{ShiftBy(zone, a, unit, w->start), until}};
    const Civil from = CivilAt(zone, ShiftBy(zone, a, unit, w->start)),
                to = CivilAt(zone, ShiftBy(zone, b, unit, w->end));
    return {{FirstShowing(parent.calendar.zone(), from), FirstShowing(parent.calendar.zone(), to)}};
  }
  if (std::holds_alternative<reads::Key>(edge.effective)) {
    const auto date = [&](Instant t) {
      return CivilAt(zone, t) - child.calendar.starts_at() + parent.calendar.starts_at();
    };
    return {{FirstShowing(parent.calendar.zone(), date(a)), FirstShowing(parent.calendar.zone(), date(b))}};
  }
  if (const auto* to_date = std::get_if<reads::ToDate>(&edge.effective)) {
    const Grain period{to_date->period, 1};
    const std::int64_t label =
        Label(period, CivilAt(zone, a), child.calendar.starts_at(), child.calendar.week_start());
    Instant start = a;
    while (start - kStep >= horizon_.start - 40 * kDay &&
           Label(period, CivilAt(zone, start - kStep), child.calendar.starts_at(),
                 child.calendar.week_start()) == label)
      start -= kStep;
    return {{start, b}};
  }
  return {};
}

void World::ReadsThrough(DatasetId reader, Instant a, Instant b, Instant end, bool held, bool with_self,
                         DatasetId own, std::vector<CellRef>& out) const {
  for (const EdgeId e : g_.in(reader)) {
    const Edge& edge = g_[e];
    if (edge.self() && !with_self) continue;
    const Dataset& parent = g_[edge.from];
    const auto& cells = cells_[edge.from.value];
    const bool latest = std::holds_alternative<reads::Latest>(edge.effective),
               then = std::holds_alternative<reads::LatestThen>(edge.effective);
    if (latest || then) {
      // The newest complete one: when the cell ended, or now.
      const Instant at = (then || held) && g_[own].layout ? end : request_.now;
      std::size_t newest = cells.size();
      for (std::size_t i = 0; i < cells.size(); ++i) {
        const Instant complete_at =
            parent.complete_after
                ? ShiftBy(parent.calendar.zone(), cells[i].end,
                          Grain{parent.complete_after->unit == Duration::Unit::kDay ? Grain::Unit::kDay
                                                                                    : Grain::Unit::kHour,
                                1},
                          parent.complete_after->count)
                : cells[i].end;
        if (complete_at <= at) newest = i;
      }
      if (newest < cells.size()) out.emplace_back(edge.from.value, newest);
      continue;
    }
    for (const Stretch& s : ReadStretch(edge, a, b, held)) {
      if (!parent.stores()) {
        ReadsThrough(edge.from, s.start, s.end, end, held, true, own, out);
        continue;
      }
      for (std::size_t i = 0; i < cells.size(); ++i)
        if (cells[i].begun && cells[i].start < s.end && cells[i].end > s.start)
          out.emplace_back(edge.from.value, i);  // what has not begun holds nothing
    }
  }
}

std::vector<World::CellRef> World::Reads(DatasetId id, std::size_t cell, bool held, bool with_self) const {
  const auto [known, fresh] = known_reads_.try_emplace({CellRef{id.value, cell}, held * 2 + with_self});
  if (!fresh) return known->second;
  std::vector<CellRef> out;
  const Cell& c = cells_[id.value][cell];
  ReadsThrough(id, c.start, c.end, c.end, held, with_self, id, out);
  // A self-edge `same` is no cycle: a cell does not wait for itself.
  out.erase(std::remove(out.begin(), out.end(), CellRef{id.value, cell}), out.end());
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  known->second = out;
  return out;
}

void World::Solve() {
  std::vector<CellRef> all;
  for (std::uint32_t d = 0; d < cells_.size(); ++d)
    for (std::size_t i = 0; i < cells_[d].size(); ++i) all.emplace_back(d, i);
  const auto at = [&](const CellRef& r) -> Cell& { return cells_[r.first][r.second]; };
  // What each cell was made from or would read: a change of either may show.
  std::map<CellRef, std::vector<CellRef>> reads, outer;
  for (const CellRef& r : all) {
    auto list = Reads(DatasetId{r.first}, r.second, true, true);
    const auto now = Reads(DatasetId{r.first}, r.second, false, true);
    list.insert(list.end(), now.begin(), now.end());
    reads[r] = list;
    auto others = Reads(DatasetId{r.first}, r.second, true, false);
    const auto others_now = Reads(DatasetId{r.first}, r.second, false, false);
    others.insert(others.end(), others_now.begin(), others_now.end());
    outer[r] = others;
  }
  for (const Target& t : request_.targets)
    for (Cell& c : cells_[t.dataset.value])
      for (const Span& s : t.cells)
        if (c.start < s.end && c.end > s.start) c.asked = true;
  const auto source_target = [&](std::uint32_t d) {
    for (const Target& t : request_.targets)
      if (t.dataset.value == d) {
        for (const EdgeId e : g_.in(t.dataset))
          if (!g_[e].self()) return false;
        return !g_[t.dataset].writes_stated;
      }
    return false;
  };
  // Blocked: excluded, protected, snapshots, or a read cell is gone (and not corrected by the request).
  for (const CellRef& r : all) {
    const Dataset& d = g_.datasets[r.first];
    Cell& c = at(r);
    if (source_target(r.first) && c.asked) c.gone = false;
    for (const Exclusion& e : request_.exclusions)
      if (e.dataset.value == r.first && e.spans.Intersects(Span{c.start, c.end})) c.blocked = true;
    if (d.never_rebuild || d.kind == Kind::kSnapshot || d.writes == Writes::kSnapshot) c.blocked = true;
  }
  for (const CellRef& r : all) {
    if (!g_.datasets[r.first].layout || g_.datasets[r.first].writes == Writes::kWhole) continue;
    for (const CellRef& p : Reads(DatasetId{r.first}, r.second, false, true))
      if (at(p).gone) at(r).blocked = true;
  }
  // The memory of a self-edge: each cell dirtied by others carries so far and no further.
  const auto memory_of = [&](std::uint32_t d) -> std::optional<std::int64_t> {
    std::optional<std::int64_t> longest;
    for (const EdgeId e : g_.in(DatasetId{d})) {
      if (!g_[e].self() || std::holds_alternative<reads::Same>(g_[e].effective)) continue;
      if (!g_[e].memory) return std::nullopt;
      longest = std::max(longest.value_or(0), g_[e].memory->count);
    }
    return longest;
  };
  const auto spread = [&](auto seeded, auto flag, auto allowed) {
    for (const CellRef& r : all)
      if (seeded(r)) at(r).*flag = true;
    for (bool changed = true; changed;) {
      changed = false;
      for (const CellRef& r : all) {
        if (at(r).*flag || !allowed(r)) continue;
        const auto memory = memory_of(r.first);
        const auto& list = memory ? outer[r] : reads[r];
        const bool dirty =
            std::any_of(list.begin(), list.end(), [&](const CellRef& p) { return at(p).*flag; });
        if (dirty) at(r).*flag = changed = true;
        if (!dirty && memory) {
          // Is there a cell dirtied by others, less than `memory` before, from which a chain leads here?
          for (std::size_t i = 0; i < r.second && !(at(r).*flag); ++i) {
            const CellRef origin{r.first, i};
            const bool from_others =
                at(origin).*flag &&
                (seeded(origin) || std::any_of(outer[origin].begin(), outer[origin].end(),
                                               [&](const CellRef& p) { return at(p).*flag; }));
            if (!from_others) continue;
            const Instant limit = ShiftBy(g_.datasets[r.first].calendar.zone(), at(origin).start,
                                          Grain{Grain::Unit::kDay, 1}, *memory);
            if (at(r).start >= limit) continue;
            std::set<std::size_t> chain = {i};
            for (std::size_t k = i + 1; k <= r.second; ++k) {
              if (!allowed(CellRef{r.first, k})) continue;
              for (const CellRef& p : reads[CellRef{r.first, k}])
                if (p.first == r.first && chain.count(p.second)) chain.insert(k);
            }
            if (chain.count(r.second)) at(r).*flag = changed = true;
          }
        }
      }
    }
  };
  spread([&](const CellRef& r) { return at(r).asked && at(r).begun; }, &Cell::reached,
         [&](const CellRef& r) { return at(r).begun; });
  const auto can = [&](const CellRef& r) { return at(r).begun && !at(r).blocked && !at(r).gone; };
  spread([&](const CellRef& r) { return at(r).asked && can(r); }, &Cell::would, can);
  // A table that every run writes whole has no open cell of its own.
  const auto closed = [&](const CellRef& r) {
    return at(r).complete || g_.datasets[r.first].written_whole();
  };
  spread([&](const CellRef& r) { return at(r).asked && can(r) && (closed(r) || request_.include_open); },
         &Cell::built, [&](const CellRef& r) { return can(r) && closed(r); });
  spread([&](const CellRef& r) { return at(r).would && !closed(r) && !at(r).built; }, &Cell::later,
         [&](const CellRef& r) { return at(r).would; });
}

std::vector<std::string> World::Compare(const Plan& plan) const {
  std::vector<std::string> found;
  const auto differ = [&](std::uint32_t d, const Cell& c, const char* what, bool expected) {
    found.push_back(fmt::format("{} {}: {}expected in {}", g_.datasets[d].name,
                                IsFinite(c.start) ? FormatInstant(c.start) : "whole", expected ? "" : "not ",
                                what));
  };
  std::vector<SpanSet> built(cells_.size()), stale(cells_.size()), later(cells_.size());
  for (const Step& s : plan.steps) built[s.dataset.value].Add(s.dirty);
  for (const LeftStale& l : plan.left_stale)
    if (g_[l.cells.dataset].stores())
      stale[l.cells.dataset.value].Add(l.cells.whole ? SpanSet::All() : l.cells.spans);
  for (const Afterwards& a : plan.afterwards)
    later[a.cells.dataset.value].Add(a.cells.whole ? SpanSet::All() : a.cells.spans);
  for (std::uint32_t d = 0; d < cells_.size(); ++d) {
    for (const Cell& c : cells_[d]) {
      const Instant probe = IsFinite(c.start) ? c.start : 0;
      if (built[d].Contains(probe) != c.built) differ(d, c, "the steps", c.built);
      const bool left = c.reached && !c.would && !c.gone;
      if (stale[d].Contains(probe) != left) differ(d, c, "what is left stale", left);
      if (later[d].Contains(probe) != c.later) differ(d, c, "afterwards", c.later);
    }
  }
  // Order: a step that reads a cell which another step writes comes after it.
  std::map<CellRef, std::size_t> writer;
  for (std::size_t s = 0; s < plan.steps.size(); ++s)
    for (std::size_t i = 0; i < cells_[plan.steps[s].dataset.value].size(); ++i)
      if (plan.steps[s].dirty.Contains(IsFinite(cells_[plan.steps[s].dataset.value][i].start)
                                           ? cells_[plan.steps[s].dataset.value][i].start
                                           : 0))
        writer[{plan.steps[s].dataset.value, i}] = s;
  std::vector<std::set<int>> before(plan.steps.size() + 1);
  for (const Step& s : plan.steps) {
    for (const int a : s.after) {
      if (a >= s.id) found.push_back(fmt::format("step {} waits for the later step {}", s.id, a));
      before[s.id].insert(a);
      before[s.id].insert(before[a].begin(), before[a].end());
    }
  }
  const bool loose = std::any_of(plan.steps.begin(), plan.steps.end(),
                                 [](const Step& s) { return !s.interleaved.empty(); }) ||
                     std::any_of(plan.hazards.begin(), plan.hazards.end(),
                                 [](const Hazard& h) { return h.code == "cycle"; });
  for (const auto& [ref, s] : writer) {
    for (const CellRef& p : Reads(DatasetId{ref.first}, ref.second, false, true)) {
      const auto it = writer.find(p);
      if (it == writer.end() || loose) continue;
      if (it->second == s) {
        if (p.first == ref.first && p != ref && !plan.steps[s].sequential)
          found.push_back(fmt::format("{}: a cell reads another of its own step, which is not sequential",
                                      g_.datasets[ref.first].name));
        continue;
      }
      if (!before[plan.steps[s].id].count(plan.steps[it->second].id))
        found.push_back(fmt::format("step {} ({}) reads what step {} ({}) writes, and does not wait for it",
                                    plan.steps[s].id, g_.datasets[ref.first].name, plan.steps[it->second].id,
                                    g_.datasets[p.first].name));
    }
  }
  return found;
}

std::vector<std::string> World::Simulate(const Plan& plan) const {
  // Values mix in everything that is read; the correction gives the target's cells a new version.
  using Values = std::vector<std::vector<std::uint64_t>>;
  const auto mix = [](std::uint64_t h, std::uint64_t v) {
    h ^= v + 0x9E3779B97F4A7C15ull + (h << 6) + (h >> 2);
    h *= 0xBF58476D1CE4E5B9ull;
    return h ^ (h >> 29);
  };
  std::set<std::uint32_t> targets;
  for (const Target& t : request_.targets) targets.insert(t.dataset.value);
  std::map<CellRef, bool> planned;
  for (const Step& s : plan.steps)
    for (std::size_t i = 0; i < cells_[s.dataset.value].size(); ++i) {
      const Cell& c = cells_[s.dataset.value][i];
      if (s.dirty.Contains(IsFinite(c.start) ? c.start : 0)) planned[{s.dataset.value, i}] = true;
    }
  const auto version = [&](const CellRef& r, bool corrected) {
    const Cell& c = cells_[r.first][r.second];
    return mix(mix(r.first, r.second), corrected && targets.count(r.first) && c.asked && c.begun ? 2 : 1);
  };
  // A rebuild of everything: cells in an order in which what they read comes first, found by repetition.
  const auto rebuild = [&](bool corrected, bool planned_read_today) {
    Values values(cells_.size());
    for (std::size_t d = 0; d < cells_.size(); ++d) values[d].assign(cells_[d].size(), 0);
    for (int round = 0; round < 4000; ++round) {
      bool changed = false;
      for (std::uint32_t d = 0; d < cells_.size(); ++d) {
        for (std::size_t i = 0; i < cells_[d].size(); ++i) {
          const bool today = planned_read_today && planned.count({d, i});
          std::uint64_t v = version({d, i}, corrected);
          for (const CellRef& p : Reads(DatasetId{d}, i, !today, true)) v = mix(v, values[p.first][p.second]);
          if (v != values[d][i]) values[d][i] = v, changed = true;
        }
      }
      if (!changed) break;
    }
    return values;
  };
  const Values old = rebuild(false, false), reference = rebuild(true, true);
  Values current = old;
  for (const Step& s : plan.steps) {
    for (std::size_t i = 0; i < cells_[s.dataset.value].size(); ++i) {
      if (!s.dirty.Contains(IsFinite(cells_[s.dataset.value][i].start) ? cells_[s.dataset.value][i].start
                                                                       : 0))
        continue;
      std::uint64_t v = version({s.dataset.value, i}, true);
      for (const CellRef& p : Reads(s.dataset, i, false, true)) v = mix(v, current[p.first][p.second]);
      current[s.dataset.value][i] = v;
    }
  }
  std::vector<std::string> found;
  for (std::uint32_t d = 0; d < cells_.size(); ++d) {
    for (std::size_t i = 0; i < cells_[d].size(); ++i) {
      const Cell& c = cells_[d][i];
      const std::string name =
          fmt::format("{} {}", g_.datasets[d].name, IsFinite(c.start) ? FormatInstant(c.start) : "whole");
      if (planned.count({d, i}) && old[d][i] == reference[d][i])
        found.push_back(name + ": rebuilt for nothing");
      if (current[d][i] == reference[d][i] || !c.begun) continue;
      std::string because;
      for (const CellRef& p : Reads(DatasetId{d}, i, !planned.count({d, i}), true))
        if (current[p.first][p.second] != reference[p.first][p.second])
          because += fmt::format(" {}@{}", g_.datasets[p.first].name,
                                 FormatInstant(cells_[p.first][p.second].start));
      found.push_back(name + ": still wrong after the plan; it reads" +
                      (because.empty() ? " nothing that is wrong" : because));
    }
  }
  return found;
}

}  // namespace backreach::oracle
