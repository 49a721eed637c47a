// A bound that a query takes from the time of its run: "the start of the month before last", as steps from
// that time. Importers read it from SQL, the analysis asks where it lies for the plan's `now`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/time/calendar.hpp"
#include "graph/time/time.hpp"

namespace backreach {

struct RunBound {
  struct Step {
    std::optional<Grain::Unit> floor;  // to the start of its hour, day, week (Monday), month, quarter or year
    Duration shift;                    // else: so much later, or earlier if the count is negative
    friend bool operator==(const Step&, const Step&) = default;
  };
  std::vector<Step> steps;  // in the order in which they apply
  std::string clock;        // a zone on whose clock they apply, where the query names one

  void Floor(Grain::Unit unit) { steps.push_back({unit, {}}); }
  // Adds up with a shift before it in the same unit.
  void Shift(std::int64_t count, Duration::Unit unit);

  // Where it lies for a run at `now`. The clock that a warehouse goes by is not known: of `zone`, UTC and
  // `clock` the one that gives the later time, so that nothing is taken as reached that may not be.
  Instant At(Instant now, const Zone& zone) const;
  // For a run on some day of its own: to compare bounds with each other.
  Instant Typical() const;
  // "of the last 3 days before the run", "of the run's own month".
  std::string Describe() const;
  // "3 days", "1 month and 2 days": what its shifts go back; empty if they do not.
  std::string LooksBack() const;

  friend bool operator==(const RunBound&, const RunBound&) = default;
};

// Of bounds that hold together those that may lie latest, by the day of the run; the usual one first.
std::vector<RunBound> LatestOf(const std::vector<RunBound>& bounds);

// `day -3d month -1mo @Asia/Tokyo`: a unit is the start of it.
std::string FormatRunBound(const RunBound& bound);
// Nothing if malformed.
std::optional<RunBound> ParseRunBound(std::string_view text);
// Several that hold together: `day -3d | month`.
std::string FormatRunBounds(const std::vector<RunBound>& bounds);
// Empty if malformed.
std::vector<RunBound> ParseRunBounds(std::string_view text);

}  // namespace backreach
