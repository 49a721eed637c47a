// Small readers over simdjson's DOM: absent, null and of another type all count as "not there".
#pragma once

#include <simdjson.h>

#include <array>
#include <bitset>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/facts/facts.hpp"

namespace backreach::json {

using Element = simdjson::dom::element;

// The keys that anything asks for by name, each with a place of its own in Fields.
inline constexpr std::string_view kKeys[] = {"access",
                                             "adapter_type",
                                             "alias",
                                             "arguments",
                                             "attached_node",
                                             "auto_refresh",
                                             "backreach",
                                             "batch_size",
                                             "begin",
                                             "cache",
                                             "cached",
                                             "checksum",
                                             "children",
                                             "children_depth",
                                             "childrens_parents",
                                             "cluster_by",
                                             "column_list",
                                             "column_name",
                                             "column_names",
                                             "columns",
                                             "combination_of_columns",
                                             "compiled_code",
                                             "compiled_path",
                                             "compiled_sql",
                                             "concurrent_batches",
                                             "config",
                                             "constraints",
                                             "contract",
                                             "data_type",
                                             "database",
                                             "dbt_schema_version",
                                             "default",
                                             "defaults",
                                             "definition",
                                             "depends_on",
                                             "deprecation_date",
                                             "description",
                                             "destinations",
                                             "dimensions",
                                             "email",
                                             "enable_refresh",
                                             "enabled",
                                             "enforced",
                                             "entities",
                                             "error_if",
                                             "event_time",
                                             "exclude",
                                             "expect",
                                             "export_as",
                                             "exports",
                                             "external",
                                             "extract",
                                             "field",
                                             "filter",
                                             "fqn",
                                             "freshness",
                                             "full_refresh",
                                             "given",
                                             "granularity",
                                             "group",
                                             "group_by",
                                             "holds_extract",
                                             "identifier",
                                             "incremental_predicates",
                                             "incremental_strategy",
                                             "inserts_only",
                                             "kwargs",
                                             "label",
                                             "language",
                                             "latest_version",
                                             "limit",
                                             "liquid_clustered_by",
                                             "loaded_at_field",
                                             "macro_sql",
                                             "macros",
                                             "materialized",
                                             "maturity",
                                             "measures",
                                             "merge_exclude_columns",
                                             "merge_update_columns",
                                             "meta",
                                             "meta_of",
                                             "method",
                                             "metrics",
                                             "model",
                                             "name",
                                             "nodes",
                                             "on_schema_change",
                                             "order_by",
                                             "original_file_path",
                                             "root_path",
                                             "owner",
                                             "package_name",
                                             "parents",
                                             "parents_depth",
                                             "partition_by",
                                             "partitioned_by",
                                             "partitioning",
                                             "partitions",
                                             "patch_path",
                                             "path",
                                             "persist_docs",
                                             "post-hook",
                                             "post_hook",
                                             "pre-hook",
                                             "pre_hook",
                                             "predicates",
                                             "primary_entity",
                                             "project_name",
                                             "properties",
                                             "query_params",
                                             "quoting",
                                             "raw_code",
                                             "raw_sql",
                                             "refreshable",
                                             "relation",
                                             "relation_name",
                                             "resource_type",
                                             "returns",
                                             "schedule",
                                             "scheduler",
                                             "schema",
                                             "schema_name",
                                             "severity",
                                             "skip_matched_step",
                                             "sort",
                                             "source_name",
                                             "sql",
                                             "table_type",
                                             "tags",
                                             "taken",
                                             "target_lag",
                                             "test_metadata",
                                             "trained_on",
                                             "type",
                                             "type_params",
                                             "unique_id",
                                             "unique_key",
                                             "unrendered_config",
                                             "url",
                                             "value",
                                             "version",
                                             "where"};
inline constexpr int kKeyCount = static_cast<int>(std::size(kKeys));

// A perfect hash of the keys, found by the compiler: the table says which key can stand at a hash.
constexpr std::uint32_t KeyHash(std::string_view key, std::uint32_t factor) {
  const std::size_t n = key.size();
  const auto at = [&](std::size_t i) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(key[i]));
  };
  const std::uint32_t mixed = (at(0) | at(n / 2) << 8 | at(n - 1) << 16 | at(n * 3 / 8) << 24) ^
                              static_cast<std::uint32_t>(n) * 0x9E3779B1u;
  return (mixed * factor) >> 21;
}
struct KeyTable {
  std::uint32_t factor = 0;
  std::int16_t key[2048] = {};  // -1: none
};
consteval KeyTable MakeKeyTable() {
  KeyTable table;
  for (std::uint32_t factor = 0x85EBCA6Bu;; factor += 0x9E3779B2u) {
    table.factor = factor;
    for (std::int16_t& slot : table.key) slot = -1;
    bool clash = false;
    for (int i = 0; i < kKeyCount && !clash; ++i) {
      std::int16_t& slot = table.key[KeyHash(kKeys[i], factor)];
      clash = slot >= 0;
      slot = static_cast<std::int16_t>(i);
    }
    if (!clash) return table;
  }
}
inline constexpr KeyTable kKeyTable = MakeKeyTable();

// The number of a key; -1 if nobody asks for it.
constexpr int KeyNumber(std::string_view key) {
  if (key.empty()) return -1;
  const int i = kKeyTable.key[KeyHash(key, kKeyTable.factor)];
  return i >= 0 && kKeys[i] == key ? i : -1;
}

// A key as it is asked for; one that is missing from kKeys does not compile.
struct Key {
  std::string_view name;
  int number;
  template <std::size_t N>
  consteval Key(const char (&text)[N]) : name(text, N - 1), number(KeyNumber(name)) {
    if (number < 0) throw "this key is missing from kKeys";
  }
};

// The fields of one object, found once: a node is asked for dozens of them.
class Fields {
 public:
  Fields() = default;
  explicit Fields(const Element& e) {
    simdjson::dom::object object;
    if (e.get(object)) return;
    for (const auto& field : object) {
      const int i = KeyNumber(field.key);
      if (i < 0 || there_[static_cast<std::size_t>(i)]) continue;
      there_[static_cast<std::size_t>(i)] = true;
      values_[static_cast<std::size_t>(i)].value = field.value;
    }
  }
  const Element* Find(Key key) const {
    const auto i = static_cast<std::size_t>(key.number);
    return there_[i] ? &values_[i].value : nullptr;
  }

 private:
  union Slot {  // left alone until it has a value: a node has a quarter of all keys
    Slot() {}
    Element value;
  };
  std::bitset<kKeyCount> there_;
  std::array<Slot, kKeyCount> values_;
};

inline bool Child(const Element& e, Key key, Element& out) {
  return e.is_object() && !e[key.name].get(out) && !out.is_null();
}
inline bool Child(const Fields& e, Key key, Element& out) {
  const Element* found = e.Find(key);
  if (!found || found->is_null()) return false;
  out = *found;
  return true;
}

template <typename Object>
std::string_view Str(const Object& e, Key key) {
  Element child;
  std::string_view s;
  if (!Child(e, key, child) || child.get(s)) return {};
  return s;
}
template <typename Object>
Text OptStr(const Object& e, Key key) {
  const std::string_view s = Str(e, key);
  return s.empty() ? Text() : Text(s);
}
template <typename Object>
std::optional<bool> Bool(const Object& e, Key key) {
  Element child;
  bool b;
  if (!Child(e, key, child) || child.get(b)) return std::nullopt;
  return b;
}
// Calls f with each text of a text or a list of texts.
template <typename F>
void ForStrings(const Element& e, F f) {
  std::string_view s;
  simdjson::dom::array list;
  if (!e.get(s))
    f(s);
  else if (!e.get(list))
    for (const Element item : list)
      if (!item.get(s)) f(s);
}
inline std::vector<std::string> Strings(const Element& e) {
  std::vector<std::string> out;
  ForStrings(e, [&](std::string_view s) { out.emplace_back(s); });
  return out;
}
template <typename Object>
std::vector<std::string> Strings(const Object& e, Key key) {
  Element child;
  return Child(e, key, child) ? Strings(child) : std::vector<std::string>();
}
// A text, a boolean or a number as text.
inline std::string Scalar(const Element& e) {
  std::string_view s;
  if (!e.get(s)) return std::string(s);
  bool b;
  if (!e.get(b)) return b ? "true" : "false";
  return std::string(simdjson::minify(e));
}

}  // namespace backreach::json
