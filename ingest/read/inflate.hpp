// Compressed columns: zlib's format, as Python writes it, and the texts that carry bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace backreach {

// What zlib packed; nothing if it is damaged, cut off, or would be larger than `most` bytes.
std::optional<std::string> Inflate(std::string_view bytes, std::size_t most);
// Bytes of base64 (line breaks allowed) or of pairs of hex digits; nothing if it is none.
std::optional<std::string> FromBase64(std::string_view text);
std::optional<std::string> FromHex(std::string_view text);

}  // namespace backreach
