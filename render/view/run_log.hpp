// What the log of runs says of datasets: is a correction in progress, since when, by whom.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/facts/run_log.hpp"
#include "graph/lineage/lineage.hpp"

namespace backreach {

struct StatusQuestion {
  std::string asked;               // as typed; "": everything
  std::vector<std::string> names;  // canonical: the dataset, or what a view or dashboard shows
};

// `graph`: for the keys of cells; null where there is none, and cells go by their instants.
std::string StatusText(const LineageGraph* graph, const std::vector<LoggedRun>& log,
                       const StatusQuestion& question, int width);
std::string StatusJson(const LineageGraph* graph, const std::vector<LoggedRun>& log,
                       const StatusQuestion& question);
// One event a line: START of each run, and COMPLETE or ABORT where it ended.
std::string StatusEvents(const LineageGraph* graph, const std::vector<LoggedRun>& log,
                         const StatusQuestion& question);

}  // namespace backreach
