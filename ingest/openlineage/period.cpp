#include "ingest/openlineage/period.hpp"

#include <algorithm>

#include "graph/base/words.hpp"

namespace backreach::openlineage {

namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The number in n digits, or -1.
int Digits(std::string_view text, std::size_t at, std::size_t n) {
  if (at + n > text.size()) return -1;
  int out = 0;
  for (std::size_t i = at; i < at + n; ++i) {
    if (!IsDigit(text[i])) return -1;
    out = out * 10 + (text[i] - '0');
  }
  return out;
}

bool IsYear(int year) { return year >= 1900 && year <= 2199; }
bool IsDate(int year, int month, int day) {
  return IsYear(year) && month >= 1 && month <= 12 && day >= 1 && day <= DaysInMonth(year, month);
}

Civil At(int year, int month, int day) { return DaysFromCivil(year, month, day) * kDay; }

Period Months(Cut cut, int year, int month, int count) {
  return {cut, At(year, month, 1), DaysFromCivil(year, month + count, 1) * kDay, false};
}
Period Day(int year, int month, int day) {
  const Civil from = At(year, month, day);
  return {Cut::kDay, from, from + kDay, false};
}
Period Hour(const Period& day, int hour) {
  return {Cut::kHour, day.from + hour * kHour, day.from + (hour + 1) * kHour, false};
}

std::optional<Period> ParseWeek(std::string_view text, int year) {
  const int week = Digits(text, 6, 2);
  if (text.size() != 8 || week < 1 || week > 53) return std::nullopt;
  const std::int64_t fourth = DaysFromCivil(year, 1, 4);  // always in the first ISO week
  const std::int64_t monday = fourth - FloorMod(fourth + 3, 7) + (week - 1) * 7;
  return Period{Cut::kWeek, monday * kDay, (monday + 7) * kDay, false};
}

// What follows a day: an hour, or a time, with a zone or without (which is not looked at).
std::optional<Period> ParseTime(std::string_view text, const Period& day) {
  if (text.empty() || (text[0] != 'T' && text[0] != ' ' && text[0] != '-')) return std::nullopt;
  const int hour = Digits(text, 1, 2);
  if (hour < 0 || hour > 23) return std::nullopt;
  if (text.size() == 3) return Hour(day, hour);
  if (text[0] == '-' || text[3] != ':') return std::nullopt;
  const int minute = Digits(text, 4, 2);
  int second = 0;
  if (minute < 0 || minute > 59) return std::nullopt;
  if (text.size() > 6 && text[6] == ':') second = std::max(0, Digits(text, 7, 2));
  const Civil at = day.from + hour * kHour + minute * kMinute + second;
  return Period{Cut::kMoment, at, at, false};
}

std::optional<Period> ParseCompact(std::string_view text) {
  const int year = Digits(text, 0, 4), month = Digits(text, 4, 2), day = Digits(text, 6, 2);
  if (!IsDate(year, month, day)) return std::nullopt;
  if (text.size() == 8) return Day(year, month, day);
  const int hour = Digits(text, 8, 2);
  if (text.size() != 10 || hour < 0 || hour > 23) return std::nullopt;
  return Hour(Day(year, month, day), hour);
}

}  // namespace

std::string GrainOf(Cut cut) {
  static constexpr const char* kNames[] = {"", "", "hour", "day", "week", "month", "quarter", "year"};
  return kNames[static_cast<int>(cut)];
}

std::optional<Period> ParsePeriod(std::string_view text) {
  const int year = Digits(text, 0, 4);
  if (!IsYear(year)) return std::nullopt;
  if ((text.size() == 8 || text.size() == 10) && text[4] != '-') return ParseCompact(text);
  if (text.size() < 7 || text[4] != '-') return std::nullopt;
  if (text[5] == 'W') return ParseWeek(text, year);
  if (text[5] == 'Q') {
    const int quarter = Digits(text, 6, 1);
    if (text.size() != 7 || quarter < 1 || quarter > 4) return std::nullopt;
    return Months(Cut::kQuarter, year, quarter * 3 - 2, 3);
  }
  const int month = Digits(text, 5, 2);
  if (month < 1 || month > 12) return std::nullopt;
  if (text.size() == 7) return Months(Cut::kMonth, year, month, 1);
  const int day = Digits(text, 8, 2);
  if (text[7] != '-' || !IsDate(year, month, day)) return std::nullopt;
  const Period whole = Day(year, month, day);
  return text.size() == 10 ? std::optional(whole) : ParseTime(text.substr(10), whole);
}

std::optional<Period> PeriodOf(const KeyValues& keys) {
  std::optional<Period> found;
  int year = -1, month = -1, day = -1, hour = -1;
  for (const auto& [given, value] : keys) {
    const std::string key = Lower(given);
    const int number = value.size() <= 4 && !value.empty() ? Digits(value, 0, value.size()) : -1;
    if (key == "year" || key == "yyyy" || key == "y" || key == "yr")
      year = number;
    else if ((key == "month" || key == "mm" || key == "m" || key == "mon") && number >= 0)
      month = number;
    else if ((key == "day" || key == "dd" || key == "d") && number >= 0)
      day = number;
    else if ((key == "hour" || key == "hh" || key == "h" || key == "hr") && number >= 0)
      hour = number;
    else if (const auto period = ParsePeriod(value); period && period->cut != Cut::kMoment) {
      if (found && !(*found == *period)) return std::nullopt;  // two dates: nobody knows which cuts it
      found = period;
    }
  }
  if (!found && IsYear(year)) {
    if (month < 0 && day < 0) found = Months(Cut::kYear, year, 1, 12);
    if (month >= 1 && month <= 12 && day < 0) found = Months(Cut::kMonth, year, month, 1);
    if (IsDate(year, month, day)) found = Day(year, month, day);
  }
  if (found && found->cut == Cut::kDay && hour >= 0 && hour <= 23) found = Hour(*found, hour);
  return found;
}

std::optional<Period> Together(std::vector<Period> periods) {
  if (periods.empty()) return std::nullopt;
  std::sort(periods.begin(), periods.end(),
            [](const Period& a, const Period& b) { return std::tie(a.from, a.to) < std::tie(b.from, b.to); });
  Period out = periods[0];
  for (const Period& p : periods) {
    if (p.cut != out.cut) return std::nullopt;
    if (p.from > out.to || p.gaps) out.gaps = true;
    out.to = std::max(out.to, p.to);
  }
  return out;
}

Cut CutBetween(Civil from, Civil to) {
  const Civil length = to - from;
  if (length == kHour && FloorMod(from, kHour) == 0) return Cut::kHour;
  if (FloorMod(from, kDay) != 0 || FloorMod(to, kDay) != 0 || length <= 0) return Cut::kNone;
  if (length == kDay) return Cut::kDay;
  if (length == 7 * kDay) return Cut::kWeek;
  const CivilDate a = CivilFromDays(from / kDay), b = CivilFromDays(to / kDay);
  if (a.day != 1 || b.day != 1) return Cut::kNone;
  const int months = (b.year - a.year) * 12 + b.month - a.month;
  if (months == 1) return Cut::kMonth;
  if (months == 3 && a.month % 3 == 1) return Cut::kQuarter;
  if (months == 12 && a.month == 1) return Cut::kYear;
  return Cut::kNone;
}

namespace {

// How many of the parts from i on are a date written part by part: 2026/03/01[/05].
std::size_t DateParts(const std::vector<std::string>& parts, std::size_t i) {
  const auto number = [&](std::size_t k, std::size_t digits) {
    return i + k < parts.size() && parts[i + k].size() == digits ? Digits(parts[i + k], 0, digits) : -1;
  };
  const int year = number(0, 4), month = number(1, 2), day = number(2, 2), hour = number(3, 2);
  if (!IsYear(year) || month < 1 || month > 12) return 0;
  if (!IsDate(year, month, day)) return 2;
  return hour >= 0 && hour <= 23 ? 4 : 3;
}

}  // namespace

std::optional<PathCut> CutPath(std::string_view path) {
  if (path.find('=') == std::string_view::npos && std::none_of(path.begin(), path.end(), IsDigit))
    return std::nullopt;
  const std::vector<std::string> parts = Split(path, '/');
  static constexpr std::string_view kNames[] = {"year", "month", "day", "hour"};
  PathCut out;
  KeyValues keys;
  bool open = false;
  const auto add = [](std::string& to, std::string_view part) {
    if (part.empty()) return;
    if (!to.empty()) to += '/';
    to += part;
  };
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string& part = parts[i];
    const std::size_t equals = part.find('=');
    if (const std::size_t n = DateParts(parts, i); n > 0) {
      for (std::size_t k = 0; k < n; ++k) {
        keys.emplace_back(kNames[k], parts[i + k]);
        add(out.pattern, std::string(1, kOpen));
      }
      i += n - 1;
      open = true;
    } else if (equals != std::string::npos && equals > 0) {
      keys.emplace_back(std::string_view(part).substr(0, equals), std::string_view(part).substr(equals + 1));
      add(out.pattern, part.substr(0, equals + 1) + kOpen);
      open = true;
    } else if (const auto period = ParsePeriod(part); period && period->cut != Cut::kMoment) {
      keys.emplace_back("", part);
      add(out.pattern, std::string(1, kOpen));
      open = true;
    } else {
      add(out.pattern, part);
      add(open ? out.rest : out.dataset, part);
    }
  }
  if (!open) return std::nullopt;
  out.period = PeriodOf(keys);
  return out;
}

std::optional<TableCut> CutTable(std::string_view name) {
  const std::size_t part = name.rfind('.') == std::string_view::npos ? 0 : name.rfind('.') + 1;
  if (const std::size_t at = name.find('$', part); at != std::string_view::npos && at > part) {
    const std::string_view key = name.substr(at + 1);
    std::optional<Period> period = ParsePeriod(key);
    if (!period && key.size() == 6 && Digits(key, 0, 6) >= 0)
      period = ParsePeriod(std::string(key.substr(0, 4)) + "-" + std::string(key.substr(4)));
    if (!period && key.size() == 4 && IsYear(Digits(key, 0, 4)))
      period = Months(Cut::kYear, Digits(key, 0, 4), 1, 12);
    if (period || key == "__NULL__" || key == "__UNPARTITIONED__")
      return TableCut{std::string(name.substr(0, at)), true, period};
  }
  const std::size_t at = name.rfind('_');
  if (at == std::string_view::npos || at <= part || name.size() - at - 1 != 8) return std::nullopt;
  const auto period = ParsePeriod(name.substr(at + 1));
  if (!period) return std::nullopt;
  return TableCut{std::string(name.substr(0, at)), false, period};
}

}  // namespace backreach::openlineage
