#!/usr/bin/env python3
"""Writes the assets of a Dagster code location, with whole partition mappings, for `backreach ingest dagster`.

    python export_assets.py -f definitions.py > assets.json       a file that defines `defs`, or any Definitions
    python export_assets.py -m my_project.definitions > assets.json

Runs where the code location runs: it imports the definitions, and nothing else. GraphQL does not tell the
offsets inside several dimensions, nor All, Identity and Last mappings apart; this does."""
import argparse
import importlib
import importlib.util
import json
import os
import sys

import dagster as dg
from dagster import _check  # noqa: F401  (fails early where this is no Dagster)


def load(options):
    sys.path.insert(0, options.working_directory or os.getcwd())
    if options.module:
        module = importlib.import_module(options.module)
    else:
        sys.path.insert(0, os.path.dirname(os.path.abspath(options.file)))
        spec = importlib.util.spec_from_file_location("definitions_to_export", options.file)
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
    found = [v for v in vars(module).values() if isinstance(v, dg.Definitions)]
    if options.attribute:
        found = [getattr(module, options.attribute)]
    if not found:
        found = [v() for v in vars(module).values() if type(v).__name__ == "LazyDefinitions"]
    if len(found) != 1:
        sys.exit(f"{len(found)} Definitions in {options.module or options.file}: name one with --attribute")
    return found[0]


def instant(timestamp, zone):
    if timestamp is None:
        return None
    from datetime import datetime
    from zoneinfo import ZoneInfo
    return datetime.fromtimestamp(getattr(timestamp, "timestamp", timestamp), ZoneInfo(zone)).isoformat()


def partitions(definition, instance):
    if definition is None:
        return None
    if isinstance(definition, dg.TimeWindowPartitionsDefinition):
        zone = definition.timezone
        return {"kind": "time", "cron": definition.cron_schedule, "timezone": zone, "start": instant(definition.start_ts, zone),
                "end": instant(getattr(definition, "end_ts", None), zone), "end_offset": definition.end_offset, "fmt": definition.fmt,
                "exclusions": [e if isinstance(e, str) else instant(e, zone) for e in definition.exclusions or []]}
    if isinstance(definition, dg.MultiPartitionsDefinition):
        return {"kind": "multi", "dimensions": {d.name: partitions(d.partitions_def, instance) for d in definition.partitions_defs}}
    if isinstance(definition, dg.DynamicPartitionsDefinition):
        keys = None
        if definition.name and instance:
            keys = list(instance.get_dynamic_partitions(definition.name))
        return {"kind": "dynamic", "name": definition.name, "keys": keys}
    if isinstance(definition, dg.StaticPartitionsDefinition):
        return {"kind": "static", "keys": list(definition.get_partition_keys())}
    return {"kind": "other", "class": type(definition).__name__}


def mapping(m):
    if m is None:
        return None
    if isinstance(m, dg.TimeWindowPartitionMapping):
        return {"kind": "time_window", "start_offset": m.start_offset, "end_offset": m.end_offset,
                "allow_nonexistent": m.allow_nonexistent_upstream_partitions}
    if isinstance(m, dg.IdentityPartitionMapping):
        return {"kind": "identity"}
    if isinstance(m, dg.AllPartitionMapping):
        return {"kind": "all"}
    if isinstance(m, dg.LastPartitionMapping):
        return {"kind": "last"}
    if isinstance(m, dg.SpecificPartitionsPartitionMapping):
        return {"kind": "specific", "keys": list(m.partition_keys)}
    if isinstance(m, dg.StaticPartitionMapping):
        table = m.downstream_partition_keys_by_upstream_partition_key
        return {"kind": "static", "downstream_by_upstream": {k: sorted({v} if isinstance(v, str) else v) for k, v in sorted(table.items())}}
    if isinstance(m, dg.MultiToSingleDimensionPartitionMapping):
        return {"kind": "multi_to_single", "dimension": m.partition_dimension_name}
    if isinstance(m, dg.MultiPartitionMapping):
        return {"kind": "multi", "dimensions": {up: {"to": d.dimension_name, "mapping": mapping(d.partition_mapping)}
                                                for up, d in m.downstream_mappings_by_upstream_dimension.items()}}
    return {"kind": "other", "class": type(m).__name__, "description": getattr(m, "description", None)}


def condition(c):
    if c is None:
        return None
    label = c.get_label() if hasattr(c, "get_label") else None
    return label or str(getattr(c, "name", None) or type(c).__name__)


def policy(p):
    return None if p is None else {"max_partitions_per_run": p.max_partitions_per_run}


def asset(graph, key, instance):
    node = graph.get(key)
    definition = node.assets_def
    op = definition.node_def.name if node.is_executable else None
    together = sorted(list(k.path) for k in node.execution_set_asset_keys) if node.is_executable else []
    deps = []
    for parent in sorted(node.parent_keys):
        up = graph.get(parent).partitions_def
        own = node.partition_mappings.get(parent)
        whole = node.partitions_def is None and up is None
        deps.append({"key": list(parent.path), "mapping": None if whole else mapping(own or graph.get_partition_mapping(key, parent)),
                     "inferred": own is None})
    return {"key": list(key.path), "group": node.group_name, "description": node.description, "kinds": sorted(node.kinds or []),
            "tags": dict(sorted(node.tags.items())), "owners": list(node.owners), "executable": node.is_materializable and node.is_executable, "op": op,
            "written_together": together if len(together) > 1 else [], "pools": sorted(node.pools or []),
            "backfill_policy": policy(node.backfill_policy), "automation_condition": condition(node.automation_condition),
            "partitions": partitions(node.partitions_def, instance), "deps": deps}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("-f", "--file")
    where.add_argument("-m", "--module")
    parser.add_argument("-a", "--attribute", help="the name of the Definitions, where there are several")
    parser.add_argument("-d", "--working-directory")
    parser.add_argument("--location", help="the code location's name (default: the file's or module's)")
    parser.add_argument("--instance", action="store_true", help="ask the instance of DAGSTER_HOME for dynamic partitions")
    options = parser.parse_args()
    defs = load(options)
    graph = defs.resolve_asset_graph() if hasattr(defs, "resolve_asset_graph") else defs.get_asset_graph()
    instance = dg.DagsterInstance.get() if options.instance else None
    location = options.location or os.path.basename(options.file or options.module).removesuffix(".py")
    keys = sorted(graph.get_all_asset_keys(), key=lambda k: k.path)
    json.dump({"form": "dagster-assets/1", "dagster": dg.__version__, "location": location,
               "assets": [asset(graph, k, instance) for k in keys]}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
