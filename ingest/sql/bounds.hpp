// Filters by the date of the run: `ts >= dateadd(day, -3, current_date)`, in SQL, in Jinja, and in names that
// Jinja set before.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/time/run_bound.hpp"
#include "ingest/sql/clauses.hpp"

namespace backreach {

// What a filter takes nothing older than.
struct SqlBound {
  std::size_t at = 0;                 // the token that decides in which branch it stands
  std::optional<RunBound> reach;      // nothing: as far as `unset` say, or it is not understood
  std::vector<std::string> unset;     // variables without default that say how far
  std::vector<std::string> unless;    // variables that take its place where they are given
  std::vector<std::string> defaults;  // variables whose default says how far
  // Where it holds alone: where the target is another than production, where there is a table to add to,
  // where it is built from nothing.
  bool aside = false, rerun = false, first = false;
  // It is counted from the newest row of the table itself, which is not newer than the run; and the tokens
  // between which it stands.
  bool own = false;
  std::size_t from = 0, to = 0;
};
std::vector<SqlBound> RunBoundsOf(const SqlTokenList& t, SqlDialect dialect = SqlDialect::kUnknown);

// A predicate that limits which rows of the target a merge or delete may match.
struct PredicateBound {
  bool bounds = false;                // it limits the target side in time
  std::optional<RunBound> reach;      // to rows newer than this, or
  std::optional<std::int64_t> since;  // to those of this day (since 1970) on; neither: unknown how far
};
PredicateBound ReadPredicate(const std::string& predicate, SqlDialect dialect = SqlDialect::kUnknown);

}  // namespace backreach
