// To find the clause of a token one walks back over the tokens, out of each bracket that opens before it.

#include "ingest/sql_clauses.hpp"

#include <algorithm>
#include <cctype>

#include "graph/words.hpp"

namespace backreach {

namespace {

// `{{ 'WHERE' if first else 'AND' }}`: a macro writes the word.
bool WritesWhere(const SqlToken& t) {
  if (t.kind != SqlToken::Kind::kJinja) return false;
  const std::string text = Lower(t.text);
  for (const char* quote : {"'where", "\"where", "' where", "\" where"})
    if (text.find(quote) != std::string::npos) return true;
  return false;
}

// The word that begins a clause, null for any other.
const char* ClauseWord(const SqlToken& t) {
  static constexpr std::string_view kWords[] = {"SELECT",  "FROM",  "JOIN",  "WHERE", "ON",   "HAVING",
                                                "QUALIFY", "GROUP", "ORDER", "UNION", "USING"};
  const std::string_view* word = Among(t, kWords);
  return word ? word->data() : nullptr;
}

// What one comparison says of where it holds: true outside production alone, false in production alone,
// nothing where it does not tell.
std::optional<bool> AsideByComparison(std::string_view text) {
  if (text.find("target.") == std::string_view::npos) return std::nullopt;
  const auto named = [&](std::initializer_list<const char*> names) {
    for (const char* name : names)
      for (const char quote : {'\'', '"'})
        if (text.find(quote + std::string(name) + quote) != std::string_view::npos) return true;
    return false;
  };
  const bool aside = named({"dev", "develop", "development", "ci", "test", "testing", "local", "sandbox"});
  const bool production = named({"prod", "production", "prd", "live"});
  if (aside == production) return std::nullopt;
  const bool negated =
      text.find("!=") != std::string_view::npos || text.find("not ") != std::string_view::npos;
  return aside != negated;
}

// The same for whether the model is added to: true for a rerun alone, false for a build from nothing alone.
std::optional<bool> RerunByComparison(std::string_view text) {
  const bool rerun = text.find("is_incremental()") != std::string_view::npos;
  const bool first = text.find("should_full_refresh()") != std::string_view::npos ||
                     text.find("flags.full_refresh") != std::string_view::npos;
  if (rerun == first) return std::nullopt;
  const bool negated = text.find("not ") != std::string_view::npos ||
                       text.find("false") != std::string_view::npos ||
                       text.find("!=") != std::string_view::npos;
  return rerun != negated;
}

std::vector<std::string> SplitAt(const std::string& text, std::string_view word) {
  std::vector<std::string> out;
  std::size_t from = 0;
  for (std::size_t at; (at = text.find(word, from)) != std::string::npos; from = at + word.size())
    out.push_back(text.substr(from, at - from));
  out.push_back(text.substr(from));
  return out;
}

// What a whole condition says, by what its comparisons say: `a or b` if both do, `a and b` if one of them
// does.
std::optional<bool> ByCondition(std::string_view condition,
                                std::optional<bool> (*comparison)(std::string_view text)) {
  bool all_true = true, all_false = true;
  const std::string text = Lower(condition);
  // What a bracket negates is not taken apart: it says nothing for sure.
  if (text.find("not (") != std::string::npos || text.find("not(") != std::string::npos) return std::nullopt;
  for (const std::string& choice : SplitAt(text, " or ")) {
    const auto parts = SplitAt(choice, " and ");
    bool one_true = false, one_false = false;
    for (const std::string& part : parts) {
      const auto says = comparison(part);
      one_true = one_true || says == true;
      one_false = one_false || says == false;
    }
    all_true = all_true && one_true;
    all_false = all_false && one_false;
  }
  if (all_true) return true;
  if (all_false) return false;
  return std::nullopt;
}
// Nothing but one comparison: the other branch is the opposite of it.
bool Single(std::string_view condition) {
  const std::string text = Lower(condition);
  return text.find(" or ") == std::string::npos && text.find(" and ") == std::string::npos;
}

}  // namespace

SqlClause ClauseOf(const SqlTokenList& t, std::size_t at) {
  int depth = 0;
  for (std::size_t i = at; i-- > 0;) {
    if (t[i].IsSymbol(')')) ++depth;
    if (t[i].IsSymbol('(')) {
      if (depth == 0) return {"(", i, false};
      --depth;
    }
    if (depth == 0 && WritesWhere(t[i])) return {"WHERE", i, false};
    if (depth != 0 || t[i].kind != SqlToken::Kind::kWord) continue;
    if (const char* word = ClauseWord(t[i])) return {word, i, false};
  }
  return {"", 0, true};
}

SqlClause OuterClause(const SqlTokenList& t, std::size_t at) {
  SqlClause clause = ClauseOf(t, at);
  while (clause.word == "(") clause = ClauseOf(t, clause.at);
  return clause;
}

bool Filters(std::string_view clause) {
  return clause == "WHERE" || clause == "ON" || clause == "HAVING" || clause == "QUALIFY";
}

std::string ClauseAround(const SqlTokenList& t, std::size_t open) {
  SqlClause around = OuterClause(t, open);
  std::string decided = around.word;
  while (around.word == "SELECT") {
    const SqlClause bracket = ClauseOf(t, around.at);
    if (bracket.word != "(" || (bracket.at > 0 && t[bracket.at - 1].Is("AS"))) break;
    around = OuterClause(t, bracket.at);
    if (Filters(around.word)) return around.word;
  }
  return decided;
}

std::string_view TableExpressionAt(const SqlTokenList& t, std::size_t open) {
  std::size_t i = open;
  if (i > 0 && t[i - 1].Is("MATERIALIZED")) --i;
  if (i > 0 && t[i - 1].Is("NOT")) --i;
  if (i < 2 || !t[i - 1].Is("AS")) return "";
  i -= 2;
  if (t[i].IsSymbol(')'))  // name (columns) as ( ... )
    while (i > 0 && !t[i].IsSymbol('(')) --i;
  if (t[i].IsSymbol('(') && i > 0) --i;
  return t[i].kind == SqlToken::Kind::kWord || t[i].kind == SqlToken::Kind::kQuoted ? t[i].text
                                                                                    : std::string_view();
}

bool InTableExpression(const SqlTokenList& t, std::size_t at) {
  for (SqlClause clause = ClauseOf(t, at); !clause.closed; clause = ClauseOf(t, clause.at))
    if (clause.word == "(" && !TableExpressionAt(t, clause.at).empty()) return true;
  return false;
}

SqlBranches::SqlBranches(const SqlTokenList& t) : of_(t.size()) {
  std::vector<Branch> path;
  struct Condition {
    std::optional<bool> aside, rerun;
    bool single;
  };
  std::vector<Condition> first;  // what the ifs themselves say of where they run
  const auto condition = [](const SqlToken& token) {
    return Condition{ByCondition(token.text, AsideByComparison), ByCondition(token.text, RerunByComparison),
                     Single(token.text)};
  };
  int ifs = 0;
  for (std::size_t i = 0; i < t.size(); ++i) {
    if (t[i].kind == SqlToken::Kind::kBlock) {
      const bool opens = StartsWith(t[i].text, "if ") || StartsWith(t[i].text, "if(");
      const bool elif = StartsWith(t[i].text, "elif");
      const bool turns = elif || StartsWith(t[i].text, "else");
      const bool closes = StartsWith(t[i].text, "endif");
      if (opens) {
        first.push_back(condition(t[i]));
        const Condition& is = first.back();
        path.push_back({++ifs, 0, is.aside == true, is.rerun == true, is.rerun == false});
      }
      if (turns && !path.empty()) {
        const Condition& was = first.back();
        const Condition is = elif ? condition(t[i]) : Condition{};
        Branch& now = path.back();
        ++now.branch;
        now.aside = is.aside == true || (was.single && was.aside == false);
        now.rerun = is.rerun == true || (was.single && was.rerun == false);
        now.first = is.rerun == false || (was.single && was.rerun == true);
      }
      if (closes && !path.empty()) path.pop_back(), first.pop_back();
      if (opens || turns || closes) paths_.push_back(path);
    }
    of_[i] = paths_.size();
  }
}

bool SqlBranches::Exclusive(std::size_t a, std::size_t b) const {
  if (of_[a] == 0 || of_[b] == 0) return false;
  for (const Branch& x : paths_[of_[a] - 1])
    for (const Branch& y : paths_[of_[b] - 1])
      if (x.number == y.number && x.branch != y.branch) return true;
  return false;
}

bool SqlBranches::Only(std::size_t at, bool Branch::*which) const {
  if (of_[at] == 0) return false;
  const auto& path = paths_[of_[at] - 1];
  return std::any_of(path.begin(), path.end(), [&](const Branch& branch) { return branch.*which; });
}

std::string NameSetBy(const SqlToken& t) {
  if (StartsWith(t.text, "set ")) {
    const std::size_t from = t.text.find_first_not_of(' ', 4);
    if (from == std::string::npos) return "";
    return std::string(t.text.substr(from, t.text.find_first_of(" =", from) - from));
  }
  const std::size_t from = t.text.find_first_of("'\"");
  if (from == std::string::npos) return "";
  return std::string(t.text.substr(from + 1, t.text.find(t.text[from], from + 1) - from - 1));
}

std::vector<std::string> VariablesIn(std::string_view text, bool environment) {
  std::vector<std::string> out;
  const std::string_view call = environment ? "env_var(" : "var(";
  for (std::size_t at = 0; (at = text.find(call, at)) != std::string::npos; ++at) {
    if (at > 0 && (std::isalnum(static_cast<unsigned char>(text[at - 1])) || text[at - 1] == '_')) continue;
    const std::size_t from = text.find_first_of("'\"", at);
    const std::size_t end = from == std::string::npos ? from : text.find(text[from], from + 1);
    if (end == std::string::npos) break;
    out.emplace_back(text.substr(from + 1, end - from - 1));
  }
  return out;
}

bool HasWord(std::string_view text, const std::string& word) {
  const auto letter = [&](std::size_t i) {
    return i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) || text[i] == '_');
  };
  for (std::size_t at = 0; !word.empty() && (at = text.find(word, at)) != std::string::npos; ++at)
    if ((at == 0 || !letter(at - 1)) && !letter(at + word.size())) return true;
  return false;
}

bool HasOneOf(std::string_view text, const std::set<std::string>& words) {
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& word) { return HasWord(text, word); });
}

}  // namespace backreach
