// The audit: ways out of the platform that nobody wrote down, and registry entries that no longer hold; with
// what was looked at, since nothing found is worth no more than that.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/plan/request.hpp"
#include "graph/lineage/lineage.hpp"

namespace backreach {

struct AuditFinding {
  std::string code;  // undocumented-extract, probable-extract, frozen-copy, never-seen, unknown-dataset, ...
  std::string dataset, destination;
  Text user, first_seen, last_seen;
  std::int64_t times = 0;
  std::vector<std::string> statement_ids;
  HazardSeverity severity = HazardSeverity::kWarning;
  std::string message, remedy;
  Seen seen;
  Text client;                      // what the statements came through
  std::vector<std::string> behind;  // dashboards and jobs that comments, tags and labels name
  std::string copy;                 // the registry's entry, of a finding about one
  std::int64_t rows = -1;           // of the dataset, where known
  std::int64_t upstream = 0;        // datasets whose correction reaches it
  bool ends_accepted = false;       // it was accepted until a day that is over
};

struct AuditDocumented {
  std::string copy, dataset, destination;
  Text user;
  std::int64_t times = 0;
  std::vector<std::string> statement_ids;
  Text first_seen, last_seen;
};

struct AuditReader {
  std::string dataset;
  Text user, client, first_seen, last_seen;
  std::int64_t times = 0;
  bool whole_rows = false;  // at least once it took rows of the whole table
};

struct AuditNotUnderstood {
  std::string id, file, place, reason;
  bool possible_extract = false;
};

struct AuditAccepted {
  AuditFinding finding;
  std::string reason;
  Text until;
};

struct AuditExposure {
  std::string id, dataset, kind;
};

struct Audit {
  std::vector<AuditFinding> findings;
  std::vector<AuditReader> readers;
  std::vector<AuditDocumented> documented;
  std::vector<AuditNotUnderstood> not_understood;
  std::vector<AuditAccepted> accepted;
  std::vector<AuditExposure> exposures;  // that hold copies, and that no registry describes
  std::size_t extracts_seen = 0, exposures_seen = 0, registry_copies = 0;
  std::map<std::string, std::int64_t> looked_at;  // statements, tasks, ...
  std::vector<std::string> not_looked_into;       // in words
};

// `now` decides what has expired.
Audit MakeAudit(const LineageGraph& graph, Instant now);
// Registry stanzas for what is undocumented, to paste.
std::string SuggestRegistry(const Audit& audit);

}  // namespace backreach
