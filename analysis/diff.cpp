// Both graphs have their datasets, edges and copies sorted by name, so each comparison is one merge.

#include "analysis/diff.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "graph/base/words.hpp"
#include "graph/reads/reads_json.hpp"

namespace backreach {

namespace {

using Fields = std::vector<std::pair<const char*, std::string>>;

std::string YesOrNothing(bool said) { return said ? "true" : ""; }
std::string LengthOf(const std::optional<Duration>& d) { return d ? FormatDuration(*d) : ""; }

Fields FieldsOfDataset(const Dataset& d) {
  std::vector<std::string> dimensions;
  for (const auto& [name, values] : d.dimensions) dimensions.push_back(name + ": " + Join(values, ", "));
  return {{"kind", ToString(d.kind)},
          {"writes", d.writes == Writes::kUnknown ? "" : ToString(d.writes)},
          {"key", Join(d.key, ", ")},
          {"grain", d.grain ? FormatGrain(*d.grain) : ""},
          {"timezone", d.calendar.zone().name()},
          {"starts_at", d.calendar.starts_at() == 0 ? "" : std::to_string(d.calendar.starts_at()) + " s"},
          {"first", d.first_text},
          {"last", d.last_text},
          {"complete_after", LengthOf(d.complete_after)},
          {"row_time", !d.row_time         ? ""
                       : d.row_time->exact ? "exact"
                                           : FormatGrain(d.row_time->grain)},
          {"retention", LengthOf(d.retention)},
          {"dimensions", Join(dimensions, "; ")},
          {"never_rebuild", YesOrNothing(d.never_rebuild)},
          {"full_refresh_off", YesOrNothing(d.full_refresh_off)},
          {"owner", d.owner}};
}

Fields FieldsOfCopy(const LineageGraph& g, const Copy& c) {
  std::vector<std::string> of;
  for (const CopyOf& o : c.of)
    of.push_back(o.dataset.valid() ? g[o.dataset].name : o.copy.valid() ? g[o.copy].id : o.name);
  std::string holds;
  if (c.holds)
    holds = c.holds->all    ? "all"
            : c.holds->last ? "last " + *c.holds->last
                            : c.holds->from.value_or("") + " .. " + c.holds->to.value_or("");
  return {{"of", Join(of, ", ")},
          {"kind", c.kind},
          {"where", c.where},
          {"owner", c.owner},
          {"contact", c.contact},
          {"holds", holds},
          {"taken", Join(c.taken, ", ")},
          {"known", c.known ? "true" : "false"}};
}

std::vector<FieldChange> Changed(const Fields& before, const Fields& after) {
  std::vector<FieldChange> out;
  for (std::size_t i = 0; i < before.size(); ++i)
    if (before[i].second != after[i].second)
      out.push_back({before[i].first, before[i].second, after[i].second});
  return out;
}

// Merges two lists that are sorted by a key: calls f(a, b), where one of them may be null.
template <typename T, typename Key, typename F>
void Merge(const std::vector<T>& a, const std::vector<T>& b, Key key, F f) {
  auto x = a.begin();
  auto y = b.begin();
  while (x != a.end() || y != b.end()) {
    if (y == b.end() || (x != a.end() && key(*x) < key(*y)))
      f(&*x, static_cast<const T*>(nullptr)), ++x;
    else if (x == a.end() || key(*y) < key(*x))
      f(static_cast<const T*>(nullptr), &*y), ++y;
    else
      f(&*x, &*y), ++x, ++y;
  }
}

// Sorted by names; several edges of one pair side by side.
std::vector<EdgeChange> EdgesOf(const LineageGraph& g, std::vector<EdgeReading> EdgeChange::*side) {
  std::vector<EdgeChange> out;
  for (const Edge& e : g.edges) {
    const std::string &from = g[e.from].name, &to = g[e.to].name;
    if (out.empty() || out.back().from != from || out.back().to != to) out.push_back({from, to, {}, {}});
    (out.back().*side).push_back({e.reads, e.known});
  }
  std::stable_sort(out.begin(), out.end(), [](const EdgeChange& a, const EdgeChange& b) {
    return std::tie(a.from, a.to) < std::tie(b.from, b.to);
  });
  return out;
}

struct Below {
  std::vector<std::string> datasets, copies;  // sorted
};

Below ReachedFrom(const LineageGraph& g, std::optional<DatasetId> root) {
  Below out;
  if (!root) return out;
  std::vector<bool> reached(g.datasets.size());
  for (const std::uint32_t rank : Reachable(g.ranked(), {g.entry_rank(*root)}))
    reached[g.order()[rank].value] = true;
  reached[root->value] = true;
  for (std::size_t i = 0; i < reached.size(); ++i)
    if (reached[i]) out.datasets.push_back(g.datasets[i].name);
  std::vector<bool> copied(g.copies.size());
  for (bool more = true; more;) {  // copies of copies
    more = false;
    for (std::size_t i = 0; i < g.copies.size(); ++i) {
      if (copied[i]) continue;
      for (const CopyOf& of : g.copies[i].of)
        if ((of.dataset.valid() && reached[of.dataset.value]) || (of.copy.valid() && copied[of.copy.value]))
          copied[i] = more = true;
    }
  }
  for (std::size_t i = 0; i < copied.size(); ++i)
    if (copied[i]) out.copies.push_back(g.copies[i].id);
  std::sort(out.datasets.begin(), out.datasets.end());
  std::sort(out.copies.begin(), out.copies.end());
  return out;
}

std::vector<std::string> Without(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::vector<std::string> out;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

using What = NodeChange::What;

}  // namespace

GraphDiff Compare(const LineageGraph& before, const LineageGraph& after) {
  GraphDiff out;
  const auto change = [](const auto* a, const auto* b, const std::string& name, auto fields,
                         std::vector<NodeChange>& list) {
    NodeChange c{!a ? What::kAdded : !b ? What::kRemoved : What::kChanged, name, {}};
    if (a && b) c.fields = fields();
    if (!a || !b || !c.fields.empty()) list.push_back(std::move(c));
  };
  Merge(
      before.datasets, after.datasets, [](const Dataset& d) -> const std::string& { return d.name; },
      [&](const Dataset* a, const Dataset* b) {
        change(
            a, b, (a ? a : b)->name, [&] { return Changed(FieldsOfDataset(*a), FieldsOfDataset(*b)); },
            out.datasets);
      });
  Merge(
      before.copies, after.copies, [](const Copy& c) -> const std::string& { return c.id; },
      [&](const Copy* a, const Copy* b) {
        change(
            a, b, (a ? a : b)->id, [&] { return Changed(FieldsOfCopy(before, *a), FieldsOfCopy(after, *b)); },
            out.copies);
      });
  Merge(
      EdgesOf(before, &EdgeChange::before), EdgesOf(after, &EdgeChange::after),
      [](const EdgeChange& e) { return std::tie(e.from, e.to); },
      [&](const EdgeChange* a, const EdgeChange* b) {
        EdgeChange c = a ? *a : *b;
        if (a && b) c.after = b->after;
        if (!(c.before == c.after)) out.edges.push_back(std::move(c));
      });
  return out;
}

ReachChange CompareReach(const LineageGraph& before, std::optional<DatasetId> in_before,
                         const LineageGraph& after, std::optional<DatasetId> in_after,
                         const GraphDiff& diff) {
  const Below a = ReachedFrom(before, in_before), b = ReachedFrom(after, in_after);
  ReachChange out;
  out.reached = Without(b.datasets, a.datasets), out.no_longer = Without(a.datasets, b.datasets);
  out.copies_reached = Without(b.copies, a.copies), out.copies_no_longer = Without(a.copies, b.copies);
  std::set<std::string> datasets(a.datasets.begin(), a.datasets.end());
  datasets.insert(b.datasets.begin(), b.datasets.end());
  std::set<std::string> copies(a.copies.begin(), a.copies.end());
  copies.insert(b.copies.begin(), b.copies.end());
  for (const NodeChange& c : diff.datasets)
    if (datasets.count(c.name)) out.on_the_way.datasets.push_back(c);
  for (const NodeChange& c : diff.copies)
    if (copies.count(c.name)) out.on_the_way.copies.push_back(c);
  // An edge into what is reached decides what is read, also from elsewhere.
  for (const EdgeChange& c : diff.edges)
    if (datasets.count(c.to)) out.on_the_way.edges.push_back(c);
  return out;
}

}  // namespace backreach
