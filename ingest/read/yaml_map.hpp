// A YAML mapping read strictly: merges resolved, repeated keys refused, unknown keys refused with the
// nearest.
#pragma once

#include <yaml-cpp/yaml.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "graph/base/diagnostics.hpp"
#include "graph/facts/facts.hpp"

namespace backreach {

// Where a node stands: `registry.yml:14:5`.
std::string YamlWhere(const std::string& file, const YAML::Mark& mark);

// Refuses documents whose aliases expand without bound, refer to themselves, or nest too deep.
bool CheckYamlSize(const YAML::Node& root, const std::string& file, Diagnostics& diagnostics);

class YamlMap {
 public:
  // `what` names the block in messages: "dataset 'orders'", "the registry".
  YamlMap(const YAML::Node& node, std::string file, std::string what, Diagnostics& diagnostics);

  bool valid() const { return valid_; }
  const std::string& file() const { return file_; }
  const std::string& what() const { return what_; }
  void set_what(std::string what) { what_ = std::move(what); }
  Diagnostics& diagnostics() { return diagnostics_; }
  int line() const { return line_; }
  Place place() const;

  // The value of a key, marked as known; null (`~`) counts as missing.
  std::optional<YAML::Node> Get(const std::string& key);
  Text GetText(const std::string& key);
  // One of the words, else an error with the nearest.
  Text GetWord(const std::string& key, const std::vector<std::string>& words);
  std::optional<bool> GetBool(const std::string& key);
  std::optional<std::int64_t> GetNumber(const std::string& key, std::int64_t least, std::int64_t most);
  std::optional<double> GetDecimal(const std::string& key);
  // A list of texts; a single text counts as a list of one.
  std::vector<std::string> GetList(const std::string& key);
  Text GetDuration(const std::string& key);
  Text GetZone(const std::string& key);
  Text GetDate(const std::string& key);
  // Reports every key that nobody asked for.
  void Finish();

  void Fail(const std::string& key, const std::string& message, std::vector<std::string> notes = {});
  std::string Where(const std::string& key) const;

 private:
  struct Field {
    std::string key;
    YAML::Mark mark;
    YAML::Node value;
    bool merged = false;
  };
  void Collect(const YAML::Node& node, bool merged, int depth);
  Field* Find(const std::string& key);
  std::string file_, what_;
  Diagnostics& diagnostics_;
  std::vector<Field> fields_;
  std::vector<std::string> known_;
  bool valid_ = false;
  int line_ = 0;
};

// Text of a scalar, for a node known to be one.
std::optional<std::string> ScalarText(const YAML::Node& node);

}  // namespace backreach
