// When runs start: cron lines on the clocks of a zone, steady steps, listed moments. Ticks are found next to
// an instant and never listed. Where clocks change, the ticks are Airflow's, which are croniter's on a naive
// clock: the only orchestrator here whose commands take ticks.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/time/time.hpp"

namespace backreach {

// A cron line of five fields, or six (the sixth: seconds), with croniter's meaning: a day matches by day of
// month or by weekday where both are given; `L` is the month's last day, `5#2` the second Friday, `L5` the
// last one.
class Cron {
 public:
  // Also the presets, `@daily` and so on. Nothing for what is not understood (`15W`, `H`, a field of years).
  static std::optional<Cron> Parse(std::string_view text);
  // The first match after `c`, and the last one before it, on a clock without changes; nothing if there is
  // none within 50 years.
  std::optional<Civil> Next(Civil c) const;
  std::optional<Civil> Previous(Civil c) const;
  bool every_hour() const { return hours_ == kAllHours; }

 private:
  static constexpr std::uint64_t kAllHours = (std::uint64_t{1} << 24) - 1;
  friend struct CronReader;
  bool DayMatches(const CivilDate& date) const;

  std::uint64_t seconds_ = 1, minutes_ = 0, hours_ = 0, days_ = 0, months_ = 0, weekdays_ = 0;
  std::array<std::uint8_t, 7> nth_{};  // of each weekday, Sunday first: bit n for the nth, bit 6 for the last
  bool last_day_ = false, any_day_ = false, any_weekday_ = false;
};

// A length as schedules give it: months by the calendar of UTC, then seconds.
struct ScheduleLength {
  std::int64_t months = 0, seconds = 0;
  bool none() const { return months == 0 && seconds == 0; }
};
// `86400 s`, `1 month`, `2 months 3600 s`; nothing for anything else.
std::optional<ScheduleLength> ParseScheduleLength(std::string_view text);
Instant AddLength(Instant t, const ScheduleLength& length, int sign = 1);

// The zone of this name, which may be a fixed one (`UTC+05:30`); null if nobody knows it.
const Zone* ZoneOfSchedule(const std::string& name);

// The moments of a schedule, in order of time.
class Ticks {
 public:
  static Ticks Of(std::vector<Cron> crons, const Zone* zone);
  // From `anchor` on; steps of months go on from each other, so that a 31st stays a 28th.
  static Ticks Steady(Instant anchor, ScheduleLength step);
  static Ticks Listed(std::vector<Instant> moments);

  std::optional<Instant> After(Instant t) const;
  std::optional<Instant> AtOrAfter(Instant t) const;
  std::optional<Instant> AtOrBefore(Instant t) const;
  std::optional<Instant> Before(Instant t) const { return AtOrBefore(t - 1); }
  // The latest moment up to tick `t` from which a walk to the ticks after it begins at `t`, and misses none:
  // `t` itself, but around some changes of clocks the second before it.
  Instant StartOfWalk(Instant t) const;

 private:
  Instant OnClock(Civil c) const;
  std::optional<Instant> NextOf(const Cron& cron, Instant t) const;
  std::optional<Instant> PreviousOf(const Cron& cron, Instant t) const;
  std::optional<Instant> AtOrBeforeOf(const Cron& cron, Instant t) const;

  std::vector<Cron> crons_;
  const Zone* zone_ = nullptr;
  Instant anchor_ = 0;
  ScheduleLength step_;
  std::vector<Instant> moments_;  // sorted
};

}  // namespace backreach
