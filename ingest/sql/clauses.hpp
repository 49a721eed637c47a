// Where in a statement a token stands: its clause, its brackets, the branch of Jinja's ifs, and what names
// Jinja gives to what. Over tokens, not a parse tree.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/sql/scan.hpp"

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
// Of all tokens of a text, worked out in one pass when the first is asked for. The tokens stay as they are.
class SqlClauses {
 public:
  explicit SqlClauses(const SqlTokenList& tokens) : t_(tokens) {}
  const SqlTokenList& tokens() const { return t_; }
  SqlClause Of(std::size_t at) const;
  // The same, out of all brackets that are no subquery of their own.
  SqlClause Outer(std::size_t at) const;
  // Within a common table expression: `name as ( ... )`.
  bool InTableExpression(std::size_t at) const;
  // Brackets that open before it, less those that close.
  int Depth(std::size_t at) const;

 private:
  struct Place {
    std::uint32_t of = 0, outer = 0;  // one more than the token that decides; 0: the beginning
    int depth = 0;
    bool in_table = false;
  };
  void Fill() const;
  SqlClause Made(std::uint32_t decider) const;
  const SqlTokenList& t_;
  mutable std::vector<Place> places_;
};
// WHERE, ON, HAVING, QUALIFY.
bool Filters(std::string_view clause);
// The clause around a bracket that opens at `open`, through further brackets. What a subquery selects is as
// good as what is done with it: only compared in a WHERE, it is a filter.
std::string ClauseAround(const SqlClauses& clauses, std::size_t open);
// The name of the table expression whose bracket opens at `open`, `` if it is none.
std::string_view TableExpressionAt(const SqlTokenList& t, std::size_t open);

// In which branches of Jinja's ifs each token stands.
class SqlBranches {
 public:
  explicit SqlBranches(const SqlTokenList& t);
  // No run has both tokens.
  bool Exclusive(std::size_t a, std::size_t b) const;
  // Under any if at all.
  bool Conditional(std::size_t at) const { return of_[at] != 0; }
  // Only where the target is another than production: {% if target.name == 'dev' %}.
  bool AsideOnly(std::size_t at) const { return branches_[of_[at]].aside; }
  // Only where there is a table to add to: {% if is_incremental() %}; only where it is built from nothing.
  bool RerunOnly(std::size_t at) const { return branches_[of_[at]].rerun; }
  bool FirstOnly(std::size_t at) const { return branches_[of_[at]].first; }

 private:
  // A tree, however deep ifs nest: the branch of another if that each lies in.
  struct Branch {
    int number = 0;                    // which if
    std::uint32_t under = 0, far = 0;  // the branch around it; one further out
    std::uint32_t depth = 0;
    bool aside = false, rerun = false, first = false;  // it or one around it
  };
  std::uint32_t Enter(std::uint32_t under, Branch branch);
  std::vector<Branch> branches_;   // the first stands for no if
  std::vector<std::uint32_t> of_;  // the branch of each token
};

// The name that `set x ...` or `call statement('x', ...)` gives a value to.
std::string NameSetBy(const SqlToken& t);
// The project variables that a Jinja text asks for: `var('day')`; with `environment`, those of `env_var`.
std::vector<std::string> VariablesIn(std::string_view text, bool environment = false);
bool HasWord(std::string_view text, const std::string& word);
bool HasOneOf(std::string_view text, const std::set<std::string>& words);

}  // namespace backreach
