#!/usr/bin/env python3
"""The store under faults: afterwards it holds the old facts or the new ones, and a reader sees what was committed.
  store_faults.py PROGRAM FAULTS.so [SECONDS]
Each call that changes a file is made to fail once, to find the disk full from there on, or to be the last one of a program
that is killed; bits of the store are turned and rows are taken out. What is tried is told by position, in an order that is
always the same; when the time is over, it stops."""
import os, random, shutil, sqlite3, subprocess, sys, tempfile, time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
program, faults = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 60
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith(("BACKREACH", "FAULTS"))}
OLD = """backreach: 1
datasets:
  - {name: orders, kind: source, partitions: day}
  - {name: revenue, partitions: day, writes: replace, owner: finance}
edges: [{from: orders, to: revenue}]
"""
NEW = OLD.replace("finance", "sales") + "copies: [{id: sheet, of: revenue, kind: spreadsheet}]\n"
OTHER = "backreach: 1\ndatasets: [{name: visits, partitions: day}]\n"
failures = []


def fail(what, why, done=None):
    failures.append(what)
    print(f"{what}: {why}" + (f"; status {done.returncode}, {done.stderr.strip()[-300:]!r}" if done else ""), flush=True)


class Place:
    """A folder with inputs, and one beside it that holds nothing but the store."""

    def __init__(self, folder):
        self.inputs, self.folder = Path(folder) / "inputs", Path(folder) / "store"
        self.inputs.mkdir(), self.folder.mkdir()
        self.store = self.folder / "g.db"
        self.count = Path(folder) / "count"

    def run(self, *words, at=None, kind="fail"):
        env = dict(CLEAN)
        if at is not None:
            env |= {"LD_PRELOAD": faults, "FAULTS_UNDER": str(self.folder), "FAULTS_AT": str(at), "FAULTS_KIND": kind,
                    "FAULTS_COUNT": str(self.count)}
        return subprocess.run([program, *words, "--store", str(self.store)], cwd=self.inputs, env=env, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, errors="replace", timeout=600)

    def start(self, *words):
        return subprocess.Popen([program, *words, "--store", str(self.store)], cwd=self.inputs, env=CLEAN, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def clear(self):
        shutil.rmtree(self.folder)
        self.folder.mkdir()

    def write(self, name, text):
        (self.inputs / name).write_text(text)

    def beside(self):
        return sorted(p.name for p in self.folder.iterdir() if p.name not in ("g.db", "g.db-wal", "g.db-shm"))


# ---- What is done to a store, from what, and to what ----

def nothing(place):
    place.write("r.yml", OLD)

def one(place):
    nothing(place)
    assert place.run("ingest", "registry", "r.yml").returncode == 0
    place.write("r.yml", NEW)

def two(place):
    nothing(place)
    place.write("other.yml", OTHER)
    for name in ("r.yml", "other.yml"):
        assert place.run("ingest", "registry", name).returncode == 0

def layout4(place):
    text = (ROOT / "tests/golden/layout4.sql").read_text().replace("/data/registry.yml", str(ROOT / "examples/shop/registry.yml"))
    db = sqlite3.connect(place.store)
    db.executescript(text)
    db.close()
    place.write("r.yml", OTHER)

INGEST = ("ingest", "registry", "r.yml")
SCENARIOS = [("the first ingest", nothing, INGEST, ()), ("a second ingest", one, INGEST, ()),
             ("forgetting a source", two, None, ()), ("an ingest into layout 4", layout4, INGEST, ()),
             ("two writers", one, INGEST, ("ingest", "registry", "other.yml"))]
KINDS = ("kill", "fail", "full", "torn")


class Scenario:
    def __init__(self, folder, name, prepare, command, beside):
        self.place, self.name, self.beside = Place(folder), name, beside
        prepare(self.place)
        self.place.write("other.yml", OTHER)
        self.command = command or ("forget", "--source", str(self.place.inputs / "other.yml"))
        self.kept = Path(folder) / "kept"
        shutil.copytree(self.place.folder, self.kept)
        self.old = self.place.run("export").stdout  # "" where there is no store
        if beside:  # the other's facts are there in any case
            assert self.place.run(*beside).returncode == 0
            self.old = self.place.run("export").stdout
            self.restore()
        done = self.place.run(*self.command, at=0)
        assert done.returncode == 0, done.stderr
        self.calls = int(self.place.count.read_text())
        if beside:
            assert self.place.run(*beside).returncode == 0
        self.new = self.place.run("export").stdout
        assert self.new and self.new != self.old and self.calls > 5, (name, self.calls)

    def restore(self):
        shutil.rmtree(self.place.folder)
        shutil.copytree(self.kept, self.place.folder)

    def attempt(self, kind, at):
        self.restore()
        what, place = f"{self.name}, {kind} at call {at}", self.place
        second = place.start(*self.beside) if self.beside else None
        done = place.run(*self.command, at=at, kind=kind)
        if second:
            error = second.communicate(timeout=600)[1]
            if second.returncode != 0:
                return fail(what, f"the other writer ended with {second.returncode}: {error[-300:]!r}")
        killed = done.returncode == -9
        if killed != (kind in ("kill", "torn") and at <= int(self.calls)) and not self.beside:
            fail(what, "was not killed where it was to be", done)
        if not killed and done.returncode not in (0, 2, 3) or "please report" in done.stderr:
            fail(what, "ended otherwise than with a message", done)
        left = [name for name in place.beside() if ".new-" in name]
        if place.store.exists():
            read = place.run("export")
            allowed = (self.new,) if done.returncode == 0 else (self.old, self.new)
            if read.returncode != 0 or read.stdout not in allowed:
                return fail(what, "neither the old facts nor the new ones" if done.returncode else "done, and not there", read)
            if done.returncode in (2, 3) and read.stdout != self.old and "nothing was changed" in done.stderr:
                fail(what, "says that nothing was changed, and it was", done)
            if left:
                named = place.run("doctor").stdout
                if not all(name in named.replace("\n", "").replace(" ", "") for name in left if name.endswith(tuple("0123456789abcdef"))):
                    fail(what, f"doctor does not name {left}: {named[:400]}")
        elif self.old or done.returncode == 0:
            return fail(what, "the store is gone", done)
        again = place.run(*self.command)
        forgotten = self.command[0] == "forget" and again.returncode == 2  # it was forgotten before
        if again.returncode != 0 and not forgotten:
            return fail(what, "cannot be done again", again)
        if self.beside and place.run(*self.beside).returncode != 0:
            return fail(what, "the other's cannot be done again")
        read = place.run("export")
        if read.returncode != 0 or read.stdout != self.new:
            return fail(what, "done again, and not the new facts", read)
        if left and place.run("ingest", "registry", "r.yml").returncode == 0 and place.beside():
            fail(what, f"left behind: {place.beside()}")


# ---- A store that was damaged ----

class Damaged:
    def __init__(self, folder):
        self.place = Place(folder)
        two(self.place)
        self.place.write("r.yml", NEW)
        assert self.place.run(*INGEST).returncode == 0
        db = sqlite3.connect(self.place.store)
        db.execute("pragma wal_checkpoint(truncate)")
        db.execute("pragma journal_mode = delete")
        self.tables = {name: [r[0] for r in db.execute(f"select rowid from \"{name}\"")]
                       for name, sql in db.execute("select name, sql from sqlite_master where type = 'table'").fetchall()
                       if "WITHOUT ROWID" not in sql.upper()}
        db.close()
        self.bytes = self.place.store.read_bytes()
        self.answers = self.ask()
        assert all(a.returncode == 0 for a in self.answers)

    def ask(self):
        plan = ("plan", "orders", "--from", "2026-03-01", "--to", "2026-03-03", "--now", "2026-04-20T09:00Z", "--format", "json")
        return [self.place.run("export"), self.place.run(*plan)]

    def check(self, what):
        for good, read in zip(self.answers, self.ask()):
            if read.returncode == 3 and read.stderr.strip():
                continue
            if (read.returncode, read.stdout) != (good.returncode, good.stdout):
                fail(what, "another answer", read)

    def attempt(self, kind, at):
        self.place.clear()
        text = bytearray(self.bytes)
        if kind == "bit":
            text[at // 8] ^= 1 << at % 8
        self.place.store.write_bytes(text)
        if kind != "bit":
            db = sqlite3.connect(self.place.store)
            db.execute(f"delete from \"{kind}\" where rowid = ?", (at,))
            db.commit()
            db.close()
        self.check(f"bit {at} turned" if kind == "bit" else f"row {at} of {kind} deleted")

    def attempts(self):
        # Every bit of the header, then bits everywhere.
        yield from (("bit", at) for at in range(100 * 8))
        yield from (("bit", at) for at in range(800, len(self.bytes) * 8, 97))
        yield from ((table, row) for table, rows in self.tables.items() for row in rows)


with tempfile.TemporaryDirectory() as folder:
    todo = []
    for number, scenario in enumerate(SCENARIOS):
        (Path(folder) / str(number)).mkdir()
        made = Scenario(Path(folder) / str(number), *scenario)
        todo += [(made, kind, at) for at in range(1, made.calls + 1) for kind in KINDS]
    calls = len(todo)
    (Path(folder) / "damaged").mkdir()
    damaged = Damaged(Path(folder) / "damaged")
    hurts = [(damaged, kind, at) for kind, at in damaged.attempts()]
    order = random.Random(1)
    order.shuffle(todo), order.shuffle(hurts)
    # A third as many of these, which are cheaper; then what is left of either.
    mixed = [x for i, t in enumerate(todo) for x in ([t, hurts[i]] if i < len(hurts) else [t])] + hurts[len(todo):]
    until, tried = time.monotonic() + seconds, 0
    for what, kind, at in mixed:
        if time.monotonic() > until and tried >= 20:
            break
        what.attempt(kind, at)
        tried += 1
print(f"{tried} of {len(mixed)} faults tried: {tried - len(set(failures))} passed, {len(failures)} failed")
sys.exit(1 if failures else 0)
