// A use of a table is looked at in the query block in which it stands: what its columns do there, and under
// which names they leave it. What leaves goes to the uses of the table expression or subquery around.

#include "ingest/sql/self.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <string>

#include "graph/base/words.hpp"

namespace backreach {

namespace {

using Kind = SqlToken::Kind;
constexpr std::size_t kNone = static_cast<std::size_t>(-1);
constexpr std::size_t kMost = 500;  // uses; beyond that it is said to be a value

bool Name(const SqlToken& t) { return t.kind == Kind::kWord || t.kind == Kind::kQuoted; }
bool Clause(const SqlToken& t) {
  static constexpr std::string_view kWords[] = {
      "SELECT", "FROM",   "WHERE",     "ON",    "JOIN",   "LEFT",    "RIGHT", "INNER",   "FULL",
      "CROSS",  "GROUP",  "ORDER",     "UNION", "HAVING", "USING",   "LIMIT", "QUALIFY", "NATURAL",
      "OUTER",  "EXCEPT", "INTERSECT", "MINUS", "WINDOW", "LATERAL", "ASOF"};
  return Among(t, kWords) != nullptr;
}

// The columns under which own rows are known.
struct Columns {
  bool all = false;
  bool alone = true;            // nothing but own rows made the table: to filter it filters no others
  std::set<std::string> names;  // in lower case
  bool Has(std::string_view name) const { return all || names.count(Lower(name)) > 0; }
  bool Add(const Columns& other) {
    const std::size_t before = names.size();
    const bool more = (other.all && !all) || (alone && !other.alone);
    all = all || other.all;
    alone = alone && other.alone;
    names.insert(other.names.begin(), other.names.end());
    return more || names.size() > before;
  }
};

class Follower {
 public:
  explicit Follower(const SqlClauses& clauses) : clauses_(clauses), t_(clauses.tokens()) {}

  SelfUse Run(std::size_t at) {
    Columns all;
    all.all = true;
    Use(at, "", all);
    for (std::size_t n = 0; !waiting_.empty(); ++n) {
      if (n == kMost) {
        out_.values = true;
        break;
      }
      const std::size_t open = waiting_.front();
      waiting_.pop_front();
      const Columns columns = known_[open];
      const std::string_view name = TableExpressionAt(t_, open);
      if (name.empty()) {
        Use(Close(open), "", columns);
        continue;
      }
      for (std::size_t k = Close(open); k < t_.size(); ++k)
        if (Name(t_[k]) && Lower(t_[k].text) == Lower(name) && TablePlace(k)) Use(k, Lower(name), columns);
    }
    return out_;
  }

 private:
  std::size_t Close(std::size_t open) const {
    int depth = 0;
    for (std::size_t i = open; i < t_.size(); ++i) {
      if (t_[i].IsSymbol('(')) ++depth;
      if (t_[i].IsSymbol(')') && --depth == 0) return i;
    }
    return t_.size();
  }
  bool TablePlace(std::size_t k) const {
    if (k == 0) return false;
    if (t_[k - 1].Is("FROM") || t_[k - 1].Is("JOIN")) return true;
    return t_[k - 1].IsSymbol(',') && clauses_.Of(k).word == "FROM";
  }
  // SELECT of the block in which `at` stands, in its FROM.
  std::size_t SelectOf(std::size_t at) const {
    int depth = 0;
    for (std::size_t i = std::min(at, t_.size()); i-- > 0;) {
      if (t_[i].IsSymbol(')')) ++depth;
      if (t_[i].IsSymbol('(') && depth-- == 0) return kNone;
      if (depth == 0 && t_[i].Is("SELECT")) return i;
    }
    return kNone;
  }
  std::size_t BlockEnd(std::size_t from) const {
    int depth = 0;
    for (std::size_t i = from; i < t_.size(); ++i) {
      if (t_[i].IsSymbol('(')) ++depth;
      if (t_[i].IsSymbol(')') && depth-- == 0) return i;
      static constexpr std::string_view kWords[] = {"UNION", "EXCEPT", "INTERSECT", "MINUS"};
      if (depth == 0 && i > from && (t_[i].IsSymbol(';') || Among(t_[i], kWords))) {
        // select * except (a): BigQuery's way to leave a column out.
        if (t_[i].Is("EXCEPT") && i > 0 && t_[i - 1].IsSymbol('*')) continue;
        return i;
      }
    }
    return t_.size();
  }

  // The table whose last token is `at` (a name, or the bracket behind a subquery) and its columns there.
  void Use(std::size_t at, const std::string& name, const Columns& columns) {
    const std::size_t select = at < t_.size() ? SelectOf(t_[at].IsSymbol(')') ? Open(at) : at) : kNone;
    if (select == kNone) {
      out_.values = true;
      return;
    }
    const std::size_t end = BlockEnd(select);
    std::string alias = name;
    std::size_t next = at + 1;
    if (next < end && t_[next].Is("AS")) ++next;
    if (next < end && Name(t_[next]) && !(t_[next].kind == Kind::kWord && Clause(t_[next])))
      alias = Lower(t_[next++].text);
    const std::size_t from = FromOf(select, end);
    const bool sole = Sole(from, at, next, end);
    bool used = false;
    for (std::size_t j = select + 1; j < end; ++j) {
      if (!Refers(j, from, alias, columns, sole)) continue;
      const SqlClause clause = clauses_.Outer(j);
      if (Filters(clause.word)) {
        if (sole && columns.alone) continue;
        used = out_.filters = true;
      } else if (clause.word == "SELECT") {
        used = true;
        if (clause.at == select)
          Leave(select, j, from, columns, sole);
        else
          out_.values = true;
      }
    }
    if (!used && columns.all && !sole) out_.values = true;  // by names that do not say whose they are
  }

  // Token `j` is a column of it.
  bool Refers(std::size_t j, std::size_t from, const std::string& alias, const Columns& columns,
              bool sole) const {
    const SqlToken& t = t_[j];
    const bool member = j > 0 && t_[j - 1].IsSymbol('.');
    if (t.IsSymbol('*') && j < from)
      return !member && (t_[j - 1].Is("SELECT") || t_[j - 1].Is("DISTINCT") || t_[j - 1].IsSymbol(','));
    if (!Name(t) || member) return false;
    const bool qualifies = j + 2 < t_.size() && t_[j + 1].IsSymbol('.');
    if (qualifies)
      return !alias.empty() && Lower(t.text) == alias &&
             (t_[j + 2].IsSymbol('*') || columns.Has(t_[j + 2].text));
    const bool call = j + 1 < t_.size() && t_[j + 1].IsSymbol('(');
    if (call || (j > 0 && t_[j - 1].Is("AS"))) return false;
    if (columns.names.count(Lower(t.text)) > 0) return true;
    return columns.all && sole && j < from && !Clause(t) && !t.Is("AS") && !t.Is("DISTINCT");
  }

  std::size_t Open(std::size_t close) const {
    int depth = 0;
    for (std::size_t i = close + 1; i-- > 0;) {
      if (t_[i].IsSymbol(')')) ++depth;
      if (t_[i].IsSymbol('(') && --depth == 0) return i;
    }
    return 0;
  }
  std::size_t FromOf(std::size_t select, std::size_t end) const {
    int depth = 0;
    for (std::size_t i = select; i < end; ++i) {
      if (t_[i].IsSymbol('(')) ++depth;
      if (t_[i].IsSymbol(')')) --depth;
      if (depth == 0 && t_[i].Is("FROM")) return i;
    }
    return end;
  }
  // Nothing else is in its FROM.
  bool Sole(std::size_t from, std::size_t at, std::size_t next, std::size_t end) const {
    const std::size_t first = t_[at].IsSymbol(')') ? Open(at) : at;
    for (std::size_t i = from + 1; i < first; ++i)
      if (t_[i].IsSymbol(',') || t_[i].Is("JOIN")) return false;
    int depth = 0;
    for (std::size_t i = next; i < end; ++i) {
      if (t_[i].IsSymbol('(')) ++depth;
      if (t_[i].IsSymbol(')')) --depth;
      if (depth != 0) continue;
      if (t_[i].IsSymbol(',') || t_[i].Is("JOIN")) return false;
      if (t_[i].Is("WHERE") || t_[i].Is("GROUP") || t_[i].Is("ORDER") || t_[i].Is("QUALIFY")) break;
    }
    return true;
  }

  // The item of a select list in which `j` stands leaves the block under its name.
  void Leave(std::size_t select, std::size_t j, std::size_t from, const Columns& columns, bool sole) {
    Columns out;
    std::size_t last = j;
    int depth = 0;
    for (std::size_t i = j; i < from; ++i) {
      if (t_[i].IsSymbol('(')) ++depth;
      if (t_[i].IsSymbol(')')) --depth;
      if (depth <= 0 && t_[i].IsSymbol(',') && BracketsFrom(select, i) == 0) break;
      last = i;
    }
    if (t_[last].IsSymbol('*'))
      out.Add(columns);
    else if (Name(t_[last]))
      out.names.insert(Lower(t_[last].text));
    else
      out.all = true;
    out.alone = sole && columns.alone;
    const SqlClause bracket = clauses_.Of(select);
    const bool inside = bracket.word == "(";
    const bool table =
        inside && bracket.at > 0 &&
        (t_[bracket.at - 1].Is("FROM") || t_[bracket.at - 1].Is("JOIN") || t_[bracket.at - 1].Is("LATERAL") ||
         (t_[bracket.at - 1].IsSymbol(',') && clauses_.Of(bracket.at).word == "FROM"));
    if (inside && (table || !TableExpressionAt(t_, bracket.at).empty())) {
      const bool first = known_.count(bracket.at) == 0;
      if (known_[bracket.at].Add(out) || first) Await(bracket.at);
    } else if (inside && Filters(ClauseAround(clauses_, bracket.at))) {
      out_.filters = true;
    } else if (!inside && bracket.word == "UNION" && UnionBracket(select) != kNone) {
      const std::size_t open = UnionBracket(select);
      const bool first = known_.count(open) == 0;
      out.all = true;  // the first branch names the columns
      if (known_[open].Add(out) || first) Await(open);
    } else {
      out_.values = true;
    }
  }
  void Await(std::size_t open) {
    if (std::find(waiting_.begin(), waiting_.end(), open) == waiting_.end()) waiting_.push_back(open);
  }
  int BracketsFrom(std::size_t from, std::size_t to) const {
    return clauses_.Depth(to) - clauses_.Depth(from);
  }
  // The bracket of a table expression around all branches of a union.
  std::size_t UnionBracket(std::size_t select) const {
    int depth = 0;
    for (std::size_t i = select; i-- > 0;) {
      if (t_[i].IsSymbol(')')) ++depth;
      if (t_[i].IsSymbol('(') && depth-- == 0) return TableExpressionAt(t_, i).empty() ? kNone : i;
    }
    return kNone;
  }

  const SqlClauses& clauses_;
  const SqlTokenList& t_;
  SelfUse out_;
  std::deque<std::size_t> waiting_;  // brackets whose columns have to be followed
  std::map<std::size_t, Columns> known_;
};

}  // namespace

SelfUse FollowOwnRows(const SqlClauses& clauses, std::size_t at) { return Follower(clauses).Run(at); }

}  // namespace backreach
