// Instants, zones and durations. Everything inside is UTC in whole seconds; a civil time has meaning only
// with a Zone. The machine's own zone, locale and clock are never read here.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace backreach {

// Seconds since 1970-01-01T00:00:00Z. The two ends stand for "unknown beginning" and "no end".
using Instant = std::int64_t;
inline constexpr Instant kMinInstant = std::numeric_limits<Instant>::min() / 4;
inline constexpr Instant kMaxInstant = std::numeric_limits<Instant>::max() / 4;

inline bool IsFinite(Instant t) { return t > kMinInstant && t < kMaxInstant; }

// Seconds on a wall clock since 1970-01-01T00:00:00 of that clock; no zone attached.
using Civil = std::int64_t;

inline constexpr std::int64_t kMinute = 60;
inline constexpr std::int64_t kHour = 3600;
inline constexpr std::int64_t kDay = 86400;

struct CivilDate {
  int year = 1970;
  int month = 1;  // 1..12
  int day = 1;    // 1..31
  friend bool operator==(const CivilDate&, const CivilDate&) = default;
};

// Days since 1970-01-01 in the proleptic Gregorian calendar, and back. A month of 13 or 0 is carried over.
std::int64_t DaysFromCivil(std::int64_t year, std::int64_t month, std::int64_t day);
CivilDate CivilFromDays(std::int64_t days);
int DaysInMonth(std::int64_t year, int month);

std::int64_t FloorDiv(std::int64_t a, std::int64_t b);
std::int64_t FloorMod(std::int64_t a, std::int64_t b);

// A stretch between two changes of a zone's clocks.
struct ZoneStretch {
  Instant begin;        // first instant of the stretch
  std::int32_t offset;  // seconds that the clock is ahead of UTC
};

// An IANA time zone, with its changes of clocks laid out for arithmetic. Immutable; shared by pointer.
class Zone {
 public:
  // The zone of this name, or null if the zone database has none. Names are looked up once per process.
  static const Zone* Find(const std::string& name);
  // Why Find() gave nothing, for people: the name is misspelt, or this machine has no zone database at all.
  static std::string WhyUnknown(const std::string& name);
  static const Zone* Utc();
  // A clock that is always this far ahead of UTC; its name is `UTC+05:30`.
  static const Zone* Fixed(std::int32_t offset_seconds);

  const std::string& name() const { return name_; }
  const std::vector<ZoneStretch>& stretches() const { return stretches_; }

  std::int32_t OffsetAt(Instant t) const { return stretches_[StretchAt(t)].offset; }
  std::size_t StretchAt(Instant t) const;
  // What a wall clock shows at `t`.
  Civil ToCivil(Instant t) const { return IsFinite(t) ? t + OffsetAt(t) : t; }
  // The first instant at which the clock has reached `c`: the first showing of a time shown twice, the first
  // instant after the gap for a time that the clocks leave out. Non-decreasing in `c`.
  Instant FirstReach(Civil c) const;
  // The first instant from which on the clock never shows less than `c` again. Non-decreasing in `c`.
  Instant LastReach(Civil c) const;
  // The furthest that the clock has ever shown up to `t`, and the least that it will show from `t` on. They
  // differ from ToCivil only around a repeated hour; both are non-decreasing.
  Civil FurthestCivil(Instant t) const;
  Civil LeastCivil(Instant t) const;
  // True if the clock shows the civil time of `t` at another instant too.
  bool IsRepeated(Instant t) const;

  Zone(std::string name, std::vector<ZoneStretch> stretches);

 private:
  std::string name_;
  std::vector<ZoneStretch> stretches_;
  std::vector<Civil> furthest_;  // furthest civil time shown before the end of each stretch
  std::vector<Civil> least_;     // least civil time shown from the start of each stretch on
};

// A length in calendar units: days and longer are added by the calendar of a zone, hours and minutes elapse.
struct Duration {
  enum class Unit { kMinute, kHour, kDay, kWeek, kMonth, kYear };
  std::int64_t count = 0;
  Unit unit = Unit::kDay;
  friend bool operator==(const Duration&, const Duration&) = default;
};

// `15m`, `2h`, `28d`, `6w`, `3mo`, `1y`; nothing else.
std::optional<Duration> ParseDuration(std::string_view text);
std::string FormatDuration(const Duration& d);
// An upper bound in seconds, for comparing lengths without a date (a month is 31 days).
std::int64_t MaxSeconds(const Duration& d);

// t plus `sign` times d on the clock of `zone`; a day of the month that does not exist becomes the last one.
Instant AddDuration(const Zone& zone, Instant t, const Duration& d, int sign = 1);

// `2026-03-01T05:00:00Z`; seconds always written.
std::string FormatInstant(Instant t);
// An instant with a zone (`Z`, `+09:00`), or without one, then read as UTC if `bare_is_utc`. Null if
// malformed or a date that does not exist.
std::optional<Instant> ParseInstant(std::string_view text, bool bare_is_utc);
// `-07:00`
std::string FormatOffset(std::int32_t seconds);

}  // namespace backreach
