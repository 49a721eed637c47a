// Cells that read each other: no order makes them right in one pass.

#include "analysis/hazards/all.hpp"
#include "graph/base/words.hpp"

namespace backreach::hazards {

HazardKind Cycle() {
  return {"cycle",
          HazardSeverity::kBlocking,
          "datasets read each other of the same period",
          "no order of their steps is right",
          "find the edge that is not so, or that reads an earlier period, and declare it",
          nullptr};
}

}  // namespace backreach::hazards
