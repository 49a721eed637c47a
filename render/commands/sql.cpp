// Statements that make a stored view anew, in the words of each platform. They are for a client, or for a
// person: no shell understands them.

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

}  // namespace

std::vector<Line> RefreshLines(const way::Refresh& r) {
  const std::string name = r.relation.empty() ? SqlName(r.platform, r.parts) : r.relation;
  const auto line = [](std::string text) { return std::vector<Line>{{std::move(text), {}}}; };
  if (name.empty()) return {};
  if (r.platform == "bigquery") {
    std::string path;
    for (const std::string& part : r.parts) path += (path.empty() ? "" : ".") + part;
    return line("CALL BQ.REFRESH_MATERIALIZED_VIEW(" + SqlText(path) + ")");
  }
  if (r.platform == "clickhouse")
    return {{"SYSTEM REFRESH VIEW " + ClickHouseView(r), {}}, {"SYSTEM WAIT VIEW " + ClickHouseView(r), {}}};
  if (r.platform == "oracle") {
    std::string path;
    for (const std::string& part : r.parts) path += (path.empty() ? "" : ".") + part;
    return line("BEGIN DBMS_MVIEW.REFRESH(" + SqlText(path) + "); END;");
  }
  if (r.kind == "dynamic-table") return line("ALTER DYNAMIC TABLE " + name + " REFRESH");
  // A refresh takes what is new in a stream's input alone; all of it again has to be said.
  if (r.kind == "streaming-table") return line("REFRESH STREAMING TABLE " + name + " FULL");
  return line("REFRESH MATERIALIZED VIEW " + name);
}

}  // namespace backreach
