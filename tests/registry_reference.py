#!/usr/bin/env python3
"""REGISTRY.md and registry.schema.json have every key that the reader takes and no other, and their examples are taken. The
reader's own keys are read out of its messages: a key that nobody knows is answered with those that are known."""
import json, os, re, subprocess, sys, tempfile
from pathlib import Path

import jsonschema, yaml

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

# The schema, and where each block of the reader stands in it.
schema = json.loads((ROOT / "render/registry.schema.json").read_text(encoding="utf-8"))
Validator = jsonschema.validators.validator_for(schema)
Validator.check_schema(schema)
validator = Validator(schema)
items = lambda name: schema["properties"][name]["items"]
inside = lambda name, key: items(name)["properties"][key]
many = {"The file": schema, "defaults": schema["properties"]["defaults"], "datasets": items("datasets"), "partitions": schema["$defs"]["partitions"],
        "vars": inside("datasets", "vars"), "proven": inside("datasets", "proven"), "changes": inside("datasets", "changes")["items"], "slo": inside("datasets", "slo"),
        "edges": items("edges"), "jobs": items("jobs"), "schedule": schema["$defs"]["schedule"], "pools": items("pools"), "clients": items("clients"),
        "copies": items("copies"), "holds": schema["$defs"]["holds"]["anyOf"][1], "refresh": inside("copies", "refresh"), "ignore": items("ignore")}
in_schema = {title: set(block["properties"]) for title, block in many.items()}
in_schema["reads"] = set().union(*(form.get("properties", {}) for form in schema["$defs"]["reads"]["anyOf"]))

class Loader(yaml.SafeLoader):
    """As an editor reads YAML: a date is a text."""
Loader.yaml_implicit_resolvers = {k: [r for r in v if r[0] != "tag:yaml.org,2002:timestamp" and not (r[0] == "tag:yaml.org,2002:bool" and k in "yYnNoO")
                                      and r[0] != "tag:yaml.org,2002:int" or k in "-0123456789" and r[0] == "tag:yaml.org,2002:int"]
                                  for k, v in yaml.SafeLoader.yaml_implicit_resolvers.items()}
def against_schema(text):
    return [f"{'/'.join(map(str, e.path))}: {e.message}" for document in yaml.load_all(text, Loader) for e in validator.iter_errors(document)]

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
        if reader != in_schema[title]:
            faults.append(f"{title}: the schema and the reader differ in {sorted(reader ^ in_schema[title])}")
    faults += [f"{title}: no block of the reader is held against this table" for title, rows in sections.items() if rows and title not in blocks]
    examples = re.findall(r"```yaml\n(.*?)```", text, re.S)
    for n, example in enumerate(examples):
        done = ingest(example, f"{n}.db")
        if done.returncode:
            faults.append(f"example {n + 1}: {done.stderr.strip()}")
        faults += [f"example {n + 1}, by the schema: {fault}" for fault in against_schema(example)]
    shop = (ROOT / "examples/shop/registry.yml").read_text(encoding="utf-8")
    faults += [f"examples/shop/registry.yml, by the schema: {fault}" for fault in against_schema(shop)]
    # What the reader refuses by its form the schema refuses.
    for n, wrong in enumerate(["datasets: [{partitions: day}]", "datasets: [{name: a, select: b}]", "datasets: [{name: a, partitions: fortnight}]", "datasets: [{name: a, writes: often}]",
                               "datasets: [{name: a, retention: 3 days}]", "datasets: [{name: a, changes: [{on: 2024-03-01}]}]", "datasets: [{name: a, partitions: {grain: day, starts_at: 6am}}]",
                               "edges: [{from: a}]", "edges: [{from: a, to: b, reads: sometimes}]", "edges: [{from: a, to: b, reads: {window: [1]}}]", "edges: [{from: a, to: b, reads: []}]",
                               "jobs: [{writes: [a]}]", "jobs: [{name: j, slots: -1}]", "clients: [{platform: postgres, command: psql}]", "copies: [{id: a}]", "copies: [{id: a, of: b, holds: {}}]",
                               "copies: [{id: a, of: b, kind: parchment}]"]):
        text = f"backreach: 1\n{wrong}\n"
        if ingest(text, f"wrong{n}.db").returncode == 0:
            faults.append(f"the reader takes {wrong}")
        if not against_schema(text):
            faults.append(f"the schema takes {wrong}")
print("\n".join(faults) or f"{sum(map(len, sections.values()))} keys in {len(blocks)} blocks, {len(examples)} examples")
sys.exit(bool(faults))
