// What an Airflow task moves: by the SQL in its template fields, and by operators whose arguments say from
// where to where.
#pragma once

#include <string>
#include <vector>

#include "ingest/airflow/task.hpp"
#include "ingest/sql/moves.hpp"

namespace backreach {

// `space`: what names that have no place of their own begin with; `assets`: URIs of all DAGs' assets, one of
// which is meant where it alone ends in what the SQL names.
void AddTaskMoves(const Json& task, const TaskView& view, const std::string& space,
                  const std::vector<std::string>& assets, JobFact& job, Facts& facts,
                  std::set<std::string>& known);

}  // namespace backreach
