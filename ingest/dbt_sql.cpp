// The place of each `{{ this }}` decides what it is: inside WHERE, ON, HAVING or QUALIFY it is a filter, in a
// select list or a FROM whose columns are used a value. To find the clause one walks back over the tokens,
// out of each bracket that opens before it.

#include "ingest/dbt_sql.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <set>

#include "graph/words.hpp"
#include "ingest/sql_scan.hpp"

namespace backreach {

namespace {

using Tokens = std::vector<SqlToken>;

bool IsThis(const SqlToken& t) {
  return t.kind == SqlToken::Kind::kJinja &&
         (t.text == "this" || StartsWith(t.text, "this.") || StartsWith(t.text, "this "));
}

// Which of these words (in upper case) a token is; most are told apart by their length and first letter.
template <std::size_t N>
const std::string_view* Among(const SqlToken& t, const std::string_view (&words)[N]) {
  if (t.kind != SqlToken::Kind::kWord) return nullptr;
  for (const std::string_view& word : words)
    if (t.text.size() == word.size() && (t.text[0] & 0xDF) == word[0] && t.Is(word)) return &word;
  return nullptr;
}

bool NowWord(const SqlToken& t) {
  if (t.kind == SqlToken::Kind::kJinja)
    return t.text.find("run_started_at") != std::string::npos ||
           t.text.find("datetime.now") != std::string::npos ||
           t.text.find("datetime.utcnow") != std::string::npos ||
           t.text.find("current_timestamp") != std::string::npos;
  static constexpr std::string_view kWords[] = {"CURRENT_DATE", "CURRENT_TIMESTAMP", "GETDATE",
                                                "SYSDATE",      "SYSTIMESTAMP",      "NOW",
                                                "TODAY",        "LOCALTIMESTAMP",    "CURDATE"};
  return Among(t, kWords) != nullptr;
}

double DaysOf(std::string_view unit) {
  const std::string u = Lower(unit);
  if (StartsWith(u, "minute")) return 1.0 / 1440;
  if (StartsWith(u, "hour")) return 1.0 / 24;
  if (StartsWith(u, "week")) return 7;
  if (StartsWith(u, "month")) return 31;
  if (StartsWith(u, "quarter")) return 92;
  if (StartsWith(u, "year")) return 366;
  return 1;
}

// "now minus 3 days" in tokens [from, to): how many days; nothing if there is no now in it.
std::optional<double> DaysBack(const Tokens& t, std::size_t from, std::size_t to) {
  bool now = false;
  double number = 0, unit = 1;
  bool numbered = false;
  for (std::size_t i = from; i < to; ++i) {
    if (NowWord(t[i])) now = true;
    if (t[i].kind == SqlToken::Kind::kNumber && !numbered)
      number = std::atof(std::string(t[i].text).c_str()), numbered = true;
    if (t[i].kind == SqlToken::Kind::kString) {
      const std::string s(t[i].text);
      if (!s.empty() && ((s[0] >= '0' && s[0] <= '9') || s[0] == '-') && !numbered &&
          s.find_first_of(":") == std::string::npos && s.size() < 12 && !(s.size() >= 8 && s[4] == '-')) {
        number = std::abs(std::atof(s.c_str())), numbered = true;
        const std::size_t blank = s.find(' ');
        if (blank != std::string::npos) unit = DaysOf(s.substr(blank + 1));
      } else if (s.size() < 10 && DaysOf(s) != 1) {
        unit = DaysOf(s);
      }
    }
    if (t[i].kind == SqlToken::Kind::kWord && DaysOf(t[i].text) != 1) unit = DaysOf(t[i].text);
  }
  if (!now) return std::nullopt;
  return number * unit;
}

// `{{ 'WHERE' if first else 'AND' }}`: a macro writes the word.
bool WritesWhere(const SqlToken& t) {
  if (t.kind != SqlToken::Kind::kJinja) return false;
  const std::string text = Lower(t.text);
  for (const char* quote : {"'where", "\"where", "' where", "\" where"})
    if (text.find(quote) != std::string::npos) return true;
  return false;
}

// In which branches of Jinja's ifs each token stands.
class Branches {
 public:
  explicit Branches(const Tokens& t) : of_(t.size()) {
    std::vector<Branch> path;
    int ifs = 0;
    for (std::size_t i = 0; i < t.size(); ++i) {
      if (t[i].kind == SqlToken::Kind::kBlock) {
        const bool opens = StartsWith(t[i].text, "if ") || StartsWith(t[i].text, "if(");
        const bool turns = StartsWith(t[i].text, "elif") || StartsWith(t[i].text, "else");
        const bool closes = StartsWith(t[i].text, "endif");
        if (opens) path.push_back({++ifs, 0});
        if (turns && !path.empty()) ++path.back().second;
        if (closes && !path.empty()) path.pop_back();
        if (opens || turns || closes) paths_.push_back(path);
      }
      of_[i] = paths_.size();
    }
  }
  // No run has both tokens.
  bool Exclusive(std::size_t a, std::size_t b) const {
    if (of_[a] == 0 || of_[b] == 0) return false;
    for (const Branch& x : paths_[of_[a] - 1])
      for (const Branch& y : paths_[of_[b] - 1])
        if (x.first == y.first && x.second != y.second) return true;
    return false;
  }

 private:
  using Branch = std::pair<int, int>;  // which if, which of its branches
  std::vector<std::vector<Branch>> paths_;
  std::vector<std::size_t> of_;  // one more than the index of a path; 0: under no if
};

// The project variables that a Jinja text asks for: `var('day')`.
std::vector<std::string> VariablesIn(std::string_view text) {
  std::vector<std::string> out;
  for (std::size_t at = 0; (at = text.find("var(", at)) != std::string::npos; ++at) {
    if (at > 0 && (std::isalnum(static_cast<unsigned char>(text[at - 1])) || text[at - 1] == '_'))
      continue;  // env_var
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

// The name that `set x ...` or `call statement('x', ...)` gives a value to.
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

// The word that begins a clause, null for any other.
const char* ClauseWord(const SqlToken& t) {
  static constexpr std::string_view kWords[] = {"SELECT",  "FROM",  "JOIN",  "WHERE", "ON",   "HAVING",
                                                "QUALIFY", "GROUP", "ORDER", "UNION", "USING"};
  const std::string_view* word = Among(t, kWords);
  return word ? word->data() : nullptr;
}

// The clause in which token `at` stands, seen from outside its brackets: "WHERE", "SELECT", "FROM", ...
struct Clause {
  std::string word;
  std::size_t at = 0;
  bool closed = false;  // the beginning of the text was reached
};
Clause ClauseOf(const Tokens& t, std::size_t at) {
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

// The same, out of all brackets that are no subquery of their own.
Clause OuterClause(const Tokens& t, std::size_t at) {
  Clause clause = ClauseOf(t, at);
  while (clause.word == "(") clause = ClauseOf(t, clause.at);
  return clause;
}

// The name that a Jinja expression calls, `` if it calls none: `dates.window` of `dates.window(this, 3)`.
std::string_view Called(const SqlToken& t) {
  if (t.kind != SqlToken::Kind::kJinja) return "";
  std::size_t end = 0;
  while (end < t.text.size() &&
         (std::isalnum(static_cast<unsigned char>(t.text[end])) || t.text[end] == '_' || t.text[end] == '.'))
    ++end;
  std::size_t open = end;
  while (open < t.text.size() && t.text[open] == ' ') ++open;
  return open < t.text.size() && t.text[open] == '(' ? t.text.substr(0, end) : "";
}

// Calls of the project's own macros are replaced by what their bodies say, those of bodies as well.
SqlTokens Expanded(std::string_view sql, const MacroBodies& macros) {
  constexpr std::size_t kMost = 200'000;
  constexpr int kDeepest = 8;
  struct Level {
    Tokens tokens;
    std::size_t at = 0;
  };
  SqlTokens out;
  std::vector<Level> levels;
  TokenizeSql(sql, levels.emplace_back().tokens, out.made);
  out.reserve(levels[0].tokens.size());
  while (!levels.empty()) {
    Level& level = levels.back();
    if (level.at == level.tokens.size()) {
      levels.pop_back();
      continue;
    }
    const SqlToken token = level.tokens[level.at++];
    if (token.kind == SqlToken::Kind::kJinja && !macros.empty() && levels.size() <= kDeepest &&
        out.size() < kMost) {
      const std::string_view call = Called(token);
      const auto body = call.empty() || ComputesOnly(call) ? macros.end() : macros.find(std::string(call));
      if (body != macros.end() && !body->second.empty()) {
        TokenizeSql(body->second, levels.emplace_back().tokens, out.made);
        continue;
      }
    }
    if (token.kind != SqlToken::Kind::kBlock || !StartsWith(token.text, "macro ")) out.push_back(token);
  }
  return out;
}

bool Filters(const std::string& clause);

// The clause around a bracket that opens at `open`, through further brackets. What a subquery selects is as
// good as what is done with it: only compared in a WHERE, it is a filter.
std::string Around(const Tokens& t, std::size_t open) {
  Clause around = OuterClause(t, open);
  std::string decided = around.word;
  while (around.word == "SELECT") {
    const Clause bracket = ClauseOf(t, around.at);
    if (bracket.word != "(" || (bracket.at > 0 && t[bracket.at - 1].Is("AS"))) break;
    around = OuterClause(t, bracket.at);
    if (Filters(around.word)) return around.word;
  }
  return decided;
}

// Within a common table expression: `name as ( ... )`.
bool InTableExpression(const Tokens& t, std::size_t at) {
  for (Clause clause = ClauseOf(t, at); !clause.closed; clause = ClauseOf(t, clause.at))
    if (clause.word == "(" && clause.at > 0 &&
        (t[clause.at - 1].Is("AS") || t[clause.at - 1].Is("MATERIALIZED")))
      return true;
  return false;
}

bool Filters(const std::string& clause) {
  return clause == "WHERE" || clause == "ON" || clause == "HAVING" || clause == "QUALIFY";
}

// Where a filter takes only what is newer than so many days before the run.
struct Bound {
  std::size_t at;
  double days;
};
std::vector<Bound> BoundsOf(const Tokens& t) {
  std::vector<Bound> out;
  if (std::none_of(t.begin(), t.end(), NowWord)) return out;
  for (std::size_t i = 0; i < t.size(); ++i) {
    if (!(t[i].IsSymbol('>') || t[i].Is("BETWEEN"))) continue;
    std::size_t end = i + 1;
    int depth = 0;
    while (end < t.size()) {
      if (t[end].IsSymbol('(')) ++depth;
      if (t[end].IsSymbol(')') && depth-- == 0) break;
      if (depth == 0 && (t[end].Is("AND") || t[end].Is("OR") || t[end].Is("GROUP") || t[end].Is("ORDER") ||
                         t[end].IsSymbol(';') || t[end].kind == SqlToken::Kind::kBlock))
        break;
      ++end;
    }
    if (!Filters(ClauseOf(t, i).word)) continue;
    if (const auto days = DaysBack(t, i + 1, end)) out.push_back({i, *days});
  }
  return out;
}

}  // namespace

bool ComputesOnly(std::string_view call) {
  for (const char* name : {"var",
                           "env_var",
                           "ref",
                           "source",
                           "config",
                           "this",
                           "run_started_at",
                           "return",
                           "log",
                           "adapter",
                           "type_timestamp",
                           "current_timestamp",
                           "dateadd",
                           "datediff",
                           "date_trunc",
                           "cast",
                           "safe_cast",
                           "generate_surrogate_key",
                           "invocation_id",
                           "target",
                           "modules",
                           "exceptions",
                           "tojson",
                           "set"})
    if (call == name) return true;
  for (const char* package :
       {"dbt.", "dbt_utils.", "dbt_date.", "adapter.", "modules.", "exceptions.", "api.", "builtins.",
        "run_started_at.", "model.", "config.", "target.", "loop.", "this.", "var."})
    if (StartsWith(call, package)) return true;
  return false;
}

std::optional<double> ReadDateBound(std::string_view sql, const MacroBodies& macros) {
  std::optional<double> out;
  for (const Bound& bound : BoundsOf(Expanded(sql, macros))) out = std::min(out.value_or(1e9), bound.days);
  return out;
}

SqlTraits ReadSqlTraits(const std::string& sql, const MacroBodies& macros) {
  SqlTraits out;
  const SqlTokens t = Expanded(sql, macros);
  const Branches branches(t);
  std::vector<std::size_t> marks, bounds;  // where a watermark, or a bound by the run's date, stands
  std::vector<std::pair<std::string, std::size_t>> uses;
  // The Jinja names that hold the newest of its own rows: {% set x = run_query("select max(..) from " ~ this)
  // %}
  std::set<std::string> newest_names;
  std::size_t captured =
      t.size();  // where {% set x %} began, whose text is no part of the statement where it stands
  for (std::size_t i = 0; i < t.size(); ++i) {
    if (t[i].kind == SqlToken::Kind::kBlock) {
      if (StartsWith(t[i].text, "set ") && t[i].text.find('=') == std::string::npos) captured = i;
      if (StartsWith(t[i].text, "call statement")) captured = i;
      if (StartsWith(t[i].text, "endset") || StartsWith(t[i].text, "endcall")) captured = t.size();
    }
    if (captured < i && IsThis(t[i])) {
      // Its newest is asked for to filter by; another aggregate says when it began or how much it has.
      bool newest = false, other = false;
      for (std::size_t k = captured; k < i; ++k) {
        newest = newest || t[k].Is("MAX");
        other = other || t[k].Is("MIN") || t[k].Is("COUNT");
      }
      if (newest)
        newest_names.insert(NameSetBy(t[captured]));
      else if (!other)
        out.reads_itself = true, out.reads_itself_how = "its own rows are used as values";
      continue;
    }
    if (t[i].kind == SqlToken::Kind::kBlock && StartsWith(t[i].text, "set ")) {
      const bool asks =
          t[i].text.find("this") != std::string::npos && Lower(t[i].text).find("max(") != std::string::npos;
      const std::string_view value = t[i].text.substr(std::min(t[i].text.find('='), t[i].text.size()));
      if (asks || HasOneOf(value, newest_names)) newest_names.insert(NameSetBy(t[i]));
    }
    if (t[i].Is("_DBT_MAX_PARTITION"))
      out.watermark = true, out.watermark_how = "_dbt_max_partition", marks.push_back(i);
    if (!IsThis(t[i])) continue;
    // Out of the brackets, until something that is no plain subquery opening is met.
    const Clause own = ClauseOf(t, i);
    std::string decided;
    bool aggregate = false, excluded = false;
    if (own.word == "FROM" || own.word == "JOIN") {
      // What the subquery (if it is one) selects, and where it stands.
      std::size_t select = own.at;
      int depth = 0;
      bool found_select = false;
      for (std::size_t k = own.at; k-- > 0;) {
        if (t[k].IsSymbol(')')) ++depth;
        if (t[k].IsSymbol('(') && depth-- == 0) break;
        if (depth == 0 && t[k].Is("SELECT")) {
          select = k, found_select = true;
          break;
        }
      }
      if (found_select && own.word == "FROM")
        for (std::size_t k = select; k < own.at; ++k)
          if (t[k].Is("MAX") || t[k].Is("MIN")) aggregate = true;
      const Clause open = ClauseOf(t, select);
      if (open.word == "(" && found_select) {
        if (open.at > 0 && (t[open.at - 1].Is("EXISTS") || t[open.at - 1].Is("IN"))) excluded = true;
        // A common table expression: `name as ( select ... from this )`.
        if (open.at > 1 && t[open.at - 1].Is("AS")) {
          const std::string name = Lower(t[open.at - 2].text);
          decided = "SELECT";
          // Used only where rows are filtered: a filter; anywhere else a value.
          bool filters = false, other = false;
          for (std::size_t k = open.at + 1; k < t.size(); ++k) {
            if (t[k].kind != SqlToken::Kind::kWord || Lower(t[k].text) != name) continue;
            Clause use = ClauseOf(t, k);
            if (use.word == "FROM" || use.word == "JOIN") {
              const Clause around = ClauseOf(t, use.at);
              std::size_t from = use.at;
              for (std::size_t s = use.at; s-- > 0;)
                if (t[s].Is("SELECT")) {
                  from = s;
                  break;
                }
              const Clause outer = ClauseOf(t, from);
              if (outer.word == "(" && outer.at > 0)
                use = ClauseOf(t, outer.at);
              else
                use = around.word.empty() ? use : Clause{"FROM", 0, false};
            }
            (Filters(use.word) ? filters : other) = true;
          }
          if (filters && !other) decided = "WHERE";
        } else {
          decided = Around(t, open.at);
        }
      } else if (own.word == "JOIN") {
        // `left join this t on ... where t.key is null`: keys that it has not.
        bool anti = own.at > 0 && t[own.at - 1].Is("ANTI");
        const bool left =
            own.at > 0 && (t[own.at - 1].Is("LEFT") ||
                           (own.at > 1 && t[own.at - 1].Is("OUTER") && t[own.at - 2].Is("LEFT")));
        std::string alias;
        std::size_t k = i + 1;
        if (k < t.size() && t[k].Is("AS")) ++k;
        if (k < t.size() && t[k].kind == SqlToken::Kind::kWord && !t[k].Is("ON") && !t[k].Is("USING"))
          alias = Lower(t[k].text);
        if (left)
          for (std::size_t w = k; w + 4 < t.size(); ++w)
            if (Lower(t[w].text) == alias && t[w + 1].IsSymbol('.') && t[w + 3].Is("IS") &&
                t[w + 4].Is("NULL"))
              anti = true;
        if (anti)
          excluded = true, decided = "WHERE";
        else
          decided = "FROM";
      } else {
        decided = "FROM";
      }
    } else {
      decided = own.word == "(" ? "SELECT" : own.word;
    }
    if (Filters(decided)) {
      marks.push_back(i);
      out.watermark = true;
      out.watermark_how = excluded    ? "takes only keys that it does not have yet"
                          : aggregate ? "takes only rows newer than its newest"
                                      : "filters by its own rows";
    } else if (!decided.empty()) {
      out.reads_itself = true;
      out.reads_itself_how =
          aggregate ? "an aggregate of its own rows is used as a value" : "its own rows are used as values";
    }
  }
  // What was asked for before counts where it is used; what only decides in Jinja may filter.
  bool used = newest_names.empty(), asked_before = false;
  for (std::size_t i = 0; i < t.size() && !newest_names.empty(); ++i) {
    if (t[i].kind != SqlToken::Kind::kString && t[i].kind != SqlToken::Kind::kJinja) continue;
    if (!HasOneOf(t[i].text, newest_names)) continue;
    if (t[i].kind == SqlToken::Kind::kString && t[i].text.find("{{") == std::string::npos) continue;
    used = true;
    const bool value = Around(t, i) == "SELECT";
    if (value)
      out.reads_itself = true, out.reads_itself_how = "an aggregate of its own rows is used as a value";
    if (value && !InTableExpression(t, i)) continue;  // what such a one hands on may be filtered by
    marks.push_back(i);
    asked_before = true;
  }
  if ((asked_before || !used) && !out.watermark)
    out.watermark = true, out.watermark_how = "takes only rows newer than its newest (asked for before)";
  // Bounds by the run's date, variables, and calls of nobody knows what, in filters.
  std::unordered_map<std::string, std::vector<std::string>> set;  // {% set day = var('day') %}
  const auto add = [](std::vector<std::string>& list, const std::string& name) {
    if (std::find(list.begin(), list.end(), name) == list.end()) list.push_back(name);
  };
  for (std::size_t i = 0; i < t.size(); ++i) {
    const bool text = t[i].kind == SqlToken::Kind::kString || t[i].kind == SqlToken::Kind::kJinja;
    if (t[i].kind == SqlToken::Kind::kBlock && StartsWith(t[i].text, "set ")) {
      const std::size_t end = t[i].text.find_first_of(" =", 4);
      for (const std::string& name : VariablesIn(t[i].text))
        set[std::string(t[i].text.substr(4, end == std::string::npos ? end : end - 4))].push_back(name);
    }
    if (text && (t[i].kind == SqlToken::Kind::kJinja || t[i].text.find("{{") != std::string::npos)) {
      std::vector<std::string> named = VariablesIn(t[i].text);
      for (const auto& [name, variables] : set)
        if (HasWord(t[i].text, name)) named.insert(named.end(), variables.begin(), variables.end());
      const std::string_view call = Called(t[i]);
      const bool table = i > 0 && (t[i - 1].Is("FROM") || t[i - 1].Is("JOIN") || t[i - 1].IsSymbol(','));
      const bool unknown = !call.empty() && !table && !ComputesOnly(call);
      if (named.empty() && !unknown) continue;
      const std::string clause = OuterClause(t, i).word;
      if (Filters(clause))
        for (const std::string& name : named) uses.emplace_back(name, i);
      if (unknown && (Filters(clause) || clause == "FROM" || clause == "JOIN"))
        add(out.unknown_filters, std::string(call));
    }
  }
  for (const Bound& bound : BoundsOf(t)) {
    out.date_bound_days = std::min(out.date_bound_days.value_or(1e9), bound.days);
    bounds.push_back(bound.at);
  }
  for (const auto& [name, at] : uses) add(out.variables, name);
  std::sort(out.variables.begin(), out.variables.end());
  const auto instead = [&](const std::vector<std::size_t>& of, const std::string& name) {
    return !of.empty() && std::all_of(uses.begin(), uses.end(), [&](const auto& use) {
      return use.first != name || std::all_of(of.begin(), of.end(), [&](std::size_t mark) {
               return branches.Exclusive(use.second, mark);
             });
    });
  };
  for (const std::string& name : out.variables) {
    if (used && instead(marks, name)) out.instead_of_watermark.push_back(name);
    if (instead(bounds, name)) out.instead_of_bound.push_back(name);
  }
  return out;
}

PredicateBound ReadPredicate(const std::string& predicate) {
  PredicateBound out;
  const SqlTokens t = TokenizeSql(predicate);
  for (const SqlToken& token : t)
    if (Upper(token.text) == "DBT_INTERNAL_SOURCE") return out;  // ties target to source rows: no bound
  bool compared = false;
  for (const SqlToken& token : t) compared = compared || token.IsSymbol('>') || token.Is("BETWEEN");
  if (!compared) return out;
  if (const auto days = DaysBack(t, 0, t.size())) {
    out.bounds = true;
    out.days = days;
    return out;
  }
  // A date, a variable or a call: some bound in time, how far is not known.
  for (const SqlToken& token : t) {
    const bool date =
        token.kind == SqlToken::Kind::kString && token.text.size() >= 10 && token.text[4] == '-';
    if (date || token.kind == SqlToken::Kind::kJinja) out.bounds = true;
  }
  return out;
}

}  // namespace backreach
