// backreach plan: the answer in all its forms.

#include <fmt/format.h>

#include "analysis/planner.hpp"
#include "cli/command.hpp"
#include "cli/loaded.hpp"
#include "cli/output.hpp"
#include "render/plan_file/json.hpp"
#include "render/view/dot.hpp"
#include "render/view/markdown.hpp"
#include "render/view/text.hpp"

namespace backreach {

namespace {

Status Run(const Arguments& a) {
  const std::string format = FormatOf(a, {"text", "json", "markdown", "dot", "svg"}, "text");
  const BuiltGraph& built = LoadGraph(a);
  const Request request = ReadRequestOf(a, built, a.words);
  const Plan plan = MakePlan(built.graph, request);
  std::string text;
  if (format == "json")
    text = PlanJson(built.graph, plan);
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
          1,
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
                  {Kind::kValue, "as-of", "WHEN",
                   "by what the store held then: an instant, or a date (its end, UTC)"}} +
              CommonOptions(),
          Run};
}

}  // namespace backreach
