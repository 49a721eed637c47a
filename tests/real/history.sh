#!/usr/bin/env bash
# What real engines log of statements whose truth is known: PostgreSQL with csvlog, and DuckDB.
#   tests/real/history.sh BACKREACH
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
program=$(realpath "$1")
venv=${BACKREACH_VENVS:-$root/build/venvs}/dbt
[ -e "$venv/ready" ] || { echo "skipped: no DuckDB here (tests/real/environments.sh dbt)"; exit 77; }
export PATH=$venv/bin:$PATH
python "$root/tests/real/history.py" "$program" duckdb
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
[ -x "$bin/initdb" ] || { echo "left out: no PostgreSQL here (the package postgresql)"; exit 0; }
export PATH=$bin:$PATH
data=$(mktemp -d) port=54331
as=()
if [ "$(id -u)" -eq 0 ]; then chown nobody "$data"; as=(setpriv --reuid=nobody --clear-groups --); fi
trap '"${as[@]}" "$bin/pg_ctl" -D "$data/db" -m immediate stop >/dev/null 2>&1 || true; rm -rf "$data"' EXIT
"${as[@]}" "$bin/initdb" -D "$data/db" -U postgres --auth=trust -E UTF8 >/dev/null
"${as[@]}" "$bin/pg_ctl" -D "$data/db" -w -l "$data/log" -o "-k $data -p $port -c listen_addresses='' -c logging_collector=on -c log_destination=csvlog -c log_directory=$data/db/log -c log_filename=pg.log -c log_statement=all -c log_timezone=UTC" start >/dev/null
"$bin/createdb" -h "$data" -p $port -U postgres dw
chmod 711 "$data"
python "$root/tests/real/history.py" "$program" postgres "$data" $port "$data/db/log/pg.csv"
