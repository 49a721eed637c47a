// A value passes along an edge to the equal value of the child's dimension of the same name, or to those that
// the edge's map names. A child without the dimension is one cell for all values; below it, and where no
// value matches, all values are reached, and that is said. Cost: the graph times the combinations of values,
// and only where asked.

#include "analysis/sweep/dimensions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "graph/base/words.hpp"

namespace backreach {

namespace {

std::vector<DimensionValues> Combinations(const std::map<std::string, std::vector<std::string>>& dimensions) {
  std::vector<DimensionValues> out = {{}};
  for (const auto& [name, values] : dimensions) {
    std::vector<DimensionValues> next;
    for (const DimensionValues& so_far : out)
      for (const std::string& value : values) {
        DimensionValues more = so_far;
        more[name] = {value};
        next.push_back(std::move(more));
      }
    if (!next.empty()) out = std::move(next);
  }
  return out;
}

// Does a cell of the child with these values read one of the parent with those?
bool Meets(const Edge& edge, const Dataset& parent, const Dataset& child, const DimensionValues& from,
           const DimensionValues& to, std::set<std::string>& widened) {
  std::set<std::string> met;
  for (const auto& [name, values] : from) {
    const auto renamed = edge.dimension_to.find(name);
    const std::string& target = renamed == edge.dimension_to.end() ? name : renamed->second;
    const auto own = to.find(target);
    met.insert(target);
    const auto map = edge.dimension_map.find(name);
    if (map != edge.dimension_map.end()) {
      const auto mapped = map->second.find(values[0]);
      if (mapped != map->second.end()) {
        if (mapped->second.empty()) return false;  // nothing reads this value
        if (own == to.end()) continue;
        if (std::find(mapped->second.begin(), mapped->second.end(), own->second[0]) == mapped->second.end())
          return false;
        continue;
      }
    }
    if (own == to.end()) continue;  // the child is not cut by it: it reads all values
    const auto& known = child.dimensions.at(target);
    if (std::find(known.begin(), known.end(), values[0]) != known.end()) {
      if (values[0] != own->second[0]) return false;
      continue;
    }
    widened.insert(fmt::format(
        "{} -> {}: {} '{}' has no equal in {}, so all of its values may be reached; map: would say which",
        parent.name, child.name, name, values[0], child.name));
  }
  for (const auto& [name, values] : to)
    if (!met.count(name) && !from.count(name))
      widened.insert(fmt::format("{} -> {}: {} is not cut by {}, so all values of {} are reached",
                                 parent.name, child.name, parent.name, name, child.name));
  return true;
}

}  // namespace

bool NeedsExpansion(const Request& request) { return !request.where.empty(); }

Expanded Expand(const LineageGraph& graph, const Request& request) {
  Expanded out;
  std::vector<std::vector<std::uint32_t>> stands(graph.datasets.size());
  LineageGraph& g = out.graph;
  for (std::uint32_t i = 0; i < graph.datasets.size(); ++i) {
    for (DimensionValues& values : Combinations(graph.datasets[i].dimensions)) {
      stands[i].push_back(static_cast<std::uint32_t>(g.datasets.size()));
      Dataset d = graph.datasets[i];
      d.jobs.clear();
      g.datasets.push_back(std::move(d));
      out.base.push_back(DatasetId{i});
      out.values.push_back(std::move(values));
    }
  }
  std::set<std::string> widened;
  for (const Edge& edge : graph.edges) {
    for (const std::uint32_t from : stands[edge.from.value])
      for (const std::uint32_t to : stands[edge.to.value]) {
        if (edge.self() && from != to && edge.dimension_to.empty() && edge.dimension_map.empty()) continue;
        if (!Meets(edge, graph[edge.from], graph[edge.to], out.values[from], out.values[to], widened))
          continue;
        Edge copy = edge;
        copy.from = DatasetId{from};
        copy.to = DatasetId{to};
        g.edges.push_back(std::move(copy));
      }
  }
  std::stable_sort(g.edges.begin(), g.edges.end(), [](const Edge& a, const Edge& b) {
    return std::tie(a.from, a.to) < std::tie(b.from, b.to);
  });
  const auto all = [&](const std::vector<DatasetId>& ids) {
    std::vector<DatasetId> more;
    for (const DatasetId id : ids)
      for (const std::uint32_t s : stands[id.value]) more.push_back(DatasetId{s});
    return more;
  };
  for (const Job& job : graph.jobs) {
    Job copy = job;
    copy.reads = all(job.reads), copy.writes = all(job.writes), copy.fires_on = all(job.fires_on);
    // A job writes all values of its outputs by partitions; it is no job of several outputs for that.
    copy.separable = job.separable || job.writes.size() == 1;
    for (const DatasetId id : copy.writes)
      g.datasets[id.value].jobs.push_back(JobId{static_cast<std::uint32_t>(g.jobs.size())});
    g.jobs.push_back(std::move(copy));
  }
  for (const Copy& copy : graph.copies) {
    Copy c = copy;
    c.of.clear();
    for (const CopyOf& of : copy.of) {
      if (!of.dataset.valid())
        c.of.push_back(of);
      else
        for (const std::uint32_t s : stands[of.dataset.value]) c.of.push_back({DatasetId{s}, {}, of.name});
    }
    c.feeds = all(copy.feeds);
    g.copies.push_back(std::move(c));
  }
  for (const Extract& e : graph.extracts) {
    if (e.dataset.valid())
      for (const std::uint32_t s : stands[e.dataset.value])
        g.extracts.push_back({e.fact, DatasetId{s}, e.seen});
  }
  for (const Unresolved& u : graph.unresolved)
    g.unresolved.push_back(
        {u.fact, u.dataset.valid() ? DatasetId{stands[u.dataset.value][0]} : DatasetId{}, u.seen});
  g.pools = graph.pools;
  g.sources = graph.sources;
  g.fingerprint = graph.fingerprint;
  g.Number();

  out.request = request;
  out.request.targets.clear();
  for (const Target& t : request.targets) {
    for (const std::uint32_t s : stands[t.dataset.value]) {
      bool asked = true;
      for (const auto& [name, values] : request.where) {
        const auto own = out.values[s].find(name);
        if (own != out.values[s].end() &&
            std::find(values.begin(), values.end(), own->second[0]) == values.end())
          asked = false;
      }
      if (!asked) continue;
      Target copy = t;
      copy.dataset = DatasetId{s};
      out.request.targets.push_back(std::move(copy));
    }
  }
  out.request.exclusions.clear();
  for (const Exclusion& e : request.exclusions)
    for (const std::uint32_t s : stands[e.dataset.value])
      out.request.exclusions.push_back({DatasetId{s}, e.spans, e.text});
  out.request.accepted.clear();
  for (const Acceptance& a : request.accepted) {
    if (!a.dataset.valid())
      out.request.accepted.push_back(a);
    else
      for (const std::uint32_t s : stands[a.dataset.value])
        out.request.accepted.push_back({a.code, DatasetId{s}});
  }
  out.request.narrow.clear();
  for (const DatasetId id : request.narrow)
    for (const std::uint32_t s : stands[id.value]) out.request.narrow.insert(DatasetId{s});
  out.request.unchanged.clear();
  for (const auto& [id, cells] : request.unchanged)
    for (const std::uint32_t s : stands[id.value]) out.request.unchanged[DatasetId{s}] = cells;
  // Only what the targets reach is worth a word.
  const std::vector<std::uint32_t> reached = Reachable(g.ranked(), [&] {
    std::vector<std::uint32_t> roots;
    for (const Target& t : out.request.targets) roots.push_back(g.entry_rank(t.dataset));
    return roots;
  }());
  std::set<std::string> names;
  for (const std::uint32_t r : reached) names.insert(g[g.order()[r]].name);
  for (const std::string& note : widened)
    if (names.count(note.substr(0, note.find(" -> ")))) out.notes.push_back(note);
  return out;
}

Plan Fold(const LineageGraph& graph, const Request& request, const Expanded& x, Plan plan) {
  const auto base = [&](DatasetId id) { return id.valid() ? x.base[id.value] : id; };
  const auto edge_of = [&](EdgeId id) {
    const Edge& e = x.graph[id];
    for (const EdgeId candidate : graph.in(base(e.to)))
      if (graph[candidate].from == base(e.from) && graph[candidate].reads == e.reads) return candidate;
    return EdgeId{0};
  };
  const auto fold_ids = [&](std::vector<DatasetId>& ids) {
    for (DatasetId& id : ids) id = base(id);
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  };
  const auto fold_because = [&](std::vector<StepBecause>& because) {
    std::vector<StepBecause> out;
    for (StepBecause& b : because) {
      b.edge = edge_of(b.edge);
      const auto same =
          std::find_if(out.begin(), out.end(), [&](const StepBecause& o) { return o.edge == b.edge; });
      if (same == out.end())
        out.push_back(std::move(b));
      else if (same->spans && b.spans)
        same->spans->Add(*b.spans);
      else
        same->spans.reset();
    }
    because = std::move(out);
  };
  // Steps of one dataset, grain and wave are one step, with the values of each part.
  std::map<int, int> place;
  std::vector<Step> steps;
  for (Step& s : plan.steps) {
    const DimensionValues values = x.values[s.dataset.value];
    const bool has_values = !values.empty();
    s.dataset = base(s.dataset);
    const Calendar* calendar = nullptr;
    if (s.calendar)
      for (const Block& b : graph[s.dataset].layout->blocks())
        if (b.calendar == *s.calendar) calendar = &b.calendar;
    s.calendar = calendar;
    fold_ids(s.interleaved);
    fold_ids(s.widened_by);
    fold_because(s.because);
    for (StepReads& r : s.reads) r.cells.dataset = base(r.cells.dataset);
    for (Cells& c : s.rewrites) c.dataset = base(c.dataset);
    if (has_values) s.parts.push_back({values, s.spans});
    const auto same = std::find_if(steps.begin(), steps.end(), [&](const Step& o) {
      return o.dataset == s.dataset && o.calendar == s.calendar && o.wave == s.wave && o.whole == s.whole;
    });
    if (same == steps.end()) {
      place[s.id] = static_cast<int>(steps.size());
      steps.push_back(std::move(s));
      continue;
    }
    place[s.id] = static_cast<int>(same - steps.begin());
    same->after.insert(same->after.end(), s.after.begin(), s.after.end());
    same->spans.Add(s.spans);
    same->dirty.Add(s.dirty);
    if (same->partitions && s.partitions)
      *same->partitions += *s.partitions;
    else
      same->partitions.reset();
    // Values with the same cells stand together.
    for (auto& part : s.parts) {
      const auto alike = std::find_if(same->parts.begin(), same->parts.end(), [&](const auto& p) {
        return p.spans == part.spans && p.values.size() == 1 && part.values.size() == 1;
      });
      if (alike == same->parts.end())
        same->parts.push_back(std::move(part));
      else {
        auto& list = alike->values.begin()->second;
        list.insert(list.end(), part.values.begin()->second.begin(), part.values.begin()->second.end());
      }
    }
    for (StepReads& r : s.reads) {
      const auto known = std::find_if(same->reads.begin(), same->reads.end(),
                                      [&](const StepReads& o) { return o.cells.dataset == r.cells.dataset; });
      if (known == same->reads.end())
        same->reads.push_back(std::move(r));
      else
        known->cells.spans.Add(r.cells.spans);
    }
    for (StepBecause& b : s.because) same->because.push_back(std::move(b));
    std::vector<StepBecause> merged;
    for (StepBecause& b : same->because) {
      const auto known =
          std::find_if(merged.begin(), merged.end(), [&](const StepBecause& o) { return o.edge == b.edge; });
      if (known == merged.end())
        merged.push_back(std::move(b));
      else if (known->spans && b.spans)
        known->spans->Add(*b.spans);
      else
        known->spans.reset();
    }
    same->because = std::move(merged);
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    std::set<int> after;
    for (const int a : steps[i].after)
      if (place.at(a) != static_cast<int>(i)) after.insert(place.at(a) + 1);
    steps[i].after.assign(after.begin(), after.end());
    steps[i].id = static_cast<int>(i) + 1;
  }
  plan.steps = std::move(steps);

  const auto merge_cells = [&](auto& list, auto same, auto join) {
    std::remove_reference_t<decltype(list)> out;
    for (auto& item : list) {
      const auto it = std::find_if(out.begin(), out.end(), [&](const auto& o) { return same(o, item); });
      if (it == out.end())
        out.push_back(std::move(item));
      else
        join(*it, item);
    }
    list = std::move(out);
  };
  for (LeftStale& l : plan.left_stale)
    l.cells.dataset = base(l.cells.dataset), fold_ids(l.read_by), fold_ids(l.mixes_into);
  merge_cells(
      plan.left_stale,
      [](const LeftStale& a, const LeftStale& b) {
        return a.cells.dataset == b.cells.dataset && a.reason == b.reason;
      },
      [](LeftStale& a, LeftStale& b) { a.cells.spans.Add(b.cells.spans); });
  for (Afterwards& a : plan.afterwards) a.cells.dataset = base(a.cells.dataset), fold_ids(a.waits_for);
  merge_cells(
      plan.afterwards,
      [](const Afterwards& a, const Afterwards& b) { return a.cells.dataset == b.cells.dataset; },
      [](Afterwards& a, Afterwards& b) { a.cells.spans.Add(b.cells.spans); });
  for (Fresh& f : plan.fresh) f.dataset = base(f.dataset), fold_because(f.because);
  merge_cells(
      plan.fresh, [](const Fresh& a, const Fresh& b) { return a.dataset == b.dataset; },
      [](Fresh&, Fresh&) {});
  for (AssumedMapping& a : plan.assumed) {
    for (EdgeId& e : a.edges) e = edge_of(e);
    std::sort(a.edges.begin(), a.edges.end());
    a.edges.erase(std::unique(a.edges.begin(), a.edges.end()), a.edges.end());
    a.step = base(a.step);
  }
  merge_cells(
      plan.assumed, [](const AssumedMapping& a, const AssumedMapping& b) { return a.edges == b.edges; },
      [](AssumedMapping& a, AssumedMapping& b) {
        if (b.cells) a.cells = a.cells.value_or(0) + *b.cells;
      });
  for (Hazard& h : plan.hazards) h.dataset = base(h.dataset);
  merge_cells(
      plan.hazards,
      [](const Hazard& a, const Hazard& b) {
        return a.code == b.code && a.dataset == b.dataset && a.message == b.message;
      },
      [](Hazard& a, Hazard& b) { a.spans.Add(b.spans); });
  for (AffectedCopy& c : plan.copies) {
    c.keyed_by = base(c.keyed_by);
    fold_ids(c.datasets);
    std::sort(c.of.begin(), c.of.end());
    c.of.erase(std::unique(c.of.begin(), c.of.end()), c.of.end());
  }
  plan.request = request;
  plan.notes.insert(plan.notes.end(), x.notes.begin(), x.notes.end());
  std::set<DatasetId> datasets;
  plan.totals.partitions = 0;
  for (const Step& s : plan.steps) {
    datasets.insert(s.dataset);
    if (s.partitions && plan.totals.partitions)
      *plan.totals.partitions += *s.partitions;
    else
      plan.totals.partitions.reset();
  }
  plan.totals.steps = static_cast<std::int64_t>(plan.steps.size());
  plan.totals.datasets = static_cast<std::int64_t>(datasets.size());
  return plan;
}

}  // namespace backreach
