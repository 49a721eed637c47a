// Bounds by the time of a run.

#include "graph/time/run_bound.hpp"

#include <algorithm>
#include <cstdlib>

#include "graph/base/words.hpp"

namespace backreach {

namespace {

constexpr Instant kSomeDay = 1'700'000'000;

Instant Apply(const std::vector<RunBound::Step>& steps, Instant t, const Zone& zone) {
  for (const RunBound::Step& step : steps) {
    if (step.floor) {
      t = Calendar(Grain{*step.floor, 1}, &zone).Floor(t);
    } else {
      const Duration length{std::abs(step.shift.count), step.shift.unit};
      t = AddDuration(zone, t, length, step.shift.count < 0 ? -1 : 1);
    }
  }
  return t;
}

const char* UnitWord(Duration::Unit unit) {
  switch (unit) {
    case Duration::Unit::kMinute: return "minute";
    case Duration::Unit::kHour: return "hour";
    case Duration::Unit::kDay: return "day";
    case Duration::Unit::kWeek: return "week";
    case Duration::Unit::kMonth: return "month";
    case Duration::Unit::kYear: return "year";
  }
  return "day";
}

}  // namespace

void RunBound::Shift(std::int64_t count, Duration::Unit unit) {
  if (!steps.empty() && !steps.back().floor && steps.back().shift.unit == unit)
    steps.back().shift.count += count;
  else
    steps.push_back({std::nullopt, {count, unit}});
}

Instant RunBound::At(Instant now, const Zone& zone) const {
  const Instant at = std::max(Apply(steps, now, zone), Apply(steps, now, *Zone::Utc()));
  const Zone* own = clock.empty() ? nullptr : Zone::Find(clock);
  // What that clock shows is compared with rows that go by the zone's.
  return own ? std::max(at, zone.FirstReach(own->ToCivil(Apply(steps, now, *own)))) : at;
}

Instant RunBound::Typical() const { return Apply(steps, kSomeDay, *Zone::Utc()); }

std::string RunBound::LooksBack() const {
  std::vector<std::string> shifts;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    // A week that begins on a Sunday is one of Mondays, moved by a day and back.
    const bool sunday = i > 0 && steps[i - 1].floor == Grain::Unit::kWeek && i > 1 && !steps[i - 2].floor;
    const std::int64_t back = -steps[i].shift.count - (sunday ? 1 : 0);
    // A minute before a start is how the next one is found.
    const bool ceiling = back == 1 && steps[i].shift.unit == Duration::Unit::kMinute &&
                         i + 1 < steps.size() && steps[i + 1].floor;
    if (!steps[i].floor && back > 0 && !ceiling)
      shifts.push_back(Plural(back, UnitWord(steps[i].shift.unit)));
  }
  return Join(shifts, " and ");
}

std::string RunBound::Describe() const {
  std::optional<Grain::Unit> coarsest;
  for (const Step& step : steps)
    if (step.floor) coarsest = std::max(coarsest.value_or(*step.floor), *step.floor);
  const std::string shifts = LooksBack();
  const std::string unit = coarsest ? FormatGrain(Grain{*coarsest, 1}) : "";
  if (shifts.empty()) return coarsest ? "of the run's own " + unit : "from the time of the run on";
  if (!coarsest || *coarsest <= Grain::Unit::kDay) return "of the last " + shifts + " before the run";
  return "since the start of the " + unit + ", " + shifts + " before the run";
}

std::vector<RunBound> LatestOf(const std::vector<RunBound>& all) {
  std::vector<RunBound> out, bounds;
  for (const RunBound& bound : all)
    if (std::find(bounds.begin(), bounds.end(), bound) == bounds.end()) bounds.push_back(bound);
  const auto add = [&](const RunBound& bound) {
    if (std::find(out.begin(), out.end(), bound) == out.end()) out.push_back(bound);
  };
  // Which of them lies latest turns with the calendar: every day of four years shows all that it can.
  const auto latest = [&](Instant now) {
    return *std::max_element(bounds.begin(), bounds.end(), [&](const RunBound& a, const RunBound& b) {
      return Apply(a.steps, now, *Zone::Utc()) < Apply(b.steps, now, *Zone::Utc());
    });
  };
  if (!bounds.empty()) add(latest(kSomeDay));
  for (int day = 0; bounds.size() > 1 && day < 4 * 366; ++day)
    for (const Instant hour : {1, 13})
      add(latest(FloorDiv(kSomeDay, kDay) * kDay + day * kDay + hour * kHour));
  for (const RunBound& bound : bounds)
    if (!bound.clock.empty()) add(bound);
  return out;
}

std::string FormatRunBounds(const std::vector<RunBound>& bounds) {
  std::vector<std::string> each;
  for (const RunBound& bound : bounds) each.push_back(FormatRunBound(bound));
  return Join(each, " | ");
}

std::vector<RunBound> ParseRunBounds(std::string_view text) {
  std::vector<RunBound> out;
  for (const std::string& each : Split(text, '|')) {
    const auto bound = ParseRunBound(each);
    if (!bound) return {};
    out.push_back(*bound);
  }
  return out;
}

std::string FormatRunBound(const RunBound& bound) {
  std::vector<std::string> words;
  for (const RunBound::Step& step : bound.steps)
    words.push_back(step.floor ? FormatGrain(Grain{*step.floor, 1})
                               : (step.shift.count < 0 ? "-" : "+") +
                                     FormatDuration({std::abs(step.shift.count), step.shift.unit}));
  if (!bound.clock.empty()) words.push_back("@" + bound.clock);
  return Join(words, " ");
}

std::optional<RunBound> ParseRunBound(std::string_view text) {
  RunBound out;
  for (const std::string& word : Split(text, ' ')) {
    if (word.empty()) continue;
    if (word[0] == '-' || word[0] == '+') {
      const auto length = ParseDuration(std::string_view(word).substr(1));
      if (!length) return std::nullopt;
      out.Shift(word[0] == '-' ? -length->count : length->count, length->unit);
    } else if (word[0] == '@') {
      out.clock = word.substr(1);
    } else {
      const auto grain = ParseGrain(word);
      if (!grain || (!grain->bears_dates() && grain->unit != Grain::Unit::kHour)) return std::nullopt;
      out.Floor(grain->unit);
    }
  }
  return out;
}

}  // namespace backreach
