// Refs of a microbatch model that dbt cannot cut to the batch, and what semantic queries read beside.

#include "ingest/dbt/refs.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "graph/base/words.hpp"
#include "tests/unit/support.hpp"

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
    CHECK_MESSAGE(Found(c.sql) == std::string(c.found), std::string(c.sql));
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

TEST_CASE("dbt: what a saved query groups or filters by leads to the models that have it") {
  const auto semantic = [](const std::string& name, const std::string& rest) {
    return fmt::format(R"j("semantic_model.p.{0}": {{"resource_type": "semantic_model", "name": "{0}",
        "depends_on": {{"nodes": ["model.p.{0}"]}}, {1}}})j",
                       name, rest);
  };
  std::string nodes, queries;
  for (const char* name : {"fares", "zones", "regions", "others"})
    nodes += fmt::format(R"j({}"model.p.{}": {{"resource_type": "model", "name": "{}", "package_name": "p",
        "depends_on": {{"nodes": []}}, "raw_code": "select 1"}})j",
                         nodes.empty() ? "" : ",", name, name);
  const auto of = [&](const std::string& params) {
    const Folder folder;
    Diagnostics diagnostics;
    const std::string manifest =
        R"j({"metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json",
             "project_name": "p"}, "nodes": {)j" +
        nodes + R"j(}, "semantic_models": {)j" +
        semantic("fares",
                 R"j("entities": [{"name": "ride", "type": "primary"}, {"name": "zone", "type": "foreign"}],
                              "dimensions": [{"name": "ride_day"}, {"name": "kind"}])j") +
        "," +
        semantic("zones",
                 R"j("entities": [{"name": "zone", "type": "primary"}, {"name": "region", "type": "foreign"}],
                              "dimensions": [{"name": "zone_name"}, {"name": "kind"}])j") +
        "," +
        semantic("regions",
                 R"j("primary_entity": "region", "entities": [], "dimensions": [{"name": "region_name"}])j") +
        "," + semantic("others", R"j("entities": [], "dimensions": [{"name": "colour"}])j") +
        R"j(}, "metrics": {
          "metric.p.m": {"name": "m", "depends_on": {"nodes": ["semantic_model.p.fares"]}},
          "metric.p.odd": {"name": "odd", "depends_on": {"nodes": ["semantic_model.p.fares"]},
             "filter": {"where_filters": [{"where_sql_template": "{{ Dimension('zone__kind') }} = 'x'"}]}}},
        "saved_queries": {"saved_query.p.q": {"name": "q", "depends_on": {"nodes": ["metric.p.m"]},
          "exports": [{"name": "x", "config": {"export_as": "table"}}], "query_params": )j" +
        params + "}}, \"sources\": {}}";
    const auto facts = Named("dbt").run({{folder.Write("manifest.json", manifest)}, {}}, diagnostics);
    REQUIRE_MESSAGE(facts.size() == 1, Format(diagnostics));
    REQUIRE(facts[0].facts.copies.size() == 1);
    std::vector<std::string> out = facts[0].facts.copies[0].of;
    for (std::string& name : out) name = name.substr(8);
    std::sort(out.begin(), out.end());
    for (const UnresolvedFact& u : facts[0].facts.unresolved) out.push_back("? " + u.name);
    return Join(out, " ");
  };
  CHECK(
      of(R"j({"group_by": ["TimeDimension('ride__ride_day', 'day')", "Entity('zone')", "metric_time"]})j") ==
      "fares");
  CHECK(of(R"j({"group_by": ["Dimension('zone__zone_name')"]})j") == "fares zones");
  CHECK(of(R"j({"group_by": ["Dimension('zone__region__region_name')"]})j") == "fares regions zones");
  CHECK(of(R"j({"group_by": ["Dimension('region_name', entity_path=['zone', 'region'])"]})j") ==
        "fares regions zones");
  CHECK(of(R"j({"group_by": ["zone__zone_name", "ride__ride_day__month"]})j") == "fares zones");
  CHECK(
      of(R"j({"where": {"where_filters": [{"where_sql_template": "{{ Metric('odd', ['ride']) }} > 1"}]}})j") ==
      "fares zones");
  CHECK(of(R"j({"group_by": ["Dimension('zone__shade')"]})j") == "fares ? zone__shade");
}
