// Importers of orchestrators: what their forms say, in our words.

#include <doctest/doctest.h>

#include <algorithm>

#include "graph/base/words.hpp"
#include "graph/join/builder.hpp"
#include "graph/reads/reads_json.hpp"
#include "ingest/dagster/cuts.hpp"
#include "ingest/importer.hpp"
#include "ingest/sql/moves.hpp"
#include "tests/unit/support.hpp"

using namespace backreach;

namespace {

Facts FactsOfFile(const std::string& importer, const std::string& text, const std::string& file) {
  Folder folder;
  Diagnostics diagnostics;
  auto facts = Named(importer).run({{folder.Write(file, text)}, {}}, diagnostics);
  REQUIRE_MESSAGE(!diagnostics.has_errors(), Format(diagnostics));
  REQUIRE(facts.size() == 1);
  return std::move(facts[0].facts);
}

const EdgeFact& EdgeOf(const Facts& facts, const std::string& from, const std::string& to) {
  for (const EdgeFact& e : facts.edges)
    if (e.from == from && e.to == to) return e;
  FAIL("no edge " << from << " -> " << to);
  return facts.edges[0];
}
const DatasetFact& DatasetOf(const Facts& facts, const std::string& name) {
  for (const DatasetFact& d : facts.datasets)
    if (d.name == name) return d;
  FAIL("no dataset " << name);
  return facts.datasets[0];
}
const JobFact& JobOf(const Facts& facts, const std::string& name) {
  for (const JobFact& j : facts.jobs)
    if (j.name == name) return j;
  FAIL("no job " << name);
  return facts.jobs[0];
}

// Assets `up` and `down` with these partitions and this mapping.
Facts Pair(const std::string& up, const std::string& down, const std::string& mapping) {
  return FactsOfFile("dagster",
                     R"({"form": "dagster-assets/1", "location": "x", "assets": [
      {"key": ["up"], "executable": true, "op": "up", "partitions": )" +
                         up + R"(, "deps": []},
      {"key": ["down"], "executable": true, "op": "down", "partitions": )" +
                         down + R"(, "deps": [{"key": ["up"], "mapping": )" + mapping + "}]}]}",
                     "assets.json");
}
std::string Time(const std::string& cron, const std::string& more = "") {
  return R"({"kind": "time", "cron": ")" + cron +
         R"(", "timezone": "UTC", "start": "2026-01-01T00:00:00+00:00", "end": null, "end_offset": 0, "fmt": "%Y-%m-%d", "exclusions": [])" +
         more + "}";
}
std::string Static(const std::string& keys) { return R"({"kind": "static", "keys": [)" + keys + "]}"; }

}  // namespace

TEST_CASE("Dagster: which crons are a grain of ours") {
  const auto cut = [](const char* cron) {
    const auto c = dagster::CutOf(cron);
    return c ? c->grain + (c->starts_at ? " at " + *c->starts_at : "") +
                   (c->week_start ? " on " + *c->week_start : "")
             : std::string("none");
  };
  CHECK(cut("0 * * * *") == "hour");
  CHECK(cut("@daily") == "day");
  CHECK(cut("30 6 * * *") == "day at 06:30");
  CHECK(cut("0 0 * * 0") == "week on sunday");
  CHECK(cut("0 0 * * MON") == "week on monday");
  CHECK(cut("0 0 1 * *") == "month");
  CHECK(cut("0 0 1 1,4,7,10 *") == "quarter");
  CHECK(cut("0 0 1 */3 *") == "quarter");
  CHECK(cut("0 0 1 1 *") == "year");
  CHECK(cut("*/15 * * * *") == "15 minutes");
  CHECK(cut("0 */6 * * *") == "6 hours");
  for (const char* none : {"15 * * * *", "0 0 15 * *", "0 0 * * 1-5", "*/7 * * * *", "0 */5 * * *",
                           "0 0 1 2,5,8,11 *", "0 0 1 * 1", "0 0 * *", "", "x"})
    CHECK_MESSAGE(cut(none) == "none", none);
}

TEST_CASE("Dagster: first and last partitions, and when they are complete") {
  const auto block = [](const std::string& time) {
    const Facts f = Pair("null", time, "null");
    return DatasetOf(f, "dagster/down");
  };
  DatasetFact d = block(
      R"({"kind": "time", "cron": "0 6 * * *", "timezone": "America/New_York", "start": "2026-10-01T00:00:00-04:00",
      "end": "2026-11-20T00:00:00-05:00", "end_offset": -3, "fmt": "%Y-%m-%d", "exclusions": []})");
  CHECK(d.partitions[0].first == "2026-10-01");
  CHECK(d.partitions[0].last == "2026-11-18");  // that of the 19th ends after the end
  CHECK(d.partitions[0].starts_at == "06:00");
  CHECK(d.complete_after == "3d");
  d = block(
      R"({"kind": "time", "cron": "0 0 * * 1", "timezone": "UTC", "start": "2026-01-01T00:00:00+00:00", "end": null, "end_offset": 1, "fmt": "%Y-%m-%d", "exclusions": []})");
  CHECK(d.partitions[0].first == "2026-01-05");  // the first tick at or after the start
  CHECK_FALSE(d.complete_after);
  const Facts f = Pair("null", Time("0 0 * * 1-5"), "null");
  CHECK_FALSE(DatasetOf(f, "dagster/down").partitions[0].grain);
  REQUIRE(f.unresolved.size() == 1);
  CHECK(f.unresolved[0].dataset == "dagster/down");
}

TEST_CASE("Dagster: mappings of time") {
  const auto reads = [](const std::string& up, const std::string& down, const std::string& mapping) {
    const Facts f = Pair(up, down, mapping);
    const EdgeFact& e = EdgeOf(f, "dagster/up", "dagster/down");
    return e.reads.value_or("null") + (e.known ? " " + *e.known : "");
  };
  const std::string day = Time("0 0 * * *"), hour = Time("0 * * * *"), weekdays = Time("0 0 * * 1-5");
  const auto window = [](int s, int e) {
    return R"({"kind": "time_window", "start_offset": )" + std::to_string(s) + R"(, "end_offset": )" +
           std::to_string(e) + "}";
  };
  CHECK(reads(day, day, window(0, 0)) == "\"same\"");
  CHECK(reads(hour, day, window(-27, 0)) == R"({"window":[-27,0]})");
  CHECK(reads(day, weekdays, window(-1, -1)) ==
        "\"all\"");  // counted in partitions that are no grain of ours
  CHECK(reads(day, day, R"({"kind": "all"})") == "\"all\"");
  CHECK(reads(day, day, R"({"kind": "last"})") == "\"latest\"");
  CHECK(reads(day, day, R"({"kind": "identity"})") == "\"same\"");
  CHECK(
      reads(
          day,
          R"({"kind": "time", "cron": "0 0 * * *", "timezone": "Asia/Tokyo", "start": null, "end": null, "end_offset": 0, "fmt": "%Y-%m-%d", "exclusions": []})",
          R"({"kind": "identity"})") == "\"key\"");
  CHECK(reads(day, day, R"({"kind": "specific", "keys": ["2026-03-05", "2026-03-01"]})") ==
        R"({"fixed":{"from":"2026-03-01","to":"2026-03-05"}})");
  CHECK(reads(day, day, R"({"kind": "other", "class": "Mine"})") == "\"all\" assumed");
  CHECK(reads(day, day, "null") == "null assumed");
  CHECK(reads("null", day, R"({"kind": "all"})") == "\"all\"");
  CHECK(reads("null", "null", "null") == "null assumed");
}

TEST_CASE("Dagster: values of dimensions meet as their mappings say") {
  Facts f = Pair(Static(R"("us", "eu", "ap")"), Static(R"("america", "eurasia")"),
                 R"({"kind": "static", "downstream_by_upstream": {"us": ["america"], "eu": ["eurasia"]}})");
  auto map = *EdgeOf(f, "dagster/up", "dagster/down").dimension_map;
  CHECK(map["partition"]["us"] == std::vector<std::string>{"america"});
  CHECK(map["partition"]["ap"].empty());  // nothing reads it
  f = Pair(Static(R"("us", "eu")"), Time("0 0 * * *"), R"({"kind": "specific", "keys": ["eu"]})");
  map = *EdgeOf(f, "dagster/up", "dagster/down").dimension_map;
  CHECK(map["partition"].count("us") == 1);
  CHECK(map["partition"].count("eu") == 0);
  const std::string multi = R"({"kind": "multi", "dimensions": {"date": )" + Time("0 0 * * *") +
                            R"(, "region": )" + Static(R"("us", "eu")") + "}}";
  f = Pair(Static(R"("us", "eu")"), multi, R"({"kind": "multi_to_single", "dimension": "region"})");
  CHECK((*EdgeOf(f, "dagster/up", "dagster/down").dimension_to).at("partition") == "region");
  f = Pair(
      multi, multi,
      R"({"kind": "multi", "dimensions": {"date": {"to": "date", "mapping": {"kind": "time_window", "start_offset": -1, "end_offset": -1}}}})");
  const EdgeFact& e = EdgeOf(f, "dagster/up", "dagster/down");
  CHECK(e.reads == R"({"window":[-1,-1]})");
  CHECK((*e.dimension_to).at("region") == "");  // not listed: each value reaches all
  CHECK(DatasetOf(f, "dagster/up").dimensions.at("region") == std::vector<std::string>{"us", "eu"});
}

TEST_CASE("Dagster's GraphQL: what it tells, and what it does not") {
  const Facts f = FactsOfFile("dagster", R"({"data": {"assetNodes": [
    {"assetKey": {"path": ["a"]}, "isMaterializable": true, "opNames": ["both"], "repository": {"name": "r", "location": {"name": "x"}},
     "partitionDefinition": {"description": "Weekly, starting 2026-01-04 Europe/Paris. End offsetted by -2 partitions.", "type": "TIME_WINDOW", "fmt": "%Y-%m-%d",
        "dimensionTypes": [{"name": "default", "description": "", "type": "TIME_WINDOW"}]},
     "partitionKeysByDimension": [{"name": "default", "partitionKeys": ["2026-01-04", "2026-01-11"], "type": "TIME_WINDOW"}],
     "backfillPolicy": {"policyType": "SINGLE_RUN", "maxPartitionsPerRun": null}, "pools": ["wh"], "dependencies": []},
    {"assetKey": {"path": ["b"]}, "isMaterializable": true, "opNames": ["both"], "repository": {"name": "r", "location": {"name": "x"}},
     "partitionDefinition": {"description": "Daily, starting 2026-01-04 Europe/Paris.", "type": "TIME_WINDOW", "fmt": "%Y-%m-%d",
        "dimensionTypes": [{"name": "default", "description": "", "type": "TIME_WINDOW"}]},
     "partitionKeysByDimension": [{"name": "default", "partitionKeys": ["2026-01-04"], "type": "TIME_WINDOW"}],
     "dependencies": [{"asset": {"assetKey": {"path": ["a"]}}, "partitionMapping": null}]},
    {"assetKey": {"path": ["c"]}, "isMaterializable": true, "opNames": ["c"], "repository": {"name": "r", "location": {"name": "x"}},
     "partitionDefinition": {"description": "Daily, starting 2026-01-04 Europe/Paris.", "type": "TIME_WINDOW", "fmt": "%Y-%m-%d",
        "dimensionTypes": [{"name": "default", "description": "", "type": "TIME_WINDOW"}]},
     "automationCondition": {"label": "eager", "expandedLabel": []},
     "dependencies": [{"asset": {"assetKey": {"path": ["b"]}}, "partitionMapping": {"className": "TimeWindowPartitionMapping",
        "description": "Maps a downstream partition to any upstream partition with an overlapping time window. The start and end of the upstream time window is offsetted by -3 and 0 partitions respectively."}}]}
  ]}})",
                              "graph.json");
  const DatasetFact& a = DatasetOf(f, "dagster/a");
  CHECK(a.partitions[0].grain == "week");
  CHECK(a.partitions[0].week_start == "sunday");
  CHECK(a.partitions[0].timezone == "Europe/Paris");
  CHECK(a.complete_after == "2w");
  CHECK_FALSE(EdgeOf(f, "dagster/a", "dagster/b").reads);
  CHECK(EdgeOf(f, "dagster/a", "dagster/b").known == "assumed");
  CHECK(EdgeOf(f, "dagster/b", "dagster/c").reads == R"({"window":[-3,0]})");
  const JobFact& both = JobOf(f, "dagster/x/both");
  CHECK(both.writes == std::vector<std::string>{"dagster/a", "dagster/b"});
  CHECK(both.separable == false);
  CHECK(both.pool == "wh");
  CHECK(both.cells_per_run == "all");
  CHECK(JobOf(f, "dagster/x/c").schedule->on == std::vector<std::string>{"dagster/b"});
  Folder folder;
  Diagnostics diagnostics;
  CHECK(
      Named("dagster")
          .run({{folder.Write("x.json", R"({"errors": [{"message": "no field pools"}]})")}, {}}, diagnostics)
          .empty());
  CHECK(Format(diagnostics).find("no field pools") != std::string::npos);
}

TEST_CASE("SQLMesh: kinds, units, versions") {
  const std::string head = R"({"versions": {}, "snapshots": [)";
  const auto model = [](const std::string& name, const std::string& node, const std::string& more = "") {
    return R"({"name": "\"db\".\"s\".\")" + name +
           R"(\"", "fingerprint": {"data_hash": "1"}, "node": {"name": "s.)" + name + "\", " + node +
           R"(}, "parents": [], "intervals": [[1704067200000, 1704153600000]])" + more + "}";
  };
  const std::string by_time =
      R"("kind": {"name": "INCREMENTAL_BY_TIME_RANGE", "time_column": {"column": "\"ds\""}, "lookback": 2}, "dialect": "duckdb")";
  const Facts f = FactsOfFile(
      "sqlmesh",
      head +
          model(
              "w",
              by_time +
                  R"(, "cron": "@weekly", "start": "1 week ago", "query": "SELECT * FROM s.w JOIN other.t USING (x) JOIN s.k USING (y) WHERE 1 = 1", "default_catalog": "db")") +
          "," +
          model(
              "k",
              R"("kind": {"name": "INCREMENTAL_BY_UNIQUE_KEY", "unique_key": ["\"id\""]}, "cron": "@daily")") +
          "," + model("q", by_time + R"(, "cron": "0 0 1 */3 *", "start": "2024-01-01")") + "," +
          model("old", R"("kind": {"name": "VIEW"}, "owner": "a")", R"(, "created_ts": 1)") + "," +
          model("old", R"("kind": {"name": "FULL"}, "owner": "b")", R"(, "created_ts": 2)") +
          R"(], "environments": {}})",
      "state.json");
  const DatasetFact& w = DatasetOf(f, "sqlmesh/db.s.w");
  CHECK(w.partitions[0].grain == "day");
  CHECK(w.partitions[0].column == "ds");
  CHECK(w.partitions[0].first == "2024-01-01T00:00:00Z");  // relative starts are no dates
  CHECK(w.write.mode == "replace");
  CHECK((*w.built) == std::vector<std::string>{"2024-01-01T00:00:00Z/2024-01-02T00:00:00Z"});
  CHECK(DatasetOf(f, "sqlmesh/db.s.q").partitions[0].grain == "month");
  CHECK(DatasetOf(f, "sqlmesh/db.s.k").write.key == std::vector<std::string>{"id"});
  CHECK(DatasetOf(f, "sqlmesh/db.s.old").owner == "b");
  CHECK(DatasetOf(f, "sqlmesh/db.s.old").write.mode == "whole");
  EdgeOf(f, "sqlmesh/db.s.w", "sqlmesh/db.s.w");
  CHECK(DatasetOf(f, "sqlmesh/db.other.t").kind == "source");
  EdgeOf(f, "sqlmesh/db.other.t", "sqlmesh/db.s.w");
  CHECK(JobOf(f, "sqlmesh/s.w").schedule->cron == "0 0 * * 0");
  CHECK(JobOf(f, "sqlmesh/s.w").schedule->rewrites == "3d");
}

TEST_CASE("SQL that moves rows: who reads, who is written") {
  const auto text = [](const std::string& sql) {
    const SqlMoves moves = MovesOf(sql);
    std::string out;
    for (const SqlMove& m : moves.moves) {
      std::vector<std::string> from;
      for (const SqlTable& t : m.from) from.push_back(t.name);
      out += (out.empty() ? "" : "; ") + m.to.name + " <- " + Join(from, ",");
    }
    return out;
  };
  CHECK(text("insert into a.b select * from c.d join e using (x)") == "a.b <- c.d,e");
  CHECK(text("delete from t where day = 1; insert into t select * from s") == "t <- ; t <- s");
  CHECK(text("create temp table x as select * from s; insert overwrite table t select * from x") == "t <- s");
  CHECK(text("merge into t using s on t.id = s.id when matched then update set a = 1") == "t <- s");
  CHECK(text("with q as (select * from s) insert into t select * from q") == "t <- s");
  CHECK(text("create or replace table `p.d.t` as select 1 from u") == "p.d.t <- u");
  CHECK(text("create table t (a int)") == "");
  CHECK(text("select a into t from s") == "t <- s");
  CHECK(text("update t set a = s.a from s where t.id = s.id") == "t <- s");
  CHECK(text("copy into @stage/x from t") == "");
  CHECK(text("select 1 from t") == "");
  const SqlMoves templated = MovesOf("insert into {{ params.schema }}.t select * from {{ params.schema }}.s");
  REQUIRE(templated.moves.size() == 1);
  CHECK(templated.moves[0].to.jinja);
  CHECK(MovesOf("select 1 from {% if x %}a{% else %}b{% endif %}").hidden);
}

TEST_CASE("Argo: order, schedules, what is declared") {
  const Facts f = FactsOfFile("argo", R"(apiVersion: argoproj.io/v1alpha1
kind: CronWorkflow
metadata: {name: nightly, annotations: {backreach/owner: core}}
spec:
  schedules: ["0 3 * * *", "0 4 * * 0"]
  timezone: Europe/Berlin
  concurrencyPolicy: Forbid
  workflowSpec:
    entrypoint: main
    templates:
      - name: main
        dag:
          tasks:
            - {name: load, template: loader}
            - {name: build, depends: "load.Succeeded || load.Skipped", template: sql, arguments: {parameters: [{name: q, value: "insert into mart.t select * from raw.s"}]}}
            - {name: models, dependencies: [build], template: dbt}
      - name: loader
        synchronization: {mutexes: [{name: wh}]}
        container: {image: x, command: [load]}
        outputs: {artifacts: [{name: o, s3: {bucket: lake, key: raw/s}}, {name: p, s3: {bucket: lake, key: "{{inputs.parameters.d}}"}}]}
      - name: sql
        container: {image: x, args: [run]}
      - name: dbt
        container: {image: dbt, command: [dbt], args: [run, --select, fct_orders]}
)",
                              "nightly.yaml");
  const JobFact& build = JobOf(f, "argo/nightly.build");
  CHECK(build.after == std::vector<std::string>{"argo/nightly.load"});
  CHECK(build.writes == std::vector<std::string>{"mart.t"});
  CHECK(build.schedule->cron == "0 3 * * * | 0 4 * * 0");
  CHECK(build.schedule->max_runs == 1);
  CHECK(build.owner == "core");
  EdgeOf(f, "raw.s", "mart.t");
  const JobFact& load = JobOf(f, "argo/nightly.load");
  CHECK(load.writes == std::vector<std::string>{"s3://lake/raw/s"});
  CHECK(load.pool == "argo/mutex/wh");
  CHECK(f.pools[0].slots == 1);
  REQUIRE(f.unresolved.size() == 1);
  CHECK(f.unresolved[0].what == "template");
  const JobFact& models = JobOf(f, "argo/nightly.models");
  REQUIRE(models.dbt_runs.size() == 1);
  CHECK(models.dbt_runs[0].select == std::vector<std::string>{"fct_orders"});
}

TEST_CASE("Kestra: order through what holds tasks, flows that start flows") {
  Folder folder;
  Diagnostics diagnostics;
  const std::string a = folder.Write("a.yml", R"(id: a
namespace: n
tasks:
  - id: both
    type: io.kestra.plugin.core.flow.Parallel
    tasks:
      - {id: x, type: io.kestra.plugin.jdbc.postgresql.Query, sql: "insert into m.x select * from r.x"}
      - {id: y, type: io.kestra.plugin.core.log.Log, message: hi}
  - id: last
    type: io.kestra.plugin.gcp.gcs.Upload
    to: gs://partner/out.csv
triggers:
  - {id: t, type: io.kestra.plugin.core.trigger.Schedule, cron: "0 2 * * *", timezone: Asia/Tokyo}
)"),
                    b = folder.Write("b.yml", R"(id: b
namespace: n
tasks:
  - {id: first, type: io.kestra.plugin.core.flow.Subflow, namespace: n, flowId: a}
triggers:
  - id: after
    type: io.kestra.plugin.core.trigger.Flow
    preconditions: {id: p, flows: [{namespace: n, flowId: a}]}
)");
  const auto facts = Named("kestra").run({{a, b}, {}}, diagnostics);
  REQUIRE_MESSAGE(!diagnostics.has_errors(), Format(diagnostics));
  const Facts& f = facts[0].facts;
  CHECK(JobOf(f, "kestra/n.a.last").after == std::vector<std::string>{"kestra/n.a.x", "kestra/n.a.y"});
  CHECK(JobOf(f, "kestra/n.a.x").schedule->timezone == "Asia/Tokyo");
  CHECK(JobOf(f, "kestra/n.b.first").after == std::vector<std::string>{"kestra/n.a.last"});
  CHECK(JobOf(f, "kestra/n.b.first").starts == std::vector<std::string>{"kestra/n.a.x", "kestra/n.a.y"});
  EdgeOf(f, "r.x", "m.x");
  REQUIRE(f.extracts.size() == 1);
  CHECK(f.extracts[0].destination == "gs://partner/out.csv");
}

TEST_CASE("bigquery-etl: partitions, offsets, the past") {
  Folder folder;
  const auto table = [&](const std::string& name, const std::string& text) {
    const auto at = std::filesystem::path(folder.Write("x", "")).parent_path() / "sql/p/d" / name;
    std::filesystem::create_directories(at);
    std::ofstream(at / "metadata.yaml") << text;
    return at.parent_path().parent_path().parent_path().string();
  };
  table("late_v1", R"(owners: [a@example.com]
scheduling: {dag_name: bqetl_x, depends_on_past: true, date_partition_offset: -27, referenced_tables: [[p, d, src_v1]]}
bigquery: {time_partitioning: {type: day, field: day, expiration_days: 775}}
)");
  table("src_v1",
        "scheduling: {dag_name: bqetl_x, date_partition_parameter: null, depends_on: [{task_id: d__late__v1, "
        "dag_name: bqetl_x}]}\n");
  const std::string root = table("view", "labels: {}\n");
  std::ofstream(std::filesystem::path(root) / "dags.yaml")
      << "bqetl_x: {schedule_interval: 0 3 * * *, default_args: {owner: o@example.com, start_date: "
         "'2020-01-01'}}\n";
  Diagnostics diagnostics;
  const auto facts = Named("bqetl").run({{root}, {}}, diagnostics);
  REQUIRE_MESSAGE(!diagnostics.has_errors(), Format(diagnostics));
  const Facts& f = facts[0].facts;
  const DatasetFact& late = DatasetOf(f, "bigquery/p.d.late_v1");
  CHECK(late.partitions[0].grain == "day");
  CHECK(late.run_date_offset == "27d");
  CHECK(late.retention == "775d");
  CHECK(late.write.mode == "replace");
  CHECK(DatasetOf(f, "bigquery/p.d.src_v1").write.mode == "whole");
  CHECK(JobOf(f, "bqetl/bqetl_x.d__late__v1").sequential);
  CHECK(JobOf(f, "bqetl/bqetl_x.d__late__v1").schedule->cron == "0 3 * * *");
  CHECK(JobOf(f, "bqetl/bqetl_x.d__src__v1").after == std::vector<std::string>{"bqetl/bqetl_x.d__late__v1"});
  CHECK(EdgeOf(f, "bigquery/p.d.late_v1", "bigquery/p.d.late_v1").reads == R"({"window":[-1,-1]})");
  EdgeOf(f, "bigquery/p.d.src_v1", "bigquery/p.d.late_v1");
}

TEST_CASE("Airflow: relations between DAGs, mappers, moves") {
  const auto dag = [](const std::string& id, const std::string& timetable, const std::string& tasks) {
    return R"({"__version": 3, "dag": {"dag_id": ")" + id + R"(", "timezone": "UTC", "timetable": )" +
           timetable + R"(, "dag_dependencies": [], "tasks": [)" + tasks + "]}}";
  };
  const auto task = [](const std::string& id, const std::string& more) {
    return R"({"__type": "operator", "__var": {"task_id": ")" + id + "\"" + more + "}}";
  };
  const std::string none = R"({"__type": "airflow.timetables.simple.NullTimetable", "__var": {}})";
  const Facts f = FactsOfFile(
      "airflow",
      "[" +
          dag("up", none,
              task(
                  "load",
                  R"(, "task_type": "SQLExecuteQueryOperator", "template_fields": ["sql", "conn_id"], "conn_id": "wh", "sql": ["create temp table x as select * from raw.o", "insert into public.fct select * from x"])") +
                  "," + task("go", R"(, "task_type": "TriggerDagRunOperator", "trigger_dag_id": "down")")) +
          "," +
          dag("down", none,
              task(
                  "wait",
                  R"(, "task_type": "ExternalTaskSensor", "external_dag_id": "up", "external_task_ids": ["load"], "downstream_task_ids": ["end"])") +
                  "," +
                  task(
                      "end",
                      R"(, "task_type": "GCSToBigQueryOperator", "bucket": "b", "source_objects": ["x/*.csv"], "destination_project_dataset_table": "p:d.t$20260101")")) +
          "," +
          dag("mapped",
              R"({"__type": "airflow.timetables.simple.PartitionedAssetTimetable", "__var": {"asset_condition": {"__type": "asset_all", "objects": [
              {"__type": "asset", "name": "d", "uri": "s3://l/d"}, {"__type": "asset_any", "objects": [{"__type": "asset", "name": "e", "uri": "s3://l/e"}, {"__type": "asset", "name": "g", "uri": "s3://l/g"}]}]},
              "default_partition_mapper": {"__type": "airflow.partition_mappers.temporal.StartOfMonthMapper", "__var": {}}, "partition_mapper_config": [[{"__type": "asset_ref", "name": "e"},
              {"__type": "airflow.partition_mappers.base.RollupMapper", "__var": {"window": {"__type": "airflow.partition_mappers.window.WeekWindow", "__var": {"direction": "backward"}}}}]]}})",
              task(
                  "t",
                  R"(, "task_type": "EmptyOperator", "inlets": [{"__type": "asset", "__var": {"name": "d", "uri": "s3://l/d"}}, {"__type": "asset", "__var": {"name": "e", "uri": "s3://l/e"}}],
                               "outlets": [{"__type": "asset", "__var": {"name": "m", "uri": "postgres://h:1/shop/public/fct"}}])")) +
          "]",
      "dags.json");
  CHECK(JobOf(f, "airflow/down.wait").after == std::vector<std::string>{"airflow/up.go", "airflow/up.load"});
  CHECK(JobOf(f, "airflow/up.go").starts == std::vector<std::string>{"airflow/down.wait"});
  // What the SQL calls public.fct is the one asset that ends so.
  CHECK(JobOf(f, "airflow/up.load").writes == std::vector<std::string>{"postgres://h:1/shop/public/fct"});
  EdgeOf(f, "airflow/wh/raw.o", "postgres://h:1/shop/public/fct");
  EdgeOf(f, "gs://b/x", "bigquery/p.d.t");
  CHECK(JobOf(f, "airflow/mapped.t").schedule->condition == "s3://l/d & (s3://l/e | s3://l/g)");
  CHECK(EdgeOf(f, "s3://l/d", "postgres://h:1/shop/public/fct").reads == "\"same\"");
  CHECK(EdgeOf(f, "s3://l/e", "postgres://h:1/shop/public/fct").reads ==
        R"({"window":[-1,0],"unit":"week"})");
}
