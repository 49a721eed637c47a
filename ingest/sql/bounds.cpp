// Each comparison of a filter is cut out with its two sides, and the side that holds the time of the run
// becomes the bound, if the other names something of the rows.

#include "ingest/sql/bounds.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "graph/base/words.hpp"
#include "ingest/sql/jinja.hpp"

namespace backreach {

namespace {

using Kind = SqlToken::Kind;

// A comparison by the signs at `i`: which way, and where its right side begins.
enum class Compares { kNot, kAbove, kBelow, kEqual, kBetween, kIn };
struct Comparison {
  Compares how = Compares::kNot;
  std::size_t right = 0;
  bool strict = false;
};
Comparison ComparisonAt(const SqlTokenList& t, std::size_t i) {
  const auto adjacent = [&](std::size_t k) {  // the symbol before belongs to the same operator
    return k > 0 && t[k - 1].kind == Kind::kSymbol && t[k - 1].at + 1 == t[k].at &&
           std::string_view("<>=!-:").find(t[k - 1].text[0]) != std::string_view::npos;
  };
  const auto follows = [&](char c) {
    return i + 1 < t.size() && t[i + 1].IsSymbol(c) && t[i + 1].at == t[i].at + 1;
  };
  if (t[i].kind == Kind::kWord) {
    if (t[i].Is("BETWEEN")) return {Compares::kBetween, i + 1};
    if (t[i].Is("IN") && i + 1 < t.size() && t[i + 1].IsSymbol('(')) return {Compares::kIn, i + 2};
    return {};
  }
  if (t[i].kind != Kind::kSymbol || std::string_view("<>=").find(t[i].text[0]) == std::string_view::npos)
    return {};
  if (adjacent(i)) return {};
  const bool equal = follows('=');
  if (t[i].IsSymbol('>') && !follows('>')) return {Compares::kAbove, i + (equal ? 2 : 1), !equal};
  if (t[i].IsSymbol('<') && !follows('<') && !follows('>'))
    return {Compares::kBelow, i + (equal ? 2 : 1), !equal};
  if (t[i].IsSymbol('=') && !follows('>')) return {Compares::kEqual, i + 1 + (follows('=') ? 1 : 0)};
  return {};
}

bool Ends(const SqlToken& t) {
  static constexpr std::string_view kWords[] = {"AND",   "OR",     "GROUP",  "ORDER",    "HAVING", "QUALIFY",
                                                "UNION", "LIMIT",  "THEN",   "WHERE",    "WHEN",   "ELSE",
                                                "END",   "WINDOW", "EXCEPT", "INTERSECT"};
  return t.IsSymbol(';') || t.kind == Kind::kBlock || Among(t, kWords);
}
// The end of an expression that begins at `from`. A CASE is an expression up to its END.
std::size_t RightEnd(const SqlTokenList& t, std::size_t from) {
  int depth = 0, cases = 0;
  for (std::size_t i = from; i < t.size(); ++i) {
    if (t[i].IsSymbol('(')) ++depth;
    if (t[i].IsSymbol(')') && depth-- == 0) return i;
    if (depth != 0) continue;
    if (t[i].Is("CASE")) ++cases;
    if (cases == 0 && (Ends(t[i]) || t[i].IsSymbol(','))) return i;
    if (t[i].Is("END")) --cases;
  }
  return t.size();
}
std::size_t LeftStart(const SqlTokenList& t, std::size_t end) {
  int depth = 0, cases = 0;
  for (std::size_t i = end; i-- > 0;) {
    if (t[i].IsSymbol(')')) ++depth;
    if (t[i].IsSymbol('(') && depth-- == 0) return i + 1;
    static constexpr std::string_view kWords[] = {"ON", "NOT", "SELECT", "FROM", "CASE", "BETWEEN"};
    if (depth != 0) continue;
    if (t[i].Is("END") && i + 1 == end) {
      ++cases;
      continue;
    }
    if (cases > 0) {
      if (t[i].Is("CASE")) --cases;
      continue;
    }
    if (Ends(t[i]) || t[i].IsSymbol(',') || Among(t[i], kWords)) return i + 1;
  }
  return 0;
}

// What a comparison takes nothing older than.
struct Limit {
  bool bounds = false;
  std::optional<RunBound> reach;  // nothing: nobody knows
  bool own = false;
};
constexpr auto kNoLimit = Limit{};
Limit Unknown() { return {true, std::nullopt, false}; }

using What = SqlWorth::Kind;
using Counts = TimeFunction::Counts;

class Comparer {
 public:
  explicit Comparer(SqlDialect dialect) : dialect_(dialect) {}

  // The time of the run less the rows is at most so much: `now - ts <= 3 days`.
  Limit Apart(const SqlWorth& apart, const SqlWorth& most, bool negative, bool strict) const {
    if (apart.unclear || most.now || most.rows || most.unclear) return Unknown();
    SqlSteps steps = apart.steps, row_steps = apart.row_steps;
    const double sign = negative ? -1 : 1;
    SqlSteps lengths = most.steps;
    if (most.kind == What::kText) {
      const auto read = LengthsOf(most.text, dialect_);
      if (!read) return Unknown();
      for (const TimeLength& length : *read) lengths.push_back({std::nullopt, length, false});
    } else if (most.kind == What::kNumber) {
      if (apart.unit.times == 0) return Unknown();
      double n = sign * (negative ? most.number : most.least.value_or(most.number));
      // By whole units: less than 3 is at most 2, and at most 2 whole ones that have passed is less than 3.
      const bool whole = apart.counts != Counts::kExact;
      if (whole) n = strict ? std::ceil(n) - 1 : std::floor(n), strict = false;
      const bool passed = apart.counts == Counts::kElapsed && apart.unit.unit <= Duration::Unit::kWeek;
      if (passed) n += 1, strict = true;
      if (apart.counts == Counts::kElapsed && !passed) {
        const auto cut = CutOf(apart.unit.unit == Duration::Unit::kYear ? "year" : "month");
        steps.push_back({cut, {}, false}), row_steps.push_back({cut, {}, false});
      }
      // Months are not equally long: months_between by as much as they differ.
      if (!whole && apart.unit.unit >= Duration::Unit::kMonth)
        lengths.push_back({std::nullopt, {*UnitOf("day"), -3}, false});
      lengths.push_back({std::nullopt, {apart.unit, n}, false});
      return Behind(apart, std::move(steps), lengths, 1, row_steps, strict);
    } else if (most.kind != What::kLength) {
      return Unknown();
    }
    return Behind(apart, std::move(steps), lengths, sign, row_steps, strict);
  }

  // `big >= small`, or `>`.
  Limit AtLeast(const SqlWorth& big, const SqlWorth& small, bool strict) const {
    const bool rows = Rows(big);
    if (small.kind == What::kTime && rows) {
      if (big.unclear && !small.own) return Unknown();
      if (big.unclear) return kNoLimit;
      Limit out{true, BoundBehind(small.steps, big.row_steps, strict), small.own};
      out.reach->clock = small.zone;
      return out;
    }
    const bool known = Amount(big) || Rows(big) || big.kind == What::kUnknown;
    if (small.kind == What::kApart && (!small.reversed || small.absolute) && !big.now && known)
      return Apart(small, big, false, strict);
    if (big.kind == What::kApart && big.reversed && !big.absolute && !small.now && Amount(small))
      return Apart(big, small, true, strict);
    // Something is made of the time of the run, and nobody knows what.
    if (small.kind == What::kUnknown && small.now && !small.window) {
      if (!small.rows && (rows || big.kind == What::kUnknown)) return Unknown();
      if ((small.rows || small.unit_like) && Amount(big)) return Unknown();
    }
    return kNoLimit;
  }

  Limit Equal(const SqlWorth& a, const SqlWorth& b) const {
    const SqlWorth& small = a.kind == What::kTime || a.kind == What::kApart || (a.now && !b.now) ? a : b;
    const SqlWorth& big = &small == &a ? b : a;
    if (small.kind == What::kApart && Amount(big)) {
      const bool near = big.kind == What::kNumber && std::abs(big.number) <= 1;
      SqlWorth apart = small;
      return near ? Apart(apart, big, apart.reversed, false) : Unknown();
    }
    Limit out = AtLeast(big, small, false);
    if (!out.bounds || !out.reach) return out;
    // What lies between the one time that is taken and the run is not.
    if (small.own || !Near(*out.reach, small.steps)) return Unknown();
    return out;
  }

 private:
  static bool Amount(const SqlWorth& w) {
    return !w.now && !w.rows && (w.kind == What::kNumber || w.kind == What::kLength || w.kind == What::kText);
  }
  static bool Rows(const SqlWorth& w) {
    if (w.now) return false;
    if (w.kind == What::kRows || (w.kind == What::kUnknown && w.written)) return true;
    return w.kind == What::kText && w.written && !w.text.empty() && !(w.text[0] >= '0' && w.text[0] <= '9');
  }
  Limit Behind(const SqlWorth& apart, SqlSteps steps, const SqlSteps& lengths, double sign,
               const SqlSteps& row_steps, bool strict) const {
    for (const SqlStep& step : lengths)
      steps.push_back({std::nullopt, {step.length.unit, -sign * step.length.number}, false});
    Limit out{true, BoundBehind(std::move(steps), row_steps, strict), apart.own};
    out.reach->clock = apart.zone;
    return out;
  }
  // One of its own units back from the run, or less.
  static bool Near(const RunBound& bound, const SqlSteps& steps) {
    std::optional<Grain::Unit> unit;
    for (const RunBound::Step& step : bound.steps)
      if (step.floor) unit = step.floor;
    if (!unit || steps.empty()) return false;
    RunBound before;
    before.Floor(*unit);
    const bool quarter = *unit == Grain::Unit::kQuarter;
    before.Shift(quarter ? -3 : -1, quarter || *unit == Grain::Unit::kMonth ? Duration::Unit::kMonth
                                    : *unit == Grain::Unit::kYear           ? Duration::Unit::kYear
                                    : *unit == Grain::Unit::kWeek           ? Duration::Unit::kWeek
                                    : *unit == Grain::Unit::kHour           ? Duration::Unit::kHour
                                                                            : Duration::Unit::kDay);
    return bound.Typical() >= before.Typical();
  }

  SqlDialect dialect_;
};

// The ON of an outer join leaves no row of its first table out.
bool OfOuterJoin(const SqlClauses& clauses, std::size_t on) {
  const SqlTokenList& t = clauses.tokens();
  const SqlClause join = clauses.Of(on);
  if (join.word != "JOIN" || join.at == 0) return false;
  std::size_t before = join.at - 1;
  if (t[before].Is("OUTER") && before > 0) --before;
  return t[before].Is("LEFT") || t[before].Is("FULL");
}

// Cheap, and true for every token that may hold the time of the run or the table's own newest row.
bool HintsAtNow(const SqlToken& t, SqlDialect dialect) {
  if (t.kind == Kind::kSymbol || t.kind == Kind::kNumber || t.text.size() < 3) return false;
  if (t.kind == Kind::kWord)
    return NowNamed(t.text, dialect, true) != NowKind::kNo ||
           NowNamed(t.text, dialect, false) != NowKind::kNo || t.Is("AGE");
  if (t.kind == Kind::kBlock && !StartsWith(t.text, "set ")) return false;
  if (t.kind == Kind::kString && t.text.size() <= 9 && NowInString(t.text) != NowKind::kNo) return true;
  if (t.kind == Kind::kJinja) {
    if (t.text == "this") return true;
    for (const char* call : {"ref(", "source(", "config(", "this"})
      if (StartsWith(t.text, call)) return false;
  }
  if (t.kind != Kind::kJinja && t.kind != Kind::kBlock && t.text.find("{{") == std::string_view::npos)
    return false;
  const std::string upper = Upper(t.text);
  for (const char* word : {"CURRENT_", "NOW", "TODAY", "DATE", "TIME", "RUN_STARTED_AT", "YESTERDAY", "_AGO",
                           "RUN_QUERY", "GET_SINGLE_VALUE", "TOMORROW"})
    if (upper.find(word) != std::string::npos) return true;
  return false;
}

class BoundFinder {
 public:
  // `anywhere`: the tokens are a condition by themselves.
  BoundFinder(const SqlTokenList& t, bool anywhere, SqlDialect dialect)
      : t_(t), clauses_(t), anywhere_(anywhere), dialect_(dialect) {}

  std::vector<SqlBound> Run() {
    std::size_t first = 0;
    while (first < t_.size() && !HintsAtNow(t_[first], dialect_)) ++first;
    if (first == t_.size()) return {};
    seen_.resize(t_.size() + 1);
    for (std::size_t i = 0; i < t_.size(); ++i) {
      const bool text =
          t_[i].kind == Kind::kJinja || t_[i].kind == Kind::kString || t_[i].kind == Kind::kQuoted;
      seen_[i + 1].hints = seen_[i].hints + (i >= first && HintsAtNow(t_[i], dialect_) ? 1 : 0);
      seen_[i + 1].texts = seen_[i].texts + (text ? 1 : 0);
    }
    branches_.emplace(t_);
    for (std::size_t i = 0; i < t_.size(); ++i) {
      const Kind kind = t_[i].kind;
      if (kind != Kind::kBlock && kind != Kind::kSymbol && kind != Kind::kWord) continue;
      if (kind == Kind::kWord && !((1u << (t_[i].text[0] & 31)) & Letters("BI"))) continue;
      if (kind == Kind::kBlock) See(i);
      const Comparison comparison = ComparisonAt(t_, i);
      if (comparison.how != Compares::kNot && comparison.right < t_.size()) Compare(i, comparison);
    }
    return std::move(out_);
  }

 private:
  // {% set name = ... %}, {% set name %} ... {% endset %}
  void See(std::size_t i) {
    if (!StartsWith(t_[i].text, "set ")) return;
    JinjaValue value;
    value.at = i;
    const std::size_t equals = t_[i].text.find('=');
    if (equals != std::string_view::npos) {
      value.text = t_[i].text.substr(equals + 1);
    } else {
      value.from = i + 1;
      if (ends_at_ <= i) {
        ends_at_ = i + 1;
        while (ends_at_ < t_.size() && !StartsWith(t_[ends_at_].text, "endset")) ++ends_at_;
      }
      value.to = ends_at_;
    }
    named_hint_ = named_hint_ || seen_[std::max(value.to, i + 1)].hints > seen_[i].hints;
    auto& values = names_[NameSetBy(t_[i])];
    // A value under an if is one of several.
    if (values.empty() || !branches_->Conditional(i)) values.clear();
    values.push_back(value);
  }

  SqlWorth Read(std::size_t from, std::size_t to, std::size_t choice, SqlSide& side) {
    ReadSide(t_, from, to, names_, choice, dialect_, side);
    return WorthOf(side.parts, dialect_);
  }

  bool MayHoldNow(std::size_t from, std::size_t to) const {
    if (from >= to) return false;
    return seen_[to].hints > seen_[from].hints || (named_hint_ && seen_[to].texts > seen_[from].texts);
  }

  void Compare(std::size_t at, Comparison comparison) {
    const std::size_t left = LeftStart(t_, at);
    const bool branches = t_[comparison.right].kind == Kind::kBlock;
    const bool list = comparison.how == Compares::kIn;
    const std::size_t right_end = branches || list ? t_.size() : RightEnd(t_, comparison.right);
    if (!MayHoldNow(left, right_end)) return;
    // Out of brackets of conditions; a NOT before one turns what is in it around.
    bool negated = left > 0 && t_[left - 1].Is("NOT");
    SqlClause clause = clauses_.Of(at);
    while (clause.word == "(" && !Calls(clause)) {
      if (clause.at > 0 && t_[clause.at - 1].Is("NOT")) negated = !negated;
      clause = clauses_.Of(clause.at);
    }
    if (!anywhere_) {
      if (!Filters(clause.word)) return;
      // An equality may only tie two tables in an ON.
      if (clause.word == "ON" && (comparison.how == Compares::kEqual || OfOuterJoin(clauses_, clause.at)))
        return;
    }
    if (negated && !Turned(comparison)) return;
    if (branches) {
      // A side in branches: each by itself.
      std::size_t from = comparison.right + 1;
      int ifs = 1;
      for (std::size_t i = from; i < t_.size() && ifs > 0; ++i) {
        if (t_[i].kind != Kind::kBlock) continue;
        if (StartsWith(t_[i].text, "if")) ++ifs;
        if (StartsWith(t_[i].text, "endif")) --ifs;
        if (ifs > 1 || (ifs == 1 && !StartsWith(t_[i].text, "el"))) continue;
        Sides(comparison, at, left, from, i, from);
        from = i + 1;
      }
      return;
    }
    if (list) return Listed(at, left, comparison.right);
    Sides(comparison, at, left, comparison.right, right_end, at);
  }
  static bool Turned(Comparison& comparison) {
    if (comparison.how != Compares::kAbove && comparison.how != Compares::kBelow) return false;
    comparison.how = comparison.how == Compares::kAbove ? Compares::kBelow : Compares::kAbove;
    comparison.strict = !comparison.strict;
    return true;
  }

  // Not a bracket that only groups conditions.
  bool Calls(const SqlClause& bracket) const {
    if (bracket.at == 0 || t_[bracket.at - 1].kind != Kind::kWord) return false;
    const SqlToken& before = t_[bracket.at - 1];
    return !before.Is("AND") && !before.Is("OR") && !before.Is("NOT") && !Filters(Upper(before.text));
  }

  // day in (current_date, current_date - 1): down to where a day is left out.
  void Listed(std::size_t at, std::size_t left, std::size_t from) {
    std::vector<SqlBound> each;
    std::swap(each, out_);
    for (std::size_t end = 0; from < t_.size(); from = end + 1) {
      end = RightEnd(t_, from);
      Sides({Compares::kIn, from}, at, left, from, end, at);
      if (end >= t_.size() || !t_[end].IsSymbol(',')) break;
    }
    std::swap(each, out_);
    if (each.empty()) return;
    const auto where = [](const SqlBound& b) { return b.reach ? b.reach->Typical() : kMinInstant; };
    std::stable_sort(each.begin(), each.end(),
                     [&](const SqlBound& a, const SqlBound& b) { return where(a) > where(b); });
    std::size_t last = 0;
    while (last + 1 < each.size() && each[last + 1].reach &&
           where(each[last]) - where(each[last + 1]) <= kDay)
      ++last;
    RunBound day;
    day.Floor(Grain::Unit::kDay);
    day.Shift(-1, Duration::Unit::kDay);
    if (each[0].reach && where(each[0]) < day.Typical()) each[last].reach.reset();
    out_.push_back(std::move(each[last]));
  }

  // What the comparison comes to, its second side read up to `to`.
  Limit Limited(const Comparison& comparison, const SqlWorth& l, const SqlWorth& r, std::size_t to,
                std::size_t choice) {
    const Comparer compare(dialect_);
    switch (comparison.how) {
      case Compares::kAbove: return compare.AtLeast(l, r, comparison.strict);
      case Compares::kBelow: return compare.AtLeast(r, l, comparison.strict);
      case Compares::kEqual: return compare.Equal(l, r);
      case Compares::kIn: return Item(l, r);
      case Compares::kBetween: break;
      case Compares::kNot: return kNoLimit;
    }
    if (const Limit low = compare.AtLeast(l, r, false); low.bounds) return low;
    if (to >= t_.size() || !t_[to].Is("AND")) return kNoLimit;
    SqlSide side;
    const SqlWorth high = Read(to + 1, RightEnd(t_, to + 1), choice, side);
    // now() between a and b: two columns say from when to when something holds.
    if (l.kind == What::kTime && high.text != r.text) return kNoLimit;
    return compare.AtLeast(high, l, false);
  }
  // One of a list: how far apart its items are is seen there.
  Limit Item(const SqlWorth& l, const SqlWorth& r) const {
    const Comparer compare(dialect_);
    if (l.kind == What::kApart && r.kind == What::kNumber) return compare.Apart(l, r, l.reversed, false);
    return compare.AtLeast(l, r, false);
  }

  void Sides(const Comparison& comparison, std::size_t at, std::size_t left, std::size_t from, std::size_t to,
             std::size_t place) {
    std::size_t choices = 1;
    for (std::size_t choice = 0; choice < choices; ++choice) {
      SqlSide left_side, right_side;
      const SqlWorth l = Read(left, at, choice, left_side), r = Read(from, to, choice, right_side);
      if (choice == 0)
        for (const auto& [name, values] : names_) choices = std::max(choices, values.size());
      const Limit limit = Limited(comparison, l, r, to, choice);
      if (!limit.bounds) continue;
      const SqlSide& time = r.now ? right_side : left_side;
      const SqlSide& other = r.now ? left_side : right_side;
      SqlBound bound;
      bound.at = time.set_at > 0 && branches_->Conditional(time.set_at - 1) ? time.set_at - 1 : place;
      for (const SqlSide* side : {&time, &other}) {
        bound.unset.insert(bound.unset.end(), side->unset.begin(), side->unset.end());
        bound.unless.insert(bound.unless.end(), side->either.begin(), side->either.end());
        bound.defaults.insert(bound.defaults.end(), side->given.begin(), side->given.end());
      }
      if (bound.unset.empty()) bound.reach = limit.reach;
      bound.own = limit.own;
      bound.from = left, bound.to = to;
      bound.aside = branches_->AsideOnly(bound.at);
      bound.rerun = branches_->RerunOnly(bound.at);
      bound.first = branches_->FirstOnly(bound.at);
      if (out_.empty() || out_.back().at != bound.at || out_.back().reach != bound.reach ||
          out_.back().unset != bound.unset)
        out_.push_back(std::move(bound));
    }
  }

  const SqlTokenList& t_;
  const SqlClauses clauses_;
  std::optional<SqlBranches> branches_;
  JinjaNames names_;
  bool anywhere_;
  SqlDialect dialect_;
  struct Seen {
    std::uint32_t hints = 0, texts = 0;
  };
  std::vector<Seen> seen_;   // how many before each token
  std::size_t ends_at_ = 0;  // the last endset that was looked for
  bool named_hint_ = false;  // a name that Jinja set may hold the time of the run
  std::vector<SqlBound> out_;
};

}  // namespace

std::vector<SqlBound> RunBoundsOf(const SqlTokenList& t, SqlDialect dialect) {
  return BoundFinder(t, false, dialect).Run();
}

namespace {

// The date that stands alone on the right of a comparison, as a day; the day after where it is excluded.
std::optional<std::int64_t> DateAt(const SqlTokenList& t, const Comparison& comparison) {
  std::size_t i = comparison.right;
  if (i < t.size() && (t[i].Is("DATE") || t[i].Is("TIMESTAMP"))) ++i;
  if (i >= t.size() || t[i].kind != Kind::kString || RightEnd(t, i) != i + 1) return std::nullopt;
  const auto instant =
      t[i].text.size() == 10 ? ParseInstant(std::string(t[i].text) + "T00:00:00Z", true) : std::nullopt;
  if (!instant) return std::nullopt;
  return FloorDiv(*instant, kDay) + (comparison.strict ? 1 : 0);
}

}  // namespace

PredicateBound ReadPredicate(const std::string& predicate, SqlDialect dialect) {
  PredicateBound out;
  const SqlTokens t = TokenizeSql(predicate, dialect);
  bool compared = false, literal = false;
  for (std::size_t i = 0; i < t.size(); ++i) {
    if (Upper(t[i].text) == "DBT_INTERNAL_SOURCE") return out;  // ties target to source rows: no bound
    const Compares how = ComparisonAt(t, i).how;
    if (how == Compares::kAbove && !out.since) out.since = DateAt(t, ComparisonAt(t, i));
    compared = compared || how == Compares::kAbove || how == Compares::kBetween || how == Compares::kBelow;
    // A date, a variable or a call: some bound in time, how far is not known.
    literal = literal || t[i].kind == Kind::kJinja ||
              (t[i].kind == Kind::kString && t[i].text.size() >= 10 && t[i].text[4] == '-');
  }
  const auto bounds = BoundFinder(t, true, dialect).Run();
  out.bounds = !bounds.empty() || (compared && literal);
  if (!bounds.empty()) out.reach = bounds.front().reach, out.since.reset();
  return out;
}

}  // namespace backreach
