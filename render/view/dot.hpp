// Pictures of the blast radius: DOT through cgraph, SVG through gvc.
#pragma once

#include <optional>
#include <string>

#include "analysis/plan/plan.hpp"

namespace backreach {

struct PictureOptions {
  std::optional<int> depth;  // how many hops from the targets; what lies deeper is counted, not drawn
  int most_nodes = 400;      // past this many, the steps far from the targets are folded by wave
  double seconds = 30;       // how long the layout may take
};

std::string PlanDot(const LineageGraph& graph, const Plan& plan, const PictureOptions& options);
// Throws Error if the layout takes longer than allowed.
std::string PlanSvg(const LineageGraph& graph, const Plan& plan, const PictureOptions& options);

}  // namespace backreach
