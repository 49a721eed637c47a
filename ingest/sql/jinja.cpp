// Jinja's expressions are tokens like SQL's here; what they give is put in brackets, so that signs before
// them hold.

#include "ingest/sql/jinja.hpp"

#include <algorithm>

namespace backreach {

namespace {

using Kind = SqlToken::Kind;

constexpr int kDeepest = 6;             // names set by names set by names
constexpr std::size_t kLongest = 2000;  // tokens of one side

class Reader {
 public:
  // `choice`: which of its values is taken for a name that was given several in branches.
  Reader(const SqlTokenList& t, const JinjaNames& names, std::size_t choice, SqlDialect dialect,
         SqlSide& side)
      : t_(t), names_(names), choice_(choice), dialect_(dialect), side_(side) {}

  void Sql(std::size_t from, std::size_t to, int depth = 0) {
    for (std::size_t i = from; i < to && side_.parts.size() < kLongest; ++i) {
      const SqlToken& token = t_[i];
      if (token.kind == Kind::kJinja) {
        Jinja(token.text, depth);
      } else if ((token.kind == Kind::kString || token.kind == Kind::kQuoted) &&
                 token.text.find("{{") != std::string_view::npos) {
        Quoted(token.text, depth);
      } else if (token.kind != Kind::kBlock) {
        side_.parts.push_back({token, false});
      }
    }
  }

 private:
  void Symbol(const char* symbol) {
    side_.parts.push_back({SqlToken{Kind::kSymbol, std::string_view(symbol, 1), 0}, true});
  }
  // A string of SQL with expressions in it: '{{ day }} 00:00:00', '-{{ n }} days'. A sign before them and a
  // unit behind them count, what else stands there only where it moves the time.
  void Quoted(std::string_view text, int depth) {
    SqlTokenList inner;
    TokenizeSql(text, inner, side_.made, dialect_);
    Symbol("(");
    bool seen = false;
    for (std::size_t i = 0; i < inner.size(); ++i) {
      const SqlToken& token = inner[i];
      if (token.kind == Kind::kJinja) {
        Jinja(token.text, depth);
        seen = true;
      } else if (!seen && token.IsSymbol('-')) {
        side_.parts.push_back({token, true});
      } else if (seen && token.kind == Kind::kWord && UnitOf(token.text, dialect_)) {
        side_.parts.push_back({token, false});
      } else if (seen && Moves(inner, i)) {
        side_.parts.push_back({SqlToken{Kind::kWord, "beyond", 0}, true});
        break;
      }
    }
    Symbol(")");
  }
  // '{{ day }} 23:59:59' is later than the day; of a month '-01' is its first day.
  static bool Moves(const SqlTokenList& t, std::size_t i) {
    if (t[i].kind != Kind::kNumber && t[i].kind != Kind::kWord) return false;
    if (t[i].text == "01" && i > 0 && t[i - 1].IsSymbol('-')) return false;
    return t[i].text.find_first_of("123456789") != std::string_view::npos;
  }
  void Jinja(std::string_view text, int depth) {
    if (depth > kDeepest) return;
    SqlTokenList inner;
    TokenizeSql(text, inner, side_.made, SqlDialect::kJinja);
    const bool choice = std::any_of(inner.begin(), inner.end(),
                                    [](const SqlToken& word) { return word.Is("IF") || word.Is("OR"); });
    const std::size_t known = side_.given.size() + side_.unset.size();
    Symbol("(");
    Expression(inner, 0, inner.size(), depth);
    Symbol(")");
    if (!choice || known == side_.given.size() + side_.unset.size()) return;
    for (const auto* list : {&side_.given, &side_.unset})
      side_.either.insert(side_.either.end(), list->begin(), list->end());
    side_.unset.clear();
  }
  void Expression(const SqlTokenList& e, std::size_t from, std::size_t to, int depth) {
    for (std::size_t i = from; i < to && side_.parts.size() < kLongest; ++i) {
      const SqlToken& token = e[i];
      const bool member = i > 0 && e[i - 1].IsSymbol('.');
      if (token.kind == Kind::kQuoted || token.kind == Kind::kString) {
        SqlTokenList inner;
        TokenizeSql(token.text, inner, side_.made, dialect_);
        std::vector<SqlPart> parts;
        for (const SqlToken& word : inner) parts.push_back({word, false});
        // 'current_date' or 'max(ts)' as an argument; a query is asked as a whole.
        const bool call =
            parts.size() > 2 && parts[1].token.IsSymbol('(') && parts.back().token.IsSymbol(')');
        if (HasNow(parts, dialect_) || call) {
          Symbol("(");
          side_.parts.insert(side_.parts.end(), parts.begin(), parts.end());
          Symbol(")");
        } else
          side_.parts.push_back({SqlToken{Kind::kString, token.text, token.at}, true});
        continue;
      }
      const bool variable = token.Is("VAR") || token.Is("ENV_VAR");
      if (variable && !member && i + 2 < to && e[i + 1].IsSymbol('(')) {
        i = Variable(e, i, to, depth);
        continue;
      }
      const auto named = token.kind == Kind::kWord && !member ? names_.find(token.text) : names_.end();
      if (named != names_.end() && depth < kDeepest) {
        const JinjaValue& value = named->second[std::min(choice_, named->second.size() - 1)];
        side_.set_at = value.at + 1;
        if (value.to > value.from) {
          Symbol("(");
          Sql(value.from, value.to, depth + 1);
          Symbol(")");
        } else {
          Jinja(value.text, depth + 1);
        }
        continue;
      }
      side_.parts.push_back({token, true});
    }
  }
  // `var('name', default)` at `i`: its default stands for it. Returns its closing bracket.
  std::size_t Variable(const SqlTokenList& e, std::size_t i, std::size_t to, int depth) {
    const std::string name(e[i + 2].text);
    std::size_t close = i + 1, comma = 0;
    int brackets = 0;
    for (; close < to; ++close) {
      if (e[close].IsSymbol('(')) ++brackets;
      if (e[close].IsSymbol(')') && --brackets == 0) break;
      if (brackets == 1 && comma == 0 && e[close].IsSymbol(',')) comma = close;
    }
    if (comma == 0) {
      side_.unset.push_back(name);
      return close;
    }
    side_.given.push_back(name);
    const std::size_t before = side_.parts.size();
    Symbol("(");
    Expression(e, comma + 1, std::min(close, to), depth + 1);
    Symbol(")");
    if (HasNow({side_.parts.begin() + static_cast<std::ptrdiff_t>(before), side_.parts.end()}, dialect_))
      side_.either.push_back(name);
    return close;
  }

  const SqlTokenList& t_;
  const JinjaNames& names_;
  std::size_t choice_;
  SqlDialect dialect_;
  SqlSide& side_;
};

}  // namespace

void ReadSide(const SqlTokenList& t, std::size_t from, std::size_t to, const JinjaNames& names,
              std::size_t choice, SqlDialect dialect, SqlSide& side) {
  Reader(t, names, choice, dialect, side).Sql(from, to);
}

}  // namespace backreach
