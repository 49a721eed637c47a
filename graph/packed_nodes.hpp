// dbt's nodes as selectors see them, packed: a large project has ten thousand, every ingest writes all of
// them, and only the commands that are given a selector read them again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/facts.hpp"

namespace backreach {

// Writes the fields of one node, or of a config that many nodes share, one behind the other.
class NodePacker {
 public:
  enum class Field : char {
    kName = 'n',
    kPackage = 'p',
    kPath = 'f',
    kPatchPath = 'P',
    kGroup = 'g',
    kAccess = 'a',
    kSourceName = 's',
    kVersion = 'v',
    kFqn = 'q',
    kTag = 't',
    kParent = 'd',  // one item of a list each
  };
  void Put(Field field, std::string_view value);
  void PutMore(std::string_view key, std::string_view value);
  // A config's name with one of its values; a list without items is a name alone.
  void PutConfig(std::string_view name, std::string_view value);
  void PutConfigName(std::string_view name);
  const std::string& bytes() const { return bytes_; }
  void Clear() { bytes_.clear(); }

 private:
  void Text(std::string_view text);
  std::string bytes_;
};

// The node that was packed; throws Error(kStore) if the bytes are none.
NodeFact Unpack(const PackedNodes& nodes, std::size_t i);
std::vector<NodeFact> Unpack(const PackedNodes& nodes);

}  // namespace backreach
