#!/usr/bin/env python3
"""What cannot be written is a failure, and --out and --store touch only what they should."""
import os, stat, subprocess, sys, tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
program = os.path.abspath(sys.argv[1])
env = {k: v for k, v in os.environ.items() if not k.startswith("BACKREACH")}
bad = count = 0

def say(good, what, done=None):
    global bad, count
    count += 1
    if not good:
        bad += 1
        print(f"{what}: " + (f"status {done.returncode}, {done.stdout[:120]!r}, {done.stderr.strip()[:300]!r}" if done else ""))

with tempfile.TemporaryDirectory() as folder:
    work = Path(folder)
    def run(*words, **more):
        more = {"stdout": subprocess.PIPE} | more
        return subprocess.run([program, *words], cwd=work, env=env, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL, timeout=1200, **more)
    run("ingest", "dbt", str(ROOT / "examples/shop/target"))
    run("ingest", "registry", str(ROOT / "examples/shop/registry.yml"))
    ask = ["fct_orders", "--from", "2026-03-01", "--to", "2026-03-31", "--now", "2026-04-20T09:00Z", "--quiet"]
    run("plan", *ask, "--accept", "append-duplicates", "--format", "json", "--out", "plan.json")
    answers = [["plan", *ask, "--format", f] for f in ("text", "json", "markdown")] + [["render", *ask, "--format", f] for f in ("dot", "svg")]
    answers += [["explain", *ask, "revenue_daily"], ["export"], ["sources"], ["datasets"], ["datasets", "--format", "json"], ["show", "fct_orders"], ["copies"],
                ["copies", "--format", "json"], ["audit"], ["doctor"], ["hazard", "append-duplicates"], ["--help"], ["plan", "--help"], ["--version"]]
    for words in answers:
        with open("/dev/full", "w") as full:
            done = run(*words, stdout=full)
        say(done.returncode == 2 and "No space left" in done.stderr, f"{words[0]} to a full device", subprocess.CompletedProcess([], done.returncode, "", done.stderr))
        if words[0] in ("plan", "render", "export") and "--help" not in words:
            done = run(*words, "--out", "/dev/full")
            say(done.returncode == 2 and "No space left" in done.stderr, f"{words[0]} --out /dev/full", done)

    (work / "a-folder").mkdir()
    for words in (["export"], ["ingest", "registry", str(ROOT / "examples/shop/registry.yml")]):
        done = run(*words, "--store", "a-folder")
        say(done.returncode == 3 and "is a folder, and a store is a file" in done.stderr, f"{words[0]} --store a folder", done)
    done = run("feed", "a-folder", "--to", "shell")
    say(done.returncode == 2 and "is a folder, not a plan" in done.stderr, "feed of a folder", done)
    if os.geteuid() != 0:  # who may do everything is refused nothing
        (work / "shut").mkdir(); (work / "shut/g.db").write_bytes((work / ".backreach/graph.db").read_bytes())
        (work / "shut/g.db").chmod(0)
        done = run("export", "--store", "shut/g.db")
        say(done.returncode == 3 and "you may not read it" in done.stderr, "a store without the right to read", done)
        (work / "shut").chmod(0)
        done = run("export", "--store", "shut/g.db")
        say(done.returncode == 3 and "you may not enter its folder" in done.stderr, "a store in a shut folder", done)
        (work / "shut").chmod(0o755)

    before = (work / ".backreach/graph.db").read_bytes()
    for target in (".backreach/graph.db", "link-to-store"):
        if target == "link-to-store":
            (work / target).symlink_to(work / ".backreach/graph.db")
        done = run("export", "--out", target)
        say(done.returncode == 2 and "the store itself" in done.stderr and (work / ".backreach/graph.db").read_bytes() == before, f"--out {target}", done)
    done = run("export", "--store", "")
    say(done.returncode == 2 and "names no store" in done.stderr, "--store ''", done)
    done = run("export", "--out", "")
    say(done.returncode == 2 and "names no file" in done.stderr, "--out ''", done)
    (work / "folder").mkdir()
    done = run("export", "--out", "folder")
    say(done.returncode == 2 and "is a folder" in done.stderr and not list((work / "folder").iterdir()), "--out a folder", done)
    done = run("export", "--out", "nowhere/graph.json")
    say(done.returncode == 2 and "make its folder first" in done.stderr, "--out in no folder", done)

    whole = run("export").stdout
    (work / "kept.json").write_text("old"); (work / "kept.json").chmod(0o640)
    done = run("export", "--out", "kept.json")
    say(done.returncode == 0 and (work / "kept.json").read_text() == whole and stat.S_IMODE((work / "kept.json").stat().st_mode) == 0o640, "rights are kept", done)
    (work / "link.json").symlink_to("kept.json"); (work / "kept.json").write_text("old")
    done = run("export", "--out", "link.json")
    say(done.returncode == 0 and (work / "link.json").is_symlink() and (work / "kept.json").read_text() == whole, "a link is followed", done)
    (work / "dangling").symlink_to("not-there")
    done = run("export", "--out", "dangling")
    say(done.returncode == 2 and "link to something that is not there" in done.stderr and not (work / "not-there").exists(), "a link to nothing", done)
    os.mkfifo(work / "pipe")
    done = run("export", "--out", "pipe")
    say(done.returncode == 2 and "nobody reads" in done.stderr and stat.S_ISFIFO((work / "pipe").stat().st_mode), "a pipe that nobody reads", done)
    end = os.open(work / "pipe", os.O_RDONLY | os.O_NONBLOCK)  # open before the command is started: nothing hangs on who is faster
    got = b""
    writer = subprocess.Popen([program, "export", "--out", "pipe"], cwd=work, env=env)
    os.set_blocking(end, True)
    ended = False
    while piece := os.read(end, 1 << 16) or not ended:  # nothing to read is the end only once the writer has gone
        got += b"" if piece is True else piece
        ended = ended or (piece is True and writer.poll() is not None)
    say(writer.returncode == 0 and got.decode() == whole and stat.S_ISFIFO((work / "pipe").stat().st_mode), "a pipe that somebody reads")
    done = run("export", "--out", "/dev/null")
    say(done.returncode == 0 and stat.S_ISCHR(os.stat("/dev/null").st_mode), "--out /dev/null", done)
    done = run("export", "--out", "fresh.json")
    say(done.returncode == 0 and sorted(p.name for p in work.glob("fresh.json*")) == ["fresh.json"], "nothing is left beside", done)
print(f"{count - bad} passed, {bad} failed")
sys.exit(bad > 0)
