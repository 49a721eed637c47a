#!/usr/bin/env python3
"""Every include points in the one direction that ARCHITECTURE.md draws. Heavy libraries stay in their rooms."""
import re, sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# What a room may include, beside itself; rooms within rooms stand for themselves. A folder that is not named here belongs to
# the room above it.
GRAPH = ["graph/base", "graph/time", "graph/reads", "graph/facts", "graph/names", "graph/selection", "graph/lineage"]
JOINED = GRAPH + ["graph/join"]
VALUES = ["graph/base", "graph/time", "graph/reads", "graph/facts"]
ANALYSIS = ["analysis", "analysis/plan", "analysis/sweep", "analysis/steps", "analysis/order", "analysis/hazards", "analysis/after", "analysis/pools"]
RENDER = ["render", "render/commands", "render/plan_file", "render/engines", "render/view"]
TOOLS = ["ingest/read", "ingest/sql", "ingest/commands", "ingest/declared"]
MAY = {
    "graph/base": [], "graph/time": ["graph/base"], "graph/reads": ["graph/base", "graph/time"],
    "graph/facts": ["graph/base", "graph/time", "graph/reads"], "graph/names": ["graph/base"],
    "graph/selection": VALUES, "graph/lineage": VALUES, "graph/join": GRAPH,
    "graph/store/database": VALUES, "graph/store/sqlite": ["graph/base", "graph/store/database"], "graph/store/postgres": ["graph/base", "graph/store/database"],
    "graph/store": VALUES + ["graph/selection", "graph/lineage", "graph/store/database", "graph/store/sqlite", "graph/store/postgres"],
    "ingest": VALUES, "ingest/read": VALUES, "ingest/sql": VALUES, "ingest/commands": VALUES, "ingest/declared": VALUES + ["ingest/read"],
    "analysis/plan": GRAPH, "analysis/sweep": GRAPH + ["analysis/plan"], "analysis/steps": GRAPH + ["analysis/plan", "analysis/sweep"],
    "analysis/order": GRAPH + ["analysis/plan", "analysis/sweep", "analysis/steps"],
    "analysis/hazards": GRAPH + ["analysis/plan", "analysis/sweep", "analysis/steps"],
    "analysis/after": GRAPH + ["analysis/plan", "analysis/sweep", "analysis/steps"],
    "analysis/pools": GRAPH + ["analysis/plan", "analysis/sweep", "analysis/steps"],
    "analysis": GRAPH + ANALYSIS,
    "render": ["graph/base"], "render/commands": GRAPH + ANALYSIS + ["render"],
    "render/plan_file": GRAPH + ANALYSIS + ["render", "render/commands"],
    "render/view": GRAPH + ANALYSIS + ["render", "render/commands"],
    "render/engines": ["graph/base", "graph/time", "render", "render/plan_file"],
    "cli": JOINED + ["graph/store", "ingest"] + TOOLS + ANALYSIS + RENDER,
}
# A tool sees no other: what two of them read alike has a room of its own.
for folder in sorted(p.name for p in (ROOT / "ingest").iterdir() if p.is_dir()):
    MAY.setdefault(f"ingest/{folder}", VALUES + ["ingest", "graph/names", "graph/selection"] + TOOLS)
MAY["cli"] += ["ingest/dbt", "ingest/runs"]  # the states that selectors compare with; records of what ran
# Which rooms (or files) may include a library.
LIBRARIES = {r"SQLiteCpp/|sqlite3\.h": {"graph/store/sqlite"}, r"libpq": {"graph/store/postgres"}, r"yaml-cpp/": {"ingest/read", "ingest/declared", "ingest/registry"},
             r"simdjson": {"ingest/read", "ingest/dbt", "ingest/airflow", "ingest/openlineage", "ingest/queries"}, r"CLI/": {"cli/args.cpp"}, r"graphviz/": {"render/view"},
             r"date/": {"graph/time/time.cpp"}, r"nettle/": {"graph/base/digest.cpp"}, r"boost/": {"bench"}, r"zlib\.h": {"ingest/read/inflate.cpp"}}
# Analysis is pure: no clock, no file, no environment, no locale.
PURE = r"<(chrono|fstream|filesystem|iostream|ctime|locale|cstdio)>|getenv|system_clock"

def room(path):
    """The innermost room that a file stands in."""
    folder = path.relative_to(ROOT).parent
    while str(folder) not in MAY and folder.parent != folder:
        folder = folder.parent
    return str(folder)

faults = []
files = [p for r in ("graph", "ingest", "analysis", "render", "cli") for p in (ROOT / r).rglob("*") if p.suffix in (".cpp", ".hpp")]
for path in sorted(files):
    here, name = room(path), str(path.relative_to(ROOT))
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if here.startswith("analysis") and re.search(PURE, line):
            faults.append(f"{name}:{number}: analysis must not read the clock, files, the environment or the locale: {line.strip()}")
        include = re.match(r'\s*#include\s+([<"])([^>"]+)[>"]', line)
        if not include:
            continue
        target = include.group(2)
        if include.group(1) == '"':
            there = room(ROOT / target) if (ROOT / target).exists() else None
            if there is None:
                faults.append(f"{name}:{number}: includes are written from the root, and {target} is not there")
            elif there != here and there not in MAY[here]:
                faults.append(f"{name}:{number}: {here} must not include {there} ({target})")
        for pattern, allowed in LIBRARIES.items():
            if re.search(pattern, target) and here not in allowed and name not in allowed and f"{here}/" not in allowed:
                faults.append(f"{name}:{number}: {target} belongs to {', '.join(sorted(allowed))}")
print("\n".join(faults) or f"{len(files)} files, every include points the right way")
sys.exit(bool(faults) or not files)
