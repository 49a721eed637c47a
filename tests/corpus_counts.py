#!/usr/bin/env python3
"""Every dbt manifest of the corpus ($BACKREACH_CORPUS, or ../shared/corpus): the numbers of models, sources, exposures,
edges and tests that the graph knows are those that the file has, names are never confused, and a second ingest changes nothing."""
import json, os, sqlite3, subprocess, sys, tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
corpus = Path(os.environ.get("BACKREACH_CORPUS", ROOT.parent / "shared/corpus"))
program = os.path.abspath(sys.argv[1])
files = sorted(corpus.glob("dbt/**/manifest*.json"))
if not files:
    print(f"skipped: no manifests under {corpus} (set BACKREACH_CORPUS)")
    sys.exit(77)
bad = 0
for path in files:
    manifest = json.loads(path.read_text(encoding="utf-8"))
    data = {k: n for k, n in {**manifest["nodes"], **manifest["sources"]}.items() if n["resource_type"] in ("model", "seed", "snapshot", "source")}
    exposures = {k for k, e in manifest.get("exposures", {}).items() if (e.get("config") or {}).get("enabled", True)}
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "BACKREACH_STORE": folder + "/g.db"}
        run = lambda *words: subprocess.run([program, *words], env=env, capture_output=True, text=True)
        first, again = run("ingest", "dbt", str(path)), run("ingest", "dbt", str(path))
        graph = json.loads(run("export").stdout)
        with sqlite3.connect(f"file:{folder}/g.db?mode=ro", uri=True) as store: checks = b"".join(row[0] for row in store.execute("select bytes from content join block on block.id = content.block where part = 'check'"))
    names = {}
    for d in graph["datasets"]:
        for name in [d["name"], *d["aliases"]]:
            if name in data or name in exposures:
                names.setdefault(name, set()).add(d["name"])
    copies = {c["id"] for c in graph["copies"]}
    faults = []
    if first.returncode: faults.append(first.stderr[-200:])
    if "unchanged" not in again.stderr: faults.append("a second ingest of the same file was no repetition")
    if lost := set(data) - set(names): faults.append(f"{len(lost)} nodes are no dataset: {sorted(lost)[:2]}")
    if confused := [n for n, where in names.items() if len(where) > 1]: faults.append(f"names of several datasets: {confused[:2]}")
    if lost := exposures - set(names) - copies: faults.append(f"{len(lost)} exposures are neither reader nor copy: {sorted(lost)[:2]}")
    tests = {k for k, n in manifest["nodes"].items() if n["resource_type"] == "test"}
    if lost := {k for k in tests if manifest["nodes"][k].get("attached_node") in data and k.encode() not in checks}: faults.append(f"{len(lost)} tests are no check of their dataset: {sorted(lost)[:2]}")
    kinds = {}
    for n in data.values(): kinds[n["resource_type"]] = kinds.get(n["resource_type"], 0) + 1
    edges = sum(1 for n in data.values() for p in set((n.get("depends_on") or {}).get("nodes", [])) if p in data)
    print(f"{'FAIL' if faults else 'ok':4} {path.relative_to(corpus)}: {kinds}, {len(exposures)} exposures, {edges} edges, {len(tests)} tests" + "".join("\n     " + f for f in faults))
    bad += bool(faults)
print(f"{len(files) - bad} passed, {bad} failed")
sys.exit(bool(bad))
