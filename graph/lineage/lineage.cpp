// Numbering: strongly connected parts by Tarjan's algorithm with an explicit stack, then the parts in a
// topological order that prefers the smallest dataset number among those that are ready (so that the order is
// total and does not depend on how the graph was put together). O(edges + datasets * log(datasets)).

#include "graph/lineage/lineage.hpp"

#include <algorithm>
#include <queue>

namespace backreach {

namespace {
constexpr const char* kKinds[] = {"source", "table",     "view",    "ephemeral", "snapshot",
                                  "seed",   "dashboard", "feature", "file",      "external"};
constexpr const char* kWrites[] = {"unknown",       "replace",           "whole",    "append",  "merge",
                                   "delete_insert", "dynamic_overwrite", "snapshot", "refresh", "none"};
}  // namespace

const char* ToString(Kind kind) { return kKinds[static_cast<int>(kind)]; }
const char* ToString(Writes writes) { return kWrites[static_cast<int>(writes)]; }
const char* ToString(Known known) {
  return known == Known::kDeclared   ? "declared"
         : known == Known::kProven   ? "proven"
         : known == Known::kInferred ? "inferred"
                                     : "assumed";
}

std::optional<Kind> ParseKind(std::string_view text) {
  for (int i = 0; i < 10; ++i)
    if (text == kKinds[i]) return static_cast<Kind>(i);
  return std::nullopt;
}

std::optional<Writes> ParseWrites(std::string_view text) {
  for (int i = 0; i < 10; ++i)
    if (text == kWrites[i]) return static_cast<Writes>(i);
  return std::nullopt;
}

std::string FormatSeen(const Seen& seen) {
  if (seen.source.rfind("registry:", 0) == 0) return seen.at.file + ":" + seen.at.place;
  if (seen.at.place.empty()) return seen.source;
  if (seen.source.rfind("queries:", 0) == 0) return seen.source + " " + seen.at.file + ":" + seen.at.place;
  return seen.source + " " + seen.at.place;
}

void LineageGraph::Number() {
  const auto n = static_cast<std::uint32_t>(datasets.size());
  out_offsets_.assign(n + 1, 0);
  in_offsets_.assign(n + 1, 0);
  for (const Edge& e : edges) {
    ++out_offsets_[e.from.value + 1];
    ++in_offsets_[e.to.value + 1];
  }
  for (std::uint32_t i = 0; i < n; ++i) {
    out_offsets_[i + 1] += out_offsets_[i];
    in_offsets_[i + 1] += in_offsets_[i];
  }
  out_edges_.resize(edges.size());
  in_edges_.resize(edges.size());
  std::vector<std::uint32_t> out_at(out_offsets_.begin(), out_offsets_.end() - 1);
  std::vector<std::uint32_t> in_at(in_offsets_.begin(), in_offsets_.end() - 1);
  for (std::uint32_t i = 0; i < edges.size(); ++i) {
    out_edges_[out_at[edges[i].from.value]++] = EdgeId{i};
    in_edges_[in_at[edges[i].to.value]++] = EdgeId{i};
  }

  // Strongly connected parts.
  constexpr std::uint32_t kNone = 0xFFFFFFFFu;
  std::vector<std::uint32_t> index(n, kNone), low(n, 0), part(n, kNone), stack;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> walk;  // dataset, next position in its row
  std::uint32_t next_index = 0, parts = 0;
  for (std::uint32_t root = 0; root < n; ++root) {
    if (index[root] != kNone) continue;
    walk.push_back({root, out_offsets_[root]});
    index[root] = low[root] = next_index++;
    stack.push_back(root);
    while (!walk.empty()) {
      auto& [v, at] = walk.back();
      if (at < out_offsets_[v + 1]) {
        const std::uint32_t w = edges[out_edges_[at++].value].to.value;
        if (index[w] == kNone) {
          index[w] = low[w] = next_index++;
          stack.push_back(w);
          walk.push_back({w, out_offsets_[w]});
        } else if (part[w] == kNone) {
          low[v] = std::min(low[v], index[w]);
        }
        continue;
      }
      const std::uint32_t done = v;
      walk.pop_back();
      if (!walk.empty()) low[walk.back().first] = std::min(low[walk.back().first], low[done]);
      if (low[done] != index[done]) continue;
      std::uint32_t w;
      do {
        w = stack.back();
        stack.pop_back();
        part[w] = parts;
      } while (w != done);
      ++parts;
    }
  }

  // The parts in topological order, smallest member first among those that are ready.
  std::vector<std::uint32_t> waiting(parts, 0), smallest(parts, kNone), size(parts, 0);
  for (std::uint32_t v = 0; v < n; ++v) {
    smallest[part[v]] = std::min(smallest[part[v]], v);
    ++size[part[v]];
  }
  for (const Edge& e : edges)
    if (part[e.from.value] != part[e.to.value]) ++waiting[part[e.to.value]];
  std::vector<std::vector<std::uint32_t>> members(parts);
  for (std::uint32_t v = 0; v < n; ++v)
    if (size[part[v]] > 1) members[part[v]].push_back(v);
  using Ready = std::pair<std::uint32_t, std::uint32_t>;  // smallest member, part
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
  for (std::uint32_t p = 0; p < parts; ++p)
    if (waiting[p] == 0) ready.push({smallest[p], p});
  order_.clear();
  order_.reserve(n);
  rank_.assign(n, 0);
  component_.assign(n, 0);
  component_begin_.clear();
  cyclic_.clear();
  while (!ready.empty()) {
    const auto [first, p] = ready.top();
    ready.pop();
    component_begin_.push_back(static_cast<std::uint32_t>(order_.size()));
    cyclic_.push_back(size[p] > 1);
    const auto place = [&](std::uint32_t v) {
      rank_[v] = static_cast<std::uint32_t>(order_.size());
      component_[v] = static_cast<std::uint32_t>(cyclic_.size() - 1);
      order_.push_back(DatasetId{v});
    };
    if (size[p] == 1)
      place(first);
    else
      for (const std::uint32_t v : members[p]) place(v);
    const std::size_t begin = component_begin_.back();
    for (std::size_t i = begin; i < order_.size(); ++i) {
      for (const EdgeId e : out(order_[i])) {
        const std::uint32_t q = part[edges[e.value].to.value];
        if (q != p && --waiting[q] == 0) ready.push({smallest[q], q});
      }
    }
  }
  component_begin_.push_back(static_cast<std::uint32_t>(order_.size()));

  ranked_.offsets.assign(1, 0);
  ranked_.offsets.reserve(n + 1);
  ranked_.targets.clear();
  ranked_.targets.reserve(edges.size());
  for (const DatasetId id : order_) {
    const bool first = in_cycle(id) && component_begin_[component_[id.value]] == rank_[id.value];
    if (first)
      for (std::uint32_t m = rank_[id.value] + 1; m < component_begin_[component_[id.value] + 1]; ++m)
        ranked_.targets.push_back(m);
    for (const EdgeId e : out(id)) {
      const DatasetId to = edges[e.value].to;
      if (component_[to.value] != component_[id.value]) ranked_.targets.push_back(entry_rank(to));
    }
    ranked_.offsets.push_back(static_cast<std::uint32_t>(ranked_.targets.size()));
  }

  incoming_.clear();
  incoming_.reserve(edges.size());
  plain_.assign(n, 0);
  for (std::uint32_t v = 0; v < n; ++v) {
    const Dataset& child = datasets[v];
    bool plain = child.stores() && child.layout && !child.row_time && !cyclic_[component_[v]];
    for (const EdgeId e : in(DatasetId{v})) {
      const Edge& edge = edges[e.value];
      const Dataset& parent = datasets[edge.from.value];
      const bool alike =
          parent.stores() && parent.layout && parent.layout == child.layout && !parent.row_time;
      incoming_.push_back({edge.from.value, std::holds_alternative<reads::Same>(edge.effective), alike});
      if (edge.self()) plain = false;
    }
    plain_[v] = plain;
  }
}

}  // namespace backreach
