// A parser by precedence over the tokens of one side of a comparison. Every expression comes to a number, a
// length, the time of the run after some steps, something of the rows after some steps, or the difference of
// the last two. What is not understood comes to nothing, and says whether the time of the run is in it: its
// reader then takes it for a bound that nobody knows.

#include "ingest/sql/time.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "graph/base/words.hpp"
#include "ingest/sql/arithmetic.hpp"
#include "ingest/sql/clauses.hpp"

namespace backreach {

namespace {

using Kind = SqlToken::Kind;
using Value = SqlWorth;
using What = SqlWorth::Kind;
using Measure = SqlWorth::Measure;
using Does = TimeFunction::Does;
using Counts = TimeFunction::Counts;
using CutUnit = TimeCut::Unit;

constexpr int kDeepest = 48;  // brackets in brackets

class Parser : SqlArithmetic {
 public:
  Parser(const std::vector<SqlPart>& parts, SqlDialect dialect) : SqlArithmetic(dialect), p_(parts) {}

  Value Run() { return Range(0, p_.size()); }

 private:
  struct Argument {
    std::string name;  // lower case, of a named one
    std::size_t from, to;
  };

  const SqlToken& At(std::size_t i) const { return p_[i].token; }
  bool Symbol(std::size_t i, char c) const { return i < end_ && At(i).IsSymbol(c); }
  bool Word(std::size_t i, std::string_view upper) const { return i < end_ && At(i).Is(upper); }

  // What is seen in [from, to) without understanding it.
  Value Seen(std::size_t from, std::size_t to) const {
    Value out;
    for (std::size_t i = from; i < to; ++i) {
      const SqlToken& t = At(i);
      if (t.IsSymbol('(') && i + 1 < to && At(i + 1).Is("SELECT")) {
        // What is asked of another table is no time of the run, and none of the rows that are filtered.
        if (const std::size_t behind = BehindQuery(i, to); behind > 0) {
          i = behind - 1;
          continue;
        }
      }
      if (NowAt(p_, i, dialect_)) {
        out.now = true;
      } else if (t.Is("OVER")) {
        out.window = true;
      } else if (t.kind == Kind::kQuoted) {
        out.rows = out.rows || !p_[i].jinja;
      } else if (t.kind == Kind::kWord && !(i + 1 < p_.size() && At(i + 1).IsSymbol('('))) {
        if (p_[i].jinja)
          out.written = true;
        else if (UnitPlace(i))
          out.unit_like = true;
        else if (!NoColumn(i))
          out.rows = true;
      }
    }
    return out;
  }
  // Behind the bracket of a query at `open` that names a table; 0 if it names none.
  std::size_t BehindQuery(std::size_t open, std::size_t to) const {
    int depth = 0;
    bool table = false;
    for (std::size_t i = open; i < to; ++i) {
      if (At(i).IsSymbol('(')) ++depth;
      if (At(i).IsSymbol(')') && --depth == 0) return table ? i + 1 : 0;
      table = table || (depth == 1 && At(i).Is("FROM"));
    }
    return 0;
  }
  // A keyword, a unit behind a number, a type.
  bool NoColumn(std::size_t i) const {
    static constexpr std::string_view kWords[] = {
        "AS",   "INTERVAL", "AT",   "ZONE", "TIME",  "WITH",      "WITHOUT", "NOT",
        "NULL", "SELECT",   "FROM", "ANY",  "ALL",   "DISTINCT",  "CASE",    "WHEN",
        "THEN", "ELSE",     "END",  "AND",  "OR",    "IS",        "IN",      "OVER",
        "TRUE", "FALSE",    "TO",   "BY",   "ORDER", "PARTITION", "LIKE",    "IF"};
    if (Among(At(i), kWords)) return true;
    if (i > 0 && (At(i - 1).Is("AS") || At(i - 1).IsSymbol(':'))) return true;
    if (i + 1 < p_.size() && At(i + 1).Is("FROM") && UnitOf(At(i).text, dialect_)) return true;
    return i > 0 && (At(i - 1).kind == Kind::kNumber || At(i - 1).kind == Kind::kString);
  }
  // Alone as the first or last argument.
  bool UnitPlace(std::size_t i) const {
    if (i == 0 || i + 1 >= p_.size() || !UnitOf(At(i).text, dialect_)) return false;
    return (At(i - 1).IsSymbol('(') || At(i - 1).IsSymbol(',')) &&
           (At(i + 1).IsSymbol(')') || At(i + 1).IsSymbol(','));
  }

  // The whole of a range; nothing is left over in what is understood.
  Value Range(std::size_t from, std::size_t to) {
    if (depth_ >= kDeepest || from >= to) return Seen(from, to);
    const std::size_t i = i_, end = end_;
    i_ = from, end_ = to, ++depth_;
    Value out = Choice();
    const bool all = i_ == end_;
    i_ = i, end_ = end, --depth_;
    return all ? out : Seen(from, to);
  }

  // Not understood: the rest of the range is passed over.
  Value Lost(std::size_t from) {
    Value out = Seen(from, end_);
    i_ = end_;
    return out;
  }

  // Jinja's `a if b else c` and `a or b`.
  Value Choice() {
    const std::size_t from = i_;
    Value out = Word(i_, "IF") ? Value() : Sum();
    while (i_ < end_ && p_[i_].jinja && (Word(i_, "IF") || Word(i_, "OR"))) {
      if (Word(i_, "IF")) {
        int depth = 0;
        for (++i_; i_ < end_ && !(depth == 0 && Word(i_, "ELSE")); ++i_)
          depth += Symbol(i_, '(') ? 1 : Symbol(i_, ')') ? -1 : 0;
        if (i_ == end_) return out.now ? out : Seen(from, end_);
      }
      ++i_;
      if (i_ == end_) return out;
      Value other = Sum();
      if (other.now && out.now)
        out = Later(out, other);
      else if (other.now || (!out.now && out.kind == What::kUnknown))
        out = other;
    }
    return out;
  }

  Value Sum() {
    const std::size_t from = i_;
    Value out = Product();
    while (i_ < end_) {
      const bool plus = Symbol(i_, '+'), minus = Symbol(i_, '-');
      if (minus && Symbol(i_ + 1, '>') && At(i_ + 1).at == At(i_).at + 1) {  // payload ->> 'ts'
        i_ += 2;
        if (Symbol(i_, '>')) ++i_;
        Primary();
        continue;
      }
      if (Symbol(i_, '~') || (Symbol(i_, '|') && Symbol(i_ + 1, '|'))) {
        i_ += Symbol(i_, '~') ? 1 : 2;
        out = Concat(out, Product());
        continue;
      }
      if (!plus && !minus) break;
      ++i_;
      out = Add(out, Product(), plus ? 1 : -1);
    }
    out.now = out.now || (out.kind == What::kUnknown && Seen(from, i_).now);
    return out;
  }

  Value Product() {
    Value out = Unary();
    while (i_ < end_ && (Symbol(i_, '*') || Symbol(i_, '/') || Symbol(i_, '%'))) {
      const char c = At(i_).text[0];
      ++i_;
      if (c == '/' && Symbol(i_, '/')) ++i_;
      out = c == '*' ? Times(out, Unary(), false) : c == '/' ? Times(out, Unary(), true) : Both(out, Unary());
    }
    return out;
  }

  Value Unary() {
    int sign = 1;
    while (Symbol(i_, '-') || Symbol(i_, '+')) {
      if (Symbol(i_, '-')) sign = -sign;
      ++i_;
    }
    Value out = Postfix(Primary());
    if (sign < 0) Negate(out);
    return out;
  }

  // `::date`, `at time zone 'utc'`, `.strftime('%Y')`, `[0]`, `| int`, `over (...)`.
  Value Postfix(Value v) {
    while (i_ < end_) {
      if (Symbol(i_, ':') && Symbol(i_ + 1, ':')) {
        i_ += 2;
        v = Cast(std::move(v), TypeAt(i_, end_));
      } else if (Symbol(i_, ':') && i_ + 1 < end_ && At(i_ + 1).kind != Kind::kNumber) {  // payload:ts
        i_ += 2;
      } else if (Word(i_, "AT") && (Word(i_ + 1, "TIME") || Word(i_ + 1, "LOCAL"))) {
        const bool local = Word(i_ + 1, "LOCAL");
        i_ += local ? 2 : Word(i_ + 2, "ZONE") ? 3 : 2;
        const Value zone = local || i_ >= end_ ? Value() : Primary();
        SetZone(v, zone);
      } else if (Symbol(i_, '[')) {
        int depth = 0;
        do depth += Symbol(i_, '[') ? 1 : Symbol(i_, ']') ? -1 : 0;
        while (++i_ < end_ && depth > 0);
      } else if (Symbol(i_, '.') && i_ + 1 < end_) {
        i_ += 2;
        v = Method(std::move(v));
      } else if (p_[i_].jinja && Symbol(i_, '|') && i_ + 1 < end_ && !Symbol(i_ + 1, '|')) {
        static constexpr std::string_view kSame[] = {"INT",       "STRING",  "FLOAT", "TRIM",
                                                     "AS_NUMBER", "ABS",     "FIRST", "LIST",
                                                     "SAFE",      "AS_TEXT", "LOWER", "UPPER"};
        if (!Among(At(i_ + 1), kSame)) v = Both(v, v);
        i_ += 2;
        if (Symbol(i_, '(')) i_ = Behind(i_);
      } else if (Word(i_, "OVER")) {
        v = Both(v, v), v.window = true, v.kind = What::kUnknown;
        i_ = Symbol(i_ + 1, '(') ? Behind(i_ + 1) : std::min(i_ + 2, end_);
      } else if (Word(i_, "COLLATE")) {
        i_ = std::min(i_ + 2, end_);
      } else if ((v.kind == What::kNumber || v.kind == What::kText) && At(i_).kind == Kind::kWord &&
                 p_[i_].jinja == false && UnitOf(At(i_).text, dialect_)) {
        v = Lengths(v, i_, false), ++i_;  // DuckDB's and Teradata's: 3 days
      } else {
        break;
      }
    }
    return v;
  }

  // Behind the bracket that opens at `i`.
  std::size_t Behind(std::size_t i) const {
    int depth = 0;
    for (; i < end_; ++i) {
      if (Symbol(i, '(')) ++depth;
      if (Symbol(i, ')') && --depth == 0) return i + 1;
    }
    return end_;
  }

  SqlType TypeAt(std::size_t& i, std::size_t end) const {
    SqlType out;
    if (i >= end) return out;
    out.name = Upper(At(i++).text);
    if (i < end && Symbol(i, '.') && i + 1 < end) out.name = Upper(At(i + 1).text), i += 2;  // api.Column...
    if (i < end && Symbol(i, '(')) {
      if (At(i + 1 < end ? i + 1 : i).kind == Kind::kNumber)
        out.width = std::atoi(std::string(At(i + 1).text).c_str());
      const std::size_t inner = i + 1;
      if ((out.name == "NULLABLE" || out.name == "LOWCARDINALITY") && inner < end)
        out.name = Upper(At(inner).text);
      i = std::min(Behind(i), end);
    }
    if (Word(i, "WITH") || Word(i, "WITHOUT")) i = std::min({i + (Word(i + 1, "LOCAL") ? 4 : 3), end});
    if (Word(i, "VARYING") || Word(i, "PRECISION")) ++i;
    return out;
  }

  // What comes behind a point: a method of Jinja's, or the column of a table.
  Value Method(Value v) {
    const std::string name = Upper(At(i_ - 1).text);
    if (!Symbol(i_, '(')) return v;
    const std::vector<Argument> arguments = ArgumentsAt(i_);
    i_ = Behind(i_);
    if (v.kind != What::kTime) return v;
    if (name == "STRFTIME") {
      const std::string format = arguments.empty() ? "" : TextOf(arguments[0]);
      if (format == "%m") return Field(std::move(v), "month");
      const auto cut = CutOfFormat(format);
      if (!cut) return Both(v, v);
      return cut->unit < CutUnit::kDay ? v : CutValue(std::move(v), *cut, Measure::kKey);
    }
    if (name == "DATE") return CutValue(std::move(v), {CutUnit::kDay});
    if (name == "TIMESTAMP") v.measure = Measure::kSeconds;
    if (name == "ASTIMEZONE") SetZone(v, arguments.empty() ? Value() : ZoneIn(arguments[0]));
    if (name == "REPLACE") return Replaced(std::move(v), arguments);
    static constexpr std::string_view kSame[] = {"TIMESTAMP", "ASTIMEZONE", "ISOFORMAT",  "VALUES",
                                                 "GET",       "__STR__",    "PRINT_TABLE"};
    if (std::find(std::begin(kSame), std::end(kSame), name) == std::end(kSame)) return Both(v, v);
    return v;
  }
  Value ZoneIn(const Argument& a) const {
    Value out;
    for (std::size_t i = a.from; i < a.to; ++i)
      if (At(i).kind == Kind::kString || At(i).kind == Kind::kQuoted)
        out.kind = What::kText, out.text = std::string(At(i).text);
    return out;
  }
  // .replace(day=1, hour=0, minute=0)
  Value Replaced(Value v, const std::vector<Argument>& arguments) const {
    bool day = false, month = false, hour = false, minute = false;
    for (const Argument& a : arguments) {
      const std::string to = TextOf(a);
      const bool first = to == "1", zero = to == "0";
      if (a.name == "tzinfo" || a.name == "microsecond" || (a.name == "second" && zero)) continue;
      if (a.name == "day" && first)
        day = true;
      else if (a.name == "month" && first)
        month = true;
      else if (a.name == "hour" && zero)
        hour = true;
      else if (a.name == "minute" && zero)
        minute = true;
      else
        return Both(v, v);
    }
    if (month && !day) return Both(v, v);
    if (day) {
      v = CutValue(std::move(v), {month ? CutUnit::kYear : CutUnit::kMonth});
      v.steps.back().keeps_time = !(hour && minute);
      v.measure = Measure::kMoment;
    } else if (hour) {
      v = CutValue(std::move(v), {CutUnit::kDay});
      v.measure = Measure::kMoment;
      if (!minute) Move(v.steps, 1, *UnitOf("hour"));
    }
    return v;
  }

  // The arguments of the bracket that opens at `open`.
  std::vector<Argument> ArgumentsAt(std::size_t open) const {
    std::vector<Argument> out;
    const std::size_t close = Behind(open);
    const std::size_t end = close > open + 1 && Symbol(close - 1, ')') ? close - 1 : close;
    int depth = 0;
    for (std::size_t i = open + 1, from = i; i <= end; ++i) {
      if (i < end) {
        if (Symbol(i, '(') || Symbol(i, '[')) ++depth;
        if (Symbol(i, ')') || Symbol(i, ']')) --depth;
        if (depth != 0 || !Symbol(i, ',')) continue;
      }
      if (from < i) {
        Argument a{"", from, i};
        std::size_t value = from + 1;
        if (At(from).kind == Kind::kWord && value < i) {
          if (Symbol(value, ':') && Symbol(value + 1, '=')) ++value;
          if (Symbol(value, '=')) {
            ++value;
            if (Symbol(value, '>')) ++value;
            if (value < i) a = {Lower(At(from).text), value, i};
          }
        }
        out.push_back(std::move(a));
      }
      from = i + 1;
    }
    return out;
  }
  // One word, string or number, through brackets around it.
  const SqlToken* Single(Argument a) const {
    while (a.to > a.from + 2 && Symbol(a.from, '(') && At(a.to - 1).IsSymbol(')')) ++a.from, --a.to;
    return a.to == a.from + 1 ? &At(a.from) : nullptr;
  }
  std::string TextOf(const Argument& a) const {
    const SqlToken* t = Single(a);
    return t ? std::string(t->text) : "";
  }
  std::optional<TimeUnit> UnitIn(const Argument& a) const {
    if (a.to == a.from + 4 && Symbol(a.from + 1, '('))
      return UnitOf(At(a.from).text, dialect_);  // week(monday)
    const SqlToken* t = Single(a);
    return t && t->kind != Kind::kNumber && t->kind != Kind::kSymbol ? UnitOf(t->text, dialect_)
                                                                     : std::nullopt;
  }
  std::optional<TimeCut> CutIn(const Argument& a, bool format) const {
    if (a.to == a.from + 4 && Symbol(a.from + 1, '(') && At(a.from).Is("WEEK")) {
      if (At(a.from + 2).Is("MONDAY")) return TimeCut{CutUnit::kWeek, TimeCut::Week::kMonday};
      if (At(a.from + 2).Is("SUNDAY")) return TimeCut{CutUnit::kWeek, TimeCut::Week::kSunday};
      return TimeCut{CutUnit::kWeek};
    }
    const SqlToken* t = Single(a);
    return t ? CutOf(t->text, dialect_, format) : std::nullopt;
  }

  // A literal with its unit in it or behind it: interval '3 days', interval 3 day, 3 days.
  Value Lengths(const Value& v, std::size_t unit_at, bool quoted) const {
    Value out = v;
    const bool has_unit =
        unit_at < end_ && At(unit_at).kind == Kind::kWord && UnitOf(At(unit_at).text, dialect_);
    std::optional<TimeUnit> unit = has_unit ? UnitOf(At(unit_at).text, dialect_) : std::nullopt;
    out.steps.clear();
    // PostgreSQL reads the plural behind a quoted number as a name: 6 seconds.
    using enum SqlDialect;
    const bool plural =
        has_unit && quoted && (At(unit_at).text.back() | 32) == 's' && At(unit_at).text.size() > 3;
    if (plural && (dialect_ == kUnknown || (kPostgres | kRedshift | kDuckDb).Has(dialect_)))
      unit = UnitOf("second");
    if (!has_unit) unit = UnitOf("second");
    if (v.kind == What::kNumber) {
      out.steps.push_back(MovedBy(v.number, *unit));
    } else if (v.kind == What::kText) {
      const auto lengths = LengthsOf(v.text, dialect_, unit);
      if (!lengths) return Both(v, v);
      for (const TimeLength& length : *lengths) out.steps.push_back({std::nullopt, length, false});
    } else {
      return Both(v, v);
    }
    out.kind = What::kLength;
    return out;
  }
  Value Interval() {
    Value all;
    ++i_;
    for (bool first = true; first || (i_ < end_ && At(i_).kind == Kind::kNumber); first = false) {
      int sign = 1;
      if (Symbol(i_, '-') || Symbol(i_, '+')) sign = Symbol(i_++, '-') ? -1 : 1;
      if (i_ >= end_) return all;
      const bool quoted = At(i_).kind == Kind::kString;
      Value v = Primary();
      const bool unit = i_ < end_ && At(i_).kind == Kind::kWord && UnitOf(At(i_).text, dialect_);
      const bool compound =
          i_ < end_ && At(i_).kind == Kind::kWord && At(i_).text.find('_') != std::string::npos && !unit;
      const bool ranged = unit && (Word(i_ + 1, "TO") || (Symbol(i_ + 1, '(') && Word(Behind(i_ + 1), "TO")));
      if (compound || ranged) {
        i_ += compound ? 1 : 3;
        return Both(v, v);
      }
      Value length = v.kind == What::kLength && !unit ? v : Lengths(v, unit ? i_ : end_, quoted);
      if (unit) ++i_;
      if (unit && Symbol(i_, '(')) i_ = Behind(i_);  // its precision
      if (length.kind != What::kLength) return length;
      if (sign < 0) Negate(length);
      all = first ? length : Add(all, length, 1);
    }
    return all;
  }

  Value Primary() {
    if (i_ >= end_ || ++steps_ > 20000) return Lost(std::min(i_, end_));
    const SqlToken& t = At(i_);
    if (t.IsSymbol('(')) return Bracket();
    if (t.kind == Kind::kNumber) {
      Value out;
      char* end = nullptr;
      const std::string text(t.text);
      out.number = std::strtod(text.c_str(), &end);
      ++i_;
      out.kind = *end == '\0' && std::isfinite(out.number) ? What::kNumber : What::kUnknown;
      return out;
    }
    if (t.kind == Kind::kString) return String();
    if (t.kind == Kind::kQuoted && !p_[i_].jinja) return Path();
    if (t.kind != Kind::kWord) return Lost(i_);
    if (t.Is("INTERVAL") && !Symbol(i_ + 1, '=')) return Interval();
    if (t.Is("CASE")) return Case();
    if (t.Is("NULL") || t.Is("NONE") || t.Is("TRUE") || t.Is("FALSE")) {
      ++i_;
      Value out;
      out.kind = What::kText;
      return out;
    }
    static constexpr std::string_view kTypes[] = {"DATE", "TIMESTAMP", "DATETIME", "TIMESTAMPTZ"};
    if (Among(t, kTypes) && i_ + 1 < end_ && At(i_ + 1).kind == Kind::kString) {
      const bool day = t.Is("DATE");
      ++i_;
      return Cast(String(), {day ? "DATE" : "TIMESTAMP"});
    }
    return Path();
  }

  Value String() {
    Value out;
    const SqlToken& t = At(i_++);
    const std::string text(t.text);
    out.kind = What::kText;
    out.text = text;
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    if (!text.empty() && *end == '\0' && text.size() < 10 && std::isfinite(number)) {
      out.kind = What::kNumber;
      out.number = number;
    } else if (p_[i_ - 1].jinja) {
      out.written = true;
    }
    return out;
  }

  Value Bracket() {
    const std::size_t open = i_;
    i_ = Behind(open);
    const std::size_t close = i_ > open + 1 && Symbol(i_ - 1, ')') ? i_ - 1 : i_;
    if (Word(open + 1, "SELECT")) return Subquery(open + 1, close);
    return Range(open + 1, close);
  }

  // (select max(ts) from {{ this }}), (select current_date - 3)
  Value Subquery(std::size_t select, std::size_t close) {
    std::size_t from = select + 1;
    int depth = 0;
    for (; from < close && !(depth == 0 && Word(from, "FROM")); ++from)
      depth += Symbol(from, '(') ? 1 : Symbol(from, ')') ? -1 : 0;
    std::size_t end = from;
    for (std::size_t i = select + 1, d = 0; i < from; ++i) {  // its name, or a second column
      if (Symbol(i, '(')) ++d;
      if (Symbol(i, ')') && d > 0) --d;
      if (d == 0 && (Word(i, "AS") || Symbol(i, ','))) {
        end = i;
        break;
      }
    }
    // `from ( this )`: what Jinja writes stands in brackets.
    std::size_t table = from + 1;
    while (table < close && Symbol(table, '(')) ++table;
    const bool own = table < close && p_[table].jinja && Word(table, "THIS");
    const bool before = own_;
    own_ = own;
    Value out = Range(select + 1, end);
    own_ = before;
    if (out.kind != What::kTime && out.kind != What::kNumber && out.kind != What::kText) {
      out = Seen(select, close);
      out.rows = false;  // not of the rows that are filtered,
      out.now =
          out.now && from == close;  // and of another table's by the time of the run: looked at by itself
    }
    return out;
  }

  Value Case() {
    const std::size_t from = i_;
    int cases = 0, depth = 0;
    std::size_t end = i_;
    std::vector<std::pair<std::size_t, std::size_t>> results;
    std::size_t begun = 0;
    for (; end < end_; ++end) {
      if (Symbol(end, '(')) ++depth;
      if (Symbol(end, ')')) --depth;
      if (Word(end, "CASE")) ++cases;
      const bool closes = Word(end, "END");
      if (depth == 0 && cases == 1 &&
          (Word(end, "WHEN") || Word(end, "THEN") || Word(end, "ELSE") || closes)) {
        if (begun > 0) results.push_back({begun, end}), begun = 0;
        if (Word(end, "THEN") || Word(end, "ELSE")) begun = end + 1;
      }
      if (closes && --cases == 0) break;
    }
    i_ = std::min(end + 1, end_);
    Value out;
    bool first = true;
    for (const auto& [a, b] : results) {
      Value v = Range(a, b);
      if (v.kind == What::kText && v.text.empty()) continue;  // null
      if (v.kind == What::kNumber && (first || out.kind == What::kNumber)) {
        v.least = first ? v.number : std::min(v.number, *out.least);
        v.number = first ? v.number : std::max(v.number, out.number);
        out = v;
      } else {
        out = first ? v : v.kind == What::kTime && out.kind == What::kTime ? Later(out, v) : Both(out, v);
      }
      first = false;
    }
    if (!results.empty() && (out.kind == What::kTime || (out.kind == What::kNumber && out.least))) return out;
    return Seen(from, i_);
  }

  // A name, with what is before its points, or a call.
  Value Path() {
    const std::size_t from = i_;
    const bool jinja = p_[i_].jinja;
    std::size_t last = i_;
    const auto name = [&](std::size_t i) {
      return i < end_ && (At(i).kind == Kind::kWord || At(i).kind == Kind::kQuoted || At(i).IsSymbol('*'));
    };
    if (jinja && At(from).Is("RUN_STARTED_AT")) {
      ++i_;
      return Now(NowKind::kMoment, "");
    }
    while (Symbol(last + 1, '.') && name(last + 2) && !Symbol(last + 1, '(')) last += 2;
    i_ = last + 1;
    const bool call = Symbol(i_, '(');
    const bool alone = last == from || jinja;
    if (alone && !call && At(last).kind == Kind::kWord)
      if (const NowKind now = NowNamed(At(last).text, dialect_, false); now != NowKind::kNo)
        return Now(now, Upper(At(last).text));
    if (call && At(last).kind == Kind::kWord) return Call(from, last);
    Value out;
    out.kind = jinja ? What::kUnknown : What::kRows;
    out.rows = !jinja;
    out.written = jinja;
    out.text = std::string(At(last).text);
    return out;
  }

  // from .. name ( arguments )
  Value Call(std::size_t from, std::size_t name) {
    const std::string upper = Upper(At(name).text);
    std::vector<Argument> arguments = ArgumentsAt(name + 1);
    i_ = Behind(name + 1);
    const std::size_t behind = i_;
    const bool package = name > from && p_[name].jinja;
    // now(), now(3), current_date('UTC'), datetime.now(pytz.utc), dbt_date.today('UTC')
    const bool few =
        arguments.empty() || (arguments.size() == 1 && !Seen(arguments[0].from, arguments[0].to).rows);
    if (const NowKind now = NowNamed(upper, dialect_, true); now != NowKind::kNo && few)
      if (upper != "UNIX_TIMESTAMP" || arguments.empty()) {
        Value out = Now(now, upper);
        if (package && upper == "TODAY" && name > 1 && At(name - 2).Is("DATETIME"))
          out = Now(NowKind::kMoment, "");
        if (!arguments.empty()) {
          const Value zone = ZoneIn(arguments[0]);
          if (zone.kind == What::kText || !At(arguments[0].from).IsSymbol(')')) {
            const SqlToken* number = Single(arguments[0]);
            if (!number || number->kind != Kind::kNumber) SetZone(out, zone);
          }
        }
        return out;
      }
    if (upper == "CAST" || upper == "TRY_CAST" || upper == "SAFE_CAST" || upper == "TYPEOF")
      return CastCall(name, behind, arguments);
    if ((upper == "CONVERT" || upper == "TRY_CONVERT") && arguments.size() >= 2) return Convert(arguments);
    if (upper == "EXTRACT") return Extract(name, behind);
    if ((upper == "LEFT" || upper == "SUBSTR" || upper == "SUBSTRING") && arguments.size() >= 2) {
      const bool begins = upper == "LEFT" || (arguments.size() == 3 && TextOf(arguments[1]) == "1");
      Value v = Range(arguments[0].from, arguments[0].to);
      const int letters = std::atoi(TextOf(arguments.back()).c_str());
      return begins && letters > 0 ? Shortened(std::move(v), letters) : Both(v, v);
    }
    if (upper == "DATEFROMPARTS" || upper == "DATE_FROM_PARTS" || upper == "MAKE_DATE" ||
        (upper == "DATE" && arguments.size() == 3 && dialect_ != SqlDialect::kSqlite))
      return FromParts(arguments);
    if (upper == "RUN_QUERY" || upper == "GET_SINGLE_VALUE") return Asked(arguments);
    const TimeFunction* f = FindTimeFunction(upper, package ? SqlDialect::kJinja : dialect_);
    if (f) {
      Value out = Apply(*f, arguments, name);
      i_ = behind;
      return out;
    }
    Value out = Seen(name + 1, behind);
    if (p_[from].jinja) out.written = true;
    if (out.rows && !out.now) out.kind = What::kRows, out.unclear = true;
    return out;
  }

  Value CastCall(std::size_t name, std::size_t behind, const std::vector<Argument>& arguments) {
    if (arguments.empty()) return Seen(name, behind);
    // Jinja's safe_cast(x, type) has a comma.
    std::size_t as = arguments[0].from;
    int depth = 0;
    for (; as < arguments[0].to && !(depth == 0 && Word(as, "AS")); ++as)
      depth += Symbol(as, '(') ? 1 : Symbol(as, ')') ? -1 : 0;
    Value v = Range(arguments[0].from, as);
    std::size_t type = as + 1;
    if (as < arguments[0].to) return Cast(std::move(v), TypeAt(type, arguments[0].to));
    if (arguments.size() < 2) return v;
    const std::string to = Upper(TextOf(arguments[1]));
    return to == "DATE" ? Cast(std::move(v), {"DATE"}) : v;
  }
  // convert(date, x), convert(varchar(10), x, 120); MySQL's convert(x, date).
  Value Convert(const std::vector<Argument>& arguments) {
    const bool mysql = dialect_ == SqlDialect::kMySql;
    const Argument& type = arguments[mysql ? 1 : 0];
    const Argument& x = arguments[mysql ? 0 : 1];
    std::size_t at = type.from;
    SqlType to = TypeAt(at, type.to);
    Value v = Range(x.from, x.to);
    if (arguments.size() == 3) {
      static constexpr std::string_view kDays[] = {"23", "112", "102", "111"},
                                        kMoments[] = {"20", "120", "21", "121", "126"};
      const std::string style = TextOf(arguments[2]);
      const auto in = [&](const auto& list) {
        return std::find(std::begin(list), std::end(list), style) != std::end(list);
      };
      if (in(kDays) || in(kMoments)) {
        const bool day = in(kDays) && to.width != 6 && to.width != 7 && to.width != 4;
        if (day && (to.width == 0 || to.width >= 8))
          return CutValue(std::move(v), {CutUnit::kDay}, Measure::kKey);
        v.measure = Measure::kKey;
        return Shortened(std::move(v), to.width);
      }
    }
    return Cast(std::move(v), to);
  }
  // datefromparts(year(x), month(x), 1)
  Value FromParts(const std::vector<Argument>& arguments) {
    if (arguments.size() != 3) return Seen(i_, i_);
    const Value year = Range(arguments[0].from, arguments[0].to);
    Value month = Range(arguments[1].from, arguments[1].to);
    const auto cut = [](const Value& v, CutUnit unit) {
      const SqlSteps& steps = v.kind == What::kTime ? v.steps : v.row_steps;
      return v.measure == Measure::kKey && !steps.empty() && steps.back().cut &&
             steps.back().cut->unit == unit;
    };
    if (TextOf(arguments[2]) != "1" || !cut(year, CutUnit::kYear)) return Both(year, month);
    Value out = month.kind == What::kNumber && month.number == 1 ? year : month;
    if (out.kind != year.kind || (month.kind != What::kNumber && !cut(month, CutUnit::kMonth)))
      return Both(year, month);
    out.measure = Measure::kDay;
    return out;
  }
  // run_query('select max(ts) from ' ~ this): what was asked of the table itself.
  Value Asked(const std::vector<Argument>& arguments) {
    Value out;
    if (arguments.size() != 1) return out;
    bool own = false;
    std::string text;
    for (std::size_t i = arguments[0].from; i < arguments[0].to; ++i) {
      own = own || (p_[i].jinja && Word(i, "THIS"));
      if (At(i).kind == Kind::kString) text += std::string(At(i).text) + " ";
    }
    if (!own || text.empty()) return Range(arguments[0].from, arguments[0].to);
    const SqlTokens tokens = TokenizeSql(text, dialect_);
    std::vector<SqlPart> parts;
    for (const SqlToken& t : tokens) parts.push_back({t, false});
    if (parts.empty() || !parts[0].token.Is("SELECT") || depth_ > kDeepest / 2) return out;
    Parser inner(parts, dialect_);
    inner.own_ = true;
    inner.depth_ = depth_ + 1;
    std::size_t end = 1;
    while (end < parts.size() && !parts[end].token.Is("FROM") && !parts[end].token.Is("AS")) ++end;
    inner.end_ = end;
    Value asked = inner.Range(1, end);
    return asked.kind == What::kTime ? asked : out;
  }

  // extract(day from x)
  Value Extract(std::size_t name, std::size_t behind) {
    const std::size_t unit = name + 2;
    if (!Word(unit + 1, "FROM") || behind < unit + 4) return Seen(name + 1, behind);
    Value v = Range(unit + 2, behind - 1);
    return Field(std::move(v), At(unit).text);
  }

  // The roles of the arguments, named ones by their names.
  struct Roles {
    std::optional<Argument> unit, number, time, length, start, end, zone, format;
  };
  static std::optional<Argument>* RoleOf(Roles& roles, char letter) {
    switch (letter) {
      case 'u': return &roles.unit;
      case 'n': return &roles.number;
      case 'x': return &roles.time;
      case 'l': return &roles.length;
      case 's': return &roles.start;
      case 'e': return &roles.end;
      case 'z': return &roles.zone;
      case 'f': return &roles.format;
      default: return nullptr;
    }
  }
  bool RolesIn(const TimeFunction& f, const std::vector<Argument>& arguments, Roles& out) {
    static constexpr std::pair<std::string_view, char> kNamed[] = {
        {"datepart", 'u'}, {"interval", 'n'},   {"from_date_or_timestamp", 'x'},
        {"date", 'x'},     {"first_date", 's'}, {"second_date", 'e'},
        {"n", 'n'},        {"tz", 'z'},         {"column", 'x'},
        {"zone", 'z'}};
    const bool named =
        std::any_of(arguments.begin(), arguments.end(), [](const Argument& a) { return !a.name.empty(); });
    if (named) {
      for (const Argument& a : arguments)
        for (const auto& [name, role] : kNamed)
          if (a.name == name) *RoleOf(out, role) = a;
      if (f.does == Does::kDifference) return out.start && out.end;
      return f.does == Does::kAgo ? out.number.has_value() : out.time.has_value();
    }
    const std::string_view roles = RolesOf(f, arguments.size(), [&](std::size_t i, char role) {
      if (role == 'u') return UnitIn(arguments[i]).has_value() || CutIn(arguments[i], false).has_value();
      if (role == 'l') return Range(arguments[i].from, arguments[i].to).kind == What::kLength;
      if (role == 'n') return Range(arguments[i].from, arguments[i].to).kind != What::kLength;
      return true;
    });
    if (roles.empty()) return false;
    for (std::size_t i = 0; i < roles.size() && i < arguments.size(); ++i)
      if (auto* role = RoleOf(out, roles[i])) *role = arguments[i];
    return true;
  }
  Value ValueOf(const std::optional<Argument>& a) {
    if (!a) return {};
    Value out = Range(a->from, a->to);
    // A macro is given its columns as texts.
    if (out.kind == What::kText && out.written) {
      if (const NowKind now = NowInString(out.text);
          now == NowKind::kNo && !out.text.empty() && !(out.text[0] >= '0' && out.text[0] <= '9'))
        out.kind = What::kRows, out.rows = true;
    } else if (out.kind == What::kText) {
      if (const NowKind now = NowInString(out.text); now != NowKind::kNo) out = Now(now, "");
    }
    return out;
  }

  Value Apply(const TimeFunction& f, const std::vector<Argument>& arguments, std::size_t name) {
    const std::size_t behind = i_;
    const auto lost = [&] {
      Value out = Seen(name + 1, behind);
      if (out.rows && !out.now) out.kind = What::kRows, out.unclear = true;
      return out;
    };
    switch (f.does) {
      case Does::kEither: return Either(f, arguments);
      case Does::kModified: return Modified(f, arguments);
      case Does::kLength: return LengthCall(f, arguments);
      default: break;
    }
    Roles roles;
    if (!RolesIn(f, arguments, roles)) return lost();
    Value out;
    switch (f.does) {
      case Does::kAdd:
      case Does::kSubtract: out = AddCall(f, roles); break;
      case Does::kCut: out = CutCall(f, roles); break;
      case Does::kDifference: out = Difference(f, roles); break;
      default: out = Simple(f, roles); break;
    }
    if (out.kind == What::kUnknown && !out.now && !out.rows) {
      const Value seen = lost();
      out.now = out.now || seen.now, out.rows = out.rows || seen.rows,
      out.written = out.written || seen.written;
      if (out.rows && !out.now) out.kind = What::kRows, out.unclear = true;
    }
    return out;
  }

  // What makes one time of another, or a number or text of it.
  Value Simple(const TimeFunction& f, const Roles& roles) {
    Value x = ValueOf(roles.time);
    switch (f.does) {
      case Does::kDay: return CutZoned(std::move(x), roles, {CutUnit::kDay});
      case Does::kSame: return x;
      case Does::kZone: SetZone(x, ValueOf(roles.zone)); return x;
      case Does::kLastDay: return LastDay(f, std::move(x), roles);
      case Does::kSeconds: return Measured(std::move(x), Measure::kSeconds);
      case Does::kMillis: return Measured(std::move(x), Measure::kMillis);
      case Does::kDayNumber: {
        const bool whole = f.name != "JULIANDAY";
        return Measured(whole ? CutValue(std::move(x), {CutUnit::kDay}) : std::move(x), Measure::kDays);
      }
      case Does::kText: {
        const std::string format = roles.format ? TextOf(*roles.format) : "";
        if (format == "%m" || format == "MM") return Field(std::move(x), "month");
        const auto cut = CutOfFormat(format);
        if (!cut) return Both(x, x);
        return CutValue(std::move(x), *cut, Measure::kKey);
      }
      case Does::kKey: return CutZoned(std::move(x), roles, *CutOf(f.unit), Measure::kKey);
      case Does::kField: return Field(std::move(x), roles.unit ? TextOf(*roles.unit) : std::string(f.unit));
      case Does::kAbsolute:
        if (x.kind == What::kApart) x.absolute = f.name == "ABS";
        return x.kind == What::kApart || x.kind == What::kNumber ? x : Both(x, x);
      case Does::kAgo: return Ago(f, roles);
      case Does::kNewest: {
        if (!own_ || x.kind != What::kRows || x.unclear) return x;
        x.kind = What::kTime;
        x.steps = std::move(x.row_steps), x.row_steps.clear();
        x.now = x.own = true, x.rows = false;
        return x;
      }
      default: return Both(x, x);
    }
  }
  Value CutZoned(Value x, const Roles& roles, const TimeCut& cut, Measure measure = Measure::kDay) {
    if (roles.zone) SetZone(x, ValueOf(roles.zone));
    return CutValue(std::move(x), cut, measure);
  }
  Value LastDay(const TimeFunction& f, Value x, const Roles& roles) {
    const auto cut = roles.unit ? CutIn(*roles.unit, false) : CutOf(f.unit);
    if (!cut || cut->unit == CutUnit::kWeek || cut->unit < CutUnit::kDay) return Both(x, x);
    const Value n = roles.number ? ValueOf(roles.number) : Value();
    if (roles.number && n.kind != What::kNumber) return Both(x, n);
    x = CutValue(std::move(x), *cut);
    SqlSteps& steps = x.kind == What::kRows ? x.row_steps : x.steps;
    Move(steps, 1 + (roles.number ? n.number : 0), UnitOfCut(cut->unit));
    Move(steps, -1, *UnitOf("day"));
    return x;
  }
  // dbt_date's: the run's day, weeks and months from their starts.
  Value Ago(const TimeFunction& f, const Roles& roles) {
    const Value n = ValueOf(roles.number);
    Value out = Now(NowKind::kDay, "");
    if (n.kind != What::kNumber) return Both(out, n);
    const TimeUnit unit = *UnitOf(f.unit);
    // Which day its weeks begin on is the warehouse's.
    if (unit.unit == Duration::Unit::kMonth) Cut(out.steps, {CutUnit::kMonth});
    Move(out.steps, EndsWith(f.name, "AWAY") ? n.number : -n.number, unit);
    return out;
  }

  Value AddCall(const TimeFunction& f, const Roles& roles) {
    const Value x = ValueOf(roles.time);
    const int sign = f.does == Does::kSubtract ? -1 : 1;
    if (roles.length) return Add(x, ValueOf(roles.length), sign);
    Value n = ValueOf(roles.number);
    const auto unit = roles.unit ? UnitIn(*roles.unit) : UnitOf(f.unit);
    if (!unit) return Both(x, n);
    // dateadd(month, datediff(month, 0, x), 0): the start of x's month.
    if ((n.kind == What::kTime || n.kind == What::kRows) && n.counted == *unit && !n.origin.empty() &&
        x.kind != What::kTime && x.kind != What::kRows) {
      if (OriginOf(x) == n.origin) {
        n.measure = Measure::kDay;
        n.origin.clear();
        return n;
      }
      // From another day: dateadd(day, datediff(day, 0, x), -3). A month less a day is the day before it.
      const double days = x.kind == What::kNumber ? x.number - std::atof(n.origin.c_str()) : 0;
      const bool known = unit->unit <= Duration::Unit::kWeek || days == -1;
      if (x.kind != What::kNumber || n.origin.size() > 9 || !known) return Both(x, n);
      n.measure = Measure::kDay;
      n.origin.clear();
      Value length;
      length.kind = What::kLength;
      length.steps.push_back(MovedBy(days, *UnitOf("day")));
      return Add(n, length, 1);
    }
    // DuckDB's date_sub('day', a, b) is a difference.
    if (f.does == Does::kSubtract && roles.unit && n.kind != What::kNumber &&
        (n.kind == What::kTime || n.kind == What::kRows)) {
      Roles apart;
      apart.unit = roles.unit, apart.start = roles.number, apart.end = roles.time;
      return Difference({"DATE_SUB", Does::kDifference, "use", {}, Counts::kElapsed}, apart);
    }
    if (n.kind != What::kNumber) return Both(x, n);
    Value length;
    length.kind = What::kLength;
    length.steps.push_back(MovedBy(Of(n, sign), *unit));
    return Add(x, length, sign);
  }

  Value CutCall(const TimeFunction& f, const Roles& roles) {
    Value x = ValueOf(roles.time);
    if (roles.zone) SetZone(x, ValueOf(roles.zone));
    std::optional<TimeCut> cut;
    if (roles.length || roles.number) {  // of n units: sure only where n is 1
      double n = 1;
      std::optional<TimeUnit> unit;
      if (roles.length) {
        const Value length = ValueOf(roles.length);
        if (length.steps.size() == 1) n = length.steps[0].length.number, unit = length.steps[0].length.unit;
      } else {
        n = ValueOf(roles.number).number;
        if (roles.unit) unit = UnitIn(*roles.unit);
      }
      if (!unit || n <= 0) return Both(x, x);
      if (n == 1)
        cut = CutOf(unit->unit == Duration::Unit::kDay    ? "day"
                    : unit->unit == Duration::Unit::kHour ? "hour"
                                                          : "");
      if (n == 1 && unit->unit == Duration::Unit::kMonth && unit->times == 1) cut = CutOf("month");
      if (n == 1 && unit->unit == Duration::Unit::kYear) cut = CutOf("year");
      // A time is not earlier than where it is cut: the time itself is on the safe side, of rows it is not.
      if (!cut) return x.kind == What::kTime ? x : Both(x, x);
    } else if (roles.unit) {
      cut = CutIn(*roles.unit, false);
    } else if (roles.format) {
      cut = CutIn(*roles.format, true);
    } else {
      cut = CutOf(f.unit.empty() ? "day" : f.unit, dialect_);
    }
    if (!cut)
      return x.kind == What::kTime && (roles.unit || roles.format) &&
                     UnitIn(roles.unit ? *roles.unit : *roles.format)
                 ? x
                 : Both(x, x);
    const Measure before = x.measure;
    x = CutValue(std::move(x), *cut);
    // A cut keeps the type, but for those that make a date.
    if (before == Measure::kMoment && dialect_ == SqlDialect::kClickHouse && cut->unit <= CutUnit::kDay)
      x.measure = Measure::kMoment;
    return x;
  }

  Value Difference(const TimeFunction& f, const Roles& roles) {
    Value start = ValueOf(roles.start), end = ValueOf(roles.end);
    if (f.name == "AGE" && !roles.start) {  // age(x): from today's midnight
      start = end;
      end = Now(NowKind::kDay, "");
    }
    const auto unit = roles.unit ? UnitIn(*roles.unit) : f.unit.empty() ? std::nullopt : UnitOf(f.unit);
    const Counts counts = CountsOf(f, dialect_);
    const auto timely = [](const Value& v) { return v.kind == What::kTime || v.kind == What::kRows; };
    if (!unit && f.name != "AGE") return Both(start, end);
    // From a fixed day on: a number of units that stands for a time.
    if (timely(end) && !timely(start) && !OriginOf(start).empty() && counts == Counts::kBoundaries) {
      auto cut = CutOf(TextOf(*roles.unit), dialect_);
      if (!cut || cut->unit < CutUnit::kDay) return Both(start, end);
      if (cut->unit == CutUnit::kWeek) {  // counts Sundays from a Monday
        Move(end.kind == What::kTime ? end.steps : end.row_steps, 1, *UnitOf("day"));
        cut->week = TimeCut::Week::kMonday;
      }
      Value out = CutValue(std::move(end), *cut, Measure::kKey);
      out.counted = *unit;
      out.origin = OriginOf(start);
      return out;
    }
    if (!timely(start) || !timely(end) || start.kind == end.kind) return Both(start, end);
    Value out = Add(end, start, -1);
    if (out.kind != What::kApart) return out;
    out.counts = counts;
    if (unit) out.unit = *unit;
    if (counts == Counts::kBoundaries) {
      const auto cut = roles.unit ? CutIn(*roles.unit, false) : CutOf(f.unit, dialect_);
      TimeCut by = cut.value_or(TimeCut{CutUnit::kMinute});
      if (by.unit == CutUnit::kWeek && dialect_ == SqlDialect::kSqlServer) by.week = TimeCut::Week::kSunday;
      if (by.unit == CutUnit::kWeek && dialect_ == SqlDialect::kDuckDb) by.week = TimeCut::Week::kUnknown;
      Cut(out.steps, by);
      Cut(out.row_steps, by);
    }
    return out;
  }

  Value LengthCall(const TimeFunction& f, const std::vector<Argument>& arguments) {
    static constexpr std::string_view kPlaces[] = {"year", "month",  "week",  "day",
                                                   "hour", "minute", "second"};
    Value out;
    out.kind = What::kLength;
    const bool positional = f.roles == ".";
    const std::size_t first = f.name == "MAKE_DT_INTERVAL" ? 3 : 0;
    if (f.roles == "nu" && arguments.size() == 2) {
      const Value n = Range(arguments[0].from, arguments[0].to);
      const auto unit = UnitIn(arguments[1]);
      if (!unit || n.kind != What::kNumber) return Both(n, n);
      out.steps.push_back(MovedBy(n.number, *unit));
      return out;
    }
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const Argument& a = arguments[i];
      const Value n = Range(a.from, a.to);
      const std::string name = !a.name.empty() ? a.name == "mins"   ? "minute"
                                                 : a.name == "secs" ? "second"
                                                                    : a.name
                               : positional && first + i < std::size(kPlaces)
                                   ? std::string(kPlaces[first + i])
                               : i == 0 ? Lower(f.unit)
                                        : "";
      const auto unit = UnitOf(name);
      // relativedelta(day=1) sets, it does not add.
      const bool sets = f.name == "RELATIVEDELTA" && !EndsWith(name, "s");
      if (!unit || n.kind != What::kNumber || sets) return Both(n, n);
      if (n.number != 0) out.steps.push_back(MovedBy(n.number, *unit));
    }
    return out;
  }

  // One of several: the first where it cannot be null, the later of two times.
  Value Either(const TimeFunction& f, const std::vector<Argument>& arguments) {
    const std::size_t first = f.name == "IFF" || f.name == "IF" ? 1 : 0;
    const bool in_turn = f.name == "COALESCE" || f.name == "IFNULL" || f.name == "NVL" || f.name == "ISNULL";
    Value out, all;
    for (std::size_t i = first; i < arguments.size(); ++i) {
      Value v = Range(arguments[i].from, arguments[i].to);
      all = Both(all, v);
      if (i == first) {
        out = v;
        if (in_turn && v.kind == What::kTime) return v;
        continue;
      }
      if (out.kind == What::kTime && v.kind == What::kTime)
        out = Later(out, v);
      else if (f.name == "LEAST" && (out.kind == What::kTime || v.kind == What::kTime) && !all.rows)
        out = out.kind == What::kTime ? out : v;  // not later than the run's
      else if (out.kind == What::kRows &&
               (v.kind == What::kRows || v.kind == What::kText || v.kind == What::kNumber))
        out.unclear = out.unclear || v.unclear;
      else
        out = all;
    }
    return out;
  }

  // SQLite's date('now', 'start of month', '-1 month').
  Value Modified(const TimeFunction& f, const std::vector<Argument>& arguments) {
    const std::size_t value = f.name == "STRFTIME" ? 1 : 0;
    Value x = arguments.size() > value ? ValueOf(arguments[value]) : Now(NowKind::kMoment, "");
    if (x.kind != What::kTime && x.kind != What::kRows) return x;
    SqlSteps& steps = x.kind == What::kTime ? x.steps : x.row_steps;
    for (std::size_t i = value + 1; i < arguments.size(); ++i) {
      const Value v = Range(arguments[i].from, arguments[i].to);
      const std::string word = v.kind == What::kText ? Lower(v.text) : "";
      if (StartsWith(word, "start of ")) {
        const auto cut = CutOf(word.substr(9));
        if (!cut) return Both(x, x);
        Cut(steps, *cut);
      } else if (word == "localtime" || word == "utc" || word == "unixepoch" || word == "auto" ||
                 word == "subsec") {
        continue;
      } else if (const auto lengths = LengthsOf(word, dialect_); lengths) {
        for (const TimeLength& length : *lengths) {
          const bool months = length.unit.unit >= Duration::Unit::kMonth;
          const bool first = Aligned(steps, {CutUnit::kMonth});
          Move(steps, length.number, length.unit);
          // A day that does not exist goes on into the next month here.
          if (months && !first) Move(steps, x.kind == What::kTime ? 3 : -3, *UnitOf("day"));
        }
      } else {
        return Both(x, x);
      }
    }
    if (f.name == "JULIANDAY") return Measured(std::move(x), Measure::kDays);
    if (f.name == "DATE") return CutValue(std::move(x), {CutUnit::kDay}, Measure::kKey);
    x.measure = Measure::kKey;
    if (f.name != "STRFTIME") return x;
    const std::string format = TextOf(arguments[0]);
    if (format == "%s") return Measured(std::move(x), Measure::kSeconds);
    const auto cut = CutOfFormat(format);
    return cut ? CutValue(std::move(x), *cut, Measure::kKey) : Both(x, x);
  }

  const std::vector<SqlPart>& p_;
  std::size_t i_ = 0, end_ = 0;
  int depth_ = 0;
  std::size_t steps_ = 0;
  bool own_ = false;  // within a query of the table itself
};

}  // namespace

bool NowAt(const std::vector<SqlPart>& p, std::size_t i, SqlDialect dialect) {
  const SqlToken& t = p[i].token;
  if (t.kind != Kind::kWord) {
    // 'now' as what is cast, or what a function is given.
    if (t.kind != Kind::kString || t.text.size() > 9 || NowInString(t.text) == NowKind::kNo) return false;
    const bool cast = i + 2 < p.size() && p[i + 1].token.IsSymbol(':') && p[i + 2].token.IsSymbol(':');
    const bool typed = i > 0 && (p[i - 1].token.Is("DATE") || p[i - 1].token.Is("TIMESTAMP"));
    const bool given = i > 1 && (p[i - 1].token.IsSymbol('(') || p[i - 1].token.IsSymbol(',')) &&
                       dialect == SqlDialect::kSqlite;
    return cast || typed || given;
  }
  if (!p[i].jinja && i > 0 && p[i - 1].token.IsSymbol('.')) return false;  // a column
  const bool call = i + 1 < p.size() && p[i + 1].token.IsSymbol('(');
  const NowKind now = NowNamed(t.text, dialect, call);
  if (now == NowKind::kSeconds && !(i + 2 < p.size() && p[i + 2].token.IsSymbol(')'))) return false;
  if (now != NowKind::kNo) return true;
  const TimeFunction* f = call && p[i].jinja ? FindTimeFunction(t.text) : nullptr;
  return f && f->does == Does::kAgo;
}

bool HasNow(const std::vector<SqlPart>& parts, SqlDialect dialect) {
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (NowAt(parts, i, dialect)) return true;
  return false;
}

SqlWorth WorthOf(const std::vector<SqlPart>& parts, SqlDialect dialect) {
  return Parser(parts, dialect).Run();
}

}  // namespace backreach
