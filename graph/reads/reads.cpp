// A cell [a, b) reads [f(a), g(b)) of its parent, with f and g non-decreasing and f < g. So a dirty stretch
// [x, y) is read by exactly the cells with a < X and b > Y, where X is the first point with f(X) >= y and Y
// the last one with g(Y) <= x; Y < X always, and [Y, X) is the stretch that those cells overlap.
//
// Where the child is cut by a wall-clock calendar f and g are evaluated at cell numbers (so that a day whose
// midnight does not exist still counts as starting there); elsewhere, and in views, at instants. Both have
// closed forms for shifts by seconds or days; shifts by months search within a few dozen cells.
//
// Several days may shift to one (29, 30 and 31 March a month back), and two hours that a clock shows alike
// to one: g(b) is max(b + e, (b - 1 s) + e + 1 s), so that none of them reads nothing. Over cells shorter
// than what is shifted f and g then go back at those places, though not within one piece: a day, and between
// two changes of clocks. What can be true only near the two ends of a stretch is decided there, piece by
// piece; what lies further inside than pieces can go back (kMonthsBack, kClocksBack) is not looked at again.

#include "graph/reads/reads.hpp"

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
  return std::max(PlusMonths(c, n), PlusMonths(day * kDay - 1, n) + 1);
}

constexpr Instant kMonthsBack = 8 * kDay;  // four days share one, and clocks change
constexpr Instant kClocksBack = 4 * kDay;  // no zone ever put its clocks back by more than a day

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

void Mapping::AddPart(const TimeSide& child, const Block* block, Shift low, Shift high) {
  Part part;
  part.low = low, part.high = high;
  const Calendar& calendar = block ? block->calendar : *child.calendar;
  part.day_start = calendar.starts_at();
  if (block) part.from = block->from, part.until = block->until;
  const bool elapsed = low.kind == Shift::Kind::kElapsed && high.kind == Shift::Kind::kElapsed;
  if (block && calendar.follows_wall_clock()) {
    part.calendar = &calendar;
    const bool short_cells = low.kind == Shift::Kind::kMonths && !calendar.grain().bears_dates();
    part.cells = short_cells ? Cells::kPieces : Cells::kNumbered;
  } else if (last_second_ && !elapsed && (block || child.rows)) {
    if (block) part.calendar = &calendar;
    part.cells = Cells::kPieces;
  }
  parts_.push_back(part);
}

Mapping::Mapping(const Reads& reads, TimeSide child, TimeSide parent, Instant now) {
  from_ = to_ = &child.calendar->zone();
  const auto each_block = [&](auto add) {
    if (!child.layout) return add(nullptr, *child.calendar);
    for (const Block& b : child.layout->blocks()) add(&b, b.calendar);
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
    each_block([&](const Block* block, const Calendar&) {
      const Shift none{Shift::Kind::kCivil, 0};
      AddPart(child, block, none, none);
    });
  } else if (const auto* window = std::get_if<reads::Window>(&reads)) {
    form_ = Form::kShift;
    last_second_ = true;
    if (window->by_key) use_key();
    each_block([&](const Block* block, const Calendar& c) {
      const Grain unit = window->unit.value_or(c.grain());
      Shift low = ShiftOf(unit, window->start), high = ShiftOf(unit, window->end);
      if (window->by_key && low.kind == Shift::Kind::kElapsed) low.kind = high.kind = Shift::Kind::kCivil;
      AddPart(child, block, low, high);
    });
    if (child.whole) {  // counts back from the last complete unit before now, whichever cell asks
      const Calendar unit(window->unit.value_or(Grain{Grain::Unit::kDay, 1}), from_,
                          child.calendar->starts_at(), child.calendar->week_start());
      const Instant end = unit.Floor(now);
      fixed_ = {F(parts_[0], unit.Floor(end - 1)), G(parts_[0], end)};
      form_ = Form::kFixed;
    }
  }
}

Civil Mapping::Shifted(const Part& part, Civil c, const Shift& shift) const {
  return shift.kind == Shift::Kind::kMonths ? PlusMonths(c - part.day_start, shift.n) + part.day_start
                                            : c + shift.n;
}

// ---- Stretches, and cells by number ----

Instant Mapping::F(const Part& part, Instant u) const {
  if (!IsFinite(u)) return u;
  const Shift& s = part.low;
  if (s.kind == Shift::Kind::kElapsed) return u + s.n;
  if (part.cells == Cells::kNumbered) {
    const std::int64_t k = part.calendar->Index(u);
    if (part.calendar->Start(k) == u) return ToParent(Shifted(part, part.calendar->CivilStart(k), s));
  }
  const Civil c = from_->LeastCivil(u);
  if (s.kind == Shift::Kind::kCivil) return ToParent(c + s.n);
  return ToParent(PlusMonthsLeast(c - part.day_start, s.n) + part.day_start);
}

Instant Mapping::G(const Part& part, Instant w) const {
  if (!IsFinite(w)) return w;
  const Shift& s = part.high;
  if (s.kind == Shift::Kind::kElapsed) return w + s.n;
  const auto with_last = [&](Civil end, Civil last) {
    const Instant shifted = ToParent(end);
    return last_second_ ? std::max(shifted, ToParent(last) + 1) : shifted;
  };
  if (part.cells == Cells::kNumbered) {
    const std::int64_t k = part.calendar->Index(w - 1) + 1;
    if (part.calendar->Start(k) == w) {
      const Civil end = part.calendar->CivilStart(k);
      return with_last(Shifted(part, end, s), Shifted(part, end - 1, s));
    }
  }
  const auto most = [&](Instant t) {
    const Civil c = from_->FurthestCivil(t);
    return s.kind == Shift::Kind::kCivil ? c + s.n : PlusMonthsMost(c - part.day_start, s.n) + part.day_start;
  };
  return with_last(most(w), most(w - 1));
}

// The least number of a cell whose start, less `back` seconds, shifts to `bound` or later.
std::int64_t Mapping::LeastNumber(const Part& part, const Shift& shift, std::int64_t back,
                                  Civil bound) const {
  const Calendar& cal = *part.calendar;
  if (shift.kind == Shift::Kind::kCivil) {
    const Civil c = bound - shift.n + back;
    const std::int64_t k = cal.CivilIndex(c);
    return cal.CivilStart(k) >= c ? k : k + 1;
  }
  const std::int64_t k = cal.CivilIndex(PlusMonths(bound, -shift.n));
  const std::int64_t length = std::max<std::int64_t>(kHour, cal.CivilStart(k + 1) - cal.CivilStart(k));
  const std::int64_t reach = 40 * kDay / length + 2;
  return FirstWhere(k - reach, k + reach,
                    [&](std::int64_t i) { return Shifted(part, cal.CivilStart(i) - back, shift) >= bound; });
}

// The first point with f >= end.
Instant Mapping::FirstBeyond(const Part& part, Instant end) const {
  const Shift& s = part.low;
  if (s.kind == Shift::Kind::kElapsed) return end - s.n;
  const Civil need = to_->FurthestCivil(end - 1) + 1 - to_add_;
  if (part.cells == Cells::kNumbered) return part.calendar->Start(LeastNumber(part, s, 0, need));
  if (s.kind == Shift::Kind::kCivil) return from_->LastReach(need - s.n);
  const Civil wanted = need - part.day_start, about = PlusMonths(wanted, -s.n);
  const Civil c = FirstWhere(about - 40 * kDay, about + 40 * kDay,
                             [&](Civil i) { return PlusMonthsLeast(i, s.n) >= wanted; });
  return from_->LastReach(c + part.day_start);
}

// The last point with g <= start.
Instant Mapping::LastBefore(const Part& part, Instant start) const {
  const Shift& s = part.high;
  if (s.kind == Shift::Kind::kElapsed) return start - s.n;
  const auto most_at = [&](Instant t) { return to_->FurthestCivil(t) - to_add_; };
  if (part.cells == Cells::kNumbered) {
    std::int64_t k = LeastNumber(part, s, 0, most_at(start) + 1);
    if (last_second_) k = std::min(k, LeastNumber(part, s, 1, most_at(start - 1) + 1));
    return part.calendar->Start(k - 1);
  }
  const auto last = [&](Civil most) {
    if (s.kind == Shift::Kind::kCivil) return from_->FirstReach(most - s.n + 1) - 1;
    const Civil wanted = most - part.day_start, about = PlusMonths(wanted, -s.n);
    const Civil c = FirstWhere(about - 40 * kDay, about + 40 * kDay,
                               [&](Civil i) { return PlusMonthsMost(i, s.n) > wanted; });
    return from_->FirstReach(c + part.day_start) - 1;
  };
  const Instant by_end = last(most_at(start));
  return last_second_ ? std::min(by_end, last(most_at(start - 1)) + 1) : by_end;
}

Span Mapping::Inverse(const Part& part, Span dirty) const {
  return {IsFinite(dirty.start) ? LastBefore(part, dirty.start) : dirty.start,
          IsFinite(dirty.end) ? FirstBeyond(part, dirty.end) : dirty.end};
}

// ---- Cells over which the shift goes back in places ----

std::int64_t Mapping::NumberAt(const Part& part, Instant t) const {
  return part.calendar ? part.calendar->Index(t) : t;
}

Instant Mapping::StartOf(const Part& part, std::int64_t k) const {
  return part.calendar ? part.calendar->Start(k) : k;
}

// What cell `k` reads, by its own start, end and last second.
Span Mapping::ReadOf(const Part& part, std::int64_t k) const {
  Civil start, end, last;
  if (part.Numbered()) {
    start = part.calendar->CivilStart(k), end = part.calendar->CivilStart(k + 1), last = end - 1;
  } else {
    const Instant at = StartOf(part, k), next = StartOf(part, k + 1);
    start = from_->ToCivil(at), end = from_->ToCivil(next), last = from_->ToCivil(next - 1);
  }
  const Instant low = ToParent(Shifted(part, start, part.low));
  const Instant by_last = ToParent(Shifted(part, last, part.high)) + 1;
  return {low, std::max({ToParent(Shifted(part, end, part.high)), by_last, low + 1})};
}

// The first cell after `k` that begins in another piece: another day, or after a change of clocks.
std::int64_t Mapping::PieceEnd(const Part& part, std::int64_t k) const {
  if (part.Numbered()) {
    const std::int64_t in_a_day = 24 / part.calendar->grain().count;
    return (FloorDiv(k, in_a_day) + 1) * in_a_day;
  }
  const Instant at = StartOf(part, k);
  const auto& stretches = from_->stretches();
  const std::size_t stretch = from_->StretchAt(at);
  Instant end = stretch + 1 < stretches.size() ? stretches[stretch + 1].begin : kMaxInstant;
  if (part.low.kind == Shift::Kind::kMonths) {
    const Civil c = at + stretches[stretch].offset - part.day_start;
    end = std::min(end, at + (FloorDiv(c, kDay) + 1) * kDay - c);
  }
  return IsFinite(end) ? NumberAt(part, end - 1) + 1 : kMaxInstant;
}

// Within a piece what is read moves on with the cells, but for the last one, which may reach out of it.
void Mapping::InvertPiece(const Part& part, std::int64_t first, std::int64_t end, Span dirty,
                          std::vector<Span>& out) const {
  const std::int64_t last = end - 1;
  const std::int64_t from =
      FirstWhere(first, last, [&](std::int64_t k) { return ReadOf(part, k).end > dirty.start; });
  const std::int64_t until =
      FirstWhere(first, last, [&](std::int64_t k) { return ReadOf(part, k).start >= dirty.end; });
  if (from < until) out.push_back({StartOf(part, from), StartOf(part, until)});
  const Span read = ReadOf(part, last);
  if (read.start < dirty.end && read.end > dirty.start)
    out.push_back({StartOf(part, last), StartOf(part, last + 1)});
}

// Goes through the cells near the known ends of `span`, piece by piece; what lies between is the answer.
template <typename Do>
Span Mapping::NearEnds(const Part& part, Span span, Do piece) const {
  const Instant margin = part.low.kind == Shift::Kind::kMonths ? kMonthsBack : kClocksBack;
  const auto piecewise = [&](std::int64_t first, std::int64_t end) {
    while (first < end) {
      const std::int64_t next = std::min(end, PieceEnd(part, first));
      piece(first, next);
      first = next;
    }
  };
  const bool from_known = IsFinite(span.start), until_known = IsFinite(span.end);
  if (from_known && until_known && span.end - span.start <= 2 * margin) {
    piecewise(NumberAt(part, span.start), NumberAt(part, span.end - 1) + 1);
    return {0, 0};
  }
  Span middle = span;
  if (from_known) {
    const std::int64_t end = NumberAt(part, span.start + margin);
    piecewise(NumberAt(part, span.start), end);
    middle.start = StartOf(part, end);
  }
  if (until_known) {
    const std::int64_t first = NumberAt(part, span.end - margin);
    piecewise(first, NumberAt(part, span.end - 1) + 1);
    middle.end = StartOf(part, first);
  }
  return middle;
}

void Mapping::InvertPieces(const Part& part, Span dirty, std::vector<Span>& out) const {
  Span around = Inverse(part, dirty);
  if (IsFinite(around.start))
    around.start -= kDay;  // a start that the clocks leave out is mapped as it is named
  if (IsFinite(around.end)) around.end += kDay;
  const Span middle = NearEnds(
      part, around, [&](std::int64_t first, std::int64_t end) { InvertPiece(part, first, end, dirty, out); });
  if (!middle.empty()) out.push_back(middle);
}

void Mapping::ReadPieces(const Part& part, Span cells, std::vector<Span>& out) const {
  const Span middle = NearEnds(part, cells, [&](std::int64_t first, std::int64_t end) {
    if (first < end - 1) out.push_back({ReadOf(part, first).start, ReadOf(part, end - 2).end});
    out.push_back(ReadOf(part, end - 1));
  });
  if (!middle.empty()) out.push_back({F(part, middle.start), G(part, middle.end)});
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
    for (const Span& s : here) {
      if (part.cells == Cells::kPieces)
        ReadPieces(part, s, read);
      else
        read.push_back({F(part, s.start), G(part, s.end)});
    }
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
    std::vector<Span> regions;
    for (const Span& s : dirty) {
      if (part.cells == Cells::kPieces)
        InvertPieces(part, s, regions);
      else
        regions.push_back(Inverse(part, s));
    }
    SpanSet all = SpanSet::FromUnsorted(std::move(regions));
    out.Add(parts_.size() == 1 ? all : all.Clip(part.from, part.until));
  }
  return out;
}

}  // namespace backreach
