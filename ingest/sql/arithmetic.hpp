// What adding, multiplying, cutting and casting make of values: of numbers, lengths, the time of the run and
// the rows. What is not understood becomes a value that only says what is in it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ingest/sql/time.hpp"

namespace backreach {

// A type that something is cast to.
struct SqlType {
  std::string name;  // upper case
  int width = 0;     // of varchar(10)
};

class SqlArithmetic {
 public:
  explicit SqlArithmetic(SqlDialect dialect) : dialect_(dialect) {}

 protected:
  using Value = SqlWorth;
  using Measure = SqlWorth::Measure;

  Value Later(const Value& a, const Value& b) const;
  static void Negate(Value& v);
  // Of two values nothing but what is in them.
  static Value Both(const Value& a, const Value& b);
  Value Concat(const Value& a, const Value& b) const;
  Value Times(const Value& a, const Value& b, bool divide) const;
  // Of several numbers the one that leads to the later time.
  static double Of(const Value& v, int sign);
  // Lengths that a value adds to this time; nothing if that is not known.
  std::optional<SqlSteps> LengthFor(const Value& time, const Value& v, int sign) const;
  // The time of the run less the rows, or the other way round.
  Value Less(const Value& a, const Value& b) const;
  Value Add(const Value& a, const Value& b, int sign) const;
  Value Cast(Value v, const SqlType& type) const;
  // The first letters of a time's text.
  Value Shortened(Value v, int letters) const;
  Value CutValue(Value v, const TimeCut& cut, Measure measure = Measure::kDay) const;
  Value Now(NowKind kind, std::string name) const;
  void SetZone(Value& v, const Value& zone) const;
  Value Field(Value v, std::string_view part) const;
  static Value Measured(Value x, Measure measure);
  static std::string OriginOf(const Value& v);

  SqlDialect dialect_;
};

}  // namespace backreach
