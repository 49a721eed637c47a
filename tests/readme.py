#!/usr/bin/env python3
"""Every command that README.md and --help show is run, on the example: each must do what it says (status 0 or 1)."""
import json, os, re, shlex, subprocess, sys, tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
program = os.path.abspath(sys.argv[1])
readme = (ROOT / "README.md").read_text(encoding="utf-8")
bad = count = 0
with tempfile.TemporaryDirectory() as folder:
    work = Path(folder)
    (work / "target").symlink_to(ROOT / "examples/shop/target"); (work / "build").mkdir()
    (work / "build/manifest.json").symlink_to(ROOT / "examples/shop/target/manifest.json")
    for name in ("serialized_dag.jsonl", "dags/shop.json"):
        (work / name).parent.mkdir(exist_ok=True)
        (work / name).write_bytes((ROOT / "examples/shop/serialized_dags.jsonl").read_bytes())
    rows = [json.loads(line) for line in (ROOT / "examples/shop/serialized_dags.jsonl").read_text().splitlines() if line.strip()]
    quoted = lambda text: "'" + text.replace("'", "''") + "'"
    (work / "airflow_dump.sql").write_text("BEGIN TRANSACTION;\nCREATE TABLE serialized_dag (dag_id VARCHAR(250), data JSON);\n" + "".join(
        f"INSERT INTO serialized_dag VALUES({quoted(row.get('dag_id', 'dag'))},{quoted(json.dumps(row.get('data', row)))});\n" for row in rows) + "COMMIT;\n")
    (work / "registry.yml").write_bytes((ROOT / "examples/shop/registry.yml").read_bytes())
    (work / "registry").mkdir()
    (work / "registry/more.yml").write_text("backreach: 1\ndatasets: [{name: elsewhere}]\n")
    env = {**os.environ, "PATH": str(Path(program).parent) + os.pathsep + os.environ["PATH"], "NO_COLOR": "1"}
    env.pop("BACKREACH_STORE", None)
    def run(command):
        global bad, count
        count += 1
        done = subprocess.run(["bash", "-c", command], cwd=work, env=env, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=1200)
        if done.returncode not in (0, 1) or "internal error" in done.stderr:
            bad += 1
            print(f"$ {command}\n  status {done.returncode}\n  {done.stderr.strip()[:600]}")
        return done
    now = " --now 2026-04-20T09:00Z"
    def prepared(command):
        if re.match(r"backreach (plan|render|explain) (?!\.\.\.)", command):
            words = command.split(" | ")
            words[0] += now
            return " | ".join(words)
        return command
    blocks = "\n".join(re.findall(r"```sh\n(.*?)```", readme, re.S)).splitlines()
    for command in blocks:
        run(prepared(command.strip()))
    run("backreach plan fct_orders --from 2026-03-01 --to 2026-03-31 --accept append-duplicates --format json --out plan.json" + now)
    run("cp graph.db prod.db 2>/dev/null || cp .backreach/graph.db prod.db")
    for command in re.findall(r"`(backreach [^`]+)`", readme):
        if "..." not in command.replace("A..B", ""):
            run(prepared(command))
    helped = run("backreach --help").stdout
    for name in re.findall(r"^  ([a-z]+) ", helped, re.M):
        text = run(f"backreach {name} --help").stdout
        subs = re.findall(r"^  ([a-z]+) ", text.split("Subcommands:")[-1], re.M) if "Subcommands:" in text else []
        texts = [text] if not subs else [run(f"backreach {name} {sub} --help").stdout for sub in subs]
        for shown in texts:
            examples = re.findall(r"^  (backreach .*)$", shown.split("Examples:")[-1], re.M)
            if len(examples) < 2:
                bad += 1
                print(f"backreach {name}: --help shows {len(examples)} examples, not two")
            for example in examples:
                if "| jq" in example:
                    example = example.split(" | jq")[0] + " >/dev/null"
                run(prepared(example))
print(f"{count} commands run: {count - bad} passed, {bad} failed")
sys.exit(bad > 0)
