// backreach simulate: what each way of writing does to small made-up rows.

#include <algorithm>

#include "analysis/simulate.hpp"
#include "cli/command.hpp"
#include "cli/loaded.hpp"
#include "cli/output.hpp"
#include "cli/plan_input.hpp"
#include "render/view/after.hpp"

namespace backreach {

namespace {

// The words of Simulated::told_by that stand for checks which the dataset has.
std::vector<std::string> ChecksOf(const Dataset& d) {
  std::vector<std::string> out;
  for (const char* kind : {"unique", "not_null"})
    if (std::any_of(d.checks.begin(), d.checks.end(),
                    [&](const CheckFact& c) { return c.enabled && c.fails_run && c.kind == kind; }))
      out.push_back(kind);
  if (std::any_of(d.checks.begin(), d.checks.end(),
                  [](const CheckFact& c) { return c.kind == "constraint"; }) &&
      std::find(out.begin(), out.end(), "unique") == out.end())
    out.push_back("unique");
  return out;
}

SimulatedStep Of(const RecordedStep& step, const LineageGraph& graph) {
  SimulatedStep out;
  out.id = step.id, out.dataset = step.cells.dataset, out.predicted = step.effect;
  const auto d = std::find_if(graph.datasets.begin(), graph.datasets.end(),
                              [&](const Dataset& known) { return known.name == step.cells.dataset; });
  if (d == graph.datasets.end() || step.correct) return out;
  const auto way = WayOf(*d);
  if (!way) return out;
  out.way = ToString(*way);
  if (d->measure && d->measure->rows) out.rows = d->measure->rows;
  out.checks = ChecksOf(*d);
  const auto has = [&](const char* code) {
    return std::find(step.hazards.begin(), step.hazards.end(), code) != step.hazards.end();
  };
  out.runs.push_back(Simulate(*way, Situation::kRerun));
  if (has("null-key")) out.runs.push_back(Simulate(*way, Situation::kNullKeys));
  if (step.effect == "overwritten-open") out.runs.push_back(Simulate(*way, Situation::kToday));
  if (has("partial-overwrite")) out.runs.push_back(Simulate(*way, Situation::kPart));
  if (has("empty-partition-kept")) out.runs.push_back(Simulate(*way, Situation::kEmptied));
  if (has("merge-keeps-removed-rows")) out.runs.push_back(Simulate(*way, Situation::kRemoved));
  return out;
}

Status Run(const Arguments& a) {
  const std::string format = FormatOf(a, {"text", "json"}, "text");
  if (a.words.empty()) {
    const std::vector<Simulated> runs = SimulateAll();
    WriteOut(a, format == "json" ? SimulateJson(runs, nullptr) : SimulateText(runs, TerminalWidth()));
    return Status::kDone;
  }
  const RecordedPlan plan = ReadPlanFile(a.words[0]);
  const BuiltGraph& built = LoadGraph(a);
  std::vector<SimulatedStep> steps;
  for (const RecordedStep& step : plan.steps) steps.push_back(Of(step, built.graph));
  WriteOut(a, format == "json" ? SimulateJson({}, &steps) : SimulatedPlanText(steps, TerminalWidth()));
  return Status::kDone;
}

}  // namespace

Command SimulateCommand() {
  using Kind = OptionSpec::Kind;
  return {"simulate",
          "PLAN.json",
          0,
          1,
          "what each way of writing does to small made-up rows, and which check would say so",
          "  backreach simulate\n"
          "  backreach simulate plan.json",
          std::vector<OptionSpec>{{Kind::kValue, "format", "FORMAT", "text (default) or json"},
                                  {Kind::kValue, "out", "FILE", "write to this file"}} +
              CommonOptions(),
          Run};
}

}  // namespace backreach
