#!/usr/bin/env python3
"""Every command that README.md and --help show is run, on the example: each must do what it says (status 0 or 1)."""
import json, os, re, shlex, shutil, subprocess, sys, tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
program = os.path.abspath(sys.argv[1])
readme = (ROOT / "README.md").read_text(encoding="utf-8")
bad = count = 0
with tempfile.TemporaryDirectory() as folder:
    work = Path(folder)
    (work / "target").symlink_to(ROOT / "examples/shop/target"); (work / "build").mkdir()
    (work / "build/manifest.json").symlink_to(ROOT / "examples/shop/target/manifest.json")
    for name in ("serialized_dag.jsonl", "dags/shop.json"):
        (work / name).parent.mkdir(exist_ok=True)
        (work / name).write_bytes((ROOT / "examples/shop/serialized_dags.jsonl").read_bytes())
    rows = [json.loads(line) for line in (ROOT / "examples/shop/serialized_dags.jsonl").read_text().splitlines() if line.strip()]
    quoted = lambda text: "'" + text.replace("'", "''") + "'"
    (work / "airflow_dump.sql").write_text("BEGIN TRANSACTION;\nCREATE TABLE serialized_dag (dag_id VARCHAR(250), data JSON);\n" + "".join(
        f"INSERT INTO serialized_dag VALUES({quoted(row.get('dag_id', 'dag'))},{quoted(json.dumps(row.get('data', row)))});\n" for row in rows) + "COMMIT;\n")
    (work / "registry.yml").write_bytes((ROOT / "examples/shop/registry.yml").read_bytes())
    (work / "registry").mkdir()
    (work / "registry/more.yml").write_text("backreach: 1\ndatasets: [{name: elsewhere}]\n")
    # Inputs of the other tools, as small as they come.
    flow = "id: nightly\nnamespace: shop\ntasks: [{id: a, type: io.kestra.plugin.core.log.Log, message: done}]\n"
    argo = "kind: CronWorkflow\nmetadata: {name: nightly}\nspec: {schedule: 0 3 * * *, workflowSpec: {entrypoint: m, templates: [{name: m, container: {image: i}}]}}\n"
    counts = lambda n: f"dataset,partition,rows,counted_at\nfct_orders,2026-03-01,{n},2026-04-20T0{n % 2 + 8}:01:00Z\n"
    files = {
        "events.ndjson": '{"eventType": "COMPLETE", "eventTime": "2026-03-02T01:02:00Z", "run": {"runId": "0190a0a0-0000-7000-8000-000000000001"}, "job": {"namespace": "etl", "name": "load"}, '
                         '"inputs": [{"namespace": "s3://lake", "name": "raw"}], "outputs": [{"namespace": "postgres://db:5432", "name": "shop.public.orders"}]}\n',
        "assets.json": '{"form": "dagster-assets/1", "location": "shop", "assets": [{"key": ["orders"], "op": "orders", "executable": true, "deps": []}]}',
        "asset_graph.json": '{"data": {"assetNodes": [{"assetKey": {"path": ["orders"]}, "opNames": ["orders"], "repository": {"location": {"name": "shop"}}, "dependencies": []}]}}',
        "state.json": '{"versions": {}, "snapshots": [{"name": "d.s.t", "fingerprint": {"data_hash": "1"}, "parents": [], "intervals": [], "node": {"name": "s.t", "cron": "@daily", '
                      '"kind": {"name": "FULL"}, "query": {"sql": "SELECT 1 AS a"}}}], "environments": {}}',
        "bigquery-etl/sql/my-project/shop/orders/metadata.yaml": "owners: [a@example.com]\nscheduling: {dag_name: bqetl_shop}\n",
        "sql/my-project/shop/orders/metadata.yaml": "owners: [a@example.com]\nscheduling: {dag_name: bqetl_shop}\n",
        "dags.yaml": "bqetl_shop: {schedule_interval: 0 3 * * *, default_args: {owner: a@example.com, start_date: '2026-01-01'}}\n",
        "workflows/nightly.yaml": argo, "templates.yaml": "kind: WorkflowTemplate\nmetadata: {name: shared}\nspec: {templates: [{name: t, container: {image: i}}]}\n", "flows/nightly.yaml": flow,
        "query_history.csv": "QUERY_ID,QUERY_TEXT,DATABASE_NAME,SCHEMA_NAME,SESSION_ID,USER_NAME,EXECUTION_STATUS,START_TIME\nq1,copy into @s/x/ from t,D,S,1,U,SUCCESS,2026-03-02 03:00:00 Z\n",
        "access_history.csv": "QUERY_ID,QUERY_START_TIME,USER_NAME,DIRECT_OBJECTS_ACCESSED,BASE_OBJECTS_ACCESSED,OBJECTS_MODIFIED\nq1,2026-03-02 03:00:00 Z,U,[],[],[]\n",
        "postgresql.csv": '2026-03-02 01:00:00.015 UTC,"u","dw",1,"h:1",69a4.1,1,"idle",2026-03-02 01:00:00 UTC,3/1,0,LOG,00000,"statement: copy core.t to stdout",,,,,,,,,"psql","client backend",,0\n',
        "before.csv": counts(40), "after.csv": counts(41), "runs.json": '{"dag_runs": [], "total_entries": 0}',
    }
    for name, content in files.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text(content)
    env = {**os.environ, "PATH": str(Path(program).parent) + os.pathsep + os.environ["PATH"], "NO_COLOR": "1"}
    env.pop("BACKREACH_STORE", None)
    now = " --now 2026-04-20T09:00Z"
    def put_back(command):
        """What a command finds: the plan that was accepted, a run of it where one is needed, the tool's file of that name."""
        if "plan.json" in command and (work / "accepted.json").exists():
            (work / "plan.json").write_bytes((work / "accepted.json").read_bytes())
            (work / "old.json").write_bytes((work / "accepted.json").read_bytes())
        quiet = lambda c: subprocess.run(["bash", "-c", c], cwd=work, env=env, capture_output=True)
        if re.match(r"backreach (run|plan --resume)", command) and (work / "accepted").exists():
            shutil.rmtree(work / ".backreach"); shutil.copytree(work / "accepted", work / ".backreach")
            if not command.startswith("backreach run start"):
                quiet("backreach run start plan.json --by test")
        if "nightly.yaml" in command:
            (work / "nightly.yaml").write_text(flow if "kestra" in command else argo)
    def run(command):
        global bad, count
        count += 1
        put_back(command)
        done = subprocess.run(["bash", "-c", command], cwd=work, env=env, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=1200)
        no_dbt = "dbt cannot be started" in done.stderr  # it is the tests under real/ that have one
        if (done.returncode not in (0, 1) and not no_dbt) or "internal error" in done.stderr:
            bad += 1
            print(f"$ {command}\n  status {done.returncode}\n  {done.stderr.strip()[:600]}")
        return done
    def prepared(command):
        if re.match(r"backreach (plan|render|explain) (?!\.\.\.|--resume)", command):
            words = command.split(" | ")
            words[0] += now
            return " | ".join(words)
        return command
    blocks = "\n".join(re.findall(r"```sh\n(.*?)```", readme, re.S)).splitlines()
    for command in blocks:
        run(prepared(command.strip()))
    run("backreach plan fct_orders --from 2026-03-01 --to 2026-03-31 --accept append-duplicates --format json --out plan.json" + now)
    (work / "accepted.json").write_bytes((work / "plan.json").read_bytes())
    shutil.copytree(work / ".backreach", work / "accepted")
    run("cp graph.db prod.db 2>/dev/null || cp .backreach/graph.db prod.db")
    for command in re.findall(r"`(backreach [^`]+)`", readme):
        if "..." not in command.replace("A..B", ""):
            run(prepared(command))
    helped = run("backreach --help").stdout
    for name in re.findall(r"^  ([a-z]+) ", helped, re.M):
        text = run(f"backreach {name} --help").stdout
        subs = re.findall(r"^  ([a-z]+) ", text.split("Subcommands:")[-1], re.M) if "Subcommands:" in text else []
        texts = [text] if not subs else [run(f"backreach {name} {sub} --help").stdout for sub in subs]
        for shown in texts:
            examples = re.findall(r"^  (backreach .*)$", shown.split("Examples:")[-1], re.M)
            if len(examples) < 2:
                bad += 1
                print(f"backreach {name}: --help shows {len(examples)} examples, not two")
            for example in examples:
                if "| jq" in example:
                    example = example.split(" | jq")[0] + " >/dev/null"
                run(prepared(example))
print(f"{count} commands run: {count - bad} passed, {bad} failed")
sys.exit(bad > 0)
