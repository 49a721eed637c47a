// The calls of dbt in Airflow's tasks: operators of Cosmos and others, lines of shell, containers' arguments,
// steps of dbt Cloud. A serialized task holds the template fields of its operator and little else.
#pragma once

#include <vector>

#include "ingest/airflow/task.hpp"

namespace backreach {

struct TaskCalls {
  std::vector<DbtRunFact> runs;
  bool harmless = false;  // the task is known to read and write no data, beside what `runs` says
};
TaskCalls DbtCallsOf(const Json& task, const TaskView& view);

}  // namespace backreach
