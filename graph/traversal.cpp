// One mark per node in a bitmap, scanned upwards a word at a time: numbers only grow along edges, so whatever
// a node reaches is still ahead of the scan. Cost: the edges of what is reached, plus a bit for each node.

#include "graph/traversal.hpp"

#include <algorithm>

namespace backreach {

std::vector<std::uint32_t> Reachable(const RankedRows& rows, const std::vector<std::uint32_t>& roots) {
  std::vector<std::uint64_t> marks((rows.size() + 63) / 64 + 1, 0);
  std::vector<std::uint32_t> out;
  if (roots.empty()) return out;
  std::uint32_t last = 0;
  for (const std::uint32_t r : roots) {
    marks[r / 64] |= std::uint64_t{1} << (r % 64);
    last = std::max(last, r);
  }
  const std::uint32_t* const targets = rows.targets.data();
  const std::uint32_t first = *std::min_element(roots.begin(), roots.end()) / 64;
  std::size_t reached = 0;
  for (std::uint32_t word = first; word <= last / 64; ++word) {
    std::uint64_t left;
    std::uint64_t done = 0;
    while ((left = marks[word] & ~done) != 0) {  // marks of this word may still come while it is scanned
      const int bit = __builtin_ctzll(left);
      done |= (std::uint64_t{2} << bit) - 1;
      const std::uint32_t node = word * 64 + static_cast<std::uint32_t>(bit);
      for (std::uint32_t e = rows.offsets[node]; e < rows.offsets[node + 1]; ++e) {
        const std::uint32_t t = targets[e];
        marks[t / 64] |= std::uint64_t{1} << (t % 64);
        last = std::max(last, t);
      }
    }
    reached += static_cast<std::size_t>(__builtin_popcountll(marks[word]));
  }
  out.reserve(reached);  // counted first: growing would copy more than is walked
  for (std::uint32_t word = first; word <= last / 64; ++word)
    for (std::uint64_t left = marks[word]; left != 0; left &= left - 1)
      out.push_back(word * 64 + static_cast<std::uint32_t>(__builtin_ctzll(left)));
  return out;
}

}  // namespace backreach
