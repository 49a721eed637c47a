// A bound is turned from a condition on what was made of the rows into one on the rows: what moved them moves
// the time of the run the other way, and what cut them takes it up to the next start.

#include "ingest/sql/steps.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace backreach {

namespace {

using CutUnit = TimeCut::Unit;

// A number of units as steps of whole ones: what is left over is dropped where that is later.
void AppendMove(RunBound& out, const TimeLength& length) {
  double count = length.number * length.unit.times;
  Duration::Unit in = length.unit.unit;
  if (std::abs(count - std::round(count)) < 1e-9) count = std::round(count);
  if (count != std::floor(count)) {  // 1.5 hours, 90 seconds
    static constexpr double kMinutes[] = {1, 60, 1440, 10080};
    const auto unit = static_cast<std::size_t>(in);
    if (unit < std::size(kMinutes)) count *= kMinutes[unit], in = Duration::Unit::kMinute;
    if (std::abs(count - std::round(count)) < 1e-6) count = std::round(count);
    count = std::ceil(count);  // -1.5 minutes: one minute back
    if (unit > 0 && std::fmod(count, 60) == 0) count /= 60, in = Duration::Unit::kHour;
  }
  if (std::abs(count) > 1e6) count = count < 0 ? -1e6 : 1e6;
  if (count != 0) out.Shift(static_cast<std::int64_t>(count), in);
}

}  // namespace

bool Aligned(const SqlSteps& steps, const TimeCut& to) {
  bool out = false;
  for (const SqlStep& step : steps) {
    if (step.cut) {
      const TimeCut& cut = *step.cut;
      const bool week = to.unit == CutUnit::kWeek || cut.unit == CutUnit::kWeek;
      out = !step.keeps_time && (week ? cut == to || (cut.unit == CutUnit::kWeek && to.unit <= CutUnit::kDay)
                                      : cut.unit >= to.unit);
      continue;
    }
    const double n = step.length.number * step.length.unit.times;
    if (!out || n == 0) continue;
    const Duration::Unit unit = step.length.unit.unit;
    switch (to.unit) {
      case CutUnit::kMinute: out = n == std::floor(n); break;
      case CutUnit::kHour: out = unit >= Duration::Unit::kHour && n == std::floor(n); break;
      case CutUnit::kDay: out = unit >= Duration::Unit::kDay && n == std::floor(n); break;
      case CutUnit::kWeek: out = unit == Duration::Unit::kWeek && n == std::floor(n); break;
      case CutUnit::kMonth: out = unit >= Duration::Unit::kMonth && n == std::floor(n); break;
      case CutUnit::kQuarter:
        out = (unit == Duration::Unit::kMonth && std::fmod(n, 3) == 0) || unit == Duration::Unit::kYear;
        break;
      case CutUnit::kYear: out = unit == Duration::Unit::kYear && n == std::floor(n); break;
    }
  }
  return out;
}

TimeUnit UnitOfCut(CutUnit unit) {
  switch (unit) {
    case CutUnit::kMinute: return {Duration::Unit::kMinute, 1};
    case CutUnit::kHour: return {Duration::Unit::kHour, 1};
    case CutUnit::kDay: return {Duration::Unit::kDay, 1};
    case CutUnit::kWeek: return {Duration::Unit::kWeek, 1};
    case CutUnit::kMonth: return {Duration::Unit::kMonth, 1};
    case CutUnit::kQuarter: return {Duration::Unit::kMonth, 3};
    case CutUnit::kYear: return {Duration::Unit::kYear, 1};
  }
  return {};
}

void Move(SqlSteps& steps, double number, const TimeUnit& unit) {
  if (!steps.empty() && !steps.back().cut && steps.back().length.unit == unit) {
    steps.back().length.number += number;
    if (steps.back().length.number == 0) steps.pop_back();
  } else if (number != 0) {
    steps.push_back(MovedBy(number, unit));
  }
}
void Cut(SqlSteps& steps, const TimeCut& cut) {
  // What left the time of the day is settled by a cut to the day.
  if (cut.unit == CutUnit::kDay && !steps.empty() && steps.back().keeps_time)
    steps.back().keeps_time = false;
  else if (!Aligned(steps, cut))
    steps.push_back(CutTo(cut));
}

RunBound BoundOf(const SqlSteps& steps) {
  RunBound out;
  const auto floor = [&](Grain::Unit unit) {
    if (out.steps.empty() || out.steps.back().floor != unit) out.Floor(unit);
  };
  for (const SqlStep& step : steps) {
    if (!step.cut) {
      AppendMove(out, step.length);
      continue;
    }
    switch (step.cut->unit) {
      case CutUnit::kMinute: break;  // not later than the time itself
      case CutUnit::kHour: floor(Grain::Unit::kHour); break;
      case CutUnit::kDay: floor(Grain::Unit::kDay); break;
      case CutUnit::kWeek:
        // On which day a week starts may be the warehouse's setting: the day itself is sure.
        if (step.cut->week == TimeCut::Week::kUnknown) {
          floor(Grain::Unit::kDay);
        } else if (step.cut->week == TimeCut::Week::kMonday) {
          floor(Grain::Unit::kWeek);
        } else {
          out.Shift(1, Duration::Unit::kDay);
          floor(Grain::Unit::kWeek);
          out.Shift(-1, Duration::Unit::kDay);
        }
        break;
      case CutUnit::kMonth: floor(Grain::Unit::kMonth); break;
      case CutUnit::kQuarter: floor(Grain::Unit::kQuarter); break;
      case CutUnit::kYear: floor(Grain::Unit::kYear); break;
    }
    if (step.keeps_time) out.Shift(1, Duration::Unit::kDay);
  }
  return out;
}

RunBound BoundBehind(SqlSteps steps, const SqlSteps& row_steps, bool strict) {
  for (std::size_t i = row_steps.size(); i-- > 0;) {
    const SqlStep& step = row_steps[i];
    if (!step.cut) {
      // ts + 3 days >= now is ts >= now - 3 days; of months it is so up to days that only some of them have.
      const bool months = step.length.unit.unit >= Duration::Unit::kMonth;
      const bool first = !months || Aligned(steps, {CutUnit::kMonth});
      Move(steps, -step.length.number, step.length.unit);
      if (!first) Move(steps, 3, *UnitOf("day"));
      continue;
    }
    const TimeCut& cut = *step.cut;
    if (Aligned(steps, cut)) {
      if (strict) Move(steps, 1, UnitOfCut(cut.unit));
    } else if (cut.unit == CutUnit::kWeek && cut.week == TimeCut::Week::kUnknown) {
      Cut(steps, {CutUnit::kDay});
      Move(steps, 7, *UnitOf("day"));
    } else {
      // The first start behind it. Of a start of a day that is exact by the minute before it.
      if (Aligned(steps, {CutUnit::kDay}) && !strict) Move(steps, -1, *UnitOf("minute"));
      Cut(steps, cut);
      Move(steps, 1, UnitOfCut(cut.unit));
    }
    strict = false;
  }
  // Above a day and not on it: a date of that day is not taken.
  if (strict && Aligned(steps, {CutUnit::kDay})) Move(steps, 1, *UnitOf("day"));
  return BoundOf(steps);
}

}  // namespace backreach
