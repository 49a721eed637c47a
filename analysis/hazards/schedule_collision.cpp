// Scheduled runs that write cells of the plan while it runs: the next ticks of every writer, by the real cron
// in its zone, over the time that the plan is estimated to take.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "analysis/hazards/all.hpp"
#include "analysis/steps/airflow_runs.hpp"
#include "analysis/steps/ticks.hpp"
#include "graph/base/words.hpp"

namespace backreach::hazards {

namespace {

// A job of every minute for some weeks; what lies behind is no news.
constexpr std::size_t kMostTicks = 50'000;

struct Collision {
  std::vector<Instant> ticks;  // the first few
  std::size_t count = 0;
  SpanSet cells;
  bool whole = false;
};

Collision CollisionsOf(const Job& job, const Ticks& ticks, const Dataset& d, const Written& w, Span time) {
  Collision out;
  std::size_t n = 0;
  // A tick at the very beginning is a run that starts with the plan.
  for (auto t = ticks.AtOrAfter(time.start); t && *t < time.end && n < kMostTicks; t = ticks.After(*t), ++n) {
    const SpanSet written = WrittenAt(*job.schedule, ticks, *t, d);
    if (written.empty()) return out;  // it never says
    const bool whole = w.whole || w.spans.empty();
    const SpanSet hit = whole ? SpanSet() : Intersection(written, w.spans);
    if (!whole && hit.empty()) continue;
    out.whole = whole;
    out.cells.Add(hit);
    ++out.count;
    if (out.ticks.size() < 3) out.ticks.push_back(*t);
  }
  return out;
}

std::string TicksText(const Collision& found, const Zone& zone) {
  std::vector<std::string> texts;
  for (const Instant t : found.ticks) texts.push_back(FormatCivilInstant(t, zone));
  std::string out = ListOf(texts);
  if (found.count > found.ticks.size())
    out += fmt::format(" and {} more times",
                       Thousands(static_cast<std::int64_t>(found.count - found.ticks.size())));
  return out + " (" + zone.name() + ")";
}

// How to keep the run away, as it is to be typed.
std::string Remedy(const HazardContext& c, const Job& job) {
  const auto task = AirflowTaskOf(job);
  if (!task)
    return fmt::format("pause {} until the plan is through, or start the plan right after its run", job.name);
  const bool needed = std::any_of(c.plan.steps.begin(), c.plan.steps.end(), [&](const Step& step) {
    const auto& jobs = c.graph[step.dataset].jobs;
    return !step.correct && !step.methods.empty() && step.methods[0].engine == "airflow" &&
           std::any_of(jobs.begin(), jobs.end(),
                       [&](JobId id) { return RunsAs(c.graph[id]) == RunsAs(job); });
  });
  if (needed)
    return fmt::format(
        "the plan's own step is run by DAG {}, which runs nothing while it is paused: start right "
        "after that run and be through before the next one",
        task->dag);
  return fmt::format("airflow dags pause {}, and after the plan: airflow dags unpause {}",
                     ShellWord(task->dag), ShellWord(task->dag));
}

void Find(const HazardContext& c, std::vector<Hazard>& out) {
  const auto& seconds = c.plan.totals.seconds;
  const Instant now = c.plan.request.now;
  const std::int64_t length = seconds ? static_cast<std::int64_t>(std::ceil(*seconds)) : kDay;
  const Span time{now, now + std::max<std::int64_t>(length, 1)};
  const std::string during = seconds ? "within the estimated time of the plan"
                                     : "within 24 hours from now (nothing tells how long the plan takes)";
  std::set<std::pair<DatasetId, JobId>> said;
  for (const Written& w : WrittenCells(c)) {
    const Dataset& d = c.graph[w.dataset];
    for (const JobId id : d.jobs) {
      const Job& job = c.graph[id];
      if (!job.schedule) continue;
      const auto ticks = TicksOf(*job.schedule);
      if (!ticks) continue;
      const Collision found = CollisionsOf(job, *ticks, d, w, time);
      if (found.count == 0 || !said.emplace(w.dataset, id).second) continue;
      const Zone* zone = ZoneOfSchedule(job.schedule->timezone.value_or("UTC"));
      Hazard h = MakeHazard(
          "schedule-collision", HazardSeverity::kWarning, w.dataset,
          found.whole ? SpanSet::All() : found.cells,
          fmt::format("{} ({}) starts {} and writes {} of {} too, {}: whichever ends last is what stays",
                      job.name, ScheduleText(*job.schedule), TicksText(found, zone ? *zone : *Zone::Utc()),
                      found.whole ? "all" : SpansText(d, found.cells), d.name, during),
          Remedy(c, job));
      h.evidence["job"] = {job.name};
      for (const Instant t : found.ticks) h.evidence["ticks"].push_back(FormatInstant(t));
      h.evidence["estimated"] = {seconds ? "true" : "false"};
      out.push_back(std::move(h));
    }
  }
}

}  // namespace

HazardKind ScheduleCollision() {
  return {
      "schedule-collision",
      HazardSeverity::kWarning,
      "a scheduled run will write cells of the plan while it runs, as its covers or rewrites say; over the "
      "plan's estimated time, or 24 hours where that is unknown",
      "two runs write the same cells, and whichever ends last is what stays",
      "pause the scheduled run until the plan is through, or start right behind it",
      Find};
}

}  // namespace backreach::hazards
