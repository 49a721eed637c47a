// A node is its length and its fields; a field is a letter and a text, so that what is not known is stepped
// over. A config stands where it is first used in a block, and counts from there.

#include "graph/selection/packed_nodes.hpp"

#include <xxhash.h>

namespace backreach {

namespace {

constexpr char kId = 'N', kType = 'T', kMore = 'm', kConfigOf = 'r', kConfigHere = 'R', kConfig = 'c',
               kConfigName = 'C';
// A block ends after one node in this many, by the hash of its id, as blocks of facts do.
constexpr std::uint64_t kEnds = 256;
constexpr std::size_t kLeastBlock = 32u << 10, kMostBlock = 256u << 10;
constexpr const char* kDamaged =
    "backreach: error: the nodes of a dbt project in the store are damaged: ingest it again";

void UnpackConfig(std::string_view bytes, NodeFact& n) {
  for (ByteReader in(bytes, kDamaged); !in.done();) {
    const char letter = static_cast<char>(in.Byte());
    std::vector<std::string>& values = n.config[std::string(in.Text())];
    if (letter == kConfig)
      values.emplace_back(in.Text());
    else if (letter != kConfigName)
      in.Fail();
  }
}

}  // namespace

void NodePacker::Begin(std::string_view id, std::string_view type) {
  End();
  hash_ = XXH3_64bits(id.data(), id.size());
  node_.Byte(kId), node_.Text(id);
  node_.Byte(kType), node_.Text(type);
}
void NodePacker::End() {
  if (node_.size() == 0) return;
  block_.Text(node_.bytes());
  node_.Clear();
  if (block_.size() >= kMostBlock || (block_.size() >= kLeastBlock && hash_ % kEnds == 0)) Cut();
}
void NodePacker::Cut() {
  if (block_.size() > 0) out_.nodes.emplace_back(block_.bytes());
  block_.Clear();
  configs_.clear();
}
void NodePacker::Put(Field field, std::string_view value) {
  node_.Byte(static_cast<unsigned char>(field));
  node_.Text(value);
}
void NodePacker::PutMore(std::string_view key, std::string_view value) {
  node_.Byte(kMore);
  const std::size_t begin = node_.Open();
  node_.Text(key), node_.Text(value);
  node_.Close(begin);
}
void NodePacker::PutConfig(std::string_view name, std::string_view value) {
  config_.Byte(kConfig);
  config_.Text(name), config_.Text(value);
}
void NodePacker::PutConfigName(std::string_view name) {
  config_.Byte(kConfigName);
  config_.Text(name);
}
void NodePacker::EndConfig() {
  const auto it = configs_.find(config_.bytes());
  if (it == configs_.end()) {
    configs_.emplace(config_.bytes(), configs_.size());
    node_.Byte(kConfigHere);
    node_.Text(config_.bytes());
    return;
  }
  node_.Byte(kConfigOf);
  const std::size_t begin = node_.Open();
  node_.Number(it->second);
  node_.Close(begin);
}

PackedNodes NodePacker::Take() {
  End();
  Cut();
  return std::move(out_);
}

namespace {

void UnpackNode(ByteReader in, std::vector<std::string_view>& configs, NodeFact& n) {
  using Field = NodePacker::Field;
  while (!in.done()) {
    const char letter = static_cast<char>(in.Byte());
    const std::string_view text = in.Text();
    switch (letter) {
      case kId: n.id = text; break;
      case kType: n.type = text; break;
      case static_cast<char>(Field::kName): n.name = text; break;
      case static_cast<char>(Field::kPackage): n.package = text; break;
      case static_cast<char>(Field::kPath): n.path = text; break;
      case static_cast<char>(Field::kPatchPath): n.patch_path = text; break;
      case static_cast<char>(Field::kGroup): n.group = text; break;
      case static_cast<char>(Field::kAccess): n.access = text; break;
      case static_cast<char>(Field::kSourceName): n.source_name = text; break;
      case static_cast<char>(Field::kVersion): n.version = text; break;
      case static_cast<char>(Field::kFqn): n.fqn.emplace_back(text); break;
      case static_cast<char>(Field::kTag): n.tags.emplace_back(text); break;
      case static_cast<char>(Field::kParent): n.parents.emplace_back(text); break;
      case kMore: {
        ByteReader pair(text, kDamaged);
        const std::string key(pair.Text());
        n.more[key] = pair.Text();
        break;
      }
      case kConfigHere:
        configs.push_back(text);
        UnpackConfig(text, n);
        break;
      case kConfigOf: {
        const std::uint64_t number = ByteReader(text, kDamaged).Number();
        if (number >= configs.size()) in.Fail();
        UnpackConfig(configs[static_cast<std::size_t>(number)], n);
        break;
      }
      default: break;  // of a newer backreach
    }
  }
}

}  // namespace

std::vector<NodeFact> Unpack(const PackedNodes& nodes) {
  std::vector<NodeFact> out;
  for (const std::string& block : nodes.nodes) {
    std::vector<std::string_view> configs;
    for (ByteReader in(block, kDamaged); !in.done();) UnpackNode(in.Part(), configs, out.emplace_back());
  }
  return out;
}

}  // namespace backreach
