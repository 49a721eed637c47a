// Refs of a microbatch model that dbt cannot cut to the batch, and what semantic queries read beside.

#include "ingest/dbt_refs.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <simdjson.h>

#include "graph/words.hpp"
#include "ingest/dbt_semantics.hpp"

using namespace backreach;

namespace {

std::string Found(const std::string& sql, const MacroBodies& macros = {}) {
  std::vector<std::string> out;
  for (const RenderedRef& ref : FindRenderedRefs(sql, macros))
    out.push_back(fmt::format(
        "{}{}{}{}:{}", ref.source ? "source " : "", ref.words.empty() ? "?" : Join(ref.words, "."),
        ref.version.empty() ? "" : "@" + ref.version, ref.macro.empty() ? "" : " in " + ref.macro, ref.line));
  return Join(out, "; ");
}

}  // namespace

TEST_CASE("dbt: a ref whose name alone is taken is not cut to the batch") {
  struct Case {
    const char *sql, *found;
  };
  for (const Case& c : std::vector<Case>{
           {"select * from {{ ref('a') }}", ""},
           {"select *\nfrom {{ ref('a').render() }}", "a:2"},
           {"select * from {{ ref('a') }} union all select * from {{ ref('p', 'a', v=2).render() }}",
            "p.a@2:1"},
           {"select * from {{ source('raw', 'b').include(database=false).render() }}", "source raw.b:1"},
           {"select * from {{ ref('a').include(database=false) }}", ""},
           {"{% set r = ref('a') %}\nselect * from {{ r.render() }}", "a:2"},
           {"{% set r = ref('a') %}\nselect * from {{ r }}", ""},
           {"{% for r in [ref('a'), ref('b')] %}\nselect * from {{ r.render() }} {% endfor %}", "a:2; b:2"},
           {"{% set t = ref('a').render() %} select * from {{ t }}", "a:1"},
           {"select * from {{ ref('a').schema }}.{{ ref('a').identifier }}", "a:1"},
           {"select * from {{ this.render() }} -- {{ ref('a').render() }}", ""},
           {"{# {{ ref('a').render() }} #} select 1", ""},
           {"select * from {{ found().render() }}", "?:1"},
           {"select * from {{ builtins.ref('a').render() }}", "a:1"}})
    CHECK_MESSAGE(Found(c.sql) == c.found, c.sql << " gives " << Found(c.sql));
  const MacroBodies macros = {
      {"history", "{% macro history(rel, n=7) %} select * from {{ rel.render() }} {% endmacro %}"},
      {"outer", "{% macro outer(x) %} {{ history(n=3, rel=x) }} {% endmacro %}"},
      {"fixed", "{% macro fixed() %} {{ ref('c').render() }} {% endmacro %}"},
      {"cut", "{% macro cut(rel) %} select * from {{ rel }} {% endmacro %}"},
      {"loop", "{% macro loop(rel) %} {{ loop(rel) }} {% endmacro %}"},
      {"the_ref", "{% macro the_ref() %}{{ return(ref('d')) }}{% endmacro %}"}};
  CHECK(Found("select 1;\n{{ history(ref('a')) }}", macros) == "a in history:2");
  CHECK(Found("{{ outer(ref('a')) }} {{ fixed() }}", macros) == "a in outer:1; c in fixed:1");
  CHECK(Found("{{ cut(ref('a')) }} {{ loop(ref('a')) }}", macros) == "");
  CHECK(Found("{{ the_ref().render() }}", macros) == "d:1");
}

TEST_CASE("dbt: what a query groups or filters by leads to the models that have it") {
  simdjson::dom::parser parser;
  DbtSemantics semantics;
  const auto node = [&](const std::string& text) {
    return json::Fields(parser.parse(simdjson::padded_string(text)));
  };
  semantics.Model(
      "fares",
      node(R"j({"entities": [{"name": "ride", "type": "primary"}, {"name": "zone", "type": "foreign"}],
      "dimensions": [{"name": "ride_day"}, {"name": "kind"}]})j"));
  semantics.Model(
      "zones",
      node(R"j({"entities": [{"name": "zone", "type": "primary"}, {"name": "region", "type": "foreign"}],
      "dimensions": [{"name": "zone_name"}, {"name": "kind"}]})j"));
  semantics.Model(
      "regions",
      node(R"j({"primary_entity": "region", "entities": [], "dimensions": [{"name": "region_name"}]})j"));
  semantics.Query("metrics", "metric.m", node(R"j({"name": "m", "filter": {"where_filters": [
      {"where_sql_template": "{{ Dimension('zone__kind') }} = 'x'"}]}})j"));
  const auto query = [&](const std::string& id, const std::string& params) {
    semantics.Query("saved_queries", id, node("{\"query_params\": " + params + "}"));
  };
  query("own", R"j({"group_by": ["TimeDimension('ride__ride_day', 'day')", "Entity('zone')", "metric_time"]
})j");
  query("other", R"j({"group_by": ["Dimension('zone__zone_name')"]
})j");
  query("far", R"j({"group_by": ["Dimension('zone__region__region_name')"]
})j");
  query("path", R"j({"group_by": ["Dimension('region_name', entity_path=['zone', 'region'])"]
})j");
  query("bare", R"j({"group_by": ["zone__zone_name", "ride__ride_day__month"]})j");
query(
    "filter",
    R"j({"group_by": [], "where": {"where_filters": [{"where_sql_template": "{{ Metric('m', ['zone']) }} > 1"}]}})j");
  query("gone", R"j({"group_by": ["Dimension('zone__colour')"]
  })j");
  std::unordered_map<std::string, std::vector<std::string>> passages;
  for (const char* id : {"own", "other", "far", "path", "bare", "gone"}) passages[id] = {"metric.m2"};
  passages["metric.m2"] = {"fares"};
  const auto left = semantics.Resolve(passages);
  const auto beside = [&](const char* id) {
    std::vector<std::string> out = passages[id];
    std::erase(out, "metric.m2");
    return Join(out, " ");
  };
  CHECK(beside("own") == "fares");
  CHECK(beside("other") == "zones");
  CHECK(beside("far") == "regions zones");
  CHECK(beside("path") == "regions zones");
  CHECK(beside("bare") == "fares zones");
  CHECK(beside("filter") == "metric.m");
  CHECK(beside("metric.m") == "zones");
  REQUIRE(left.size() == 1);
  CHECK(left[0].query == "gone");
  CHECK(left[0].name == "zone__colour");
  }
