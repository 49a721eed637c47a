// What ran, held against a plan: which cells of which steps, which not, and what ran that nobody asked for.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/plan/recorded.hpp"
#include "graph/facts/run_seen.hpp"
#include "graph/lineage/lineage.hpp"

namespace backreach {

struct ReconcileQuestion {
  const RecordedPlan* plan = nullptr;
  std::vector<RunSeen> runs;
  const LineageGraph* graph = nullptr;  // null where there is no store: runs of DAGs cannot be placed then
  std::optional<Instant> since;         // runs that ended before are none of this plan
  std::function<std::optional<std::string>(const std::string& name)> canonical;
};

struct ReconciledStep {
  int id = 0;
  std::string dataset;
  std::string state;     // ran, partly, failed, not-run, by-hand
  SpanSet ran, missing;  // cells of the step; of a whole step both are empty
  SpanSet failed;
  bool whole = false;
  std::vector<std::string> said;  // the records that tell it
};

struct ExtraRun {
  std::string dataset;  // canonical, or the name of what ran
  SpanSet cells;        // outside the plan; empty: no period was told
  std::string said;
};

struct Reconciliation {
  std::string plan;
  std::vector<ReconciledStep> steps;
  std::vector<ExtraRun> extra;
  std::vector<std::string> notes;
};

Reconciliation Reconcile(const ReconcileQuestion& question);

}  // namespace backreach
