// dbt's semantic layer, as far as it says which models a query reads: a saved query that groups or filters by
// another model's dimension depends on that model, which its depends_on does not say.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ingest/read/json_fields.hpp"

namespace backreach {

class DbtSemantics {
 public:
  // A member of semantic_models; of metrics or saved_queries.
  void Model(const std::string& id, const json::Fields& node);
  void Query(const std::string& section, const std::string& id, const json::Fields& node);

  // What the queries read beside their depends_on is added to `passages` (id -> what it depends on); a name
  // that no semantic model has is left over.
  struct Unplaced {
    std::string query, name;
    bool saved = false;  // of a saved query
  };
  std::vector<Unplaced> Resolve(std::unordered_map<std::string, std::vector<std::string>>& passages) const;

 private:
  struct Semantic {
    std::string id;
    std::map<std::string, bool> entities;  // true: it is the entity's own model
    std::set<std::string> dimensions;
  };
  struct Use {
    std::string query;
    std::vector<std::string> path;  // entities, then the name
    bool entity = false;            // the name is an entity's
    bool saved = false;
  };
  void Calls(std::string_view text, const std::string& id, bool saved);
  bool Place(const Use& use, const std::set<std::string>& below, std::set<std::string>& out) const;
  std::vector<Semantic> models_;
  std::map<std::string, std::string> metrics_;  // name -> id
  std::vector<Use> uses_;
  std::vector<std::pair<std::string, std::string>> metric_uses_;  // query, metric's name
};

}  // namespace backreach
