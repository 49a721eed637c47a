// dbt's run_results.json, catalog.json and sources.json.

#include "ingest/dbt/artifacts.hpp"

#include "tests/unit/support.hpp"

using namespace backreach;

namespace {

const char* kManifest = R"({
  "metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json", "project_name": "p",
               "adapter_type": "postgres"},
  "nodes": {
    "model.p.m": {"resource_type": "model", "name": "m", "package_name": "p", "fqn": ["p", "m"],
                  "config": {"materialized": "incremental", "unique_key": "id"}, "depends_on": {"nodes": []},
                  "schema": "s", "alias": "m", "raw_code": "select 1 as id"},
    "model.p.b": {"resource_type": "model", "name": "b", "package_name": "p", "fqn": ["p", "b"],
                  "config": {"materialized": "incremental", "incremental_strategy": "microbatch", "unique_key": "id",
                             "batch_size": "day", "begin": "2026-01-01", "event_time": "t"},
                  "depends_on": {"nodes": []}, "schema": "s", "alias": "b", "raw_code": "select 1 as id"},
    "test.p.nn": {"resource_type": "test", "name": "nn", "package_name": "p", "column_name": "id",
                  "test_metadata": {"name": "not_null", "kwargs": {"column_name": "id", "model": "m"}},
                  "attached_node": "model.p.m", "config": {"enabled": true, "severity": "ERROR"},
                  "depends_on": {"nodes": ["model.p.m"]}}},
  "sources": {"source.p.raw.o": {"resource_type": "source", "name": "o", "source_name": "raw", "package_name": "p",
                                 "schema": "raw", "identifier": "o"}},
  "exposures": {}})";

struct Read {
  Facts facts;
  std::string said, beside;
};

// The facts of the manifest with these files beside it.
Read With(const Folder& folder, std::map<std::string, std::vector<std::string>> files) {
  Diagnostics diagnostics;
  auto facts = Named("dbt").run({{folder.Write("manifest.json", kManifest)}, std::move(files)}, diagnostics);
  Read out;
  out.said = Format(diagnostics);
  if (!facts.empty()) out.facts = std::move(facts[0].facts), out.beside = facts[0].source.beside_sha256;
  return out;
}

std::string Results(const Folder& folder, const std::string& name, const std::string& args,
                    const std::string& results, const std::string& when = "2026-04-01T00:00:00Z") {
  return folder.Write(name, R"({"metadata": {"generated_at": ")" + when + R"("}, "args": {)" + args +
                                R"(}, "results": [)" + results + "]}");
}

}  // namespace

TEST_CASE("run results say which tests failed; a file of a run that executed nothing says nothing") {
  const Folder folder;
  const auto run = [&](const char* name, const char* command, const char* when, const char* status) {
    return Results(folder, name, std::string(R"("which": ")") + command + "\"",
                   std::string(R"({"unique_id": "test.p.nn", "status": ")") + status + "\"}", when);
  };
  const std::string failed = run("failed.json", "test", "2026-04-02T00:00:00Z", "fail");
  const std::string earlier = run("earlier.json", "build", "2026-04-01T00:00:00Z", "pass");
  const std::string docs = run("docs.json", "generate", "2026-04-03T00:00:00Z", "pass");
  const auto status = [&](std::vector<std::string> files) {
    const Read read = With(folder, {{"run-results", std::move(files)}});
    REQUIRE(read.facts.checks.size() == 1);
    return read.facts.checks[0].last_status.value_or("");
  };
  CHECK(status({failed}) == "fail");
  CHECK(status({failed, earlier, docs}) == "fail");
  CHECK(status({docs}) == "");
  CHECK(status({earlier}) == "pass");
}

TEST_CASE("run results say how long runs took, where that can be known") {
  const Folder folder;
  const std::string m = R"({"unique_id": "model.p.m", "status": "success", "execution_time": 6.5,
                            "adapter_response": {"rows_affected": 298}})";
  const std::string b =
      R"({"unique_id": "model.p.b", "status": "success", "execution_time": 31, "adapter_response": {},
                            "batch_results": {"successful": [["a", "b"], ["b", "c"]], "failed": []}})";
  const auto timings = [&](const std::string& args, const std::string& results) {
    return With(folder, {{"run-results", {Results(folder, "r.json", args, results)}}}).facts.timings;
  };
  const auto both = timings(R"("which": "build", "invocation_command": "dbt build")", m + "," + b);
  REQUIRE(both.size() == 2);
  CHECK(both[0].seconds == 6.5);
  CHECK(both[0].rows == 298);
  CHECK_FALSE(both[0].batches);
  CHECK(both[1].batches == 2);
  CHECK_FALSE(both[1].rows);
  // A retry lists the batches of the run before it and counts only its own time.
  const auto retry = timings(R"("which": "build", "invocation_command": "dbt retry")", m + "," + b);
  REQUIRE(retry.size() == 1);
  CHECK(retry[0].dataset == "model.p.m");
  CHECK(timings(R"("which": "run", "empty": true)", m).empty());
  CHECK(timings(R"("which": "run", "sample": "3 days")", m).empty());
  CHECK(timings(R"("which": "run", "sample": null)", m).size() == 1);
  CHECK(timings(R"("which": "generate")", m).empty());
  CHECK(timings(R"("which": "run", "full_refresh": true)", m)[0].full_refresh);
  CHECK(timings(R"("which": "run")", R"({"unique_id": "model.p.m", "status": "error", "execution_time": 1})")
            .empty());
  CHECK(timings(R"("which": "run")",  // a microbatch model whose batches nobody counted
                R"({"unique_id": "model.p.b", "status": "success", "execution_time": 9})")
            .empty());
}

TEST_CASE("the catalog tells types and rows, sources.json when a source was loaded") {
  const Folder folder;
  const std::string catalog =
      folder.Write("c.json", R"({"nodes": {"model.p.m": {"metadata": {"type": "BASE TABLE"},
      "columns": {"ID": {"type": "NUMBER"}},
      "stats": {"row_count": {"id": "row_count", "value": 1200.0}, "bytes": {"value": "4096"}}},
      "model.other.x": {"metadata": {"type": "VIEW"}, "columns": {}, "stats": {}}},
      "sources": {"source.p.raw.o": {"metadata": {"type": "VIEW"}, "columns": {}, "stats": {}}}})");
  const std::string sources = folder.Write("s.json", R"({"metadata": {"dbt_schema_version":
      "https://schemas.getdbt.com/dbt/sources/v3.json"}, "results": [{"unique_id": "source.p.raw.o",
      "max_loaded_at": "2026-03-01T00:00:00+00:00", "status": "warn"}]})");
  const Read read = With(folder, {{"catalog", {catalog}}, {"sources", {sources}}});
  REQUIRE(read.facts.measures.size() == 2);
  const MeasureFact &m = read.facts.measures[0], &o = read.facts.measures[1];
  CHECK(m.dataset == "model.p.m");
  CHECK(m.rows == 1200);
  CHECK(m.bytes == 4096);
  CHECK(m.column_types.at("id") == "number");
  CHECK(o.relation_type == "view");
  CHECK(o.loaded_at == "2026-03-01T00:00:00+00:00");
  CHECK(o.freshness == "warn");
  CHECK_FALSE(read.beside.empty());
  CHECK(With(folder, {}).beside.empty());
}

TEST_CASE("a file that is another one than it was given as is refused by name") {
  const Folder folder;
  const std::string manifest = folder.Write("other.json", kManifest);
  const auto said = [&](const char* option, const std::string& file) {
    return With(folder, {{option, {file}}}).said;
  };
  CHECK(said("run-results", manifest).find("this is not dbt's run_results.json") != std::string::npos);
  CHECK(said("sources", manifest).find("this is not dbt's sources.json") != std::string::npos);
  CHECK(
      said("catalog", folder.Write("r.json", R"({"results": []})")).find("this is not dbt's catalog.json") !=
      std::string::npos);
  CHECK(said("catalog", folder.Write("cut.json", R"({"nodes": {)")).find("no JSON") != std::string::npos);
  CHECK(
      With(folder, {{"catalog", {folder.Write("cut.json", "{")}}}).facts.datasets.empty());  // all or nothing
}

TEST_CASE("a file of another project is not taken in silence") {
  const Folder folder;
  const auto said = [&](const char* option, const std::string& file) {
    return With(folder, {{option, {file}}}).said;
  };
  const std::string results =
      Results(folder, "r.json", R"("which": "run")", R"({"unique_id": "model.q.x", "status": "success"})");
  CHECK(said("run-results", results).find("names no node of this manifest") != std::string::npos);
  CHECK(said("catalog", folder.Write("c.json", R"({"nodes": {"model.q.x": {"columns": {}}}})"))
            .find("names no node of this manifest") != std::string::npos);
  CHECK(said("sources",
             folder.Write("s.json", R"({"results": [{"unique_id": "source.q.x", "status": "pass"}]})"))
            .find("names no node of this manifest") != std::string::npos);
}
