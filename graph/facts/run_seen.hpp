// A run that happened, as an engine's own records tell it: what ran, over which period, and how it ended. The
// engine's id of it is for people alone: what a run is for is told by its data interval, its date or its key.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graph/time/span.hpp"

namespace backreach {

struct RunSeen {
  enum class State { kDone, kFailed, kRunning, kSkipped };
  std::string engine;  // dbt, airflow, openlineage
  std::string name;    // a dbt node's unique id, a DAG's id, a dataset's name
  std::string task;    // of the DAG, or ""
  State state = State::kDone;
  std::vector<Span> done, failed;           // the periods that it was given, where it was given any
  std::optional<Instant> date;              // its logical date, where it has no period
  std::map<std::string, std::string> vars;  // dbt's, by name
  bool full_refresh = false;
  std::optional<Instant> ended;
  std::string said;  // for people: "run_results.json: success"
};

}  // namespace backreach
