// The two forms: `dagster-assets/1`, which an export script writes with whole mappings, and the answer of
// the GraphQL query for the asset graph, where a mapping is a class and an English sentence, offsets inside
// several dimensions are lost, and a null may be any of four mappings.

#include <fmt/format.h>

#include <charconv>

#include "graph/base/words.hpp"
#include "ingest/dagster/assets.hpp"
#include "ingest/dagster/cuts.hpp"

namespace backreach::dagster {

const Json* Find(const Json& j, const char* key) {
  if (!j.is_object()) return nullptr;
  const auto it = j.find(key);
  return it == j.end() || it->is_null() ? nullptr : &*it;
}

Text TextAt(const Json& j, const char* key) {
  const Json* found = Find(j, key);
  return found && found->is_string() ? Text(found->get<std::string>()) : Text();
}

std::vector<std::string> TextsAt(const Json& j, const char* key) {
  std::vector<std::string> out;
  const Json* found = Find(j, key);
  if (!found) return out;
  if (found->is_string()) return {found->get<std::string>()};
  if (found->is_array())
    for (const Json& item : *found)
      if (item.is_string()) out.push_back(item.get<std::string>());
  return out;
}

std::int64_t NumberAt(const Json& j, const char* key, std::int64_t otherwise) {
  const Json* found = Find(j, key);
  if (!found || !found->is_number()) return otherwise;
  const double value = found->get<double>();
  return std::abs(value) < 1e9 ? static_cast<std::int64_t>(value) : otherwise;
}

std::string NameOf(const std::vector<std::string>& key) { return Join(key, "/"); }

namespace {

bool True(const Json& j, const char* key, bool otherwise = false) {
  const Json* found = Find(j, key);
  return found && found->is_boolean() ? found->get<bool>() : otherwise;
}

const Json& ListAt(const Json& j, const char* key) {
  static const Json none = Json::array();
  const Json* found = Find(j, key);
  return found && found->is_array() ? *found : none;
}

// ---- dagster-assets/1 ----

std::optional<Dimension> ExportedDimension(const Json& j, const std::string& name) {
  Dimension out;
  out.name = name;
  const std::string kind = TextAt(j, "kind").value_or("");
  if (kind == "time") {
    out.kind = Dimension::Kind::kTime;
    out.cron = TextAt(j, "cron").value_or("");
    out.timezone = TextAt(j, "timezone").value_or("UTC");
    out.format = TextAt(j, "fmt").value_or("");
    out.start = TextAt(j, "start");
    out.end = TextAt(j, "end");
    out.end_offset = NumberAt(j, "end_offset", 0);
    out.exclusions = TextsAt(j, "exclusions");
    if (const Json* exclusions = Find(j, "exclusions");
        exclusions && out.exclusions.empty() && !exclusions->empty())
      out.exclusions.push_back(exclusions->dump());  // moments
  } else if (kind == "static" || kind == "dynamic") {
    out.kind = kind == "static" ? Dimension::Kind::kStatic : Dimension::Kind::kDynamic;
    out.keys = TextsAt(j, "keys");
    if (name.empty()) out.name = TextAt(j, "name").value_or("");
  } else {
    return std::nullopt;
  }
  return out;
}

std::vector<Dimension> ExportedDimensions(const Json* j) {
  std::vector<Dimension> out;
  if (!j) return out;
  if (TextAt(*j, "kind") == "multi") {
    if (const Json* dimensions = Find(*j, "dimensions"); dimensions && dimensions->is_object())
      for (const auto& item : dimensions->items())
        if (auto one = ExportedDimension(item.value(), item.key())) out.push_back(std::move(*one));
  } else if (auto one = ExportedDimension(*j, "")) {
    out.push_back(std::move(*one));
  } else {
    // Partitions of a class of somebody's own: cut, and nobody here knows how.
    Dimension unknown;
    unknown.kind = Dimension::Kind::kTime;
    unknown.cron = TextAt(*j, "class").value_or(TextAt(*j, "kind").value_or("?"));
    unknown.timezone = "UTC";
    out.push_back(std::move(unknown));
  }
  return out;
}

Mapping ExportedMapping(const Json* j, bool inner) {
  Mapping out;
  if (!j) return out;
  using Kind = Mapping::Kind;
  static const std::map<std::string, Kind> kinds = {{"time_window", Kind::kTimeWindow},
                                                    {"identity", Kind::kIdentity},
                                                    {"all", Kind::kAll},
                                                    {"last", Kind::kLast},
                                                    {"specific", Kind::kSpecific},
                                                    {"static", Kind::kStatic},
                                                    {"multi_to_single", Kind::kMultiToSingle},
                                                    {"multi", Kind::kMulti}};
  const auto kind = kinds.find(TextAt(*j, "kind").value_or(""));
  out.kind =
      kind == kinds.end() || (inner && kind->second >= Kind::kMultiToSingle) ? Kind::kOther : kind->second;
  out.start_offset = NumberAt(*j, "start_offset", 0);
  out.end_offset = NumberAt(*j, "end_offset", 0);
  out.keys = TextsAt(*j, "keys");
  out.dimension = TextAt(*j, "dimension");
  out.description = TextAt(*j, "class").value_or(TextAt(*j, "kind").value_or("?"));
  if (const Json* by = Find(*j, "downstream_by_upstream"); by && by->is_object())
    for (const auto& item : by->items()) out.by_upstream[item.key()] = TextsAt(*by, item.key().c_str());
  if (out.kind == Kind::kMulti)
    if (const Json* dimensions = Find(*j, "dimensions"); dimensions && dimensions->is_object())
      for (const auto& item : dimensions->items())
        if (const Text to = TextAt(item.value(), "to"))
          out.dimensions[item.key()] = {*to, ExportedMapping(Find(item.value(), "mapping"), true)};
  return out;
}

// ---- GraphQL ----

// `Upstream dimension 'date' mapped to downstream dimension 'week' using TimeWindowPartitionMapping.`
Mapping::Kind KindOfClass(const std::string& name) {
  using Kind = Mapping::Kind;
  static const std::map<std::string, Kind> kinds = {
      {"TimeWindowPartitionMapping", Kind::kTimeWindow},
      {"IdentityPartitionMapping", Kind::kIdentity},
      {"AllPartitionMapping", Kind::kAll},
      {"LastPartitionMapping", Kind::kLast},
      {"SpecificPartitionsPartitionMapping", Kind::kSpecific},
      {"StaticPartitionMapping", Kind::kStatic},
      {"MultiToSingleDimensionPartitionMapping", Kind::kMultiToSingle},
      {"MultiPartitionMapping", Kind::kMulti}};
  const auto it = kinds.find(name);
  return it == kinds.end() ? Kind::kOther : it->second;
}

// The text between two marks, from `at` on, which moves behind it.
Text Between(const std::string& text, const char* before, const char* after, std::size_t& at) {
  const auto begin = text.find(before, at);
  if (begin == std::string::npos) return std::nullopt;
  const auto from = begin + std::string_view(before).size(), end = text.find(after, from);
  if (end == std::string::npos) return std::nullopt;
  at = end;
  return text.substr(from, end - from);
}

Mapping AnsweredMapping(const Json& j) {
  Mapping out;
  const std::string name = TextAt(j, "className").value_or("?"), text = TextAt(j, "description").value_or("");
  out.kind = KindOfClass(name);
  out.description = name;
  out.keys_told = false;
  if (out.kind == Mapping::Kind::kTimeWindow) {
    std::size_t at = 0;
    const Text start = Between(text, "offsetted by ", " and ", at);
    const Text end = start ? Between(text, " and ", " partition", at) : Text();
    const auto number = [&](const Text& t, std::int64_t& n) {
      const auto [stop, ec] = std::from_chars(t->data(), t->data() + t->size(), n);
      return ec == std::errc{} && stop == t->data() + t->size() && std::abs(n) < 1'000'000;
    };
    // A sentence of another wording that speaks of offsets tells none.
    if (start || text.find("offset") != std::string::npos)
      out.offsets_told = start && end && number(start, out.start_offset) && number(end, out.end_offset);
  }
  std::size_t at = 0;
  while (out.kind == Mapping::Kind::kMulti) {
    const Text from = Between(text, "pstream dimension '", "'", at);
    const Text to = from ? Between(text, "downstream dimension '", "'", at) : Text();
    const Text by = to ? Between(text, "using ", ".", at) : Text();
    if (!by) break;
    Mapping one;
    one.kind = KindOfClass(*by);
    if (one.kind >= Mapping::Kind::kMultiToSingle) one.kind = Mapping::Kind::kOther;
    one.description = *by;
    one.offsets_told = one.keys_told = false;
    out.dimensions[*from] = {*to, one};
  }
  return out;
}

std::vector<Dimension> AnsweredDimensions(const Json& node) {
  std::vector<Dimension> out;
  const Json* definition = Find(node, "partitionDefinition");
  if (!definition) return out;
  std::map<std::string, std::vector<std::string>> keys;
  for (const Json& one : ListAt(node, "partitionKeysByDimension"))
    keys[TextAt(one, "name").value_or("default")] = TextsAt(one, "partitionKeys");
  const bool multi = TextAt(*definition, "type") == "MULTIPARTITIONED";
  for (const Json& one : ListAt(*definition, "dimensionTypes")) {
    Dimension d;
    const std::string name = TextAt(one, "name").value_or("default"), type = TextAt(one, "type").value_or("");
    if (multi) d.name = name;
    d.keys = keys.count(name) ? keys[name]
             : multi          ? std::vector<std::string>()
                              : TextsAt(node, "partitionKeys");
    if (type == "TIME_WINDOW") {
      d.kind = Dimension::Kind::kTime;
      const std::string own = TextAt(one, "description").value_or("");
      ReadDescription(multi || !own.empty() ? own : TextAt(*definition, "description").value_or(""), d.keys,
                      d);
      if (const Text format = TextAt(*definition, "fmt")) d.format = *format;
      d.keys.clear();
    } else if (type == "DYNAMIC") {
      d.kind = Dimension::Kind::kDynamic;
      if (!multi) d.name = TextAt(one, "dynamicPartitionsDefinitionName").value_or("");
    }
    out.push_back(std::move(d));
  }
  return out;
}

Text CellsPerRun(const Json* policy) {
  if (!policy) return std::nullopt;
  const char* key =
      policy->contains("max_partitions_per_run") ? "max_partitions_per_run" : "maxPartitionsPerRun";
  const Json* most = Find(*policy, key);
  return most && most->is_number() ? Text(std::to_string(NumberAt(*policy, key, 1))) : Text("all");
}

std::vector<std::string> AnsweredOwners(const Json& node) {
  std::vector<std::string> out;
  for (const Json& owner : ListAt(node, "owners")) {
    if (const Text team = TextAt(owner, "team"))
      out.push_back("team:" + *team);
    else if (const Text email = TextAt(owner, "email"))
      out.push_back(*email);
  }
  return out;
}

Text AnsweredCondition(const Json& node) {
  const Json* condition = Find(node, "automationCondition");
  if (!condition) return std::nullopt;
  if (const Text label = TextAt(*condition, "label")) return label;
  return Text(Join(TextsAt(*condition, "expandedLabel"), " "));
}

const Json* NodesOf(const Json& document) {
  const Json* data = Find(document, "data");
  const Json* nodes = Find(data ? *data : document, "assetNodes");
  return nodes && nodes->is_array() ? nodes : nullptr;
}

}  // namespace

bool IsExport(const Json& document) {
  return StartsWith(TextAt(document, "form").value_or(""), "dagster-assets/");
}

bool IsAnswer(const Json& document) { return NodesOf(document) != nullptr; }

std::vector<Asset> ReadExport(const Json& document, const std::string& file, const std::string& path,
                              Diagnostics& diagnostics) {
  std::vector<Asset> out;
  if (TextAt(document, "form") != "dagster-assets/1")
    diagnostics.Warning(path, fmt::format("form '{}' is newer than dagster-assets/1: read as that",
                                          *TextAt(document, "form")));
  std::size_t n = 0;
  for (const Json& j : ListAt(document, "assets")) {
    const std::string place = fmt::format("/assets/{}", n++);
    Asset asset;
    asset.key = TextsAt(j, "key");
    if (asset.key.empty()) {
      diagnostics.Warning(path + ": " + place, "an asset without a key: left out");
      continue;
    }
    asset.location = TextAt(document, "location").value_or("");
    asset.at = {file, place};
    asset.description = TextAt(j, "description");
    asset.group = TextAt(j, "group");
    asset.op = TextAt(j, "op");
    asset.condition = TextAt(j, "automation_condition");
    asset.owners = TextsAt(j, "owners");
    asset.pools = TextsAt(j, "pools");
    asset.executable = True(j, "executable", true);
    asset.cells_per_run = CellsPerRun(Find(j, "backfill_policy"));
    asset.dimensions = ExportedDimensions(Find(j, "partitions"));
    for (const Json& key : ListAt(j, "written_together")) {
      const std::vector<std::string> parts = TextsAt(Json{{"key", key}}, "key");
      if (!parts.empty()) asset.together.push_back(parts);
    }
    for (const Json& dep : ListAt(j, "deps")) {
      Dependency d;
      d.key = TextsAt(dep, "key");
      d.mapping = ExportedMapping(Find(dep, "mapping"), false);
      d.inferred = True(dep, "inferred");
      if (!d.key.empty()) asset.dependencies.push_back(std::move(d));
    }
    out.push_back(std::move(asset));
  }
  return out;
}

std::vector<Asset> ReadAnswer(const Json& document, const std::string& file, const std::string& path,
                              Diagnostics& diagnostics) {
  std::vector<Asset> out;
  std::map<std::string, std::vector<std::size_t>> by_op;  // of a multi-asset
  std::size_t n = 0;
  for (const Json& node : *NodesOf(document)) {
    const std::string place = fmt::format("/data/assetNodes/{}", n++);
    Asset asset;
    const Json* key = Find(node, "assetKey");
    if (key) asset.key = TextsAt(*key, "path");
    if (asset.key.empty()) {
      diagnostics.Warning(path + ": " + place, "an asset without a key: left out");
      continue;
    }
    if (const Json* repository = Find(node, "repository"))
      if (const Json* location = Find(*repository, "location"))
        asset.location = TextAt(*location, "name").value_or("");
    asset.at = {file, place};
    asset.description = TextAt(node, "description");
    asset.group = TextAt(node, "groupName");
    asset.op = TextAt(node, "graphName");
    if (!asset.op) asset.op = TextAt(node, "opName");
    if (const auto ops = TextsAt(node, "opNames"); !asset.op && !ops.empty()) asset.op = ops[0];
    asset.condition = AnsweredCondition(node);
    asset.owners = AnsweredOwners(node);
    asset.pools = TextsAt(node, "pools");
    asset.executable = True(node, "isMaterializable", True(node, "isExecutable", true));
    asset.stub = True(node, "isAutoCreatedStub");
    asset.cells_per_run = CellsPerRun(Find(node, "backfillPolicy"));
    asset.dimensions = AnsweredDimensions(node);
    for (const Json& dep : ListAt(node, "dependencies")) {
      Dependency d;
      const Json* upstream = Find(dep, "asset");
      const Json* its_key = upstream ? Find(*upstream, "assetKey") : nullptr;
      if (its_key) d.key = TextsAt(*its_key, "path");
      const Json* mapping = Find(dep, "partitionMapping");
      d.told = mapping != nullptr;
      if (mapping) d.mapping = AnsweredMapping(*mapping);
      if (!d.key.empty()) asset.dependencies.push_back(std::move(d));
    }
    if (asset.op && asset.executable && !asset.stub)
      by_op[asset.location + "\n" + *asset.op].push_back(out.size());
    out.push_back(std::move(asset));
  }
  for (const auto& [op, members] : by_op)
    if (members.size() > 1)
      for (const std::size_t a : members)
        for (const std::size_t b : members) out[a].together.push_back(out[b].key);
  return out;
}

}  // namespace backreach::dagster
