// A field is a letter, then each of its texts as a length (seven bits a byte, the lowest first) and bytes.

#include "graph/packed_nodes.hpp"

#include "graph/error.hpp"

namespace backreach {

namespace {

constexpr char kMore = 'm', kConfig = 'c', kConfigName = 'C';

class Cursor {
 public:
  explicit Cursor(std::string_view bytes) : bytes_(bytes) {}
  bool done() const { return at_ >= bytes_.size(); }
  char Letter() { return bytes_[at_++]; }
  std::string Text() {
    std::size_t length = 0;
    for (int shift = 0;; shift += 7) {
      if (done() || shift > 35) Fail();
      const auto byte = static_cast<unsigned char>(bytes_[at_++]);
      length |= static_cast<std::size_t>(byte & 0x7F) << shift;
      if (byte < 0x80) break;
    }
    if (length > bytes_.size() - at_) Fail();
    at_ += length;
    return std::string(bytes_.substr(at_ - length, length));
  }
  [[noreturn]] static void Fail() {
    throw Error("backreach: error: the nodes of a dbt project in the store are damaged: ingest it again",
                Status::kStore);
  }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
};

void UnpackInto(std::string_view bytes, NodeFact& n) {
  using Field = NodePacker::Field;
  for (Cursor in(bytes); !in.done();) {
    const char letter = in.Letter();
    std::string text = in.Text();
    switch (letter) {
      case static_cast<char>(Field::kName): n.name = std::move(text); break;
      case static_cast<char>(Field::kPackage): n.package = std::move(text); break;
      case static_cast<char>(Field::kPath): n.path = std::move(text); break;
      case static_cast<char>(Field::kPatchPath): n.patch_path = std::move(text); break;
      case static_cast<char>(Field::kGroup): n.group = std::move(text); break;
      case static_cast<char>(Field::kAccess): n.access = std::move(text); break;
      case static_cast<char>(Field::kSourceName): n.source_name = std::move(text); break;
      case static_cast<char>(Field::kVersion): n.version = std::move(text); break;
      case static_cast<char>(Field::kFqn): n.fqn.push_back(std::move(text)); break;
      case static_cast<char>(Field::kTag): n.tags.push_back(std::move(text)); break;
      case static_cast<char>(Field::kParent): n.parents.push_back(std::move(text)); break;
      case kMore: n.more[text] = in.Text(); break;
      case kConfig: n.config[text].push_back(in.Text()); break;
      case kConfigName: n.config[text]; break;
      default: Cursor::Fail();
    }
  }
}

}  // namespace

void NodePacker::Text(std::string_view text) {
  std::size_t length = text.size();
  for (; length >= 0x80; length >>= 7) bytes_ += static_cast<char>(0x80 | (length & 0x7F));
  bytes_ += static_cast<char>(length);
  bytes_ += text;
}
void NodePacker::Put(Field field, std::string_view value) {
  bytes_ += static_cast<char>(field);
  Text(value);
}
void NodePacker::PutMore(std::string_view key, std::string_view value) {
  bytes_ += kMore;
  Text(key), Text(value);
}
void NodePacker::PutConfig(std::string_view name, std::string_view value) {
  bytes_ += kConfig;
  Text(name), Text(value);
}
void NodePacker::PutConfigName(std::string_view name) {
  bytes_ += kConfigName;
  Text(name);
}

NodeFact Unpack(const PackedNodes& nodes, std::size_t i) {
  const PackedNodes::Node& node = nodes.nodes[i];
  NodeFact out;
  out.id = node.id;
  out.type = node.type;
  if (node.config >= 0) {
    if (static_cast<std::size_t>(node.config) >= nodes.configs.size()) Cursor::Fail();
    UnpackInto(nodes.configs[static_cast<std::size_t>(node.config)].bytes, out);
  }
  UnpackInto(node.fields.bytes, out);
  return out;
}

std::vector<NodeFact> Unpack(const PackedNodes& nodes) {
  std::vector<NodeFact> out;
  out.reserve(nodes.nodes.size());
  for (std::size_t i = 0; i < nodes.nodes.size(); ++i) out.push_back(Unpack(nodes, i));
  return out;
}

}  // namespace backreach
