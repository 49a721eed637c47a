#!/usr/bin/env bash
# The example with a real dbt on DuckDB: build it, correct March, run the plan's script, and compare every table
# with a rebuild from scratch. Before that: selectors as `dbt ls` answers them, and what happens if the blocking hazard is
# not settled.
set -euo pipefail
program=$(realpath "$1"); root=$(cd "$(dirname "$0")/../.." && pwd)
venv=${BACKREACH_VENVS:-$root/build/venvs}/dbt
[ -e "$venv/ready" ] || { echo "skipped: no dbt here (tests/real/environments.sh dbt)"; exit 77; }
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cp -r "$root/examples/shop/dbt" "$work/dbt"; cd "$work/dbt"
export DBT_PROFILES_DIR=$work/dbt SHOP_EXPORTS=$work PATH=$venv/bin:$PATH DBT_SEND_ANONYMOUS_USAGE_STATS=false
chain="stg_orders fct_orders revenue_daily revenue_monthly orders_28d churn_features customer_value"
window="--event-time-start 2026-02-20 --event-time-end 2026-04-20"
vars='{"day_from": "2026-02-21", "day_to": "2026-04-20"}'
build() { SHOP_DB=$1 dbt --quiet run-operation make_raw --args "{correction: $2}"; SHOP_DB=$1 dbt --quiet run --select $chain $window --vars "$vars"; }
build "$work/live.duckdb" false
build "$work/again.duckdb" true

# Selectors, with one model changed since the state that is kept.
export SHOP_DB=$work/live.duckdb BACKREACH_STORE=$work/selectors.db
cat > selectors.yml <<'Y'
selectors:
  - name: without_batches
    definition: {union: [{method: fqn, value: "*"}, {exclude: [{method: config.incremental_strategy, value: microbatch}]}]}
  - name: around
    definition: {method: fqn, value: fct_orders, parents: true, children: true, children_depth: 1, exclude: [{method: path, value: models/staging}]}
  - name: both
    definition: {intersection: [{path: models/marts}, {config.materialized: table}, {exclude: ["revenue_daily+"]}]}
  - name: again
    definition: {union: [{method: selector, value: both}, {method: source, value: raw, childrens_parents: true}]}
  - name: text
    definition: "1+revenue_daily"
Y
dbt --quiet parse --target-path "$work/old"
sed -i 's/customer_id, amount/customer_id, amount + 0 as amount/' models/marts/fct_orders.sql
dbt --quiet parse
"$program" ingest dbt target --quiet
python "$root/tests/real/compare_ls.py" "$program" "$work/old"
cp "$root/examples/shop/dbt/models/marts/fct_orders.sql" models/marts/; rm selectors.yml

# A selector takes one model, though a folder bears its name.
mkdir models/marts/fct_orders
echo "select 1 as one" > models/marts/fct_orders/inside.sql
dbt --quiet parse
"$program" ingest dbt target --quiet
"$program" plan fct_orders --from 2026-03-01 --to 2026-03-02 --now 2026-04-20T09:00Z --accept append-duplicates --format json --out one.json --quiet
selector=$(python -c 'import json; (s,) = [s for s in json.load(open("one.json"))["steps"] if s["dataset"].endswith("fct_orders")]; a = s["methods"][0]["argv"][0]; print(a[a.index("--select") + 1])')
[ "$(dbt --quiet ls --resource-type model --select "$selector")" = shop.marts.fct_orders ] || { echo "$selector takes more than fct_orders"; exit 1; }
rm -r models/marts/fct_orders one.json
dbt --quiet parse

# The correction arrives: raw is mended and staging holds it.
export SHOP_DB=$work/live.duckdb
dbt --quiet run-operation make_raw --args '{correction: true}'
dbt --quiet run --select stg_orders --event-time-start 2026-03-01 --event-time-end 2026-04-02

export BACKREACH_STORE=$work/graph.db
"$program" ingest dbt target --quiet; "$program" ingest registry "$root/examples/shop/registry.yml" --quiet
ask=(plan fct_orders --from 2026-03-01 --to 2026-03-31 --now 2026-04-20T09:00Z --format json --quiet)
"$program" "${ask[@]}" --out plan.json && { echo "the plan should have status 1: fct_orders appends"; exit 1; }
"$program" feed plan.json --to dbt --quiet && { echo "a plan with an open blocking hazard was handed over"; exit 1; }
"$program" "${ask[@]}" --accept append-duplicates --out plan.json
"$program" feed plan.json --to dbt --project-dir "$work/dbt" --profiles-dir "$work/dbt" --target dev --threads 2 --quiet
script=$PWD/$(ls backreach_plan_*_dbt.sh); cd "$work"

count() { SHOP_DB= python - "$1" <<'P'
import duckdb, sys
print(duckdb.connect(sys.argv[1], read_only=True).sql("select count(*) from fct_orders where order_day between '2026-03-01' and '2026-03-31'").fetchall()[0][0])
P
}
before=$(count "$work/live.duckdb")
cp "$work/live.duckdb" "$work/unsettled.duckdb"
SHOP_DB=$work/unsettled.duckdb BACKREACH_LOG=$work/unsettled.log bash "$script" >/dev/null
twice=$(count "$work/unsettled.duckdb")
[ "$twice" -eq $((2 * before)) ] || { echo "predicted: March is there twice; there were $before rows, then $twice"; exit 1; }

# Settled as the hazard's remedy says: the days are deleted first. Then the script as it was written.
python - "$work/live.duckdb" <<'P'
import duckdb, sys
duckdb.connect(sys.argv[1]).execute("delete from fct_orders where order_day between '2026-03-01' and '2026-03-31'")
P
bash "$script" >/dev/null
[[ $(bash "$script") == *"already done"* ]] || { echo "started again, the script did its steps again"; exit 1; }
python - "$work/live.duckdb" "$work/again.duckdb" $chain <<'P'
import duckdb, sys
live, again = (duckdb.connect(f, read_only=True) for f in sys.argv[1:3])
wrong = 0
for table in sys.argv[3:]:
    where = {"orders_28d": "where day < '2026-04-20'"}.get(table, "")
    a, b = (sorted(map(str, c.sql(f"select * from {table} {where}").fetchall())) for c in (live, again))
    if a != b:
        wrong += 1
        print(f"{table}: {len(set(a) - set(b))} rows differ from a rebuild of everything, e.g. {sorted(set(a) - set(b))[:2]}")
print(f"{len(sys.argv[3:]) - wrong} tables equal a rebuild from scratch, {wrong} do not")
sys.exit(wrong > 0)
P
