// One small input of each tool, with as many of its forms as fit.

#include "samples.hpp"

namespace backreach {

// clang-format off: it takes braces of JSON for ours
std::vector<ToolSample> ToolSamples() {
  const std::string snowflake =
      "QUERY_ID,QUERY_TEXT,DATABASE_NAME,SCHEMA_NAME,SESSION_ID,USER_NAME,EXECUTION_STATUS,START_TIME\n"
      "q1,\"copy into @s/x/ from (with a as (select * from \"\"T\"\" where d = 'x')\nselect * from "
      "a)\",D,S,1,U,SUCCESS,"
      "2026-03-02 03:00:00 Z\nq2,create temp table p as select * from t,D,S,1,U,SUCCESS,2026-03-02 03:00:01 "
      "Z\n"
      "q3,alter table t swap with p,D,S,1,U,FAIL,2026-03-02 03:00:02 Z\n";
  const std::string bigquery =
      R"({"job_id":"a","user_email":"u","query":"EXPORT DATA OPTIONS(uri='gs://b/*') AS SELECT * FROM `p.d.t`","job_type":"QUERY",)"
      R"("statement_type":"EXPORT_DATA","referenced_tables":[{"project_id":"p","dataset_id":"d","table_id":"t"}],"project_id":"p",)"
      R"("error_result":null,"labels":[{"key":"airflow-dag","value":"n"}],"creation_time":"2026-03-02T03:00:00Z"})"
      "\n";
  const std::string csvlog =
      "2026-03-02 01:00:00.015 UTC,\"u\",\"dw\",1,\"h:1\",69a4.1,1,\"idle\",2026-03-02 01:00:00 "
      "UTC,3/1,0,LOG,00000,"
      "\"statement: copy core.t to stdout\",,,,,,,,,\"psql\",\"client backend\",,0\n"
      "2026-03-02 01:00:01.015 UTC,\"u\",\"dw\",1,\"h:1\",69a4.1,2,\"COPY\",2026-03-02 01:00:00 "
      "UTC,3/1,0,ERROR,57014,"
      "\"canceling statement\",,,,,,\"copy core.t to stdout\",,,\"psql\",\"client backend\",,0\n";
  const std::string script =
      "do $$ begin copy t to '/x'; end $$;\nselect a into b from c;\ninsert into x select * from (y join z "
      "using (i)), 'f.csv';\n"
      "merge into t using (select * from s) q on q.i = t.i when matched then delete;\n\\copy t to "
      "'x'\nexecute immediate 'call p()';\n";
  const std::string events =
      R"({"eventType": "START", "eventTime": "2026-03-02T01:00:00Z", "run": {"runId": "r1", "facets": {"nominalTime":
      {"nominalStartTime": "2026-03-01T00:00:00Z", "nominalEndTime": "2026-03-02T00:00:00Z"}, "parent": {"job": {"namespace": "etl", "name": "nightly"}}}},
      "job": {"namespace": "etl", "name": "load", "facets": {"ownership": {"owners": [{"name": "team:a"}]}}}, "outputs": [],
      "inputs": [{"namespace": "s3://Lake", "name": "raw/dt=2026-03-01/x", "inputFacets": {"subset": {"inputCondition":
      {"type": "partition", "partitions": [{"dimensions": {"dt": "2026-03-01"}}]}}}}]}
{"eventType": "COMPLETE", "eventTime": "2026-03-02T01:02:00Z", "run": {"runId": "r1"}, "job": {"namespace": "etl", "name": "load"},
      "inputs": [], "outputs": [{"namespace": "postgres://db:5432", "name": "shop.public.orders", "facets": {"symlinks":
      {"identifiers": [{"namespace": "hive", "name": "db.orders"}]}, "columnLineage": {"fields": {"a": {"inputFields":
      [{"namespace": "s3://Lake", "name": "raw/dt=2026-03-01/x", "field": "b", "transformations": []}]}}}}}]}
)";
  const std::string dagster =
      R"x({"form": "dagster-assets/1", "location": "x", "assets": [{"key": ["a", "b"], "op": "a", "executable": true, "owners": ["team:x"], "pools": ["p"],
      "backfill_policy": {"max_partitions_per_run": 7}, "automation_condition": "on_cron(0 9 * * 1, UTC)", "written_together": [["a", "b"]],
      "partitions": {"kind": "multi", "dimensions": {"date": {"kind": "time", "cron": "0 6 * * *", "timezone": "America/New_York", "start": "2026-10-01T00:00:00-04:00",
      "end": "2026-11-20T00:00:00-05:00", "end_offset": -3, "fmt": "%Y-%m-%d", "exclusions": []}, "region": {"kind": "static", "keys": ["us", "eu"]}}},
      "deps": [{"key": ["a", "b"], "inferred": false, "mapping": {"kind": "multi", "dimensions": {"date": {"to": "date", "mapping": {"kind": "time_window", "start_offset": -1, "end_offset": -1}},
      "region": {"to": "region", "mapping": {"kind": "static", "downstream_by_upstream": {"us": ["us"]}}}}}}]}]})x";
  const std::string answer =
      R"x({"data": {"assetNodes": [{"assetKey": {"path": ["a"]}, "opNames": ["a"], "repository": {"location": {"name": "x"}}, "partitionDefinition": {"type": "TIME_WINDOW",
      "description": "Weekly, starting 2026-01-04 Europe/Paris. End offsetted by -2 partitions.", "fmt": "%Y-%m-%d", "dimensionTypes": [{"name": "default", "description": "", "type": "TIME_WINDOW"}]},
      "partitionKeysByDimension": [{"name": "default", "partitionKeys": ["2026-01-04"]}], "automationCondition": {"label": null, "expandedLabel": ["any_deps_updated"]},
      "dependencies": [{"asset": {"assetKey": {"path": ["a"]}}, "partitionMapping": {"className": "TimeWindowPartitionMapping",
      "description": "The start and end of the upstream time window is offsetted by -3 and 0 partitions respectively."}}]}]}})x";
  const std::string sqlmesh =
      R"x({"versions": {}, "snapshots": [{"name": "\"d\".\"s\".\"t\"", "fingerprint": {"a": 1}, "parents": [{"name": "\"d\".\"s\".\"u\""}], "intervals": [[1704067200000, 1704153600000]],
      "node": {"name": "s.t", "cron": "@weekly", "cron_tz": "Asia/Tokyo", "start": "2024-01-01", "end": "2024-05-05", "owner": "x", "dialect": "duckdb", "default_catalog": "d",
      "kind": {"name": "INCREMENTAL_BY_TIME_RANGE", "time_column": {"column": "\"ds\""}, "lookback": 2, "batch_size": 3}, "audits": [["unique_values", {"columns": "(a, b)"}]],
      "query": {"sql": "SELECT * FROM s.t JOIN r.x USING (a)"}}}], "environments": {"prod": {"environment": {"snapshots": [{"name": "\"d\".\"s\".\"t\"", "fingerprint": {"a": 1}}]}}}})x";
  const std::string argo =
      "kind: CronWorkflow\nmetadata: {name: n, annotations: {backreach/reads: 'a, b'}}\nspec:\n  schedule: 0 "
      "3 * * "
      "*\n  concurrencyPolicy: Forbid\n  workflowSpec:\n    entrypoint: m\n"
      "    templates:\n      - name: m\n        dag: {tasks: [{name: x, template: t}, {name: y, depends: "
      "x.Succeeded, "
      "template: t}]}\n      - name: t\n"
      "        container: {image: i, command: [dbt], args: [run, --select, a]}\n        outputs: {artifacts: "
      "[{name: o, "
      "s3: {bucket: b, key: k}}]}\n";
  const std::string kestra =
      "id: a\nnamespace: n\ntasks:\n  - id: d\n    type: io.kestra.plugin.core.flow.Dag\n    tasks:\n      - "
      "task: "
      "{id: x, type: q.jdbc.Query, sql: insert into t select * from s}\n"
      "      - task: {id: y, type: io.kestra.plugin.gcp.gcs.Upload, to: 'gs://x'}\n        dependsOn: [x]\n"
      "triggers:\n  - {id: f, type: io.kestra.plugin.core.trigger.Flow, conditions: [{namespace: n, flowId: "
      "a}]}\n";
  const std::string bqetl =
      "owners: [a@example.com]\nscheduling: {dag_name: bqetl_x, depends_on_past: true, "
      "date_partition_offset: -27, "
      "referenced_tables: [[p, d, src]], depends_on: [{task_id: t}]}\n"
      "bigquery: {time_partitioning: {type: day, field: day, expiration_days: 775}}\n";
return {{"queries", snowflake, nullptr, "input", "snowflake"},
        {"queries", bigquery, nullptr, "input", "bigquery"},
        {"queries", csvlog, nullptr, "input", "postgres"},
        {"queries", script, nullptr, "input", "databricks"},
        {"queries", script, nullptr, "input", "duckdb"},
        {"openlineage", events},
        {"dagster", dagster},
        {"dagster", answer},
        {"sqlmesh", sqlmesh},
        {"argo", argo},
        {"kestra", kestra},
        {"bqetl", bqetl, nullptr, "p/d/t/metadata.yaml"}};
}
// clang-format on

}  // namespace backreach
