// Answers as JSON by contract (formats.md): plans, the graph, datasets, copies, audits.
#pragma once

#include <string>
#include <vector>

#include "analysis/after/plan_diff.hpp"
#include "analysis/plan/plan.hpp"
#include "graph/lineage/lineage.hpp"

namespace backreach {

// `difference`: from an older plan, if one was asked for.
std::string PlanJson(const LineageGraph& graph, const Plan& plan, const PlanDifference* difference = nullptr);
std::string GraphJson(const LineageGraph& graph);
std::string DatasetsJson(const LineageGraph& graph, const std::vector<DatasetId>& ids);
// Those that a correction makes wrong, as in its plan.
std::string AffectedCopiesJson(const LineageGraph& graph, const Plan& plan);
std::string CopiesJson(const LineageGraph& graph, const std::vector<CopyId>& ids);

}  // namespace backreach
