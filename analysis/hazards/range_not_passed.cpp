// Steps whose run takes no range: the period never reaches the query.

#include <fmt/format.h>

#include "analysis/hazards/all.hpp"
#include "graph/words.hpp"

namespace backreach::hazards {

namespace {

void Find(const HazardContext& c, std::vector<Hazard>& out) {
  for (const Written& w : WrittenCells(c)) {
    const Dataset& d = c.graph[w.dataset];
    if (w.along) continue;
    for (const Finding& f : d.findings) {
      if (f.fact.code != "range-not-passed") continue;
      if (f.fact.data.count("by") > 0)
        out.push_back(MakeHazard(
            "range-not-passed", HazardSeverity::kWarning, w,
            fmt::format(
                "{} filters by what the environment says ({}), and no command here sets it: the run may "
                "take another period",
                d.name, f.fact.detail),
            "set them for this run, or take the period from project variables and declare these (vars)"));
      else if (d.vars.empty())
        out.push_back(MakeHazard("range-not-passed", HazardSeverity::kWarning, w,
                                 fmt::format("{} takes its period from variables ({}), and nothing says "
                                             "which is which: the command may run another period",
                                             d.name, f.fact.detail),
                                 "declare them: vars: {from: ..., to: ..., to_is: exclusive}"));
    }
  }
}

}  // namespace

HazardKind RangeNotPassed() {
  return {"range-not-passed",
          HazardSeverity::kWarning,
          "the SQL filters by variables that no vars declares",
          "the command may run another period than the step's",
          "declare them: meta.backreach.vars or the registry: vars: {from: ..., to: ..., to_is: exclusive}",
          Find};
}

}  // namespace backreach::hazards
