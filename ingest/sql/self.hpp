// What becomes of the rows that a query takes of its own table: followed through table expressions and
// subqueries to the filters and select lists that use them.
#pragma once

#include <cstddef>

#include "ingest/sql/clauses.hpp"

namespace backreach {

struct SelfUse {
  bool filters = false;  // compared in a filter of other rows
  bool values = false;   // selected, or not to be followed
};
// `at`: the table's own name in a FROM or JOIN.
SelfUse FollowOwnRows(const SqlClauses& clauses, std::size_t at);

}  // namespace backreach
