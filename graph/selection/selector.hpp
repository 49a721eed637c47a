// dbt's selection grammar with dbt's meaning, over the nodes of the dbt projects that are known.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "graph/facts/facts.hpp"

namespace backreach {

struct SelectorInput {
  std::vector<const NodeFact*> nodes;  // macros and named selectors among them
  std::vector<const NodeFact*> state;  // of an older manifest (--state); empty if none was given
  // Unique id -> status, of the run_results.json in the state's folder; null if there is none.
  const std::map<std::string, std::string>* results = nullptr;
  bool has_state = false;
  // Unique id -> when a source's newest row was loaded: by the freshness check that was ingested, and by the
  // sources.json in the state's folder (null if there is none).
  std::map<std::string, std::string> loaded;
  const std::map<std::string, std::string>* loaded_before = nullptr;
};

struct SelectorRequest {
  std::vector<std::string> select, exclude, resource_types, exclude_types;
  std::string named = {};  // of selectors.yml, instead of select and exclude; "" for none
};

struct SelectorResult {
  std::set<std::string> ids;
  std::vector<std::string> warnings;  // criteria that matched nothing
};

// Throws Error(kBadRequest) where dbt refuses: an unknown method, `@a+`, an unknown resource type, state or
// named selector.
SelectorResult Select(const SelectorInput& input, const SelectorRequest& request);

// The same for many requests over one project; the input has to live as long.
class NodeSelector {
 public:
  explicit NodeSelector(const SelectorInput& input);
  NodeSelector(NodeSelector&&) noexcept;
  ~NodeSelector();
  SelectorResult Choose(const SelectorRequest& request);

 private:
  std::unique_ptr<class Selector> selector_;
};

// True if the text can only be a selector: an operator, a method, a wildcard.
bool LooksLikeSelector(const std::string& text);

}  // namespace backreach
