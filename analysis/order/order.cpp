// A step waits for every step whose cells it reads, through views. Reads are images of the step's cells under
// the mappings, so no cell is listed. Cycles: if the lags of every circuit add up to less than zero, each
// dataset is given a shift such that every reader's shifted end lies at least one slot (the shortest
// circuit's lag divided by the number of members) behind that of what it reads; cells of one slot never read
// each other, so slots in order of time are the steps, and neighbouring slots with one dataset alone are
// folded. Cycles that cannot be unrolled are planned as one group without an order among its members.

#include "analysis/order/order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <queue>

#include "analysis/steps/runs.hpp"
#include "graph/base/words.hpp"

namespace backreach {

namespace {

constexpr std::int64_t kMostBlocks = 10'000;

class Orderer {
 public:
  Orderer(const Sweeper& sweeper, const std::vector<PlannedDataset>& planned)
      : sweeper_(sweeper), graph_(sweeper.graph()), planned_(planned), steps_of_(planned.size()) {}

  Ordered Run() {
    const auto& members = sweeper_.region().members();
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (!graph_.in_cycle(members[i])) {
        if (!planned_[i].cells.empty()) AddSteps(members[i], planned_[i].cells, false, {});
        continue;
      }
      const std::uint32_t component = graph_.component(members[i]);
      std::vector<DatasetId> part;
      for (; i < members.size() && graph_.component(members[i]) == component; ++i) part.push_back(members[i]);
      --i;
      AddCycle(part);
    }
    Waits();
    NumberByWave(out_.steps);
    return std::move(out_);
  }

 private:
  bool Sequential(DatasetId id) const {
    if (graph_[id].sequential) return true;
    for (const EdgeId e : graph_.in(id))
      if (graph_[e].self() && !std::holds_alternative<reads::Same>(graph_[e].effective)) return true;
    return false;
  }

  // One step for each grain of the dataset.
  void AddSteps(DatasetId id, const SpanSet& cells, bool forced_sequential,
                const std::vector<DatasetId>& interleaved) {
    const Dataset& d = graph_[id];
    const auto add = [&](const Calendar* calendar, SpanSet spans) {
      Step step;
      step.dataset = id;
      step.calendar = calendar;
      step.whole = calendar == nullptr;
      step.spans = step.whole ? SpanSet() : spans;
      step.dirty = std::move(spans);
      step.sequential = !step.whole && (forced_sequential || Sequential(id));
      step.interleaved = interleaved;
      if (step.whole)
        step.partitions = 1;
      else if (IsFinite(step.spans.front().start)) {
        std::int64_t n = 0;
        for (const Span& s : step.spans) n += calendar->Count(s);
        step.partitions = n;
      }
      steps_of_[sweeper_.region().At(id)].push_back(static_cast<int>(out_.steps.size()));
      out_.steps.push_back(std::move(step));
    };
    if (!d.layout || d.written_whole()) return add(nullptr, cells);
    for (const Block& block : d.layout->blocks()) {
      SpanSet part = d.layout->single() ? cells : cells.Clip(block.from, block.until);
      if (!part.empty()) add(&block.calendar, std::move(part));
    }
  }

  const SpanSet& PlannedCells(DatasetId id) const { return planned_[sweeper_.region().At(id)].cells; }

  // ---- Cycles ----

  struct Lag {
    std::size_t from, to;  // positions among the members
    std::int64_t seconds;
    EdgeId edge;
  };

  // The largest (end of the last parent cell read) - (end of the child's cell), over some years of real
  // cells.
  std::optional<std::int64_t> LagOf(EdgeId id) const {
    const Edge& edge = graph_[id];
    const Dataset &parent = graph_[edge.from], &child = graph_[edge.to];
    if (std::holds_alternative<reads::All>(edge.effective) ||
        std::holds_alternative<reads::Latest>(edge.effective) ||
        std::holds_alternative<reads::Following>(edge.effective) ||
        std::holds_alternative<reads::Fixed>(edge.effective))
      return std::nullopt;
    if ((parent.stores() && !parent.layout) || (child.stores() && !child.layout)) return std::nullopt;
    const Layout hours(Calendar(Grain{Grain::Unit::kHour, 1}, &child.calendar.zone()));
    const Layout& cells = child.layout && child.stores() ? *child.layout : hours;
    std::int64_t most = std::numeric_limits<std::int64_t>::min();
    Instant end = cells.Floor(sweeper_.frame().now());
    const Grain& grain = cells.blocks().back().calendar.grain();
    const int samples = grain.bears_dates() ? 1500 : 20'000;
    for (int i = 0; i < samples; ++i) {
      const Instant start = cells.Floor(end - 1);
      const SpanSet read = sweeper_.Image(edge, SpanSet(Span{start, end}));
      if (!read.empty()) {
        Instant last = read.back().end;
        if (parent.stores() && parent.layout) last = parent.layout->Ceil(last);
        most = std::max(most, last - end);
      }
      end = start;
    }
    return most;
  }

  void AddCycle(const std::vector<DatasetId>& part) {
    std::vector<DatasetId> planned;
    for (const DatasetId id : part)
      if (!PlannedCells(id).empty() && graph_[id].stores()) planned.push_back(id);
    std::map<DatasetId, std::size_t> position;
    for (std::size_t i = 0; i < part.size(); ++i) position[part[i]] = i;
    std::vector<Lag> lags;
    bool ordered = part.size() <= 300;
    for (std::size_t i = 0; i < part.size() && ordered; ++i) {
      for (const EdgeId e : graph_.in(part[i])) {
        if (graph_[e].self() || !position.count(graph_[e].from)) continue;
        const auto lag = LagOf(e);
        if (!lag) {
          ordered = false;
          break;
        }
        lags.push_back({position[graph_[e].from], i, *lag, e});
      }
    }
    std::int64_t shortest = 0;
    if (ordered) {
      shortest = -LongestCircuit(part.size(), lags);
      ordered = shortest > 0;
    }
    if (!ordered) {
      if (planned.empty()) return;
      for (const DatasetId id : planned) {
        AddSteps(id, PlannedCells(id), false, {});
        group_of_[id] = static_cast<int>(out_.cycles.size());
      }
      out_.cycles.push_back(OneWayAround(part, position));
      return;
    }
    if (planned.empty()) return;
    if (planned.size() == 1) return AddSteps(planned[0], PlannedCells(planned[0]), true, {});
    Unroll(part, planned, lags, shortest);
  }

  // The largest sum of lags around any circuit (Floyd and Warshall on the members).
  static std::int64_t LongestCircuit(std::size_t n, const std::vector<Lag>& lags) {
    constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min() / 4;
    constexpr std::int64_t kMost = std::int64_t{1} << 50;  // a positive circuit grows without bound
    std::vector<std::int64_t> far(n * n, kNone);
    for (const Lag& lag : lags)
      far[lag.from * n + lag.to] = std::max(far[lag.from * n + lag.to], lag.seconds);
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
          if (far[i * n + k] > kNone && far[k * n + j] > kNone)
            far[i * n + j] = std::min(kMost, std::max(far[i * n + j], far[i * n + k] + far[k * n + j]));
    std::int64_t longest = kNone;
    for (std::size_t i = 0; i < n; ++i) longest = std::max(longest, far[i * n + i]);
    return longest;
  }

  void Unroll(const std::vector<DatasetId>& part, const std::vector<DatasetId>& planned,
              const std::vector<Lag>& lags, std::int64_t shortest) {
    const auto n = static_cast<std::int64_t>(part.size());
    const std::int64_t slot = std::max<std::int64_t>(1, shortest / n);
    std::vector<std::int64_t> shift(part.size(), 0);
    for (std::int64_t round = 0; round < n; ++round)
      for (const Lag& lag : lags)
        shift[lag.to] = std::max(shift[lag.to], shift[lag.from] + lag.seconds + slot);
    Instant least = kMaxInstant, most = kMinInstant;
    bool bounded = true;
    std::map<DatasetId, std::int64_t> shift_of;
    for (std::size_t i = 0; i < part.size(); ++i) shift_of[part[i]] = shift[i];
    for (const DatasetId id : planned) {
      const SpanSet& cells = PlannedCells(id);
      bounded = bounded && IsFinite(cells.front().start) && IsFinite(cells.back().end);
      if (!bounded) break;
      least = std::min(least, cells.front().start + shift_of[id]);
      most = std::max(most, cells.back().end + shift_of[id]);
    }
    if (!bounded || (most - least) / std::max<std::int64_t>(1, slot * n) > kMostBlocks) {
      std::vector<std::string> names;
      for (const DatasetId id : planned) {
        std::vector<DatasetId> others;
        for (const DatasetId other : planned)
          if (other != id) others.push_back(other);
        AddSteps(id, PlannedCells(id), true, others);
        group_of_[id] = -1;
        loose_[id] = static_cast<int>(part[0].value);
        names.push_back(graph_[id].name);
      }
      out_.notes.push_back(
          fmt::format("{} read each other of earlier periods, over more than {} turns: run them oldest "
                      "first, each period through all of them before the next",
                      ListOf(names), Thousands(kMostBlocks)));
      return;
    }
    // Slots in order of time; of each dataset the cells whose shifted end falls into it.
    struct Piece {
      DatasetId dataset;
      SpanSet cells;
    };
    std::vector<Piece> sequence;
    const Instant base = least;
    for (Instant from = base; from < most; from += slot) {
      for (const DatasetId id : planned) {
        const Layout& layout = *graph_[id].layout;
        // Ends in (from, from + slot], shifted back.
        const Span ends{from - shift_of[id] + 1, from + slot - shift_of[id] + 1};
        const SpanSet cells = Intersection(sweeper_.CellsEndingIn(layout, SpanSet(ends)), PlannedCells(id));
        if (cells.empty()) continue;
        if (!sequence.empty() && sequence.back().dataset == id)
          sequence.back().cells.Add(cells);
        else
          sequence.push_back({id, cells});
      }
    }
    for (const Piece& piece : sequence) AddSteps(piece.dataset, piece.cells, false, {});
  }

  // A shortest way around the cycle, from its first member: what a person has to look at.
  Cycle OneWayAround(const std::vector<DatasetId>& part,
                     const std::map<DatasetId, std::size_t>& position) const {
    Cycle cycle;
    std::vector<EdgeId> via(part.size());
    std::vector<bool> seen(part.size(), false);
    std::queue<std::size_t> todo;
    const std::size_t start = 0;
    todo.push(start);
    while (!todo.empty()) {
      const std::size_t at = todo.front();
      todo.pop();
      for (const EdgeId e : graph_.out(part[at])) {
        const auto it = position.find(graph_[e].to);
        if (it == position.end() || graph_[e].self()) continue;
        if (it->second == start) {
          std::vector<EdgeId> back = {e};
          for (std::size_t k = at; k != start; k = position.at(graph_[via[k]].from)) back.push_back(via[k]);
          std::reverse(back.begin(), back.end());
          cycle.edges = back;
          for (const EdgeId edge : back) cycle.members.push_back(graph_[edge].from);
          return cycle;
        }
        if (seen[it->second]) continue;
        seen[it->second] = true;
        via[it->second] = e;
        todo.push(it->second);
      }
    }
    cycle.members = part;
    return cycle;
  }

  // ---- Waiting ----

  // What cells of a dataset read, of stored datasets, views resolved.
  // `dirtied`: what a cell was made from and a rebuild does not read (the newest partition of its own day).
  std::vector<std::pair<DatasetId, SpanSet>> ReadsOf(DatasetId id, const SpanSet& cells,
                                                     std::map<DatasetId, bool>& clipped,
                                                     std::map<DatasetId, SpanSet>& dirtied) const {
    std::map<std::uint32_t, std::pair<DatasetId, SpanSet>> views;  // by descending rank
    std::map<DatasetId, SpanSet> stored;
    const auto follow = [&](DatasetId reader, const SpanSet& read_by) {
      for (const EdgeId e : graph_.in(reader)) {
        const Edge& edge = graph_[e];
        // What was newest then depends on the end of the cell that reads, whatever views lie between.
        const bool then = std::holds_alternative<reads::LatestThen>(edge.effective);
        const SpanSet image = then ? sweeper_.NewestThen(edge, id, cells) : sweeper_.Image(edge, read_by);
        if (image.empty()) continue;
        const Dataset& parent = graph_[edge.from];
        if (!parent.stores()) {
          if (edge.self() || graph_.rank(edge.from) >= graph_.rank(reader)) {
            if (!graph_.in_cycle(reader)) continue;
            auto [it, fresh] = cyclic_views_.emplace(edge.from, SpanSet());
            if (it->second.Covers(image)) continue;  // around the cycle once
            it->second.Add(image);
          }
          views[~graph_.rank(edge.from)].first = edge.from;
          views[~graph_.rank(edge.from)].second.Add(image);
          continue;
        }
        stored[edge.from].Add(image);
        if (std::holds_alternative<reads::Latest>(edge.effective)) {
          dirtied[edge.from].Add(sweeper_.NewestThen(edge, id, cells));
        }
        const bool exact = !std::holds_alternative<reads::All>(edge.effective) &&
                           !std::holds_alternative<reads::Previous>(edge.effective) &&
                           !std::holds_alternative<reads::Following>(edge.effective);
        const Bounds& b = sweeper_.frame()[edge.from];
        if (exact && parent.layout &&
            ((IsFinite(b.first) && IsFinite(image.front().start) && image.front().start < b.first) ||
             (IsFinite(image.back().end) && image.back().end > b.begun_end)))
          clipped[edge.from] = true;
      }
    };
    cyclic_views_.clear();
    follow(id, cells);
    while (!views.empty()) {
      const auto [dataset, read_by] = views.begin()->second;
      views.erase(views.begin());
      follow(dataset, read_by);
    }
    return {stored.begin(), stored.end()};
  }

  // All cells of a dataset, for tables whose run reads (or rewrites) everything: the open ones too.
  SpanSet AllCells(DatasetId id) const {
    const Dataset& d = graph_[id];
    if (!d.layout) return SpanSet::All();
    return SpanSet(Span{sweeper_.frame()[id].first, sweeper_.frame()[id].built_end});
  }

  // The run of a whole step writes everything anew, from all of what it reads.
  bool WaitsForAll(const Step& step, const Step& before) const {
    return step.whole && graph_.component(step.dataset) != graph_.component(before.dataset);
  }

  void Waits() {
    std::vector<std::vector<int>> outside(out_.cycles.size());
    for (int s = 0; s < static_cast<int>(out_.steps.size()); ++s) {
      Step& step = out_.steps[s];
      const Dataset& d = graph_[step.dataset];
      const SpanSet read_for = d.written_whole() ? AllCells(step.dataset) : step.dirty;
      std::map<DatasetId, bool> clipped;
      std::map<DatasetId, SpanSet> dirtied;
      std::set<int> after;
      for (auto& [parent, image] : ReadsOf(step.dataset, read_for, clipped, dirtied)) {
        const Dataset& p = graph_[parent];
        const Bounds& b = sweeper_.frame()[parent];
        StepReads reads;
        reads.clipped = clipped.count(parent) > 0;
        reads.cells.dataset = parent;
        reads.cells.whole = !p.layout;
        const SpanSet aligned = p.layout ? p.layout->AlignOut(image).Clip(b.first, b.begun_end) : image;
        if (p.layout) reads.cells.spans = aligned;
        if (reads.cells.whole || !aligned.empty()) step.reads.push_back(reads);
        if (!sweeper_.region().Has(parent)) continue;
        for (const int other : steps_of_[sweeper_.region().At(parent)]) {
          if (other == s) continue;
          const Step& before = out_.steps[other];
          const bool rewrites_all = before.whole && p.layout;
          const SpanSet written = rewrites_all ? SpanSet(Span{b.first, kMaxInstant}) : before.dirty;
          if (!written.Intersects(image) && !written.Intersects(dirtied[parent]) &&
              !WaitsForAll(step, before))
            continue;
          if (before.dataset == step.dataset && !(before.dirty.front().start < step.dirty.front().start))
            continue;
          after.insert(other);
        }
      }
      const auto group = group_of_.find(step.dataset);
      if (group != group_of_.end()) {
        for (auto it = after.begin(); it != after.end();) {
          const DatasetId other = out_.steps[*it].dataset;
          const auto g = group_of_.find(other);
          const bool same = g != group_of_.end() && g->second == group->second &&
                            (group->second >= 0 || loose_[other] == loose_[step.dataset]);
          if (same)
            it = after.erase(it);
          else
            ++it;
        }
        if (group->second >= 0)
          outside[group->second].insert(outside[group->second].end(), after.begin(), after.end());
      }
      step.after.assign(after.begin(), after.end());
    }
    // The members of a cycle that nobody can order wait together.
    for (Step& step : out_.steps) {
      const auto group = group_of_.find(step.dataset);
      if (group == group_of_.end() || group->second < 0) continue;
      std::set<int> all(outside[group->second].begin(), outside[group->second].end());
      step.after.assign(all.begin(), all.end());
    }
  }

  const Sweeper& sweeper_;
  const LineageGraph& graph_;
  const std::vector<PlannedDataset>& planned_;
  std::vector<std::vector<int>> steps_of_;
  std::map<DatasetId, int> group_of_;  // steps of one cycle that has no order
  std::map<DatasetId, int> loose_;
  mutable std::map<DatasetId, SpanSet> cyclic_views_;
  Ordered out_;
};

}  // namespace

Ordered OrderSteps(const Sweeper& sweeper, const std::vector<PlannedDataset>& planned) {
  return Orderer(sweeper, planned).Run();
}

}  // namespace backreach
