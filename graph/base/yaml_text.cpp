// Names of tables are bare nearly always; what could be read as a number, a word of YAML's or its signs is
// not.

#include "graph/base/yaml_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "graph/base/words.hpp"

namespace backreach {

namespace {

bool Letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

bool Bare(std::string_view text) {
  static constexpr std::string_view kWords[] = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"};
  const std::string lower = Lower(text);
  return !text.empty() && Letter(text[0]) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) {
                       return Letter(c) || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '/' ||
                              c == ':';
                     }) &&
         text.back() != ':' && std::find(std::begin(kWords), std::end(kWords), lower) == std::end(kWords);
}

}  // namespace

std::string YamlText(std::string_view text) { return Bare(text) ? std::string(text) : YamlQuoted(text); }

std::string YamlQuoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += std::string("\\") + c;
    else if (u < 0x20 || u == 0x7F)
      out += fmt::format("\\x{:02x}", u);
    else
      out += c;
  }
  return out + "\"";
}

}  // namespace backreach
