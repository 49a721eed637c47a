#!/usr/bin/env python3
"""Random command lines of the options that --help names, with odd values: status 0 to 3, no crash, no hang."""
import os, random, re, shutil, subprocess, sys, tempfile

program, examples = os.path.abspath(sys.argv[1]), os.path.abspath("examples")
count = int(sys.argv[2]) if len(sys.argv) > 2 else 300

ODD = ["", "-", "--", "-1", "0", "99999999999999999999", "2026-03-01", "2026-02-30", "fct_orders", "a\nb", "%s%n",
       "$(touch canary)", "../x", "é", b"\xff\xfe", "x" * 5000, "json", "dot", "*", "2026-04-20T09:00Z", "nowhere.json"]


def run(words, folder):
    return subprocess.run([program] + words, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=1200, env={**os.environ, "BACKREACH_STORE": "graph.db"})


failures = []
with tempfile.TemporaryDirectory() as folder:
    shutil.copytree(os.path.join(examples, "shop"), os.path.join(folder, "shop"))
    run(["ingest", "dbt", "shop/target"], folder)
    overview = run(["--help"], folder).stdout.decode()
    commands = [c for c in re.findall(r"^  ([a-z]+)\b", overview, re.M)
                if run([c, "--help"], folder).returncode == 0]
    assert len(commands) > 5, commands
    options = {c: re.findall(r"--[a-z][a-z-]+", run([c, "--help"], folder).stdout.decode()) for c in commands}
    rng = random.Random(1)
    for _ in range(count):
        command = rng.choice(commands)
        words = [command] + rng.choices(ODD, k=rng.randrange(3))
        for _ in range(rng.randrange(5)):
            words.append(rng.choice(options[command] or ["--help"]))
            words += rng.choices(ODD, k=rng.randrange(2))
        try:
            r = run(words, folder)
        except subprocess.TimeoutExpired:
            failures.append((words, "hangs"))
            continue
        if r.returncode not in (0, 1, 2, 3):
            failures.append((words, r.returncode, r.stderr[-300:]))
    if os.path.exists(os.path.join(folder, "canary")):
        failures.append(("a word ran as a command",))
for failure in failures:
    print(failure)
sys.exit(1 if failures else 0)
