// A mapping is judged by the grains and stores at both ends of its edge, and by what reads a view further
// down.

#include "ingest/mappings.hpp"

#include <fmt/format.h>

#include <vector>

#include "graph/reads_json.hpp"

namespace backreach {

void JudgeMappings(LineageGraph& g, bool strict) {
  // Views that something cut by hours reads, directly or through other views.
  std::vector<bool> hours_read(g.datasets.size(), false);
  bool changed = true;
  for (int round = 0; changed && round < 64; ++round) {
    changed = false;
    for (const Edge& e : g.edges) {
      const Dataset &parent = g[e.from], &child = g[e.to];
      if (parent.stores() || hours_read[e.from.value]) continue;
      const bool hours =
          child.stores() ? child.layout && !child.grain->bears_dates() : hours_read[e.to.value];
      if (hours) hours_read[e.from.value] = changed = true;
    }
  }
  for (Edge& e : g.edges) {
    const Dataset &parent = g[e.from], &child = g[e.to];
    e.effective = e.reads;
    const auto refuse = [&](const std::string& why) {
      e.effective = reads::All{};
      const Seen seen = e.seen.empty() ? Seen() : e.seen[0];
      g.unresolved.push_back({{FormatReads(e.reads), "mapping", child.name,
                               fmt::format("{} -> {}: {} cannot stand: {}; read as all", parent.name,
                                           child.name, FormatReads(e.reads), why),
                               seen.at},
                              e.to,
                              seen});
    };
    const auto* window = std::get_if<reads::Window>(&e.reads);
    const bool by_key = std::holds_alternative<reads::Key>(e.reads) || (window && window->by_key);
    if (std::holds_alternative<reads::Unknown>(e.reads)) {
      if (e.self())
        e.effective = e.in_place ? Reads(reads::Same{}) : Reads(reads::Previous{});
      else
        e.effective = strict ? Reads(reads::All{}) : Reads(reads::Same{});
    } else if (strict && !e.self() && e.known == Known::kAssumed &&
               std::holds_alternative<reads::Same>(e.reads)) {
      e.effective = reads::All{};
    } else if (e.self() && window && window->end > 0) {
      refuse("it reaches ahead of what the dataset has written");
      e.effective = reads::Previous{};
    } else if (e.self() && (std::holds_alternative<reads::Following>(e.reads) ||
                            std::holds_alternative<reads::Period>(e.reads) ||
                            std::holds_alternative<reads::Fixed>(e.reads))) {
      refuse("it reads rows of its own that it has not written yet");
      e.effective = reads::Previous{};
    } else if (window && !window->unit && !child.grain.value_or(Grain{}).bears_dates() &&
               (!child.grain || child.grain->none())) {
      refuse(fmt::format("{} has no grain, so the window needs a unit (unit: day)", child.name));
    } else if (by_key) {
      const auto hours = [&](const Dataset& d) { return d.layout && !d.grain->bears_dates(); };
      if (hours(child))
        refuse(fmt::format("{} is cut by {}, and only days and longer bear dates", child.name,
                           FormatGrain(*child.grain)));
      else if (hours(parent))
        refuse(fmt::format("{} is cut by {}, and only days and longer bear dates", parent.name,
                           FormatGrain(*parent.grain)));
      else if (hours_read[e.to.value])
        refuse(fmt::format("a table of hours reads {}, and hours bear no dates", child.name));
    } else if ((std::holds_alternative<reads::Latest>(e.reads) ||
                std::holds_alternative<reads::LatestThen>(e.reads)) &&
               (!parent.layout || !parent.stores())) {
      e.effective = reads::All{};  // the newest of what has no partitions is all of it
    }
  }
}

}  // namespace backreach
