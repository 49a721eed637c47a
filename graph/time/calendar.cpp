// Two kinds of grain. Minutes and hours elapse: their cells are equal stretches of time, and only a change of
// clocks by a part of the unit (Lord Howe's half hour) starts a new count. Everything else follows the wall
// clock: cell k begins when the clock first reaches its nominal time. Both are O(log changes of clocks).

#include "graph/time/calendar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>

#include "graph/base/words.hpp"

namespace backreach {

// A stretch in which boundaries lie on one grid: t with (t + shift) divisible by the unit.
struct ElapsedStretch {
  Instant begin;
  std::int64_t shift;
  std::int64_t base;        // number of the cell that holds `begin`
  std::int64_t base_floor;  // FloorDiv(begin + shift, unit)
};

struct ElapsedTable {
  std::int64_t unit;
  std::vector<ElapsedStretch> stretches;

  const ElapsedStretch& At(Instant t) const {
    const auto it = std::upper_bound(stretches.begin() + 1, stretches.end(), t,
                                     [](Instant v, const ElapsedStretch& s) { return v < s.begin; });
    return *(it - 1);
  }
  const ElapsedStretch& Of(std::int64_t k) const {
    const auto it = std::upper_bound(stretches.begin() + 1, stretches.end(), k,
                                     [](std::int64_t v, const ElapsedStretch& s) { return v < s.base; });
    return *(it - 1);
  }
};

namespace {

const ElapsedTable* TableFor(const Zone& zone, std::int64_t unit, std::int64_t phase) {
  static std::mutex mutex;
  static std::map<std::tuple<std::string, std::int64_t, std::int64_t>, std::unique_ptr<ElapsedTable>> tables;
  const std::lock_guard lock(mutex);
  auto& table = tables[{zone.name(), unit, FloorMod(phase, unit)}];
  if (table) return table.get();
  table = std::make_unique<ElapsedTable>();
  table->unit = unit;
  for (const ZoneStretch& s : zone.stretches()) {
    const std::int64_t shift = s.offset - phase;
    if (table->stretches.empty()) {
      table->stretches.push_back({kMinInstant, shift, 0, 0});
      continue;
    }
    const ElapsedStretch& before = table->stretches.back();
    if (FloorMod(shift - before.shift, unit) == 0) continue;  // the grid goes on
    const std::int64_t last = FloorDiv(s.begin - 1 + before.shift, unit) - before.base_floor + before.base;
    table->stretches.push_back({s.begin, shift, last + 1, FloorDiv(s.begin + shift, unit)});
  }
  return table.get();
}

std::int64_t MonthsOf(Grain::Unit unit) {
  return unit == Grain::Unit::kMonth ? 1 : unit == Grain::Unit::kQuarter ? 3 : 12;
}

struct UnitWord {
  const char* word;
  Grain::Unit unit;
};
constexpr UnitWord kUnitWords[] = {{"minute", Grain::Unit::kMinutes}, {"hour", Grain::Unit::kHour},
                                   {"day", Grain::Unit::kDay},        {"week", Grain::Unit::kWeek},
                                   {"month", Grain::Unit::kMonth},    {"quarter", Grain::Unit::kQuarter},
                                   {"year", Grain::Unit::kYear}};

}  // namespace

std::optional<Grain> ParseGrain(std::string_view text, std::string* why) {
  const auto refuse = [&](std::string reason) -> std::optional<Grain> {
    if (why) *why = std::move(reason);
    return std::nullopt;
  };
  constexpr const char* kForms =
      "a grain is one of hour, day, week, month, quarter, year, none, 'N minutes' (N divides 60) or 'N "
      "hours' (N "
      "divides 24)";
  constexpr const char* kSchedule =
      "a schedule (cron) is no grain: when runs start says nothing of how rows are cut. Declare the "
      "partitions' "
      "grain (for a table of business days: day), and the cron under jobs: schedule";
  if (text == "none") return Grain{};
  if (std::count(text.begin(), text.end(), ' ') >= 3) return refuse(kSchedule);
  int count = 1;
  std::string_view word = text;
  if (!text.empty() && text.front() >= '0' && text.front() <= '9') {
    const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), count);
    word = std::string_view(end, text.data() + text.size() - end);
    if (ec != std::errc{} || word.empty() || word.front() != ' ') return refuse(kForms);
    while (!word.empty() && word.front() == ' ') word.remove_prefix(1);
    if (word.size() > 1 && word.back() == 's') word.remove_suffix(1);
  } else if (!text.empty() && (text.front() == '*' || text.front() == '@')) {
    return refuse(kSchedule);
  }
  for (const UnitWord& known : kUnitWords) {
    if (word != known.word) continue;
    if (known.unit == Grain::Unit::kMinutes) {
      if (count < 1 || count > 30 || 60 % count != 0)
        return refuse(count == 60 ? "60 minutes are an hour: write hour" : "minutes must divide an hour");
      return Grain{Grain::Unit::kMinutes, count};
    }
    if (known.unit == Grain::Unit::kHour && count != 1) {
      if (count < 1 || count > 12 || 24 % count != 0)
        return refuse(count == 24 ? "24 hours are not a day where clocks change: write day"
                                  : "hours must divide a day (2, 3, 4, 6, 8, 12)");
      return Grain{Grain::Unit::kHours, count};
    }
    if (count != 1) return refuse(fmt::format("only minutes and hours can be counted, not {}s", known.word));
    return Grain{known.unit, 1};
  }
  for (const char* days : {"business", "weekday", "workday", "working", "trading", "bank"})
    if (text.find(days) != std::string_view::npos)
      return refuse(
          "business days do not cut time without gaps: declare day, the days without rows do no harm");
  return refuse(kForms);
}

std::string FormatGrain(const Grain& grain) {
  switch (grain.unit) {
    case Grain::Unit::kNone: return "none";
    case Grain::Unit::kMinutes: return fmt::format("{} minute{}", grain.count, grain.count == 1 ? "" : "s");
    case Grain::Unit::kHour: return "hour";
    case Grain::Unit::kHours: return fmt::format("{} hours", grain.count);
    case Grain::Unit::kDay: return "day";
    case Grain::Unit::kWeek: return "week";
    case Grain::Unit::kMonth: return "month";
    case Grain::Unit::kQuarter: return "quarter";
    case Grain::Unit::kYear: return "year";
  }
  return "none";
}

std::string CountOf(std::int64_t n, const Grain& grain) {
  const std::string count = Thousands(n);
  const char* plural = n == 1 ? "" : "s";
  if (grain.none()) return fmt::format("{} table{}", count, plural);
  if (grain.unit == Grain::Unit::kMinutes || grain.unit == Grain::Unit::kHours)
    return fmt::format("{} cell{} of {}", count, plural, FormatGrain(grain));
  return fmt::format("{} {}{}", count, FormatGrain(grain), plural);
}

Calendar::Calendar(Grain grain, const Zone* zone, std::int64_t starts_at, int week_start)
    : grain_(grain), zone_(zone), starts_at_(starts_at), week_start_(week_start) {
  if (grain_.unit == Grain::Unit::kMinutes) table_ = TableFor(*zone_, grain_.count * kMinute, starts_at_);
  if (grain_.unit == Grain::Unit::kHour) table_ = TableFor(*zone_, kHour, starts_at_);
}

Civil Calendar::CivilStart(std::int64_t k) const {
  switch (grain_.unit) {
    case Grain::Unit::kHours: return k * grain_.count * kHour + starts_at_;
    case Grain::Unit::kDay: return k * kDay + starts_at_;
    case Grain::Unit::kWeek: return (7 * k - 3 + week_start_) * kDay + starts_at_;  // day -3 is a Monday
    default: return DaysFromCivil(1970, 1 + k * MonthsOf(grain_.unit), 1) * kDay + starts_at_;
  }
}

std::int64_t Calendar::CivilIndex(Civil c) const {
  c -= starts_at_;
  switch (grain_.unit) {
    case Grain::Unit::kHours: return FloorDiv(c, grain_.count * kHour);
    case Grain::Unit::kDay: return FloorDiv(c, kDay);
    case Grain::Unit::kWeek: return FloorDiv(FloorDiv(c, kDay) + 3 - week_start_, 7);
    default: {
      const CivilDate d = CivilFromDays(FloorDiv(c, kDay));
      return FloorDiv((d.year - 1970) * 12LL + d.month - 1, MonthsOf(grain_.unit));
    }
  }
}

std::int64_t Calendar::Index(Instant t) const {
  if (elapsed()) {
    const ElapsedStretch& s = table_->At(t);
    return FloorDiv(t + s.shift, table_->unit) - s.base_floor + s.base;
  }
  std::int64_t k = CivilIndex(zone_->ToCivil(t));
  while (Start(k + 1) <= t) ++k;  // at most a step or two, around a change of clocks
  while (Start(k) > t) --k;
  return k;
}

Instant Calendar::Start(std::int64_t k) const {
  if (elapsed()) {
    const ElapsedStretch& s = table_->Of(k);
    return std::max(s.begin, (k - s.base + s.base_floor) * table_->unit - s.shift);
  }
  return zone_->FirstReach(CivilStart(k));
}

Instant Calendar::Floor(Instant t) const { return IsFinite(t) ? Start(Index(t)) : t; }

Instant Calendar::Next(Instant t) const {
  if (!IsFinite(t)) return t;
  std::int64_t k = Index(t) + 1;
  Instant next = Start(k);
  while (next <= t) next = Start(++k);
  return next;
}

Instant Calendar::Ceil(Instant t) const {
  if (!IsFinite(t)) return t;
  const Instant floor = Floor(t);
  return floor == t ? t : Next(t);
}

std::int64_t Calendar::Count(Span span) const {
  if (span.empty()) return 0;
  std::int64_t n = Index(span.end - 1) - Index(span.start) + 1;
  if (elapsed() || grain_.unit >= Grain::Unit::kWeek) return n;
  // Less the cells that the clocks jumped over: of several nominal times inside one gap only the last has
  // length.
  const std::int64_t unit = grain_.unit == Grain::Unit::kDay ? kDay : grain_.count * kHour;
  const auto& stretches = zone_->stretches();
  for (std::size_t i = zone_->StretchAt(span.start) + 1;
       i < stretches.size() && stretches[i].begin < span.end; ++i) {
    const std::int64_t jump = stretches[i].offset - stretches[i - 1].offset;
    if (jump < unit) continue;
    const Civil lo = stretches[i].begin + stretches[i - 1].offset - starts_at_;
    n -= std::max<std::int64_t>(0, FloorDiv(lo + jump, unit) - (FloorDiv(lo - 1, unit) + 1));
  }
  return n;
}

Civil Calendar::Nominal(std::int64_t k) const {
  if (elapsed()) {
    const Civil c = zone_->ToCivil(Start(k));
    return FloorDiv(c - starts_at_, table_->unit) * table_->unit + starts_at_;
  }
  return grain_.unit == Grain::Unit::kHours ? CivilStart(k) : CivilStart(k) - starts_at_;
}

namespace {

// True if another cell than `k` bears the name that begins at civil time `label`.
bool LabelRepeated(const Calendar& calendar, std::int64_t k, Civil label, std::int64_t unit) {
  const Zone& zone = calendar.zone();
  const Instant first = zone.FirstReach(label);
  if (zone.ToCivil(first) < label + unit && calendar.Index(first) != k) return true;
  const Instant start = calendar.Start(k);
  const auto& stretches = zone.stretches();
  const std::size_t i = zone.StretchAt(start) + 1;
  if (i >= stretches.size()) return false;
  const Instant again = std::max(stretches[i].begin, label - stretches[i].offset);
  return zone.ToCivil(again) < label + unit && zone.ToCivil(again) >= label && calendar.Index(again) != k;
}

}  // namespace

std::string Calendar::Key(Instant t) const {
  const std::int64_t k = Index(t);
  const Civil c = Nominal(k);
  const CivilDate d = CivilFromDays(FloorDiv(c, kDay));
  const std::int64_t s = FloorMod(c, kDay);
  switch (grain_.unit) {
    case Grain::Unit::kMonth: return fmt::format("{:04}-{:02}", d.year, d.month);
    case Grain::Unit::kQuarter: return fmt::format("{:04}-Q{}", d.year, (d.month + 2) / 3);
    case Grain::Unit::kYear: return fmt::format("{:04}", d.year);
    case Grain::Unit::kDay:
    case Grain::Unit::kWeek: return fmt::format("{:04}-{:02}-{:02}", d.year, d.month, d.day);
    default: break;
  }
  std::string key = fmt::format("{:04}-{:02}-{:02}T{:02}", d.year, d.month, d.day, s / kHour);
  if (grain_.unit == Grain::Unit::kMinutes || s % kHour != 0) key += fmt::format(":{:02}", s / kMinute % 60);
  if (elapsed() && LabelRepeated(*this, k, c, table_->unit)) key += FormatOffset(zone_->OffsetAt(Start(k)));
  return key;
}

const Block& Layout::BlockAt(Instant t) const {
  if (blocks_.size() == 1) return blocks_[0];
  for (std::size_t i = blocks_.size(); i-- > 1;)
    if (t >= blocks_[i].from) return blocks_[i];
  return blocks_[0];
}

Instant Layout::Floor(Instant t) const {
  const Block& b = BlockAt(t);
  return std::max(b.calendar.Floor(t), b.from);
}

Instant Layout::Next(Instant t) const {
  const Block& b = BlockAt(t);
  return std::min(b.calendar.Next(t), b.until);
}

Instant Layout::Ceil(Instant t) const { return Floor(t) == t ? t : Next(t); }

SpanSet Layout::AlignOut(const SpanSet& set) const {
  SpanSet out;
  for (const Span& span : set) {
    out.Append({Floor(span.start), IsFinite(span.end) ? Next(span.end - 1) : span.end});
  }
  return out;
}

std::int64_t Layout::Count(const SpanSet& set) const {
  std::int64_t n = 0;
  for (const Block& b : blocks_) {
    const SpanSet part = single() ? set : set.Clip(b.from, b.until);
    for (const Span& span : part) n += b.calendar.Count(span);
  }
  return n;
}

namespace {

bool AllDigits(std::string_view s) {
  return !s.empty() && std::all_of(s.begin(), s.end(), [](char c) { return c >= '0' && c <= '9'; });
}
int Number(std::string_view s) {
  int v = 0;
  std::from_chars(s.data(), s.data() + s.size(), v);
  return v;
}

DateResult Named(SpanSet spans) {
  DateResult out;
  out.span = Span{spans.front().start, spans.back().end};
  out.spans = std::move(spans);
  return out;
}
DateResult NotNamed(std::string why) { return {std::nullopt, {}, std::move(why)}; }

// When the clocks show a time in [from, to): twice where they were put back over it.
SpanSet Showings(const Zone& zone, Civil from, Civil to) {
  const auto& stretches = zone.stretches();
  SpanSet out;
  for (std::size_t i = zone.StretchAt(zone.FirstReach(from) - 2 * kDay); i < stretches.size(); ++i) {
    if (stretches[i].begin > zone.LastReach(to)) break;
    const Instant end = i + 1 < stretches.size() ? stretches[i + 1].begin : kMaxInstant;
    out.Add(SpanSet(Span{std::max(stretches[i].begin, from - stretches[i].offset),
                         std::min(end, to - stretches[i].offset)}));
  }
  return out;
}

// The cells that bear this time as their key, where it is one and names no stretch of another length.
SpanSet CellsOfKey(std::string text, const SpanSet& shown, const Calendar& calendar) {
  text[10] = 'T';
  SpanSet out;
  for (const Span& s : shown) {
    const Span cell{calendar.Floor(s.start), calendar.Next(s.start)};
    if (StartsWith(calendar.Key(cell.start), text)) out.Add(SpanSet(cell));
  }
  return out;
}

// A partition's own key with an offset: the cell that bears it.
std::optional<Span> OwnKey(std::string_view text, Instant near, const Calendar& calendar) {
  for (std::int64_t k = calendar.Index(near) - 1; k <= calendar.Index(near) + 2; ++k) {
    const Span cell{calendar.Start(k), calendar.Next(calendar.Start(k))};
    if (calendar.Key(cell.start) == text) return cell;
  }
  return std::nullopt;
}

}  // namespace

DateResult ParseDate(std::string_view text, const Calendar& calendar) {
  const Zone& zone = calendar.zone();
  const auto fail = [&](const std::string& why) { return NotNamed(why); };
  const auto civil = [&](std::int64_t from_days, std::int64_t to_days) -> DateResult {
    const Span span{zone.FirstReach(from_days * kDay + calendar.starts_at()),
                    zone.FirstReach(to_days * kDay + calendar.starts_at())};
    if (span.empty()) return NotNamed(fmt::format("'{}' does not exist in {}", text, zone.name()));
    return Named(SpanSet(span));
  };
  constexpr const char* kForms =
      "write 2026-03-01, 2026-03-01T05, 2026-03, 2026, 2026-W10, 2026-Q1 or an instant such as "
      "2026-03-01T05:00Z";
  if (text.size() < 4 || !AllDigits(text.substr(0, 4)))
    return fail(fmt::format("'{}' is not a date: {}", text, kForms));
  const int year = Number(text.substr(0, 4));
  if (year < 1 || year > 9990) return fail(fmt::format("'{}': years go from 0001 to 9990", text));
  if (text.size() == 4) return civil(DaysFromCivil(year, 1, 1), DaysFromCivil(year + 1, 1, 1));
  if (text[4] != '-') return fail(fmt::format("'{}' is not a date: {}", text, kForms));
  const std::string_view rest = text.substr(5);
  if (rest.size() == 2 && rest[0] == 'Q') {
    if (rest[1] < '1' || rest[1] > '4') return fail(fmt::format("'{}': a year has quarters Q1 to Q4", text));
    const int month = 3 * (rest[1] - '0') - 2;
    return civil(DaysFromCivil(year, month, 1), DaysFromCivil(year, month + 3, 1));
  }
  if (rest.size() == 3 && rest[0] == 'W' && AllDigits(rest.substr(1))) {
    const int week = Number(rest.substr(1));
    const std::int64_t jan4 = DaysFromCivil(year, 1, 4);
    const std::int64_t first_monday = jan4 - FloorMod(jan4 + 3, 7);
    const std::int64_t monday = first_monday + 7LL * (week - 1);
    const std::int64_t next_jan4 = DaysFromCivil(year + 1, 1, 4);
    if (week < 1 || monday >= next_jan4 - FloorMod(next_jan4 + 3, 7))
      return fail(fmt::format("'{}': {} has no such week", text, year));
    return civil(monday, monday + 7);
  }
  if (rest.size() < 2 || !AllDigits(rest.substr(0, 2)))
    return fail(fmt::format("'{}' is not a date: {}", text, kForms));
  const int month = Number(rest.substr(0, 2));
  if (month < 1 || month > 12) return fail(fmt::format("'{}': there is no month {:02}", text, month));
  if (rest.size() == 2) return civil(DaysFromCivil(year, month, 1), DaysFromCivil(year, month + 1, 1));
  if (rest.size() < 5 || rest[2] != '-' || !AllDigits(rest.substr(3, 2)))
    return fail(fmt::format("'{}' is not a date: {}", text, kForms));
  const int day = Number(rest.substr(3, 2));
  if (day < 1 || day > DaysInMonth(year, month))
    return fail(fmt::format("'{}' does not exist: {:04}-{:02} has {} days", text, year, month,
                            DaysInMonth(year, month)));
  const std::int64_t days = DaysFromCivil(year, month, day);
  if (rest.size() == 5) return civil(days, days + 1);
  // A time of day: with an offset it is an instant (or a cell's own key), without one a time of the zone.
  if (rest[5] != 'T' && rest[5] != ' ') return fail(fmt::format("'{}' is not a date: {}", text, kForms));
  const std::string_view time = rest.substr(6);
  const bool zoned = time.find_first_of("Z+-") != std::string_view::npos;
  if (zoned) {
    const auto instant = ParseInstant(text, false);
    if (!instant) return fail(fmt::format("'{}' is not an instant: {}", text, kForms));
    if (const auto cell = OwnKey(text, *instant, calendar)) return Named(SpanSet(*cell));
    return Named(SpanSet(Span{*instant, *instant + 1}));
  }
  const auto wall = ParseInstant(text, true);
  if (!wall) return fail(fmt::format("'{}' is not a date: {}", text, kForms));
  const std::int64_t length = time.size() <= 2 ? kHour : time.size() <= 5 ? kMinute : 1;
  const SpanSet shown = Showings(zone, *wall, *wall + length);
  if (shown.empty())
    return fail(fmt::format("'{}' does not exist in {}: the clocks go forward over it", text, zone.name()));
  if (length ==
      kMinute)  // no form of a date: the key of a partition of minutes, or of hours that start off one
    if (SpanSet cells = CellsOfKey(std::string(text), shown, calendar); !cells.empty())
      return Named(std::move(cells));
  return Named(shown);
}

std::string FormatCivilInstant(Instant t, const Zone& zone) {
  const Civil c = zone.ToCivil(t);
  const CivilDate d = CivilFromDays(FloorDiv(c, kDay));
  const std::int64_t s = FloorMod(c, kDay);
  std::string text = fmt::format("{:04}-{:02}-{:02}", d.year, d.month, d.day);
  if (s != 0) text += fmt::format("T{:02}:{:02}", s / kHour, s / kMinute % 60);
  if (s % 60 != 0) text += fmt::format(":{:02}", s % 60);
  return text;
}

}  // namespace backreach
