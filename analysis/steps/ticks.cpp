// A person's `covers: interval` names the cells that end in the run's interval; an orchestrator's own
// interval is taken by what it overlaps, since nobody said which cells its code writes.

#include "analysis/steps/ticks.hpp"

#include <algorithm>

#include "graph/base/words.hpp"

namespace backreach {

std::optional<Ticks> TicksOf(const ScheduleFact& s) {
  if (!s.events.empty()) {
    std::vector<Instant> moments;
    for (const std::string& text : s.events)
      if (const auto t = ParseInstant(text, true)) moments.push_back(*t);
    return Ticks::Listed(std::move(moments));
  }
  if (s.cron) {
    const Zone* zone = ZoneOfSchedule(s.timezone.value_or("UTC"));
    std::vector<Cron> crons;
    for (std::string_view rest = *s.cron; !rest.empty();) {
      const auto bar = rest.find(" | ");
      const auto cron = Cron::Parse(rest.substr(0, bar));
      if (!cron) return std::nullopt;
      crons.push_back(*cron);
      rest = bar == std::string_view::npos ? std::string_view() : rest.substr(bar + 3);
    }
    if (!zone || crons.empty()) return std::nullopt;
    return Ticks::Of(std::move(crons), zone);
  }
  if (!s.every) return std::nullopt;
  const auto step = ParseScheduleLength(*s.every);
  const auto start = s.start ? ParseInstant(*s.start, true) : std::nullopt;
  if (!step || step->none() || !start) return std::nullopt;
  return Ticks::Steady(*start, *step);
}

SpanSet WrittenAt(const ScheduleFact& s, const Ticks& ticks, Instant tick, const Dataset& d) {
  if (!s.rewrites && !s.covers) return {};
  if (!d.layout) return SpanSet::All();
  const Layout& layout = *d.layout;
  const Zone& zone = layout.zone();
  const auto back = [&](const Duration& length) {
    return layout.AlignOut(SpanSet(Span{AddDuration(zone, tick, length, -1), tick}));
  };
  SpanSet out;
  if (s.rewrites) {
    if (*s.rewrites == "all") return SpanSet::All();
    // The newest one: whether that is the one that has just ended or the one that begins is not said.
    if (*s.rewrites == "latest")
      out.Add(SpanSet(Span{layout.Floor(layout.Floor(tick) - 1), layout.Next(tick)}));
    else if (const auto length = ParseDuration(*s.rewrites))
      out.Add(back(*length));
  }
  if (!s.covers) return out;
  if (*s.covers == "tick") {
    out.Add(SpanSet(layout.CellAt(tick)));
  } else if (*s.covers == "interval") {
    const Instant before = ticks.Before(tick).value_or(tick - kDay);
    Span cells{layout.Floor(before), layout.Floor(tick)};
    if (!s.covers_declared) cells.end = layout.Ceil(tick);
    if (cells.empty()) cells = layout.CellAt(tick - 1);
    out.Add(SpanSet(cells));
  } else if (const auto length = ParseDuration(std::string_view(*s.covers).substr(5))) {
    out.Add(back(*length));
  }
  return out;
}

std::string ScheduleText(const ScheduleFact& s) {
  if (s.cron) return *s.cron + " " + s.timezone.value_or("UTC");
  return s.every ? "every " + *s.every : s.type.value_or("by schedule");
}

}  // namespace backreach
