// What a model's SQL, and the macros that it calls, say about a rerun.

#include <doctest/doctest.h>

#include "ingest/dbt/sql.hpp"
#include "ingest/sql/bounds.hpp"
#include "ingest/sql/clauses.hpp"

using namespace backreach;

TEST_CASE("a model that filters by itself has a watermark; one that only looks like it has none") {
  for (const char* sql :
       {"select * from s where ts > (select max(ts) from {{ this }})",
        "select * from s where ts >= (select max(ts) - interval '3 days' from {{ this }})",
        "select * from s where id not in (select id from {{ this }})",
        "select * from s where not exists (select 1 from {{ this }} t where t.id = s.id)",
        "select s.* from s left join {{ this }} t on s.id = t.id where t.id is null",
        "with last as (select max(ts) as ts from {{ this }}) select * from s where ts > "
        "(select ts from last)",
        "with m as (select max(ts) as mx from {{ this }}) select r.* from s r, m where r.ts > m.mx",
        "with m as (select max(ts) as mx from {{ this }}) select r.* from s r join m on r.ts > m.mx",
        "with m as (select max(ts) as mx from {{ this }}) select id, ts from s cross join m where "
        "ts > mx",
        "select r.* from s r cross join (select max(ts) as mx from {{ this }}) m where r.ts > m.mx",
        "with m as (select max(ts) mx from {{ this }}), lo as (select dateadd(day, -3, mx) as lo from "
        "m), r as (select s.* from s where ts >= (select lo from lo)) select * from r",
        "with known as (select id from {{ this }}) select s.* from s left join known k on k.id = "
        "s.id where k.id is null",
        "{% set table = this %} select * from s where ts > (select max(ts) from {{ table }})",
        "{% set newest = run_query('select max(ts) from ' ~ this) %} select * from s where "
        "ts > '{{ newest }}'",
        "select * from s where day > _dbt_max_partition"}) {
    const SqlTraits t = ReadSqlTraits(sql);
    CHECK_MESSAGE(t.watermark, sql);
    CHECK_MESSAGE(!t.reads_itself, sql);
  }
  for (const char* sql :
       {"-- where ts > (select max(ts) from {{ this }})\nselect * from s", "{# {{ this }} #} select 1",
        "select 'select max(ts) from {{ this }}' as note from s",
        "select * from s where note = 'max(ts) of {{ this }}'",
        "select * from s where day >= '{{ var(\"from\") }}'"}) {
    CHECK_MESSAGE(!ReadSqlTraits(sql).watermark, sql);
    CHECK_MESSAGE(!ReadSqlTraits(sql).reads_itself, sql);
  }
}

TEST_CASE("its own rows as values are a dependency on itself") {
  for (const char* sql :
       {"select day, amount + coalesce((select max(total) from {{ this }} where day < "
        "'2026-01-01'), 0) as total from d",
        "select * from s union all select * from {{ this }}",
        "with old as (select * from {{ this }}), both_ as (select * from s union all select * "
        "from old) select * from both_",
        "with old as (select id, total from {{ this }}) select s.id, s.n + old.total as total from s "
        "left join old on old.id = s.id",
        "select s.*, t.first_seen from s join {{ this }} t using (id)"}) {
    const SqlTraits t = ReadSqlTraits(sql);
    CHECK_MESSAGE(t.reads_itself, sql);
    CHECK_MESSAGE(!t.watermark, sql);
  }
}

// The bound that a condition puts on the rows, as steps from the time of the run; `-` for none, `?` for one
// that nobody knows.
static std::string BoundOf(const std::string& condition, const std::string& before = "") {
  const SqlTraits t = ReadSqlTraits(before + "select * from s where " + condition);
  return t.bound ? FormatRunBound(*t.bound) : t.bound_how.empty() ? "-" : "?";
}

TEST_CASE("bounds by the run's date, in the words of many warehouses") {
  CHECK(BoundOf("d >= date_sub(current_date(), 3)") == "day -3d");
  CHECK(BoundOf("d >= current_date - interval '2 weeks'") == "day -2w");
  CHECK(BoundOf("d >= current_date - interval '2' week") == "day -2w");
  CHECK(BoundOf("ts > dateadd('hour', -48, current_timestamp())") == "-48h");
  CHECK(BoundOf("ts > timestamp_sub(current_timestamp(), interval 3 day)") == "-3d");
  CHECK(BoundOf("date >= date_sub(current_date('Europe/Paris'), interval 1 month)") ==
        "day -1mo @Europe/Paris");
  CHECK(BoundOf("day >= add_months(trunc(sysdate), -2)") == "day -2mo");
  CHECK(BoundOf("ts >= date_trunc('month', current_date) - interval '1 month'") == "day month -1mo");
  CHECK(BoundOf("ts >= date_trunc('month', current_date - 3)") == "day -3d month");
  CHECK(BoundOf("ts >= dateadd(month, -1, date_trunc('month', current_date))") == "day month -1mo");
  CHECK(BoundOf("ts >= date_trunc(current_date(), quarter)") == "day quarter");
  CHECK(BoundOf("ts >= toStartOfMonth(subtractDays(now(), 3))") == "-3d month");
  CHECK(BoundOf("ts >= today() - 3") == "day -3d");
  CHECK(BoundOf("ts >= now() - toIntervalDay(3)") == "-3d");
  CHECK(BoundOf("cast(ts as date) >= cast(getdate() as date) - 3") == "day -3d");
  CHECK(BoundOf("ts >= current_timestamp::date - 3") == "day -3d");
  CHECK(BoundOf("ts >= date_add('day', -3, now())") == "-3d");
  CHECK(BoundOf("ts >= current_date - 2 * interval '1 day'") == "day -2d");
  CHECK(BoundOf("ts >= current_date - interval '1 day' * 2") == "day -2d");
  CHECK(BoundOf("ts > current_timestamp - interval '90 seconds'") == "-1m");
  CHECK(BoundOf("ts >= unix_timestamp() - 3 * 86400") == "-4320m");
  // The other way round, the two sides apart, and as a difference.
  CHECK(BoundOf("current_date - 3 <= ts") == "day -3d");
  CHECK(BoundOf("ts + interval '3 days' >= current_date") == "day -3d");
  CHECK(BoundOf("datediff(day, ts, current_date) <= 3") == "day -3d");
  CHECK(BoundOf("date_diff(current_date(), date(ts), week) < 2") == "day -1w");
  CHECK(BoundOf("datediff(day, ts, current_date) < 3") == "day -2d");
  // A date of the very day is not taken where it is excluded.
  CHECK(BoundOf("day > current_date - 3") == "day -2d");
  CHECK(BoundOf("current_date - 3 < day") == "day -2d");
  CHECK(BoundOf("day > date_trunc('month', current_date)") == "day month +1d");
  CHECK(BoundOf("datediff('hour', ts, current_timestamp) <= 6") == "hour -6h");
  CHECK(BoundOf("3 >= datediff(current_date(), ts)") == "day -3d");
  CHECK(BoundOf("current_date - ts <= 3") == "day -3d");
  CHECK(BoundOf("ts between current_date - 3 and current_date") == "day -3d");
  CHECK(BoundOf("day = current_date - 1") == "day -1d");
  CHECK(BoundOf("date_trunc('month', ts) = date_trunc('month', current_date)") == "day month");
  CHECK(BoundOf("day in (current_date, current_date - 1)") == "day -1d");
  CHECK(BoundOf("(a = 1 and (ts >= current_date - 3))") == "day -3d");
  // Several: what reaches back the least.
  CHECK(BoundOf("ts >= current_date - 3 and loaded > current_timestamp - interval '1 day'") == "-1d");
}

TEST_CASE("bounds by the run's date that Jinja writes") {
  CHECK(BoundOf("ts >= '{{ run_started_at.strftime(\"%Y-%m-%d\") }}'") == "day");
  CHECK(BoundOf("ts >= '{{ run_started_at.strftime(\"%Y-%m-01\") }}'") == "month");
  CHECK(BoundOf("ts >= '{{ run_started_at }}'") == "");
  CHECK(BoundOf("ts >= \"{{ run_started_at }}\"") == "");
  CHECK(BoundOf("ts >= dateadd(day, -2, '{{ run_started_at }}')") == "-2d");
  CHECK(
      BoundOf("ts >= '{{ (run_started_at - modules.datetime.timedelta(days=3)).strftime(\"%Y-%m-%d\") }}'") ==
      "-3d day");
  CHECK(BoundOf("ts >= '{{ modules.datetime.datetime.now() - modules.datetime.timedelta(hours=6) }}'") ==
        "-6h");
  CHECK(BoundOf("ts >= '{{ d }}'", "{% set d = run_started_at - modules.datetime.timedelta(3) %}") == "-3d");
  CHECK(BoundOf("ts >= {{ d }}", "{% set d %} current_date - 3 {% endset %}") == "day -3d");
  CHECK(BoundOf("ts >= current_date - {{ n }}", "{% set n = 3 %}") == "day -3d");
  CHECK(BoundOf("ts >= {{ dbt.dateadd('day', -3, dbt.current_timestamp()) }}") == "-3d");
  CHECK(BoundOf(
            "ts >= {{ dbt.dateadd(datepart='day', interval=-3, from_date_or_timestamp='current_date') }}") ==
        "day -3d");
  CHECK(BoundOf("ts >= {{ dbt_utils.dateadd('day', -3, 'current_date') }}") == "day -3d");
  CHECK(BoundOf("ts >= {{ dbt_date.n_weeks_ago(2) }}") == "day -2w");
  CHECK(BoundOf("date(ts) = date({{ dbt.current_timestamp() }})") == "day");
  CHECK(BoundOf("ts >= current_date - {{ var('lookback', 3) }}") == "day -3d");
  CHECK(BoundOf("ts >= dateadd(day, -{{ var('lookback', 3) }}, current_date)") == "day -3d");
  CHECK(BoundOf("ts >= current_date - {{ var('lookback') }}") == "?");
  CHECK(BoundOf("ts >= {% if var('all', false) %} '1900-01-01' {% else %} current_date - 3 {% endif %}") ==
        "day -3d");
  const SqlTraits written =
      ReadSqlTraits("select * from s where {{ recent('ts', days=7) }}",
                    {{"recent",
                      "{% macro recent(column, days=3) %}{{ column }} >= current_date - "
                      "{{ days }}{% endmacro %}"}});
  REQUIRE(written.bound);
  CHECK(FormatRunBound(*written.bound) == "day -7d");
}

TEST_CASE("what looks like a bound by the run's date and is none") {
  for (const char* condition :
       {"d >= '2026-01-01'", "ts < current_date - 3", "current_date > ts", "day <> current_date",
        "ts <= current_timestamp", "valid_to is null or t.now = 3", "t.today >= 5",
        "a -> 'b' ->> 'now' = 'c'", "datediff(day, ts, current_date) > 3", "'2026-01-01' < current_date"})
    CHECK_MESSAGE(BoundOf(condition) == "-", condition);
  CHECK(ReadSqlTraits("select current_date as today from s where d >= '2026-01-01'").bound_how.empty());
  CHECK(ReadSqlTraits("select * from s left join r on r.day = current_date").bound_how.empty());
  CHECK(ReadSqlTraits("select * from s left join r on r.day >= current_date - 3").bound_how.empty());
  CHECK(ReadSqlTraits("select * from s join r on r.day = current_date").bound_how.empty());
  CHECK(ReadSqlTraits("select case when ts > current_date - 3 then 1 end from s").bound_how.empty());
  // In development alone.
  for (const char* condition :
       {"target.name == 'dev'", "target.name != 'prod'", "target.name in ['dev', 'ci']",
        "not target.name == 'prod'", "is_incremental() and target.name == 'dev'"}) {
    const SqlTraits t = ReadSqlTraits("select * from s {% if " + std::string(condition) +
                                      " %} where ts >= current_date - 3 {% endif %}");
    CHECK_MESSAGE(t.bound_how.empty(), condition);
    CHECK_MESSAGE(t.bounded_aside, condition);
  }
  for (const char* condition : {"target.name == 'prod'", "target.name != 'dev'", "is_incremental()",
                                "target.name == 'dev' or is_incremental()", "target.type == 'snowflake'"}) {
    const SqlTraits t = ReadSqlTraits("select * from s {% if " + std::string(condition) +
                                      " %} where ts >= current_date - 3 {% endif %}");
    CHECK_MESSAGE(!t.bound_how.empty(), condition);
    CHECK_MESSAGE(!t.bounded_aside, condition);
  }
  CHECK(ReadSqlTraits(
            "select * from s {% if target.name == 'prod' %} {% else %} where ts > (select max(ts) from "
            "{{ this }}) {% endif %}")
            .bounded_aside);
}

TEST_CASE("a build from nothing has bounds of its own") {
  const auto bounds = [](const std::string& sql) {
    const SqlTraits t = ReadSqlTraits("select * from s " + sql);
    return (t.bound ? FormatRunBound(*t.bound) : "-") + " | " +
           (t.first_bound ? FormatRunBound(*t.first_bound) : "-");
  };
  CHECK(bounds("where d >= current_date - 3") == "day -3d | day -3d");
  CHECK(bounds("{% if is_incremental() %} where d >= current_date - 3 {% endif %}") == "day -3d | -");
  CHECK(bounds("{% if not is_incremental() %} where d >= current_date - 3 {% endif %}") == "- | day -3d");
  CHECK(
      bounds("{% if is_incremental() %} where d >= current_date - 3 {% else %} where d >= current_date - 30 "
             "{% endif %}") == "day -3d | day -30d");
  CHECK(
      bounds("{% if is_incremental() and var('x', true) %} where d >= current_date - 3 {% else %} where d >= "
             "current_date - 30 {% endif %}") == "day -3d | day -30d");
  CHECK(bounds("{% if flags.FULL_REFRESH %} where d >= current_date - 30 {% endif %}") == "- | day -30d");
  CHECK(bounds("{% if not should_full_refresh() %} where d >= current_date - 3 {% endif %}") ==
        "day -3d | -");
  CHECK(bounds("where {% if is_incremental() or var('x') %} d >= current_date - 3 {% endif %}") ==
        "day -3d | day -3d");
  CHECK_FALSE(
      ReadSqlTraits("select * from s {% if not is_incremental() %} where d > (select max(d) from {{ this }}) "
                    "{% endif %}")
          .watermark);
}

TEST_CASE("a negated bracket says nothing for sure of where it holds, and NOT IN is no bound") {
  for (const char* condition : {"not (is_incremental() and var('x'))", "not(is_incremental())"}) {
    const SqlTraits t = ReadSqlTraits("select * from s {% if " + std::string(condition) +
                                      " %} where d >= current_date - 3 {% endif %}");
    CHECK_MESSAGE(t.bound, condition);
    CHECK_MESSAGE(t.first_bound, condition);
  }
  CHECK_FALSE(ReadSqlTraits("select * from s {% if not (target.name == 'prod' and var('x')) %} where d >= "
                            "current_date - 3 {% endif %}")
                  .bounded_aside);
  CHECK(BoundOf("day not in (current_date)") == "-");
  CHECK(BoundOf("day not between current_date - 3 and current_date") == "-");
  CHECK(BoundOf("day in (current_date)") == "day");
}

TEST_CASE("variables that filter") {
  CHECK(ReadSqlTraits("select * from s where d >= '{{ var(\"day_from\") }}' and d < {{ var('day_to') }}")
            .variables == std::vector<std::string>{"day_from", "day_to"});
  // Given, they take the bound's place.
  const auto instead = [](const std::string& sql) { return ReadSqlTraits(sql).instead_of_bound; };
  const std::vector<std::string> day = {"day"};
  CHECK(instead("select * from s where d = '{{ var(\"day\", run_started_at.strftime(\"%Y-%m-%d\")) }}'") ==
        day);
  CHECK(instead("select * from s where d = '{{ var(\"day\") if var(\"day\", none) else run_started_at }}'") ==
        day);
  CHECK(instead("{% if var('day', none) %}{% set d = var('day') %}{% else %}{% set d = run_started_at %}"
                "{% endif %} select * from s where d >= '{{ d }}'") == day);
  CHECK(instead("select * from s where d >= current_date - {{ var('day', 3) }}").empty());
}

TEST_CASE("a watermark that is selected too is both") {
  for (const char* sql :
       {"with m as (select max(ts) as mx from {{ this }}) select * from s cross join m where ts > mx",
        "with m as (select max(ts) as mx from {{ this }}) select s.*, m.mx from s, m where s.ts > "
        "m.mx",
        "with m as (select max(ts) as mx from {{ this }}), r as (select s.*, m.mx from s, m) select * "
        "from r where ts > mx"}) {
    CHECK_MESSAGE(ReadSqlTraits(sql).watermark, sql);
    CHECK_MESSAGE(ReadSqlTraits(sql).reads_itself, sql);
  }
}

TEST_CASE("the model's own table by its name") {
  const std::vector<std::string> own = {"shop", "public", "orders"};
  const auto watermark = [&](const std::string& from) {
    return ReadSqlTraits("select * from s where ts > (select max(ts) from " + from + ")", {}, own).watermark;
  };
  CHECK(watermark("shop.public.orders"));
  CHECK(watermark("PUBLIC.ORDERS"));
  CHECK(watermark("\"shop\".\"public\".\"orders\""));
  CHECK(watermark("{{ target.schema }}.orders"));
  CHECK_FALSE(watermark("raw.orders"));
  CHECK_FALSE(watermark("orders"));
  CHECK_FALSE(watermark("public.orders_old"));
}

TEST_CASE("predicates that bound the target side in time, and those that do not") {
  const auto reach = [](const std::string& predicate) {
    const PredicateBound bound = ReadPredicate(predicate);
    if (bound.since) return std::to_string(*bound.since);
    return !bound.bounds ? std::string("-") : bound.reach ? FormatRunBound(*bound.reach) : "?";
  };
  CHECK(reach("DBT_INTERNAL_DEST.day >= dateadd(day, -7, current_date)") == "day -7d");
  CHECK(reach("order_ts >= current_date - 7") == "day -7d");
  CHECK(reach("DBT_INTERNAL_DEST.block_time >= now() - interval '3' day") == "-3d");
  CHECK(reach("current_date - 7 <= order_ts") == "day -7d");
  CHECK(reach("datediff(day, DBT_INTERNAL_DEST.day, current_date) < 7") == "day -6d");
  CHECK(reach("day >= '1970-01-11'") == "10");
  CHECK(reach("day > date '1970-01-11'") == "11");
  CHECK(reach("day > '2026-01-01 12:00'") == "?");
  CHECK(reach("'2026-01-01' <= day") == "?");
  CHECK(reach("DBT_INTERNAL_DEST.day = DBT_INTERNAL_SOURCE.day") == "-");
  CHECK(reach("region = 'eu'") == "-");
}

TEST_CASE("a filter that calls the project's macro is judged by the macro's body") {
  const MacroBodies macros = {
      {"newer",
       "{% macro newer(column, add_and=False) %}{% if is_incremental() %}\n"
       "{{ 'AND ' if add_and else 'WHERE ' }} {{ column }} > (select max(x.{{ column }}) from {{ this }} as "
       "x)\n"
       "{% endif %}{% endmacro %}"},
      {"through", "{% macro through(c) %}{{ newer(c, True) }}{% endmacro %}"},
      {"round", "{% macro round() %}{{ round() }}{% endmacro %}"},
      {"by_day", "{% macro by_day(c) %}{{ c }} >= '{{ var('day_from') }}'{% endmacro %}"},
      {"audit",
       "{% macro audit() %}, {% set first %} select min(at) from {{ this }} {% endset %} "
       "'{{ run_query(first).columns[0].values()[0] }}' as made_at{% endmacro %}"},
      {"empty", ""},
      {"ref", "{% macro ref(name) %}{{ this }}{% endmacro %}"}};
  const auto traits = [&](const std::string& sql) { return ReadSqlTraits(sql, macros); };
  CHECK(traits("select * from {{ ref('a') }} {{ newer('at') }}").watermark);
  CHECK_FALSE(traits("select * from {{ ref('a') }} {{ newer('at') }}").reads_itself);
  CHECK(traits("select * from {{ ref('a') }} where true {{ through('at') }}").watermark);
  CHECK_FALSE(traits("select * from {{ ref('a') }} where {{ round() }}").watermark);  // ends
  CHECK(traits("select * from {{ ref('a') }} where {{ by_day('d') }}").variables ==
        std::vector<std::string>{"day_from"});
  // When it was first filled is no filter, and no past that a row is made from.
  CHECK_FALSE(traits("select a {{ audit() }} from {{ ref('a') }}").watermark);
  CHECK_FALSE(traits("select a {{ audit() }} from {{ ref('a') }}").reads_itself);
  // Empty, or another package's: nobody knows.
  CHECK(traits("select * from {{ ref('a') }} where {{ empty() }}").unknown_filters ==
        std::vector<std::string>{"empty"});
  CHECK(traits("select * from {{ ref('a') }} {{ pack.recent('at') }}").unknown_filters ==
        std::vector<std::string>{"pack.recent"});
  CHECK(traits("select {{ pack.hash('a') }} from {{ ref('a') }} where at > {{ dbt.current_timestamp() }}")
            .unknown_filters.empty());
  CHECK(traits("select * from {{ pack.table_of('a') }}").unknown_filters.empty());
}

TEST_CASE("variables count where rows are filtered by them") {
  CHECK(ReadSqlTraits("select '{{ var(\"name\") }}' as n from {{ ref('a') }}").variables.empty());
  CHECK(ReadSqlTraits("{% set day = var('day') %} select * from a where d >= cast('{{ day }}' as date)")
            .variables == std::vector<std::string>{"day"});
  CHECK(ReadSqlTraits("{% set day = var('day') %} select '{{ day }}' as d from a").variables.empty());
  const SqlTraits environment = ReadSqlTraits("select * from a where x = '{{ env_var('DAY') }}'");
  CHECK(environment.variables.empty());
  CHECK(environment.environment == std::vector<std::string>{"DAY"});
}

TEST_CASE("what a subquery in a filter selects is a filter") {
  const auto traits = [](const std::string& sql) { return ReadSqlTraits(sql); };
  CHECK(traits("select * from a where d >= (select min((select max(d) from {{ this }})))").watermark);
  CHECK_FALSE(
      traits("select * from a where d >= (select min((select max(d) from {{ this }})))").reads_itself);
  CHECK(traits("select a, (select max(n) from {{ this }}) + 1 as n from a").reads_itself);
  CHECK(traits("{% set newest %} select max(d) from {{ this }} {% endset %} select * from a").watermark);
  CHECK(traits("{% call statement('newest', fetch_result=True) %} select max(d) from {{ this }} {% endcall "
               "%} select * "
               "from a where d > '{{ load_result('newest')['data'][0][0] }}'")
            .watermark);
}

TEST_CASE("what was asked of itself before counts where it is used") {
  const auto traits = [](const std::string& sql) { return ReadSqlTraits(sql); };
  const std::string ask = "{% set newest = run_query('select max(d) from ' ~ this).columns[0][0] %} ";
  CHECK(traits(ask + "select * from a where d > '{{ newest }}'").watermark);
  CHECK_FALSE(traits(ask + "select * from a where d > '{{ newest }}'").reads_itself);
  CHECK_FALSE(traits(ask + "select *, '{{ newest }}' as seen_until from a").watermark);
  CHECK(traits(ask + "select *, '{{ newest }}' as seen_until from a").reads_itself);
  CHECK(traits(ask + "select *, '{{ newest }}' as n from a where d > '{{ newest }}'").watermark);
  CHECK(traits(ask + "select *, '{{ newest }}' as n from a where d > '{{ newest }}'").reads_itself);
  CHECK(traits(ask + "select * from a {% if newest %} where e {% endif %}").watermark);  // only decides
  // What a subquery or a common table expression hands on may be compared with further out.
  CHECK(traits(ask + "select * from a where d > (select coalesce('{{ newest }}', '1900-01-01'))").watermark);
  CHECK_FALSE(traits(ask + "select * from a where d > (select '{{ newest }}')").reads_itself);
  CHECK(traits(ask + "with last as (select '{{ newest }}' as d) select a.* from a, last where a.d > last.d")
            .watermark);
  // Through other names, and a query that is asked later.
  const std::string chain =
      "{% set query %} select max(d) from {{ this }} {% endset %} {% set rows = run_query(query) %} "
      "{% set last_day = rows.columns[0][0] %} ";
  CHECK(traits(chain + "select * from a where d > {{ last_day }}").watermark);
  CHECK_FALSE(traits(chain + "select {{ last_day }} as n from a where d > 3").watermark);
  CHECK(traits(chain + "select {{ last_day }} as n from a where d > 3").reads_itself);
  CHECK_FALSE(
      traits("{% call statement('n', fetch_result=True) %} select max(d) from {{ this }} {% endcall %} "
             "select {{ load_result('n')['data'][0][0] }} as n from a")
          .watermark);
  const SqlTraits apart = traits(chain +
                                 "select * from a {% if var('from', none) %} where d >= '{{ var('from') }}' "
                                 "{% else %} where d > {{ last_day }} {% endif %}");
  CHECK(apart.watermark);
  CHECK(apart.instead_of_watermark == std::vector<std::string>{"from"});
}

TEST_CASE("rows and relations that Jinja asked of the model itself") {
  const MacroBodies macros = {{"get_max",
                               "{% macro get_max(table, column) %}{% set q %}select max({{ column }}) from "
                               "{{ table }}{% endset %}{% set r = "
                               "run_query(q) %}{{ return(r.columns[0].values()[0]) }}{% endmacro %}"},
                              {"newer",
                               "{% macro newer(column, table=this) %} and {{ column }} > (select max({{ "
                               "column }}) from {{ table }}){% endmacro %}"}};
  const auto traits = [&](const std::string& sql) { return ReadSqlTraits(sql, macros); };
  for (const char* sql :
       {"{% set m = get_max(this, 'ts') %} select * from s where ts > '{{ m }}'",
        "select * from s where ts > '{{ get_max(this, \"ts\") }}'",
        "select * from s where ts > {{ get_max(this, 'ts') }}",
        "select * from s where true {{ newer('ts') }}", "select * from s where true {{ newer('ts', this) }}",
        "{% set m = dbt_utils.get_single_value('select max(ts) from ' ~ this) %} select * from s where ts > "
        "'{{ m }}'",
        "{% set days = dbt_utils.get_column_values(this, 'day') %} select * from s where day not in ({{ days "
        "| join(',') "
        "}})",
        "{% set q %} select distinct day from {{ this }} {% endset %} {% set days = run_query(q).columns[0] "
        "%} select * "
        "from s where day not in ({% for d in days %} '{{ d }}', {% endfor %} null)",
        "{% set old = load_relation(this) %} select * from s {% if old %} where ts > (select max(ts) from {{ "
        "old }}) {% "
        "endif %}",
        "{% set old = adapter.get_relation(this.database, this.schema, this.identifier) %} select * from s "
        "where ts > "
        "(select max(ts) from {{ old }})"}) {
    CHECK_MESSAGE(traits(sql).watermark, sql);
    CHECK_MESSAGE(!traits(sql).reads_itself, sql);
  }
  for (const char* sql : {"select * from s where true {{ newer('ts', ref('other')) }}",
                          "{% set m = get_max(ref('other'), 'ts') %} select * from s where ts > '{{ m }}'",
                          "{% set n = run_query('select count(*) from ' ~ this) %} select * from s {% if n "
                          "%} where a {% endif %}",
                          "{% set columns = adapter.get_columns_in_relation(this) %} select {{ columns | "
                          "join(',') }} from s"}) {
    CHECK_MESSAGE(!traits(sql).watermark, sql);
    CHECK_MESSAGE(!traits(sql).reads_itself, sql);
  }
  CHECK(traits("{% set q %} select * from {{ this }} {% endset %} select * from s union all {{ q }}")
            .reads_itself);
}

TEST_CASE("a variable that filters in another branch takes the watermark's place") {
  const char* apart =
      "select * from a {% if var('day_from', none) %} where d >= '{{ var('day_from') }}' "
      "{% elif is_incremental() %} where d > (select max(d) from {{ this }}) {% endif %}";
  CHECK(ReadSqlTraits(apart).watermark);
  CHECK(ReadSqlTraits(apart).instead_of_watermark == std::vector<std::string>{"day_from"});
  const char* both =
      "select * from a where d >= '{{ var('day_from') }}' {% if is_incremental() %} and d > (select max(d) "
      "from "
      "{{ this }}) {% endif %}";
  CHECK(ReadSqlTraits(both).watermark);
  CHECK(ReadSqlTraits(both).instead_of_watermark.empty());
  const char* bound =
      "select * from a where {% if var('all', false) %} d >= '{{ var('day_from') }}' {% else %} d >= "
      "current_date - 3 "
      "{% endif %}";
  REQUIRE(ReadSqlTraits(bound).bound);
  CHECK(FormatRunBound(*ReadSqlTraits(bound).bound) == "day -3d");
  CHECK(ReadSqlTraits(bound).instead_of_bound == std::vector<std::string>{"day_from"});
}

TEST_CASE("an anti-join against itself that holds for every row inserts nothing twice") {
  for (const char* sql :
       {"select * from s where id not in (select id from {{ this }})",
        "select * from s where x > 1 and not exists (select 1 from {{ this }} t where t.id = s.id)",
        "select s.* from s left join {{ this }} t on s.id = t.id where t.id is null"})
    CHECK_MESSAGE(ReadSqlTraits(sql).only_new_keys, sql);
  for (const char* sql :
       {"select * from s where id in (select id from {{ this }})",
        "select * from s where id not in (select id from {{ this }}) or x > 1",
        "select * from s where (id not in (select id from {{ this }}) or x > 1) and y",
        "select * from s where id not in (select id from {{ this }}) union all select * from r",
        "select s.* from s left join {{ this }} t on s.id = t.id where t.id is null or s.x > t.x",
        "select * from s where ts > (select max(ts) from {{ this }})"})
    CHECK_MESSAGE(!ReadSqlTraits(sql).only_new_keys, sql);
}

TEST_CASE("branches of nested ifs, their outer ones included") {
  const std::string sql =
      "a {% if x %} b {% if y %} c {% else %} d {% endif %} e {% elif z %} f {% if w %} g {% endif %} {% "
      "else "
      "%} h {% endif %} {% if v %} i {% endif %}";
  const SqlTokens t = TokenizeSql(sql);
  const SqlBranches branches(t);
  const auto at = [&](const char* word) {
    std::size_t i = 0;
    while (t[i].text != word) ++i;
    return i;
  };
  const auto apart = [&](const char* a, const char* b) {
    CHECK(branches.Exclusive(at(a), at(b)) == branches.Exclusive(at(b), at(a)));
    return branches.Exclusive(at(a), at(b));
  };
  CHECK(apart("c", "d"));
  CHECK(apart("c", "g"));
  CHECK(apart("d", "f"));
  CHECK(apart("e", "h"));
  CHECK(apart("g", "h"));
  CHECK(!apart("b", "c"));
  CHECK(!apart("a", "c"));
  CHECK(!apart("c", "e"));
  CHECK(!apart("d", "i"));
  CHECK(!apart("f", "g"));
  CHECK(!branches.Conditional(at("a")));
  CHECK(branches.Conditional(at("i")));
  // However deep: the branches far within are those of the ifs far without.
  std::string deep;
  for (int i = 0; i < 1000; ++i) deep += "{% if target.name == 'dev' %}";
  deep += "p {% else %} q";
  for (int i = 1; i < 1000; ++i) deep += "{% endif %}";
  deep += " r {% else %} s {% endif %}";  // the tokens are views of it
  const SqlTokens far = TokenizeSql(deep);
  const SqlBranches within(far);
  const auto place = [&](const char* word) {
    std::size_t i = 0;
    while (far[i].text != word) ++i;
    return i;
  };
  CHECK(within.Exclusive(place("p"), place("q")));
  CHECK(within.Exclusive(place("p"), place("s")));
  CHECK(!within.Exclusive(place("q"), place("r")));
  CHECK(within.AsideOnly(place("q")));
  CHECK(!within.AsideOnly(place("s")));
}

TEST_CASE("the clause of every token in one pass") {
  const std::string sql =
      "with o as (select a from b where (c > d and (e = f))) select g from (h) join i on (j) = k ) l";
  const SqlTokens t = TokenizeSql(sql);
  const SqlClauses clauses(t);
  const auto at = [&](const char* word) {
    std::size_t i = 0;
    while (t[i].text != word) ++i;
    return i;
  };
  CHECK(clauses.Of(at("o")).closed);
  CHECK(clauses.Of(at("a")).word == "SELECT");
  CHECK(clauses.Of(at("e")).word == "(");
  CHECK(clauses.Outer(at("e")).word == "WHERE");
  CHECK(clauses.InTableExpression(at("e")));
  CHECK(clauses.Of(at("g")).word == "SELECT");
  CHECK(!clauses.InTableExpression(at("g")));
  CHECK(clauses.Outer(at("h")).word == "FROM");
  CHECK(clauses.Outer(at("j")).word == "ON");
  CHECK(clauses.Of(at("k")).word == "ON");
  CHECK(clauses.Of(at("l")).closed);  // behind a bracket that nothing opened
  CHECK(clauses.Depth(at("e")) == 3);
}
