// Read whole: the file has a line or two for each node of one invocation, far less than a manifest.

#include "ingest/run_results.hpp"

#include <fmt/format.h>
#include <simdjson.h>

#include "ingest/file.hpp"

namespace backreach {

bool RunResults::executed() const {
  return command != "compile" && command != "generate" && command != "docs" && command != "parse" &&
         command != "list" && command != "ls";
}

std::optional<RunResults> ReadRunResults(const std::string& path, Diagnostics& diagnostics) {
  constexpr std::size_t kMost = std::size_t{1} << 30;
  const auto text = ReadSmallFile(path, kMost, diagnostics);
  if (!text) return std::nullopt;
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  simdjson::dom::array results;
  if (const auto error = parser.parse(WithoutMark(*text)).get(root)) {
    diagnostics.Error(path, fmt::format("no JSON: {}", simdjson::error_message(error)),
                      {"was dbt still writing it? run dbt again"});
    return std::nullopt;
  }
  if (root["results"].get(results)) {
    diagnostics.Error(path + ": /results", "is missing: this is not dbt's run_results.json");
    return std::nullopt;
  }
  RunResults out;
  std::string_view text_value;
  if (!root["metadata"]["generated_at"].get(text_value)) out.generated_at = std::string(text_value);
  if (!root["args"]["which"].get(text_value)) out.command = std::string(text_value);
  for (const simdjson::dom::element result : results) {
    std::string_view id, status;
    if (!result["unique_id"].get(id) && !result["status"].get(status))
      out.statuses[std::string(id)] = std::string(status);
  }
  return out;
}

}  // namespace backreach
