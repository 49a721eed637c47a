#!/usr/bin/env bash
# The DAG that the Airflow feed writes, run by a real Airflow: it succeeds, and runs the plan's steps in its order.
# The commands' program is a stand-in that writes down how it was called.
# And the dates of backfills: a real Airflow's dry run of them is exactly the runs that a plan's cells need.
set -euo pipefail
program=$(realpath "$1"); root=$(cd "$(dirname "$0")/../.." && pwd)
venv=${BACKREACH_VENVS:-$root/build/venvs}/airflow
[ -e "$venv/ready" ] || { echo "skipped: no Airflow here (tests/real/environments.sh airflow)"; exit 77; }
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
export BACKREACH_STORE=$work/graph.db
for what in "dbt $root/examples/shop/target" "registry $root/examples/shop/registry.yml"; do "$program" ingest $what --quiet; done
"$program" plan fct_orders --range 2026-03-01..2026-03-05 --range 2026-03-10..2026-03-31 --now 2026-04-20T09:00Z --accept append-duplicates --format json --out "$work/plan.json" --quiet
mkdir -p "$work/dags" "$work/bin"
"$program" feed "$work/plan.json" --to airflow --out "$work/dags" --max-parallel 2 --quiet
printf '#!/bin/sh\necho "$*" >> %s/calls\n' "$work" > "$work/bin/dbt"; chmod +x "$work/bin/dbt"
export AIRFLOW_HOME=$work/airflow AIRFLOW__CORE__DAGS_FOLDER=$work/dags AIRFLOW__CORE__LOAD_EXAMPLES=False AIRFLOW__LOGGING__LOGGING_LEVEL=ERROR
export AIRFLOW__USAGE_DATA_COLLECTION__ENABLED=False PATH=$work/bin:$PATH
"$venv/bin/python" - "$work" <<'P'
import glob, importlib.util, json, sys
from airflow.utils import db
db.initdb()
work = sys.argv[1]
spec = importlib.util.spec_from_file_location("plan_dag", glob.glob(work + "/dags/*.py")[0])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
run = module.dag.test()
assert str(run.state).endswith("success"), run.state
calls = open(work + "/calls").read().splitlines()
plan = json.load(open(work + "/plan.json"))
tests = [i for i, call in enumerate(calls) if call.startswith("test ")]
# Which calls run a step: those that select it with the words of its own commands beside.
def runs(step):
    out = []
    for words in step["methods"][0]["argv"]:
        name, rest = words[words.index("--select") + 1], words[words.index("--select") + 2:]
        (one,) = [i for i, call in enumerate(calls) if i not in tests and name in call.split() and call.endswith(" ".join(rest))]
        out.append(one)
    return out
at = {s["id"]: runs(s) for s in plan["steps"]}
assert set(sum(at.values(), [])) | set(tests) == set(range(len(calls))), (at, calls)
assert len(tests) == len({s["wave"] for s in plan["steps"]}), calls
for step in plan["steps"]:
    for before in step["after"]:
        assert max(at[before]) < min(at[step["id"]]), (step["id"], before, calls)
print(f"{len(calls)} commands of {len(plan['steps'])} steps ran in the plan's order")
P
"$venv/bin/python" "$root/tests/real/airflow_dates.py" "$program" "$work"
