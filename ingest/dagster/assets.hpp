// Dagster's assets as both of its forms tell them: the export with whole mappings, and the answer of its
// GraphQL, which has less.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "graph/base/diagnostics.hpp"
#include "graph/facts/facts.hpp"

namespace backreach::dagster {

using Json = nlohmann::json;

// A member that is there and not null.
const Json* Find(const Json& j, const char* key);
Text TextAt(const Json& j, const char* key);
std::vector<std::string> TextsAt(const Json& j, const char* key);
std::int64_t NumberAt(const Json& j, const char* key, std::int64_t otherwise);

// One dimension of a partitions definition; an asset that is cut by one alone has it without a name.
struct Dimension {
  enum class Kind { kTime, kStatic, kDynamic };
  Kind kind = Kind::kStatic;
  std::string name;
  // Of time. `start` and `end` are instants, absent where nobody told; `first_key` stands in for `start`.
  std::string cron, timezone, format;
  Text start, end, first_key;
  std::int64_t end_offset = 0;
  std::vector<std::string> exclusions;
  bool hour_told = true;  // GraphQL does not say at which hour a day, week or month begins
  // Of the others, in the order of the definition.
  std::vector<std::string> keys;
};

struct Mapping {
  enum class Kind {
    kNone,  // neither side is partitioned, or nobody told
    kTimeWindow,
    kIdentity,
    kAll,
    kLast,
    kSpecific,
    kStatic,
    kMultiToSingle,
    kMulti,
    kOther
  };
  Kind kind = Kind::kNone;
  std::int64_t start_offset = 0, end_offset = 0;
  bool offsets_told = true;
  std::vector<std::string> keys;                                // of kSpecific
  bool keys_told = true;                                        // of kSpecific and kStatic
  std::map<std::string, std::vector<std::string>> by_upstream;  // of kStatic
  Text dimension;                                               // of kMultiToSingle
  std::string description;                                      // of kOther
  struct To;
  std::map<std::string, To> dimensions;  // of kMulti, by the upstream's dimension
};
struct Mapping::To {
  std::string name;  // the downstream's dimension
  Mapping mapping;
};

struct Dependency {
  std::vector<std::string> key;
  Mapping mapping;
  bool told = true;       // false: a null of GraphQL, which is none, All, Identity or Last
  bool inferred = false;  // Dagster's own default
};

struct Asset {
  std::vector<std::string> key;
  std::string location;
  Text description, group, op, condition, cells_per_run;
  std::vector<std::string> owners, pools, tags;
  bool executable = true;
  bool stub = false;                               // another location's, known by name alone
  std::vector<std::vector<std::string>> together;  // written by one run, this one among them
  std::vector<Dimension> dimensions;
  std::vector<Dependency> dependencies;
  Place at;
};

std::string NameOf(const std::vector<std::string>& key);  // `raw/events`

// Is this document of the form, and what its assets are. What cannot be read is said and left out.
bool IsExport(const Json& document);
bool IsAnswer(const Json& document);
std::vector<Asset> ReadExport(const Json& document, const std::string& file, const std::string& path,
                              Diagnostics& diagnostics);
std::vector<Asset> ReadAnswer(const Json& document, const std::string& file, const std::string& path,
                              Diagnostics& diagnostics);

// Facts of all assets of one location; `every` are those of all locations, which dependencies lead into.
Facts FactsOf(const std::vector<const Asset*>& assets, const std::map<std::string, const Asset*>& every,
              const std::string& space, const std::string& path, Diagnostics& diagnostics);

}  // namespace backreach::dagster
