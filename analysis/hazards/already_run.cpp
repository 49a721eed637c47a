// Cells that the log of runs has already: rebuilt by an earlier plan, or held by one in progress. What counts
// is that the cells overlap, not that the questions are equal.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analysis/hazards/all.hpp"
#include "graph/base/words.hpp"

namespace backreach::hazards {

namespace {

struct Known {
  SpanSet cells;
  bool whole = false;
  std::vector<const LoggedRun*> runs;
  void Add(const LoggedCells& logged, const Written& w, const LoggedRun& run) {
    SpanSet hit = logged.whole || w.whole || w.spans.empty() ? w.spans : Intersection(logged.spans, w.spans);
    const bool all = (w.whole || w.spans.empty()) && !logged.empty();
    if (!all && hit.empty()) return;
    whole = whole || all;
    cells.Add(hit);
    if (runs.empty() || runs.back() != &run) runs.push_back(&run);
  }
};

std::string RunsText(const std::vector<const LoggedRun*>& runs) {
  std::vector<std::string> texts;
  for (const LoggedRun* run : runs)
    texts.push_back(
        fmt::format("plan {} ({}, {})", run->plan,
                    run->state == LoggedRun::State::kInProgress ? "since " + run->started_at : run->ended_at,
                    run->by.empty() ? "by nobody named" : "by " + run->by));
  return ListOf(texts, 3);
}

void Say(const HazardContext& c, const Written& w, const Known& known, bool progress, bool appends,
         std::vector<Hazard>& out) {
  if (known.runs.empty()) return;
  const Dataset& d = c.graph[w.dataset];
  const bool own = std::any_of(known.runs.begin(), known.runs.end(),
                               [&](const LoggedRun* run) { return run->plan == c.plan.id; });
  const std::string cells = known.whole ? "all" : SpansText(d, known.cells);
  Hazard h = MakeHazard(
      "already-run", progress || appends ? HazardSeverity::kBlocking : HazardSeverity::kWarning, w.dataset,
      known.whole ? SpanSet::All() : known.cells,
      progress ? fmt::format("{} of {} is in the hands of a run in progress: {}", cells, d.name,
                             RunsText(known.runs))
               : fmt::format("{} of {} was already rebuilt: {}{}", cells, d.name, RunsText(known.runs),
                             appends ? "; one more run adds the rows once more" : ""),
      progress  ? own ? "go on with it: backreach plan --resume; or give it up: backreach run abandon"
                      : "wait for it, leave these cells out, or have it given up: backreach run abandon"
      : appends ? "leave these cells out (--exclude), or delete their rows first"
                : "leave these cells out if nothing changed since (--exclude), or let them be made again");
  for (const LoggedRun* run : known.runs) h.evidence["plans"].push_back(run->plan);
  out.push_back(std::move(h));
}

void Find(const HazardContext& c, std::vector<Hazard>& out) {
  if (c.plan.request.log.empty()) return;
  std::map<std::string, std::vector<std::pair<const LoggedRun*, const LoggedStep*>>> logged;
  for (const LoggedRun& run : c.plan.request.log)
    for (const LoggedStep& step : run.steps) logged[step.dataset].emplace_back(&run, &step);
  std::set<DatasetId> doubling;
  for (const Hazard& h : out)
    if (h.code == "append-duplicates" || h.code == "unfiltered-batch") doubling.insert(h.dataset);
  std::vector<Written> all = WrittenCells(c);
  const std::size_t rebuilt = all.size();
  for (const Step& step : c.plan.steps)  // a correction too must not meet another one
    if (step.correct) all.push_back({step.dataset, step.spans, step.whole, false});
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Written& w = all[i];
    const auto it = logged.find(c.graph[w.dataset].name);
    if (it == logged.end()) continue;
    Known held, earlier;
    for (const auto& [run, step] : it->second) {
      if (run->state == LoggedRun::State::kInProgress)
        held.Add(Held(*run, *step), w, *run);
      else if (i < rebuilt && !w.along)
        earlier.Add(Rebuilt(*run, *step), w, *run);
    }
    const bool appends = c.graph[w.dataset].writes == Writes::kAppend || doubling.count(w.dataset) > 0;
    Say(c, w, held, true, appends, out);
    Say(c, w, earlier, false, appends, out);
  }
}

}  // namespace

HazardKind AlreadyRun() {
  return {
      "already-run",
      HazardSeverity::kWarning,
      "the log of runs has the same cells: rebuilt by an earlier plan, or held by one in progress (then, or "
      "where the dataset appends, it blocks)",
      "the same cells are rebuilt twice, at once or one after the other; what appends has its rows once more",
      "leave the cells out, wait for the run in progress, or go on with it (plan --resume)",
      Find};
}

}  // namespace backreach::hazards
