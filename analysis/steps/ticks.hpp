// When a schedule starts runs, and which cells of a dataset a run that starts then writes.
#pragma once

#include <optional>

#include "graph/facts/facts.hpp"
#include "graph/lineage/lineage.hpp"
#include "graph/time/schedule.hpp"

namespace backreach {

// The moments at which a job starts; nothing where it has none of its own, or they cannot be read.
std::optional<Ticks> TicksOf(const ScheduleFact& schedule);

// What the run of a tick writes, as the schedule says it (`covers`, `rewrites`): whole cells, all of it for a
// dataset without grain; empty where a cron alone is known, which says nothing.
SpanSet WrittenAt(const ScheduleFact& schedule, const Ticks& ticks, Instant tick, const Dataset& dataset);

// "0 3 * * * UTC"
std::string ScheduleText(const ScheduleFact& schedule);

}  // namespace backreach
