// A mapping is judged by the grains and stores at both ends of its edge, and by what reads a view further
// down.

#include "graph/join/mappings.hpp"

#include <fmt/format.h>

#include <vector>

#include "graph/reads/reads_json.hpp"

namespace backreach {

namespace {

// From the tables of hours up through the views, each edge once: chains of views are as long as they are.
std::vector<bool> HoursRead(const LineageGraph& g) {
  std::vector<bool> read(g.datasets.size(), false);
  std::vector<std::uint32_t> todo;
  const auto mark = [&](DatasetId view) {
    if (g[view].stores() || read[view.value]) return;
    read[view.value] = true;
    todo.push_back(view.value);
  };
  std::vector<std::uint32_t> begin(g.datasets.size() + 1, 0);  // of the views that each view reads
  const auto between = [&](const Edge& e) { return !g[e.from].stores() && !g[e.to].stores(); };
  for (const Edge& e : g.edges)
    if (between(e)) ++begin[e.to.value + 1];
  for (std::size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
  std::vector<DatasetId> views(begin.back());
  std::vector<std::uint32_t> at(begin.begin(), begin.end() - 1);
  for (const Edge& e : g.edges)
    if (between(e)) views[at[e.to.value]++] = e.from;
  for (const Edge& e : g.edges) {
    const Dataset& child = g[e.to];
    if (child.stores() && child.layout && !child.grain->bears_dates()) mark(e.from);
  }
  while (!todo.empty()) {
    const std::uint32_t view = todo.back();
    todo.pop_back();
    for (std::uint32_t i = begin[view]; i < begin[view + 1]; ++i) mark(views[i]);
  }
  return read;
}

}  // namespace

void JudgeMappings(LineageGraph& g, bool strict) {
  // Views that something cut by hours reads, directly or through other views.
  const std::vector<bool> hours_read = HoursRead(g);
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
