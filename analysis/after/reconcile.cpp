// A run belongs to cells by its period: a cell has been run when the periods of the runs that succeeded cover
// all of it, so that one hour of a day is not the day. A run without any period stands for a step only where
// the plan's own command gives none either.

#include "analysis/after/reconcile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analysis/steps/airflow_runs.hpp"
#include "analysis/steps/ticks.hpp"
#include "graph/base/words.hpp"

namespace backreach {

namespace {

class Reconciler {
 public:
  explicit Reconciler(const ReconcileQuestion& q) : q_(q), plan_(*q.plan) {
    if (q.graph)
      for (std::uint32_t i = 0; i < q.graph->datasets.size(); ++i)
        ids_[q.graph->datasets[i].name] = DatasetId{i};
    for (const RecordedStep& step : plan_.steps) {
      Expected& e = expected_[step.cells.dataset];
      e.whole = e.whole || step.cells.whole;
      e.cells.Add(step.cells.Set());
      for (const RecordedCells& r : step.rewrites) {
        expected_[r.dataset].cells.Add(r.Set());
        expected_[r.dataset].whole = expected_[r.dataset].whole || r.whole;
      }
    }
  }

  Reconciliation Make() {
    out_.plan = plan_.id;
    for (const RunSeen& run : q_.runs) Take(run);
    for (const RecordedStep& step : plan_.steps) OfStep(step);
    if (earlier_ > 0)
      out_.notes.push_back(fmt::format("{} ended before {}, when the plan was {}: left out",
                                       Plural(earlier_, "record"), FormatInstant(*q_.since),
                                       q_.since == plan_.now ? "made" : "started"));
    if (tests_ > 0)
      out_.notes.push_back(fmt::format("{} of tests and the like left out", Plural(tests_, "record")));
    std::sort(unknown_.begin(), unknown_.end());
    unknown_.erase(std::unique(unknown_.begin(), unknown_.end()), unknown_.end());
    for (const std::string& name : unknown_)
      out_.notes.push_back(fmt::format("{}: nobody knows what it writes, so its runs tell nothing", name));
    std::stable_sort(out_.extra.begin(), out_.extra.end(), [](const ExtraRun& a, const ExtraRun& b) {
      return std::tie(a.dataset, a.said) < std::tie(b.dataset, b.said);
    });
    return std::move(out_);
  }

 private:
  struct Expected {
    bool whole = false;
    SpanSet cells;
  };
  // What all records together tell of one dataset.
  struct Told {
    SpanSet done, failed;   // stretches of time, not widened to cells
    bool ordinary = false;  // a run without a period succeeded
    bool ordinary_failed = false, whole = false;
    std::vector<std::string> said;
  };

  std::string Canonical(const std::string& name) const {
    if (ids_.count(name) || expected_.count(name)) return name;
    if (q_.canonical)
      if (const auto found = q_.canonical(name)) return *found;
    return name;
  }
  const Dataset* Known(const std::string& name) const {
    const auto it = ids_.find(name);
    return it == ids_.end() ? nullptr : &(*q_.graph)[it->second];
  }

  // ---- Records ----

  void Take(const RunSeen& run) {
    if (q_.since && run.ended && *run.ended < *q_.since) {
      ++earlier_;
      return;
    }
    if (run.state == RunSeen::State::kSkipped) return;
    if (run.engine == "airflow") return TakeDag(run);
    const std::string name = Canonical(run.name);
    if (run.engine == "dbt" && !StartsWith(name, "model.") && !StartsWith(name, "seed.") &&
        !StartsWith(name, "snapshot.") && !expected_.count(name)) {
      ++tests_;
      return;
    }
    RunSeen placed = run;
    if (placed.done.empty() && placed.failed.empty()) FromVars(name, placed);
    Tell(name, placed);
  }

  // The period that a run was given in the variables of its dataset.
  void FromVars(const std::string& name, RunSeen& run) const {
    const Dataset* d = Known(name);
    if (!d || d->vars.empty()) return;
    const auto value = [&](const char* end) -> std::optional<Span> {
      const auto variable = d->vars.find(end);
      if (variable == d->vars.end()) return std::nullopt;
      const auto it = run.vars.find(variable->second);
      return it == run.vars.end() ? std::nullopt : ParseDate(it->second, d->calendar).span;
    };
    const auto from = value("from"), to = value("to");
    if (!from) return;
    Span span = *from;
    const auto inclusive = d->vars.find("to_is");
    if (to) span.end = inclusive != d->vars.end() && inclusive->second == "inclusive" ? to->end : to->start;
    if (!span.empty()) (run.state == RunSeen::State::kFailed ? run.failed : run.done).push_back(span);
  }

  // A DAG's run writes what its tasks write.
  void TakeDag(const RunSeen& run) {
    std::set<std::string> datasets;
    if (q_.graph)
      for (const Job& job : q_.graph->jobs) {
        const auto task = AirflowTaskOf(job);
        if (!task || task->dag != run.name || (!run.task.empty() && task->task != run.task)) continue;
        for (const DatasetId id : job.writes) {
          if (!datasets.insert((*q_.graph)[id].name).second) continue;
          RunSeen placed = run;
          if (run.done.empty() && run.failed.empty() && run.date) ByDate(job, (*q_.graph)[id], placed);
          Tell((*q_.graph)[id].name, placed);
        }
      }
    if (!datasets.empty()) return;
    for (const RecordedStep& step : plan_.steps)
      for (const RecordedMethod& m : step.methods)
        for (const std::string& command : m.commands)
          if (m.engine == "airflow" && Names(command, run.name) && datasets.insert(step.cells.dataset).second)
            Tell(step.cells.dataset, run);
    if (datasets.empty()) unknown_.push_back("DAG " + run.name);
  }

  static bool Names(const std::string& command, const std::string& dag) {
    const auto words = Split(command, ' ');
    return std::find(words.begin(), words.end(), dag) != words.end();
  }

  // Of a run that only has a date: the cells that its tick writes, or the one that it lies in.
  void ByDate(const Job& job, const Dataset& d, RunSeen& run) const {
    SpanSet written;
    if (d.run_date_offset && d.layout)
      written = SpanSet(d.layout->CellAt(AddDuration(d.calendar.zone(), *run.date, *d.run_date_offset, -1)));
    else if (job.schedule)
      if (const auto ticks = TicksOf(*job.schedule)) written = WrittenAt(*job.schedule, *ticks, *run.date, d);
    if (written.empty() && d.layout) written = SpanSet(d.layout->CellAt(*run.date));
    auto& spans = run.state == RunSeen::State::kFailed ? run.failed : run.done;
    spans.insert(spans.end(), written.begin(), written.end());
  }

  void Tell(const std::string& name, const RunSeen& run) {
    Told& told = told_[name];
    if (run.state == RunSeen::State::kRunning) {
      told.said.push_back(run.said + " (not through)");
      return;
    }
    told.said.push_back(run.said);
    told.done.Add(SpanSet::FromUnsorted(
        run.state == RunSeen::State::kFailed && run.engine != "dbt" ? std::vector<Span>() : run.done));
    told.failed.Add(SpanSet::FromUnsorted(run.failed));
    const bool period = !run.done.empty() || !run.failed.empty();
    if (run.full_refresh && run.state == RunSeen::State::kDone) told.whole = true;
    if (!period) (run.state == RunSeen::State::kFailed ? told.ordinary_failed : told.ordinary) = true;
    Extra(name, run, period);
  }

  void Extra(const std::string& name, const RunSeen& run, bool period) {
    if (run.state == RunSeen::State::kFailed) return;  // it wrote nothing that anybody knows of
    const auto it = expected_.find(name);
    if (it == expected_.end()) {
      const Dataset* d = Known(name);
      if (d && !d->stores()) return;  // a view holds nothing
      out_.extra.push_back({name, SpanSet::FromUnsorted(run.done), run.said});
      return;
    }
    if (!period || it->second.whole) return;
    const Dataset* d = Known(name);
    SpanSet given = SpanSet::FromUnsorted(run.done);
    if (d && d->layout) given = d->layout->AlignOut(given);
    const SpanSet outside = Difference(given, it->second.cells);
    if (!outside.empty()) out_.extra.push_back({name, outside, run.said});
  }

  // ---- Steps ----

  // The plan's own command for the step gives a period.
  static bool GivesPeriod(const RecordedStep& step) {
    for (const RecordedMethod& m : step.methods)
      for (const std::string& c : m.commands)
        if (c.find("--event-time-start") != std::string::npos || c.find("--vars") != std::string::npos ||
            c.find("--from-date") != std::string::npos || c.find(" -s ") != std::string::npos)
          return true;
    return false;
  }

  void OfStep(const RecordedStep& step) {
    ReconciledStep out;
    out.id = step.id, out.dataset = step.cells.dataset, out.whole = step.cells.whole;
    const auto it = told_.find(step.cells.dataset);
    static const Told nothing;
    const Told& told = it == told_.end() ? nothing : it->second;
    out.said = told.said;
    if (out.said.size() > 5) {
      const std::size_t more = out.said.size() - 4;
      out.said.resize(4);
      out.said.push_back(fmt::format("and {} more records", more));
    }
    if (step.correct && it == told_.end()) {
      out.state = "by-hand";
      out_.steps.push_back(std::move(out));
      return;
    }
    if (step.cells.whole) {
      const bool ran = told.ordinary || told.whole || (!told.done.empty() && !GivesPeriod(step));
      out.state = ran ? "ran" : told.ordinary_failed || !told.failed.empty() ? "failed" : "not-run";
      out_.steps.push_back(std::move(out));
      return;
    }
    const SpanSet cells = step.cells.Set();
    const bool all = told.whole || (told.ordinary && !GivesPeriod(step));
    out.ran = all ? cells : CoveredCells(step, cells, told.done);
    out.missing = Difference(cells, out.ran);
    out.failed = Intersection(told.failed, out.missing);
    out.state = out.missing.empty()                                                ? "ran"
                : !out.failed.empty() || (told.ordinary_failed && out.ran.empty()) ? "failed"
                : !out.ran.empty()                                                 ? "partly"
                                                                                   : "not-run";
    if (out.state != "ran" && told.ordinary && GivesPeriod(step))
      out.said.push_back("a run without a period succeeded: nothing tells that it was of these cells");
    out_.steps.push_back(std::move(out));
  }

  // The cells that lie in `done` from their first to their last instant.
  SpanSet CoveredCells(const RecordedStep& step, const SpanSet& cells, const SpanSet& done) const {
    const Dataset* d = Known(step.cells.dataset);
    const Layout own = d && d->layout ? *d->layout : Layout(CalendarOf(step));
    std::vector<Span> out;
    for (const Span& s : Intersection(done, cells)) {
      const Span full{IsFinite(s.start) ? own.Ceil(s.start) : s.start,
                      IsFinite(s.end) ? own.Floor(s.end) : s.end};
      if (!full.empty()) out.push_back(full);
    }
    return SpanSet::FromUnsorted(std::move(out));
  }

  const ReconcileQuestion& q_;
  const RecordedPlan& plan_;
  std::map<std::string, DatasetId> ids_;
  std::map<std::string, Expected> expected_;
  std::map<std::string, Told> told_;
  std::vector<std::string> unknown_;
  std::int64_t earlier_ = 0, tests_ = 0;
  Reconciliation out_;
};

}  // namespace

Reconciliation Reconcile(const ReconcileQuestion& question) { return Reconciler(question).Make(); }

}  // namespace backreach
