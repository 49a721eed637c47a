// From columns to mappings. What the code tells is kept by columns (code_reach.hpp); here it is known which
// column cuts each end. A view is cut by the columns by which its readers ask for it, so datasets are gone
// through from the last reader upwards. A reach is turned into a mapping by trying: it is worked out for many
// cells of the child, each of the contract's forms is stretched until it covers all of these, and the one
// that reads least is taken. So no form has to be recognised by its shape, and what is taken has been seen to
// cover.

#include "graph/join/code_mappings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "graph/base/words.hpp"

namespace backreach {

namespace {

constexpr Civil kFar = std::int64_t{1} << 44;

// ---- a reach, on cells ----

struct Cell {
  Civil start, end;  // by the child's clock
};

// The wall-clock arithmetic of one grain, on a clock that never changes.
Calendar Civilly(const Calendar& c, const Grain& grain) {
  return Calendar(grain, Zone::Utc(), grain.bears_dates() ? c.starts_at() : 0, c.week_start());
}

std::vector<Cell> SampleCells(const CodeEnd& end) {
  std::vector<Cell> out;
  const Civil from = DaysFromCivil(2023, 12, 1) * kDay, to = DaysFromCivil(2025, 3, 15) * kDay;
  if (end.instants) {
    for (Civil t = from; t < to; t += 31 * kHour + 1777) out.push_back({t, t + 1});
    for (const std::int64_t d :
         {DaysFromCivil(2024, 2, 29), DaysFromCivil(2024, 3, 1), DaysFromCivil(2025, 1, 1)})
      out.push_back({d * kDay, d * kDay + 1}), out.push_back({d * kDay - 1, d * kDay});
    return out;
  }
  const Grain& g = end.calendar.grain();
  const Calendar c = Civilly(end.calendar, g);
  const bool small = !g.bears_dates();
  const bool large = g.unit >= Grain::Unit::kMonth;
  const Civil last = large ? to + 6 * 366 * kDay : to;
  Civil t = c.Floor(large ? from - 2 * 366 * kDay : from);
  for (std::size_t n = 0; t < last && n < 2000; ++n) {
    const Civil next = c.Next(t);
    out.push_back({t, next});
    t = small ? c.Floor(t + 29 * kHour + 1800) : next;
    if (t < next) t = next;
  }
  return out;
}

Civil Moved(Civil c, const Grain& unit, std::int64_t n) {
  const auto months = [&](std::int64_t m) {
    const std::int64_t day = FloorDiv(c, kDay);
    const CivilDate d = CivilFromDays(day);
    const std::int64_t all = d.year * 12LL + d.month - 1 + m;
    const std::int64_t year = FloorDiv(all, 12);
    const int month = static_cast<int>(FloorMod(all, 12)) + 1;
    return DaysFromCivil(year, month, std::min(d.day, DaysInMonth(year, month))) * kDay + c - day * kDay;
  };
  switch (unit.unit) {
    case Grain::Unit::kHour: return c + n * kHour;
    case Grain::Unit::kWeek: return c + n * 7 * kDay;
    case Grain::Unit::kMonth: return months(n);
    case Grain::Unit::kQuarter: return months(3 * n);
    case Grain::Unit::kYear: return months(12 * n);
    default: return c + n * kDay;
  }
}
Civil MovedEnd(Civil b, const Grain& unit, std::int64_t n) {
  const Civil plain = Moved(b, unit, n);
  return unit.unit >= Grain::Unit::kMonth ? std::max(plain, Moved(b - 1, unit, n) + 1) : plain;
}

class Fitter {
 public:
  Fitter(const TimeReach& reach, const CodeEnd& child, const CodeEnd& parent)
      : reach_(reach), child_(child), parent_(parent), cells_(SampleCells(child)) {
    if (!parent_.instants) cuts_.emplace(Civilly(parent_.calendar, parent_.calendar.grain()));
  }

  // `low`, `high`: how much the two clocks may lie apart.
  void Work(std::int64_t low, std::int64_t high) {
    for (const Cell& c : cells_) {
      Civil from = -kFar, to = kFar;
      if (!reach_.low.open) from = Down(WorthOfBound(reach_.low, false, c.start, c.end) + low);
      if (!reach_.high.open) to = Up(WorthOfBound(reach_.high, true, c.start, c.end) + high + 1);
      need_.push_back({from, std::max(from, to)});
    }
  }
  bool empty() const {
    for (const Cell& n : need_)
      if (n.end > n.start) return false;
    return true;
  }

  std::vector<Reads> Fit() {
    if (!reach_.low.open && !reach_.high.open) return Both();
    if (reach_.low.open && reach_.high.open) return {reads::All{}};
    // Open at one side: that side's word, and what reaches beyond the cell at the other.
    const bool back = reach_.low.open;
    std::vector<Reads> out = {back ? Reads(reads::Previous{}) : Reads(reads::Following{})};
    bool covered = true;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      Cell& n = need_[i];
      const Cell own{Down(cells_[i].start), Up(cells_[i].end)};
      if (back) {
        covered = covered && n.end <= own.end;
        n.start = std::min(own.start, n.end);
        n.end = std::max(n.end, own.start);
      } else {
        covered = covered && n.start >= own.start;
        n.end = std::max(own.end, n.start);
        n.start = std::min(n.start, own.end);
      }
    }
    if (covered) return out;
    for (Reads& more : Both())
      if (!std::holds_alternative<reads::Same>(more)) out.push_back(more);
    for (const Reads& r : out)
      if (std::holds_alternative<reads::All>(r)) return {reads::All{}};
    return out;
  }

 private:
  Civil Down(Civil c) const { return cuts_ ? cuts_->Floor(c) : c; }
  Civil Up(Civil c) const { return cuts_ ? cuts_->Ceil(c) : c; }

  struct Try {
    std::vector<Reads> reads;
    double cost = 0;
  };
  void Offer(std::vector<Reads> reads, double cost) {
    if (!best_ || cost < best_->cost - 0.5) best_ = Try{std::move(reads), cost};
  }
  template <typename Low, typename High>
  void Consider(Reads reads, const Low& low, const High& high) {
    double cost = 0;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      const Civil a = Down(low(cells_[i])), b = Up(high(cells_[i]));
      if (need_[i].start >= need_[i].end) {
        cost += static_cast<double>(b - a);
        continue;
      }
      if (a > need_[i].start || b < need_[i].end) return;
      cost += static_cast<double>(b - a);
    }
    Offer({std::move(reads)}, cost);
  }
  std::vector<Reads> Both() {
    best_.reset();
    const auto start = [](const Cell& c) { return c.start; };
    const auto end = [](const Cell& c) { return c.end; };
    Consider(reads::Same{}, start, end);
    for (const Grain::Unit u :
         {Grain::Unit::kDay, Grain::Unit::kHour, Grain::Unit::kWeek, Grain::Unit::kMonth, Grain::Unit::kYear})
      Windows(Grain{u, 1});
    for (const Grain::Unit u :
         {Grain::Unit::kWeek, Grain::Unit::kMonth, Grain::Unit::kQuarter, Grain::Unit::kYear}) {
      const Calendar period = Civilly(child_.calendar, Grain{u, 1});
      Consider(
          reads::ToDate{u}, [&](const Cell& c) { return period.Floor(c.start); }, end);
      Periods(u, period);
    }
    return best_ ? best_->reads : std::vector<Reads>{reads::All{}};
  }
  void Windows(const Grain& unit) {
    const double length = unit.unit == Grain::Unit::kHour    ? kHour
                          : unit.unit == Grain::Unit::kDay   ? kDay
                          : unit.unit == Grain::Unit::kWeek  ? 7 * kDay
                          : unit.unit == Grain::Unit::kMonth ? 30.5 * kDay
                                                             : 365.25 * kDay;
    std::int64_t low = std::numeric_limits<std::int64_t>::max(),
                 high = std::numeric_limits<std::int64_t>::min();
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      const Cell &c = cells_[i], &n = need_[i];
      if (n.start >= n.end) continue;
      auto s = static_cast<std::int64_t>(static_cast<double>(n.start - c.start) / length) - 3;
      while (Down(Moved(c.start, unit, s + 1)) <= n.start) ++s;
      auto e = static_cast<std::int64_t>(static_cast<double>(n.end - c.end) / length) + 3;
      while (Up(MovedEnd(c.end, unit, e - 1)) >= n.end) --e;
      low = std::min(low, s), high = std::max(high, e);
    }
    if (low > 100'000'000 || low < -200'000 || high > 200'000) return;
    high = std::max(high, low);
    Consider(
        reads::Window{low, high, unit, false}, [&](const Cell& c) { return Moved(c.start, unit, low); },
        [&](const Cell& c) { return MovedEnd(c.end, unit, high); });
  }
  void Periods(Grain::Unit u, const Calendar& period) {
    std::int64_t least = std::numeric_limits<std::int64_t>::max(),
                 most = std::numeric_limits<std::int64_t>::min();
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      const Cell &c = cells_[i], &n = need_[i];
      if (n.start >= n.end) continue;
      least = std::min(least, period.Index(n.start) - period.Index(c.start));
      most = std::max(most, period.Index(n.end - 1) - period.Index(c.end - 1));
    }
    if (least > 100'000 || most < least || most - least > 3 || least < -10'000 || most > 10'000) return;
    std::vector<Reads> all;
    double cost = 0;
    for (std::int64_t k = least; k <= most; ++k) all.push_back(reads::Period{u, k});
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      const Civil a = Down(period.Start(period.Index(cells_[i].start) + least)),
                  b = Up(period.Start(period.Index(cells_[i].end - 1) + most + 1));
      if (need_[i].start < need_[i].end && (a > need_[i].start || b < need_[i].end)) return;
      cost += static_cast<double>(b - a);
    }
    Offer(std::move(all), cost);
  }

  const TimeReach& reach_;
  const CodeEnd &child_, &parent_;
  std::vector<Cell> cells_, need_;
  std::optional<Calendar> cuts_;
  std::optional<Try> best_;
};

std::optional<Reads> FixedOf(const TimeReach& reach) {
  const auto constant = [](const TimeBound& b) {
    return !b.open && !b.steps.empty() && b.steps[0].kind == TimeStep::Kind::kConstant;
  };
  if (!constant(reach.low) || !constant(reach.high)) return std::nullopt;
  const Civil a = WorthOfBound(reach.low, false, 0, 1), b = WorthOfBound(reach.high, true, 0, 1);
  if (a > b) return std::nullopt;
  return reads::Fixed{FloorDiv(a, kDay), FloorDiv(b, kDay)};
}

// Steps between two clocks that the ends themselves tell: both are declared, so they say nothing more.
bool DropZones(TimeReach& reach, const std::string& child, const std::string& parent) {
  bool any = false;
  for (TimeBound* b : {&reach.low, &reach.high})
    for (const TimeStep& s : b->steps)
      if (s.kind == TimeStep::Kind::kZone) {
        if (s.from != child || s.to != parent) return false;
        any = true;
      }
  if (!any) return false;
  for (TimeBound* b : {&reach.low, &reach.high})
    std::erase_if(b->steps, [](const TimeStep& s) { return s.kind == TimeStep::Kind::kZone; });
  return true;
}

}  // namespace

std::vector<Reads> ReadsOfReach(const TimeReach& given, const CodeEnd& child, const CodeEnd& parent) {
  if (const auto fixed = FixedOf(given)) return {*fixed};
  TimeReach reach = given;
  const std::string from = child.calendar.zone().name(), to = parent.calendar.zone().name();
  const bool dropped = from != to && DropZones(reach, from, to);
  bool zoned = false;
  for (const TimeBound* b : {&reach.low, &reach.high})
    for (const TimeStep& s : b->steps) zoned = zoned || s.kind == TimeStep::Kind::kZone;
  std::int64_t low = 0, high = 0;
  if (from != to && !dropped) {
    const ZoneShift apart = ZoneShiftOf(to, from);
    low = zoned ? apart.low : std::min<std::int64_t>(0, apart.low);
    high = zoned ? apart.high : std::max<std::int64_t>(0, apart.high);
    // The same dates or the same instants: which of the two depends on the columns' types.
    if (!zoned && child.calendar.grain().bears_dates() && parent.calendar.grain().bears_dates() &&
        !child.instants && !parent.instants) {
      Fitter plain(reach, child, parent);
      plain.Work(0, 0);
      const std::vector<Reads> alike = plain.Fit();
      if (alike.size() == 1 && std::holds_alternative<reads::Same>(alike[0]))
        return {reads::Same{}, reads::Key{}};
    }
  }
  Fitter fitter(reach, child, parent);
  fitter.Work(low, high);
  if (!reach.low.open && !reach.high.open && fitter.empty()) return {};
  return fitter.Fit();
}

namespace {

// ---- the graph ----

struct CutBy {
  std::string column;
  Grain grain;
  bool zone_known = false;
  const Calendar* calendar = nullptr;
  friend bool operator<(const CutBy& a, const CutBy& b) {
    return std::tie(a.column, a.grain.unit, a.grain.count) < std::tie(b.column, b.grain.unit, b.grain.count);
  }
};

struct Outcome {
  std::vector<Reads> reads;
  Known known = Known::kAssumed;
  std::string why;
  std::size_t line = 0;
  void All(std::string reason, std::size_t at) {
    reads = {reads::All{}};
    known = Known::kAssumed;
    why = std::move(reason);
    line = at;
  }
  bool all() const { return reads.size() == 1 && std::holds_alternative<reads::All>(reads[0]); }
};

class Taker {
 public:
  explicit Taker(LineageGraph& g) : g_(g) {}

  void Run() {
    bool any = false;
    for (const Edge& e : g_.edges) any = any || std::holds_alternative<reads::Unknown>(e.reads);
    if (!any) return;
    Order();
    for (auto child = order_.rbegin(); child != order_.rend(); ++child)
      for (const std::uint32_t e : in_[*child]) Take(g_.edges[e]);
    std::vector<Edge> out;
    out.reserve(g_.edges.size() + more_.size());
    for (std::uint32_t i = 0; i < g_.edges.size(); ++i) {
      const auto more = more_.find(&g_.edges[i]);
      std::vector<Reads> rest;
      if (more != more_.end()) rest = std::move(more->second);
      out.push_back(std::move(g_.edges[i]));
      for (Reads& r : rest) {
        out.push_back(out.back());
        out.back().reads = std::move(r);
      }
    }
    g_.edges = std::move(out);
  }

 private:
  // Datasets, parents before their readers; those in cycles behind.
  void Order() {
    const std::size_t n = g_.datasets.size();
    in_.resize(n);
    cuts_.resize(n);
    unknown_reader_.assign(n, false);
    std::vector<std::uint32_t> waiting(n, 0);
    std::vector<std::vector<std::uint32_t>> out(n);
    for (std::uint32_t i = 0; i < g_.edges.size(); ++i) {
      const Edge& e = g_.edges[i];
      in_[e.to.value].push_back(i);
      if (e.self()) continue;
      out[e.from.value].push_back(e.to.value);
      ++waiting[e.to.value];
    }
    std::vector<bool> placed(n, false);
    std::vector<std::uint32_t> ready;
    for (std::uint32_t d = 0; d < n; ++d)
      if (waiting[d] == 0) ready.push_back(d);
    while (!ready.empty()) {
      const std::uint32_t d = ready.back();
      ready.pop_back();
      placed[d] = true;
      order_.push_back(d);
      for (const std::uint32_t c : out[d])
        if (--waiting[c] == 0) ready.push_back(c);
    }
    for (std::uint32_t d = 0; d < n; ++d)
      if (!placed[d]) order_.push_back(d);
  }

  static bool Cut(const Dataset& d) { return d.stores() && (d.layout || d.row_time); }

  CodeEnd EndOf(const Dataset& d) const {
    CodeEnd end;
    end.calendar = d.calendar;
    end.zone_known = !d.zone_assumed;
    end.instants = !d.layout;
    return end;
  }

  void Take(Edge& e) {
    const Dataset &parent = g_[e.from], &child = g_[e.to];
    if (e.self()) return;
    const bool unknown = std::holds_alternative<reads::Unknown>(e.reads);
    if (!unknown) {
      // A stated mapping into a view: its readers ask by a column that nobody told.
      if (!parent.stores()) unknown_reader_[e.from.value] = true;
      Finest(e.from.value, child);
      return;
    }
    if (parent.stores() && !Cut(parent)) return Keep(e);
    std::vector<CutBy> cuts;
    bool untold = false;  // somebody asks for it by a column that is not known
    if (child.stores()) {
      if (!Cut(child)) return Keep(e);
      if (child.column.empty())
        untold = true;
      else
        cuts.push_back({Lower(child.column), child.layout ? *child.grain : Grain{Grain::Unit::kDay, 1},
                        !child.zone_assumed, &child.calendar});
    } else {
      cuts.assign(cuts_[e.to.value].begin(), cuts_[e.to.value].end());
      untold = unknown_reader_[e.to.value];
      if (cuts.empty() && !untold) return Keep(e);  // nothing that is cut reads it
    }
    Outcome out;
    std::string place;
    if (!e.code || e.code->text.empty()) {
      out.reads = {reads::Same{}};
      out.why = "no code tells";
      if (!parent.stores()) unknown_reader_[e.from.value] = true;
    } else {
      const CodeReads code = ParseCodeReads(e.code->text);
      place = code.place;
      Judge(e, code, cuts, untold, out);
    }
    Settle(e, std::move(out), place);
  }
  // Left as it is: an end without a grain, whose every change reaches everything anyway.
  void Keep(Edge& e) {
    const Dataset& child = g_[e.to];
    if (!g_[e.from].stores() && child.stores() && Cut(child)) unknown_reader_[e.from.value] = true;
    if (e.code) {
      auto kept = std::make_shared<ReadInCode>();
      e.code = std::move(kept);
    }
  }
  void Finest(std::uint32_t view, const Dataset& child) { (void)view, (void)child; }

  void Judge(const Edge& e, const CodeReads& code, const std::vector<CutBy>& cuts, bool untold,
             Outcome& out) {
    const Dataset& parent = g_[e.from];
    if (!code.unread.empty()) {
      if (!parent.stores()) unknown_reader_[e.from.value] = true;
      return out.All(code.unread, code.line);
    }
    const bool parent_untold = parent.stores() && parent.column.empty();
    if (untold || parent_untold) {
      if (!parent.stores()) unknown_reader_[e.from.value] = true;
      const std::string whose = parent_untold ? parent.name : g_[e.to].name;
      if (!code.plain)
        return out.All(fmt::format("{}, and it is not known which column cuts {}", code.sign, whose),
                       code.line);
      out.reads = {reads::Same{}};
      out.why = fmt::format("it is not known which column cuts {}", whose);
      if (cuts.empty()) return;
    }
    bool proven = !untold && !parent_untold;
    for (const CutBy& cut : cuts) {
      if (parent_untold) break;
      const CodeTrace* trace = code.Of(cut.column);
      if (!trace) {
        if (!parent.stores()) unknown_reader_[e.from.value] = true;
        return out.All(fmt::format("its code has no column '{}' that could be followed", cut.column), 0);
      }
      for (const CodeUse& use : trace->uses) {
        Use(e, use, cut, out, proven);
        if (out.all()) return;
      }
      if (trace->uses.empty() && out.reads.empty()) out.reads = {reads::Same{}};
    }
    if (out.reads.empty()) out.reads = {reads::Same{}};
    Simplify(out.reads);
    if (untold || parent_untold) return;
    bool same = true;
    for (const Reads& r : out.reads) same = same && std::holds_alternative<reads::Same>(r);
    out.known = same && proven ? Known::kProven : Known::kInferred;
  }

  void Use(const Edge& e, const CodeUse& use, const CutBy& cut, Outcome& out, bool& proven) {
    const Dataset& parent = g_[e.from];
    if (use.ways.empty()) {
      if (!parent.stores()) unknown_reader_[e.from.value] = true;
      return out.All(use.why, use.line);
    }
    CodeEnd child;
    child.calendar =
        Calendar(cut.grain, &cut.calendar->zone(), cut.calendar->starts_at(), cut.calendar->week_start());
    child.zone_known = cut.zone_known;
    std::vector<Reads> best;
    std::string by;
    const std::string own = Lower(parent.column);
    for (const CodeUse::Way& way : use.ways) {
      const std::string column = way.column == "=" ? cut.column : way.column;
      CodeEnd end = EndOf(parent);
      if (parent.stores()) {
        if (column != own) continue;
      } else {  // a view: any column will do, which it is then cut by
        end.calendar = child.calendar;
        end.instants = false;
      }
      std::vector<Reads> reads = Fitted(way.reach, child, end);
      if (!by.empty() && Wide(reads) >= Wide(best)) continue;
      best = std::move(reads);
      by = column;
    }
    if (by.empty()) {
      std::vector<std::string> names;
      for (const CodeUse::Way& w : use.ways) names.push_back(w.column == "=" ? cut.column : w.column);
      return out.All(fmt::format("rows are told by {}, and {} is cut by {}", ListOf(names), parent.name, own),
                     use.line);
    }
    if (out.line == 0) out.line = use.line;
    for (Reads& r : best) {
      if (std::holds_alternative<reads::All>(r)) {
        if (!parent.stores()) unknown_reader_[e.from.value] = true;
        return out.All("its bounds come to all of it", use.line);
      }
      if (std::find(out.reads.begin(), out.reads.end(), r) == out.reads.end()) out.reads.push_back(r);
    }
    if (parent.stores()) return;
    // The view is asked for whole cells of its reader, or for stretches that begin at any hour.
    CutBy asked = cut;
    asked.column = by;
    bool aligned = true;
    for (const Reads& r : best) aligned = aligned && Aligned(r, cut.grain);
    if (!aligned) {
      asked.grain = Grain{Grain::Unit::kHour, 1};
      for (const Reads& r : best)
        if (const auto* w = std::get_if<reads::Window>(&r); w && w->unit && w->unit->bears_dates())
          asked.grain =
              std::max(asked.grain.unit, Grain::Unit::kHour) == Grain::Unit::kHour && best.size() == 1
                  ? Grain{Grain::Unit::kDay, 1}
                  : asked.grain;
    }
    cuts_[e.from.value].insert(asked);
    (void)proven;
  }
  // Whole cells of a grain read stretches that such cells make up.
  static bool Aligned(const Reads& r, const Grain& grain) {
    if (const auto* w = std::get_if<reads::Window>(&r)) {
      if (!w->unit) return true;
      if (w->unit->unit == grain.unit) return true;
      return w->unit->bears_dates() && grain.unit == Grain::Unit::kDay && w->unit->unit >= Grain::Unit::kDay;
    }
    if (std::holds_alternative<reads::ToDate>(r) || std::holds_alternative<reads::Period>(r))
      return grain.unit <= Grain::Unit::kDay;
    if (std::holds_alternative<reads::Fixed>(r)) return grain.unit == Grain::Unit::kDay;
    return true;
  }
  // How much a mapping reads, roughly: to choose among ways that all hold.
  static double Wide(const std::vector<Reads>& reads) {
    double sum = 0;
    for (const Reads& r : reads) {
      if (std::holds_alternative<reads::Same>(r))
        sum += 0;
      else if (const auto* w = std::get_if<reads::Window>(&r))
        sum += 1 + static_cast<double>(w->end - w->start) *
                       (w->unit && w->unit->unit >= Grain::Unit::kMonth ? 30 : 1);
      else if (std::holds_alternative<reads::Key>(r))
        sum += 0.5;
      else if (std::holds_alternative<reads::Fixed>(r))
        sum += 5000;
      else if (std::holds_alternative<reads::ToDate>(r))
        sum += 20;
      else if (std::holds_alternative<reads::Period>(r))
        sum += 40;
      else if (std::holds_alternative<reads::All>(r))
        sum += 1e6;
      else
        sum += 1e4;
    }
    return sum;
  }
  std::vector<Reads> Fitted(const TimeReach& reach, const CodeEnd& child, const CodeEnd& parent) {
    CodeReads one;
    one.traces.push_back({{}, {{{{"", reach}}, "", 0}}});
    const auto key = [](const CodeEnd& e) {
      return fmt::format("{}/{}/{}/{}/{}/{}", FormatGrain(e.calendar.grain()), e.calendar.zone().name(),
                         e.calendar.starts_at(), e.calendar.week_start(), e.instants, e.zone_known);
    };
    const auto [it, fresh] =
        fitted_.try_emplace(FormatCodeReads(one) + "\n" + key(child) + "\n" + key(parent));
    if (fresh) it->second = ReadsOfReach(reach, child, parent);
    return it->second;
  }
  // What another one of the list reads too.
  static void Simplify(std::vector<Reads>& reads) {
    if (reads.size() < 2) return;
    const auto has = [&](const Reads& r) { return std::find(reads.begin(), reads.end(), r) != reads.end(); };
    const bool previous = has(reads::Previous{}), following = has(reads::Following{});
    if (previous && following) {
      reads = {reads::All{}};
      return;
    }
    // Windows of one unit that touch are one.
    for (std::size_t i = 0; i < reads.size(); ++i) {
      auto* a = std::get_if<reads::Window>(&reads[i]);
      for (std::size_t k = i + 1; a && k < reads.size(); ++k) {
        const auto* b = std::get_if<reads::Window>(&reads[k]);
        if (!b || b->unit != a->unit || b->start > a->end + 1 || a->start > b->end + 1) continue;
        a->start = std::min(a->start, b->start), a->end = std::max(a->end, b->end);
        reads.erase(reads.begin() + static_cast<std::ptrdiff_t>(k));
        k = i;
      }
    }
    const auto covers_own = [](const Reads& r) {
      if (const auto* w = std::get_if<reads::Window>(&r)) return w->start <= 0 && w->end >= 0;
      if (const auto* p = std::get_if<reads::Period>(&r)) return p->offset == 0;
      return std::holds_alternative<reads::Previous>(r) || std::holds_alternative<reads::Following>(r) ||
             std::holds_alternative<reads::ToDate>(r);
    };
    const bool own = std::any_of(reads.begin(), reads.end(), covers_own);
    std::erase_if(reads, [&](const Reads& r) {
      if (own && std::holds_alternative<reads::Same>(r)) return true;
      const auto* w = std::get_if<reads::Window>(&r);
      if (previous) return (w && w->end <= 0) || std::holds_alternative<reads::ToDate>(r);
      if (following) return w && w->start >= 0;
      return false;
    });
  }

  void Settle(Edge& e, Outcome out, const std::string& place) {
    if (out.all() && !g_[e.from].stores()) unknown_reader_[e.from.value] = true;
    e.known = out.known;
    auto told = std::make_shared<ReadInCode>();
    if (!place.empty()) told->place = out.line > 0 ? fmt::format("{}:{}", place, out.line) : place;
    told->why = std::move(out.why);
    e.code = std::move(told);
    e.reads = out.reads[0];
    if (out.reads.size() > 1) more_[&e].assign(out.reads.begin() + 1, out.reads.end());
  }

  LineageGraph& g_;
  std::vector<std::uint32_t> order_;
  std::vector<std::vector<std::uint32_t>> in_;
  std::vector<std::set<CutBy>> cuts_;  // of views: by what their readers ask for them
  std::vector<bool> unknown_reader_;
  std::map<const Edge*, std::vector<Reads>> more_;
  std::map<std::string, std::vector<Reads>> fitted_;
};

}  // namespace

void TakeMappingsFromCode(LineageGraph& graph) { Taker(graph).Run(); }

}  // namespace backreach
