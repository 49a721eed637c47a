// An expression is walked once, with a stack of its brackets. Each length of time that is added or taken off,
// and each start of a day or month, becomes a step; steps of inner brackets come first.

#include "ingest/sql_time.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "graph/words.hpp"
#include "ingest/sql_clauses.hpp"

namespace backreach {

namespace {

using Kind = SqlToken::Kind;

std::optional<TimeUnit> UnitOf(std::string_view word) {
  const std::string u = Lower(word);
  const auto is = [&](std::initializer_list<const char*> names) {
    return std::any_of(names.begin(), names.end(),
                       [&](const char* name) { return u == name || u == std::string(name) + "s"; });
  };
  if (is({"second", "sec"})) return TimeUnit{Duration::Unit::kMinute, 1.0 / 60};
  if (is({"minute", "min"})) return TimeUnit{Duration::Unit::kMinute, 1};
  if (is({"hour", "hr"})) return TimeUnit{Duration::Unit::kHour, 1};
  if (is({"day", "dayofyear", "weekday"})) return TimeUnit{Duration::Unit::kDay, 1};
  if (is({"week"})) return TimeUnit{Duration::Unit::kWeek, 1};
  if (is({"month", "mon", "mm"})) return TimeUnit{Duration::Unit::kMonth, 1};
  if (is({"quarter", "qtr"})) return TimeUnit{Duration::Unit::kMonth, 3};
  if (is({"year", "yr", "yyyy"})) return TimeUnit{Duration::Unit::kYear, 1};
  return std::nullopt;
}
std::optional<Grain::Unit> StartOf(std::string_view word) {
  const auto unit = UnitOf(word);
  if (!unit || unit->times < 1) return std::nullopt;
  switch (unit->unit) {
    case Duration::Unit::kDay: return Grain::Unit::kDay;
    // On which day a week starts is the warehouse's setting: the day itself is sure.
    case Duration::Unit::kWeek: return Grain::Unit::kDay;
    case Duration::Unit::kMonth: return unit->times == 3 ? Grain::Unit::kQuarter : Grain::Unit::kMonth;
    case Duration::Unit::kYear: return Grain::Unit::kYear;
    default: return std::nullopt;
  }
}

class Evaluation {
 public:
  explicit Evaluation(const std::vector<SqlPart>& parts) : p_(parts) {}

  SqlWorth Run() {
    Level base;
    levels_.push_back(base);
    for (const SqlPart& part : p_) {
      const std::string word = part.token.kind == Kind::kWord ? Upper(part.token.text) : "";
      if (word.find("UNIX") != std::string::npos || word.find("EPOCH") != std::string::npos)
        plain_ = word.find("MILLI") != std::string::npos ? TimeUnit{Duration::Unit::kMinute, 1.0 / 60000}
                                                         : TimeUnit{Duration::Unit::kMinute, 1.0 / 60};
    }
    for (i_ = 0; i_ < p_.size(); ++i_) Token();
    while (levels_.size() > 1) Close();
    std::stable_sort(steps_.begin(), steps_.end(),
                     [](const Ordered& a, const Ordered& b) { return a.key > b.key; });
    for (const Ordered& step : steps_) worth_.bound.steps.push_back(step.step);
    return worth_;
  }

 private:
  struct Level {
    std::string function;  // upper case, `` for a plain bracket
    int sign = 1;          // of what stands before the bracket
    bool signed_ = false;
    bool now = false;  // the time of the run was seen in it
    std::size_t open = 0;
    std::optional<Grain::Unit> start;  // a unit among its arguments
    bool as_date = false;
  };
  // Deeper brackets apply first; at one depth functions after what stands in them, then what follows them.
  struct Ordered {
    double key;
    RunBound::Step step;
  };

  const SqlToken& At(std::size_t i) const { return p_[i].token; }
  bool SymbolAt(std::size_t i, char c) const { return i < p_.size() && At(i).IsSymbol(c); }
  int Depth() const { return static_cast<int>(levels_.size()) - 1; }

  // -1 or +1 where a sign stands before `i`, 0 where none does.
  int SignBefore(std::size_t i) const {
    if (i == 0) return 0;
    return At(i - 1).IsSymbol('-') ? -1 : At(i - 1).IsSymbol('+') ? 1 : 0;
  }

  void Token() {
    const SqlToken& t = At(i_);
    if (t.IsSymbol('(')) return Open();
    if (t.IsSymbol(')')) {
      if (levels_.size() > 1) Close();
      return;
    }
    if (t.IsSymbol(':') && SymbolAt(i_ + 1, ':') && i_ + 2 < p_.size()) {
      if (At(i_ + 2).Is("DATE")) Postfix(Grain::Unit::kDay);
      i_ += 2;
      return;
    }
    if (const NowKind now = NowAt(p_, i_); now != NowKind::kNo) return SeeNow(now);
    if (t.kind == Kind::kNumber || t.kind == Kind::kString) return Number();
    if (t.kind == Kind::kQuoted) {
      worth_.column = worth_.column || !p_[i_].jinja;
      return;
    }
    if (t.kind != Kind::kWord) return;
    if (t.Is("INTERVAL") && !SymbolAt(i_ + 1, '=') && !SymbolAt(i_ + 1, '(')) return;  // its number comes
    if (const auto start = StartOf(t.text)) {
      if (!levels_.back().start) levels_.back().start = start;
    }
    if (SymbolAt(i_ + 1, '(')) return;
    if (p_[i_].jinja) {
      worth_.written = true;
      return;
    }
    const bool type = i_ > 0 && (At(i_ - 1).Is("AS") || At(i_ - 1).IsSymbol(':'));
    if (t.Is("DATE") && type) levels_.back().as_date = true;
    static constexpr std::string_view kNone[] = {"AS",   "INTERVAL", "AT",   "ZONE", "WITH", "WITHOUT", "NOT",
                                                 "NULL", "SELECT",   "FROM", "ANY",  "ALL",  "DISTINCT"};
    static constexpr std::string_view kTypes[] = {"DATE", "TIMESTAMP", "DATETIME", "TIME"};
    const bool literal = Among(t, kTypes) && i_ + 1 < p_.size() && At(i_ + 1).kind == Kind::kString;
    if (!type && !literal && !Among(t, kNone) && !(UnitOf(t.text) && UnitPlace())) worth_.column = true;
  }

  // Whether a word such as `day` is a unit here, not a column: behind a number, or among the arguments of a
  // function of dates.
  bool UnitPlace() const {
    if (i_ > 0 && (At(i_ - 1).kind == Kind::kNumber || At(i_ - 1).kind == Kind::kString)) return true;
    if (i_ + 1 < p_.size() && At(i_ + 1).Is("FROM")) return true;  // extract(day from ...)
    const std::string& f = levels_.back().function;
    for (const char* part : {"DATE", "TIME", "TRUNC", "DIFF", "PART", "LAST_DAY", "MONTH"})
      if (f.find(part) != std::string::npos)
        return SymbolAt(i_ + 1, ',') || (i_ > 0 && (At(i_ - 1).IsSymbol(',') || At(i_ - 1).IsSymbol('(')));
    return false;
  }

  void Open() {
    Level level;
    level.open = i_;
    std::size_t name = i_;
    if (i_ > 0 && At(i_ - 1).kind == Kind::kWord) {
      name = i_ - 1;
      level.function = Upper(At(name).text);
      while (name > 1 && At(name - 1).IsSymbol('.')) name -= 2;
    }
    const int sign = SignBefore(name);
    level.signed_ = sign != 0;
    level.sign = sign < 0 ? -1 : 1;
    if (Subtracts(level.function)) level.sign = -level.sign;
    if (level.function.find("DIFF") != std::string::npos || level.function == "AGE" ||
        level.function == "MONTHS_BETWEEN") {
      worth_.difference = true;
      if (level.function == "MONTHS_BETWEEN") worth_.unit = {Duration::Unit::kMonth, 1};
    }
    if (level.function == "STRFTIME" && i_ + 1 < p_.size()) {
      const std::string format(At(i_ + 1).text);
      const bool time = format.find("%H") != std::string::npos || format.find("%c") != std::string::npos ||
                        format.find("%s") != std::string::npos;
      if (!time) Postfix(format.find("%d") == std::string::npos ? Grain::Unit::kMonth : Grain::Unit::kDay);
    }
    levels_.push_back(level);
  }

  void Close() {
    const Level level = levels_.back();
    const double key = 2.0 * Depth();
    levels_.pop_back();
    levels_.back().now = levels_.back().now || level.now;
    if (worth_.difference && level.function.find("DIFF") != std::string::npos)
      for (std::size_t i = level.open; i < i_ && i < p_.size(); ++i)
        if (const auto unit = UnitOf(At(i).text); unit && At(i).kind != Kind::kSymbol) worth_.unit = *unit;
    if (!level.now) return;
    const std::string& f = level.function;
    std::optional<Grain::Unit> start;
    if (f.find("TRUNC") != std::string::npos || f == "TIME_SLICE")
      start = level.start ? level.start : f == "TRUNC" ? std::optional(Grain::Unit::kDay) : std::nullopt;
    else if (StartsWith(f, "TOSTARTOF"))
      start = StartOf(std::string_view(f).substr(9));
    else if (f == "DATE" || f == "TO_DATE" || f == "TODATE" ||
             ((f == "CAST" || f == "TRY_CAST" || f == "SAFE_CAST") && level.as_date))
      start = Grain::Unit::kDay;
    if (start) steps_.push_back({key, {start, {}}});
    // The last day of the month lies later than what it is asked of.
    if (f == "LAST_DAY" || f == "EOMONTH")
      steps_.push_back({key, {std::nullopt, {1, Duration::Unit::kMonth}}});
  }

  void Postfix(Grain::Unit start) { steps_.push_back({2.0 * Depth() + 1.5, {start, {}}}); }

  void SeeNow(NowKind now) {
    worth_.now = true;
    levels_.back().now = true;
    constexpr double kFirst = 1e6;
    if (now != NowKind::kMoment) steps_.push_back({kFirst, {Grain::Unit::kDay, {}}});
    if (now == NowKind::kYesterday)
      steps_.push_back({kFirst - 1, {std::nullopt, {-1, Duration::Unit::kDay}}});
  }

  static bool Adds(const std::string& f) {
    return f == "DATEADD" || f == "DATE_ADD" || f == "TIMESTAMPADD" || f == "TIMESTAMP_ADD" ||
           f == "DATETIME_ADD" || f == "ADD_MONTHS" || f == "ADDDATE" || f == "TIMEDELTA" ||
           f == "RELATIVEDELTA" || f == "MAKE_INTERVAL" || StartsWith(f, "TOINTERVAL") ||
           (StartsWith(f, "ADD") && NamedUnit(f)) || Subtracts(f) || Ago(f);
  }
  static bool Subtracts(const std::string& f) {
    return f == "DATE_SUB" || f == "DATESUB" || f == "SUBDATE" || f == "TIMESTAMP_SUB" ||
           f == "DATETIME_SUB" || f == "TIMESTAMPSUB" || (StartsWith(f, "SUBTRACT") && NamedUnit(f)) ||
           Ago(f);
  }
  // dbt_date's n_days_ago.
  static bool Ago(const std::string& f) { return StartsWith(f, "N_") && EndsWith(f, "_AGO"); }
  static std::optional<TimeUnit> NamedUnit(const std::string& f) {
    for (const char* before : {"SUBTRACT", "TOINTERVAL", "ADD_", "ADD", "N_"}) {
      if (!StartsWith(f, before)) continue;
      std::string rest = f.substr(std::string_view(before).size());
      if (Ago(f)) rest.resize(rest.size() - 4);
      if (const auto unit = UnitOf(rest)) return unit;
    }
    return std::nullopt;
  }

  // "3", "3 days", "-3 day": a number, and its unit if it has one.
  static bool Numeric(std::string_view text, double& number, std::optional<TimeUnit>& unit) {
    if (text.empty() || text.size() > 24) return false;
    const std::string s(text);
    char* end = nullptr;
    number = std::strtod(s.c_str(), &end);
    if (end == s.c_str()) return false;
    while (*end == ' ') ++end;
    if (*end == '\0') return true;
    unit = UnitOf(end);
    return unit.has_value();
  }

  void Number() {
    const SqlToken& t = At(i_);
    double number = 0;
    std::optional<TimeUnit> unit;
    if (!Numeric(t.text, number, unit)) {
      // 'day' as an argument.
      if (t.kind == Kind::kString && p_[i_].jinja) worth_.written = true;
      if (t.kind == Kind::kString)
        if (const auto start = StartOf(t.text); start && !levels_.back().start) levels_.back().start = start;
      return;
    }
    // The nearest bracket of a function, through plain ones.
    std::size_t level = levels_.size() - 1;
    bool signed_bracket = false;
    int sign = 1;
    for (;; --level) {
      sign *= levels_[level].sign;
      if (level == 0 || !levels_[level].function.empty()) break;
      signed_bracket = signed_bracket || levels_[level].signed_;
    }
    const Level& around = levels_[level];
    for (std::size_t k = level; k-- > 0;) sign *= levels_[k].sign;
    const bool interval =
        i_ > 0 && (At(i_ - 1).Is("INTERVAL") || (SignBefore(i_) != 0 && i_ > 1 && At(i_ - 2).Is("INTERVAL")));
    const bool adds = Adds(around.function);
    std::size_t first = i_;
    if (SignBefore(first) != 0) sign *= SignBefore(first), --first;
    if (interval) {
      --first;
      if (SignBefore(first) != 0) sign *= SignBefore(first);
    }
    if (!unit && i_ + 1 < p_.size() && At(i_ + 1).kind == Kind::kWord) unit = UnitOf(At(i_ + 1).text);
    if (!unit && i_ > 1 && At(i_ - 1).IsSymbol('=')) unit = UnitOf(At(i_ - 2).text);  // timedelta(days=3)
    if (!unit && i_ > 2 && SignBefore(i_) != 0 && At(i_ - 2).IsSymbol('=')) unit = UnitOf(At(i_ - 3).text);
    if (!unit && i_ > 2 && At(i_ - 1).IsSymbol('>') && At(i_ - 2).IsSymbol('='))
      unit = UnitOf(At(i_ - 3).text);
    if (!unit && adds) {
      unit = NamedUnit(around.function);
      if (!unit && around.function == "ADD_MONTHS") unit = TimeUnit{Duration::Unit::kMonth, 1};
      for (std::size_t k = around.open + 1; !unit && k < p_.size() && !At(k).IsSymbol(')'); ++k)
        if (At(k).kind == Kind::kWord || At(k).kind == Kind::kString)
          if (!SymbolAt(k + 1, '=') && !SymbolAt(k + 1, '(')) unit = UnitOf(At(k).text);
    }
    const bool counts = interval || adds || signed_bracket || SignBefore(i_) != 0 || unit;
    if (!counts) {
      if (around.function.empty() && !worth_.number) worth_.number = number;
      return;
    }
    // 3 * interval '1 day', interval '1 day' * 3
    std::size_t next = i_ + 1;
    if (next < p_.size() && UnitOf(At(next).text)) ++next;
    if (SymbolAt(next, '*') && next + 1 < p_.size() && At(next + 1).kind == Kind::kNumber) {
      number *= std::strtod(std::string(At(next + 1).text).c_str(), nullptr);
      i_ = next + 1;
    } else if (first > 1 && At(first - 1).IsSymbol('*') && At(first - 2).kind == Kind::kNumber) {
      number *= std::strtod(std::string(At(first - 2).text).c_str(), nullptr);
      if (SignBefore(first - 2) != 0) sign *= SignBefore(first - 2);
    } else if (SymbolAt(next, '*')) {
      number = 0;  // by something that is not known: shorter rather than longer
    }
    if (SymbolAt(i_ + 1, '*') && i_ + 2 < p_.size() && At(i_ + 2).Is("INTERVAL")) return;  // counted there
    worth_.amounts = true;
    if (Ago(around.function) && !worth_.now) SeeNow(NowKind::kDay), levels_[level].now = true;
    const double key =
        adds && !interval && around.function != "TIMEDELTA" && around.function != "RELATIVEDELTA"
            ? 2.0 * static_cast<double>(level)
            : 2.0 * Depth() + 1;
    Shift(key, sign * number, unit.value_or(plain_));
  }

  void Shift(double key, double number, TimeUnit unit) {
    double count = number * unit.times;
    Duration::Unit in = unit.unit;
    if (count != std::floor(count)) {  // 1.5 hours, 90 seconds: what is sure
      const double minutes = in == Duration::Unit::kMinute ? 1
                             : in == Duration::Unit::kHour ? 60
                             : in == Duration::Unit::kDay  ? 1440
                             : in == Duration::Unit::kWeek ? 10080
                                                           : 0;
      count = count * minutes;
      in = Duration::Unit::kMinute;
      count = std::ceil(count);  // -1.5 minutes: one minute back
    }
    if (std::abs(count) > 1e6) return;
    steps_.push_back({key, {std::nullopt, {static_cast<std::int64_t>(count), in}}});
  }

  const std::vector<SqlPart>& p_;
  std::size_t i_ = 0;
  std::vector<Level> levels_;
  std::vector<Ordered> steps_;
  TimeUnit plain_{Duration::Unit::kDay, 1};
  SqlWorth worth_;
};

}  // namespace

NowKind NowOf(const SqlToken& t) {
  constexpr std::uint32_t kFirstLetters = Letters("CGLNRSTUY");
  static constexpr std::string_view kDays[] = {"CURRENT_DATE", "TODAY", "CURDATE", "UTC_DATE"};
  static constexpr std::string_view kMoments[] = {"GETDATE",
                                                  "GETUTCDATE",
                                                  "SYSDATE",
                                                  "SYSTIMESTAMP",
                                                  "SYSDATETIME",
                                                  "SYSUTCDATETIME",
                                                  "NOW",
                                                  "UTCNOW",
                                                  "LOCALTIMESTAMP",
                                                  "LOCALTIME",
                                                  "CURRENT_DATETIME",
                                                  "UTC_TIMESTAMP",
                                                  "STATEMENT_TIMESTAMP",
                                                  "TRANSACTION_TIMESTAMP",
                                                  "CLOCK_TIMESTAMP",
                                                  "RUN_STARTED_AT"};
  // Most words are none of these, and told so by their first letter and length.
  if (t.kind != Kind::kWord || t.text.size() < 3) return NowKind::kNo;
  if (!((1u << (t.text[0] & 31)) & kFirstLetters)) return NowKind::kNo;
  if (Among(t, kDays)) return NowKind::kDay;
  if (t.Is("YESTERDAY")) return NowKind::kYesterday;
  if (Among(t, kMoments)) return NowKind::kMoment;
  // dbt's and its packages' current_timestamp_in_utc and the like.
  constexpr std::string_view kStart = "CURRENT_TIMESTAMP";
  if (t.text.size() < kStart.size() || (t.text[0] & 0xDF) != 'C') return NowKind::kNo;
  return StartsWith(Upper(t.text), kStart) ? NowKind::kMoment : NowKind::kNo;
}
NowKind NowAt(const std::vector<SqlPart>& p, std::size_t i) {
  if (!p[i].jinja && i > 0 && p[i - 1].token.IsSymbol('.')) return NowKind::kNo;  // a column
  const bool call = i + 2 < p.size() && p[i + 1].token.IsSymbol('(') && p[i + 2].token.IsSymbol(')');
  if (call && p[i].token.Is("UNIX_TIMESTAMP")) return NowKind::kMoment;
  return NowOf(p[i].token);
}

bool HasNow(const std::vector<SqlPart>& parts) {
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (NowAt(parts, i) != NowKind::kNo) return true;
  return false;
}

SqlWorth WorthOf(const std::vector<SqlPart>& parts) { return Evaluation(parts).Run(); }

}  // namespace backreach
