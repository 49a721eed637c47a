// Hashes by which the store knows bytes again; nobody forges them, damage does not meet them by chance.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "graph/base/bytes.hpp"

namespace backreach {

// The address of a block: 128 bits of its bytes, raw.
std::string BlockHash(std::string_view bytes);
// 64 bits of what names a fact.
std::uint64_t IdentityHash(std::string_view text, std::uint64_t seed = 0);

// One hash over a list of texts: another text, order or number of them is another hash.
class ListHash {
 public:
  void Add(std::string_view text) { bytes_.Text(text); }
  void Add(std::int64_t number) { bytes_.Number(static_cast<std::uint64_t>(number)); }
  std::string Hex() const;

 private:
  ByteWriter bytes_;
};

}  // namespace backreach
