// SHA-256 of bytes, as 64 hexadecimal digits: names of contents (sources, graphs, plans).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace backreach {

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  void Update(std::string_view bytes);
  // To be called once.
  std::string Hex();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string Sha256Hex(std::string_view bytes);

// 64 bits of a text, for tables of what was seen; the same on every machine.
std::uint64_t Hash64(std::string_view bytes, std::uint64_t seed = 0);

// 128 bits that tell a change, for what nobody would forge: 16 bytes, not to be printed.
std::string ChangeDigest(std::string_view bytes);

}  // namespace backreach
