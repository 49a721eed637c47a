// YAML as maps that know where each value stands and which keys were not asked for.

#include "ingest/read/yaml_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "graph/base/words.hpp"
#include "graph/time/calendar.hpp"

namespace backreach {

std::string YamlWhere(const std::string& file, const YAML::Mark& mark) {
  if (mark.is_null()) return file;
  return fmt::format("{}:{}:{}", file, mark.line + 1, mark.column + 1);
}

namespace {

constexpr int kDeepest = 64;
constexpr std::uint64_t kMostNodes = 20'000'000;

// Sizes of nodes with their aliases expanded. A node is known by where it stands in the file.
struct SizeWalk {
  std::unordered_map<int, std::uint64_t> sizes;
  std::string fault;
  int fault_at = 0;

  std::uint64_t Size(const YAML::Node& node, int depth) {
    if (!fault.empty()) return 1;
    if (depth > kDeepest) return Fault("nests too deep", node), 1;
    if (!node.IsMap() && !node.IsSequence()) return 1;
    const int at = node.Mark().pos;
    const auto [it, fresh] = sizes.emplace(at, 0);
    if (!fresh) {
      if (it->second == 0) Fault("an alias refers to what it stands in", node);
      return it->second;
    }
    std::uint64_t size = 1;
    for (const auto& item : node) {
      if (node.IsMap())
        size += Size(item.first, depth + 1) + Size(item.second, depth + 1);
      else
        size += Size(item, depth + 1);
      if (size > kMostNodes) return Fault("its aliases expand to more than 20 million values", node), 1;
    }
    sizes[at] = size;
    return size;
  }
  void Fault(const char* what, const YAML::Node& node) {
    fault = what;
    fault_at = node.Mark().line;
  }
};

}  // namespace

bool CheckYamlSize(const YAML::Node& root, const std::string& file, Diagnostics& diagnostics) {
  SizeWalk walk;
  const std::uint64_t size = walk.Size(root, 0);
  if (walk.fault.empty() && size > 1'000'000 && size > 100 * walk.sizes.size())
    walk.fault = fmt::format("its aliases expand to {} values", size);
  if (walk.fault.empty()) return true;
  diagnostics.Error(fmt::format("{}:{}", file, walk.fault_at + 1), walk.fault,
                    {"write it out, or split it: a registry is read by people"});
  return false;
}

std::optional<std::string> ScalarText(const YAML::Node& node) {
  if (!node.IsScalar()) return std::nullopt;
  return node.Scalar();
}

YamlMap::YamlMap(const YAML::Node& node, std::string file, std::string what, Diagnostics& diagnostics)
    : file_(std::move(file)), what_(std::move(what)), diagnostics_(diagnostics) {
  line_ = node.Mark().is_null() ? 0 : node.Mark().line + 1;
  if (!node.IsMap()) {
    diagnostics_.Error(YamlWhere(file_, node.Mark()),
                       fmt::format("{} must be a mapping (key: value)", what_));
    return;
  }
  valid_ = true;
  Collect(node, false, 0);
}

Place YamlMap::place() const { return {BaseName(file_), std::to_string(line_)}; }

void YamlMap::Collect(const YAML::Node& node, bool merged, int depth) {
  if (depth > kDeepest) {
    if (depth == kDeepest + 1)
      diagnostics_.Error(
          YamlWhere(file_, node.Mark()),
          fmt::format("{} merges more than {} maps (<<), each from the one before", what_, kDeepest),
          {"write the keys out, or merge from the first of them"});
    return;
  }
  std::vector<YAML::Node> merges;
  const std::size_t own_from = fields_.size();
  for (const auto& item : node) {
    const auto key = ScalarText(item.first);
    if (!key) {
      diagnostics_.Error(YamlWhere(file_, item.first.Mark()), fmt::format("a key of {} is no text", what_));
      continue;
    }
    if (*key == "<<") {
      if (item.second.IsMap())
        merges.push_back(item.second);
      else if (item.second.IsSequence())
        for (const auto& part : item.second) merges.push_back(part);
      continue;
    }
    bool repeated = false;
    for (std::size_t i = own_from; i < fields_.size() && !merged; ++i) {
      if (fields_[i].key != *key) continue;
      diagnostics_.Error(YamlWhere(file_, item.first.Mark()),
                         fmt::format("'{}' stands twice in {}", *key, what_),
                         {fmt::format("first in line {}, again in line {}: keep one",
                                      fields_[i].mark.line + 1, item.first.Mark().line + 1)});
      repeated = true;
      break;
    }
    if (repeated || (merged && Find(*key))) continue;
    fields_.push_back({*key, item.first.Mark(), item.second, merged});
  }
  for (const YAML::Node& merge : merges)
    if (merge.IsMap()) Collect(merge, true, depth + 1);
}

YamlMap::Field* YamlMap::Find(const std::string& key) {
  for (Field& field : fields_)
    if (field.key == key) return &field;
  return nullptr;
}

std::string YamlMap::Where(const std::string& key) const {
  for (const Field& field : fields_)
    if (field.key == key) return YamlWhere(file_, field.merged ? YAML::Mark::null_mark() : field.mark);
  return fmt::format("{}:{}", file_, line_);
}

void YamlMap::Fail(const std::string& key, const std::string& message, std::vector<std::string> notes) {
  diagnostics_.Error(Where(key), message, std::move(notes));
}

std::optional<YAML::Node> YamlMap::Get(const std::string& key) {
  known_.push_back(key);
  const Field* field = Find(key);
  if (!field || field->value.IsNull() || !field->value.IsDefined()) return std::nullopt;
  return field->value;
}

Text YamlMap::GetText(const std::string& key) {
  const auto value = Get(key);
  if (!value) return std::nullopt;
  const auto text = ScalarText(*value);
  if (!text) Fail(key, fmt::format("'{}' of {} must be a text", key, what_));
  return text;
}

Text YamlMap::GetWord(const std::string& key, const std::vector<std::string>& words) {
  const Text text = GetText(key);
  if (!text || std::find(words.begin(), words.end(), *text) != words.end()) return text;
  const auto near = Nearest(*text, words, 1);
  Fail(key, fmt::format("unknown {} '{}' of {}", key, *text, what_),
       {near.empty() ? "one of " + Join(words, ", ")
                     : fmt::format("did you mean '{}'? (one of {})", near[0], Join(words, ", "))});
  return std::nullopt;
}

std::optional<bool> YamlMap::GetBool(const std::string& key) {
  const Text text = GetText(key);
  if (!text) return std::nullopt;
  if (*text == "true" || *text == "True" || *text == "yes") return true;
  if (*text == "false" || *text == "False" || *text == "no") return false;
  Fail(key, fmt::format("'{}' of {} is '{}', and must be true or false", key, what_, *text));
  return std::nullopt;
}

std::optional<std::int64_t> YamlMap::GetNumber(const std::string& key, std::int64_t least,
                                               std::int64_t most) {
  const Text text = GetText(key);
  if (!text) return std::nullopt;
  std::int64_t n = 0;
  const auto [end, ec] = std::from_chars(text->data(), text->data() + text->size(), n);
  if (ec == std::errc{} && end == text->data() + text->size() && n >= least && n <= most) return n;
  Fail(key, fmt::format("'{}' of {} is '{}', and must be a whole number from {} to {}", key, what_, *text,
                        least, most));
  return std::nullopt;
}

std::optional<double> YamlMap::GetDecimal(const std::string& key) {
  const Text text = GetText(key);
  if (!text) return std::nullopt;
  double d = 0;
  const auto [end, ec] = std::from_chars(text->data(), text->data() + text->size(), d);
  if (ec == std::errc{} && end == text->data() + text->size() && d >= 0 && d < 1e12) return d;
  Fail(key, fmt::format("'{}' of {} is '{}', and must be a number of seconds", key, what_, *text));
  return std::nullopt;
}

std::vector<std::string> YamlMap::GetList(const std::string& key) {
  const auto value = Get(key);
  std::vector<std::string> out;
  if (!value) return out;
  if (const auto text = ScalarText(*value)) return {*text};
  if (!value->IsSequence()) {
    Fail(key, fmt::format("'{}' of {} must be a text or a list of texts", key, what_));
    return out;
  }
  for (const auto& item : *value) {
    if (const auto text = ScalarText(item))
      out.push_back(*text);
    else
      diagnostics_.Error(YamlWhere(file_, item.Mark()),
                         fmt::format("'{}' of {} must be a list of texts", key, what_));
  }
  return out;
}

Text YamlMap::GetDuration(const std::string& key) {
  const Text text = GetText(key);
  if (!text || ParseDuration(*text)) return text;
  Fail(key, fmt::format("'{}' of {} is '{}', which is no duration", key, what_, *text),
       {"write 15m, 2h, 28d, 6w, 3mo or 1y"});
  return std::nullopt;
}

Text YamlMap::GetZone(const std::string& key) {
  const Text text = GetText(key);
  if (!text || Zone::Find(*text)) return text;
  const std::vector<std::string> why = Split(Zone::WhyUnknown(*text), '\n');
  Fail(key, fmt::format("'{}' of {}: {}", key, what_, why[0]), {why[1].substr(2)});
  return std::nullopt;
}

Text YamlMap::GetDate(const std::string& key) {
  const Text text = GetText(key);
  if (!text) return text;
  const DateResult parsed = ParseDate(*text, Calendar());
  if (parsed.span) return text;
  Fail(key, fmt::format("'{}' of {}: {}", key, what_, parsed.error));
  return std::nullopt;
}

void YamlMap::Finish() {
  for (const Field& field : fields_) {
    if (std::find(known_.begin(), known_.end(), field.key) != known_.end()) continue;
    const auto near = Nearest(field.key, known_, 1);
    diagnostics_.Error(
        YamlWhere(file_, field.mark), fmt::format("unknown key '{}' in {}", field.key, what_),
        {near.empty() ? "known here: " + Join(known_, ", ") : fmt::format("did you mean '{}'?", near[0])});
  }
}

}  // namespace backreach
