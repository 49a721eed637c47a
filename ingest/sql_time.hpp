// Expressions that may hold the time of a run, as a list of tokens: what they come to, step by step.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "graph/run_bound.hpp"
#include "ingest/sql_scan.hpp"

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

// The time of the run, and whether it falls on a day.
enum class NowKind { kNo, kMoment, kDay, kYesterday };
NowKind NowOf(const SqlToken& token);
// The same where it stands: a column may bear such a name.
NowKind NowAt(const std::vector<SqlPart>& parts, std::size_t at);
bool HasNow(const std::vector<SqlPart>& parts);

// A unit of time, as so many of what a duration counts.
struct TimeUnit {
  Duration::Unit unit;
  double times;
};

// What a side of a comparison comes to.
struct SqlWorth {
  bool now = false;
  bool column = false;      // it names something of the rows
  bool written = false;     // Jinja writes something into it that is no number and no time
  bool difference = false;  // of two times, by a function
  bool amounts = false;     // it has at least one length of time
  RunBound bound;
  std::optional<double> number;            // a bare number
  TimeUnit unit{Duration::Unit::kDay, 1};  // that a difference is counted in
};
// Where something is not understood it is taken as too late rather than too early.
SqlWorth WorthOf(const std::vector<SqlPart>& parts);

}  // namespace backreach
