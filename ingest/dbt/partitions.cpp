// Transforms of Iceberg count from the epoch in UTC (`month(ts)` is a month of a year); ClickHouse's
// functions cut in the column's zone. DuckLake's are parts of a date (`month(ts)` is 1 to 12) and so name no
// period.

#include "ingest/dbt/partitions.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "graph/base/words.hpp"

namespace backreach {

namespace {

struct Function {
  std::string_view name, grain;
};

constexpr Function kIceberg[] = {{"hour", "hour"}, {"hours", "hour"},  {"day", "day"},
                                 {"days", "day"},  {"month", "month"}, {"months", "month"},
                                 {"year", "year"}, {"years", "year"}};

constexpr Function kClickHouse[] = {
    {"tostartofhour", "hour"}, {"toyyyymmdd", "day"},       {"todate", "day"},
    {"todate32", "day"},       {"tostartofday", "day"},     {"tomonday", "week"},
    {"toyyyymm", "month"},     {"tostartofmonth", "month"}, {"tostartofquarter", "quarter"},
    {"toyear", "year"},        {"tostartofyear", "year"}};

int Fineness(std::string_view grain) {
  static constexpr std::string_view kOrder[] = {"hour", "day", "week", "month", "quarter", "year"};
  return static_cast<int>(std::find(std::begin(kOrder), std::end(kOrder), grain) - std::begin(kOrder));
}

bool WordChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// The finest of the functions that are called on a column in the text.
template <std::size_t N>
void Calls(const std::string& text, const Function (&known)[N], std::optional<DbtPartition>& best) {
  for (std::size_t open = text.find('('); open != std::string::npos; open = text.find('(', open + 1)) {
    std::size_t from = open;
    while (from > 0 && WordChar(text[from - 1])) --from;
    const std::string name = Lower(text.substr(from, open - from));
    const auto function =
        std::find_if(std::begin(known), std::end(known), [&](const Function& f) { return f.name == name; });
    if (function == std::end(known)) continue;
    std::size_t at = open + 1;
    while (at < text.size() && (text[at] == ' ' || text[at] == '`' || text[at] == '"')) ++at;
    std::size_t end = at;
    while (end < text.size() && (WordChar(text[end]) || text[end] == '.')) ++end;
    const std::string column = text.substr(at, end - at);
    while (end < text.size() && (text[end] == ' ' || text[end] == '`' || text[end] == '"')) ++end;
    if (column.empty() || end >= text.size() || (text[end] != ')' && text[end] != ','))
      continue;  // of an expression
    if (!best || Fineness(function->grain) < Fineness(best->grain))
      best = {std::string(function->grain), column, false};
  }
}

}  // namespace

std::optional<DbtPartition> ReadDbtPartition(const DbtPartitionConfig& c) {
  if (c.adapter == "bigquery") {
    const std::string granularity = c.granularity.empty() ? "day" : c.granularity;
    if (c.field.empty() || c.data_type == "int64" || Fineness(granularity) > 5 || granularity == "week" ||
        granularity == "quarter")
      return std::nullopt;
    return DbtPartition{granularity, c.field, c.data_type == "timestamp"};
  }
  std::optional<DbtPartition> best;
  if (c.adapter == "clickhouse") {
    for (const std::string& text : c.texts) Calls(text, kClickHouse, best);
  } else if (c.adapter == "athena" || c.adapter == "trino" || c.adapter == "spark" ||
             c.adapter == "databricks") {
    for (const std::string& text : c.texts) Calls(text, kIceberg, best);
    if (best) best->utc = true;
  }
  return best;
}

}  // namespace backreach
