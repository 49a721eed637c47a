// backreach explain: why a dataset, or a partition of it, is in a plan.

#include <fmt/format.h>

#include "analysis/explain.hpp"
#include "analysis/planner.hpp"
#include "analysis/request_text.hpp"
#include "cli/command.hpp"
#include "cli/loaded.hpp"
#include "cli/output.hpp"
#include "graph/base/words.hpp"

namespace backreach {

namespace {

Status Run(const Arguments& a) {
  const BuiltGraph& built = LoadGraph(a);
  const std::vector<std::string> targets(a.words.begin(), a.words.end() - 1);
  const DatasetId asked = FindDataset(built.graph, built.names, a.words.back());
  const Request request = ReadRequestOf(a, built, targets);
  const Plan plan = MakePlan(built.graph, request);
  WriteOut(a, Explain(built.graph, plan, asked, a.value("partition"), TerminalWidth()));
  return Status::kDone;
}

}  // namespace

Command ExplainCommand() {
  using Kind = OptionSpec::Kind;
  return {
      "explain",
      "TARGET... DATASET",
      2,
      -1,
      "why a dataset is in the plan, hop by hop, and who declared each hop",
      "  backreach explain fct_orders --from 2026-03-01 --to 2026-03-31 orders_28d\n"
      "  backreach explain fct_orders --from 2026-03-01 --to 2026-03-31 orders_28d --partition 2026-04-10",
      RequestOptions() +
          std::vector<OptionSpec>{{Kind::kValue, "partition", "KEY", "one partition of it"},
                                  {Kind::kValue, "out", "FILE", "write to this file"}} +
          CommonOptions(),
      Run};
}

}  // namespace backreach
