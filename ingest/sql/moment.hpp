// What calls and words do with a time, by warehouse: cut it to a unit, move it, count between two. Only forms
// whose meaning is known; any other is none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "graph/time/calendar.hpp"
#include "ingest/sql/query.hpp"

namespace backreach {

struct MomentUnit {
  std::int64_t months = 0, seconds = 0;
};
// `day`, `days`, `dd`, ...
std::optional<MomentUnit> MomentUnitOf(std::string_view name, std::string_view adapter);
// A unit to cut to, and where its weeks begin (0 is Monday).
struct MomentCut {
  Grain::Unit unit = Grain::Unit::kDay;
  int week = 0;
};
std::optional<MomentCut> MomentCutOf(std::string_view name, std::string_view adapter);

struct SpelledTime {
  std::int64_t months = 0, seconds = 0;
};
// `6 days`, `1 day 2 hours`, `1 day, 2 hours`, `P1DT2H`, `1 day ago`.
std::optional<SpelledTime> ReadIntervalText(std::string_view text, std::string_view adapter);
// `2026-03-01`, `2026-03-01 05:00:00`.
std::optional<Civil> ReadMoment(std::string_view text);
std::optional<std::int64_t> WholeNumber(std::string_view text);

bool IsNowCall(std::string_view name);
bool IsAggregate(std::string_view name);

// What a call makes of the time in its argument `value`.
struct MomentCall {
  enum class Kind {
    kNone,
    kSame,   // the same time
    kCut,    // cut to `unit`, in `zone` if one is given; as a text or number where `text`
    kLast,   // the last day of its unit
    kAdd,    // `sign` times the argument `amount` of units
    kZone,   // from the clock of `from_zone` to that of `zone`
    kEither  // any of the arguments from `value` on
  } kind = Kind::kNone;
  std::size_t value = 0, amount = 0;
  Grain::Unit unit = Grain::Unit::kDay;
  int week = 0;
  std::string zone, from_zone;
  bool text = false;
  int sign = 1;
  std::int64_t step_months = 0, step_seconds = kDay;  // of a bare number
};
MomentCall MomentCallOf(const SqlExpr& call, std::string_view adapter);

// The difference `end - start` in units.
struct MomentDifference {
  bool known = false;
  const SqlExpr *start = nullptr, *end = nullptr;
  bool boundaries = true;  // crossed, else whole units that elapsed
  Grain::Unit unit = Grain::Unit::kDay;
  int week = 0;
  std::int64_t months = 0, seconds = kDay;
};
MomentDifference MomentDifferenceOf(const SqlExpr& call, std::string_view adapter);

}  // namespace backreach
