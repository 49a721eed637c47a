#!/usr/bin/env python3
"""Plans hold to the JSON Schema: those named on the command line, or of the example under many questions."""
import json, os, subprocess, sys, tempfile
from pathlib import Path

import jsonschema

ROOT = Path(__file__).resolve().parent.parent
schema = json.loads((ROOT / "render/plan.schema.json").read_text())
Validator = jsonschema.validators.validator_for(schema)
Validator.check_schema(schema)
validator = Validator(schema)
program = sys.argv[1]
count = 0
NOW = ["--now", "2026-04-20T09:00Z"]
QUESTIONS = [["fct_orders", "--from", "2026-03-01", "--to", "2026-03-31"], ["raw.order_events", "--range", "2026-03-03..2026-03-05", "--range", "2026-04-01..2026-04-20"],
             ["stg_orders", "--whole"], ["fct_orders", "--from", "2026-04-18"], ["revenue_daily", "--range", "2025-11-01..2025-11-02"], ["customer_value", "--whole"],
             ["orders_recent", "--range", "2026-03-01..2026-03-02"], ["fct_orders", "--range", "2026-03-01..2026-03-03", "--exclude", "revenue_daily"],
             ["clicks_hourly", "--range", "2026-04-19T05..2026-04-19T08"], ["shop_db.orders", "--range", "2026-01-01..2026-01-31"], ["fct_orders", "--to", "2026-04-25"]]
with tempfile.TemporaryDirectory() as folder:
    env = {**os.environ, "BACKREACH_STORE": folder + "/g.db"}
    def run(*words):
        done = subprocess.run([program, *words], env=env, capture_output=True, text=True, cwd=ROOT)
        assert done.returncode in (0, 1), (words, done.stderr)
        return done.stdout
    run("ingest", "dbt", "examples/shop/target"); run("ingest", "airflow", "examples/shop/serialized_dags.jsonl"); run("ingest", "registry", "examples/shop/registry.yml")
    for question in QUESTIONS:
        plan = json.loads(run("plan", *question, *NOW, "--format", "json"))
        for error in validator.iter_errors(plan):
            sys.exit(f"{question}: {'/'.join(map(str, error.path))}: {error.message}")
        assert json.dumps(plan) == json.dumps(json.loads(run("plan", *question, *NOW, "--format", "json"))), "the same question gave other bytes"
        count += 1
print(f"{count} plans hold to the schema")
