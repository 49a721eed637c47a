// Durations of steps, and of a plan with several of them at a time.

#include "analysis/steps/estimate.hpp"

#include <doctest/doctest.h>

using namespace backreach;

namespace {

// A graph of one dataset per time that is given, each with one run that took so many seconds.
LineageGraph Timed(const std::vector<double>& seconds) {
  LineageGraph g;
  for (const double s : seconds) {
    Dataset d;
    d.name = "d" + std::to_string(g.datasets.size());
    if (s >= 0) d.timings.push_back({d.name, s, {}, {}, false, "", {}});
    g.datasets.push_back(std::move(d));
  }
  return g;
}

Plan Steps(std::size_t n, const std::vector<std::vector<int>>& after, int threads) {
  Plan plan;
  plan.totals.threads = threads;
  for (std::size_t i = 0; i < n; ++i) {
    Step step;
    step.id = static_cast<int>(i) + 1;
    step.dataset = DatasetId{static_cast<std::uint32_t>(i)};
    step.whole = true;
    step.partitions = 1;
    step.after = after[i];
    plan.steps.push_back(std::move(step));
  }
  return plan;
}

}  // namespace

TEST_CASE("a plan takes as long as its threads need for it, and never less than its longest chain") {
  const LineageGraph g = Timed({10, 4, 6, 5});
  const std::vector<std::vector<int>> after = {{}, {1}, {1}, {2, 3}};
  Plan one = Steps(4, after, 1), two = Steps(4, after, 2);
  FillEstimates(g, one), FillEstimates(g, two);
  CHECK(one.totals.seconds == 25);
  CHECK(one.totals.critical_path == 21);
  CHECK(two.totals.seconds == 21);
  CHECK(two.totals.critical_path == 21);
  CHECK(one.steps[2].seconds == 6);
  CHECK(one.steps[2].from_runs == 1);
}

TEST_CASE("one step without history makes the plan's time unknown; a correction by hand does not") {
  const LineageGraph g = Timed({-1, 4});
  Plan plan = Steps(2, {{}, {1}}, 1);
  FillEstimates(g, plan);
  CHECK_FALSE(plan.totals.seconds);
  CHECK(plan.steps[1].seconds == 4);
  plan.steps[0].correct = true;
  FillEstimates(g, plan);
  CHECK(plan.totals.seconds == 4);
}

TEST_CASE("steps of one run take its time once; batches and variables multiply") {
  LineageGraph g = Timed({8, 8, 3});
  Plan plan = Steps(3, {{}, {}, {1, 2}}, 1);
  plan.steps[0].run = plan.steps[1].run = 1;
  FillEstimates(g, plan);
  CHECK(plan.totals.seconds == 11);

  g.datasets[0].timings = {{"d0", 60, 30, {}, false, "", {}}, {"d0", 30, 10, {}, false, "", {}}};
  Plan batches = Steps(1, {{}}, 1);
  batches.steps[0].whole = false;
  batches.steps[0].partitions = 31;
  FillEstimates(g, batches);
  CHECK(*batches.steps[0].seconds == doctest::Approx(90.0 / 40 * 31));
  CHECK(batches.steps[0].from_runs == 2);

  g.datasets[0].timings = {{"d0", 7, {}, {}, false, "", {}}, {"d0", 500, {}, {}, true, "", {}}};
  g.datasets[0].vars = {{"from", "day_from"}, {"to", "day_to"}};
  batches.steps[0].seconds.reset();
  batches.steps[0].spans = SpanSet(Span{0, 86400});
  batches.steps[0].spans.Add(SpanSet(Span{864000, 950400}));
  FillEstimates(g, batches);
  CHECK(batches.steps[0].seconds == 14);  // one command for each stretch; the full refresh says nothing of it
}
