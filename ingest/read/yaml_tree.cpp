#include "ingest/read/yaml_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "graph/base/digest.hpp"
#include "graph/base/words.hpp"
#include "ingest/read/file.hpp"
#include "ingest/read/yaml_map.hpp"

namespace backreach {

namespace {
constexpr std::size_t kMostBytes = std::size_t{64} << 20;
constexpr std::size_t kMostFiles = 1'000'000;
}  // namespace

std::optional<YamlFile> ReadYamlFile(const std::string& path, Diagnostics& diagnostics) {
  const auto text = ReadSmallFile(path, kMostBytes, diagnostics);
  if (!text) return std::nullopt;
  if (const auto fault = EncodingFault(*text)) {
    diagnostics.Error(path, *fault);
    return std::nullopt;
  }
  YamlFile out{path, Sha256Hex(*text), {}};
  try {
    for (const YAML::Node& document : YAML::LoadAll(*text))
      if (document && !document.IsNull()) {
        if (!CheckYamlSize(document, path, diagnostics)) return std::nullopt;
        out.documents.push_back(document);
      }
  } catch (const YAML::Exception& e) {
    diagnostics.Error(YamlWhere(path, e.mark), "this is not YAML: " + e.msg);
    return std::nullopt;
  }
  return out;
}

std::vector<std::string> FilesOf(const std::vector<std::string>& paths,
                                 const std::function<bool(const std::string& name)>& wanted,
                                 Diagnostics& diagnostics) {
  namespace fs = std::filesystem;
  std::vector<std::string> out;
  for (const std::string& path : paths) {
    std::error_code fault;
    if (!fs::is_directory(path, fault)) {
      out.push_back(path);  // whether it can be read shows when it is
      continue;
    }
    std::vector<std::string> found;
    fs::recursive_directory_iterator at(path, fs::directory_options::skip_permission_denied, fault), end;
    for (; !fault && at != end && found.size() < kMostFiles; at.increment(fault)) {
      const std::string name = at->path().filename().string();
      std::error_code ignored;
      if (at->is_directory(ignored)) {
        if (StartsWith(name, ".")) at.disable_recursion_pending();
      } else if (wanted(name)) {
        found.push_back(at->path().string());
      }
    }
    if (fault) diagnostics.Error(path, "this folder cannot be read: " + fault.message());
    std::sort(found.begin(), found.end());
    out.insert(out.end(), std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
  }
  return out;
}

YAML::Node YamlAt(const YAML::Node& node, const std::string& key) {
  if (!node.IsDefined() || !node.IsMap()) return YAML::Node(YAML::NodeType::Undefined);
  for (const auto& item : node)
    if (item.first.IsScalar() && item.first.Scalar() == key) return item.second;
  // A merged mapping, `<<: *defaults`.
  for (const auto& item : node)
    if (item.first.IsScalar() && item.first.Scalar() == "<<" && item.second.IsMap())
      for (const auto& merged : item.second)
        if (merged.first.IsScalar() && merged.first.Scalar() == key) return merged.second;
  return YAML::Node(YAML::NodeType::Undefined);
}

Text YamlText(const YAML::Node& node, const std::string& key) {
  const YAML::Node found = YamlAt(node, key);
  return found.IsDefined() && found.IsScalar() ? Text(found.Scalar()) : Text();
}

std::optional<std::int64_t> YamlNumber(const YAML::Node& node, const std::string& key) {
  const Text text = YamlText(node, key);
  if (!text) return std::nullopt;
  double value = 0;
  const auto [end, ec] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (ec != std::errc{} || end != text->data() + text->size() || !(value > -1e9 && value < 1e9))
    return std::nullopt;
  return static_cast<std::int64_t>(value);
}

bool YamlTrue(const YAML::Node& node, const std::string& key) {
  const std::string text = Lower(YamlText(node, key).value_or(""));
  return text == "true" || text == "yes" || text == "on";
}

std::vector<std::string> YamlTexts(const YAML::Node& node, const std::string& key) {
  std::vector<std::string> out;
  const YAML::Node found = YamlAt(node, key);
  if (!found.IsDefined()) return out;
  if (found.IsScalar()) return {found.Scalar()};
  if (found.IsSequence())
    for (const YAML::Node& item : found)
      if (item.IsScalar()) out.push_back(item.Scalar());
  return out;
}

std::vector<YAML::Node> YamlItems(const YAML::Node& node, const std::string& key) {
  std::vector<YAML::Node> out;
  const YAML::Node found = YamlAt(node, key);
  if (!found.IsDefined()) return out;
  if (found.IsMap()) return {found};
  if (found.IsSequence())
    for (const YAML::Node& item : found) out.push_back(item);
  return out;
}

Place YamlPlace(const std::string& path, const YAML::Node& node) {
  const YAML::Mark mark = node.IsDefined() ? node.Mark() : YAML::Mark::null_mark();
  return {BaseName(path), mark.is_null() ? "" : fmt::format("{}", mark.line + 1)};
}

}  // namespace backreach
