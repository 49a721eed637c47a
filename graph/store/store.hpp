// The graph store: an SQLite file that keeps what every source said, source by source. The only place that
// knows SQL. schema.md beside this file says what a person finds in it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph/facts.hpp"

namespace backreach {

class Store {
 public:
  // Reading never creates or changes the file. Throws Error(kStore) if it is not there, damaged or too new.
  static Store OpenForReading(const std::string& path);
  // Creates the file and its folder where missing; brings an older layout up to date.
  static Store OpenForWriting(const std::string& path);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  // What is kept of the sources; facts in the order in which they were given.
  std::vector<Source> Sources() const;
  // `with_nodes`: also what only selectors ask for. Throws Error(kStore) if what a source said was changed by
  // hand, or was kept by an older backreach.
  std::vector<SourceFacts> Load(bool with_nodes = false) const;
  // The same for who is about to write: sources that Load would throw for come without facts, since to ingest
  // them again is the remedy.
  std::vector<SourceFacts> LoadReadable() const;

  // Each source replaces what the same kind and key said before; all or nothing, and nobody else's facts are
  // touched. A source whose content is already there writes no row. Returns how many were written.
  // Waits up to 30 s for another writer.
  std::size_t Replace(const std::vector<SourceFacts>& sources);

  // SQLite's own check and the hashes of all sources; an empty list if all is well.
  std::vector<std::string> Check() const;
  int layout() const;
  const std::string& path() const;

 private:
  struct Impl;
  std::vector<SourceFacts> LoadAll(bool with_nodes, bool only_readable, std::vector<Source>& outdated) const;
  explicit Store(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace backreach
