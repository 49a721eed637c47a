// Statements that make a stored view anew, in the words of each platform. They are for a client, or for a
// person: no shell understands them.

#include "graph/base/sql_text.hpp"
#include "graph/base/words.hpp"
#include "render/commands/lines.hpp"
#include "render/quote.hpp"

namespace backreach {

namespace {

// dbt names ClickHouse's view after the table that it fills.
std::string ClickHouseView(const way::Refresh& r) {
  std::vector<std::string> parts = r.parts;
  if (parts.size() > 2) parts.erase(parts.begin(), parts.end() - 2);
  if (!parts.empty()) parts.back() += "_mv";
  return SqlName(r.platform, parts);
}

// A relation as dbt writes it is a name, bare or quoted part by part; as anything else it is not taken over.
bool IsRelation(std::string_view text) {
  if (Printable(text) != text) return false;
  char close = 0;
  bool part = false;  // something stands since the last dot
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (close) {
      if (c == '\\') return false;
      if (c != close) continue;
      if (i + 1 < text.size() && text[i + 1] == close)
        ++i;
      else
        close = 0;
    } else if (c == '.') {
      if (!part) return false;
      part = false;
    } else if (c == '"' || c == '`' || c == '[') {
      if (part) return false;
      close = c == '[' ? ']' : c;
      part = true;
    } else {
      const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                          c == '_' || c == '$' || static_cast<unsigned char>(c) >= 0x80;
      if (!letter) return false;
      part = true;
    }
  }
  return part && close == 0;
}

}  // namespace

std::vector<Line> RefreshLines(const way::Refresh& r) {
  const std::string name = IsRelation(r.relation) ? r.relation : SqlName(r.platform, r.parts);
  const auto line = [](std::string text) { return std::vector<Line>{{std::move(text), {}}}; };
  if (name.empty()) return {};
  if (r.platform == "bigquery") {
    std::string path;
    for (const std::string& part : r.parts) path += (path.empty() ? "" : ".") + part;
    return line("CALL BQ.REFRESH_MATERIALIZED_VIEW(" + SqlString(r.platform, path) + ")");
  }
  if (r.platform == "clickhouse")
    return {{"SYSTEM REFRESH VIEW " + ClickHouseView(r), {}}, {"SYSTEM WAIT VIEW " + ClickHouseView(r), {}}};
  if (r.platform == "oracle") {
    std::string path;
    for (const std::string& part : r.parts) path += (path.empty() ? "" : ".") + part;
    return line("BEGIN DBMS_MVIEW.REFRESH(" + SqlString(r.platform, path) + "); END;");
  }
  if (r.kind == "dynamic-table") return line("ALTER DYNAMIC TABLE " + name + " REFRESH");
  // A refresh takes what is new in a stream's input alone; all of it again has to be said.
  if (r.kind == "streaming-table") return line("REFRESH STREAMING TABLE " + name + " FULL");
  return line("REFRESH MATERIALIZED VIEW " + name);
}

}  // namespace backreach
