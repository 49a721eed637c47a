// Airflow operators that write data out of the platform, and which of their arguments say what and where to.
#pragma once

#include <string_view>
#include <vector>

namespace backreach {

struct ExportOperator {
  std::string_view operator_class;
  std::string_view tables;       // arguments that name tables, joined by dots; "" if only SQL tells
  std::string_view sql;          // the argument that holds the query
  std::string_view destination;  // arguments joined by slashes
  std::string_view scheme;       // put before them
};

const std::vector<ExportOperator>& ExportOperators();

}  // namespace backreach
