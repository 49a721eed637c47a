// YAML of other tools, read leniently: what is absent, null or of another kind counts as not there. (Our own
// files are read strictly: yaml_map.hpp.)
#pragma once

#include <yaml-cpp/yaml.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "graph/base/diagnostics.hpp"
#include "graph/facts/facts.hpp"

namespace backreach {

struct YamlFile {
  std::string path;
  std::string sha256;
  std::vector<YAML::Node> documents;  // empty ones left out
};

// The documents of a file; what cannot be read, or grows without bound, is reported.
std::optional<YamlFile> ReadYamlFile(const std::string& path, Diagnostics& diagnostics);

// The files that were given, and those in the folders that were given, at any depth, whose name is wanted;
// sorted within each folder. Hidden folders are left out. A path that does not exist is reported.
std::vector<std::string> FilesOf(const std::vector<std::string>& paths,
                                 const std::function<bool(const std::string& name)>& wanted,
                                 Diagnostics& diagnostics);

YAML::Node YamlAt(const YAML::Node& node, const std::string& key);  // undefined where it is not there
Text YamlText(const YAML::Node& node, const std::string& key);
std::optional<std::int64_t> YamlNumber(const YAML::Node& node, const std::string& key);
bool YamlTrue(const YAML::Node& node, const std::string& key);
// Texts of a list, or of one text.
std::vector<std::string> YamlTexts(const YAML::Node& node, const std::string& key);
// The items of a list; of one mapping, that.
std::vector<YAML::Node> YamlItems(const YAML::Node& node, const std::string& key);
Place YamlPlace(const std::string& path, const YAML::Node& node);

}  // namespace backreach
