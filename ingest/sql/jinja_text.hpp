// A model's Jinja written out as SQL, as far as that can be known without running dbt: references become
// names that say which they are, branches are taken one after another, loops over written lists are unrolled,
// the project's own macros are put in.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace backreach {

// The bodies of a project's own macros, by name; what is empty or of another package is an unknown call.
using MacroBodies = std::unordered_map<std::string, std::string>;

// The names that stand for what Jinja gives.
inline constexpr std::string_view kSqlParent = "__br_parent_";  // with the number of a reference
inline constexpr std::string_view kSqlThis = "__br_this";
inline constexpr std::string_view kSqlValue = "__br_value";  // a value that is the same for all rows
inline constexpr std::string_view kSqlBatchStart = "__br_batch_start", kSqlBatchEnd = "__br_batch_end";

struct JinjaReference {
  bool source = false;             // source('a', 'b'), else ref(...)
  std::vector<std::string> words;  // as given
  bool rendered = false;           // .render(): not cut to the batch
};

struct JinjaText {
  std::string sql;                // lines stand where they stood
  std::vector<std::string> lost;  // calls that could not be followed
};

struct JinjaTexts {
  std::vector<JinjaText> variants;  // each branch of each condition is in one of them
  std::vector<JinjaReference> references;
};

JinjaTexts WriteOutJinja(std::string_view text, const MacroBodies& macros, std::string_view adapter);

}  // namespace backreach
