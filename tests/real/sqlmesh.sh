#!/usr/bin/env bash
# A real SQLMesh on DuckDB: a project of every kind is built, its state exported, and a grid of restatements planned by SQLMesh
# itself: each cell that it would restate is in backreach's plan, and the other way round, but for what tests/real/sqlmesh_grid.py
# names.
set -euo pipefail
program=$(realpath "$1"); root=$(cd "$(dirname "$0")/../.." && pwd)
venv=${BACKREACH_VENVS:-$root/build/venvs}/sqlmesh
[ -e "$venv/ready" ] || { echo "skipped: no SQLMesh here (tests/real/environments.sh sqlmesh)"; exit 77; }
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
export SQLMESH__DISABLE_ANONYMIZED_ANALYTICS=true MAX_FORK_WORKERS=1 PYTHONWARNINGS=ignore BACKREACH_STORE=$work/graph.db
mkdir -p "$work/project/models"
cd "$work/project"
"$venv/bin/python" "$root/tests/real/sqlmesh_grid.py" "$program" "$work/project"
