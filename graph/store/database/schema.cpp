// Facts are kept per source and version, as stated; names are resolved when they are joined.

#include "graph/store/database/schema.hpp"

namespace backreach {

// The log of runs: what was started, its steps and their cells. No ingest touches it.
const char* const kRunTables = R"sql(
CREATE TABLE IF NOT EXISTS run (
  id INTEGER PRIMARY KEY, plan TEXT NOT NULL, state TEXT NOT NULL, started_at TEXT NOT NULL,
  ended_at TEXT NOT NULL, started_by TEXT NOT NULL, summary TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS run_step (
  run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  step INTEGER NOT NULL, n INTEGER NOT NULL,
  dataset TEXT NOT NULL, whole INTEGER NOT NULL, along INTEGER NOT NULL, dimensions TEXT NOT NULL,
  state TEXT NOT NULL, at TEXT NOT NULL, position TEXT NOT NULL,
  PRIMARY KEY (run, step, n)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS run_span (
  run INTEGER NOT NULL, step INTEGER NOT NULL, n INTEGER NOT NULL,
  done INTEGER NOT NULL, begins INTEGER NOT NULL, ends INTEGER NOT NULL,
  PRIMARY KEY (run, step, n, done, begins)
) STRICT, WITHOUT ROWID;
)sql";

const char* const kSchema = R"sql(
CREATE TABLE state (
  id INTEGER PRIMARY KEY CHECK (id = 1), layout INTEGER NOT NULL, hash TEXT NOT NULL
) STRICT;
CREATE TABLE source (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL, name TEXT NOT NULL, key TEXT NOT NULL, adds_up INTEGER NOT NULL,
  UNIQUE (kind, key)
) STRICT;
CREATE TABLE version (
  id INTEGER PRIMARY KEY,
  source INTEGER NOT NULL REFERENCES source (id) ON DELETE CASCADE,
  number INTEGER NOT NULL, ingested_at TEXT NOT NULL,
  sha256 TEXT NOT NULL, beside_sha256 TEXT NOT NULL,
  facts_hash TEXT NOT NULL, nodes_hash TEXT NOT NULL,
  UNIQUE (source, number)
) STRICT;
CREATE TABLE block (
  id INTEGER PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE, facts INTEGER NOT NULL, bytes BLOB NOT NULL
) STRICT;
CREATE TABLE content (
  version INTEGER NOT NULL REFERENCES version (id) ON DELETE CASCADE,
  part TEXT NOT NULL, n INTEGER NOT NULL, block INTEGER NOT NULL REFERENCES block (id),
  PRIMARY KEY (version, part, n)
) STRICT, WITHOUT ROWID;
)sql";

}  // namespace backreach
