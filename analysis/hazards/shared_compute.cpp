// Pools whose slots the plan would take from others: by wave and pool, the usual load, and what all steps
// that may run together take at once.

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "analysis/hazards/all.hpp"
#include "graph/base/words.hpp"

namespace backreach::hazards {

namespace {

struct Share {
  const Step* step;
  std::int64_t cells, slots;  // at a time, of each
};

// Cells of the step that may run together by its job.
std::int64_t AtATime(const Job& job, const Step& step) {
  if (step.sequential || job.sequential || step.whole) return 1;
  const std::int64_t most = job.max_parallel.value_or(std::numeric_limits<std::int64_t>::max());
  return std::max<std::int64_t>(1, std::min(step.partitions.value_or(most), most));
}

std::map<std::pair<int, std::string>, std::vector<Share>> SharesOf(const HazardContext& c) {
  std::map<std::pair<int, std::string>, std::vector<Share>> out;
  std::set<std::pair<int, std::string>> runs;  // what one run does is counted once
  for (const Step& step : c.plan.steps) {
    if (step.correct) continue;
    std::map<std::string, Share> pools;
    for (const JobId id : c.graph[step.dataset].jobs) {
      const Job& job = c.graph[id];
      if (job.pool.empty()) continue;
      const Share share{&step, AtATime(job, step), job.slots.value_or(1)};
      Share& known = pools.emplace(job.pool, share).first->second;
      if (known.cells * known.slots < share.cells * share.slots) known = share;
    }
    for (const auto& [pool, share] : pools) {
      if (step.run && !runs.emplace(*step.run, pool).second) continue;
      out[{step.wave, pool}].push_back(share);
    }
  }
  return out;
}

// How many cells fit beside the usual load: the largest cap on cells at a time over all of these steps.
std::int64_t Fitting(const std::vector<Share>& shares, std::int64_t free) {
  std::int64_t most = 0;  // slots of the dearest cell: which ones run together is not known
  for (const Share& share : shares) most = std::max(most, share.slots);
  return most == 0 ? 0 : std::max<std::int64_t>(0, free / most);
}

void Find(const HazardContext& c, std::vector<Hazard>& out) {
  for (const auto& [key, shares] : SharesOf(c)) {
    const auto& [wave, name] = key;
    const auto pool = std::find_if(c.graph.pools.begin(), c.graph.pools.end(),
                                   [&](const Pool& p) { return p.name == name; });
    if (pool == c.graph.pools.end() || !pool->slots) continue;  // nobody says how large it is
    const std::int64_t load = pool->usual_load.value_or(0);
    constexpr std::int64_t kMost = 1'000'000'000'000;
    std::int64_t sum = load;
    std::vector<DatasetId> together;
    for (const Share& share : shares) {
      sum = std::min(kMost, sum + std::min(kMost, share.cells) * share.slots);
      together.push_back(share.step->dataset);
    }
    if (sum <= *pool->slots) continue;
    const std::int64_t fits = Fitting(shares, *pool->slots - load);
    for (const Share& share : shares) {
      const std::string& one = c.graph[share.step->dataset].name;
      const std::string own = share.cells > kMost / 2
                                  ? "all cells of " + one + " at once"
                                  : fmt::format("{} x {} for {}", share.cells, share.slots, one);
      std::string message = fmt::format(
          "pool {} has {} slots: {} of usual load and {} ({} slots) come to {}", name, *pool->slots, load,
          shares.size() == 1 ? own
                             : fmt::format("{} of wave {} together", NamesText(c.graph, together), wave),
          share.cells > kMost / 2 ? "more" : Thousands(sum - load), Thousands(sum));
      message += fits == 0 ? "; not even one cell fits beside the usual load"
                           : fmt::format("; at most {} at a time {}", fits, fits == 1 ? "fits" : "fit");
      Hazard h = MakeHazard("shared-compute", HazardSeverity::kWarning, share.step->dataset,
                            share.step->whole ? SpanSet::All() : share.step->spans, std::move(message),
                            fits == 0 ? "run it when the pool is idle, or let it have slots of its own"
                                      : fmt::format("feed --max-parallel {}, or another time", fits));
      h.evidence["pool"] = {name};
      h.evidence["sum"] = {std::to_string(sum)};
      h.evidence["fits"] = {std::to_string(fits)};
      h.evidence["slots"] = {std::to_string(*pool->slots)};
      out.push_back(std::move(h));
    }
  }
}

}  // namespace

HazardKind SharedCompute() {
  return {"shared-compute",
          HazardSeverity::kWarning,
          "the usual load of a pool and the steps of a wave that may run together take more than its slots",
          "other people's runs wait for the plan's cells, and miss their hour",
          "run fewer cells at a time (feed --max-parallel), or at another time",
          Find};
}

}  // namespace backreach::hazards
