// From what a person typed to a Request: names resolved, dates read on each target's calendar.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/plan/request.hpp"
#include "graph/names/names.hpp"

namespace backreach {

struct RequestText {
  std::vector<std::string> targets;
  bool no_target = false;  // none is wanted: the rest of the request alone
  std::optional<std::string> from, to;
  std::vector<std::string> ranges;
  bool whole = false;
  Instant now = 0;
  std::vector<std::string> excludes, accepts, narrows, wheres;
  std::vector<std::string> unchanged;  // DATASET@KEY
  bool include_open = false;
  std::vector<std::string> full_refreshes;  // "" for all steps
  bool strict = false;
  std::string fail_on = "blocking";
  int threads = 1;
  std::optional<Instant> as_of;
  // What a dbt selector stands for; the request is read without selectors if it is not set.
  std::function<std::vector<DatasetId>(const std::string& selector)> select;
};

// Throws Error(kBadRequest) with what is wrong and what to write instead.
Request ReadRequest(const LineageGraph& graph, const NameIndex& names, const RequestText& text);

// One dataset by any unambiguous name; throws with the candidates, or the nearest names.
DatasetId FindDataset(const LineageGraph& graph, const NameIndex& names, const std::string& given);

}  // namespace backreach
