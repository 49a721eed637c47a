// The nodes of a dbt project as its selectors see them, from a manifest's members.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "graph/selection/packed_nodes.hpp"
#include "ingest/read/json_fields.hpp"

namespace backreach {

// The type that a node says it has, or else the one that its id begins with.
std::string DbtNodeType(const std::string& id, const json::Fields& node);

class DbtNodeReader {
 public:
  // A member of nodes, sources, exposures, metrics, semantic_models, saved_queries, unit_tests, functions, or
  // of a section that is not known.
  void Node(const std::string& id, const json::Fields& node, const json::Fields& config,
            const json::Element* config_element);
  // A change of a macro is a change of what calls it.
  void Macro(const std::string& id, const json::Element& macro);
  // Of a model that is disabled only that it is (type `disabled`): no selector finds it.
  void Disabled(const std::string& id);
  // The project itself (type `project`), by the name that its manifest says.
  void Project(const std::string& name);
  // What selectors.yml gives a name to.
  void Named(const std::string& name, const json::Element& selector);
  PackedNodes Take() { return packer_.Take(); }

 private:
  void Compared(const std::string& type, const json::Fields& node, const json::Element* config);
  std::string DigestOf(const json::Element& e);
  const std::string& Macros(const json::Fields& depends);
  NodePacker packer_;
  ByteWriter bytes_;
  std::string text_;
  std::set<std::string_view> tags_;  // of the node at hand, each once
};

}  // namespace backreach
