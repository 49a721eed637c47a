// Spellings of bounds by the run's date, dialect by dialect: how far each reaches for a run at one moment.

#include <doctest/doctest.h>

#include "ingest/dbt/sql.hpp"
#include "ingest/sql/bounds.hpp"
#include "ingest/sql/scan.hpp"

using namespace backreach;

namespace {

// Where a condition bounds the rows for a run on Monday, 20 April 2026 at 09:30 UTC; `-`: nowhere, `?`:
// nobody knows.
std::string Reach(const char* adapter, const std::string& condition, const std::string& before = "") {
  const SqlTraits t =
      ReadSqlTraits(before + "select * from s where " + condition, {}, {}, DialectOf(adapter));
  if (!t.bound) return t.bound_how.empty() ? "-" : "?";
  std::string out = FormatInstant(t.bound->At(*ParseInstant("2026-04-20T09:30:00Z", true), *Zone::Utc()));
  out.resize(16);  // without seconds
  return out.substr(11) == "00:00" ? out.substr(0, 10) : out;
}

struct Spelling {
  const char* adapter;
  const char* condition;
  const char* reach;
};

void Check(const std::vector<Spelling>& spellings) {
  for (const Spelling& s : spellings) {
    const std::string reach = Reach(s.adapter, s.condition);
    CHECK_MESSAGE(reach == std::string(s.reach),
                  (std::string(s.adapter) + ": " + s.condition + " reaches " + reach + ", not " + s.reach));
  }
}

}  // namespace

TEST_CASE("units by every name") {
  for (const char* unit :
       {"day", "days", "d", "dd", "DAY", "dayofyear", "weekday", "'day'", "\"day\"", "'dd'"})
    for (const char* adapter : {"snowflake", "redshift", "sqlserver", ""})
      CHECK_MESSAGE(
          Reach(adapter, "ts >= dateadd(" + std::string(unit) + ", -3, getdate())") == "2026-04-17T09:30",
          adapter << " " << unit);
  Check({
      {"sqlserver", "ts >= dateadd(yy, -1, getdate())", "2025-04-20T09:30"},
      {"sqlserver", "ts >= dateadd(yyyy, -1, getdate())", "2025-04-20T09:30"},
      {"sqlserver", "ts >= dateadd(q, -1, getdate())", "2026-01-20T09:30"},
      {"sqlserver", "ts >= dateadd(qq, -1, getdate())", "2026-01-20T09:30"},
      {"sqlserver", "ts >= dateadd(mm, -1, getdate())", "2026-03-20T09:30"},
      {"sqlserver", "ts >= dateadd(m, -1, getdate())", "2026-03-20T09:30"},
      {"sqlserver", "ts >= dateadd(wk, -1, getdate())", "2026-04-13T09:30"},
      {"sqlserver", "ts >= dateadd(ww, -1, getdate())", "2026-04-13T09:30"},
      {"sqlserver", "ts >= dateadd(y, -1, getdate())", "2026-04-19T09:30"},
      {"sqlserver", "ts >= dateadd(dy, -1, getdate())", "2026-04-19T09:30"},
      {"sqlserver", "ts >= dateadd(hh, -6, getdate())", "2026-04-20T03:30"},
      {"sqlserver", "ts >= dateadd(mi, -30, getdate())", "2026-04-20T09:00"},
      {"sqlserver", "ts >= dateadd(n, -30, getdate())", "2026-04-20T09:00"},
      {"sqlserver", "ts >= dateadd(ss, -3600, getdate())", "2026-04-20T08:30"},
      {"snowflake", "ts >= dateadd(yr, -1, current_timestamp)", "2025-04-20T09:30"},
      {"snowflake", "ts >= dateadd(y, -1, current_timestamp)", "2025-04-20T09:30"},
      {"snowflake", "ts >= dateadd(qtr, -1, current_timestamp)", "2026-01-20T09:30"},
      {"snowflake", "ts >= dateadd(mon, -1, current_timestamp)", "2026-03-20T09:30"},
      {"snowflake", "ts >= dateadd(w, -1, current_timestamp)", "2026-04-13T09:30"},
      {"snowflake", "ts >= dateadd(m, -30, current_timestamp)", "2026-04-20T09:00"},
      {"", "ts >= dateadd(y, -1, current_timestamp)", "2026-04-19T09:30"},
      {"", "ts >= dateadd(m, -30, current_timestamp)", "2026-04-20T09:00"},
      {"snowflake", "ts >= timeadd('hour', -6, current_timestamp)", "2026-04-20T03:30"},
      {"snowflake", "ts >= timestampadd(hour, -6, current_timestamp())", "2026-04-20T03:30"},
      {"mysql", "ts >= timestampadd(SQL_TSI_HOUR, -6, now())", "2026-04-20T03:30"},
      // A column may be named like a unit.
      {"snowflake", "day >= dateadd(day, -3, current_date)", "2026-04-17"},
      {"snowflake", "datediff(day, day, current_date) <= 3", "2026-04-17"},
      {"bigquery", "date_diff(current_date(), day, day) <= 3", "2026-04-17"},
      {"snowflake", "date_trunc('month', month) >= date_trunc('month', current_date)", "2026-04-01"},
      {"postgres", "date(day) >= current_date - 3", "2026-04-17"},
      {"", "week >= current_date - 7 and month is not null", "2026-04-13"},
  });
}

TEST_CASE("adding and taking off, warehouse by warehouse") {
  Check({
      {"snowflake", "d >= current_date - 3", "2026-04-17"},
      {"snowflake", "d >= dateadd('day', -3, current_date())", "2026-04-17"},
      {"snowflake", "ts >= sysdate() - interval '1 day, 2 hours'", "2026-04-19T07:30"},
      {"snowflake", "d >= add_months(current_date, -1)", "2026-03-20"},
      {"bigquery", "d >= date_sub(current_date('UTC'), interval 3 day)", "2026-04-17"},
      {"bigquery", "d >= date_add(current_date(), interval -3 DAY)", "2026-04-17"},
      {"bigquery", "ts >= timestamp_sub(current_timestamp(), interval 6 HOUR)", "2026-04-20T03:30"},
      {"bigquery", "ts >= timestamp_add(current_timestamp(), interval -6 hour)", "2026-04-20T03:30"},
      {"bigquery", "ts >= datetime_sub(current_datetime('UTC'), interval 1 month)", "2026-03-20T09:30"},
      {"bigquery", "ts >= current_timestamp() - interval 3 day", "2026-04-17T09:30"},
      {"bigquery", "unix_date(d) >= unix_date(current_date()) - 3", "2026-04-17"},
      {"redshift", "ts >= dateadd(day, -3, sysdate)", "2026-04-17T09:30"},
      {"redshift", "ts >= getdate() - interval '7 days, 3 hours'", "2026-04-13T06:30"},
      {"redshift", "ts >= getdate() - interval '6'", "2026-04-20T09:30"},
      {"redshift", "ts >= getdate() - interval '6' day", "2026-04-14T09:30"},
      {"redshift", "d >= trunc(getdate()) - 3", "2026-04-17"},
      {"postgres", "ts >= now() - interval '3 days'", "2026-04-17T09:30"},
      {"postgres", "ts >= now() - '3 days'::interval", "2026-04-17T09:30"},
      {"postgres", "ts >= now() - interval '3' day", "2026-04-17T09:30"},
      {"postgres", "ts >= now() - interval '6' days", "2026-04-20T09:30"},
      {"postgres", "ts >= now() - interval '1 day 2 hours'", "2026-04-19T07:30"},
      {"postgres", "ts >= now() - interval 'P1DT2H'", "2026-04-19T07:30"},
      {"postgres", "ts >= now() + interval '1 day ago'", "2026-04-19T09:30"},
      {"postgres", "ts >= now() - make_interval(days => 3)", "2026-04-17T09:30"},
      {"postgres", "ts >= now() - make_interval(hours => 6)", "2026-04-20T03:30"},
      {"postgres", "ts >= now() - make_interval(0, 0, 0, 3)", "2026-04-17T09:30"},
      {"postgres", "ts >= now() - 3 * interval '1 day'", "2026-04-17T09:30"},
      {"postgres", "ts >= now() - (3 || ' days')::interval", "2026-04-17T09:30"},
      {"postgres", "(now() at time zone 'utc')::date - 3 <= d", "2026-04-17"},
      {"postgres", "d >= (now() at time zone 'utc')::date - 3", "2026-04-17"},
      {"postgres", "d >= 'today'::date - 3", "2026-04-17"},
      {"postgres", "d >= date 'yesterday'", "2026-04-19"},
      {"postgres", "d > 'yesterday'::date", "2026-04-20"},
      {"duckdb", "d >= today() - 3", "2026-04-17"},
      {"duckdb", "ts >= get_current_timestamp() - interval 6 hours", "2026-04-20T03:30"},
      {"duckdb", "ts >= current_localtimestamp() - interval (3) day", "2026-04-17T09:30"},
      {"duckdb", "d >= current_date - to_days(3)", "2026-04-17"},
      {"duckdb", "d >= date_add(current_date, -3)", "2026-04-17"},
      {"spark", "d >= date_sub(current_date(), 3)", "2026-04-17"},
      {"spark", "d >= date_add(current_date(), -3)", "2026-04-17"},
      {"databricks", "ts >= current_timestamp() - interval 1 day 2 hours", "2026-04-19T07:30"},
      {"databricks", "ts >= current_timestamp() - interval '6' days", "2026-04-14T09:30"},
      {"databricks", "ts >= now() + interval -6 hour", "2026-04-20T03:30"},
      {"databricks", "ts >= dateadd(HOUR, -6, now())", "2026-04-20T03:30"},
      {"databricks", "ts >= now() - make_interval(0, 0, 0, 3)", "2026-04-17T09:30"},
      {"spark", "d >= date'today'", "2026-04-20"},
      {"spark", "unix_timestamp(ts) >= unix_timestamp() - 6 * 3600", "2026-04-20T03:30"},
      {"trino", "ts >= date_add('day', -3, current_timestamp)", "2026-04-17T09:30"},
      {"trino", "ts >= current_timestamp - interval '6' hour", "2026-04-20T03:30"},
      {"athena", "d >= current_date - interval '7' day", "2026-04-13"},
      {"clickhouse", "ts >= now() - 3600", "2026-04-20T08:30"},
      {"clickhouse", "ts >= now() - toIntervalDay(3)", "2026-04-17T09:30"},
      {"clickhouse", "ts >= subtractHours(now(), 6)", "2026-04-20T03:30"},
      {"clickhouse", "ts >= addDays(now64(), -3)", "2026-04-17T09:30"},
      {"clickhouse", "d >= today() - 3", "2026-04-17"},
      {"clickhouse", "d >= yesterday()", "2026-04-19"},
      {"clickhouse", "d >= toDate(now()) - 3", "2026-04-17"},
      {"clickhouse", "ts >= date_sub(hour, 6, now())", "2026-04-20T03:30"},
      {"clickhouse", "ts >= UTCTimestamp() - interval 6 hour", "2026-04-20T03:30"},
      {"clickhouse", "toUnixTimestamp(ts) >= toUnixTimestamp(now()) - 3600", "2026-04-20T08:30"},
      {"sqlserver", "d >= convert(date, getdate())", "2026-04-20"},
      {"sqlserver", "d >= dateadd(day, -3, convert(date, getdate()))", "2026-04-17"},
      {"sqlserver", "d >= cast(sysutcdatetime() as date)", "2026-04-20"},
      {"sqlserver", "ts >= getdate() - 3", "2026-04-17T09:30"},
      {"sqlserver", "ts >= dateadd(day, -3, sysdatetimeoffset())", "2026-04-17T09:30"},
      {"sqlserver", "k >= convert(char(8), dateadd(day, -3, getdate()), 112)", "2026-04-17"},
      {"mysql", "d >= curdate() - interval 3 day", "2026-04-17"},
      {"mysql", "d >= subdate(curdate(), 3)", "2026-04-17"},
      {"mysql", "d >= adddate(curdate(), interval -3 day)", "2026-04-17"},
      {"mysql", "ts >= utc_timestamp() - interval 6 hour", "2026-04-20T03:30"},
      {"mysql", "d >= utc_date() - interval 3 day", "2026-04-17"},
      {"mysql", "d >= curdate() - 3", "2026-04-20"},
      {"oracle", "ts >= sysdate - 3", "2026-04-17T09:30"},
      {"oracle", "ts >= sysdate - 6/24", "2026-04-20T03:30"},
      {"oracle", "ts >= sysdate - 30/1440", "2026-04-20T09:00"},
      {"oracle", "ts >= sysdate - (1/24/60) * 30", "2026-04-20T09:00"},
      {"oracle", "ts >= sysdate - 0.25", "2026-04-20T03:30"},
      {"oracle", "ts >= current_date - 3", "2026-04-17T09:30"},
      {"oracle", "ts >= trunc(current_date) - 3", "2026-04-17"},
      {"oracle", "ts >= systimestamp - numtodsinterval(6, 'HOUR')", "2026-04-20T03:30"},
      {"oracle", "ts >= systimestamp - interval '6' hour", "2026-04-20T03:30"},
      {"oracle", "ts >= add_months(trunc(sysdate), -1)", "2026-03-20"},
      {"sqlite", "d >= date('now', '-6 days')", "2026-04-14"},
      {"sqlite", "d >= date('now', 'start of month', '-1 month')", "2026-03-01"},
      {"sqlite", "ts >= datetime('now', '-90 minutes', '+1 hour')", "2026-04-20T09:00"},
      {"sqlite", "d >= date('now', '-1 month')", "2026-03-23"},
      {"sqlite", "d >= date('now', 'weekday 1')", "?"},
  });
}

TEST_CASE("cuts, and on which day a week begins") {
  Check({
      {"snowflake", "d >= date_trunc(month, current_date)", "2026-04-01"},
      {"snowflake", "d >= date_trunc(\"MONTH\", current_date)", "2026-04-01"},
      {"snowflake", "d >= trunc(current_date, 'month')", "2026-04-01"},
      {"snowflake", "d >= date_trunc('week', current_date - 1)", "2026-04-19"},
      {"snowflake", "d >= time_slice(current_date, 1, 'month')", "2026-04-01"},
      {"snowflake", "ts >= date_trunc('hour', current_timestamp) - interval '6 hours'", "2026-04-20T03:00"},
      {"bigquery", "d >= date_trunc(current_date(), MONTH)", "2026-04-01"},
      {"bigquery", "d >= date_trunc(current_date(), ISOWEEK)", "2026-04-20"},
      {"bigquery", "d >= date_trunc(date_sub(current_date(), interval 1 day), isoweek)", "2026-04-13"},
      {"bigquery", "d >= date_trunc(current_date(), WEEK)", "2026-04-19"},
      {"bigquery", "d >= date_trunc(current_date(), WEEK(MONDAY))", "2026-04-20"},
      {"bigquery", "d >= date_trunc(current_date(), WEEK(TUESDAY))", "2026-04-20"},
      {"bigquery", "ts >= timestamp_trunc(current_timestamp(), DAY, 'UTC')", "2026-04-20"},
      {"bigquery", "format_date('%Y%m', d) >= format_date('%Y%m', current_date())", "2026-04-01"},
      {"redshift", "ts >= date_trunc('month', getdate())", "2026-04-01"},
      {"postgres", "ts >= date_trunc('weeks', now() - interval '1 day')", "2026-04-13"},
      {"postgres", "ts >= date_trunc('month', now() - interval '1 month')", "2026-03-01"},
      {"postgres", "to_char(ts, 'YYYY-MM') = to_char(now(), 'YYYY-MM')", "2026-04-01"},
      {"postgres", "to_char(ts, 'YYYYMMDD') >= to_char(now() - interval '3 days', 'YYYYMMDD')", "2026-04-17"},
      {"postgres", "extract(year from ts) = extract(year from now())", "2026-01-01"},
      {"duckdb", "ts >= datetrunc('quarter', current_date)", "2026-04-01"},
      {"duckdb", "strftime(ts, '%Y-%m-%d') >= strftime(now() - interval 3 days, '%Y-%m-%d')", "2026-04-17"},
      {"spark", "d >= trunc(current_date(), 'MM')", "2026-04-01"},
      {"spark", "d >= date_trunc(\"month\", current_date())", "2026-04-01"},
      {"spark", "date_format(d, 'yyyy-MM') >= date_format(current_date(), 'yyyy-MM')", "2026-04-01"},
      {"trino", "d >= date_trunc('year', current_date)", "2026-01-01"},
      {"clickhouse", "d >= toStartOfMonth(today() - 3)", "2026-04-01"},
      {"clickhouse", "d >= toMonday(today() - 1)", "2026-04-13"},
      {"clickhouse", "d >= toStartOfInterval(now(), interval 1 day)", "2026-04-20"},
      {"clickhouse", "toYYYYMM(d) >= toYYYYMM(today())", "2026-04-01"},
      {"sqlserver", "d >= datetrunc(month, getdate())", "2026-04-01"},
      {"sqlserver", "d >= dateadd(month, datediff(month, 0, getdate()), 0)", "2026-04-01"},
      {"sqlserver", "d >= dateadd(mm, datediff(mm, 0, getdate()) - 1, 0)", "2026-03-01"},
      {"sqlserver", "d >= dateadd(day, datediff(day, 0, getdate()) - 3, 0)", "2026-04-17"},
      {"sqlserver", "d >= datefromparts(year(getdate()), month(getdate()), 1)", "2026-04-01"},
      {"sqlserver", "d > eomonth(getdate(), -1)", "2026-04-01"},
      {"sqlserver", "d > eomonth(getdate(), -2)", "2026-03-01"},
      {"mysql", "d >= date_format(now(), '%Y-%m-01')", "2026-04-01"},
      {"mysql", "d > last_day(curdate() - interval 1 month)", "2026-04-01"},
      {"oracle", "d >= trunc(sysdate, 'MM')", "2026-04-01"},
      {"oracle", "d >= trunc(sysdate - 1, 'IW')", "2026-04-13"},
      {"oracle", "d >= trunc(sysdate, 'YYYY')", "2026-01-01"},
      {"oracle", "d >= trunc(sysdate, 'DAY')", "2026-04-20"},
      {"sqlite", "strftime('%Y-%m', d) >= strftime('%Y-%m', 'now')", "2026-04-01"},
      {"postgres", "date_trunc('month', ts) >= current_date - 30", "2026-04-01"},
      {"postgres", "date_trunc('month', ts) = date_trunc('month', current_date) - interval '1 month'",
       "2026-03-01"},
      // A month without its year: this one, at the least.
      {"mysql", "month(d) = month(now())", "2026-04-01"},
      {"mysql", "year(d) = year(now()) and month(d) = month(now())", "2026-04-01"},
      {"mysql", "year(d) * 100 + month(d) >= year(now()) * 100 + month(now())", "2026-04-01"},
  });
}

TEST_CASE("what a format of times is cut to") {
  const auto unit = [](const char* format) {
    const auto cut = CutOfFormat(format);
    return cut ? static_cast<int>(cut->unit) : -1;
  };
  using U = TimeCut::Unit;
  for (const char* day : {"%Y-%m-%d", "%Y%m%d", "%F", "YYYYMMDD", "yyyy-MM-dd", "YYYY-MM-DD", "%Y-%j",
                          "YYYYDDD", "%Y-%m-%d 00:00:00", "yyyy-mm-dd"})
    CHECK_MESSAGE(unit(day) == static_cast<int>(U::kDay), day);
  for (const char* month : {"%Y-%m", "YYYYMM", "yyyy-MM", "%Y-%m-01", "YYYY-MM-01", "%Y%m01"})
    CHECK_MESSAGE(unit(month) == static_cast<int>(U::kMonth), month);
  CHECK(unit("%Y") == static_cast<int>(U::kYear));
  CHECK(unit("%Y-%m-%d %H") == static_cast<int>(U::kHour));
  CHECK(unit("YYYY-MM-DD HH24:MI:SS") == static_cast<int>(U::kMinute));
  CHECK(unit("yyyy-MM-dd HH:mm:ss") == static_cast<int>(U::kMinute));
  for (const char* none :
       {"%d-%m-%Y", "%m", "MM", "DD.MM.YYYY", "%Y-%m-15", "%Y-%U", "YYYY-Q", "text", "", "%H:%M"})
    CHECK_MESSAGE(unit(none) == -1, none);
}

TEST_CASE("differences") {
  Check({
      {"snowflake", "datediff(hh, ts, current_timestamp) <= 24", "2026-04-19T09:00"},
      {"snowflake", "datediff('day', ts, current_timestamp) < 3", "2026-04-18"},
      {"snowflake", "datediff('day', ts, current_timestamp) between 0 and 3", "2026-04-17"},
      {"snowflake", "datediff('day', current_timestamp, ts) >= -3", "2026-04-17"},
      {"snowflake", "datediff('day', current_timestamp, ts) between -3 and 0", "2026-04-17"},
      {"snowflake", "-3 <= datediff('day', current_timestamp, ts)", "2026-04-17"},
      {"snowflake", "abs(datediff('day', ts, current_timestamp)) <= 3", "2026-04-17"},
      {"snowflake", "datediff('month', ts, current_date) <= 1", "2026-03-01"},
      {"snowflake", "datediff('day', ts, current_date) in (0, 1, 2)", "2026-04-18"},
      {"snowflake", "datediff('day', ts, current_date) = 0", "2026-04-20"},
      {"sqlserver", "datediff(hh, ts, getdate()) <= 24", "2026-04-19T09:00"},
      {"sqlserver", "datediff(dd, ts, getdate()) <= 3", "2026-04-17"},
      {"bigquery", "date_diff(current_date(), d, DAY) <= 3", "2026-04-17"},
      {"bigquery", "timestamp_diff(current_timestamp(), ts, HOUR) < 24", "2026-04-19T09:30"},
      {"bigquery", "timestamp_diff(current_timestamp(), ts, HOUR) <= 24", "2026-04-19T08:30"},
      {"trino", "date_diff('hour', ts, current_timestamp) < 24", "2026-04-19T09:30"},
      {"duckdb", "date_diff('day', ts, now()) <= 3", "2026-04-17"},
      {"duckdb", "date_sub('hour', ts, now()) < 24", "2026-04-19T09:30"},
      {"clickhouse", "dateDiff('hour', ts, now()) <= 24", "2026-04-19T09:00"},
      {"spark", "datediff(current_date(), d) <= 3", "2026-04-17"},
      {"mysql", "datediff(now(), ts) <= 3", "2026-04-17"},
      {"mysql", "timestampdiff(hour, ts, now()) < 24", "2026-04-19T09:30"},
      {"mysql", "to_days(now()) - to_days(ts) <= 3", "2026-04-17"},
      {"postgres", "current_date - d <= 3", "2026-04-17"},
      {"postgres", "d - current_date >= -3", "2026-04-17"},
      {"postgres", "now() - ts <= interval '3 days'", "2026-04-17T09:30"},
      {"postgres", "now() - ts < '3 days'", "2026-04-17T09:30"},
      {"postgres", "age(now(), ts) < interval '3 days'", "2026-04-17T09:30"},
      {"postgres", "age(ts) < interval '3 days'", "2026-04-18"},
      {"postgres", "extract(epoch from now() - ts) < 86400", "2026-04-19T09:30"},
      {"postgres", "extract(epoch from (now() - ts)) / 3600 < 24", "2026-04-19T09:30"},
      {"postgres", "date_part('day', now() - ts) < 3", "2026-04-17T09:30"},
      {"oracle", "sysdate - ts < 6/24", "2026-04-20T03:30"},
      {"oracle", "months_between(sysdate, ts) <= 1", "2026-03-23T09:30"},
      {"clickhouse", "now() - ts <= 3600", "2026-04-20T08:30"},
      {"sqlite", "julianday('now') - julianday(ts) <= 3", "2026-04-17T09:30"},
      {"spark", "unix_timestamp() - unix_timestamp(ts) <= 3600", "2026-04-20T08:30"},
      {"", "current_date between ts and ts + interval '3 days'", "2026-04-17"},
      {"", "current_date between valid_from and valid_to", "-"},
  });
}

TEST_CASE("around a comparison") {
  Check({
      {"", "not (ts < current_date - 3)", "2026-04-17"},
      {"", "not ts < current_date - 3", "2026-04-17"},
      {"", "not (not (ts >= current_date - 3))", "2026-04-17"},
      {"", "not (ts >= current_date - 3)", "-"},
      {"", "not (a = 1 or ts <= current_date - 3)", "2026-04-18"},
      {"", "ts >= case when a then current_date - 30 else current_date - 3 end", "2026-04-17"},
      {"", "ts >= dateadd(day, case when dayofweek(current_date) = 1 then -90 else -3 end, current_date)",
       "2026-04-17"},
      {"", "ts >= current_date - case when extract(dow from current_date) = 1 then 3 else 1 end",
       "2026-04-19"},
      {"", "date_trunc('year', ts)::date >= date_trunc('year', current_date)::date", "2026-01-01"},
      {"", "date_part(month, ts) = '{{ run_started_at.strftime(\"%m\") }}'", "2026-04-01"},
      {"", "ts = (select max(ts) from dim where ts < current_date)", "-"},
      {"", "ts >= coalesce(null, current_date - 3)", "?"},
      {"", "coalesce(updated_at, created_at) >= current_date - 3", "2026-04-17"},
      {"", "coalesce(valid_to, current_date) >= x.day", "-"},
      {"", "ts >= greatest(current_date - 30, current_date - 3)", "2026-04-17"},
      {"", "day in (current_date, current_date - 7)", "2026-04-20"},
      {"", "day in (current_date - 1, current_date, current_date - 2)", "2026-04-18"},
      {"", "day = current_date - 7", "?"},
      {"", "ts >= (select current_date - 3)", "2026-04-17"},
      {"", "ts >= my_function(current_date)", "?"},
      {"", "ts >= current_date - lookback", "?"},
      {"", "ts >= current_date - {{ days }}", "?"},
      {"", "my_function(ts) >= current_date - 3", "?"},
      {"", "my_age(ts, current_date) <= 3", "?"},
      {"", "my_age(day, current_date) <= 3", "?"},
      {"", "ts >= my_function(day, current_date)", "?"},
      {"mysql", "ts >= date_add(now(), interval '-1 2' day_hour)", "?"},
      {"sqlserver", "d >= dateadd(day, datediff(day, 0, getdate()), -3)", "2026-04-17"},
      {"sqlserver", "d > dateadd(month, datediff(month, 0, getdate()), -1)", "2026-04-01"},
      {"", "extract(dow from current_date) = 1", "-"},
      {"", "date_part(dow, current_date) = 1", "-"},
      {"", "extract(dow from ts) = extract(dow from current_date)", "?"},
      {"", "ts >= current_date - interval '{{ var(\"n\", 3) }} days'", "2026-04-17"},
      {"", "ts >= current_timestamp - interval '{{ var(\"n\", 6) }} hours'", "2026-04-20T03:30"},
      {"", "ts >= current_timestamp + interval '-{{ var(\"n\", 6) }} hours'", "2026-04-20T03:30"},
      {"", "ts >= '{{ run_started_at.strftime(\"%Y-%m-%d\") }} 00:00:00'", "2026-04-20"},
      {"", "ts >= '{{ run_started_at.strftime(\"%Y-%m\") }}-01'", "2026-04-01"},
      {"", "ts >= '{{ run_started_at.strftime(\"%Y-%m-%d\") }} 12:00:00'", "?"},
      {"", "ts >= '{{ run_started_at.replace(day=1).strftime(\"%Y-%m-%d\") }}'", "2026-04-01"},
      {"", "ts >= '{{ run_started_at.date() - modules.datetime.timedelta(days=3) }}'", "2026-04-17"},
      {"", "ts >= '{{ modules.datetime.datetime.utcnow() - modules.datetime.timedelta(hours=6) }}'",
       "2026-04-20T03:30"},
      {"", "ts >= {{ dbt_date.n_days_ago(3) }}", "2026-04-17"},
      {"", "ts >= {{ dbt_date.n_months_ago(1) }}", "2026-03-01"},
      {"", "ts >= {{ dbt_date.yesterday() }}", "2026-04-19"},
      {"", "{{ dbt.datediff('ts', 'current_date', 'day') }} <= 3", "2026-04-17"},
      {"", "ts >= {{ dbt.date_trunc('month', dbt.current_timestamp()) }}", "2026-04-01"},
      // On the clock of a zone that the query names it may be the next day already.
      {"postgres", "d >= (now() at time zone 'Pacific/Kiritimati')::date - 3", "2026-04-17"},
      {"snowflake", "d >= convert_timezone('UTC', 'Asia/Tokyo', current_timestamp)::date - 3", "2026-04-17"},
      {"postgres", "ts >= (now() at time zone 'Asia/Tokyo') - interval '6 hours'", "2026-04-20T12:30"},
  });
}

TEST_CASE("every name of the current time") {
  for (const char* now : {"current_timestamp",
                          "current_timestamp()",
                          "current_timestamp(3)",
                          "now()",
                          "localtimestamp",
                          "getdate()",
                          "getutcdate()",
                          "sysdate",
                          "sysdate()",
                          "systimestamp",
                          "sysdatetime()",
                          "sysutcdatetime()",
                          "sysdatetimeoffset()",
                          "now64()",
                          "UTCTimestamp()",
                          "utc_timestamp()",
                          "get_current_timestamp()",
                          "current_localtimestamp()",
                          "current_datetime()",
                          "statement_timestamp()",
                          "clock_timestamp()",
                          "transaction_timestamp()",
                          "'now'::timestamp",
                          "timestamp 'now'",
                          "{{ dbt.current_timestamp() }}",
                          "{{ run_started_at }}",
                          "'{{ modules.datetime.datetime.now() }}'",
                          "{{ dbt_date.now() }}"})
    CHECK_MESSAGE(Reach("", "ts >= " + std::string(now)) == "2026-04-20T09:30", now);
  for (const char* today : {"current_date", "current_date()", "today()", "curdate()", "utc_date()",
                            "'today'::date", "date 'today'", "{{ dbt_date.today() }}", "current_date('UTC')"})
    CHECK_MESSAGE(Reach("", "ts >= " + std::string(today)) == "2026-04-20", today);
  CHECK(Reach("sqlite", "ts >= datetime('now')") == "2026-04-20T09:30");
  CHECK(Reach("", "ts >= now") == "-");
  CHECK(Reach("", "ts >= today") == "-");
}

TEST_CASE("strings and comments of a dialect hide no bound and make none") {
  Check({
      {"snowflake", "name <> 'it\\'s' and ts >= current_date - 3", "2026-04-17"},
      {"bigquery", "name <> 'it\\'s' and ts >= current_date() - 3", "2026-04-17"},
      {"postgres", "name <> '\\' and ts >= current_date - 3", "2026-04-17"},
      {"", "name <> 'it\\'s' and ts >= current_date - 3", "2026-04-17"},
      {"", "name <> '\\' and ts >= current_date - 3", "2026-04-17"},
      {"snowflake", "a = 1 // it's\n and ts >= current_date - 3", "2026-04-17"},
      {"snowflake", "a = 1 // and ts >= current_date - 3", "-"},
      {"duckdb", "a // 2 = 1 and ts >= current_date - 3", "2026-04-17"},
      {"bigquery", "a = 1 # and it's ts >= current_date()\n and ts >= current_date() - 3", "2026-04-17"},
      {"mysql", "a = 1 # and ts >= current_date() - 3", "-"},
      {"postgres", "a # 2 = 1 and ts >= current_date - 3", "2026-04-17"},
      {"postgres", "a = 1 /* /* nested */ and ts >= now() */ and ts >= current_date - 3", "2026-04-17"},
      {"bigquery", "name = \"x > current_date()\" and ts >= current_date() - 3", "2026-04-17"},
  });
}
