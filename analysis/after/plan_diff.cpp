// A cell came because it is asked for, because it was not complete before, because the dataset reads
// otherwise now, or because what it reads came; and went for the same reasons the other way round.

#include "analysis/after/plan_diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "graph/base/words.hpp"

namespace backreach {

namespace {

struct Held {
  bool whole = false, there = false;
  SpanSet cells;
  std::set<std::pair<std::string, std::string>> reads;  // from, mapping
};

class Differ {
 public:
  Differ(const LineageGraph& graph, const RecordedPlan& before, const Plan& now)
      : graph_(graph), before_(before), now_(now) {}

  PlanDifference Make() {
    out_.old_id = before_.id, out_.new_id = now_.id;
    out_.same_graph = before_.fingerprint == graph_.fingerprint;
    for (const RecordedStep& s : before_.steps) {
      Held& h = old_[s.cells.dataset];
      h.there = true, h.whole = h.whole || s.cells.whole;
      h.cells.Add(s.cells.Set());
      for (const RecordedReason& r : s.because) h.reads.emplace(r.from, Mapping(r.reads_text));
    }
    for (const Step& s : now_.steps) {
      Held& h = new_[graph_[s.dataset].name];
      h.there = true, h.whole = h.whole || s.whole;
      h.cells.Add(s.spans);
      for (const StepBecause& b : s.because) {
        const Edge& edge = graph_[b.edge];
        h.reads.emplace(graph_[edge.from].name, Mapping(FormatReads(edge.effective)));
      }
    }
    Request();
    std::set<std::string> names;
    for (const auto& [name, h] : old_) names.insert(name);
    for (const auto& [name, h] : new_) names.insert(name);
    for (const std::string& name : names) {
      const Held &a = old_[name], &b = new_[name];
      if (!(a.there == b.there && a.whole == b.whole && a.cells == b.cells)) changed_.insert(name);
    }
    for (const std::string& name : changed_) {
      Compare(name, old_[name], new_[name], true, out_.added);
      Compare(name, new_[name], old_[name], false, out_.gone);
    }
    return std::move(out_);
  }

 private:
  // "window [-6, 0] day" of a plan's file and "window [-6, 0]" of the graph are one.
  static std::string Mapping(std::string text) {
    if (const std::size_t bracket = text.find(" ("); bracket != std::string::npos) text.resize(bracket);
    if (const std::size_t close = text.find(']'); close != std::string::npos) text.resize(close + 1);
    return text;
  }

  void Request() {
    std::map<std::string, SpanSet> asked_before, asked_now;
    for (const RecordedTarget& t : before_.targets) asked_before[t.cells.dataset] = t.asked;
    for (const Target& t : now_.request.targets) asked_now[graph_[t.dataset].name] = t.asked;
    for (const auto& [name, spans] : asked_now) {
      const auto it = asked_before.find(name);
      if (it == asked_before.end())
        out_.request.push_back(name + " is asked for now");
      else if (!(it->second == spans))
        out_.request.push_back("another range of " + name + " is asked for");
    }
    for (const auto& [name, spans] : asked_before)
      if (!asked_now.count(name)) out_.request.push_back(name + " is not asked for any more");
    if (before_.now != now_.request.now)
      out_.request.push_back(fmt::format("seen from {}, and from {} before", FormatInstant(now_.request.now),
                                         FormatInstant(before_.now)));
    std::set<std::string> left_out_before, left_out;
    for (const RecordedCells& e : before_.excluded) left_out_before.insert(e.dataset);
    for (const Exclusion& e : now_.request.exclusions) left_out.insert(graph_[e.dataset].name);
    for (const std::string& name : left_out)
      if (!left_out_before.count(name)) out_.request.push_back(name + " is left out now");
    for (const std::string& name : left_out_before)
      if (!left_out.count(name)) out_.request.push_back(name + " is not left out any more");
    if (before_.include_open != now_.request.include_open)
      out_.request.push_back(now_.request.include_open ? "open cells are kept in now"
                                                       : "open cells are trimmed now");
  }

  void Compare(const std::string& name, const Held& without, const Held& with, bool added,
               std::vector<PlanChange>& out) {
    PlanChange change;
    change.dataset = name;
    if (!with.there) return;
    if (with.whole) {
      if (without.there && without.whole) return;
      change.whole = true;
    } else {
      change.cells = without.whole ? SpanSet() : Difference(with.cells, without.cells);
      if (change.cells.empty()) return;
    }
    Why(name, change, added);
    out.push_back(std::move(change));
  }

  void Why(const std::string& name, PlanChange& change, bool added) {
    const Held &a = old_[name], &b = new_[name];
    for (const auto& read : b.reads)
      if (!a.reads.count(read) && a.there)
        change.because.push_back(fmt::format("lineage: it reads {} ({}) now", read.first, read.second));
    for (const auto& read : a.reads)
      if (!b.reads.count(read) && b.there)
        change.because.push_back(fmt::format("lineage: it read {} ({}) before", read.first, read.second));
    const std::set<std::pair<std::string, std::string>>& own = added ? b.reads : a.reads;
    std::set<std::string> by;
    for (const auto& [from, mapping] : own)
      if (from != name && changed_.count(from)) by.insert(from);
    for (const std::string& from : by) change.because.push_back("what it reads changed: " + from);
    Asked(name, change, added);
    const Instant then = before_.now, today = now_.request.now;
    if (!change.whole && added && then < today && change.cells.back().end > then)
      change.because.push_back(fmt::format("time: it was not complete at {}", FormatInstant(then)));
    if (!change.whole && !added && then != today && change.because.empty())
      change.because.push_back(
          fmt::format("time: seen from {} it is not there, or not complete", FormatInstant(today)));
    if (change.because.empty())
      change.because.push_back(out_.same_graph
                                   ? "the request: see what is asked otherwise"
                                   : "lineage: how it is cut, kept or written is known otherwise now");
  }

  void Asked(const std::string& name, PlanChange& change, bool added) const {
    const auto of = [&](const SpanSet& asked) {
      return change.whole ? !asked.empty() : asked.Intersects(change.cells);
    };
    bool before = false, now = false;
    for (const RecordedTarget& t : before_.targets)
      before = before || (t.cells.dataset == name && of(t.cells.Set()));
    for (const Target& t : now_.request.targets) now = now || (graph_[t.dataset].name == name && of(t.cells));
    if (added && now && !before) change.because.push_back("the request: it is asked for now");
    if (!added && before && !now) change.because.push_back("the request: it is not asked for any more");
  }

  const LineageGraph& graph_;
  const RecordedPlan& before_;
  const Plan& now_;
  std::map<std::string, Held> old_, new_;
  std::set<std::string> changed_;
  PlanDifference out_;
};

}  // namespace

PlanDifference DiffPlans(const LineageGraph& graph, const RecordedPlan& before, const Plan& now) {
  return Differ(graph, before, now).Make();
}

}  // namespace backreach
