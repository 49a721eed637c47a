// Checks that a plan brings along, written in the SQL of the platform that holds the dataset.
#pragma once

#include "analysis/plan/plan.hpp"
#include "graph/lineage/lineage.hpp"

namespace backreach {

// An enforced constraint, or a test on all rows that fails at the first duplicate, covers this key of the
// dataset.
bool KeyIsProven(const Dataset& dataset, const std::vector<std::string>& key);

// Fills what is to be asked before a step's result is published and after it: whether the business key is
// unique over the rebuilt period, in the staged rows and in the target, and rows per partition before and
// after (in the columns of a counts file). Nothing for datasets of which no platform is known.
void FillChecks(const LineageGraph& graph, Step& step);

}  // namespace backreach
