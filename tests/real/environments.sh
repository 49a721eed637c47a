#!/usr/bin/env bash
# Virtual environments with the real tools that the tests talk to: dbt (with DuckDB and PostgreSQL), Airflow 3 and 2,
# Dagster and SQLMesh.
#   tests/real/environments.sh dbt|airflow|airflow2|dagster|sqlmesh...     (default: all), into $BACKREACH_VENVS or build/venvs
# An environment that holds just these packages is left as it is.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
venvs=${BACKREACH_VENVS:-$root/build/venvs}
mkdir -p "$venvs"
python=${PYTHON:-python3}

uv() {  # uv resolves and installs much faster than pip; it is itself installed by pip
  if ! type -P uv >/dev/null && [ ! -x "$venvs/uv/bin/uv" ]; then
    "$python" -m venv "$venvs/uv" && "$venvs/uv/bin/pip" install --quiet uv
  fi
  if type -P uv >/dev/null; then command uv "$@"; else "$venvs/uv/bin/uv" "$@"; fi
}

make() {  # NAME PACKAGE...
  local name=$1; shift
  if [ "$(cat "$venvs/$name/ready" 2>/dev/null)" = "$*" ]; then return; fi
  echo "making $venvs/$name: $*" >&2
  rm -rf "${venvs:?}/$name"
  uv venv --quiet --python "$python" "$venvs/$name"
  VIRTUAL_ENV="$venvs/$name" uv pip install --quiet "$@"
  echo "$*" >"$venvs/$name/ready"
}

for tool in ${*:-dbt airflow airflow2 dagster sqlmesh}; do
  case $tool in
    dbt) make dbt dbt-core==1.11.16 dbt-duckdb==1.11.1 dbt-postgres==1.11.0 ;;
    airflow) make airflow apache-airflow-core==3.3.2 apache-airflow-providers-standard ;;
    airflow2) make airflow2 apache-airflow==2.11.2 ;;
    dagster) make dagster dagster==1.13.27 dagster-graphql==1.13.27 ;;
    sqlmesh) make sqlmesh sqlmesh==0.236.4 ;;
    *) echo "unknown tool '$tool': dbt, airflow, airflow2, dagster or sqlmesh" >&2; exit 2 ;;
  esac
done
