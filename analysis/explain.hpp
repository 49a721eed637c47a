// Why a dataset is in the plan: the hops from a target to it, each with the mapping applied and its origin.
#pragma once

#include <optional>
#include <string>

#include "analysis/plan/plan.hpp"

namespace backreach {

std::string Explain(const LineageGraph& graph, const Plan& plan, DatasetId dataset,
                    const std::optional<std::string>& partition, int width);

}  // namespace backreach
