// How a plan is made: sweeps over the region that the targets reach, each a set of cells for every dataset.
//   reached   everything that the correction can make wrong, whatever can be done about it
//   would be  what would be rebuilt if open cells were complete: without what is excluded, protected or
//   impossible rebuilt   the same, of complete cells only: the steps
// What is in the second and waits for open cells is for afterwards; what is in the first alone is left stale,
// for reasons that are swept forward in their fixed order. Copies are compared with all that is reached.

#include "analysis/planner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/copies.hpp"
#include "analysis/hazards/assumed.hpp"
#include "analysis/hazards/full_refresh.hpp"
#include "analysis/hazards/hazard.hpp"
#include "analysis/order/order.hpp"
#include "analysis/pools/forecast.hpp"
#include "analysis/steps/checks.hpp"
#include "analysis/steps/estimate.hpp"
#include "analysis/steps/methods.hpp"
#include "analysis/steps/runs.hpp"
#include "analysis/sweep/dimensions.hpp"
#include "analysis/widest.hpp"
#include "graph/base/digest.hpp"
#include "graph/base/words.hpp"

namespace backreach {

namespace {

constexpr int kReasons = 6;

class Planner {
 public:
  Planner(const LineageGraph& graph, const Request& request)
      : graph_(graph),
        request_(request),
        frame_(graph, request.now),
        region_(graph, Roots()),
        sweeper_(graph, frame_, region_) {
    plan_.request = request;
    plan_.notes = request.notes;
  }

  Plan Make() {
    MakeSeeds();
    FindExpired();
    MakeBlocks();
    Sweep();
    CopiesAndReturns();
    Stale();
    AfterwardsAndFresh();
    Steps();
    Widened();
    Mismatches();
    Hazards();
    FailedOnly();
    Summarise();
    return std::move(plan_);
  }

 private:
  const std::vector<DatasetId>& members() const { return region_.members(); }
  std::size_t size() const { return members().size(); }

  // The targets, and what comes back to us from outside out of anything they reach.
  std::vector<DatasetId> Roots() const {
    std::vector<DatasetId> roots;
    for (const Target& t : request_.targets) roots.push_back(t.dataset);
    bool feeding = false;
    for (const Copy& copy : graph_.copies) feeding = feeding || !copy.feeds.empty();
    if (!feeding) return roots;
    std::set<DatasetId> known(roots.begin(), roots.end());
    for (bool changed = true; changed;) {
      changed = false;
      const Region region(graph_, roots);
      std::vector<bool> reached(graph_.copies.size(), false);
      for (bool more = true; more;) {
        more = false;
        for (std::size_t c = 0; c < graph_.copies.size(); ++c) {
          if (reached[c]) continue;
          for (const CopyOf& of : graph_.copies[c].of)
            if ((of.dataset.valid() && region.Has(of.dataset)) || (of.copy.valid() && reached[of.copy.value]))
              reached[c] = more = true;
        }
      }
      for (std::size_t c = 0; c < graph_.copies.size(); ++c)
        if (reached[c])
          for (const DatasetId fed : graph_.copies[c].feeds)
            if (known.insert(fed).second) roots.push_back(fed), changed = true;
    }
    return roots;
  }

  // A target that nothing in the graph writes is where the correction lands.
  bool LandsAt(DatasetId id) const {
    const Dataset& d = graph_[id];
    if (d.writes == Writes::kNone) return true;
    if (d.writes_stated || !d.jobs.empty() || !d.stores() || d.kind == Kind::kSeed) return false;
    for (const EdgeId e : graph_.in(id))
      if (!graph_[e].self()) return false;
    return true;
  }

  // ---- What is asked for ----

  SpanSet RowSpans(const Dataset& d, const SpanSet& spans) const {
    if (!d.row_time || d.row_time->exact) return spans;
    const Layout rows(
        Calendar(d.row_time->grain, &d.calendar.zone(), d.calendar.starts_at(), d.calendar.week_start()));
    return rows.AlignOut(spans);
  }

  bool HasRowTime(DatasetId id) const { return graph_[id].row_time || request_.narrow.count(id); }

  void MakeSeeds() {
    open_asked_.assign(size(), {});
    corrected_.assign(size(), {});
    for (const Target& t : request_.targets) {
      const Dataset& d = graph_[t.dataset];
      const Bounds& b = frame_[t.dataset];
      const std::uint32_t at = region_.At(t.dataset);
      if (t.widened)
        plan_.notes.push_back(
            fmt::format("{}: the range was widened to whole partitions: {}", d.name, SpansText(d, t.cells)));
      Seed seed{t.dataset, t.cells, {}};
      if (request_.where.empty())
        for (const auto& [name, values] : d.dimensions)
          plan_.notes.push_back(fmt::format("{}: all of its {} ({}); --where {}={} asks for some", d.name,
                                            name, ListOf(values, 6), name,
                                            values.empty() ? "..." : values[0]));
      if (!d.stores()) {
        seed.pass = t.cells;
        reach_seeds_.push_back(seed), would_seeds_.push_back(seed), build_seeds_.push_back(seed);
        continue;
      }
      const bool lands = LandsAt(t.dataset);
      if (!d.layout) {
        seed.pass = HasRowTime(t.dataset) && !t.whole ? RowSpans(d, t.asked) : SpanSet::All();
        if (!HasRowTime(t.dataset) && !t.whole) ranged_whole_.push_back(t.dataset);
        reach_seeds_.push_back(seed), would_seeds_.push_back(seed), build_seeds_.push_back(seed);
        if (lands) corrected_[at] = t.whole ? SpanSet::All() : t.asked;
        continue;
      }
      if (d.first_is_begin && !t.whole && !t.cells.empty() && IsFinite(t.cells.front().start))
        frame_.BeginsAt(t.dataset, t.cells.front().start);  // b is of this dataset
      const SpanSet begun = t.cells.Clip(b.first, b.begun_end);
      if (t.cells.Intersects(SpanSet(Span{kMinInstant, b.first})))
        plan_.notes.push_back(
            fmt::format("{}: its first partition is {}; what was asked for before it does not exist", d.name,
                        d.layout->Key(b.first)));
      if (!(t.cells.Clip(kMinInstant, std::min(b.begun_end, d.last_end)) == t.cells)) {
        const bool ended =
            d.last_end < b.begun_end || (IsFinite(d.last_end) && t.cells.back().end > d.last_end);
        plan_.notes.push_back(
            ended ? fmt::format("{}: it ended with {}; what was asked for after that does not exist", d.name,
                                d.layout->Key(d.last_end - 1))
                  : fmt::format("{}: what has not begun is left out: {}", d.name,
                                SpansText(d, Difference(t.cells, begun))));
      }
      SpanSet kept = begun;
      if (b.kept_from > b.first && !lands) {
        kept = Difference(begun, SpanSet(Span{kMinInstant, b.kept_from}));
        if (!(kept == begun))
          plan_.notes.push_back(fmt::format("{}: it keeps {} and nothing before; {} is not there any more",
                                            d.name, d.layout->Key(b.kept_from),
                                            SpansText(d, Difference(begun, kept))));
      }
      if (lands) corrected_[at] = begun;
      const auto passed = [&](const SpanSet& cells) {
        return HasRowTime(t.dataset) && !t.whole ? Intersection(RowSpans(d, t.asked), cells) : cells;
      };
      // What is not there any more cannot be corrected, and what was made from it is wrong all the same.
      reach_seeds_.push_back({t.dataset, begun, passed(begun)});
      would_seeds_.push_back({t.dataset, kept, passed(kept)});
      const SpanSet complete = request_.include_open ? kept : kept.Clip(kMinInstant, b.built_end);
      build_seeds_.push_back({t.dataset, complete, passed(complete)});
      open_asked_[at] = kept.Clip(b.built_end, kMaxInstant);
    }
  }

  // ---- What can no longer be computed ----

  // Where cells of the child must lie to need something of its parents that is gone. Views are walked
  // through.
  void FindExpired() {
    expired_.assign(size(), {});
    if (!frame_.any_retention()) return;
    const auto gone_of = [&](DatasetId id) {
      const Bounds& b = frame_[id];
      if (!IsFinite(b.kept_from) || b.kept_from <= b.first) return SpanSet();
      SpanSet gone(Span{b.first, std::min(b.kept_from, b.begun_end)});  // after its last it never had any
      if (region_.Has(id)) gone = Difference(gone, corrected_[region_.At(id)]);
      return gone;
    };
    // For each stored dataset that lost something: its readers, through views, one loser at a time.
    std::map<DatasetId, bool> losers;
    std::vector<DatasetId> todo;
    std::set<DatasetId> seen;
    for (const DatasetId id : members()) todo.push_back(id);
    while (!todo.empty()) {
      const DatasetId id = todo.back();
      todo.pop_back();
      for (const EdgeId e : graph_.in(id)) {
        const DatasetId from = graph_[e].from;
        if (!graph_[from].stores()) {
          if (seen.insert(from).second) todo.push_back(from);
        } else if (!gone_of(from).empty()) {
          losers[from] = true;
        }
      }
    }
    for (const auto& [loser, unused] : losers) {
      std::map<std::uint32_t, std::pair<DatasetId, Dirt>> front;  // views, by rank
      std::map<DatasetId, SpanSet> needs;
      const auto push = [&](DatasetId from, const Dirt& dirt) {
        for (const EdgeId e : graph_.out(from)) {
          const Edge& edge = graph_[e];
          // A rebuild reads today's newest: gone only where not even that is kept.
          if (std::holds_alternative<reads::Latest>(edge.effective) &&
              !dirt.pass.Intersects(frame_.NewestComplete(from)))
            continue;
          const Sweeper::Pulled pulled = sweeper_.Pull(edge, dirt);
          if (pulled.empty()) continue;
          const Dataset& child = graph_[edge.to];
          if (!child.stores()) {
            if (graph_.rank(edge.to) <= graph_.rank(from)) continue;
            auto& [id, at] = front[graph_.rank(edge.to)];
            id = edge.to;
            at.cells.Add(pulled.region), at.pass.Add(pulled.region), at.AddEnds(pulled.ends),
                at.today = at.today || pulled.today;
          } else if (child.layout) {
            const Bounds& b = frame_[edge.to];
            needs[edge.to].Add(child.layout->AlignOut(pulled.region).Clip(b.first, b.begun_end));
          } else {
            needs[edge.to].Add(pulled.region);
          }
        }
      };
      const SpanSet gone = gone_of(loser);
      push(loser, {gone, gone, {}, false});
      while (!front.empty()) {
        const auto [id, dirt] = front.begin()->second;
        front.erase(front.begin());
        push(id, dirt);
      }
      for (auto& [reader, cells] : needs) {
        if (!region_.Has(reader) || cells.empty()) continue;
        const Dataset& d = graph_[reader];
        if (!d.layout) {
          const bool keeps = d.writes == Writes::kAppend || d.writes == Writes::kMerge ||
                             d.writes == Writes::kDeleteInsert || d.writes == Writes::kDynamicOverwrite;
          const bool older = (d.keeps_from && *d.keeps_from < frame_[loser].kept_from) ||
                             (IsFinite(d.first) && d.first < frame_[loser].kept_from);
          if (!keeps && !older) continue;
        }
        expired_[region_.At(reader)].Add(cells);
        expiries_.push_back({reader, loser, cells, SafeFrom(reader, loser, cells)});
      }
    }
  }

  // The first cell of the reader that needs nothing of what the loser lost.
  Instant SafeFrom(DatasetId reader, DatasetId loser, const SpanSet& cells) const {
    return graph_[reader].layout ? cells.back().end : frame_[loser].kept_from;
  }

  // ---- What cannot, or must not, be rebuilt ----

  void MakeBlocks() {
    for (auto& blocks : blocks_) blocks.assign(size(), {});
    for (const Exclusion& e : request_.exclusions)
      if (region_.Has(e.dataset))
        blocks_[static_cast<int>(StaleReason::kExcluded)][region_.At(e.dataset)].Add(e.spans);
    for (std::size_t i = 0; i < size(); ++i) {
      const Dataset& d = graph_[members()[i]];
      if (!d.stores()) continue;
      // Without a grain there is no other way than all of it; batches from dbt's begin on are one.
      const bool only_whole = !d.layout && !d.methods.count("dbt_begin");
      if (d.never_rebuild || (d.full_refresh_off && only_whole))
        blocks_[static_cast<int>(StaleReason::kProtected)][i] = SpanSet::All();
      if (d.kind == Kind::kSnapshot || d.writes == Writes::kSnapshot)
        blocks_[static_cast<int>(StaleReason::kSnapshot)][i] = SpanSet::All();
      if (d.layout && !d.written_whole())
        blocks_[static_cast<int>(StaleReason::kInputsExpired)][i] = expired_[i];
    }
    any_block_.assign(size(), {});
    for (const auto& blocks : blocks_)
      for (std::size_t i = 0; i < size(); ++i) any_block_[i].Add(blocks[i]);
  }

  void Sweep() {
    SweepRules reach;
    reach.narrow = &request_.narrow;
    if (!request_.unchanged.empty()) reach.unchanged = &request_.unchanged;
    reached_ = sweeper_.Run(reach_seeds_, reach);
    SweepRules would = reach;
    would.drop_gone = true;
    would.blocked = [this](DatasetId id, const SpanSet& cells) {
      return Intersection(any_block_[region_.At(id)], cells);
    };
    would_ = sweeper_.Run(would_seeds_, would);
    SweepRules build = would;
    build.until = SweepRules::Until::kComplete;
    build.because = &because_;
    rebuilt_ = sweeper_.Run(build_seeds_, build);
    // Open cells, and everything that reads them: a second turn, after their ordinary run.
    std::vector<Seed> open_seeds;
    open_.assign(size(), {});
    for (std::size_t i = 0; i < size(); ++i) {
      const DatasetId id = members()[i];
      if (!graph_[id].layout || !graph_[id].stores()) continue;
      // A table written whole has no open cell of its own: it waits only for an open input.
      open_[i] = would_[i].cells.Clip(frame_[id].built_end, kMaxInstant);
      const SpanSet left = Difference(open_[i], rebuilt_[i].cells);
      if (!left.empty()) open_seeds.push_back({id, left, left});
    }
    SweepRules after = reach;
    after.within = &would_;
    later_ = sweeper_.Run(open_seeds, after);
  }

  // ---- Copies, and what comes back from outside ----

  void CopiesAndReturns() {
    everything_ = reached_;
    const auto dirty_of = [&](DatasetId id) -> SpanSet {
      if (!region_.Has(id)) return {};
      const Dirt& dirt = everything_[region_.At(id)];
      if (HasRowTime(id) && graph_[id].stores()) return dirt.pass;
      SpanSet cells = dirt.cells;
      if (const auto same = request_.unchanged.find(id); same != request_.unchanged.end())
        cells = Difference(cells, same->second);
      if (!dirt.ends.empty()) cells.Add(*dirt.ends);
      return cells;
    };
    std::vector<Seed> returned;
    for (std::size_t round = 0; round <= graph_.copies.size() + 1; ++round) {
      CopyFindings found = JudgeCopies(graph_, request_.now, dirty_of);
      plan_.copies = std::move(found.affected);
      std::vector<Seed> seeds;
      for (const auto& [fed, spans] : found.fed) {
        if (!region_.Has(fed)) continue;
        const Dataset& d = graph_[fed];
        const SpanSet cells = d.layout && d.stores()
                                  ? d.layout->AlignOut(spans).Clip(frame_[fed].first, frame_[fed].begun_end)
                              : d.stores() ? SpanSet::All()
                                           : spans;
        if (!cells.empty())
          seeds.push_back({fed, cells, HasRowTime(fed) ? Intersection(spans, cells) : cells});
      }
      bool grown = seeds.size() != returned.size();
      for (std::size_t i = 0; i < seeds.size() && !grown; ++i) grown = !(seeds[i].cells == returned[i].cells);
      returned = seeds;
      if (!grown) break;
      SweepRules rules;
      rules.narrow = &request_.narrow;
      returned_ = sweeper_.Run(returned, rules);
      for (std::size_t i = 0; i < size(); ++i) {
        everything_[i].cells.Add(returned_[i].cells);
        everything_[i].pass.Add(returned_[i].pass);
        everything_[i].AddEnds(*returned_[i].ends);
        everything_[i].today = everything_[i].today || returned_[i].today;
      }
    }
    auto& outside = blocks_[static_cast<int>(StaleReason::kOutsideReturn)];
    for (const Seed& seed : returned) outside[region_.At(seed.dataset)].Add(seed.cells);
  }

  // What a model was trained on is rebuilt, and the model is not: what serves it differs from what it knows.
  void Mismatches() {
    std::vector<DatasetId> rebuilt;
    for (const Step& step : plan_.steps) rebuilt.push_back(step.dataset);
    for (std::string& note : NoteMismatches(graph_, rebuilt, plan_.copies))
      plan_.notes.push_back(std::move(note));
  }

  // ---- Left stale ----

  SpanSet GoneOf(DatasetId id) const {
    const Bounds& b = frame_[id];
    if (!graph_[id].stores() || !IsFinite(b.kept_from) || b.kept_from <= b.first) return {};
    return SpanSet(Span{kMinInstant, b.kept_from});
  }

  void Stale() {
    stale_.assign(size(), {});
    bool any = false;
    for (std::size_t i = 0; i < size(); ++i) {
      const DatasetId id = members()[i];
      const Dataset& d = graph_[id];
      if (!d.stores()) {
        stale_[i] = everything_[i];
        continue;
      }
      SpanSet cells = everything_[i].cells;
      cells = d.layout ? Difference(cells, would_[i].cells) : would_[i].cells.empty() ? cells : SpanSet();
      if (d.layout) cells = Difference(cells, GoneOf(id));
      any = any || !cells.empty();
      stale_[i].cells = stale_[i].pass = cells;
    }
    if (!any) return;
    std::vector<SpanSet> left(size());
    for (std::size_t i = 0; i < size(); ++i) left[i] = stale_[i].cells;
    for (int r = 0; r < kReasons; ++r) {
      std::vector<Seed> seeds;
      for (std::size_t i = 0; i < size(); ++i) {
        const SpanSet cells = Intersection(blocks_[r][i], stale_[i].cells);
        if (!cells.empty() && graph_[members()[i]].stores()) seeds.push_back({members()[i], cells, cells});
      }
      if (seeds.empty()) continue;
      SweepRules rules;
      rules.within = &stale_;
      rules.narrow = &request_.narrow;
      const std::vector<Dirt> swept = sweeper_.Run(seeds, rules);
      for (std::size_t i = 0; i < size(); ++i) {
        const DatasetId id = members()[i];
        if (!graph_[id].stores()) {
          // A view that passes on nothing rebuilt shows the old values.
          if (swept[i].empty() || !would_[i].empty() || left[i].empty()) continue;
          AddStale(id, swept[i].cells, static_cast<StaleReason>(r));
          left[i].Clear();
          continue;
        }
        const SpanSet cells = Intersection(swept[i].cells, left[i]);
        if (cells.empty()) continue;
        AddStale(id, cells, static_cast<StaleReason>(r));
        left[i] = Difference(left[i], cells);
      }
    }
    // Whatever is reached and neither rebuilt nor explained reads what its parent no longer keeps.
    for (std::size_t i = 0; i < size(); ++i)
      if (graph_[members()[i]].stores() && !left[i].empty())
        AddStale(members()[i], left[i], StaleReason::kInputsExpired);
    std::stable_sort(plan_.left_stale.begin(), plan_.left_stale.end(),
                     [](const LeftStale& a, const LeftStale& b) {
                       return std::tie(a.cells.dataset, a.reason) < std::tie(b.cells.dataset, b.reason);
                     });
  }

  void AddStale(DatasetId id, const SpanSet& cells, StaleReason reason) {
    LeftStale entry;
    entry.cells.dataset = id;
    entry.cells.whole = cells.IsAll();
    if (!entry.cells.whole) entry.cells.spans = cells;
    entry.reason = reason;
    // Readers, one hop through views: who shows it, and who mixes it with what is rebuilt.
    std::map<std::uint32_t, std::pair<DatasetId, Dirt>> front;
    std::set<DatasetId> read_by, mixes;
    const auto push = [&](DatasetId from, const Dirt& dirt) {
      for (const EdgeId e : graph_.out(from)) {
        const Edge& edge = graph_[e];
        if (edge.self() || !region_.Has(edge.to)) continue;
        const Sweeper::Pulled pulled = sweeper_.Pull(edge, dirt);
        if (pulled.empty()) continue;
        const Dataset& child = graph_[edge.to];
        const Dirt& built = rebuilt_[region_.At(edge.to)];
        if (!child.stores()) {
          read_by.insert(edge.to);
          if (!built.empty()) mixes.insert(edge.to);
          if (graph_.rank(edge.to) <= graph_.rank(from)) continue;
          auto& [view, at] = front[graph_.rank(edge.to)];
          view = edge.to;
          at.cells.Add(pulled.region), at.pass.Add(pulled.region), at.AddEnds(pulled.ends),
              at.today = at.today || pulled.today;
          continue;
        }
        SpanSet reading = child.layout            ? child.layout->AlignOut(pulled.region)
                          : pulled.region.empty() ? SpanSet()
                                                  : SpanSet::All();
        if (child.layout) reading = reading.Clip(frame_[edge.to].first, frame_[edge.to].begun_end);
        if (reading.empty()) continue;
        read_by.insert(edge.to);
        const bool all_of_it = child.written_whole() && !built.cells.empty();
        if (all_of_it || built.cells.Intersects(reading)) mixes.insert(edge.to);
      }
    };
    push(id, {cells, cells, {}, false});
    while (!front.empty()) {
      const auto [view, dirt] = front.begin()->second;
      front.erase(front.begin());
      push(view, dirt);
    }
    entry.read_by.assign(read_by.begin(), read_by.end());
    entry.mixes_into.assign(mixes.begin(), mixes.end());
    plan_.left_stale.push_back(std::move(entry));
  }

  // ---- Afterwards, fresh on read ----

  void AfterwardsAndFresh() {
    for (std::size_t i = 0; i < size(); ++i) {
      const DatasetId id = members()[i];
      const Dataset& d = graph_[id];
      if (!d.stores()) {
        if (would_[i].empty()) continue;
        Fresh fresh{id, {}};
        for (const Because& b : because_[i]) fresh.because.push_back({b.edge, b.cells});
        plan_.fresh.push_back(std::move(fresh));
        continue;
      }
      if (later_[i].cells.empty()) continue;
      Afterwards entry;
      entry.cells.dataset = id;
      entry.cells.whole = !d.layout || later_[i].cells.IsAll();
      if (!entry.cells.whole) entry.cells.spans = later_[i].cells;
      std::set<DatasetId> waits;
      for (const EdgeId e : graph_.in(id)) {
        const Edge& edge = graph_[e];
        if (edge.self() || !region_.Has(edge.from)) continue;
        const Dirt& parent = later_[region_.At(edge.from)];
        if (parent.passes() && !sweeper_.Pull(edge, parent).empty()) waits.insert(edge.from);
      }
      entry.waits_for.assign(waits.begin(), waits.end());
      const bool open = !open_[i].empty();
      entry.what = open && waits.empty() ? "ordinary run of the open period"
                   : open                ? "ordinary run of the open period, after what it reads"
                                         : "rebuild again once the open period that it reads has been run";
      plan_.afterwards.push_back(std::move(entry));
    }
  }

  // What stands here only because a run that failed named it: it may have written something before it died.
  void FailedOnly() {
    std::set<std::string> said;
    const auto look = [&](DatasetId id, const StepBecause& b) {
      if (const Edge& e = graph_[b.edge]; e.failed_only)
        said.insert(graph_[e.from].name + " -> " + graph_[id].name);
    };
    for (const Step& step : plan_.steps)
      for (const StepBecause& b : step.because) look(step.dataset, b);
    for (const Fresh& fresh : plan_.fresh)
      for (const StepBecause& b : fresh.because) look(fresh.dataset, b);
    for (const std::string& ends : said)
      plan_.notes.push_back(ends +
                            ": seen only in runs that failed or were aborted; taken as if they had written");
  }

  // ---- Steps ----

  void Steps() {
    std::vector<PlannedDataset> planned(size());
    for (std::size_t i = 0; i < size(); ++i) {
      planned[i].dataset = members()[i];
      if (graph_[members()[i]].stores()) planned[i].cells = rebuilt_[i].cells;
    }
    Ordered ordered = OrderSteps(sweeper_, planned);
    plan_.steps = std::move(ordered.steps);
    cycles_ = std::move(ordered.cycles);
    for (std::string& note : ordered.notes) plan_.notes.push_back(std::move(note));
    std::set<DatasetId> targets;
    for (const Target& t : request_.targets) targets.insert(t.dataset);
    for (Step& step : plan_.steps) {
      const std::size_t at = region_.At(step.dataset);
      const Dataset& d = graph_[step.dataset];
      step.correct = (targets.count(step.dataset) && LandsAt(step.dataset)) || d.writes == Writes::kNone;
      for (const Because& b : because_[at]) {
        StepBecause reason{b.edge, b.cells};
        if (reason.spans) {
          const SpanSet own = Intersection(*reason.spans, step.dirty);
          if (own.empty()) continue;
          if (own == step.dirty)
            reason.spans.reset();
          else
            reason.spans = own;
        }
        step.because.push_back(std::move(reason));
      }
      const bool bounded = LostByRebuild(frame_, step.dataset, graph_[step.dataset]) != nullptr;
      FillMethods(graph_, request_.now, !expired_[at].empty(), bounded, step);
    }
    FillRuns(graph_, frame_, plan_.steps);
    CutAtBegin();
    ShareRuns(plan_.steps);
    // Windows that reach before a parent's first partition are cut there.
    std::size_t cut = 0;
    for (const Step& step : plan_.steps) {
      for (const StepReads& r : step.reads) {
        if (!r.clipped || !IsFinite(frame_[r.cells.dataset].first)) continue;
        if (++cut > 12) continue;
        const Dataset& parent = graph_[r.cells.dataset];
        plan_.notes.push_back(fmt::format("{} reads further than {} goes ({} .. {}): cut there{}",
                                          graph_[step.dataset].name, parent.name,
                                          KeyOf(parent, frame_[r.cells.dataset].first),
                                          KeyOf(parent, frame_[r.cells.dataset].begun_end - 1),
                                          parent.first_is_begin ? " (it begins with dbt's begin)" : ""));
      }
    }
    if (cut > 12)
      plan_.notes.push_back(fmt::format("{} more reads are cut at the ends of what they read", cut - 12));
  }

  // What is left out since a table is taken to begin where dbt would build it from: the table may be older.
  void CutAtBegin() {
    for (std::size_t i = 0; i < size(); ++i) {
      const DatasetId id = members()[i];
      const Dataset& d = graph_[id];
      if (!d.first_is_begin || !d.layout || !d.stores()) continue;
      const Instant first = frame_[id].first;
      bool cut = false, unbounded = false;
      const auto look = [&](const SpanSet& cells) {
        if (cells.empty() || cells.front().start >= first) return;
        cut = true;
        unbounded = unbounded || !IsFinite(cells.front().start);
      };
      for (const EdgeId e : graph_.in(id)) {
        const Edge& edge = graph_[e];
        if (edge.self() || !region_.Has(edge.from)) continue;
        const Dirt& parent = would_[region_.At(edge.from)];
        if (parent.passes()) look(sweeper_.Pull(edge, parent).region);
      }
      for (const Target& t : request_.targets)
        if (t.dataset == id && t.whole) cut = unbounded = true;
      if (!cut) continue;
      plan_.notes.push_back(
          fmt::format("{}: {} before {} is left out: dbt's begin, where a build from nothing starts; if its "
                      "table is older, "
                      "state its first partition in a registry",
                      d.name, unbounded ? "all of its past" : "what is reached", d.layout->Key(first)));
    }
  }

  // Which whole rebuilds made a step wider, and by how many partitions.
  void Widened() {
    bool any_whole = false;
    for (const Step& step : plan_.steps)
      any_whole = any_whole || (step.whole && !graph_[step.dataset].layout && !HasRowTime(step.dataset));
    if (!any_whole) return;
    SweepRules rules;
    rules.until = SweepRules::Until::kComplete;
    rules.drop_gone = true;
    rules.narrow = &request_.narrow;
    rules.narrow_wholes = true;
    if (!request_.unchanged.empty()) rules.unchanged = &request_.unchanged;
    rules.blocked = [this](DatasetId id, const SpanSet& cells) {
      return Intersection(any_block_[region_.At(id)], cells);
    };
    std::vector<Seed> seeds = build_seeds_;
    // A ranged whole target would pass the asked spans if its rows had a time.
    std::map<DatasetId, const Target*> ranged;
    for (const Target& t : request_.targets)
      if (!graph_[t.dataset].layout && graph_[t.dataset].stores() && !t.whole) ranged[t.dataset] = &t;
    for (Seed& seed : seeds)
      if (const auto it = ranged.find(seed.dataset); it != ranged.end()) seed.pass = it->second->asked;
    const std::vector<Dirt> narrow = sweeper_.Run(seeds, rules);
    std::vector<std::set<DatasetId>> by(size());
    std::vector<bool> wide(size(), false);
    for (std::size_t i = 0; i < size(); ++i) {
      const DatasetId id = members()[i];
      const Dataset& d = graph_[id];
      if (rebuilt_[i].empty()) continue;
      const bool whole = d.stores() && !d.layout && !HasRowTime(id);
      wide[i] = whole ? !(narrow[i].pass == rebuilt_[i].pass)
                      : !(narrow[i].pass == rebuilt_[i].pass) || !(narrow[i].cells == rebuilt_[i].cells);
      if (!wide[i]) continue;
      for (const Because& b : because_[i]) {
        const std::size_t from = region_.At(graph_[b.edge].from);
        if (graph_[b.edge].self() || !wide[from]) continue;
        const Dataset& parent = graph_[members()[from]];
        if (parent.stores() && !parent.layout && !HasRowTime(members()[from]))
          by[i].insert(members()[from]);
        else
          by[i].insert(by[from].begin(), by[from].end());
      }
    }
    for (Step& step : plan_.steps) {
      const std::size_t at = region_.At(step.dataset);
      if (step.whole || !wide[at] || by[at].empty()) continue;
      const SpanSet extra = Difference(step.spans, narrow[at].cells);
      if (extra.empty()) continue;
      step.widened_by.assign(by[at].begin(), by[at].end());
      if (!IsFinite(extra.front().start)) continue;
      std::int64_t n = 0;
      for (const Span& s : extra) n += step.calendar->Count(s);
      step.widened_cost = n;
    }
  }

  // ---- Hazards, totals, the sentence ----

  void Hazards() {
    plan_.totals.threads = request_.threads;
    FillEstimates(graph_, plan_);  // what collides with a schedule depends on how long it takes
    plan_.id = PlanId();
    HazardContext context{graph_,   frame_,    sweeper_, plan_,       everything_, rebuilt_,
                          expired_, expiries_, open_,    open_asked_, {},          FindWritten(plan_)};
    for (const Step& step : plan_.steps) context.steps_of[step.dataset].push_back(&step);
    plan_.assumed = FindAssumed(context);
    NameWidest();
    std::vector<Hazard> found;
    for (const Cycle& cycle : cycles_) found.push_back(CycleHazard(cycle));
    for (const HazardKind& kind : HazardKinds())
      if (kind.find) kind.find(context, found);
    for (const DatasetId id : ranged_whole_) {
      Hazard h;
      h.code = "widened";
      h.severity = HazardSeverity::kNote;
      h.dataset = id;
      h.whole = true;
      h.message = fmt::format(
          "{} has no grain: the range narrows nothing, all of it is one step and everything below it may "
          "change",
          graph_[id].name);
      h.remedy =
          "declare row_time (dbt: event_time) if its rows carry a time, or give its partitions a grain";
      found.push_back(std::move(h));
    }
    for (Hazard& h : found)
      for (const Acceptance& a : request_.accepted)
        if (a.code == h.code && (!a.dataset.valid() || a.dataset == h.dataset)) h.accepted = true;
    std::map<std::string, int> rank;
    for (const HazardKind& kind : HazardKinds()) rank.emplace(kind.code, static_cast<int>(rank.size()));
    std::stable_sort(found.begin(), found.end(), [&](const Hazard& a, const Hazard& b) {
      if (a.severity != b.severity) return a.severity > b.severity;
      if (a.code != b.code) return rank[a.code] < rank[b.code];
      return a.dataset < b.dataset;
    });
    std::map<DatasetId, std::set<std::string>> codes;
    for (const Hazard& h : found)
      if (h.dataset.valid()) codes[h.dataset].insert(h.code);
    for (Step& step : plan_.steps)
      step.hazards.assign(codes[step.dataset].begin(), codes[step.dataset].end());
    plan_.hazards = std::move(found);
    Effects();
  }

  // What one thing said would save.
  void NameWidest() {
    SweepRules rules;
    rules.until = SweepRules::Until::kComplete;
    rules.drop_gone = true;
    rules.narrow = &request_.narrow;
    rules.blocked = [this](DatasetId id, const SpanSet& cells) {
      return Intersection(any_block_[region_.At(id)], cells);
    };
    plan_.widest = FindWidest(sweeper_, build_seeds_, rules, rebuilt_, plan_);
  }

  // One effect for a step: the first that holds of kept-old, lost, duplicated, overwritten-open, unknown,
  // replaced; and which existing checks would have told.
  void Effects() {
    std::map<DatasetId, std::map<std::string, bool>> codes;  // code -> blocking
    std::map<DatasetId, std::vector<Hazard*>> hazards;
    for (Hazard& h : plan_.hazards) {
      if (!h.dataset.valid()) continue;
      codes[h.dataset][h.code] = codes[h.dataset][h.code] || h.severity == HazardSeverity::kBlocking;
      hazards[h.dataset].push_back(&h);
    }
    for (Step& step : plan_.steps) {
      if (step.correct) continue;
      const Dataset& d = graph_[step.dataset];
      const auto& found = codes[step.dataset];
      const auto has = [&](const char* code) { return found.count(code) > 0; };
      const auto blocks = [&](const char* code) {
        const auto it = found.find(code);
        return it != found.end() && it->second;
      };
      // What a run cuts beside its step is that hazard's alone.
      const std::vector<Hazard*>& own = hazards[step.dataset];
      const bool cut = std::any_of(own.begin(), own.end(), [&](const Hazard* h) {
        return h->code == "partial-overwrite" && h->severity == HazardSeverity::kBlocking &&
               (h->whole || step.whole || h->spans.Intersects(step.spans));
      });
      const bool open = request_.include_open && d.layout && !step.whole &&
                        step.spans.back().end > frame_[step.dataset].complete_end;
      if (has("watermark-filter"))
        step.effect = Effect::kKeptOld;
      else if (step.effect == Effect::kLost || cut)
        step.effect = Effect::kLost;
      else if ((d.writes == Writes::kAppend && blocks("append-duplicates")) || has("bounded-match") ||
               has("unfiltered-batch") || blocks("null-key"))
        step.effect = Effect::kDuplicated;
      else if (open)
        step.effect = Effect::kOverwrittenOpen;
      if (!step.methods.empty()) step.methods[0].effect = step.effect;
      FillChecks(graph_, step);
      if (step.effect != Effect::kDuplicated) continue;
      for (const CheckFact& check : d.checks) {
        if (check.kind == "unique" && check.enabled && check.covers_all_rows && check.fails_run)
          step.detected_by.push_back({check.id, {}});
        if (check.kind == "constraint") step.detected_by.push_back({"", check.columns});
      }
      std::sort(step.detected_by.begin(), step.detected_by.end(),
                [](const DetectedBy& a, const DetectedBy& b) {
                  return std::tie(a.test, a.constraint) < std::tie(b.test, b.constraint);
                });
      SayWhatTells(step, own);
    }
  }

  // Adds to the hazard that doubles rows whether anything that exists would notice.
  static void SayWhatTells(const Step& step, const std::vector<Hazard*>& hazards) {
    static const std::set<std::string> doubling = {"append-duplicates", "bounded-match", "unfiltered-batch",
                                                   "null-key"};
    for (Hazard* hazard : hazards) {
      Hazard& h = *hazard;
      if (h.severity == HazardSeverity::kNote || !doubling.count(h.code) || h.evidence.count("detected_by"))
        continue;
      std::vector<std::string> who;
      for (const DetectedBy& by : step.detected_by)
        who.push_back(by.test.empty() ? "the constraint on " + Join(by.constraint, ", ") : by.test);
      h.message +=
          who.empty() ? "; no test or constraint that exists would tell" : "; told by " + ListOf(who, 3);
      h.evidence["detected_by"] = std::move(who);
    }
  }

  Hazard CycleHazard(const Cycle& cycle) const {
    Hazard h;
    h.code = "cycle";
    h.severity = HazardSeverity::kBlocking;
    h.dataset = cycle.members.front();
    std::vector<std::string> names, edges;
    for (const DatasetId id : cycle.members) names.push_back(graph_[id].name);
    for (const EdgeId e : cycle.edges) {
      std::vector<std::string> seen;
      for (const Seen& s : graph_[e].seen) seen.push_back(FormatSeen(s));
      edges.push_back(fmt::format("{} -> {} ({})", graph_[graph_[e].from].name, graph_[graph_[e].to].name,
                                  Join(seen, "; ")));
    }
    h.message = fmt::format("{} read each other of the same period, so no order is right: {}",
                            ListOf(names, 12), Join(edges, ", "));
    h.remedy =
        "find the edge that is not so, or that reads an earlier period, and say so in the registry; the "
        "members are planned as one group without an order";
    h.evidence["members"] = names;
    h.evidence["edges"] = edges;
    return h;
  }

  void Summarise() {
    Totals& totals = plan_.totals;
    std::set<DatasetId> datasets;
    totals.partitions = 0;
    for (const Step& step : plan_.steps) {
      datasets.insert(step.dataset);
      if (!step.partitions)
        totals.partitions.reset();
      else if (totals.partitions)
        *totals.partitions += *step.partitions;
    }
    totals.datasets = static_cast<std::int64_t>(datasets.size());
    totals.steps = static_cast<std::int64_t>(plan_.steps.size());
    totals.copies = static_cast<std::int64_t>(plan_.copies.size());
    plan_.nothing_to_do = plan_.steps.empty() && plan_.afterwards.empty() && plan_.fresh.empty() &&
                          plan_.copies.empty() && plan_.left_stale.empty();
    std::vector<std::string> names;
    for (const Target& t : request_.targets) names.push_back(graph_[t.dataset].name);
    if (plan_.nothing_to_do) {
      plan_.summary = "Nothing to do: " + WhyNothing();
    } else {
      plan_.summary = fmt::format(
          "{} corrected: {}, {} to rebuild; {} out of reach; {} left stale.", ListOf(names),
          Plural(totals.datasets, "dataset"),
          totals.partitions ? Plural(*totals.partitions, "cell") : std::string("cells of unknown number"),
          Plural(totals.copies, "copy"),
          Plural(static_cast<std::int64_t>(plan_.left_stale.size()), "dataset"));
    }
  }

  std::string PlanId() const {
    std::string text = "backreach.plan/1\n" + graph_.fingerprint + "\n" + FormatInstant(request_.now) +
                       (request_.include_open ? "\nopen" : "\n");
    if (request_.strict) text += "\nstrict";
    if (request_.full_refresh_all) text += "\nfull refresh";
    for (const Target& t : request_.targets) {
      text += "\ntarget " + graph_[t.dataset].name + (t.whole ? " whole" : "");
      for (const Span& s : t.asked) text += fmt::format(" {}..{}", s.start, s.end);
    }
    std::vector<std::string> rest;
    for (const Exclusion& e : request_.exclusions) {
      std::string line = "exclude " + graph_[e.dataset].name;
      for (const Span& s : e.spans) line += fmt::format(" {}..{}", s.start, s.end);
      rest.push_back(line);
    }
    for (const DatasetId id : request_.narrow) rest.push_back("narrow " + graph_[id].name);
    for (const DatasetId id : request_.full_refresh) rest.push_back("full refresh " + graph_[id].name);
    for (const auto& [name, values] : request_.where)
      rest.push_back("where " + name + "=" + Join(values, ","));
    for (const auto& [id, cells] : request_.unchanged)
      for (const Span& s : cells)
        rest.push_back(fmt::format("unchanged {} {}..{}", graph_[id].name, s.start, s.end));
    std::sort(rest.begin(), rest.end());
    for (const std::string& line : rest) text += "\n" + line;
    return Sha256Hex(text).substr(0, 16);
  }

  std::string WhyNothing() const {
    for (const Target& t : request_.targets) {
      const Dataset& d = graph_[t.dataset];
      const Bounds& b = frame_[t.dataset];
      if (!d.layout) continue;
      if (t.cells.empty()) return fmt::format("{} has no complete partition yet", d.name);
      if (IsFinite(b.first) && t.cells.back().end <= b.first)
        return fmt::format("{} begins with {}, and the range ends before it", d.name, d.layout->Key(b.first));
      if (IsFinite(d.last_end) && t.cells.front().start >= d.last_end)
        return fmt::format("{} ended with {}, and the range starts after it", d.name,
                           d.layout->Key(d.last_end - 1));
      if (t.cells.front().start >= b.begun_end)
        return fmt::format("{} has not begun yet", SpansText(d, t.cells));
      if (IsFinite(b.kept_from) && t.cells.back().end <= b.kept_from)
        return fmt::format("{} keeps nothing before {}", d.name, d.layout->Key(b.kept_from));
    }
    return "the range holds no partition of the target";
  }

  const LineageGraph& graph_;
  const Request& request_;
  Frame frame_;
  Region region_;
  Sweeper sweeper_;
  Plan plan_;
  std::vector<Seed> reach_seeds_, would_seeds_, build_seeds_;
  std::vector<SpanSet> open_asked_, corrected_, expired_, any_block_, open_;
  std::vector<SpanSet> blocks_[kReasons];
  std::vector<HazardContext::Expiry> expiries_;
  std::vector<Dirt> reached_, would_, rebuilt_, later_, returned_, everything_, stale_;
  std::vector<std::vector<Because>> because_;
  std::vector<DatasetId> ranged_whole_;
  std::vector<Cycle> cycles_;
};

}  // namespace

namespace {

Plan PlanOf(const LineageGraph& graph, const Request& request) {
  Plan plan;
  if (!NeedsExpansion(request)) {
    plan = Planner(graph, request).Make();
  } else {
    const Expanded expanded = Expand(graph, request);
    plan = Fold(graph, request, expanded, Planner(expanded.graph, expanded.request).Make());
  }
  plan.pools = ForecastPools(graph, plan);
  return plan;
}

}  // namespace

Plan MakePlan(const LineageGraph& graph, const Request& request) {
  if (!request.full_refresh_all && request.full_refresh.empty()) return PlanOf(graph, request);
  Request ordinary = request;
  ordinary.full_refresh_all = false;
  ordinary.full_refresh.clear();
  const BuiltAnew anew = BuildAnew(graph, request, PlanOf(graph, ordinary));
  return PlanOf(anew.graph, anew.request);
}

}  // namespace backreach
