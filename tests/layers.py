#!/usr/bin/env python3
"""Every include points in the one direction that ARCHITECTURE.md draws. Heavy libraries stay in their rooms."""
import re, sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# What a room may include, beside itself.
MAY = {"graph": set(), "graph/store": {"graph"}, "ingest": {"graph"}, "analysis": {"graph"}, "render": {"graph", "analysis"},
       "cli": {"graph", "graph/store", "ingest", "analysis", "render"}}
# Which rooms (or files) may include a library.
LIBRARIES = {r"SQLiteCpp/|sqlite3\.h": {"graph/store"}, r"yaml-cpp/": {"ingest"}, r"simdjson": {"ingest"}, r"CLI/": {"cli/args.cpp"},
             r"graphviz/": {"render"}, r"date/": {"graph/time.cpp"}, r"nettle/": {"graph/digest.cpp"}, r"boost/": {"bench"}, r"zlib\.h": {"ingest/inflate.cpp"}}
# Analysis is pure: no clock, no file, no environment, no locale.
PURE = r"<(chrono|fstream|filesystem|iostream|ctime|locale|cstdio)>|getenv|system_clock"

def room(path):
    parts = path.relative_to(ROOT).parts
    return "graph/store" if parts[:2] == ("graph", "store") else parts[0]

faults = []
files = [p for r in ("graph", "ingest", "analysis", "render", "cli") for p in (ROOT / r).rglob("*") if p.suffix in (".cpp", ".hpp")]
for path in sorted(files):
    here, name = room(path), str(path.relative_to(ROOT))
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if here == "analysis" and re.search(PURE, line):
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
