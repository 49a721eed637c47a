// What dbt writes beside its manifest: run_results.json, catalog.json, sources.json. Each is read into plain
// facts of the same source, of the nodes that the manifest knows.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graph/base/diagnostics.hpp"
#include "graph/facts/facts.hpp"

namespace backreach {

struct DbtArtifacts {
  std::vector<std::string> run_results;  // any number, in any order
  std::string catalog, sources;          // "": none
};

// How tests ended and how long runs took (from runs that ran), what the warehouse holds, when sources were
// loaded. A file that cannot be read is an error in `diagnostics`; one that tells nothing is a note. The
// digest of what was read goes into the source, so that the graph's fingerprint tells it.
void AddDbtArtifacts(const DbtArtifacts& files, SourceFacts& out, Diagnostics& diagnostics);

// Unique id -> how it ended (`success`, `fail`, ...), of one run_results.json; nothing if it cannot be read.
std::optional<std::map<std::string, std::string>> ReadRunStatuses(const std::string& path,
                                                                  Diagnostics& diagnostics);

// Unique id -> when a source was last loaded, of one sources.json; nothing if it cannot be read.
std::optional<std::map<std::string, std::string>> ReadLoadedAt(const std::string& path,
                                                               Diagnostics& diagnostics);

}  // namespace backreach
