// Each comparison of a filter is cut out with its two sides, and the side that holds the time of the run
// becomes the bound, if the other names something of the rows.

#include "ingest/sql_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "graph/words.hpp"
#include "ingest/sql_jinja.hpp"

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
// The end of an expression that begins at `from`.
std::size_t RightEnd(const SqlTokenList& t, std::size_t from) {
  int depth = 0;
  for (std::size_t i = from; i < t.size(); ++i) {
    if (t[i].IsSymbol('(')) ++depth;
    if (t[i].IsSymbol(')') && depth-- == 0) return i;
    if (depth == 0 && (Ends(t[i]) || t[i].IsSymbol(','))) return i;
  }
  return t.size();
}
std::size_t LeftStart(const SqlTokenList& t, std::size_t end) {
  int depth = 0;
  for (std::size_t i = end; i-- > 0;) {
    if (t[i].IsSymbol(')')) ++depth;
    if (t[i].IsSymbol('(') && depth-- == 0) return i + 1;
    static constexpr std::string_view kWords[] = {"ON", "NOT", "SELECT", "FROM", "CASE", "BETWEEN"};
    if (depth == 0 && (Ends(t[i]) || t[i].IsSymbol(',') || Among(t[i], kWords))) return i + 1;
  }
  return 0;
}

// The other side's own lengths go over to this one: ts + 3 days >= now is ts >= now - 3 days.
void TakeOver(RunBound& bound, const SqlWorth& other) {
  for (const RunBound::Step& step : other.bound.steps)
    if (!step.floor) bound.Shift(-step.shift.count, step.shift.unit);
}

// What a comparison takes nothing older than; nothing if it is no such bound.
std::optional<RunBound> BoundBy(Compares how, const SqlWorth& left, const SqlWorth& right) {
  const auto difference = [](const SqlWorth& of, const SqlWorth& amount) -> std::optional<RunBound> {
    RunBound out;
    const bool whole_days = of.unit.unit != Duration::Unit::kHour && of.unit.unit != Duration::Unit::kMinute;
    if (of.difference && whole_days) out.Floor(Grain::Unit::kDay);
    if (!of.difference)
      for (const RunBound::Step& step : of.bound.steps)
        if (step.floor) out.steps.push_back(step);
    if (amount.number)
      out.Shift(-static_cast<std::int64_t>(std::floor(*amount.number * of.unit.times)), of.unit.unit);
    else
      for (const RunBound::Step& step : amount.bound.steps)
        if (!step.floor) out.Shift(-std::abs(step.shift.count), step.shift.unit);
    return out;
  };
  const auto length = [](const SqlWorth& w) { return !w.now && !w.column && (w.number || w.amounts); };
  const auto apart = [](const SqlWorth& w) { return w.now && (w.difference || w.column); };
  const auto plain = [&](const SqlWorth& time, const SqlWorth& other) -> std::optional<RunBound> {
    if (!time.now || other.now || time.difference || time.column || !(other.column || other.written))
      return std::nullopt;
    RunBound out = time.bound;
    TakeOver(out, other);
    return out;
  };
  switch (how) {
    case Compares::kAbove:
    case Compares::kBetween:
    case Compares::kIn:
      if (apart(right) && length(left)) return difference(right, left);
      return plain(right, left);
    case Compares::kBelow:
      if (apart(left) && length(right)) return difference(left, right);
      return plain(left, right);
    case Compares::kEqual:
      if (apart(left) && length(right)) return difference(left, right);
      if (apart(right) && length(left)) return difference(right, left);
      if (const auto bound = plain(right, left)) return bound;
      return plain(left, right);
    case Compares::kNot: break;
  }
  return std::nullopt;
}

// Above a day and not on it: a date of that day is not taken.
void Without(RunBound& bound, const TimeUnit& unit) {
  bool days = false;
  for (const RunBound::Step& step : bound.steps)
    days = step.floor ? true : days && step.shift.unit >= Duration::Unit::kDay;
  if (!days) return;
  const bool larger = unit.unit > Duration::Unit::kDay && unit.times >= 1;
  bound.Shift(larger ? static_cast<std::int64_t>(unit.times) : 1, larger ? unit.unit : Duration::Unit::kDay);
}

// The ON of an outer join leaves no row of its first table out.
bool OfOuterJoin(const SqlTokenList& t, std::size_t on) {
  const SqlClause join = ClauseOf(t, on);
  if (join.word != "JOIN" || join.at == 0) return false;
  std::size_t before = join.at - 1;
  if (t[before].Is("OUTER") && before > 0) --before;
  return t[before].Is("LEFT") || t[before].Is("FULL");
}

// Cheap, and true for every token that may hold the time of the run.
bool HintsAtNow(const SqlToken& t) {
  if (t.kind == Kind::kSymbol || t.kind == Kind::kNumber || t.text.size() < 3) return false;
  if (t.kind == Kind::kWord) return NowOf(t) != NowKind::kNo || t.Is("UNIX_TIMESTAMP");
  if (t.kind == Kind::kBlock && !StartsWith(t.text, "set ")) return false;
  if (t.kind == Kind::kJinja)
    for (const char* call : {"ref(", "source(", "config(", "this"})
      if (StartsWith(t.text, call)) return false;
  if (t.kind != Kind::kJinja && t.kind != Kind::kBlock && t.text.find("{{") == std::string_view::npos)
    return false;
  const std::string upper = Upper(t.text);
  for (const char* word : {"CURRENT_", "NOW", "TODAY", "DATE", "TIME", "RUN_STARTED_AT", "YESTERDAY", "_AGO"})
    if (upper.find(word) != std::string::npos) return true;
  return false;
}

class BoundFinder {
 public:
  // `anywhere`: the tokens are a condition by themselves.
  BoundFinder(const SqlTokenList& t, bool anywhere) : t_(t), anywhere_(anywhere) {}

  std::vector<SqlBound> Run() {
    std::size_t first = 0;
    while (first < t_.size() && !HintsAtNow(t_[first])) ++first;
    if (first == t_.size()) return {};
    hints_.resize(t_.size());
    for (std::size_t i = first; i < t_.size(); ++i) hints_[i] = HintsAtNow(t_[i]);
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
      value.from = value.to = i + 1;
      while (value.to < t_.size() && !StartsWith(t_[value.to].text, "endset")) ++value.to;
    }
    for (std::size_t k = i; k < std::max(value.to, i + 1); ++k) named_hint_ = named_hint_ || hints_[k];
    auto& values = names_[NameSetBy(t_[i])];
    // A value under an if is one of several.
    if (values.empty() || !branches_->Conditional(i)) values.clear();
    values.push_back(value);
  }

  SqlWorth Read(std::size_t from, std::size_t to, std::size_t choice, SqlSide& side) {
    ReadSide(t_, from, to, names_, choice, side);
    return WorthOf(side.parts);
  }

  bool MayHoldNow(std::size_t from, std::size_t to) const {
    for (std::size_t i = from; i < to; ++i)
      if (hints_[i] || (named_hint_ && (t_[i].kind == Kind::kJinja || t_[i].kind == Kind::kString ||
                                        t_[i].kind == Kind::kQuoted)))
        return true;
    return false;
  }

  void Compare(std::size_t at, const Comparison& comparison) {
    const std::size_t left = LeftStart(t_, at);
    const bool branches = t_[comparison.right].kind == Kind::kBlock;
    const bool list = comparison.how == Compares::kIn;
    const std::size_t right_end = branches || list ? t_.size() : RightEnd(t_, comparison.right);
    if (!MayHoldNow(left, right_end)) return;
    if (!anywhere_) {
      SqlClause clause = ClauseOf(t_, at);
      while (clause.word == "(" && !Calls(clause)) clause = ClauseOf(t_, clause.at);
      if (!Filters(clause.word)) return;
      // An equality may only tie two tables in an ON.
      if (clause.word == "ON" && (comparison.how == Compares::kEqual || OfOuterJoin(t_, clause.at))) return;
    }
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

  // Not a bracket that only groups conditions.
  bool Calls(const SqlClause& bracket) const {
    if (bracket.at == 0 || t_[bracket.at - 1].kind != Kind::kWord) return false;
    const SqlToken& before = t_[bracket.at - 1];
    return !before.Is("AND") && !before.Is("OR") && !before.Is("NOT") && !Filters(Upper(before.text));
  }

  // day in (current_date, current_date - 1): down to the earliest.
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
    out_.push_back(*std::min_element(each.begin(), each.end(), [](const SqlBound& a, const SqlBound& b) {
      return (a.reach ? a.reach->Typical() : kMaxInstant) < (b.reach ? b.reach->Typical() : kMaxInstant);
    }));
  }

  void Sides(const Comparison& comparison, std::size_t at, std::size_t left, std::size_t from, std::size_t to,
             std::size_t place) {
    std::size_t choices = 1;
    for (std::size_t choice = 0; choice < choices; ++choice) {
      SqlSide left_side, right_side;
      const SqlWorth l = Read(left, at, choice, left_side), r = Read(from, to, choice, right_side);
      if (choice == 0)
        for (const auto& [name, values] : names_) choices = std::max(choices, values.size());
      auto reach = BoundBy(comparison.how, l, r);
      if (!reach) continue;
      if (comparison.strict) Without(*reach, l.difference ? l.unit : r.unit);
      const SqlSide& time = r.now ? right_side : left_side;
      const SqlSide& other = r.now ? left_side : right_side;
      SqlBound bound;
      bound.at = time.set_at > 0 && branches_->Conditional(time.set_at - 1) ? time.set_at - 1 : place;
      for (const SqlSide* side : {&time, &other}) {
        bound.unset.insert(bound.unset.end(), side->unset.begin(), side->unset.end());
        bound.unless.insert(bound.unless.end(), side->either.begin(), side->either.end());
        bound.defaults.insert(bound.defaults.end(), side->given.begin(), side->given.end());
      }
      if (bound.unset.empty()) bound.reach = *reach;
      bound.aside = branches_->AsideOnly(bound.at);
      bound.rerun = branches_->RerunOnly(bound.at);
      bound.first = branches_->FirstOnly(bound.at);
      if (out_.empty() || out_.back().at != bound.at || out_.back().reach != bound.reach ||
          out_.back().unset != bound.unset)
        out_.push_back(std::move(bound));
    }
  }

  const SqlTokenList& t_;
  std::optional<SqlBranches> branches_;
  JinjaNames names_;
  bool anywhere_;
  std::vector<char> hints_;  // of each token
  bool named_hint_ = false;  // a name that Jinja set may hold the time of the run
  std::vector<SqlBound> out_;
};

}  // namespace

std::vector<SqlBound> RunBoundsOf(const SqlTokenList& t) { return BoundFinder(t, false).Run(); }

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

PredicateBound ReadPredicate(const std::string& predicate) {
  PredicateBound out;
  const SqlTokens t = TokenizeSql(predicate);
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
  const auto bounds = BoundFinder(t, true).Run();
  out.bounds = !bounds.empty() || (compared && literal);
  if (!bounds.empty()) out.reach = bounds.front().reach, out.since.reset();
  return out;
}

}  // namespace backreach
