// Jobs with several outputs write all of them; a run coarser than its cells writes its whole stretch.

#include "analysis/steps/runs.hpp"

#include "analysis/steps/airflow_runs.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace backreach {

bool NumberByWave(std::vector<Step>& steps) {
  const std::size_t n = steps.size();
  std::vector<std::vector<int>> next(n);
  std::vector<int> waiting(n, 0), ready;
  for (std::size_t s = 0; s < n; ++s) {
    steps[s].wave = 0;
    for (const int before : steps[s].after) next[before].push_back(static_cast<int>(s));
    waiting[s] = static_cast<int>(steps[s].after.size());
    if (waiting[s] == 0) ready.push_back(static_cast<int>(s));
  }
  std::size_t done = 0;
  while (!ready.empty()) {
    const int s = ready.back();
    ready.pop_back();
    ++done;
    for (const int later : next[s]) {
      steps[later].wave = std::max(steps[later].wave, steps[s].wave + 1);
      if (--waiting[later] == 0) ready.push_back(later);
    }
  }
  if (done != n) return false;
  std::vector<int> order(n), place(n);
  for (std::size_t i = 0; i < n; ++i) order[i] = static_cast<int>(i);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return steps[a].wave < steps[b].wave; });
  std::vector<Step> sorted;
  sorted.reserve(n);
  for (std::size_t i = 0; i < n; ++i) place[order[i]] = static_cast<int>(i) + 1;
  for (const int s : order) {
    Step step = std::move(steps[s]);
    step.id = place[s];
    for (int& before : step.after) before = place[before];
    std::sort(step.after.begin(), step.after.end());
    sorted.push_back(std::move(step));
  }
  steps = std::move(sorted);
  return true;
}

namespace {

class Runs {
 public:
  Runs(const LineageGraph& graph, const Frame& frame, std::vector<Step>& steps)
      : g_(graph), frame_(frame), steps_(steps) {}

  void Fill() {
    std::map<JobId, std::vector<std::size_t>> by_job;
    for (std::size_t s = 0; s < steps_.size(); ++s)
      if (!steps_[s].correct)
        for (const JobId job : g_[steps_[s].dataset].jobs)
          if (!AirflowTaskOf(g_[job]) || RunByAirflow(job, steps_[s])) by_job[job].push_back(s);
    for (const auto& [job, mine] : by_job) {
      const bool several = g_[job].writes.size() > 1 && !g_[job].separable;
      if (several || g_[job].run_grain || AirflowTaskOf(g_[job])) Job(job, mine, several);
    }
    for (Step& step : steps_)
      if (!step.correct && !step.whole) Batches(step);
    OtherTasks();
  }

 private:
  const SpanSet& Planned(DatasetId id) {
    if (planned_.empty())
      for (const Step& s : steps_) planned_[s.dataset].Add(s.whole ? SpanSet::All() : s.spans);
    return planned_[id];
  }

  // The stretch of time that the job's runs cover to write these cells.
  SpanSet RunSpans(JobId id, const Step& step) const {
    const backreach::Job& job = g_[id];
    if (step.whole) return SpanSet::All();
    SpanSet covered = step.spans;
    if (RunByAirflow(id, step)) {
      const AirflowRuns runs = RunsFor(g_, job, step);
      if (runs.periodic) covered.Add(runs.written);
    }
    if (!job.run_grain || job.run_grain->none()) return covered;
    const Dataset& d = g_[step.dataset];
    return Layout(
               Calendar(*job.run_grain, &d.calendar.zone(), d.calendar.starts_at(), d.calendar.week_start()))
        .AlignOut(covered);
  }

  // The step's own method is this job's: it is what counts, not a further one beside dbt's own.
  bool RunByAirflow(JobId id, const Step& step) const {
    if (step.methods.empty() || step.methods[0].engine != "airflow") return false;
    const auto& jobs = g_[step.dataset].jobs;
    const auto first =
        std::find_if(jobs.begin(), jobs.end(), [&](JobId job) { return AirflowTaskOf(g_[job]).has_value(); });
    return first != jobs.end() && *first == id;
  }

  // A DAG runs as a whole: its other tasks write their outputs too. A whole step is one run of the moment,
  // which gives other tables their ordinary cell.
  void OtherTasks() {
    std::map<std::string, std::vector<JobId>> of_dag;
    for (Step& step : steps_) {
      if (step.correct) continue;
      for (const JobId id : g_[step.dataset].jobs) {
        if (!RunByAirflow(id, step) || g_[id].separable) continue;
        if (of_dag.empty())
          for (std::uint32_t j = 0; j < g_.jobs.size(); ++j)
            if (AirflowTaskOf(g_.jobs[j])) of_dag[RunsAs(g_.jobs[j])].push_back(JobId{j});
        const SpanSet covered = RunSpans(id, step);
        for (const JobId other : of_dag[RunsAs(g_[id])])
          for (const DatasetId out : g_[other].writes)
            if (other != id && out != step.dataset && !(step.whole && g_[out].layout))
              AddRewrites(step, out, covered);
      }
    }
  }

  // dbt widens a window to whole batches, and cuts these by UTC.
  void Batches(Step& step) {
    const auto batches = g_[step.dataset].methods.find("dbt_batches");
    if (batches == g_[step.dataset].methods.end()) return;
    const auto size = ParseGrain(batches->second);
    if (!size || size->none()) return;
    AddRewrites(step, step.dataset, Layout(Calendar(*size, Zone::Utc())).AlignOut(step.spans));
  }

  void Job(JobId id, const std::vector<std::size_t>& mine, bool several) {
    const backreach::Job& job = g_[id];
    for (const std::size_t s : mine) {
      Step& step = steps_[s];
      const SpanSet covered = RunSpans(id, step);
      for (const DatasetId out : job.writes) {
        if (!several && out != step.dataset) continue;
        AddRewrites(step, out, covered);
      }
    }
    if (several && mine.size() > 1) JoinRuns(id, mine);
  }

  void AddRewrites(Step& step, DatasetId out, const SpanSet& covered) {
    const Dataset& d = g_[out];
    const SpanSet& planned = Planned(out);
    Cells cells;
    cells.dataset = out;
    if (!d.layout || covered.IsAll()) {
      if (!planned.empty()) return;
      cells.whole = !d.layout;
      if (d.layout) cells.spans = SpanSet(Span{frame_[out].first, frame_[out].begun_end});
    } else {
      cells.spans =
          Difference(d.layout->AlignOut(covered).Clip(frame_[out].first, frame_[out].begun_end), planned);
      if (cells.spans.empty()) return;
    }
    for (Cells& known : step.rewrites) {
      if (known.dataset != out) continue;
      known.spans.Add(cells.spans);
      return;
    }
    step.rewrites.push_back(std::move(cells));
  }

  // Steps of one run: they wait together for what any of them reads.
  void JoinRuns(JobId, const std::vector<std::size_t>& mine) {
    std::set<int> ids;
    for (const std::size_t s : mine) ids.insert(steps_[s].id);
    std::set<int> together;
    for (const std::size_t s : mine)
      for (const int before : steps_[s].after) together.insert(before);
    // One run cannot wait for itself: if one output is read on the way to another, the job runs once for
    // each.
    std::map<int, const Step*> by_id;
    for (const Step& s : steps_) by_id[s.id] = &s;
    std::vector<int> todo(together.begin(), together.end());
    std::set<int> seen;
    while (!todo.empty()) {
      const int at = todo.back();
      todo.pop_back();
      if (ids.count(at)) return;
      if (!seen.insert(at).second) continue;
      for (const int before : by_id[at]->after) todo.push_back(before);
    }
    ++runs_;
    for (const std::size_t s : mine) {
      steps_[s].run = runs_;
      steps_[s].after.assign(together.begin(), together.end());
    }
    changed_ = true;
  }

  const LineageGraph& g_;
  const Frame& frame_;
  std::vector<Step>& steps_;
  std::map<DatasetId, SpanSet> planned_;
  int runs_ = 0;

 public:
  bool changed_ = false;
};

}  // namespace

void FillRuns(const LineageGraph& graph, const Frame& frame, std::vector<Step>& steps) {
  Runs runs(graph, frame, steps);
  runs.Fill();
  if (!runs.changed_) return;
  for (Step& step : steps)
    for (int& before : step.after) --before;  // ids are positions plus one
  NumberByWave(steps);
}

}  // namespace backreach
