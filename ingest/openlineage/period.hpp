// Stretches of time as events name them: the keys of partitions, dates in paths, bounds of conditions. All
// are civil times without a zone (seconds of the wall clock since 1970): only differences between them count.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/time/time.hpp"

namespace backreach::openlineage {

// How a key cuts time. kMoment: a time with minutes, which is a bound and no partition.
enum class Cut : unsigned char { kNone, kMoment, kHour, kDay, kWeek, kMonth, kQuarter, kYear };

// The grain's name in the contract's words; "" for kNone and kMoment.
std::string GrainOf(Cut cut);

struct Period {
  Cut cut = Cut::kNone;
  Civil from = 0, to = 0;  // half open
  bool gaps = false;       // several keys that do not follow upon each other
  friend bool operator==(const Period&, const Period&) = default;
};

// `2026-03-01`, `2026-03-01T05`, `2026-03`, `2026-W10`, `2026-Q1`, `20260301`, `2026030105`, a time with
// minutes; nothing else.
std::optional<Period> ParsePeriod(std::string_view text);

// Of the keys of one partition: `dt=2026-03-01`, or year, month, day and hour apart.
using KeyValues = std::vector<std::pair<std::string_view, std::string_view>>;
std::optional<Period> PeriodOf(const KeyValues& keys);

// Of several partitions: the stretch that holds all of them. Nothing where they are cut unlike.
std::optional<Period> Together(std::vector<Period> periods);

// A single partition by both ends: [from, to) is a whole hour, day, week, month, quarter or year.
Cut CutBetween(Civil from, Civil to);

// A path cut at its first part that names a partition: `key=value`, or a date.
struct PathCut {
  std::string dataset;  // what stands before: `orders`
  std::string pattern;  // the whole path, kOpen in the place of values: equal for siblings
  std::string rest;     // what stands behind and names no partition: `part.parquet`
  std::optional<Period> period;
};
inline constexpr char kOpen = '\x01';
std::optional<PathCut> CutPath(std::string_view path);

// A table's name with a partition behind it: `events_20260301`, `events$2026030105`. `sure`: a decorator,
// which is no part of a name.
struct TableCut {
  std::string table;
  bool sure = false;
  std::optional<Period> period;
};
std::optional<TableCut> CutTable(std::string_view name);

}  // namespace backreach::openlineage
