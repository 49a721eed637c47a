// Two plans of the same or of a similar question: cells that came and went, and why.
#pragma once

#include <string>
#include <vector>

#include "analysis/plan/plan.hpp"
#include "analysis/plan/recorded.hpp"

namespace backreach {

struct PlanChange {
  std::string dataset;
  SpanSet cells;  // empty where `whole`
  bool whole = false;
  std::vector<std::string> because;  // lineage, time or the request, in words
};

struct PlanDifference {
  std::string old_id, new_id;
  bool same_graph = false;
  std::vector<std::string> request;  // what is asked otherwise
  std::vector<PlanChange> added, gone;
};

PlanDifference DiffPlans(const LineageGraph& graph, const RecordedPlan& before, const Plan& now);

}  // namespace backreach
