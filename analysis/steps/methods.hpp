// How a step is done: with which engines, in which way, and what the ordinary run does to a cell.
#pragma once

#include "analysis/plan/plan.hpp"
#include "graph/lineage/lineage.hpp"

namespace backreach {

// Fills methods and effect. `inputs_gone`: what the dataset was once made from is not all there any more, so
// that what writes all of it anew loses history. `bounded`: a build from nothing would take only recent rows.
void FillMethods(const LineageGraph& graph, Instant now, bool inputs_gone, bool bounded, Step& step);

// Steps of one run are done by one command: its period holds the cells of all of them.
void ShareRuns(std::vector<Step>& steps);

// dbt runs all of a step in batches: without event times it takes the newest ones alone.
bool WholeInBatches(const Dataset& dataset, const Step& step);
// One variable cannot name such a cell: it holds a day or an hour, and the cell has several.
bool WiderThanVariable(const Dataset& dataset, const Step& step);
// A line of the registry that takes its period from a placeholder.
bool TakesPeriod(const std::string& line);

}  // namespace backreach
