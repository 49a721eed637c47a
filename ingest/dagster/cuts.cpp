#include "ingest/dagster/cuts.hpp"

#include <fmt/format.h>

#include <charconv>

#include "graph/base/words.hpp"

namespace backreach::dagster {

namespace {

std::optional<int> Number(const std::string& text, int most) {
  int n = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (text.empty() || ec != std::errc{} || end != text.data() + text.size() || n < 0 || n > most)
    return std::nullopt;
  return n;
}

// N of `*/N`, if it divides the whole.
std::optional<int> Every(const std::string& text, int whole) {
  if (text == "*") return 1;
  if (!StartsWith(text, "*/")) return std::nullopt;
  const auto n = Number(text.substr(2), whole);
  return n && *n > 0 && whole % *n == 0 ? n : std::nullopt;
}

// Sunday is 0 and 7.
Text Weekday(const std::string& text) {
  static constexpr const char* kDays[] = {"sunday",   "monday", "tuesday", "wednesday",
                                          "thursday", "friday", "saturday"};
  if (const auto n = Number(text, 7)) return kDays[*n % 7];
  for (const char* day : kDays)
    if (Lower(text) == std::string_view(day).substr(0, 3)) return day;
  return std::nullopt;
}

std::string Preset(const std::string& cron) {
  static const std::map<std::string, std::string> presets = {
      {"@hourly", "0 * * * *"},  {"@daily", "0 0 * * *"},   {"@midnight", "0 0 * * *"},
      {"@weekly", "0 0 * * 0"},  {"@monthly", "0 0 1 * *"}, {"@yearly", "0 0 1 1 *"},
      {"@annually", "0 0 1 1 *"}};
  const auto it = presets.find(cron);
  return it == presets.end() ? cron : it->second;
}

// N units of a grain, as a duration.
Text Units(const Grain& grain, std::int64_t n) {
  if (n <= 0 || n > 100'000) return std::nullopt;
  switch (grain.unit) {
    case Grain::Unit::kMinutes: return fmt::format("{}m", n * grain.count);
    case Grain::Unit::kHour: return fmt::format("{}h", n);
    case Grain::Unit::kHours: return fmt::format("{}h", n * grain.count);
    case Grain::Unit::kDay: return fmt::format("{}d", n);
    case Grain::Unit::kWeek: return fmt::format("{}w", n);
    case Grain::Unit::kMonth: return fmt::format("{}mo", n);
    case Grain::Unit::kQuarter: return fmt::format("{}mo", n * 3);
    case Grain::Unit::kYear: return fmt::format("{}y", n);
    case Grain::Unit::kNone: break;
  }
  return std::nullopt;
}

int WeekStart(const Text& day) {
  static constexpr const char* kDays[] = {"monday", "tuesday",  "wednesday", "thursday",
                                          "friday", "saturday", "sunday"};
  for (int i = 0; day && i < 7; ++i)
    if (*day == kDays[i]) return i;
  return 0;
}

// The date and time at the head of a key of GraphQL's: `2026-10-01`, `2026-10-01-00:15`, `10/01/2026` not.
struct KeyTime {
  CivilDate date;
  int hour = 0, minute = 0;
};
std::optional<KeyTime> ParseKey(const std::string& key) {
  if (key.size() < 10 || key[4] != '-' || key[7] != '-') return std::nullopt;
  const auto y = Number(key.substr(0, 4), 9999), m = Number(key.substr(5, 2), 12),
             d = Number(key.substr(8, 2), 31);
  if (!y || !m || !d || *m < 1 || *d < 1 || *d > DaysInMonth(*y, *m)) return std::nullopt;
  KeyTime out{{*y, *m, *d}, 0, 0};
  if (key.size() >= 16 && key[13] == ':') {
    const auto hour = Number(key.substr(11, 2), 23), minute = Number(key.substr(14, 2), 59);
    if (!hour || !minute) return std::nullopt;
    out.hour = *hour, out.minute = *minute;
  }
  return out;
}

// A date as our calendars read it.
std::string Dated(const KeyTime& key, bool times) {
  const std::string day = fmt::format("{:04}-{:02}-{:02}", key.date.year, key.date.month, key.date.day);
  return times ? fmt::format("{}T{:02}:{:02}", day, key.hour, key.minute) : day;
}

}  // namespace

std::optional<Cut> CutOf(const std::string& given) {
  std::vector<std::string> f;
  for (std::string& part : Split(Preset(given), ' '))
    if (!part.empty()) f.push_back(std::move(part));
  if (f.size() != 5) return std::nullopt;
  const bool every_day = f[2] == "*" && f[3] == "*" && f[4] == "*";
  if (every_day && f[1] == "*" && f[0] != "0") {
    const auto n = Every(f[0], 60);
    if (!n || *n == 60) return std::nullopt;
    return Cut{fmt::format("{} minutes", *n), {}, {}};
  }
  if (every_day && f[0] == "0")
    if (const auto n = Every(f[1], 24); n && *n < 24)
      return Cut{*n == 1 ? "hour" : fmt::format("{} hours", *n), {}, {}};
  const auto minute = Number(f[0], 59), hour = Number(f[1], 23);
  if (!minute || !hour) return std::nullopt;
  Cut cut;
  if (*minute || *hour) cut.starts_at = fmt::format("{:02}:{:02}", *hour, *minute);
  if (every_day) {
    cut.grain = "day";
  } else if (f[2] == "*" && f[3] == "*") {
    cut.week_start = Weekday(f[4]);
    if (!cut.week_start) return std::nullopt;
    cut.grain = "week";
  } else if (f[2] == "1" && f[4] == "*") {
    cut.grain = f[3] == "*" || f[3] == "*/1"          ? "month"
                : f[3] == "1,4,7,10" || f[3] == "*/3" ? "quarter"
                : f[3] == "1"                         ? "year"
                                                      : "";
  }
  return cut.grain.empty() ? std::nullopt : std::optional(cut);
}

std::optional<TimeCut> TimeCutOf(const Dimension& time, const std::string& asset, const std::string& where,
                                 Diagnostics& diagnostics) {
  TimeCut out;
  const std::string zone_name = time.timezone.empty() ? "UTC" : time.timezone;
  const Zone* zone = Zone::Find(zone_name);
  if (!zone) {
    const std::vector<std::string> why = Split(Zone::WhyUnknown(zone_name), '\n');
    diagnostics.Error(where, fmt::format("time zone of asset '{}': {}", asset, why[0]));
    return std::nullopt;
  }
  out.fact.timezone = zone_name;
  const auto cut = time.exclusions.empty() ? CutOf(time.cron) : std::nullopt;
  const auto grain = cut ? ParseGrain(cut->grain) : std::nullopt;
  if (!grain) return out;
  out.grain = true;
  out.fact.grain = cut->grain;
  out.fact.starts_at = cut->starts_at;
  out.fact.week_start = cut->week_start;
  if (!time.format.empty()) out.fact.key_format = time.format;
  std::int64_t starts_at = 0;
  if (cut->starts_at)
    starts_at = *Number(cut->starts_at->substr(0, 2), 23) * kHour +
                *Number(cut->starts_at->substr(3, 2), 59) * kMinute;
  const Calendar calendar(*grain, zone, starts_at, WeekStart(cut->week_start));
  const auto instant = [](const Text& t) {
    const auto at = t ? ParseInstant(*t, true) : std::nullopt;
    return at && *at > -6'000'000'000 && *at < 30'000'000'000 ? at : std::nullopt;  // 1780 to 2920
  };
  if (const auto start = instant(time.start)) out.fact.first = calendar.Key(calendar.Ceil(*start));
  if (const auto end = instant(time.end)) out.fact.last = calendar.Key(calendar.Floor(*end) - 1);
  if (time.first_key)
    if (const auto key = ParseKey(*time.first_key)) {
      const std::string text = Dated(*key, !grain->bears_dates());
      if (const auto span = ParseDate(text, calendar).span) out.fact.first = calendar.Key(span->start);
    }
  if (time.end_offset < 0) out.complete_after = Units(*grain, -time.end_offset);
  return out;
}

void ReadDescription(const std::string& text, const std::vector<std::string>& keys, Dimension& out) {
  const auto comma = text.find(", starting ");
  if (comma == std::string::npos) return;
  const std::string head = text.substr(0, comma);
  std::string rest = text.substr(comma + 11);
  // `2026-10-01 America/New_York.`, and then sentences about its end.
  const auto stop = rest.find(". ");
  const std::string more = stop == std::string::npos ? "" : rest.substr(stop + 2);
  rest = rest.substr(0, stop);
  if (!rest.empty() && rest.back() == '.') rest.pop_back();
  const auto blank = rest.rfind(' ');
  if (blank != std::string::npos) out.timezone = rest.substr(blank + 1);
  if (const auto by = more.find("offsetted by "); by != std::string::npos) {
    const std::string n = more.substr(by + 13, more.find(' ', by + 13) - by - 13);
    std::from_chars(n.data(), n.data() + n.size(), out.end_offset);
  }
  if (!keys.empty()) {
    out.first_key = keys.front();
    out.format = keys.front().size() == 10 ? "%Y-%m-%d" : keys.front().size() == 16 ? "%Y-%m-%d-%H:%M" : "";
  }
  const auto first = keys.empty() ? std::nullopt : ParseKey(keys.front());
  // What the word leaves open the first key shows: on which day a week or a month begins, at which minute an
  // hour. The hour of a day it does not.
  const int minute = first ? first->minute : 0, hour = first ? first->hour : 0,
            day = first ? first->date.day : 1;
  if (head == "Hourly") {
    out.cron = fmt::format("{} * * * *", minute);
  } else if (head == "Daily") {
    out.cron = fmt::format("{} {} * * *", minute, hour);
  } else if (head == "Weekly") {
    const std::int64_t weekday =
        first ? FloorMod(DaysFromCivil(first->date.year, first->date.month, first->date.day) + 4, 7) : 0;
    out.cron = fmt::format("{} {} * * {}", minute, hour, weekday);
  } else if (head == "Monthly") {
    out.cron = fmt::format("{} {} {} * *", minute, hour, day);
  } else {
    out.cron = head;
    return;  // a cron says all
  }
  out.hour_told = head == "Hourly" || (first && keys.front().size() >= 16);
}

}  // namespace backreach::dagster
