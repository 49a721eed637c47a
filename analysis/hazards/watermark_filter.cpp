// Runs that take only rows newer than what the table holds: nothing of the past.

#include <fmt/format.h>

#include "analysis/hazards/all.hpp"
#include "analysis/steps/methods.hpp"
#include "graph/base/words.hpp"

namespace backreach::hazards {

namespace {

std::string Remedy(const HazardContext& c, DatasetId id, const Dataset& d) {
  const std::string range =
      d.methods.count("dbt_batches")
          ? "take that filter away: a batch is bounded by its own period already"
          : "give the query a range in its place (variables declared in meta.backreach.vars, or microbatch)";
  if (d.full_refresh_off) return range;
  if (const Finding* lost = LostByRebuild(c.frame, id, d))
    return range + "; no full refresh: its query then " + lost->fact.detail + ", and the rest would be lost";
  const std::string option = FullRefreshRemedy(c, id);
  return range + (option.empty() ? ", or rebuild it whole" : option);
}

// All of a microbatch model by a run without event times: the newest batches and their lookback.
void FindNewestBatches(const HazardContext& c, std::vector<Hazard>& out) {
  for (const Step& step : c.plan.steps) {
    const Dataset& d = c.graph[step.dataset];
    if (!WholeInBatches(d, step) || step.methods.empty() || step.methods[0].effect != Effect::kKeptOld)
      continue;
    const bool window = std::any_of(step.methods.begin(), step.methods.end(), [](const Method& m) {
      return std::holds_alternative<way::DbtBatches>(m.way);
    });
    std::string remedy = window ? "give it event times from its begin to now" : "give it event times";
    if (!d.full_refresh_off) remedy += ", or rebuild it with --full-refresh";
    if (!step.calendar && !d.layout)
      remedy += "; with a grain (partitions) only the days that changed are run";
    Hazard h = MakeHazard(
        "watermark-filter", HazardSeverity::kBlocking, Written{step.dataset, {}, true, false},
        fmt::format(
            "without event times dbt runs the newest batches of {} alone: older ones stay as they are",
            d.name),
        remedy);
    out.push_back(std::move(h));
  }
}

void Find(const HazardContext& c, std::vector<Hazard>& out) {
  FindNewestBatches(c, out);
  for (const Written& w : WrittenCells(c)) {
    const Dataset& d = c.graph[w.dataset];
    if (w.along || d.writes == Writes::kWhole || d.writes == Writes::kRefresh) continue;
    for (const Finding& f : d.findings) {
      if (f.fact.code != "watermark-filter") continue;
      const SpanSet cells = BeyondReach(c, w, f);
      if (cells.empty() || RangeInstead(d, f)) continue;
      Hazard h = MakeHazard(
          "watermark-filter", HazardSeverity::kBlocking, w.dataset, cells,
          fmt::format("an ordinary run of {} {}: it changes nothing, or not the rows that were corrected",
                      d.name, f.fact.detail),
          Remedy(c, w.dataset, d));
      h.evidence["seen"] = {FormatSeen(f.seen)};
      h.evidence["certainty"] = {kByText};
      out.push_back(std::move(h));
      break;
    }
  }
}

}  // namespace

HazardKind WatermarkFilter() {
  return {"watermark-filter",
          HazardSeverity::kBlocking,
          "the rows that a run takes are bounded by the table's own content, or by the run's date with a "
          "reach that ends before the cells",
          "an ordinary run selects nothing, or not the changed rows, for a past range: it is green and "
          "changes nothing",
          "pass the range to the query (variables, microbatch), or rebuild whole",
          Find};
}

}  // namespace backreach::hazards
