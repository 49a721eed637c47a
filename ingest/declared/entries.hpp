// How an entry of the registry is read, for the registry itself and for blocks of it in other tools' files.
// Faults are reported at their line and the rest is taken.
#pragma once

#include <string>
#include <vector>

#include "graph/facts/facts.hpp"
#include "ingest/read/yaml_map.hpp"

namespace backreach {

// What a file states for all of its datasets.
struct EntryDefaults {
  Text timezone, week_start;
};

// The words for `week_start`.
const std::vector<std::string>& Weekdays();
Text GetGrain(YamlMap& map, const std::string& key);
// What a dataset's entry says but for its name, on top of what `fact` holds; a copy's but for its id.
void ReadDatasetEntry(YamlMap& map, const EntryDefaults& defaults, DatasetFact& fact);
void ReadCopyEntry(YamlMap& map, CopyFact& copy);

}  // namespace backreach
