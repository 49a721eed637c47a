// Each hazard with the smallest graph that has it, and the nearest one that has not.

#include <doctest/doctest.h>

#include <set>

#include "analysis/hazards/hazard.hpp"
#include "graph/base/words.hpp"
#include "tests/unit/graph_text.hpp"

using namespace backreach;
using namespace backreach::test;

namespace {

struct Example {
  const char* code;
  const char* with;     // a graph whose plan has it
  const char* without;  // and one whose plan has not
  const char* question = "raw 2026-03-01 .. 2026-03-31";
};

const Example kExamples[] = {
    {"append-duplicates", "raw@day -> t@day writes=append: same", "raw@day -> t@day writes=replace: same"},
    {"before-begin", "raw@day -> t@day: same", "raw@day -> t@day: same", "t 2026-03-01"},
    {"bounded-match", "raw@day -> t@day writes=merge key=id finding=bounded-match,bound=day~-3d: same",
     "raw@day -> t@day writes=merge key=id finding=bounded-match,bound=day~-90d: same"},
    {"cannot-rebuild", "raw@day -> t@day snapshot: same", "raw@day -> t@day: same"},
    {"columns-kept", "raw@day -> t@day writes=merge key=id finding=columns-kept: same",
     "raw@day -> t@day writes=merge key=id: same"},
    {"cycle", "raw@day -> a@day: same\na -> b@day: same\nb -> a: same",
     "raw@day -> a@day: same\na -> b@day: same"},
    {"deletions", "raw@day deletions -> t@day: same", "raw@day -> t@day: same"},
    {"empty-partition-kept", "raw@day -> t@day writes=dynamic_overwrite: same",
     "raw@day -> t@day writes=replace: same"},
    {"fires-by-itself", "raw@day -> t@day: same\njob send reads t on t",
     "raw@day -> t@day: same\njob send reads t"},
    {"grain-unknown", "raw@day -> t: all", "raw@day -> t@none: all"},
    {"key-change", "raw@day -> t@day change=2026-03-10:key: same",
     "raw@day -> t@day change=2026-04-10:key: same"},
    {"layout-change", "raw@day -> t@day change=2026-03-10:layout: same",
     "raw@day -> t@day change=2026-04-10:layout: same"},
    {"left-stale", "raw@day -> t@day never_rebuild: same", "raw@day -> t@day: same"},
    {"mapping-assumed", "raw@day -> t@day", "raw@day -> t@day: same"},
    {"merge-keeps-removed-rows", "raw@day -> t@day writes=merge key=id: same",
     "raw@day -> t@day writes=replace: same"},
    {"no-rollback", "raw@day -> t@day writes=replace rollback=none: same",
     "raw@day -> t@day writes=replace rollback=snapshots: same"},
    {"null-key", "raw@day -> t@day writes=merge key=id: same",
     "raw@day -> t@day writes=merge key=id not_null=yes: same"},
    {"open-partition", "raw@day -> t@day: same", "raw@day -> t@day: same", "raw 2026-04-01 .. 2026-04-20"},
    {"partial-overwrite", "raw@day -> t@day writes=whole from_var=day_from: same",
     "raw@day -> t@day writes=whole: same"},
    {"range-not-passed", "raw@day -> t@day writes=append: same\njob j writes t shell=run-it",
     "raw@day -> t@day writes=append: same\njob j writes t shell=run-{from}-{to}"},
    {"restates-with-newer", "raw@day -> dim@day: same\ndim -> t@day: latest\nraw -> t: same",
     "raw@day -> dim@day: same\ndim -> t@day: same"},
    {"retention", "raw@day -> stage@day retention=20d: same\nstage -> t@day: same",
     "raw@day -> stage@day: same\nstage -> t@day: same"},
    {"rewritten-along",
     "raw@day -> t@day: same\nraw -> u@day: all\njob both writes t, u shell=run-{from}-{to}",
     "raw@day -> t@day: same\njob one writes t shell=run-{from}-{to}"},
    {"schema-change", "raw@day -> t@day change=2026-03-10:schema: same",
     "raw@day -> t@day change=2026-04-10:schema: same"},
    {"schedule-collision", "raw@day -> t@day: same\njob j writes t cron=0-10-*-*-* rewrites=all",
     "raw@day -> t@day: same\njob j writes t"},
    {"shared-compute", "raw@day -> t@day: same\njob j writes t pool=p\npool p slots=2",
     "raw@day -> t@day: same\njob j writes t pool=p\npool p slots=40"},
    {"side-effects", "raw@day -> t@day effect=mails: same", "raw@day -> t@day: same"},
    {"source-reextract", "app origin=operational -> raw@day: same\nraw -> t@day: same",
     "app -> raw@day: same\nraw -> t@day: same", "app"},
    {"timezone-assumed", "raw@day zone=Europe/Berlin -> t@day: same", "raw@day zone=UTC -> t@day: same"},
    {"unfiltered-batch", "raw@day -> t@day writes=append finding=unfiltered-batch: same",
     "raw@day -> t@day writes=append: same"},
    {"unproven-key", "raw@day -> t@day writes=merge key=id: same",
     "raw@day -> t@day writes=merge key=id unique=yes: same"},
    {"unresolved", "raw@day -> t@day: same\ncopy deck of nowhere taken 2026-04-01 holds all",
     "raw@day -> t@day: same\ncopy deck of t taken 2026-04-01 holds all"},
    {"watermark-filter", "raw@day -> t@day writes=merge key=id finding=watermark-filter,bound=day~-3d: same",
     "raw@day -> t@day writes=merge key=id finding=watermark-filter,bound=day~-90d: same"},
    {"widened", "raw@day -> dim@none: same\ndim -> t@day first=2026-01-01: same\nraw -> t: same",
     "raw@day -> dim@none row_time=day: same\ndim -> t@day first=2026-01-01: same\nraw -> t: same"},
    {"write-unknown", "raw@day -> t@day: same", "raw@day -> t@day writes=replace: same"},
};

}  // namespace

TEST_CASE("each hazard is said where it is, and not where it is not") {
  for (const Example& e : kExamples) {
    CAPTURE(std::string(e.code));
    const bool of_question = std::string(e.with) == e.without;
    Asked with(e.with), without(e.without);
    const Plan plan = with.Ask(e.question);
    CAPTURE(Join(HazardsOf(with, plan), ", "));
    if (std::string(e.code) != "before-begin") CHECK(Has(plan, e.code));
    const Plan other = without.Ask(of_question ? "raw 2026-03-01 .. 2026-03-02" : e.question);
    CAPTURE(Join(HazardsOf(without, other), ", "));
    CHECK_FALSE(Has(other, e.code));
  }
}

TEST_CASE("days before dbt's begin are taken as there, and said") {
  Asked asked("raw@day -> t@day begin=2026-03-10: same");
  CHECK(Has(asked.Ask("t 2026-03-01 .. 2026-03-12"), "before-begin"));
  CHECK_FALSE(Has(asked.Ask("t 2026-03-10 .. 2026-03-12"), "before-begin"));
}

TEST_CASE("cells that another correction is rebuilding are refused") {
  Asked asked("raw@day -> t@day: same");
  LoggedRun run;
  run.number = 1, run.plan = "aaaaaaaaaaaaaaaa", run.by = "somebody";
  LoggedStep step;
  step.id = 1, step.dataset = "t", step.spans = SpanSet(asked.Ask("t 2026-03-05").steps.at(0).spans);
  run.steps.push_back(step);
  asked.log.push_back(run);
  CHECK(Has(asked.Ask("raw 2026-03-05"), "already-run"));
  CHECK_FALSE(Has(asked.Ask("raw 2026-03-06"), "already-run"));
}

TEST_CASE("no hazard is without an example") {
  std::set<std::string> shown = {"already-run"};
  for (const Example& e : kExamples) shown.insert(e.code);
  for (const HazardKind& kind : HazardKinds()) {
    CAPTURE(std::string(kind.code));
    CHECK(shown.count(kind.code) == 1);
  }
}
