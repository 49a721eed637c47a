#!/usr/bin/env python3
"""./dev bench [ingest|plan]...: speed as ratios within one run. FILE of `ingest`: the largest manifest of the corpus
($BACKREACH_CORPUS, or ../shared/corpus), else a generated one."""
import argparse, json, os, re, resource, subprocess, sys, tempfile, time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
parser = argparse.ArgumentParser()
parser.add_argument("--bin", required=True); parser.add_argument("--tools", required=True); parser.add_argument("what", nargs="*", default=["ingest", "plan"])
options = parser.parse_args()
program, tools = os.path.abspath(options.bin), Path(options.tools).resolve()

def child(command, env=None):
    """(CPU seconds, wall seconds, peak MB) of a command."""
    start = time.perf_counter()
    process = subprocess.Popen(command, env={**os.environ, **(env or {})}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    assert os.waitstatus_to_exitcode(status) in (0, 1), command
    return usage.ru_utime + usage.ru_stime, time.perf_counter() - start, usage.ru_maxrss / 1024

def best(command, env=None, rounds=5):
    runs = [child(command, env) for _ in range(rounds)]
    return min(r[0] for r in runs), min(r[1] for r in runs), max(r[2] for r in runs)

def generated(path, megabytes):
    sql = "select a.id, a.amount from {{ ref('x') }} a where a.day >= '2024-01-01' /* \"quoted\" */\n" * 80
    with open(path, "w") as f:
        f.write('{"metadata":{"dbt_schema_version":"https://schemas.getdbt.com/dbt/manifest/v12.json","adapter_type":"snowflake","project_name":"big"},"nodes":{')
        for i in range(megabytes * 120):
            node = {"resource_type": "model", "unique_id": f"model.big.m{i}", "package_name": "big", "name": f"m{i}", "alias": f"m{i}", "database": "DB", "schema": "S", "relation_name": f"DB.S.M{i}",
                    "path": f"m{i}.sql", "original_file_path": f"models/m{i}.sql", "config": {"enabled": True, "materialized": "table"}, "columns": {}, "language": "sql", "raw_code": sql,
                    "depends_on": {"macros": [], "nodes": [f"model.big.m{i - 1 - k * 7}" for k in range(3) if i - 1 - k * 7 >= 0]}}
            f.write(("," if i else "") + f'"{node["unique_id"]}":' + json.dumps(node))
        f.write('},"sources":{},"macros":{},"exposures":{},"parent_map":{},"child_map":{}}')

def ingest(path, title):
    size = os.path.getsize(path) / 1e6
    with tempfile.TemporaryDirectory() as folder:
        store = {"BACKREACH_STORE": folder + "/g.db"}
        def fresh():
            for f in Path(folder).glob("g.db*"): f.unlink()
            return child([program, "ingest", "dbt", str(path), "--quiet"], store)
        runs = [fresh() for _ in range(5)]
        ours = min(r[0] for r in runs), min(r[1] for r in runs), max(r[2] for r in runs)
        floor = min(float(subprocess.run([tools / "bench_read", path], capture_output=True, text=True).stdout.split()[0]) for _ in range(9))
        python = best([sys.executable, "-c", f"import json; json.load(open({str(path)!r}))"], rounds=3)
        cat = best(["sh", "-c", f"cat '{path}' > /dev/null"], rounds=9)
        graph = json.loads(subprocess.run([program, "export"], env={**os.environ, **store}, capture_output=True, text=True).stdout)
        target = next((d["name"] for d in graph["datasets"] if d["name"].endswith("dim_date")), graph["datasets"][0]["name"])
        plan = best([program, "plan", target, "--whole", "--now", "2026-04-20T00:00Z", "--format", "json"], store)
    print(f"{title}: {size:.1f} MB, {len(graph['datasets'])} datasets, {len(graph['edges'])} edges")
    print(f"  ingest          {ours[0]:.3f} s CPU, {ours[1]:.3f} s, peak {ours[2]:.0f} MB")
    print(f"  against json.load of Python      {python[0] / ours[0]:.1f} times faster ({python[0]:.3f} s, peak {python[2]:.0f} MB)")
    print(f"  against mmap + memchr            {ours[1] / floor:.1f} times as long ({floor * 1e3:.1f} ms)")
    print(f"  ingest and plan ({target}) against cat FILE >/dev/null, CPU: {(ours[0] + plan[0]) / max(cat[0], 1e-4):.1f} times ({ours[0] + plan[0]:.3f} s, cat {cat[0]:.4f} s)")

if "ingest" in options.what:
    corpus = Path(os.environ.get("BACKREACH_CORPUS", ROOT.parent / "shared/corpus"))
    files = sorted(corpus.glob("dbt/**/manifest*.json"), key=os.path.getsize)
    if files:
        ingest(files[-1], "largest manifest of the corpus")
    with tempfile.TemporaryDirectory() as folder:
        generated(folder + "/manifest.json", 85)
        ingest(folder + "/manifest.json", "generated manifest")
if "plan" in options.what:
    subprocess.run([tools / "bench_walk", "all"], check=True)
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/registry.yml", "w") as f:
            n = 100_000
            f.write("backreach: 1\ndatasets:\n" + "".join(f"  - {{name: d{i}, partitions: day, writes: replace}}\n" for i in range(n)) + "edges:\n")
            f.write("".join(f"  - {{from: d{i}, to: d{i + 1 + (i * 7919 + k * 104729) % 1500}}}\n" for i in range(n) for k in range(3) if i + 1 + (i * 7919 + k * 104729) % 1500 < n))
        store = {"BACKREACH_STORE": folder + "/g.db"}
        subprocess.run([program, "ingest", "registry", folder + "/registry.yml", "--quiet"], env={**os.environ, **store}, check=True)
        period = ["--range", "2026-03-01..2026-03-05", "--now", "2026-04-20T00:00Z", "--format", "json"]
        for target, title in (("d0", "everything below"), ("d99990", "a handful below")):
            cold = best([program, "plan", target, *period], store, rounds=3)
            print(f"cold plan, 100,000 datasets and 300,000 edges, {title}: {cold[1]:.2f} s, peak {cold[2]:.0f} MB")
        took = []
        for layers in (0, 30):  # of two-wide diamonds: 2^30 paths
            edges = [(f"n{i}", f"{side}{i}") for i in range(layers) for side in "ab"] + [(f"{side}{i}", f"n{i + 1}") for i in range(layers) for side in "ab"] + [(f"n{layers}", "end")]
            names = sorted({n for e in edges for n in e} - {"n0", "end"})
            with open(folder + "/diamonds.yml", "w") as f:
                f.write("backreach: 1\ndatasets:\n  - {name: n0, partitions: day, writes: replace}\n  - {name: end, partitions: day, writes: replace}\n")
                f.write("".join(f"  - {{name: {n}, kind: view}}\n" for n in names) + "edges:\n" + "".join(f"  - {{from: {a}, to: {b}}}\n" for a, b in edges))
            store = {"BACKREACH_STORE": f"{folder}/diamonds{layers}.db"}
            subprocess.run([program, "ingest", "registry", folder + "/diamonds.yml", "--quiet"], env={**os.environ, **store}, check=True)
            took.append(best([program, "plan", "n0", *period], store, rounds=15)[1])
        print(f"as a command: a plan of one edge {took[0] * 1e3:.1f} ms, of 30 layers of diamonds {took[1] * 1e3:.1f} ms: {took[1] / took[0]:.2f} times")
