// A log says that a table was written, not that a job writes it. One that a single statement wrote once, and
// that no other source knows, is a copy frozen inside the platform; the same statement on other days is a
// job. Tables that are built under one name and swapped or renamed into another are one dataset.

#include "graph/join/history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "graph/base/words.hpp"
#include "graph/names/names.hpp"

namespace backreach {

namespace {

// All that logs say of one written table.
struct Written {
  std::map<std::string, std::int64_t> times;  // by which log
  std::set<std::string> verbs, sources;
  std::vector<std::string> ids;
  Text user, first_seen, last_seen;
  std::int64_t days = 0;
  bool of_job = false;
};

class Settler {
 public:
  explicit Settler(std::vector<SourceFacts>& sources) : sources_(sources) {}

  void Run() {
    bool any = false;
    for (const SourceFacts& s : sources_) any = any || s.source.kind == "queries";
    if (!any) return;
    KnownElsewhere();
    for (SourceFacts& s : sources_) {
      if (s.source.kind != "queries") continue;
      facts_ = &s.facts;
      moved_.clear(), written_.clear(), outside_.clear();
      Moves();
      Rename();
      Collect();
      Freeze();
      Workers();
    }
  }

 private:
  void KnownElsewhere() {
    std::uint32_t n = 0;
    for (const SourceFacts& s : sources_) {
      if (s.source.kind == "queries") continue;
      for (const DatasetFact& d : s.facts.datasets) {
        const bool written = d.writes_relation || d.write.mode || s.source.kind == "registry";
        if (!written) continue;
        known_.Add(d.name, n, true);
        for (const std::string& alias : d.aliases) known_.Add(alias, n, true);
        if (!d.relation.empty()) known_.Add(Join(d.relation, "."), n, true);
        ++n;
      }
      for (const JobFact& j : s.facts.jobs)
        for (const std::string& name : j.writes) known_.Add(name, n++, true);
      for (const EdgeFact& e : s.facts.edges) known_.Add(e.to, n++, true);
    }
  }
  bool Known(const std::string& name) const { return known_.Find(name).found.has_value(); }

  // ---- names ----

  void Moves() {
    std::set<std::string> dropped;
    std::map<std::string, std::int64_t> used;  // how often a name is read
    for (const HistoryFact& f : facts_->history) {
      if (f.what == "dropped") dropped.insert(f.name);
      if (f.what == "read" || f.what == "pull") used[f.name] += f.times;
      if (f.what == "outside") outside_[f.name] = f.other.value_or("");
    }
    for (const EdgeFact& e : facts_->edges) ++used[e.from];
    for (const HistoryFact& f : facts_->history) {
      if ((f.what != "renamed" && f.what != "swapped") || !f.other || f.name == *f.other) continue;
      std::string from = f.name, to = *f.other;
      if (f.what == "renamed" && dropped.count(to)) continue;  // out of the way, and gone
      if (Known(from) && Known(to)) continue;
      if (f.what == "swapped") {  // the one that others read keeps its name
        const auto weight = [&](const std::string& name) { return Known(name) ? 1'000'000 : used[name]; };
        if (CloneOf(from, to) || (!CloneOf(to, from) && weight(from) < weight(to))) std::swap(from, to);
        std::swap(from, to);
      }
      if (Root(to) != Root(from)) moved_[Root(from)] = Root(to);
    }
  }
  bool CloneOf(const std::string& name, const std::string& of) const {
    for (const HistoryFact& f : facts_->history)
      if (f.what == "write" && f.name == name &&
          std::find(f.sources.begin(), f.sources.end(), of) != f.sources.end())
        return true;
    return false;
  }
  std::string Root(std::string name) const {
    for (int n = 0; n < 100; ++n) {
      const auto it = moved_.find(name);
      if (it == moved_.end()) break;
      name = it->second;
    }
    return name;
  }

  void Rename() {
    PassThrough();
    if (moved_.empty()) return;
    for (EdgeFact& e : facts_->edges) {
      const bool self = e.from == e.to;
      e.from = Root(e.from), e.to = Root(e.to);
      if (!self && e.from == e.to) e.from.clear();  // built from what it takes the place of
    }
    std::erase_if(facts_->edges, [](const EdgeFact& e) { return e.from.empty(); });
    std::map<std::string, std::vector<std::string>> aliases;
    for (const auto& [from, to] : moved_) aliases[Root(from)].push_back(from);
    std::set<std::string> there;
    for (const DatasetFact& d : facts_->datasets) there.insert(d.name);
    std::erase_if(facts_->datasets,
                  [&](const DatasetFact& d) { return moved_.count(d.name) && there.count(Root(d.name)); });
    for (DatasetFact& d : facts_->datasets) {
      const auto it = aliases.find(Root(d.name));
      if (it == aliases.end()) continue;
      if (Root(d.name) != d.name) d.name = Root(d.name), d.relation.clear(), d.stored.clear();
      d.aliases.insert(d.aliases.end(), it->second.begin(), it->second.end());
    }
    for (HistoryFact& f : facts_->history) {
      if (f.what == "renamed" || f.what == "swapped" || f.what == "dropped") continue;
      f.name = Root(f.name);
      for (std::string& source : f.sources) source = Root(source);
      std::erase(f.sources, f.name);
    }
    for (ExtractFact& f : facts_->extracts) f.dataset = Root(f.dataset);
  }

  // dbt's own tables between two statements of a model stand for what they were made from.
  void PassThrough() {
    std::map<std::string, std::vector<std::string>> parents;
    const auto passing = [&](const std::string& name) {
      return name.find("__dbt_tmp") != std::string::npos && !moved_.count(name);
    };
    bool any = false;
    for (const EdgeFact& e : facts_->edges)
      if (passing(e.to)) parents[e.to].push_back(e.from), any = true;
    if (!any) return;
    std::vector<EdgeFact> more;
    std::set<std::pair<std::string, std::string>> there;
    for (const EdgeFact& e : facts_->edges) there.insert({e.from, e.to});
    for (const EdgeFact& e : facts_->edges) {
      if (!passing(e.from) || passing(e.to)) continue;
      for (const std::string& from : parents[e.from]) {
        if (from == e.to || !there.insert({from, e.to}).second) continue;
        EdgeFact through = e;
        through.from = from;
        more.push_back(std::move(through));
      }
    }
    std::erase_if(facts_->edges, [&](const EdgeFact& e) { return passing(e.from) || passing(e.to); });
    for (EdgeFact& e : more) facts_->edges.push_back(std::move(e));
    std::erase_if(facts_->datasets, [&](const DatasetFact& d) { return passing(d.name); });
    std::erase_if(facts_->history,
                  [&](const HistoryFact& f) { return f.what == "write" && passing(f.name); });
  }

  // ---- who writes ----

  void Collect() {
    bool texts = false;
    for (const HistoryFact& f : facts_->history) texts = texts || (f.what == "write" && f.via == "text");
    for (const HistoryFact& f : facts_->history) {
      if (f.what != "write" || (texts && f.via != "text" && f.via != "stats")) continue;
      Written& w = written_[f.name];
      w.times[f.via.value_or("")] += f.times;
      w.verbs.insert(f.other.value_or(""));
      w.sources.insert(f.sources.begin(), f.sources.end());
      w.ids.insert(w.ids.end(), f.ids.begin(), f.ids.end());
      w.of_job = w.of_job || f.of_job;
      w.days += f.days;
      if (!w.user) w.user = f.user;
      if (f.first_seen && (!w.first_seen || *f.first_seen < *w.first_seen)) w.first_seen = f.first_seen;
      if (f.last_seen && (!w.last_seen || *f.last_seen > *w.last_seen)) w.last_seen = f.last_seen;
    }
  }

  // Written by one statement, once, by nobody's job.
  bool Frozen(const std::string& name, const Written& w) const {
    std::int64_t times = 0;
    for (const auto& [via, n] : w.times) times = std::max(times, n);
    const bool kind = w.verbs.count("create") || w.verbs.count("insert") || w.verbs.count("clone");
    return times == 1 && kind && !w.verbs.count("change") && !w.verbs.count("refresh") && !w.of_job &&
           w.first_seen && !w.sources.empty() && !Known(name);
  }

  // Projects of BigQuery that anything is read from: what is written elsewhere has left.
  bool Elsewhere(const std::string& name) const {
    if (platform_ != "bigquery" || name.find('.') == std::string::npos) return false;
    return !projects_.empty() && !projects_.count(name.substr(0, name.find('.')));
  }

  void Freeze() {
    platform_ = facts_->datasets.empty() ? "" : facts_->datasets[0].platform.value_or("");
    projects_.clear();
    for (const EdgeFact& e : facts_->edges) projects_.insert(e.from.substr(0, e.from.find('.')));
    for (const HistoryFact& f : facts_->history)
      if (f.what == "read" || f.what == "pull") projects_.insert(f.name.substr(0, f.name.find('.')));
    std::map<std::string, std::vector<std::string>> fed;
    for (const EdgeFact& e : facts_->edges)
      if (e.from != e.to) fed[e.from].push_back(e.to);
    std::set<std::string> taken_from;
    for (const ExtractFact& f : facts_->extracts) taken_from.insert(f.dataset);
    std::set<std::string> gone;
    for (const auto& [name, w] : written_) {
      const auto lies = outside_.find(name);
      const bool outside = (lies != outside_.end() || Elsewhere(name)) && !w.sources.empty() && !Known(name);
      const bool frozen = !outside && Frozen(name, w);
      if (!outside && !frozen) continue;
      gone.insert(name);
      const std::string where =
          outside && lies != outside_.end() && !lies->second.empty() ? name + " on " + lies->second : name;
      for (const std::string& source : w.sources)
        facts_->extracts.push_back(ExtractOf(source, where, w, frozen));
      if (frozen && (fed.count(name) || taken_from.count(name)))
        facts_->copies.push_back(CopyOf(name, w, fed[name]));
    }
    if (gone.empty()) return;
    std::erase_if(facts_->edges, [&](const EdgeFact& e) { return gone.count(e.to) || gone.count(e.from); });
    std::erase_if(facts_->datasets, [&](const DatasetFact& d) { return gone.count(d.name) > 0; });
  }

  ExtractFact ExtractOf(const std::string& source, const std::string& where, const Written& w,
                        bool frozen) const {
    ExtractFact f;
    f.dataset = source, f.destination = where;
    f.user = w.user, f.first_seen = w.first_seen, f.last_seen = w.last_seen;
    for (const auto& [via, n] : w.times) f.times = std::max(f.times, n);
    f.ids = w.ids;
    std::sort(f.ids.begin(), f.ids.end());
    f.ids.erase(std::unique(f.ids.begin(), f.ids.end()), f.ids.end());
    f.frozen = frozen;
    if (!facts_->datasets.empty()) f.at = facts_->datasets[0].at;
    f.via = "text";
    f.what =
        frozen ? (w.verbs.count("clone") ? "a clone" : "a table written once") : "a table outside is written";
    return f;
  }
  CopyFact CopyOf(const std::string& name, const Written& w, const std::vector<std::string>& feeds) const {
    CopyFact c;
    c.id = "frozen:" + name;
    c.of.assign(w.sources.begin(), w.sources.end());
    c.kind = "other", c.where = name;
    c.known = false;
    if (w.first_seen) c.taken = {*w.first_seen};
    c.feeds = feeds;
    if (w.user) c.by = {*w.user};
    c.note = "a table written by one statement, once";
    return c;
  }

  // What is only ever changed in place is written by something all the same.
  void Workers() {
    std::set<std::string> made;
    for (const EdgeFact& e : facts_->edges)
      if (e.from != e.to) made.insert(e.to);
    for (const auto& [name, w] : written_) {
      if (made.count(name) || !w.verbs.count("change") || Known(name)) continue;
      JobFact job;
      job.name = "statements on " + name;
      job.writes = {name};
      job.separable = true;
      if (!facts_->datasets.empty()) job.at = facts_->datasets[0].at;
      facts_->jobs.push_back(std::move(job));
    }
  }

  std::vector<SourceFacts>& sources_;
  Facts* facts_ = nullptr;
  NameIndex known_;
  std::string platform_;
  std::set<std::string> projects_;
  std::map<std::string, std::string> moved_, outside_;
  std::map<std::string, Written> written_;
};

}  // namespace

void SettleHistory(std::vector<SourceFacts>& sources) { Settler(sources).Run(); }

}  // namespace backreach
