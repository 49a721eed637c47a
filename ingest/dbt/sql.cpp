// The place of each `{{ this }}` decides what it is: inside WHERE, ON, HAVING or QUALIFY it is a filter, in a
// select list or a FROM whose columns are used a value. To find the clause one walks back over the tokens,
// out of each bracket that opens before it.

#include "ingest/dbt/sql.hpp"

#include <algorithm>
#include <cctype>
#include <deque>
#include <set>

#include "graph/base/words.hpp"
#include "ingest/sql/bounds.hpp"
#include "ingest/sql/clauses.hpp"
#include "ingest/sql/scan.hpp"
#include "ingest/sql/self.hpp"

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
  TokenizeSql(text, t, made, SqlDialect::kJinja);
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
SqlTokens Expanded(std::string_view sql, const MacroBodies& macros, SqlDialect dialect) {
  constexpr std::size_t kMost = 200'000;
  constexpr int kDeepest = 8;
  struct Level {
    Tokens tokens;
    std::size_t at = 0;
    std::string_view call;  // of the macro whose body it is
  };
  SqlTokens out;
  std::vector<Level> levels;
  TokenizeSql(sql, levels.emplace_back().tokens, out.made, dialect);
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
        TokenizeSql(body->second, levels.back().tokens, out.made, dialect);
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

// The expressions of Jinja within a string.
std::string JinjaWithin(std::string_view text) {
  std::string out;
  for (std::size_t from = 0; (from = text.find("{{", from)) != std::string_view::npos;) {
    const std::size_t end = std::min(text.find("}}", from), text.size());
    out.append(text.substr(from + 2, end - from - 2)).append(" ");
    from = end;
  }
  return out;
}

// What Jinja asked of the model's own table before the statement, by the names that hold it.
struct AskedBefore {
  std::set<std::string> newest;  // {% set x = run_query("select max(..) from " ~ this) %}
  std::set<std::string>
      rows;  // its rows otherwise; whatever only counts them, or tells when it began, is none
  std::set<std::string> tables;  // the table itself: {% set table = this %}, or a macro's parameter

  bool Own(std::string_view text) const { return HasWord(text, "this") || HasOneOf(text, tables); }
  bool AsksNewest(std::string_view text, const MacroBodies& macros) const {
    return Own(text) && (Lower(text).find("max(") != std::string::npos || CallsForNewest(text, macros));
  }
  void See(const SqlToken& block, bool conditional, const MacroBodies& macros) {
    if (StartsWith(block.text, "for ")) {
      const std::size_t in = block.text.find(" in ");
      if (in == std::string_view::npos) return;
      const std::string name(Bare(block.text.substr(4, in - 4)));
      if (HasOneOf(block.text.substr(in), newest)) newest.insert(name);
      if (HasOneOf(block.text.substr(in), rows)) rows.insert(name);
    }
    if (!StartsWith(block.text, "set ") || block.text.find('=') == std::string_view::npos) return;
    const std::string_view value = Bare(block.text.substr(block.text.find('=') + 1));
    const std::string name = NameSetBy(block), text = Lower(value);
    const auto says = [&](const char* word) { return text.find(word) != std::string::npos; };
    if (AsksNewest(value, macros) || HasOneOf(value, newest)) newest.insert(name);
    const bool asks_rows = says("get_column_values(") ||
                           ((says("run_query(") || says("get_single_value(") || says("get_query_results")) &&
                            !says("max(") && !says("min(") && !says("count(") && !says("information_schema"));
    if ((Own(value) && asks_rows) || HasOneOf(value, rows)) rows.insert(name);
    const bool table = value == "this" || tables.count(std::string(value)) > 0 ||
                       (Own(value) && (says("get_relation(") || says("load_relation(")));
    if (table)
      tables.insert(name);
    else if (!conditional)
      tables.erase(name);
  }
};

// The condition at `at` holds for every row of the result: no OR beside it, no other branch of a union.
bool HoldsForAll(const Tokens& t, std::size_t at) {
  for (const SqlToken& token : t)
    if (token.Is("UNION")) return false;
  int depth = 0;
  for (std::size_t i = at; i-- > 0;) {  // out of the brackets that open before it
    if (t[i].IsSymbol(')')) ++depth;
    if (t[i].IsSymbol('(') && depth > 0) --depth;
    if (depth > 0) continue;
    if (t[i].Is("OR")) return false;
    if (t[i].Is("WHERE") || t[i].Is("HAVING") || t[i].Is("QUALIFY") || t[i].Is("SELECT")) break;
  }
  depth = 0;
  for (std::size_t i = at; i < t.size(); ++i) {
    if (t[i].IsSymbol('(')) ++depth;
    if (t[i].IsSymbol(')') && depth > 0) --depth;
    if (depth > 0) continue;
    if (t[i].Is("OR")) return false;
    if (t[i].Is("GROUP") || t[i].Is("ORDER") || t[i].Is("SELECT")) break;
  }
  return true;
}

// Of several bounds the one that reaches back the least decides, one that nobody knows before all.
void SayNearest(const std::vector<SqlBound>& bounds, std::optional<RunBound>& reach,
                std::vector<RunBound>& all, std::string& how) {
  const SqlBound* nearest = nullptr;
  const auto where = [](const SqlBound& bound) { return bound.reach ? bound.reach->Typical() : kMaxInstant; };
  for (const SqlBound& bound : bounds)
    if (!nearest || where(bound) > where(*nearest)) nearest = &bound;
  if (!nearest) return;
  reach = nearest->reach;
  if (!reach && nearest->unset.empty()) {
    how = "takes only rows by the run's date, and how far back is not understood";
    return;
  }
  if (!reach) {
    std::set<std::string> names(nearest->unset.begin(), nearest->unset.end());
    how = "takes only rows from so long before the run as " + ListOf({names.begin(), names.end()}) +
          (names.size() == 1 ? " says" : " say");
    return;
  }
  std::vector<RunBound> known;
  for (const SqlBound& bound : bounds) known.push_back(*bound.reach);
  all = LatestOf(known);
  how = "takes only rows " + reach->Describe();
  for (std::size_t i = 1; i < all.size() && all.size() < 4; ++i)
    if (all[i].Describe() != reach->Describe()) how += " and " + all[i].Describe();
  if (!nearest->defaults.empty()) how += " (" + ListOf(nearest->defaults) + " may say otherwise)";
}

// The column that `max(...)` at a token is of: the one word within its brackets that is no function, type or
// qualifier.
std::string ColumnOfNewest(const Tokens& t, std::size_t at) {
  std::string column;
  int depth = 0;
  for (std::size_t i = at + 1; i < t.size() && i < at + 40; ++i) {
    if (t[i].IsSymbol('(')) ++depth;
    if (t[i].IsSymbol(')') && --depth <= 0) break;
    if (depth == 0) return "";
    const bool name = t[i].kind == SqlToken::Kind::kWord || t[i].kind == SqlToken::Kind::kQuoted;
    const bool called = i + 1 < t.size() && t[i + 1].IsSymbol('('),
               qualifier = i + 1 < t.size() && t[i + 1].IsSymbol('.'),
               type = t[i - 1].IsSymbol(':') || t[i - 1].Is("AS");
    if (!name || called || qualifier || type || t[i].Is("AS")) continue;
    if (column.empty()) column = Lower(t[i].text);
  }
  return column;
}

// The bounds of a rerun in production, and what `out` says of them.
std::vector<SqlBound> BoundsIn(const Tokens& t, SqlDialect dialect, SqlTraits& out,
                               std::vector<SqlBound>* own = nullptr) {
  std::vector<SqlBound> rerun, first;
  for (const SqlBound& bound : RunBoundsOf(t, dialect)) {
    if (bound.own) {
      if (own) own->push_back(bound);
      continue;
    }
    if (bound.aside) {
      out.bounded_aside = true;
      continue;
    }
    if (!bound.first) rerun.push_back(bound);
    if (!bound.rerun) first.push_back(bound);
  }
  SayNearest(rerun, out.bound, out.bounds, out.bound_how);
  SayNearest(first, out.first_bound, out.first_bounds, out.first_bound_how);
  return rerun;
}

// Where each of its watermarks looks back from the newest row: those that do so the least.
void SayLookback(const std::vector<SqlBound>& own, const std::vector<std::size_t>& marks, SqlTraits& out) {
  std::vector<RunBound> known;
  for (const std::size_t mark : marks) {
    const std::size_t before = known.size();
    for (const SqlBound& bound : own) {
      if (mark < bound.from || mark >= bound.to) continue;
      if (!bound.reach || bound.reach->LooksBack().empty()) return;
      known.push_back(*bound.reach);
    }
    if (known.size() == before) return;
  }
  out.watermark_bounds = LatestOf(known);
  if (!known.empty())
    out.watermark_how = "takes only rows newer than its newest less " + out.watermark_bounds[0].LooksBack();
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

SqlTraits ReadRunBounds(std::string_view sql, const MacroBodies& macros, SqlDialect dialect) {
  SqlTraits out;
  BoundsIn(Expanded(sql, macros, dialect), dialect, out);
  return out;
}

SqlTraits ReadSqlTraits(const std::string& sql, const MacroBodies& macros,
                        const std::vector<std::string>& relation, SqlDialect dialect) {
  SqlTraits out;
  SqlTokens t = Expanded(sql, macros, dialect);
  FindOwnName(t, relation);
  const SqlBranches branches(t);
  const SqlClauses clauses(t);
  std::vector<std::size_t> marks;  // where a watermark stands
  std::vector<std::pair<std::string, std::size_t>> uses;
  AskedBefore asked;
  std::set<std::string> newest_of;  // the columns of its watermarks
  const auto own_table = [&](const SqlToken& token) {
    return IsThis(token) ||
           (token.kind == SqlToken::Kind::kJinja && asked.tables.count(std::string(token.text)) > 0);
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
        if (t[k].Is("MAX")) newest_of.insert(ColumnOfNewest(t, k));
        other = other || t[k].Is("MIN") || t[k].Is("COUNT");
      }
      if (newest)
        asked.newest.insert(NameSetBy(t[captured]));
      else if (!other)
        asked.rows.insert(NameSetBy(t[captured]));
      continue;
    }
    if (t[i].kind == SqlToken::Kind::kBlock) asked.See(t[i], branches.Conditional(i), macros);
    if (t[i].Is("_DBT_MAX_PARTITION"))
      out.watermark = true, out.watermark_how = "_dbt_max_partition", marks.push_back(i);
    if (!own_table(t[i])) continue;
    // Out of the brackets, until something that is no plain subquery opening is met.
    const SqlClause own = clauses.Of(i);
    std::string decided;
    bool aggregate = false, excluded = false, value = false;
    std::string last_of;               // what the aggregate is of
    std::size_t not_there = t.size();  // where its keys are left out
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
          if (t[k].Is("MAX") || t[k].Is("MIN")) aggregate = true, last_of = ColumnOfNewest(t, k);
      const SqlClause open = clauses.Of(select);
      if (open.word == "(" && found_select) {
        if (open.at > 0 && (t[open.at - 1].Is("EXISTS") || t[open.at - 1].Is("IN"))) excluded = true;
        if (excluded && open.at > 1 && t[open.at - 2].Is("NOT")) not_there = open.at;
        const bool table = !TableExpressionAt(t, open.at).empty() ||
                           (open.at > 0 && (t[open.at - 1].Is("FROM") || t[open.at - 1].Is("JOIN") ||
                                            t[open.at - 1].IsSymbol(',')));
        if (table && !excluded) {
          // A table expression, or a subquery in a FROM: what is done with its columns.
          const SelfUse use = FollowOwnRows(clauses, i);
          decided = use.filters && (!use.values || aggregate) ? "WHERE" : "SELECT";
          if (!use.filters && !use.values) decided = "";
          if (use.values) value = true;
        } else {
          decided = ClauseAround(clauses, open.at);
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
              anti = true, not_there = w;
        if (anti && not_there == t.size()) not_there = i;
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
    if (Filters(decided) && branches.FirstOnly(i)) continue;
    if (Filters(decided) && branches.AsideOnly(i)) {
      out.bounded_aside = true;
    } else if (Filters(decided)) {
      marks.push_back(i);
      out.watermark = true;
      if (aggregate) newest_of.insert(last_of);
      if (not_there < t.size() && HoldsForAll(t, not_there)) out.only_new_keys = true;
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
  const auto uses_of = [&](const auto& asks, bool newest) {
    bool used = false;
    for (std::size_t i = 0; i < t.size(); ++i) {
      if (t[i].kind != SqlToken::Kind::kString && t[i].kind != SqlToken::Kind::kJinja) continue;
      if (IsThis(t[i])) continue;
      if (t[i].kind == SqlToken::Kind::kJinja ? !asks(t[i].text) : !asks(JinjaWithin(t[i].text))) continue;
      used = true;
      const std::string around = ClauseAround(clauses, i);
      const bool value = newest ? around == "SELECT" : !Filters(around);
      if (value)
        out.reads_itself = true,
        out.reads_itself_how =
            newest ? "an aggregate of its own rows is used as a value" : "its own rows are used as values";
      if (value && !clauses.InTableExpression(i)) continue;  // what such a one hands on may be filtered by
      if (!value && branches.FirstOnly(i)) continue;
      marks.push_back(i);
      if (!out.watermark)
        out.watermark_how = newest ? "takes only rows newer than its newest (asked for before)"
                                   : "filters by its own rows (asked for before)";
      out.watermark = true;
    }
    return used;
  };
  bool used = true;
  if (!asked.newest.empty()) used = uses_of([&](auto text) { return HasOneOf(text, asked.newest); }, true);
  if (!used && !out.watermark)
    out.watermark = true, out.watermark_how = "takes only rows newer than its newest (asked for before)";
  if (!asked.rows.empty() && !uses_of([&](auto text) { return HasOneOf(text, asked.rows); }, false))
    out.reads_itself = true, out.reads_itself_how = "its own rows are used as values";
  uses_of([&](auto text) { return asked.AsksNewest(text, macros); }, true);
  newest_of.erase("");
  if (out.watermark) out.watermark_columns.assign(newest_of.begin(), newest_of.end());
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
      Asked& here = set[NameSetBy(t[i])];
      for (const std::string& name : VariablesIn(t[i].text))
        here.variables.emplace_back(name, branches.Conditional(i) ? i : t.size());
      for (const std::string& name : VariablesIn(t[i].text, true)) here.environment.push_back(name);
    }
    if (text && (t[i].kind == SqlToken::Kind::kJinja || t[i].text.find("{{") != std::string::npos)) {
      std::vector<std::string> named = VariablesIn(t[i].text);
      std::vector<std::string> environment = VariablesIn(t[i].text, true);
      std::vector<std::pair<std::string, std::size_t>> before;
      for (const auto& [name, there] : set) {
        if ((there.variables.empty() && there.environment.empty()) || !HasWord(t[i].text, name)) continue;
        before.insert(before.end(), there.variables.begin(), there.variables.end());
        environment.insert(environment.end(), there.environment.begin(), there.environment.end());
      }
      const std::string_view call = Called(t[i]);
      const bool table = i > 0 && (t[i - 1].Is("FROM") || t[i - 1].Is("JOIN") || t[i - 1].IsSymbol(','));
      const bool unknown = !call.empty() && !table && !ComputesOnly(call);
      if (named.empty() && before.empty() && environment.empty() && !unknown) continue;
      const std::string clause = clauses.Outer(i).word;
      if (Filters(clause)) {
        for (const std::string& name : named) uses.emplace_back(name, i);
        for (const auto& [name, at] : before) uses.emplace_back(name, at == t.size() ? i : at);
        for (const std::string& name : environment) add(out.environment, name);
      }
      if (unknown && (Filters(clause) || clause == "FROM" || clause == "JOIN"))
        add(out.unknown_filters, std::string(call));
    }
  }
  std::vector<SqlBound> own;
  const std::vector<SqlBound> bounds = BoundsIn(t, dialect, out, &own);
  if (used) SayLookback(own, marks, out);
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
