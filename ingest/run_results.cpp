#include "ingest/run_results.hpp"

#include <fmt/format.h>
#include <simdjson.h>

#include "ingest/file.hpp"

namespace backreach {

std::optional<std::map<std::string, std::string>> ReadRunStatuses(const std::string& path,
                                                                  Diagnostics& diagnostics) {
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
  std::map<std::string, std::string> out;
  for (const simdjson::dom::element result : results) {
    std::string_view id, status;
    if (!result["unique_id"].get(id) && !result["status"].get(status))
      out[std::string(id)] = std::string(status);
  }
  return out;
}

}  // namespace backreach
