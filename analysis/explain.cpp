// The plan has recorded at every step which edges dirtied it, and which cells. Following one of them back to
// a target gives the chain; of several the shortest is told. Cells go along: each hop asks what the cells of
// the hop before read, so that a dataset that reads its own past is walked back turn by turn.

#include "analysis/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analysis/sweep/sweep.hpp"
#include "graph/base/error.hpp"
#include "graph/base/words.hpp"

namespace backreach {

namespace {

struct Entry {
  std::map<EdgeId, SpanSet> because;  // the cells that each edge dirtied, over all steps of the dataset
  SpanSet cells;                      // everything for whole tables and views
};

// A dataset, the cells of it that are in question, and how it was come to from the asked one.
struct Stop {
  DatasetId dataset;
  SpanSet cells;
  std::size_t down = 0;  // the stop that reads this one
  EdgeId edge;           // by this edge
  SpanSet readers;       // with these of its cells
};

constexpr std::size_t kMostStops = 100'000;
constexpr std::size_t kMostTurns = 3;  // of reading itself that are told one by one
constexpr std::size_t kMostHops = 8;   // at either end of a long way

class Explainer {
 public:
  Explainer(const LineageGraph& graph, const Plan& plan, DatasetId dataset,
            const std::optional<std::string>& partition)
      : g_(graph),
        plan_(plan),
        dataset_(dataset),
        frame_(graph, plan.request.now),
        region_(graph, Roots(plan)),
        sweeper_(graph, frame_, region_) {
    for (const Step& s : plan.steps) {
      Entry& e = entries_[s.dataset];
      for (const StepBecause& b : s.because) e.because[b.edge].Add(b.spans ? *b.spans : s.dirty);
      e.cells.Add(s.dirty);
    }
    for (const Fresh& f : plan.fresh) {
      Entry& e = entries_[f.dataset];
      for (const StepBecause& b : f.because) e.because[b.edge] = SpanSet::All();
      e.cells = SpanSet::All();
    }
    what_ = g_[dataset].name + (partition ? " " + *partition : "");
    if (!partition) return;
    const Dataset& d = g_[dataset];
    const DateResult date = ParseDate(*partition, d.calendar);
    if (!date.span) throw Error("backreach: error: " + date.error);
    asked_ = d.layout ? d.layout->AlignOut(date.spans) : date.spans;
  }

  std::string Tell() {
    const auto it = entries_.find(dataset_);
    if (it == entries_.end() || (asked_ && !it->second.cells.Intersects(*asked_))) return WhyNot();
    const std::optional<std::size_t> found = Search();
    if (!found) return fmt::format("{} is in the plan, and the way to it could not be told\n", what_);
    std::string out = Head(*found);
    Hops(*found, out);
    Others(*found, out);
    return out;
  }

 private:
  static std::vector<DatasetId> Roots(const Plan& plan) {
    std::vector<DatasetId> roots;
    for (const Target& t : plan.request.targets) roots.push_back(t.dataset);
    for (const Step& s : plan.steps) roots.push_back(s.dataset);
    return roots;
  }

  std::string WhyNot() const {
    for (const LeftStale& l : plan_.left_stale) {
      if (l.cells.dataset != dataset_ || !Asked(l.cells)) continue;
      std::string out = fmt::format("{} is reached, and is not rebuilt: {}\n", what_, ToString(l.reason));
      for (const DatasetId id : l.read_by) out += fmt::format("  read by {}\n", g_[id].name);
      return out;
    }
    for (const Afterwards& a : plan_.afterwards)
      if (a.cells.dataset == dataset_ && Asked(a.cells))
        return fmt::format("{} is for afterwards: {}\n", what_, a.what);
    if (const auto it = entries_.find(dataset_); it != entries_.end())
      return fmt::format("{} is not in the plan; of {} it holds {}\n", what_, g_[dataset_].name,
                         SpansText(g_[dataset_], it->second.cells));
    return fmt::format(
        "{} is not reached: nothing of what is corrected is read by it, directly or through others\n", what_);
  }
  bool Asked(const Cells& cells) const { return !asked_ || cells.whole || cells.spans.Intersects(*asked_); }

  // ---- The way back ----

  bool AtTarget(const Stop& p) const {
    return std::any_of(plan_.request.targets.begin(), plan_.request.targets.end(), [&](const Target& t) {
      return t.dataset == p.dataset && (t.whole || !g_[p.dataset].layout || t.cells.Intersects(p.cells));
    });
  }

  // What `cells` of the reader read through the edge, as cells that exist.
  SpanSet Read(const Edge& edge, const SpanSet& cells) const {
    const Dataset& parent = g_[edge.from];
    SpanSet read = sweeper_.Image(edge, cells);
    if (!parent.stores() || !parent.layout) return read;
    const Bounds& b = frame_[edge.from];
    return parent.layout->AlignOut(read).Clip(b.first, b.begun_end);
  }

  // Of that, what the correction changes. What a cell was made from counts too (`latest`).
  SpanSet Changed(const Edge& edge, const SpanSet& cells) const {
    const auto it = entries_.find(edge.from);
    if (it == entries_.end()) return {};
    SpanSet changed = Intersection(Read(edge, cells), it->second.cells);
    if (changed.empty() && std::holds_alternative<reads::Latest>(edge.effective))
      changed = Intersection(MadeFrom(edge, cells), it->second.cells);
    if (edge.self()) return Difference(changed, cells);
    return changed.empty() ? it->second.cells : changed;
  }

  // The partition that was the newest one when the cells ended.
  SpanSet MadeFrom(const Edge& edge, const SpanSet& cells) const {
    return g_[edge.to].partitioned() ? sweeper_.NewestThen(edge, edge.to, cells) : SpanSet();
  }

  std::optional<std::size_t> Search() {
    const Entry& entry = entries_.at(dataset_);
    stops_.push_back({dataset_, asked_ ? Intersection(*asked_, entry.cells) : entry.cells, 0, {}, {}});
    std::set<std::pair<DatasetId, Instant>> seen = {{dataset_, stops_[0].cells.front().start}};
    for (std::size_t at = 0; at < stops_.size() && stops_.size() < kMostStops; ++at) {
      if (AtTarget(stops_[at])) return at;
      const auto it = entries_.find(stops_[at].dataset);
      if (it == entries_.end()) continue;
      for (const auto& [edge, dirtied] : it->second.because) {
        SpanSet cells = Intersection(dirtied, stops_[at].cells);
        if (cells.empty()) continue;
        SpanSet changed = Changed(g_[edge], cells);
        if (changed.empty() || !seen.insert({g_[edge].from, changed.front().start}).second) continue;
        stops_.push_back({g_[edge].from, std::move(changed), at, edge, std::move(cells)});
      }
    }
    return std::nullopt;
  }

  // ---- Words ----

  std::string CellsText(DatasetId id, const SpanSet& cells) const {
    const Dataset& d = g_[id];
    return !d.stores() ? "passed on" : d.layout ? SpansText(d, cells) : "whole";
  }
  std::string Who(DatasetId id, const SpanSet& cells) const {
    return g_[id].partitioned() && g_[id].stores() ? CellsText(id, cells) : "it";
  }
  std::string DirtyText(DatasetId id) const { return CellsText(id, entries_.at(id).cells); }

  std::string Head(std::size_t found) const {
    const Dataset& d = g_[dataset_];
    const char* how = d.stores() ? "rebuilt" : "right by itself, once what it reads is,";
    const Stop& target = stops_[found];
    if (asked_ && found > 0 && target.down == 0 && g_[target.dataset].stores() && g_[target.dataset].layout)
      return fmt::format("{} is {} because it reads {} of what is corrected:\n\n", what_, how,
                         SpansText(g_[target.dataset], target.cells));
    return fmt::format("{} is {} because of what is corrected:\n\n", what_, how);
  }

  // From the target down to the asked dataset.
  void Hops(std::size_t found, std::string& out) {
    out += fmt::format("  {}   {}   corrected, as asked\n", g_[stops_[found].dataset].name,
                       DirtyText(stops_[found].dataset));
    std::string indent = "    ";
    std::vector<std::string> hops;
    for (std::size_t at = found; at != 0;) {
      const Stop& parent = stops_[at];
      std::size_t turns = 1, last = at;  // the same edge of itself, turn after turn
      if (g_[parent.edge].self()) {
        std::size_t length = 1;
        while (stops_[last].down != 0 && stops_[stops_[last].down].edge == parent.edge)
          last = stops_[last].down, ++length;
        if (length > kMostTurns)
          turns = length;
        else
          last = at;
      }
      Hop(parent.edge, stops_[last].readers, parent.cells, turns, indent, hops.emplace_back());
      at = stops_[last].down;
      if (indent.size() < 24) indent += "  ";
    }
    // Turn after turn of a cycle tells no more than its first ones and its last ones.
    const bool fold = hops.size() > 2 * kMostHops;
    for (std::size_t i = 0; i < hops.size(); ++i) {
      if (fold && i == kMostHops) {
        out += fmt::format("        ... {} more hops ...\n", hops.size() - 2 * kMostHops);
        i = hops.size() - kMostHops;
      }
      out += hops[i];
    }
    if (asked_ || !g_[dataset_].layout) return;
    for (const auto& [edge, dirtied] : entries_.at(dataset_).because)
      if (g_[edge].self()) Hop(edge, dirtied, {}, 1, indent, out);
  }

  // `readers` read by this edge; where it took several turns, back to `origin`.
  void Hop(EdgeId id, const SpanSet& readers, const SpanSet& origin, std::size_t turns,
           const std::string& indent, std::string& out) const {
    const Edge& edge = g_[id];
    std::string how = FormatReads(edge.effective);
    if (const auto* w = std::get_if<reads::Window>(&edge.effective); w && !w->unit && g_[edge.to].layout)
      how += " " + FormatGrain(g_[edge.to].layout->blocks().back().calendar.grain());
    if (std::holds_alternative<reads::Unknown>(edge.reads) || (edge.code && edge.known == Known::kAssumed))
      how += " (assumed)";
    if (edge.code && !edge.code->place.empty() && edge.known != Known::kDeclared)
      how += fmt::format(" ({} in {})", edge.known == Known::kProven ? "proven by the code" : "read",
                         edge.code->place);
    if (edge.code && !edge.code->why.empty() && edge.known == Known::kAssumed) how += ": " + edge.code->why;
    if (edge.self()) how += ", of itself";
    std::string line;
    if (!asked_ && !edge.self()) {
      line = fmt::format("{}   {}", DirtyText(edge.to), how);
    } else if (g_[edge.from].stores() && g_[edge.from].layout) {
      line = fmt::format("{}: {} reads {}", how, Who(edge.to, readers),
                         CellsText(edge.from, Read(edge, readers)));
      if (std::holds_alternative<reads::Latest>(edge.effective) && g_[edge.to].partitioned())
        line += fmt::format(", and was made from {}", CellsText(edge.from, MadeFrom(edge, readers)));
      if (turns > 1)
        line += fmt::format(", and so on back to {}, {} in all", CellsText(edge.from, origin),
                            Plural(static_cast<std::int64_t>(turns), "turn"));
    } else {
      line = fmt::format("{}: {} reads {}", how, Who(edge.to, readers),
                         g_[edge.from].stores() ? "all of it" : "what it passes on");
    }
    out += fmt::format("{}-> {}   {}\n", indent, g_[edge.to].name, line);
    for (const Seen& s : edge.seen)
      out += fmt::format("{}     {} in {}\n", indent,
                         edge.known == Known::kDeclared ? "declared" : ToString(edge.known), FormatSeen(s));
    if (!edge.note.empty()) out += fmt::format("{}     {}\n", indent, edge.note);
  }

  // The edges that dirtied the same cells and are not on the way that was told.
  void Others(std::size_t found, std::string& out) const {
    std::set<EdgeId> told;
    for (std::size_t at = found; at != 0; at = stops_[at].down) told.insert(stops_[at].edge);
    std::vector<std::string> others;
    for (const auto& [edge, dirtied] : entries_.at(dataset_).because) {
      if (told.count(edge) || (asked_ && !dirtied.Intersects(*asked_))) continue;
      if (!asked_ && g_[edge].self()) continue;  // told as a hop
      others.push_back(g_[g_[edge].from].name);
    }
    if (!others.empty()) out += fmt::format("\nalso because of {}\n", ListOf(others));
  }

  const LineageGraph& g_;
  const Plan& plan_;
  DatasetId dataset_;
  Frame frame_;
  Region region_;
  Sweeper sweeper_;
  std::map<DatasetId, Entry> entries_;
  std::string what_;
  std::optional<SpanSet> asked_;
  std::vector<Stop> stops_;
};

}  // namespace

std::string Explain(const LineageGraph& graph, const Plan& plan, DatasetId dataset,
                    const std::optional<std::string>& partition, int) {
  return Explainer(graph, plan, dataset, partition).Tell();
}

}  // namespace backreach
