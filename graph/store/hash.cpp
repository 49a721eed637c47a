#include "graph/store/hash.hpp"

#include <fmt/format.h>
#include <xxhash.h>

namespace backreach {

std::string BlockHash(std::string_view bytes) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
  return std::string(reinterpret_cast<const char*>(canonical.digest), sizeof canonical.digest);
}

std::uint64_t IdentityHash(std::string_view text, std::uint64_t seed) {
  return XXH3_64bits_withSeed(text.data(), text.size(), seed);
}

std::string ListHash::Hex() const {
  const XXH128_hash_t hash = XXH3_128bits(bytes_.bytes().data(), bytes_.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace backreach
