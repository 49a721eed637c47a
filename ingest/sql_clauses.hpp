// Where in a statement a token stands: its clause, its brackets, the branch of Jinja's ifs, and what names
// Jinja gives to what. Over tokens, not a parse tree.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/sql_scan.hpp"

namespace backreach {

using SqlTokenList = std::vector<SqlToken>;

// Which of these words (in upper case) a token is; most are told apart by their length and first letter.
template <std::size_t N>
const std::string_view* Among(const SqlToken& t, const std::string_view (&words)[N]) {
  if (t.kind != SqlToken::Kind::kWord) return nullptr;
  for (const std::string_view& word : words)
    if (t.text.size() == word.size() && (t.text[0] & 0xDF) == word[0] && t.Is(word)) return &word;
  return nullptr;
}

// The clause in which a token stands, seen from outside its brackets: "WHERE", "SELECT", "FROM", ..., or "("
// where a bracket opens before any such word.
struct SqlClause {
  std::string word;
  std::size_t at = 0;
  bool closed = false;  // the beginning of the text was reached
};
SqlClause ClauseOf(const SqlTokenList& t, std::size_t at);
// The same, out of all brackets that are no subquery of their own.
SqlClause OuterClause(const SqlTokenList& t, std::size_t at);
// WHERE, ON, HAVING, QUALIFY.
bool Filters(std::string_view clause);
// The clause around a bracket that opens at `open`, through further brackets. What a subquery selects is as
// good as what is done with it: only compared in a WHERE, it is a filter.
std::string ClauseAround(const SqlTokenList& t, std::size_t open);
// Within a common table expression: `name as ( ... )`.
bool InTableExpression(const SqlTokenList& t, std::size_t at);
// The name of the table expression whose bracket opens at `open`, `` if it is none.
std::string_view TableExpressionAt(const SqlTokenList& t, std::size_t open);

// In which branches of Jinja's ifs each token stands.
class SqlBranches {
 public:
  explicit SqlBranches(const SqlTokenList& t);
  // No run has both tokens.
  bool Exclusive(std::size_t a, std::size_t b) const;
  // Under any if at all.
  bool Conditional(std::size_t at) const { return of_[at] > 0 && !paths_[of_[at] - 1].empty(); }
  // Only where the target is another than production: {% if target.name == 'dev' %}.
  bool AsideOnly(std::size_t at) const { return Only(at, &Branch::aside); }
  // Only where there is a table to add to: {% if is_incremental() %}; only where it is built from nothing.
  bool RerunOnly(std::size_t at) const { return Only(at, &Branch::rerun); }
  bool FirstOnly(std::size_t at) const { return Only(at, &Branch::first); }

 private:
  struct Branch {
    int number, branch;  // which if, which of its branches
    bool aside = false, rerun = false, first = false;
  };
  bool Only(std::size_t at, bool Branch::*which) const;
  std::vector<std::vector<Branch>> paths_;
  std::vector<std::size_t> of_;  // one more than the index of a path; 0: under no if
};

// The name that `set x ...` or `call statement('x', ...)` gives a value to.
std::string NameSetBy(const SqlToken& t);
// The project variables that a Jinja text asks for: `var('day')`; with `environment`, those of `env_var`.
std::vector<std::string> VariablesIn(std::string_view text, bool environment = false);
bool HasWord(std::string_view text, const std::string& word);
bool HasOneOf(std::string_view text, const std::set<std::string>& words);

}  // namespace backreach
