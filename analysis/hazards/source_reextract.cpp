// Sources that load anew from a system that has moved on.

#include <fmt/format.h>

#include <set>

#include "analysis/hazards/all.hpp"
#include "graph/base/words.hpp"

namespace backreach::hazards {

namespace {

void Find(const HazardContext& c, std::vector<Hazard>& out) {
  for (const Step& step : c.plan.steps) {
    for (const StepReads& read : step.reads) {
      const Dataset& source = c.graph[read.cells.dataset];
      if (!source.operational || read.cells.dataset == step.dataset) continue;
      const Dataset& d = c.graph[step.dataset];
      const std::string cells = step.partitions ? CountText(d, step.spans, step.whole) : "all of its cells";
      Hazard h =
          MakeHazard("source-reextract", HazardSeverity::kBlocking, step.dataset,
                     step.whole ? SpanSet::All() : step.spans,
                     fmt::format("{} reads the production system {} for {}", d.name, source.name, cells),
                     fmt::format("read from one export (one scan where these would be {}), and ask {} first: "
                                 "a bulk read needs the owner's consent",
                                 cells, source.owner.empty() ? "its owner" : source.owner));
      h.evidence["system"] = {source.name};
      out.push_back(std::move(h));
    }
  }
  // The input of these cells has expired, and the only place that may still have it is the production system.
  for (const HazardContext::Expiry& e : c.expiries) {
    const SpanSet cells = Intersection(e.cells, c.reached[c.sweeper.region().At(e.dataset)].cells);
    if (cells.empty()) continue;
    std::vector<DatasetId> systems, todo = {e.parent};
    std::set<DatasetId> seen;
    while (!todo.empty()) {
      const DatasetId id = todo.back();
      todo.pop_back();
      for (const EdgeId edge : c.graph.in(id)) {
        const DatasetId from = c.graph[edge].from;
        if (!seen.insert(from).second) continue;
        if (c.graph[from].operational)
          systems.push_back(from);
        else if (!c.graph[from].stores() || IsFinite(c.frame[from].kept_from))
          todo.push_back(from);
      }
    }
    if (systems.empty()) continue;
    const Dataset& d = c.graph[e.dataset];
    Hazard h = MakeHazard(
        "source-reextract", HazardSeverity::kBlocking, e.dataset, cells,
        fmt::format("what {} needs for {} only {} may still have: reading it again loads a production system",
                    d.name, SpansText(d, cells), NamesText(c.graph, systems)),
        "take one export to read from (one scan, where the cells would be many), with the consent of the "
        "system's owner");
    for (const DatasetId id : systems) h.evidence["system"].push_back(c.graph[id].name);
    out.push_back(std::move(h));
  }
}

}  // namespace

HazardKind SourceReextract() {
  return {"source-reextract",
          HazardSeverity::kBlocking,
          "a step reads a dataset with origin: operational",
          "the rebuild reads a production system at full width",
          "take one export to read from (one scan, where the cells would be many), with the consent of the "
          "owner of the system",
          Find};
}

}  // namespace backreach::hazards
