// What nobody has said and a registry could say, what matters most first: how much of the graph each doubt
// makes wide.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/audit.hpp"
#include "analysis/suspicions.hpp"
#include "graph/lineage/lineage.hpp"

namespace backreach {

struct Doubt {
  enum class Kind {
    kGrain,       // how `dataset` is cut: `guess` if anything shows it
    kWhole,       // `edges` are read whole, since nobody said which days
    kRecognised,  // `edges` were read in code, and are planned with
    kSameDays,    // `edges` are taken as the same days, and nothing tells
    kExposure,    // `dataset` (a live dashboard) or `copy` may hold data of its own
    kWayOut,      // `finding`: rows leave, and no entry says so
    kJob          // `job`: nobody knows what it reads and writes
  };
  Kind kind;
  DatasetId dataset;  // of an edge its reader
  std::vector<EdgeId> edges;
  std::optional<GrainGuess> guess;
  CopyId copy;
  JobId job;
  AuditFinding finding;
  // What lies below, and is rebuilt whole or looked at for it: stored datasets (itself among them), cells of
  // those that have a grain and a beginning, copies.
  std::int64_t tables = 0, cells = 0, copies = 0;
};

// `below`: only what a correction of this dataset can reach. Sorted by what lies below.
std::vector<Doubt> FindDoubts(const LineageGraph& graph, Instant now, std::optional<DatasetId> below = {});

}  // namespace backreach
