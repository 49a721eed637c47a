// The fields of every fact, named once: the same list packs facts and unpacks them. A field's place in its
// list is its number in the store: new ones come last, and none ever moves.
#pragma once

#include "graph/facts/facts.hpp"

namespace backreach {

template <typename V>
void FieldsOf(V& v, PartitionFact& f) {
  v(f.grain, f.timezone, f.starts_at, f.column, f.week_start, f.first, f.last, f.key_format, f.from, f.until);
}

template <typename V>
void FieldsOf(V& v, ChangeFact& f) {
  v(f.on, f.kind, f.what);
}

template <typename V>
void FieldsOf(V& v, FindingFact& f) {
  v(f.code, f.detail, f.data, f.at.file, f.at.place);
}

template <typename V>
void FieldsOf(V& v, HoldsFact& f) {
  v(f.all, f.from, f.to, f.last);
}

template <typename V>
void FieldsOf(V& v, RefreshFact& f) {
  v(f.cron, f.timezone, f.keeps, f.holds);
}

template <typename V>
void FieldsOf(V& v, ScheduleFact& f) {
  v(f.type, f.cron, f.timezone, f.rewrites, f.covers, f.every, f.on, f.interval, f.inner, f.start, f.events,
    f.engine_version, f.covers_declared, f.backfill_refused, f.max_runs, f.condition);
}

template <typename V>
void FieldsOf(V& v, NameFact& f) {
  v(f.name, f.rule, f.detail);
}

template <typename V>
void FieldsOf(V& v, GrainSign& f) {
  v(f.kind, f.column, f.grain);
}

template <typename V>
void FieldsOf(V& v, DatasetFact& f) {
  v(f.name, f.kind, f.aliases, f.short_names, f.platform, f.relation, f.writes_relation, f.partitions,
    f.complete_after, f.run_date_offset, f.vars, f.row_time, f.retention, f.keeps_from, f.origin,
    f.write.mode, f.write.key, f.write.key_given, f.write.why, f.write.full_refresh, f.proven_unique,
    f.proven_not_null, f.dimensions, f.rollback, f.owner, f.contact, f.group, f.url, f.fresh_within,
    f.never_rebuild, f.deletions, f.sequential, f.side_effects, f.tags, f.changes, f.findings, f.methods,
    f.note, f.at.file, f.at.place, f.built, f.stored, f.names, f.grain_inferred, f.of_tests, f.signs, f.select);
}

template <typename V>
void FieldsOf(V& v, EdgeFact& f) {
  v(f.from, f.to, f.reads, f.memory, f.job, f.dimension_map, f.known, f.first_seen, f.last_seen, f.note,
    f.failed_only, f.at.file, f.at.place, f.code, f.dimension_to, f.columns, f.jobs, f.times, f.seen_in);
}

template <typename V>
void FieldsOf(V& v, DbtRunFact& f) {
  v(f.command, f.select, f.exclude, f.resource_types, f.exclude_types, f.selector, f.folder, f.full_refresh,
    f.unknown);
}

template <typename V>
void FieldsOf(V& v, JobFact& f) {
  v(f.name, f.orchestrator, f.schedule, f.reads, f.writes, f.after, f.pool, f.owner, f.run_grain, f.slots,
    f.max_parallel, f.seconds_per_cell, f.separable, f.sequential, f.findings, f.methods, f.at.file,
    f.at.place, f.dbt_runs, f.opaque, f.cells_per_run, f.starts, f.parent, f.tests);
}

template <typename V>
void FieldsOf(V& v, PoolFact& f) {
  v(f.name, f.slots, f.usual_load, f.at.file, f.at.place);
}

template <typename V>
void FieldsOf(V& v, ClientFact& f) {
  v(f.platform, f.command, f.at.file, f.at.place);
}

template <typename V>
void FieldsOf(V& v, CopyFact& f) {
  v(f.id, f.of, f.kind, f.where, f.owner, f.contact, f.note, f.by, f.taken, f.feeds, f.holds, f.refresh,
    f.personal_data, f.known, f.exposure, f.at.file, f.at.place, f.expires, f.times, f.first_seen, f.last_seen);
}

template <typename V>
void FieldsOf(V& v, ExtractFact& f) {
  v(f.dataset, f.destination, f.user, f.job, f.statement_id, f.first_seen, f.last_seen, f.times, f.what,
    f.at.file, f.at.place, f.ids, f.via, f.client, f.behind, f.frozen, f.cancelled, f.fetched);
}

template <typename V>
void FieldsOf(V& v, HistoryFact& f) {
  v(f.what, f.name, f.user, f.other, f.via, f.sources, f.first_seen, f.last_seen, f.times, f.days, f.digest,
    f.ids, f.of_job, f.at.file, f.at.place);
}

template <typename V>
void FieldsOf(V& v, IgnoreFact& f) {
  v(f.code, f.dataset, f.destination, f.user, f.reason, f.until, f.at.file, f.at.place);
}

template <typename V>
void FieldsOf(V& v, UnresolvedFact& f) {
  v(f.name, f.what, f.dataset, f.message, f.at.file, f.at.place);
}

template <typename V>
void FieldsOf(V& v, CheckFact& f) {
  v(f.id, f.dataset, f.kind, f.columns, f.covers_all_rows, f.fails_run, f.enabled, f.last_status, f.at.file,
    f.at.place);
}

template <typename V>
void FieldsOf(V& v, TimingFact& f) {
  v(f.dataset, f.seconds, f.batches, f.rows, f.full_refresh, f.ended_at, f.at.file, f.at.place);
}

template <typename V>
void FieldsOf(V& v, MeasureFact& f) {
  v(f.dataset, f.relation_type, f.rows, f.bytes, f.column_types, f.loaded_at, f.freshness, f.at.file,
    f.at.place);
}

// Every list of facts under its name.
template <typename F>
void Lists(Facts& facts, F f) {
  f("dataset", facts.datasets), f("edge", facts.edges), f("job", facts.jobs), f("pool", facts.pools);
  f("copy", facts.copies), f("extract", facts.extracts), f("unresolved", facts.unresolved);
  f("check", facts.checks), f("timing", facts.timings), f("measure", facts.measures);
  f("client", facts.clients), f("history", facts.history), f("ignore", facts.ignores);
}
}  // namespace backreach
