// Counts before and after a rebuild, held against its plan: what was to change and what was not. Counts are
// all that is compared; that they are equal does not say that the rows are right.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/after/counts.hpp"
#include "analysis/plan/recorded.hpp"
#include "graph/base/diagnostics.hpp"
#include "graph/facts/run_log.hpp"
#include "graph/lineage/lineage.hpp"

namespace backreach {

// How much a dataset may change, in percent of its rows before.
struct Expectation {
  double least = 0, most = 0;
};

struct VerifyQuestion {
  const RecordedPlan* plan = nullptr;
  const Counts* before = nullptr;
  const Counts* after = nullptr;
  std::optional<double> tolerance;  // percent
  std::map<std::string, Expectation> expected;
  // What is known beside the plan; null and nothing where there is no store.
  const LineageGraph* graph = nullptr;
  const LoggedRun* run = nullptr;
  std::function<std::optional<std::string>(const std::string& name)> canonical;
};

struct VerifyFinding {
  std::string code;      // doubled, lost, missing, emptied, partial-overwrite, ...
  std::string severity;  // fail, warning, note
  std::string dataset;
  std::optional<std::string> partition;  // nothing: of the dataset
  std::optional<std::int64_t> before, after;
  std::string message;
};

// One cell as it was counted, for charts.
struct CountedCell {
  std::string key;
  Instant start = 0;
  bool planned = false;
  std::optional<std::int64_t> before, after;
  std::string code;
};

struct VerifiedDataset {
  std::string dataset, unit;            // of its cells: "day"
  std::optional<std::int64_t> planned;  // cells
  std::int64_t counted = 0;             // planned ones that were counted after
  std::optional<std::int64_t> before, after;
  bool whole = false;
  std::vector<CountedCell> cells;  // in order of time
};

struct Verification {
  std::string plan, result;  // pass, fail, unverified
  std::vector<VerifyFinding> findings;
  std::vector<VerifiedDataset> datasets;
  std::vector<std::string> notes;
};

// What makes the counts unusable (two counts of one cell, files the wrong way round) goes to `diagnostics`.
Verification Verify(const VerifyQuestion& question, Diagnostics& diagnostics);

}  // namespace backreach
