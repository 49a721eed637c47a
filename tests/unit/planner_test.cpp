// Plans of small graphs, as an engineer would write them down.

#include <doctest/doctest.h>

#include "tests/unit/graph_text.hpp"

using namespace backreach;
using namespace backreach::test;

TEST_CASE("a chain is rebuilt in its order, each dataset in its own cells") {
  CHECK(StepsOf("raw@day -> orders@day -> revenue@month: same", "raw 2026-03-05") ==
        "raw 2026-03-05 | orders 2026-03-05 | revenue 2026-03");
  CHECK(StepsOf("raw@day -> a@day: same\nraw -> b@day: same\na -> c@day: same\nb -> c: same",
                "raw 2026-03-05") == "raw 2026-03-05 | a 2026-03-05, b 2026-03-05 | c 2026-03-05");
}

TEST_CASE("a window reaches as far as it reads, and no further") {
  CHECK(StepsOf("raw@day -> week@day: window -6 0", "raw 2026-03-05") ==
        "raw 2026-03-05 | week 2026-03-05 .. 2026-03-11");
  CHECK(StepsOf("raw@day -> ahead@day: window 0 2", "raw 2026-03-05") ==
        "raw 2026-03-05 | ahead 2026-03-03 .. 2026-03-05");
  CHECK(StepsOf("raw@day -> next@day: window -1 -1", "raw 2026-03-05") == "raw 2026-03-05 | next 2026-03-06");
  CHECK(StepsOf("raw@day -> m@month: window -1 0", "raw 2026-02-10") ==
        "raw 2026-02-10 | m 2026-02 .. 2026-03");
  CHECK(StepsOf("raw@day -> ytd@day: to_date month", "raw 2026-03-30") ==
        "raw 2026-03-30 | ytd 2026-03-30 .. 2026-03-31");
}

TEST_CASE("views pass days on and are no steps") {
  CHECK(StepsOf("raw@day -> v view -> t@day: window -1 0", "raw 2026-03-05") ==
        "raw 2026-03-05 | t 2026-03-05 .. 2026-03-06");
}

TEST_CASE("what has no partitions is rebuilt whole, once") {
  CHECK(StepsOf("raw@day -> report@none: same", "raw 2026-03-05") == "raw 2026-03-05 | report whole");
}

TEST_CASE("what is asked for but still open is left to the ordinary run") {
  CHECK(StepsOf("raw@day -> t@day: same", "raw 2026-04-18 .. 2026-04-20") ==
        "raw 2026-04-18 .. 2026-04-19 | t 2026-04-18 .. 2026-04-19");
}

TEST_CASE("cells before the first are nobody's") {
  CHECK(StepsOf("raw@day -> t@day first=2026-03-03: same", "raw 2026-03-01 .. 2026-03-04") ==
        "raw 2026-03-01 .. 2026-03-04 | t 2026-03-03 .. 2026-03-04");
}

TEST_CASE("what reads itself carries a change on, up to the last complete cell") {
  CHECK(StepsOf("raw@day -> balance@day: same\nbalance -> balance: previous", "raw 2026-04-17") ==
        "raw 2026-04-17 | balance 2026-04-17 .. 2026-04-19");
}

TEST_CASE("an excluded dataset stays, and what it feeds is said to mix") {
  Asked asked("raw@day -> a@day: same\na -> b@day: same\nraw -> b: same");
  asked.request.excludes = {"a"};
  const Plan plan = asked.Ask("raw 2026-03-05");
  CHECK(StepsOf(asked, plan) == "raw 2026-03-05 | b 2026-03-05");
  REQUIRE(plan.left_stale.size() == 1);
  CHECK(plan.left_stale[0].reason == StaleReason::kExcluded);
  CHECK(asked.graph()[plan.left_stale[0].mixes_into.at(0)].name == "b");
}

TEST_CASE("two circles of one graph do not reach each other") {
  CHECK(StepsOf("raw@day -> a@day: same\nother@day -> b@day: same", "raw 2026-03-05") ==
        "raw 2026-03-05 | a 2026-03-05");
}

TEST_CASE("copies below are named with the days that are wrong in them") {
  Asked asked(
      "raw@day -> t@day: same\ncopy deck of t taken 2026-04-01 holds 2026-03-01 .. 2026-03-31\n"
      "copy old of t taken 2026-03-02 holds 2026-01-01 .. 2026-02-28");
  const Plan plan = asked.Ask("raw 2026-03-05");
  REQUIRE(plan.copies.size() == 1);
  CHECK(plan.copies[0].id == "deck");
}
