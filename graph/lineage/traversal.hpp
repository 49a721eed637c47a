// The bare forward walk: what can be reached, in topological order, in one scan.
#pragma once

#include <cstdint>
#include <vector>

namespace backreach {

// A graph whose nodes are their own topological numbers: every edge leads to a higher number.
struct RankedRows {
  std::vector<std::uint32_t> offsets = {0};  // nodes + 1
  std::vector<std::uint32_t> targets;
  std::uint32_t size() const { return static_cast<std::uint32_t>(offsets.size() - 1); }
};

// All nodes reachable from the roots (and the roots), ascending: closure and order at once, since numbers
// are.
std::vector<std::uint32_t> Reachable(const RankedRows& rows, const std::vector<std::uint32_t>& roots);

// For every node how many of the counted nodes can be reached from it, itself not among them.
std::vector<std::uint32_t> CountReachable(const RankedRows& rows, const std::vector<bool>& counted);

}  // namespace backreach
