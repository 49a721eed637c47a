// dbt's nodes as selectors see them, packed: a large project has ten thousand, every ingest writes all of
// them, and only the commands that are given a selector read them again.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/base/bytes.hpp"
#include "graph/facts/facts.hpp"

namespace backreach {

// Keys inside the mappings of a config are kept under names of up to so many characters (a.b.c): each key
// repeats those around it. Who asks for a longer one is told.
inline constexpr std::size_t kLongestConfigName = 1024;

// Packs nodes one after the other: Begin, the node's fields, and the next one's Begin or Take.
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
  void Begin(std::string_view id, std::string_view type);
  void Put(Field field, std::string_view value);
  void PutMore(std::string_view key, std::string_view value);

  // A config's names, each with its values; a list without items is a name alone. EndConfig gives the config
  // to the node, which names an equal one of its block instead if there is one.
  void BeginConfig() { config_.Clear(); }
  void PutConfig(std::string_view name, std::string_view value);
  void PutConfigName(std::string_view name);
  void EndConfig();

  PackedNodes Take();

 private:
  void End();  // of a node
  void Cut();  // Of a block: they are cut by their content, and each can be read by itself.
  ByteWriter block_, node_, config_;
  std::uint64_t hash_ = 0;  // of the node's id
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view bytes) const { return std::hash<std::string_view>()(bytes); }
  };
  std::unordered_map<std::string, std::uint64_t, Hash, std::equal_to<>> configs_;
  PackedNodes out_;
};

// The nodes that were packed; throws Error(kStore) if the bytes are none.
std::vector<NodeFact> Unpack(const PackedNodes& nodes);

}  // namespace backreach
