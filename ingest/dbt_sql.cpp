// The place of each `{{ this }}` decides what it is: inside WHERE, ON, HAVING or QUALIFY it is a filter, in a
// select list or a FROM whose columns are used a value. To find the clause one walks back over the tokens,
// out of each bracket that opens before it.

#include "ingest/dbt_sql.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <set>

#include "graph/words.hpp"
#include "ingest/sql_bounds.hpp"
#include "ingest/sql_clauses.hpp"
#include "ingest/sql_scan.hpp"
#include "ingest/sql_self.hpp"

namespace backreach {

namespace {

using Tokens = SqlTokenList;

bool IsThis(const SqlToken& t) {
  return t.kind == SqlToken::Kind::kJinja &&
         (t.text == "this" || StartsWith(t.text, "this.") || StartsWith(t.text, "this "));
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

// The arguments of a call or the parameters of a macro: what stands between the commas of the first bracket.
std::vector<std::string_view> Arguments(std::string_view text, std::deque<std::string>& made) {
  Tokens t;
  TokenizeSql(text, t, made);
  std::vector<std::string_view> out;
  std::size_t from = 0;
  int depth = 0;
  for (const SqlToken& token : t) {
    const bool opens = token.IsSymbol('(') || token.IsSymbol('[') || token.IsSymbol('{');
    const bool closes = token.IsSymbol(')') || token.IsSymbol(']') || token.IsSymbol('}');
    if (opens && depth++ == 0) from = token.at + 1;
    const bool ends = closes && --depth == 0;
    if (!ends && !(depth == 1 && token.IsSymbol(','))) continue;
    const std::string_view argument = text.substr(from, token.at - from);
    if (argument.find_first_not_of(" \n\t") != std::string_view::npos) out.push_back(argument);
    from = token.at + 1;
    if (ends) break;
  }
  return out;
}

std::string_view Bare(std::string_view text) {
  const auto from = text.find_first_not_of(" \n\t"), to = text.find_last_not_of(" \n\t");
  return from == std::string_view::npos ? std::string_view() : text.substr(from, to - from + 1);
}
// `name = value`, as an argument or a parameter with a default; the name is empty where there is none.
std::pair<std::string_view, std::string_view> NameAndValue(std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::string_view name = Bare(text.substr(0, equals));
  const bool named =
      equals != std::string_view::npos && equals + 1 < text.size() && text[equals + 1] != '=' &&
      !name.empty() &&
      std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
  if (!named) return {"", Bare(text)};
  return {name, Bare(text.substr(equals + 1))};
}

// What a call gives a macro's parameters, as if Jinja set them before the body.
void BindParameters(std::string_view call, std::string_view macro, SqlTokens& out) {
  std::size_t position = 0;
  const auto given = Arguments(call, out.made);
  for (const std::string_view parameter : Arguments(macro, out.made)) {
    auto [name, value] = NameAndValue(parameter);
    if (name.empty()) name = value, value = "";
    if (position < given.size() && NameAndValue(given[position]).first.empty())
      value = NameAndValue(given[position]).second;
    for (const std::string_view argument : given)
      if (NameAndValue(argument).first == name) value = NameAndValue(argument).second;
    ++position;
    if (value.empty()) continue;
    out.made.push_back("set " + std::string(name) + " = " + std::string(value));
    out.push_back({SqlToken::Kind::kBlock, out.made.back(), 0});
  }
}

// Calls of the project's own macros are replaced by what their bodies say, those of bodies as well.
SqlTokens Expanded(std::string_view sql, const MacroBodies& macros) {
  constexpr std::size_t kMost = 200'000;
  constexpr int kDeepest = 8;
  struct Level {
    Tokens tokens;
    std::size_t at = 0;
    std::string_view call;  // of the macro whose body it is
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
        levels.emplace_back().call = token.text;
        TokenizeSql(body->second, levels.back().tokens, out.made);
        continue;
      }
    }
    if (token.kind == SqlToken::Kind::kBlock && StartsWith(token.text, "macro ")) {
      if (!level.call.empty()) BindParameters(level.call, token.text, out);
    } else {
      out.push_back(token);
    }
  }
  return out;
}

// The model's own table by its name, behind FROM or JOIN, becomes `{{ this }}`.
void FindOwnName(Tokens& t, const std::vector<std::string>& relation) {
  if (relation.size() < 2) return;
  const std::string table = Lower(relation.back()), schema = Lower(relation[relation.size() - 2]);
  const auto part = [&](std::size_t i) {
    return i < t.size() && (t[i].kind == SqlToken::Kind::kWord || t[i].kind == SqlToken::Kind::kQuoted ||
                            t[i].kind == SqlToken::Kind::kJinja);
  };
  bool found = false;
  for (std::size_t i = 0; i + 3 < t.size(); ++i) {
    if (!t[i].Is("FROM") && !t[i].Is("JOIN")) continue;
    std::size_t last = i + 1;
    while (part(last) && last + 2 < t.size() && t[last + 1].IsSymbol('.') && part(last + 2)) last += 2;
    if (last < i + 3 || Lower(t[last].text) != table) continue;
    const SqlToken& before = t[last - 2];
    const bool target =
        before.kind == SqlToken::Kind::kJinja && (before.text.find("schema") != std::string_view::npos ||
                                                  before.text.find("dataset") != std::string_view::npos);
    if (!target && Lower(before.text) != schema) continue;
    for (std::size_t k = i + 2; k <= last; ++k) t[k].text = "";
    t[i + 1] = {SqlToken::Kind::kJinja, "this", t[i + 1].at};
    for (std::size_t k = i + 2; k <= last; ++k) t[k].kind = SqlToken::Kind::kBlock, t[k].text = "own";
    found = true;
  }
  if (found)
    t.erase(std::remove_if(t.begin(), t.end(),
                           [](const SqlToken& token) {
                             return token.kind == SqlToken::Kind::kBlock && token.text == "own";
                           }),
            t.end());
}

// Calls in a Jinja text a macro of the project whose body asks for a maximum.
bool CallsForNewest(std::string_view text, const MacroBodies& macros) {
  std::deque<std::string> made;
  Tokens t;
  if (!macros.empty()) TokenizeSql(text, t, made);
  for (std::size_t i = 0; i + 1 < t.size(); ++i) {
    if (t[i].kind != SqlToken::Kind::kWord || !t[i + 1].IsSymbol('(')) continue;
    const auto body = macros.find(std::string(t[i].text));
    if (body != macros.end() && Lower(body->second).find("max(") != std::string::npos) return true;
  }
  return false;
}

// Of several bounds the one that reaches back the least decides, one that nobody knows before all.
void SayNearest(const std::vector<SqlBound>& bounds, SqlTraits& out) {
  const SqlBound* nearest = nullptr;
  const auto where = [](const SqlBound& bound) { return bound.reach ? bound.reach->Typical() : kMaxInstant; };
  for (const SqlBound& bound : bounds)
    if (!nearest || where(bound) > where(*nearest)) nearest = &bound;
  if (!nearest) return;
  out.bound = nearest->reach;
  if (!nearest->reach) {
    out.bound_how = "takes only rows from so long before the run as " + ListOf(nearest->unset) + " says";
    return;
  }
  out.bound_how = "takes only rows " + nearest->reach->Describe();
  if (!nearest->defaults.empty()) out.bound_how += " (" + ListOf(nearest->defaults) + " may say otherwise)";
}

// The bounds that hold in production, told in `out`.
std::vector<SqlBound> BoundsIn(const Tokens& t, SqlTraits& out) {
  std::vector<SqlBound> bounds = RunBoundsOf(t);
  const auto aside = [](const SqlBound& bound) { return bound.aside; };
  const auto kept = std::remove_if(bounds.begin(), bounds.end(), aside);
  out.bounded_aside = out.bounded_aside || kept != bounds.end();
  bounds.erase(kept, bounds.end());
  SayNearest(bounds, out);
  return bounds;
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

SqlTraits ReadRunBound(std::string_view sql, const MacroBodies& macros) {
  SqlTraits out;
  BoundsIn(Expanded(sql, macros), out);
  return out;
}

SqlTraits ReadSqlTraits(const std::string& sql, const MacroBodies& macros,
                        const std::vector<std::string>& relation) {
  SqlTraits out;
  SqlTokens t = Expanded(sql, macros);
  FindOwnName(t, relation);
  const SqlBranches branches(t);
  std::vector<std::size_t> marks;  // where a watermark stands
  std::vector<std::pair<std::string, std::size_t>> uses;
  // The Jinja names that hold the newest of its own rows: {% set x = run_query("select max(..) from " ~ this)
  // %}
  std::set<std::string> newest_names;
  std::set<std::string> this_names;  // {% set table = this %}, or a macro's parameter
  const auto own_table = [&](const SqlToken& token) {
    return IsThis(token) ||
           (token.kind == SqlToken::Kind::kJinja && this_names.count(std::string(token.text)) > 0);
  };
  std::size_t captured =
      t.size();  // where {% set x %} began, whose text is no part of the statement where it stands
  for (std::size_t i = 0; i < t.size(); ++i) {
    if (t[i].kind == SqlToken::Kind::kBlock) {
      if (StartsWith(t[i].text, "set ") && t[i].text.find('=') == std::string::npos) captured = i;
      if (StartsWith(t[i].text, "call statement")) captured = i;
      if (StartsWith(t[i].text, "endset") || StartsWith(t[i].text, "endcall")) captured = t.size();
    }
    if (captured < i && own_table(t[i])) {
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
      const std::string_view value = t[i].text.substr(std::min(t[i].text.find('='), t[i].text.size()));
      const bool own = HasWord(value, "this") || HasOneOf(value, this_names);
      const bool asks =
          own && (Lower(value).find("max(") != std::string::npos || CallsForNewest(value, macros));
      if (asks || HasOneOf(value, newest_names)) newest_names.insert(NameSetBy(t[i]));
      const std::string_view whole = Bare(value.empty() ? value : value.substr(1));
      if (whole == "this" || this_names.count(std::string(whole)) > 0)
        this_names.insert(NameSetBy(t[i]));
      else if (!branches.Conditional(i))
        this_names.erase(NameSetBy(t[i]));
    }
    if (t[i].Is("_DBT_MAX_PARTITION"))
      out.watermark = true, out.watermark_how = "_dbt_max_partition", marks.push_back(i);
    if (!own_table(t[i])) continue;
    // Out of the brackets, until something that is no plain subquery opening is met.
    const SqlClause own = ClauseOf(t, i);
    std::string decided;
    bool aggregate = false, excluded = false, value = false;
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
      const SqlClause open = ClauseOf(t, select);
      if (open.word == "(" && found_select) {
        if (open.at > 0 && (t[open.at - 1].Is("EXISTS") || t[open.at - 1].Is("IN"))) excluded = true;
        const bool table = !TableExpressionAt(t, open.at).empty() ||
                           (open.at > 0 && (t[open.at - 1].Is("FROM") || t[open.at - 1].Is("JOIN") ||
                                            t[open.at - 1].IsSymbol(',')));
        if (table && !excluded) {
          // A table expression, or a subquery in a FROM: what is done with its columns.
          const SelfUse use = FollowOwnRows(t, i);
          decided = use.filters && (!use.values || aggregate) ? "WHERE" : "SELECT";
          if (!use.filters && !use.values) decided = "";
          if (use.values) value = true;
        } else {
          decided = ClauseAround(t, open.at);
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
    if (Filters(decided) && branches.AsideOnly(i)) {
      out.bounded_aside = true;
    } else if (Filters(decided)) {
      marks.push_back(i);
      out.watermark = true;
      out.watermark_how = excluded    ? "takes only keys that it does not have yet"
                          : aggregate ? "takes only rows newer than its newest"
                                      : "filters by its own rows";
    } else if (!decided.empty()) {
      value = true;
    }
    if (value) {
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
    const bool value = ClauseAround(t, i) == "SELECT";
    if (value)
      out.reads_itself = true, out.reads_itself_how = "an aggregate of its own rows is used as a value";
    if (value && !InTableExpression(t, i)) continue;  // what such a one hands on may be filtered by
    marks.push_back(i);
    asked_before = true;
  }
  if ((asked_before || !used) && !out.watermark)
    out.watermark = true, out.watermark_how = "takes only rows newer than its newest (asked for before)";
  // Bounds by the run's date, variables, and calls of nobody knows what, in filters.
  struct Asked {
    std::vector<std::pair<std::string, std::size_t>> variables;  // and where they were asked for
    std::vector<std::string> environment;
  };
  std::unordered_map<std::string, Asked> set;  // {% set day = var('day') %}
  const auto add = [](std::vector<std::string>& list, const std::string& name) {
    if (std::find(list.begin(), list.end(), name) == list.end()) list.push_back(name);
  };
  for (std::size_t i = 0; i < t.size(); ++i) {
    const bool text = t[i].kind == SqlToken::Kind::kString || t[i].kind == SqlToken::Kind::kJinja;
    if (t[i].kind == SqlToken::Kind::kBlock && StartsWith(t[i].text, "set ")) {
      Asked& asked = set[NameSetBy(t[i])];
      for (const std::string& name : VariablesIn(t[i].text))
        asked.variables.emplace_back(name, branches.Conditional(i) ? i : t.size());
      for (const std::string& name : VariablesIn(t[i].text, true)) asked.environment.push_back(name);
    }
    if (text && (t[i].kind == SqlToken::Kind::kJinja || t[i].text.find("{{") != std::string::npos)) {
      std::vector<std::string> named = VariablesIn(t[i].text);
      std::vector<std::string> environment = VariablesIn(t[i].text, true);
      std::vector<std::pair<std::string, std::size_t>> before;
      for (const auto& [name, asked] : set) {
        if ((asked.variables.empty() && asked.environment.empty()) || !HasWord(t[i].text, name)) continue;
        before.insert(before.end(), asked.variables.begin(), asked.variables.end());
        environment.insert(environment.end(), asked.environment.begin(), asked.environment.end());
      }
      const std::string_view call = Called(t[i]);
      const bool table = i > 0 && (t[i - 1].Is("FROM") || t[i - 1].Is("JOIN") || t[i - 1].IsSymbol(','));
      const bool unknown = !call.empty() && !table && !ComputesOnly(call);
      if (named.empty() && before.empty() && environment.empty() && !unknown) continue;
      const std::string clause = OuterClause(t, i).word;
      if (Filters(clause)) {
        for (const std::string& name : named) uses.emplace_back(name, i);
        for (const auto& [name, at] : before) uses.emplace_back(name, at == t.size() ? i : at);
        for (const std::string& name : environment) add(out.environment, name);
      }
      if (unknown && (Filters(clause) || clause == "FROM" || clause == "JOIN"))
        add(out.unknown_filters, std::string(call));
    }
  }
  const std::vector<SqlBound> bounds = BoundsIn(t, out);
  for (const auto& [name, at] : uses) add(out.variables, name);
  std::sort(out.variables.begin(), out.variables.end());
  const auto apart = [&](const std::string& name, std::size_t from) {
    return std::all_of(uses.begin(), uses.end(), [&](const auto& use) {
      return use.first != name || branches.Exclusive(use.second, from);
    });
  };
  for (const std::string& name : out.variables) {
    const bool for_marks =
        std::all_of(marks.begin(), marks.end(), [&](std::size_t mark) { return apart(name, mark); });
    if (used && !marks.empty() && for_marks) out.instead_of_watermark.push_back(name);
    const bool for_bounds = std::all_of(bounds.begin(), bounds.end(), [&](const SqlBound& bound) {
      return std::find(bound.unless.begin(), bound.unless.end(), name) != bound.unless.end() ||
             apart(name, bound.at);
    });
    if (!bounds.empty() && for_bounds) out.instead_of_bound.push_back(name);
  }
  return out;
}

}  // namespace backreach
