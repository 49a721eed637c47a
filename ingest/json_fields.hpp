// Small readers over simdjson's DOM: absent, null and of another type all count as "not there".
#pragma once

#include <simdjson.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/facts.hpp"

namespace backreach::json {

using Element = simdjson::dom::element;

// The fields of one object, found once: a node is asked for dozens of them.
class Fields {
 public:
  Fields() = default;
  explicit Fields(const Element& e) {
    simdjson::dom::object object;
    if (e.get(object)) return;
    fields_.reserve(48);
    for (const auto& field : object) fields_.emplace_back(field.key, field.value);
  }
  const Element* Find(std::string_view key) const {
    for (const auto& [name, value] : fields_)
      if (name == key) return &value;
    return nullptr;
  }

 private:
  std::vector<std::pair<std::string_view, Element>> fields_;
};

inline bool Child(const Element& e, std::string_view key, Element& out) {
  return e.is_object() && !e[key].get(out) && !out.is_null();
}
inline bool Child(const Fields& e, std::string_view key, Element& out) {
  const Element* found = e.Find(key);
  if (!found || found->is_null()) return false;
  out = *found;
  return true;
}

template <typename Object>
std::string_view Str(const Object& e, std::string_view key) {
  Element child;
  std::string_view s;
  if (!Child(e, key, child) || child.get(s)) return {};
  return s;
}
template <typename Object>
Text OptStr(const Object& e, std::string_view key) {
  const std::string_view s = Str(e, key);
  return s.empty() ? Text() : Text(s);
}
template <typename Object>
std::optional<bool> Bool(const Object& e, std::string_view key) {
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
std::vector<std::string> Strings(const Object& e, std::string_view key) {
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
