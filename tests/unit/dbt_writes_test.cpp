// How dbt writes: adapter by strategy by key, overwrites, partitions.

#include "ingest/dbt/writes.hpp"

#include <doctest/doctest.h>

#include "ingest/dbt/partitions.hpp"

using namespace backreach;

namespace {

DbtWriteConfig Incremental(const char* adapter, const char* strategy, bool keyed, bool partitioned = true) {
  DbtWriteConfig c;
  c.adapter = adapter;
  c.materialized = "incremental";
  c.strategy = strategy;
  c.key_given = keyed;
  if (keyed) c.key = {"id"};
  c.partitioned = partitioned;
  return c;
}

}  // namespace

TEST_CASE("dbt: what every adapter's strategies do, with a key and without one") {
  // For each strategy (`` is the adapter's default): with a unique_key, without one.
  struct Row {
    const char *adapter, *strategy, *keyed, *plain;
  };
  const Row rows[] = {{"snowflake", "", "merge", "append"},
                      {"snowflake", "append", "append", "append"},
                      {"snowflake", "merge", "merge", "append"},
                      {"snowflake", "delete+insert", "delete_insert", "append"},
                      {"snowflake", "microbatch", "replace", "replace"},
                      {"snowflake", "insert_overwrite", "whole", "whole"},
                      {"bigquery", "", "merge", "append"},
                      {"bigquery", "append", "unknown", "unknown"},
                      {"bigquery", "merge", "merge", "append"},
                      {"bigquery", "insert_overwrite", "dynamic_overwrite", "dynamic_overwrite"},
                      {"bigquery", "microbatch", "dynamic_overwrite", "dynamic_overwrite"},
                      {"bigquery", "delete+insert", "unknown", "unknown"},
                      {"postgres", "", "delete_insert", "append"},
                      {"postgres", "append", "append", "append"},
                      {"postgres", "merge", "merge", "append"},
                      {"postgres", "delete+insert", "delete_insert", "append"},
                      {"postgres", "microbatch", "merge", "append"},
                      {"postgres", "insert_overwrite", "unknown", "unknown"},
                      {"redshift", "", "delete_insert", "append"},
                      {"redshift", "append", "append", "append"},
                      {"redshift", "merge", "merge", "append"},
                      {"redshift", "delete+insert", "delete_insert", "append"},
                      {"redshift", "microbatch", "replace", "replace"},
                      {"databricks", "", "merge", "append"},
                      {"databricks", "append", "append", "append"},
                      {"databricks", "merge", "merge", "append"},
                      {"databricks", "insert_overwrite", "dynamic_overwrite", "dynamic_overwrite"},
                      {"databricks", "delete+insert", "delete_insert", "append"},
                      {"databricks", "microbatch", "replace", "replace"},
                      {"spark", "", "append", "append"},
                      {"spark", "append", "append", "append"},
                      {"spark", "merge", "merge", "append"},
                      {"spark", "insert_overwrite", "dynamic_overwrite", "dynamic_overwrite"},
                      {"spark", "microbatch", "dynamic_overwrite", "dynamic_overwrite"},
                      {"duckdb", "", "delete_insert", "append"},
                      {"duckdb", "append", "append", "append"},
                      {"duckdb", "merge", "merge", "append"},
                      {"duckdb", "delete+insert", "delete_insert", "append"},
                      {"duckdb", "microbatch", "replace", "replace"},
                      {"duckdb", "my_own", "unknown", "unknown"},
                      {"athena", "", "dynamic_overwrite", "dynamic_overwrite"},
                      {"athena", "append", "append", "append"},
                      {"athena", "insert_overwrite", "dynamic_overwrite", "dynamic_overwrite"},
                      {"athena", "microbatch", "dynamic_overwrite", "dynamic_overwrite"},
                      {"trino", "", "append", "append"},
                      {"trino", "append", "append", "append"},
                      {"trino", "merge", "merge", "append"},
                      {"trino", "delete+insert", "delete_insert", "append"},
                      {"trino", "microbatch", "replace", "replace"},
                      {"clickhouse", "", "delete_insert", "append"},
                      {"clickhouse", "append", "append", "append"},
                      {"clickhouse", "delete_insert", "delete_insert", "append"},
                      {"clickhouse", "delete+insert", "delete_insert", "append"},
                      {"clickhouse", "legacy", "merge", "append"},
                      {"clickhouse", "insert_overwrite", "dynamic_overwrite", "dynamic_overwrite"},
                      {"clickhouse", "microbatch", "delete_insert", "append"},
                      {"sqlserver", "", "merge", "append"},
                      {"sqlserver", "append", "append", "append"},
                      {"sqlserver", "delete+insert", "delete_insert", "append"},
                      {"sqlserver", "merge", "merge", "append"},
                      {"sqlserver", "microbatch", "replace", "replace"},
                      {"fabric", "", "merge", "append"},
                      {"fabric", "append", "append", "append"},
                      {"fabric", "delete+insert", "delete_insert", "append"},
                      {"fabric", "merge", "merge", "append"},
                      {"fabric", "microbatch", "merge", "replace"},
                      {"teradata", "", "unknown", "unknown"}};
  for (const Row& r : rows)
    for (const bool keyed : {true, false}) {
      const DbtWrite w = ResolveDbtWrite(Incremental(r.adapter, r.strategy, keyed));
      CAPTURE(r.adapter);
      CAPTURE(r.strategy);
      CAPTURE(keyed);
      CHECK(w.mode == (keyed ? r.keyed : r.plain));
      CHECK_FALSE(w.why.empty());
      CHECK((w.mode == "merge" || w.mode == "delete_insert") ==
            !w.key.empty());  // a key that is not used is none
    }
}

TEST_CASE("dbt: overwrites are of partitions, of listed ones, or of the whole table") {
  const auto mode = [](const DbtWriteConfig& config) { return ResolveDbtWrite(config).mode; };
  for (const char* adapter : {"spark", "databricks", "bigquery"})
    CHECK(mode(Incremental(adapter, "insert_overwrite", false, false)) == "whole");
  CHECK(mode(Incremental("athena", "", true, false)) == "append");
  CHECK(mode(Incremental("athena", "insert_overwrite", true, false)) == "append");
  DbtWriteConfig c = Incremental("bigquery", "insert_overwrite", false);
  c.static_partitions = true;
  CHECK(mode(c) == "replace");
  c = Incremental("databricks", "insert_overwrite", false, false);
  c.clustered = true;
  CHECK(mode(c) == "dynamic_overwrite");
  c = Incremental("databricks", "replace_where", false);
  CHECK(mode(c) == "whole");
  c.has_predicates = true;
  CHECK(mode(c) == "replace");
  c = Incremental("athena", "", true);
  c.table_type = "iceberg";
  CHECK(mode(c) == "unknown");
  c.strategy = "microbatch";
  CHECK(mode(c) == "merge");
  c = Incremental("clickhouse", "", true);
  c.inserts_only = true;
  CHECK(mode(c) == "append");
}

TEST_CASE("dbt: other materializations") {
  const auto mode = [](const char* materialized) {
    DbtWriteConfig c;
    c.adapter = "snowflake";
    c.materialized = materialized;
    return ResolveDbtWrite(c).mode;
  };
  CHECK(mode("table") == "whole");
  CHECK(mode("seed") == "whole");
  CHECK(mode("snapshot") == "snapshot");
  for (const char* word : {"materialized_view", "dynamic_table", "streaming_table"})
    CHECK(mode(word) == "refresh");
  CHECK(mode("view") == "none");
  CHECK(mode("incremental_snapshot") == "unknown");
}

TEST_CASE("dbt: partition configs that name a unit of time, by adapter") {
  const auto grain = [](const char* adapter, std::vector<std::string> texts) {
    const auto p = ReadDbtPartition({adapter, "", "", "", std::move(texts)});
    return p ? p->grain + " of " + p->column + (p->utc ? " in UTC" : "") : std::string("none");
  };
  CHECK(grain("athena", {"day(created_at)"}) == "day of created_at in UTC");
  CHECK(grain("athena", {"bucket(8, user_id)", "month(ts)"}) == "month of ts in UTC");
  CHECK(grain("athena", {"year(ts)", "day(ts)"}) == "day of ts in UTC");
  CHECK(grain("trino", {"ARRAY['hour(ts)', 'country']"}) == "hour of ts in UTC");
  CHECK(grain("spark", {"days(ts)"}) == "day of ts in UTC");
  CHECK(grain("databricks", {"event_date"}) == "none");
  CHECK(grain("clickhouse", {"toStartOfMonth(date)"}) == "month of date");
  CHECK(grain("clickhouse", {"toYYYYMM(`block_time`)"}) == "month of block_time");
  CHECK(grain("clickhouse", {"(toMonday(d), sipHash64(x) % 8)"}) == "week of d");
  CHECK(grain("clickhouse", {"toStartOfMonth(addDays(date, 1))"}) ==
        "none");                                    // of another day than the column's
  CHECK(grain("duckdb", {"month(ts)"}) == "none");  // a month of any year
  CHECK(grain("postgres", {"day(ts)"}) == "none");  // the adapter does not read it
  const auto bigquery = [](const char* granularity, const char* type) {
    const auto p = ReadDbtPartition({"bigquery", "d", granularity, type, {}});
    return p ? p->grain + (p->utc ? " in UTC" : "") : std::string("none");
  };
  CHECK(bigquery("", "date") == "day");
  CHECK(bigquery("month", "timestamp") == "month in UTC");
  CHECK(bigquery("", "int64") == "none");
  CHECK(bigquery("decade", "date") == "none");
}

TEST_CASE("dbt: who refreshes what the platform keeps up to date") {
  const auto by = [](const char* adapter, const char* materialized, auto set) {
    DbtWriteConfig c;
    c.adapter = adapter;
    c.materialized = materialized;
    set(c);
    const DbtWrite write = ResolveDbtWrite(c);
    return write.mode + " " + write.refreshed;
  };
  const auto nothing = [](DbtWriteConfig&) {};
  CHECK(by("clickhouse", "materialized_view", nothing) == "append trigger");
  CHECK(by("clickhouse", "materialized_view", [](auto& c) { c.refreshable = true; }) == "refresh itself");
  CHECK(by("postgres", "materialized_view", nothing) == "refresh told");
  CHECK(by("redshift", "materialized_view", nothing) == "refresh told");
  CHECK(by("redshift", "materialized_view", [](auto& c) { c.auto_refresh = true; }) == "refresh itself");
  CHECK(by("bigquery", "materialized_view", nothing) == "refresh itself");
  CHECK(by("bigquery", "materialized_view", [](auto& c) { c.auto_refresh = false; }) == "refresh told");
  CHECK(by("databricks", "streaming_table", nothing) == "refresh told");
  CHECK(by("databricks", "streaming_table", [](auto& c) { c.scheduled = true; }) == "refresh itself");
  CHECK(by("snowflake", "dynamic_table", nothing) == "refresh told");
  CHECK(by("snowflake", "dynamic_table", [](auto& c) { c.target_lag = true; }) == "refresh itself");
  CHECK(by("snowflake", "dynamic_table", [](auto& c) { c.target_lag = c.scheduler_off = true; }) ==
        "refresh told");
}
