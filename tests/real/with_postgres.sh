#!/usr/bin/env bash
# with_postgres.sh COMMAND...: runs COMMAND with a PostgreSQL of its own (PGHOST, PGPORT, PGUSER say where), which is
# stopped and gone afterwards. Status 77 where no server is installed (the package postgresql).
set -euo pipefail
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
[ -x "$bin/initdb" ] || { echo "skipped: no PostgreSQL here (the package postgresql)"; exit 77; }
data=$(mktemp -d)
as=()  # the server refuses to run as root
if [ "$(id -u)" -eq 0 ]; then chown nobody "$data"; as=(setpriv --reuid=nobody --clear-groups --); fi
stop() { "${as[@]}" "$bin/pg_ctl" -D "$data/db" -m immediate stop >/dev/null 2>&1 || true; rm -rf "$data"; }
trap stop EXIT
export PGHOST=$data PGPORT=54329 PGUSER=postgres POSTGRES_BIN=$bin
here=$PWD
cd "$data"
"${as[@]}" "$bin/initdb" -D "$data/db" -U postgres --auth=trust -E UTF8 --locale=C >/dev/null
"${as[@]}" "$bin/pg_ctl" -D "$data/db" -w -t 900 -l "$data/log" \
  -o "-k $data -p $PGPORT -c listen_addresses= -c fsync=off -c max_connections=100" start >/dev/null
cd "$here"
"$@"
