"""tests/real/strategies.py BACKREACH ADAPTER: what the plan predicts for every way of writing, held against the rows of a real
dbt on DuckDB or PostgreSQL. Build 120 days, correct March in the raw layer, run the plan's script, read the rows. Called by
strategies.sh, which brings the environment."""
import json, os, shutil, subprocess, sys, tempfile
from pathlib import Path

here = Path(__file__).resolve().parent
program, adapter = os.path.abspath(sys.argv[1]), sys.argv[2]
# What a rerun of March really does, and the hazard that tells what stays wrong where it is not exact.
TRUTH = {
    "append": {"both": ("duplicated", "append-duplicates")},
    "merged": {"both": ("replaced", "merge-keeps-removed-rows")},
    "merged_in_part": {"both": ("replaced", "columns-kept")},
    "deleted_by_id": {"both": ("replaced", "merge-keeps-removed-rows")},
    "deleted_by_day": {"both": ("replaced", "empty-partition-kept")},
    "deleted_with_nulls": {"both": ("duplicated", "null-key")},
    "bounded": {"both": ("duplicated", "bounded-match")},
    "watermark": {"both": ("kept-old", "watermark-filter")},
    "microbatch": {"duckdb": ("replaced", None), "postgres": ("replaced", "merge-keeps-removed-rows")},
    "newest_joined": {"both": ("kept-old", "watermark-filter")},
    "last_days": {"both": ("kept-old", "watermark-filter")},
    "batches_of_late": {"duckdb": ("lost", "partial-overwrite"), "postgres": ("kept-old", "watermark-filter")},
    "whole": {"both": ("replaced", None)},
}
folder = tempfile.mkdtemp()

def database(name):
    """The environment in which dbt and we use a database of this name."""
    env = {**os.environ, "DBT_PROFILES_DIR": folder + "/dbt", "DBT_TARGET": adapter, "DBT_SEND_ANONYMOUS_USAGE_STATS": "false", "BACKREACH_STORE": folder + "/graph.db"}
    return {**env, "STRATEGIES_DUCKDB": f"{folder}/{name}.duckdb", "STRATEGIES_PGDATABASE": name}

def dbt(env, *words, fails=False):
    done = subprocess.run(["dbt", "--quiet", *words, "--target", adapter], cwd=folder + "/dbt", env=env, capture_output=True, text=True)
    if (done.returncode != 0) != fails:
        sys.exit(f"dbt {' '.join(words)}: status {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-500:]}")

def rows(env, table):
    """The rows of March, as sorted texts."""
    query = f"select * from main.{table} where day >= date '2026-03-01' and day < date '2026-04-01'"
    if adapter == "duckdb":
        import duckdb
        with duckdb.connect(env["STRATEGIES_DUCKDB"], read_only=True) as connection: found = connection.execute(query).fetchall()
    else:
        import psycopg2
        with psycopg2.connect(host=env["STRATEGIES_PGHOST"], port=env["STRATEGIES_PGPORT"], user=env["STRATEGIES_PGUSER"], dbname=env["STRATEGIES_PGDATABASE"]) as connection:
            with connection.cursor() as cursor: cursor.execute(query); found = cursor.fetchall()
    return sorted(map(str, found)), [r[0] for r in found]

def build(env, corrected):
    dbt(env, "run-operation", "load_raw", "--args", json.dumps({"corrected": corrected}))
    dbt(env, "run", "--event-time-start", "2026-01-01", "--event-time-end", "2026-05-01", "--vars", json.dumps({"first_build": True}))

def backreach(*words, status=(0,)):
    done = subprocess.run([program, *words], cwd=folder, env=live, capture_output=True, text=True)
    if done.returncode not in status: sys.exit(f"backreach {' '.join(words)}: status {done.returncode}\n{done.stderr}")
    return done

try:
    shutil.copytree(here / "strategies", folder + "/dbt")
    live, scratch = database("live"), database("scratch")
    build(scratch, True)
    build(live, False)
    shutil.copy(folder + "/dbt/target/run_results.json", folder + "/run.json")
    dbt(live, "test", fails=True)  # there are coupons that are null: known from now on
    backreach("ingest", "dbt", "dbt/target", "--run-results", "run.json", "--run-results", "dbt/target/run_results.json", "--quiet")
    ask = ["plan", "source.strategies.raw.orders", "--from", "2026-03-01", "--to", "2026-03-31", "--now", "2026-05-05T00:00Z", "--format", "json", "--quiet", "--out", "plan.json"]
    backreach(*ask, status=(1,))
    backreach("feed", "plan.json", "--to", "dbt", "--quiet", status=(1,))  # nothing of it was accepted
    backreach(*ask, *(w for code in ("append-duplicates", "null-key", "bounded-match", "watermark-filter", "partial-overwrite") for w in ("--accept", code)))
    backreach("feed", "plan.json", "--to", "dbt", "--quiet")
    plan = json.load(open(folder + "/plan.json"))
    steps = {s["dataset"].rsplit(".", 1)[1]: s for s in plan["steps"]}
    before = {m: rows(live, m) for m in TRUTH}
    dbt(live, "run-operation", "correct_raw")
    script = next(Path(folder).glob("backreach_plan_*_dbt.sh"))
    done = subprocess.run(["bash", str(script)], cwd=folder + "/dbt", env={**live, "BACKREACH_LOG": folder + "/steps.log"}, capture_output=True, text=True)
    # The coupons are null before and after: the tests come last and must say so, with every step before them done.
    if not done.returncode or "Failure in test not_null_deleted_with_nulls_coupon" not in done.stdout or "step tests-1 failed" not in done.stdout + done.stderr:
        sys.exit(f"the plan's script ended with {done.returncode}, not with the one failing test: {done.stdout[-2000:]}{done.stderr[-1000:]}")
    bad = 0
    for model, truth in TRUTH.items():
        effect, hazard = truth.get(adapter) or truth["both"]
        (was, _), (now, ids), (right, _) = before[model], rows(live, model), rows(scratch, model)
        really = "duplicated" if len(set(ids)) < len(ids) else "kept-old" if now == was else "lost" if was and not now else "replaced"
        exact, faults = now == right, []
        if really != effect: faults.append(f"its rows are {really}, expected was {effect}")
        if steps[model]["effect"] != really: faults.append(f"the plan foretold {steps[model]['effect']}, its rows are {really}")
        if hazard and hazard not in steps[model]["hazards"]: faults.append(f"{hazard} was not said, but {steps[model]['hazards']}")
        if exact == bool(hazard): faults.append(f"{len(set(now) ^ set(right))} rows differ from a rebuild of everything")
        print(f"{'FAIL' if faults else 'ok':4} {adapter} {model}: {really}{'' if exact else ', not exact: ' + str(hazard)}" + "".join("\n     " + f for f in faults))
        bad += bool(faults)
    for check in (c for when in ("before_publish", "after") for c in steps["append"]["checks"][when]): assert check["text"]
    # The checks that the plan brings along are asked of the database that they were written for.
    asked = 0
    for step in plan["steps"]:
        for check in step["checks"]["after"]:
            if check["kind"] != "sql": continue
            if adapter == "duckdb":
                import duckdb
                with duckdb.connect(live["STRATEGIES_DUCKDB"], read_only=True) as connection: answer = connection.execute(check["text"]).fetchall()
            else:
                import psycopg2
                with psycopg2.connect(host=live["STRATEGIES_PGHOST"], port=live["STRATEGIES_PGPORT"], user=live["STRATEGIES_PGUSER"], dbname="live") as connection:
                    with connection.cursor() as cursor: cursor.execute(check["text"]); answer = cursor.fetchall()
            asked += 1
            name = step["dataset"].rsplit(".", 1)[1]
            if "unique" in check["name"] and bool(answer) != (step["effect"] == "duplicated"):
                print(f"FAIL {adapter} {name}: the check '{check['name']}' found {len(answer)} keys twice"); bad += 1
    print(f"{len(TRUTH)} models on {adapter}, {asked} checks asked, {bad} faults")
    sys.exit(bool(bad or not asked))
finally:
    shutil.rmtree(folder, ignore_errors=True)
