#!/usr/bin/env python3
"""Any text in any field, every feed, run for real with stub programs and a canary beside it: nothing else runs, nothing is
written elsewhere, and the stubs get the words that were meant. Plan files that were edited are refused or harmless."""
import ast, copy, fnmatch, json, os, re, shutil, subprocess, sys, tempfile, types
from pathlib import Path

program = os.path.abspath(sys.argv[1])
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith("BACKREACH")}
failures = []


def fail(*what):
    failures.append(what)
    print(*[str(w)[:600] for w in what], flush=True)


def texts(canary):
    touch = f"touch {canary}"
    return [f"x; {touch}", f"$({touch})", f"`{touch}`", f"a' && {touch} && echo '", f'"; {touch}; "', f"a\n{touch}\nb", f"a\\'; {touch} #", f"\\\"; {touch} #",
            f"x && {touch}", f"x | {touch}", f"x\r\n{touch}", f"*/ ; {touch} --", f"' ; {touch} ; '", f"\\'$({touch})", f"a && airflow_wait {touch}", f"airflow_wait $({touch}) x",
            f"'''; __import__('os').system('{touch}') #", f"\"\"\" + __import__('os').system('{touch}') + \"\"\"", f"{{{{ ''.__class__ }}}}{touch}", f"{{%{{{{{{# {touch}",
            "{% raw %}", "{{", "{#", "}}", "{{ 7 * 7 }}", "coding: utf-7 +AGEAJw-", "vim: set fileencoding=utf-7 :", "x.sh", "EOF", "#", "# x", "!x", "~", "~root", "=ls", "%s%n", "a=b", "x=$y",
            "-x", "--full-refresh", "--", "--select", "-", "p.*", "a*", "a?", "[a]", "a]", "a,b", "a b", "a\tb", "a_b", "+x", "x+", "2+x", "x+2", "@x", "tag:x", "path:x", "source:*", "state:modified",
            "package:p", "this", "'", '"', "\\", "\\'", "''", "`", "a''b", "a\\", "é", "x\u202ey", "x\u0085y", "\u2028", "\x7f", "x\x1b[2Jy", "&", ">" + canary, f"x > {canary}", f"<({touch})", "${HOME}", "$HOME",
            "$x", "{from}", "{sql}", "{key}", "{a,b}", "null", "007", "no", "x: y", "- x", "<b>", "</script>", "&amp;", "|", ";", "(", ")", "[x](y)", "a" * 300, "a.b.c", ".", "..", "../../" + "x"]


def run(words, folder, **more):
    return subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="surrogateescape", timeout=600, **({"env": CLEAN} | more))


# ---- Stub programs, which log their words ----

STUB = """#!/bin/sh
printf '%s\\0' "$#" "${0##*/}" "$@" >> "$STUB_LOG"
"""
DBT = STUB + """case "$1 $2" in *show*) echo '{"show": []}' ;; esac
"""
AIRFLOW = STUB + """case "$1 $2" in
  "dags list-runs") printf '['; cat "$STUB_LOG.runs"; echo '{"run_id": "none", "state": "success"}]' ;;
  "dags trigger"|"backfill create") for word in "$@"; do
    case $before in
      --run-id) printf '{"run_id": "%s", "state": "success"}, ' "$word" >> "$STUB_LOG.runs" ;;
      --from-date) printf '{"run_id": "x", "logical_date": "%s", "state": "success"}, ' "$word" >> "$STUB_LOG.runs" ;;
    esac; before=$word; done ;;
esac
"""


class Stage:
    """Where a feed is run: stubs on the path, a log beside, a folder that is to stay as it is."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.bin, self.here, self.log, self.canary = (self.folder / n for n in ("bin", "here", "log", "canary"))
        self.bin.mkdir(), self.here.mkdir()
        for name, text in {"dbt": DBT, "airflow": AIRFLOW, "stub_shell": STUB, "stub_sql": STUB}.items():
            (self.bin / name).write_text(text)
            (self.bin / name).chmod(0o755)
        self.env = CLEAN | {"PATH": f"{self.bin}:/usr/bin:/bin", "STUB_LOG": str(self.log), "BACKREACH_POLL": "0", "PYTHONUTF8": "1", "LC_ALL": "C.UTF-8"}

    def fresh(self):
        shutil.rmtree(self.here)
        self.here.mkdir()
        self.log.write_bytes(b"")
        Path(f"{self.log}.runs").write_bytes(b"")

    def calls(self):
        words = self.log.read_bytes().decode("utf-8", "surrogateescape").split("\0")[:-1]
        out = []
        while words:
            n = int(words[0])
            out.append(words[1:n + 2])
            words = words[n + 2:]
        return out

    def unharmed(self, what):
        if self.canary.exists():
            fail(what, "something else ran")
            self.canary.unlink()
        odd = [str(p.relative_to(self.here)) for p in self.here.rglob("*") if not re.fullmatch(r"backreach-[0-9a-f]+\.log|plan\.(sh|py)", p.name)]
        odd += [p.name for p in self.folder.iterdir() if p.name not in ("bin", "here", "log", "log.runs", "inputs", "out", "edited")]
        if odd:
            fail(what, "something was written elsewhere:", odd)


# ---- An Airflow file, as Airflow would run it ----

def airflow_tasks(text, what):
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) not in ("DAG", "BashOperator", "EmptyOperator", "datetime.datetime"):
            fail(what, "an unexpected call:", ast.unparse(node))
        if not isinstance(node, (ast.Module, ast.Import, ast.ImportFrom, ast.alias, ast.Try, ast.ExceptHandler, ast.Assign, ast.With, ast.withitem, ast.Expr, ast.BinOp, ast.Add, ast.RShift,
                                 ast.Call, ast.keyword, ast.Constant, ast.Name, ast.Load, ast.Store, ast.Attribute, ast.List)):
            fail(what, "an unexpected", type(node).__name__)
    tasks = {}

    class Operator:
        def __init__(self, task_id, bash_command=None, pool=None):
            if task_id in tasks or len(task_id) > 250 or not re.fullmatch(r"[\w.-]+", task_id):
                fail(what, "task id", task_id)
            tasks[task_id] = bash_command

        def __rshift__(self, other):
            return other

    class Dag:
        def __init__(self, **fields): pass
        def __enter__(self): return self
        def __exit__(self, *_): pass
    fakes = {"airflow": {}, "airflow.sdk": {"DAG": Dag}, "airflow.providers": {}, "airflow.providers.standard": {}, "airflow.providers.standard.operators": {},
             "airflow.providers.standard.operators.bash": {"BashOperator": Operator}, "airflow.providers.standard.operators.empty": {"EmptyOperator": Operator}}
    kept = dict(sys.modules)
    for name, fields in fakes.items():
        sys.modules[name] = types.ModuleType(name)
        vars(sys.modules[name]).update(fields)
    try:
        exec(compile(text.encode(), "plan.py", "exec"), {})
    finally:
        for name in fakes:
            sys.modules.pop(name, None)
        sys.modules.update({k: v for k, v in kept.items() if k in fakes})
    return [rendered(command, what) for command in tasks.values() if command is not None]


try:
    from jinja2.sandbox import SandboxedEnvironment
except ImportError:
    SandboxedEnvironment = None


def rendered(command, what):
    """As Jinja renders a field of Airflow's; a text that ends in .sh or .bash would be a file."""
    if command.endswith((".sh", ".bash")):
        fail(what, "a command that is a file's name:", command)
    plain = re.sub(r"\{\{ '(\{|\\r)' \}\}", lambda m: "{" if m[1] == "{" else "\r", command.replace("\r\n", "\n"))
    left = re.sub(r"\{\{ '(\{|\\r)' \}\}", "", command)
    if re.search(r"\{[{%#]", left):
        fail(what, "a template that is no brace:", command)
    elif SandboxedEnvironment and SandboxedEnvironment(cache_size=0).from_string(command).render() != plain:
        fail(what, "Jinja reads it otherwise:", command)
    return plain


def do(stage, feed, plan, what, *, out="out"):
    """Writes a feed and runs it: the calls that the stubs saw, or None where it was refused."""
    stage.fresh()
    folder = stage.folder / out
    shutil.rmtree(folder, ignore_errors=True)
    done = run([program, "feed", str(plan), "--to", feed, "--force", "--quiet", "--out", str(folder)], stage.here)
    stage.unharmed(what)
    if done.returncode != 0:
        if done.returncode != 2 or folder.exists() or not done.stderr.strip():
            fail(what, "refused with", done.returncode, done.stderr)
        return None
    files = list(folder.iterdir())
    if len(files) != 1 or not re.fullmatch(r"backreach_plan_[0-9a-f]{8}(_dbt)?\.(sh|py)", files[0].name):
        fail(what, "files", files)
    return execute(stage, feed, files[0].read_bytes().decode(), what)


def execute(stage, feed, text, what):
    if feed == "airflow":
        for command in airflow_tasks(text, what):
            done = run(["bash", "-c", command], stage.here, env=stage.env)
            if done.returncode != 0 and "then mark this task" not in command:
                fail(what, "failed:", command, done.stderr)
    else:
        (stage.here / "plan.sh").write_bytes(text.encode())
        # What a person has to do is done.
        log = stage.here / "backreach-0.log"
        log.write_text("".join(f"done {ids}\n" for ids in re.findall(r"^by_hand '?([\w -]+?)'? ", text, re.M)))
        done = run(["bash", "plan.sh"], stage.here, env=stage.env | {"BACKREACH_LOG": str(log)})
        if done.returncode != 0:
            fail(what, "failed:", done.stderr[-500:])
    stage.unharmed(what)
    return stage.calls()


# ---- dbt's selectors, by its documented grammar ----

def selected(word, models):
    """The ids that one word of --select takes: unions at spaces, intersections at commas, methods, graph operators."""
    union = set()
    for part in word.split(" "):
        every = None
        for criterion in part.split(","):
            found = re.match(r"\A(@)?((\d*)\+)?(([\w.]+):)?(.*?)(\+(\d*))?\Z", criterion)
            if not found or found[1] or found[2] or found[7] or "\n" in criterion:
                return None  # takes more than a node, or is refused
            method, value = found[5], found[6]
            if method not in (None, "fqn", "package"):
                return None
            ids = {i for i, m in models.items() if (fnmatch.fnmatchcase(m["package"], value) if method == "package" else by_name(m["fqn"], value) or by_name(m["fqn"][1:], value))}
            every = ids if every is None else every & ids
        union |= every
    return union


def by_name(fqn, value):
    if fqn[-1] == value:
        return True
    flat, parts = [p for f in fqn for p in f.split(".")], value.split(".")
    if len(flat) < len(parts):
        return False
    for i, part in enumerate(parts):
        if any(c in part for c in "*?[]"):
            return fnmatch.fnmatchcase(".".join(flat[i:]), ".".join(parts[i:])) or ("." not in value and fnmatch.fnmatchcase(fqn[-1], value))
        if flat[i] != part:
            return False
    return True


# ---- A project of odd names ----

def key(text, day):
    return text + day.replace("-", "")


def project(stage, names):
    inputs = stage.folder / "inputs"
    inputs.mkdir()
    models, expected = {}, {"dbt": {}, "airflow": set(), "shell": {}, "sql": set()}
    nodes = {}

    def node(uid, t, **more):
        nodes[uid] = {"resource_type": "model", "name": t, "package_name": "p", "fqn": ["p", t], "database": "db", "schema": "s", "alias": t, "description": t, "tags": [t],
                      "config": {"materialized": "table", "meta": {"owner": t, "backreach": {"partitions": {"grain": "day", "first": "2026-01-01", "column": t}}}, "group": t},
                      "columns": {t: {"name": t, "description": t}}, "depends_on": {"nodes": ["source.p.raw.orders"]}, "raw_code": "select 1", "original_file_path": t} | more
        models[uid] = {"fqn": nodes[uid]["fqn"], "package": "p"}
    for i, t in enumerate(names):
        meta = lambda **more: {"backreach": {"partitions": {"grain": "day", "first": "2026-01-01", "column": t}, **more}}
        node(f"model.p.{t}", t, config={"materialized": "incremental", "incremental_strategy": "append" if i % 3 == 0 else "delete+insert", "unique_key": [t, "id"],
                                        "meta": meta(**({"vars": {"from": t, "to": t + "_to"}} if i % 2 else {}))})
        node(f"model.p.mv{i}.{t}", f"mv{i}{t}", fqn=["p", "mv", f"mv{i}{t}"], config={"materialized": "materialized_view", "meta": meta()}, relation_name=None if i % 2 or re.fullmatch(r"[\w$.]+|\".*\"|`[^`]*`|\[[^\]]*\]", t, re.S) else t)  # what could be a name is one
        expected["sql"].add('REFRESH MATERIALIZED VIEW "db"."s"."' + f"mv{i}{t}".replace('"', '""') + '"')
    manifest = {"metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json", "adapter_type": "postgres", "project_name": "p"}, "nodes": nodes,
                "sources": {"source.p.raw.orders": {"resource_type": "source", "name": "orders", "source_name": "raw", "package_name": "p", "schema": "raw", "identifier": "orders",
                                                    "config": {"meta": {"backreach": {"partitions": {"grain": "day", "first": "2026-01-01"}}}}}}}
    (inputs / "manifest.json").write_text(json.dumps(manifest))
    asset = lambda name: {"__type": "asset", "__var": {"name": name, "uri": name, "group": "asset", "extra": {}}}
    with open(inputs / "dags.jsonl", "w") as out:
        for i, t in enumerate(names):
            cron = {"__type": "airflow.timetables.interval.CronDataIntervalTimetable", "__var": {"expression": "0 0 * * *", "timezone": "UTC"}} if i % 3 else {"__type": "airflow.timetables.simple.NullTimetable", "__var": {}}
            task = {"__type": "operator", "__var": {"task_id": "t" + t, "task_type": "BashOperator", "owner": t, "downstream_task_ids": [], "bash_command": t,
                                                    "inlets": [asset("pg://wh/src")], "outlets": [asset(f"pg://wh/a{i}")]}}
            out.write(json.dumps({"dag_id": t, "data": {"__version": 3, "dag": {"dag_id": t, "timezone": "UTC", "start_date": 1704067200.0, "catchup": False, "description": t,
                                                                                "timetable": cron, "tasks": [task], "owner_links": {}, "tags": [t]}}}) + "\n")
            expected["airflow"].add(t)
    registry = {"backreach": 1, "datasets": [{"name": "pg://wh/src", "partitions": {"grain": "day", "first": "2026-01-01"}}], "edges": [{"from": "orders", "to": "pg://wh/src"}], "jobs": [],
                "clients": [{"platform": "postgres", "command": "stub_sql {sql}"}], "copies": []}
    for i, t in enumerate(names):
        name = f"{t}~{i}"
        registry["datasets"].append({"name": name, "partitions": {"grain": "day", "first": "2026-01-01", "column": t, "key_format": t.replace("%", "%%") + "%Y%m%d"}, "writes": "replace",
                                     "owner": t, "contact": t, "note": t, "side_effects": [t], "changes": [{"on": "2026-02-01", "kind": "schema", "what": t}], "key": [t]})
        registry["datasets"].append({"name": f"pg://wh/a{i}", "partitions": {"grain": "day", "first": "2026-01-01"}, "writes": "replace", "note": t})
        registry["edges"].append({"from": "orders", "to": name})
        registry["jobs"].append({"name": f"j{i}{t}", "writes": [name], "command": f"stub_shell {i} {{from}} {{to}}", "owner": t, "pool": t})
        registry["copies"].append({"id": f"c{i}{t}", "of": [name], "kind": "other", "where": t, "owner": t, "contact": t, "note": t, "by": [t]})
        expected["shell"][str(i)] = [key(t, "2026-03-01"), key(t, "2026-03-02")]
    (inputs / "registry.yml").write_text(json.dumps(registry))
    return models, expected


def check_calls(feed, calls, models, expected, names, what):
    took, airflow, shell, sql = set(), set(), {}, set()
    for words in calls:
        if words[0] == "dbt" and words[1] in ("run", "seed"):
            at = words.index("--select") + 1
            end = next((i for i in range(at, len(words)) if words[i].startswith("-")), len(words))
            for word in words[at:end]:
                ids = selected(word, models)
                if ids is None or len(ids) != 1:
                    fail(what, "a selector that is not one model:", repr(word), ids)
                took |= ids or set()
            if "--vars" in words:
                given = json.loads(words[words.index("--vars") + 1])
                for word in words[at:end]:
                    name = models[min(selected(word, models) or models)]["fqn"][-1]
                    if given != {name: "2026-03-01", name + "_to": "2026-03-03"}:
                        fail(what, "variables", words)
        elif words[:3] == ["airflow", "dags", "trigger"]:
            rest = [w for i, w in enumerate(words[3:], 3) if w not in ("--run-id", "--") and words[i - 1] != "--run-id" or words[i - 1] == "--"]
            airflow |= set(rest)
        elif words[:3] == ["airflow", "backfill", "create"]:
            airflow.add(words[3][len("--dag-id="):] if words[3].startswith("--dag-id=") else words[4])
        elif words[0] == "stub_shell":
            shell[words[1]] = words[2:]
        elif words[0] == "stub_sql":
            sql.add(words[1] if len(words) == 2 else tuple(words))
        elif words[:3] != ["airflow", "dags", "list-runs"] and words[:2] not in (["dbt", "test"], ["dbt", "--quiet"]):
            fail(what, "an unexpected call:", words)
    must = {f"model.p.{t}" for t in names}
    alike = {u for u in must if re.search(r"[\x00-\x20,\x7f]", u)}
    if not must - alike <= took <= must:
        fail(what, "models left out:", must - alike - took, "taken along:", took - must)
    if airflow != expected["airflow"]:
        fail(what, "DAGs", airflow ^ expected["airflow"])
    if shell != expected["shell"]:
        fail(what, "lines of shell", [(i, shell.get(i), w) for i, w in expected["shell"].items() if shell.get(i) != w])
    if sql != expected["sql"]:
        fail(what, "statements", sorted(sql ^ expected["sql"], key=str)[:4])


def whole(stage):
    names = texts(str(stage.canary))
    models, expected = project(stage, names)
    inputs = stage.folder / "inputs"
    for words in (["dbt", "manifest.json"], ["airflow", "dags.jsonl"], ["registry", "registry.yml"]):
        done = run([program, "ingest", *words, "--store", "g.db", "--quiet"], inputs)
        if done.returncode != 0:
            return fail("ingest", words, done.stderr)
    done = run([program, "plan", "raw.orders", "--from", "2026-03-01", "--to", "2026-03-02", "--now", "2026-04-20T09:00Z", "--store", "g.db", "--format", "json", "--out", "plan.json", "--quiet"], inputs)
    if done.returncode not in (0, 1):
        return fail("plan", done.stderr)
    for feed in ("shell", "dbt", "airflow"):
        what = f"all texts to {feed}"
        calls = do(stage, feed, inputs / "plan.json", what)
        if calls is None:
            fail(what, "refused")
        else:
            check_calls(feed, calls, models, expected, names, what)
    # The commands as the plan prints them, typed one by one.
    plan = json.loads((inputs / "plan.json").read_text())
    stage.fresh()
    lines = {line for step in plan["steps"] for m in step["methods"] if m["engine"] != "sql" for line in m["commands"]}
    for line in sorted(lines):
        if re.search(r"[\x00-\x1f\x7f\x80-\x9f\u2028\u202e]", line) and not line.startswith("stub_shell"):
            fail("a command that no terminal shows as it is", repr(line))
        done = run(["bash", "-c", line], stage.here, env=stage.env)
        if done.returncode != 0:
            fail("a command of the plan", line, done.stderr)
    stage.unharmed("the plan's commands")
    if {tuple(m["argv"][0]) for s in plan["steps"] for m in s["methods"] if m.get("argv")} - {tuple(c) for c in stage.calls()}:
        fail("the plan's commands", "are not what their argv says")
    return plan


# ---- Plan files that were edited ----

def places(value, at=()):
    """One place of each kind of field."""
    if isinstance(value, dict):
        for k, v in value.items():
            yield from places(v, at + (k,))
    elif isinstance(value, list):
        for i, v in enumerate(value):
            yield from places(v, at + (i,))
    yield at


def kind_of(plan, at):
    out, here = [], plan
    for part in at:
        out.append("*" if isinstance(part, int) else part)
        if part == "methods":
            pass
        here = here[part]
        if isinstance(here, dict) and "engine" in here:
            out.append(here["engine"])
    return tuple(out)


def small_plan(stage):
    """A plan with a step of each engine, and a bit of everything."""
    inputs = stage.folder / "inputs"
    shutil.rmtree(inputs)
    project(stage, ["a"])
    for words in (["dbt", "manifest.json"], ["airflow", "dags.jsonl"], ["registry", "registry.yml"]):
        done = run([program, "ingest", *words, "--store", "g.db", "--quiet"], inputs)
        assert done.returncode == 0, done.stderr
    run([program, "plan", "raw.orders", "--from", "2026-03-01", "--to", "2026-03-02", "--now", "2026-04-20T09:00Z", "--store", "g.db", "--format", "json", "--out", "plan.json", "--quiet"], inputs)
    return json.loads((inputs / "plan.json").read_text())


def edited(stage):
    plan = small_plan(stage)
    c = stage.canary
    evil = [f"x'; touch {c}; echo '", f"$(touch {c})\"; touch {c}; \"`touch {c}`\n touch {c}\n", f"{{{{ 7 }}}}{{% x %}} && touch {c} \\", "a\0b", f"../../{c}"]
    other = [None, [], {}, -1, 10 ** 12, True, "", [[]], "x"]
    usual = {}
    file = stage.folder / "edited"
    for feed in ("shell", "dbt", "airflow"):
        file.write_text(json.dumps(plan))
        usual[feed] = written(stage, feed, file)
    seen = set()
    for at in places(plan):
        kind = kind_of(plan, at)
        if not at or kind in seen:
            continue
        seen.add(kind)
        # What a registry gives as code is code: no feed can know that it was changed.
        code = "shell" in kind and kind[-2:] == ("commands", "*") or kind[-1] == "client"
        for number, value in enumerate(evil + other):
            if code and isinstance(value, str):
                continue
            changed = copy.deepcopy(plan)
            here = changed
            for part in at[:-1]:
                here = here[part]
            if type(here[at[-1]]) is type(value) and here[at[-1]] == value:
                continue
            here[at[-1]] = value
            file.write_text(json.dumps(changed))
            feed = ("shell", "dbt", "airflow")[(number + len(seen)) % 3]  # the form is read alike for all
            what = f"/{'/'.join(map(str, at))} = {value!r} to {feed}"
            text = written(stage, feed, file)
            if isinstance(text, tuple):
                if text[0] != 2 or not text[1].strip() or "please report" in text[1] or not re.search(r"/|not a plan", text[1]):
                    fail(what, *text)
            elif text != usual[feed]:
                stage.fresh()
                execute(stage, feed, text, what)


def written(stage, feed, file):
    """What a feed writes; its status and message where it refuses."""
    folder = stage.folder / "out"
    shutil.rmtree(folder, ignore_errors=True)
    done = run([program, "feed", str(file), "--to", feed, "--force", "--quiet", "--out", str(folder)], stage.here)
    if done.returncode != 0:
        return (done.returncode, done.stderr) if not folder.exists() else (done.returncode, "wrote, and failed")
    return next(folder.iterdir()).read_bytes().decode()


with tempfile.TemporaryDirectory() as folder:
    stage = Stage(Path(folder).resolve())
    if whole(stage) is not None:
        edited(stage)
print(f"{len(failures)} failed")
sys.exit(1 if failures else 0)
