// Names first: what a producer writes becomes the one spelling that names have here, and the partitions,
// shards and files of a dataset become that dataset where two of them were seen. Everything else is said of
// the datasets that come out.

#include "ingest/openlineage/facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "graph/base/words.hpp"
#include "graph/names/address.hpp"
#include "graph/time/time.hpp"
#include "ingest/openlineage/windows.hpp"

namespace backreach::openlineage {

namespace {

// The grains that were seen of one dataset.
struct Grains {
  std::set<Cut> keys, bounds, nominal;
  std::optional<Civil> week;  // when a week of it began
  // A partition's key tells best, the period that a run was for least.
  Cut cut() const {
    const std::set<Cut>& told = !keys.empty() ? keys : !bounds.empty() ? bounds : nominal;
    return told.size() == 1 ? *told.begin() : Cut::kNone;
  }
};

struct Final {
  std::string name;
  std::vector<Number> seen;  // the ledger's datasets that it is
  Grains grains;
  std::set<Number> writers, readers;  // jobs
};

struct EdgeSeen {
  std::int64_t first = 0, last = 0, times = 0;
  bool failed_only = true, any = false;
  std::set<Number> jobs;
  Window window;
};

class FactMaker {
 public:
  explicit FactMaker(const Ledger& ledger) : l_(ledger) {}

  Facts Make() {
    NameDatasets();
    TakeShapes();
    TakeParts();
    TakeColumns();
    Datasets();
    Edges();
    Jobs();
    out_.observed = l_.Pack();
    return std::move(out_);
  }

 private:
  // ---- Names ----

  // What a name with an open part is called: the name itself, as long as it has no sibling.
  std::string Folded(const SeenDataset& d, const std::map<Named, std::set<std::string>>& rests) const {
    if (d.id.name.find(kOpen) == std::string::npos) return d.id.name;
    if (d.least == d.greatest) return d.greatest;
    if (const auto path = CutPath(d.greatest); path && path->pattern == d.id.name) {
      // Files that lie side by side in the same partitions stay apart.
      const auto it = rests.find({d.id.space, path->dataset});
      const bool alone = it == rests.end() || it->second.size() < 2 || path->rest.empty();
      if (alone) return path->dataset;
      return path->dataset.empty() ? path->rest : path->dataset + "/" + path->rest;
    }
    return d.id.name.substr(0, d.id.name.size() - 2);  // `_` and what was left open
  }

  void NameDatasets() {
    const auto& seen = l_.datasets();
    std::vector<bool> used(seen.size(), false);
    for (const SeenRun& r : l_.runs()) {
      const Shape& s = l_.shapes()[r.shape];
      for (const Number d : s.in) used[d] = true;
      for (const Number d : s.out) used[d] = true;
      for (const auto& [from, to] : s.pairs) used[from] = used[to] = true;
    }
    std::map<Named, std::set<std::string>> rests;
    for (const SeenDataset& d : seen)
      if (d.least != d.greatest)
        if (const auto path = CutPath(d.greatest)) rests[{d.id.space, path->dataset}].insert(path->rest);
    final_of_.assign(seen.size(), kNobody);
    std::map<std::string, std::vector<Number>> by_name;
    for (Number i = 0; i < seen.size(); ++i) {
      const SeenDataset& d = seen[i];
      if (!used[i] && d.owner.value.empty() && d.symlinks.empty() && d.renamed_from.empty()) continue;
      by_name[CanonicalDataset(d.id.space, Folded(d, rests))].push_back(i);
    }
    for (auto& [name, list] : by_name) {
      for (const Number i : list) final_of_[i] = static_cast<Number>(finals_.size());
      std::sort(list.begin(), list.end(), [&](Number a, Number b) { return seen[a].id < seen[b].id; });
      Final& f = finals_.emplace_back();
      f.name = name, f.seen = list;
    }
  }

  std::string JobName(Number job) const { return NameOf(l_.jobs()[job].id); }
  static std::string NameOf(const Named& n) { return n.space.empty() ? n.name : n.space + "/" + n.name; }

  // ---- What runs show ----

  // Calls f(from, to) for each edge of a shape, each once.
  template <typename F>
  void EachEdge(const Shape& s, F f) const {
    std::set<std::pair<Number, Number>> edges;
    std::set<Number> told;
    for (const auto& [from, to] : s.pairs) {
      told.insert(to);
      edges.emplace(final_of_[from], final_of_[to]);
    }
    for (const Number out : s.out)
      if (!told.count(out))
        for (const Number in : s.in) edges.emplace(final_of_[in], final_of_[out]);
    for (const auto& [from, to] : edges) f(from, to);
  }

  void TakeShapes() {
    struct Use {
      std::int64_t first = 0, last = 0, times = 0;
      bool failed_only = true;
    };
    std::vector<Use> uses(l_.shapes().size());
    for (const SeenRun& r : l_.runs()) {
      Use& u = uses[r.shape];
      u.first = u.times == 0 ? r.first : std::min(u.first, r.first);
      u.last = u.times == 0 ? r.last : std::max(u.last, r.last);
      u.failed_only = u.failed_only && r.failed();
      ++u.times;
    }
    for (std::size_t i = 0; i < uses.size(); ++i) {
      const Use& u = uses[i];
      const Shape& s = l_.shapes()[i];
      if (u.times == 0) continue;
      for (const Number d : s.in) finals_[final_of_[d]].readers.insert(s.job);
      for (const Number d : s.out) finals_[final_of_[d]].writers.insert(s.job);
      EachEdge(s, [&](Number from, Number to) {
        EdgeSeen& e = edges_[{from, to}];
        e.first = e.any ? std::min(e.first, u.first) : u.first;
        e.last = std::max(e.last, u.last);
        e.times += u.times;
        e.failed_only = e.failed_only && u.failed_only;
        e.any = true;
        e.jobs.insert(s.job);
      });
    }
  }

  static std::optional<Period> Nominal(const SeenRun& r) {
    if (!(r.flags & kNominal)) return std::nullopt;
    const Cut cut = CutBetween(r.from, r.to);
    return Period{cut, r.from, r.to, false};
  }

  // The part of a dataset that a run read or wrote, whatever names it used.
  std::optional<Period> PartOf(const std::vector<SeenPart>* parts, Number dataset, bool written) const {
    if (!parts) return std::nullopt;
    std::vector<Period> found;
    for (const SeenPart& p : *parts)
      if (final_of_[p.dataset] == dataset && p.written == written) found.push_back(p.period);
    return found.size() == 1 ? std::optional(found[0]) : Together(std::move(found));
  }

  void TakeParts() {
    std::vector<std::int64_t> silent(l_.shapes().size(), 0);  // runs that told no part, by shape
    for (const SeenRun& r : l_.runs()) {
      if (r.failed()) continue;
      const Shape& s = l_.shapes()[r.shape];
      const std::vector<SeenPart>* parts = l_.PartsOf(r);
      const std::optional<Period> nominal = Nominal(r);
      if (parts)
        for (const SeenPart& p : *parts) {
          // The date in a name that has no sibling is a part of the name.
          const SeenDataset& d = l_.datasets()[p.dataset];
          if (d.least.empty() || d.least != d.greatest) Note(finals_[final_of_[p.dataset]].grains, p);
        }
      if (nominal && nominal->cut != Cut::kNone) {
        for (const Number d : s.out) {
          Grains& g = finals_[final_of_[d]].grains;
          g.nominal.insert(nominal->cut);
          if (nominal->cut == Cut::kWeek) g.week = nominal->from;
        }
      }
      if (s.out.empty() && s.pairs.empty()) continue;
      if (!parts) {
        ++silent[r.shape];
        continue;
      }
      EachEdge(s, [&](Number from, Number to) {
        const auto edge = edges_.find({from, to});
        if (edge == edges_.end()) return;
        std::optional<Period> written = PartOf(parts, to, true);
        if (!written) written = nominal;
        edge->second.window.Add(PartOf(parts, from, false), written);
      });
    }
    for (std::size_t i = 0; i < silent.size(); ++i)
      if (silent[i] > 0)
        EachEdge(l_.shapes()[i], [&](Number from, Number to) {
          if (const auto edge = edges_.find({from, to}); edge != edges_.end())
            edge->second.window.AddSilent(silent[i]);
        });
  }

  static void Note(Grains& g, const SeenPart& p) {
    if (p.period.cut < Cut::kHour) return;
    (p.stated ? g.keys : g.bounds).insert(p.period.cut);
    if (p.period.cut == Cut::kWeek) g.week = p.period.from;
  }

  void TakeColumns() {
    for (const auto& [ends, pairs] : l_.columns()) {
      const Number from = final_of_[ends.first], to = final_of_[ends.second];
      if (from == kNobody || to == kNobody) continue;
      columns_[{from, to}].insert(pairs.begin(), pairs.end());
    }
  }

  // ---- Facts ----

  bool IsTest(const SeenJob& j) const {
    if (j.integration.value != "dbt") return false;
    return j.type.value == "test" || StartsWith(j.id.name, "test.") || EndsWith(j.id.name, ".test");
  }

  void AddNames(const Final& f, DatasetFact& fact) const {
    std::set<std::pair<std::string, std::string>> done = {{f.name, ""}};
    std::vector<NameFact>* names = nullptr;
    const auto add = [&](std::string name, NameRule rule, std::string detail = {}) {
      if (name.empty() || !done.emplace(name, "").second) return;
      if (!names) names = &fact.names.Make();
      names->push_back({std::move(name), rule, std::move(detail)});
    };
    for (const Number i : f.seen) {
      const SeenDataset& d = l_.datasets()[i];
      if (d.least != d.greatest) {
        const std::string first = CanonicalDataset(d.id.space, d.least),
                          last = CanonicalDataset(d.id.space, d.greatest);
        add(first, NameRule::kPart, "the first of its partitions, shards or files that were seen");
        add(last, NameRule::kPart, "the last of its partitions, shards or files that were seen");
      } else {
        const std::string& literal = d.id.name.find(kOpen) == std::string::npos ? d.id.name : d.greatest;
        const bool slash = StartsWith(literal, "/") || d.id.space.empty();
        add(d.id.space + (slash ? "" : "/") + literal, NameRule::kSpelling);
      }
    }
    for (const Number i : f.seen) {
      const SeenDataset& d = l_.datasets()[i];
      for (const Named& s : d.symlinks) add(CanonicalDataset(s.space, s.name), NameRule::kSymlink);
      for (const Named& r : d.renamed_from) {
        const std::string before = CanonicalDataset(r.space, r.name);
        // What was itself put in the place of another is no name of the one that its old content went to.
        if (!IsRenamedTo(before)) add(before, NameRule::kRenamed);
      }
    }
  }

  bool IsRenamedTo(const std::string& name) const {
    const auto f = std::lower_bound(finals_.begin(), finals_.end(), name,
                                    [](const Final& a, const std::string& b) { return a.name < b; });
    if (f == finals_.end() || f->name != name) return false;
    return std::any_of(f->seen.begin(), f->seen.end(),
                       [&](Number i) { return !l_.datasets()[i].renamed_from.empty(); });
  }

  void Datasets() {
    static constexpr const char* kDays[] = {"monday", "tuesday",  "wednesday", "thursday",
                                            "friday", "saturday", "sunday"};
    for (const Final& f : finals_) {
      DatasetFact& fact = out_.datasets.emplace_back();
      fact.name = f.name;
      AddNames(f, fact);
      Newest owner;
      for (const Number i : f.seen) {
        const Newest& o = l_.datasets()[i].owner;
        if (!o.value.empty()) owner.Take(o.at, o.value);
      }
      if (!owner.value.empty()) fact.owner = owner.value;
      if (const Cut cut = f.grains.cut(); cut >= Cut::kHour) {
        PartitionFact& p = fact.partitions.emplace_back();
        p.grain = GrainOf(cut);
        if (cut == Cut::kWeek && f.grains.week)
          if (const auto day = FloorMod(FloorDiv(*f.grains.week, kDay) + 3, 7); day != 0)
            p.week_start = kDays[day];
        fact.grain_inferred = true;
      }
      fact.of_tests = !f.writers.empty() && f.readers.empty();
      for (const Number job : f.writers) fact.of_tests = fact.of_tests && IsTest(l_.jobs()[job]);
      const std::set<Number>& jobs = f.writers.empty() ? f.readers : f.writers;
      std::string first;
      for (const Number job : jobs)
        if (std::string name = JobName(job); first.empty() || name < first) first = std::move(name);
      fact.at = {"", first.empty() ? std::string("an event of its own")
                                   : (f.writers.empty() ? "read by " : "written by ") + first};
    }
  }

  void Edges() {
    for (const auto& [ends, e] : edges_) {
      EdgeFact& fact = out_.edges.emplace_back();
      fact.from = finals_[ends.first].name, fact.to = finals_[ends.second].name;
      std::vector<std::string> jobs;
      for (const Number job : e.jobs) jobs.push_back(JobName(job));
      std::sort(jobs.begin(), jobs.end());
      fact.job = jobs[0];
      const std::string runs = Plural(e.window.runs(), "run") + " of " + ListOf(jobs, 3);
      if (jobs.size() > 1) fact.jobs = jobs;
      fact.known = "assumed";
      if (const std::string reads = e.window.Reads(); !reads.empty() && !(ends.first == ends.second)) {
        fact.reads = reads;
        fact.known = "inferred";
        fact.seen_in = runs;
      }
      if (e.first != 0) fact.first_seen = FormatInstant(e.first);
      if (e.last != 0) fact.last_seen = FormatInstant(e.last);
      fact.failed_only = e.failed_only;
      if (e.failed_only) fact.note = "seen only in runs that failed or were aborted";
      fact.times = e.times;
      if (const auto columns = columns_.find(ends); columns != columns_.end())
        for (const auto& [from, to] : columns->second) fact.columns.Make().push_back({from, to});
      fact.at = {"", "job " + jobs[0]};
    }
  }

  void Jobs() {
    std::vector<std::set<std::string>> reads(l_.jobs().size()), writes(l_.jobs().size());
    for (const Final& f : finals_) {
      for (const Number job : f.readers) reads[job].insert(f.name);
      for (const Number job : f.writers) writes[job].insert(f.name);
    }
    std::set<Named> parents;
    for (const SeenJob& j : l_.jobs()) parents.insert(j.parents.begin(), j.parents.end());
    std::vector<Number> order(l_.jobs().size());
    for (Number i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](Number a, Number b) { return JobName(a) < JobName(b); });
    for (const Number i : order) {
      const SeenJob& j = l_.jobs()[i];
      const bool silent = reads[i].empty() && writes[i].empty();
      // The statements of a dbt node are jobs of their own, and tell nothing that the node does not.
      const bool statement = j.integration.value == "dbt" && j.type.value == "sql";
      if (silent && statement) continue;
      JobFact& fact = out_.jobs.emplace_back();
      fact.name = JobName(i);
      if (!j.integration.value.empty()) fact.orchestrator = j.integration.value;
      fact.reads.assign(reads[i].begin(), reads[i].end());
      fact.writes.assign(writes[i].begin(), writes[i].end());
      if (!j.owner.value.empty()) fact.owner = j.owner.value;
      // A run may have several parents over time; the innermost is the one that is no other's.
      if (!j.parents.empty()) fact.parent = NameOf(*j.parents.begin());
      for (const Named& n : j.after) fact.after.push_back(NameOf(n));
      std::sort(fact.after.begin(), fact.after.end());
      fact.tests = IsTest(j);
      fact.opaque = silent && !fact.tests && !parents.count(j.id) && j.type.value != "dag";
      fact.at = {"", "job " + fact.name};
    }
  }

  const Ledger& l_;
  std::vector<Number> final_of_;
  std::vector<Final> finals_;  // by name
  std::map<std::pair<Number, Number>, EdgeSeen> edges_;
  std::map<std::pair<Number, Number>, Ledger::ColumnPairs> columns_;
  Facts out_;
};

}  // namespace

Facts FactsOf(const Ledger& ledger) { return FactMaker(ledger).Make(); }

}  // namespace backreach::openlineage
