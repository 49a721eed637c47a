"""Second opinion: for each pair of definitions, each mapping and each range, Dagster's own mapping against a plan of backreach.

Where the two differ on purpose:
- what was asked is left out: the target's own cells are backreach's step, Dagster's mapping gives only what is below;
- Last: a plan also rebuilds what was made from the corrected partition when that was the newest;
- a definition whose cron is no grain of backreach's is whole there, and said so."""
import json, os, shlex, subprocess, sys
from datetime import datetime, timezone

import dagster as dg

program, root, work = sys.argv[1:4]
ZONE, NOW = "America/New_York", datetime(2026, 12, 1, 12, tzinfo=timezone.utc)
SCRIPT = '''
import dagster as dg
ZONE = "America/New_York"
cuts = {
    "hour": dg.HourlyPartitionsDefinition("2026-10-20-00:00", end_date="2026-11-20-00:00", timezone=ZONE),
    "day": dg.DailyPartitionsDefinition("2026-09-01", end_date="2026-11-20", timezone=ZONE),
    "late_day": dg.DailyPartitionsDefinition("2026-09-01", end_date="2026-11-20", timezone=ZONE, hour_offset=6),
    "week": dg.WeeklyPartitionsDefinition("2026-08-31", end_date="2026-11-16", timezone=ZONE, day_offset=1),
    "month": dg.MonthlyPartitionsDefinition("2026-06-01", end_date="2026-11-01", timezone=ZONE),
    "quarter": dg.TimeWindowPartitionsDefinition(cron_schedule="0 0 1 1,4,7,10 *", start="2025-10-01", end="2026-10-01", fmt="%Y-%m-%d", timezone=ZONE),
    "six_hours": dg.TimeWindowPartitionsDefinition(cron_schedule="0 */6 * * *", start="2026-10-20-00:00", end="2026-11-20-00:00", fmt="%Y-%m-%d-%H:%M", timezone=ZONE),
    "half_hour": dg.TimeWindowPartitionsDefinition(cron_schedule="*/30 * * * *", start="2026-11-05-00:00", end="2026-11-12-00:00", fmt="%Y-%m-%d-%H:%M", timezone=ZONE),
}
OFFSETS = [(0, 0), (-1, -1), (-6, 0), (-1, 1), (1, 1)]
def make(key, deps, cut):
    @dg.asset(key=dg.AssetKey(key), deps=deps, partitions_def=cut)
    def body(): ...
    return body
assets = [make(f"up_{name}", [], cut) for name, cut in cuts.items()]
for up in cuts:
    for down, cut in cuts.items():
        for n, (s, e) in enumerate(OFFSETS):
            mapping = dg.TimeWindowPartitionMapping(start_offset=s, end_offset=e, allow_nonexistent_upstream_partitions=True)
            assets.append(make(f"{up}_{down}_{n}", [dg.AssetDep(f"up_{up}", partition_mapping=mapping)], cut))
defs = dg.Definitions(assets=assets)
'''
open(work + "/grid.py", "w").write(SCRIPT)
export = subprocess.run([sys.executable, root + "/examples/dagster/export_assets.py", "-f", work + "/grid.py"], capture_output=True, text=True)
assert export.returncode == 0, export.stderr[-800:]
open(work + "/assets.json", "w").write(export.stdout)
subprocess.run([program, "ingest", "dagster", work + "/assets.json", "--quiet"], check=True)

spec = {}
exec(SCRIPT, spec)
graph = spec["defs"].resolve_asset_graph()
cuts = spec["cuts"]
keys = {name: cut.get_partition_keys(current_time=NOW) for name, cut in cuts.items()}

def ours(name, key):
    """backreach's name for one of Dagster's keys; the second showing of an hour carries an offset in both."""
    if name in ("day", "late_day", "week"): return key
    if name == "month": return key[:7]
    if name == "quarter": return f"{key[:4]}-Q{(int(key[5:7]) + 2) // 3}"
    text, at = key[:10] + "T" + key[11:16], key[16:]
    if name in ("hour", "six_hours"): text = text[:13]
    if at: return f"{text}{at[:3]}:{at[3:]}"
    if name in ("hour", "half_hour") and any(k.startswith(key) and len(k) > 16 for k in keys[name]): return text + "-04:00"
    return text

names = {name: {ours(name, k): k for k in list_} for name, list_ in keys.items()}
bad = done = 0
for up in cuts:
    all_ = keys[up]
    ranges = [(0, 0), (len(all_) // 2, len(all_) // 2), (len(all_) - 1, len(all_) - 1), (len(all_) // 3, len(all_) // 3 + 4)]
    if up in ("hour", "six_hours"):       # over the change of clocks
        at = next(i for i, k in enumerate(all_) if k.startswith("2026-11-01"))
        ranges += [(at, at + 3)]
    for a, b in ranges:
        b = min(b, len(all_) - 1)
        first, last = ours(up, all_[a]), ours(up, all_[b])
        r = subprocess.run([program, "plan", f"dagster/up_{up}", "--range", f"{first}..{last}", "--now", "2026-12-01T12:00Z", "--format", "json", "--quiet"], capture_output=True, text=True)
        assert r.returncode in (0, 1), r.stderr
        plan = json.loads(r.stdout)
        got = {}
        for step in plan["steps"]:
            name = step["dataset"].split("/", 1)[1]
            if name.startswith("up_"): continue
            down = name[len(up) + 1:].rsplit("_", 1)[0]
            order = list(names[down])
            mine = got.setdefault(name, set())
            for span in step["spans"]:
                mine |= set(order[order.index(span["from"]):order.index(span["to"]) + 1])
            # The command names keys of Dagster's own, and with them exactly these cells.
            (command,) = next(m for m in step["methods"] if m["engine"] == "dagster")["commands"]
            words = shlex.split(command)
            (asked_of,) = json.loads(words[words.index("-d") + 1])["variables"]["p"]["partitionsByAssets"]
            written = set()
            for r in asked_of["partitions"]["ranges"]:
                written |= set(keys[down][keys[down].index(r["start"]):keys[down].index(r["end"]) + 1])
            assert {ours(down, k) for k in written} == mine and asked_of["assetKey"]["path"] == [name], (name, asked_of)
        asked = set(all_[a:b + 1])
        for down in cuts:
            for n, _ in enumerate(spec["OFFSETS"]):
                name = f"{up}_{down}_{n}"
                child, parent = dg.AssetKey(name), dg.AssetKey(f"up_{up}")
                mapping = graph.get(child).partition_mappings[parent]
                subset = cuts[up].empty_subset().with_partition_keys(asked)
                want = mapping.get_downstream_partitions_for_partitions(subset, cuts[up], cuts[down], current_time=NOW).get_partition_keys()
                want = {ours(down, k) for k in want}
                done += 1
                if want != got.get(name, set()):
                    bad += 1
                    if bad <= 20: print(f"{name} of {first}..{last}: Dagster {sorted(want)[:4]} ({len(want)}), backreach {sorted(got.get(name, []))[:4]} ({len(got.get(name, []))})")
print(f"{done - bad} of {done} answers are Dagster's own")

# The same assets by GraphQL, from the same process: grains, zones, keys.
from dagster._core.remote_origin import InProcessCodeLocationOrigin
from dagster._core.types.loadable_target_origin import LoadableTargetOrigin
from dagster._core.workspace.context import WorkspaceProcessContext
from dagster._core.workspace.load_target import WorkspaceLoadTarget
from dagster_graphql.schema import create_schema

class Here(WorkspaceLoadTarget):
    def create_origins(self):
        target = LoadableTargetOrigin(executable_path=sys.executable, python_file=work + "/grid.py", working_directory=work)
        return [InProcessCodeLocationOrigin(target, location_name="grid")]

with WorkspaceProcessContext(dg.DagsterInstance.get(), Here()) as process:
    answer = create_schema().execute(open(root + "/examples/dagster/asset_graph.graphql").read(), context_value=process.create_request_context())
    assert not answer.errors, answer.errors
    json.dump({"data": answer.data}, open(work + "/graph.json", "w"))
def facts(file):
    env = {**os.environ, "BACKREACH_STORE": file + ".db"}
    subprocess.run([program, "ingest", "dagster", file, "--quiet"], check=True, env=env)
    graph = json.loads(subprocess.run([program, "export"], capture_output=True, text=True, check=True, env=env).stdout)
    return ({d["name"]: (d["grain"], d["timezone"], d["first"]) for d in graph["datasets"]},
            {(e["from"], e["to"]): e["reads"] for e in graph["edges"]})
(full, full_edges), (less, less_edges) = facts(work + "/assets.json"), facts(work + "/graph.json")
assert full == less, [(n, full[n], less.get(n)) for n in full if full[n] != less.get(n)][:5]
assert full_edges == less_edges, [(e, full_edges[e], less_edges.get(e)) for e in full_edges if full_edges[e] != less_edges.get(e)][:5]
print(f"{len(full)} assets and {len(full_edges)} mappings are the same by GraphQL")
sys.exit(bad > 0)
