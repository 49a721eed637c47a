// A plan for a change record.
#pragma once

#include <string>

#include "analysis/plan/plan.hpp"

namespace backreach {

std::string PlanMarkdown(const LineageGraph& graph, const Plan& plan);

}  // namespace backreach
