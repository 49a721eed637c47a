#!/usr/bin/env python3
"""Cost grows with what is read and answered: each input four times as large may cost about four times as much."""
import json, os, resource, subprocess, sys, tempfile
from pathlib import Path

program = os.path.abspath(sys.argv[1])
only = sys.argv[2:]
MOST = 10        # times, for an input four times as large: four is linear, sixteen quadratic
PAIRS = "all of a view's readers"
LEAST = 0.05     # seconds: below that the start of a program is what is measured

def manifest(nodes):
    node = lambda name, parents=(), sql="select 1", **more: {"unique_id": "model.p." + name, "resource_type": "model", "name": name, "package_name": "p", "path": name + ".sql",
        "original_file_path": "models/" + name + ".sql", "fqn": ["p", name], "database": "d", "schema": "s", "alias": name, "raw_code": sql, "language": "sql", "tags": [],
        "depends_on": {"nodes": ["model.p." + x for x in parents], "macros": []}, "columns": {}, "config": {"materialized": "table"}} | more
    made = [node(*n[:-1], **n[-1]) if isinstance(n[-1], dict) else node(*n) for n in nodes]
    return {"metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json", "project_name": "p", "adapter_type": "postgres"},
            "nodes": {n["unique_id"]: n for n in made}, "sources": {}, "exposures": {}, "macros": {}, "parent_map": {n["unique_id"]: n["depends_on"]["nodes"] for n in made}}

inc = {"config": {"materialized": "incremental"}}
def sql(text): return lambda n: manifest([("a",), ("m", ["a"], text(n), inc)])
def chain(n): return manifest([("n0",)] + [(f"n{i}", [f"n{i-1}"]) for i in range(1, n)])
def registry(lines): return "backreach: 1\n" + "\n".join(lines) + "\n"
day = "partitions: day"
def views(n):
    return registry(["datasets:", "  - {name: v0, kind: source, partitions: day}"] + [f"  - {{name: v{i}, kind: view}}" for i in range(1, n)] + ["  - {name: end, kind: table, partitions: hour}",
        "edges:"] + [f"  - {{from: v{i-1}, to: v{i}, reads: same}}" for i in range(1, n)] + [f"  - {{from: v{n-1}, to: end, reads: same}}"])

def hub(n):  # a view of n tables that n others read
    tables = [f"{side}{i}" for side in "ab" for i in range(n)]
    return registry(["datasets:", "  - {name: s, kind: source, partitions: day}", "  - {name: v, kind: view}"] + [f"  - {{name: {t}, partitions: day}}" for t in tables] + ["edges:"] +
        [f"  - {{from: s, to: {t}, reads: same}}\n  - {{from: {t}, to: v, reads: same}}" for t in tables[:n]] + [f"  - {{from: v, to: {t}, reads: same}}" for t in tables[n:]])

# name: (size, what makes the input, commands behind the ingest)
plan = ["--from", "2026-03-01", "--to", "2026-03-02", "--now", "2026-04-20T09:00Z", "--format", "json"]
CASES = {
    "nested ifs": (10_000, sql(lambda n: "{% if a %}" * n + "select 1 from {{ ref('a') }} where d > current_date - 3 and x > (select max(d) from {{ this }})" + "{% endif %}" * n), []),
    "ifs one after the other": (10_000, sql(lambda n: "select 1 from {{ ref('a') }} where d > current_date " + "{% if a %} and x > current_date - 3 {% endif %}" * n), []),
    "conditions of one WHERE": (8_000, sql(lambda n: "select 1 from {{ ref('a') }} where true" + "".join(f" and c{i} > current_date - {i % 90}" for i in range(n))), []),
    "lists of one WHERE": (8_000, sql(lambda n: "select 1 from {{ ref('a') }} where true" + "".join(f" and c{i} in (1, 2)" for i in range(n)) + " and d > current_date"), []),
    "variables of one WHERE": (4_000, sql(lambda n: "select 1 from {{ ref('a') }} where true" + " and c > '{{ var(\"day\") }}'" * n), []),
    "sets without an end": (4_000, sql(lambda n: "select 1 {% set x %}" * n + " from {{ ref('a') }} where d > current_date"), []),
    "brackets in brackets": (10_000, sql(lambda n: "select 1 from {{ ref('a') }} where " + "(" * n + "d > current_date" + ")" * n), []),
    "own table many times": (2_000, sql(lambda n: "select 1 from {{ ref('a') }} where true" + " and d > (select max(d) from {{ this }})" * n), []),
    "columns of one select": (5_000, sql(lambda n: "with o as (select * from {{ this }}) select " + ", ".join(f"o.c{i}" for i in range(n)) + " from {{ ref('a') }} a join o on a.k = o.k where a.d > current_date"), []),
    "tables of one FROM": (10_000, sql(lambda n: "select 1 from " + ", ".join(f"t{i}" for i in range(n))), []),
    "brackets that nothing closes": (40_000, sql(lambda n: "select " + "[a " * n + " from {{ ref('a') }}"), []),
    "words of one hook": (20_000, lambda n: manifest([("m", [], "select 1", {"config": {"materialized": "table", "post-hook": [{"sql": "insert into log select 1" + " + {{ x }} {% if a %}" * n, "transaction": True}]}})]), []),
    "tags of one node": (30_000, lambda n: manifest([("a", [], "select 1", {"tags": [f"tag{i}" for i in range(n)], "config": {"materialized": "table", "tags": [f"tag{i}" for i in range(n)]}})]), []),
    "parents by steps": (4_000, chain, [["plan", "999999+n{last}", *plan]]),
    "children by steps": (4_000, chain, [["plan", "n0+999999", *plan]]),
    "one view after the other": (5_000, views, [["plan", "v0", *plan]]),
    PAIRS: (250, hub, [["plan", "s", *plan]]),
    "keys of one registry": (5_000, lambda n: registry(["datasets:"] + [f"  - {{name: d{i}, kind: table, partitions: day, key: [a, b]}}" for i in range(n)]), []),
}

def measure(make, n, commands, folder):
    work = Path(folder) / str(n); work.mkdir()
    made = make(n)
    if isinstance(made, str):
        (work / "registry.yml").write_text(made); first = ["ingest", "registry", "registry.yml", "--quiet"]
    else:
        (work / "manifest.json").write_text(json.dumps(made)); first = ["ingest", "dbt", "manifest.json", "--quiet"]
    env = {k: v for k, v in os.environ.items() if not k.startswith("BACKREACH")}
    spent, said = [], []
    for words in [first, *commands]:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([program, *[w.replace("{last}", str(n - 1)) for w in words]], cwd=work, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=1200)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode not in (0, 1):
            raise SystemExit(f"{words}: status {done.returncode}: {done.stderr.decode()[:300]}")
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        said.append(len(done.stdout))
    return list(zip(spent, said))

bad = 0
for name, (size, make, commands) in CASES.items():
    if only and name not in only:
        continue
    with tempfile.TemporaryDirectory() as folder:
        small, large = measure(make, size, commands, folder), measure(make, 4 * size, commands, folder)
        for i, ((s, small_said), (l, large_said)) in enumerate(zip(small, large)):
            if large_said > MOST * max(small_said, 100_000):
                bad += 1
                print(f"{name}: {large_said:,} bytes said after {small_said:,}")
            grown = l / max(s, LEAST)
            if only or os.environ.get("GROWTH_TELL"):
                print(f"{name}, {'ingest' if i == 0 else ' '.join(commands[i-1][:3])}: {s:.3f} s, {l:.3f} s: {grown:.1f} times", flush=True)
            # Each reader waits for each table: that many pairs are looked at, and said once.
            if grown > MOST and name != PAIRS:
                bad += 1
                print(f"{name}: {grown:.1f} times the cost ({l:.2f} s after {s:.2f} s) for {4 * size:,} after {size:,}")
print(f"{len(CASES)} kinds of input grown, {bad} that cost more than they are")
sys.exit(1 if bad else 0)
