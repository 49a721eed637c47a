// The table itself: words first, then functions by name. What a dialect alone says so is marked with it.

#include "ingest/sql/dialect.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <unordered_map>

#include "graph/base/words.hpp"

namespace backreach {

namespace {

using enum SqlDialect;
using Does = TimeFunction::Does;
using Counts = TimeFunction::Counts;

struct UnitName {
  std::string_view name;
  TimeUnit unit;
  SqlDialects only;  // none: all
};
constexpr TimeUnit kOneDay{Duration::Unit::kDay, 1}, kOneHour{Duration::Unit::kHour, 1},
    kOneMinute{Duration::Unit::kMinute, 1}, kOneSecond{Duration::Unit::kMinute, 1.0 / 60},
    kMilli{Duration::Unit::kMinute, 1.0 / 60e3}, kMicro{Duration::Unit::kMinute, 1.0 / 60e6},
    kNano{Duration::Unit::kMinute, 1.0 / 60e9}, kOneWeek{Duration::Unit::kWeek, 1},
    kOneMonth{Duration::Unit::kMonth, 1}, kQuarter{Duration::Unit::kMonth, 3},
    kOneYear{Duration::Unit::kYear, 1};

// Of a name that stands here twice the one that a dialect marks counts there.
constexpr UnitName kUnits[] = {
    {"nanosecond", kNano, {}},
    {"nanosec", kNano, {}},
    {"nsecond", kNano, {}},
    {"ns", kNano, {}},
    {"microsecond", kMicro, {}},
    {"usec", kMicro, {}},
    {"us", kMicro, {}},
    {"mcs", kMicro, {}},
    {"millisecond", kMilli, {}},
    {"msec", kMilli, {}},
    {"ms", kMilli, {}},
    {"second", kOneSecond, {}},
    {"sec", kOneSecond, {}},
    {"ss", kOneSecond, {}},
    {"s", kOneSecond, {}},
    {"minute", kOneMinute, {}},
    {"min", kOneMinute, {}},
    {"mi", kOneMinute, {}},
    {"n", kOneMinute, {}},
    {"m", kOneMinute, {}},
    {"m", kOneMonth, kSqlServer},
    {"hour", kOneHour, {}},
    {"hr", kOneHour, {}},
    {"hh", kOneHour, {}},
    {"h", kOneHour, {}},
    {"day", kOneDay, {}},
    {"dayofyear", kOneDay, {}},
    {"dayofmonth", kOneDay, {}},
    {"dayofweek", kOneDay, {}},
    {"weekday", kOneDay, {}},
    {"doy", kOneDay, {}},
    {"dow", kOneDay, {}},
    {"dw", kOneDay, {}},
    {"dy", kOneDay, {}},
    {"dd", kOneDay, {}},
    {"d", kOneDay, {}},
    {"week", kOneWeek, {}},
    {"isoweek", kOneWeek, {}},
    {"iso_week", kOneWeek, {}},
    {"weekiso", kOneWeek, {}},
    {"week_iso", kOneWeek, {}},
    {"isowk", kOneWeek, {}},
    {"isoww", kOneWeek, {}},
    {"weekofyear", kOneWeek, {}},
    {"woy", kOneWeek, {}},
    {"wk", kOneWeek, {}},
    {"ww", kOneWeek, {}},
    {"w", kOneDay, {}},
    {"w", kOneWeek, kSnowflake | kRedshift | kDuckDb | kClickHouse | kPostgres},
    {"month", kOneMonth, {}},
    {"mon", kOneMonth, {}},
    {"mm", kOneMonth, {}},
    {"quarter", kQuarter, {}},
    {"qtr", kQuarter, {}},
    {"qq", kQuarter, {}},
    {"q", kQuarter, {}},
    {"year", kOneYear, {}},
    {"isoyear", kOneYear, {}},
    {"yr", kOneYear, {}},
    {"yyyy", kOneYear, {}},
    {"yyy", kOneYear, {}},
    {"yy", kOneYear, {}},
    {"y", kOneDay, {}},
    {"y", kOneYear, kSnowflake | kRedshift | kPostgres | kDuckDb | kSpark},
};

// `days`, `hrs`, `mins`: a plural is taken of every name of three letters on, and of a few shorter ones.
std::string Singular(std::string word) {
  if (StartsWith(word, "sql_tsi_")) word.erase(0, 8);
  if (word == "hrs" || word == "yrs" || (word.size() > 3 && word.back() == 's')) word.pop_back();
  return word;
}

std::optional<TimeCut> CutOfUnit(const TimeUnit& unit) {
  using U = TimeCut::Unit;
  switch (unit.unit) {
    case Duration::Unit::kMinute: return unit.times == 1 ? std::optional(TimeCut{U::kMinute}) : std::nullopt;
    case Duration::Unit::kHour: return TimeCut{U::kHour};
    case Duration::Unit::kDay: return TimeCut{U::kDay};
    case Duration::Unit::kWeek: return TimeCut{U::kWeek};
    case Duration::Unit::kMonth: return TimeCut{unit.times == 3 ? U::kQuarter : U::kMonth};
    case Duration::Unit::kYear: return TimeCut{U::kYear};
  }
  return std::nullopt;
}

// Formats of Oracle's trunc(x, f). `D`, `DY` and `DAY` are a week whose first day is the territory's.
struct FormatName {
  std::string_view name;
  TimeCut cut;
};
constexpr FormatName kFormats[] = {
    {"mm", {TimeCut::Unit::kMonth}},
    {"mon", {TimeCut::Unit::kMonth}},
    {"month", {TimeCut::Unit::kMonth}},
    {"rm", {TimeCut::Unit::kMonth}},
    {"q", {TimeCut::Unit::kQuarter}},
    {"yyyy", {TimeCut::Unit::kYear}},
    {"syyyy", {TimeCut::Unit::kYear}},
    {"yyy", {TimeCut::Unit::kYear}},
    {"yy", {TimeCut::Unit::kYear}},
    {"y", {TimeCut::Unit::kYear}},
    {"year", {TimeCut::Unit::kYear}},
    {"syear", {TimeCut::Unit::kYear}},
    {"iw", {TimeCut::Unit::kWeek, TimeCut::Week::kMonday}},
    {"ww", {TimeCut::Unit::kWeek}},
    {"w", {TimeCut::Unit::kWeek}},
    {"d", {TimeCut::Unit::kWeek}},
    {"dy", {TimeCut::Unit::kWeek}},
    {"day", {TimeCut::Unit::kWeek}},
    {"dd", {TimeCut::Unit::kDay}},
    {"ddd", {TimeCut::Unit::kDay}},
    {"j", {TimeCut::Unit::kDay}},
    {"hh", {TimeCut::Unit::kHour}},
    {"hh12", {TimeCut::Unit::kHour}},
    {"hh24", {TimeCut::Unit::kHour}},
    {"mi", {TimeCut::Unit::kMinute}},
};

struct NowName {
  std::string_view name;
  NowKind kind;
  bool call, bare;  // with brackets, without
};
constexpr NowName kNow[] = {
    {"CURRENT_DATE", NowKind::kDay, true, true},
    {"CURDATE", NowKind::kDay, true, false},
    {"UTC_DATE", NowKind::kDay, true, true},
    {"TODAY", NowKind::kDay, true, false},
    {"YESTERDAY", NowKind::kYesterday, true, false},
    {"TOMORROW", NowKind::kTomorrow, true, false},
    {"NOW", NowKind::kMoment, true, false},
    {"NOW64", NowKind::kMoment, true, false},
    {"NOWINBLOCK", NowKind::kMoment, true, false},
    {"UTCNOW", NowKind::kMoment, true, false},
    {"UTCTIMESTAMP", NowKind::kMoment, true, false},
    {"UTC_TIMESTAMP", NowKind::kMoment, true, true},
    {"CURTIMESTAMP", NowKind::kMoment, true, false},
    {"CURRENT_DATETIME", NowKind::kMoment, true, false},
    {"CURRENT_LOCALTIMESTAMP", NowKind::kMoment, true, false},
    {"GET_CURRENT_TIMESTAMP", NowKind::kMoment, true, false},
    {"GETDATE", NowKind::kMoment, true, false},
    {"GETUTCDATE", NowKind::kMoment, true, false},
    {"SYSDATE", NowKind::kMoment, true, true},
    {"SYSTIMESTAMP", NowKind::kMoment, true, true},
    {"SYSDATETIME", NowKind::kMoment, true, false},
    {"SYSUTCDATETIME", NowKind::kMoment, true, false},
    {"SYSDATETIMEOFFSET", NowKind::kMoment, true, false},
    {"LOCALTIMESTAMP", NowKind::kMoment, true, true},
    {"LOCALTIME", NowKind::kMoment, true, true},
    {"STATEMENT_TIMESTAMP", NowKind::kMoment, true, false},
    {"TRANSACTION_TIMESTAMP", NowKind::kMoment, true, false},
    {"CLOCK_TIMESTAMP", NowKind::kMoment, true, false},
    {"RUN_STARTED_AT", NowKind::kMoment, false, true},
    {"UNIX_TIMESTAMP", NowKind::kSeconds, true, false},
};

constexpr TimeFunction kFunctions[] = {
    // Adding and taking off.
    {"DATEADD", Does::kAdd, "unx nux xun xl xn"},
    {"TIMEADD", Does::kAdd, "unx xl"},
    {"TIMESTAMPADD", Does::kAdd, "unx xl"},
    {"DATE_ADD", Does::kAdd, "unx xl xn", "day"},
    {"DATETIME_ADD", Does::kAdd, "xl unx"},
    {"TIMESTAMP_ADD", Does::kAdd, "xl unx"},
    {"TIME_ADD", Does::kAdd, "xl"},
    {"ADDDATE", Does::kAdd, "xl xn", "day"},
    {"ADD_DAYS", Does::kAdd, "xn", "day"},
    {"ADD_MONTHS", Does::kAdd, "xn", "month"},
    {"DATE_SUB", Does::kSubtract, "unx xl xn", "day"},
    {"DATESUB", Does::kSubtract, "unx xl xn", "day"},
    {"SUBDATE", Does::kSubtract, "xl xn", "day"},
    {"DATETIME_SUB", Does::kSubtract, "xl unx"},
    {"TIMESTAMP_SUB", Does::kSubtract, "xl unx"},
    {"TIMESTAMPSUB", Does::kSubtract, "unx xl"},
    {"TIME_SUB", Does::kSubtract, "xl"},
    {"SUB_MONTHS", Does::kSubtract, "xn", "month"},
    // Cutting.
    {"DATE_TRUNC", Does::kCut, "ux xu uxz xuz"},
    {"DATETRUNC", Does::kCut, "ux xu"},
    {"TIMESTAMP_TRUNC", Does::kCut, "xu xuz ux"},
    {"DATETIME_TRUNC", Does::kCut, "xu xuz ux"},
    {"TRUNC", Does::kCut, "xf x"},
    {"TRUNC_DATE", Does::kCut, "xu"},
    {"TIME_SLICE", Does::kCut, "xnu xnu."},
    {"TIME_BUCKET", Does::kCut, "lx lx."},
    {"DATE_BIN", Does::kCut, "lx lx."},
    {"TOSTARTOFINTERVAL", Does::kCut, "xl xlz"},
    {"TOMONDAY", Does::kCut, "x xz", "isoweek"},
    {"DATE", Does::kDay, "x xz"},
    {"TO_DATE", Does::kDay, "x x."},
    {"TODATE", Does::kDay, "x xz"},
    {"TODATE32", Does::kDay, "x xz"},
    {"TRY_TO_DATE", Does::kDay, "x x."},
    {"TS_OR_DS_TO_DATE", Does::kDay, "x"},
    {"LAST_DAY", Does::kLastDay, "x xu", "month"},
    {"LAST_DAY_OF_MONTH", Does::kLastDay, "x", "month"},
    {"TOLASTDAYOFMONTH", Does::kLastDay, "x xz", "month"},
    {"EOMONTH", Does::kLastDay, "x xn", "month"},
    // The same time, as another type or on another clock.
    {"TIMESTAMP", Does::kSame, "x xz"},
    {"DATETIME", Does::kSame, "x xz"},
    {"TO_TIMESTAMP", Does::kSame, "x x."},
    {"TO_TIMESTAMP_NTZ", Does::kSame, "x x."},
    {"TO_TIMESTAMP_LTZ", Does::kSame, "x x."},
    {"TO_TIMESTAMP_TZ", Does::kSame, "x x."},
    {"TRY_TO_TIMESTAMP", Does::kSame, "x x."},
    {"TODATETIME", Does::kSame, "x xz"},
    {"TODATETIME64", Does::kSame, "x x. x.z"},
    {"TOTIMEZONE", Does::kZone, "xz"},
    {"TIMEZONE", Does::kZone, "zx"},
    {"AT_TIMEZONE", Does::kZone, "xz"},
    {"WITH_TIMEZONE", Does::kZone, "xz"},
    {"FROM_UTC_TIMESTAMP", Does::kZone, "xz"},
    {"TO_UTC_TIMESTAMP", Does::kZone, "xz"},
    {"CONVERT_TIMEZONE", Does::kZone, "zx zzx xzz"},
    {"CONVERT_TZ", Does::kZone, "xzz"},
    {"SWITCHOFFSET", Does::kZone, "xz"},
    {"TODATETIMEOFFSET", Does::kZone, "xz"},
    {"FROM_TZ", Does::kZone, "xz"},
    {"NEW_TIME", Does::kZone, "xzz"},
    {"LOCALTIMESTAMP", Does::kSame, "x"},
    // Differences.
    {"DATEDIFF", Does::kDifference, "use seu es usez", "day"},
    {"DATE_DIFF", Does::kDifference, "use esu es usez", "day"},
    {"DATETIME_DIFF", Does::kDifference, "esu use"},
    {"TIMEDIFF", Does::kDifference, "use"},
    {"TIMESTAMP_DIFF", Does::kDifference, "esu use", {}, Counts::kElapsed},
    {"TIMESTAMPDIFF", Does::kDifference, "use"},
    {"MONTHS_BETWEEN", Does::kDifference, "es es.", "month", Counts::kExact},
    {"AGE", Does::kDifference, "es use e", {}, Counts::kExact},
    // Lengths.
    {"NUMTODSINTERVAL", Does::kLength, "nu"},
    {"NUMTOYMINTERVAL", Does::kLength, "nu"},
    {"TO_DAYS", Does::kDayNumber, "x"},
    {"TIMEDELTA", Does::kLength, "n", "day"},
    {"RELATIVEDELTA", Does::kLength, "."},
    {"MAKE_INTERVAL", Does::kLength, "."},
    {"MAKE_DT_INTERVAL", Does::kLength, "."},
    {"TO_DAY", Does::kDay, "x"},
    // Numbers and texts that stand for times.
    {"UNIX_TIMESTAMP", Does::kSeconds, "x x."},
    {"TO_UNIX_TIMESTAMP", Does::kSeconds, "x x."},
    {"TOUNIXTIMESTAMP", Does::kSeconds, "x xz"},
    {"TO_UNIXTIME", Does::kSeconds, "x"},
    {"UNIX_SECONDS", Does::kSeconds, "x"},
    {"EPOCH", Does::kSeconds, "x"},
    {"UNIX_MILLIS", Does::kMillis, "x"},
    {"EPOCH_MS", Does::kMillis, "x"},
    {"TOUNIXTIMESTAMP64MILLI", Does::kMillis, "x"},
    {"UNIX_DATE", Does::kDayNumber, "x"},
    {"JULIANDAY", Does::kDayNumber, "x"},
    {"JULIAN", Does::kDayNumber, "x"},
    {"TORELATIVEDAYNUM", Does::kDayNumber, "x xz"},
    {"TO_CHAR", Does::kText, "xf xf."},
    {"TO_VARCHAR", Does::kText, "xf"},
    {"FORMAT_DATE", Does::kText, "fx"},
    {"FORMAT_DATETIME", Does::kText, "fx"},
    {"FORMAT_TIMESTAMP", Does::kText, "fx fxz"},
    {"FORMATDATETIME", Does::kText, "xf xfz"},
    {"DATE_FORMAT", Does::kText, "xf"},
    {"STRFTIME", Does::kText, "xf fx f"},
    {"FORMAT", Does::kText, "xf xf."},
    {"TOYYYYMM", Does::kKey, "x xz", "month"},
    {"TOYYYYMMDD", Does::kKey, "x xz", "day"},
    {"YEAR", Does::kField, "x xz", "year"},
    {"TOYEAR", Does::kField, "x xz", "year"},
    {"MONTH", Does::kField, "x xz", "month"},
    {"TOMONTH", Does::kField, "x xz", "month"},
    {"DATE_PART", Does::kField, "ux"},
    {"DATEPART", Does::kField, "ux"},
    {"TO_NUMBER", Does::kSame, "x x."},
    {"NULLIF", Does::kSame, "x."},
    {"MIN", Does::kSame, "x"},
    {"ANY_VALUE", Does::kSame, "x"},
    {"TRIM", Does::kSame, "x"},
    {"PARSE_DATE", Does::kSame, ".x"},
    {"PARSE_TIMESTAMP", Does::kSame, ".x .x."},
    {"PARSE_DATETIME", Does::kSame, ".x x."},
    {"DATE_PARSE", Does::kSame, "x."},
    {"STR_TO_DATE", Does::kSame, "x."},
    {"STRPTIME", Does::kSame, "x."},
    {"FROM_ISO8601_TIMESTAMP", Does::kSame, "x"},
    {"PARSEDATETIMEBESTEFFORT", Does::kSame, "x xz"},
    {"FROM_UNIXTIME", Does::kSame, "x x."},
    {"TIMESTAMP_SECONDS", Does::kSame, "x"},
    {"TIMESTAMP_MILLIS", Does::kSame, "x"},
    {"TIMESTAMP_MICROS", Does::kSame, "x"},
    {"TO_TIMESTAMP_MS", Does::kSame, "x"},
    {"EPOCH_TO_TIMESTAMP", Does::kSame, "x"},
    {"DATE_FROM_UNIX_DATE", Does::kSame, "x"},
    {"JSON_VALUE", Does::kSame, "x."},
    {"JSON_EXTRACT_SCALAR", Does::kSame, "x."},
    {"JSON_EXTRACT_PATH_TEXT", Does::kSame, "x."},
    {"GET_JSON_OBJECT", Does::kSame, "x."},
    {"TO_INTEGER", Does::kSame, "x"},
    {"TOSTRING", Does::kSame, "x"},
    {"STR", Does::kSame, "x"},
    {"STRING", Does::kSame, "x"},
    {"TOTYPENAME", Does::kField, "."},
    {"MATERIALIZE", Does::kSame, "x"},
    {"ASSUMENOTNULL", Does::kSame, "x"},
    {"COALESCE", Does::kEither, "."},
    {"IFNULL", Does::kEither, "."},
    {"NVL", Does::kEither, "."},
    {"ISNULL", Does::kEither, "."},
    {"IFF", Does::kEither, "."},
    {"IF", Does::kEither, "."},
    {"GREATEST", Does::kEither, "."},
    {"LEAST", Does::kEither, "."},
    {"ABS", Does::kAbsolute, "x"},
    {"FLOOR", Does::kAbsolute, "x"},
    {"MAX", Does::kNewest, "x"},
    // dbt_date's.
    {"N_DAYS_AGO", Does::kAgo, "n n. n..", "day"},
    {"N_WEEKS_AGO", Does::kAgo, "n n. n..", "week"},
    {"N_MONTHS_AGO", Does::kAgo, "n n. n..", "month"},
    {"N_DAYS_AWAY", Does::kAgo, "n n. n..", "day"},
};

// Names made of a unit: addDays, subtractMonths, toIntervalDay, toStartOfMonth, to_days, toDays.
struct Prefix {
  std::string_view name;
  Does does;
  std::string_view roles;
};
constexpr Prefix kPrefixes[] = {{"SUBTRACT", Does::kSubtract, "xn"},
                                {"TOINTERVAL", Does::kLength, "n"},
                                {"TO_", Does::kLength, "n"},
                                {"TOSTARTOF", Does::kCut, "x xz"},
                                {"ADD", Does::kAdd, "xn"}};

std::unordered_map<std::string_view, TimeFunction> MakeFunctions() {
  std::unordered_map<std::string_view, TimeFunction> out;
  for (const TimeFunction& f : kFunctions) out.emplace(f.name, f);
  // The texts of the names made here live as long as the program.
  static std::vector<std::string> made;
  static constexpr std::string_view kNames[] = {"SECOND", "MINUTE", "HOUR",    "DAY",
                                                "WEEK",   "MONTH",  "QUARTER", "YEAR"};
  made.reserve(std::size(kPrefixes) * std::size(kNames) * 2);
  for (const Prefix& prefix : kPrefixes)
    for (const std::string_view unit : kNames)
      for (const char* plural : {"", "S"}) {
        made.push_back(std::string(prefix.name) + std::string(unit) + plural);
        out.emplace(made.back(), TimeFunction{made.back(), prefix.does, prefix.roles, unit});
      }
  return out;
}

}  // namespace

SqlDialect DialectOf(std::string_view adapter) {
  static constexpr std::pair<std::string_view, SqlDialect> kNames[] = {
      {"snowflake", kSnowflake}, {"bigquery", kBigQuery},
      {"redshift", kRedshift},   {"postgres", kPostgres},
      {"postgresql", kPostgres}, {"duckdb", kDuckDb},
      {"motherduck", kDuckDb},   {"spark", kSpark},
      {"databricks", kSpark},    {"glue", kSpark},
      {"fabricspark", kSpark},   {"trino", kTrino},
      {"presto", kTrino},        {"athena", kTrino},
      {"starburst", kTrino},     {"clickhouse", kClickHouse},
      {"sqlserver", kSqlServer}, {"fabric", kSqlServer},
      {"synapse", kSqlServer},   {"tsql", kSqlServer},
      {"mysql", kMySql},         {"mariadb", kMySql},
      {"oracle", kOracle},       {"sqlite", kSqlite}};
  const std::string name = Lower(adapter);
  for (const auto& [known, dialect] : kNames)
    if (name == known) return dialect;
  return kUnknown;
}

SqlLexis LexisOf(SqlDialect d) {
  SqlLexis out;
  using Is = SqlLexis::Is;
  if (d == kUnknown) return out;
  const auto in = [&](SqlDialects set) { return set.Has(d) ? Is::kYes : Is::kNo; };
  // Athena, which is Trino's for queries, has both kinds of strings.
  out.backslash = d == kTrino
                      ? Is::kMaybe
                      : in(kSnowflake | kBigQuery | kRedshift | kSpark | kClickHouse | kMySql | kJinja);
  out.slashes = in(kSnowflake);
  out.hash = in(kBigQuery | kMySql | kClickHouse);
  out.comments = d != kJinja;
  out.nested = in(kRedshift | kPostgres | kDuckDb | kSpark | kClickHouse | kSqlServer) == Is::kYes;
  out.double_quoted = in(kBigQuery | kSpark | kMySql) == Is::kYes;
  return out;
}

std::optional<TimeUnit> UnitOf(std::string_view word, SqlDialect dialect) {
  if (word.empty() || word.size() > 20) return std::nullopt;
  const std::string name = Singular(Lower(word));
  std::optional<TimeUnit> out;
  for (const UnitName& unit : kUnits) {
    if (unit.name != name) continue;
    if (unit.only.Has(dialect)) return unit.unit;
    if (!out) out = unit.unit;
  }
  return out;
}

std::optional<TimeCut> CutOf(std::string_view word, SqlDialect dialect, bool format) {
  if (word.empty() || word.size() > 20) return std::nullopt;
  const std::string name = Lower(word);
  using Week = TimeCut::Week;
  if (format && (dialect == kOracle || dialect == kUnknown))
    for (const FormatName& f : kFormats)
      if (f.name == name) return f.cut;
  const auto unit = UnitOf(name, dialect);
  // Parts of a day or week are no place to cut at, and an isoyear begins on a Monday.
  if (!unit || name == "isoyear" || name == "dw" || name == "weekday") return std::nullopt;
  auto out = CutOfUnit(*unit);
  if (!out || out->unit != TimeCut::Unit::kWeek) return out;
  const bool iso = name.find("iso") != std::string::npos;
  if (iso || (kRedshift | kPostgres | kDuckDb | kSpark | kTrino | kClickHouse).Has(dialect))
    out->week = Week::kMonday;
  else if (dialect == kBigQuery)
    out->week = Week::kSunday;
  return out;
}

namespace {

// The parts of a format, in turn: strftime's and MySQL's with %, the others by runs of letters.
class FormatReader {
 public:
  explicit FormatReader(std::string_view format) : format_(format) {}

  std::optional<TimeCut> Run() {
    const bool percent = format_.find('%') != std::string_view::npos;
    for (std::size_t i = 0; i < format_.size();) {
      const char c = format_[i];
      const bool digit = c >= '0' && c <= '9';
      literals_ += digit ? c : ' ';
      const std::size_t size = digit || (percent && (c != '%' || i + 1 == format_.size())) ? 1
                               : percent ? Percent(format_[i + 1])
                                         : LettersAt(i);
      if (size == 0) return std::nullopt;
      i += size;
    }
    return Finest();
  }

 private:
  using U = TimeCut::Unit;

  void See(U unit) {
    if (parts_.empty() || parts_.back() != unit) parts_.push_back(unit);
  }
  // Each returns how long it is, 0 where it is not understood.
  std::size_t Percent(char c) {
    const auto is = [&](std::string_view letters) { return letters.find(c) != std::string_view::npos; };
    if (is("YyG")) See(U::kYear);
    if (c == 'F') See(U::kYear), See(U::kMonth);
    if (is("mc")) See(U::kMonth);
    if (c == 'j') See(U::kMonth);  // the day of the year
    if (is("dejF")) See(U::kDay);
    if (is("HIk")) See(U::kHour);
    if (is("MiSsTXf")) See(U::kMinute);
    return is("YyGmcdejFHIkMiSsTXf%") ? 2 : 0;
  }
  std::size_t LettersAt(std::size_t i) {
    const char c = format_[i];
    std::size_t end = i + 1;
    while (end < format_.size() && format_[end] == c) ++end;
    const std::string upper = Upper(format_.substr(i, 4));
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (c == '\'' || c == '"') return std::min(format_.find(c, i + 1), format_.size() - 1) + 1 - i;
    if (!letter) return end - i;
    if (upper == "HH24" || upper == "HH12") {
      See(U::kHour);
      return 4;
    }
    if (StartsWith(upper, "MI")) {
      See(U::kMinute);
      return 2;
    }
    if (c == 'Y' || c == 'y')
      See(U::kYear);
    else if (c == 'M' || (c == 'm' && (parts_.empty() || parts_.back() == U::kYear)))
      See(U::kMonth);
    else if (c == 'H' || c == 'h')
      See(U::kHour);
    else if (c == 'm' || c == 's' || c == 'S')
      See(U::kMinute);
    else if (c != 'D' && c != 'd')
      return 0;
    if (c == 'D' || c == 'd') {
      if (end - i == 3) See(U::kMonth);  // the day of the year
      See(U::kDay);
    }
    return end - i;
  }
  // Without its year a month is no time, and 01-03-2026 does not sort as one. A part may be left out where a
  // literal `01` or `00` stands for it.
  std::optional<TimeCut> Finest() const {
    static constexpr U kOrder[] = {U::kYear, U::kMonth, U::kDay, U::kHour, U::kMinute};
    if (parts_.empty() || parts_.size() > std::size(kOrder)) return std::nullopt;
    if (!std::equal(parts_.begin(), parts_.end(), kOrder)) return std::nullopt;
    for (const std::string& digits : Split(literals_, ' '))
      if (digits != "01" && digits.find_first_not_of('0') != std::string::npos) return std::nullopt;
    return TimeCut{parts_.back()};
  }

  std::string_view format_;
  std::vector<U> parts_;
  std::string literals_;  // digits that stand in it as they are, apart
};

}  // namespace

std::optional<TimeCut> CutOfFormat(std::string_view format) { return FormatReader(format).Run(); }

std::optional<std::vector<TimeLength>> LengthsOf(std::string_view text, SqlDialect dialect,
                                                 std::optional<TimeUnit> plain) {
  std::vector<TimeLength> out;
  std::string s = Lower(text);
  if (s.size() > 60) return std::nullopt;
  const bool iso = !s.empty() && s[0] == 'p';
  bool time = false;  // of an ISO length, where M is a minute
  double all = 1;
  if (EndsWith(s, " ago")) all = -1, s.resize(s.size() - 4);
  for (std::size_t i = iso ? 1 : 0; i < s.size();) {
    if (s[i] == ' ' || s[i] == ',' || s[i] == '@') {
      ++i;
      continue;
    }
    if (iso && s[i] == 't') {
      time = true, ++i;
      continue;
    }
    char* end = nullptr;
    const bool digits = (s[i] >= '0' && s[i] <= '9') || s[i] == '-' || s[i] == '+' || s[i] == '.';
    double number = digits ? std::strtod(s.c_str() + i, &end) : 0;
    if (!digits || end == s.c_str() + i || !std::isfinite(number)) return std::nullopt;
    const bool minus = s[i] == '-';
    i = static_cast<std::size_t>(end - s.c_str());
    if (i < s.size() && s[i] == ':') {  // 02:30, 02:30:15
      const double minutes = std::strtod(s.c_str() + i + 1, &end);
      number = std::abs(number) * 60 + minutes;
      if (*end == ':') number += std::strtod(end + 1, &end) / 60;
      i = static_cast<std::size_t>(end - s.c_str());
      out.push_back({kOneMinute, all * (minus ? -number : number)});
      continue;
    }
    while (i < s.size() && s[i] == ' ') ++i;
    std::size_t word = i;
    while (word < s.size() && ((s[word] >= 'a' && s[word] <= 'z') || s[word] == '_')) ++word;
    std::string name = s.substr(i, iso ? std::min<std::size_t>(1, word - i) : word - i);
    if (iso && name == "m") name = time ? "minute" : "month";
    if (iso && (name == "y" || name == "w")) name = name == "y" ? "year" : "week";
    const auto unit = name.empty() && out.empty() && i == s.size() ? plain : UnitOf(name, dialect);
    if (!unit) return std::nullopt;
    i += name.size();
    out.push_back({*unit, all * number});
  }
  if (out.empty()) return std::nullopt;
  return out;
}

NowKind NowNamed(std::string_view word, SqlDialect dialect, bool call) {
  // Most words are none of these, and told so by their length and first letter.
  if (word.size() < 3 || word.size() > 40) return NowKind::kNo;
  if (std::string_view("CGLNRSTUY").find(static_cast<char>(word[0] & 0xDF)) == std::string_view::npos)
    return NowKind::kNo;
  const auto begins = [&](std::string_view name) {
    for (std::size_t i = 0; i < name.size(); ++i)
      if ((word[i] >= 'a' && word[i] <= 'z' ? word[i] - 32 : word[i]) != name[i]) return false;
    return true;
  };
  for (const NowName& now : kNow) {
    if (now.name.size() != word.size() || !(call ? now.call : now.bare) || !begins(now.name)) continue;
    // Oracle's dates have a time.
    if (dialect == kOracle && now.name == "CURRENT_DATE") return NowKind::kMoment;
    return now.kind;
  }
  // current_timestamp, and what dbt and its packages make of it: current_timestamp_in_utc.
  constexpr std::string_view kStart = "CURRENT_TIMESTAMP";
  return word.size() >= kStart.size() && begins(kStart) ? NowKind::kMoment : NowKind::kNo;
}

NowKind NowInString(std::string_view text) {
  const std::string word = Lower(text);
  if (word == "now") return NowKind::kMoment;
  if (word == "today") return NowKind::kDay;
  if (word == "yesterday") return NowKind::kYesterday;
  if (word == "tomorrow") return NowKind::kTomorrow;
  return NowKind::kNo;
}

const TimeFunction* FindTimeFunction(std::string_view name, SqlDialect dialect) {
  static const std::unordered_map<std::string_view, TimeFunction> functions = MakeFunctions();
  const std::string upper = Upper(name);
  struct Own {
    SqlDialects only;
    TimeFunction function;
  };
  // SQLite's modify what they are given: date('now', '-3 days'). BigQuery's have the value first, so that
  // date_diff(day, x, day) is of a column `day`; dbt's macros have the unit of a difference last.
  static constexpr Own kOwn[] = {
      {kSqlite, {"DATE", Does::kModified, "."}},
      {kSqlite, {"DATETIME", Does::kModified, "."}},
      {kSqlite, {"JULIANDAY", Does::kModified, "."}},
      {kSqlite, {"STRFTIME", Does::kModified, "."}},
      {kBigQuery, {"DATE_DIFF", Does::kDifference, "esu"}},
      {kBigQuery, {"DATE_TRUNC", Does::kCut, "xu xuz"}},
      {kJinja, {"DATEDIFF", Does::kDifference, "seu use"}},
      {kDuckDb, {"TO_DAYS", Does::kLength, "n", "day"}},
  };
  for (const Own& own : kOwn)
    if (own.only.Has(dialect) && own.function.name == upper) return &own.function;
  const auto it = functions.find(upper);
  return it == functions.end() ? nullptr : &it->second;
}

std::string_view RolesOf(const TimeFunction& function, std::size_t arguments,
                         const std::function<bool(std::size_t, char)>& is) {
  for (std::string_view rest = function.roles; !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    const std::string_view roles = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (roles == "." || roles.size() != arguments) {
      if (roles == ".") return roles;
      continue;
    }
    bool fits = true;
    for (std::size_t i = 0; i < roles.size() && fits; ++i) fits = is(i, roles[i]);
    if (fits) return roles;
  }
  return {};
}

TimeFunction::Counts CountsOf(const TimeFunction& function, SqlDialect dialect) {
  const bool whole = function.name == "TIMESTAMPDIFF"
                         ? (kMySql | kSpark).Has(dialect)
                         : (function.name == "DATEDIFF" && dialect == kSpark) ||
                               (function.name == "DATE_DIFF" && dialect == kTrino);
  return whole ? Counts::kElapsed : function.counts;
}

std::optional<TimeUnit> PlainUnit(bool day, std::string_view now_name, SqlDialect dialect) {
  if (dialect == kMySql || dialect == kSqlite) return std::nullopt;
  if (dialect == kOracle || day) return kOneDay;
  const std::string name = Upper(now_name);
  if (dialect == kSqlServer || name == "GETDATE" || name == "SYSDATE" || name == "GETUTCDATE") return kOneDay;
  return kOneSecond;
}

}  // namespace backreach
