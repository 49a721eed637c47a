// The store's layouts, as the scripts that lead from each to the next.

#include "graph/store/schema.hpp"

namespace backreach {

// Facts are kept per source, as stated; names are resolved at every load. Lists and maps are JSON text, which
// SQLite's json functions read. `n` is the position in which the source gave the fact.
static constexpr const char* kLayout1 = R"sql(
CREATE TABLE source (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL, name TEXT NOT NULL, key TEXT NOT NULL,
  sha256 TEXT NOT NULL, ingested_at TEXT NOT NULL, rows_hash TEXT NOT NULL,
  UNIQUE (kind, key)
) STRICT;
CREATE TABLE dataset (
  source INTEGER NOT NULL REFERENCES source (id) ON DELETE CASCADE, n INTEGER NOT NULL,
  name TEXT NOT NULL, kind TEXT, aliases TEXT, short_names TEXT, platform TEXT, relation TEXT, writes_relation INTEGER,
  partitions TEXT, complete_after TEXT, run_date_offset TEXT, vars TEXT, row_time TEXT, retention TEXT, keeps_from TEXT,
  origin TEXT, writes TEXT, key TEXT, key_given INTEGER, writes_why TEXT, full_refresh TEXT,
  proven_unique INTEGER, proven_not_null INTEGER, dimensions TEXT, rollback TEXT, owner TEXT, contact TEXT,
  "group" TEXT, url TEXT, fresh_within TEXT, never_rebuild INTEGER, deletions INTEGER, sequential INTEGER,
  side_effects TEXT, tags TEXT, changes TEXT, findings TEXT, methods TEXT, note TEXT, file TEXT, place TEXT,
  PRIMARY KEY (source, n)
) STRICT, WITHOUT ROWID;
CREATE TABLE edge (
  source INTEGER NOT NULL REFERENCES source (id) ON DELETE CASCADE, n INTEGER NOT NULL,
  "from" TEXT NOT NULL, "to" TEXT NOT NULL, reads TEXT, memory TEXT, job TEXT, dimension_map TEXT, known TEXT,
  first_seen TEXT, last_seen TEXT, note TEXT, failed_only INTEGER, file TEXT, place TEXT,
  PRIMARY KEY (source, n)
) STRICT, WITHOUT ROWID;
CREATE TABLE job (
  source INTEGER NOT NULL REFERENCES source (id) ON DELETE CASCADE, n INTEGER NOT NULL,
  name TEXT NOT NULL, orchestrator TEXT, schedule TEXT, reads TEXT, writes TEXT, after TEXT, pool TEXT, owner TEXT,
  run_grain TEXT, slots INTEGER, max_parallel INTEGER, seconds_per_cell REAL, separable INTEGER, sequential INTEGER,
  findings TEXT, methods TEXT, file TEXT, place TEXT,
  PRIMARY KEY (source, n)
) STRICT, WITHOUT ROWID;
CREATE TABLE pool (
  source INTEGER NOT NULL REFERENCES source (id) ON DELETE CASCADE, n INTEGER NOT NULL,
  name TEXT NOT NULL, slots INTEGER, usual_load INTEGER, file TEXT, place TEXT,
  PRIMARY KEY (source, n)
) STRICT, WITHOUT ROWID;
CREATE TABLE copy (
  source INTEGER NOT NULL REFERENCES source (id) ON DELETE CASCADE, n INTEGER NOT NULL,
  id TEXT NOT NULL, "of" TEXT, kind TEXT, "where" TEXT, owner TEXT, contact TEXT, note TEXT, pulled_by TEXT, taken TEXT,
  feeds TEXT, holds TEXT, refresh TEXT, personal_data INTEGER, known INTEGER, exposure INTEGER, file TEXT, place TEXT,
  PRIMARY KEY (source, n)
) STRICT, WITHOUT ROWID;
CREATE TABLE extract (
  source INTEGER NOT NULL REFERENCES source (id) ON DELETE CASCADE, n INTEGER NOT NULL,
  dataset TEXT NOT NULL, destination TEXT NOT NULL, user TEXT, job TEXT, statement_id TEXT, first_seen TEXT,
  last_seen TEXT, times INTEGER, what TEXT, file TEXT, place TEXT,
  PRIMARY KEY (source, n)
) STRICT, WITHOUT ROWID;
CREATE TABLE unresolved (
  source INTEGER NOT NULL REFERENCES source (id) ON DELETE CASCADE, n INTEGER NOT NULL,
  name TEXT NOT NULL, what TEXT, dataset TEXT, message TEXT, file TEXT, place TEXT,
  PRIMARY KEY (source, n)
) STRICT, WITHOUT ROWID;
CREATE TABLE "check" (
  source INTEGER NOT NULL REFERENCES source (id) ON DELETE CASCADE, n INTEGER NOT NULL,
  id TEXT NOT NULL, dataset TEXT NOT NULL, kind TEXT, columns TEXT, covers_all_rows INTEGER, fails_run INTEGER,
  enabled INTEGER, last_status TEXT, file TEXT, place TEXT,
  PRIMARY KEY (source, n)
) STRICT, WITHOUT ROWID;
)sql";

// dbt's nodes as selectors see them.
static constexpr const char* kLayout2 = R"sql(
CREATE TABLE node (
  source INTEGER NOT NULL REFERENCES source (id) ON DELETE CASCADE, n INTEGER NOT NULL,
  id TEXT NOT NULL, type TEXT, name TEXT, package TEXT, path TEXT, patch_path TEXT, "group" TEXT, access TEXT,
  source_name TEXT, version TEXT, fqn TEXT, tags TEXT, parents TEXT, config TEXT, more TEXT,
  PRIMARY KEY (source, n)
) STRICT, WITHOUT ROWID;
ALTER TABLE source ADD COLUMN nodes_hash TEXT NOT NULL DEFAULT '';
)sql";

// What dbt's other files tell: durations of runs, what the platform holds. Nodes are packed, and have to be
// read again from the manifest for that.
static constexpr const char* kLayout3 = R"sql(
DROP TABLE node;
UPDATE source SET nodes_hash = '';
CREATE TABLE node (
  source INTEGER NOT NULL REFERENCES source (id) ON DELETE CASCADE, n INTEGER NOT NULL,
  id TEXT NOT NULL, type TEXT NOT NULL, fields BLOB NOT NULL, config INTEGER,
  PRIMARY KEY (source, n)
) STRICT;
CREATE TABLE node_config (
  source INTEGER NOT NULL REFERENCES source (id) ON DELETE CASCADE, n INTEGER NOT NULL, fields BLOB NOT NULL,
  PRIMARY KEY (source, n)
) STRICT;
CREATE TABLE timing (
  source INTEGER NOT NULL REFERENCES source (id) ON DELETE CASCADE, n INTEGER NOT NULL,
  dataset TEXT NOT NULL, seconds REAL NOT NULL, batches INTEGER, rows INTEGER, full_refresh INTEGER, ended_at TEXT,
  file TEXT, place TEXT,
  PRIMARY KEY (source, n)
) STRICT, WITHOUT ROWID;
CREATE TABLE measure (
  source INTEGER NOT NULL REFERENCES source (id) ON DELETE CASCADE, n INTEGER NOT NULL,
  dataset TEXT NOT NULL, relation_type TEXT, rows INTEGER, bytes INTEGER, column_types TEXT, loaded_at TEXT,
  freshness TEXT, file TEXT, place TEXT,
  PRIMARY KEY (source, n)
) STRICT, WITHOUT ROWID;
ALTER TABLE source ADD COLUMN beside_sha256 TEXT NOT NULL DEFAULT '';
)sql";

const std::vector<const char*>& LayoutScripts() {
  static const std::vector<const char*> scripts = {kLayout1, kLayout2, kLayout3};
  return scripts;
}

}  // namespace backreach
