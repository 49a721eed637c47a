// The clause of a token is the last word before it that begins one, brackets that closed again left out.

#include "ingest/sql/clauses.hpp"

#include <algorithm>
#include <cctype>

#include "graph/base/words.hpp"

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

void SqlClauses::Fill() const {
  places_.resize(t_.size() + 1);
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < t_.size(); ++i) {
    // What is decided at `i` holds for the next token, or else what held here; behind a bracket what held
    // before it.
    Place next = places_[i];
    const auto decides = [&] { next.of = next.outer = static_cast<std::uint32_t>(i + 1); };
    if (t_[i].IsSymbol(')')) {
      next = open.empty() ? Place() : places_[open.back()];
      next.depth = places_[i].depth - 1;
      if (!open.empty()) open.pop_back();
    } else if (t_[i].IsSymbol('(')) {
      next.of = static_cast<std::uint32_t>(i + 1);
      ++next.depth;
      next.in_table = next.in_table || !TableExpressionAt(t_, i).empty();
      open.push_back(i);
    } else if (WritesWhere(t_[i]) || ClauseWord(t_[i])) {
      decides();
    }
    places_[i + 1] = next;
  }
}

SqlClause SqlClauses::Made(std::uint32_t decider) const {
  if (decider == 0) return {"", 0, true};
  const SqlToken& token = t_[decider - 1];
  if (token.IsSymbol('(')) return {"(", decider - 1, false};
  const char* word = ClauseWord(token);
  return {word ? word : "WHERE", decider - 1, false};
}

SqlClause SqlClauses::Of(std::size_t at) const {
  if (places_.empty()) Fill();
  return Made(places_[at].of);
}

SqlClause SqlClauses::Outer(std::size_t at) const {
  if (places_.empty()) Fill();
  return Made(places_[at].outer);
}

int SqlClauses::Depth(std::size_t at) const {
  if (places_.empty()) Fill();
  return places_[at].depth;
}

bool SqlClauses::InTableExpression(std::size_t at) const {
  if (places_.empty()) Fill();
  return places_[at].in_table;
}

bool Filters(std::string_view clause) {
  return clause == "WHERE" || clause == "ON" || clause == "HAVING" || clause == "QUALIFY";
}

std::string ClauseAround(const SqlClauses& clauses, std::size_t open) {
  const SqlTokenList& t = clauses.tokens();
  SqlClause around = clauses.Outer(open);
  std::string decided = around.word;
  while (around.word == "SELECT") {
    const SqlClause bracket = clauses.Of(around.at);
    if (bracket.word != "(" || (bracket.at > 0 && t[bracket.at - 1].Is("AS"))) break;
    around = clauses.Outer(bracket.at);
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

std::uint32_t SqlBranches::Enter(std::uint32_t under, Branch branch) {
  const auto id = static_cast<std::uint32_t>(branches_.size());
  branch.under = branch.far = under;
  if (under != 0) {
    const Branch& up = branches_[under];
    branch.depth = up.depth + 1;
    branch.aside = branch.aside || up.aside;
    branch.rerun = branch.rerun || up.rerun;
    branch.first = branch.first || up.first;
    // Far leads up by steps that double, so that any ancestor is some steps away.
    if (up.depth - branches_[up.far].depth ==
        branches_[up.far].depth - branches_[branches_[up.far].far].depth)
      branch.far = branches_[up.far].far;
  } else {
    branch.depth = 1;
  }
  branches_.push_back(branch);
  return id;
}

SqlBranches::SqlBranches(const SqlTokenList& t) : branches_(1), of_(t.size()) {
  std::uint32_t now = 0;
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
        Branch branch;
        branch.number = ++ifs;
        branch.aside = is.aside == true, branch.rerun = is.rerun == true, branch.first = is.rerun == false;
        now = Enter(now, branch);
      }
      if (turns && now != 0) {
        const Condition& was = first.back();
        const Condition is = elif ? condition(t[i]) : Condition{};
        Branch branch;
        branch.number = branches_[now].number;
        branch.aside = is.aside == true || (was.single && was.aside == false);
        branch.rerun = is.rerun == true || (was.single && was.rerun == false);
        branch.first = is.rerun == false || (was.single && was.rerun == true);
        now = Enter(branches_[now].under, branch);
      }
      if (closes && now != 0) now = branches_[now].under, first.pop_back();
    }
    of_[i] = now;
  }
}

// Where the two ways up meet, they come out of two branches of one if, or of two ifs, or one lies in the
// other.
bool SqlBranches::Exclusive(std::size_t a, std::size_t b) const {
  std::uint32_t x = of_[a], y = of_[b];
  if (x == 0 || y == 0) return false;
  const auto up_to = [&](std::uint32_t branch, std::uint32_t depth) {
    while (branches_[branch].depth > depth)
      branch =
          branches_[branches_[branch].far].depth >= depth ? branches_[branch].far : branches_[branch].under;
    return branch;
  };
  x = up_to(x, branches_[y].depth);
  y = up_to(y, branches_[x].depth);
  if (x == y) return false;
  while (branches_[x].under != branches_[y].under) {
    const bool far = branches_[x].far != branches_[y].far;
    x = far ? branches_[x].far : branches_[x].under;
    y = far ? branches_[y].far : branches_[y].under;
  }
  return branches_[x].number == branches_[y].number;
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
