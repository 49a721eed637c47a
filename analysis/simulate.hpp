// What each way of writing does to small made-up rows: a model of the ways themselves, that the effects and
// hazards of plans are held against in the tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/plan/plan.hpp"

namespace backreach {

enum class WayOfWriting {
  kAppend,
  kMerge,
  kDeleteInsert,
  kDeleteInsertGrain,
  kDynamicOverwrite,
  kReplace,
  kWhole
};
const std::vector<WayOfWriting>& WaysOfWriting();
const char* ToString(WayOfWriting way);

enum class Situation { kRerun, kTwice, kToday, kNullKeys, kPart, kEmptied, kRemoved };
const std::vector<Situation>& Situations();
const char* ToString(Situation situation);  // a word
const char* SentenceOf(Situation situation);

// `moved`: which of completeness, freshness, uniqueness, volume, distribution differ from what they would be
// if everything were rebuilt from the corrected rows. `told_by`: which of the checks that projects have would
// say so: unique (on the key), not_null, row_count (against before, by more than a half), freshness.
struct Simulated {
  WayOfWriting way;
  Situation situation;
  Effect effect = Effect::kReplaced;
  std::vector<std::string> moved, told_by;
  std::int64_t rows_before = 0, rows_after = 0, rows_right = 0;
};

Simulated Simulate(WayOfWriting way, Situation situation, int rows_per_day = 4);
// All ways in all situations, or one way alone.
std::vector<Simulated> SimulateAll();

// How a dataset is written, as far as it is one of these.
std::optional<WayOfWriting> WayOf(const Dataset& dataset);

}  // namespace backreach
