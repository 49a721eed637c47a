// Bounds by the time of a run: where they lie, and how they are written down.

#include <doctest/doctest.h>

#include "graph/time/run_bound.hpp"

using namespace backreach;

static std::string Lies(const std::string& bound, const std::string& now, const std::string& zone = "UTC") {
  const auto parsed = ParseRunBound(bound);
  REQUIRE(parsed);
  CHECK(FormatRunBound(*parsed) == bound);
  return FormatInstant(parsed->At(*ParseInstant(now, true), *Zone::Find(zone)));
}

TEST_CASE("a bound lies where its steps lead, by the calendar") {
  CHECK(Lies("", "2026-04-20T09:30:00Z") == "2026-04-20T09:30:00Z");
  CHECK(Lies("-3d", "2026-04-20T09:30:00Z") == "2026-04-17T09:30:00Z");
  CHECK(Lies("day -3d", "2026-04-20T09:30:00Z") == "2026-04-17T00:00:00Z");
  CHECK(Lies("day month -1mo", "2026-03-31T09:30:00Z") == "2026-02-01T00:00:00Z");
  CHECK(Lies("day -3d month", "2026-04-02T09:30:00Z") == "2026-03-01T00:00:00Z");
  CHECK(Lies("day -1mo", "2026-03-31T09:30:00Z") == "2026-02-28T00:00:00Z");
  CHECK(Lies("hour -6h", "2026-04-20T09:30:00Z") == "2026-04-20T03:00:00Z");
  CHECK(Lies("week -1w", "2026-04-22T09:30:00Z") == "2026-04-13T00:00:00Z");
  CHECK(Lies("quarter", "2026-05-31T09:30:00Z") == "2026-04-01T00:00:00Z");
  CHECK(Lies("year +1d", "2026-05-31T09:30:00Z") == "2026-01-02T00:00:00Z");
  CHECK(Lies("-48h", "2026-03-09T09:30:00Z", "America/New_York") == "2026-03-07T09:30:00Z");
}

TEST_CASE("of the two clocks that a warehouse may go by the later bound is taken") {
  // It is the 20th in New York still, and the 21st by UTC.
  CHECK(Lies("day -3d", "2026-04-21T02:00:00Z", "America/New_York") == "2026-04-18T00:00:00Z");
  // It is the 21st in Tokyo already.
  CHECK(Lies("day -3d", "2026-04-20T16:00:00Z", "Asia/Tokyo") == "2026-04-17T15:00:00Z");
  // A clock that the query names: it is the 21st in Tokyo, and a column of such days is read by UTC.
  CHECK(Lies("day -3d @Asia/Tokyo", "2026-04-20T16:00:00Z") == "2026-04-18T00:00:00Z");
  CHECK(Lies("day -3d @America/New_York", "2026-04-21T02:00:00Z") == "2026-04-18T00:00:00Z");
}

TEST_CASE("what is malformed is no bound, and words say what one is") {
  for (const char* text : {"-3", "fortnight", "3d", "-3d;", "15 minutes"})
    CHECK_MESSAGE(!ParseRunBound(text), text);
  const auto words = [](const char* text) { return ParseRunBound(text)->Describe(); };
  CHECK(words("") == "from the time of the run on");
  CHECK(words("day") == "of the run's own day");
  CHECK(words("day -3d") == "of the last 3 days before the run");
  CHECK(words("-1d") == "of the last 1 day before the run");
  CHECK(words("day month -2mo") == "since the start of the month, 2 months before the run");
}

TEST_CASE("of bounds that hold together those count that may lie latest") {
  const auto latest = [](const char* text) { return FormatRunBounds(LatestOf(ParseRunBounds(text))); };
  CHECK(latest("-1d | -3d") == "-1d");
  CHECK(latest("day -3d | day -3d") == "day -3d");
  // In January the year begins after the month before.
  CHECK(latest("year | day month -1mo") == "day month -1mo | year");
  CHECK(latest("day -3d | month") == "day -3d | month");
  CHECK(ParseRunBounds("day | fortnight").empty());
}
