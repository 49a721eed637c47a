// The plan has recorded at every step which edges dirtied it. Following one of them back to a target gives
// the chain; of several the one that dirtied the asked partition, and of those the shortest, is told.

#include "analysis/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>

#include "graph/error.hpp"
#include "graph/words.hpp"

namespace backreach {

namespace {

struct Entry {
  const std::vector<StepBecause>* because = nullptr;
  SpanSet cells;  // everything for whole tables and views
};

}  // namespace

std::string Explain(const LineageGraph& g, const Plan& plan, DatasetId dataset,
                    const std::optional<std::string>& partition, int) {
  const Dataset& d = g[dataset];
  std::map<DatasetId, Entry> entries;
  for (const Step& s : plan.steps) {
    Entry& e = entries[s.dataset];
    if (!e.because || !s.because.empty()) e.because = &s.because;
    e.cells.Add(s.dirty);
  }
  for (const Fresh& f : plan.fresh) entries[f.dataset] = {&f.because, SpanSet::All()};
  std::string out;
  std::optional<Span> asked;
  if (partition) {
    const DateResult date = ParseDate(*partition, d.calendar);
    if (!date.span) throw Error("backreach: error: " + date.error);
    asked = d.layout ? d.layout->CellAt(date.span->start) : *date.span;
  }
  const auto stale = std::find_if(plan.left_stale.begin(), plan.left_stale.end(), [&](const LeftStale& l) {
    return l.cells.dataset == dataset && (!asked || l.cells.whole || l.cells.spans.Intersects(*asked));
  });
  const auto it = entries.find(dataset);
  const bool planned = it != entries.end() && (!asked || it->second.cells.Intersects(*asked));
  const std::string what = d.name + (partition ? " " + *partition : "");
  if (!planned) {
    if (stale != plan.left_stale.end()) {
      out = fmt::format("{} is reached, and is not rebuilt: {}\n", what, ToString(stale->reason));
      for (const DatasetId id : stale->read_by) out += fmt::format("  read by {}\n", g[id].name);
      return out;
    }
    for (const Afterwards& a : plan.afterwards)
      if (a.cells.dataset == dataset && (!asked || a.cells.whole || a.cells.spans.Intersects(*asked)))
        return fmt::format("{} is for afterwards: {}\n", what, a.what);
    if (it != entries.end())
      return fmt::format("{} is not in the plan; of {} it holds {}\n", what, d.name,
                         SpansText(d, it->second.cells));
    return fmt::format(
        "{} is not reached: nothing of what is corrected is read by it, directly or through others\n", what);
  }
  // Breadth first from the dataset up to a target.
  std::map<DatasetId, EdgeId> down;  // the edge that leads towards the asked dataset
  std::deque<DatasetId> todo = {dataset};
  std::map<DatasetId, bool> seen = {{dataset, true}};
  DatasetId found;
  const auto is_target = [&](DatasetId id) {
    return std::any_of(plan.request.targets.begin(), plan.request.targets.end(),
                       [&](const Target& t) { return t.dataset == id; });
  };
  while (!todo.empty()) {
    const DatasetId at = todo.front();
    todo.pop_front();
    if (is_target(at)) {
      found = at;
      break;
    }
    const auto entry = entries.find(at);
    if (entry == entries.end() || !entry->second.because) continue;
    for (const StepBecause& b : *entry->second.because) {
      const DatasetId from = g[b.edge].from;
      if (from == at || seen.count(from)) continue;
      if (at == dataset && asked && b.spans && !b.spans->Intersects(*asked)) continue;
      seen[from] = true;
      down[from] = b.edge;
      todo.push_back(from);
    }
  }
  if (!found.valid()) return fmt::format("{} is in the plan, and the way to it could not be told\n", what);
  out = fmt::format("{} is {} because of what is corrected:\n\n", what,
                    it->second.because && d.stores() ? "rebuilt" : "right by itself, once what it reads is,");
  const auto cells_of = [&](DatasetId id) {
    const auto e = entries.find(id);
    return e == entries.end()               ? std::string("?")
           : g[id].layout && g[id].stores() ? SpansText(g[id], e->second.cells)
           : g[id].stores()                 ? "whole"
                                            : "passed on";
  };
  out += fmt::format("  {}   {}   corrected, as asked\n", g[found].name, cells_of(found));
  std::string indent = "    ";
  for (DatasetId at = found; at != dataset;) {
    const Edge& edge = g[down[at]];
    std::string how = FormatReads(edge.effective);
    if (std::holds_alternative<reads::Unknown>(edge.reads)) how += " (assumed)";
    out += fmt::format("{}-> {}   {}   {}\n", indent, g[edge.to].name, cells_of(edge.to), how);
    for (const Seen& s : edge.seen)
      out += fmt::format("{}     {} in {}\n", indent,
                         edge.known == Known::kDeclared ? "declared" : ToString(edge.known), FormatSeen(s));
    if (!edge.note.empty()) out += fmt::format("{}     {}\n", indent, edge.note);
    at = edge.to;
    if (indent.size() < 24) indent += "  ";
  }
  std::vector<std::string> others;
  for (const StepBecause& b : *it->second.because)
    if (!down.count(g[b.edge].from) || down[g[b.edge].from] != b.edge)
      others.push_back(g[g[b.edge].from].name);
  if (!others.empty()) out += fmt::format("\nalso because of {}\n", ListOf(others));
  return out;
}

}  // namespace backreach
