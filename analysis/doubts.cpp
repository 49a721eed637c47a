// What a doubt costs depends on the question that is asked. Without one, what lies below it is the measure:
// all of that is rebuilt whole, or looked at by a person, as long as the doubt stands. The walk below each is
// bounded in all, so that a graph of a million datasets is answered too: what is beyond the bound counts as
// itself alone.

#include "analysis/doubts.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "analysis/sweep/frame.hpp"

namespace backreach {

namespace {

constexpr std::int64_t kMostVisits = 100'000'000;

struct Below {
  std::int64_t tables = 0, cells = 0, copies = 0;
};

class Finder {
 public:
  Finder(const LineageGraph& graph, Instant now, std::optional<DatasetId> below)
      : g_(graph), frame_(graph, now), copies_of_(graph.datasets.size(), 0) {
    for (const Copy& copy : g_.copies)
      for (const CopyOf& of : copy.of)
        if (of.dataset.valid()) ++copies_of_[of.dataset.value];
    if (!below) return;
    inside_.emplace(g_.datasets.size(), false);
    for (const std::uint32_t rank : Reachable(g_.ranked(), {g_.entry_rank(*below)}))
      (*inside_)[g_.order()[rank].value] = true;
  }

  std::vector<Doubt> Find() {
    Grains();
    Edges();
    Exposures();
    WaysOut();
    Jobs();
    const auto weight = [](const Doubt& d) { return d.cells + d.tables + d.copies; };
    std::stable_sort(out_.begin(), out_.end(), [&](const Doubt& a, const Doubt& b) {
      const bool a_blind = a.kind == Doubt::Kind::kGrain && !a.guess,
                 b_blind = b.kind == Doubt::Kind::kGrain && !b.guess;
      if (a_blind != b_blind) return b_blind;
      if (weight(a) != weight(b)) return weight(a) > weight(b);
      const auto rank = [&](const Doubt& d) { return d.dataset.valid() ? g_.rank(d.dataset) : 0u; };
      return rank(a) < rank(b);
    });
    return std::move(out_);
  }

 private:
  bool Inside(DatasetId id) const { return !inside_ || (*inside_)[id.value]; }

  const Below& Of(DatasetId id) {
    const auto [it, fresh] = known_.emplace(id, Below());
    if (!fresh) return it->second;
    Below& b = it->second;
    std::vector<std::uint32_t> ranks = {g_.rank(id)};
    if (visits_ < kMostVisits) ranks = Reachable(g_.ranked(), {g_.entry_rank(id)});
    visits_ += static_cast<std::int64_t>(ranks.size());
    for (const std::uint32_t rank : ranks) {
      const DatasetId at = g_.order()[rank];
      const Dataset& d = g_[at];
      b.copies += copies_of_[at.value];
      if (!d.stores()) continue;
      ++b.tables;
      if (d.layout && IsFinite(d.first) && frame_[at].complete_end > d.first)
        b.cells += d.layout->Count(SpanSet(Span{d.first, frame_[at].complete_end}));
    }
    return b;
  }

  Doubt Made(Doubt::Kind kind, DatasetId dataset) {
    Doubt d;
    d.kind = kind;
    d.dataset = dataset;
    if (!dataset.valid()) return d;
    const Below& below = Of(dataset);
    d.tables = below.tables, d.cells = below.cells, d.copies = below.copies;
    return d;
  }

  // A table whose run replaces it and that shows no sign of time is most often just that; of a source nobody
  // can tell.
  void Grains() {
    for (std::uint32_t i = 0; i < g_.datasets.size(); ++i) {
      const DatasetId id{i};
      const Dataset& d = g_.datasets[i];
      if (d.grain || !d.stores() || d.kind == Kind::kSeed || d.kind == Kind::kSnapshot || !Inside(id))
        continue;
      std::optional<GrainGuess> guess = GuessGrain(d);
      const bool outside = g_.in(id).size() == 0 && g_.out(id).size() > 0;
      if (!guess && !outside) continue;
      Doubt doubt = Made(Doubt::Kind::kGrain, id);
      doubt.guess = std::move(guess);
      out_.push_back(std::move(doubt));
    }
  }

  // Where an end is not cut by time, all of it is read whatever the edge says.
  bool Matters(const Edge& e) const {
    const Dataset &from = g_[e.from], &to = g_[e.to];
    return (to.layout || to.row_time || !to.stores()) && (from.layout || from.row_time || !from.stores()) &&
           to.kind != Kind::kDashboard;
  }

  void Edges() {
    std::map<std::pair<DatasetId, DatasetId>, std::vector<EdgeId>> groups;
    for (std::uint32_t i = 0; i < g_.edges.size(); ++i) {
      const Edge& e = g_.edges[i];
      const bool assumed = e.known == Known::kAssumed || std::holds_alternative<reads::Unknown>(e.reads) ||
                           (e.known == Known::kInferred && e.code);
      if (assumed && Matters(e) && Inside(e.from) && Inside(e.to))
        groups[{e.to, e.from}].push_back(EdgeId{i});
    }
    for (auto& [ends, edges] : groups) {
      const Edge& e = g_[edges[0]];
      const bool read = e.known == Known::kInferred;
      const bool whole = std::holds_alternative<reads::All>(e.effective) || e.self();
      Doubt doubt = Made(whole && !read ? Doubt::Kind::kWhole
                         : read         ? Doubt::Kind::kRecognised
                                        : Doubt::Kind::kSameDays,
                         ends.first);
      doubt.edges = std::move(edges);
      out_.push_back(std::move(doubt));
    }
  }

  void Exposures() {
    std::set<std::string> described;
    for (std::uint32_t i = 0; i < g_.copies.size(); ++i) {
      const Copy& copy = g_.copies[i];
      described.insert(copy.id);
      const bool registry = std::any_of(copy.seen.begin(), copy.seen.end(),
                                        [](const Seen& s) { return s.source.rfind("registry:", 0) == 0; });
      if (registry || copy.holds || !copy.known) continue;
      DatasetId of;
      for (const CopyOf& o : copy.of)
        if (o.dataset.valid() && Inside(o.dataset)) of = o.dataset;
      if (!of.valid()) continue;
      Doubt doubt = Made(Doubt::Kind::kExposure, of);
      doubt.copy = CopyId{i};
      doubt.tables = doubt.cells = 0, doubt.copies = 1;
      out_.push_back(std::move(doubt));
    }
    for (std::uint32_t i = 0; i < g_.datasets.size(); ++i) {
      const Dataset& d = g_.datasets[i];
      if (d.kind != Kind::kDashboard || described.count(d.name) || !Inside(DatasetId{i})) continue;
      Doubt doubt = Made(Doubt::Kind::kExposure, DatasetId{i});
      doubt.tables = doubt.cells = 0, doubt.copies = 1;
      out_.push_back(std::move(doubt));
    }
  }

  void WaysOut() {
    std::map<std::string, DatasetId> by_name;
    for (const Extract& e : g_.extracts)
      if (e.dataset.valid()) by_name[g_[e.dataset].name] = e.dataset;
    // Ways out do not depend on the day; what was decided about them holds.
    for (AuditFinding& f : MakeAudit(g_, kMinInstant).findings) {
      if (f.code != "undocumented-extract" && f.code != "frozen-copy") continue;
      const auto it = by_name.find(f.dataset);
      if (inside_ && (it == by_name.end() || !Inside(it->second))) continue;
      Doubt doubt = Made(Doubt::Kind::kWayOut, {});
      if (it != by_name.end()) doubt.dataset = it->second;
      doubt.copies = 1;
      doubt.finding = std::move(f);
      out_.push_back(std::move(doubt));
    }
  }

  // Below it may be anything, so it stands behind what is known to matter.
  void Jobs() {
    if (inside_) return;
    for (std::uint32_t i = 0; i < g_.jobs.size(); ++i) {
      if (!g_.jobs[i].opaque) continue;
      Doubt doubt = Made(Doubt::Kind::kJob, {});
      doubt.job = JobId{i};
      out_.push_back(std::move(doubt));
    }
  }

  const LineageGraph& g_;
  Frame frame_;
  std::vector<std::int64_t> copies_of_;
  std::optional<std::vector<bool>> inside_;
  std::map<DatasetId, Below> known_;
  std::int64_t visits_ = 0;
  std::vector<Doubt> out_;
};

}  // namespace

std::vector<Doubt> FindDoubts(const LineageGraph& graph, Instant now, std::optional<DatasetId> below) {
  return Finder(graph, now, below).Find();
}

}  // namespace backreach
