// Each doubles, escapes or breaks up what its language would read as its own.

#include "graph/base/sql_text.hpp"

#include <algorithm>
#include <iterator>

namespace backreach {

namespace {

bool OneOf(std::string_view platform, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), platform) != names.end();
}

}  // namespace

std::string SqlString(std::string_view platform, std::string_view text) {
  const bool plain =
      OneOf(platform, {"postgres", "duckdb", "trino", "athena", "sqlserver", "fabric", "synapse", "oracle",
                       "sqlite", "teradata", "exasol", "vertica", "materialize"});
  const bool backslash_only = platform == "bigquery";  // '' is no quote there, but the end and a beginning
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') out += backslash_only ? '\\' : '\'';
    if (c == '\\' && !plain) out += '\\';
    out += c;
  }
  return out + "'";
}

std::string SqlIdentifier(std::string_view platform, std::string_view name) {
  const bool back = OneOf(platform, {"bigquery", "databricks", "spark", "clickhouse", "mysql"});
  const bool bracket = OneOf(platform, {"sqlserver", "fabric", "synapse"});
  const char open = back ? '`' : bracket ? '[' : '"', close = bracket ? ']' : open;
  const bool backslash = OneOf(platform, {"bigquery", "clickhouse"});
  std::string out(1, open);
  for (const char c : name) {
    if (c == close) out += backslash ? '\\' : close;
    if (c == '\\' && backslash) out += '\\';
    out += c;
  }
  return out + close;
}

std::string JinjaText(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char next = i + 1 < text.size() ? text[i + 1] : ' ';
    if (text[i] == '{' && (next == '{' || next == '%' || next == '#'))
      out += "{{ '{' }}";
    else if (text[i] == '\r')  // Jinja reads it as a newline
      out += "{{ '\\r' }}";
    else
      out += text[i];
  }
  return out;
}

}  // namespace backreach
