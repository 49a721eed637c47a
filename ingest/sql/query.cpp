// A reader by recursive descent with one look ahead. Every level of brackets is a level of calls, so their
// number is bounded; what goes deeper is not read. Words that differ between warehouses are taken where they
// can mean one thing only.

#include "ingest/sql/query.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "graph/base/words.hpp"
#include "ingest/sql/dialect.hpp"

namespace backreach {

namespace {

using Kind = SqlExpr::Kind;

constexpr int kDeepest = 120;
constexpr std::size_t kMostTokens = 400'000;

// Words that can be no name of a table, and those that are no alias behind one.
bool Reserved(const SqlToken& t) {
  static const std::set<std::string, std::less<>> words = {
      "SELECT", "FROM",      "WHERE",   "GROUP",   "HAVING", "ORDER", "LIMIT", "UNION",
      "EXCEPT", "INTERSECT", "ON",      "USING",   "JOIN",   "LEFT",  "RIGHT", "FULL",
      "INNER",  "CROSS",     "NATURAL", "QUALIFY", "AND",    "OR"};
  return t.kind == SqlToken::Kind::kWord && words.count(Upper(t.text)) > 0;
}
bool EndsItem(const SqlToken& t) {
  static const std::set<std::string, std::less<>> words = {"MINUS",
                                                           "WINDOW",
                                                           "FETCH",
                                                           "OFFSET",
                                                           "LATERAL",
                                                           "PIVOT",
                                                           "UNPIVOT",
                                                           "ASOF",
                                                           "ANTI",
                                                           "SEMI",
                                                           "GLOBAL",
                                                           "FOR",
                                                           "INTO",
                                                           "SET",
                                                           "WITH",
                                                           "TABLESAMPLE",
                                                           "WHEN",
                                                           "THEN",
                                                           "ELSE",
                                                           "END",
                                                           "OUTER",
                                                           "MATCH_RECOGNIZE",
                                                           "STRAIGHT_JOIN",
                                                           "AS",
                                                           "ALL",
                                                           "ANY",
                                                           "PREWHERE",
                                                           "APPLY",
                                                           "MATCH_CONDITION",
                                                           "RETURNING",
                                                           "POSITIONAL"};
  return Reserved(t) || (t.kind == SqlToken::Kind::kWord && words.count(Upper(t.text)) > 0);
}

class Parser {
 public:
  Parser(SqlTree& tree, std::string_view adapter) : tree_(tree), t_(tree.tokens), adapter_(adapter) {}

  void Read() {
    if (t_.size() > kMostTokens) return Stop("it is too long to be followed");
    while (i_ < t_.size() && t_[i_].IsSymbol(';')) ++i_;
    SqlQuery* q = Query(nullptr);
    while (i_ < t_.size() && t_[i_].IsSymbol(';')) ++i_;
    if (i_ < t_.size()) Stop("what stands here could not be followed");
    if (tree_.trouble.empty()) tree_.query = q;
  }

 private:
  // ---- tokens ----
  bool end() const { return i_ >= t_.size() || !tree_.trouble.empty(); }
  const SqlToken& now() const {
    static const SqlToken none{SqlToken::Kind::kSymbol, "", 0};
    return end() ? none : t_[i_];
  }
  const SqlToken& ahead(std::size_t n = 1) const {
    static const SqlToken none{SqlToken::Kind::kSymbol, "", 0};
    return i_ + n < t_.size() && tree_.trouble.empty() ? t_[i_ + n] : none;
  }
  bool Is(std::string_view word) const { return now().Is(word); }
  bool Sym(char c) const { return now().IsSymbol(c); }
  bool Take(std::string_view word) {
    if (!Is(word)) return false;
    ++i_;
    return true;
  }
  bool TakeSym(char c) {
    if (!Sym(c)) return false;
    ++i_;
    return true;
  }
  bool Sym2(char a, char b) const { return Sym(a) && ahead().IsSymbol(b) && ahead().at == now().at + 1; }
  bool TakeSym2(char a, char b) {
    if (!Sym2(a, b)) return false;
    i_ += 2;
    return true;
  }
  void Expect(char c) {
    if (!TakeSym(c)) Stop(std::string("a '") + c + "' was expected");
  }
  void Stop(std::string why) {
    if (!tree_.trouble.empty()) return;
    tree_.trouble = std::move(why);
    tree_.trouble_at = i_ < t_.size() ? t_[i_].at : t_.empty() ? 0 : t_.back().at;
  }
  struct Deeper {
    explicit Deeper(Parser& p) : p_(p) {
      if (++p_.depth_ > kDeepest) p_.Stop("it is nested too deep to be followed");
    }
    ~Deeper() { --p_.depth_; }
    Parser& p_;
  };
  bool Name() const { return now().kind == SqlToken::Kind::kWord || now().kind == SqlToken::Kind::kQuoted; }
  // The index behind the bracket that opens here.
  std::size_t Behind(std::size_t open) const {
    int depth = 0;
    for (std::size_t k = open; k < t_.size(); ++k) {
      if (t_[k].IsSymbol('(') || t_[k].IsSymbol('[')) ++depth;
      if ((t_[k].IsSymbol(')') || t_[k].IsSymbol(']')) && --depth == 0) return k + 1;
    }
    return t_.size();
  }

  SqlExpr* Make(Kind kind, std::size_t at) {
    SqlExpr& e = tree_.exprs.emplace_back();
    e.kind = kind;
    e.at = at;
    return &e;
  }
  SqlExpr* Op(std::string name, std::vector<SqlExpr*> args) {
    SqlExpr* e = Make(Kind::kOp, args.empty() || !args[0] ? 0 : args[0]->at);
    e->name = std::move(name);
    e->args = std::move(args);
    return e;
  }

  // ---- queries ----
  SqlQuery* Query(SqlQuery* outer) {
    const Deeper deeper(*this);
    SqlQuery& q = tree_.queries.emplace_back();
    q.at = now().at;
    q.outer = outer;
    SqlQuery* const around = std::exchange(query_of_expr_, &q);
    if (Take("WITH")) {
      if (Take("RECURSIVE")) q.recursive = true;
      do {
        if (end()) break;
        std::string name = Lower(now().text);
        ++i_;
        std::vector<std::string> columns;
        if (Sym('(')) columns = Names();
        if (!Take("AS")) {
          Stop("a table expression could not be followed");
          break;
        }
        if (Take("NOT")) Take("MATERIALIZED");
        Take("MATERIALIZED");
        Expect('(');
        SqlQuery* inner = Query(&q);
        inner->renamed = std::move(columns);
        Expect(')');
        q.with.emplace_back(std::move(name), inner);
      } while (TakeSym(','));
    }
    Branch(q);
    while (!end()) {
      const bool all_or_distinct = Is("UNION") || Is("EXCEPT") || Is("INTERSECT") || Is("MINUS");
      if (!all_or_distinct) break;
      ++i_;
      Take("ALL") || Take("DISTINCT");
      if (Take("BY")) Take("NAME"), q.by_name = true;
      Branch(q);
    }
    Tail(q);
    query_of_expr_ = around;
    return &q;
  }
  void Branch(SqlQuery& q) {
    if (end()) return Stop("a query ends before it began");
    if (Sym('(')) {
      ++i_;
      q.selects.push_back(nullptr);
      q.nested.push_back(Query(&q));
      return Expect(')');
    }
    if (Is("WITH")) {  // a branch with table expressions of its own
      q.selects.push_back(nullptr);
      q.nested.push_back(Query(&q));
      return;
    }
    if (Take("VALUES")) {
      SqlSelect& s = tree_.selects.emplace_back();
      while (Sym('(')) {
        i_ = Behind(i_);
        if (!TakeSym(',')) break;
      }
      q.selects.push_back(&s);
      q.nested.push_back(nullptr);
      return;
    }
    if (Take("TABLE")) {
      SqlSelect& s = tree_.selects.emplace_back();
      SqlExpr* star = Make(Kind::kStar, now().at);
      s.items.push_back({star, ""});
      s.from.push_back(Item(&q));
      q.selects.push_back(&s);
      q.nested.push_back(nullptr);
      return;
    }
    q.selects.push_back(Select(&q));
    q.nested.push_back(nullptr);
  }
  void Tail(SqlQuery& q) {
    while (!end()) {
      if (Is("ORDER") && ahead().Is("BY")) {
        i_ += 2;
        q.order = Orders();
      } else if (Is("LIMIT") || (Is("FETCH") && (ahead().Is("FIRST") || ahead().Is("NEXT"))) ||
                 Is("OFFSET")) {
        const std::size_t at = now().at;
        ++i_;
        while (!end() && !Sym(')') && !Sym(';') && !Is("BY") && !Is("LIMIT") && !Is("OFFSET") &&
               !Is("UNION") && !Is("SETTINGS"))
          ++i_;
        if (Take("BY")) {
          q.limit_by = List();
        } else {
          q.limited = true;
          q.limit_at = at;
        }
      } else if (Is("SETTINGS") || Is("OPTION")) {
        while (!end() && !Sym(')') && !Sym(';')) ++i_;
      } else if ((Is("CLUSTER") || Is("DISTRIBUTE") || Is("SORT")) && ahead().Is("BY")) {
        i_ += 2;
        Orders();
      } else if (Is("WITH") && (ahead().Is("NO") || ahead().Is("DATA"))) {
        Stop("what stands here could not be followed");
      } else {
        break;
      }
    }
  }

  SqlSelect* Select(SqlQuery* q) {
    const Deeper deeper(*this);
    SqlSelect& s = tree_.selects.emplace_back();
    s.at = now().at;
    if (Is("FROM")) {  // DuckDB: FROM x [SELECT ...]
      ++i_;
      s.from = From(q);
      if (!Take("SELECT")) {
        s.items.push_back({Make(Kind::kStar, s.at), ""});
        Clauses(s, q);
        return &s;
      }
    } else if (!Take("SELECT")) {
      Stop("a SELECT was expected");
      return &s;
    }
    if (Take("ALL")) {
    } else if (Take("DISTINCT")) {
      if (Take("ON")) {
        Expect('(');
        s.distinct_on = List();
        Expect(')');
      } else {
        s.distinct = true;
      }
    }
    if (Is("TOP") && (ahead().kind == SqlToken::Kind::kNumber || ahead().IsSymbol('('))) {
      q->limited = true;
      q->limit_at = now().at;
      ++i_;
      if (Sym('('))
        i_ = Behind(i_);
      else
        ++i_;
      Take("PERCENT");
      if (Take("WITH")) Take("TIES");
    }
    if (Take("AS")) Take("STRUCT") || Take("VALUE");
    do {
      if (end() || Is("FROM") || Sym(')')) break;  // a comma before FROM
      SqlSelectItem item;
      // alias: expression, of DuckDB
      if (Name() && ahead().IsSymbol(':') && !ahead(2).IsSymbol(':') && adapter_ == "duckdb") {
        item.alias = Lower(now().text);
        i_ += 2;
      }
      item.value = Expr();
      if (Take("AS")) {
        item.alias = Lower(now().text);
        if (!end()) ++i_;
        if (Sym('(')) i_ = Behind(i_);
      } else if (Name() && !EndsItem(now())) {
        item.alias = Lower(now().text);
        ++i_;
      }
      s.items.push_back(std::move(item));
    } while (TakeSym(',') && !end());
    if (Take("INTO")) Stop("SELECT INTO could not be followed");
    if (Take("FROM")) s.from = From(q);
    Clauses(s, q);
    return &s;
  }
  void Clauses(SqlSelect& s, SqlQuery* q) {
    while (!end()) {
      if (Take("WHERE") || Take("PREWHERE")) {
        SqlExpr* e = Expr();
        s.where = s.where ? Op("and", {s.where, e}) : e;
      } else if (Is("GROUP") && ahead().Is("BY")) {
        i_ += 2;
        s.grouped = true;
        Group(s);
      } else if (Take("HAVING")) {
        s.having = Expr();
      } else if (Take("QUALIFY")) {
        s.qualify = Expr();
      } else if (Is("WINDOW") && ahead(2).Is("AS")) {
        ++i_;
        do {
          const std::string name = Lower(now().text);
          i_ += 2;
          s.windows[name] = Window();
        } while (TakeSym(',') && !end());
      } else if (Is("CONNECT") || Is("START")) {
        return Stop("CONNECT BY could not be followed");
      } else {
        return;
      }
    }
    (void)q;
  }
  void Group(SqlSelect& s) {
    if (Take("ALL")) {
      s.group_all = true;
      return;
    }
    do {
      if (Is("ROLLUP") || Is("CUBE") || (Is("GROUPING") && ahead().Is("SETS"))) {
        s.group_sets = true;
        while (!end() && !Sym('(')) ++i_;
        i_ = Behind(i_);
        continue;
      }
      s.group.push_back(Expr());
    } while (TakeSym(',') && !end());
    if (Is("WITH") && (ahead().Is("ROLLUP") || ahead().Is("CUBE") || ahead().Is("TOTALS"))) {
      s.group_sets = true;
      i_ += 2;
    }
    if (Is("GROUPING")) s.group_sets = true, i_ = t_.size();
  }

  std::vector<SqlItem> From(SqlQuery* q) {
    std::vector<SqlItem> out;
    out.push_back(Item(q));
    while (!end()) {
      if (TakeSym(',')) {
        SqlItem item = Item(q);
        item.join = SqlItem::Join::kCross;
        out.push_back(std::move(item));
        continue;
      }
      SqlItem::Join join = SqlItem::Join::kInner;
      bool asof = false, natural = false, lateral = false, any = false;
      const std::size_t start = i_;
      for (bool more = true; more && !end();) {
        more = true;
        if (Take("NATURAL"))
          natural = true;
        else if (Take("ASOF"))
          asof = true;
        else if (Is("LEFT") && !ahead().IsSymbol('('))
          ++i_, join = SqlItem::Join::kLeft;
        else if (Is("RIGHT") && !ahead().IsSymbol('('))
          ++i_, join = SqlItem::Join::kRight;
        else if (Take("FULL"))
          join = SqlItem::Join::kFull;
        else if (Take("INNER"))
          join = SqlItem::Join::kInner;
        else if (Take("CROSS"))
          join = SqlItem::Join::kCross;
        else if (Take("SEMI"))
          join = SqlItem::Join::kSemi;
        else if (Take("ANTI"))
          join = SqlItem::Join::kAnti;
        else if (Take("OUTER"))
          join = join == SqlItem::Join::kInner ? SqlItem::Join::kLeft : join;
        else if (Take("GLOBAL") || Take("POSITIONAL"))
          any = any;
        else if (Is("ANY") || Is("ALL"))
          ++i_, any = true;
        else
          more = false;
      }
      if ((Is("ARRAY") && ahead().Is("JOIN")) || (Is("LEFT") && ahead().Is("ARRAY") && ahead(2).Is("JOIN"))) {
        while (!Is("JOIN")) ++i_;
        ++i_;
        ArrayJoin(out);
        continue;
      }
      if (Is("LATERAL") && ahead().Is("VIEW")) {  // Hive: LATERAL VIEW [OUTER] explode(x) t AS a, b
        i_ += 2;
        Take("OUTER");
        SqlItem item = Item(q, true);
        if (item.alias.empty()) item.alias = "lateral view";
        if (Take("AS")) {
          do item.columns.push_back(Lower(now().text)), ++i_;
          while (TakeSym(','));
        }
        item.join = SqlItem::Join::kCross;
        item.lateral = true;
        out.push_back(std::move(item));
        continue;
      }
      if (Take("APPLY")) {
        lateral = true;
        if (join == SqlItem::Join::kInner) join = SqlItem::Join::kCross;
      } else if (!Take("JOIN") && !Take("STRAIGHT_JOIN")) {
        i_ = start;
        break;
      }
      SqlItem item = Item(q);
      item.join = join;
      item.asof = asof;
      item.natural = natural;
      item.lateral = item.lateral || lateral;
      if (Take("MATCH_CONDITION")) {
        Expect('(');
        item.on = Expr();
        Expect(')');
      }
      if (Take("ON")) {
        SqlExpr* on = Expr();
        item.on = item.on ? Op("and", {item.on, on}) : on;
      } else if (Is("USING") && ahead().IsSymbol('(')) {
        ++i_;
        item.by = Names();
      }
      out.push_back(std::move(item));
    }
    return out;
  }

  // ClickHouse: rows of the row's own arrays.
  void ArrayJoin(std::vector<SqlItem>& out) {
    do {
      SqlItem item;
      item.at = now().at;
      item.call = Make(Kind::kOther, item.at);
      item.call->args = {Expr()};
      if (item.call->args[0]->Is(Kind::kColumn)) item.alias = item.call->args[0]->name;
      if (Take("AS")) {
        item.alias = Lower(now().text);
        if (!end()) ++i_;
      }
      item.join = SqlItem::Join::kCross;
      item.lateral = true;
      out.push_back(std::move(item));
    } while (TakeSym(',') && !end());
  }

  SqlItem Item(SqlQuery* q, bool view = false) {
    const Deeper deeper(*this);
    SqlItem item;
    item.at = now().at;
    while (Is("LATERAL") || Is("ONLY")) item.lateral = true, ++i_;
    if (Sym('(')) {
      ++i_;
      std::size_t k = i_;
      while (k < t_.size() && t_[k].IsSymbol('(')) ++k;
      const bool query = k < t_.size() && (t_[k].Is("SELECT") || t_[k].Is("WITH") || t_[k].Is("VALUES") ||
                                           t_[k].Is("FROM") || t_[k].Is("TABLE"));
      if (query && QueryNext()) {
        item.query = Query(q);
      } else {
        item.inner = From(q);
      }
      Expect(')');
    } else if (Is("TABLE") && ahead().IsSymbol('(')) {
      i_ += 2;
      item.call = Expr();
      Expect(')');
    } else if (Is("UNNEST") || (Name() && ahead().IsSymbol('('))) {
      item.call = Primary();
    } else if (Name() && !Reserved(now())) {
      item.name = Table();
      if (Sym('(')) {
        --i_;
        item.call = Primary();
        item.name.clear();
      }
    } else {
      Stop("a table was expected");
      return item;
    }
    Odd(item);
    if (Is("WITH") && ahead().Is("ORDINALITY")) i_ += 2;
    const bool clause =
        ((Is("FINAL") || Is("FORMAT") || Is("SETTINGS")) && adapter_ == "clickhouse") ||
        ((Is("SORT") || Is("CLUSTER") || Is("DISTRIBUTE") || Is("CONNECT")) && ahead().Is("BY")) ||
        (Is("START") && ahead().Is("WITH")) || (Is("ARRAY") && ahead().Is("JOIN")) ||
        (Is("SAMPLE") && (ahead().IsSymbol('(') || ahead().kind == SqlToken::Kind::kNumber));
    if (clause) return Named(item);
    if (Take("AS")) {
      if (!Sym('(')) {
        item.alias = Lower(now().text);
        if (!end()) ++i_;
      }
    } else if (Name() && !EndsItem(now())) {
      item.alias = Lower(now().text);
      ++i_;
    }
    if (!view && Sym('(') && !item.alias.empty()) item.columns = Names();
    if (Is("WITH") && ahead().Is("OFFSET")) {
      i_ += 2;
      Take("AS");
      if (Name() && !EndsItem(now())) ++i_;
    }
    if (Is("WITH") && ahead().IsSymbol('(')) i_ += 1, i_ = Behind(i_);  // hints
    Odd(item);
    return Named(item);
  }
  // A table without alias goes by the last part of its name.
  static SqlItem Named(SqlItem item) {
    if (item.alias.empty() && !item.name.empty())
      item.alias = Lower(
          item.name.substr(item.name.rfind('\x1f') == std::string::npos ? 0 : item.name.rfind('\x1f') + 1));
    return item;
  }
  // A bracket that holds a query, not a list of joined tables that begins with a bracketed query.
  bool QueryNext() const {
    if (!t_[i_].IsSymbol('(')) return true;
    const std::size_t close = Behind(i_);
    return close >= t_.size() || t_[close].IsSymbol(')') || t_[close].Is("UNION") || t_[close].Is("EXCEPT") ||
           t_[close].Is("INTERSECT") || t_[close].Is("MINUS") || t_[close].Is("ORDER") ||
           t_[close].Is("LIMIT");
  }
  void Odd(SqlItem& item) {
    while (!end()) {
      if (Is("PIVOT") && ahead().IsSymbol('(')) {
        item.odd = "PIVOT";
        ++i_;
        i_ = Behind(i_);
      } else if (Is("UNPIVOT") || (Is("INCLUDE") && ahead().Is("NULLS"))) {
        ++i_;
        while (!end() && !Sym('(')) ++i_;
        i_ = Behind(i_);
      } else if (Is("TABLESAMPLE") ||
                 (Is("SAMPLE") && (ahead().IsSymbol('(') || ahead().kind == SqlToken::Kind::kNumber))) {
        item.odd = "a sample";
        ++i_;
        while (!end() && (Name() || now().kind == SqlToken::Kind::kNumber) && !EndsItem(now()) && !Sym('('))
          ++i_;
        if (Sym('(')) i_ = Behind(i_);
      } else if (Is("MATCH_RECOGNIZE")) {
        item.odd = "MATCH_RECOGNIZE";
        ++i_;
        i_ = Behind(i_);
      } else if (Is("FINAL") && adapter_ == "clickhouse") {
        item.odd = "FINAL";
        ++i_;
      } else if (Is("FOR") && (ahead().Is("SYSTEM_TIME") || ahead().Is("TIMESTAMP") ||
                               ahead().Is("VERSION") || ahead().Is("SYSTEM_VERSION"))) {
        item.odd = "a table as of another time";
        while (!end() && !Is("OF")) ++i_;
        ++i_;
        Expr();
      } else if ((Is("AT") || Is("BEFORE")) && ahead().IsSymbol('(')) {
        item.odd = "a table as of another time";
        ++i_;
        i_ = Behind(i_);
      } else {
        return;
      }
    }
  }
  // Dotted parts, with \x1f between them: a part may hold dots of its own.
  std::string Table() {
    std::string out;
    while (!end() && Name()) {
      out += now().text;
      ++i_;
      // BigQuery: a-project.b.c, and dates behind a table's name
      while (Sym('-') && adapter_ == "bigquery" && now().at == t_[i_ - 1].at + t_[i_ - 1].text.size() &&
             ahead().kind != SqlToken::Kind::kSymbol) {
        out += "-" + std::string(ahead().text);
        i_ += 2;
      }
      if (!Sym('.')) break;
      ++i_;
      if (Sym('.')) ++i_;  // db..table
      out += '\x1f';
    }
    return out;
  }
  std::vector<std::string> Names() {
    std::vector<std::string> out;
    Expect('(');
    while (!end() && !Sym(')')) {
      if (Name()) out.push_back(Lower(now().text));
      ++i_;
      while (!end() && !Sym(',') && !Sym(')')) {
        if (Sym('('))
          i_ = Behind(i_);
        else
          ++i_;
      }
      TakeSym(',');
    }
    Expect(')');
    return out;
  }
  std::vector<SqlExpr*> List() {
    std::vector<SqlExpr*> out;
    if (Sym(')') || Sym(']')) return out;
    do out.push_back(Expr());
    while (TakeSym(',') && !end());
    return out;
  }
  std::vector<SqlOrder> Orders() {
    std::vector<SqlOrder> out;
    do {
      SqlOrder o;
      o.by = Expr();
      if (Take("DESC")) o.down = true;
      Take("ASC");
      if (Take("NULLS")) ++i_;
      if (Is("WITH") && ahead().Is("FILL")) {
        i_ += 2;
        while (!end() && !Sym(')') && !Sym(',') && !Is("LIMIT")) ++i_;
      }
      out.push_back(o);
    } while (TakeSym(',') && !end());
    return out;
  }

  // ---- expressions ----
  SqlExpr* Expr(int least = 0) {
    const Deeper deeper(*this);
    SqlExpr* left = Unary();
    while (!end()) {
      SqlExpr* next = Infix(left, least);
      if (!next) return left;
      left = next;
    }
    return left;
  }
  SqlExpr* Unary() {
    const std::size_t at = now().at;
    if (Is("NOT")) {
      ++i_;
      SqlExpr* e = Op("not", {Expr(4)});
      e->at = at;
      return e;
    }
    if (Sym('-') || Sym('+') || Sym('~')) {
      const bool minus = Sym('-');
      ++i_;
      SqlExpr* inner = Expr(9);
      return minus ? Op("neg", {inner}) : inner;
    }
    return Postfix(Primary());
  }
  // 1 or, 2 and, 4 comparisons, 6 ||, 7 + -, 8 * / %
  SqlExpr* Infix(SqlExpr* left, int least) {
    const auto word = [&](const char* op, int power) -> SqlExpr* {
      if (power < least) return nullptr;
      ++i_;
      return Op(op, {left, Expr(power + 1)});
    };
    if (Is("OR") || Is("XOR")) return word("or", 1);
    if (Is("AND")) return word("and", 2);
    const bool no = Is("NOT") && (ahead().Is("IN") || ahead().Is("BETWEEN") || ahead().Is("LIKE") ||
                                  ahead().Is("ILIKE") || ahead().Is("RLIKE") || ahead().Is("REGEXP") ||
                                  ahead().Is("SIMILAR") || ahead().Is("GLOB"));
    if (no || Is("IN") || Is("BETWEEN") || Is("LIKE") || Is("ILIKE") || Is("RLIKE") || Is("REGEXP") ||
        Is("SIMILAR") || Is("GLOB") || Is("IS") || Is("ISNULL") || Is("NOTNULL") || Is("OVERLAPS")) {
      if (4 < least) return nullptr;
      return Predicate(left, no);
    }
    if (Is("DIV") || Is("MOD")) return word("other", 8);
    if (Is("AT") && (ahead().Is("TIME") || ahead().Is("LOCAL"))) return nullptr;  // done by Postfix
    if (Is("COLLATE")) {
      i_ += 2;
      return left;
    }
    if (now().kind != SqlToken::Kind::kSymbol) return nullptr;
    const auto symbol = [&](const char* op, int power, int length) -> SqlExpr* {
      if (power < least) return nullptr;
      i_ += static_cast<std::size_t>(length);
      if (power == 4 && (Is("ANY") || Is("ALL") || Is("SOME")) && ahead().IsSymbol('(')) {
        ++i_;
        SqlExpr* right = Primary();
        return Op("other", {left, right});
      }
      return Op(op, {left, Expr(power + 1)});
    };
    if (Sym('<') && ahead().IsSymbol('=') && ahead(2).IsSymbol('>')) return symbol("=", 4, 3);
    if (Sym2('<', '=')) return symbol("<=", 4, 2);
    if (Sym2('>', '=')) return symbol(">=", 4, 2);
    if (Sym2('<', '>') || Sym2('!', '=')) return symbol("<>", 4, 2);
    if (Sym2('<', '@') || Sym2('@', '>') || Sym2('&', '&') || Sym2('!', '~')) return symbol("other", 4, 2);
    if (Sym2('=', '=')) return symbol("=", 4, 2);
    if (Sym2('=', '>')) return symbol("=>", 0, 2);
    if (Sym2('-', '>')) return symbol("other", 9, ahead(2).IsSymbol('>') ? 3 : 2);
    if (Sym('=')) return symbol("=", 4, 1);
    if (Sym('<')) return symbol("<", 4, 1);
    if (Sym('>')) return symbol(">", 4, 1);
    if (Sym2('|', '|')) return symbol("||", 6, 2);
    if (Sym('~')) return symbol("other", 4, ahead().IsSymbol('*') ? 2 : 1);
    if (Sym('+')) return symbol("+", 7, 1);
    if (Sym('-')) return symbol("-", 7, 1);
    if (Sym('*')) return symbol("*", 8, 1);
    if (Sym2('/', '/')) return symbol("other", 8, 2);
    if (Sym('/')) return symbol("/", 8, 1);
    if (Sym('%') || Sym('^') || Sym('|') || Sym('&')) return symbol("other", 8, 1);
    return nullptr;
  }
  SqlExpr* Predicate(SqlExpr* left, bool no) {
    if (no) ++i_;
    SqlExpr* out = nullptr;
    if (Take("BETWEEN")) {
      Take("SYMMETRIC");
      SqlExpr* low = Expr(5);
      if (!Take("AND")) Stop("a BETWEEN could not be followed");
      SqlExpr* high = Expr(5);
      out = Op("and", {Op(">=", {left, low}), Op("<=", {left, high})});
    } else if (Take("IN")) {
      if (TakeSym('(')) {
        std::size_t k = i_;
        while (k < t_.size() && t_[k].IsSymbol('(')) ++k;
        if (k < t_.size() && (t_[k].Is("SELECT") || t_[k].Is("WITH") || t_[k].Is("FROM")) && QueryNext()) {
          SqlExpr* q = Make(Kind::kQuery, now().at);
          q->query = Query(query_of_expr_);
          out = Op("in", {left, q});
        } else {
          std::vector<SqlExpr*> args = List();
          args.insert(args.begin(), left);
          out = Op("in", std::move(args));
        }
        Expect(')');
      } else {
        out = Op("in", {left, Postfix(Primary())});
      }
    } else if (Take("IS")) {
      const bool is_not = Take("NOT");
      if (Take("DISTINCT")) {
        Take("FROM");
        out = Op(is_not ? "=" : "<>", {left, Expr(5)});
        return out;
      }
      if (!end()) ++i_;  // NULL, TRUE, FALSE, UNKNOWN
      return Op("is", {left});
    } else if (Is("ISNULL") || Is("NOTNULL")) {
      ++i_;
      return Op("is", {left});
    } else {
      ++i_;
      if (Is("TO") || Is("ANY") || Is("ALL")) ++i_;
      SqlExpr* right = Expr(5);
      if (Take("ESCAPE")) Expr(5);
      out = Op("other", {left, right});
    }
    return no ? Op("not", {out}) : out;
  }
  SqlExpr* Postfix(SqlExpr* e) {
    while (!end()) {
      if (TakeSym2(':', ':')) {
        SqlExpr* cast = Make(Kind::kCast, e->at);
        cast->args = {e};
        cast->name = Type();
        e = cast;
      } else if (Is("AT") && ahead().Is("TIME") && ahead(2).Is("ZONE")) {
        i_ += 3;
        SqlExpr* z = Make(Kind::kZone, e->at);
        SqlExpr* zone = Primary();
        z->args = {e, zone};
        e = z;
      } else if (Is("AT") && ahead().Is("LOCAL")) {
        i_ += 2;
        SqlExpr* other = Make(Kind::kOther, e->at);
        other->args = {e};
        e = other;
      } else if (Sym('[')) {
        ++i_;
        SqlExpr* other = Make(Kind::kOther, e->at);
        other->args = {e};
        while (!end() && !Sym(']')) {
          if (Sym(':'))
            ++i_;
          else
            other->args.push_back(Expr());
          if (!Sym(']') && !Sym(':')) break;
        }
        Expect(']');
        e = other;
      } else if (Sym(':') && !ahead().IsSymbol(':') &&
                 (ahead().kind == SqlToken::Kind::kWord || ahead().kind == SqlToken::Kind::kQuoted) &&
                 adapter_ != "duckdb") {  // Snowflake, Databricks: a path into JSON
        ++i_;
        ++i_;
        while (Sym('.') || Sym('[')) {
          if (Sym('['))
            i_ = Behind(i_);
          else
            i_ += 2;
        }
        SqlExpr* other = Make(Kind::kOther, e->at);
        other->args = {e};
        e = other;
      } else if (Sym('.') && ahead().kind != SqlToken::Kind::kNumber) {  // a field of a value
        ++i_;
        if (Sym('*')) {
          ++i_;
        } else if (!end()) {
          ++i_;
          if (Sym('(')) i_ = Behind(i_);
        }
        SqlExpr* other = Make(Kind::kOther, e->at);
        other->args = {e};
        e = other;
      } else {
        return e;
      }
    }
    return e;
  }
  std::string Type() {
    std::string out = Lower(now().text);
    if (!end()) ++i_;
    if (out == "double" && Is("PRECISION")) ++i_;
    if (out == "character" && Is("VARYING")) ++i_;
    if (Sym('('))
      i_ = Behind(i_);
    else if (Sym('<')) {  // array<struct<...>>
      int depth = 0;
      while (!end()) {
        if (Sym('<')) ++depth;
        if (Sym('>') && --depth == 0) {
          ++i_;
          break;
        }
        ++i_;
      }
    }
    while (Sym2('[', ']')) i_ += 2;
    if ((out == "timestamp" || out == "time") && (Is("WITH") || Is("WITHOUT"))) {
      const bool with = Is("WITH");
      ++i_;
      Take("LOCAL");
      if (Take("TIME")) Take("ZONE");
      if (with) out += "tz";
    }
    return out;
  }

  SqlExpr* Primary() {
    const Deeper deeper(*this);
    const SqlToken token = now();
    if (end()) {
      Stop("an expression ends before it began");
      return Make(Kind::kOther, 0);
    }
    switch (token.kind) {
      case SqlToken::Kind::kNumber: {
        SqlExpr* e = Make(Kind::kNumber, token.at);
        e->text = token.text;
        ++i_;
        return e;
      }
      case SqlToken::Kind::kString: {
        SqlExpr* e = Make(Kind::kString, token.at);
        e->text = token.text;
        ++i_;
        return e;
      }
      case SqlToken::Kind::kQuoted: return Named();
      case SqlToken::Kind::kWord: return WordOrCall();
      case SqlToken::Kind::kSymbol: break;
      default: Stop("Jinja could not be followed"); return Make(Kind::kOther, token.at);
    }
    if (TakeSym('(')) return Bracket(token.at);
    if (TakeSym('*')) {
      SqlExpr* e = Make(Kind::kStar, token.at);
      StarParts(e);
      return e;
    }
    if (TakeSym('[')) {
      SqlExpr* e = Make(Kind::kOther, token.at);
      if (!Sym(']')) e->args = List();
      if (Is("FOR")) return Stop("a list comprehension could not be followed"), e;
      Expect(']');
      return e;
    }
    if (TakeSym('{')) {
      SqlExpr* e = Make(Kind::kOther, token.at);
      while (!end() && !Sym('}')) {
        ++i_;
        if (TakeSym(':')) e->args.push_back(Expr());
        TakeSym(',');
      }
      Expect('}');
      return e;
    }
    if (Sym('$') || Sym('@') || Sym('?')) {
      i_ += ahead().kind == SqlToken::Kind::kSymbol ? 1u : 2u;
      return Make(Kind::kOther, token.at);
    }
    Stop("an expression could not be followed");
    return Make(Kind::kOther, token.at);
  }
  SqlExpr* Bracket(std::size_t at) {
    if (Is("SELECT") || Is("WITH") || Is("FROM") || (Sym('(') && StartsQuery())) {
      SqlExpr* e = Make(Kind::kQuery, at);
      e->query = Query(query_of_expr_);
      Expect(')');
      return e;
    }
    std::vector<SqlExpr*> list = List();
    Expect(')');
    if (list.size() == 1) return list[0];
    SqlExpr* e = Make(Kind::kCall, at);
    e->name = "row";
    e->args = std::move(list);
    return e;
  }
  bool StartsQuery() const {
    std::size_t k = i_;
    while (k < t_.size() && t_[k].IsSymbol('(')) ++k;
    return k < t_.size() && (t_[k].Is("SELECT") || t_[k].Is("WITH")) && QueryNext();
  }
  void StarParts(SqlExpr* e) {
    if ((Is("EXCEPT") || Is("EXCLUDE")) &&
        (ahead().IsSymbol('(') || adapter_ == "snowflake" || adapter_ == "duckdb")) {
      if (!ahead().IsSymbol('(') && !(ahead().kind == SqlToken::Kind::kWord && Is("EXCLUDE"))) return;
      ++i_;
      if (Sym('('))
        e->except = Names();
      else
        e->except = {Lower(now().text)}, ++i_;
    }
    if (Is("REPLACE") && ahead().IsSymbol('(')) {
      i_ += 2;
      do {
        SqlExpr* value = Expr();
        Take("AS");
        e->replaced.emplace_back(Lower(now().text), value);
        if (!end()) ++i_;
      } while (TakeSym(',') && !end());
      Expect(')');
    }
    if (Is("RENAME")) {  // old names go, new ones are the old
      ++i_;
      const bool list = TakeSym('(');
      do {
        SqlExpr* old = Make(Kind::kColumn, now().at);
        old->name = Lower(now().text);
        ++i_;
        Take("AS");
        e->replaced.emplace_back(Lower(now().text), old);
        e->except.push_back(old->name);
        if (!end()) ++i_;
      } while (list && TakeSym(',') && !end());
      if (list) Expect(')');
    }
  }
  // A column: a, t.a, s.t.a
  SqlExpr* Named() {
    SqlExpr* e = Make(Kind::kColumn, now().at);
    std::vector<std::string> parts = {std::string(now().text)};
    ++i_;
    while (Sym('.') && !end()) {
      if (ahead().IsSymbol('*')) {
        i_ += 2;
        e->kind = Kind::kStar;
        e->qualifier = Lower(parts.back());
        StarParts(e);
        return e;
      }
      if (ahead().kind != SqlToken::Kind::kWord && ahead().kind != SqlToken::Kind::kQuoted) break;
      ++i_;
      parts.emplace_back(now().text);
      ++i_;
    }
    e->name = Lower(parts.back());
    if (parts.size() > 1) e->qualifier = Lower(parts[parts.size() - 2]);
    if (parts.size() > 2) e->text = Lower(parts[0]);  // may be a struct's field
    if (Sym('(')) return Call(e->at, e->name);
    return e;
  }
  SqlExpr* WordOrCall() {
    const std::size_t at = now().at;
    if (Is("CASE")) return Case();
    if ((Is("CAST") || Is("TRY_CAST") || Is("SAFE_CAST")) && ahead().IsSymbol('(')) {
      i_ += 2;
      SqlExpr* e = Make(Kind::kCast, at);
      e->args = {Expr()};
      if (!Take("AS") && !TakeSym(',')) Stop("a CAST could not be followed");
      e->name = Type();
      if (Take("FORMAT")) Expr(5);
      if (Take("AT")) i_ += 2, Expr(5);
      Expect(')');
      return e;
    }
    if (Is("EXISTS") && ahead().IsSymbol('(')) {
      i_ += 2;
      SqlExpr* e = Make(Kind::kQuery, at);
      e->query = Query(query_of_expr_);
      e->name = "exists";
      Expect(')');
      return e;
    }
    if (Is("INTERVAL") && !ahead().IsSymbol(',') && !ahead().IsSymbol(')') && !ahead().IsSymbol('.')) {
      if (SqlExpr* e = Interval()) return e;
    }
    if (Is("EXTRACT") && ahead().IsSymbol('(')) {
      i_ += 2;
      SqlExpr* e = Make(Kind::kCall, at);
      e->name = "extract";
      SqlExpr* part = Make(Kind::kString, now().at);
      part->text = Lower(now().text);
      ++i_;
      if (Sym('(')) i_ = Behind(i_);  // WEEK(MONDAY)
      e->args = {part};
      if (Take("FROM") || TakeSym(',')) e->args.push_back(Expr());
      Expect(')');
      return Postfix(e);
    }
    if ((Is("DATE") || Is("TIMESTAMP") || Is("DATETIME") || Is("TIMESTAMPTZ") || Is("TIME")) &&
        ahead().kind == SqlToken::Kind::kString) {
      SqlExpr* e = Make(Kind::kCast, at);
      e->name = Lower(now().text);
      ++i_;
      e->args = {Primary()};
      return e;
    }
    if ((Is("ARRAY") || Is("MULTISET")) && ahead().IsSymbol('(') &&
        (ahead(2).Is("SELECT") || ahead(2).Is("WITH"))) {
      i_ += 2;
      SqlExpr* e = Make(Kind::kQuery, at);
      e->query = Query(query_of_expr_);
      Expect(')');
      return e;
    }
    if (Is("ARRAY") && ahead().IsSymbol('[')) {
      ++i_;
      return Primary();
    }
    if ((Is("ARRAY") || Is("STRUCT") || Is("MAP")) && ahead().IsSymbol('<')) {
      Type();
      return Primary();
    }
    static const std::set<std::string, std::less<>> bare = {
        "NULL",           "TRUE",      "FALSE",   "CURRENT_DATE", "CURRENT_TIMESTAMP", "CURRENT_TIME",
        "LOCALTIMESTAMP", "LOCALTIME", "SYSDATE", "SYSTIMESTAMP", "CURRENT_USER",      "DEFAULT"};
    if (bare.count(Upper(now().text)) && !ahead().IsSymbol('.') &&
        !(ahead().IsSymbol('(') && !ahead(2).IsSymbol(')'))) {
      SqlExpr* e = Make(Kind::kWord, at);
      e->name = Lower(now().text);
      ++i_;
      if (Sym('(')) i_ = Behind(i_);
      return e;
    }
    return Named();
  }
  SqlExpr* Case() {
    SqlExpr* e = Make(Kind::kCase, now().at);
    ++i_;
    if (!Is("WHEN")) e->filters.push_back(Expr());
    while (Take("WHEN")) {
      e->filters.push_back(Expr());
      if (!Take("THEN")) Stop("a CASE could not be followed");
      e->args.push_back(Expr());
    }
    if (Take("ELSE")) e->args.push_back(Expr());
    if (!Take("END")) Stop("a CASE could not be followed");
    return e;
  }
  static bool Unit(const SqlToken& t) {
    static const std::set<std::string, std::less<>> units = {
        "MICROSECOND", "MILLISECOND", "SECOND", "MINUTE",       "HOUR",         "DAY",     "WEEK",
        "MONTH",       "QUARTER",     "YEAR",   "MICROSECONDS", "MILLISECONDS", "SECONDS", "MINUTES",
        "HOURS",       "DAYS",        "WEEKS",  "MONTHS",       "QUARTERS",     "YEARS"};
    return t.kind == SqlToken::Kind::kWord && units.count(Upper(t.text)) > 0;
  }
  SqlExpr* Interval() {
    const std::size_t start = i_, at = now().at;
    ++i_;
    SqlExpr* e = Make(Kind::kInterval, at);
    const bool minus = TakeSym('-');
    SqlExpr* amount = nullptr;
    if (now().kind == SqlToken::Kind::kString || now().kind == SqlToken::Kind::kNumber ||
        now().kind == SqlToken::Kind::kQuoted) {
      amount = Make(now().kind == SqlToken::Kind::kNumber ? Kind::kNumber : Kind::kString, now().at);
      amount->text = now().text;
      ++i_;
    } else if (Sym('(')) {
      amount = Primary();
    } else if (Name()) {
      std::size_t k = i_ + 1;  // MySQL, BigQuery: interval n day, n.x day
      while (k + 1 < t_.size() && t_[k].IsSymbol('.')) k += 2;
      if (k >= t_.size() ||
          !(Unit(t_[k]) || t_[k].IsSymbol('(') || t_[k].IsSymbol('+') || t_[k].IsSymbol('*'))) {
        i_ = start;
        return nullptr;
      }
      amount = Expr(7);
    } else {
      i_ = start;
      return nullptr;
    }
    e->args = {minus ? Op("neg", {amount}) : amount};
    // interval n + 1 day
    if (Unit(now())) {
      e->name = Lower(now().text);
      ++i_;
      if (Take("TO")) ++i_, e->name = "span";
      if (Sym('(') && ahead().kind == SqlToken::Kind::kNumber) i_ = Behind(i_);
      // Spark: interval 1 day 2 hours
      while (now().kind == SqlToken::Kind::kNumber && Unit(ahead())) {
        SqlExpr* more = Make(Kind::kInterval, now().at);
        SqlExpr* n = Make(Kind::kNumber, now().at);
        n->text = now().text;
        more->args = {n};
        more->name = Lower(ahead().text);
        i_ += 2;
        e = Op("+", {e, more});
      }
    }
    return e;
  }
  SqlExpr* Call(std::size_t at, std::string name) {
    SqlExpr* e = Make(Kind::kCall, at);
    e->name = std::move(name);
    Expect('(');
    if (Take("DISTINCT")) e->distinct = true;
    Take("ALL");
    if (e->name == "trim" && (Is("BOTH") || Is("LEADING") || Is("TRAILING"))) ++i_;
    Arguments(e);
    Expect(')');
    // ClickHouse: quantile(0.5)(x)
    if (Sym('(') && adapter_ == "clickhouse") {
      ++i_;
      Arguments(e);
      Expect(')');
    }
    if (Is("WITHIN") && ahead().Is("GROUP")) {
      i_ += 2;
      Expect('(');
      if (Take("ORDER")) Take("BY");
      for (const SqlOrder& o : Orders()) e->order.push_back(o.by);
      Expect(')');
    }
    if (Is("KEEP") && ahead().IsSymbol('(')) {
      ++i_;
      i_ = Behind(i_);
      e->name = "other aggregate";
    }
    if (Is("FILTER") && ahead().IsSymbol('(')) {
      i_ += 2;
      Take("WHERE");
      e->filters.push_back(Expr());
      Expect(')');
    }
    if ((Is("IGNORE") || Is("RESPECT")) && ahead().Is("NULLS")) i_ += 2;
    if (Is("FROM") && (ahead().Is("FIRST") || ahead().Is("LAST"))) i_ += 2;
    if (Take("OVER")) {
      if (Sym('(')) {
        e->over = Window();
      } else {
        e->over = &tree_.windows.emplace_back();
        e->over->base = Lower(now().text);
        if (!end()) ++i_;
      }
    }
    return e;
  }
  void Arguments(SqlExpr* e) {
    while (!end() && !Sym(')')) {
      if (Is("SELECT") || Is("WITH")) {
        SqlExpr* q = Make(Kind::kQuery, now().at);
        q->query = Query(query_of_expr_);
        e->args.push_back(q);
      } else if (Is("ORDER") && ahead().Is("BY")) {
        i_ += 2;
        for (const SqlOrder& o : Orders()) e->order.push_back(o.by);
        continue;
      } else if (Is("LIMIT") || Is("SEPARATOR")) {
        i_ += 2;
        continue;
      } else if ((Is("IGNORE") || Is("RESPECT")) && ahead().Is("NULLS")) {
        i_ += 2;
        continue;
      } else if (Is("HAVING") && (ahead().Is("MAX") || ahead().Is("MIN"))) {
        i_ += 2;
        SqlExpr* by = Expr();
        e->args.push_back(by);
        e->name += " having";
        continue;
      } else if (Is("INTERVAL") || !Unit(now()) ||
                 !(ahead().IsSymbol(',') || ahead().IsSymbol(')') || ahead().IsSymbol('('))) {
        SqlExpr* a = Expr();
        if (Take("AS")) {  // struct(x as a), cast-like calls
          Type();
        } else if (Name() && (Is("USING") || Is("FROM") || Is("FOR") || Is("PLACING"))) {
          ++i_;  // convert(x using u), substring(x from 1 for 3), trim(y from x)
          e->args.push_back(a);
          continue;
        }
        e->args.push_back(a);
      } else {
        SqlExpr* a = Named();  // a unit, or a column of that name: the function's place tells
        if (Sym('(')) i_ = Behind(i_);
        a = Rest(a);
        e->args.push_back(a);
      }
      if (!TakeSym(',')) {
        if (Is("ORDER") || Is("LIMIT") || Is("IGNORE") || Is("RESPECT") || Is("HAVING") || Is("SEPARATOR"))
          continue;
        return;
      }
    }
  }
  SqlExpr* Rest(SqlExpr* left) {
    left = Postfix(left);
    while (!end()) {
      SqlExpr* next = Infix(left, 0);
      if (!next) return left;
      left = next;
    }
    return left;
  }
  SqlWindow* Window() {
    SqlWindow& w = tree_.windows.emplace_back();
    Expect('(');
    if (Name() && !Is("PARTITION") && !Is("ORDER") && !Is("ROWS") && !Is("RANGE") && !Is("GROUPS")) {
      w.base = Lower(now().text);
      ++i_;
    }
    if (Take("PARTITION")) {
      Take("BY");
      w.partition = List();
    }
    if (Take("ORDER")) {
      Take("BY");
      w.order = Orders();
    }
    if (Is("ROWS") || Is("RANGE") || Is("GROUPS")) {
      w.frame = Is("ROWS")    ? SqlWindow::Frame::kRows
                : Is("RANGE") ? SqlWindow::Frame::kRange
                              : SqlWindow::Frame::kGroups;
      ++i_;
      if (Take("BETWEEN")) {
        w.from = FrameEdge();
        Take("AND");
        w.to = FrameEdge();
      } else {
        w.from = FrameEdge();
      }
      if (Take("EXCLUDE"))
        while (!end() && !Sym(')')) ++i_;
    }
    Expect(')');
    return &w;
  }
  SqlWindow::Edge FrameEdge() {
    SqlWindow::Edge edge;
    if (Take("CURRENT")) {
      Take("ROW");
      return edge;
    }
    if (!Take("UNBOUNDED")) edge.by = Expr(5);
    edge.kind = Is("FOLLOWING") ? SqlWindow::Edge::Kind::kFollowing : SqlWindow::Edge::Kind::kPreceding;
    if (!end()) ++i_;
    return edge;
  }

  SqlTree& tree_;
  const SqlTokens& t_;
  std::string_view adapter_;
  std::size_t i_ = 0;
  int depth_ = 0;
  SqlQuery* query_of_expr_ = nullptr;
};

}  // namespace

std::unique_ptr<SqlTree> ReadQuery(std::string_view sql, std::string_view adapter) {
  auto tree = std::make_unique<SqlTree>();
  tree->tokens = TokenizeSql(sql, DialectOf(adapter));
  Parser(*tree, adapter).Read();
  return tree;
}

}  // namespace backreach
