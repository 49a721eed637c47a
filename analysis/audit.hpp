// The audit: ways out of the platform that nobody wrote down, and registry entries that no longer hold.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/plan/request.hpp"
#include "graph/lineage/lineage.hpp"

namespace backreach {

struct AuditFinding {
  std::string code;  // undocumented-extract, frozen-copy, never-seen, unknown-dataset, no-owner, ...
  std::string dataset, destination;
  Text user, first_seen, last_seen;
  std::int64_t times = 0;
  std::vector<std::string> statement_ids;
  HazardSeverity severity = HazardSeverity::kWarning;
  std::string message, remedy;
  Seen seen;
};

struct AuditDocumented {
  std::string copy, dataset, destination;
  Text user;
  std::int64_t times = 0;
  std::vector<std::string> statement_ids;
};

struct AuditNotUnderstood {
  std::string id, file, place, reason;
  bool possible_extract = false;
};

struct Audit {
  std::vector<AuditFinding> findings;
  std::vector<AuditDocumented> documented;
  std::vector<AuditNotUnderstood> not_understood;
  std::size_t extracts_seen = 0, exposures = 0, registry_copies = 0;
};

Audit MakeAudit(const LineageGraph& graph);
// Registry stanzas for what is undocumented, to paste.
std::string SuggestRegistry(const Audit& audit);

}  // namespace backreach
