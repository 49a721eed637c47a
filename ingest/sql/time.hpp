// Expressions that may hold the time of a run, as a list of tokens: what they come to, step by step.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/sql/dialect.hpp"
#include "ingest/sql/scan.hpp"
#include "ingest/sql/steps.hpp"

namespace backreach {

// A token of an expression; Jinja's are read like SQL's, and say of themselves that they are.
struct SqlPart {
  SqlToken token;
  bool jinja;
};

// A set of letters, whatever their case: to tell most words apart by their first one.
constexpr std::uint32_t Letters(std::string_view letters) {
  std::uint32_t out = 0;
  for (const char c : letters) out |= 1u << (c & 31);
  return out;
}

// Whether the name of the run's time stands here; a column may bear such a name.
bool NowAt(const std::vector<SqlPart>& parts, std::size_t at, SqlDialect dialect);
bool HasNow(const std::vector<SqlPart>& parts, SqlDialect dialect);

// What an expression comes to.
struct SqlWorth {
  enum class Kind {
    kUnknown,
    kNumber,
    kLength,  // `steps` are lengths
    kText,    // a constant that is no number
    kTime,    // the time of the run after `steps`
    kRows,    // something of the rows, a time after `row_steps`
    kApart,   // the first less the second, counted in `unit`
  };
  // What a number adds to it: nothing that is known (kKey), or this unit.
  enum class Measure { kDay, kMoment, kSeconds, kMillis, kDays, kKey };
  Kind kind = Kind::kUnknown;
  Measure measure = Measure::kMoment;
  bool now = false, rows = false;  // the time of the run, or something of the rows, is somewhere in it
  bool unit_like = false;          // a word that is a unit or a column of that name
  bool written = false;            // Jinja writes what nobody knows into it
  bool own = false;                // its time is that of the newest row of the table itself
  bool window = false;             // a window function
  bool unclear = false;            // rows went through something that is not understood
  double number = 0;
  std::optional<double> least;  // of several numbers, the greatest of which is `number`
  SqlSteps steps, row_steps;
  std::string zone;      // whose clock the time is read on, where the text says it
  std::string now_name;  // `GETDATE`
  std::string text;
  // Of a difference: what it counts, and that the rows are the first.
  TimeUnit unit;
  TimeFunction::Counts counts = TimeFunction::Counts::kExact;
  bool reversed = false, absolute = false;
  // Of a number of units since a fixed day (datediff(month, 0, x)): which, and since when.
  TimeUnit counted;
  std::string origin;
};
SqlWorth WorthOf(const std::vector<SqlPart>& parts, SqlDialect dialect);

}  // namespace backreach
