// A cell [a, b) reads [f(a), g(b)) of its parent, with f and g non-decreasing and f <= g. So a dirty stretch
// [x, y) is read by exactly the cells with a < X and b > Y, where X is the first point with f(X) >= y and Y
// the last one with g(Y) <= x; in whole seconds Y < X always, and [Y, X) is the stretch that those cells
// overlap.
//
// Where the child is cut by a wall-clock calendar f and g are evaluated at cell numbers (so that a day whose
// midnight does not exist still counts as starting there); elsewhere, and in views, at instants. Both have
// closed forms for shifts by seconds or days; shifts by months search within a few dozen cells.

#include "graph/reads.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace backreach {

std::string FormatDay(std::int64_t day) {
  const CivilDate d = CivilFromDays(day);
  return fmt::format("{:04}-{:02}-{:02}", d.year, d.month, d.day);
}

std::optional<std::int64_t> ParseDay(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return std::nullopt;
  int number[3] = {0, 0, 0}, at = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i == 4 || i == 7) {
      ++at;
    } else {
      if (text[i] < '0' || text[i] > '9') return std::nullopt;
      number[at] = number[at] * 10 + (text[i] - '0');
    }
  }
  if (number[0] < 1 || number[1] < 1 || number[1] > 12 || number[2] < 1 ||
      number[2] > DaysInMonth(number[0], number[1]))
    return std::nullopt;
  return DaysFromCivil(number[0], number[1], number[2]);
}

std::string FormatReads(const Reads& reads) {
  struct Visitor {
    std::string operator()(const reads::Unknown&) const { return "unknown"; }
    std::string operator()(const reads::Same&) const { return "same"; }
    std::string operator()(const reads::Key&) const { return "key"; }
    std::string operator()(const reads::Previous&) const { return "previous"; }
    std::string operator()(const reads::All&) const { return "all"; }
    std::string operator()(const reads::Latest&) const { return "latest"; }
    std::string operator()(const reads::LatestThen&) const { return "latest_then"; }
    std::string operator()(const reads::Window& w) const {
      return fmt::format("window [{}, {}]{}{}", w.start, w.end, w.unit ? " " + FormatGrain(*w.unit) : "",
                         w.by_key ? " by key" : "");
    }
    std::string operator()(const reads::ToDate& t) const {
      return "to_date " + FormatGrain(Grain{t.period, 1});
    }
    std::string operator()(const reads::Following&) const { return "following"; }
    std::string operator()(const reads::Period& p) const {
      const std::string unit = FormatGrain(Grain{p.unit, 1});
      return p.offset == 0 ? "period " + unit : fmt::format("period {} offset {}", unit, p.offset);
    }
    std::string operator()(const reads::Fixed& f) const {
      return fmt::format("fixed {} .. {}", FormatDay(f.from), FormatDay(f.to));
    }
  };
  return std::visit(Visitor{}, reads);
}

namespace {

// Civil time plus n months; a day that the month has not becomes its last one.
Civil PlusMonths(Civil c, std::int64_t n) {
  const std::int64_t days = FloorDiv(c, kDay);
  const CivilDate d = CivilFromDays(days);
  const std::int64_t months = d.year * 12LL + d.month - 1 + n;
  const std::int64_t year = FloorDiv(months, 12);
  const int month = static_cast<int>(FloorMod(months, 12)) + 1;
  return DaysFromCivil(year, month, std::min(d.day, DaysInMonth(year, month))) * kDay + c - days * kDay;
}

// The same made non-decreasing within days, from below and from above: the last days of a long month share
// one.
Civil PlusMonthsLeast(Civil c, std::int64_t n) {
  const std::int64_t day = FloorDiv(c, kDay);
  return std::min(PlusMonths(c, n), PlusMonths((day + 1) * kDay, n));
}
Civil PlusMonthsMost(Civil c, std::int64_t n) {
  const std::int64_t day = FloorDiv(c, kDay);
  const Civil before = PlusMonths(day * kDay - 1, n);
  return std::max(PlusMonths(c, n), before);
}

// The least value in [lo, hi] for which `reached` holds; it holds at hi, and from there on.
template <typename Pred>
std::int64_t FirstWhere(std::int64_t lo, std::int64_t hi, Pred reached) {
  while (lo < hi) {
    const std::int64_t mid = lo + (hi - lo) / 2;
    if (reached(mid))
      hi = mid;
    else
      lo = mid + 1;
  }
  return lo;
}

}  // namespace

Mapping::Shift Mapping::ShiftOf(const Grain& unit, std::int64_t n) const {
  switch (unit.unit) {
    case Grain::Unit::kMinutes: return {Shift::Kind::kElapsed, n * unit.count * kMinute};
    case Grain::Unit::kHour: return {Shift::Kind::kElapsed, n * kHour};
    case Grain::Unit::kHours: return {Shift::Kind::kCivil, n * unit.count * kHour};
    case Grain::Unit::kDay: return {Shift::Kind::kCivil, n * kDay};
    case Grain::Unit::kWeek: return {Shift::Kind::kCivil, n * 7 * kDay};
    case Grain::Unit::kMonth: return {Shift::Kind::kMonths, n};
    case Grain::Unit::kQuarter: return {Shift::Kind::kMonths, 3 * n};
    case Grain::Unit::kYear: return {Shift::Kind::kMonths, 12 * n};
    case Grain::Unit::kNone: break;
  }
  return {Shift::Kind::kElapsed, 0};
}

Mapping::Mapping(const Reads& reads, TimeSide child, TimeSide parent, Instant now) {
  from_ = to_ = &child.calendar->zone();
  const auto each_block = [&](auto add) {
    if (!child.layout) return add(*child.calendar, kMinInstant, kMaxInstant, false);
    for (const Block& b : child.layout->blocks())
      add(b.calendar, b.from, b.until, b.calendar.follows_wall_clock());
  };
  const auto use_key = [&] {
    to_ = &parent.calendar->zone();
    to_add_ = parent.calendar->starts_at() - child.calendar->starts_at();
  };
  if (std::holds_alternative<reads::All>(reads)) {
    form_ = Form::kAll;
  } else if (std::holds_alternative<reads::Previous>(reads)) {
    form_ = Form::kPrevious;
  } else if (std::holds_alternative<reads::Following>(reads)) {
    form_ = Form::kFollowing;
  } else if (const auto* period = std::get_if<reads::Period>(&reads)) {
    form_ = Form::kPeriod;
    periods_ = period->offset;
    period_ =
        Calendar(Grain{period->unit, 1}, from_, child.calendar->starts_at(), child.calendar->week_start());
  } else if (const auto* days = std::get_if<reads::Fixed>(&reads)) {
    form_ = Form::kFixed;
    const Calendar day(Grain{Grain::Unit::kDay, 1}, &parent.calendar->zone(), parent.calendar->starts_at());
    const auto start = [&](std::int64_t n) {
      return day.Start(day.CivilIndex(n * kDay + parent.calendar->starts_at()));
    };
    fixed_ = {start(days->from), start(days->to + 1)};
  } else if (const auto* to_date = std::get_if<reads::ToDate>(&reads)) {
    form_ = Form::kToDate;
    period_ =
        Calendar(Grain{to_date->period, 1}, from_, child.calendar->starts_at(), child.calendar->week_start());
  } else if (std::holds_alternative<reads::Key>(reads)) {
    form_ = Form::kShift;
    use_key();
    each_block([&](const Calendar& c, Instant from, Instant until, bool wall) {
      const Shift none{Shift::Kind::kCivil, 0};
      parts_.push_back({wall ? &c : nullptr, none, none, from, until});
    });
  } else if (const auto* window = std::get_if<reads::Window>(&reads)) {
    form_ = Form::kShift;
    if (window->by_key) use_key();
    each_block([&](const Calendar& c, Instant from, Instant until, bool wall) {
      const Grain unit = window->unit.value_or(c.grain());
      Shift low = ShiftOf(unit, window->start), high = ShiftOf(unit, window->end);
      if (window->by_key && low.kind == Shift::Kind::kElapsed) low.kind = high.kind = Shift::Kind::kCivil;
      parts_.push_back({wall ? &c : nullptr, low, high, from, until});
    });
    if (child.whole) {  // counts back from the last complete unit before now, whichever cell asks
      const Calendar unit(window->unit.value_or(Grain{Grain::Unit::kDay, 1}), from_,
                          child.calendar->starts_at(), child.calendar->week_start());
      const Instant end = unit.Floor(now);
      parts_[0].cells = nullptr;
      fixed_ = {F(parts_[0], unit.Floor(end - 1)), G(parts_[0], end)};
      form_ = Form::kFixed;
    }
  }
}

namespace {
Civil Shifted(Civil c, bool months, std::int64_t n) { return months ? PlusMonths(c, n) : c + n; }
}  // namespace

Instant Mapping::F(const Part& part, Instant u) const {
  if (!IsFinite(u)) return u;
  if (part.low.kind == Shift::Kind::kElapsed) return u + part.low.n;
  const bool months = part.low.kind == Shift::Kind::kMonths;
  if (part.cells) {
    const std::int64_t k = part.cells->Index(u);
    if (part.cells->Start(k) == u) return ToParent(Shifted(part.cells->CivilStart(k), months, part.low.n));
  }
  const Civil c = from_->LeastCivil(u);
  return ToParent(months ? PlusMonthsLeast(c, part.low.n) : c + part.low.n);
}

Instant Mapping::G(const Part& part, Instant w) const {
  if (!IsFinite(w)) return w;
  if (part.high.kind == Shift::Kind::kElapsed) return w + part.high.n;
  const bool months = part.high.kind == Shift::Kind::kMonths;
  if (part.cells) {
    const std::int64_t k = part.cells->Index(w - 1) + 1;
    if (part.cells->Start(k) == w) return ToParent(Shifted(part.cells->CivilStart(k), months, part.high.n));
  }
  const Civil c = from_->FurthestCivil(w);
  return ToParent(months ? PlusMonthsMost(c, part.high.n) : c + part.high.n);
}

Span Mapping::Inverse(const Part& part, Span dirty) const {
  const bool open_start = !IsFinite(dirty.start), open_end = !IsFinite(dirty.end);
  Span out{dirty.start, dirty.end};
  const auto ceil_index = [](const Calendar& cal, Civil c) {
    const std::int64_t k = cal.CivilIndex(c);
    return cal.CivilStart(k) >= c ? k : k + 1;
  };
  if (!open_end) {  // the first point with f >= dirty.end
    const Shift& s = part.low;
    if (s.kind == Shift::Kind::kElapsed) {
      out.end = dirty.end - s.n;
    } else {
      const Civil need = to_->FurthestCivil(dirty.end - 1) + 1 - to_add_;
      if (part.cells && s.kind == Shift::Kind::kCivil) {
        out.end = part.cells->Start(ceil_index(*part.cells, need - s.n));
      } else if (part.cells) {
        const std::int64_t k = part.cells->CivilIndex(PlusMonths(need, -s.n));
        const std::int64_t reach =
            40 * kDay /
                std::max<std::int64_t>(kHour, part.cells->CivilStart(k + 1) - part.cells->CivilStart(k)) +
            2;
        out.end = part.cells->Start(FirstWhere(k - reach, k + reach, [&](std::int64_t i) {
          return PlusMonths(part.cells->CivilStart(i), s.n) >= need;
        }));
      } else if (s.kind == Shift::Kind::kCivil) {
        out.end = from_->LastReach(need - s.n);
      } else {
        const Civil about = PlusMonths(need, -s.n);
        const Civil c = FirstWhere(about - 40 * kDay, about + 40 * kDay,
                                   [&](Civil i) { return PlusMonthsLeast(i, s.n) >= need; });
        out.end = from_->LastReach(c);
      }
    }
  }
  if (!open_start) {  // the last point with g <= dirty.start
    const Shift& s = part.high;
    if (s.kind == Shift::Kind::kElapsed) {
      out.start = dirty.start - s.n;
    } else {
      const Civil most = to_->FurthestCivil(dirty.start) - to_add_;
      if (part.cells && s.kind == Shift::Kind::kCivil) {
        out.start = part.cells->Start(part.cells->CivilIndex(most - s.n));
      } else if (part.cells) {
        const std::int64_t k = part.cells->CivilIndex(PlusMonths(most, -s.n));
        const std::int64_t reach =
            40 * kDay /
                std::max<std::int64_t>(kHour, part.cells->CivilStart(k + 1) - part.cells->CivilStart(k)) +
            2;
        out.start = part.cells->Start(
            FirstWhere(k - reach, k + reach,
                       [&](std::int64_t i) { return PlusMonths(part.cells->CivilStart(i), s.n) > most; }) -
            1);
      } else if (s.kind == Shift::Kind::kCivil) {
        out.start = from_->FirstReach(most - s.n + 1) - 1;
      } else {
        const Civil about = PlusMonths(most, -s.n);
        const Civil c = FirstWhere(about - 40 * kDay, about + 40 * kDay,
                                   [&](Civil i) { return PlusMonthsMost(i, s.n) > most; });
        out.start = from_->FirstReach(c) - 1;
      }
    }
  }
  return out;
}

SpanSet Mapping::Image(const SpanSet& cells) const {
  switch (form_) {
    case Form::kSame: return cells;
    case Form::kAll: return cells.empty() ? SpanSet() : SpanSet::All();
    case Form::kPrevious: return cells.empty() ? SpanSet() : SpanSet(Span{kMinInstant, cells.back().end});
    case Form::kFollowing: return cells.empty() ? SpanSet() : SpanSet(Span{cells.front().start, kMaxInstant});
    case Form::kPeriod: {
      SpanSet out;
      for (const Span& s : cells) {
        const Instant from = IsFinite(s.start) ? period_->Start(period_->Index(s.start) + periods_) : s.start;
        out.Add(SpanSet(
            Span{from, IsFinite(s.end) ? period_->Start(period_->Index(s.end - 1) + periods_ + 1) : s.end}));
      }
      return out;
    }
    case Form::kFixed: return cells.empty() || fixed_.empty() ? SpanSet() : SpanSet(fixed_);
    case Form::kToDate: {
      SpanSet out;
      for (const Span& s : cells) out.Append({period_->Floor(s.start), s.end});
      return out;
    }
    case Form::kShift: break;
  }
  SpanSet out;
  for (const Part& part : parts_) {
    const SpanSet here = parts_.size() == 1 ? cells : cells.Clip(part.from, part.until);
    std::vector<Span> read;
    for (const Span& s : here) read.push_back({F(part, s.start), G(part, s.end)});
    out.Add(SpanSet::FromUnsorted(std::move(read)));
  }
  return out;
}

SpanSet Mapping::Preimage(const SpanSet& dirty) const {
  if (dirty.empty()) return {};
  switch (form_) {
    case Form::kSame: return dirty;
    case Form::kAll: return SpanSet::All();
    case Form::kPrevious: return SpanSet(Span{dirty.front().start, kMaxInstant});
    case Form::kFollowing: return SpanSet(Span{kMinInstant, dirty.back().end});
    case Form::kPeriod: {
      SpanSet out;
      for (const Span& s : dirty) {
        const Instant from = IsFinite(s.start) ? period_->Start(period_->Index(s.start) - periods_) : s.start;
        out.Add(SpanSet(
            Span{from, IsFinite(s.end) ? period_->Start(period_->Index(s.end - 1) - periods_ + 1) : s.end}));
      }
      return out;
    }
    case Form::kFixed: return dirty.Intersects(fixed_) ? SpanSet::All() : SpanSet();
    case Form::kToDate: {
      SpanSet out;
      for (const Span& s : dirty) out.Append({s.start, period_->Ceil(s.end)});
      return out;
    }
    case Form::kShift: break;
  }
  SpanSet out;
  for (const Part& part : parts_) {
    SpanSet regions;
    for (const Span& s : dirty) regions.Append(Inverse(part, s));
    out.Add(parts_.size() == 1 ? regions : regions.Clip(part.from, part.until));
  }
  return out;
}

}  // namespace backreach
