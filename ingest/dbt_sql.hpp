// What a dbt model's own SQL says about a rerun: filters by its own content, bounds by the run's date,
// variables, reading itself. Tokens, not a parse: what cannot be known is said so.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace backreach {

struct SqlTraits {
  // The rows taken are bounded by the model's own content (newer than its newest, keys that it has not).
  bool watermark = false;
  std::string watermark_how;
  // ... or by the run's date, reaching this many days back.
  std::optional<double> date_bound_days;
  // It reads its own rows for values, not only to filter.
  bool reads_itself = false;
  std::string reads_itself_how;
  // Project variables that its filters use.
  std::vector<std::string> variables;
  // Those of them that filter in the place of a watermark, or of a bound by the run's date: where one is, the
  // other is not ({% if var('day') %} ... {% else %} ... {% endif %}).
  std::vector<std::string> instead_of_watermark, instead_of_bound;
  // Macros that may filter its rows, and of which nobody knows what they do.
  std::vector<std::string> unknown_filters;
};
// `macros`: the bodies of the project's own, by name. A call of one is read as what its body says; what is
// empty or of another package is an unknown call.
using MacroBodies = std::unordered_map<std::string, std::string>;
SqlTraits ReadSqlTraits(const std::string& sql, const MacroBodies& macros = {});
// `date_bound_days` alone, for what is rebuilt whole.
std::optional<double> ReadDateBound(std::string_view sql, const MacroBodies& macros = {});

// What dbt itself and its packages of expressions offer under this name: it computes, and neither filters nor
// writes.
bool ComputesOnly(std::string_view call);

// A predicate that limits which rows of the target a merge or delete may match.
struct PredicateBound {
  bool bounds = false;         // it limits the target side in time
  std::optional<double> days;  // to rows newer than so many days before the run; nothing: unknown how far
};
PredicateBound ReadPredicate(const std::string& predicate);

}  // namespace backreach
