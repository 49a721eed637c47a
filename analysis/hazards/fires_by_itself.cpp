// Jobs that start when the plan writes what they wait for: those that make datasets of the plan, and those
// that only read and send.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analysis/hazards/all.hpp"
#include "analysis/steps/airflow_runs.hpp"
#include "graph/base/words.hpp"

namespace backreach::hazards {

namespace {

// What is paused as one: a DAG with its tasks, or a job.
struct Automation {
  std::string dag;  // empty: a job
  std::vector<std::string> jobs;
};

class Finder {
 public:
  Finder(const HazardContext& c, std::vector<Hazard>& out) : c_(c), out_(out) {
    for (const Step& step : c.plan.steps) {
      if (step.correct || step.methods.empty() || step.methods[0].engine != "airflow") continue;
      for (const JobId id : c.graph[step.dataset].jobs)
        if (AirflowTaskOf(c.graph[id])) needed_[RunsAs(c.graph[id])].push_back(step.dataset);
    }
  }

  void Find() {
    for (const Step& step : c_.plan.steps) {
      const Dataset& d = c_.graph[step.dataset];
      if (step.correct) continue;
      for (const JobId id : d.jobs) Maker(c_.graph[id], step);
      Platform(d, step);
    }
    Readers();
  }

 private:
  std::vector<DatasetId> SetOffBy(const Job& job, std::optional<DatasetId> own) const {
    std::vector<DatasetId> out;
    for (const DatasetId on : job.fires_on)
      if (on != own && !c_.StepsOf(on).empty()) out.push_back(on);
    return out;
  }

  // What the platform itself does when its inputs change.
  void Platform(const Dataset& d, const Step& step) {
    const std::string by = RefreshedBy(d);
    if (by == "trigger")
      out_.push_back(MakeHazard(
          "fires-by-itself", HazardSeverity::kWarning, step.dataset, SpanSet::All(),
          fmt::format("every insert into what {} reads runs it: each step before it adds to it", d.name),
          "detach it until what it reads is through"));
    else if (d.writes == Writes::kRefresh && by != "told")
      out_.push_back(MakeHazard(
          "fires-by-itself", HazardSeverity::kWarning, step.dataset, SpanSet::All(),
          fmt::format("the warehouse refreshes {} by itself: it may run from half-new inputs", d.name),
          "suspend its refresh until what it reads is through, then refresh it once"));
  }

  // A job that makes a dataset of the plan stands on that.
  void Maker(const Job& job, const Step& step) {
    const auto before = SetOffBy(job, step.dataset);
    if (before.empty()) return;
    const auto task = AirflowTaskOf(job);
    Add(step.dataset, step.whole ? SpanSet::All() : step.spans, RunsAs(job),
        {task ? task->dag : "", {job.name}}, before);
  }

  // Jobs that write nothing of the plan stand on what sets them off; the tasks of one DAG together.
  void Readers() {
    std::map<std::pair<std::string, DatasetId>, Automation> found;
    std::map<std::string, std::set<DatasetId>> set_off;
    for (const Job& job : c_.graph.jobs) {
      if (job.fires_on.empty() || std::any_of(job.writes.begin(), job.writes.end(),
                                              [&](DatasetId w) { return !c_.StepsOf(w).empty(); }))
        continue;
      const auto before = SetOffBy(job, std::nullopt);
      if (before.empty()) continue;
      const auto task = AirflowTaskOf(job);
      Automation& automation = found[{RunsAs(job), before.front()}];
      automation.dag = task ? task->dag : "";
      automation.jobs.push_back(job.name);
      set_off[RunsAs(job)].insert(before.begin(), before.end());
    }
    for (const auto& [key, automation] : found) {
      const auto& [name, on] = key;
      if (Makes(name)) continue;  // said on what it makes
      SpanSet spans;
      bool whole = false;
      for (const Step* step : c_.StepsOf(on)) {
        whole = whole || step->whole;
        spans.Add(step->spans);
      }
      const auto& all = set_off[name];
      Add(on, whole ? SpanSet::All() : spans, name, automation, {all.begin(), all.end()});
    }
  }

  // A task of this DAG makes a dataset of the plan and was named there.
  bool Makes(const std::string& name) const { return named_.count(name) > 0; }

  void Add(DatasetId dataset, const SpanSet& spans, const std::string& name, const Automation& automation,
           const std::vector<DatasetId>& before) {
    named_.insert(name);
    const std::string who = automation.dag.empty()
                                ? ListOf(automation.jobs)
                                : fmt::format("DAG {} ({})", automation.dag, ListOf(automation.jobs));
    std::string remedy;
    const auto needed = needed_.find(name);
    if (needed != needed_.end()) {
      std::set<DatasetId> once(needed->second.begin(), needed->second.end());
      remedy = fmt::format(
          "leave DAG {} running: the plan's own step for {} is run by it, and a DAG that is paused starts "
          "nothing; "
          "let the runs that it starts by itself end before that step",
          automation.dag, NamesText(c_.graph, {once.begin(), once.end()}));
    } else if (!automation.dag.empty()) {
      remedy = fmt::format(
          "pause DAG {} (airflow dags pause {}{}) until the plan is through, then start it once",
          automation.dag, StartsWith(automation.dag, "-") ? "-- " : "", ShellWord(automation.dag));
    } else {
      remedy = fmt::format("pause {} until the plan is through, then start it once", ListOf(automation.jobs));
    }
    Hazard h = MakeHazard(
        "fires-by-itself", HazardSeverity::kWarning, dataset, spans,
        fmt::format(
            "{} starts by itself when {} changes: it may run once for each step, from half-new inputs", who,
            NamesText(c_.graph, before)),
        remedy);
    h.evidence["job"] = automation.jobs;
    out_.push_back(std::move(h));
  }

  const HazardContext& c_;
  std::vector<Hazard>& out_;
  std::map<std::string, std::vector<DatasetId>> needed_;  // DAGs that steps of the plan are run by
  std::set<std::string> named_;
};

void Find(const HazardContext& c, std::vector<Hazard>& out) { Finder(c, out).Find(); }

}  // namespace

HazardKind FiresByItself() {
  return {"fires-by-itself",
          HazardSeverity::kWarning,
          "the automation of a dataset of the plan reacts to a step before it, or a job that makes none of "
          "them does",
          "it may run once for each step, from inputs that are half new",
          "pause its automation until the plan is through, then start it once; not a DAG that the plan's own "
          "steps "
          "are run by",
          Find};
}

}  // namespace backreach::hazards
