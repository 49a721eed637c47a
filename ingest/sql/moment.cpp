// By name, then by the number and place of the arguments: a unit's word may be a column's name too, so only
// its place tells (reference: manuals of the warehouses; what differs between them is asked of the adapter).

#include "ingest/sql/moment.hpp"

#include <algorithm>
#include <cctype>
#include <set>

#include "graph/base/words.hpp"

namespace backreach {

namespace {

using EK = SqlExpr::Kind;
using Names = std::set<std::string, std::less<>>;

bool In(const Names& names, std::string_view name) { return names.find(name) != names.end(); }

std::string Word(const SqlExpr& e) {
  if (e.kind == EK::kString) return Lower(e.text);
  if (e.kind == EK::kColumn && e.qualifier.empty()) return e.name;
  if (e.kind == EK::kCall && e.name == "week" && e.args.size() == 1) return "week(" + Word(*e.args[0]) + ")";
  return "";
}

bool BigQuery(std::string_view a) { return a == "bigquery"; }
bool Microsoft(std::string_view a) { return a == "sqlserver" || a == "fabric" || a == "synapse"; }

MomentCall Cut(std::size_t value, const std::optional<MomentCut>& unit) {
  MomentCall c;
  if (!unit) return c;
  c.kind = MomentCall::Kind::kCut;
  c.value = value;
  c.unit = unit->unit;
  c.week = unit->week;
  return c;
}

// The unit that a format of dates keeps: 'YYYY-MM' a month. Nothing where it is no cut.
std::optional<Grain::Unit> UnitOfFormat(std::string_view format) {
  std::string f = Lower(format);
  const auto has = [&](std::initializer_list<const char*> parts) {
    for (const char* p : parts)
      if (f.find(p) != std::string::npos) return true;
    return false;
  };
  const bool percent = f.find('%') != std::string::npos;
  const bool year = percent ? has({"%y", "%f"}) : has({"yyyy", "yy"});
  if (!year) return std::nullopt;
  const bool month =
      percent ? format.find("%m") != std::string_view::npos || has({"%f"}) : has({"mm", "mon"});
  const bool day = percent ? has({"%d", "%f", "%e"}) : has({"dd"});
  const bool hour =
      percent ? format.find("%H") != std::string_view::npos || format.find("%T") != std::string_view::npos
              : has({"hh"});
  if (!percent && has({"ww", "iw", "q", "ddd"}))
    return has({"q"}) && !month ? std::optional(Grain::Unit::kQuarter) : std::nullopt;
  if (percent && has({"%w", "%v", "%u", "%j", "%q", "%g"})) return std::nullopt;
  if (hour) return std::nullopt;
  if (day && month) return Grain::Unit::kDay;
  if (day) return std::nullopt;
  if (month) return Grain::Unit::kMonth;
  return Grain::Unit::kYear;
}

}  // namespace

std::optional<std::int64_t> WholeNumber(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  bool minus = false;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) minus = text[0] == '-', text.remove_prefix(1);
  if (text.empty() || text.size() > 9) return std::nullopt;
  std::int64_t n = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    n = n * 10 + (c - '0');
  }
  return minus ? -n : n;
}

std::optional<MomentUnit> MomentUnitOf(std::string_view given, std::string_view adapter) {
  std::string name = Lower(given);
  if (Microsoft(adapter)) {
    if (name == "y" || name == "dy" || name == "dayofyear" || name == "w" || name == "dw" ||
        name == "weekday")
      return MomentUnit{0, kDay};
    if (name == "m") return MomentUnit{1, 0};
  } else {
    if (name == "y" || name == "yr") name = "year";
    if (name == "w" || name == "wy") name = "week";
    if (name == "m" && (adapter == "snowflake" || adapter == "redshift")) return std::nullopt;
    if (name == "m") return std::nullopt;
  }
  if (name == "sql_tsi_day") name = "day";
  if (name == "sql_tsi_month") name = "month";
  struct Known {
    const char* name;
    std::int64_t months, seconds;
  };
  static const Known known[] = {{"second", 0, 1},
                                {"seconds", 0, 1},
                                {"sec", 0, 1},
                                {"s", 0, 1},
                                {"ss", 0, 1},
                                {"minute", 0, kMinute},
                                {"minutes", 0, kMinute},
                                {"min", 0, kMinute},
                                {"mins", 0, kMinute},
                                {"mi", 0, kMinute},
                                {"n", 0, kMinute},
                                {"hour", 0, kHour},
                                {"hours", 0, kHour},
                                {"hh", 0, kHour},
                                {"h", 0, kHour},
                                {"hr", 0, kHour},
                                {"hrs", 0, kHour},
                                {"day", 0, kDay},
                                {"days", 0, kDay},
                                {"dd", 0, kDay},
                                {"d", 0, kDay},
                                {"dayofmonth", 0, kDay},
                                {"week", 0, 7 * kDay},
                                {"weeks", 0, 7 * kDay},
                                {"wk", 0, 7 * kDay},
                                {"ww", 0, 7 * kDay},
                                {"isoweek", 0, 7 * kDay},
                                {"iso_week", 0, 7 * kDay},
                                {"month", 1, 0},
                                {"months", 1, 0},
                                {"mon", 1, 0},
                                {"mons", 1, 0},
                                {"mm", 1, 0},
                                {"quarter", 3, 0},
                                {"quarters", 3, 0},
                                {"qtr", 3, 0},
                                {"qq", 3, 0},
                                {"q", 3, 0},
                                {"year", 12, 0},
                                {"years", 12, 0},
                                {"yyyy", 12, 0},
                                {"yy", 12, 0}};
  for (const Known& k : known)
    if (name == k.name) return MomentUnit{k.months, k.seconds};
  return std::nullopt;
}

std::optional<MomentCut> MomentCutOf(std::string_view given, std::string_view adapter) {
  std::string name = Lower(given);
  if (StartsWith(name, "week(")) {
    static const char* const days[] = {"monday", "tuesday",  "wednesday", "thursday",
                                       "friday", "saturday", "sunday"};
    for (int i = 0; i < 7; ++i)
      if (name == std::string("week(") + days[i] + ")") return MomentCut{Grain::Unit::kWeek, i};
    return std::nullopt;
  }
  if (name == "week_start") {  // dbt_date's: Sundays, but where the warehouse begins them on Monday
    const bool monday =
        adapter == "redshift" || adapter == "spark" || adapter == "databricks" || adapter == "trino";
    return MomentCut{Grain::Unit::kWeek, monday ? 0 : 6};
  }
  if (name == "isoweek" || name == "iso_week" || name == "iw") return MomentCut{Grain::Unit::kWeek, 0};
  const auto unit = MomentUnitOf(name, adapter);
  if (!unit || name == "y" || name == "dy" || name == "w") return std::nullopt;
  if (unit->months == 1) return MomentCut{Grain::Unit::kMonth, 0};
  if (unit->months == 3) return MomentCut{Grain::Unit::kQuarter, 0};
  if (unit->months == 12) return MomentCut{Grain::Unit::kYear, 0};
  if (unit->seconds == 7 * kDay) {
    if (name == "ww") return std::nullopt;
    return MomentCut{Grain::Unit::kWeek, BigQuery(adapter) || Microsoft(adapter) ? 6 : 0};
  }
  if (unit->seconds == kDay) return MomentCut{Grain::Unit::kDay, 0};
  if (unit->seconds == kHour) return MomentCut{Grain::Unit::kHour, 0};
  if (unit->seconds == kMinute) return MomentCut{Grain::Unit::kMinutes, 0};
  return std::nullopt;
}

std::optional<SpelledTime> ReadIntervalText(std::string_view text, std::string_view adapter) {
  SpelledTime out;
  std::size_t i = 0;
  bool any = false;
  if (!text.empty() && text[0] == 'P') {  // ISO
    bool time = false;
    for (++i; i < text.size();) {
      if (text[i] == 'T') {
        time = true;
        ++i;
        continue;
      }
      std::size_t end = i;
      while (end < text.size() && (std::isdigit(static_cast<unsigned char>(text[end])) || text[end] == '-'))
        ++end;
      const auto n = WholeNumber(text.substr(i, end - i));
      if (!n || end >= text.size()) return std::nullopt;
      const char u = text[end];
      if (u == 'Y')
        out.months += 12 * *n;
      else if (u == 'M' && !time)
        out.months += *n;
      else if (u == 'W')
        out.seconds += 7 * kDay * *n;
      else if (u == 'D')
        out.seconds += kDay * *n;
      else if (u == 'H')
        out.seconds += kHour * *n;
      else if (u == 'M')
        out.seconds += kMinute * *n;
      else if (u == 'S')
        out.seconds += *n;
      else
        return std::nullopt;
      i = end + 1;
      any = true;
    }
    return any ? std::optional(out) : std::nullopt;
  }
  while (i < text.size()) {
    while (i < text.size() && (text[i] == ' ' || text[i] == ',')) ++i;
    if (i >= text.size()) break;
    std::size_t end = i;
    if (text[end] == '-' || text[end] == '+') ++end;
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end]))) ++end;
    const auto n = WholeNumber(text.substr(i, end - i));
    if (!n) {
      if (any && text.substr(i) == "ago") return SpelledTime{-out.months, -out.seconds};
      return std::nullopt;
    }
    i = end;
    if (i < text.size() && text[i] == ':') {  // hh:mm[:ss]
      std::int64_t parts[3] = {std::abs(*n), 0, 0};
      const bool minus = text[end - 1] == '-' || *n < 0;
      for (int p = 1; p < 3 && i < text.size() && text[i] == ':'; ++p) {
        std::size_t to = ++i;
        while (to < text.size() && std::isdigit(static_cast<unsigned char>(text[to]))) ++to;
        parts[p] = WholeNumber(text.substr(i, to - i)).value_or(0);
        i = to;
      }
      const std::int64_t s = parts[0] * kHour + parts[1] * kMinute + parts[2];
      out.seconds += minus ? -s : s;
      any = true;
      continue;
    }
    while (i < text.size() && text[i] == ' ') ++i;
    end = i;
    while (end < text.size() && std::isalpha(static_cast<unsigned char>(text[end]))) ++end;
    if (end == i) {
      if (adapter != "redshift" || any || end < text.size()) return std::nullopt;
      return SpelledTime{0, *n};
    }
    const auto unit = MomentUnitOf(text.substr(i, end - i), adapter);
    if (!unit) return std::nullopt;
    out.months += unit->months * *n;
    out.seconds += unit->seconds * *n;
    any = true;
    i = end;
  }
  return any ? std::optional(out) : std::nullopt;
}

std::optional<Civil> ReadMoment(std::string_view t) {
  const auto digits = [&](std::size_t from, std::size_t n) -> std::optional<std::int64_t> {
    if (from + n > t.size()) return std::nullopt;
    for (std::size_t i = from; i < from + n; ++i)
      if (!std::isdigit(static_cast<unsigned char>(t[i]))) return std::nullopt;
    return WholeNumber(t.substr(from, n));
  };
  if (t.size() < 10 || t[4] != '-' || t[7] != '-') return std::nullopt;
  const auto y = digits(0, 4), m = digits(5, 2), d = digits(8, 2);
  if (!y || !m || !d || *m < 1 || *m > 12 || *d < 1 || *d > DaysInMonth(*y, static_cast<int>(*m)))
    return std::nullopt;
  Civil out = DaysFromCivil(*y, static_cast<int>(*m), static_cast<int>(*d)) * kDay;
  if (t.size() >= 16 && (t[10] == ' ' || t[10] == 'T') && t[13] == ':') {
    const auto h = digits(11, 2), n = digits(14, 2);
    if (!h || !n) return std::nullopt;
    out += *h * kHour + *n * kMinute;
    if (t.size() >= 19 && t[16] == ':')
      if (const auto s = digits(17, 2)) out += *s;
  } else if (t.size() > 10) {
    return std::nullopt;
  }
  return out;
}

bool IsNowCall(std::string_view name) {
  static const Names names = {"now",
                              "current_date",
                              "current_timestamp",
                              "getdate",
                              "sysdate",
                              "getutcdate",
                              "sysdatetime",
                              "sysutcdatetime",
                              "today",
                              "yesterday",
                              "curdate",
                              "utc_date",
                              "utc_timestamp",
                              "localtimestamp",
                              "current_datetime",
                              "statement_timestamp",
                              "transaction_timestamp",
                              "clock_timestamp",
                              "now64",
                              "get_current_timestamp",
                              "current_localtimestamp",
                              "utctimestamp",
                              "sysdatetimeoffset",
                              "unix_timestamp"};
  return In(names, name);
}

bool IsAggregate(std::string_view name) {
  static const Names names = {"sum",
                              "count",
                              "min",
                              "max",
                              "avg",
                              "mean",
                              "median",
                              "stddev",
                              "stddev_pop",
                              "stddev_samp",
                              "variance",
                              "var_pop",
                              "var_samp",
                              "any_value",
                              "any",
                              "array_agg",
                              "list",
                              "string_agg",
                              "listagg",
                              "group_concat",
                              "first",
                              "last",
                              "arg_min",
                              "arg_max",
                              "argmin",
                              "argmax",
                              "min_by",
                              "max_by",
                              "mode",
                              "count_if",
                              "countif",
                              "sumif",
                              "avgif",
                              "approx_count_distinct",
                              "approx_distinct",
                              "approx_quantiles",
                              "approx_percentile",
                              "percentile_cont",
                              "percentile_disc",
                              "quantile",
                              "quantiles",
                              "quantile_cont",
                              "bool_or",
                              "bool_and",
                              "logical_or",
                              "logical_and",
                              "bit_or",
                              "bit_and",
                              "every",
                              "corr",
                              "covar_pop",
                              "covar_samp",
                              "histogram",
                              "hll",
                              "object_agg",
                              "json_agg",
                              "jsonb_agg",
                              "json_object_agg",
                              "array_concat_agg",
                              "collect_list",
                              "collect_set",
                              "uniq",
                              "uniqexact",
                              "grouparray",
                              "groupuniqarray",
                              "kurtosis",
                              "skewness",
                              "regr_slope",
                              "regr_intercept",
                              "product",
                              "entropy",
                              "boolor_agg",
                              "booland_agg",
                              "total",
                              "count_star",
                              "max having",
                              "min having",
                              "any_value having",
                              "array_agg having",
                              "other aggregate",
                              "anylast",
                              "sumdistinct",
                              "countdistinct",
                              "percentile",
                              "approx_top_count",
                              "ratio_to_report",
                              "first_value agg"};
  return In(names, name);
}

MomentCall MomentCallOf(const SqlExpr& e, std::string_view adapter) {
  MomentCall out;
  if (e.kind != EK::kCall) return out;
  const std::string& name = e.name;
  const std::size_t n = e.args.size();
  const auto unit = [&](std::size_t i) {
    return i < n ? MomentCutOf(Word(*e.args[i]), adapter) : std::nullopt;
  };
  const auto text = [&](std::size_t i) {
    return i < n && e.args[i]->kind == EK::kString ? e.args[i]->text : std::string();
  };
  const auto same = [&](std::size_t i) {
    out.kind = MomentCall::Kind::kSame;
    out.value = i;
    return out;
  };

  static const Names truncs = {"date_trunc",     "datetrunc",  "timestamp_trunc",
                               "datetime_trunc", "__br_trunc", "datetrunc"};
  if (In(truncs, name) && n >= 2) {
    const bool value_first = (BigQuery(adapter) && name != "__br_trunc") || name == "timestamp_trunc" ||
                             name == "datetime_trunc" || (!unit(0) && unit(1));
    out = value_first ? Cut(0, unit(1)) : Cut(1, unit(0));
    if (n >= 3) {
      out.zone = text(2);
      if (out.zone.empty()) out.kind = MomentCall::Kind::kNone;
    }
    return out;
  }
  if (name == "trunc") {
    if (n == 1) {
      if (adapter == "redshift" || adapter == "oracle") return Cut(0, MomentCut{});
      return out;
    }
    std::string u = n == 2 ? Word(*e.args[1]) : "";
    if (u == "dd" || u == "ddd" || u == "j") return Cut(0, MomentCut{});
    if (u == "day" || u == "dy" || u == "d") {
      if (adapter == "snowflake" || adapter == "redshift") return Cut(0, MomentCut{});
      return out;
    }
    if (u == "month" || u == "mm" || u == "mon") return Cut(0, MomentCut{Grain::Unit::kMonth, 0});
    if (u == "year" || u == "yyyy" || u == "yy" || u == "y") return Cut(0, MomentCut{Grain::Unit::kYear, 0});
    if (u == "q" || u == "quarter") return Cut(0, MomentCut{Grain::Unit::kQuarter, 0});
    if (u == "iw" || u == "week") return Cut(0, MomentCut{Grain::Unit::kWeek, 0});
    if (u == "hh" || u == "hh24" || u == "hour") return Cut(0, MomentCut{Grain::Unit::kHour, 0});
    return out;
  }
  static const Names dates = {"date",     "to_date",   "todate",  "try_to_date", "ts_or_ds_to_date",
                              "todate32", "safe_date", "dateonly"};
  if (In(dates, name) && n >= 1) {
    if (adapter == "sqlite") {
      if (n == 1) return Cut(0, MomentCut{});
      if (n == 2 && text(1) == "start of month") return Cut(0, MomentCut{Grain::Unit::kMonth, 0});
      if (n == 2 && text(1) == "start of year") return Cut(0, MomentCut{Grain::Unit::kYear, 0});
      return out;
    }
    if (n == 3) return out;  // year, month, day
    if (n == 2 && (name == "date" || name == "todate")) {
      out = Cut(0, MomentCut{});
      out.zone = text(1);
      if (out.zone.empty()) out.kind = MomentCall::Kind::kNone;
      return out;
    }
    return Cut(0, MomentCut{});
  }
  if ((name == "parse_date" || name == "parse_timestamp" || name == "parse_datetime") && n >= 2)
    return same(1);
  static const Names sames = {"to_timestamp",
                              "timestamp",
                              "datetime",
                              "to_timestamp_ntz",
                              "to_timestamp_tz",
                              "to_timestamp_ltz",
                              "todatetime",
                              "todatetime64",
                              "parsedatetimebesteffort",
                              "strptime",
                              "str_to_date",
                              "try_to_timestamp",
                              "from_iso8601_timestamp",
                              "to_datetime",
                              "julianday",
                              "timestamp_seconds"};
  if (In(sames, name) && n >= 1 && name != "timestamp_seconds") {
    if ((name == "timestamp" || name == "datetime") && n == 2) {
      if (text(1).empty()) return out;
      out.kind = MomentCall::Kind::kZone;
      out.zone = name == "datetime" ? text(1) : "UTC";
      out.from_zone = name == "datetime" ? "UTC" : text(1);
      return out;
    }
    if (n > 2 || (adapter == "sqlite" && n > 1)) return out;
    return same(0);
  }
  struct Starts {
    const char* name;
    Grain::Unit unit;
    int week;
    bool text;
  };
  static const Starts starts[] = {{"tostartofminute", Grain::Unit::kMinutes, 0, false},
                                  {"tostartofhour", Grain::Unit::kHour, 0, false},
                                  {"tostartofday", Grain::Unit::kDay, 0, false},
                                  {"tomonday", Grain::Unit::kWeek, 0, false},
                                  {"tostartofmonth", Grain::Unit::kMonth, 0, false},
                                  {"tostartofquarter", Grain::Unit::kQuarter, 0, false},
                                  {"tostartofyear", Grain::Unit::kYear, 0, false},
                                  {"toyyyymm", Grain::Unit::kMonth, 0, true},
                                  {"toyyyymmdd", Grain::Unit::kDay, 0, true},
                                  {"unix_date", Grain::Unit::kDay, 0, false},
                                  {"to_days", Grain::Unit::kDay, 0, false},
                                  {"year", Grain::Unit::kYear, 0, true},
                                  {"toyear", Grain::Unit::kYear, 0, true}};
  for (const Starts& s : starts)
    if (name == s.name && n >= 1 && n <= 2) {
      out = Cut(0, MomentCut{s.unit, s.week});
      out.text = s.text;
      if (n == 2) {
        out.zone = text(1);
        if (out.zone.empty()) out.kind = MomentCall::Kind::kNone;
      }
      return out;
    }
  if (name == "tostartofweek" && n == 1) return Cut(0, MomentCut{Grain::Unit::kWeek, 6});
  if ((name == "extract" || name == "date_part" || name == "datepart") && n == 2) {
    const std::string part = Word(*e.args[0]);
    if (part == "date") {
      const SqlExpr& of = *e.args[1];
      if (of.kind != EK::kZone) return Cut(1, MomentCut{});
    }
    if (part == "year" || part == "isoyear") {
      out = Cut(1, MomentCut{Grain::Unit::kYear, 0});
      out.text = true;
      if (part == "isoyear") out.kind = MomentCall::Kind::kNone;
    }
    return out;
  }
  static const Names formats = {"to_char",  "format_date", "format_timestamp", "format_datetime",
                                "strftime", "date_format", "formatdatetime",   "format"};
  if (In(formats, name) && n == 2) {
    const bool first = e.args[0]->kind == EK::kString;
    const auto u = UnitOfFormat(first ? text(0) : text(1));
    if (!u) return out;
    out = Cut(first ? 1 : 0, MomentCut{*u, 0});
    out.text = true;
    // MySQL's way to a month's first day
    if (name == "date_format" && EndsWith(text(1), "-01") && *u == Grain::Unit::kMonth) out.text = false;
    return out;
  }
  if ((name == "substr" || name == "substring" || name == "left") && n >= 2) {
    const auto from = name == "left"                   ? std::optional<std::int64_t>(1)
                      : e.args[1]->kind == EK::kNumber ? WholeNumber(e.args[1]->text)
                                                       : std::nullopt;
    const SqlExpr* last = e.args[n - 1];
    const auto length = last->kind == EK::kNumber ? WholeNumber(last->text) : std::nullopt;
    if (from == 1 && length == 10) return Cut(0, MomentCut{});
    if (from == 1 && length == 7) {
      out = Cut(0, MomentCut{Grain::Unit::kMonth, 0});
      out.text = true;
    }
    return out;
  }
  if ((name == "last_day" || name == "last_day_of_month" || name == "eomonth" || name == "__br_last_day") &&
      n >= 1) {
    out.kind = MomentCall::Kind::kLast;
    out.unit = Grain::Unit::kMonth;
    if (n >= 2) {
      const auto u = unit(1);
      if (!u || name == "eomonth" || u->unit < Grain::Unit::kWeek) {
        out.kind = MomentCall::Kind::kNone;
        return out;
      }
      out.unit = u->unit;
      out.week = u->week;
    }
    return out;
  }
  if ((name == "time_bucket" || name == "time_slice" || name == "tostartofinterval" || name == "date_bin") &&
      n >= 2) {
    const std::size_t interval = name == "time_bucket" || name == "date_bin" ? 0 : 1;
    const std::size_t value = 1 - interval;
    std::optional<MomentUnit> step;
    if (e.args[interval]->kind == EK::kInterval) {
      const SqlExpr& i = *e.args[interval];
      if (i.name.empty()) {
        if (const auto spelled = ReadIntervalText(i.args[0]->text, adapter))
          step = MomentUnit{spelled->months, spelled->seconds};
      } else if (const auto u = MomentUnitOf(i.name, adapter); u && WholeNumber(i.args[0]->text) == 1) {
        step = u;
      }
    } else if (name == "time_slice" && n >= 3 && e.args[1]->kind == EK::kNumber &&
               WholeNumber(e.args[1]->text) == 1) {
      step = MomentUnitOf(Word(*e.args[2]), adapter);
      if (step) return Cut(0, MomentCutOf(Word(*e.args[2]), adapter));
    }
    if (!step || n > 2) return out;
    if (step->months == 1) return Cut(value, MomentCut{Grain::Unit::kMonth, 0});
    if (step->months == 12) return Cut(value, MomentCut{Grain::Unit::kYear, 0});
    if (step->months == 3) return Cut(value, MomentCut{Grain::Unit::kQuarter, 0});
    if (step->seconds == kDay) return Cut(value, MomentCut{});
    if (step->seconds == kHour) return Cut(value, MomentCut{Grain::Unit::kHour, 0});
    if (step->seconds == 7 * kDay && name != "date_bin") return Cut(value, MomentCut{Grain::Unit::kWeek, 0});
    return out;
  }

  const auto adds = [&](std::size_t value, std::size_t amount, const std::optional<MomentUnit>& u, int sign) {
    if (!u) return out;
    out.kind = MomentCall::Kind::kAdd;
    out.value = value;
    out.amount = amount;
    out.step_months = u->months;
    out.step_seconds = u->seconds;
    out.sign = sign;
    return out;
  };
  static const Names add_names = {"dateadd",      "timeadd",       "timestampadd", "date_add",
                                  "datetime_add", "timestamp_add", "adddate",      "date_sub",
                                  "datetime_sub", "timestamp_sub", "subdate",      "datesub"};
  if (In(add_names, name)) {
    const bool back = name.find("sub") != std::string::npos;
    if (n == 3 && !back) return adds(2, 1, MomentUnitOf(Word(*e.args[0]), adapter), 1);
    if (n == 2) {
      const bool bare = e.args[1]->kind != EK::kInterval;
      (void)bare;
      return adds(0, 1, MomentUnit{0, kDay}, back ? -1 : 1);
    }
    return out;
  }
  if (name == "add_months" && n == 2) return adds(0, 1, MomentUnit{1, 0}, 1);
  if (StartsWith(name, "add") || StartsWith(name, "subtract")) {
    const bool back = StartsWith(name, "subtract");
    const auto u = MomentUnitOf(std::string_view(name).substr(back ? 8 : 3), adapter);
    if (u && n == 2) return adds(0, 1, u, back ? -1 : 1);
  }
  const auto zone = [&](std::size_t value, std::string from, std::string to) {
    if (from.empty() || to.empty()) return out;
    out.kind = MomentCall::Kind::kZone;
    out.value = value;
    out.from_zone = std::move(from);
    out.zone = std::move(to);
    return out;
  };
  if (name == "convert_timezone") {
    if (n == 3) return zone(2, text(0), text(1));
    if (n == 2) return zone(1, "UTC", text(0));
    return out;
  }
  if (name == "from_utc_timestamp" && n == 2) return zone(0, "UTC", text(1));
  if (name == "to_utc_timestamp" && n == 2) return zone(0, text(1), "UTC");
  if (name == "totimezone" && n == 2) return zone(0, "UTC", text(1));
  if (name == "convert_tz" && n == 3) return zone(0, text(1), text(2));
  if (name == "at_timezone" && n == 2) return zone(0, "UTC", text(1));
  static const Names either = {"coalesce", "ifnull", "nvl", "isnull", "greatest", "least", "zeroifnull"};
  if (In(either, name) && n >= 1) {
    out.kind = MomentCall::Kind::kEither;
    return out;
  }
  if ((name == "if" || name == "iff" || name == "nvl2") && n == 3) {
    out.kind = MomentCall::Kind::kEither;
    out.value = 1;
    return out;
  }
  if (name == "nullif" && n == 2) return same(0);
  if (name == "tonullable" || name == "assumenotnull" || name == "tolowcardinality")
    return n == 1 ? same(0) : out;
  return out;
}

MomentDifference MomentDifferenceOf(const SqlExpr& e, std::string_view adapter) {
  MomentDifference d;
  if (e.kind != EK::kCall) return d;
  static const Names names = {"datediff", "date_diff",     "timestampdiff", "datetime_diff", "timestamp_diff",
                              "timediff", "__br_datediff", "date_sub",      "datesub",       "age"};
  if (!In(names, e.name)) return d;
  const std::size_t n = e.args.size();
  const auto set = [&](std::size_t start, std::size_t end, const std::string& unit, bool boundaries) {
    const auto u = MomentUnitOf(unit, adapter);
    const auto cut = MomentCutOf(unit, adapter);
    if (!u || !cut) return;
    d.known = true;
    d.start = e.args[start];
    d.end = e.args[end];
    d.boundaries = boundaries;
    d.unit = cut->unit;
    d.week = cut->week;
    d.months = u->months;
    d.seconds = u->seconds;
  };
  if (n == 2 && e.name == "datediff") {  // end first, in days
    set(1, 0, "day", true);
    return d;
  }
  if (n != 3) return d;
  const std::string first = Word(*e.args[0]), last = Word(*e.args[2]);
  if (BigQuery(adapter) && e.name != "__br_datediff") {
    set(1, 0, last, e.name != "timestamp_diff");
    return d;
  }
  if (e.name == "date_sub" || e.name == "datesub") {
    if (adapter == "duckdb") set(1, 2, first, false);
    return d;
  }
  if (e.name == "timestamp_diff" || e.name == "datetime_diff") {
    set(1, 0, last, e.name == "datetime_diff");
    return d;
  }
  const bool elapsed =
      e.name == "timestampdiff" || ((e.name == "date_diff") && (adapter == "trino" || adapter == "athena")) ||
      (e.name == "datediff" && (adapter == "spark" || adapter == "databricks")) || e.name == "age";
  set(1, 2, first, !elapsed);
  // Weeks are counted in several ways: whole stretches of days, or by Sundays; either is within one more.
  if (d.known && d.unit == Grain::Unit::kWeek && (adapter == "duckdb" || e.name == "__br_datediff"))
    d.known = false;
  return d;
}

}  // namespace backreach
