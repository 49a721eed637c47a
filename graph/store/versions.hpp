// What the store holds: sources, the versions of each, and the blocks that a version consists of. The list of
// sources and versions is small, decides what everything else is read by, and is checked as a whole against
// one hash at every opening, without an index; blocks are checked against their addresses.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "graph/facts/facts.hpp"
#include "graph/store/database/database.hpp"

namespace backreach {

struct VersionRow {
  std::int64_t id = 0, source = 0, number = 0;
  std::string ingested_at, sha256, beside_sha256;
  // Over the addresses of its blocks; "" where they could not be taken over from an older layout.
  std::string facts_hash, nodes_hash;
};

struct SourceRow {
  std::int64_t id = 0;
  std::string kind, name, key;
  bool adds_up = false;
  std::vector<VersionRow> versions;  // by number, never empty

  // The newest version that was there at an instant (as FormatInstant writes it), or the newest of all.
  const VersionRow* At(const std::optional<std::string>& as_of) const;
  Source AsSource(const VersionRow& version) const;
};

// Sorted by kind, name and key. Throws Error(kStore) where they are not those that were written.
std::vector<SourceRow> ReadSources(Database& db);
// To be called at the end of every transaction that changes a source or version.
void WriteState(Database& db);

// The facts of a version, in the order in which they were given; throws Error(kStore) with what to do where
// they are not those that were ingested.
void ReadVersion(Database& db, const SourceRow& source, const VersionRow& version, bool with_nodes,
                 Facts& facts, std::size_t* skipped = nullptr);

// Only what selectors ask for.
void ReadNodes(Database& db, const SourceRow& source, const VersionRow& version, PackedNodes& nodes);

// Only what a source that adds up keeps for its next ingest.
void ReadObserved(Database& db, const SourceRow& source, const VersionRow& version,
                  std::deque<std::string>& observed);

// True if the version's blocks are there, and are what their addresses say.
bool IsWhole(Database& db, const VersionRow& version);

// How an ingest meets what its source said before: it replaces it, or adds up, fact by fact or by a rule of
// the source's own.
struct Meeting {
  bool adds_up = false;
  void (*merge)(Facts& before, Facts& given) = nullptr;
};
// Adds a version to the source (which is made where there is none) unless its newest has these facts and
// sha256 already. True if rows were written; `facts` of a source that adds up are then all that it has said.
bool WriteVersion(Database& db, const std::vector<SourceRow>& sources, const Meeting& meeting,
                  SourceFacts& given);
// A version of a source that has none yet, whose facts are known to have been there, and cannot be read.
void WriteLostVersion(Database& db, const Source& source);
// Names what the newest versions say, whatever came before them.
std::string NameOfNewest(const std::vector<SourceRow>& sources);
// Takes away blocks that no version has.
void RemoveUnusedBlocks(Database& db);

}  // namespace backreach
