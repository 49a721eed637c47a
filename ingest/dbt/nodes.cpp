// What changes are told by is kept as a digest: only whether two differ is ever asked.

#include "ingest/dbt/nodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "graph/base/digest.hpp"
#include "graph/base/words.hpp"

namespace backreach {

namespace {

using json::Child;
using json::Element;
using json::Key;
using json::Str;
using Field = NodePacker::Field;

// A JSON value as bytes: equal values give equal bytes, and only they. How deep it goes is bounded by the
// parser.
void Append(const Element& e, ByteWriter& out) {
  switch (e.type()) {
    case simdjson::dom::element_type::OBJECT:
      out.Byte('{');
      for (const auto& field : simdjson::dom::object(e))
        out.Byte(':'), out.Text(field.key), Append(field.value, out);
      out.Byte('}');
      break;
    case simdjson::dom::element_type::ARRAY:
      out.Byte('[');
      for (const Element item : simdjson::dom::array(e)) Append(item, out);
      out.Byte(']');
      break;
    case simdjson::dom::element_type::STRING:
      out.Byte('"');
      out.Text(std::string_view(e));
      break;
    case simdjson::dom::element_type::INT64: {
      const std::int64_t n(e);
      out.Byte('i'), out.Raw(&n, sizeof n);
      break;
    }
    case simdjson::dom::element_type::UINT64: {
      const std::uint64_t n(e);
      out.Byte('u'), out.Raw(&n, sizeof n);
      break;
    }
    case simdjson::dom::element_type::DOUBLE: {
      const double d(e);
      out.Byte('d'), out.Raw(&d, sizeof d);
      break;
    }
    case simdjson::dom::element_type::BOOL: out.Byte(bool(e) ? 't' : 'f'); break;
    case simdjson::dom::element_type::NULL_VALUE: out.Byte('n'); break;
  }
}

// Where the relation lies, as it was configured: what a target makes of it is no change.
bool Places(std::string_view key) { return key == "alias" || key == "schema" || key == "database"; }
// All that dbt compares of a test's config.
bool Judges(std::string_view key) {
  for (const char* name : {"severity", "where", "limit", "fail_calc", "warn_if", "error_if", "store_failures",
                           "store_failures_as"})
    if (key == name) return true;
  return false;
}
// What dbt compares of a config: not where the relation lies, nor what only sorts it.
bool Shapes(std::string_view key) { return !Places(key) && key != "tags" && key != "group"; }

std::string ComparedConfig(const Element& e, bool (*compares)(std::string_view), ByteWriter& bytes) {
  simdjson::dom::object fields;
  if (e.get(fields) || fields.size() == 0) return "";
  std::vector<std::pair<std::string_view, Element>> compared;
  for (const auto& field : fields)
    if (compares(field.key) && !(field.value.is_null() && Places(field.key)))
      compared.emplace_back(field.key, field.value);
  if (compared.empty()) return "";
  std::stable_sort(compared.begin(), compared.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  bytes.Clear();
  for (const auto& [key, value] : compared) bytes.Text(key), Append(value, bytes);
  return ChangeDigest(bytes.bytes());
}

// Descriptions count where they are written to the database.
void Described(const json::Fields& e, const json::Fields& config, NodePacker& out) {
  Element persist, columns;
  if (!Child(config, "persist_docs", persist)) return;
  const bool relation = json::Bool(persist, "relation").value_or(false),
             column = json::Bool(persist, "columns").value_or(false);
  if (!relation && !column) return;
  std::string text;
  if (relation) text += Str(e, "description");
  simdjson::dom::object fields;
  if (column && Child(e, "columns", columns) && !columns.get(fields))
    for (const auto& field : fields) {
      text += fmt::format("\n{}: ", field.key);
      text += Str(field.value, "description");
    }
  out.PutMore("described", ChangeDigest(text));
}

// Texts and booleans; a name with a dot is a key inside a mapping. Numbers are left out, since dbt compares
// config values as text and numbers never match.
void Flatten(const Element& e, const std::string& prefix, NodePacker& out) {
  simdjson::dom::object fields;
  if (e.get(fields)) return;
  std::string name;
  for (const auto& field : fields) {
    simdjson::dom::array list;
    std::string_view s;
    bool b;
    if (field.value.is_null()) continue;
    name.assign(prefix).append(field.key);
    if (!field.value.get(s)) {
      out.PutConfig(name, s);
    } else if (!field.value.get(b)) {
      out.PutConfig(name, b ? "true" : "false");
    } else if (!field.value.get(list)) {
      out.PutConfigName(name);
      for (const Element item : list)
        if (!item.get(s)) out.PutConfig(name, s);
    } else if (field.value.is_object() && name.size() < kLongestConfigName) {
      Flatten(field.value, name + ".", out);
    }
  }
}

// A criterion as it is written on the command line.
std::string CriterionOf(const Element& e, std::string_view method, const Element& value) {
  const auto is = [&](Key key) { return json::Bool(e, key).value_or(false); };
  Element depth;
  const auto steps = [&](Key key) { return Child(e, key, depth) ? json::Scalar(depth) : std::string(); };
  std::string out = is("childrens_parents") ? "@" : "";
  if (is("parents")) out += steps("parents_depth") + "+";
  out.append(method).append(":").append(json::Scalar(value));
  if (is("children")) out += "+" + steps("children_depth");
  return out;
}

// A definition of selectors.yml, as the manifest has it, in NodeFact's form.
void Define(const Element& e, NodePacker& out) {
  const auto put = [&](const std::string& item) { out.Put(Field::kTag, item); };
  const auto leave_out = [&](const simdjson::dom::array& list) {
    for (const Element item : list) Define(item, out);
    put("|" + std::to_string(list.size()));
    put("-");
  };
  std::string_view text;
  simdjson::dom::object fields;
  simdjson::dom::array list;
  if (!e.get(text)) return put("=" + std::string(text));
  if (e.get(fields) || fields.size() == 0) return put("?");
  for (const char* join : {"union", "intersection"}) {
    Element items;
    if (e[join].get(items)) continue;
    if (items.get(list)) return put("?");
    std::size_t joined = 0;
    for (const Element item : list)
      if (Element left_out; !Child(item, "exclude", left_out) || simdjson::dom::object(item).size() != 1)
        Define(item, out), ++joined;
    put((*join == 'u' ? "|" : "&") + std::to_string(joined));
    for (const Element item : list) {
      Element left_out;
      simdjson::dom::array excluded;
      if (!Child(item, "exclude", left_out) || simdjson::dom::object(item).size() != 1) continue;
      left_out.get(excluded) ? put("?") : leave_out(excluded);
    }
    return;
  }
  Element value, left_out;
  const std::string_view method = Str(e, "method");
  if (method == "selector")
    put("$" + std::string(Str(e, "value")));
  else if (!method.empty() && Child(e, "value", value))
    put("=" + CriterionOf(e, method, value));
  else if (fields.size() == 1)  // `tag: nightly`
    put("=" + CriterionOf(e, (*fields.begin()).key, (*fields.begin()).value));
  else
    put("?");
  if (Child(e, "exclude", left_out)) left_out.get(list) ? put("?") : leave_out(list);
}

}  // namespace

std::string DbtNodeType(const std::string& id, const json::Fields& node) {
  const auto type = Str(node, "resource_type");
  return std::string(type.empty() ? std::string_view(id).substr(0, id.find('.')) : type);
}

std::string DbtNodeReader::DigestOf(const Element& e) {
  bytes_.Clear();
  Append(e, bytes_);
  return ChangeDigest(bytes_.bytes());
}

// The macros that something calls, with a blank between.
const std::string& DbtNodeReader::Macros(const json::Fields& depends) {
  text_.clear();
  Element list;
  if (Child(depends, "macros", list))
    json::ForStrings(list, [&](std::string_view s) {
      if (!text_.empty()) text_ += ' ';
      text_ += s;
    });
  return text_;
}

void DbtNodeReader::Node(const std::string& id, const json::Fields& e, const json::Fields& config,
                         const Element* config_element) {
  const std::string type = DbtNodeType(id, e);
  if (type == "macro" || type == "doc" || type == "group" || type == "operation") return;
  NodePacker& out = packer_;
  out.Begin(id, type);
  out.Put(Field::kName, Str(e, "name"));
  out.Put(Field::kPackage, Str(e, "package_name"));
  out.Put(Field::kPath, Str(e, "original_file_path"));
  if (std::string_view path = Str(e, "patch_path"); !path.empty()) {
    if (const auto at = path.find("://"); at != std::string_view::npos) path.remove_prefix(at + 3);
    out.Put(Field::kPatchPath, path);
  }
  if (const auto name = Str(e, "source_name"); !name.empty()) out.Put(Field::kSourceName, name);
  Element child;
  if (Child(e, "fqn", child)) json::ForStrings(child, [&](std::string_view s) { out.Put(Field::kFqn, s); });
  tags_.clear();
  const auto tag = [&](std::string_view s) {
    if (tags_.insert(s).second) out.Put(Field::kTag, s);
  };
  if (Child(e, "tags", child)) json::ForStrings(child, tag);
  if (Child(config, "tags", child)) json::ForStrings(child, tag);
  std::string_view group = Str(config, "group"), access = Str(e, "access");
  if (group.empty()) group = Str(e, "group");
  if (access.empty()) access = Str(config, "access");
  if (!group.empty()) out.Put(Field::kGroup, group);
  if (!access.empty()) out.Put(Field::kAccess, access);
  if (Child(e, "version", child)) out.Put(Field::kVersion, json::Scalar(child));
  if (Child(e, "latest_version", child)) out.PutMore("latest_version", json::Scalar(child));
  if (Child(e, "depends_on", child)) {
    const json::Fields depends(child);
    if (Child(depends, "nodes", child))
      json::ForStrings(child, [&](std::string_view s) { out.Put(Field::kParent, s); });
    out.PutMore("macros", Macros(depends));
  }
  if (Child(e, "test_metadata", child)) {
    out.PutMore("test_name", Str(child, "name"));
    out.PutMore("test_type", "generic");
  } else if (type == "test") {
    out.PutMore("test_type", "singular");
  }
  if (type == "unit_test") out.PutMore("test_type", "unit");
  for (const Key key :
       {Key("alias"), Key("database"), Key("schema"), Key("identifier"), Key("type"), Key("label")})
    if (const auto value = Str(e, key); !value.empty()) out.PutMore(key.name, value);
  if (type == "seed" && Child(e, "checksum", child)) out.PutMore("checksum", Str(child, "checksum"));
  if (const auto root = Str(e, "root_path"); type == "seed" && !root.empty()) out.PutMore("root_path", root);
  for (const Key key : {Key("raw_code"), Key("raw_sql")})
    if (const auto text = Str(e, key); !text.empty()) out.PutMore("body", ChangeDigest(text));
  Described(e, config, out);
  Compared(type, e, config_element);
  if (!config_element) return;
  out.BeginConfig();
  Flatten(*config_element, "", out);
  out.EndConfig();
}

// What dbt compares of a node to tell whether it was modified, besides its body: each type has its own list
// (dbt-core's same_contents). The selector has to name the same keys.
void DbtNodeReader::Compared(const std::string& type, const json::Fields& e, const Element* config) {
  Element child;
  const bool test = type == "test" || type == "unit_test";
  if (Child(e, "unrendered_config", child)) {
    packer_.PutMore("unrendered_config", ComparedConfig(child, test ? Judges : Shapes, bytes_));
    packer_.PutMore("placed", ComparedConfig(child, Places, bytes_));
  }
  if (type == "model") {
    // Columns, types and constraints of an enforced contract are in its checksum.
    if (Child(e, "contract", child) && json::Bool(child, "enforced").value_or(false)) {
      Element sum;
      packer_.PutMore("contract", Child(child, "checksum", sum) ? json::Scalar(sum) : "enforced");
    }
    if (const auto date = Str(e, "deprecation_date"); !date.empty())
      packer_.PutMore("deprecation_date", date);
  }
  if (type == "unit_test" && Child(e, "checksum", child)) packer_.PutMore("checksum", json::Scalar(child));
  const auto digest = [&](std::initializer_list<Key> keys) {
    for (const Key key : keys)
      if (Child(e, key, child)) packer_.PutMore(key.name, DigestOf(child));
  };
  if (type == "function") digest({"arguments", "returns"});
  if (type == "source") digest({"freshness", "loaded_at_field", "quoting", "external"});
  if (type == "exposure") digest({"owner", "url", "maturity", "description"});
  if (type == "metric") digest({"description"});
  if (type == "semantic_model")
    digest({"model", "defaults", "entities", "dimensions", "measures", "primary_entity", "description"});
  if (type == "saved_query") {
    digest({"description"});
    Element query;
    if (Child(e, "query_params", query))
      for (const Key key : {Key("metrics"), Key("group_by"), Key("where")})
        if (Child(query, key, child)) packer_.PutMore(key.name, DigestOf(child));
    simdjson::dom::array exports;
    std::string text;
    if (Child(e, "exports", child) && !child.get(exports))
      for (const Element item : exports) {
        Element written;
        text += fmt::format("{}\n", Str(item, "name"));
        if (!Child(item, "unrendered_config", written)) continue;
        for (const Key key : {Key("export_as"), Key("schema"), Key("alias")})
          text += fmt::format("{}\t", Child(written, key, child) ? json::Scalar(child) : "");
      }
    if (!text.empty()) packer_.PutMore("exports", ChangeDigest(text));
  }
  if ((type == "semantic_model" || type == "saved_query") && config)
    packer_.PutMore("config", DigestOf(*config));
}

void DbtNodeReader::Disabled(const std::string& id) {
  for (const char* type : {"model.", "seed.", "snapshot.", "source."})
    if (StartsWith(id, type)) return packer_.Begin(id, "disabled");
}

void DbtNodeReader::Macro(const std::string& id, const Element& e) {
  packer_.Begin(id, "macro");
  packer_.PutMore("body", ChangeDigest(Str(e, "macro_sql")));
  Element depends;
  if (Child(e, "depends_on", depends)) packer_.PutMore("macros", Macros(json::Fields(depends)));
}

void DbtNodeReader::Project(const std::string& name) {
  packer_.Begin("project." + name, "project");
  packer_.Put(Field::kName, name);
}

void DbtNodeReader::Named(const std::string& name, const Element& e) {
  packer_.Begin("selector." + name, "selector");
  packer_.Put(Field::kName, name);
  if (json::Bool(e, "default").value_or(false)) packer_.PutMore("default", "true");
  Element definition;
  if (Child(e, "definition", definition))
    Define(definition, packer_);
  else
    packer_.Put(Field::kTag, "?");
}

}  // namespace backreach
