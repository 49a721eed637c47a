#!/usr/bin/env python3
"""Golden tests of the binary: each *.txt beside this script is a session.

  $ backreach ...        a command, run in a fresh folder that holds the session's files
  | text                 standard output       ! text   standard error       = N   exit status (0 if not given)
  < NAME                 begins a file; its lines follow, each behind `: `

`--update` writes what the binary says now into the sessions; read the difference before you commit it.
"""
import os, re, shlex, subprocess, sys, tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
update = "--update" in sys.argv
program = os.path.abspath([a for a in sys.argv[1:] if not a.startswith("--")][0])

def session(path):
    files, lines, name = {}, [], None
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("< "):
            name = line[2:]; files[name] = []
        elif line.startswith(": ") or line == ":":
            files[name].append(line[2:])
        lines.append(line)
    out, failed = [], []
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            (Path(folder) / name).parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / name).write_text("\n".join(text) + "\n", encoding="utf-8")
        env = {k: v for k, v in os.environ.items() if not k.startswith("BACKREACH")} | {"NO_COLOR": "1", "TZ": "Asia/Tokyo", "LC_ALL": "C", "EXAMPLES": str(ROOT / "examples")}
        env["PATH"] = str(Path(program).parent) + os.pathsep + env["PATH"]
        expected, command = [], None
        def finish():
            if command is None:
                return
            done = subprocess.run(["bash", "-c", command], cwd=folder, env=env, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=1200)
            clean = lambda text: re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ(?=  [0-9a-f]{12},? )", "INGESTED", text, flags=re.M).replace(folder, "FOLDER").replace(str(ROOT), "ROOT")
            got = [("| " + l).rstrip() for l in clean(done.stdout).splitlines()] + [("! " + l).rstrip() for l in clean(done.stderr).splitlines()]
            if done.returncode:
                got.append(f"= {done.returncode}")
            out.extend(got)
            if got != expected:
                failed.append((command, expected, got))
        for line in lines:
            if line[:2] in ("| ", "! ", "= ") or line in ("|", "!"):
                expected.append(line.rstrip())
                continue
            finish(); command = None; expected = []
            out.append(line)
            if line.startswith("$ "):
                command = line[2:]
        finish()
    return out, failed

bad = count = 0
for path in sorted(HERE.glob("*.txt")):
    out, failed = session(path)
    count += 1
    if update:
        path.write_text("\n".join(out) + "\n", encoding="utf-8")
        continue
    for command, expected, got in failed:
        bad += 1
        print(f"{path.name}: $ {command}")
        import difflib
        print("\n".join("    " + l for l in difflib.unified_diff(expected, got, "expected", "got", lineterm="", n=1)))
print(f"{count} sessions, {bad} differences")
sys.exit(bool(bad) or not count)
