// What is plain is the part of YAML that every reader of it takes for a text.

#include "graph/base/yaml_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "graph/base/words.hpp"

namespace backreach {

std::string YamlText(std::string_view text) {
  const auto plain = [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-' || c == '/' || c >= 0x80;
  };
  static const char* const kWords[] = {"null", "true", "false", "yes", "no", "on", "off", "y", "n", "~"};
  const bool word = std::any_of(std::begin(kWords), std::end(kWords),
                                [low = Lower(text)](const char* w) { return low == w; });
  const char first = text.empty() ? '-' : text[0];
  const bool letter = (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z') || first == '_';
  const bool bare =
      letter && !word && std::all_of(text.begin(), text.end(), plain) && Printable(text) == text;
  return bare ? std::string(text) : YamlQuoted(text);
}

std::string YamlQuoted(std::string_view text) {
  const bool odd = Printable(text) != text;  // letters that would not be seen are written by their numbers
  std::string out = "\"";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto u = static_cast<unsigned char>(text[i]);
    if (u == '"' || u == '\\') {
      out += '\\';
      out += text[i];
    } else if (u < 0x20 || u == 0x7F) {
      out += fmt::format("\\x{:02X}", u);
    } else if (u >= 0xC0 && odd) {
      std::uint32_t code = u & (u < 0xE0 ? 0x1Fu : u < 0xF0 ? 0x0Fu : 0x07u);
      while (i + 1 < text.size() && (static_cast<unsigned char>(text[i + 1]) & 0xC0u) == 0x80u)
        code = code << 6 | (static_cast<unsigned char>(text[++i]) & 0x3Fu);
      out += fmt::format("\\U{:08X}", code);
    } else {
      out += text[i];
    }
  }
  return out + "\"";
}

}  // namespace backreach
