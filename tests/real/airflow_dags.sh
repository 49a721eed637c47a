#!/usr/bin/env bash
# DAG files of ours, serialized by a real Airflow into its own database: what backreach reads of the dump is what the files say.
#   tests/real/airflow_dags.sh PROGRAM [airflow|airflow2]
set -euo pipefail
program=$(realpath "$1"); which=${2:-airflow}; root=$(cd "$(dirname "$0")/../.." && pwd)
venv=${BACKREACH_VENVS:-$root/build/venvs}/$which
[ -e "$venv/ready" ] || { echo "skipped: no such Airflow here (tests/real/environments.sh $which)"; exit 77; }
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
mkdir -p "$work/dags"
cat > "$work/dags/ours.py" <<'P'
from datetime import datetime, timedelta
try:
    from airflow.sdk import DAG, Asset
    from airflow.sdk.bases.operator import BaseOperator
    from airflow.sdk import CronDataIntervalTimetable
except ImportError:
    from airflow import DAG
    from airflow.datasets import Dataset as Asset
    from airflow.models.baseoperator import BaseOperator
    from airflow.timetables.interval import CronDataIntervalTimetable
try:
    from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator
    from airflow.providers.standard.sensors.external_task import ExternalTaskSensor
except ImportError:
    from airflow.operators.trigger_dagrun import TriggerDagRunOperator
    from airflow.sensors.external_task import ExternalTaskSensor

class SQLExecuteQueryOperator(BaseOperator):
    template_fields = ("sql", "conn_id")
    def __init__(self, sql, conn_id="wh", **more):
        super().__init__(**more)
        self.sql, self.conn_id = sql, conn_id
    def execute(self, context): pass

START = datetime(2026, 1, 1)
raw, fct = Asset("s3://lake/raw"), Asset("postgres://h:5432/shop/public/fct")
with DAG("nightly", schedule=CronDataIntervalTimetable("0 2 * * *", "UTC"), start_date=START, catchup=False, max_active_runs=3, default_args={"owner": "core"}):
    load = SQLExecuteQueryOperator(task_id="load", outlets=[raw], sql="insert into staging.raw select * from src.orders", pool_slots=2)
    build = SQLExecuteQueryOperator(task_id="build", inlets=[raw], outlets=[fct], depends_on_past=True,
                                    sql=["delete from public.fct where day = '{{ ds }}'", "insert into public.fct select * from staging.raw where day = '{{ ds }}'"])
    templated = SQLExecuteQueryOperator(task_id="templated", sql="insert into {{ params.t }} select * from staging.raw")
    go = TriggerDagRunOperator(task_id="go", trigger_dag_id="after")
    load >> build >> [go, templated]
with DAG("after", schedule=None, start_date=START, catchup=False):
    SQLExecuteQueryOperator(task_id="first", sql="select 1 from public.fct")
with DAG("waits", schedule=CronDataIntervalTimetable("0 5 * * *", "UTC"), start_date=START, catchup=False):
    ExternalTaskSensor(task_id="wait", external_dag_id="nightly", external_task_id="build", execution_delta=timedelta(hours=3))
with DAG("on_assets", schedule=[raw, fct], start_date=START, catchup=False):
    SQLExecuteQueryOperator(task_id="t", sql="select 1 from nowhere.x", outlets=[Asset("s3://lake/report")])
P
export AIRFLOW_HOME=$work/home AIRFLOW__CORE__DAGS_FOLDER=$work/dags AIRFLOW__CORE__LOAD_EXAMPLES=False AIRFLOW__LOGGING__LOGGING_LEVEL=ERROR
export AIRFLOW__USAGE_DATA_COLLECTION__ENABLED=False SCARF_ANALYTICS=false DO_NOT_TRACK=1 BACKREACH_STORE=$work/graph.db
"$venv/bin/airflow" db migrate >/dev/null 2>&1
"$venv/bin/airflow" dags reserialize >/dev/null 2>&1
"$venv/bin/python" - "$work" <<'P'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1] + "/home/airflow.db")
with open(sys.argv[1] + "/dump.sql", "w") as out:
    out.write("\n".join(db.iterdump()) + "\n")
P
"$program" ingest airflow "$work/dump.sql" --quiet
"$program" export --out "$work/graph.json" --quiet
python3 - "$work/graph.json" "$which" <<'P'
import json, sys
g, version = json.load(open(sys.argv[1])), sys.argv[2]
jobs = {j["name"].split("/", 1)[1]: j for j in g["jobs"]}
assert set(jobs) == {"nightly.load", "nightly.build", "nightly.templated", "nightly.go", "after.first", "waits.wait", "on_assets.t"}, sorted(jobs)
load, build = jobs["nightly.load"], jobs["nightly.build"]
assert load["slots"] == 2 and load["owner"] == "core" and load["schedule"]["cron"] == "0 2 * * *", load
assert load["schedule"]["class"] == "CronDataIntervalTimetable" and load["schedule"]["max_runs"] == 3, load["schedule"]
assert load["writes"] == ["airflow/wh/staging.raw", "s3://lake/raw"] and load["reads"] == ["airflow/wh/src.orders"], load
assert build["sequential"] and build["after"] == ["airflow/nightly.load"], build
assert build["writes"] == ["postgres://h:5432/shop/public/fct"], build["writes"]      # the SQL's public.fct is the asset
assert {"s3://lake/raw", "airflow/wh/staging.raw"} <= set(build["reads"]), build["reads"]
assert jobs["nightly.go"]["starts"] == ["airflow/after.first"] and jobs["after.first"]["after"] == ["airflow/nightly.go"], jobs["nightly.go"]
assert jobs["waits.wait"]["after"] == ["airflow/nightly.build"], jobs["waits.wait"]
assert jobs["on_assets.t"]["schedule"]["on"] == ["postgres://h:5432/shop/public/fct", "s3://lake/raw"], jobs["on_assets.t"]
assert any(u["what"] == "template" and "params.t" in u["name"] for u in g["unresolved"]), g["unresolved"]
assert not any("params" in d["name"] for d in g["datasets"])
pools = {p["name"]: p["slots"] for p in g["pools"]}
assert pools.get("default_pool") == 128, pools
print(f"{len(jobs)} tasks of 4 DAGs are what the files of {version} say")
P
