// Plans against the enumerating oracle: exhaustively for two datasets, at random beyond.
//   plan_property exhaustive | random FIRST COUNT | forever FIRST

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>

#include "analysis/planner.hpp"
#include "tests/property/graphs.hpp"

using namespace backreach;
using namespace backreach::oracle;

namespace {

std::size_t compared = 0, simulated = 0, failures = 0;

bool NothingOpen(const World& world, const LineageGraph& graph) {
  for (std::uint32_t d = 0; d < graph.datasets.size(); ++d)
    for (const Cell& c : world.cells(DatasetId{d}))
      if (c.reached && (!c.complete || !c.would)) return false;
  return true;
}

// Everything that both said, for a person who looks into a failure.
void Show(const Sample& s, const Plan& plan, const World& world) {
  for (const Step& step : plan.steps) {
    fmt::print("  step {} {}:", step.id, s.graph[step.dataset].name);
    for (const Span& span : step.dirty)
      fmt::print(" {}..{}", FormatInstant(span.start), FormatInstant(span.end));
    fmt::print("{}\n", step.interleaved.empty() ? "" : " (in turns)");
  }
  for (std::uint32_t d = 0; d < s.graph.datasets.size(); ++d)
    for (const Cell& c : world.cells(DatasetId{d}))
      if (c.reached || c.gone)
        fmt::print("  {} {}:{}{}{}{}{}{}\n", s.graph.datasets[d].name, FormatInstant(c.start),
                   c.asked ? " asked" : "", c.reached ? " reached" : "", c.would ? " would" : "",
                   c.built ? " built" : "", c.later ? " later" : "", c.gone ? " gone" : "");
}

void Judge(const Sample& s) {
  const Plan plan = MakePlan(s.graph, s.request);
  World world(s.graph, s.request, kHorizon);
  world.Solve();
  std::vector<std::string> found = world.Compare(plan);
  ++compared;
  // Cells that read each other have no order in which a run gives the same values.
  const bool circular = std::any_of(plan.hazards.begin(), plan.hazards.end(),
                                    [](const Hazard& h) { return h.code == "cycle"; });
  if (found.empty() && s.simulate && !circular && NothingOpen(world, s.graph)) {
    found = world.Simulate(plan);
    ++simulated;
  }
  if (found.empty()) return;
  ++failures;
  fmt::print("FAILED {}\n", s.text);
  if (std::getenv("PLAN_PROPERTY_SHOW")) Show(s, plan, world);
  for (std::size_t i = 0; i < found.size() && i < 6; ++i) fmt::print("  {}\n", found[i]);
  if (failures >= 10) {
    fmt::print("{} graphs compared, stopped after 10 failures\n", compared);
    std::exit(1);
  }
}

void Exhaustive() {
  const Grain grains[] = {{Grain::Unit::kHours, 6},
                          {Grain::Unit::kDay, 1},
                          {Grain::Unit::kWeek, 1},
                          {Grain::Unit::kMonth, 1},
                          {}};
  const Zone* zones[] = {Zone::Utc(), Zone::Find("America/New_York")};
  const Reads mappings[] = {reads::Same{},
                            reads::Window{-1, 0, {}, false},
                            reads::Window{1, 1, Grain{Grain::Unit::kDay, 1}, false},
                            reads::Window{-1, -1, Grain{Grain::Unit::kMonth, 1}, false},
                            reads::Window{1, 1, Grain{Grain::Unit::kMonth, 1}, false},
                            reads::Previous{},
                            reads::ToDate{Grain::Unit::kMonth},
                            reads::Key{},
                            reads::Latest{},
                            reads::LatestThen{},
                            reads::All{}};
  const Instant first = At("2026-02-20T00:00Z");
  for (const Grain& pg : grains)
    for (const Zone* pz : zones)
      for (const Grain& cg : grains)
        for (const Zone* cz : zones)
          for (const Reads& mapping : mappings) {
            const bool key = std::holds_alternative<reads::Key>(mapping);
            if (key && (!pg.bears_dates() || !cg.bears_dates())) continue;  // refused, and read as all
            const auto* window = std::get_if<reads::Window>(&mapping);
            if (window && !window->unit && cg.none()) continue;  // needs a unit
            if (window && cg.none()) continue;                   // counts back from now: tested by itself
            Sample s;
            s.graph.datasets.push_back(MakeDataset("a", pg, pz, first));
            s.graph.datasets.push_back(MakeDataset("b", cg, cz, first));
            s.graph.datasets[1].writes = Writes::kReplace;
            s.graph.datasets[1].writes_stated = true;
            s.graph.edges.push_back(MakeEdge(0, 1, mapping));
            Finish(s.graph);
            s.request.now = At("2026-04-10T00:00Z");
            // Each single dirty cell of the fortnight in which New York's clocks change.
            Instant at = At("2026-03-02T12:00Z");
            while (at < At("2026-03-16T12:00Z")) {
              s.request.targets = {WholeCells(s.graph, DatasetId{0}, Span{at, at + 1})};
              s.text = fmt::format("a({} {}) -> b({} {}) {}, dirty at {}", FormatGrain(pg), pz->name(),
                                   FormatGrain(cg), cz->name(), FormatReads(mapping), FormatInstant(at));
              Judge(s);
              if (pg.none()) break;
              at = s.graph.datasets[0].calendar.Next(at);
            }
          }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "exhaustive";
  const std::uint64_t first = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  const std::uint64_t count = mode == "forever" ? ~std::uint64_t{0}
                              : argc > 3        ? std::strtoull(argv[3], nullptr, 10)
                                                : 1000;
  if (mode == "exhaustive")
    Exhaustive();
  else
    for (std::uint64_t i = 0; i < count; ++i) {
      Judge(RandomSample(first + i));
      if (mode == "forever" && i % 10000 == 9999) fmt::print("{} graphs, {} failures\n", i + 1, failures);
    }
  fmt::print("{} plans compared with the oracle, {} of them run with values: {} passed, {} failed\n",
             compared, simulated, compared - failures, failures);
  return failures > 0;
}
