// What a model's SQL, and the macros that it calls, say about a rerun.

#include <doctest/doctest.h>

#include "ingest/dbt_sql.hpp"

using namespace backreach;

TEST_CASE("a model that filters by itself has a watermark; one that only looks like it has none") {
  for (const char* sql : {"select * from s where ts > (select max(ts) from {{ this }})",
                          "select * from s where ts >= (select max(ts) - interval '3 days' from {{ this }})",
                          "select * from s where id not in (select id from {{ this }})",
                          "select * from s where not exists (select 1 from {{ this }} t where t.id = s.id)",
                          "select s.* from s left join {{ this }} t on s.id = t.id where t.id is null",
                          "with last as (select max(ts) as ts from {{ this }}) select * from s where ts > "
                          "(select ts from last)",
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
        "select * from s where day >= '{{ var(\"from\") }}'"})
    CHECK_MESSAGE(!ReadSqlTraits(sql).watermark, sql);
}

TEST_CASE("its own rows as values are a dependency on itself") {
  for (const char* sql : {"select day, amount + coalesce((select max(total) from {{ this }} where day < "
                          "'2026-01-01'), 0) as total from d",
                          "select * from s union all select * from {{ this }}",
                          "select s.*, t.first_seen from s join {{ this }} t using (id)"}) {
    const SqlTraits t = ReadSqlTraits(sql);
    CHECK_MESSAGE(t.reads_itself, sql);
    CHECK_MESSAGE(!t.watermark, sql);
  }
}

TEST_CASE("bounds by the run's date, and variables") {
  CHECK(ReadSqlTraits("select * from s where d >= date_sub(current_date(), 3)").date_bound_days == 3);
  CHECK(ReadSqlTraits("select * from s where d >= current_date - interval '2 weeks'").date_bound_days == 14);
  CHECK(
      ReadSqlTraits("select * from s where ts > dateadd('hour', -48, current_timestamp())").date_bound_days ==
      2);
  CHECK_FALSE(ReadSqlTraits("select current_date as today from s where d >= '2026-01-01'").date_bound_days);
  CHECK(ReadSqlTraits("select * from s where d >= '{{ var(\"day_from\") }}' and d < {{ var('day_to') }}")
            .variables == std::vector<std::string>{"day_from", "day_to"});
}

TEST_CASE("predicates that bound the target side in time, and those that do not") {
  CHECK(ReadPredicate("DBT_INTERNAL_DEST.day >= dateadd(day, -7, current_date)").days == 7);
  CHECK(ReadPredicate("order_ts >= current_date - 7").days == 7);
  CHECK(ReadPredicate("DBT_INTERNAL_DEST.block_time >= now() - interval '3' day").days == 3);
  CHECK(ReadPredicate("day > '2026-01-01'").bounds);
  CHECK_FALSE(ReadPredicate("DBT_INTERNAL_DEST.day = DBT_INTERNAL_SOURCE.day").bounds);
  CHECK_FALSE(ReadPredicate("region = 'eu'").bounds);
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
  CHECK(ReadSqlTraits("select * from a where x = '{{ env_var('DAY') }}'").variables.empty());
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
  CHECK(ReadSqlTraits(bound).date_bound_days == 3);
  CHECK(ReadSqlTraits(bound).instead_of_bound == std::vector<std::string>{"day_from"});
}
