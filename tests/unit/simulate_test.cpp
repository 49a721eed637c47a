// The effects that plans predict, held against what the ways of writing do to rows.
#include <map>

#include "analysis/planner.hpp"
#include "analysis/request_text.hpp"
#include "analysis/simulate.hpp"
#include "graph/join/builder.hpp"
#include "tests/unit/support.hpp"

namespace backreach {

namespace {

struct Written {
  const char* declared;
  WayOfWriting way;
};
const std::vector<Written>& AllWritten() {
  static const std::vector<Written> all = {
      {"writes: append", WayOfWriting::kAppend},
      {"writes: merge, key: [id]", WayOfWriting::kMerge},
      {"writes: delete_insert, key: [id]", WayOfWriting::kDeleteInsert},
      {"writes: delete_insert, key: [day]", WayOfWriting::kDeleteInsertGrain},
      {"writes: dynamic_overwrite", WayOfWriting::kDynamicOverwrite},
      {"writes: replace", WayOfWriting::kReplace},
      {"writes: whole", WayOfWriting::kWhole}};
  return all;
}

Plan PlanFor(const std::string& declared) {
  Folder folder;
  const std::string path = folder.Write(
      "registry.yml",
      "backreach: 1\ndatasets:\n  - {name: raw, kind: source, partitions: {grain: day, first: 2026-01-01}}\n"
      "  - {name: t, partitions: {grain: day, first: 2026-01-01, column: day}, proven: {unique: true, "
      "not_null: true}, " +
          declared + "}\nedges:\n  - {from: raw, to: t}\n");
  Diagnostics diagnostics;
  const BuiltGraph built = BuildGraph(Named("registry").run({{path}, {}}, diagnostics));
  CHECK_FALSE(diagnostics.has_errors());
  RequestText text;
  text.targets = {"raw"};
  text.ranges = {"2026-03-02..2026-03-03"};
  text.now = *ParseInstant("2026-04-20T09:00Z", true);
  const Request request = ReadRequest(built.graph, built.names, text);
  Plan plan = MakePlan(built.graph, request);
  CHECK(WayOf(built.graph[plan.steps.back().dataset]).has_value());
  return plan;
}

bool Has(const Plan& plan, const char* code) {
  for (const Hazard& h : plan.hazards)
    if (h.code == code) return true;
  return false;
}

}  // namespace

TEST_CASE("a plan predicts of each way of writing what it does to rows") {
  for (const Written& w : AllWritten()) {
    CAPTURE(w.declared);
    const Plan plan = PlanFor(w.declared);
    REQUIRE(plan.steps.size() == 2);
    CHECK(plan.steps[1].effect == Simulate(w.way, Situation::kRerun).effect);
    // A row that the correction removes stays exactly where the plan warns of it.
    const bool keeps = Simulate(w.way, Situation::kRemoved).effect == Effect::kKeptOld;
    CHECK(Has(plan, "merge-keeps-removed-rows") == keeps);
    // So does a day that becomes empty; a key keeps its rows too.
    const bool kept = Simulate(w.way, Situation::kEmptied).effect == Effect::kKeptOld;
    CHECK((Has(plan, "empty-partition-kept") || Has(plan, "merge-keeps-removed-rows")) ==
          (kept && w.way != WayOfWriting::kAppend));
  }
}

TEST_CASE("who is told of what the ways of writing do") {
  const auto told = [](WayOfWriting way, Situation situation) { return Simulate(way, situation).told_by; };
  using Words = std::vector<std::string>;
  CHECK(told(WayOfWriting::kAppend, Situation::kRerun) == Words{"unique", "row_count"});
  CHECK(told(WayOfWriting::kReplace, Situation::kTwice).empty());
  // A null key is inserted again by every run, and a uniqueness test does not see it.
  CHECK(Simulate(WayOfWriting::kMerge, Situation::kNullKeys).effect == Effect::kDuplicated);
  CHECK(told(WayOfWriting::kMerge, Situation::kNullKeys) == Words{"not_null"});
  CHECK(Simulate(WayOfWriting::kDynamicOverwrite, Situation::kPart).effect == Effect::kLost);
  CHECK(Simulate(WayOfWriting::kReplace, Situation::kToday).effect == Effect::kOverwrittenOpen);
  CHECK(told(WayOfWriting::kMerge, Situation::kRemoved).empty());
}

}  // namespace backreach
