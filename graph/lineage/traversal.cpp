// One mark per node in a bitmap, scanned upwards a word at a time: numbers only grow along edges, so whatever
// a node reaches is still ahead of the scan. Cost: the edges of what is reached, plus a bit for each node.

#include "graph/lineage/traversal.hpp"

#include <algorithm>
#include <array>

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

// Upwards from the last node, a set of bits for each; five hundred of the counted nodes at a time.
std::vector<std::uint32_t> CountReachable(const RankedRows& rows, const std::vector<bool>& counted) {
  constexpr std::uint32_t kWords = 8, kBits = kWords * 64, kNone = 0xFFFFFFFFu;
  const std::uint32_t n = rows.size();
  std::vector<std::uint32_t> out(n, 0), number(n, kNone);
  std::uint32_t all = 0;
  for (std::uint32_t v = 0; v < n; ++v)
    if (counted[v]) number[v] = all++;
  std::vector<std::array<std::uint64_t, kWords>> below(n);
  for (std::uint32_t from = 0; from < all; from += kBits) {
    for (std::uint32_t v = n; v-- > 0;) {
      std::array<std::uint64_t, kWords>& bits = below[v];
      bits.fill(0);
      for (std::uint32_t e = rows.offsets[v]; e < rows.offsets[v + 1]; ++e) {
        const std::uint32_t t = rows.targets[e];
        for (std::uint32_t w = 0; w < kWords; ++w) bits[w] |= below[t][w];
        if (number[t] != kNone && number[t] >= from && number[t] < from + kBits)
          bits[(number[t] - from) / 64] |= std::uint64_t{1} << ((number[t] - from) % 64);
      }
      for (const std::uint64_t word : bits) out[v] += static_cast<std::uint32_t>(__builtin_popcountll(word));
    }
  }
  return out;
}

}  // namespace backreach
