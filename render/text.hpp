// Answers for people in a terminal.
#pragma once

#include <string>

#include "analysis/audit.hpp"
#include "analysis/plan.hpp"
#include "graph/lineage.hpp"

namespace backreach {

struct TextStyle {
  int width = 80;
  bool colour = false;
  bool all = false;  // every step of a long plan
};

std::string PlanText(const LineageGraph& graph, const Plan& plan, const TextStyle& style);
std::string AuditText(const LineageGraph& graph, const Audit& audit, const TextStyle& style);

// Names as short as they can be without confusion among all datasets of a graph.
class ShortNames {
 public:
  explicit ShortNames(const LineageGraph& graph);
  std::string operator()(DatasetId id) const;
  std::string List(const std::vector<DatasetId>& ids, std::size_t most = 5) const;

 private:
  const LineageGraph& graph_;
  std::vector<std::string> names_;
};

}  // namespace backreach
