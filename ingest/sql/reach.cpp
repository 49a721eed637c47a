// A row of a query is told by the time in one of its columns. Asked is, for each reference to a parent, where
// the parent's rows may lie that this row is made from. The idea: in one SELECT, each item of the FROM has
// columns; equalities and comparisons of times in ON and WHERE tie them to one another, so that from the
// column that the asked one is computed from, bounds for the others follow. Rows that only share a window or
// a group are followed by what the window is cut and ordered by: they give further starting points. A derived
// table is asked in turn, by the column that a bound was found for. Whatever is not tied in this way reads
// everything, with the reason. Bounds are lists of steps (code_reach.hpp), from the outermost row's time.
//
// Invariant: what is not understood loosens a bound, never tightens one. A comparison is only used for the
// side that it can bound: an outer join's condition says nothing of the rows that are kept without a match.

#include "ingest/sql/reach.hpp"

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

#include "graph/base/words.hpp"
#include "ingest/sql/jinja_text.hpp"
#include "ingest/sql/moment.hpp"

namespace backreach {

namespace {

using EK = SqlExpr::Kind;
using SK = TimeStep::Kind;

constexpr int kThisItem = -1, kConstantItem = -2, kRunItem = -3, kBatchItem = -4;

struct Source {
  enum class Kind { kParent, kThis, kQuery, kSpine, kOwn, kOther } kind = Kind::kOther;
  int parent = -1;
  const SqlQuery* query = nullptr;
};

// A SELECT's items, flattened, and those of the subqueries in its expressions.
struct Level {
  const SqlSelect* select = nullptr;
  const SqlQuery* query = nullptr;
  const Level* up = nullptr;
  std::vector<int> items;
  std::map<std::string, std::vector<int>> used;  // columns of USING: the items that have it
};

struct Item {
  const SqlItem* item = nullptr;
  Source source;
  const Level* level = nullptr;
  std::string alias;
  std::vector<std::string> names;  // its columns, where all are known
  bool names_known = false;
};

struct Ref {
  int item = 0;
  std::string column;
  friend bool operator==(const Ref&, const Ref&) = default;
  friend auto operator<=>(const Ref&, const Ref&) = default;
};

// A time that an expression comes to: a column with steps behind it; several where it may be either.
struct Time {
  Ref ref;
  std::vector<TimeStep> steps;
  enum class Type { kAny, kDay, kMoment, kText } type = Type::kAny;
  Grain::Unit text_unit = Grain::Unit::kDay;
};
using Times = std::vector<Time>;

// left (steps) cmp right (steps): `=`, `<`, `<=`; and which items' rows it may bound.
struct Tie {
  Time left, right;
  enum class Op { kEqual, kLess, kLessEqual } op = Op::kEqual;
  std::vector<int> only;  // empty: any
};

struct Bounds {
  std::map<Ref, TimeReach> of;
};

// ---- one statement ----

class Reacher {
 public:
  Reacher(const SqlTree& tree, std::string_view sql, const SqlReachOptions& options)
      : tree_(tree), sql_(sql), o_(options) {}

  SqlReach All(const std::vector<std::string>& wanted) {
    SqlReach out;
    const SqlQuery& q = *tree_.query;
    // Twice: what shows that a column holds days may stand behind where that matters.
    Signs(out);
    scopes_.clear();
    day_columns_.clear();
    Signs(out);
    std::vector<std::string> names;
    const bool closed = Columns(q, names, 0);
    out.columns = names;
    out.open = !closed;
    out.parents_days = days_seen_;
    constexpr std::size_t kFew = 40;
    for (const std::string& name : names) {
      if (name.empty() || out.uses.count(name)) continue;
      const bool asked = std::find(wanted.begin(), wanted.end(), name) != wanted.end();
      if (names.size() > kFew && !asked && !TimeName(name)) continue;
      out.uses[name] = Traced(q, name);
      Kept(q, name, out);
    }
    if (!closed)
      for (const std::string& name : wanted)
        if (!out.uses.count(name)) {
          out.uses[name] = Traced(q, name);
          Kept(q, name, out);
        }
    if (!closed) out.uses["*"] = Traced(q, "=");
    return out;
  }

 private:
  void Kept(const SqlQuery& q, const std::string& name, SqlReach& out) {
    if (QueryHoldsDays(q, name, 0)) out.days.insert(name);
    if (const auto unit = CutOf(q, name, 0); unit != Grain::Unit::kNone) out.cuts.emplace(name, unit);
  }

  // ---- names ----

  std::size_t LineOf(std::size_t at) const {
    return 1 +
           static_cast<std::size_t>(std::count(
               sql_.begin(), sql_.begin() + static_cast<std::ptrdiff_t>(std::min(at, sql_.size())), '\n'));
  }

  // The table expression of a name that can be seen from inside a query.
  const SqlQuery* Expression(const SqlQuery* from, const std::string& name) const {
    const SqlQuery* inside = nullptr;
    int steps = 0;
    for (const SqlQuery* q = from; q && steps < 500; inside = q, q = q->outer, ++steps) {
      const SqlQuery* found = nullptr;
      for (const auto& [with, query] : q->with) {
        if (query == inside) {
          if (q->recursive && with == name) found = query;
          break;
        }
        if (with == name) found = query;
      }
      if (found) return found;
    }
    return nullptr;
  }

  static bool Spine(const std::string& name) {
    static const std::set<std::string, std::less<>> spines = {
        "generate_series", "range",    "generate_date_array", "generate_timestamp_array",
        "generate_array",  "sequence", "generator",           "numbers",
        "numbers_mt",      "seq4",     "date_spine",          "generate_dates",
        "system_range",    "repeat",   "split_to_table",      "string_split",
        "values"};
    return spines.count(name) > 0;
  }
  // A call that makes rows of its own: generate_series(..), unnest(generate_array(..)).
  static bool MakesRows(const SqlExpr& call) {
    if (call.kind != EK::kCall) return call.kind == EK::kOther && NoColumns(call);
    if (Spine(call.name)) return true;
    for (const char* wrap : {"unnest", "explode", "posexplode", "flatten", "table", "arrayjoin"})
      if (call.name == wrap) {
        for (const SqlExpr* a : call.args)
          if (!a || !MakesRows(*a)) return false;
        return !call.args.empty();
      }
    return false;
  }
  static bool NoColumns(const SqlExpr& e) {
    if (e.kind == EK::kColumn || e.kind == EK::kStar || e.kind == EK::kQuery) return false;
    for (const SqlExpr* a : e.args)
      if (a && !NoColumns(*a)) return false;
    return true;
  }

  Source SourceOf(const SqlItem& item, const SqlQuery* q) const {
    Source s;
    if (item.query) {
      s.kind = Source::Kind::kQuery;
      s.query = item.query;
    } else if (item.call) {
      s.kind = MakesRows(*item.call) ? Source::Kind::kSpine : Source::Kind::kOwn;
    } else if (StartsWith(item.name, "__dbt__cte__") &&
               o_.table({item.name}).kind == SqlNamed::Kind::kParent) {
      s.kind = Source::Kind::kParent;  // an ephemeral model, which stands before as a table expression
      s.parent = o_.table({item.name}).parent;
    } else if (item.name.find('\x1f') == std::string::npos && Expression(q, Lower(item.name))) {
      s.kind = Source::Kind::kQuery;
      s.query = Expression(q, Lower(item.name));
    } else {
      const std::vector<std::string> parts = Split(item.name, '\x1f');
      const SqlNamed named = o_.table(parts);
      if (named.kind == SqlNamed::Kind::kParent) {
        s.kind = Source::Kind::kParent;
        s.parent = named.parent;
      } else if (named.kind == SqlNamed::Kind::kThis) {
        s.kind = Source::Kind::kThis;
      } else if (item.name.find('\x1f') != std::string::npos && parts.size() == 2 && item.lateral) {
        s.kind = Source::Kind::kOwn;
      } else {
        s.kind = Source::Kind::kOther;
      }
    }
    return s;
  }

  // The columns of a query by name, "" where one has none; false if some are not known.
  bool Columns(const SqlQuery& q, std::vector<std::string>& out, int depth) {
    if (!q.renamed.empty()) {
      out = q.renamed;
      return true;
    }
    if (const auto known = columns_.find(&q); known != columns_.end()) {
      out = known->second.first;
      return known->second.second;
    }
    if (depth > 60) return false;
    columns_[&q] = {{}, false};  // a recursive one
    bool closed = true;
    if (q.branches() > 0) {
      if (const SqlSelect* s = q.selects[0]) {
        for (const SqlSelectItem& item : s->items) closed = ItemNames(item, *s, q, out, depth) && closed;
        if (s->items.empty()) closed = false;
      } else if (q.nested[0]) {
        closed = Columns(*q.nested[0], out, depth + 1);
      }
    }
    columns_[&q] = {out, closed};
    return closed;
  }
  bool ItemNames(const SqlSelectItem& item, const SqlSelect& s, const SqlQuery& q,
                 std::vector<std::string>& out, int depth) {
    const SqlExpr& e = *item.value;
    if (e.kind != EK::kStar) {
      out.push_back(!item.alias.empty() ? item.alias : e.kind == EK::kColumn ? e.name : "");
      return true;
    }
    bool closed = true;
    std::vector<std::string> seen;
    const auto each = [&](const auto& self, const std::vector<SqlItem>& from) -> void {
      for (const SqlItem& f : from) {
        if (!f.inner.empty()) {
          self(self, f.inner);
          continue;
        }
        if (!e.qualifier.empty() && f.alias != e.qualifier) continue;
        if (f.join == SqlItem::Join::kSemi || f.join == SqlItem::Join::kAnti) continue;
        const Source source = SourceOf(f, &q);
        std::vector<std::string> names = f.columns;
        bool known = !names.empty();
        if (!known && source.kind == Source::Kind::kQuery) known = Columns(*source.query, names, depth + 1);
        closed = closed && known && f.odd.empty();
        for (const std::string& name : names) {
          const bool joined = std::find(f.by.begin(), f.by.end(), name) != f.by.end();
          if (!joined && std::find(e.except.begin(), e.except.end(), name) == e.except.end())
            out.push_back(name);
        }
      }
    };
    each(each, s.from);
    for (const auto& [name, value] : e.replaced)
      if (std::find(out.begin(), out.end(), name) == out.end()) out.push_back(name);
    return closed;
  }

  // ---- levels ----

  struct Scope {
    std::deque<Level> levels;
    std::vector<Item> items;
    std::vector<Tie> ties;
    std::vector<std::pair<const SqlExpr*, const Level*>> windows;  // calls with OVER
    std::string odd;                                               // PIVOT and the like: all of it
    std::size_t odd_at = 0;
  };

  static void Flatten(const std::vector<SqlItem>& from, std::vector<const SqlItem*>& out) {
    for (const SqlItem& f : from) {
      if (f.inner.empty())
        out.push_back(&f);
      else
        Flatten(f.inner, out);
    }
  }

  Level& AddLevel(Scope& scope, const SqlSelect& s, const SqlQuery& q, const Level* up) {
    Level& level = scope.levels.emplace_back();
    level.select = &s;
    level.query = &q;
    level.up = up;
    std::vector<const SqlItem*> flat;
    Flatten(s.from, flat);
    for (const SqlItem* f : flat) {
      level.items.push_back(static_cast<int>(scope.items.size()));
      Item item;
      item.item = f;
      item.source = SourceOf(*f, &q);
      item.level = &level;
      item.alias = f->alias;
      if (!f->columns.empty()) {
        item.names = f->columns;
        item.names_known = true;
      } else if (item.source.kind == Source::Kind::kQuery && f->lateral && f->query) {
        item.source.kind = Source::Kind::kOwn;  // its tables are items beside it, tied by its conditions
        item.names_known = Columns(*item.source.query, item.names, 0);
      } else if (item.source.kind == Source::Kind::kQuery) {
        item.names_known = Columns(*item.source.query, item.names, 0);
      } else if (item.source.kind == Source::Kind::kSpine || item.source.kind == Source::Kind::kOwn) {
        item.names = {f->alias};
      }
      if (!f->odd.empty() && scope.odd.empty()) scope.odd = f->odd, scope.odd_at = f->at;
      scope.items.push_back(std::move(item));
    }
    return level;
  }

  // The items that a column may be of, innermost level first.
  std::vector<int> Owners(const Scope& scope, const Level* level, const SqlExpr& c) const {
    for (const Level* l = level; l; l = l->up) {
      std::vector<int> open, known;
      if (c.qualifier.empty())
        if (const auto used = l->used.find(c.name); used != l->used.end()) return used->second;
      for (const int i : l->items) {
        const Item& item = scope.items[static_cast<std::size_t>(i)];
        if (!c.qualifier.empty()) {
          if (item.alias == c.qualifier) return {i};
          continue;
        }
        if (item.item->join == SqlItem::Join::kSemi || item.item->join == SqlItem::Join::kAnti) {
          if (l->items.size() > 1 && i != l->items.front()) continue;
        }
        if (std::find(item.names.begin(), item.names.end(), c.name) != item.names.end())
          known.push_back(i);
        else if (!item.names_known && item.source.kind != Source::Kind::kSpine &&
                 item.source.kind != Source::Kind::kOwn)
          open.push_back(i);
      }
      if (!known.empty()) return known;
      if (!open.empty()) return open;
      // A spine's only column may have any name.
      std::vector<int> made;
      for (const int i : l->items) {
        const Item& item = scope.items[static_cast<std::size_t>(i)];
        if (c.qualifier.empty() &&
            (item.source.kind == Source::Kind::kSpine || item.source.kind == Source::Kind::kOwn) &&
            !item.names_known)
          made.push_back(i);
      }
      if (!made.empty() && !l->up) return made;
      if (!made.empty() && !Aliased(*l, c.name)) return made;
    }
    return {};
  }
  static const SqlExpr* Aliased(const Level& l, const std::string& name) {
    for (const SqlSelectItem& item : l.select->items)
      if (item.alias == name && item.value->kind != EK::kStar) return item.value;
    return nullptr;
  }

  // ---- times ----

  bool HoldsDays(const Scope& scope, const Ref& ref, int depth = 0) {
    if (ref.item < 0) return false;
    const Item& item = scope.items[static_cast<std::size_t>(ref.item)];
    if (item.source.kind == Source::Kind::kParent)
      return o_.holds_days(item.source.parent, ref.column) ||
             days_seen_.count({item.source.parent, ref.column}) > 0;
    if (item.source.kind != Source::Kind::kQuery || depth > 20) return false;
    if (query_days_.count({item.source.query, ref.column})) return true;
    return QueryHoldsDays(*item.source.query, ref.column, depth + 1);
  }
  bool QueryHoldsDays(const SqlQuery& q, const std::string& column, int depth) {
    const auto key = std::make_pair(&q, column);
    if (const auto known = day_columns_.find(key); known != day_columns_.end()) return known->second;
    day_columns_[key] = false;
    bool all = q.branches() > 0 && depth < 20;
    for (std::size_t b = 0; b < q.branches() && all; ++b) {
      if (!q.selects[b]) {
        all = q.nested[b] && QueryHoldsDays(*q.nested[b], column, depth + 1);
        continue;
      }
      const auto& [scope, entered] = Enter(*q.selects[b], q);
      const Level& level = *entered;
      const auto e = Selected(scope, level, q, column, b);
      const Times times = e.empty() ? Times() : TimesOf(scope, &level, *e[0].first, 0, e[0].second);
      all = !times.empty();
      for (const Time& t : times)
        all = all && (t.type == Time::Type::kDay ||
                      (t.type == Time::Type::kAny && t.steps.empty() && HoldsDays(scope, t.ref, depth + 1)));
    }
    return day_columns_[key] = all;
  }

  // The unit that a column is cut to, in all branches alike; kNone where it is not.
  Grain::Unit CutOf(const SqlQuery& q, const std::string& column, int depth) {
    std::optional<Grain::Unit> all;
    for (std::size_t b = 0; b < q.branches() && depth < 20; ++b) {
      Grain::Unit here = Grain::Unit::kNone;
      if (!q.selects[b]) {
        if (q.nested[b]) here = CutOf(*q.nested[b], column, depth + 1);
      } else {
        const auto& [scope, entered] = Enter(*q.selects[b], q);
        const auto e = Selected(scope, *entered, q, column, b);
        const Times times = e.empty() ? Times() : TimesOf(scope, entered, *e[0].first, 0, e[0].second);
        for (const Time& t : times) here = std::max(here, CutOf(scope, t, depth));
      }
      if (here == Grain::Unit::kNone || (all && *all != here)) return Grain::Unit::kNone;
      all = here;
    }
    return all.value_or(Grain::Unit::kNone);
  }
  Grain::Unit CutOf(const Scope& scope, const Time& t, int depth) {
    if (t.ref.item < 0) return Grain::Unit::kNone;  // the same on every row
    for (std::size_t i = t.steps.size(); i-- > 0;)
      if (t.steps[i].kind == SK::kFloor) return t.steps[i].unit;
    if (!t.steps.empty()) return Grain::Unit::kNone;
    const Item& item = scope.items[static_cast<std::size_t>(t.ref.item)];
    if (item.source.kind == Source::Kind::kQuery) return CutOf(*item.source.query, t.ref.column, depth + 1);
    if (item.source.kind == Source::Kind::kParent && o_.cut_to)
      return o_.cut_to(item.source.parent, t.ref.column);
    return Grain::Unit::kNone;
  }

  // A name that may be a time's.
  static bool TimeName(const std::string& name) {
    if (DayName(name)) return true;
    for (const char* part :
         {"date", "day",     "time",    "week",   "month", "year",  "hour", "period", "quarter", "ts",  "_at",
          "_on",  "created", "updated", "loaded", "valid", "start", "end",  "begin",  "moment",  "when"})
      if (name.find(part) != std::string::npos) return true;
    return false;
  }
  // A name that may well be a day's.
  static bool DayName(const std::string& name) {
    if (EndsWith(name, "_key") || EndsWith(name, "_id")) return false;
    if (name == "day" || name == "date" || name == "ds" || name == "dt" || name == "d") return true;
    for (const char* end : {"_day", "_date", "_on", "_dt", "_ds", "day", "date"})
      if (EndsWith(name, end)) return true;
    return name.find("date_") == 0 || name.find("day_") == 0;
  }
  bool AddsDays() const {
    static const std::set<std::string, std::less<>> adapters = {
        "duckdb", "postgres",   "bigquery", "snowflake", "redshift",
        "spark",  "databricks", "oracle",   "teradata",  ""};
    return adapters.count(o_.adapter) > 0;
  }
  bool NumbersShowDays() const {  // where a time plus a number is an error, the column holds days
    return o_.adapter == "duckdb" || o_.adapter == "postgres" || o_.adapter == "bigquery" ||
           o_.adapter == "snowflake" || o_.adapter == "spark" || o_.adapter == "databricks";
  }

  struct Amount {
    std::int64_t months = 0, low = 0, high = 0;
    bool plain = false;  // a bare number, of days
  };
  std::optional<Amount> AmountOf(const Scope& scope, const Level* level, const SqlExpr& e, int depth) {
    if (depth > 40) return std::nullopt;
    const auto bare = [](std::int64_t n) { return Amount{0, n * kDay, n * kDay, true}; };
    switch (e.kind) {
      case EK::kNumber: {
        const auto n = WholeNumber(e.text);
        return n ? std::optional<Amount>(bare(*n)) : std::nullopt;
      }
      case EK::kInterval: return IntervalOf(scope, level, e, depth);
      case EK::kCast: {
        if (e.name == "interval" && e.args[0]->kind == EK::kString)
          return SpelledInterval(e.args[0]->text, o_.adapter);
        if (e.name == "int" || e.name == "integer" || e.name == "bigint" || e.name == "numeric" ||
            e.name == "number" || e.name == "int64" || e.name == "smallint")
          return AmountOf(scope, level, *e.args[0], depth + 1);
        return std::nullopt;
      }
      case EK::kOp: {
        if (e.name == "neg") {
          auto a = AmountOf(scope, level, *e.args[0], depth + 1);
          if (a) a->months = -a->months, std::swap(a->low, a->high), a->low = -a->low, a->high = -a->high;
          return a;
        }
        if (e.args.size() != 2 || (e.name != "+" && e.name != "-" && e.name != "*" && e.name != "/"))
          return std::nullopt;
        auto a = AmountOf(scope, level, *e.args[0], depth + 1),
             b = AmountOf(scope, level, *e.args[1], depth + 1);
        if (!a || !b) return std::nullopt;
        if (e.name == "*" || e.name == "/") {
          if (e.name == "*" && a->plain) std::swap(a, b);
          if (!b->plain || b->low != b->high || a->low != a->high) {
            if (!b->plain || e.name == "/" || a->months != 0) return std::nullopt;
            // n of a spine times an interval
            const std::int64_t x = a->low * (b->low / kDay), y = a->high * (b->high / kDay);
            return Amount{0, std::min(x, y), std::max(x, y), a->plain};
          }
          const std::int64_t n = b->low / kDay;
          if (e.name == "*") return Amount{a->months * n, a->low * n, a->high * n, a->plain};
          if (n == 0 || a->months % n != 0 || a->low % n != 0) return std::nullopt;
          return Amount{a->months / n, a->low / n, a->high / n, false};
        }
        if (a->plain != b->plain) return std::nullopt;
        if (e.name == "+") return Amount{a->months + b->months, a->low + b->low, a->high + b->high, a->plain};
        return Amount{a->months - b->months, a->low - b->high, a->high - b->low, a->plain};
      }
      case EK::kCall: return CalledInterval(scope, level, e, depth);
      case EK::kColumn: {
        const auto owners = Owners(scope, level, e);
        if (owners.size() != 1) return std::nullopt;
        const auto range = NumbersIn(scope, owners[0], e.name, 0);
        if (!range) return std::nullopt;
        return Amount{0, range->first * kDay, range->second * kDay, true};
      }
      default: return std::nullopt;
    }
  }
  std::optional<Amount> IntervalOf(const Scope& scope, const Level* level, const SqlExpr& e, int depth) {
    const SqlExpr& a = *e.args[0];
    if (e.name.empty()) {
      if (a.kind != EK::kString) {
        if (a.kind == EK::kOp && a.name == "neg" && a.args[0]->kind == EK::kString) {
          auto inner = SpelledInterval(a.args[0]->text, o_.adapter);
          if (inner)
            inner->months = -inner->months, std::swap(inner->low, inner->high), inner->low = -inner->low,
            inner->high = -inner->high;
          return inner;
        }
        return std::nullopt;
      }
      return SpelledInterval(a.text, o_.adapter);
    }
    const auto unit = MomentUnitOf(e.name, o_.adapter);
    if (!unit) return std::nullopt;
    if (a.kind == EK::kString) {
      const auto n = WholeNumber(a.text);
      if (!n) return SpelledInterval(a.text, o_.adapter);
      return Times_(*unit, *n, *n);
    }
    const auto n = AmountOf(scope, level, a, depth + 1);
    if (!n || !n->plain) return std::nullopt;
    return Times_(*unit, n->low / kDay, n->high / kDay);
  }
  static std::optional<Amount> Times_(const MomentUnit& unit, std::int64_t low, std::int64_t high) {
    if (unit.months > 0) {
      if (low != high) return std::nullopt;
      return Amount{unit.months * low, 0, 0, false};
    }
    return Amount{0, unit.seconds * low, unit.seconds * high, false};
  }
  static std::optional<Amount> SpelledInterval(const std::string& text, const std::string& adapter) {
    const auto spelled = ReadIntervalText(text, adapter);
    if (!spelled) return std::nullopt;
    return Amount{spelled->months, spelled->seconds, spelled->seconds, false};
  }
  std::optional<Amount> CalledInterval(const Scope& scope, const Level* level, const SqlExpr& e, int depth) {
    const auto counted = [&](std::size_t arg, std::string_view unit_name) -> std::optional<Amount> {
      if (arg >= e.args.size()) return std::nullopt;
      const auto unit = MomentUnitOf(unit_name, o_.adapter);
      const SqlExpr* a = e.args[arg];
      if (a->Op("=>") && a->args.size() == 2) a = a->args[1];
      const auto n = AmountOf(scope, level, *a, depth + 1);
      if (!unit || !n || !n->plain) return std::nullopt;
      return Times_(*unit, n->low / kDay, n->high / kDay);
    };
    if (StartsWith(e.name, "to_") && e.args.size() == 1)
      if (MomentUnitOf(e.name.substr(3), "")) return counted(0, e.name.substr(3));
    if (StartsWith(e.name, "tointerval")) return counted(0, e.name.substr(10));
    if ((e.name == "numtodsinterval" || e.name == "numtoyminterval") && e.args.size() == 2)
      return counted(0, WordOf(*e.args[1]));
    if (e.name == "make_interval") {
      if (e.args.size() == 1 && e.args[0]->Op("=>") && e.args[0]->args[0]->kind == EK::kColumn)
        return counted(0, e.args[0]->args[0]->name);
      static const char* const places[] = {"year", "month", "week", "day", "hour", "minute", "second"};
      Amount sum;
      for (std::size_t i = 0; i < e.args.size() && i < 7; ++i) {
        const auto one = counted(i, places[i]);
        if (!one) return std::nullopt;
        sum.months += one->months, sum.low += one->low, sum.high += one->high;
      }
      return sum;
    }
    if (e.name == "abs" || e.name == "cast" || e.name == "__br_fn") return std::nullopt;
    return std::nullopt;
  }

  // The numbers that a spine's column holds.
  std::optional<std::pair<std::int64_t, std::int64_t>> NumbersIn(const Scope& scope, int item,
                                                                 const std::string& column, int depth) {
    const Item& it = scope.items[static_cast<std::size_t>(item)];
    if (depth > 8) return std::nullopt;
    if (it.item->call) return NumbersOf(*it.item->call);
    if (it.source.kind != Source::Kind::kQuery) return std::nullopt;
    const SqlQuery& q = *it.source.query;
    std::optional<std::pair<std::int64_t, std::int64_t>> all;
    for (std::size_t b = 0; b < q.branches(); ++b) {
      if (!q.selects[b]) return std::nullopt;
      const auto& [inner, entered] = Enter(*q.selects[b], q);
      const Level& level = *entered;
      const auto e = Selected(inner, level, q, column, b);
      if (e.empty()) return std::nullopt;
      std::optional<std::pair<std::int64_t, std::int64_t>> one;
      const SqlExpr& value = *e[0].first;
      if (value.kind == EK::kNumber) {
        if (const auto n = WholeNumber(value.text)) one = {*n, *n};
      } else if (value.kind == EK::kCall) {
        one = NumbersOf(value);
      } else if (value.kind == EK::kColumn) {
        const auto owners = Owners(inner, &level, value);
        if (owners.size() == 1) one = NumbersIn(inner, owners[0], value.name, depth + 1);
      }
      if (!one) return std::nullopt;
      all = all ? std::make_pair(std::min(all->first, one->first), std::max(all->second, one->second)) : *one;
    }
    return all;
  }
  std::optional<std::pair<std::int64_t, std::int64_t>> NumbersOf(const SqlExpr& call) const {
    if (call.kind == EK::kOther) {  // a list
      std::optional<std::pair<std::int64_t, std::int64_t>> all;
      for (const SqlExpr* a : call.args) {
        const auto n = Constant(*a);
        if (!n) return std::nullopt;
        all = all ? std::make_pair(std::min(all->first, *n), std::max(all->second, *n))
                  : std::make_pair(*n, *n);
      }
      return all;
    }
    if (call.kind != EK::kCall) return std::nullopt;
    if ((call.name == "unnest" || call.name == "explode" || call.name == "flatten" || call.name == "array" ||
         call.name == "table") &&
        call.args.size() == 1)
      return NumbersOf(*call.args[0]);
    if (call.name != "range" && call.name != "generate_series" && call.name != "generate_array" &&
        call.name != "sequence" && call.name != "numbers")
      return std::nullopt;
    std::vector<std::int64_t> n;
    for (const SqlExpr* a : call.args) {
      const auto v = Constant(*a);
      if (!v) return std::nullopt;
      n.push_back(*v);
    }
    if (n.empty()) return std::nullopt;
    const std::int64_t from = n.size() > 1 ? n[0] : 0;
    std::int64_t to = n.size() > 1 ? n[1] : n[0];
    if ((call.name == "range" || call.name == "numbers") && to > from) --to;  // its end is not among them
    return std::make_pair(std::min(from, to), std::max(from, to));
  }
  static std::optional<std::int64_t> Constant(const SqlExpr& e) {
    if (e.kind == EK::kNumber) return WholeNumber(e.text);
    if (e.Op("neg") && e.args[0]->kind == EK::kNumber) {
      const auto n = WholeNumber(e.args[0]->text);
      if (n) return -*n;
    }
    if (e.kind == EK::kCast) return Constant(*e.args[0]);
    return std::nullopt;
  }

  static std::string WordOf(const SqlExpr& e) {
    return e.kind == EK::kString ? Lower(e.text) : e.kind == EK::kColumn && e.qualifier.empty() ? e.name : "";
  }

  static TimeStep Step(SK kind, std::int64_t low, std::int64_t high) {
    TimeStep s;
    s.kind = kind;
    s.low = low;
    s.high = high;
    return s;
  }
  static void Cut(Times& times, Grain::Unit unit, int week = 0) {
    TimeStep s;
    s.kind = SK::kFloor;
    s.unit = unit;
    s.week = week;
    for (Time& t : times) {
      if (t.steps.empty() || !(t.steps.back() == s)) t.steps.push_back(s);
      t.type = unit >= Grain::Unit::kDay ? Time::Type::kDay : Time::Type::kMoment;
    }
  }
  static void Shift(Times& times, const Amount& a, int sign) {
    for (Time& t : times) {
      if (a.months != 0) t.steps.push_back(Step(SK::kMonths, sign * a.months, 0));
      const std::int64_t low = sign > 0 ? a.low : -a.high, high = sign > 0 ? a.high : -a.low;
      if (low != 0 || high != 0) t.steps.push_back(Step(SK::kShift, low, high));
      if (low % kDay != 0 || high % kDay != 0) t.type = Time::Type::kMoment;
    }
  }
  static void Zoned(Times& times, const std::string& from, const std::string& to) {
    TimeStep s;
    s.kind = SK::kZone;
    s.from = from;
    s.to = to;
    for (Time& t : times) t.steps.push_back(s), t.type = Time::Type::kMoment;
  }
  static Times Run() {
    Time t;
    t.ref.item = kRunItem;
    return {t};
  }
  static Times AtConstant(Civil c) {
    Time t;
    t.ref.item = kConstantItem;
    t.steps = {Step(SK::kConstant, c, 0)};
    t.type = FloorMod(c, kDay) == 0 ? Time::Type::kDay : Time::Type::kMoment;
    return {t};
  }

  // What times an expression may come to; empty where it is none that can be followed. `own`: of an item of a
  // star, whose columns are of that item.
  Times TimesOf(const Scope& scope, const Level* level, const SqlExpr& e, int depth, int own = kThisItem) {
    if (depth > 60) return {};
    const auto of = [&](const SqlExpr& inner) { return TimesOf(scope, level, inner, depth + 1, own); };
    switch (e.kind) {
      case EK::kColumn: return ColumnTimes(scope, level, e, depth, own);
      case EK::kString:
        if (const auto c = ReadMoment(e.text)) return AtConstant(*c);
        return {};
      case EK::kWord:
        if (e.name == "null") return {};
        return e.name == "true" || e.name == "false" ? Times() : Run();
      case EK::kCast: return CastTimes(e, of);
      case EK::kZone: return ZoneTimes(e, of);
      case EK::kCase: {
        Times out;
        for (const SqlExpr* a : e.args) {
          if (a->kind == EK::kWord && a->name == "null") continue;
          const Times one = of(*a);
          if (one.empty()) return {};
          out.insert(out.end(), one.begin(), one.end());
        }
        return out;
      }
      case EK::kQuery: return OwnNewest(scope, level, e) ? Run() : Times();
      case EK::kOp: {
        if ((e.name != "+" && e.name != "-") || e.args.size() != 2) {
          return e.name == "+" || e.name == "*" ? YearMonth(scope, level, e, depth) : Times();
        }
        if (Times known = YearMonth(scope, level, e, depth); !known.empty()) return known;
        const SqlExpr *left = e.args[0], *right = e.args[1];
        auto amount = AmountOf(scope, level, *right, 0);
        if (!amount && e.name == "+") {
          amount = AmountOf(scope, level, *left, 0);
          if (amount) std::swap(left, right);
        }
        if (!amount) return {};
        Times times = of(*left);
        if (amount->plain && !Days(scope, times)) return {};
        Shift(times, *amount, e.name == "-" ? -1 : 1);
        return times;
      }
      case EK::kCall: return e.over ? Times() : CallTimes(scope, level, e, depth, own);
      default: return {};
    }
  }
  // A number is added: to what holds days, and where that is what it means.
  bool Days(const Scope& scope, Times& times) {
    if (times.empty()) return false;
    for (Time& t : times) {
      if (t.type == Time::Type::kDay || t.ref.item == kRunItem) continue;
      if (t.type != Time::Type::kAny || t.ref.item < 0 || !t.steps.empty()) return false;
      const bool holds = HoldsDays(scope, t.ref);
      if (!holds && (!AddsDays() || !DayName(t.ref.column))) return false;
      if (!holds && !NumbersShowDays()) continue;
      MarkDays(scope, t.ref, 0);
      t.type = Time::Type::kDay;
    }
    return true;
  }
  // A column was seen to hold days: so does what it is passed on from.
  void MarkDays(const Scope& scope, const Ref& ref, int depth) {
    const Item& item = scope.items[static_cast<std::size_t>(ref.item)];
    if (item.source.kind == Source::Kind::kParent) days_seen_.insert({item.source.parent, ref.column});
    if (item.source.kind != Source::Kind::kQuery || depth > 20) return;
    const SqlQuery& q = *item.source.query;
    if (!query_days_.insert({&q, ref.column}).second) return;
    for (std::size_t b = 0; b < q.branches(); ++b) {
      if (!q.selects[b]) continue;
      const auto& [inner, entered] = Enter(*q.selects[b], q);
      const auto e = Selected(inner, *entered, q, ref.column, b);
      if (e.size() != 1) continue;
      const Times times = TimesOf(inner, entered, *e[0].first, 0, e[0].second);
      for (const Time& t : times)
        if (t.steps.empty() && t.ref.item >= 0) MarkDays(inner, t.ref, depth + 1);
    }
  }
  // The newest row of the model's own table: what a run takes.
  bool OwnNewest(const Scope& scope, const Level* level, const SqlExpr& e) const {
    (void)scope;
    (void)level;
    return e.query && OwnRows(*e.query);
  }
  bool OwnRows(const SqlQuery& q) const {
    if (q.branches() != 1 || !q.selects[0]) return false;
    std::vector<const SqlItem*> flat;
    Flatten(q.selects[0]->from, flat);
    for (const SqlItem* f : flat)
      if (SourceOf(*f, &q).kind != Source::Kind::kThis) return false;
    return !flat.empty();
  }
  Times ColumnTimes(const Scope& scope, const Level* level, const SqlExpr& e, int depth, int own) {
    if (e.qualifier.empty()) {
      if (e.name == kSqlValue) return Run();
      if (e.name == kSqlBatchStart || e.name == kSqlBatchEnd) {
        Time t;
        t.ref.item = kBatchItem;
        t.steps = {Step(e.name == kSqlBatchStart ? SK::kCellStart : SK::kCellEnd, 0, 0)};
        return {t};
      }
    }
    const auto column = [&](int item) {
      Time t;
      t.ref = {item, e.name};
      if (HoldsDays(scope, t.ref)) t.type = Time::Type::kDay;
      return t;
    };
    if (own >= 0) return {column(own)};
    // An alias of the same SELECT, unless it is what it is made of.
    if (e.qualifier.empty() && level) {
      const SqlExpr* alias = Aliased(*level, e.name);
      const auto owners = Owners(scope, level, e);
      bool known = false;
      for (const int i : owners) {
        const Item& item = scope.items[static_cast<std::size_t>(i)];
        known = known || std::find(item.names.begin(), item.names.end(), e.name) != item.names.end();
      }
      if (alias && !known && alias != &e && !Mentions(*alias, e.name) && following_.insert(alias).second) {
        const Times out = TimesOf(scope, level, *alias, depth + 1);
        following_.erase(alias);
        return out;
      }
    }
    Times out;
    for (const int i : Owners(scope, level, e)) out.push_back(column(i));
    return out;
  }
  static bool Mentions(const SqlExpr& e, const std::string& column) {
    if (e.kind == EK::kColumn && e.name == column) return true;
    for (const SqlExpr* a : e.args)
      if (a && Mentions(*a, column)) return true;
    return false;
  }
  template <typename Of>
  Times CastTimes(const SqlExpr& e, const Of& of) {
    Times times = of(*e.args[0]);
    if (e.name == "date" || e.name == "date32") {
      if (o_.adapter == "sqlite") return {};  // a number there
      if (o_.adapter == "oracle") return times;
      for (Time& t : times)
        if (t.ref.item == kRunItem) return Run();
      Cut(times, Grain::Unit::kDay);
      return times;
    }
    if (StartsWith(e.name, "timestamp") || StartsWith(e.name, "datetime") || e.name == "smalldatetime")
      return times;
    static const std::set<std::string, std::less<>> texts = {"varchar",  "text",      "string", "char",
                                                             "nvarchar", "character", "bpchar"};
    if (texts.count(e.name)) {
      for (Time& t : times) {
        if (t.type == Time::Type::kDay || t.type == Time::Type::kText) continue;
        t.type = t.type == Time::Type::kAny ? Time::Type::kAny : Time::Type::kText;
      }
      return times;
    }
    return {};
  }
  template <typename Of>
  Times ZoneTimes(const SqlExpr& e, const Of& of) {
    const std::string zone = e.args[1]->kind == EK::kString ? e.args[1]->text : "";
    if (e.args[0]->kind == EK::kZone) {  // read as one zone's, shown in another
      const SqlExpr& inner = *e.args[0];
      const std::string from = inner.args[1]->kind == EK::kString ? inner.args[1]->text : "";
      Times times = of(*inner.args[0]);
      Zoned(times, from, zone);
      return times;
    }
    Times times = of(*e.args[0]);
    // Which way it moves depends on the type, which is not known: either.
    const ZoneShift z = ZoneShiftOf("UTC", zone);
    const std::int64_t most = std::max(std::abs(z.low), std::abs(z.high));
    if (most > 15 * kHour) return {};
    for (Time& t : times) {
      t.steps.push_back(Step(SK::kShift, -most, most));
      t.type = Time::Type::kMoment;
    }
    return times;
  }

  // year(x) * 100 + month(x), and the like: a month as a number.
  Times YearMonth(const Scope& scope, const Level* level, const SqlExpr& e, int depth) {
    if (!e.Op("+") || e.args.size() != 2) return {};
    const SqlExpr *left = e.args[0], *right = e.args[1];
    if (!left->Op("*")) std::swap(left, right);
    if (!left->Op("*") || left->args.size() != 2) return {};
    const SqlExpr* year = left->args[0];
    if (year->kind == EK::kNumber) year = left->args[1];
    const SqlExpr *of_year = PartOf(*year, "year"), *of_month = PartOf(*right, "month");
    if (!of_year || !of_month) return {};
    Times times = TimesOf(scope, level, *of_year, depth + 1);
    const Times other = TimesOf(scope, level, *of_month, depth + 1);
    if (times.size() != 1 || other.size() != 1 || times[0].ref != other[0].ref ||
        times[0].steps != other[0].steps)
      return {};
    Cut(times, Grain::Unit::kMonth);
    times[0].type = Time::Type::kText;
    times[0].text_unit = Grain::Unit::kMonth;
    return times;
  }
  static const SqlExpr* PartOf(const SqlExpr& e, std::string_view part) {
    if (e.kind == EK::kCast) return PartOf(*e.args[0], part);
    if (e.kind != EK::kCall || e.over) return nullptr;
    if (e.name == part && e.args.size() == 1) return e.args[0];
    if (part == "year" && e.name == "toyear" && e.args.size() == 1) return e.args[0];
    if (part == "month" && e.name == "tomonth" && e.args.size() == 1) return e.args[0];
    if ((e.name == "extract" || e.name == "date_part" || e.name == "datepart") && e.args.size() == 2 &&
        WordOf(*e.args[0]) == part)
      return e.args[1];
    return nullptr;
  }

  Times CallTimes(const Scope& scope, const Level* level, const SqlExpr& e, int depth, int own) {
    const auto of = [&](std::size_t i) {
      return i < e.args.size() ? TimesOf(scope, level, *e.args[i], depth + 1, own) : Times();
    };
    if (IsNowCall(e.name)) return Run();
    const MomentCall call = MomentCallOf(e, o_.adapter);
    switch (call.kind) {
      case MomentCall::Kind::kNone: break;
      case MomentCall::Kind::kSame: return of(call.value);
      case MomentCall::Kind::kCut: {
        Times times = of(call.value);
        if (!call.zone.empty()) Zoned(times, "UTC", call.zone);
        for (Time& t : times)
          if (t.ref.item == kRunItem) return Run();
        Cut(times, call.unit, call.week);
        if (call.text)
          for (Time& t : times) t.type = Time::Type::kText, t.text_unit = call.unit;
        return times;
      }
      case MomentCall::Kind::kLast: {
        Times times = of(call.value);
        Cut(times, call.unit, call.week);
        for (Time& t : times) {
          t.steps.push_back(call.unit == Grain::Unit::kWeek ? Step(SK::kShift, 7 * kDay, 7 * kDay)
                                                            : Step(SK::kMonths,
                                                                   call.unit == Grain::Unit::kMonth     ? 1
                                                                   : call.unit == Grain::Unit::kQuarter ? 3
                                                                                                        : 12,
                                                                   0));
          t.steps.push_back(Step(SK::kShift, -kDay, -kDay));
        }
        return times;
      }
      case MomentCall::Kind::kAdd: {
        Times times = of(call.value);
        std::optional<Amount> n = AmountOf(scope, level, *e.args[call.amount], 0);
        if (n && n->plain) {
          n = Times_({call.step_months, call.step_seconds}, n->low / kDay, n->high / kDay);
        }
        if (!n) return {};
        Shift(times, *n, call.sign);
        return times;
      }
      case MomentCall::Kind::kZone: {
        Times times = of(call.value);
        Zoned(times, call.from_zone, call.zone);
        return times;
      }
      case MomentCall::Kind::kEither: {
        Times out;
        for (std::size_t i = call.value; i < e.args.size(); ++i) {
          if (e.args[i]->kind == EK::kWord && e.args[i]->name == "null") continue;
          const Times one = of(i);
          if (one.empty()) return {};
          out.insert(out.end(), one.begin(), one.end());
        }
        return out;
      }
    }
    return {};
  }

  // ---- ties ----

  // What comparisons a condition is sure of.
  void Condition(Scope& scope, const Level* level, const SqlExpr& e, const std::vector<int>& only,
                 int depth) {
    if (depth > 200) return;
    if (e.Op("and")) {
      for (const SqlExpr* a : e.args) Condition(scope, level, *a, only, depth + 1);
      return;
    }
    if (e.Op("not")) {
      const SqlExpr& inner = *e.args[0];
      if (inner.kind == EK::kQuery || inner.Op("in")) return Subqueries(scope, level, inner, depth + 1);
      return Subqueries(scope, level, inner, depth + 1);
    }
    if (e.Op("or")) {
      Either(scope, level, e, only, depth);
      return Subqueries(scope, level, e, depth + 1);
    }
    if (e.Op("in") && e.args.size() >= 2) {
      if (e.args[1]->kind == EK::kQuery) return InQuery(scope, level, e, depth);
      return InList(scope, level, e, only);
    }
    if (e.kind == EK::kOp && e.args.size() == 2) Compare(scope, level, e.name, *e.args[0], *e.args[1], only);
    Subqueries(scope, level, e, depth + 1);
  }
  static std::string Mirrored(const std::string& op) {
    return op == "<" ? ">" : op == ">" ? "<" : op == "<=" ? ">=" : op == ">=" ? "<=" : op;
  }
  void Compare(Scope& scope, const Level* level, const std::string& op, const SqlExpr& left,
               const SqlExpr& right, const std::vector<int>& only) {
    if (op != "=" && op != "<" && op != "<=" && op != ">" && op != ">=") return;
    if (left.Calls("row") && right.Calls("row") && op == "=") {
      for (std::size_t i = 0; i < left.args.size() && i < right.args.size(); ++i)
        Compare(scope, level, op, *left.args[i], *right.args[i], only);
      return;
    }
    if (Difference(scope, level, op, left, right, only)) return;
    if (Difference(scope, level, Mirrored(op), right, left, only)) return;
    const Times a = TimesOf(scope, level, left, 0), b = TimesOf(scope, level, right, 0);
    if (a.size() != 1 || b.size() != 1 || !Alike(a[0], b[0])) return;
    AddTie(scope, a[0], op, b[0], only);
  }
  // Both are times, or texts of one form.
  static bool Alike(const Time& a, const Time& b) {
    const bool ta = a.type == Time::Type::kText, tb = b.type == Time::Type::kText;
    if (ta && tb) return a.text_unit == b.text_unit;
    if (ta) return b.type == Time::Type::kAny && b.ref.item >= 0;
    if (tb) return a.type == Time::Type::kAny && a.ref.item >= 0;
    return true;
  }
  void AddTie(Scope& scope, Time left, const std::string& op, Time right, const std::vector<int>& only) {
    if (left.ref.item < 0 && right.ref.item < 0) return;
    if (left.ref.item == kRunItem || right.ref.item == kRunItem) return;
    if (scope.ties.size() > 400) return;
    Tie tie;
    tie.only = only;
    if (op == ">" || op == ">=") std::swap(left, right);
    tie.op = op == "=" ? Tie::Op::kEqual : op == "<" || op == ">" ? Tie::Op::kLess : Tie::Op::kLessEqual;
    tie.left = std::move(left);
    tie.right = std::move(right);
    scope.ties.push_back(std::move(tie));
  }
  // datediff(unit, a, b) cmp n, b - a cmp n, abs of either.
  bool Difference(Scope& scope, const Level* level, const std::string& op, const SqlExpr& e,
                  const SqlExpr& bound, const std::vector<int>& only) {
    if (e.Calls("abs") && e.args.size() == 1) {
      if (op == "<" || op == "<=") {
        const SqlExpr& inner = *e.args[0];
        SqlExpr minus;
        minus.kind = EK::kOp;
        minus.name = "neg";
        minus.args = {const_cast<SqlExpr*>(&bound)};
        if (!Difference(scope, level, op, inner, bound, only)) return false;
        Difference(scope, level, Mirrored(op), inner, minus, only);
        return true;
      }
      return false;
    }
    if (e.Op("-") && e.args.size() == 2) {
      const Times a = TimesOf(scope, level, *e.args[0], 0), b = TimesOf(scope, level, *e.args[1], 0);
      const auto n = AmountOf(scope, level, bound, 0);
      if (a.size() != 1 || b.size() != 1 || !n || n->low != n->high) return false;
      if (n->plain && (!AddsDays() || o_.adapter == "spark" || o_.adapter == "databricks")) return false;
      Times shifted = b;  // a op b + n
      Shift(shifted, *n, 1);
      if (n->plain && !(a[0].type == Time::Type::kDay && b[0].type == Time::Type::kDay)) {
        // Days as a number where the columns are moments: whole or not, so one more either way.
        if (op == "<" || op == "<=")
          Shift(shifted, Amount{0, kDay, kDay, true}, 1);
        else if (op == ">" || op == ">=")
          Shift(shifted, Amount{0, kDay, kDay, true}, -1);
        else
          return false;
      }
      AddTie(scope, a[0], op, shifted[0], only);
      return true;
    }
    const MomentDifference d = MomentDifferenceOf(e, o_.adapter);
    if (!d.known) return false;
    const auto n = Constant(bound);
    const Times end = TimesOf(scope, level, *d.end, 0), start = TimesOf(scope, level, *d.start, 0);
    if (!n || end.size() != 1 || start.size() != 1) return true;
    const auto shifted = [&](Time t, std::int64_t units) {
      Times one = {std::move(t)};
      if (const auto a = Times_({d.months, d.seconds}, units, units)) Shift(one, *a, 1);
      return one[0];
    };
    const auto tie = [&](const std::string& how, const Time& left, const Time& right) {
      AddTie(scope, left, how, right, only);
    };
    if (d.boundaries) {  // cut(end) - cut(start) in whole units
      Times a = end, b = start;
      Cut(a, d.unit, d.week), Cut(b, d.unit, d.week);
      tie(op, a[0], shifted(b[0], *n));
      return true;
    }
    // Whole elapsed units, towards zero.
    if (op == "<=" || op == "<" || op == "=") {
      const std::int64_t most = op == "<" ? *n - 1 : *n;
      tie("<", end[0], shifted(start[0], most >= 0 ? most + 1 : most + (most == -1 ? 0 : 1)));
      if (most < 0) scope.ties.back().op = Tie::Op::kLessEqual;
    }
    if (op == ">=" || op == ">" || op == "=") {
      const std::int64_t least = op == ">" ? *n + 1 : *n;
      tie(least > 0 ? ">=" : ">", end[0], shifted(start[0], least > 0 ? least : least - 1));
    }
    return true;
  }
  // a in (b, b - 7, ...): between the least and the most.
  void InList(Scope& scope, const Level* level, const SqlExpr& e, const std::vector<int>& only) {
    std::vector<std::pair<Time, Time>> pairs;
    const Times a = TimesOf(scope, level, *e.args[0], 0);
    for (std::size_t i = 1; i < e.args.size(); ++i) {
      const Times b = TimesOf(scope, level, *e.args[i], 0);
      if (a.size() != 1 || b.size() != 1 || !Alike(a[0], b[0])) return;
      pairs.push_back({a[0], b[0]});
    }
    Hull(scope, pairs, only);
  }
  // Equalities of which one holds: a tie with the least and the most of their shifts.
  void Hull(Scope& scope, const std::vector<std::pair<Time, Time>>& pairs, const std::vector<int>& only) {
    if (pairs.empty()) return;
    if (pairs.size() == 1) return AddTie(scope, pairs[0].first, "=", pairs[0].second, only);
    const auto base = [](std::vector<TimeStep> steps, std::int64_t& low, std::int64_t& high) {
      low = high = 0;
      if (!steps.empty() && (steps.back().kind == SK::kShift || steps.back().kind == SK::kConstant)) {
        low = steps.back().low, high = steps.back().kind == SK::kConstant ? low : steps.back().high;
        steps.pop_back();
      }
      return steps;
    };
    std::int64_t least = 0, most = 0;
    Time left = pairs[0].first, right = pairs[0].second;
    const bool constant = right.ref.item == kConstantItem;
    const std::vector<TimeStep> same = base(right.steps, least, most);
    for (const auto& [a, b] : pairs) {
      std::int64_t low = 0, high = 0;
      if (a.ref != left.ref || a.steps != left.steps || b.ref != right.ref ||
          base(b.steps, low, high) != same)
        return;
      least = std::min(least, low), most = std::max(most, high);
    }
    right.steps = same;
    if (constant) {
      Time upper = right;
      right.steps.push_back(Step(SK::kConstant, least, 0));
      upper.steps.push_back(Step(SK::kConstant, most, 0));
      AddTie(scope, left, ">=", right, only);
      return AddTie(scope, left, "<=", upper, only);
    }
    if (least != 0 || most != 0) right.steps.push_back(Step(SK::kShift, least, most));
    AddTie(scope, left, "=", right, only);
  }
  void Either(Scope& scope, const Level* level, const SqlExpr& e, const std::vector<int>& only, int depth) {
    std::vector<const SqlExpr*> parts, todo = {&e};
    while (!todo.empty() && depth < 100) {
      const SqlExpr* x = todo.back();
      todo.pop_back();
      if (x->Op("or"))
        todo.insert(todo.end(), x->args.begin(), x->args.end());
      else
        parts.push_back(x);
    }
    std::vector<std::pair<Time, Time>> pairs;
    for (const SqlExpr* p : parts) {
      // One equality of times in each part is enough.
      std::vector<const SqlExpr*> all = {p};
      std::optional<std::pair<Time, Time>> found;
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i]->Op("and")) {
          all.insert(all.end(), all[i]->args.begin(), all[i]->args.end());
          continue;
        }
        if (!all[i]->Op("=")) continue;
        const Times a = TimesOf(scope, level, *all[i]->args[0], 0),
                    b = TimesOf(scope, level, *all[i]->args[1], 0);
        if (a.size() != 1 || b.size() != 1 || a[0].ref.item < 0 || b[0].ref.item == kRunItem ||
            !Alike(a[0], b[0]))
          continue;
        if (!pairs.empty() && a[0].ref == pairs[0].second.ref)
          found = {b[0], a[0]};
        else
          found = {a[0], b[0]};
        if (b[0].ref.item >= 0) break;
      }
      if (!found) return;
      pairs.push_back(*found);
    }
    Hull(scope, pairs, only);
  }
  // x in (select y ...): a join with the subquery's rows, which bounds those alone.
  void InQuery(Scope& scope, const Level* level, const SqlExpr& e, int depth) {
    const SqlQuery& q = *e.args[1]->query;
    const std::size_t before = scope.items.size();
    Inline(scope, level, q, depth);
    std::vector<int> inner;
    for (std::size_t i = before; i < scope.items.size(); ++i) inner.push_back(static_cast<int>(i));
    if (q.branches() != 1 || !q.selects[0] || inner.empty()) return;
    const Level* in = nullptr;
    for (const Level& l : scope.levels)
      if (l.select == q.selects[0]) in = &l;
    if (!in) return;
    const auto tie = [&](const SqlExpr& x, const SqlExpr& y) {
      const Times a = TimesOf(scope, level, x, 0);
      // The newest time of a key: only rows as new can keep another from being it.
      const bool edge =
          y.kind == EK::kCall && y.args.size() == 1 && !y.over && (y.name == "max" || y.name == "min");
      const Times b = TimesOf(scope, in, edge ? *y.args[0] : y, 0);
      if (a.size() == 1 && b.size() == 1 && Alike(a[0], b[0]))
        AddTie(scope, b[0], !edge ? "=" : y.name == "max" ? ">=" : "<=", a[0], inner);
    };
    const auto& items = q.selects[0]->items;
    if (e.args[0]->Calls("row")) {
      for (std::size_t i = 0; i < e.args[0]->args.size() && i < items.size(); ++i)
        tie(*e.args[0]->args[i], *items[i].value);
    } else if (items.size() == 1) {
      tie(*e.args[0], *items[0].value);
    }
  }
  // Rows of subqueries in an expression are further items, bounded by what ties them.
  void Subqueries(Scope& scope, const Level* level, const SqlExpr& e, int depth) {
    if (depth > 200) return;
    if (e.query && e.kind == EK::kQuery) Inline(scope, level, *e.query, depth);
    if (e.over) scope.windows.push_back({&e, level});
    for (const SqlExpr* a : e.args)
      if (a) Subqueries(scope, level, *a, depth + 1);
    for (const SqlExpr* a : e.filters)
      if (a) Subqueries(scope, level, *a, depth + 1);
    for (const auto& [name, value] : e.replaced)
      if (value) Subqueries(scope, level, *value, depth + 1);
  }
  void Inline(Scope& scope, const Level* level, const SqlQuery& q, int depth) {
    if (depth > 60 || scope.items.size() > 300) {
      if (scope.odd.empty()) scope.odd = "subqueries that are nested too deep", scope.odd_at = q.at;
      return;
    }
    // What it takes of the model's own rows, and by which tables it chooses them: a run's bound.
    if (OwnRows(q)) return;
    // Whether a limit or an order stands in it does not matter: only rows that pass its conditions can.
    for (std::size_t b = 0; b < q.branches(); ++b) {
      if (q.selects[b])
        Join(scope, *q.selects[b], q, level, true, depth + 1);
      else if (q.nested[b])
        Inline(scope, level, *q.nested[b], depth + 1);
    }
  }

  // All that one SELECT says of its items: those of its FROM, joined, with conditions and subqueries.
  const Level& Join(Scope& scope, const SqlSelect& s, const SqlQuery& q, const Level* up, bool inlined,
                    int depth) {
    Level& level = AddLevel(scope, s, q, up);
    const std::vector<int> all = level.items;
    std::vector<int> own;  // of a subquery: its conditions bound its own rows alone
    if (inlined) own = all;
    for (std::size_t k = 0; k < all.size(); ++k) {
      const int i = all[k];
      const SqlItem& item = *scope.items[static_cast<std::size_t>(i)].item;
      std::vector<int> only = own;
      using J = SqlItem::Join;
      const std::vector<int> before(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(k));
      if (item.join == J::kLeft || item.join == J::kSemi || item.join == J::kAnti)
        only = {i};
      else if (item.join == J::kRight)
        only = before;
      Using(scope, level, item, i, before, only);
      if (item.on) Condition(scope, &level, *item.on, only, depth);
      // A derived table that looks at the items beside it is like a subquery.
      if (item.lateral && item.query) Inline(scope, &level, *item.query, depth + 1);
      if (item.call) Subqueries(scope, &level, *item.call, depth + 1);
    }
    Outer(scope, s, level, own, depth);
    if (s.where) Condition(scope, &level, *s.where, own, depth);
    // What groups and windows keep only takes rows away, but for what they compute.
    for (const SqlExpr* e : {s.having, s.qualify})
      if (e) Subqueries(scope, &level, *e, depth + 1);
    for (const SqlSelectItem& item : s.items) Subqueries(scope, &level, *item.value, depth + 1);
    return level;
  }
  // Conditions of joins in brackets.
  void Outer(Scope& scope, const SqlSelect& s, const Level& level, const std::vector<int>& own, int depth) {
    const auto each = [&](const auto& self, const std::vector<SqlItem>& from, int deep) -> void {
      for (const SqlItem& f : from) {
        if (f.inner.empty() || deep > 30) continue;
        std::vector<int> inside;
        std::vector<const SqlItem*> flat;
        Flatten(f.inner, flat);
        for (const int i : level.items)
          if (std::find(flat.begin(), flat.end(), scope.items[static_cast<std::size_t>(i)].item) !=
              flat.end())
            inside.push_back(i);
        if (f.on)
          Condition(scope, &level, *f.on,
                    f.join == SqlItem::Join::kLeft    ? inside
                    : f.join == SqlItem::Join::kInner ? own
                                                      : inside,
                    depth);
        self(self, f.inner, deep + 1);
      }
    };
    each(each, s.from, 0);
  }
  void Using(Scope& scope, Level& level, const SqlItem& item, int i, const std::vector<int>& before,
             const std::vector<int>& only) {
    for (std::size_t c = 0; c < item.by.size(); ++c) {
      const std::string& name = item.by[c];
      std::vector<int>& used = level.used[name];
      const auto has = [&](int k) {
        const Item& it = scope.items[static_cast<std::size_t>(k)];
        return !it.names_known || std::find(it.names.begin(), it.names.end(), name) != it.names.end();
      };
      for (const int k : before) {
        if (!has(k)) continue;
        Time left, right;
        left.ref = {k, name};
        right.ref = {i, name};
        for (Time* t : {&left, &right})
          if (HoldsDays(scope, t->ref)) t->type = Time::Type::kDay;
        const bool nearest = item.asof && c + 1 == item.by.size();
        AddTie(scope, right, nearest ? "<=" : "=", left, only);
        if (used.empty() || item.join == SqlItem::Join::kFull) {
          if (std::find(used.begin(), used.end(), k) == used.end() && (used.empty() || false))
            used.push_back(k);
        }
      }
      if (item.join == SqlItem::Join::kFull || item.join == SqlItem::Join::kRight) used.push_back(i);
    }
  }

  // A SELECT's scope, made once.
  const std::pair<Scope, const Level*>& Enter(const SqlSelect& s, const SqlQuery& q) {
    const auto [it, fresh] = scopes_.try_emplace(&s);
    if (fresh) {
      it->second = std::make_unique<std::pair<Scope, const Level*>>();
      it->second->second = nullptr;
      std::pair<Scope, const Level*>& made = *it->second;
      made.second = &Join(made.first, s, q, nullptr, false, 0);
    } else if (!it->second->second) {  // inside itself: a recursive one
      static const SqlSelect none;
      static const std::pair<Scope, const Level*>* const empty = [] {
        auto* e = new std::pair<Scope, const Level*>();
        e->first.levels.emplace_back().select = &none;
        e->second = &e->first.levels.back();
        return e;
      }();
      return *empty;
    }
    return *it->second;
  }

  // ---- from one bound to the others ----

  static bool Tighter(const TimeBound& a, const TimeBound& b, bool upper) {
    if (a.open) return false;
    if (b.open) return true;
    if (a == b || a.steps.size() > 40) return false;
    bool less = false;
    for (const Civil start : Samples()) {
      const std::int64_t x = WorthOfBound(a, upper, start, start + kDay),
                         y = WorthOfBound(b, upper, start, start + kDay);
      if (upper ? x > y : x < y) return false;
      less = less || x != y;
    }
    return less;
  }
  static const std::vector<Civil>& Samples() {
    static const std::vector<Civil> all = [] {
      std::vector<Civil> out;
      const std::int64_t day = DaysFromCivil(2024, 1, 1);
      for (const int d : {0, 1, 6, 13, 27, 30, 31, 58, 59, 60, 90, 150, 181, 273, 364, 365})
        out.push_back((day + d) * kDay);
      return out;
    }();
    return all;
  }

  static bool Constants(const TimeBound& b) {
    return !b.open && !b.steps.empty() && b.steps[0].kind == SK::kConstant;
  }

  bool Narrow(TimeReach& known, const TimeReach& more, bool fresh) const {
    bool changed = false;
    const auto take = [&](TimeBound& to, const TimeBound& from, bool upper) {
      if (from.open) return;
      // Constants bound where nothing else does.
      if (!to.open && Constants(from) && !Constants(to)) return;
      if (to.open || (Constants(to) && !Constants(from)) || Tighter(from, to, upper))
        to = from, changed = true;
    };
    take(known.low, more.low, false);
    take(known.high, more.high, true);
    return changed || fresh;
  }
  static TimeReach Day(const TimeReach& reach) {  // of a column that holds whole days
    TimeReach out = reach;
    TimeStep s;
    s.unit = Grain::Unit::kDay;
    s.kind = SK::kCeil;
    const auto ends_on_day = [](const TimeBound& b) {
      return !b.steps.empty() && (b.steps.back().kind == SK::kFloor || b.steps.back().kind == SK::kCeil) &&
             b.steps.back().unit >= Grain::Unit::kDay;
    };
    if (!out.low.open && !ends_on_day(out.low)) out.low.steps.push_back(s);
    s.kind = SK::kFloor;
    if (!out.high.open && !ends_on_day(out.high)) out.high.steps.push_back(s);
    return out;
  }

  static void Later(TimeBound& b, std::int64_t by) {
    if (b.open) return;
    TimeReach r;
    r.low = b;
    r = Through(r, {Step(SK::kShift, by, by)});
    b = r.low;
  }

  // Where the left side of a tie may lie, from where the right side does, and the other way round.
  TimeReach Across(const Scope& scope, const Tie& tie, const TimeReach& from, bool to_left) {
    const Time &source = to_left ? tie.right : tie.left, &target = to_left ? tie.left : tie.right;
    TimeReach reach = Through(from, source.steps);
    if (tie.op != Tie::Op::kEqual) {
      if (to_left) {
        reach.low = TimeBound{};
        if (tie.op == Tie::Op::kLess) Later(reach.high, -1);
      } else {
        reach.high = TimeBound{};
        if (tie.op == Tie::Op::kLess) Later(reach.low, 1);
      }
    }
    if (target.type == Time::Type::kDay && !target.steps.empty() && target.steps.back().kind != SK::kFloor)
      reach = Day(reach);
    reach = Backwards(reach, target.steps);
    if (HoldsDays(scope, target.ref)) reach = Day(reach);
    return reach;
  }
  static bool May(const Tie& tie, int item, int anchor) {
    if (tie.only.empty()) return true;
    if (std::find(tie.only.begin(), tie.only.end(), item) != tie.only.end()) return true;
    return std::find(tie.only.begin(), tie.only.end(), anchor) != tie.only.end();
  }

  Bounds Solve(const Scope& scope, const std::vector<std::pair<Ref, TimeReach>>& seeds) {
    Bounds out;
    for (const auto& [ref, reach] : seeds) out.of[ref] = reach;
    const int anchor = seeds.empty() ? -1 : seeds[0].first.item;
    for (int round = 0; round < 8; ++round) {
      bool changed = false;
      for (const Tie& tie : scope.ties) {
        for (const bool to_left : {true, false}) {
          const Time &source = to_left ? tie.right : tie.left, &target = to_left ? tie.left : tie.right;
          if (target.ref.item < 0 || source.ref.item == kRunItem) continue;
          if (!May(tie, target.ref.item, anchor)) continue;
          TimeReach from;
          if (source.ref.item < 0) {
            from.low.open = from.high.open = false;  // the steps say it all
          } else {
            const auto known = out.of.find(source.ref);
            if (known == out.of.end()) continue;
            from = known->second;
          }
          const TimeReach reach = Across(scope, tie, from, to_left);
          if (reach.low.open && reach.high.open) continue;
          bool is_seed = false;
          for (const auto& [ref, unused] : seeds) is_seed = is_seed || ref == target.ref;
          if (is_seed) continue;
          const auto [it, fresh] = out.of.try_emplace(target.ref);
          changed = Narrow(it->second, reach, fresh) || changed;
        }
      }
      if (!changed) break;
    }
    return out;
  }

  // ---- what a query's rows are made from ----

  struct Result {
    std::vector<SqlColumnUse> uses;
  };

  std::vector<SqlColumnUse> Traced(const SqlQuery& q, const std::string& column) {
    visited_.clear();
    everything_.clear();
    budget_ = 3000;
    out_.clear();
    whole_.clear();
    TimeReach own;
    own.low.open = own.high.open = false;
    if (column != "=" && QueryHoldsDays(q, column, 0)) own = Day(own);
    Query(q, column, own, 0);
    std::vector<SqlColumnUse> out;
    for (SqlColumnUse& u : out_) {
      bool twice = false;
      for (const SqlColumnUse& o : out) twice = twice || (o.parent == u.parent && o.use == u.use);
      if (!twice) out.push_back(std::move(u));
    }
    out_.clear();
    return out;
  }

  static std::string KeyOf(const TimeReach& r) {
    CodeReads one;
    one.traces.push_back({{}, {{{{"", r}}, "", 0}}});
    return FormatCodeReads(one);
  }

  // All that a query reads, as far as constants do not bound it. Table expressions may be chained without
  // end: what is found on the way waits in a list.
  void Everything(const SqlQuery& q, const std::string& why, std::size_t at, int depth = 0) {
    waiting_.push_back({&q, why, at});
    if (draining_) return;
    draining_ = true;
    while (!waiting_.empty()) {
      const Waiting next = std::move(waiting_.back());
      waiting_.pop_back();
      if (everything_.insert(next.query).second) EverythingIn(*next.query, next.why, next.at, depth);
    }
    draining_ = false;
  }
  void EverythingIn(const SqlQuery& q, const std::string& why, std::size_t at, int depth) {
    for (std::size_t b = 0; b < q.branches(); ++b) {
      if (!q.selects[b]) {
        if (q.nested[b]) Everything(*q.nested[b], why, at, depth + 1);
        continue;
      }
      // What constants bound is bounded all the same.
      const Scope& scope = Enter(*q.selects[b], q).first;
      const Bounds bounds = Solve(scope, {});
      for (std::size_t i = 0; i < scope.items.size(); ++i) {
        CodeUse use;
        for (const auto& [ref, reach] : bounds.of)
          if (ref.item == static_cast<int>(i) && !reach.low.open && !reach.high.open)
            use.ways.push_back({ref.column, reach});
        const Item& item = scope.items[i];
        if (use.ways.empty() || item.source.kind == Source::Kind::kOther)
          EverythingOf(item, why, at, depth);
        else if (item.source.kind == Source::Kind::kQuery)
          Query(*item.source.query, use.ways[0].column, use.ways[0].reach, depth + 1);
        else if (item.source.kind == Source::Kind::kParent)
          use.line = LineOf(item.item->at), Put(item.source.parent, std::move(use));
      }
    }
  }
  void EverythingOf(const Item& item, const std::string& why, std::size_t at, int depth) {
    if (item.source.kind == Source::Kind::kParent && !whole_.count(item.source.parent))
      Put(item.source.parent, {{}, why, LineOf(at)});
    if (item.source.kind == Source::Kind::kQuery) Everything(*item.source.query, why, at, depth + 1);
  }
  void Put(int parent, CodeUse use) {
    if (use.ways.empty() && !whole_.insert(parent).second) return;
    out_.push_back({parent, std::move(use)});
  }

  void Query(const SqlQuery& q, const std::string& column, const TimeReach& reach, int depth) {
    if (depth > 100 || --budget_ < 0) return Everything(q, "its code is too large to be followed", q.at);
    if (!visited_
             .insert(std::to_string(reinterpret_cast<std::uintptr_t>(&q)) + "/" + column + "/" + KeyOf(reach))
             .second)
      return;
    if (q.limited) return Everything(q, "a LIMIT takes rows by what all others are", q.limit_at);
    if (q.recursive || Recursive(q)) {
      bool own = false;
      for (const auto& [name, inner] : q.with) own = own || Recursive(*inner);
      if (Recursive(q)) return Everything(q, "a recursive table expression", q.at);
      (void)own;
    }
    for (std::size_t b = 0; b < q.branches(); ++b) {
      if (q.selects[b])
        Select(q, *q.selects[b], b, column, reach, depth);
      else if (q.nested[b])
        Query(*q.nested[b], PositionName(q, column, b), reach, depth + 1);
    }
  }
  bool Recursive(const SqlQuery& q) {
    const auto known = recursive_.find(&q);
    if (known != recursive_.end()) return known->second;
    recursive_[&q] = false;
    bool found = false;
    if (q.outer && q.outer->recursive) {
      std::string name;
      for (const auto& [with, inner] : q.outer->with)
        if (inner == &q) name = with;
      if (!name.empty())
        for (std::size_t b = 0; b < q.branches(); ++b) {
          if (!q.selects[b]) continue;
          std::vector<const SqlItem*> flat;
          Flatten(q.selects[b]->from, flat);
          for (const SqlItem* f : flat) found = found || Lower(f->name) == name;
        }
    }
    return recursive_[&q] = found;
  }

  // The name of a column in a branch of a set operation, where they go by position.
  std::string PositionName(const SqlQuery& q, const std::string& column, std::size_t branch) {
    if (branch == 0 && q.renamed.empty()) return column;
    if (q.by_name || column == "=") return column;
    std::vector<std::string> first;
    if (!Columns(q, first, 0)) return column;
    const auto at = std::find(first.begin(), first.end(), column);
    std::vector<std::string> own;
    const bool closed = q.selects[branch] ? SelectNames(q, branch, own)
                                          : q.nested[branch] && Columns(*q.nested[branch], own, 0);
    if (at == first.end() || !closed) return column;
    const std::size_t n = static_cast<std::size_t>(at - first.begin());
    return n < own.size() && !own[n].empty() ? own[n] : "#" + std::to_string(n);
  }
  bool SelectNames(const SqlQuery& q, std::size_t branch, std::vector<std::string>& out) {
    bool closed = true;
    for (const SqlSelectItem& item : q.selects[branch]->items)
      closed = ItemNames(item, *q.selects[branch], q, out, 0) && closed;
    return closed;
  }

  // The expressions that a column of a SELECT may be, with the item whose own it is where a star gives it.
  std::vector<std::pair<const SqlExpr*, int>> Selected(const Scope& scope, const Level& level,
                                                       const SqlQuery& q, const std::string& column,
                                                       std::size_t branch) {
    const SqlSelect& s = *level.select;
    std::string name = PositionName(q, column, branch);
    std::vector<std::pair<const SqlExpr*, int>> out;
    if (!name.empty() && name[0] == '#') {
      const std::size_t n = static_cast<std::size_t>(std::atoll(name.c_str() + 1));
      std::size_t at = 0;
      for (const SqlSelectItem& item : s.items) {
        if (item.value->kind == EK::kStar) return out;
        if (at++ == n) return {{item.value, kThisItem}};
      }
      return out;
    }
    for (const SqlSelectItem& item : s.items) {
      const SqlExpr& e = *item.value;
      if (e.kind == EK::kStar) continue;
      if (item.alias == name || (item.alias.empty() && e.kind == EK::kColumn && e.name == name))
        return {{&e, kThisItem}};
    }
    for (const SqlSelectItem& item : s.items) {
      const SqlExpr& e = *item.value;
      if (e.kind != EK::kStar) continue;
      for (const auto& [replaced, value] : e.replaced)
        if (replaced == name) return {{value, kThisItem}};
      if (std::find(e.except.begin(), e.except.end(), name) != e.except.end()) continue;
      SqlExpr& made = made_.emplace_back();
      made.kind = EK::kColumn;
      made.name = name;
      made.at = e.at;
      for (const int i : level.items) {
        const Item& it = scope.items[static_cast<std::size_t>(i)];
        if (!e.qualifier.empty() && it.alias != e.qualifier) continue;
        if (it.item->join == SqlItem::Join::kSemi || it.item->join == SqlItem::Join::kAnti) continue;
        const bool named = std::find(it.names.begin(), it.names.end(), name) != it.names.end();
        if (it.names_known && !named) continue;
        if (named)
          out.insert(out.begin(), {&made, i});
        else
          out.push_back({&made, i});
      }
      if (const auto used = level.used.find(name); used != level.used.end() && e.qualifier.empty()) {
        out.clear();
        for (const int i : used->second) out.push_back({&made, i});
      }
      // Known by name in one item: it is that one's.
      if (out.size() > 1 && level.used.find(name) == level.used.end()) {
        std::vector<std::pair<const SqlExpr*, int>> sure;
        for (const auto& o : out) {
          const Item& it = scope.items[static_cast<std::size_t>(o.second)];
          if (std::find(it.names.begin(), it.names.end(), name) != it.names.end()) sure.push_back(o);
        }
        if (!sure.empty()) out = sure;
      }
    }
    return out;
  }

  void Select(const SqlQuery& q, const SqlSelect& s, std::size_t branch, const std::string& column,
              const TimeReach& reach, int depth) {
    const auto& [scope, entered] = Enter(s, q);
    const Level& level = *entered;
    const auto all = [&](const std::string& why, std::size_t at) {
      for (const Item& item : scope.items) EverythingOf(item, why, at, depth);
    };
    if (!scope.odd.empty()) return all(scope.odd + " could not be followed", scope.odd_at);
    if (s.from.empty() && scope.items.empty()) return;  // rows of its own
    const auto selected = Selected(scope, level, q, column, branch);
    if (selected.empty()) return all("its column " + column + " could not be found", s.at);
    if (s.group_sets) return all("totals over several days (ROLLUP, CUBE, GROUPING SETS)", s.at);
    for (const auto& [e, own] : selected) {
      const Times times = TimesOf(scope, &level, *e, 0, own);
      if (Aggregated(s) && !Determined(scope, level, *e, 0)) {
        if (!OfEdge(scope, level, s, *e, reach, depth))
          all("its column " + column + " is computed over rows of several days", e->at);
        continue;
      }
      bool rows = !times.empty();
      for (const Time& t : times) rows = rows && t.ref.item >= 0;
      if (!rows) {
        all("its column " + column + " could not be followed to a time of its rows", e->at);
        continue;
      }
      for (const Time& t : times) {
        TimeReach start = Backwards(reach, t.steps);
        if (HoldsDays(scope, t.ref)) start = Day(start);
        Start(scope, level, q, {t.ref, start}, depth, true);
      }
    }
  }

  static bool HasAggregate(const SqlExpr& e, int depth = 0) {
    if (depth > 80 || e.kind == EK::kQuery) return false;
    if (e.kind == EK::kCall && !e.over && IsAggregate(e.name)) return true;
    for (const SqlExpr* a : e.args)
      if (a && HasAggregate(*a, depth + 1)) return true;
    if (e.over) {
      for (const SqlExpr* a : e.over->partition)
        if (HasAggregate(*a, depth + 1)) return true;
      for (const SqlOrder& o : e.over->order)
        if (HasAggregate(*o.by, depth + 1)) return true;
    }
    for (const SqlExpr* a : e.filters)
      if (a && HasAggregate(*a, depth + 1)) return true;
    return false;
  }
  static bool Aggregated(const SqlSelect& s) {
    if (s.grouped || s.group_all) return true;
    for (const SqlSelectItem& item : s.items)
      if (HasAggregate(*item.value)) return true;
    return s.having && HasAggregate(*s.having);
  }
  static bool Equal(const SqlExpr& a, const SqlExpr& b, int depth = 0) {
    if (depth > 60 || a.kind != b.kind || a.name != b.name || a.text != b.text ||
        a.args.size() != b.args.size() || a.query || b.query || a.over || b.over ||
        a.filters.size() != b.filters.size())
      return false;
    if (!a.qualifier.empty() && !b.qualifier.empty() && a.qualifier != b.qualifier) return false;
    for (std::size_t i = 0; i < a.args.size(); ++i)
      if (!Equal(*a.args[i], *b.args[i], depth + 1)) return false;
    for (std::size_t i = 0; i < a.filters.size(); ++i)
      if (!Equal(*a.filters[i], *b.filters[i], depth + 1)) return false;
    return true;
  }
  // Rows of one group have one value of it.
  bool Determined(const Scope& scope, const Level& level, const SqlExpr& e, int depth) {
    const SqlSelect& s = *level.select;
    if (depth > 60) return false;
    if (s.group_all) return !HasAggregate(e);
    for (const SqlExpr* g : s.group) {
      if (g->kind == EK::kNumber) {
        const auto n = WholeNumber(g->text);
        std::size_t at = 0;
        for (const SqlSelectItem& item : s.items) {
          if (item.value->kind == EK::kStar) break;
          if (n && ++at == static_cast<std::size_t>(*n) && (item.value == &e || Equal(*item.value, e)))
            return true;
        }
        continue;
      }
      if (Equal(*g, e)) return true;
      if (g->kind == EK::kColumn && g->qualifier.empty())
        for (const SqlSelectItem& item : s.items)
          if (item.alias == g->name && (item.value == &e || Equal(*item.value, e))) return true;
      if (g->Calls("row"))
        for (const SqlExpr* a : g->args)
          if (Equal(*a, e)) return true;
      if (g->kind == EK::kColumn && e.kind == EK::kColumn && g->name == e.name) {
        const auto a = Owners(scope, &level, *g), b = Owners(scope, &level, e);
        if (a == b) return true;
      }
    }
    if (e.kind == EK::kColumn || e.kind == EK::kStar || e.kind == EK::kQuery || e.over) {
      if (e.kind == EK::kColumn && e.qualifier.empty() && StartsWith(e.name, "__br_")) return true;
      if (e.kind == EK::kColumn && e.qualifier.empty())
        if (const SqlExpr* alias = Aliased(level, e.name); alias && alias != &e && !Mentions(*alias, e.name))
          return Determined(scope, level, *alias, depth + 1);
      return false;
    }
    if (e.kind == EK::kCall && IsAggregate(e.name)) {
      if ((e.name == "min" || e.name == "max" || e.name == "any_value" || e.name == "any") &&
          e.args.size() == 1)
        return Determined(scope, level, *e.args[0], depth + 1);
      return false;
    }
    // A unit's word in its place is no column.
    const MomentCall call = e.kind == EK::kCall ? MomentCallOf(e, o_.adapter) : MomentCall();
    for (std::size_t i = 0; i < e.args.size(); ++i) {
      if (call.kind != MomentCall::Kind::kNone && call.kind != MomentCall::Kind::kEither && i != call.value &&
          i != call.amount)
        continue;
      if (e.args[i] && !Determined(scope, level, *e.args[i], depth + 1)) return false;
    }
    for (const SqlExpr* f : e.filters)
      if (!Determined(scope, level, *f, depth + 1)) return false;
    return true;
  }
  // The first or last time of a key, with nothing beside it that other rows change: what is before, or
  // behind.
  bool OfEdge(const Scope& scope, const Level& level, const SqlSelect& s, const SqlExpr& e,
              const TimeReach& reach, int depth) {
    const SqlExpr* call = &e;
    std::vector<TimeStep> behind;
    // date_trunc('day', min(ts)) is as good as min of it.
    Scope& mutable_scope = const_cast<Scope&>(scope);
    while (call->kind == EK::kCast || (call->kind == EK::kCall && !IsAggregate(call->name))) {
      const SqlExpr* inner = nullptr;
      if (call->kind == EK::kCast)
        inner = call->args[0];
      else if (const MomentCall m = MomentCallOf(*call, o_.adapter);
               m.kind == MomentCall::Kind::kCut && m.zone.empty())
        inner = call->args[m.value];
      if (!inner) return false;
      SqlExpr& probe = made_.emplace_back(*call);
      SqlExpr& now = made_.emplace_back();
      now.kind = EK::kColumn;
      now.name = "__br_probe";
      for (SqlExpr*& a : probe.args)
        if (a == inner) a = &now;
      Times t = TimesOf(mutable_scope, &level, probe, 0, 0);
      if (t.size() != 1) return false;
      behind.insert(behind.begin(), t[0].steps.begin(), t[0].steps.end());
      call = inner;
    }
    if (call->kind != EK::kCall || call->args.size() != 1 || (call->name != "min" && call->name != "max") ||
        !call->filters.empty() || !s.grouped)
      return false;
    const bool first = call->name == "min";
    const Times times = TimesOf(scope, &level, *call->args[0], 0);
    if (times.size() != 1 || times[0].ref.item < 0) return false;
    for (const SqlSelectItem& item : s.items)
      if (!OnlyEdge(scope, level, *item.value, times[0], first, 0)) return false;
    if (s.having && !OnlyEdge(scope, level, *s.having, times[0], first, 0)) return false;
    TimeReach start = Backwards(Backwards(reach, behind), times[0].steps);
    (first ? start.low : start.high) = TimeBound{};
    Start(scope, level, *level.query, {times[0].ref, start}, depth, true);
    return true;
  }
  bool OnlyEdge(const Scope& scope, const Level& level, const SqlExpr& e, const Time& by, bool first,
                int depth) {
    if (depth > 60) return false;
    if (e.kind == EK::kCall && IsAggregate(e.name)) {
      if (e.over || !e.filters.empty()) return false;
      const auto same = [&](const SqlExpr& x) {
        const Times t = TimesOf(scope, &level, x, 0);
        return t.size() == 1 && t[0].ref == by.ref;
      };
      if (e.name == (first ? "min" : "max") && e.args.size() == 1) return same(*e.args[0]);
      static const std::set<std::string, std::less<>> least = {"min_by", "arg_min", "argmin"},
                                                      most = {"max_by", "arg_max", "argmax"};
      return (first ? least : most).count(e.name) > 0 && e.args.size() == 2 && same(*e.args[1]);
    }
    if (e.kind == EK::kQuery || e.kind == EK::kStar) return e.kind != EK::kQuery;
    for (const SqlExpr* a : e.args)
      if (a && !OnlyEdge(scope, level, *a, by, first, depth + 1)) return false;
    return true;
  }

  using Seed = std::pair<Ref, TimeReach>;

  // Emits what rows with a time in `seed` are made from, and the rows that share a window with them.
  void Start(const Scope& scope, const Level& level, const SqlQuery& q, const Seed& seed, int depth,
             bool windows) {
    const Bounds bounds = Solve(scope, {seed});
    Emit(scope, bounds, depth);
    if (!windows) return;
    std::set<std::string> done;
    const auto widen = [&](const std::optional<Seed>& wide, const std::string& why, std::size_t at) {
      if (!wide) {
        for (const int i : level.items)
          EverythingOf(scope.items[static_cast<std::size_t>(i)], why, at, depth);
        return;
      }
      if (!done.insert(std::to_string(wide->first.item) + wide->first.column + KeyOf(wide->second)).second)
        return;
      if (const auto known = bounds.of.find(wide->first);
          known != bounds.of.end() && known->second == wide->second)
        return;
      Emit(scope, Solve(scope, {*wide}), depth);
    };
    for (const auto& [call, at] : scope.windows) {
      if (at != &level) continue;  // in a subquery: among the rows that its conditions let through
      widen(WindowOf(scope, level, bounds, *call), "a window function over rows that no day bounds",
            call->at);
    }
    if (!level.select->distinct_on.empty() || !q.limit_by.empty()) {
      const auto& by = level.select->distinct_on.empty() ? q.limit_by : level.select->distinct_on;
      SqlWindow w;
      w.partition = by;
      for (std::size_t i = 0; i < q.order.size(); ++i) {
        bool key = false;
        for (const SqlExpr* k : by) key = key || Equal(*k, *q.order[i].by);
        if (!key) {
          w.order.push_back(q.order[i]);
          break;
        }
      }
      SqlExpr keep;
      keep.kind = EK::kCall;
      keep.name = "row_number";
      keep.over = &w;
      widen(WindowOf(scope, level, bounds, keep), "a DISTINCT ON over rows that no day bounds", q.at);
    }
  }

  void Emit(const Scope& scope, const Bounds& bounds, int depth) {
    for (std::size_t i = 0; i < scope.items.size(); ++i) {
      const Item& item = scope.items[i];
      if (item.source.kind != Source::Kind::kParent && item.source.kind != Source::Kind::kQuery) continue;
      std::vector<std::pair<std::string, TimeReach>> ways;
      for (const auto& [ref, reach] : bounds.of)
        if (ref.item == static_cast<int>(i) && !(reach.low.open && reach.high.open))
          ways.push_back({ref.column, reach});
      const std::string why = "rows that are joined without bounds on their time";
      if (ways.empty()) {
        EverythingOf(item, why, item.item->at, depth);
        continue;
      }
      if (item.source.kind == Source::Kind::kParent) {
        CodeUse use;
        use.line = LineOf(item.item->at);
        for (auto& [column, reach] : ways) use.ways.push_back({column, reach});
        Put(item.source.parent, std::move(use));
        continue;
      }
      const SqlQuery& inner = *item.source.query;
      const auto name = [&](const std::string& column) {
        if (item.item->columns.empty()) return column;
        std::vector<std::string> names;
        const auto at = std::find(item.item->columns.begin(), item.item->columns.end(), column);
        if (at == item.item->columns.end() || !Columns(inner, names, 0)) return column;
        const std::size_t n = static_cast<std::size_t>(at - item.item->columns.begin());
        return n < names.size() ? names[n] : column;
      };
      // Each way alone bounds it: both sides before one; where there are several, all that they say is kept
      // for the same references.
      std::stable_sort(ways.begin(), ways.end(), [](const auto& a, const auto& b) {
        const auto sides = [](const TimeReach& r) { return (r.low.open ? 0 : 1) + (r.high.open ? 0 : 1); };
        const auto fixed = [](const TimeReach& r) { return Constants(r.low) || Constants(r.high); };
        return std::make_pair(!fixed(a.second), sides(a.second)) >
               std::make_pair(!fixed(b.second), sides(b.second));
      });
      Several(inner, ways, name, depth);
    }
  }
  template <typename Name>
  void Several(const SqlQuery& inner, const std::vector<std::pair<std::string, TimeReach>>& ways,
               const Name& name, int depth) {
    if (ways.size() == 1) return Query(inner, name(ways[0].first), ways[0].second, depth + 1);
    std::vector<std::vector<SqlColumnUse>> found;
    const std::vector<SqlColumnUse> before = std::move(out_);
    const std::set<std::string> visited = visited_;
    const std::set<const SqlQuery*> everything = everything_;
    const std::set<int> whole = whole_;
    std::vector<Waiting> waiting;  // of whoever asked: each way is followed to its end by itself
    waiting.swap(waiting_);
    const bool draining = std::exchange(draining_, false);
    for (std::size_t i = 0; i < ways.size() && i < 4; ++i) {
      out_.clear();
      visited_.clear();
      everything_.clear();
      whole_.clear();
      Query(inner, name(ways[i].first), ways[i].second, depth + 1);
      found.push_back(std::move(out_));
    }
    out_ = before;
    visited_ = visited;
    everything_ = everything;
    whole_ = whole;
    waiting_ = std::move(waiting);
    draining_ = draining;
    const auto all_of = [](const std::vector<SqlColumnUse>& uses) {
      std::size_t n = 0;
      for (const SqlColumnUse& u : uses) n += u.use.ways.empty();
      return n;
    };
    std::size_t best = 0;
    for (std::size_t i = 1; i < found.size(); ++i)
      if (all_of(found[i]) < all_of(found[best])) best = i;
    std::vector<SqlColumnUse>& kept = found[best];
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (i == best || found[i].size() != kept.size() || all_of(found[i]) != all_of(kept)) continue;
      bool alike = true;
      for (std::size_t k = 0; k < kept.size(); ++k)
        alike = alike && kept[k].parent == found[i][k].parent && kept[k].use.line == found[i][k].use.line &&
                kept[k].use.ways.empty() == found[i][k].use.ways.empty();
      if (!alike) continue;
      for (std::size_t k = 0; k < kept.size(); ++k)
        for (const CodeUse::Way& w : found[i][k].use.ways)
          if (std::find(kept[k].use.ways.begin(), kept[k].use.ways.end(), w) == kept[k].use.ways.end())
            kept[k].use.ways.push_back(w);
    }
    for (SqlColumnUse& u : kept) Put(u.parent, std::move(u.use));
  }

  // ---- windows ----

  const SqlWindow* Resolved(const Level& level, const SqlWindow& w, SqlWindow& made) const {
    if (w.base.empty()) return &w;
    const auto known = level.select->windows.find(w.base);
    if (known == level.select->windows.end()) return nullptr;
    SqlWindow inner;
    const SqlWindow* base = known->second->base.empty() || known->second->base == w.base
                                ? known->second
                                : Resolved(level, *known->second, inner);
    if (!base) return nullptr;
    made = *base;
    if (!w.partition.empty()) made.partition = w.partition;
    if (!w.order.empty()) made.order = w.order;
    if (w.frame != SqlWindow::Frame::kNone) made.frame = w.frame, made.from = w.from, made.to = w.to;
    made.base.clear();
    return &made;
  }

  struct Sides {
    // How far rows count along the order: unbounded where the flag is set, else so much (null: the row's
    // own).
    bool before_all = false, after_all = false;
    std::optional<Amount> before, after;
  };
  Sides FrameOf(const Scope& scope, const Level& level, const SqlExpr& call, const SqlWindow& w) {
    Sides s;
    static const std::set<std::string, std::less<>> back = {"row_number", "rank", "dense_rank", "lag"},
                                                    sizes = {"ntile", "percent_rank", "cume_dist"};
    const bool snowflake = o_.adapter == "snowflake";
    if (w.order.empty() || sizes.count(call.name)) {
      s.before_all = s.after_all = true;
      return s;
    }
    if (call.name == "lag" || call.name == "lead") {
      // A negative offset looks the other way.
      const auto n = call.args.size() > 1 ? Constant(*call.args[1]) : std::optional<std::int64_t>(1);
      const bool behind = (call.name == "lag") == (n.value_or(1) >= 0);
      (behind ? s.before_all : s.after_all) = true;
      if (!n) s.before_all = s.after_all = true;
      return s;
    }
    if (back.count(call.name)) {
      s.before_all = true;
      return s;
    }
    if (w.frame == SqlWindow::Frame::kNone) {
      s.before_all = true;
      if ((snowflake || o_.adapter.empty()) &&
          (call.name == "last_value" || call.name == "nth_value" || call.name == "first_value"))
        s.after_all = call.name != "first_value" || snowflake;
      if (call.name == "leadinframe") s.after_all = true;
      return s;
    }
    using K = SqlWindow::Edge::Kind;
    const bool counted = w.frame != SqlWindow::Frame::kRange;
    const auto side = [&](const SqlWindow::Edge& edge, bool from) {
      if (edge.kind == K::kCurrent) return;
      const bool preceding = edge.kind == K::kPreceding;
      if (edge.by && !counted) {
        const auto n = AmountOf(scope, &level, *edge.by, 0);
        if (n && (!n->plain || RangeCountsDays(scope, level, w))) {
          // From n preceding to m preceding: the near end bounds too.
          if (from && preceding)
            s.before = n;
          else if (from) {
            s.before = Amount{-n->months, -n->high, -n->low, n->plain};
          } else if (preceding) {
            s.after = Amount{-n->months, -n->high, -n->low, n->plain};
          } else {
            s.after = n;
          }
          return;
        }
        s.before_all = s.before_all || preceding, s.after_all = s.after_all || !preceding;
        return;
      }
      if (preceding)
        s.before_all = true;
      else
        s.after_all = true;
    };
    side(w.from, true);
    side(w.to, false);
    if (call.name == "first_value" && s.before_all) s.after_all = s.after_all && false;
    return s;
  }
  bool RangeCountsDays(const Scope& scope, const Level& level, const SqlWindow& w) {
    if (o_.adapter == "clickhouse" || o_.adapter == "sqlite" || o_.adapter == "mysql") {
      Times t = TimesOf(scope, &level, *w.order[0].by, 0);
      return t.size() == 1 && t[0].type == Time::Type::kDay;
    }
    Times t = TimesOf(scope, &level, *w.order[0].by, 0);
    return t.size() == 1 && Days(scope, t);
  }

  // Where rows may lie that share the window with rows inside the bounds; nothing where they may be anywhere.
  std::optional<Seed> WindowOf(const Scope& scope, const Level& level, const Bounds& bounds,
                               const SqlExpr& call) {
    SqlWindow made;
    const SqlWindow* w = Resolved(level, *call.over, made);
    if (!w) return std::nullopt;
    std::map<Ref, TimeReach> cut;  // by what the window is partitioned by
    const auto add = [&](const Time& t) {
      const auto known = bounds.of.find(t.ref);
      if (t.ref.item < 0 || known == bounds.of.end()) return;
      TimeReach reach = Backwards(Through(known->second, t.steps), t.steps);
      if (HoldsDays(scope, t.ref)) reach = Day(reach);
      const auto [it, fresh] = cut.try_emplace(t.ref, reach);
      if (!fresh) Narrow(it->second, reach, false);
    };
    for (const SqlExpr* p : w->partition) {
      const Times t = TimesOf(scope, &level, *p, 0);
      if (t.size() == 1) add(t[0]);
      if (t.size() > 1) Coalesced(scope, bounds, t, add);
      // Year and month apart.
      const SqlExpr* of_year = PartOf(*p, "year");
      if (!of_year) continue;
      for (const char* part : {"month", "quarter", "week"})
        for (const SqlExpr* other : w->partition) {
          const SqlExpr* of_part = PartOf(*other, part);
          if (!of_part || !Equal(*of_part, *of_year)) continue;
          Times both = TimesOf(scope, &level, *of_year, 0);
          if (both.size() != 1 || *part == 'w') continue;
          Cut(both, *part == 'm' ? Grain::Unit::kMonth : Grain::Unit::kQuarter);
          add(both[0]);
        }
    }
    std::optional<Seed> best;
    for (const auto& [ref, reach] : cut)
      if (!best || (best->second.low.open || best->second.high.open)) best = Seed{ref, reach};
    Sides sides = FrameOf(scope, level, call, *w);
    if (w->order.empty() || (sides.before_all && sides.after_all)) {
      if (best && best->second.low.open && best->second.high.open) return std::nullopt;
      return best;
    }
    Times order = TimesOf(scope, &level, *w->order[0].by, 0);
    if (order.size() > 1) {
      Times one;
      Coalesced(scope, bounds, order, [&](const Time& t) {
        if (one.empty()) one.push_back(t);
      });
      order = one;
    }
    if (order.size() != 1 || order[0].ref.item < 0) return best;
    const auto known = bounds.of.find(order[0].ref);
    if (known == bounds.of.end()) return best;
    if (w->order[0].down) std::swap(sides.before_all, sides.after_all), std::swap(sides.before, sides.after);
    const TimeReach at = Through(known->second, order[0].steps);
    TimeReach there = at;
    const auto shifted = [&](const Amount& a, int sign) {
      Times one(1);
      Shift(one, a, sign);
      return Through(at, one[0].steps);
    };
    if (sides.before_all)
      there.low = TimeBound{};
    else if (sides.before)
      there.low = shifted(*sides.before, -1).low;
    if (sides.after_all)
      there.high = TimeBound{};
    else if (sides.after)
      there.high = shifted(*sides.after, 1).high;
    if (order[0].type == Time::Type::kDay && !order[0].steps.empty()) there = Day(there);
    there = Backwards(there, order[0].steps);
    if (HoldsDays(scope, order[0].ref)) there = Day(there);
    if (const auto also = cut.find(order[0].ref); also != cut.end())
      Narrow(there, also->second, false);
    else if (best && !best->second.low.open && !best->second.high.open && (there.low.open || there.high.open))
      return best;
    if (there.low.open && there.high.open) return best;
    return Seed{order[0].ref, there};
  }
  // Of times that are one or the other, those that are bounded, if all that are agree in it.
  template <typename Add>
  void Coalesced(const Scope& scope, const Bounds& bounds, const Times& times, const Add& add) {
    (void)scope;
    for (const Time& t : times)
      if (t.ref.item < 0 || !bounds.of.count(t.ref)) return;
    const TimeReach first = Through(bounds.of.at(times[0].ref), times[0].steps);
    for (const Time& t : times)
      if (!(Through(bounds.of.at(t.ref), t.steps) == first)) return;
    add(times[0]);
  }

  // ---- signs ----

  void Signs(SqlReach& out) {
    for (const SqlQuery& q : tree_.queries) {
      std::string what;
      std::size_t at = q.at;
      if (q.limited) what = "a LIMIT", at = q.limit_at;
      for (std::size_t b = 0; b < q.branches(); ++b) {
        if (!q.selects[b]) continue;
        const SqlSelect& s = *q.selects[b];
        std::vector<const SqlItem*> flat;
        Flatten(s.from, flat);
        std::string here = what;
        std::size_t here_at = at;
        const auto sign = [&](std::string text, std::size_t where) {
          if (here.empty()) here = std::move(text), here_at = where;
        };
        if (!s.distinct_on.empty()) sign("a DISTINCT ON", s.at);
        if (s.group_sets) sign("totals over groups", s.at);
        const auto& [scope, entered] = Enter(s, q);
        const Level& level = *entered;
        for (const auto& [call, l] : scope.windows)
          if (l == &level) sign("a window function", call->at);
        if (!scope.odd.empty()) sign(scope.odd, scope.odd_at);
        std::map<int, int> times;
        for (const Item& item : scope.items) {
          if (item.source.kind == Source::Kind::kParent) out.named.insert(item.source.parent);
          if (item.level != &level && item.source.kind != Source::Kind::kThis &&
              item.source.kind != Source::Kind::kSpine)
            sign("a subquery", item.item->at);
          if (item.source.kind == Source::Kind::kParent && ++times[item.source.parent] > 1)
            sign("a join of a table with itself", item.item->at);
        }
        for (const Tie& tie : scope.ties)
          if (tie.op != Tie::Op::kEqual && tie.left.ref.item >= 0 && tie.right.ref.item >= 0 &&
              tie.left.ref.item != tie.right.ref.item)
            sign("a join by a range", s.at);
        if (here.empty()) continue;
        std::set<const SqlQuery*> seen;
        for (const Item& item : scope.items) Mark(item, here, here_at, out, seen, 0);
      }
    }
  }
  void Mark(const Item& item, const std::string& what, std::size_t at, SqlReach& out,
            std::set<const SqlQuery*>& seen, int depth) {
    if (item.source.kind == Source::Kind::kParent)
      out.signs.try_emplace(item.source.parent, what, LineOf(at));
    if (item.source.kind != Source::Kind::kQuery || depth > 40 || !seen.insert(item.source.query).second)
      return;
    const SqlQuery& q = *item.source.query;
    for (std::size_t b = 0; b < q.branches(); ++b) {
      std::vector<const SqlItem*> flat;
      if (!q.selects[b]) continue;
      Flatten(q.selects[b]->from, flat);
      for (const SqlItem* f : flat) {
        Item inner;
        inner.item = f;
        inner.source = SourceOf(*f, &q);
        Mark(inner, what, at, out, seen, depth + 1);
      }
    }
  }

  const SqlTree& tree_;
  std::string_view sql_;
  const SqlReachOptions& o_;
  std::map<const SqlQuery*, std::pair<std::vector<std::string>, bool>> columns_;
  std::map<std::pair<const SqlQuery*, std::string>, bool> day_columns_;
  std::map<const SqlQuery*, bool> recursive_;
  std::map<const SqlSelect*, std::unique_ptr<std::pair<Scope, const Level*>>> scopes_;
  std::set<std::pair<int, std::string>> days_seen_;
  std::set<std::pair<const SqlQuery*, std::string>> query_days_;
  std::set<const SqlExpr*> following_;
  std::deque<SqlExpr> made_;
  std::set<std::string> visited_;
  std::set<const SqlQuery*> everything_;
  std::vector<SqlColumnUse> out_;
  std::set<int> whole_;  // parents in it that are read as a whole
  struct Waiting {
    const SqlQuery* query;
    std::string why;
    std::size_t at;
  };
  std::vector<Waiting> waiting_;
  bool draining_ = false;
  int budget_ = 0;
};

}  // namespace

SqlReach ReachOf(const SqlTree& tree, std::string_view sql, const SqlReachOptions& options,
                 const std::vector<std::string>& wanted) {
  return Reacher(tree, sql, options).All(wanted);
}

}  // namespace backreach
