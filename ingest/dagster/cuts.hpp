// Crons that cut time, as a grain of ours.
#pragma once

#include <optional>
#include <string>

#include "graph/facts/facts.hpp"
#include "graph/time/calendar.hpp"
#include "ingest/dagster/assets.hpp"

namespace backreach::dagster {

struct Cut {
  std::string grain;
  Text starts_at, week_start;
};
// Nothing for a cron that is no grain of ours (weekdays, the 15th of a month, a quarter past).
std::optional<Cut> CutOf(const std::string& cron);

// The partitions of a dimension of time. Where it has no grain of ours only the zone is told.
// False if its zone is unknown here, which is reported.
struct TimeCut {
  PartitionFact fact;
  bool grain = false;
  Text complete_after;
};
std::optional<TimeCut> TimeCutOf(const Dimension& time, const std::string& asset, const std::string& where,
                                 Diagnostics& diagnostics);

// What a description of GraphQL's tells: `Daily, starting 2026-10-01 America/New_York. End offsetted by -3
// partitions.`
void ReadDescription(const std::string& text, const std::vector<std::string>& keys, Dimension& out);

}  // namespace backreach::dagster
