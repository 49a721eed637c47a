// Days before dbt's begin that a request asks of a target.

#include <fmt/format.h>

#include "analysis/hazards/all.hpp"
#include "graph/base/words.hpp"

namespace backreach::hazards {

namespace {

void Find(const HazardContext& c, std::vector<Hazard>& out) {
  for (const Target& t : c.plan.request.targets) {
    const Dataset& d = c.graph[t.dataset];
    if (!d.first_is_begin || t.whole || !d.layout || !d.stores()) continue;
    const SpanSet before = t.cells.Clip(kMinInstant, d.first);
    if (before.empty()) continue;
    Hazard h = MakeHazard(
        "before-begin", HazardSeverity::kWarning, t.dataset, before,
        fmt::format("{} of {} lies before dbt's begin ({}): taken as there, since it was asked for",
                    SpansText(d, before), d.name, d.layout->Key(d.first)),
        fmt::format("state the first partition in a registry: datasets: [{{name: {}, partitions: {{first: "
                    "...}}}}]; a full refresh would begin with dbt's begin and lose what is older",
                    d.name));
    h.evidence["begin"] = {d.layout->Key(d.first)};
    out.push_back(std::move(h));
  }
}

}  // namespace

HazardKind BeforeBegin() {
  return {"before-begin",
          HazardSeverity::kWarning,
          "a request asks a target for days before dbt's begin",
          "they are taken as there and rebuilt: if the table never had them, the run adds them",
          "state the first partition in a registry (partitions: {first: ...})",
          Find};
}

}  // namespace backreach::hazards
