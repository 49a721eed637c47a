// The place of each `{{ this }}` decides what it is: inside WHERE, ON, HAVING or QUALIFY it is a filter, in a
// select list or a FROM whose columns are used a value. To find the clause one walks back over the tokens,
// out of each bracket that opens before it.

#include "ingest/dbt_sql.hpp"

#include <algorithm>
#include <cstdlib>

#include "graph/words.hpp"
#include "ingest/sql_scan.hpp"

namespace backreach {

namespace {

using Tokens = std::vector<SqlToken>;

bool IsThis(const SqlToken& t) {
  return t.kind == SqlToken::Kind::kJinja &&
         (t.text == "this" || StartsWith(t.text, "this.") || StartsWith(t.text, "this "));
}

bool NowWord(const SqlToken& t) {
  if (t.kind == SqlToken::Kind::kJinja)
    return t.text.find("run_started_at") != std::string::npos ||
           t.text.find("datetime.now") != std::string::npos ||
           t.text.find("datetime.utcnow") != std::string::npos ||
           t.text.find("current_timestamp") != std::string::npos;
  for (const char* word : {"CURRENT_DATE", "CURRENT_TIMESTAMP", "GETDATE", "SYSDATE", "SYSTIMESTAMP", "NOW",
                           "TODAY", "LOCALTIMESTAMP", "CURDATE"})
    if (t.Is(word)) return true;
  return false;
}

double DaysOf(const std::string& unit) {
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
      number = std::atof(t[i].text.c_str()), numbered = true;
    if (t[i].kind == SqlToken::Kind::kString) {
      const std::string& s = t[i].text;
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
    if (depth != 0 || t[i].kind != SqlToken::Kind::kWord) continue;
    for (const char* word :
         {"SELECT", "FROM", "JOIN", "WHERE", "ON", "HAVING", "QUALIFY", "GROUP", "ORDER", "UNION", "USING"})
      if (t[i].Is(word)) return {word, i, false};
  }
  return {"", 0, true};
}

bool Filters(const std::string& clause) {
  return clause == "WHERE" || clause == "ON" || clause == "HAVING" || clause == "QUALIFY";
}

}  // namespace

SqlTraits ReadSqlTraits(const std::string& sql) {
  SqlTraits out;
  const Tokens t = TokenizeSql(sql);
  bool in_block_newest = false;  // {% set x = run_query("select max(..) from " ~ this) %}
  for (std::size_t i = 0; i < t.size(); ++i) {
    if (t[i].kind == SqlToken::Kind::kBlock && t[i].text.find("this") != std::string::npos &&
        StartsWith(t[i].text, "set") && Lower(t[i].text).find("max(") != std::string::npos)
      in_block_newest = true;
    if (t[i].Is("_DBT_MAX_PARTITION")) out.watermark = true, out.watermark_how = "_dbt_max_partition";
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
          // The clause around the bracket, through further ones.
          Clause around = ClauseOf(t, open.at);
          while (around.word == "(") around = ClauseOf(t, around.at);
          decided = around.word;
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
  if (in_block_newest && !out.watermark)
    out.watermark = true, out.watermark_how = "takes only rows newer than its newest (asked for before)";
  // Bounds by the run's date, and variables, in WHERE clauses.
  for (std::size_t i = 0; i < t.size(); ++i) {
    if (t[i].kind == SqlToken::Kind::kJinja) {
      const std::size_t at = t[i].text.find("var(");
      if (at != std::string::npos) {
        const std::size_t from = t[i].text.find_first_of("'\"", at);
        const std::size_t end = from == std::string::npos ? from : t[i].text.find(t[i].text[from], from + 1);
        if (end != std::string::npos) {
          const std::string name = t[i].text.substr(from + 1, end - from - 1);
          if (std::find(out.variables.begin(), out.variables.end(), name) == out.variables.end())
            out.variables.push_back(name);
        }
      }
    }
    if (t[i].kind == SqlToken::Kind::kString)
      for (std::size_t at = 0; (at = t[i].text.find("var(", at)) != std::string::npos; ++at) {
        const std::size_t from = t[i].text.find_first_of("'\"", at);
        const std::size_t end = from == std::string::npos ? from : t[i].text.find(t[i].text[from], from + 1);
        if (end == std::string::npos) break;
        const std::string name = t[i].text.substr(from + 1, end - from - 1);
        if (std::find(out.variables.begin(), out.variables.end(), name) == out.variables.end())
          out.variables.push_back(name);
      }
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
    if (const auto days = DaysBack(t, i + 1, end))
      out.date_bound_days = std::min(out.date_bound_days.value_or(1e9), *days);
  }
  return out;
}

PredicateBound ReadPredicate(const std::string& predicate) {
  PredicateBound out;
  const Tokens t = TokenizeSql(predicate);
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
