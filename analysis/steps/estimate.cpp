// Steps that one run does together are one unit of work. Units are started in the order of their ids as soon
// as what they wait for is done and a thread is free, which is how an orchestrator would take them.

#include "analysis/steps/estimate.hpp"

#include <algorithm>
#include <map>
#include <queue>
#include <set>

namespace backreach {

namespace {

// The number of runs of its job that a step takes, where the job does not go cell by cell.
std::int64_t RunsOf(const Dataset& d, const Step& step) {
  const bool by_variables = !step.whole && d.vars.count("from") && !d.methods.count("dbt_batches");
  if (by_variables && (!d.vars.count("to") || step.sequential) && step.partitions) return *step.partitions;
  return by_variables ? std::max<std::int64_t>(1, static_cast<std::int64_t>(step.spans.size())) : 1;
}

void Estimate(const LineageGraph& graph, Step& step) {
  const Dataset& d = graph[step.dataset];
  if (step.correct && step.methods.empty()) return;  // by hand
  for (const JobId id : d.jobs)
    if (graph[id].seconds_per_cell && step.partitions) {
      step.seconds = *graph[id].seconds_per_cell * static_cast<double>(*step.partitions);
      return;
    }
  double batch_seconds = 0, run_seconds = 0;
  std::int64_t batches = 0, batch_runs = 0, runs = 0;
  for (const TimingFact& t : d.timings) {
    if (t.batches)
      batch_seconds += t.seconds, batches += *t.batches, ++batch_runs;
    else if (!t.full_refresh)
      run_seconds += t.seconds, ++runs;
  }
  if (batches > 0 && step.partitions && !step.whole) {
    step.seconds = batch_seconds / static_cast<double>(batches) * static_cast<double>(*step.partitions);
    step.from_runs = batch_runs;
  } else if (runs > 0) {
    step.seconds = run_seconds / static_cast<double>(runs) * static_cast<double>(RunsOf(d, step));
    step.from_runs = runs;
  }
}

struct Unit {
  double seconds = 0, path = 0;
  int waiting = 0;
  std::vector<std::size_t> next;
};

// The units of work, and whether the time of each is known.
bool Units(const std::vector<Step>& steps, std::vector<Unit>& units) {
  std::map<int, std::size_t> of_step, of_run;
  for (const Step& step : steps) {
    std::size_t unit = units.size();
    if (step.run) unit = of_run.emplace(*step.run, unit).first->second;
    if (unit == units.size()) units.emplace_back();
    of_step[step.id] = unit;
    if (step.correct && !step.seconds) continue;
    if (!step.seconds) return false;
    units[unit].seconds = std::max(units[unit].seconds, *step.seconds);
  }
  std::set<std::pair<std::size_t, std::size_t>> links;
  for (const Step& step : steps)
    for (const int before : step.after)
      if (of_step[before] != of_step[step.id]) links.emplace(of_step[before], of_step[step.id]);
  for (const auto& [from, to] : links) units[from].next.push_back(to), ++units[to].waiting;
  return true;
}

}  // namespace

void FillEstimates(const LineageGraph& graph, Plan& plan) {
  for (Step& step : plan.steps) Estimate(graph, step);
  std::vector<Unit> units;
  if (plan.steps.empty() || !Units(plan.steps, units)) return;
  if (std::none_of(plan.steps.begin(), plan.steps.end(), [](const Step& s) { return s.seconds.has_value(); }))
    return;
  std::set<std::size_t> ready;
  using Running = std::pair<double, std::size_t>;
  std::priority_queue<Running, std::vector<Running>, std::greater<>> running;
  for (std::size_t u = 0; u < units.size(); ++u)
    if (units[u].waiting == 0) ready.insert(u);
  double now = 0, longest = 0;
  while (!ready.empty() || !running.empty()) {
    while (!ready.empty() && running.size() < static_cast<std::size_t>(plan.totals.threads)) {
      const std::size_t u = *ready.begin();
      ready.erase(ready.begin());
      running.emplace(now + units[u].seconds, u);
    }
    const auto [end, done] = running.top();
    running.pop();
    now = end;
    const double path = units[done].path + units[done].seconds;
    longest = std::max(longest, path);
    for (const std::size_t next : units[done].next) {
      units[next].path = std::max(units[next].path, path);
      if (--units[next].waiting == 0) ready.insert(next);
    }
  }
  plan.totals.seconds = now;
  plan.totals.critical_path = longest;
}

}  // namespace backreach
