// What is compared is cells by their instants, of datasets by their names: two plans meet wherever both
// write, whatever each was asked.

#include "analysis/after/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "graph/base/error.hpp"
#include "graph/base/words.hpp"

namespace backreach {

namespace {

using Where = std::map<std::string, std::vector<std::string>>;

bool Meet(const Where& a, const Where& b) {
  for (const auto& [name, values] : a) {
    const auto other = b.find(name);
    if (other == b.end()) continue;
    if (std::none_of(values.begin(), values.end(), [&](const std::string& v) {
          return std::find(other->second.begin(), other->second.end(), v) != other->second.end();
        }))
      return false;
  }
  return true;
}

void AddCells(LoggedRun& run, int id, const RecordedCells& cells, bool along) {
  std::map<Where, std::vector<Span>> parts;
  for (const RecordedSpan& s : cells.spans) parts[s.where].push_back(s.span);
  if (cells.whole || parts.empty()) parts = {{{}, {}}};
  for (auto& [where, spans] : parts) {
    LoggedStep step;
    step.id = id, step.dataset = cells.dataset, step.along = along;
    step.whole = cells.whole || spans.empty();
    step.where = where;
    if (!step.whole) step.spans = SpanSet::FromUnsorted(std::move(spans));
    run.steps.push_back(std::move(step));
  }
}

// The keys of what two steps share, as the plan names them.
std::string KeysIn(const RecordedPlan& plan, const LoggedStep& own, const SpanSet& shared) {
  const RecordedStep* step = plan.Step(own.id);
  if (!step || own.whole || shared.empty()) return "all";
  const Calendar calendar = CalendarOf(*step);
  std::vector<std::string> out;
  for (const Span& s : shared) {
    const std::string from = IsFinite(s.start) ? calendar.Key(s.start) : "the beginning";
    const std::string to = IsFinite(s.end) ? calendar.Key(s.end - 1) : "the end";
    out.push_back(from == to ? to : from + " .. " + to);
  }
  return ListOf(out, 4);
}

struct Overlap {
  bool any = false;
  SpanSet cells;
};
Overlap OverlapOf(const LoggedCells& a, const Where& where, const LoggedStep& b) {
  Overlap out;
  if (a.empty() || !Meet(where, b.where)) return out;
  if (a.whole || b.whole) {
    out.any = true;
    out.cells = b.spans;
  } else {
    out.cells = Intersection(a.spans, b.spans);
    out.any = !out.cells.empty();
  }
  return out;
}

bool Accepted(const RecordedPlan& plan, const char* code, const std::string& dataset) {
  return std::any_of(plan.hazards.begin(), plan.hazards.end(), [&](const RecordedHazard& h) {
    return h.code == code && h.cells.dataset == dataset && h.accepted;
  });
}

}  // namespace

LoggedRun EntryOf(const RecordedPlan& plan) {
  LoggedRun run;
  run.plan = plan.id;
  run.summary = plan.summary;
  std::vector<const RecordedStep*> steps;
  for (const RecordedStep& step : plan.steps) steps.push_back(&step);
  std::sort(steps.begin(), steps.end(),
            [](const RecordedStep* a, const RecordedStep* b) { return a->id < b->id; });
  for (const RecordedStep* step : steps) {
    AddCells(run, step->id, step->cells, false);
    for (const RecordedCells& cells : step->rewrites) AddCells(run, step->id, cells, true);
  }
  return run;
}

std::vector<std::string> RefusalsOf(const std::vector<LoggedRun>& log, const RecordedPlan& plan, bool force) {
  std::vector<std::string> out;
  const LoggedRun own = EntryOf(plan);
  std::set<std::string> held;  // datasets of which it is said already
  std::map<std::string, std::vector<const LoggedStep*>> by_dataset;
  for (const LoggedStep& step : own.steps) by_dataset[step.dataset].push_back(&step);
  for (const LoggedRun& run : log) {
    std::set<std::string> said;
    for (const LoggedStep& theirs : run.steps) {
      const auto mine = by_dataset.find(theirs.dataset);
      if (mine == by_dataset.end()) continue;
      const bool progress = run.state == LoggedRun::State::kInProgress;
      const LoggedCells cells = progress ? Held(run, theirs) : Rebuilt(run, theirs);
      for (const LoggedStep* step : mine->second) {
        const Overlap overlap = OverlapOf(cells, theirs.where, *step);
        if (!overlap.any || said.count(step->dataset)) continue;
        const RecordedStep* planned = plan.Step(step->id);
        // What was rebuilt once can be rebuilt again, but where that adds the rows once more.
        if (!progress && (step->along || theirs.along || !planned || planned->effect != "duplicated" ||
                          Accepted(plan, "already-run", step->dataset) || force))
          continue;
        said.insert(step->dataset), held.insert(step->dataset);
        const std::string keys = KeysIn(plan, *step, overlap.cells);
        out.push_back(
            progress
                ? fmt::format("already-run {}: {} is in the hands of plan {}, in progress since {}{}",
                              step->dataset, keys, run.plan, run.started_at,
                              run.by.empty() ? "" : " by " + run.by)
                : fmt::format("already-run {}: {} was rebuilt by plan {}, and one more run adds the rows "
                              "once more",
                              step->dataset, keys, run.plan));
      }
    }
  }
  if (force) return out;
  for (const RecordedHazard& h : plan.hazards)
    if (h.severity == "blocking" && !h.accepted && !(h.code == "already-run" && held.count(h.cells.dataset)))
      out.push_back(fmt::format("{} {}: {}", h.code, h.cells.dataset, h.message));
  return out;
}

const LoggedRun* FindRun(const std::vector<LoggedRun>& log, const std::string& plan, bool in_progress) {
  const LoggedRun* found = nullptr;
  for (const LoggedRun& run : log)
    if (run.plan == plan && (!in_progress || run.state == LoggedRun::State::kInProgress)) found = &run;
  return found;
}

LoggedRun* FindRun(std::vector<LoggedRun>& log, const std::string& plan, bool in_progress) {
  return const_cast<LoggedRun*>(FindRun(static_cast<const std::vector<LoggedRun>&>(log), plan, in_progress));
}

void LogStep(LoggedRun& run, const StepReport& report) {
  bool found = false;
  for (LoggedStep& step : run.steps) {
    if (step.id != report.id) continue;
    found = true;
    if (!report.position.empty() && !step.along) step.position = report.position;
    if (!report.at.empty()) step.at = report.at;
    if (report.cells) {
      if (report.state == LoggedStep::State::kDone) step.done.Add(Intersection(*report.cells, step.spans));
      const bool all = !step.whole && step.done.Covers(step.spans);
      step.state = all                                          ? LoggedStep::State::kDone
                   : report.state == LoggedStep::State::kFailed ? report.state
                   : step.state == LoggedStep::State::kDone     ? step.state
                                                                : LoggedStep::State::kStarted;
    } else if (report.state != LoggedStep::State::kStarted || step.state != LoggedStep::State::kDone) {
      step.state = report.state;
    }
    if (step.state == LoggedStep::State::kDone) step.done.Clear();
  }
  if (found) return;
  throw Error(fmt::format("backreach: error: plan {} has no step {}\n  its steps are 1 to {}", run.plan,
                          report.id, run.steps.empty() ? 0 : run.steps.back().id));
}

Progress ProgressOf(const LoggedRun& run) {
  Progress out;
  std::map<int, LoggedStep::State> states;
  for (const LoggedStep& step : run.steps)
    if (!step.along) {
      const auto [it, fresh] = states.emplace(step.id, step.state);
      if (!fresh && it->second != step.state) it->second = LoggedStep::State::kStarted;
    }
  out.all = states.size();
  for (const auto& [id, state] : states) {
    if (state == LoggedStep::State::kDone) ++out.done;
    if (state == LoggedStep::State::kFailed) out.failed.push_back(id);
    if (state == LoggedStep::State::kStarted) out.started.push_back(id);
  }
  return out;
}

std::vector<const LoggedStep*> ToTakeBack(const LoggedRun& run) {
  std::vector<const LoggedStep*> out;
  for (const LoggedStep& step : run.steps)
    if (!step.along && !step.position.empty() && step.state != LoggedStep::State::kPlanned)
      out.push_back(&step);
  return out;
}

}  // namespace backreach
