#!/usr/bin/env bash
# A project that nobody prepared, on a real dbt with DuckDB: two of its days are corrected, the plan's own script is run,
# and every table is compared with a build from nothing. Once as it is, once with all that `init` suspects taken: the
# second plan is smaller, and as right.
set -euo pipefail
program=$(realpath "$1"); root=$(cd "$(dirname "$0")/../.." && pwd)
venv=${BACKREACH_VENVS:-$root/build/venvs}/dbt
[ -e "$venv/ready" ] || { echo "skipped: no dbt here (tests/real/environments.sh dbt)"; exit 77; }
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cp -r "$root/tests/real/days" "$work/dbt"; cd "$work/dbt"
export DBT_PROFILES_DIR=$work/dbt PATH=$venv/bin:$PATH DBT_SEND_ANONYMOUS_USAGE_STATS=false

# One process of dbt a database: its start is most of the time.
cat > calls.py <<'P'
import json, sys
from dbt.cli.main import dbtRunner
for words in map(json.loads, sys.argv[1:]):
    done = dbtRunner().invoke(words)
    if not done.success:
        sys.exit(f"dbt {' '.join(words)}: {done.exception or 'failed'}")
P
window='"--event-time-start", "2026-01-01", "--event-time-end", "2026-03-01"'
raw() { echo "[\"--quiet\", \"run-operation\", \"make_raw\", \"--args\", \"{correction: $1}\"]"; }
DAYS_DB=$work/live.duckdb python calls.py "$(raw false)" "[\"--quiet\", \"run\", $window]"
cp "$work/live.duckdb" "$work/second.duckdb"
DAYS_DB=$work/again.duckdb python calls.py "$(raw true)" "[\"--quiet\", \"run\", $window]"

compare() {
  python - "$1" "$work/again.duckdb" <<'P'
import duckdb, sys
live, again = (duckdb.connect(f, read_only=True) for f in sys.argv[1:3])
wrong = 0
tables = ["visits", "visits_daily", "visits_7d", "share_of_month", "share_daily", "running"]
for table in tables:
    a, b = (sorted(map(str, c.sql(f"select * from {table}").fetchall())) for c in (live, again))
    if a != b:
        wrong += 1
        print(f"{table}: {len(set(a) - set(b))} rows differ from a build from nothing, e.g. {sorted(set(a) - set(b))[:2]}")
print(f"{len(tables) - wrong} tables equal a build from nothing, {wrong} do not")
sys.exit(wrong > 0)
P
}
rebuild() {  # DATABASE STORE
  export DAYS_DB=$1 BACKREACH_STORE=$2
  rm -f backreach_plan_* plan.json
  python calls.py "$(raw true)"
  "$program" plan visits --from 2026-02-10 --to 2026-02-11 --now 2026-03-01T00:00Z --format json --out plan.json --quiet
  "$program" feed plan.json --to dbt --project-dir "$work/dbt" --profiles-dir "$work/dbt" --quiet
  BACKREACH_LOG=$1.log bash backreach_plan_*_dbt.sh >/dev/null
  compare "$1"
  python -c 'import json; t = json.load(open("plan.json")); print(sum(s["partitions"] or 0 for s in t["steps"]))' > "$1.cells"
}
export DAYS_DB=$work/live.duckdb
"$program" ingest dbt target --store "$work/plain.db" --quiet
rebuild "$work/live.duckdb" "$work/plain.db"

cp "$work/plain.db" "$work/said.db"; export BACKREACH_STORE=$work/said.db
"$program" init --for visits --out "$work/registry.yml" --quiet
sed -i 's/^  #- /  - /' "$work/registry.yml"
"$program" ingest registry "$work/registry.yml" --quiet
rebuild "$work/second.duckdb" "$work/said.db"
before=$(cat "$work/live.duckdb.cells"); after=$(cat "$work/second.duckdb.cells")
[ "$after" -le "$before" ] || { echo "$before cells as it is, and $after with all that init suspects"; exit 1; }
echo "$before cells as it is, $after with all that init suspects"
