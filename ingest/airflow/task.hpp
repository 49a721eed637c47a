// A task of a serialized DAG, as its importer looks at it.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>

#include "graph/facts/facts.hpp"

namespace backreach {

using Json = nlohmann::json;

// {"__type": ..., "__var": {...}} without its wrapping.
inline const Json& Unwrap(const Json& j) { return j.is_object() && j.contains("__var") ? j["__var"] : j; }
inline std::string TypeOf(const Json& j) { return j.is_object() ? j.value("__type", "") : ""; }
inline const Json* Find(const Json& j, std::initializer_list<const char*> keys) {
  if (!j.is_object()) return nullptr;
  for (const char* key : keys)
    if (const auto it = j.find(key); it != j.end() && !it->is_null()) return &*it;
  return nullptr;
}
inline Text TextAt(const Json& j, std::initializer_list<const char*> keys) {
  const Json* found = Find(j, keys);
  return found && found->is_string() ? Text(found->get<std::string>()) : Text();
}

// Fields of the task itself, of the constant arguments of a mapped one, and of the file's defaults.
struct TaskView {
  const Json* own;
  const Json* partial;
  const Json* defaults;
  const Json* Get(std::initializer_list<const char*> keys) const {
    for (const Json* j : {own, partial, defaults})
      if (j)
        if (const Json* found = Find(*j, keys)) return found;
    return nullptr;
  }
  Text GetText(std::initializer_list<const char*> keys) const {
    const Json* found = Get(keys);
    return found && found->is_string() ? Text(found->get<std::string>()) : Text();
  }
};

}  // namespace backreach
