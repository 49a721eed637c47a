// Values of expressions, by the rules of the dialect.

#include "ingest/sql/arithmetic.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "graph/base/words.hpp"

namespace backreach {

namespace {

using Value = SqlWorth;
using What = SqlWorth::Kind;
using Counts = TimeFunction::Counts;
using CutUnit = TimeCut::Unit;

}  // namespace

Value SqlArithmetic::Later(const Value& a, const Value& b) const {
  Value lost;
  lost.now = true, lost.rows = a.rows || b.rows;
  if (a.kind != What::kTime || b.kind != What::kTime || a.zone != b.zone) return lost;
  return BoundOf(a.steps).Typical() >= BoundOf(b.steps).Typical() ? a : b;
}

void SqlArithmetic::Negate(Value& v) {
  if (v.kind == What::kNumber) {
    const double greatest = v.number;
    v.number = -v.least.value_or(greatest);
    if (v.least) v.least = -greatest;
  } else if (v.kind == What::kLength)
    for (SqlStep& step : v.steps) step.length.number = -step.length.number;
  else if (v.kind == What::kApart)
    v.reversed = !v.reversed;
  else
    v = Both(v, v);
}

Value SqlArithmetic::Both(const Value& a, const Value& b) {
  Value out;
  out.now = a.now || b.now;
  out.rows = a.rows || b.rows;
  out.unit_like = a.unit_like || b.unit_like;
  out.written = a.written || b.written;
  out.window = a.window || b.window;
  if (out.rows && !out.now) out.kind = What::kRows, out.unclear = true;
  return out;
}

Value SqlArithmetic::Concat(const Value& a, const Value& b) const {
  // '-3' || ' days', a quote around something that Jinja wrote.
  const auto blank = [](const Value& v) {
    return v.kind == What::kText && v.text.find_first_not_of(" '\"T:0Z") == std::string::npos;
  };
  if (blank(b)) return a;
  if (blank(a)) return b;
  const auto text = [](const Value& v) -> std::optional<std::string> {
    if (v.kind == What::kText) return v.text;
    if (v.kind != What::kNumber || v.number != std::floor(v.number)) return std::nullopt;
    return std::to_string(static_cast<long long>(v.number));
  };
  const auto left = text(a), right = text(b);
  if (!left || !right) return Both(a, b);
  Value out;
  out.kind = What::kText;
  out.text = *left + *right;
  return out;
}

Value SqlArithmetic::Times(const Value& a, const Value& b, bool divide) const {
  if (a.least || b.least) return Both(a, b);
  if (a.kind == What::kNumber && b.kind == What::kNumber && !(divide && b.number == 0)) {
    Value out = a;
    out.number = divide ? a.number / b.number : a.number * b.number;
    return out;
  }
  if (a.kind == What::kNumber && !divide) return Times(b, a, false);
  if (b.kind != What::kNumber || b.number == 0) return Both(a, b);
  const double by = divide ? 1 / b.number : b.number;
  Value out = a;
  if (a.kind == What::kLength) {
    for (SqlStep& step : out.steps) step.length.number *= by;
    return out;
  }
  if (a.kind == What::kApart && by > 0) {
    out.unit.times /= by;
    return out;
  }
  // year(x) * 100 + month(x)
  if (a.measure == Measure::kKey && (a.kind == What::kTime || a.kind == What::kRows) && !divide) return out;
  return Both(a, b);
}

double SqlArithmetic::Of(const Value& v, int sign) {
  return sign < 0 ? v.least.value_or(v.number) : v.number;
}

std::optional<SqlSteps> SqlArithmetic::LengthFor(const Value& time, const Value& v, int sign) const {
  if (v.kind == What::kLength) return v.steps;
  if (v.kind == What::kText) {  // now() - '3 days'
    SqlSteps out;
    const auto lengths = LengthsOf(v.text, dialect_);
    if (!lengths) return std::nullopt;
    for (const TimeLength& length : *lengths) out.push_back({std::nullopt, length, false});
    return out;
  }
  if (v.kind != What::kNumber) return std::nullopt;
  std::optional<TimeUnit> unit;
  switch (time.measure) {
    case Measure::kSeconds: unit = UnitOf("second"); break;
    case Measure::kMillis: unit = UnitOf("millisecond"); break;
    case Measure::kDays: unit = UnitOf("day"); break;
    case Measure::kDay: unit = PlainUnit(true, time.now_name, dialect_); break;
    case Measure::kMoment: unit = PlainUnit(false, time.now_name, dialect_); break;
    case Measure::kKey: {
      if (!time.origin.empty()) {
        unit = time.counted;
        break;
      }
      const SqlSteps& steps = time.kind == What::kTime ? time.steps : time.row_steps;
      if (!steps.empty() && steps.back().cut && steps.back().cut->unit == CutUnit::kYear)
        unit = UnitOf("year");
      break;
    }
  }
  if (time.own && v.number != 0 && time.measure != Measure::kDay && time.measure != Measure::kSeconds)
    return std::nullopt;  // the newest number is no time
  if (!unit) return std::nullopt;
  return SqlSteps{MovedBy(Of(v, sign), *unit)};
}

Value SqlArithmetic::Less(const Value& a, const Value& b) const {
  Value out = Both(a, b);
  const Value& time = a.kind == What::kTime ? a : b;
  const Value& rows = a.kind == What::kRows ? a : b;
  out.kind = What::kApart;
  out.reversed = a.kind == What::kRows;
  out.steps = time.steps, out.row_steps = rows.row_steps;
  out.zone = time.zone, out.unclear = rows.unclear, out.own = time.own;
  out.measure = time.measure;
  const auto plain = time.measure == Measure::kSeconds  ? UnitOf("second")
                     : time.measure == Measure::kMillis ? UnitOf("millisecond")
                     : time.measure == Measure::kDays   ? UnitOf("day")
                     : time.measure == Measure::kKey
                         ? std::nullopt
                         : PlainUnit(time.measure == Measure::kDay, time.now_name, dialect_);
  out.unit = plain.value_or(TimeUnit{Duration::Unit::kDay, 0});
  return out;
}

Value SqlArithmetic::Add(const Value& a, const Value& b, int sign) const {
  if (a.kind == What::kNumber && b.kind == What::kNumber && !a.least && !b.least) {
    Value out = a;
    out.number += sign * b.number;
    return out;
  }
  const auto timely = [](const Value& v) { return v.kind == What::kTime || v.kind == What::kRows; };
  if (timely(b) && !timely(a) && sign > 0) return Add(b, a, sign);
  if (a.kind == What::kLength && b.kind == What::kLength) {
    Value out = a;
    for (SqlStep step : b.steps) {
      step.length.number *= sign;
      out.steps.push_back(step);
    }
    return out;
  }
  if (timely(a) && timely(b) && a.kind != b.kind && sign < 0) return Less(a, b);
  // year(x) * 100 + month(x): the finer of the two.
  if (timely(a) && a.kind == b.kind && a.measure == Measure::kKey && b.measure == Measure::kKey && sign > 0) {
    const auto cut = [](const Value& v) {
      const SqlSteps& steps = v.kind == What::kTime ? v.steps : v.row_steps;
      return steps.empty() || !steps.back().cut ? CutUnit::kYear : steps.back().cut->unit;
    };
    return cut(a) < cut(b) ? a : b;
  }
  if (!timely(a) || timely(b)) return Both(a, b);
  Value out = a;
  const auto lengths = LengthFor(a, b, sign);
  if (!lengths) {
    // Digits taken off a key leave it at the least where it was: 202601 - 1 takes all of 202601.
    const bool later = a.kind == What::kTime && b.kind == What::kNumber && sign * b.number <= 0 && !a.own;
    if (later) return out;
    Value lost = Both(a, b);
    lost.own = a.own;
    return lost;
  }
  SqlSteps& steps = a.kind == What::kTime ? out.steps : out.row_steps;
  for (const SqlStep& step : *lengths) {
    Move(steps, sign * step.length.number, step.length.unit);
    const bool fraction = step.length.number * step.length.unit.times !=
                          std::floor(step.length.number * step.length.unit.times);
    if (out.measure == Measure::kDay && (step.length.unit.unit < Duration::Unit::kDay || fraction))
      out.measure = Measure::kMoment;
  }
  return out;
}

Value SqlArithmetic::Cast(Value v, const SqlType& type) const {
  if (v.kind == What::kText) {
    const NowKind now = NowInString(v.text);
    if (now != NowKind::kNo) v = Now(now, "");
    if (type.name == "INTERVAL")
      if (const auto lengths = LengthsOf(v.text, dialect_, UnitOf("second"))) {
        v = Value();
        v.kind = What::kLength;
        for (const TimeLength& length : *lengths) v.steps.push_back({std::nullopt, length, false});
      }
  }
  const bool text =
      type.name.find("CHAR") != std::string::npos || type.name == "TEXT" || type.name == "STRING";
  if (text && type.width > 0) return Shortened(std::move(v), type.width);
  if (type.name != "DATE" && type.name != "DATE32") return v;
  if (dialect_ == SqlDialect::kOracle) return v;           // has its time still
  if (dialect_ == SqlDialect::kSqlite) return Both(v, v);  // the year, as a number
  return CutValue(std::move(v), {CutUnit::kDay});
}

Value SqlArithmetic::Shortened(Value v, int letters) const {
  if (v.kind != What::kTime && v.kind != What::kRows) return v;
  if (dialect_ == SqlDialect::kSqlServer && v.measure == Measure::kMoment) return Both(v, v);
  const bool key = v.measure == Measure::kKey;
  if (letters == 10 || (letters == 8 && key)) return CutValue(std::move(v), {CutUnit::kDay}, Measure::kKey);
  if (letters == 7 || (letters == 6 && key)) return CutValue(std::move(v), {CutUnit::kMonth}, Measure::kKey);
  if (letters == 4) return CutValue(std::move(v), {CutUnit::kYear}, Measure::kKey);
  return letters > 18 ? v : Both(v, v);
}

Value SqlArithmetic::CutValue(Value v, const TimeCut& cut, Measure measure) const {
  if (v.kind == What::kTime)
    Cut(v.steps, cut);
  else if (v.kind == What::kRows)
    Cut(v.row_steps, cut);
  else
    return v;
  v.measure = cut.unit >= CutUnit::kDay ? measure : Measure::kMoment;
  return v;
}

Value SqlArithmetic::Now(NowKind kind, std::string name) const {
  Value out;
  out.kind = What::kTime;
  out.now = true;
  out.now_name = std::move(name);
  out.measure = kind == NowKind::kMoment    ? Measure::kMoment
                : kind == NowKind::kSeconds ? Measure::kSeconds
                : kind == NowKind::kMillis  ? Measure::kMillis
                                            : Measure::kDay;
  if (out.measure == Measure::kDay) out.steps.push_back(CutTo({CutUnit::kDay}));
  if (kind == NowKind::kYesterday) Move(out.steps, -1, *UnitOf("day"));
  if (kind == NowKind::kTomorrow) Move(out.steps, 1, *UnitOf("day"));
  return out;
}

void SqlArithmetic::SetZone(Value& v, const Value& zone) const {
  if (v.kind != What::kTime) return;
  std::string name = zone.kind == What::kText ? zone.text : "";
  if (name == "UTC" || name == "utc" || name == "GMT" || name == "Etc/UTC") return;
  // The furthest clock where nobody knows which.
  if (name.empty() || name.find(' ') != std::string::npos || !Zone::Find(name)) name = "Etc/GMT-14";
  v.zone = name;
}

Value SqlArithmetic::Field(Value v, std::string_view part) const {
  const std::string name = Lower(part);
  if (v.kind == What::kApart) {
    if (name == "epoch") {
      v.unit = *UnitOf("second");
      return v;
    }
    const auto unit = UnitOf(name, dialect_);
    if (!unit || v.counts != Counts::kExact) return Both(v, v);
    v.unit = *unit;
    v.counts = Counts::kElapsed;
    return v;
  }
  if (v.kind != What::kTime && v.kind != What::kRows) return Both(v, v);
  if (name == "epoch" || name == "epoch_second" || name == "epoch_seconds") {
    v.measure = Measure::kSeconds;
    return v;
  }
  if (name == "epoch_millisecond" || name == "epoch_milliseconds") {
    v.measure = Measure::kMillis;
    return v;
  }
  if (name == "date") return CutValue(std::move(v), {CutUnit::kDay});
  const auto cut = CutOf(name, dialect_);
  // A month without its year: at least this one is taken.
  if (!cut || (cut->unit != CutUnit::kYear && cut->unit != CutUnit::kMonth) || name == "m") return Both(v, v);
  return CutValue(std::move(v), *cut, Measure::kKey);
}

Value SqlArithmetic::Measured(Value x, Measure measure) {
  x.measure = measure;
  return x;
}

std::string SqlArithmetic::OriginOf(const Value& v) {
  if (v.kind == What::kNumber) return std::to_string(v.number);
  return v.kind == What::kText ? v.text : "";
}

}  // namespace backreach
