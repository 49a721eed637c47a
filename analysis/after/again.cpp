// A step that is done is taken out, and nothing waits for it any more. Of a step that is done in part the
// cells that are left stay, where its commands follow its cells; a command that is a fixed line would do all
// of them, so the step stays whole, and that is said.

#include "analysis/after/again.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "graph/base/error.hpp"
#include "graph/base/words.hpp"

namespace backreach {

namespace {

DatasetId Find(const NameIndex& names, const RecordedPlan& plan, const std::string& name) {
  const auto found = names.FindExact(name);
  if (!found)
    throw Error(
        fmt::format("{}: error: the plan is about {}, which the graph does not have any more\n"
                    "  plan again",
                    plan.path, name));
  return DatasetId{*found};
}

bool FollowsCells(const Step& step) {
  return std::all_of(step.methods.begin(), step.methods.end(), [](const Method& m) {
    return !std::holds_alternative<std::monostate>(m.way) || m.commands.empty();
  });
}

// What the run has done of each step, by id.
struct Done {
  bool all = true;
  SpanSet cells;
};

std::map<int, Done> DoneOf(const LoggedRun& run) {
  std::map<int, Done> out;
  for (const LoggedStep& step : run.steps) {
    if (step.along) continue;
    Done& done = out[step.id];
    const LoggedCells cells = Rebuilt(run, step);
    done.all = done.all && (step.whole ? cells.whole : cells.spans.Covers(step.spans) && !step.spans.empty());
    if (step.where.empty())
      done.cells.Add(cells.spans);  // parts of a dimension are done as a whole or not at all
  }
  return out;
}

void CutTo(Step& step, const SpanSet& left) {
  step.spans = left;
  step.dirty = Intersection(step.dirty, left);
  if (!step.calendar || left.empty() || !IsFinite(left.front().start)) return;
  std::int64_t n = 0;
  for (const Span& s : left) n += step.calendar->Count(s);
  if (step.seconds && step.partitions && *step.partitions > 0)
    step.seconds = *step.seconds * static_cast<double>(n) / static_cast<double>(*step.partitions);
  step.partitions = n;
}

void CountWaves(Plan& plan) {
  std::map<int, int> waves;  // steps stand before what waits for them
  for (Step& step : plan.steps) {
    step.wave = 0;
    for (const int before : step.after) step.wave = std::max(step.wave, waves[before] + 1);
    waves[step.id] = step.wave;
  }
}

}  // namespace

Request RequestAgain(const LineageGraph& graph, const NameIndex& names, const RecordedPlan& plan) {
  Request out;
  out.now = plan.now;
  for (const RecordedTarget& recorded : plan.targets) {
    Target t;
    t.dataset = Find(names, plan, recorded.cells.dataset);
    const Dataset& d = graph[t.dataset];
    t.whole = recorded.cells.whole;
    t.asked = recorded.asked;
    t.cells = recorded.cells.Set();
    if (!d.layout && t.whole) t.asked = SpanSet::All();
    if (!d.layout) t.cells = d.stores() ? SpanSet::All() : t.asked;
    t.widened = d.layout && d.stores() && !(t.asked == t.cells);
    out.targets.push_back(std::move(t));
  }
  std::sort(out.targets.begin(), out.targets.end(),
            [](const Target& a, const Target& b) { return a.dataset < b.dataset; });
  for (const RecordedCells& e : plan.excluded)
    out.exclusions.push_back({Find(names, plan, e.dataset), e.whole ? SpanSet::All() : e.Set(), e.dataset});
  for (const std::string& text : plan.accepted) {
    const std::size_t colon = text.find(':');
    Acceptance a{text.substr(0, colon), {}};
    if (colon != std::string::npos) a.dataset = Find(names, plan, text.substr(colon + 1));
    out.accepted.push_back(std::move(a));
  }
  for (const std::string& name : plan.narrow) out.narrow.insert(Find(names, plan, name));
  for (const std::string& name : plan.full_refresh) out.full_refresh.insert(Find(names, plan, name));
  for (const RecordedCells& u : plan.unchanged) out.unchanged[Find(names, plan, u.dataset)].Add(u.Set());
  out.where = plan.where;
  out.include_open = plan.include_open, out.strict = plan.strict;
  return out;
}

Plan WithoutDone(const LineageGraph& graph, Plan plan, const LoggedRun& run) {
  const std::map<int, Done> done = DoneOf(run);
  std::set<int> gone;
  std::set<DatasetId> before, left;
  std::vector<std::string> cut;
  for (const Step& step : plan.steps) before.insert(step.dataset);
  std::vector<Step> steps;
  const std::size_t all = plan.steps.size();
  for (Step& step : plan.steps) {
    const auto it = done.find(step.id);
    if (it != done.end() && it->second.all) {
      gone.insert(step.id);
      continue;
    }
    if (it != done.end() && !step.whole && !it->second.cells.empty()) {
      const std::string& name = graph[step.dataset].name;
      if (FollowsCells(step) && !step.run && step.parts.empty()) {
        CutTo(step, Difference(step.spans, it->second.cells));
        cut.push_back(
            fmt::format("{}: {} is done already", name, SpansText(graph[step.dataset], it->second.cells)));
      } else {
        cut.push_back(fmt::format("{}: {} is done already, and its command does all of the step once more",
                                  name, SpansText(graph[step.dataset], it->second.cells)));
      }
    }
    left.insert(step.dataset);
    steps.push_back(std::move(step));
  }
  for (Step& step : steps)
    step.after.erase(
        std::remove_if(step.after.begin(), step.after.end(), [&](int id) { return gone.count(id) > 0; }),
        step.after.end());
  plan.steps = std::move(steps);
  CountWaves(plan);
  // What a step that is done warned of is settled; its own plan in progress is what is being taken up.
  plan.hazards.erase(std::remove_if(plan.hazards.begin(), plan.hazards.end(),
                                    [&](const Hazard& h) {
                                      return h.dataset.valid() && before.count(h.dataset) &&
                                             !left.count(h.dataset);
                                    }),
                     plan.hazards.end());
  plan.notes.insert(plan.notes.begin(),
                    fmt::format("taken up again: {} of {} were done by the run that was started {}{}",
                                gone.size(), Plural(static_cast<std::int64_t>(all), "step"), run.started_at,
                                run.by.empty() ? "" : " by " + run.by));
  plan.notes.insert(plan.notes.begin() + 1, cut.begin(), cut.end());
  Totals& totals = plan.totals;
  totals.steps = static_cast<std::int64_t>(plan.steps.size());
  totals.datasets = static_cast<std::int64_t>(left.size());
  totals.partitions = 0;
  std::optional<double> seconds = 0;
  for (const Step& step : plan.steps) {
    if (step.partitions && totals.partitions)
      *totals.partitions += *step.partitions;
    else
      totals.partitions.reset();
    if (step.correct) continue;
    if (step.seconds && seconds)
      *seconds += *step.seconds;
    else
      seconds.reset();
  }
  if (plan.totals.seconds) totals.seconds = totals.threads == 1 ? seconds : std::nullopt;
  totals.critical_path.reset();
  plan.summary =
      fmt::format("{} of {} left{}. {}", plan.steps.size(), Plural(static_cast<std::int64_t>(all), "step"),
                  totals.partitions ? ", " + Plural(*totals.partitions, "cell") : "",
                  plan.steps.empty() ? "Everything is done: backreach run finish." : plan.summary);
  return plan;
}

}  // namespace backreach
