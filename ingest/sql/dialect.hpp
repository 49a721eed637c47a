// What the warehouses call units of time, the time of a run, and the functions that cut, add, subtract and
// compare times: one table for everything that reads SQL. A dialect that is not known gives the reading with
// the shorter reach; nothing here looks at more than single words and the places of arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/time/time.hpp"

namespace backreach {

enum class SqlDialect : std::uint16_t {
  kUnknown = 0,
  kSnowflake = 1 << 0,
  kBigQuery = 1 << 1,
  kRedshift = 1 << 2,
  kPostgres = 1 << 3,
  kDuckDb = 1 << 4,
  kSpark = 1 << 5,  // and Databricks
  kTrino = 1 << 6,  // and Presto, Athena for queries
  kClickHouse = 1 << 7,
  kSqlServer = 1 << 8,  // and Fabric, Synapse
  kMySql = 1 << 9,      // and MariaDB
  kOracle = 1 << 10,
  kSqlite = 1 << 11,
  kJinja = 1 << 12,  // the inside of {{ }} and {% %}: no warehouse's, but strings of its own
};
// By the name of a dbt adapter: `snowflake`, `databricks`, `fabric`, ...
SqlDialect DialectOf(std::string_view adapter);

// Several dialects, as a set.
class SqlDialects {
 public:
  constexpr SqlDialects() = default;
  constexpr SqlDialects(SqlDialect d) : set_(static_cast<std::uint16_t>(d)) {}
  constexpr bool Has(SqlDialect d) const { return (set_ & static_cast<std::uint16_t>(d)) != 0; }
  constexpr SqlDialects operator|(SqlDialects other) const {
    SqlDialects out;
    out.set_ = set_ | other.set_;
    return out;
  }

 private:
  std::uint16_t set_ = 0;
};
constexpr SqlDialects operator|(SqlDialect a, SqlDialect b) { return SqlDialects(a) | SqlDialects(b); }

// How text falls into tokens. Not known: what most do, and the signs of the others where nothing else is
// meant.
struct SqlLexis {
  enum class Is { kNo, kYes, kMaybe };
  Is backslash = Is::kMaybe;   // \' does not end a string
  Is slashes = Is::kMaybe;     // `//` begins a comment
  Is hash = Is::kMaybe;        // `#` begins one anywhere in a line
  bool comments = true;        // -- and /* */ are comments
  bool nested = false;         // those in /* */ nest
  bool double_quoted = false;  // "x" is a string, not a name
};
SqlLexis LexisOf(SqlDialect dialect);

// A unit of time, as so many of what a duration counts: a second is 1/60 minute, a quarter 3 months.
struct TimeUnit {
  Duration::Unit unit = Duration::Unit::kDay;
  double times = 1;
  friend bool operator==(const TimeUnit&, const TimeUnit&) = default;
};
// `day`, `dd`, `DAYS`, `SQL_TSI_DAY`, ... where units are added or counted. An abbreviation that means
// several things (`m`, `y`, `w`) is the shorter one where the dialect does not tell.
std::optional<TimeUnit> UnitOf(std::string_view word, SqlDialect dialect = SqlDialect::kUnknown);

// To the start of which unit something is cut. A week is cut on one day of the week, or nobody knows on
// which.
struct TimeCut {
  enum class Unit { kMinute, kHour, kDay, kWeek, kMonth, kQuarter, kYear };
  enum class Week { kUnknown, kMonday, kSunday };
  Unit unit = Unit::kDay;
  Week week = Week::kUnknown;
  friend bool operator==(const TimeCut&, const TimeCut&) = default;
};
// As an argument of date_trunc and the like: `month`, `isoweek`; with `format` as one of trunc(x, 'IW').
std::optional<TimeCut> CutOf(std::string_view word, SqlDialect dialect = SqlDialect::kUnknown,
                             bool format = false);
// Of a text made by to_char, strftime, date_format ...: `YYYYMM` and `%Y-%m` are months. Nothing where the
// parts do not go from the year down (such texts do not sort by time), or are not understood.
std::optional<TimeCut> CutOfFormat(std::string_view format);

// What a length written in one text comes to: `3 days`, `1 day, 2 hours`, `P1DT2H`, `1 day ago`, `02:00`.
// `plain`: the unit of a bare number.
struct TimeLength {
  TimeUnit unit;
  double number;
};
std::optional<std::vector<TimeLength>> LengthsOf(std::string_view text, SqlDialect dialect,
                                                 std::optional<TimeUnit> plain = std::nullopt);

// The time of the run by a name of its own. `call`: as a function (`today()` and `now()` are, a column may
// bear the name); `bare`: without brackets.
enum class NowKind { kNo, kMoment, kDay, kYesterday, kTomorrow, kSeconds, kMillis, kDayNumber };
NowKind NowNamed(std::string_view word, SqlDialect dialect, bool call);
// The time of the run that hides in a string: 'now', 'today', 'yesterday'.
NowKind NowInString(std::string_view text);

// A function of times, and what it makes of them.
struct TimeFunction {
  enum class Does {
    kAdd,         // x plus a length, or plus n units
    kSubtract,    // the same, taken off
    kCut,         // to the start of a unit
    kDay,         // to its day
    kLastDay,     // the last day of its unit (month if none is given)
    kSame,        // x itself, of another type
    kZone,        // x on the clock of another zone
    kDifference,  // of two times, in units
    kLength,      // a length
    kSeconds,     // seconds since 1970
    kMillis,      // milliseconds since 1970
    kDayNumber,   // days since some day
    kText,        // a text by a format
    kKey,         // a number that stands for a month or day: toYYYYMM
    kField,       // one field: year, month
    kEither,      // one of its arguments
    kAbsolute,    // abs, round and the like, of a difference
    kAgo,         // the run's day less n units: dbt_date.n_days_ago(3)
    kModified,    // SQLite's date(x, '-3 days', 'start of month')
    kNewest,      // max
  };
  // How a difference is counted.
  enum class Counts { kBoundaries, kElapsed, kExact };
  std::string_view name;  // upper case
  Does does;
  // The roles of its arguments, one letter a place, in the order in which they are tried: u unit, n number,
  // x time, l length, s start, e end, z zone, f format, . anything. `unx xl xn`: dateadd(day, 3, x),
  // date_add(x, interval 3 day), date_add(x, 3).
  std::string_view roles;
  std::string_view unit = {};  // where no argument says it
  Counts counts = Counts::kBoundaries;
};
// By its name without a package's (`dbt.dateadd` is DATEADD), in any case; null if it is none.
const TimeFunction* FindTimeFunction(std::string_view name, SqlDialect dialect = SqlDialect::kUnknown);
// Which roles hold for a call: the first list of them with so many places whose units are where `is` says
// that one may be (`is(place, role)`). Empty where none does.
std::string_view RolesOf(const TimeFunction& function, std::size_t arguments,
                         const std::function<bool(std::size_t place, char role)>& is);
// How a difference is counted in this dialect.
TimeFunction::Counts CountsOf(const TimeFunction& function, SqlDialect dialect);
// What a bare number adds to a time: `current_date - 3`, `now() - 3600`. `day`: the time is a date. Nothing
// where it adds digits (MySQL, SQLite).
std::optional<TimeUnit> PlainUnit(bool day, std::string_view now_name, SqlDialect dialect);

}  // namespace backreach
