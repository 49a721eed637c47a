// Grains that nobody stated: what shows them, what is offered, and that nothing is planned with it.

#include "analysis/suspicions.hpp"

#include <fmt/format.h>

#include "analysis/doubts.hpp"
#include "graph/base/yaml_text.hpp"
#include "graph/join/builder.hpp"
#include "ingest/dbt/signs.hpp"
#include "ingest/dbt/sql.hpp"
#include "render/view/stanzas.hpp"
#include "tests/unit/support.hpp"

using namespace backreach;

namespace {

struct Model {
  const char* config;
  const char* sql;
};

// A project of models m1, m2, ... that read the source raw.events.
LineageGraph ProjectOf(const std::vector<Model>& models, const std::string& adapter,
                       const std::string& registry = "", const std::string& more_nodes = "",
                       const std::string& catalog = "") {
  std::string nodes = more_nodes;
  for (std::size_t i = 0; i < models.size(); ++i)
    nodes += fmt::format(
        R"({0}"model.p.m{1}": {{"resource_type": "model", "name": "m{1}", "package_name": "p", "fqn": ["p", "m{1}"],
            "schema": "s", "alias": "m{1}", "config": {2}, "depends_on": {{"nodes": ["source.p.raw.events"]}},
            "raw_code": "{3}", "original_file_path": "models/m{1}.sql"}})",
        nodes.empty() ? "" : ", ", i + 1, models[i].config, models[i].sql);
  const std::string manifest =
      R"({"metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json", "project_name": "p",
        "adapter_type": ")" +
      adapter + R"("}, "nodes": {)" + nodes + R"(}, "sources": {"source.p.raw.events":
        {"resource_type": "source", "name": "events", "source_name": "raw", "package_name": "p", "schema": "raw",
         "identifier": "events"}}})";
  const Folder folder;
  Diagnostics diagnostics;
  ImportRequest request{{folder.Write("manifest.json", manifest)}, {}};
  if (!catalog.empty()) request.options["catalog"] = {folder.Write("catalog.json", catalog)};
  std::vector<SourceFacts> facts = Named("dbt").run(request, diagnostics);
  if (!registry.empty())
    for (SourceFacts& f : Named("registry").run({{folder.Write("registry.yml", registry)}, {}}, diagnostics))
      facts.push_back(std::move(f));
  REQUIRE_MESSAGE(!diagnostics.has_errors(), Format(diagnostics));
  return std::move(BuildGraph(std::move(facts)).graph);
}

const Dataset& Called(const LineageGraph& g, const std::string& name) {
  for (const Dataset& d : g.datasets)
    if (d.name == name) return d;
  throw std::runtime_error("no dataset " + name);
}

// "day by event_day", or "".
std::string GuessOf(const LineageGraph& g, const std::string& name) {
  const auto guess = GuessGrain(Called(g, name));
  return guess ? FormatGrain(guess->grain) + " by " + guess->column : "";
}

bool Has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("an expression of a config is about one column, cut to a unit") {
  const auto read = [](const char* text) {
    const auto by = ReadDbtLaidBy(text);
    return by ? by->column + (by->cut == Grain::Unit::kNone ? "" : " " + FormatGrain({by->cut, 1})) : "";
  };
  CHECK(read("created_at") == "created_at");
  CHECK(read("\"Created_At\"") == "created_at");
  CHECK(read("created_at::date") == "created_at day");
  CHECK(read("to_date(e.created_at)") == "created_at day");
  CHECK(read("date_trunc('month', created_at)") == "created_at month");
  CHECK(read("date_trunc(created_at, month)") == "created_at month");
  CHECK(read("cast(created_at as date)") == "created_at day");
  CHECK(read("toYYYYMM(event_time)") == "event_time month");
  CHECK(read("toStartOfHour(event_time)") == "event_time hour");
  CHECK(read("day") == "day");
  CHECK(read("a || b").empty());
  CHECK(read("{{ var('x') }}").empty());
}

TEST_CASE("the column of a watermark is named") {
  const auto columns = [](const char* sql) { return ReadSqlTraits(sql).watermark_columns; };
  using List = std::vector<std::string>;
  CHECK(columns("select * from s where ts > (select max(ts) from {{ this }})") == List{"ts"});
  CHECK(columns(
            "select * from s where ts > (select coalesce(max(t.\"Day\"), '1970-01-01') from {{ this }} t)") ==
        List{"day"});
  CHECK(columns("with m as (select max(ts::date) as mx from {{ this }}) select r.* from s r, m where r.ts > "
                "m.mx") == List{"ts"});
  CHECK(columns("select * from s where id not in (select id from {{ this }})").empty());
  CHECK(columns("select * from s").empty());
}

TEST_CASE("what shows a grain is offered, and nothing is planned with it") {
  const LineageGraph g = ProjectOf(
      {{R"({"materialized": "incremental", "unique_key": "id"})",
        "select id, happened_at from {{ source('raw', 'events') }} {% if is_incremental() %} where "
        "happened_at > (select "
        "max(happened_at) from {{ this }}) {% endif %}"},
       {R"({"materialized": "table"})",
        "select date_trunc('month', happened_at) as event_month, count(*) as n from {{ source('raw', "
        "'events') }} group by 1"},
       {R"({"materialized": "incremental", "incremental_strategy": "delete+insert", "unique_key": "report_date"})",
        "select report_date, n from {{ source('raw', 'events') }}"},
       {R"x({"materialized": "table", "cluster_by": ["to_date(happened_at)"]})x",
        "select id, happened_at from {{ source('raw', 'events') }}"},
       {R"({"materialized": "table"})", "select id, name from {{ source('raw', 'events') }}"},
       {R"({"materialized": "incremental", "unique_key": "id"})",
        "select id, _loaded_at from {{ source('raw', 'events') }} {% if is_incremental() %} where _loaded_at "
        "> (select "
        "max(_loaded_at) from {{ this }}) {% endif %}"},
       {R"({"materialized": "incremental", "unique_key": "id"})",
        "select id from {{ source('raw', 'events') }} {% if is_incremental() %} where id > (select max(id) "
        "from {{ this }}) "
        "{% endif %}"},
       {R"({"materialized": "table"})",
        "select id, cast(created_at as date) as created_on, cast(closed_at as date) as closed_on, date "
        "'2026-01-01' as "
        "made_date from {{ source('raw', 'events') }}"},
       {R"({"materialized": "table"})",
        "select id, cast('2026-01-01' as date) as made_date from {{ source('raw', 'events') }}"}},
      "snowflake");
  CHECK(GuessOf(g, "model.p.m8").empty());  // one of several, and nothing speaks for it
  CHECK(GuessOf(g, "model.p.m9").empty());  // the same on every row
  CHECK(GuessOf(g, "model.p.m1") == "day by happened_at");
  CHECK(GuessOf(g, "model.p.m2") == "month by event_month");
  CHECK(GuessOf(g, "model.p.m3") == "day by report_date");
  CHECK(GuessOf(g, "model.p.m4") == "day by happened_at");
  CHECK(GuessOf(g, "model.p.m5").empty());
  CHECK(GuessOf(g, "model.p.m6").empty());
  CHECK(GuessOf(g, "model.p.m7").empty());
  CHECK(GuessOf(g, "source.p.raw.events").empty());  // its readers take different columns
  const LineageGraph one =
      ProjectOf({{R"({"materialized": "table"})",
                  "select cast(happened_at as date) as day from {{ source('raw', 'events') }}"}},
                "snowflake");
  CHECK(GuessOf(one, "source.p.raw.events") == "day by happened_at");  // as its reader takes it
  for (const Dataset& d : g.datasets) {
    CHECK_FALSE(d.grain);
    CHECK_FALSE(d.layout);
  }
}

TEST_CASE("tests and the catalog speak for a column, and the catalog against one") {
  const std::string test =
      R"("test.p.unique_of_m1": {"resource_type": "test", "name": "unique_of_m1", "package_name": "p",
          "attached_node": "model.p.m1", "depends_on": {"nodes": ["model.p.m1"]}, "config": {},
          "test_metadata": {"name": "unique_combination_of_columns", "namespace": "dbt_utils",
            "kwargs": {"combination_of_columns": ["customer", "period_start"]}}})";
  const char* sql = "select customer, period_start from {{ source('raw', 'events') }}";
  const auto catalog = [](const char* type) {
    return fmt::format(
        R"({{"nodes": {{"model.p.m1": {{"metadata": {{"type": "BASE TABLE"}}, "columns": {{
            "PERIOD_START": {{"type": "{}"}}, "CUSTOMER": {{"type": "NUMBER"}}}}, "stats": {{}}}}}}, "sources": {{}}}})",
        type);
  };
  const Model model{R"({"materialized": "table"})", sql};
  CHECK(GuessOf(ProjectOf({model}, "snowflake", "", test, catalog("DATE")), "model.p.m1") ==
        "day by period_start");
  CHECK(GuessOf(ProjectOf({model}, "snowflake", "", test, catalog("NUMBER")), "model.p.m1").empty());
}

TEST_CASE("doubts come with entries that a registry takes, and are gone once they are taken") {
  const std::vector<Model> models = {{R"({"materialized": "incremental", "unique_key": "id"})",
                                      "select id, happened_at from {{ source('raw', 'events') }} {% if "
                                      "is_incremental() %} where happened_at > (select "
                                      "max(happened_at) from {{ this }}) {% endif %}"}};
  const LineageGraph g = ProjectOf(models, "snowflake");
  const std::vector<Doubt> doubts = FindDoubts(g, 1'780'000'000);
  REQUIRE(doubts.size() == 2);
  CHECK(g[doubts[0].dataset].name == "source.p.raw.events");  // more lies below it
  const RegistryDraft draft = DraftRegistry(g, doubts, 10, "");
  CHECK(draft.entries == 2);
  CHECK(Has(draft.text, "  #- {name: model.p.m1, partitions: {grain: day, column: happened_at}}\n"));
  CHECK(Has(draft.text, "  # 1 table; an ordinary run takes what is newer than the newest happened_at"));
  CHECK(DraftRegistry(g, doubts, 10, draft.text).entries == 0);  // a second time nothing is new
  Diagnostics diagnostics;
  CHECK(ReadRegistryText("draft.yml", draft.text, diagnostics)->facts.datasets.empty());
  REQUIRE(ReadRegistryText("draft.yml", Taken(draft.text), diagnostics));
  const LineageGraph taken = ProjectOf(models, "snowflake", Taken(draft.text));
  CHECK(Called(taken, "model.p.m1").layout);
  CHECK(FindDoubts(taken, 1'780'000'000).empty());
  // An entry of that name would stand twice: it is to be added to.
  const LineageGraph half =
      ProjectOf(models, "snowflake", "backreach: 1\ndatasets:\n  - {name: m1, owner: ann}\n");
  const RegistryDraft added = DraftRegistry(half, FindDoubts(half, 1'780'000'000), 10, "");
  CHECK(Has(added.text,
            "  # add to the entry in registry.yml:3: partitions: {grain: day, column: happened_at}\n"));
}

TEST_CASE("names are texts of YAML, whatever is in them") {
  for (const std::string name : {"plain.name_1", "no", "1.5", "a: b", "#x", "quo\"te\\", "line\nbreak",
                                 "\u202Eover", "umläut", "- dash", "{}", "", "~", "a,b", "x]y"}) {
    Diagnostics diagnostics;
    const auto read = ReadRegistryText(
        "names.yml", "backreach: 1\nedges:\n  - {from: " + YamlText(name) + ", to: b}\n", diagnostics);
    REQUIRE_MESSAGE(read, name << ": " << Format(diagnostics));
    CHECK(read->facts.edges[0].from == name);
  }
}

TEST_CASE("an entry for a selector holds for what matches, and a name beats it") {
  const std::vector<Model> models = {{R"({"materialized": "table", "tags": ["daily"]})", "select 1"},
                                     {R"({"materialized": "table"})", "select 2"}};
  const LineageGraph g = ProjectOf(models, "duckdb",
                                   "backreach: 1\ndatasets:\n"
                                   "  - {select: 'm*', partitions: day, owner: everybody}\n"
                                   "  - {name: m2, partitions: month}\n"
                                   "  - {select: 'tag:nobody', partitions: hour}\n"
                                   "  - {name: m3, partitions: day}\n"
                                   "  - {name: outside, kind: external}\n");
  CHECK(FormatGrain(*Called(g, "model.p.m1").grain) == "day");
  CHECK(Called(g, "model.p.m2").owner == "everybody");
  CHECK(FormatGrain(*Called(g, "model.p.m2").grain) == "month");
  CHECK_FALSE(Called(g, "source.p.raw.events").grain);
  REQUIRE(g.unknown_names.size() == 2);
  CHECK(UnknownNameText(g.unknown_names[0]) ==
        "registry.yml:6: note: no other source knows the dataset 'm3'; nearest: m1, m2");
  CHECK(UnknownNameText(g.unknown_names[1]) ==
        "registry.yml:5: note: the selector 'tag:nobody' matches nothing");
}
