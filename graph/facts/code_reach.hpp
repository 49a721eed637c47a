// What code tells of the rows that a row is made from, in terms of columns: "rows of orders whose ordered_at
// lies between the row's day and the end of it". Kept with an edge until it is known which columns cut its
// ends (a registry may say so later), and then turned into a mapping.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/time/calendar.hpp"

namespace backreach {

// One step of arithmetic on a wall-clock time.
struct TimeStep {
  enum class Kind : char {
    kFloor,       // to the start of its unit
    kCeil,        // to the first start of a unit at or behind it
    kMonths,      // `low` months on; a day that the month has not becomes its last one
    kMonthsMost,  // the same, and the last day of a month stays the last
    kShift,       // between `low` and `high` seconds on
    kZone,        // from the clock of `from` to that of `to`
    kConstant,    // whatever it was: `low`
    kCellStart,   // the start of the reader's cell, and its end
    kCellEnd
  };
  Kind kind = Kind::kShift;
  Grain::Unit unit = Grain::Unit::kDay;
  int week = 0;  // the day on which weeks start, 0 is Monday
  std::int64_t low = 0, high = 0;
  std::string from, to;
  friend bool operator==(const TimeStep&, const TimeStep&) = default;
};

// A bound as steps from the row's own time; without end where `open`.
struct TimeBound {
  bool open = true;
  std::vector<TimeStep> steps;
  friend bool operator==(const TimeBound&, const TimeBound&) = default;
};
struct TimeReach {
  TimeBound low, high;  // both are reached
  friend bool operator==(const TimeReach&, const TimeReach&) = default;
};

// One reference to a parent: each of `ways` alone says which of its rows may matter, by one of its columns.
// Without any, every row may, and `why` says what stands in the way.
struct CodeUse {
  struct Way {
    std::string column;
    TimeReach reach;
    friend bool operator==(const Way&, const Way&) = default;
  };
  std::vector<Way> ways;
  std::string why;
  std::size_t line = 0;
  friend bool operator==(const CodeUse&, const CodeUse&) = default;
};

// What rows with a given time in one of `columns` read of one parent. `*`: any column that is not named;
// `=` as a way's column: the one of the same name.
struct CodeTrace {
  std::vector<std::string> columns;
  std::vector<CodeUse> uses;
};

// All that a model's code tells of one parent.
struct CodeReads {
  std::string place;     // `models/a.sql`, or ``
  bool plain = true;     // nothing in it computes, joins or limits across rows of the parent
  std::string sign;      // if not: what does
  std::size_t line = 0;  // and where
  std::string unread;    // why the code could not be read at all
  bool batched = false;  // dbt cuts every reference to the batch
  std::vector<CodeTrace> traces;
  const CodeTrace* Of(std::string_view column) const;
};

std::string FormatCodeReads(const CodeReads& reads);
CodeReads ParseCodeReads(std::string_view text);

// The wall-clock time that a bound comes to for a cell [start, end) of the reader; for an upper bound from
// its last second. Nothing where it has no end. `zone_low`, `zone_high`: what steps between zones come to.
struct ZoneShift {
  std::int64_t low = 0, high = 0;
};
ZoneShift ZoneShiftOf(const std::string& from, const std::string& to);
std::int64_t WorthOfBound(const TimeBound& bound, bool upper, Civil start, Civil end);

// Composition: `then` applied behind `first`, forwards or backwards.
TimeReach Through(const TimeReach& reach, const std::vector<TimeStep>& steps);  // where T(x) lies
TimeReach Backwards(const TimeReach& reach,
                    const std::vector<TimeStep>& steps);  // where x lies, if T(x) does

}  // namespace backreach
