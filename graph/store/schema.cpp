// Facts are kept per source, as stated; names are resolved at every load.

#include "graph/store/schema.hpp"

namespace backreach {

const char* const kSchema = R"sql(
CREATE TABLE source (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL, name TEXT NOT NULL, key TEXT NOT NULL,
  sha256 TEXT NOT NULL, beside_sha256 TEXT NOT NULL, ingested_at TEXT NOT NULL,
  facts_hash TEXT NOT NULL, nodes_hash TEXT NOT NULL,
  UNIQUE (kind, key)
) STRICT;
CREATE TABLE block (
  source INTEGER NOT NULL REFERENCES source (id) ON DELETE CASCADE,
  part TEXT NOT NULL, n INTEGER NOT NULL, facts INTEGER NOT NULL, hash INTEGER NOT NULL, bytes BLOB NOT NULL,
  PRIMARY KEY (source, part, n)
) STRICT;
)sql";

// Until layout 3 every fact was a row of its own. A source without a hash has to be ingested again, and
// whoever loads the store is told so.
const char* const kMoveOlder = "ALTER TABLE source RENAME TO older;";
const char* const kTakeOlder = R"sql(
INSERT INTO source SELECT id, kind, name, key, sha256, '', ingested_at, '', '' FROM older;
DROP TABLE IF EXISTS dataset;
DROP TABLE IF EXISTS edge;
DROP TABLE IF EXISTS job;
DROP TABLE IF EXISTS pool;
DROP TABLE IF EXISTS copy;
DROP TABLE IF EXISTS extract;
DROP TABLE IF EXISTS unresolved;
DROP TABLE IF EXISTS "check";
DROP TABLE IF EXISTS timing;
DROP TABLE IF EXISTS measure;
DROP TABLE IF EXISTS node;
DROP TABLE IF EXISTS node_config;
DROP TABLE older;
)sql";

}  // namespace backreach
