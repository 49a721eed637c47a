// backreach plan: the answer in all its forms.

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "analysis/after/again.hpp"
#include "analysis/after/plan_diff.hpp"
#include "analysis/after/run.hpp"
#include "analysis/planner.hpp"
#include "cli/command.hpp"
#include "cli/loaded.hpp"
#include "cli/output.hpp"
#include "cli/plan_input.hpp"
#include "graph/base/words.hpp"
#include "render/plan_file/json.hpp"
#include "render/view/after.hpp"
#include "render/view/dot.hpp"
#include "render/view/markdown.hpp"
#include "render/view/text.hpp"

namespace backreach {

namespace {

Plan Asked(const Arguments& a, const BuiltGraph*& graph) {
  if (a.words.empty()) throw Error("backreach: error: TARGET is missing\n  see: backreach plan --help");
  graph = &LoadGraph(a);
  const Request request = ReadRequestOf(a, *graph, a.words);
  return MakePlan(graph->graph, request);
}

// A plan that is in progress, or was given up: the same question, without what is done.
Plan Resumed(const Arguments& a, const BuiltGraph*& graph) {
  const RecordedPlan recorded = ReadPlanFile(*a.value("resume"));
  Arguments again = a;
  if (recorded.strict) again.values["strict"] = {};
  if (!a.value("now")) again.values["now"] = {FormatInstant(recorded.now)};
  graph = &LoadGraph(again);
  Request request;
  if (a.words.empty()) {
    for (const char* option : {"from", "to", "range", "whole", "exclude", "narrow", "where", "full-refresh"})
      if (a.flag(option))
        throw Error(
            fmt::format("backreach: error: --{} changes the question: with --resume alone it is that of {}",
                        option, recorded.path));
    Arguments rest = again;  // what is no part of the question
    request = RequestAgain(graph->graph, graph->names, recorded);
    const Request more = ReadRequestOf(rest, *graph, {});
    request.log = more.log, request.fail_on = more.fail_on, request.threads = more.threads;
    request.accepted.insert(request.accepted.end(), more.accepted.begin(), more.accepted.end());
  } else {
    request = ReadRequestOf(again, *graph, a.words);
  }
  const LoggedRun* run = FindRun(request.log, recorded.id, true);
  if (!run) run = FindRun(request.log, recorded.id, false);
  if (!run)
    throw Error(
        fmt::format("{}: error: plan {} was never started: there is nothing to take up\n"
                    "  start it with: backreach run start {}",
                    recorded.path, recorded.id, ShellWord(recorded.path)));
  const LoggedRun taken = *run;
  request.log.erase(std::remove_if(request.log.begin(), request.log.end(),
                                   [&](const LoggedRun& r) { return r.plan == recorded.id; }),
                    request.log.end());
  Plan plan = MakePlan(graph->graph, request);
  if (plan.id != recorded.id)
    throw Error(
        fmt::format("{}: error: {}, so what is done need not be right any more\n"
                    "  plan again, and see what differs: backreach plan ... --diff {}",
                    recorded.path,
                    recorded.fingerprint == graph->graph.fingerprint
                        ? "the question is another one"
                        : "what the store knows changed since this plan was made",
                    ShellWord(recorded.path)));
  return WithoutDone(graph->graph, std::move(plan), taken);
}

Status Run(const Arguments& a) {
  const std::string format = FormatOf(a, {"text", "json", "markdown", "dot", "svg"}, "text");
  std::optional<RecordedPlan> old;
  if (const auto path = a.value("diff")) old = ReadPlanFile(*path);
  const BuiltGraph* graph = nullptr;
  const Plan plan = a.value("resume") ? Resumed(a, graph) : Asked(a, graph);
  const BuiltGraph& built = *graph;
  std::optional<PlanDifference> difference;
  if (old) difference = DiffPlans(built.graph, *old, plan);
  std::string text;
  if (format == "json")
    text = PlanJson(built.graph, plan, difference ? &*difference : nullptr);
  else if (format == "text" && difference)
    text = PlanDifferenceText(built.graph, *difference, a.value("out") ? 80 : TerminalWidth());
  else if (format == "markdown")
    text = PlanMarkdown(built.graph, plan);
  else if (format == "dot")
    text = PlanDot(built.graph, plan, {});
  else if (format == "svg")
    text = PlanSvg(built.graph, plan, {});
  else
    text = PlanText(built.graph, plan,
                    {a.value("out") ? 80 : TerminalWidth(), !a.value("out") && Coloured(), a.flag("all"),
                     AskedWords(a, RequestOptions() + CommonOptions())});
  WriteOut(a, text);
  if (const auto out = a.value("out"); out && format != "text")
    Say(a, plan.summary + "\n" + *out + " written\n");
  return StatusOf(plan);
}

}  // namespace

Command PlanCommand() {
  using Kind = OptionSpec::Kind;
  return {"plan",
          "TARGET...",
          0,
          -1,
          "what a correction of these datasets can reach, and in which order to rebuild it",
          "  backreach plan fct_orders --from 2026-03-01 --to 2026-03-31\n"
          "  backreach plan stg_orders --range 2026-01-03..2026-01-03 --range 2026-06-20..2026-06-20 "
          "--format json --out plan.json",
          RequestOptions() +
              std::vector<OptionSpec>{
                  {Kind::kValue, "format", "FORMAT", "text (default), json, markdown, dot, svg"},
                  {Kind::kValue, "out", "FILE", "write to this file"},
                  {Kind::kFlag, "all", "", "every step of a long plan"},
                  {Kind::kValue, "resume", "PLAN.json",
                   "what is left of a plan that was started, by the log of runs"},
                  {Kind::kValue, "diff", "OLD.json", "cells that came and went since this plan, and why"},
                  {Kind::kValue, "as-of", "WHEN",
                   "by what the store held then: an instant, or a date (its end, UTC)"}} +
              CommonOptions(),
          Run};
}

}  // namespace backreach
