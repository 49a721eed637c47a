// What ran, and what ways of writing do, for people and programs.
#pragma once

#include <string>
#include <vector>

#include "analysis/after/plan_diff.hpp"
#include "analysis/after/reconcile.hpp"
#include "analysis/simulate.hpp"
#include "graph/lineage/lineage.hpp"

namespace backreach {

std::string ReconcileText(const RecordedPlan& plan, const Reconciliation& found, int width);
std::string ReconcileJson(const RecordedPlan& plan, const Reconciliation& found);

std::string PlanDifferenceText(const LineageGraph& graph, const PlanDifference& difference, int width);

std::string SimulateText(const std::vector<Simulated>& runs, int width);

// One step of a plan with what its way of writing does, at the rows that are known.
struct SimulatedStep {
  int id = 0;
  std::string dataset, way;  // "" where it is none that can be shown
  std::string predicted;     // the plan's effect
  std::vector<Simulated> runs;
  std::optional<std::int64_t> rows;  // of its cells before, where anybody counted them
  std::vector<std::string> checks;   // those that the dataset has, of the words of Simulated::told_by
};
std::string SimulatedPlanText(const std::vector<SimulatedStep>& steps, int width);
std::string SimulateJson(const std::vector<Simulated>& runs, const std::vector<SimulatedStep>* steps);

}  // namespace backreach
