#!/usr/bin/env python3
"""history.py BACKREACH DATABASE-URL-PARTS...: a real engine runs statements of which each one's truth is known, its log is ingested, and the
audit is held against that: no missed extract, no false one.

    history.py BACKREACH postgres SOCKET PORT LOG.csv      a server with log_statement = all and a csvlog
    history.py BACKREACH duckdb                            a script, run by DuckDB and read as it is
"""
import json, os, subprocess, sys, tempfile
from pathlib import Path

# (user, statements, what they take out: (table, a part of the destination) ...); None: it may be said or listed
POSTGRES = [
    ("etl", "create schema core; create schema raw; create schema ann", []),
    ("etl", "create table raw.orders(id int, d date, amount numeric); create table core.orders(like raw.orders); create table core.customers(id int, name text); create table core.copy(id int, \"to\" text)", []),
    ("etl", "insert into raw.orders select i, date '2026-03-01' + i % 20, i from generate_series(1, 100) i", []),
    ("etl", "insert into core.orders select * from raw.orders -- copy raw.orders to '/tmp/x'", []),
    ("etl", "insert into core.orders select * from raw.orders -- copy raw.orders to '/tmp/x'", []),
    ("etl", "create view core.v as select id from core.customers", []),
    ("cara", "copy core.orders to stdout", [("core.orders", "stdout")]),
    ("cara", "COPY(select*from core.customers)TO STDOUT WITH (FORMAT csv)", [("core.customers", "stdout")]),
    ("bob", "copy (with o as (select * from core.orders), orders as (select * from o) select * from orders) to '{tmp}/out.csv' csv", [("core.orders", "out.csv")]),
    ("bob", "copy core.customers to program 'cat > {tmp}/prog.csv'", [("core.customers", "prog.csv")]),
    ("dan", "create temp table pick as select id from core.orders; copy pick to stdout", [("core.orders", "stdout")]),
    ("dan", "set search_path to core; copy customers to stdout", [("core.customers", "stdout")]),
    ("ann", "create table ann.kept as select * from core.customers", [("core.customers", "ann.kept")]),
    ("ann", "select id into ann.mailing from core.customers", [("core.customers", "ann.mailing")]),
    ("ann", "create table ann.shape as select * from core.orders with no data", []),
    ("eve", "do $b$ begin copy core.orders to '{tmp}/do.csv'; end $b$", [("core.orders", "do.csv")]),
    ("fay", "select 'copy core.orders to ''/tmp/x''' as example", []),
    ("fay", "/* copy core.orders to '/x' /* nested */ */ select E'it\\'s copy core.orders to stdout'", []),
    ("fay", "select \"to\" from core.copy", []),
    ("fay", "copy (select 1 as x) to stdout", []),
    ("fay", "explain select * from core.orders", []),
    ("gus", "copy core.nothing to stdout", []),
    ("gus", "copy core.orders to", []),
    ("hal", "copy (delete from core.copy returning *) to stdout", [("core.copy", "stdout")]),
]
DUCKDB = """CREATE TABLE orders AS SELECT 1 AS id, 2.0 AS amount;
CREATE TABLE users AS SELECT 1 AS id, 'DE' AS country;
COPY orders TO '{tmp}/orders.parquet' (FORMAT parquet);
COPY (SELECT country, count(*) FROM orders JOIN users USING (id) GROUP BY 1) TO '{tmp}/by_country.csv';
COPY (FROM users SELECT country) TO '{tmp}/countries.csv';
CREATE TEMP TABLE big AS SELECT * FROM orders WHERE amount > 1;
COPY big TO '{tmp}/big.csv';
SELECT 'COPY orders TO ''x.csv''';
-- COPY users TO 'x.csv'
COPY (SELECT 42) TO '{tmp}/answer.csv';
COPY (SELECT * FROM read_csv('{tmp}/answer.csv')) TO '{tmp}/again.csv';
SELECT * FROM '{tmp}/orders.parquet';
"""
DUCKDB_TRUTH = [("orders", "orders.parquet"), ("orders", "by_country.csv"), ("users", "by_country.csv"), ("users", "countries.csv"), ("orders", "big.csv")]

def audit(program, dialect, log):
    store = Path(tempfile.mkdtemp()) / "g.db"
    subprocess.run([program, "ingest", "queries", log, "--dialect", dialect, "--store", store, "--quiet"], check=True)
    done = subprocess.run([program, "audit", "--format", "json", "--store", store], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(done.stderr)
    return json.loads(done.stdout)

def compare(found, truth):
    """found, truth: (user, table, destination); a part of the destination is enough."""
    left, missed = list(found), []
    for user, table, place in truth:
        hit = next((f for f in left if f[0] == user and (f[1] == table or f[1].endswith("." + table)) and place in f[2].lower()), None)
        if hit:
            left.remove(hit)
        else:
            missed.append((user, table, place))
    for m in missed:
        print("missed:", *m)
    for f in left:
        print("false:", *f)
    print(f"{len(truth) - len(missed)} of {len(truth)} extracts found, {len(left)} false: {'1 passed, 0 failed' if not missed and not left else '0 passed, 1 failed'}")
    return bool(missed or left)

def postgres(program, socket, port, log):
    tmp = tempfile.mkdtemp()
    os.chmod(tmp, 0o777)
    psql = lambda user, sql: subprocess.run(["psql", "-h", socket, "-p", port, "-U", user, "-d", "dw", "-q", "-c", sql], capture_output=True, text=True)
    truth = []
    for user in sorted({user for user, _, _ in POSTGRES}):
        subprocess.run(["psql", "-h", socket, "-p", port, "-U", "postgres", "-d", "dw", "-qc", f"create role {user} superuser login"], check=True)
    for user, sql, takes in POSTGRES:
        psql(user, sql.replace("{tmp}", tmp))
        truth += [(user, table, place) for table, place in takes]
    found = audit(program, "postgres", log)
    return compare([(f["user"], f["dataset"], f["destination"]) for f in found["findings"] if f["code"] in ("undocumented-extract", "frozen-copy")], truth)

def duckdb(program):
    import duckdb
    tmp = tempfile.mkdtemp()
    script = Path(tmp) / "nightly.sql"
    script.write_text(DUCKDB.replace("{tmp}", tmp))
    duckdb.connect().execute(script.read_text())
    found = audit(program, "duckdb", script)
    return compare([(f["user"], f["dataset"], f["destination"]) for f in found["findings"] if f["code"] in ("undocumented-extract", "frozen-copy")],
                   [(None, table, place) for table, place in DUCKDB_TRUTH])

program, engine, *rest = sys.argv[1:]
sys.exit(postgres(os.path.abspath(program), *rest) if engine == "postgres" else duckdb(os.path.abspath(program)))
