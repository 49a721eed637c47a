// The columns of every fact, named once: the same list writes rows, reads them and hashes them.
#pragma once

#include "graph/facts.hpp"

namespace backreach {

template <typename V>
void Columns(V& v, DatasetFact& f) {
  v("name", f.name), v("kind", f.kind), v("aliases", f.aliases), v("short_names", f.short_names);
  v("platform", f.platform), v("relation", f.relation), v("writes_relation", f.writes_relation);
  v("partitions", f.partitions), v("complete_after", f.complete_after),
      v("run_date_offset", f.run_date_offset);
  v("vars", f.vars), v("row_time", f.row_time), v("retention", f.retention), v("keeps_from", f.keeps_from);
  v("origin", f.origin), v("writes", f.write.mode), v("key", f.write.key), v("key_given", f.write.key_given);
  v("writes_why", f.write.why), v("full_refresh", f.write.full_refresh), v("proven_unique", f.proven_unique);
  v("proven_not_null", f.proven_not_null), v("dimensions", f.dimensions), v("rollback", f.rollback);
  v("owner", f.owner), v("contact", f.contact), v("group", f.group), v("url", f.url);
  v("fresh_within", f.fresh_within), v("never_rebuild", f.never_rebuild), v("deletions", f.deletions);
  v("sequential", f.sequential), v("side_effects", f.side_effects), v("tags", f.tags),
      v("changes", f.changes);
  v("findings", f.findings), v("methods", f.methods), v("note", f.note), v("file", f.at.file),
      v("place", f.at.place);
}

template <typename V>
void Columns(V& v, EdgeFact& f) {
  v("from", f.from), v("to", f.to), v("reads", f.reads), v("memory", f.memory), v("job", f.job);
  v("dimension_map", f.dimension_map), v("known", f.known), v("first_seen", f.first_seen);
  v("last_seen", f.last_seen), v("note", f.note), v("failed_only", f.failed_only);
  v("file", f.at.file), v("place", f.at.place);
}

template <typename V>
void Columns(V& v, JobFact& f) {
  v("name", f.name), v("orchestrator", f.orchestrator), v("schedule", f.schedule), v("reads", f.reads);
  v("writes", f.writes), v("after", f.after), v("pool", f.pool), v("owner", f.owner),
      v("run_grain", f.run_grain);
  v("slots", f.slots), v("max_parallel", f.max_parallel), v("seconds_per_cell", f.seconds_per_cell);
  v("separable", f.separable), v("sequential", f.sequential), v("findings", f.findings),
      v("methods", f.methods);
  v("file", f.at.file), v("place", f.at.place);
}

template <typename V>
void Columns(V& v, PoolFact& f) {
  v("name", f.name), v("slots", f.slots), v("usual_load", f.usual_load), v("file", f.at.file),
      v("place", f.at.place);
}

template <typename V>
void Columns(V& v, CopyFact& f) {
  v("id", f.id), v("of", f.of), v("kind", f.kind), v("where", f.where), v("owner", f.owner);
  v("contact", f.contact), v("note", f.note), v("pulled_by", f.by), v("taken", f.taken), v("feeds", f.feeds);
  v("holds", f.holds), v("refresh", f.refresh), v("personal_data", f.personal_data), v("known", f.known);
  v("exposure", f.exposure), v("file", f.at.file), v("place", f.at.place);
}

template <typename V>
void Columns(V& v, ExtractFact& f) {
  v("dataset", f.dataset), v("destination", f.destination), v("user", f.user), v("job", f.job);
  v("statement_id", f.statement_id), v("first_seen", f.first_seen), v("last_seen", f.last_seen);
  v("times", f.times), v("what", f.what), v("file", f.at.file), v("place", f.at.place);
}

template <typename V>
void Columns(V& v, UnresolvedFact& f) {
  v("name", f.name), v("what", f.what), v("dataset", f.dataset), v("message", f.message);
  v("file", f.at.file), v("place", f.at.place);
}

template <typename V>
void Columns(V& v, CheckFact& f) {
  v("id", f.id), v("dataset", f.dataset), v("kind", f.kind), v("columns", f.columns);
  v("covers_all_rows", f.covers_all_rows), v("fails_run", f.fails_run), v("enabled", f.enabled);
  v("last_status", f.last_status), v("file", f.at.file), v("place", f.at.place);
}

template <typename V>
void Columns(V& v, TimingFact& f) {
  v("dataset", f.dataset), v("seconds", f.seconds), v("batches", f.batches), v("rows", f.rows);
  v("full_refresh", f.full_refresh), v("ended_at", f.ended_at), v("file", f.at.file), v("place", f.at.place);
}

template <typename V>
void Columns(V& v, MeasureFact& f) {
  v("dataset", f.dataset), v("relation_type", f.relation_type), v("rows", f.rows), v("bytes", f.bytes);
  v("column_types", f.column_types), v("loaded_at", f.loaded_at), v("freshness", f.freshness);
  v("file", f.at.file), v("place", f.at.place);
}

template <typename V>
void Columns(V& v, PackedNodes::Node& f) {
  v("id", f.id), v("type", f.type), v("fields", f.fields), v("config", f.config);
}

template <typename V>
void Columns(V& v, Bytes& f) {
  v("fields", f);
}

// Every table with the facts that it holds; nodes are kept apart, since only selectors ask for them.
template <typename F>
void Tables(Facts& facts, F f) {
  f("dataset", facts.datasets), f("edge", facts.edges), f("job", facts.jobs), f("pool", facts.pools);
  f("copy", facts.copies), f("extract", facts.extracts), f("unresolved", facts.unresolved);
  f("check", facts.checks), f("timing", facts.timings), f("measure", facts.measures);
}
template <typename F>
void NodeTables(Facts& facts, F f) {
  f("node", facts.nodes.nodes), f("node_config", facts.nodes.configs);
}

}  // namespace backreach
