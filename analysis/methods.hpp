// How a step is done: the commands of each engine that do exactly it, and what the ordinary run does to a
// cell.
#pragma once

#include "analysis/plan.hpp"
#include "graph/lineage.hpp"

namespace backreach {

// Fills methods and effect. `lost`: the run would lose history that its inputs no longer have.
void FillMethods(const LineageGraph& graph, bool lost, Step& step);

// A word quoted for a POSIX shell, where it needs it.
std::string ShellWord(const std::string& text);

}  // namespace backreach
