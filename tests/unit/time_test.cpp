// Instants, zones and durations.

#include <doctest/doctest.h>

#include "graph/time/calendar.hpp"
#include "graph/time/time.hpp"

using namespace backreach;

static Instant At(const char* text) { return *ParseInstant(text, true); }
static const Zone* Z(const char* name) {
  const Zone* zone = Zone::Find(name);
  REQUIRE(zone);
  return zone;
}

TEST_CASE("civil dates go forth and back over leap years and before 1970") {
  for (const std::int64_t days : {-200000LL, -1LL, 0LL, 59LL, 11016LL, 20513LL, 100000LL}) {
    const CivilDate d = CivilFromDays(days);
    CHECK(DaysFromCivil(d.year, d.month, d.day) == days);
  }
  CHECK(CivilFromDays(DaysFromCivil(2024, 2, 29)) == CivilDate{2024, 2, 29});
  CHECK(DaysInMonth(2100, 2) == 28);
  CHECK(DaysInMonth(2000, 2) == 29);
}

TEST_CASE("instants are read with and without a zone, and nothing else is") {
  CHECK(At("2026-03-01T05:00Z") == DaysFromCivil(2026, 3, 1) * kDay + 5 * kHour);
  CHECK(ParseInstant("2026-03-01T05:00+09:00", false) == At("2026-02-28T20:00Z"));
  CHECK(ParseInstant("2026-03-01T05:00:30.25Z", false) == At("2026-03-01T05:00:30Z"));
  CHECK_FALSE(ParseInstant("2026-02-30T00:00Z", false));
  CHECK_FALSE(ParseInstant("2026-03-01", false));
  CHECK_FALSE(ParseInstant("2026-03-01T25:00Z", false));
  CHECK_FALSE(ParseInstant("yesterday", true));
  CHECK_FALSE(ParseInstant("2026-03-01T05:00Zx", true));
}

TEST_CASE("a time that the clocks skip is the first instant after, one shown twice the first showing") {
  const Zone* ny = Z("America/New_York");
  const Civil gap = DaysFromCivil(2026, 3, 8) * kDay + 2 * kHour + 1800;
  CHECK(ny->FirstReach(gap) == At("2026-03-08T07:00Z"));
  const Civil twice = DaysFromCivil(2026, 11, 1) * kDay + kHour + 1800;
  CHECK(ny->FirstReach(twice) == At("2026-11-01T05:30Z"));
  CHECK(ny->LastReach(twice) == At("2026-11-01T06:30Z"));
  CHECK(ny->IsRepeated(At("2026-11-01T05:30Z")));
  CHECK(ny->IsRepeated(At("2026-11-01T06:30Z")));
  CHECK_FALSE(ny->IsRepeated(At("2026-11-01T07:30Z")));
}

TEST_CASE("FirstReach and LastReach do not decrease, whatever the zone does") {
  for (const char* name : {"America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Asia/Kathmandu",
                           "America/St_Johns", "Africa/Casablanca"}) {
    const Zone* zone = Z(name);
    for (const char* around : {"2011-12-30T00:00Z", "2026-03-08T00:00Z", "2026-04-05T00:00Z",
                               "2026-11-01T00:00Z", "1987-04-05T00:00Z"}) {
      Instant before_first = kMinInstant, before_last = kMinInstant;
      for (Civil c = At(around) - 3 * kDay; c < At(around) + 3 * kDay; c += 600) {
        CHECK(zone->FirstReach(c) >= before_first);
        CHECK(zone->LastReach(c) >= before_last);
        CHECK(zone->FirstReach(c) <= zone->LastReach(c));
        before_first = zone->FirstReach(c), before_last = zone->LastReach(c);
      }
    }
  }
}

TEST_CASE("durations: days follow the calendar, hours elapse, the 31st becomes the last day") {
  const Zone* ny = Z("America/New_York");
  CHECK(AddDuration(*ny, At("2026-03-07T17:00Z"), *ParseDuration("1d")) == At("2026-03-08T16:00Z"));
  CHECK(AddDuration(*ny, At("2026-03-07T17:00Z"), *ParseDuration("24h")) == At("2026-03-08T17:00Z"));
  CHECK(AddDuration(*Zone::Utc(), At("2026-01-31T06:00Z"), *ParseDuration("1mo")) == At("2026-02-28T06:00Z"));
  CHECK(AddDuration(*Zone::Utc(), At("2024-02-29T00:00Z"), *ParseDuration("1y"), -1) ==
        At("2023-02-28T00:00Z"));
  for (const char* bad : {"", "d", "5", "5 d", "-1d", "1.5d", "5q", "99999999d"})
    CHECK_FALSE(ParseDuration(bad));
}

TEST_CASE("a zone that nobody has is none") { CHECK(Zone::Find("Mars/Olympus") == nullptr); }
