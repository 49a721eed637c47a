// Ticks of schedules: what a cron line matches, and where the clocks put it when they change.

#include "graph/time/schedule.hpp"

#include "support.hpp"

namespace backreach {

namespace {

std::string NextOf(const char* line, const char* after) {
  const auto cron = Cron::Parse(line);
  if (!cron) return "not understood";
  const auto next = cron->Next(*ParseInstant(after, true));
  return next ? FormatInstant(*next) : "never";
}

std::string PreviousOf(const char* line, const char* before) {
  const auto cron = Cron::Parse(line);
  const auto previous = cron->Previous(*ParseInstant(before, true));
  return previous ? FormatInstant(*previous) : "never";
}

// The ticks from `from` on, as many as asked for, by the hour and minute of UTC.
std::string Walk(const char* line, const char* zone, const char* from, int n) {
  const Ticks ticks = Ticks::Of({*Cron::Parse(line)}, Zone::Find(zone));
  std::string out;
  auto at = ticks.AtOrAfter(*ParseInstant(from, true));
  for (int i = 0; i < n && at; ++i, at = ticks.After(*at)) out += FormatInstant(*at).substr(5, 11) + " ";
  return out;
}

}  // namespace

TEST_CASE("A cron line matches as croniter has it") {
  CHECK(NextOf("0 2 * * *", "2026-03-01T02:00:00") == "2026-03-02T02:00:00Z");
  CHECK(NextOf("0 2 * * *", "2026-03-01T01:59:59") == "2026-03-01T02:00:00Z");
  CHECK(NextOf("*/15 9-10 * * mon-fri", "2026-03-06T10:45:00") == "2026-03-09T09:00:00Z");
  CHECK(NextOf("0 0 29 2 *", "2026-03-01T00:00:00") == "2028-02-29T00:00:00Z");
  CHECK(NextOf("0 0 30 2 *", "2026-03-01T00:00:00") == "never");
  CHECK(NextOf("0 3 L * *", "2026-02-01T00:00:00") == "2026-02-28T03:00:00Z");
  CHECK(NextOf("0 0 13 * 5", "2026-03-01T00:00:00") == "2026-03-06T00:00:00Z");  // the 13th, or any Friday
  CHECK(NextOf("0 0 13 * 5", "2026-04-10T00:00:00") == "2026-04-13T00:00:00Z");
  CHECK(NextOf("0 0 * * 5#2", "2026-03-01T00:00:00") == "2026-03-13T00:00:00Z");
  CHECK(NextOf("0 0 * * L5", "2026-03-01T00:00:00") == "2026-03-27T00:00:00Z");
  CHECK(NextOf("0 0 * * 7", "2026-03-02T00:00:00") == "2026-03-08T00:00:00Z");
  CHECK(NextOf("0 22-4/2 * * *", "2026-03-01T02:00:00") == "2026-03-01T04:00:00Z");
  CHECK(NextOf("5/20 * * * * 30", "2026-03-01T00:05:30") == "2026-03-01T00:25:30Z");
  CHECK(NextOf("@quarterly", "2026-03-01T00:00:00") == "2026-04-01T00:00:00Z");
  for (const char* line :
       {"0 0 15W * *", "H * * * *", "0 0 * *", "60 * * * *", "0 0 0 * *", "0 0 * * 1#6", "0 0 1 1 * 0 2030"})
    CHECK(NextOf(line, "2026-03-01T00:00:00") == "not understood");
  CHECK(PreviousOf("0 2 * * *", "2026-03-01T02:00:00") == "2026-02-28T02:00:00Z");
  CHECK(PreviousOf("30 8,20 1 */3 *", "2026-03-15T00:00:00") == "2026-01-01T20:30:00Z");
  CHECK(PreviousOf("15,45 * * * *", "2026-03-01T00:00:01") == "2026-02-28T23:45:00Z");
}

TEST_CASE("Where clocks change, ticks are Airflow's") {
  const char* zone = "America/New_York";
  CHECK(Walk("30 2 * * *", zone, "2026-03-07T00:00:00Z", 3) == "03-07T07:30 03-08T07:30 03-09T06:30 ");
  CHECK(Walk("30 1 * * *", zone, "2026-10-31T00:00:00Z", 3) == "10-31T05:30 11-01T06:30 11-02T06:30 ");
  CHECK(Walk("0 * * * *", zone, "2026-11-01T04:00:00Z", 4) ==
        "11-01T04:00 11-01T05:00 11-01T06:00 11-01T07:00 ");
  CHECK(Walk("0 * * * *", zone, "2026-03-08T06:00:00Z", 3) == "03-08T06:00 03-08T07:00 03-08T08:00 ");
  CHECK(Walk("0 0 * * *", zone, "2026-03-08T05:00:00Z", 2) == "03-08T05:00 03-09T04:00 ");
  // A backfill from the tick before the gap would begin at the one after it.
  const Ticks ticks = Ticks::Of({*Cron::Parse("0 */2 * * *")}, Zone::Find(zone));
  const Instant midnight = *ParseInstant("2026-03-08T05:00:00Z", false);
  CHECK(ticks.AtOrBefore(midnight + kHour) == midnight);
  CHECK(ticks.StartOfWalk(midnight) == midnight - 1);
  CHECK(ticks.StartOfWalk(midnight - 2 * kHour) == midnight - 2 * kHour);
}

TEST_CASE("Steady steps go on from their anchor, months from each other") {
  const Instant start = *ParseInstant("2026-01-31T06:00:00Z", false);
  const auto month = ParseScheduleLength("1 month");
  REQUIRE(month);
  const Ticks months = Ticks::Steady(start, *month);
  CHECK(FormatInstant(*months.AtOrBefore(*ParseInstant("2026-04-01T00:00:00Z", false))) ==
        "2026-03-28T06:00:00Z");
  CHECK(!months.AtOrBefore(start - 1));
  const Ticks days = Ticks::Steady(start, *ParseScheduleLength("86400 s"));
  CHECK(FormatInstant(*days.Before(start)) == "2026-01-30T06:00:00Z");
  CHECK(FormatInstant(*days.After(start)) == "2026-02-01T06:00:00Z");
  for (const char* text : {"", "1", "1 week", "-5 s", "0.5 s", "{\"day\":1}"})
    CHECK(!ParseScheduleLength(text));
}

TEST_CASE("Listed moments are taken in order, each once") {
  const Ticks ticks = Ticks::Listed({300, 100, 300, 200});
  CHECK(ticks.AtOrAfter(150) == 200);
  CHECK(ticks.After(200) == 300);
  CHECK(!ticks.After(300));
  CHECK(!ticks.AtOrBefore(99));
  CHECK(!Ticks::Listed({}).AtOrAfter(0));
}

}  // namespace backreach
