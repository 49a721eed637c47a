#include <fmt/format.h>

#include <algorithm>

#include "analysis/hazards/all.hpp"
#include "graph/words.hpp"

namespace backreach::hazards {

namespace {

void Find(const HazardContext& c, std::vector<Hazard>& out) {
  for (const Step& step : c.plan.steps) {
    for (const StepReads& read : step.reads) {
      const Dataset& source = c.graph[read.cells.dataset];
      if (!source.operational || read.cells.dataset == step.dataset) continue;
      const Dataset& d = c.graph[step.dataset];
      const std::string cells = step.partitions ? CountText(d, step.spans, step.whole) : "all of its cells";
      Hazard h = MakeHazard("source-reextract", HazardSeverity::kBlocking, step.dataset, step.whole ? SpanSet::All() : step.spans,
                            fmt::format("{} reads the production system {} for {}", d.name, source.name, cells),
                            fmt::format("read from one export (one scan where these would be {}), and ask {} first: a bulk read needs the owner's consent", cells, source.owner.empty() ? "its owner" : source.owner));
      h.evidence["system"] = {source.name};
      out.push_back(std::move(h));
    }
  }
}

}  // namespace

HazardKind SourceReextract() {
  return {"source-reextract", HazardSeverity::kBlocking,
          "a step reads a dataset with origin: operational",
          "the rebuild reads a production system at full width",
          "take one export to read from (one scan, where the cells would be many), with the consent of the owner of the system", Find};
}

}  // namespace backreach::hazards
