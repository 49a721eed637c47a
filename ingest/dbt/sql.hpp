// What a dbt model's own SQL says about a rerun: filters by its own content, bounds by the run's date,
// variables, reading itself. Tokens, not a parse: what cannot be known is said so.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/time/run_bound.hpp"
#include "ingest/sql/dialect.hpp"
#include "ingest/sql/jinja_text.hpp"

namespace backreach {

struct SqlTraits {
  // The rows taken are bounded by the model's own content (newer than its newest, keys that it has not).
  bool watermark = false;
  std::string watermark_how;
  // The columns whose newest that is; lower case.
  std::vector<std::string> watermark_columns;
  // ... by keys that it has not, and by nothing else: no row that is there can be inserted again.
  bool only_new_keys = false;
  // Where it looks back from its newest row: no row is newer than the run, so that what this leaves is taken.
  std::vector<RunBound> watermark_bounds;
  // ... or by the run's date: of several such filters the one that reaches back the least.
  std::optional<RunBound> bound;
  // It, and others that reach back the least on other days of the calendar.
  std::vector<RunBound> bounds;
  // How, for people; it is empty where there is none, and stands without `bound` where nobody knows how far.
  std::string bound_how;
  // The same for a build from nothing, where is_incremental() is false.
  std::optional<RunBound> first_bound;
  std::vector<RunBound> first_bounds;
  std::string first_bound_how;
  // It reads its own rows for values, not only to filter.
  bool reads_itself = false;
  std::string reads_itself_how;
  // Project variables that its filters use.
  std::vector<std::string> variables;
  // Environment variables that they use.
  std::vector<std::string> environment;
  // Those of them that filter in the place of a watermark, or of a bound by the run's date: where one is, the
  // other is not ({% if var('day') %} ... {% else %} ... {% endif %}).
  std::vector<std::string> instead_of_watermark, instead_of_bound;
  // Macros that may filter its rows, and of which nobody knows what they do.
  std::vector<std::string> unknown_filters;
  // Its rows are bounded where the target is another than production, and taken as not bounded.
  bool bounded_aside = false;
};
// A call of one of `macros` is read as what its body says.
// `relation`: database, schema and name of the model's own table, which its SQL may name in the place of
// `{{ this }}`.
SqlTraits ReadSqlTraits(const std::string& sql, const MacroBodies& macros = {},
                        const std::vector<std::string>& relation = {},
                        SqlDialect dialect = SqlDialect::kUnknown);

// Of these the bounds by the run's date alone.
SqlTraits ReadRunBounds(std::string_view sql, const MacroBodies& macros = {},
                        SqlDialect dialect = SqlDialect::kUnknown);

// What dbt itself and its packages of expressions offer under this name: it computes, and neither filters nor
// writes.
bool ComputesOnly(std::string_view call);

}  // namespace backreach
