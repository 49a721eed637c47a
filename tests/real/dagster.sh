#!/usr/bin/env bash
# A real Dagster: assets of every partitions definition, exported by examples/dagster/export_assets.py and asked of its own
# GraphQL. What backreach reads equals what the definitions say; and the partitions below a range, over a grid of grains,
# offsets and ranges, are those that Dagster's own mappings give.
set -euo pipefail
program=$(realpath "$1"); root=$(cd "$(dirname "$0")/../.." && pwd)
venv=${BACKREACH_VENVS:-$root/build/venvs}/dagster
[ -e "$venv/ready" ] || { echo "skipped: no Dagster here (tests/real/environments.sh dagster)"; exit 77; }
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
export DAGSTER_HOME=$work/home DAGSTER_DISABLE_TELEMETRY=yes PYTHONWARNINGS=ignore BACKREACH_STORE=$work/graph.db
mkdir -p "$DAGSTER_HOME"
printf 'telemetry: {enabled: false}\n' > "$DAGSTER_HOME/dagster.yaml"
"$venv/bin/python" "$root/tests/real/dagster_grid.py" "$program" "$root" "$work"
