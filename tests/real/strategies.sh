#!/usr/bin/env bash
# strategies.py on DuckDB, and on a PostgreSQL that is started for it where one is installed.
set -euo pipefail
program=$(realpath "$1"); root=$(cd "$(dirname "$0")/../.." && pwd)
venv=${BACKREACH_VENVS:-$root/build/venvs}/dbt
[ -e "$venv/ready" ] || { echo "skipped: no dbt here (tests/real/environments.sh dbt)"; exit 77; }
export PATH=$venv/bin:$PATH
python "$root/tests/real/strategies.py" "$program" duckdb

bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
[ -x "$bin/initdb" ] || { echo "left out: no PostgreSQL here (the package postgresql)"; exit 0; }
data=$(mktemp -d)
as=()  # the server refuses to run as root
if [ "$(id -u)" -eq 0 ]; then chown nobody "$data"; as=(setpriv --reuid=nobody --clear-groups --); fi
stop() { "${as[@]}" "$bin/pg_ctl" -D "$data/db" -m immediate stop >/dev/null 2>&1 || true; rm -rf "$data"; }
trap stop EXIT
cd "$data"
"${as[@]}" "$bin/initdb" -D "$data/db" -U postgres --auth=trust -E UTF8 >/dev/null
export STRATEGIES_PGHOST=$data STRATEGIES_PGPORT=54329 STRATEGIES_PGUSER=postgres
"${as[@]}" "$bin/pg_ctl" -D "$data/db" -w -t 900 -l "$data/log" -o "-k $data -p $STRATEGIES_PGPORT -c listen_addresses= -c fsync=off" start >/dev/null
for name in live scratch; do "$bin/createdb" -h "$data" -p "$STRATEGIES_PGPORT" -U postgres "$name"; done
python "$root/tests/real/strategies.py" "$program" postgres
