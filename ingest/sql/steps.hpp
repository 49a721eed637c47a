// What an expression does to a time, step by step, and where that bounds the rows.
#pragma once

#include <optional>
#include <vector>

#include "graph/time/run_bound.hpp"
#include "ingest/sql/dialect.hpp"

namespace backreach {

// What is done to a time: it is cut, or moved.
struct SqlStep {
  std::optional<TimeCut> cut;
  TimeLength length{{}, 0};
  bool keeps_time = false;  // a cut that leaves the time of the day: .replace(day=1)
};
using SqlSteps = std::vector<SqlStep>;

inline SqlStep MovedBy(double number, const TimeUnit& unit) { return {std::nullopt, {unit, number}, false}; }
inline SqlStep CutTo(const TimeCut& cut) { return {cut, {{}, 0}, false}; }

// Adds a move; one before it in the same unit is joined with it.
void Move(SqlSteps& steps, double number, const TimeUnit& unit);
// Adds a cut, where it changes anything.
void Cut(SqlSteps& steps, const TimeCut& cut);
// Whether the steps lead to a start of this unit, whatever the time they begin at.
bool Aligned(const SqlSteps& steps, const TimeCut& to);
TimeUnit UnitOfCut(TimeCut::Unit unit);

// The steps from the time of a run, in whole units; where they are not whole, the later.
RunBound BoundOf(const SqlSteps& steps);
// The first time of rows x that passes `row_steps(x) >= steps(now)`, or `>` if `strict`; where that is not
// exact, a later one.
RunBound BoundBehind(SqlSteps steps, const SqlSteps& row_steps, bool strict);

}  // namespace backreach
