#!/usr/bin/env python3
"""The Airflow commands of plans, held against the runs that a real Airflow makes (corpus/orchestrators/airflow, $BACKREACH_CORPUS
or ../shared/corpus; skipped with 77 where it is not there).

A model of Airflow's runs that lists every tick of a year, slow and obvious, is first held against what Airflow 3.3 and 2.11 said
they would run. Then each DAG writes a table of hours, days, weeks and months, in UTC and in the zones of the DAGs; plans rebuild
stretches of them, and the dates in each command must give exactly the runs whose data interval overlaps the cells, and `rewrites`
exactly the other cells that these touch."""
import calendar, json, os, re, shlex, subprocess, sys, tempfile
from bisect import bisect_left, bisect_right
from datetime import datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

ROOT = Path(__file__).resolve().parent.parent
corpus = Path(os.environ.get("BACKREACH_CORPUS", ROOT.parent / "shared/corpus")) / "orchestrators/airflow"
if not (corpus / "backfill_truth.json").exists():
    print(f"skipped: no {corpus}/backfill_truth.json (set BACKREACH_CORPUS)")
    sys.exit(77)
program = os.path.abspath(sys.argv[1])
UTC, DAY = timezone.utc, timedelta(days=1)
NAMES = {n: i for names, first in (("jan feb mar apr may jun jul aug sep oct nov dec", 1), ("sun mon tue wed thu fri sat", 0)) for i, n in enumerate(names.split(), first)}
PRESETS = {"@hourly": "0 * * * *", "@daily": "0 0 * * *", "@weekly": "0 0 * * 0", "@monthly": "0 0 1 * *", "@quarterly": "0 0 1 */3 *", "@yearly": "0 0 1 1 *"}
BEGIN, END = datetime(2024, 12, 1), datetime(2027, 6, 1)


def field(text, low, high):
    out = set()
    for item in text.lower().split(","):
        item, _, step = item.partition("/")
        ends = [int(NAMES.get(e, e)) for e in item.split("-")] if item not in ("*", "l") else [low, high]
        if item == "l": out.add("l"); continue
        if step and len(ends) == 1: ends.append(high)
        out |= {v % 7 if (low, high) == (0, 6) else v for v in range(ends[0], ends[-1] + 1, int(step or 1))}
    return out


def instant(naive, zone):
    """A time shown twice is the second; one left out keeps the offset from before the change."""
    at = naive.replace(tzinfo=zone, fold=1).astimezone(UTC)
    if at.astimezone(zone).replace(tzinfo=None) != naive: at = naive.replace(tzinfo=zone, fold=0).astimezone(UTC)
    return at


ticks_of = {}
def cron_ticks(expression, zone):
    key = (expression, str(zone))
    if key in ticks_of: return ticks_of[key]
    minute, hour, day, month, weekday = PRESETS.get(expression, expression).split()
    minutes, hours, days, months, weekdays = field(minute, 0, 59), field(hour, 0, 23), field(day, 1, 31), field(month, 1, 12), field(weekday, 0, 6)
    def on(d):
        by_day = d.day in days or ("l" in days and d.day == calendar.monthrange(d.year, d.month)[1])
        by_weekday = (d.weekday() + 1) % 7 in weekdays
        return d.month in months and (by_day or by_weekday if "*" not in (day, weekday) else by_day and by_weekday)
    out = set()
    if len(hours) == 24:  # every hour that passes, shown twice or not
        at = BEGIN.replace(tzinfo=UTC)
        while at < END.replace(tzinfo=UTC):
            for m in minutes:
                t = at + timedelta(minutes=m)
                if on(t.astimezone(zone)): out.add(t)
            at += timedelta(hours=1)
    else:
        d = BEGIN
        while d < END:
            if on(d): out |= {instant(d + timedelta(hours=h, minutes=m), zone) for h in hours for m in minutes}
            d += DAY
    ticks_of[key] = sorted(out)
    return ticks_of[key]


def length(value):
    """(months, seconds) of a delta as it is serialized."""
    if isinstance(value, dict) and "__var" in value: value = value["__var"]
    if not isinstance(value, dict): return 0, value
    return value.get("years", 0) * 12 + value.get("months", 0), value.get("days", 0) * 86400 + value.get("hours", 0) * 3600


def add(t, months_seconds, sign=1):
    months, seconds = months_seconds
    if months:
        n = t.year * 12 + t.month - 1 + sign * months
        year, month = divmod(n, 12)
        t = t.replace(year=year, month=month + 1, day=min(t.day, calendar.monthrange(year, month + 1)[1]))
    return t + sign * timedelta(seconds=seconds)


class Dag:
    def __init__(self, document):
        dag = document["dag"]
        wrapped = dag.get("timetable")
        if not wrapped:
            every = dag.get("schedule_interval")
            if isinstance(every, str) and every in PRESETS: wrapped = {"__type": "x.CronDataIntervalTimetable", "__var": {"expression": every, "timezone": dag["timezone"]}}
            elif isinstance(every, dict): wrapped = {"__type": "x.DeltaDataIntervalTimetable", "__var": {"delta": every}}
            else: wrapped = {"__type": "x.NullTimetable", "__var": {}}
        if "timetable" in wrapped["__var"]: wrapped = wrapped["__var"]["timetable"]
        self.kind, var = wrapped["__type"].split(".")[-1], wrapped["__var"]
        if document.get("__version") != 1 and dag.get("allowed_run_types") and not any("backfill" in t for t in dag["allowed_run_types"]): self.kind = "refused"
        self.zone = ZoneInfo(var.get("timezone") or "UTC")
        self.start = datetime.fromtimestamp(dag["start_date"], UTC) if dag.get("start_date") else None
        self.delta = length(var["delta"]) if "delta" in var else None
        self.interval = length(var.get("interval", 0))
        self.events = sorted(datetime.fromisoformat(e).astimezone(UTC) for e in var.get("event_dates", []))
        self.crons = var.get("expressions") or ([var["expression"]] if "expression" in var else [])
        self.data_interval, self.partition = "DataInterval" in self.kind, self.kind == "CronPartitionTimetable"
        self.backfills = self.data_interval or self.partition or self.kind in ("CronTriggerTimetable", "MultipleCronTriggerTimetable", "DeltaTriggerTimetable", "EventsTimetable")

    def ticks(self, anchor):
        if self.crons: return sorted(set().union(*(cron_ticks(c, self.zone) for c in self.crons)))
        if self.events: return self.events
        out = [anchor]
        while anchor == self.start and out[0] > BEGIN.replace(tzinfo=UTC) + DAY: out.insert(0, add(out[0], self.delta, -1))  # none starts on a 29th or later
        while out[-1] < END.replace(tzinfo=UTC): out.append(add(out[-1], self.delta))
        return out

    def interval_of(self, t, ticks):
        """What a run compares, and its data interval; of a partition the stretch up to the next one."""
        if self.data_interval or self.partition: return t, ticks[bisect_right(ticks, t)]
        return add(t, self.interval, -1), t

    def made(self, first, last):
        """(tick or logical date that is compared, data interval) of the runs of a backfill; both ends included."""
        if self.partition: first, last = (instant(t.replace(tzinfo=None), self.zone) for t in (first, last))
        ticks = self.ticks(first.astimezone(UTC))
        return {t: self.interval_of(t, ticks) for t in ticks[bisect_left(ticks, first):bisect_right(ticks, last)]}

    def needed(self, spans, cell_of):
        """The runs whose data interval overlaps the spans; a moment counts for the cell that it lies in."""
        ticks, out = self.ticks(self.start), {}
        for t in ticks[:-1]:
            begin, end = self.interval_of(t, ticks)
            for a, b in spans:
                if self.partition:  # the cell of its date, and those that lie between it and the next date
                    cell, hit = cell_of(t), False
                    while not hit and (cell[0] <= t or cell[1] <= end): hit, cell = a <= cell[0] < b, cell_of(cell[1])
                else:
                    hit = begin < b and end > a if begin < end else a <= begin < b
                if hit: out[t] = (begin, end)
        return out


truth = json.loads((corpus / "backfill_truth.json").read_text())
dags, bad, done = {}, 0, 0
for version, folder in (("3.3.2", "own_3.3"), ("2.11.2", "own_2.11")):
    for path in (corpus / folder / "serialized").glob("*.json"): dags[version, path.stem] = json.loads(path.read_text())


def complain(*words):
    global bad
    bad += 1
    print("FAIL", *words)


# 1. The model against Airflow's own answers.
for case in truth["cases"]:
    key = case["airflow"], case["dag"]
    if "runs" not in case or key not in dags: continue
    dag, words = Dag(dags[key]), shlex.split(case["command"])
    value = lambda *names: next(words[i + 1] for i, w in enumerate(words) if w in names)
    first, last = (datetime.fromisoformat(value(*names).replace("Z", "+00:00")) for names in (("--from-date", "-s"), ("--to-date", "-e")))
    first, last = (t if t.tzinfo else t.replace(tzinfo=UTC) for t in (first, last))
    if not dag.backfills: continue
    done += 1
    now = datetime.fromisoformat(truth["now"][case["airflow"]].replace("Z", "+00:00"))
    mine = {t: i for t, i in dag.made(first, last).items() if dag.partition or key[0] == "2.11.2" or i[1] < now}
    got = [t.strftime("%FT%TZ") if dag.partition else i[0].strftime("%FT%TZ") for t, i in sorted(mine.items())]
    want = sorted(r["partition_date"] if dag.partition else r["logical_date"] for r in case["runs"])
    if sorted(got) != want: complain(case["id"], case["command"], "the model has", got, "and Airflow", want)
print(f"{done} answers of Airflow, {bad} of which the model does not give")


# 2. The commands of plans against the model.
def cells(grain, zone):
    """cell_of(t): the cell that holds an instant, as [start, end)."""
    def start(t):
        n = t.astimezone(zone).replace(tzinfo=None)
        if grain == "hour": return t.replace(minute=0, second=0) if n.minute == t.minute else t - timedelta(minutes=n.minute, seconds=n.second)
        n = n.replace(hour=0, minute=0, second=0)
        if grain == "week": n -= timedelta(days=n.weekday())
        if grain == "month": n = n.replace(day=1)
        return n.replace(tzinfo=zone).astimezone(UTC)
    def cell_of(t):
        a = start(t)
        return a, start(a + {"hour": timedelta(hours=1, minutes=1), "day": timedelta(hours=36), "week": timedelta(days=10), "month": timedelta(days=45)}[grain]) if grain != "hour" else a + timedelta(hours=1)
    return cell_of


def widened(intervals, cell_of):
    out = set()
    for a, b in intervals:
        cell = cell_of(a)
        while cell[0] < b or cell[0] == a:
            out.add(cell)
            cell = cell_of(cell[1])
    return out


RANGES = {"hour": [["2026-03-08T00..2026-03-08T05"], ["2026-03-10T03..2026-03-10T04"], ["2026-10-31T22..2026-11-01T06"], ["2026-03-03T00..2026-03-03T00", "2026-03-17T08..2026-03-17T10"]],
          "day": [["2026-03-01..2026-03-03"], ["2026-03-07..2026-03-09"], ["2026-10-31..2026-11-02"], ["2026-03-10..2026-03-10", "2026-03-12..2026-03-12", "2026-05-29..2026-06-02"]],
          "week": [["2026-03-02..2026-03-09"], ["2026-10-26..2026-10-26", "2026-11-16..2026-11-16"]], "month": [["2026-02..2026-03"], ["2026-01..2026-01", "2026-11..2026-11"]]}
checked, known_as = 0, {"unknown": 0, "replaced": 0}


def check(version, name, step, cell_of, where):
    global checked
    dag, method = Dag(dags[version, name]), step["methods"][0]
    checked += 1
    spans = [tuple(datetime.fromisoformat(s[e].replace("Z", "+00:00")) for e in ("start", "end")) for s in step["spans"]]
    needed = dag.needed(spans, cell_of) if dag.backfills else {}
    covered = all(any(a <= c[0] < b for c in widened(needed.values(), cell_of)) for a, b in spans)
    if not dag.backfills or not covered or (dag.partition and not needed):
        if not method["command"].startswith("airflow dags trigger ") or method["effect"] != "unknown":
            complain(where, "no run is of these cells, and there is", method)
        return
    made = {}
    for part in method["command"].split(" && "):
        words = shlex.split(part)
        value = lambda *names: datetime.fromisoformat(next(words[i + 1] for i, w in enumerate(words) if w in names).replace("Z", "+00:00"))
        old = version == "2.11.2"
        if (words[:3] == ["airflow", "dags", "backfill"] and "--reset-dagruns" in words) != old: return complain(where, "not the command of", version, part)
        try: runs = dag.made(value("-s") if old else value("--from-date"), value("-e") if old else value("--to-date"))
        except StopIteration: return complain(where, "no dates in", part)
        if made.keys() & runs.keys(): complain(where, "runs twice", part)
        made.update(runs)
    if made.keys() != needed.keys():
        return complain(where, method["command"], "too many", sorted(map(str, made.keys() - needed.keys()))[:3], "missing", sorted(map(str, needed.keys() - made.keys()))[:3])
    moment = not (dag.data_interval or dag.partition or any(dag.interval))
    if method["effect"] != ("unknown" if moment else "replaced"): complain(where, "effect", method["effect"])
    if moment or dag.partition: return
    asked = {c for c in widened(needed.values(), cell_of) if any(a <= c[0] < b for a, b in spans)}
    beside = {c for c in widened(needed.values(), cell_of) - asked}
    got = set()
    for entry in step["rewrites"]:
        for s in entry["spans"]:
            a, b = (datetime.fromisoformat(s[e].replace("Z", "+00:00")) for e in ("start", "end"))
            got |= {c for c in widened([(a, b)], cell_of)}
    if got != beside: complain(where, "rewrites", sorted(map(str, got ^ beside))[:4], "differ")


for version, folder in (("3.3.2", "own_3.3"), ("2.11.2", "own_2.11")):
    mine = {name: document["dag"]["tasks"][0] for (v, name), document in dags.items() if v == version and re.match("tt_|tk_capacity|tk_past|pt_cron", name)}
    for grain, zone in [(g, z) for g in RANGES for z in ("UTC", "America/New_York", "Asia/Kolkata") if not (g == "hour" and z == "Asia/Kolkata")]:
        with tempfile.TemporaryDirectory() as folder_of_plan:
            env = {**os.environ, "BACKREACH_STORE": folder_of_plan + "/g.db"}
            run = lambda *words: subprocess.run([program, *words], env=env, capture_output=True, text=True)
            first = {"hour": "2024-07-01T00", "day": "2024-07-01", "week": "2024-07-01", "month": "2024-07"}[grain]
            registry = ["backreach: 1", "datasets:", *(f"  - {{name: t_{n}, partitions: {{grain: {grain}, timezone: {zone}, first: {first}}}, writes: replace}}" for n in mine),
                        "jobs:", *(f"  - {{name: airflow/{n}.{t.get('__var', t)['task_id']}, writes: [t_{n}]}}" for n, t in mine.items())]
            Path(folder_of_plan + "/r.yml").write_text("\n".join(registry) + "\n")
            for words in (["ingest", "airflow", *(str(corpus / folder / f"serialized/{n}.json") for n in mine)], ["ingest", "registry", folder_of_plan + "/r.yml"]):
                if (r := run(*words)).returncode: complain(version, grain, r.stderr[-300:])
            for ranges in RANGES[grain]:
                r = run("plan", *(f"t_{n}" for n in mine), *(w for x in ranges for w in ("--range", x)), "--now", "2027-03-01T00:00Z", "--format", "json")
                if r.returncode not in (0, 1): complain(version, grain, zone, ranges, r.stderr[-300:]); continue
                steps = {s["dataset"].split("/")[-1][2:]: s for s in json.loads(r.stdout)["steps"]}
                for name in mine:
                    if grain == "hour" and re.search("yearly|quarterly", name): continue  # 8,760 cells beside
                    if name not in steps: complain(version, name, "has no step")
                    else: check(version, name, steps[name], cells(grain, ZoneInfo(zone)), f"{version} {name} {grain} {zone} {' '.join(ranges)}:")
print(f"{checked} commands of plans, {bad} faults in all")
sys.exit(bool(bad) or not checked)
