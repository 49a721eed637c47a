// A cron line is bits per field; a search goes day by day, over months that do not match at once, and then by
// bits within the day. Near a change of clocks a tick is found by walking to it from a day and a half before:
// by then every walk has come upon the same ticks, whatever the clocks did.

#include "graph/time/schedule.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <map>

#include "graph/base/words.hpp"

namespace backreach {

namespace {

constexpr int kYears = 50;
constexpr std::int64_t kWalk = 36 * kHour;  // longer than any change of clocks

std::optional<int> NextBit(std::uint64_t bits, int from) {
  if (from > 63) return std::nullopt;
  const std::uint64_t left = bits >> from << from;
  return left ? std::optional<int>(std::countr_zero(left)) : std::nullopt;
}

std::optional<int> PreviousBit(std::uint64_t bits, int to) {
  if (to < 0) return std::nullopt;
  const std::uint64_t left = to >= 63 ? bits : bits & ((std::uint64_t{1} << (to + 1)) - 1);
  return left ? std::optional<int>(63 - std::countl_zero(left)) : std::nullopt;
}

std::optional<int> Number(std::string_view text) {
  int value = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (ec != std::errc{} || end != text.data() + text.size() || text.empty() || text[0] == '-' || value > 9999)
    return std::nullopt;
  return value;
}

enum Field { kMinuteField, kHourField, kDayField, kMonthField, kWeekdayField, kSecondField };
constexpr int kLow[] = {0, 0, 1, 1, 0, 0}, kHigh[] = {59, 23, 31, 12, 6, 59};

}  // namespace

// One line's fields, read into bits.
struct CronReader {
  Cron cron;

  static std::optional<int> Value(int field, std::string_view text) {
    static const std::map<std::string_view, int> months = {{"jan", 1}, {"feb", 2},  {"mar", 3},  {"apr", 4},
                                                           {"may", 5}, {"jun", 6},  {"jul", 7},  {"aug", 8},
                                                           {"sep", 9}, {"oct", 10}, {"nov", 11}, {"dec", 12}};
    static const std::map<std::string_view, int> days = {{"sun", 0}, {"mon", 1}, {"tue", 2}, {"wed", 3},
                                                         {"thu", 4}, {"fri", 5}, {"sat", 6}};
    if (field == kMonthField)
      if (const auto it = months.find(text); it != months.end()) return it->second;
    if (field == kWeekdayField)
      if (const auto it = days.find(text); it != days.end()) return it->second;
    auto n = Number(text);
    if (n && field == kWeekdayField && *n == 7) n = 0;
    if (!n || *n < kLow[field] || *n > kHigh[field]) return std::nullopt;
    return n;
  }

  // `2#3`, `l5`: false if it is none of these; `bad` if it is one that cannot stand.
  bool Nth(std::string_view item, bool& bad) {
    const auto hash = item.find('#');
    std::optional<int> day, which;
    if (hash != std::string_view::npos) {
      day = Value(kWeekdayField, item.substr(0, hash)), which = Number(item.substr(hash + 1));
      if (which && (*which < 1 || *which > 5)) which.reset();
    } else if (item.size() > 1 && item[0] == 'l') {
      day = Value(kWeekdayField, item.substr(1)), which = 6;
    } else {
      return false;
    }
    bad = !day || !which;
    if (!bad) cron.nth_[*day] = static_cast<std::uint8_t>(cron.nth_[*day] | 1u << *which);
    return true;
  }

  // One item of a list: `*`, `5`, `1-5`, `*/2`, `10/5`, `fri-mon`.
  static bool Item(int field, std::string_view item, std::uint64_t& bits) {
    int step = 1;
    const auto slash = item.find('/');
    const bool stepped = slash != std::string_view::npos;
    if (stepped) {
      const auto n = Number(item.substr(slash + 1));
      if (!n || *n == 0) return false;
      step = *n;
      item = item.substr(0, slash);
    }
    int low = kLow[field], high = kHigh[field];
    const auto dash = item.find('-');
    if (dash != std::string_view::npos) {
      const auto a = Value(field, item.substr(0, dash)), b = Value(field, item.substr(dash + 1));
      if (!a || !b) return false;
      if (*a != *b) low = *a, high = *b;  // croniter takes `mon-mon` for the whole cycle
    } else if (item != "*") {
      const auto a = Value(field, item);
      if (!a) return false;
      low = *a;
      if (!stepped) high = low;
    }
    const int size = kHigh[field] - kLow[field] + 1, length = high >= low ? high - low : high - low + size;
    for (int i = 0; i <= length; i += step)
      bits |= std::uint64_t{1} << (kLow[field] + (low - kLow[field] + i) % size);
    return true;
  }

  bool Read(int field, std::string_view text) {
    std::uint64_t bits = 0;
    if (text == "?" && (field == kDayField || field == kWeekdayField)) text = "*";
    for (const std::string& item : Split(text, ',')) {
      bool bad = false;
      if (field == kDayField && item == "l")
        cron.last_day_ = true;
      else if (field == kWeekdayField && Nth(item, bad)) {
        if (bad) return false;
      } else if (!Item(field, item, bits))
        return false;
    }
    switch (field) {
      case kMinuteField: cron.minutes_ = bits; break;
      case kHourField: cron.hours_ = bits; break;
      case kDayField: cron.days_ = bits, cron.any_day_ = text == "*"; break;
      case kMonthField: cron.months_ = bits; break;
      case kWeekdayField: cron.weekdays_ = bits, cron.any_weekday_ = text == "*"; break;
      default: cron.seconds_ = bits;
    }
    return true;
  }

  // All days, however they are written, are no choice of days where the other field chooses none either.
  void Settle(const std::string& day, const std::string& weekday) {
    if (cron.days_ == 0xfffffffeu && weekday.find('*') != std::string::npos) cron.any_day_ = true;
    if (cron.weekdays_ == 0x7f && day.find('*') != std::string::npos) cron.any_weekday_ = true;
  }
};

std::optional<Cron> Cron::Parse(std::string_view text) {
  static const std::map<std::string, std::string> presets = {
      {"@hourly", "0 * * * *"}, {"@daily", "0 0 * * *"},   {"@midnight", "0 0 * * *"},
      {"@weekly", "0 0 * * 0"}, {"@monthly", "0 0 1 * *"}, {"@quarterly", "0 0 1 */3 *"},
      {"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}};
  std::string line = Lower(text);
  std::replace(line.begin(), line.end(), '\t', ' ');
  if (const auto preset = presets.find(line); preset != presets.end()) line = preset->second;
  std::vector<std::string> fields;
  for (std::string& word : Split(line, ' '))
    if (!word.empty()) fields.push_back(std::move(word));
  if (fields.size() != 5 && fields.size() != 6) return std::nullopt;
  CronReader reader;
  for (std::size_t i = 0; i < fields.size(); ++i)
    if (!reader.Read(static_cast<int>(i), fields[i])) return std::nullopt;
  reader.Settle(fields[kDayField], fields[kWeekdayField]);
  return reader.cron;
}

bool Cron::DayMatches(const CivilDate& date) const {
  const int length = DaysInMonth(date.year, date.month);
  const bool day = any_day_ || (days_ >> date.day & 1) || (last_day_ && date.day == length);
  if (any_weekday_) return day;
  const std::int64_t days = DaysFromCivil(date.year, date.month, date.day);
  const int weekday = static_cast<int>(FloorMod(days + 4, 7));  // 1970-01-01 was a Thursday
  const bool nth =
      (nth_[weekday] >> ((date.day + 6) / 7) & 1) || ((nth_[weekday] >> 6 & 1) && date.day + 7 > length);
  const bool by_weekday = (weekdays_ >> weekday & 1) || nth;
  return any_day_ ? by_weekday : day || by_weekday;
}

std::optional<Civil> Cron::Next(Civil c) const {
  const Civil from = c + 1;
  std::int64_t day = FloorDiv(from, kDay);
  int at = static_cast<int>(from - day * kDay);
  const int last_year = CivilFromDays(day).year + kYears;
  while (true) {
    const CivilDate date = CivilFromDays(day);
    if (date.year > last_year) return std::nullopt;
    if (!(months_ >> date.month & 1)) {
      day = DaysFromCivil(date.year, date.month + 1, 1), at = 0;
      continue;
    }
    if (DayMatches(date)) {
      const auto second = NextBit(seconds_, at % 60);
      const int minute_from = at / 60 % 60 + (second ? 0 : 1);
      const auto minute = NextBit(minutes_, minute_from);
      const auto hour = NextBit(hours_, at / 3600 + (minute ? 0 : 1));
      if (hour) {
        const bool later_hour = *hour > at / 3600, later_minute = later_hour || *minute > at / 60 % 60;
        return day * kDay + *hour * kHour + (later_hour ? *NextBit(minutes_, 0) : *minute) * kMinute +
               (later_minute ? *NextBit(seconds_, 0) : *second);
      }
    }
    ++day, at = 0;
  }
}

std::optional<Civil> Cron::Previous(Civil c) const {
  const Civil to = c - 1;
  std::int64_t day = FloorDiv(to, kDay);
  int at = static_cast<int>(to - day * kDay);
  constexpr int kEnd = static_cast<int>(kDay) - 1;
  const int first_year = CivilFromDays(day).year - kYears;
  while (true) {
    const CivilDate date = CivilFromDays(day);
    if (date.year < first_year) return std::nullopt;
    if (!(months_ >> date.month & 1)) {
      day = DaysFromCivil(date.year, date.month, 1) - 1, at = kEnd;
      continue;
    }
    if (DayMatches(date)) {
      const auto second = PreviousBit(seconds_, at % 60);
      const auto minute = PreviousBit(minutes_, at / 60 % 60 - (second ? 0 : 1));
      const auto hour = PreviousBit(hours_, at / 3600 - (minute ? 0 : 1));
      if (hour) {
        const bool sooner_hour = *hour < at / 3600, sooner_minute = sooner_hour || *minute < at / 60 % 60;
        return day * kDay + *hour * kHour + (sooner_hour ? *PreviousBit(minutes_, 59) : *minute) * kMinute +
               (sooner_minute ? *PreviousBit(seconds_, 59) : *second);
      }
    }
    --day, at = kEnd;
  }
}

std::optional<ScheduleLength> ParseScheduleLength(std::string_view text) {
  ScheduleLength length;
  const auto words = Split(text, ' ');
  if (words.size() < 2 || words.size() % 2 != 0) return std::nullopt;
  for (std::size_t i = 0; i < words.size(); i += 2) {
    std::int64_t n = 0;
    const auto [end, ec] = std::from_chars(words[i].data(), words[i].data() + words[i].size(), n);
    if (ec != std::errc{} || end != words[i].data() + words[i].size() || n < 0 || n > 10'000'000'000)
      return std::nullopt;
    if (words[i + 1] == "month" || words[i + 1] == "months")
      length.months += std::min<std::int64_t>(n, 12'000);
    else if (words[i + 1] == "s")
      length.seconds += n;
    else
      return std::nullopt;
  }
  return length;
}

Instant AddLength(Instant t, const ScheduleLength& length, int sign) {
  return AddDuration(*Zone::Utc(), t, {length.months, Duration::Unit::kMonth}, sign) + sign * length.seconds;
}

const Zone* ZoneOfSchedule(const std::string& name) {
  if (name.size() == 9 && StartsWith(name, "UTC") && name[6] == ':') {
    const auto hours = Number(name.substr(4, 2)), minutes = Number(name.substr(7, 2));
    if (hours && minutes)
      return Zone::Fixed((name[3] == '-' ? -1 : 1) *
                         static_cast<std::int32_t>(*hours * kHour + *minutes * kMinute));
  }
  return Zone::Find(name);
}

Ticks Ticks::Of(std::vector<Cron> crons, const Zone* zone) {
  Ticks ticks;
  ticks.crons_ = std::move(crons);
  ticks.zone_ = zone;
  return ticks;
}

Ticks Ticks::Steady(Instant anchor, ScheduleLength step) {
  Ticks ticks;
  ticks.anchor_ = anchor;
  ticks.step_ = step;
  return ticks;
}

Ticks Ticks::Listed(std::vector<Instant> moments) {
  Ticks ticks;
  std::sort(moments.begin(), moments.end());
  moments.erase(std::unique(moments.begin(), moments.end()), moments.end());
  ticks.moments_ = std::move(moments);
  return ticks;
}

// A time shown twice is the second showing; one that the clocks leave out has the offset from before the
// change.
Instant Ticks::OnClock(Civil c) const {
  const Instant first = zone_->FirstReach(c);
  if (zone_->ToCivil(first) != c) return c - zone_->OffsetAt(first - 1);
  return zone_->LastReach(c);
}

std::optional<Instant> Ticks::NextOf(const Cron& cron, Instant t) const {
  const Civil naive = zone_->ToCivil(t);
  for (auto next = cron.Next(naive); next; next = cron.Next(*next)) {
    const Instant at = cron.every_hour() ? t + (*next - naive) : OnClock(*next);
    if (at > t) return at;
  }
  return std::nullopt;
}

std::optional<Instant> Ticks::PreviousOf(const Cron& cron, Instant t) const {
  const Civil naive = zone_->ToCivil(t);
  const auto previous = cron.Previous(naive);
  if (!previous) return std::nullopt;
  return cron.every_hour() ? t - (naive - *previous) : OnClock(*previous);
}

std::optional<Instant> Ticks::AtOrBeforeOf(const Cron& cron, Instant t) const {
  const Civil naive = zone_->ToCivil(t);
  // Far from any change of clocks there is one answer.
  if (const auto near = cron.Previous(naive + 1)) {
    const Instant at = *near + (t - naive);
    if (zone_->StretchAt(at - kWalk) == zone_->StretchAt(t) && (cron.every_hour() || OnClock(*near) == at))
      return at;
  }
  const auto anchor = cron.Previous(naive - kWalk);
  if (!anchor) return std::nullopt;
  Instant at = OnClock(*anchor);
  for (auto next = NextOf(cron, at); next && *next <= t; next = NextOf(cron, at)) at = *next;
  return at;
}

std::optional<Instant> Ticks::After(Instant t) const {
  if (!IsFinite(t)) return std::nullopt;
  if (!moments_.empty()) {
    const auto it = std::upper_bound(moments_.begin(), moments_.end(), t);
    return it == moments_.end() ? std::nullopt : std::optional<Instant>(*it);
  }
  if (!step_.none()) {
    const auto before = AtOrBefore(t);
    return before ? std::optional<Instant>(AddLength(*before, step_)) : std::optional<Instant>(anchor_);
  }
  std::optional<Instant> out;
  for (const Cron& cron : crons_)
    if (const auto next = NextOf(cron, t); next && (!out || *next < *out)) out = next;
  return out;
}

std::optional<Instant> Ticks::AtOrBefore(Instant t) const {
  if (!IsFinite(t)) return std::nullopt;
  if (!moments_.empty()) {
    const auto it = std::upper_bound(moments_.begin(), moments_.end(), t);
    return it == moments_.begin() ? std::nullopt : std::optional<Instant>(*(it - 1));
  }
  if (!step_.none() && step_.months == 0)
    return anchor_ + FloorDiv(t - anchor_, step_.seconds) * step_.seconds;
  if (!step_.none()) {
    if (t < anchor_) return std::nullopt;
    Instant at = anchor_;
    for (Instant next = AddLength(at, step_); next <= t; next = AddLength(at, step_)) at = next;
    return at;
  }
  std::optional<Instant> out;
  for (const Cron& cron : crons_)
    if (const auto at = AtOrBeforeOf(cron, t); at && (!out || *at > *out)) out = at;
  return out;
}

std::optional<Instant> Ticks::AtOrAfter(Instant t) const {
  const auto at = AtOrBefore(t);
  return at && *at == t ? at : After(at ? *at : t);
}

Instant Ticks::StartOfWalk(Instant t) const {
  if (crons_.empty()) return t;
  for (const Cron& cron : crons_)
    if (const auto next = NextOf(cron, t); next && PreviousOf(cron, *next) == t) return t;
  return t - 1;
}

}  // namespace backreach
