// What follows from a plan's file alone.

#include "analysis/plan/recorded.hpp"

#include <set>

namespace backreach {

SpanSet RecordedCells::Set() const {
  std::vector<Span> all;
  for (const RecordedSpan& s : spans) all.push_back(s.span);
  return SpanSet::FromUnsorted(std::move(all));
}

const RecordedStep* RecordedPlan::Step(int wanted) const {
  for (const RecordedStep& step : steps)
    if (step.id == wanted) return &step;
  return nullptr;
}

std::vector<std::string> RecordedPlan::ReadersOf(const std::string& dataset) const {
  std::set<std::string> out;
  for (const RecordedStep& step : steps)
    for (const RecordedCells& read : step.reads)
      if (read.dataset == dataset && step.cells.dataset != dataset) out.insert(step.cells.dataset);
  return {out.begin(), out.end()};
}

Calendar CalendarOf(const RecordedStep& step) {
  const Zone* found = Zone::Find(step.timezone);
  const Zone& zone = found ? *found : *Zone::Utc();
  const Grain grain = step.grain.value_or(Grain{Grain::Unit::kDay, 1});
  std::int64_t starts_at = 0;
  int week_start = 0;
  for (const RecordedSpan& s : step.cells.spans) {
    if (!IsFinite(s.span.start) || !grain.bears_dates()) continue;
    const Civil civil = zone.ToCivil(s.span.start);
    starts_at = FloorMod(civil, kDay);
    week_start = static_cast<int>(FloorMod(FloorDiv(civil, kDay) + 3, 7));  // 1970-01-01 was a Thursday
    break;
  }
  return Calendar(grain, &zone, starts_at, grain.unit == Grain::Unit::kWeek ? week_start : 0);
}

}  // namespace backreach
