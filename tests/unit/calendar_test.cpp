// Grains, zones and keys of cells.

#include <doctest/doctest.h>

#include "graph/time/calendar.hpp"

using namespace backreach;

static Instant At(const char* text) { return *ParseInstant(text, true); }
static Calendar Cal(const char* grain, const char* zone, std::int64_t starts_at = 0, int week = 0) {
  return Calendar(*ParseGrain(grain), Zone::Find(zone), starts_at, week);
}

TEST_CASE("days of 23, 25, 23.5 and 24.5 hours") {
  const Calendar ny = Cal("day", "America/New_York");
  const auto length = [](const Calendar& c, const char* at) { return c.Next(At(at)) - c.Floor(At(at)); };
  CHECK(length(ny, "2026-03-08T12:00Z") == 23 * kHour);
  CHECK(length(ny, "2026-11-01T12:00Z") == 25 * kHour);
  const Calendar lh = Cal("day", "Australia/Lord_Howe");
  CHECK(length(lh, "2026-04-05T00:00Z") == 24 * kHour + 1800);
  CHECK(length(lh, "2026-10-04T00:00Z") == 24 * kHour - 1800);
}

TEST_CASE("a date that does not exist is no cell, and is not counted") {
  const Calendar apia = Cal("day", "Pacific/Apia");
  const Span span{At("2011-12-29T10:00Z"),
                  At("2012-01-01T10:00Z")};  // 29 (UTC-10) .. 1 January (UTC+14): 29, 31, 1
  CHECK(apia.Key(At("2011-12-30T09:59Z")) == "2011-12-29");
  CHECK(apia.Key(At("2011-12-30T10:00Z")) == "2011-12-31");
  CHECK(apia.Count({apia.Floor(span.start), apia.Floor(span.end)}) == 3);
  CHECK_FALSE(ParseDate("2011-12-30", apia).span);
  CHECK(ParseDate("2011-12-31", apia).span);
}

TEST_CASE("hours: a repeated hour has two keys, Lord Howe's half hour is a stretch of its own") {
  const Calendar la = Cal("hour", "America/Los_Angeles");
  CHECK(la.Key(At("2023-11-05T08:10Z")) == "2023-11-05T01-07:00");
  CHECK(la.Key(At("2023-11-05T09:10Z")) == "2023-11-05T01-08:00");
  CHECK(la.Key(At("2023-11-05T10:10Z")) == "2023-11-05T02");
  CHECK(la.Count({At("2023-11-05T07:00Z"), At("2023-11-06T08:00Z")}) == 25);
  const Calendar lh = Cal("hour", "Australia/Lord_Howe");
  CHECK(lh.Next(At("2026-04-04T15:00Z")) - At("2026-04-04T15:00Z") == 1800);
  CHECK(lh.Key(At("2026-04-04T14:10Z")) == "2026-04-05T01+11:00");
  CHECK(lh.Key(At("2026-04-04T15:10Z")) == "2026-04-05T01+10:30");
  for (const char* key : {"2026-04-05T01+11:00", "2026-04-05T01+10:30"}) {
    const auto span = ParseDate(key, lh).span;
    REQUIRE(span);
    CHECK(lh.Key(span->start) == key);
  }
}

TEST_CASE("half-hour zones cut their own hours") {
  const Calendar india = Cal("hour", "Asia/Kolkata");
  CHECK(india.Floor(At("2026-03-01T00:10Z")) == At("2026-02-28T23:30Z"));
  CHECK(india.Key(At("2026-03-01T00:10Z")) == "2026-03-01T05");
}

TEST_CASE("counts in closed form equal counts by walking") {
  for (const char* zone :
       {"UTC", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Asia/Kathmandu"})
    for (const char* grain : {"15 minutes", "20 minutes", "hour", "2 hours", "6 hours", "day", "week",
                              "month", "quarter", "year"}) {
      const Calendar c = Cal(grain, zone);
      for (const char* from :
           {"2011-12-28T00:00Z", "2026-03-06T00:00Z", "2026-04-03T00:00Z", "2026-10-30T00:00Z"}) {
        const Instant start = c.Floor(At(from));
        Instant at = start;
        for (std::int64_t n = 1; n <= 40; ++n) {
          at = c.Next(at);
          CHECK_MESSAGE(c.Count({start, at}) == n,
                        zone << " " << grain << " from " << from << " after " << n);
          CHECK(c.Floor(at) == at);
          CHECK(c.Ceil(at - 1) == at);
        }
      }
    }
}

TEST_CASE("weeks from any weekday, days that start at six, quarters") {
  CHECK(Cal("week", "UTC", 0, 2).Key(At("2024-05-07T12:00Z")) == "2024-05-01");
  CHECK(Cal("week", "UTC").Key(At("2026-03-08T12:00Z")) == "2026-03-02");
  const Calendar six = Cal("day", "UTC", 6 * kHour);
  CHECK(six.Key(At("2026-03-01T05:59Z")) == "2026-02-28");
  CHECK(ParseDate("2026-03", six).span == Span{At("2026-03-01T06:00Z"), At("2026-04-01T06:00Z")});
  CHECK(Cal("quarter", "UTC").Key(At("2026-05-05T00:00Z")) == "2026-Q2");
}

TEST_CASE("what a person may write as a date") {
  const Calendar ny = Cal("day", "America/New_York");
  CHECK(ParseDate("2026-W10", ny).span == Span{At("2026-03-02T05:00Z"), At("2026-03-09T04:00Z")});
  CHECK(ParseDate("2026-Q1", ny).span->end == At("2026-04-01T04:00Z"));
  CHECK(ParseDate("2026", ny).span->start == At("2026-01-01T05:00Z"));
  CHECK(ParseDate("2026-11-01T01", ny).span ==
        Span{At("2026-11-01T05:00Z"), At("2026-11-01T07:00Z")});  // shown twice: both
  CHECK_FALSE(ParseDate("2026-03-08T02", ny).span);               // left out
  for (const char* bad :
       {"2026-02-30", "2026-13", "2026-W54", "2026-Q5", "26-01-01", "", "2026-3-1", "2026-03-01T5"}) {
    CHECK_FALSE(ParseDate(bad, ny).span);
    CHECK(ParseDate(bad, ny).error.find(bad) != std::string::npos);
  }
}

TEST_CASE("grains that are none are refused with what to write instead") {
  std::string why;
  for (const char* bad : {"0 0 * * 1-5", "business day", "7 minutes", "5 hours", "2 days", "fortnight",
                          "@daily", "60 minutes", "24 hours"}) {
    why.clear();
    CHECK_FALSE(ParseGrain(bad, &why));
    CHECK_FALSE(why.empty());
  }
  for (const char* good : {"hour", "1 minute", "15 minutes", "6 hours", "none", "quarter"})
    CHECK(ParseGrain(good));
}

TEST_CASE("several grains over time: a cell cut by the next block ends there") {
  Block a{Cal("month", "UTC"), kMinInstant, At("2026-03-10T00:00Z")},
      b{Cal("day", "UTC"), At("2026-03-10T00:00Z"), kMaxInstant};
  const Layout layout({a, b});
  CHECK(layout.CellAt(At("2026-03-05T00:00Z")) == Span{At("2026-03-01T00:00Z"), At("2026-03-10T00:00Z")});
  CHECK(layout.CellAt(At("2026-03-10T05:00Z")) == Span{At("2026-03-10T00:00Z"), At("2026-03-11T00:00Z")});
  CHECK(layout.Count(SpanSet(Span{At("2026-02-01T00:00Z"), At("2026-03-12T00:00Z")})) == 4);
}

TEST_CASE("what does not cut time is refused by name, with what to declare") {
  const auto why = [](const char* text) {
    std::string reason;
    CHECK_FALSE(ParseGrain(text, &reason));
    return reason;
  };
  for (const char* cron : {"0 3 * * *", "*/15 * * * *", "@daily", "0 0 6 * * 1-5"})
    CHECK(why(cron).find("schedule") != std::string::npos);
  for (const char* days : {"business_day", "business days", "weekday", "workday", "trading_day"})
    CHECK(why(days).find("declare day") != std::string::npos);
  CHECK(why("7 minutes").find("divide an hour") != std::string::npos);
  CHECK(why("5 hours").find("divide a day") != std::string::npos);
  CHECK(why("2 days").find("only minutes and hours") != std::string::npos);
  CHECK(why("fortnight").find("a grain is one of") != std::string::npos);
}

TEST_CASE("a time that is a partition's own key is that partition, and both where the clocks repeat it") {
  const Zone* la = Zone::Find("America/Los_Angeles");
  const Calendar half(*ParseGrain("30 minutes"), la), five(*ParseGrain("5 minutes"), la),
      six(*ParseGrain("6 hours"), la, 1800), day(*ParseGrain("day"), la);
  CHECK(ParseDate("2026-03-02T19:00", half).span == Span{At("2026-03-03T03:00Z"), At("2026-03-03T03:30Z")});
  CHECK(ParseDate("2026-03-02 19:00", half).span == Span{At("2026-03-03T03:00Z"), At("2026-03-03T03:30Z")});
  CHECK(ParseDate("2026-03-02T19:05", half).span == Span{At("2026-03-03T03:05Z"), At("2026-03-03T03:06Z")});
  CHECK(ParseDate("2026-03-02T19:00", day).span == Span{At("2026-03-03T03:00Z"), At("2026-03-03T03:01Z")});
  CHECK(ParseDate("2026-03-02T06:30", six).span == Span{At("2026-03-02T14:30Z"), At("2026-03-02T20:30Z")});
  SpanSet twice(Span{At("2026-11-01T08:30Z"), At("2026-11-01T08:35Z")});
  twice.Add(SpanSet(Span{At("2026-11-01T09:30Z"), At("2026-11-01T09:35Z")}));
  CHECK(ParseDate("2026-11-01T01:30", five).spans == twice);
  CHECK(ParseDate("2026-11-01T01:30", five).span == Span{At("2026-11-01T08:30Z"), At("2026-11-01T09:35Z")});
  CHECK(ParseDate("2026-11-01T01:30-08:00", five).span ==
        Span{At("2026-11-01T09:30Z"), At("2026-11-01T09:35Z")});
  CHECK(ParseDate("2026-11-01T01", five).spans.size() == 1);  // two hours, one behind the other
  CHECK_FALSE(ParseDate("2026-03-08T02:30", five).span);
}
