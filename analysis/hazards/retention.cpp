// Input that is not kept any more.

#include <fmt/format.h>

#include "analysis/hazards/all.hpp"
#include "graph/base/words.hpp"

namespace backreach::hazards {

namespace {

void Find(const HazardContext& c, std::vector<Hazard>& out) {
  for (const HazardContext::Expiry& e : c.expiries) {
    const std::uint32_t at = c.sweeper.region().At(e.dataset);
    const Dataset &d = c.graph[e.dataset], &parent = c.graph[e.parent];
    const bool whole_table = d.written_whole();
    const SpanSet cells = whole_table ? e.cells : Intersection(e.cells, c.reached[at].cells);
    if (cells.empty()) continue;
    if ((whole_table || !d.layout) && c.StepsOf(e.dataset).empty()) continue;
    const std::string kept = parent.retention ? FormatDuration(*parent.retention) : "less";
    const std::string safe =
        d.layout ? d.layout->Key(e.safe_from) : FormatCivilInstant(e.safe_from, d.calendar.zone());
    std::string what = whole_table ? "would be lost"
                       : d.layout  ? "cannot be computed again and stays as it is"
                                   : "cannot be computed again";
    Hazard h = MakeHazard(
        "retention", HazardSeverity::kBlocking, e.dataset, cells,
        fmt::format("{} of {} {}: {} keeps {} and the input is gone; safe from {} on",
                    d.layout ? SpansText(d, cells) : "what is older", d.name, what, parent.name, kept, safe),
        whole_table ? "restore the input first, or accept that these cells are lost"
                    : "get the input back, or ask from " + safe + " on");
    h.evidence["keeps"] = {parent.name};
    h.evidence["safe_from"] = {safe};
    out.push_back(std::move(h));
  }
}

}  // namespace

HazardKind Retention() {
  return {
      "retention",
      HazardSeverity::kBlocking,
      "a cell needs input that a dataset which it reads no longer keeps",
      "the cell cannot be computed again and stays on the old values; a table written whole loses it",
      "get the input back, or accept that these cells stay as they are (for a table written whole: are lost)",
      Find};
}

}  // namespace backreach::hazards
