#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "graph/names.hpp"
#include "graph/words.hpp"
#include "ingest/builder.hpp"
#include "ingest/dbt_writes.hpp"
#include "ingest/importer.hpp"
#include "ingest/json_split.hpp"
#include "ingest/sql_scan.hpp"

using namespace backreach;

namespace {

class Folder {
 public:
  Folder()
      : path_(std::filesystem::temp_directory_path() /
              ("backreach-unit-" + std::to_string(std::rand()) +
               std::to_string(reinterpret_cast<std::uintptr_t>(this)))) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string Write(const std::string& name, const std::string& text) const {
    const auto file = path_ / name;
    std::ofstream(file, std::ios::binary) << text;
    return file.string();
  }

 private:
  std::filesystem::path path_;
};

const Importer& Named(const std::string& name) {
  for (const Importer& i : Importers())
    if (name == i.name) return i;
  throw std::runtime_error("no importer " + name);
}

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
  CHECK(
      SideEffects("grant select on t to r; call notify_finance(1); insert into audit.log select 1").size() ==
      2);
}

TEST_CASE("dbt: how each adapter writes, by strategy and key") {
  struct Row {
    const char *adapter, *strategy;
    bool keyed, partitioned;
    const char* mode;
  };
  const Row rows[] = {{"snowflake", "", true, false, "merge"},
                      {"snowflake", "", false, false, "append"},
                      {"snowflake", "insert_overwrite", false, true, "whole"},
                      {"snowflake", "microbatch", false, false, "replace"},
                      {"bigquery", "", true, true, "merge"},
                      {"bigquery", "", false, true, "append"},
                      {"bigquery", "insert_overwrite", false, true, "dynamic_overwrite"},
                      {"bigquery", "append", false, false, "unknown"},
                      {"bigquery", "microbatch", false, true, "dynamic_overwrite"},
                      {"postgres", "", true, false, "delete_insert"},
                      {"postgres", "delete+insert", false, false, "append"},
                      {"postgres", "microbatch", true, false, "merge"},
                      {"redshift", "", true, false, "delete_insert"},
                      {"databricks", "", true, false, "merge"},
                      {"databricks", "insert_overwrite", false, false, "whole"},
                      {"spark", "", true, false, "append"},
                      {"spark", "insert_overwrite", false, true, "dynamic_overwrite"},
                      {"spark", "insert_overwrite", false, false, "whole"},
                      {"duckdb", "", true, false, "delete_insert"},
                      {"duckdb", "merge", false, false, "append"},
                      {"duckdb", "microbatch", false, false, "replace"},
                      {"athena", "", true, true, "dynamic_overwrite"},
                      {"athena", "", true, false, "append"},
                      {"trino", "", true, false, "append"},
                      {"trino", "delete+insert", true, false, "delete_insert"},
                      {"clickhouse", "", true, false, "delete_insert"},
                      {"clickhouse", "", false, false, "append"},
                      {"sqlserver", "", true, false, "merge"},
                      {"fabric", "microbatch", true, false, "merge"},
                      {"fabric", "microbatch", false, false, "replace"},
                      {"duckdb", "my_own", true, false, "unknown"},
                      {"teradata", "", true, false, "unknown"},
                      {"snowflake", "append", true, false, "append"}};
  for (const Row& r : rows) {
    DbtWriteConfig c{r.adapter,
                     "incremental",
                     r.strategy,
                     r.keyed,
                     r.keyed ? std::vector<std::string>{"id"} : std::vector<std::string>{},
                     r.partitioned,
                     false};
    const DbtWrite w = ResolveDbtWrite(c);
    CHECK_MESSAGE(w.mode == r.mode,
                  r.adapter << " " << r.strategy << " key " << r.keyed << " partitioned " << r.partitioned);
    CHECK_FALSE(w.why.empty());
  }
  CHECK(ResolveDbtWrite({"snowflake", "table", "", false, {}, false, false}).mode == "whole");
  CHECK(ResolveDbtWrite({"snowflake", "dynamic_table", "", false, {}, false, false}).mode == "refresh");
  CHECK(ResolveDbtWrite({"snowflake", "incremental_snapshot", "", false, {}, false, false}).mode ==
        "unknown");
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
  CHECK(Printable("\xFF") == "\xEF\xBF\xBD");
  CHECK(ListOf({"a", "b", "c"}) == "a, b and c");
  CHECK(Thousands(1234567) == "1,234,567");
}

TEST_CASE("run results say which tests failed; a file of a run that executed nothing says nothing") {
  const Folder folder;
  const std::string manifest = folder.Write("manifest.json", R"({
    "metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json", "project_name": "p",
                 "adapter_type": "postgres"},
    "nodes": {
      "model.p.m": {"resource_type": "model", "name": "m", "package_name": "p", "fqn": ["p", "m"],
                    "config": {"materialized": "incremental", "unique_key": "id"}, "depends_on": {"nodes": []},
                    "schema": "s", "alias": "m", "raw_code": "select 1 as id"},
      "test.p.nn": {"resource_type": "test", "name": "nn", "package_name": "p", "column_name": "id",
                    "test_metadata": {"name": "not_null", "kwargs": {"column_name": "id", "model": "m"}},
                    "attached_node": "model.p.m", "config": {"enabled": true, "severity": "ERROR"},
                    "depends_on": {"nodes": ["model.p.m"]}}},
    "sources": {}, "exposures": {}})");
  const auto run = [&](const char* name, const char* command, const char* when, const char* status) {
    return folder.Write(
        name, std::string(R"({"metadata": {"generated_at": ")") + when + R"("}, "args": {"which": ")" +
                  command + R"("}, "results": [{"unique_id": "test.p.nn", "status": ")" + status + "\"}]}");
  };
  const std::string failed = run("failed.json", "test", "2026-04-02T00:00:00Z", "fail");
  const std::string earlier = run("earlier.json", "build", "2026-04-01T00:00:00Z", "pass");
  const std::string docs = run("docs.json", "generate", "2026-04-03T00:00:00Z", "pass");
  const auto status = [&](std::vector<std::string> files) {
    Diagnostics diagnostics;
    const auto facts = Named("dbt").run({{manifest}, {{"run-results", std::move(files)}}}, diagnostics);
    REQUIRE(facts.size() == 1);
    REQUIRE(facts[0].facts.checks.size() == 1);
    return facts[0].facts.checks[0].last_status.value_or("");
  };
  CHECK(status({failed}) == "fail");
  CHECK(status({failed, earlier, docs}) == "fail");
  CHECK(status({docs}) == "");
  CHECK(status({earlier}) == "pass");

  Diagnostics diagnostics;
  CHECK(Named("dbt").run({{manifest}, {{"run-results", {manifest}}}}, diagnostics).empty());
  CHECK(Format(diagnostics).find("this is not dbt's run_results.json") != std::string::npos);

  Diagnostics unread;
  Named("dbt").run({{manifest}, {{"catalog", {"catalog.json"}}}}, unread);
  CHECK(Format(unread).find("--catalog is not read by this version") != std::string::npos);
}
