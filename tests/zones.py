#!/usr/bin/env python3
"""Without a time zone database nothing is silently UTC: an ingest is refused with 2, a plan with 3, and both say what to
install. Runs the binary in a mount namespace whose database is an empty folder; skipped (77) where that is not allowed."""
import os, subprocess, sys, tempfile
from pathlib import Path

program = os.path.abspath(sys.argv[1])
bad = count = 0
with tempfile.TemporaryDirectory() as folder:
    work = Path(folder)
    (work / "empty").mkdir()
    (work / "registry.yml").write_text("backreach: 1\ndatasets:\n  - {name: a, partitions: {grain: day, timezone: America/New_York}}\n  - {name: b, partitions: day}\n")
    (work / "wrong.yml").write_text("backreach: 1\ndatasets:\n  - {name: a, partitions: {grain: day, timezone: America/New_Yorc}}\n")
    (work / "utc.yml").write_text("backreach: 1\ndatasets:\n  - {name: a, partitions: {grain: day, timezone: UTC}}\n")
    hide = f"mount --bind {work}/empty /usr/share/zoneinfo && "
    def run(words, hidden, store="graph.db"):
        command = ["unshare", "-rm", "bash", "-c", (hide if hidden else "") + f'exec "{program}" {words} --store {store}']
        return subprocess.run(command, cwd=work, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=1200)
    if not Path("/usr/share/zoneinfo").is_dir() or subprocess.run(["unshare", "-rm", "bash", "-c", hide + "true"], capture_output=True).returncode:
        print("skipped: no mount namespace may be made here")
        sys.exit(77)
    def say(done, status, text, what):
        global bad, count
        count += 1
        if done.returncode != status or text not in done.stdout + done.stderr:
            bad += 1
            print(f"{what}: status {done.returncode}, not {status}: {(done.stdout + done.stderr).strip()[:400]}")
    ask = "plan a --from 2026-03-01 --to 2026-03-01 --now 2026-04-01T00:00Z"
    say(run("ingest registry registry.yml", True), 2, "apt-get install tzdata", "an ingest that names a zone")
    say(run("ingest registry wrong.yml", False), 2, "unknown time zone 'America/New_Yorc'", "a zone that is misspelt")
    say(run("ingest registry utc.yml", True, "utc.db"), 0, "1 dataset", "an ingest that needs no database")
    say(run(ask, True, "utc.db"), 0, "UTC", "a plan that needs no database")
    say(run("ingest registry registry.yml", False), 0, "2 datasets", "an ingest with it")
    for words in (ask, "export", "datasets", "doctor"):
        say(run(words, True), 3, "apt-get install tzdata", f"{words.split()[0]} of a store that names a zone")
    say(run(ask, False), 0, "America/New_York", "the same plan with it")
print(f"{count - bad} passed, {bad} failed")
sys.exit(bad > 0)
