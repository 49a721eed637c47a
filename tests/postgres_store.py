#!/usr/bin/env python3
"""tests/postgres_store.py BACKREACH: a schema of PostgreSQL as the store, against a server of its own (with_postgres.sh starts
it): the same answers as from a file, byte for byte, the same questions in SQL, many writers at once, the dead, and messages."""
import os, re, signal, subprocess, sys, tempfile, time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if "POSTGRES_BIN" not in os.environ:
    sys.exit(subprocess.call([str(ROOT / "tests/real/with_postgres.sh"), sys.executable, *sys.argv]))
PROGRAM = os.path.abspath(sys.argv[1])
FOLDER = tempfile.mkdtemp()
faults = []

def address(schema): return f"postgresql:///postgres?options=-csearch_path%3D{schema}"

def run(*words, store, status=None, **more):
    done = subprocess.run([PROGRAM, *words], cwd=FOLDER, env={**os.environ, "BACKREACH_STORE": store}, capture_output=True, text=True, **more)
    if status is not None and done.returncode != status:
        faults.append(f"{' '.join(words)}: status {done.returncode}, not {status}\n{done.stdout[-500:]}{done.stderr[-500:]}")
    return done

def psql(sql, schema="backreach"):
    done = subprocess.run([os.environ["POSTGRES_BIN"] + "/psql", "-X", "-A", "-t", "-F", "|", "-d", "postgres", "-c", f'SET search_path TO "{schema}"', "-c", sql],
                          capture_output=True, text=True)
    if done.returncode: faults.append(f"psql: {sql}\n{done.stderr}")
    return [line for line in done.stdout.splitlines() if line != "SET"]

def expect(ok, what):
    if not ok: faults.append(what)

def ingest_example(store):
    example = ROOT / "examples/shop"
    run("ingest", "dbt", str(example / "target"), store=store, status=0)
    run("ingest", "airflow", str(example / "serialized_dags.jsonl"), "--name", "shop", store=store, status=0)
    run("ingest", "registry", str(example / "registry.yml"), store=store, status=0)

def same_answers():
    server, file = "postgresql:///postgres", FOLDER + "/g.db"
    ingest_example(server), ingest_example(file)
    ask = ["fct_orders", "--from", "2026-03-01", "--to", "2026-03-31", "--now", "2026-04-20T09:00Z"]
    for words in (["plan", *ask, "--format", "json"], ["plan", *ask], ["copies"], ["datasets"], ["datasets", "fct_orders+"], ["show", "revenue_daily"],
                  ["render", *ask, "--format", "dot"], ["export"], ["audit"], ["plan", "tag:nightly", "--from", "2026-03-01", "--to", "2026-03-02", "--now", "2026-04-20T09:00Z"]):
        a, b = run(*words, store=server), run(*words, store=file)
        strip = lambda text: re.sub(r'"ingested_at": *"[^"]*"', "", text)
        expect((a.returncode, strip(a.stdout)) == (b.returncode, strip(b.stdout)), f"{' '.join(words)} answers otherwise from a server:\n{a.stderr}{a.stdout[:600]}")
    # The relations hold the same rows, and the documents' questions run on either.
    import sqlite3
    questions = re.findall(r"```sql\n(.*?)```", (ROOT / "graph/store/schema.md").read_text(encoding="utf-8"), re.S)
    expect(len(questions) >= 5, "schema.md has lost its questions")
    connection = sqlite3.connect(file)
    for sql in questions:
        if "group by v.id, c.part" in sql: continue  # of numbers that differ from store to store
        text = lambda v: "" if v is None else str(v)
        rows = sorted("|".join(map(text, row)) for row in connection.execute(sql))
        expect(sorted(psql(sql)) == rows, f"this question has another answer on a server: {sql}\n{psql(sql)[:5]}\n{rows[:5]}")
    # The same once more writes no row.
    before = psql("SELECT count(*), max(id) FROM version")
    ingest_example(server)
    expect(psql("SELECT count(*), max(id) FROM version") == before, "the same sources again are new versions")
    expect("0 warnings" in run("doctor", store=server).stdout or run("doctor", store=server).returncode in (0, 1), "doctor does not run on a server")

def registry(n):
    path = Path(FOLDER) / f"r{n}.yml"
    path.write_text(f"backreach: 1\ndatasets:\n  - name: own_{n}\n    partitions: day\nedges:\n  - {{from: common, to: own_{n}, reads: same}}\n")
    return str(path)

def writers(store):
    """Twenty-four at once, the first of them into nothing."""
    files = [registry(n) for n in range(24)]
    running = [subprocess.Popen([PROGRAM, "ingest", "registry", f, "--store", store], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=FOLDER) for f in files]
    for p in running:
        said = p.communicate()[0]
        # A machine that is busy for 30 seconds lets a writer give up, which says so and changes nothing: it tries again.
        for _ in range(20):
            if p.returncode != 3 or "try again" not in said: break
            again = run("ingest", "registry", files[running.index(p)], store=store)
            p.returncode, said = again.returncode, again.stdout + again.stderr
        expect(p.returncode == 0, f"a writer of many: status {p.returncode}: {said}")
    names = run("datasets", "--format", "json", store=store, status=0).stdout
    expect(all(f'"own_{n}"' in names for n in range(24)), f"of 24 writers some are missing in {store}")

def killed():
    store = address("killed")
    run("ingest", "registry", registry(1), store=store, status=0)
    for n in range(12):
        child = subprocess.Popen([PROGRAM, "ingest", "dbt", str(ROOT / "examples/shop/target"), "--store", store], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.004 * n)
        child.send_signal(signal.SIGKILL); child.wait()
        held = run("sources", store=store, status=0).stdout
        expect("r1.yml" in held, f"a killed writer took another source away: {held}")
    run("ingest", "dbt", str(ROOT / "examples/shop/target"), store=store, status=0)
    run("doctor", store=store)
    expect(run("show", "fct_orders", store=store).returncode == 0, "after killed writers the next ingest is not seen")

def messages():
    down = run("datasets", store="postgresql://me:secret@127.0.0.1:9/nowhere", status=3)
    expect("secret" not in down.stderr and "server cannot be used" in down.stderr, f"server down: {down.stderr}")
    empty = run("datasets", store=address("not_there"), status=3)
    expect("there is no store here" in empty.stderr, f"no schema: {empty.stderr}")
    psql("CREATE SCHEMA others; CREATE TABLE others.theirs (a int)")
    for words in (["datasets"], ["ingest", "registry", registry(1)]):
        other = run(*words, store=address("others"), status=3)
        expect("tables of others" in other.stderr, f"another's schema: {other.stderr}")
    psql("UPDATE state SET layout = 99", "killed")
    expect("newer backreach" in run("datasets", store=address("killed"), status=3).stderr, "a newer layout")
    psql(f"UPDATE state SET layout = (SELECT layout FROM backreach.state)", "killed")
    psql("UPDATE source SET name = 'x' WHERE kind = 'registry'", "killed")
    expect("damaged" in run("datasets", store=address("killed"), status=3).stderr, "a source changed by hand")
    psql("CREATE ROLE reader LOGIN; GRANT USAGE ON SCHEMA backreach TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA backreach TO reader")
    reader = "postgresql://reader@/postgres"
    expect(run("datasets", store=reader).returncode == 0, "who may only read cannot read")
    refused = run("ingest", "registry", registry(2), store=reader, status=3)
    expect("may not" in refused.stderr, f"who may only read: {refused.stderr}")
    odd = Path(FOLDER) / "odd.yml"
    odd.write_text('backreach: 1\ndatasets:\n  - name: "tab\\there\\\\N \\u2603"\n    owner: "a\\nb"\n    partitions: day\n')
    run("ingest", "registry", str(odd), store=address("odd"), status=0)
    expect(psql("SELECT count(*) FROM dataset WHERE name = E'tab\\there\\\\N \\u2603' AND owner = E'a\\nb'", "odd") == ["1"], "odd characters are not kept as they are")

try:
    same_answers(), writers(address("writers")), writers(FOLDER + "/writers.db"), killed(), messages()
finally:
    subprocess.call(["rm", "-rf", FOLDER])
print("\n".join(faults) or "a server answers as a file does; 24 writers at once on either; none of the dead left anything behind")
sys.exit(bool(faults))
