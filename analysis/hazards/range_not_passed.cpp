// Steps whose run takes no range: the period never reaches the query.

#include <fmt/format.h>

#include <set>

#include "analysis/hazards/all.hpp"
#include "analysis/steps/methods.hpp"
#include "graph/base/words.hpp"

namespace backreach::hazards {

namespace {

// Steps whose own command holds no period, or half of one.
void FindUnbounded(const HazardContext& c, std::vector<Hazard>& out) {
  std::set<DatasetId> said;
  for (const Step& step : c.plan.steps) {
    if (step.correct || step.whole || step.methods.empty()) continue;
    const Dataset& d = c.graph[step.dataset];
    const Written written{step.dataset, step.spans, false, false};
    const Method& method = step.methods[0];
    if (std::holds_alternative<way::DbtVars>(method.way) && WiderThanVariable(d, step) &&
        said.insert(step.dataset).second)
      out.push_back(MakeHazard(
          "range-not-passed", HazardSeverity::kWarning, written,
          fmt::format(
              "{} takes its period from one variable ({}), which holds a day or an hour, and a cell of it "
              "is a {}: a run may fill a part of it",
              d.name, d.vars.at("from"), FormatGrain(step.calendar->grain())),
          "name the variable that holds the end too: vars: {from: ..., to: ..., to_is: exclusive}"));
    const auto* shell = std::get_if<way::Shell>(&method.way);
    if (!shell || TakesPeriod(shell->line) || d.writes == Writes::kWhole ||
        method.effect == Effect::kReplaced || !said.insert(step.dataset).second)
      continue;
    const bool old = method.effect == Effect::kKeptOld;
    out.push_back(MakeHazard(
        "range-not-passed", old ? HazardSeverity::kBlocking : HazardSeverity::kWarning, written,
        fmt::format("the command of {} takes no period: a run takes what it takes at that moment{}", d.name,
                    old ? ", and by its schedule that is not these cells" : ""),
        "say in the command where the period goes: {from} {to} (keys), {start} {end} (instants) or {key}"));
  }
}

void Find(const HazardContext& c, std::vector<Hazard>& out) {
  FindUnbounded(c, out);
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
  return {
      "range-not-passed",
      HazardSeverity::kWarning,
      "the SQL filters by variables that no vars declares, or the command of a step of cells holds no period",
      "the command may run another period than the step's",
      "declare them: meta.backreach.vars or the registry: vars: {from: ..., to: ..., to_is: exclusive}",
      Find};
}

}  // namespace backreach::hazards
