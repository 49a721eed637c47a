// Counts as they are asked of a database: the plan's own queries, and a program that runs them.
#pragma once

#include <string>
#include <vector>

#include "analysis/plan/recorded.hpp"
#include "cli/command.hpp"

namespace backreach {

// The queries that make a counts file: one for each step whose platform is known.
struct CountQuery {
  std::string dataset, sql;
};
std::vector<CountQuery> CountQueries(const RecordedPlan& plan);

// Runs them as --connect or dbt's profile say, and returns a counts file. Throws where a client fails.
std::string RunCounts(const Arguments& arguments, const RecordedPlan& plan);

}  // namespace backreach
