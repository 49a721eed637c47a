// The log of runs: what is kept, what is refused, and that no ingest touches it.
#include <sqlite3.h>

#include "analysis/after/run.hpp"
#include "graph/base/error.hpp"
#include "graph/store/store.hpp"
#include "tests/unit/support.hpp"

namespace backreach {

namespace {

SourceFacts Registry(const std::string& dataset) {
  SourceFacts out;
  out.source = {"registry", "r.yml", "/r.yml", std::string(64, 'a'), "2026-04-20T09:00:00Z"};
  out.facts.datasets.emplace_back();
  out.facts.datasets.back().name = dataset;
  return out;
}

constexpr Instant kFirst = 1'772'323'200;  // 2026-03-01

RecordedPlan PlanOf(const std::string& id, int from_day, int days, const std::string& effect = "replaced") {
  RecordedPlan plan;
  plan.id = id, plan.path = id + ".json";
  RecordedStep step;
  step.id = 1, step.cells.dataset = "t", step.effect = effect;
  step.grain = Grain{Grain::Unit::kDay, 1}, step.timezone = "UTC";
  step.cells.spans.push_back({"", "", {kFirst + from_day * kDay, kFirst + (from_day + days) * kDay}, {}});
  plan.steps.push_back(step);
  return plan;
}

}  // namespace

TEST_CASE("the log of runs is kept beside what sources say, and outlives what they say anew") {
  Folder folder;
  const std::string path = folder.Write("x", "") + ".db";
  Store store = Store::OpenForWriting(path);
  std::vector<SourceFacts> sources;
  sources.push_back(Registry("t"));
  store.Replace(std::move(sources));
  LoggedRun run = EntryOf(PlanOf("aaaaaaaaaaaaaaaa", 0, 3));
  run.started_at = "2026-04-20T09:00:00Z", run.by = "ana";
  run.steps[0].where = {{"region", {"eu", "a=b,c%"}}};
  run.steps[0].position = "snapshot 7";
  store.ChangeRunLog([&](std::vector<LoggedRun>& log) { log.push_back(run); });
  sources.clear();
  sources.push_back(Registry("u"));
  store.Replace(std::move(sources));
  const std::vector<LoggedRun> log = Store::OpenForReading(path).RunLog();
  REQUIRE(log.size() == 1);
  run.number = 1;
  CHECK(log[0] == run);
  // What a change throws leaves everything as it was.
  CHECK_THROWS_AS(store.ChangeRunLog([](std::vector<LoggedRun>& all) {
    all[0].state = LoggedRun::State::kAbandoned;
    throw Error("no");
  }),
                  Error);
  CHECK(store.RunLog()[0].state == LoggedRun::State::kInProgress);
  store.ChangeRunLog([](std::vector<LoggedRun>& all) {
    StepReport report;
    report.id = 1, report.cells = SpanSet(Span{kFirst, kFirst + kDay});
    LogStep(all[0], report);
  });
  CHECK(store.RunLog()[0].steps[0].done == SpanSet(Span{kFirst, kFirst + kDay}));
  CHECK(store.RunLog()[0].steps[0].state == LoggedStep::State::kStarted);
}

TEST_CASE("a store of layout 5 has no log, is read as it is, and gets one when it is written") {
  Folder folder;
  const std::string path = folder.Write("x", "") + ".db";
  std::vector<SourceFacts> sources;
  sources.push_back(Registry("t"));
  Store::OpenForWriting(path).Replace(std::move(sources));
  sqlite3* db = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &db) == SQLITE_OK);
  CHECK(sqlite3_exec(db,
                     "drop table run; drop table run_step; drop table run_span; "
                     "update state set layout = 5; pragma user_version = 5",
                     nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(db);
  CHECK(Store::OpenForReading(path).RunLog().empty());
  CHECK(Store::OpenForReading(path).Load().size() == 1);
  CHECK(Store::OpenForReading(path).layout() == 5);
  Store store = Store::OpenForWriting(path);
  store.ChangeRunLog(
      [](std::vector<LoggedRun>& log) { log.push_back(EntryOf(PlanOf("aaaaaaaaaaaaaaaa", 0, 1))); });
  CHECK(store.layout() == 6);
  CHECK(store.RunLog().size() == 1);
  CHECK(store.Check().empty());
}

TEST_CASE("a start is refused over cells that are in progress, and over those that would be there twice") {
  std::vector<LoggedRun> log = {EntryOf(PlanOf("aaaaaaaaaaaaaaaa", 0, 3))};
  CHECK(RefusalsOf(log, PlanOf("bbbbbbbbbbbbbbbb", 2, 3), false).size() == 1);
  CHECK(RefusalsOf(log, PlanOf("bbbbbbbbbbbbbbbb", 2, 3), true).size() == 1);
  CHECK(RefusalsOf(log, PlanOf("bbbbbbbbbbbbbbbb", 3, 3), false).empty());
  CHECK(RefusalsOf(log, PlanOf("aaaaaaaaaaaaaaaa", 0, 3), false).size() == 1);
  log[0].state = LoggedRun::State::kFinished;
  CHECK(RefusalsOf(log, PlanOf("bbbbbbbbbbbbbbbb", 2, 3), false).empty());
  CHECK(RefusalsOf(log, PlanOf("bbbbbbbbbbbbbbbb", 2, 3, "duplicated"), false).size() == 1);
  CHECK(RefusalsOf(log, PlanOf("bbbbbbbbbbbbbbbb", 2, 3, "duplicated"), true).empty());
  // What was given up counts for nothing but for what it logged as done.
  log[0].state = LoggedRun::State::kAbandoned;
  CHECK(RefusalsOf(log, PlanOf("bbbbbbbbbbbbbbbb", 2, 3, "duplicated"), false).empty());
  log[0].steps[0].done = SpanSet(Span{kFirst + 2 * kDay, kFirst + 3 * kDay});
  CHECK(RefusalsOf(log, PlanOf("bbbbbbbbbbbbbbbb", 2, 3, "duplicated"), false).size() == 1);
  CHECK(RefusalsOf(log, PlanOf("bbbbbbbbbbbbbbbb", 3, 3, "duplicated"), false).empty());
}

TEST_CASE("other values of a dimension are other cells") {
  RecordedPlan eu = PlanOf("aaaaaaaaaaaaaaaa", 0, 3), us = PlanOf("bbbbbbbbbbbbbbbb", 0, 3);
  eu.steps[0].cells.spans[0].where = {{"region", {"eu"}}};
  us.steps[0].cells.spans[0].where = {{"region", {"us"}}};
  const std::vector<LoggedRun> log = {EntryOf(eu)};
  CHECK(RefusalsOf(log, us, false).empty());
  us.steps[0].cells.spans[0].where = {{"region", {"us", "eu"}}};
  CHECK(RefusalsOf(log, us, false).size() == 1);
  us.steps[0].cells.spans[0].where = {};
  CHECK(RefusalsOf(log, us, false).size() == 1);
}

}  // namespace backreach
