// Jobs that start when the plan writes what they wait for.

#include <fmt/format.h>

#include "analysis/hazards/all.hpp"
#include "graph/words.hpp"

namespace backreach::hazards {

namespace {

void Find(const HazardContext& c, std::vector<Hazard>& out) {
  for (const Step& step : c.plan.steps) {
    const Dataset& d = c.graph[step.dataset];
    if (step.correct) continue;
    for (const JobId id : d.jobs) {
      const Job& job = c.graph[id];
      std::vector<DatasetId> before;
      for (const DatasetId on : job.fires_on)
        if (on != step.dataset && !c.StepsOf(on).empty()) before.push_back(on);
      if (before.empty()) continue;
      Hazard h = MakeHazard(
          "fires-by-itself", HazardSeverity::kWarning, step.dataset, step.whole ? SpanSet::All() : step.spans,
          fmt::format(
              "{} starts by itself when {} changes: it may run once for each step, from half-new inputs",
              job.name, NamesText(c.graph, before)),
          fmt::format("pause {} until the plan is through, then start it once", job.name));
      h.evidence["job"] = {job.name};
      out.push_back(std::move(h));
    }
    const std::string by = RefreshedBy(d);
    if (by == "trigger")
      out.push_back(MakeHazard(
          "fires-by-itself", HazardSeverity::kWarning, step.dataset, SpanSet::All(),
          fmt::format("every insert into what {} reads runs it: each step before it adds to it", d.name),
          "detach it until what it reads is through"));
    else if (d.writes == Writes::kRefresh && by != "told")
      out.push_back(MakeHazard(
          "fires-by-itself", HazardSeverity::kWarning, step.dataset, SpanSet::All(),
          fmt::format("the warehouse refreshes {} by itself: it may run from half-new inputs", d.name),
          "suspend its refresh until what it reads is through, then refresh it once"));
  }
}

}  // namespace

HazardKind FiresByItself() {
  return {"fires-by-itself",
          HazardSeverity::kWarning,
          "the automation of a dataset of the plan reacts to a step before it",
          "it may run once for each step, from inputs that are half new",
          "pause its automation until the plan is through, then start it once",
          Find};
}

}  // namespace backreach::hazards
