#!/usr/bin/env python3
"""REGISTRY.md has every key that the reader takes and no other, and its examples are taken. The reader's own keys are
read out of its messages: a key that nobody knows is answered with those that are known."""
import os, re, subprocess, sys, tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
program = os.path.abspath(sys.argv[1])
text = (ROOT / "REGISTRY.md").read_text(encoding="utf-8")
codes = set(re.findall(r"^([a-z-]+) ", subprocess.run([program, "hazard"], capture_output=True, text=True).stdout, re.M))
faults = []

sections = {}
for title, body in re.findall(r"^##+ ([^\n]+)\n(.*?)(?=^##|\Z)", text, re.S | re.M):
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in body.splitlines() if line.startswith("| `")]
    sections[title] = {row[0].strip("` "): row for row in rows}
    for row in rows:
        if len(row) != 5:
            faults.append(f"{title}: {row[0]} has {len(row)} columns, not key, meaning, default, example, settles")

        faults += [f"{title}: {row[0]} settles '{code}', which is no hazard" for code in re.findall(r"`([^`]+)`", row[-1]) if code not in codes]

# A file for each block, with a key that is like no other in it.
x = "{zzzzzzzzzzzzzzzz: 1}"
blocks = {"The file": f"zzzzzzzzzzzzzzzz: 1", "defaults": f"defaults: {x}", "datasets": f"datasets: [{{name: a, zzzzzzzzzzzzzzzz: 1}}]",
          "partitions": f"datasets: [{{name: a, partitions: {x}}}]", "vars": f"datasets: [{{name: a, vars: {x}}}]", "proven": f"datasets: [{{name: a, proven: {x}}}]",
          "changes": f"datasets: [{{name: a, changes: [{x}]}}]", "slo": f"datasets: [{{name: a, slo: {x}}}]", "edges": "edges: [{from: a, to: b, zzzzzzzzzzzzzzzz: 1}]",
          "reads": "edges: [{from: a, to: b, reads: {window: [0, 0], zzzzzzzzzzzzzzzz: 1}}]", "jobs": "jobs: [{name: a, zzzzzzzzzzzzzzzz: 1}]",
          "schedule": f"jobs: [{{name: a, schedule: {x}}}]", "pools": "pools: [{name: a, zzzzzzzzzzzzzzzz: 1}]", "clients": f"clients: [{x}]", "copies": "copies: [{id: a, of: b, zzzzzzzzzzzzzzzz: 1}]",
          "holds": f"copies: [{{id: a, of: b, holds: {x}}}]", "refresh": f"copies: [{{id: a, of: b, refresh: {x}}}]", "ignore": f"ignore: [{x}]"}
with tempfile.TemporaryDirectory() as folder:
    def ingest(content, store):
        Path(folder, "r.yml").write_text(content, encoding="utf-8")
        return subprocess.run([program, "ingest", "registry", "r.yml", "--store", store], cwd=folder, capture_output=True, text=True)
    for title, block in blocks.items():
        said = ingest(f"backreach: 1\n{block}\n", "x.db").stderr
        known = re.search(r"unknown key 'z+'.*?\n  known here: ([a-z_, ]+)", said)
        if not known:
            faults.append(f"{title}: the reader does not say what it knows: {said.strip()}")
            continue
        reader, page = set(known.group(1).split(", ")), set(sections.get(title, {}))
        faults += [f"{title}: '{key}' is read, and stands in no table" for key in sorted(reader - page)]
        faults += [f"{title}: '{key}' stands in the table, and is not read" for key in sorted(page - reader)]
    faults += [f"{title}: no block of the reader is held against this table" for title, rows in sections.items() if rows and title not in blocks]
    examples = re.findall(r"```yaml\n(.*?)```", text, re.S)
    for n, example in enumerate(examples):
        done = ingest(example, f"{n}.db")
        if done.returncode:
            faults.append(f"example {n + 1}: {done.stderr.strip()}")
print("\n".join(faults) or f"{sum(map(len, sections.values()))} keys in {len(blocks)} blocks, {len(examples)} examples")
sys.exit(bool(faults))
