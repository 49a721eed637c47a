// A coarse cell written from part of its input.

#include <fmt/format.h>

#include "analysis/hazards/all.hpp"
#include "graph/words.hpp"

namespace backreach::hazards {

namespace {

void Find(const HazardContext& c, std::vector<Hazard>& out) {
  // A table written whole whose query takes a bound from the run's own date: everything beyond it is lost.
  for (const Written& w : WrittenCells(c)) {
    const Dataset& d = c.graph[w.dataset];
    for (const Finding& f : d.findings)
      if (f.fact.code == "partial-overwrite")
        out.push_back(MakeHazard(
            "partial-overwrite", HazardSeverity::kBlocking, w,
            fmt::format("a run replaces the whole of {} and {}: all the rest is lost", d.name, f.fact.detail),
            "take the bound away for this run, or partition the table so that only the period is replaced"));
  }

  // A coarser reader of cells that a table written whole loses.
  for (const HazardContext::Expiry& e : c.expiries) {
    if (!c.graph[e.dataset].written_whole() || c.StepsOf(e.dataset).empty()) continue;
    for (const Step& step : c.plan.steps) {
      for (const StepReads& read : step.reads) {
        if (read.cells.dataset != e.dataset || step.dataset == e.dataset ||
            !read.cells.spans.Intersects(e.cells))
          continue;
        const Dataset& d = c.graph[step.dataset];
        out.push_back(MakeHazard(
            "partial-overwrite", HazardSeverity::kBlocking, step.dataset,
            step.whole ? SpanSet::All() : step.spans,
            fmt::format(
                "{} reads {}, which loses {} by its own rebuild: it would be written from what is left",
                d.name, c.graph[e.dataset].name,
                SpansText(c.graph[e.dataset], Intersection(read.cells.spans, e.cells))),
            "restore the lost input first, or leave this dataset out (--exclude)"));
      }
    }
  }
}

}  // namespace

HazardKind PartialOverwrite() {
  return {"partial-overwrite",
          HazardSeverity::kBlocking,
          "a coarse cell would be overwritten from part of its input",
          "the rest of the cell is lost, and the run is green",
          "restore the input, or leave the cell out",
          Find};
}

}  // namespace backreach::hazards
