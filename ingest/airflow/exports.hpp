// Where a task takes rows out: statements in any of its templated fields, commands of clients in bash and in
// containers, jobs of BigQuery as their configuration, operators that move data.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ingest/airflow/task.hpp"
#include "ingest/sql/scan.hpp"

namespace backreach {

struct TaskExport {
  std::vector<SqlTable> tables;  // empty where what is taken is not to be seen
  std::string destination;
  std::string how;
};

struct TaskExports {
  std::vector<TaskExport> ways;
  std::vector<std::string> not_understood;  // in words
  bool notifies = false;
};

TaskExports ExportsOf(const std::string& type, const TaskView& view);

}  // namespace backreach
