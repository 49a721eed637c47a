// Which one thing that nobody said widens a plan most, and what saying it would save.
#pragma once

#include <optional>
#include <vector>

#include "analysis/plan/plan.hpp"
#include "analysis/sweep/sweep.hpp"

namespace backreach {

// `seeds`, `rules`, `rebuilt`: of the sweep that the plan's steps come from. Nothing where no single thing
// makes much of a difference.
std::optional<Widest> FindWidest(const Sweeper& sweeper, const std::vector<Seed>& seeds,
                                 const SweepRules& rules, const std::vector<Dirt>& rebuilt, const Plan& plan);

}  // namespace backreach
