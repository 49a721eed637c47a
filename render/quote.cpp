// Each function doubles, escapes or breaks up what its language would read as its own.

#include "render/quote.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "graph/base/words.hpp"

namespace backreach {

namespace {

std::string Doubled(std::string_view text, char open, char close) {
  std::string out(1, open);
  for (const char c : text) {
    if (c == close) out += c;
    out += c;
  }
  return out + close;
}

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

std::string ShellFilled(const std::string& line,
                        const std::vector<std::pair<std::string, std::string>>& values) {
  std::string out;
  char quote = 0;
  for (std::size_t i = 0; i < line.size();) {
    const auto at = std::find_if(values.begin(), values.end(), [&](const auto& v) {
      return line.compare(i, v.first.size(), v.first) == 0 && (i == 0 || line[i - 1] != '$');
    });
    if (at != values.end()) {
      const std::string& value = at->second;
      if (quote == 0) out += ShellWord(value);
      for (const char c : quote ? value : std::string()) {
        if (quote == '\'' && c == '\'')
          out += "'\\''";
        else
          out += quote == '"' && std::string_view("\"\\$`").find(c) != std::string_view::npos
                     ? std::string("\\") + c
                     : std::string(1, c);
      }
      i += at->first.size();
      continue;
    }
    const char c = line[i++];
    out += c;
    if (c == '\\' && quote != '\'' && i < line.size())
      out += line[i++];
    else if (quote ? c == quote : c == '\'' || c == '"')
      quote = quote ? 0 : c;
  }
  return out;
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
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += std::string("\\") + c;
    else if (u < 0x20 || u == 0x7F)
      out += fmt::format("\\u{:04x}", u);
    else
      out += c;
  }
  return out + "\"";
}

std::string SqlText(std::string_view text) { return Doubled(text, '\'', '\''); }

std::string SqlName(const std::string& platform, const std::vector<std::string>& parts) {
  const bool back = platform == "bigquery" || platform == "databricks" || platform == "spark" ||
                    platform == "clickhouse" || platform == "mysql";
  const bool bracket = platform == "sqlserver" || platform == "fabric" || platform == "synapse";
  // dbt leaves names bare there, and a quoted one would be another.
  const bool bare = platform == "snowflake" || platform == "spark" || platform.empty();
  std::vector<std::string> out;
  for (const std::string& part : parts)
    out.push_back(bare && Plain(part) ? part
                  : back              ? Doubled(part, '`', '`')
                  : bracket           ? Doubled(part, '[', ']')
                                      : Doubled(part, '"', '"'));
  return Join(out, ".");
}

std::string AirflowBash(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool opens = text[i] == '{' && i + 1 < text.size() &&
                       (text[i + 1] == '{' || text[i + 1] == '%' || text[i + 1] == '#');
    out += opens ? std::string("{{ '{' }}") : std::string(1, text[i]);
  }
  return out + " ";
}

}  // namespace backreach
