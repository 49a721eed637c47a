#!/usr/bin/env python3
"""Plan files changed by hand: a feed refuses them with status 2 and the JSON pointer, and writes nothing."""
import copy, json, os, subprocess, sys, tempfile

program = os.path.abspath(sys.argv[1])


def step(number, wave, after):
    return {"id": number, "wave": wave, "after": after, "dataset": "a", "action": "rebuild", "whole": False,
            "sequential": False, "interleaved": [], "run": None, "spans": [], "methods": [],
            "checks": {"after": []}}


GOOD = {"format": "backreach.plan/1", "id": "0123456789abcdef", "summary": "s",
        "request": {"now": "2026-04-20T09:00Z"}, "steps": [step(1, 0, []), step(2, 1, [1])],
        "afterwards": [], "hazards": []}
HAZARD = {"code": "c", "dataset": "a", "message": "m", "severity": "fatal", "accepted": False}


def changed(change):
    plan = copy.deepcopy(GOOD)
    change(plan)
    return plan


BAD = [
    ("/steps", lambda p: p.update(steps=None)),
    ("/hazards/0/severity", lambda p: p.update(hazards=[HAZARD])),
    ("/steps/1/id", lambda p: p["steps"][1].update(id=1, after=[])),
    ("/steps/1/after", lambda p: p["steps"][1].update(after=[9])),
    ("/id", lambda p: p.update(id="../../0123456789")),
    ("/request/now", lambda p: p["request"].update(now="2026-04-20T09:00Z\ntouch canary")),
]

failures = []
with tempfile.TemporaryDirectory() as folder:
    for feed in ("airflow", "dbt", "shell"):
        for pointer, change in [("", lambda p: None)] + BAD:
            with open(os.path.join(folder, "plan.json"), "w") as f:
                json.dump(changed(change), f)
            out = os.path.join(folder, "out_" + feed + pointer.replace("/", "_"))
            r = subprocess.run([program, "feed", "plan.json", "--to", feed, "--out", out], cwd=folder,
                               capture_output=True, text=True, timeout=1200)
            if pointer == "":
                if r.returncode != 0:
                    failures.append((feed, "good plan", r.returncode, r.stderr))
            elif r.returncode != 2 or pointer + ": " not in r.stderr or os.path.exists(out):
                failures.append((feed, pointer, r.returncode, r.stderr))
for failure in failures:
    print(failure)
sys.exit(1 if failures else 0)
