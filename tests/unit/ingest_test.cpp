// Importers and the builder: joining, names, messages.

#include <doctest/doctest.h>

#include "graph/base/words.hpp"
#include "graph/join/builder.hpp"
#include "graph/names/names.hpp"
#include "graph/selection/packed_nodes.hpp"
#include "ingest/dbt/hooks.hpp"
#include "ingest/importer.hpp"
#include "ingest/read/json_split.hpp"
#include "ingest/sql/scan.hpp"
#include "tests/unit/support.hpp"

using namespace backreach;

namespace {

std::string Complaint(const std::string& importer, const std::string& text,
                      const std::string& file = "in.yml") {
  Folder folder;
  Diagnostics diagnostics;
  Named(importer).run({{folder.Write(file, text)}, {}}, diagnostics);
  return Format(diagnostics);
}

LineageGraph GraphOf(const std::string& registry) {
  Folder folder;
  Diagnostics diagnostics;
  auto facts = Named("registry").run({{folder.Write("registry.yml", registry)}, {}}, diagnostics);
  REQUIRE_MESSAGE(!diagnostics.has_errors(), Format(diagnostics));
  return std::move(BuildGraph(std::move(facts)).graph);
}

bool Has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("the splitter hands out members, and says where a document breaks") {
  const std::string text =
      R"({"a": {"x": "}\"{", "y": [1, {"z": 2}]}, "b": "st\\\"ring", "c": [], "d": -1.5e3 })";
  ObjectSplitter top(text, 0);
  std::vector<std::pair<std::string, std::string>> found;
  while (top.Next()) {
    std::string_view value;
    REQUIRE(top.Value(value));
    found.emplace_back(top.key(), value);
  }
  CHECK_FALSE(top.error());
  REQUIRE(found.size() == 4);
  CHECK(found[0].second == R"({"x": "}\"{", "y": [1, {"z": 2}]})");
  CHECK(found[1].second == R"("st\\\"ring")");
  CHECK(found[3].second == "-1.5e3");
  for (std::size_t cut = 1; cut + 1 < text.size(); ++cut) {
    ObjectSplitter broken(std::string_view(text).substr(0, cut), 0);
    std::string_view value;
    while (broken.Next() && broken.Value(value)) {
    }
    CHECK_MESSAGE(broken.error(), "cut at " << cut);
  }
}

TEST_CASE("values longer than the splitter's blocks, with escapes across their borders") {
  for (std::size_t pad = 0; pad < 140; ++pad) {
    const std::string value =
        "{\"k\": \"" + std::string(pad, 'x') + "\\\\\\\"}\", \"l\": [[" + std::string(pad, ' ') + "]]}";
    CHECK(SkipJsonValue(value + ", 1", 0) == value.size());
    CHECK(SkipJsonValue(value.substr(0, value.size() - 1), 0) == std::string::npos);
  }
}

TEST_CASE("SQL: what is read, what leaves, what only looks like it") {
  const auto names = [](const std::string& sql) {
    std::vector<std::string> out;
    for (const SqlTable& t : TablesRead(sql)) out.push_back(t.name);
    return out;
  };
  CHECK(names("select * from a.b join \"C\".d using (x) -- from z") ==
        std::vector<std::string>{"a.b", "C.d"});
  CHECK(names("with q as (select 1 from t) select * from q, u as v, w") ==
        std::vector<std::string>{"t", "u", "w"});
  CHECK(names("select extract(day from ts), 'from x' from s.t where a is distinct from b") ==
        std::vector<std::string>{"s.t"});
  CHECK(names("select * from {{ ref('orders') }} o {# from no #}") ==
        std::vector<std::string>{"ref('orders')"});
  CHECK(names("select * from unnest(x) u, real r") == std::vector<std::string>{"real"});
  const auto leaves = [](const std::string& sql) {
    const auto found = FindExports(sql);
    return found.empty() ? std::string()
                         : found[0].how + " " + (found[0].tables.empty() ? "?" : found[0].tables[0].name) +
                               " -> " + found[0].destination;
  };
  CHECK(leaves("copy into @exports/daily/ from {{ this }} file_format = (type = csv)") ==
        "COPY INTO this -> @exports/daily/");
  CHECK(leaves("unload ('select * from m.t where a = ''x''') to 's3://b/k' iam_role 'r'") ==
        "UNLOAD m.t -> s3://b/k");
  CHECK(leaves("export data options (uri='gs://b/*.csv') as select * from p.d.t") ==
        "EXPORT DATA p.d.t -> gs://b/*.csv");
  CHECK(leaves("copy (select * from t) to '/tmp/x.csv'") == "COPY TO t -> /tmp/x.csv");
  CHECK(leaves("create table frozen clone shop.orders") == "CLONE shop.orders -> frozen");
  CHECK(leaves("copy into t from @stage") == "");
  CHECK(leaves("-- copy into @x from t\nselect 'unload (''select 1'') to ''s3://b'''") == "");
  const auto does = [](const char* sql) { return Join(SideEffects(sql), "; "); };
  CHECK(does("grant select on t to r; call notify_finance(1); insert into audit.log select 1") ==
        "calls notify_finance; also writes audit.log");
  CHECK(does("create or replace table old.t as select * from {{ this }}") == "also writes old.t");
  CHECK(does("update other.t set x = 1; delete from other.t; truncate table other.u") ==
        "also changes other.t; also takes rows from other.t; also takes rows from other.u");
  CHECK(does("alter table a swap with b; alter dynamic table d refresh; refresh materialized view m") ==
        "also swaps a; also refreshes d; also refreshes m");
  CHECK(does("execute immediate 'copy into @out from t'") == "writes out to @out (COPY INTO)");
  CHECK(does("execute immediate 'insert into a.b select 1'") == "also writes a.b");
  CHECK(does("execute immediate $text") == "runs a statement that is made up at run time");
  CHECK(does("execute task nightly") == "starts nightly");
  for (const char* none :
       {"create temporary table x as select 1", "create table if not exists x as select 1",
        "create view v as select 1", "create table x (a int)",
        "delete from {{ this }} where day < current_date - 400", "update {{ this }} set a = 1",
        "refresh table x", "insert overwrite local directory '/tmp/x' select 1",
        "alter table {{ this }} cluster by (day)", "alter session set x = 1", "analyze x",
        "drop table if exists x", "set x = 1", "optimize x"})
    CHECK_MESSAGE(does(none) == "", none);
}

TEST_CASE("names: exact beats folded, which beats a unique last part; quotes are identifiers") {
  NameIndex index;
  index.Add("model.shop.orders", 1, true);
  index.Add("shop.public.orders", 1, true);
  index.Add("model.shop.order_lines", 2, true);
  index.Add("source.shop.raw.orders", 3, true);
  index.Add("Orders", 4, true);
  index.Add("model.shop.dim.v1", 5, true);
  CHECK(index.Find("Orders").found == 4u);
  CHECK(index.Find("orders").found == 4u);  // folded, and exact names of others do not interfere
  CHECK(index.Find("shop.orders").found == 1u);
  CHECK(index.Find("raw.orders").found == 3u);
  CHECK(index.Find("\"shop\".\"public\".\"orders\"").found == 1u);
  CHECK(index.Find("[shop].[public].[orders]").found == 1u);
  CHECK_FALSE(index.Find("lines").found);  // a last part begins at a dot or a slash
  CHECK(Has(Join(index.Near("order_line"), " "), "order_lines"));
  CHECK(CanonicalUri("S3://Bucket/Path//x") == "s3://bucket/Path//x");
  CHECK(Unquoted("\"a\"\"b\".`c`") == "a\"b.c");
}

TEST_CASE("a registry's faults are named with line, word and what to do") {
  CHECK(Has(Complaint("registry", "backreach: 1\ndatasets:\n  - {name: a, retension: 90d}\n"),
            "in.yml:3:15: error: unknown key 'retension' in dataset 'a'"));
  CHECK(Has(Complaint("registry", "backreach: 1\ndatasets:\n  - {name: a, retension: 90d}\n"),
            "did you mean 'retention'?"));
  CHECK(Has(Complaint("registry", "backreach: 1\ndatasets:\n\t- name: a\n"), "tab"));
  CHECK(Has(Complaint("registry", ""), "not a registry"));
  CHECK(Has(Complaint("registry", "[1, 2]"), "not a registry"));
  CHECK(Has(Complaint("registry", "datasets: []\n"), "backreach: 1"));
  CHECK(Has(Complaint("registry", "backreach: 2\n"), "version '2'"));
  CHECK(Has(
      Complaint("registry",
                "backreach: 1\ndatasets:\n  - {name: a, partitions: {grain: day, timezone: Mars/Base}}\n"),
      "unknown time zone 'Mars/Base'"));
  CHECK(
      Has(Complaint("registry",
                    "backreach: 1\ndatasets:\n  - {name: a, partitions: {grain: day, first: 2026-02-30}}\n"),
          "2026-02 has 28 days"));
  CHECK(Has(Complaint("registry", "backreach: 1\nedges:\n  - {from: a, to: b, reads: {window: [1, -1]}}\n"),
            "begins after it ends"));
  CHECK(Has(Complaint("registry", "backreach: 1\nedges:\n  - {from: a, to: a, reads: {window: [-1, 1]}}\n"),
            "reaches ahead"));
  CHECK(Has(Complaint("registry", "backreach: 1\nedges:\n  - {from: a, to: b, reads: sam}\n"),
            "did you mean 'same'?"));
  CHECK(Has(Complaint("registry", "backreach: 1\ndatasets:\n  - {name: a, writes: apend}\n"),
            "did you mean 'append'?"));
  CHECK(Has(Complaint("registry", "backreach: 1\ncopies:\n  - {id: x}\n"),
            "does not say what it was taken from"));
  CHECK(Has(Complaint("registry", "backreach: 1\njobs:\n  - {name: j, slots: many}\n"), "whole number"));
}

TEST_CASE("text stays text in a registry") {
  const LineageGraph g = GraphOf(
      "backreach: 1\ndatasets:\n  - {name: NO}\n  - {name: 007}\n  - {name: 1e3}\n  - {name: on}\n  - {name: "
      "'~'}\n");
  std::vector<std::string> names;
  for (const Dataset& d : g.datasets) names.push_back(d.name);
  CHECK(names == std::vector<std::string>{"007", "1e3", "NO", "on", "~"});
}

TEST_CASE("the graph does not depend on the order of sources") {
  Folder folder;
  Diagnostics diagnostics;
  const std::string a = folder.Write(
      "a.yml", "backreach: 1\ndatasets: [{name: x, partitions: day}]\nedges: [{from: x, to: y}]\n");
  const std::string b = folder.Write("b.yml",
                                     "backreach: 1\ndatasets: [{name: y, partitions: month}, {name: "
                                     "z}]\nedges: [{from: y, to: z}, {from: x, to: z, reads: all}]\n");
  auto facts = Named("registry").run({{a, b}, {}}, diagnostics);
  REQUIRE(facts.size() == 2);
  std::vector<SourceFacts> turned = {facts[1], facts[0]};
  const BuiltGraph one = BuildGraph(facts), two = BuildGraph(turned);
  CHECK(one.graph.fingerprint == two.graph.fingerprint);
  REQUIRE(one.graph.edges.size() == two.graph.edges.size());
  for (std::size_t i = 0; i < one.graph.edges.size(); ++i)
    CHECK(one.graph.edges[i].seen == two.graph.edges[i].seen);
}

TEST_CASE("mappings that cannot stand are read as all, and said") {
  const LineageGraph g = GraphOf(
      "backreach: 1\ndatasets:\n  - {name: h, partitions: hour}\n  - {name: d, partitions: day}\n  - {name: "
      "w, partitions: none}\nedges:\n  - {from: h, to: d, reads: key}\n  - {from: d, to: w, reads: {window: "
      "[-1, 0]}}\n");
  CHECK(g.unresolved.size() == 2);
  for (const Edge& e : g.edges) CHECK(std::holds_alternative<reads::All>(e.effective));
}

TEST_CASE("a chain of views is followed to its end, however long") {
  std::string text =
      "backreach: 1\ndatasets:\n  - {name: v0, partitions: day}\n  - {name: h, partitions: hour}\n";
  std::string edges = "edges:\n  - {from: v0, to: v1, reads: key}\n";
  for (int i = 1; i <= 200; ++i) {
    text += "  - {name: v" + std::to_string(i) + ", kind: view}\n";
    edges += "  - {from: v" + std::to_string(i) + ", to: " + (i == 200 ? "h" : "v" + std::to_string(i + 1)) +
             ", reads: same}\n";
  }
  const LineageGraph g = GraphOf(text + edges);
  REQUIRE(g.unresolved.size() == 1);
  CHECK(Has(g.unresolved[0].fact.message, "a table of hours reads v1, and hours bear no dates"));
}

TEST_CASE("documents of a registry are read one after the other, and what it merges is not cut") {
  const std::string first =
      "backreach: 1\ndefaults: {timezone: Asia/Tokyo}\ndatasets:\n  - {name: a, partitions: day}\n";
  const LineageGraph both = GraphOf(first + "---\nbackreach: 1\ndatasets:\n  - {name: b, partitions: day}\n");
  REQUIRE(both.datasets.size() == 2);
  CHECK(both.datasets[1].calendar.zone().name() == "Asia/Tokyo");
  const std::string twice = Complaint("registry", first + "---\ndatasets:\n  - {name: a}\n");
  CHECK(Has(twice, "dataset 'a' stands twice"));
  CHECK(Has(Complaint("registry", first + "---\n- b\n"),
            ":6:1: error: this document of the registry holds no mapping"));
  CHECK(Has(Complaint("registry", first + "---\ndefaults: {timezone: UTC}\n"),
            "'defaults' stands in another document"));
  CHECK(Complaint("registry", "---\n" + first + "...\n").empty());
  CHECK(Complaint("registry", first + "---\n").empty());
  std::string merged = "backreach: 1\ndatasets:\n  - &a0 {name: a0, writes: append}\n";
  for (int i = 1; i < 100; ++i)
    merged += "  - &a" + std::to_string(i) + " {<<: *a" + std::to_string(i - 1) + ", name: a" +
              std::to_string(i) + "}\n";
  CHECK(Has(Complaint("registry", merged), "merges more than 64 maps"));
}

TEST_CASE("manifests that are none are refused as such") {
  for (
      const char* text :
      {"{}", "[]", "null", "", "   ", "{\"nodes\": {}}",
       R"({"metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/catalog/v1.json"}, "nodes": {}, "sources": {}})"})
    CHECK_MESSAGE(Has(Complaint("dbt", text, "m.json"), "not a dbt manifest"), text);
  CHECK(Has(
      Complaint(
          "dbt",
          R"({"metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json"}, "nodes": {"model.p.a": {"resource_type": "model", "na)",
          "m.json"),
      "the file ends inside /nodes/model.p.a"));
  CHECK(Has(
      Complaint(
          "dbt",
          R"({"metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json"}, "nodes": {"model.p.a": {"x" 1}}})",
          "m.json"),
      "broken JSON in /nodes/model.p.a"));
}

TEST_CASE("words: nearest names, printable text, wrapping") {
  CHECK(Nearest("fct_order", {"fct_orders", "dim_dates", "fct_order_lines"}, 2) ==
        std::vector<std::string>{"fct_orders", "fct_order_lines"});
  CHECK(Printable("a\nb\x1b[31m") ==
        "a\xE2\x90\x8A"
        "b\xE2\x90\x9B[31m");
  CHECK(Printable("x\xE2\x80\xAEy") == "x<U+202E>y");
  CHECK(Printable("a\xFFz") == "a\\xFFz");
  CHECK(Printable("\xED\xA0\x80") == "\\xED\\xA0\\x80");  // half a surrogate pair
  CHECK(Printable("\xC0\xAF") == "\\xC0\\xAF");           // a slash in two bytes
  CHECK(Printable("a\xD8\x9C\xE1\xA0\x8E") == "a<U+061C><U+180E>");
  CHECK(Printable("\xF3\xA0\x81\xA1\xEF\xBF\xB9") == "<U+E0061><U+FFF9>");
  CHECK(Printable("\xF0\x9F\x98\x80 \xE4\xB8\xAD") == "\xF0\x9F\x98\x80 \xE4\xB8\xAD");
  CHECK(ListOf({"a", "b", "c"}) == "a, b and c");
  CHECK(Thousands(1234567) == "1,234,567");
}

TEST_CASE("what the project's own hooks write out is seen, and a Python model that looks at itself") {
  const Folder folder;
  Diagnostics diagnostics;
  const auto facts = Named("dbt").run({{folder.Write("manifest.json", R"({
    "metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json", "project_name": "p",
                 "adapter_type": "snowflake"},
    "nodes": {
      "model.p.m": {"resource_type": "model", "name": "m", "package_name": "p", "schema": "s", "alias": "m",
                    "language": "python", "config": {"materialized": "incremental", "unique_key": "id"},
                    "depends_on": {"nodes": []},
                    "raw_code": "if dbt.is_incremental:\n  q = f'select max(at) from {dbt.this}'"},
      "operation.p.end-0": {"resource_type": "operation", "name": "end-0", "package_name": "p",
                            "raw_code": "{{ send_out() }}"},
      "operation.p.end-1": {"resource_type": "operation", "name": "end-1", "package_name": "p",
                            "raw_code": "{{ elementary.on_run_end() }}"},
      "operation.other.end-0": {"resource_type": "operation", "name": "end-0", "package_name": "other",
                                "raw_code": "copy into 's3://else/' from {{ ref('m') }}"},
      "operation.other.end-1": {"resource_type": "operation", "name": "end-1", "package_name": "other",
                                "raw_code": "{{ log_away() }}"}},
    "sources": {}, "macros": {
      "macro.p.send_out": {"name": "send_out", "package_name": "p",
        "macro_sql": "{% macro send_out() %} {% do unload_to('s3://bucket/') %} {% endmacro %}"},
      "macro.p.unload_to": {"name": "unload_to", "package_name": "p",
        "macro_sql": "{% macro unload_to(where) %} copy into 's3://bucket/' from {{ ref('m') }} {% endmacro %}"},
      "macro.other.log_away": {"name": "log_away", "package_name": "other",
        "macro_sql": "{% macro log_away() %} insert into ops.log select 1; {{ log_away() }} {% endmacro %}"}}})")},
                                       {}},
                                      diagnostics);
  REQUIRE(facts.size() == 1);
  // A macro that calls another one that writes out, and an installed package's own hook: dbt runs them all.
  REQUIRE(facts[0].facts.extracts.size() == 2);
  CHECK(facts[0].facts.extracts[0].dataset == "model.p.m");
  CHECK(facts[0].facts.extracts[0].destination == "s3://bucket/");
  CHECK(facts[0].facts.extracts[1].destination == "s3://else/");
  CHECK(Has(facts[0].facts.extracts[1].what, "end-0 of the package other"));
  REQUIRE(facts[0].facts.unresolved.size() == 2);
  CHECK(Has(facts[0].facts.unresolved[0].message, "elementary.on_run_end"));  // nobody knows what it does
  CHECK(Has(facts[0].facts.unresolved[1].message, "also writes ops.log"));
  REQUIRE(facts[0].facts.datasets.size() == 1);
  REQUIRE(facts[0].facts.datasets[0].findings.size() == 1);
  CHECK(facts[0].facts.datasets[0].findings[0].code == "watermark-filter");
}

TEST_CASE(
    "a model's hook calls the macros of the model's own package first, and no chain is cut in silence") {
  const Folder folder;
  Diagnostics diagnostics;
  const auto facts = Named("dbt").run({{folder.Write("manifest.json", R"({
    "metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json", "project_name": "p",
                 "adapter_type": "snowflake"},
    "nodes": {
      "model.pack.m": {"resource_type": "model", "name": "m", "package_name": "pack", "schema": "s", "alias": "m",
                       "path": "m.sql", "config": {"materialized": "table", "post-hook": [{"sql": "{{ tell() }}"}]}}},
    "sources": {}, "macros": {
      "macro.p.tell": {"name": "tell", "package_name": "p", "macro_sql": "{% macro tell() %} {% endmacro %}"},
      "macro.pack.tell": {"name": "tell", "package_name": "pack",
                          "macro_sql": "{% macro tell() %} call notify_them() {% endmacro %}"}}})")},
                                       {}},
                                      diagnostics);
  REQUIRE(facts.size() == 1);
  REQUIRE(facts[0].facts.datasets[0].findings.size() == 1);
  CHECK(facts[0].facts.datasets[0].findings[0].detail == "calls notify_them");
  MacroBodies chain;
  for (int i = 0; i < 40; ++i) chain["m" + std::to_string(i)] = "{{ m" + std::to_string(i + 1) + "() }}";
  chain["m40"] = "call far_away()";
  const std::map<std::string, MacroBodies> macros = {{"p", chain}};
  DbtHooks hooks("snowflake", "p", macros);
  CHECK(hooks.Meaning("{{ m30() }}", "p").effects == std::vector<std::string>{"calls far_away"});
  CHECK(hooks.Meaning("{{ m0() }}", "p").unknown == "m0");
}

TEST_CASE("the order of a manifest's sections does not matter") {
  const Folder folder;
  Diagnostics diagnostics;
  const std::string nodes = R"("nodes": {
      "model.p.m": {"resource_type": "model", "name": "m", "package_name": "p", "schema": "s", "alias": "m",
                    "path": "m.sql", "config": {"materialized": "incremental", "post-hook": [{"sql": "{{ tell() }}"}]},
                    "raw_code": "select * from x {{ newer() }}"},
      "operation.pack.end-0": {"resource_type": "operation", "name": "end-0", "package_name": "pack",
                               "raw_code": "{{ log_away() }}"}})",
                    macros = R"("macros": {
      "macro.p.tell": {"name": "tell", "package_name": "p", "macro_sql": "{% macro tell() %} call x() {% endmacro %}"},
      "macro.p.newer": {"name": "newer", "package_name": "p",
                        "macro_sql": "{% macro newer() %} where at > (select max(at) from {{ this }}) {% endmacro %}"},
      "macro.pack.log_away": {"name": "log_away", "package_name": "pack",
                              "macro_sql": "{% macro log_away() %} insert into ops.log select 1 {% endmacro %}"}})",
                    metadata = R"("metadata": {
      "dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json", "project_name": "p",
      "adapter_type": "snowflake"})";
  for (const std::string& text :
       {metadata + "," + nodes + "," + macros, macros + "," + metadata + "," + nodes,
        nodes + "," + macros + "," + metadata}) {
    const auto facts = Named("dbt").run(
        {{folder.Write("manifest.json", "{" + text + ", \"sources\": {}}")}, {}}, diagnostics);
    REQUIRE(facts.size() == 1);
    std::string found;
    for (const FindingFact& f : facts[0].facts.datasets[0].findings) found += f.code + ": " + f.detail + "; ";
    CHECK(Has(found, "side-effects: calls x;"));
    CHECK(Has(found, "watermark-filter"));
    REQUIRE(facts[0].facts.unresolved.size() == 1);
    CHECK(Has(facts[0].facts.unresolved[0].message, "also writes ops.log"));
  }
}

TEST_CASE("hooks are read through the macros that they call, by dispatch and across packages") {
  const std::map<std::string, MacroBodies> macros = {
      {"shop",
       {{"mine", "{% macro mine() %}{{ helper(1) }}{{ unheard_of() }}{% endmacro %}"},
        {"helper", "{% if x %} insert into audit.rows select 1 {% endif %}"},
        {"bigquery__flush", "merge into {{ log_table }} t using s on t.id = s.id"},
        {"round", "{{ round() }}; call ops.ping()"},
        {"empty", ""}}},
      {"pack",
       {{"end", "{{ return(adapter.dispatch('flush', 'pack')()) }}"},
        {"default__flush", "insert into wrong.one select 1"},
        {"send", "{% set q %} copy into 's3://out/' from {{ ref('a') }} {% endset %} {% do dbt.log(q) %}"},
        {"deep", "{{ pack.send() }} {{ other.thing() }}"},
        {"lost", "{{ adapter.dispatch('nowhere')() }}"}}}};
  DbtHooks hooks("bigquery", "shop", macros);
  const auto effects = [&](const std::string& text, const std::string& package = "shop") {
    return Join(hooks.Meaning(text, package).effects, "; ");
  };
  const auto unknown = [&](const std::string& text, const std::string& package = "shop") {
    return hooks.Meaning(text, package).unknown;
  };
  CHECK(effects("{{ mine() }}") == "also writes audit.rows");
  CHECK(unknown("{{ mine() }}") == "");  // a project's own macro is taken as it reads
  CHECK(effects("{{ pack.end() }}") == "also writes {{ log_table }}");  // the project's version of it
  CHECK(effects("{{ end() }}", "pack") == "also writes {{ log_table }}");
  CHECK(effects("grant select on {{ this }} to x; {{ helper() }}") == "also writes audit.rows");
  CHECK(effects("{{ round() }}") == "calls ops.ping");
  REQUIRE(hooks.Meaning("{{ pack.send() }}", "shop").exports.size() == 1);
  CHECK(hooks.Meaning("{{ pack.send() }}", "shop").exports[0].destination == "s3://out/");
  CHECK(unknown("{{ pack.send() }}") == "");
  CHECK(unknown("{{ pack.deep() }}") == "pack.deep");
  CHECK(hooks.Meaning("{{ pack.deep() }}", "shop").exports.size() ==
        1);  // what could be read is told as well
  CHECK(unknown("{{ pack.lost() }}") == "pack.lost");
  CHECK(unknown("{{ empty() }}") == "empty");
  CHECK(unknown("{{ nobody.knows() }}") == "nobody.knows");
  CHECK(unknown("{{ a_variable }}") == "");
  // A statement of its own that nobody knows, beside others; as a part of one it is a name or a value.
  CHECK(unknown("grant select on {{ this }} to x; {{ unheard_of() }}") == "unheard_of");
  CHECK(unknown("{% if target.name == 'prod' %} {{ unheard_of() }} {% endif %}") == "unheard_of");
  CHECK(unknown("{% do unheard_of() %} grant select on {{ this }} to x") == "unheard_of");
  CHECK(unknown("grant select on {{ this }} to {{ pack_role.name() }}") == "");
  CHECK(effects("{{ end() }}") == "");
}

TEST_CASE("what selectors.yml gives a name to is kept in the order in which it is worked out") {
  const Folder folder;
  Diagnostics diagnostics;
  const auto facts = Named("dbt").run({{folder.Write("manifest.json", R"({
    "metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json", "project_name": "p"},
    "nodes": {}, "sources": {},
    "selectors": {
      "text": {"definition": "1+a,b"},
      "one": {"definition": {"method": "fqn", "value": "a b", "parents": true, "parents_depth": 2, "children": true}},
      "around": {"definition": {"method": "tag", "value": 7, "childrens_parents": true, "children": false}},
      "short": {"definition": {"config.full_refresh": false}},
      "of": {"definition": {"method": "selector", "value": "one"}},
      "but": {"definition": {"method": "tag", "value": "x", "exclude": ["y", {"tag": "z"}]}},
      "union": {"definition": {"union": ["a", {"intersection": [{"tag": "b"}, "c", {"exclude": ["d"]}]}, {"exclude": ["e"]}]}},
      "empty": {"definition": {"union": []}},
      "odd": {"definition": {"union": {"a": 1}}},
      "odder": {"definition": {"method": "tag", "of": "x"}},
      "none": {}}})")},
                                       {}},
                                      diagnostics);
  REQUIRE(facts.size() == 1);
  std::map<std::string, std::string> defined;
  for (const NodeFact& n : Unpack(facts[0].facts.nodes)) {
    if (n.type == "project") continue;
    CHECK(n.type == "selector");
    defined[n.name] = Join(n.tags, " ");
  }
  CHECK(defined["text"] == "=1+a,b");
  CHECK(defined["one"] == "=2+fqn:a b+");
  CHECK(defined["around"] == "=@tag:7");
  CHECK(defined["short"] == "=config.full_refresh:false");
  CHECK(defined["of"] == "$one");
  CHECK(defined["but"] == "=tag:x =y =tag:z |2 -");
  CHECK(defined["union"] == "=a =tag:b =c &2 =d |1 - |2 =e |1 -");
  CHECK(defined["empty"] == "|0");
  CHECK(defined["odd"] == "?");
  CHECK(defined["odder"] == "?");
  CHECK(defined["none"] == "?");
}

TEST_CASE("a manifest that does not name its project has the macros of the package that most models are in") {
  const Folder folder;
  Diagnostics diagnostics;
  const auto facts = Named("dbt").run({{folder.Write("manifest.json", R"({
    "metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v1.json", "adapter_type": "snowflake"},
    "nodes": {
      "model.p.m": {"resource_type": "model", "name": "m", "package_name": "p", "schema": "s", "alias": "m",
                    "config": {"materialized": "incremental", "unique_key": "id"}, "depends_on": {"nodes": []},
                    "raw_sql": "select * from x {{ newer() }}"}},
    "sources": {}, "exposures": {}, "parent_map": {},
    "macros": {
      "macro.p.newer": {"name": "newer", "package_name": "p",
                        "macro_sql": "{% macro newer() %} where at > (select max(at) from {{ this }}) {% endmacro %}"},
      "macro.q.newer": {"name": "newer", "package_name": "q", "macro_sql": "{% macro newer() %}{% endmacro %}"}}})")},
                                       {}},
                                      diagnostics);
  REQUIRE(facts.size() == 1);
  CHECK(facts[0].source.name == "p");
  REQUIRE(facts[0].facts.datasets[0].findings.size() == 1);
  CHECK(facts[0].facts.datasets[0].findings[0].code == "watermark-filter");
}
