// Time zones come from Howard Hinnant's date library (the system's tz database); this file is the only one
// that includes it. Its lookup per instant is dear, so a zone's changes of clocks from 1850 to 2200 are laid
// out once in a sorted table and everything else is binary search and integer arithmetic.

#include "graph/time/time.hpp"

#include <date/tz.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <mutex>

namespace backreach {

std::int64_t FloorDiv(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
std::int64_t FloorMod(std::int64_t a, std::int64_t b) { return a - FloorDiv(a, b) * b; }

std::int64_t DaysFromCivil(std::int64_t year, std::int64_t month, std::int64_t day) {
  year += FloorDiv(month - 1, 12);
  month = FloorMod(month - 1, 12) + 1;
  const std::int64_t y = year - (month <= 2);
  const std::int64_t era = FloorDiv(y, 400);
  const std::int64_t year_of_era = y - era * 400;
  const std::int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  const std::int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146097 + day_of_era - 719468;
}

CivilDate CivilFromDays(std::int64_t days) {
  days += 719468;
  const std::int64_t era = FloorDiv(days, 146097);
  const std::int64_t doe = days - era * 146097;
  const std::int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
  const std::int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
  const std::int64_t mp = (5 * doy + 2) / 153;
  const int month = static_cast<int>(mp < 10 ? mp + 3 : mp - 9);
  return {static_cast<int>(yoe + era * 400 + (month <= 2)), month,
          static_cast<int>(doy - (153 * mp + 2) / 5 + 1)};
}

int DaysInMonth(std::int64_t year, int month) {
  return static_cast<int>(DaysFromCivil(year, month + 1, 1) - DaysFromCivil(year, month, 1));
}

Zone::Zone(std::string name, std::vector<ZoneStretch> stretches)
    : name_(std::move(name)), stretches_(std::move(stretches)) {
  Civil furthest = kMinInstant;
  for (std::size_t i = 0; i < stretches_.size(); ++i) {
    const bool last = i + 1 == stretches_.size();
    furthest = std::max(furthest, last ? kMaxInstant : stretches_[i + 1].begin + stretches_[i].offset);
    furthest_.push_back(furthest);
  }
  least_.resize(stretches_.size());
  Civil least = kMaxInstant;
  for (std::size_t i = stretches_.size(); i-- > 0;) {
    least = std::min(
        least, stretches_[i].begin == kMinInstant ? kMinInstant : stretches_[i].begin + stretches_[i].offset);
    least_[i] = least;
  }
}

std::size_t Zone::StretchAt(Instant t) const {
  const auto it = std::upper_bound(stretches_.begin(), stretches_.end(), t,
                                   [](Instant value, const ZoneStretch& s) { return value < s.begin; });
  return it == stretches_.begin() ? 0 : static_cast<std::size_t>(it - stretches_.begin()) - 1;
}

Instant Zone::FirstReach(Civil c) const {
  if (!IsFinite(c)) return c;
  const auto it = std::upper_bound(furthest_.begin(), furthest_.end(), c);
  const std::size_t i = std::min<std::size_t>(it - furthest_.begin(), stretches_.size() - 1);
  return std::max(stretches_[i].begin, c - stretches_[i].offset);
}

Instant Zone::LastReach(Civil c) const {
  if (!IsFinite(c)) return c;
  const auto it =
      std::lower_bound(least_.begin() + 1, least_.end(), c);  // the first stretch all at or after c
  const std::size_t i = static_cast<std::size_t>(it - least_.begin()) - 1;
  const Instant t = std::max(stretches_[i].begin, c - stretches_[i].offset);
  return it == least_.end() ? t : std::min(t, stretches_[i + 1].begin);
}

Civil Zone::FurthestCivil(Instant t) const {
  if (!IsFinite(t)) return t;
  const std::size_t i = StretchAt(t);
  const Civil here = t + stretches_[i].offset;
  return i == 0 ? here : std::max(here, furthest_[i - 1]);
}

Civil Zone::LeastCivil(Instant t) const {
  if (!IsFinite(t)) return t;
  const std::size_t i = StretchAt(t);
  const Civil here = t + stretches_[i].offset;
  return i + 1 == stretches_.size() ? here : std::min(here, least_[i + 1]);
}

bool Zone::IsRepeated(Instant t) const {
  if (!IsFinite(t)) return false;
  const Civil c = ToCivil(t);
  if (FirstReach(c) != t) return true;
  const std::size_t i = StretchAt(t);
  return i + 1 < stretches_.size() && least_[i + 1] <= c;
}

namespace {

std::unique_ptr<Zone> LoadZone(const std::string& name) {
  const date::time_zone* zone = nullptr;
  try {
    zone = date::locate_zone(name);
  } catch (const std::exception&) {
    return nullptr;  // the caller says which name it was, and where it stands
  }
  std::vector<ZoneStretch> stretches;
  const date::sys_seconds last{std::chrono::seconds(DaysFromCivil(2200, 1, 1) * kDay)};
  date::sys_seconds at{std::chrono::seconds(DaysFromCivil(1850, 1, 1) * kDay)};
  while (at < last) {
    const date::sys_info info = zone->get_info(at);
    const auto offset = static_cast<std::int32_t>(info.offset.count());
    if (stretches.empty()) {
      stretches.push_back({kMinInstant, offset});
    } else if (stretches.back().offset != offset) {
      stretches.push_back({at.time_since_epoch().count(), offset});
    }
    if (info.end <= at) break;
    at = info.end;
  }
  return std::make_unique<Zone>(name, std::move(stretches));
}

struct ZoneCache {
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<Zone>> zones;
};

ZoneCache& Cache() {
  static ZoneCache cache;
  return cache;
}

}  // namespace

const Zone* Zone::Utc() {
  static const Zone utc("UTC", {{kMinInstant, 0}});
  return &utc;
}

const Zone* Zone::Find(const std::string& name) {
  if (name == "UTC") return Utc();
  ZoneCache& cache = Cache();
  const std::lock_guard lock(cache.mutex);
  const auto it = cache.zones.find(name);
  if (it != cache.zones.end()) return it->second.get();
  return cache.zones.emplace(name, LoadZone(name)).first->second.get();
}

std::string Zone::WhyUnknown(const std::string& name) {
  bool there = false;
  try {
    there = !date::get_tzdb().zones.empty();
  } catch (const std::exception&) {  // its folder is nowhere to be found
  }
  if (!there)
    return fmt::format(
        "this machine has no time zone database, so '{}' cannot be looked up\n"
        "  install it: apt-get install tzdata (Alpine: apk add tzdata; Fedora: dnf install tzdata)",
        name);
  return fmt::format(
      "unknown time zone '{}'\n  use an IANA name such as America/New_York, Europe/Berlin or UTC", name);
}

const Zone* Zone::Fixed(std::int32_t offset) {
  if (offset == 0) return Utc();
  const std::string name = "UTC" + FormatOffset(offset);
  ZoneCache& cache = Cache();
  const std::lock_guard lock(cache.mutex);
  auto& zone = cache.zones[name];
  if (!zone) zone = std::make_unique<Zone>(name, std::vector<ZoneStretch>{{kMinInstant, offset}});
  return zone.get();
}

std::optional<Duration> ParseDuration(std::string_view text) {
  Duration d;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), d.count);
  if (ec != std::errc{} || end == text.data() || d.count < 0 || d.count > 1'000'000) return std::nullopt;
  const std::string_view unit(end, text.data() + text.size() - end);
  if (unit == "m")
    d.unit = Duration::Unit::kMinute;
  else if (unit == "h")
    d.unit = Duration::Unit::kHour;
  else if (unit == "d")
    d.unit = Duration::Unit::kDay;
  else if (unit == "w")
    d.unit = Duration::Unit::kWeek;
  else if (unit == "mo")
    d.unit = Duration::Unit::kMonth;
  else if (unit == "y")
    d.unit = Duration::Unit::kYear;
  else
    return std::nullopt;
  return d;
}

std::string FormatDuration(const Duration& d) {
  static constexpr const char* kUnits[] = {"m", "h", "d", "w", "mo", "y"};
  return fmt::format("{}{}", d.count, kUnits[static_cast<int>(d.unit)]);
}

std::int64_t MaxSeconds(const Duration& d) {
  static constexpr std::int64_t kSeconds[] = {kMinute, kHour, kDay, 7 * kDay, 31 * kDay, 366 * kDay};
  return d.count * kSeconds[static_cast<int>(d.unit)];
}

Instant AddDuration(const Zone& zone, Instant t, const Duration& d, int sign) {
  if (!IsFinite(t)) return t;
  const std::int64_t n = sign * d.count;
  switch (d.unit) {
    case Duration::Unit::kMinute: return t + n * kMinute;
    case Duration::Unit::kHour: return t + n * kHour;
    case Duration::Unit::kDay: return n == 0 ? t : zone.FirstReach(zone.ToCivil(t) + n * kDay);
    case Duration::Unit::kWeek: return n == 0 ? t : zone.FirstReach(zone.ToCivil(t) + n * 7 * kDay);
    case Duration::Unit::kMonth:
    case Duration::Unit::kYear: break;
  }
  if (n == 0) return t;
  const Civil c = zone.ToCivil(t);
  const std::int64_t days = FloorDiv(c, kDay);
  const CivilDate date = CivilFromDays(days);
  const std::int64_t months = date.month - 1 + (d.unit == Duration::Unit::kYear ? 12 * n : n);
  const std::int64_t year = date.year + FloorDiv(months, 12);
  const int month = static_cast<int>(FloorMod(months, 12)) + 1;
  const int day = std::min(date.day, DaysInMonth(year, month));
  return zone.FirstReach(DaysFromCivil(year, month, day) * kDay + c - days * kDay);
}

std::string FormatInstant(Instant t) {
  const std::int64_t days = FloorDiv(t, kDay);
  const std::int64_t s = t - days * kDay;
  const CivilDate d = CivilFromDays(days);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", d.year, d.month, d.day, s / kHour,
                     s / kMinute % 60, s % 60);
}

std::string FormatOffset(std::int32_t seconds) {
  const std::int32_t a = std::abs(seconds);
  std::string text = fmt::format("{}{:02}:{:02}", seconds < 0 ? '-' : '+', a / 3600, a / 60 % 60);
  if (a % 60 != 0) text += fmt::format(":{:02}", a % 60);
  return text;
}

namespace {

// Reads fixed-width digits and literal characters from the front of a text.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}
  bool Digits(int width, int& out) {
    if (text_.size() < static_cast<std::size_t>(width)) return false;
    int value = 0;
    for (int i = 0; i < width; ++i) {
      if (text_[i] < '0' || text_[i] > '9') return false;
      value = value * 10 + (text_[i] - '0');
    }
    out = value;
    text_.remove_prefix(width);
    return true;
  }
  bool Literal(char c) {
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  void SkipFraction() {
    if (!Literal('.')) return;
    while (!text_.empty() && text_.front() >= '0' && text_.front() <= '9') text_.remove_prefix(1);
  }
  bool Done() const { return text_.empty(); }
  char Peek() const { return text_.empty() ? '\0' : text_.front(); }

 private:
  std::string_view text_;
};

}  // namespace

std::optional<Instant> ParseInstant(std::string_view text, bool bare_is_utc) {
  Cursor in(text);
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  if (!in.Digits(4, year) || !in.Literal('-') || !in.Digits(2, month) || !in.Literal('-') ||
      !in.Digits(2, day))
    return std::nullopt;
  if (month < 1 || month > 12 || day < 1 || day > DaysInMonth(year, month)) return std::nullopt;
  bool timed = false;
  if (in.Literal('T') || in.Literal(' ')) {
    timed = true;
    if (!in.Digits(2, hour)) return std::nullopt;
    if (in.Literal(':')) {
      if (!in.Digits(2, minute)) return std::nullopt;
      if (in.Literal(':')) {
        if (!in.Digits(2, second)) return std::nullopt;
        in.SkipFraction();
      }
    }
  }
  if (hour > 24 || minute > 59 || second > 60 || (hour == 24 && (minute || second))) return std::nullopt;
  std::int64_t t = DaysFromCivil(year, month, day) * kDay + hour * kHour + minute * kMinute + second;
  if (in.Done()) return bare_is_utc ? std::optional<Instant>(t) : std::nullopt;
  if (in.Literal('Z')) return in.Done() && timed ? std::optional<Instant>(t) : std::nullopt;
  const char sign = in.Peek();
  if ((sign != '+' && sign != '-') || !timed) return std::nullopt;
  in.Literal(sign);
  int offset_hours = 0, offset_minutes = 0;
  if (!in.Digits(2, offset_hours)) return std::nullopt;
  in.Literal(':');
  if (!in.Done() && !in.Digits(2, offset_minutes)) return std::nullopt;
  if (!in.Done() || offset_hours > 15 || offset_minutes > 59) return std::nullopt;
  const std::int64_t offset = offset_hours * kHour + offset_minutes * kMinute;
  return t - (sign == '+' ? offset : -offset);
}

}  // namespace backreach
