#!/usr/bin/env bash
# strategies.py on DuckDB, and on a PostgreSQL that is started for it where one is installed.
set -euo pipefail
program=$(realpath "$1"); root=$(cd "$(dirname "$0")/../.." && pwd)
venv=${BACKREACH_VENVS:-$root/build/venvs}/dbt
[ -e "$venv/ready" ] || { echo "skipped: no dbt here (tests/real/environments.sh dbt)"; exit 77; }
export PATH=$venv/bin:$PATH
python "$root/tests/real/strategies.py" "$program" duckdb

on_postgres() {
  for name in live scratch; do "$POSTGRES_BIN/createdb" "$name"; done
  export STRATEGIES_PGHOST=$PGHOST STRATEGIES_PGPORT=$PGPORT STRATEGIES_PGUSER=$PGUSER
  python "$root/tests/real/strategies.py" "$program" postgres
}
export -f on_postgres; export root program
"$root/tests/real/with_postgres.sh" bash -c on_postgres || { status=$?; [ $status -eq 77 ] || exit $status; }
