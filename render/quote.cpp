// Each function doubles, escapes or breaks up what its language would read as its own.

#include "render/quote.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "graph/base/shell.hpp"
#include "graph/base/sql_text.hpp"
#include "graph/base/words.hpp"

namespace backreach {

namespace {

bool Plain(std::string_view name) {
  return !name.empty() && !(name[0] >= '0' && name[0] <= '9') &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
         });
}

}  // namespace

std::string ShellQuoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::optional<std::string> ShellFilled(const std::string& line,
                                       const std::vector<std::pair<std::string, std::string>>& values) {
  std::vector<std::size_t> places;
  std::vector<const std::pair<std::string, std::string>*> named;
  for (std::size_t i = 0; i < line.size();) {
    const auto at = std::find_if(values.begin(), values.end(), [&](const auto& v) {
      return line.compare(i, v.first.size(), v.first) == 0 && (i == 0 || line[i - 1] != '$');
    });
    if (at == values.end()) {
      ++i;
      continue;
    }
    places.push_back(i);
    named.push_back(&*at);
    i += at->first.size();
  }
  const std::vector<ShellPlace> stands = ShellPlaces(line, places);
  std::string out;
  std::size_t done = 0;
  for (std::size_t n = 0; n < places.size(); ++n) {
    const auto& [name, value] = *named[n];
    out += line.substr(done, places[n] - done);
    done = places[n] + name.size();
    const std::string word = ShellWord(value);
    if (value.find('\0') != std::string::npos) return std::nullopt;
    if (word == value) {  // the same in all quotes
      out += value;
      continue;
    }
    if (stands[n] == ShellPlace::kUnknown) return std::nullopt;
    if (stands[n] == ShellPlace::kBare) out += word;
    for (const char c : stands[n] == ShellPlace::kBare ? std::string() : value) {
      if (stands[n] == ShellPlace::kSingleQuotes)
        out += c == '\'' ? std::string("'\\''") : std::string(1, c);
      else
        out += std::string_view("\"\\$`").find(c) != std::string_view::npos ? std::string("\\") + c
                                                                            : std::string(1, c);
    }
  }
  return out + line.substr(done);
}

std::string PythonText(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += std::string("\\") + c;
    else if (c == '\n')
      out += "\\n";
    else if (u < 0x20 || u == 0x7F)
      out += fmt::format("\\x{:02x}", u);
    else
      out += c;
  }
  return out + "\"";
}

std::string JsonText(std::string_view text) {
  std::string out = "\"";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const auto u = static_cast<unsigned char>(c);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    if (c == '"' || c == '\\') {
      out += std::string("\\") + c;
    } else if (u < 0x20 || u == 0x7F) {
      out += fmt::format("\\u{:04x}", u);
    } else if (u == 0xC2 && next >= 0x80 && next < 0xA0) {  // controls that YAML refuses, or folds
      out += fmt::format("\\u{:04x}", next);
      ++i;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string SqlName(const std::string& platform, const std::vector<std::string>& parts) {
  // dbt leaves names bare there, and a quoted one would be another.
  const bool bare = platform == "snowflake" || platform == "spark" || platform.empty();
  std::vector<std::string> out;
  for (const std::string& part : parts)
    out.push_back(bare && Plain(part) ? part : SqlIdentifier(platform, part));
  return Join(out, ".");
}

std::string AirflowBash(std::string_view text) { return JinjaText(text) + " "; }

}  // namespace backreach
