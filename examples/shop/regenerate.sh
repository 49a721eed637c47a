#!/usr/bin/env bash
# Writes examples/shop/target and serialized_dags.jsonl anew with a real dbt and a real Airflow (tests/real/environments.sh).
# Of dbt's manifest the bodies of dbt's own macros are left out, and paths of the machine that ran it.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd); root=$(cd "$here/../.." && pwd)
"$root/tests/real/environments.sh" dbt airflow
venvs=${BACKREACH_VENVS:-$root/build/venvs}
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cp -r "$here/dbt" "$work/dbt"; cd "$work/dbt"
export SHOP_DB=$work/shop.duckdb DBT_PROFILES_DIR=$work/dbt
"$venvs/dbt/bin/dbt" --quiet run-operation make_raw
"$venvs/dbt/bin/dbt" --quiet build --event-time-start 2025-12-01 --event-time-end 2026-04-20
mkdir -p "$here/target"
python3 - "$work" "$here/target" <<'P'
import json, sys
work, out = sys.argv[1:]
manifest = json.load(open(f"{work}/dbt/target/manifest.json"))
manifest["macros"] = {k: v for k, v in manifest["macros"].items() if v["package_name"] == "shop"}
manifest["docs"] = {k: v for k, v in manifest["docs"].items() if v["package_name"] == "shop"}
for name, document in (("manifest", manifest), ("run_results", json.load(open(f"{work}/dbt/target/run_results.json")))):
    text = json.dumps(document, indent=1, ensure_ascii=False).replace(work + "/", "")
    open(f"{out}/{name}.json", "w").write(text + "\n")
P
export AIRFLOW_HOME=$work/airflow AIRFLOW__CORE__DAGS_FOLDER=$here/airflow AIRFLOW__CORE__LOAD_EXAMPLES=False AIRFLOW__LOGGING__LOGGING_LEVEL=ERROR
export AIRFLOW__USAGE_DATA_COLLECTION__ENABLED=False PYTHONDONTWRITEBYTECODE=1
"$venvs/airflow/bin/python" - "$here" <<'P'
import json, sys
from airflow.utils import db
db.initdb()
from airflow.serialization.serialized_objects import DagSerialization
sys.path.insert(0, sys.argv[1] + "/airflow")
import shop_dags
from airflow.sdk import DAG
with open(sys.argv[1] + "/serialized_dags.jsonl", "w") as out:
    for dag in sorted((d for d in vars(shop_dags).values() if isinstance(d, DAG)), key=lambda d: d.dag_id):
        out.write(json.dumps({"dag_id": dag.dag_id, "data": json.loads(json.dumps(DagSerialization.to_dict(dag)).replace(sys.argv[1], "/opt/shop"))}) + "\n")
P
echo "written: $here/target/manifest.json, run_results.json, $here/serialized_dags.jsonl"
