// How a step is done: the commands of each engine that do exactly it, and what the ordinary run does to a
// cell.
#pragma once

#include "analysis/plan.hpp"
#include "graph/lineage.hpp"

namespace backreach {

// Fills methods and effect. `inputs_gone`: what the dataset was once made from is not all there any more, so
// that what writes all of it anew loses history. `bounded`: a build from nothing would take only recent rows.
void FillMethods(const LineageGraph& graph, bool inputs_gone, bool bounded, Step& step);

// A word quoted for a POSIX shell, where it needs it.
std::string ShellWord(const std::string& text);

}  // namespace backreach
