// Other outputs and cells that a run writes beside those that were asked for.

#include <fmt/format.h>

#include <algorithm>

#include "analysis/hazards/all.hpp"
#include "graph/base/words.hpp"

namespace backreach::hazards {

namespace {

void Find(const HazardContext& c, std::vector<Hazard>& out) {
  for (const Step& step : c.plan.steps) {
    if (step.rewrites.empty()) continue;
    std::vector<std::string> parts, names;
    for (const Cells& cells : step.rewrites) {
      const Dataset& d = c.graph[cells.dataset];
      const std::string name = cells.dataset == step.dataset ? "its cells" : d.name;
      parts.push_back(cells.whole ? "all of " + d.name : name + " " + SpansText(d, cells.spans));
      names.push_back(d.name);
    }
    const bool own = std::any_of(step.rewrites.begin(), step.rewrites.end(),
                                 [&](const Cells& cells) { return cells.dataset == step.dataset; });
    Hazard h = MakeHazard(
        "rewritten-along", HazardSeverity::kWarning, step.dataset, step.whole ? SpanSet::All() : step.spans,
        fmt::format("the run that rebuilds {} also writes {}", c.graph[step.dataset].name, ListOf(parts)),
        c.graph[step.dataset].methods.count("dbt_batches") > 0
            ? "batches are whole ones, by UTC: declare the partitions as they are, or ask for whole ones"
        : own && !step.methods.empty() && step.methods[0].engine == "airflow"
            ? "runs of its DAG are cut otherwise than its cells: ask for the cells of whole runs, or declare "
              "which "
              "cells a run writes (jobs: schedule: {covers: interval})"
            : "if the job can be run for one output alone, declare separable: true");
    h.evidence["datasets"] = names;
    out.push_back(std::move(h));
  }
}

}  // namespace

HazardKind RewrittenAlong() {
  return {"rewritten-along",
          HazardSeverity::kWarning,
          "the only way to run the step also rewrites cells that the plan does not ask for",
          "those cells are written again too; what that does to them has its own code",
          "run the job for the one output alone if it can be, and say so: separable: true",
          Find};
}

}  // namespace backreach::hazards
