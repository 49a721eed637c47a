// A node begins with a letter, its id and its type; a field is a letter and its texts. Configs are numbered
// in their order, each as long as it says.

#include "graph/packed_nodes.hpp"

namespace backreach {

namespace {

constexpr char kNode = 'N', kMore = 'm', kConfigOf = 'r', kConfig = 'c', kConfigName = 'C';
constexpr std::size_t kBlockSize = 64u << 10;
constexpr const char* kDamaged =
    "backreach: error: the nodes of a dbt project in the store are damaged: ingest it again";

void Cut(ByteWriter& block, std::deque<std::string>& out) {
  if (block.size() > 0) out.emplace_back(block.bytes());
  block.Clear();
}

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
  if (block_.size() >= kBlockSize) Cut(block_, out_.nodes);
  block_.Byte(kNode);
  block_.Text(id), block_.Text(type);
}
void NodePacker::Put(Field field, std::string_view value) {
  block_.Byte(static_cast<unsigned char>(field));
  block_.Text(value);
}
void NodePacker::PutMore(std::string_view key, std::string_view value) {
  block_.Byte(kMore);
  block_.Text(key), block_.Text(value);
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
  auto it = configs_.find(config_.bytes());
  if (it == configs_.end()) {
    it = configs_.emplace(config_.bytes(), configs_.size()).first;
    if (config_block_.size() >= kBlockSize) Cut(config_block_, out_.configs);
    config_block_.Text(config_.bytes());
  }
  block_.Byte(kConfigOf);
  block_.Number(it->second);
}

PackedNodes NodePacker::Take() {
  Cut(block_, out_.nodes);
  Cut(config_block_, out_.configs);
  return std::move(out_);
}

std::vector<NodeFact> Unpack(const PackedNodes& nodes) {
  using Field = NodePacker::Field;
  std::vector<std::string_view> configs;
  for (const std::string& block : nodes.configs)
    for (ByteReader in(block, kDamaged); !in.done();) configs.push_back(in.Text());
  std::vector<NodeFact> out;
  for (const std::string& block : nodes.nodes) {
    for (ByteReader in(block, kDamaged); !in.done();) {
      const char letter = static_cast<char>(in.Byte());
      if (letter == kNode) {
        NodeFact& n = out.emplace_back();
        n.id = in.Text();
        n.type = in.Text();
        continue;
      }
      if (out.empty()) in.Fail();
      NodeFact& n = out.back();
      if (letter == kConfigOf) {
        const std::uint64_t number = in.Number();
        if (number >= configs.size()) in.Fail();
        UnpackConfig(configs[static_cast<std::size_t>(number)], n);
        continue;
      }
      const std::string_view text = in.Text();
      switch (letter) {
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
        case kMore: n.more[std::string(text)] = in.Text(); break;
        default: in.Fail();
      }
    }
  }
  return out;
}

}  // namespace backreach
