// The edges of a plan whose mapping nobody stated and no code proves.
#pragma once

#include <vector>

#include "analysis/hazards/hazard.hpp"

namespace backreach {

// Of every edge that dirties something in the plan, by parent and child.
std::vector<AssumedMapping> FindAssumed(const HazardContext& context);
// "window [-6, 0] day", of all that an edge reads by; in the registry's form, for a stanza.
std::string ReadsOfAll(const LineageGraph& graph, const std::vector<EdgeId>& edges);
std::string ReadsStanza(const LineageGraph& graph, const std::vector<EdgeId>& edges);

}  // namespace backreach
