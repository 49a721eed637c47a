// backreach render: pictures of the blast radius.

#include <fmt/format.h>

#include <charconv>

#include "analysis/planner.hpp"
#include "cli/command.hpp"
#include "cli/loaded.hpp"
#include "cli/output.hpp"
#include "graph/base/words.hpp"
#include "render/view/dot.hpp"

namespace backreach {

namespace {

Status Run(const Arguments& a) {
  const std::string format = FormatOf(a, {"dot", "svg"}, "svg");
  PictureOptions options;
  if (const auto depth = a.value("depth")) {
    int n = 0;
    const auto [end, ec] = std::from_chars(depth->data(), depth->data() + depth->size(), n);
    if (ec != std::errc{} || *end != '\0' || n < 0)
      throw Error(fmt::format("backreach: error: --depth '{}' must be a number of hops", *depth));
    options.depth = n;
  }
  if (const auto limit = a.value("time-limit")) {
    std::string number = *limit;
    if (EndsWith(number, "s")) number.pop_back();
    const auto [end, ec] = std::from_chars(number.data(), number.data() + number.size(), options.seconds);
    if (ec != std::errc{} || *end != '\0' || options.seconds <= 0)
      throw Error(fmt::format("backreach: error: --time-limit '{}' must be seconds, such as 30s", *limit));
  }
  const BuiltGraph& built = LoadGraph(a);
  const Request request = ReadRequestOf(a, built, a.words);
  const Plan plan = MakePlan(built.graph, request);
  if (format == "dot") {
    WriteOut(a, PlanDot(built.graph, plan, options));
    return StatusOf(plan);
  }
  try {
    WriteOut(a, PlanSvg(built.graph, plan, options));
  } catch (const Error& e) {
    const std::string kept = a.value("out") ? *a.value("out") + ".dot" : "blast-radius.dot";
    WriteFile(kept, PlanDot(built.graph, plan, options), StorePath(a));
    throw Error(
        std::string(e.what()) +
            fmt::format(
                "\n  the DOT is kept in {}; draw less (--depth 2) or allow more time (--time-limit 120s)",
                kept),
        e.status());
  }
  if (const auto out = a.value("out")) Say(a, *out + " written\n");
  return StatusOf(plan);
}

}  // namespace

Command RenderCommand() {
  using Kind = OptionSpec::Kind;
  return {
      "render",
      "TARGET...",
      1,
      -1,
      "a picture of what a correction reaches",
      "  backreach render fct_orders --from 2026-03-01 --to 2026-03-31 --format svg --out blast-radius.svg\n"
      "  backreach render fct_orders --whole --format dot --depth 2",
      RequestOptions() +
          std::vector<OptionSpec>{{Kind::kValue, "format", "FORMAT", "svg (default) or dot"},
                                  {Kind::kValue, "out", "FILE", "write to this file"},
                                  {Kind::kValue, "depth", "N", "draw only this many hops from the targets"},
                                  {Kind::kValue, "time-limit", "30s", "stop a layout that takes longer"}} +
          CommonOptions(),
      Run};
}

}  // namespace backreach
