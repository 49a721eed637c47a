"""tests/real/compare_ls.py BACKREACH OLD: the store's project (in the current folder) is asked by selectors, by a real `dbt ls` and by
`backreach datasets`; OLD is a target folder of before a change. Compared are the nodes that hold data, and refusals."""
import contextlib, io, json, os, subprocess, sys
from dbt.cli.main import dbtRunner

program, old = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
HELD = ("model", "seed", "snapshot", "source")
ASKED = [["fct_orders"], ["+fct_orders"], ["fct_orders+"], ["1+revenue_daily+1"], ["@order_amounts"], ["stg_*"], ["*_daily"], ["shop.marts"], ["shop.marts.fct_orders"],
         ["path:models/marts"], ["path:models/marts/fct_orders.sql"], ["models/staging"], ["file:fct_orders.sql"], ["file:schema.yml"], ["package:shop"], ["package:this"],
         ["config.materialized:incremental"], ["config.materialized:ephemeral+"], ["config.incremental_strategy:microbatch"], ["source:*"], ["source:raw"], ["source:raw.order_events"],
         ["source:raw.order_events+"], ["exposure:*"], ["+exposure:*"], ["resource_type:source"], ["resource_type:snapshot+"], ["group:analytics"], ["tag:nobody_has_this"], ["test_type:generic"],
         ["fct_orders", "revenue_daily"], ["fct_orders revenue_daily"], ["path:models/marts,config.materialized:incremental"], ["fct_orders+,config.materialized:table", "stg_orders"],
         ["@source:raw"], ["state:modified"], ["state:modified+"], ["state:modified.body"], ["state:modified.configs"], ["state:new"], ["state:old"], ["state:unmodified"],
         ["fct_orders+", "--exclude", "revenue_daily+"], ["path:models", "--exclude", "state:modified+"], ["*", "--resource-type", "snapshot"], ["nothing_here"], ["function:x"], ["@fct_orders+"], ["state:sideways"],
         *(["--selector", name] for name in ("without_batches", "around", "both", "again", "text", "nobody"))]
runner, bad = dbtRunner(), 0
for words in ASKED:
    with contextlib.redirect_stdout(io.StringIO()):
        done = runner.invoke(["--quiet", "ls", "--output", "json", "--output-keys", "unique_id", "resource_type", "--state", old, *(words if words[0] == "--selector" else ["--select", *words])])
    if done.success:
        want = sorted(n["unique_id"] for n in map(json.loads, done.result or []) if n["resource_type"] in HELD)
    ours = subprocess.run([program, "datasets", *words, "--state", old, "--format", "json"], capture_output=True, text=True)
    if not done.success:
        right, got = ours.returncode == 2, f"dbt refuses it, status {ours.returncode}"
    else:
        have = sorted(d["name"] for d in json.loads(ours.stdout)["datasets"] if d["name"].split(".")[0] in HELD) if ours.returncode == 0 else [ours.stderr]
        right, got = have == want, f"missing {sorted(set(want) - set(have))}, too many {sorted(set(have) - set(want))}"
    if not right: bad += 1; print(f"FAIL {' '.join(words)}: {got}")
print(f"{len(ASKED) - bad} of {len(ASKED)} selectors as dbt ls has them")
sys.exit(bad > 0)
