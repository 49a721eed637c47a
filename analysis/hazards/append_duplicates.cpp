// An append run again: the rows of the period are there twice.

#include <fmt/format.h>

#include <algorithm>

#include "analysis/hazards/all.hpp"
#include "graph/base/words.hpp"

namespace backreach::hazards {

namespace {

// Rows are taken only for keys that are not there yet: none of those that are can be inserted again.
bool TakesNewKeysOnly(const Dataset& d) {
  return std::any_of(d.findings.begin(), d.findings.end(), [&](const Finding& f) {
    const auto takes = f.fact.data.find("takes");
    return f.fact.code == "watermark-filter" && takes != f.fact.data.end() && takes->second == "new keys" &&
           !RangeInstead(d, f);
  });
}

// A view that adds what is inserted into what it reads: a rebuilt period of that is added again.
void Triggered(const HazardContext& c, const Written& w, std::vector<Hazard>& out) {
  const Dataset& d = c.graph[w.dataset];
  std::vector<DatasetId> rebuilt;
  for (const EdgeId e : c.graph.in(w.dataset))
    if (!c.graph[e].self() && !c.StepsOf(c.graph[e].from).empty()) rebuilt.push_back(c.graph[e].from);
  const std::string from = rebuilt.empty() ? "what it reads" : NamesText(c.graph, rebuilt);
  Hazard h = MakeHazard(
      "append-duplicates", HazardSeverity::kBlocking, w,
      fmt::format("what is inserted into {} again is added to {} again (an insert trigger), and what is "
                  "deleted there stays in it",
                  from, d.name),
      "detach it for the rebuild and fill it anew afterwards" + FullRefreshRemedy(c, w.dataset));
  h.evidence["why"] = {d.writes_why};
  out.push_back(std::move(h));
}

void Find(const HazardContext& c, std::vector<Hazard>& out) {
  for (const Written& w : WrittenCells(c)) {
    const Dataset& d = c.graph[w.dataset];
    if (d.writes != Writes::kAppend) continue;
    if (TakesNewKeysOnly(d)) {
      out.push_back(MakeHazard(
          "append-duplicates", HazardSeverity::kNote, w,
          fmt::format("{} appends, and takes only keys that it does not have yet: no row of it is doubled",
                      d.name),
          "nothing, as long as the filter by its own keys stays"));
      continue;
    }
    if (RefreshedBy(d) == "trigger") {
      Triggered(c, w, out);
      continue;
    }
    Hazard h = MakeHazard(
        "append-duplicates", HazardSeverity::kBlocking, w,
        fmt::format("{} would be there twice: {} appends{}", CountText(d, w.spans, w.whole), d.name,
                    d.writes_why.empty() ? "" : " (" + d.writes_why + ")"),
        (d.key.empty() ? "delete the cells first, or write by merge on a business key"
                       : fmt::format("write by merge on {}, or delete the cells first", Join(d.key, ", "))) +
            FullRefreshRemedy(c, w.dataset));
    if (!d.writes_why.empty()) h.evidence["why"] = {d.writes_why};
    out.push_back(std::move(h));
  }
}

}  // namespace

HazardKind AppendDuplicates() {
  return {"append-duplicates",
          HazardSeverity::kBlocking,
          "a step reruns cells that are there already, of a dataset whose way of writing appends",
          "every row of the rerun cells is there twice; sums double, and only a uniqueness test on the "
          "business key would tell",
          "write by merge on the business key, or delete the cells first, in the same transaction",
          Find};
}

}  // namespace backreach::hazards
