"""What a real Airflow says it would run for the commands of plans: exactly the runs whose data interval overlaps the cells.
Called by airflow.sh with the program and a work folder, in Airflow's own environment, its database already made."""
import json, shlex, subprocess, sys
from datetime import datetime, timedelta, timezone
from pathlib import Path

program, work = sys.argv[1], Path(sys.argv[2])
TABLES = {  # DAG: timetable, grain and zone of the table, what is asked for
    "at_two": ("CronDataIntervalTimetable('0 2 * * *', timezone='UTC')", "day", "UTC", "2026-03-01..2026-03-03"),
    "hourly": ("CronDataIntervalTimetable('0 * * * *', timezone='America/New_York')", "day", "America/New_York", "2026-03-07..2026-03-09"),
    "hourly_back": ("CronDataIntervalTimetable('0 * * * *', timezone='America/New_York')", "day", "America/New_York", "2025-10-31..2025-11-02"),
    "gap": ("CronDataIntervalTimetable('0 */2 * * *', timezone='America/New_York')", "hour", "America/New_York", "2026-03-08T00..2026-03-08T01"),
    "half_past": ("CronDataIntervalTimetable('30 1,2 * * *', timezone='America/New_York')", "day", "America/New_York", "2026-03-08..2026-03-08"),
    "daily": ("CronDataIntervalTimetable('0 0 * * *', timezone='Asia/Kolkata')", "month", "Asia/Kolkata", "2026-02..2026-02"),
    "weekly": ("CronDataIntervalTimetable('0 0 * * 1', timezone='UTC')", "day", "UTC", "2026-03-10..2026-03-12"),
    "last_day": ("CronTriggerTimetable('0 3 L * *', timezone='UTC', interval=relativedelta(months=1))", "day", "UTC", "2026-02-10..2026-03-05"),
    "moment": ("CronTriggerTimetable('30 4 * * mon-fri', timezone='UTC')", "week", "UTC", "2026-03-02..2026-03-09"),
    "several": ("MultipleCronTriggerTimetable('10 * * * *', '40 */8 * * *', timezone='America/New_York', interval=timedelta(hours=1))", "hour", "UTC", "2026-03-08T05..2026-03-08T09"),
    "steady": ("DeltaDataIntervalTimetable(timedelta(hours=7))", "day", "UTC", "2026-03-01..2026-03-02"),
}
header = """from datetime import datetime, timedelta, timezone
from dateutil.relativedelta import relativedelta
from airflow.sdk import DAG, Asset
from airflow.providers.standard.operators.bash import BashOperator
from airflow.timetables.interval import CronDataIntervalTimetable, DeltaDataIntervalTimetable
from airflow.timetables.trigger import CronTriggerTimetable, MultipleCronTriggerTimetable
"""
dag = """
with DAG('{0}', schedule={1}, start_date=datetime(2025, 1, 1, tzinfo=timezone.utc), catchup=False) as dag_{0}:
    BashOperator(task_id='t', bash_command='true', outlets=[Asset('pg://wh:5432/{0}')])
"""
folder = work / "dated_dags"
folder.mkdir()
(folder / "dated.py").write_text(header + "".join(dag.format(n, t[0]) for n, t in TABLES.items()))

sys.path.insert(0, str(folder))
import dated
from airflow.models.backfill import ReprocessBehavior, _do_dry_run
from airflow.models.dagbundle import DagBundleModel
from airflow.models.dag import DagModel
from airflow.models.serialized_dag import SerializedDagModel
from airflow.serialization.serialized_objects import DagSerialization, LazyDeserializedDAG
from airflow.utils.session import create_session

dags = {one.dag_id: one for one in vars(dated).values() if isinstance(one, dated.DAG)}
with (work / "dated.jsonl").open("w") as out:
    for name, one in dags.items(): out.write(json.dumps({"dag_id": name, "data": DagSerialization.to_dict(one)}) + "\n")
(work / "dated.yml").write_text("backreach: 1\ndatasets:\n" + "".join(f"  - {{name: {n}, partitions: {{grain: {g}, timezone: {z}, first: {'2025-01' if g == 'month' else '2025-01-06' if g == 'week' else '2025-01-01T00' if g == 'hour' else '2025-01-01'}}}, writes: replace}}\n" for n, (_, g, z, _) in TABLES.items()))
def run(*words):
    done = subprocess.run([program, *words, "--store", str(work / "dated.db")], capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout
run("ingest", "airflow", str(work / "dated.jsonl"), "--quiet")
run("ingest", "registry", str(work / "dated.yml"), "--quiet")
when = lambda text: datetime.fromisoformat(text.replace("Z", "+00:00"))
with create_session() as session:
    session.merge(DagBundleModel(name="dated"))
    session.flush()
    for name, one in dags.items():
        session.merge(DagModel(dag_id=name, bundle_name="dated"))
        session.flush()
        SerializedDagModel.write_dag(LazyDeserializedDAG.from_dag(one), bundle_name="dated", session=session)
    session.commit()
    def runs(name, first, last):
        """{beginning of the data interval: its end} of the runs that a backfill with these dates would make."""
        found = _do_dry_run(dag_id=name, from_date=first, to_date=last, reverse=False, reprocess_behavior=ReprocessBehavior.COMPLETED, dag_run_conf=None, session=session)
        return {i.data_interval.start.astimezone(timezone.utc): i.data_interval.end.astimezone(timezone.utc) for i in found}
    wrong = []
    for name, (_, grain, zone, asked) in TABLES.items():
        (step,) = [s for s in json.loads(run("plan", name, "--range", asked, "--now", "2026-06-01T00:00Z", "--format", "json"))["steps"]]
        made = {}
        for command in step["methods"][0]["command"].split(" && "):
            words = shlex.split(command)
            made.update(runs(name, *(when(words[words.index(end) + 1]) for end in ("--from-date", "--to-date"))))
        (span,) = step["spans"]
        a, b = when(span["start"]), when(span["end"])
        # All runs of a wide stretch; a steady timetable counts from where it is asked to begin.
        wide = runs(name, datetime(2025, 1, 1, tzinfo=timezone.utc) if name == "steady" else a - timedelta(days=70), b + timedelta(days=70))
        needed = {s: e for s, e in wide.items() if (s < b and e > a if s < e else a <= s < b)}
        print(f"{name:12} {len(made):3} runs  {step['methods'][0]['command']}")
        if made != needed: wrong.append((name, sorted(set(made) ^ set(needed))))
assert not wrong, wrong
