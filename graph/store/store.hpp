// The graph store keeps what every source said, source by source and version by version: in an SQLite file,
// or for a team in a schema of PostgreSQL (`postgresql://host/db`). The only place that knows SQL. schema.md
// beside this file says what a person finds in it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph/facts/facts.hpp"
#include "graph/facts/run_log.hpp"
#include "graph/lineage/lineage.hpp"
#include "graph/time/time.hpp"

namespace backreach {

// One ingest of a source that brought something new.
struct StoredVersion {
  std::int64_t number = 0;  // from 1
  std::string ingested_at, sha256;
  bool lost = false;  // kept by an older backreach in a form that cannot be read: to be ingested again
};
struct StoredSource {
  std::string kind, name, key;
  bool adds_up = false;                 // each ingest adds to what was said before, in place of replacing it
  std::vector<StoredVersion> versions;  // oldest first, never empty; those that were forgotten are missing
};

// Joins what all sources say: the store does not know how, and keeps what comes out as relations.
using Joiner = std::function<const LineageGraph&(std::vector<SourceFacts>)>;

struct KeepOptions {
  bool adds_up = false;  // sources of this kind add to what they said before
  Joiner join = {};      // relations are dropped where it is not given
  // How facts of such a source add up, where it is not fact by fact: `before` goes into `given`.
  void (*merge)(Facts& before, Facts& given) = nullptr;
};

class Store {
 public:
  // Reading never creates or changes the file. Throws Error(kStore) if it is not there, damaged, too new, or
  // has newer facts in a log that cannot be read.
  static Store OpenForReading(const std::string& address);
  // Creates the file and its folder, or the schema, where missing; brings an older layout up to date.
  static Store OpenForWriting(const std::string& address);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  // What is kept of the sources, by kind, name and key; their newest versions, and all of them.
  std::vector<Source> Sources() const;
  std::vector<StoredSource> History() const;

  // Facts in the order in which they were given. `with_nodes`: also what only selectors ask for, which comes
  // unasked where a job runs dbt. `as_of`:
  // what the store held at that instant. Throws Error(kStore) if what a source said was changed by hand, or
  // was kept by an older backreach, and Error(kBadRequest) for an instant before everything, or of which some
  // was forgotten.
  std::vector<SourceFacts> Load(bool with_nodes = false, std::optional<Instant> as_of = {}) const;
  // The same for who is about to write, of one kind of sources: those that Load would throw for come without
  // facts, since to ingest them again is the remedy.
  std::vector<SourceFacts> LoadReadable(const std::string& kind) const;

  // Each source is a new version, which replaces what the same kind and key said before or, if sources of its
  // kind add up, joins it; all or nothing, and nobody else's facts are touched. A source whose content is
  // already there writes no row. The joined graph is written in the same transaction, where what it comes
  // from differs. Returns how many sources were written. Waits up to 30 s for another writer.
  std::size_t Replace(std::vector<SourceFacts> sources, const KeepOptions& options = {});

  // Takes away versions that were replaced before an instant: what the store held from then on can still be
  // asked. Returns how many.
  std::size_t ForgetBefore(Instant instant);
  // Takes away a source with all its versions. Throws Error(kBadRequest) unless exactly one has this key,
  // `kind:name` or name.
  Source ForgetSource(const std::string& key, const Joiner& join = {});

  // The log of what was rebuilt and what is in progress, in the order of the starts.
  std::vector<LoggedRun> RunLog() const;
  // Lets `change` look at the log and change entries or add one at its end, and writes what it changed: one
  // transaction, so that nobody else starts anything in between. What `change` throws leaves the log as it
  // was.
  void ChangeRunLog(const std::function<void(std::vector<LoggedRun>&)>& change);

  // The database's own check and the hashes of all versions; an empty list if all is well.
  std::vector<std::string> Check() const;
  // For people: what ingests that were killed left behind, facts that only a newer backreach understands.
  std::vector<std::string> Notes() const;
  int layout() const;
  const std::string& path() const;

 private:
  struct Impl;
  explicit Store(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace backreach
