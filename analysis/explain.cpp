// The plan has recorded at every step which edges dirtied it, and which cells. Following one of them back to
// a target gives the chain; of several the shortest is told. Cells go along: each hop asks what the cells of
// the hop before read, so that a dataset that reads its own past is walked back turn by turn.

#include "analysis/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analysis/sweep.hpp"
#include "graph/error.hpp"
#include "graph/words.hpp"

namespace backreach {

namespace {

struct Entry {
  const std::vector<StepBecause>* because = nullptr;
  SpanSet cells;  // everything for whole tables and views
};

// A dataset, the cells of it that are in question, and how it was come to from the asked one.
struct Stop {
  DatasetId dataset;
  SpanSet cells;
  std::size_t down = 0;  // the place that reads this one
  EdgeId edge;           // by this edge
};

constexpr std::size_t kMostStops = 100'000;
constexpr std::size_t kMostTurns = 3;  // of reading itself that are told one by one

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
      if (!e.because || !s.because.empty()) e.because = &s.because;
      e.cells.Add(s.dirty);
    }
    for (const Fresh& f : plan.fresh) entries_[f.dataset] = {&f.because, SpanSet::All()};
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
    if (edge.self()) return Difference(changed, cells);
    return changed.empty() ? it->second.cells : changed;
  }

  std::optional<std::size_t> Search() {
    const Entry& entry = entries_.at(dataset_);
    stops_.push_back({dataset_, asked_ ? Intersection(*asked_, entry.cells) : entry.cells, 0, {}});
    std::set<std::pair<DatasetId, Instant>> seen = {{dataset_, stops_[0].cells.front().start}};
    for (std::size_t at = 0; at < stops_.size() && stops_.size() < kMostStops; ++at) {
      if (AtTarget(stops_[at])) return at;
      const auto it = entries_.find(stops_[at].dataset);
      if (it == entries_.end() || !it->second.because) continue;
      for (const StepBecause& b : *it->second.because) {
        const Stop here = stops_[at];
        const SpanSet cells = b.spans ? Intersection(*b.spans, here.cells) : here.cells;
        if (cells.empty()) continue;
        SpanSet changed = Changed(g_[b.edge], cells);
        if (changed.empty() || !seen.insert({g_[b.edge].from, changed.front().start}).second) continue;
        stops_.push_back({g_[b.edge].from, std::move(changed), at, b.edge});
      }
    }
    return std::nullopt;
  }

  // ---- Words ----

  std::string CellsText(DatasetId id, const SpanSet& cells) const {
    const Dataset& d = g_[id];
    return !d.stores() ? "passed on" : d.layout ? SpansText(d, cells) : "whole";
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
    for (std::size_t at = found; at != 0;) {
      const Stop& parent = stops_[at];
      std::size_t turns = 1, child = parent.down;
      if (g_[parent.edge].self()) {  // the same edge, turn after turn
        std::size_t length = 1;
        while (child != 0 && stops_[child].edge == parent.edge) child = stops_[child].down, ++length;
        child = parent.down;
        if (length > kMostTurns)
          while (turns < length) child = stops_[child].down, ++turns;
      }
      Hop(parent, stops_[child], turns, indent, out);
      at = child;
      if (indent.size() < 24) indent += "  ";
    }
    if (asked_ || g_[dataset_].layout == nullptr) return;
    for (const StepBecause& b : *entries_.at(dataset_).because)
      if (g_[b.edge].self() && b.spans)
        Hop({dataset_, {}, 0, b.edge}, {dataset_, *b.spans, 0, {}}, 1, indent, out);
  }

  // `child` reads `parent`; where it took several turns, only the last of them reads what was come to.
  void Hop(const Stop& parent, const Stop& child, std::size_t turns, const std::string& indent,
           std::string& out) const {
    const Edge& edge = g_[parent.edge];
    std::string how = FormatReads(edge.effective);
    if (const auto* w = std::get_if<reads::Window>(&edge.effective); w && !w->unit && g_[edge.to].layout)
      how += " " + FormatGrain(g_[edge.to].layout->blocks().back().calendar.grain());
    if (std::holds_alternative<reads::Unknown>(edge.reads)) how += " (assumed)";
    if (edge.self()) how += ", of itself";
    std::string line;
    if (!asked_ && !edge.self()) {
      line = fmt::format("{}   {}", DirtyText(edge.to), how);
    } else if (g_[edge.from].stores() && g_[edge.from].layout) {
      line = fmt::format("{}: {} reads {}", how, CellsText(edge.to, child.cells),
                         CellsText(edge.from, Read(edge, child.cells)));
      if (turns > 1)
        line += fmt::format(", and so on back to {}, {} in all", CellsText(edge.from, parent.cells),
                            Plural(static_cast<std::int64_t>(turns), "turn"));
    } else {
      line = fmt::format("{}: {} reads {}", how, CellsText(edge.to, child.cells),
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
    for (const StepBecause& b : *entries_.at(dataset_).because) {
      if (told.count(b.edge) || (asked_ && b.spans && !b.spans->Intersects(*asked_))) continue;
      if (!asked_ && g_[b.edge].self()) continue;  // told as a hop
      others.push_back(g_[g_[b.edge].from].name);
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
