// Small graphs made by hand or at random, without importers.
#pragma once

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/plan/request.hpp"
#include "graph/lineage/lineage.hpp"
#include "tests/property/oracle.hpp"

namespace backreach::oracle {

// All that a test plays with lies in these months; New York's clocks go forward on 8 March 2026.
inline constexpr Horizon kHorizon{1764547200 - 40 * 86400,
                                  1777593600 + 40 * 86400};  // around 2025-12-01 .. 2026-05-01
Instant At(const char* text);

struct Sample {
  LineageGraph graph;
  Request request;
  bool simulate = true;  // no memory, no exclusion, nothing open: values can be compared with a rebuild
  std::string text;      // for messages
};

Dataset MakeDataset(const std::string& name, const Grain& grain, const Zone* zone, Instant first);
Edge MakeEdge(std::uint32_t from, std::uint32_t to, Reads reads);
void Finish(LineageGraph& graph);
Target WholeCells(const LineageGraph& graph, DatasetId id, Span span);

Sample RandomSample(std::uint64_t seed);

}  // namespace backreach::oracle
