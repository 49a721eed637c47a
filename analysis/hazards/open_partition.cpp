// Partitions that are still being filled.

#include <fmt/format.h>

#include "analysis/hazards/all.hpp"
#include "graph/base/words.hpp"

namespace backreach::hazards {

namespace {

void Find(const HazardContext& c, std::vector<Hazard>& out) {
  const auto& members = c.sweeper.region().members();
  for (std::size_t i = 0; i < members.size(); ++i) {
    const Dataset& d = c.graph[members[i]];
    const SpanSet& asked = c.open_asked[i];
    if (!asked.empty()) {
      out.push_back(MakeHazard(
          "open-partition", HazardSeverity::kBlocking, members[i], asked,
          fmt::format("{} of {} is still being filled, and was asked for", SpansText(d, asked), d.name),
          c.plan.request.include_open
              ? "stop its ordinary run first, or leave it out: without --include-open the range is trimmed"
              : "it is trimmed from the plan: run the ordinary run of that period afterwards, from the raw "
                "layer"));
    }
    const SpanSet rest = Difference(c.open[i], asked);
    if (rest.empty()) continue;
    out.push_back(MakeHazard(
        "open-partition", HazardSeverity::kWarning, members[i], rest,
        fmt::format("{} of {} is still being filled: its ordinary run reads the corrected rows by itself",
                    SpansText(d, rest), d.name),
        "see AFTERWARDS: what to run once the period is complete"));
  }
}

}  // namespace

HazardKind OpenPartition() {
  return {"open-partition",
          HazardSeverity::kBlocking,
          "a cell that the correction reaches is open: another writer is still filling it (blocking where "
          "the asked range itself reaches it, a warning elsewhere)",
          "a rebuild and the ordinary run would write the same cell; the plan leaves it to the ordinary run",
          "let the ordinary run of that period follow, from the raw layer (see AFTERWARDS); --include-open "
          "keeps it in",
          Find};
}

}  // namespace backreach::hazards
