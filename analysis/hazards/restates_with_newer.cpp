// Runs that read more than they did: cells are restated with newer input.

#include <fmt/format.h>

#include "analysis/hazards/all.hpp"
#include "graph/base/words.hpp"

namespace backreach::hazards {

namespace {

void Find(const HazardContext& c, std::vector<Hazard>& out) {
  for (const Step& step : c.plan.steps) {
    if (step.correct || step.whole) continue;
    for (const EdgeId e : c.graph.in(step.dataset)) {
      const Edge& edge = c.graph[e];
      if (!std::holds_alternative<reads::Latest>(edge.effective)) continue;
      const Span newest = c.frame.NewestComplete(edge.from);
      if (newest.empty()) continue;
      // Made from an older one: cells that ended before today's newest was complete.
      const Instant since = c.frame.CompleteAt(edge.from, newest.end);
      const Layout& layout = *c.graph[step.dataset].layout;
      const SpanSet older = step.spans.Clip(kMinInstant, layout.Floor(since - 1));
      if (older.empty()) continue;
      out.push_back(
          MakeHazard("restates-with-newer", HazardSeverity::kWarning, step.dataset, older,
                     fmt::format("{} takes the newest partition of {}: the rebuild reads {}, not the one "
                                 "that each cell was made from",
                                 c.graph[step.dataset].name, c.graph[edge.from].name,
                                 c.graph[edge.from].layout->Key(newest.start)),
                     "latest_then on this edge would read what was newest then, and narrow the plan"));
    }
  }
}

}  // namespace

HazardKind RestatesWithNewer() {
  return {"restates-with-newer",
          HazardSeverity::kWarning,
          "a cell reads the newest partition of a parent, and a rebuild reads a newer one than the cell was "
          "made from",
          "the rebuilt cell changes for a reason other than the correction",
          "declare latest_then if a rebuild should read what was the newest then",
          Find};
}

}  // namespace backreach::hazards
