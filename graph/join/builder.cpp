// The order of work: (1) one prototype for each dataset that an importer knows, relations that are the same
// table joined; (2) the registry's datasets placed on them, or made; (3) facts merged by rank, calendars
// laid (calendars.hpp); (4) edges, jobs, copies resolved and their mappings judged (mappings.hpp); (5)
// everything sorted and numbered.

#include "graph/join/builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <unordered_map>

#include "graph/base/digest.hpp"
#include "graph/base/words.hpp"
#include "graph/join/calendars.hpp"
#include "graph/join/code_mappings.hpp"
#include "graph/join/dbt_runs.hpp"
#include "graph/join/history.hpp"
#include "graph/join/mappings.hpp"
#include "graph/join/seen_in_runs.hpp"
#include "graph/reads/reads_json.hpp"

namespace backreach {

namespace {

struct FactRef {
  std::uint32_t source;
  DatasetFact* fact;  // what a dataset takes of its only fact is moved out of it
};

struct Proto {
  std::string name;
  std::vector<std::string> aliases, short_names;  // sorted, and each once, when its dataset is made
  std::vector<FactRef> facts;                     // by rank: registries first
  std::uint32_t into = 0;                         // itself, or the prototype that it was joined to
  std::map<std::string, std::string> joined;      // names of what was joined to it, and by which rule
};

// How a name that a source gives beside its own comes to be one of the dataset's.
const char* HowOf(NameRule rule) {
  switch (rule) {
    case NameRule::kSpelling: return "the same address in another spelling";
    case NameRule::kSymlink: return "a symlink of it, as the events say";
    case NameRule::kRenamed: return "renamed or swapped into it, as the events say";
    case NameRule::kPart: return "a partition, shard or file of it";
    case NameRule::kUnstored: return "the relation that it would be if it were stored";
    case NameRule::kGiven: break;
  }
  return "a name that the source gives";
}

void Append(std::vector<std::string> from, std::vector<std::string>& to) {
  if (to.empty())
    to = std::move(from);
  else
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

class Builder {
 public:
  explicit Builder(std::vector<SourceFacts> sources, bool strict = false)
      : sources_(std::move(sources)), strict_(strict) {
    SettleHistory(sources_);
    std::sort(sources_.begin(), sources_.end(), [](const SourceFacts& a, const SourceFacts& b) {
      return std::tie(a.source.kind, a.source.name, a.source.sha256, a.source.key) <
             std::tie(b.source.kind, b.source.name, b.source.sha256, b.source.key);
    });
    for (std::uint32_t i = 0; i < sources_.size(); ++i) {
      labels_.push_back(sources_[i].source.kind + ":" + sources_[i].source.name);
      (sources_[i].source.kind == "registry" ? registries_ : importers_).push_back(i);
    }
  }

  BuiltGraph Build() {
    FindTests();
    Prototypes();
    JoinSaidNames();
    JoinRelations();
    IndexImporters();
    PlaceRegistries();
    NameEverybodyElse();
    MakeDatasets();
    MakeEdges();
    LeaveToManifests(out_.graph);
    MakeJobs();
    MakeCopies();
    MakeRest();
    NameOrphans();
    SayLookAlikes(out_.graph);
    NameStrangers();
    TakeMappingsFromCode(out_.graph);
    JudgeMappings(out_.graph, strict_);
    Finish();
    return std::move(out_);
  }

 private:
  Seen SeenAt(std::uint32_t source, const Place& place) const { return {labels_[source], place}; }

  std::uint32_t Root(std::uint32_t p) const {
    while (protos_[p].into != p) p = protos_[p].into;
    return p;
  }

  std::uint32_t NewProto(const std::string& name) {
    const auto id = static_cast<std::uint32_t>(protos_.size());
    protos_.push_back({name, {}, {}, {}, id, {}});
    by_name_.emplace(protos_.back().name, id);
    return id;
  }

  // Joins b to a: one dataset from now on, known by a's name. `how`: the rule, for people.
  void Join(std::uint32_t a, std::uint32_t b, const std::string& how) {
    a = Root(a), b = Root(b);
    if (a == b) return;
    Proto &to = protos_[a], &from = protos_[b];
    to.aliases.push_back(from.name);
    to.joined.emplace(from.name, how);
    to.joined.merge(from.joined);
    Append(std::move(from.aliases), to.aliases);
    Append(std::move(from.short_names), to.short_names);
    to.facts.insert(to.facts.end(), from.facts.begin(), from.facts.end());
    from.facts.clear();
    from.into = a;
  }

  // ---- 1: what importers know ----

  // Where a project is known, what only its tests are said to write is not there: the project says so.
  void FindTests() {
    const auto dbt = [&](std::uint32_t s) { return sources_[s].source.kind == "dbt"; };
    if (std::none_of(importers_.begin(), importers_.end(), dbt)) return;
    for (const std::uint32_t s : importers_)
      for (const JobFact& j : sources_[s].facts.jobs)
        if (j.tests) tests_.insert(j.name);
  }
  bool OfTests(const EdgeFact& e) const {
    if (tests_.empty() || !e.job) return false;
    const auto test = [&](const std::string& job) { return tests_.count(job) > 0; };
    return test(*e.job) && std::all_of(e.jobs.begin(), e.jobs.end(), test);
  }

  // The name with a dot wherever `like` has one in the place of a slash.
  static std::string Dotted(std::string name, const std::string& like) {
    for (std::size_t i = 0; i < name.size() && i < like.size(); ++i)
      if (name[i] == '/' && like[i] == '.') name[i] = '.';
    return name;
  }

  void Prototypes() {
    for (const std::uint32_t s : importers_) {
      const bool nodes = sources_[s].source.kind == "dbt";  // whose names are no addresses
      for (DatasetFact& fact : sources_[s].facts.datasets) {
        if (fact.of_tests && !tests_.empty()) continue;
        const std::string name = nodes ? fact.name : CanonicalUri(fact.name);
        const auto it = by_name_.find(name);
        // A table that is written as a path (`postgres://host/db/schema/t`) keeps that name, and is found by
        // both.
        const bool path = name != fact.name && name == Dotted(fact.name, name);
        const std::uint32_t id = it == by_name_.end() ? NewProto(path ? fact.name : name) : it->second;
        if (path) {
          by_name_.emplace(kept_names_.emplace_back(name), id);
          if (protos_[id].name != name) protos_[id].aliases.push_back(name);
        }
        Proto& p = protos_[id];
        p.facts.push_back({s, &fact});
        if (protos_[id].name != fact.name) p.aliases.push_back(fact.name);
        for (const NameFact& n : *fact.names)
          if (n.rule == NameRule::kSpelling) p.aliases.push_back(n.name);
        Append(std::move(fact.aliases), p.aliases);
        Append(std::move(fact.short_names), p.short_names);
        if (!fact.relation.empty()) p.aliases.push_back(Join_(fact.relation));
        if (!fact.stored.empty() && fact.stored != fact.relation) p.aliases.push_back(Join_(fact.stored));
      }
    }
  }
  static std::string Join_(const std::vector<std::string>& parts) { return backreach::Join(parts, "."); }

  bool IsLog(std::uint32_t source) const { return sources_[source].source.kind == "queries"; }
  // Letter by letter where the source knows the relation so: then capitals tell two tables apart.
  static std::string KeyOf(const DatasetFact& f) {
    return RelationKey(PlatformName(*f.platform), f.stored.size() == 3 ? f.stored : f.relation);
  }
  static bool Apart(const DatasetFact& a, const DatasetFact& b) {
    return a.stored.size() == 3 && b.stored.size() == 3 && a.stored != b.stored && a.platform == "snowflake";
  }
  const DatasetFact* StoredOf(std::uint32_t p) const {
    for (const FactRef& ref : protos_[p].facts)
      if (ref.fact->stored.size() == 3) return ref.fact;
    return nullptr;
  }

  // Names that a source says lead to the same data. One that is said of two datasets stands for neither:
  // nobody can tell which of them it means.
  void JoinSaidNames() {
    struct Claim {
      std::set<std::uint32_t> by;
      NameRule rule = NameRule::kSymlink;
    };
    std::map<std::string, Claim> claims;
    for (std::uint32_t p = 0; p < protos_.size(); ++p)
      for (const FactRef& ref : protos_[p].facts)
        for (const NameFact& n : *ref.fact->names)
          if (n.rule == NameRule::kSymlink || n.rule == NameRule::kRenamed) {
            Claim& claim = claims[n.name];
            claim.by.insert(p);
            claim.rule = n.rule;
          }
    for (const auto& [name, claim] : claims) {
      std::set<std::uint32_t> roots;
      for (const std::uint32_t p : claim.by) roots.insert(Root(p));
      if (roots.size() > 1) {
        std::vector<std::string> datasets;
        for (const std::uint32_t p : roots) datasets.push_back(protos_[p].name);
        std::sort(datasets.begin(), datasets.end());
        for (const std::uint32_t p : roots)
          Problem("two-paths", name, p,
                  fmt::format("{} is said to be another name of {}: nobody can tell which of them it means, "
                              "and it is taken as none; if it is one: {{name: \"{}\", aliases: [\"{}\"]}}",
                              name, ListOf(datasets), protos_[p].name, name),
                  p);
        continue;
      }
      const std::uint32_t p = *roots.begin();
      const auto other = by_name_.find(name);
      if (other != by_name_.end())
        Join(p, other->second, HowOf(claim.rule));
      else
        protos_[p].aliases.push_back(name);
    }
  }

  // Two nodes of one relation are one dataset, named by the node that writes it.
  void JoinRelations() {
    struct Member {
      bool writes;
      std::uint32_t proto;
      bool log;  // only statements name it
    };
    std::unordered_map<std::string, Member> first;  // most relations have one member, and no address
    std::map<std::string, std::vector<Member>> relations;
    std::map<std::string, std::set<std::string>> accounts;
    std::map<std::string, std::vector<std::uint32_t>> addressed;
    std::unordered_map<std::string, std::uint32_t> unstored;
    for (std::uint32_t p = 0; p < protos_.size(); ++p) {
      for (const FactRef& ref : protos_[p].facts) {
        if (!ref.fact->platform) continue;
        const std::string platform = PlatformName(*ref.fact->platform);
        for (const NameFact& n : *ref.fact->names)
          if (n.rule == NameRule::kUnstored) unstored.emplace(RelationKey(platform, Split(n.name, '.')), p);
        if (ref.fact->relation.size() < 2 || ref.fact->relation.size() > 3) continue;
        const Member member{ref.fact->writes_relation, p, IsLog(ref.source)};
        const auto [it, fresh] = first.emplace(KeyOf(*ref.fact), member);
        if (fresh) continue;
        std::vector<Member>& members = relations[it->first];
        if (members.empty()) members.push_back(it->second);
        members.push_back(member);
      }
      // Every name counts: the table may have been joined to what lies under it (a path, say).
      if (protos_[p].name.find('/') == std::string::npos) continue;
      if (const auto address = ParseTableAddress(protos_[p].name)) {
        accounts[address->platform].insert(address->account);
        addressed[RelationKey(address->platform, address->parts)].push_back(p);
      }
    }
    for (const auto& [key, protos] : addressed) {
      if (const auto it = first.find(key); it != first.end()) {
        if (!relations.count(key)) relations[key].push_back(it->second);
      } else if (const auto none = unstored.find(key); none != unstored.end()) {
        relations[key].push_back({false, none->second, false});
      }
    }
    const auto before = [&](const Member& a, const Member& b) {
      if (a.log != b.log) return b.log;
      if (a.writes != b.writes) return a.writes;
      return protos_[a.proto].name < protos_[b.proto].name;
    };
    for (auto& [key, members] : relations) {
      std::sort(members.begin(), members.end(), before);
      for (const Member& m : members) {
        const DatasetFact *one = StoredOf(members[0].proto), *other = StoredOf(m.proto);
        if (one && other && Apart(*one, *other)) continue;
        if (m.writes && Root(m.proto) != Root(members[0].proto) && members[0].writes)
          Problem("two-writers", protos_[m.proto].name, members[0].proto,
                  fmt::format("{} and {} write the same table; taken as one dataset, named by the first",
                              protos_[members[0].proto].name, protos_[m.proto].name),
                  m.proto);
        Join(members[0].proto, m.proto, "another node of the same relation");
      }
      const auto it = addressed.find(key);
      if (it == addressed.end()) continue;
      const std::string platform = key.substr(0, key.find('\n'));
      for (const std::uint32_t p : it->second) {
        if (accounts[platform].size() == 1) {
          const std::string how = fmt::format(
              "the same relation: platform and all parts of the name agree, and the store knows one account "
              "of {}",
              platform);
          if (members[0].log)
            Join(p, members[0].proto, how);
          else
            Join(members[0].proto, p, how);
        } else
          Problem(
              "which-account", protos_[p].name, members[0].proto,
              fmt::format("{} may be {}: the store knows {} accounts of {}; if it is: {{name: {}, aliases: "
                          "[\"{}\"]}}",
                          protos_[p].name, protos_[Root(members[0].proto)].name, accounts[platform].size(),
                          platform, protos_[Root(members[0].proto)].name, protos_[p].name),
              p);
      }
    }
  }

  // A thing that could not be settled while joining; its dataset is known by prototype until datasets exist.
  void Problem(const std::string& what, const std::string& name, std::uint32_t proto,
               const std::string& message, std::uint32_t seen_at) {
    const auto& facts = protos_[seen_at].facts;
    problems_.push_back({{name, what, std::nullopt, message, facts.empty() ? Place() : facts[0].fact->at},
                         proto,
                         facts.empty() ? 0 : facts[0].source});
  }

  void IndexImporters() {
    for (std::uint32_t p = 0; p < protos_.size(); ++p)
      if (protos_[p].into == p) IndexProto(importer_index_, p);
  }
  void IndexProto(NameIndex& index, std::uint32_t p) const {
    index.Add(protos_[p].name, p, true);
    for (const std::string& alias : protos_[p].aliases) index.Add(alias, p, true);
    for (const std::string& name : protos_[p].short_names)
      if (name != protos_[p].name) index.Add(name, p, false);
  }

  // ---- 2: what registries say ----

  void PlaceRegistries() {
    std::vector<std::pair<std::uint32_t, DatasetFact*>> facts;
    for (const std::uint32_t s : registries_)
      for (DatasetFact& fact : sources_[s].facts.datasets) facts.push_back({s, &fact});
    std::sort(facts.begin(), facts.end(), [](const auto& a, const auto& b) {
      return std::tie(a.second->name, a.first) < std::tie(b.second->name, b.first);
    });
    for (const auto& [s, fact] : facts) {
      if (fact->select) {
        PlaceSelected(s, *fact);
        continue;
      }
      const NameMatch match = importer_index_.Find(fact->name);
      if (!match.candidates.empty()) {
        Ambiguous(fact->name, match.candidates, s, fact->at);
        continue;
      }
      std::uint32_t p;
      if (match.found) {
        p = Root(*match.found);
      } else {
        const auto it = by_name_.find(fact->name);
        p = it == by_name_.end() ? NewProto(fact->name) : Root(it->second);
        // What it is, it may say itself; or a job of the registry makes it.
        if (!fact->kind && !fact->write.mode && fact->aliases.empty())
          strangers_[fact->name] = {"dataset", SeenAt(s, fact->at)};
        else
          explained_.insert(fact->name);
      }
      declared_[fact->name] = p;
      protos_[p].facts.push_back({s, fact});
      for (const std::string& alias : fact->aliases) {
        // The registry says that the two are one: a dbt node keeps its name, else the dataset as declared
        // does.
        if (const auto other = importer_index_.FindExact(alias)) {
          const std::uint32_t q = Root(*other);
          const std::string how = "an alias in " + fact->at.file + ":" + fact->at.place;
          if (q != p && IsDbt(q) && !IsDbt(p))
            Join(q, p, how), p = q;
          else
            Join(p, q, how);
        }
        protos_[Root(p)].aliases.push_back(alias);
      }
    }
    for (auto& [name, p] : declared_) p = Root(p);
  }
  // An entry for all that a selector matches.
  void PlaceSelected(std::uint32_t s, DatasetFact& fact) {
    const DbtProjects::Answer answer = Dbt().Matching(*fact.select);
    bool any = false;
    for (const std::string& id : answer.writes)
      if (const auto known = importer_index_.FindExact(id)) {
        protos_[Root(*known)].facts.push_back({s, &fact});
        any = true;
      }
    if (any) return;
    std::string name = *fact.select;
    if (!answer.unknown.empty()) name += " (" + answer.unknown.substr(0, answer.unknown.find('\n')) + ")";
    out_.graph.unknown_names.push_back({"selector", std::move(name), {}, SeenAt(s, fact.at)});
  }
  DbtProjects& Dbt() {
    if (!dbt_) dbt_ = std::make_unique<DbtProjects>(sources_);
    return *dbt_;
  }

  bool IsDbt(std::uint32_t p) const {
    for (const FactRef& ref : protos_[p].facts)
      if (sources_[ref.source].source.kind == "dbt") return true;
    return false;
  }

  void Ambiguous(const std::string& name, const std::vector<std::uint32_t>& candidates, std::uint32_t s,
                 const Place& at) {
    std::vector<std::string> names;
    for (const std::uint32_t c : candidates) names.push_back(protos_[Root(c)].name);
    problems_.push_back({{name, "ambiguous", std::nullopt,
                          fmt::format("'{}' could be any of {}: say which", name, ListOf(names)), at},
                         candidates.empty() ? 0 : Root(candidates[0]),
                         s});
  }

  // Names in edges, jobs and feeds of a registry that nobody knows become datasets.
  void NameEverybodyElse() {
    registry_index_ = importer_index_;
    for (const auto& [name, p] : declared_) {
      registry_index_.Add(name, p, true);
      for (const std::string& alias : protos_[p].aliases) registry_index_.Add(alias, p, true);
    }
    std::set<std::string> unknown;
    const auto note = [&](const std::string& name, std::uint32_t s, const Place& at) {
      if (placed_.count(name)) return;
      const auto declared = declared_.find(name);
      if (declared != declared_.end()) {
        placed_[name] = declared->second;
        return;
      }
      const NameMatch match = registry_index_.Find(name);
      if (match.found)
        placed_[name] = Root(*match.found);
      else if (!match.candidates.empty()) {
        if (ambiguous_.insert(name).second) Ambiguous(name, match.candidates, s, at);
      } else {
        unknown.insert(name);
        strangers_.emplace(name, Stranger{"dataset", SeenAt(s, at)});
      }
    };
    for (const std::uint32_t s : registries_) {
      const Facts& f = sources_[s].facts;
      for (const JobFact& j : f.jobs)
        for (const std::string& n : j.writes) {
          const bool entry = strangers_.erase(n) > 0 || explained_.count(n) > 0;
          note(n, s, j.at);
          if (entry)
            strangers_.erase(n);
          else if (const auto it = strangers_.find(n); it != strangers_.end())
            it->second.what = "output";
        }
      for (const EdgeFact& e : f.edges) note(e.from, s, e.at), note(e.to, s, e.at);
      for (const JobFact& j : f.jobs) {
        for (const std::string& n : j.reads) note(n, s, j.at);
        if (j.schedule)
          for (const std::string& n : j.schedule->on) note(n, s, j.at);
      }
      for (const CopyFact& c : f.copies)
        for (const std::string& n : c.feeds) note(n, s, c.at);
    }
    // An importer's edges may name datasets that no importer describes (airflow's assets by name).
    for (const std::uint32_t s : importers_)
      for (const EdgeFact& e : sources_[s].facts.edges) {
        if (OfTests(e)) continue;
        for (const std::string& name : {e.from, e.to})
          if (!registry_index_.FindExact(name)) unknown.insert(name);
      }
    for (const std::string& name : unknown) {
      const std::string canonical = CanonicalUri(name);
      const auto same = canonical == name ? std::nullopt : registry_index_.FindExact(canonical);
      const auto there = by_name_.find(canonical);
      placed_[name] = same                      ? Root(*same)
                      : there != by_name_.end() ? Root(there->second)
                                                : NewProto(canonical);
      if (canonical != name) protos_[placed_[name]].aliases.push_back(name);
    }
  }

  std::optional<DatasetId> Resolve(const std::string& name, bool registry) const {
    std::optional<std::uint32_t> p;
    if (registry) {
      const auto it = placed_.find(name);
      if (it != placed_.end()) p = it->second;
    } else {
      p = registry_index_.FindExact(name);
      if (!p) {
        const auto it = placed_.find(name);
        if (it != placed_.end()) p = it->second;
      }
    }
    if (!p) return std::nullopt;
    return DatasetId{dataset_of_[Root(*p)]};
  }

  // ---- 3: datasets ----

  template <typename Get>
  auto FirstStated(const Proto& p, Get get) const -> decltype(get(*p.facts[0].fact)) {
    for (const FactRef& ref : p.facts)
      if (auto value = get(*ref.fact)) return value;
    return {};
  }

  void NoteConflict(const Proto& p, Dataset& d, const char* field,
                    const std::function<Text(const DatasetFact&)>& get) const {
    if (p.facts.size() < 2) return;
    std::map<std::string, std::vector<Seen>> values;
    std::string used;
    for (const FactRef& ref : p.facts) {
      const Text value = get(*ref.fact);
      if (!value) continue;
      if (values.empty()) used = *value;
      values[*value].push_back(SeenAt(ref.source, ref.fact->at));
    }
    if (values.size() < 2) return;
    Conflict conflict{field, {}, used};
    for (auto& [value, seen] : values) conflict.values.push_back({value, std::move(seen)});
    d.conflicts.push_back(std::move(conflict));
  }

  void MakeDatasets() {
    std::vector<std::uint32_t> roots;
    for (std::uint32_t p = 0; p < protos_.size(); ++p)
      if (protos_[p].into == p) roots.push_back(p);
    std::sort(roots.begin(), roots.end(),
              [&](std::uint32_t a, std::uint32_t b) { return protos_[a].name < protos_[b].name; });
    dataset_of_.assign(protos_.size(), 0);
    LineageGraph& g = out_.graph;
    g.datasets.resize(roots.size());
    for (std::uint32_t i = 0; i < roots.size(); ++i) dataset_of_[roots[i]] = i;
    for (std::uint32_t p = 0; p < protos_.size(); ++p) dataset_of_[p] = dataset_of_[Root(p)];
    for (std::uint32_t i = 0; i < roots.size(); ++i) MakeDataset(protos_[roots[i]], g.datasets[i]);
  }

  // A registry's word first, then what a source that writes it says, then the others; external stand-ins
  // last.
  void Rank(Proto& p) const {
    std::stable_sort(p.facts.begin(), p.facts.end(), [&](const FactRef& a, const FactRef& b) {
      const auto rank = [&](const FactRef& r) {
        // A name beats a selector; what only statements show comes last.
        if (sources_[r.source].source.kind == "registry") return r.fact->select ? 1 : 0;
        if (IsLog(r.source)) return 5;
        if (r.fact->kind && *r.fact->kind == "external") return 4;
        return r.fact->writes_relation ? 2 : 3;
      };
      return rank(a) < rank(b);
    });
  }

  static void Once(std::vector<std::string>& names) {
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
  }

  // Where a dataset's grain, first partition and rows' time come from, and whether the first is dbt's begin.
  // Before facts are moved out of.
  void WhereStated(const Proto& p, const CalendarMaker::Stated& stated, Dataset& d) const {
    const auto said = [&](const FactRef& ref, const char* what, bool* by_begin = nullptr) {
      std::string how = sources_[ref.source].source.kind == "dbt" ? "meta.backreach" : "";
      for (const FindingFact& f : ref.fact->findings)
        if (const auto it = f.data.find(what); f.code == "stated" && it != f.data.end()) how = it->second;
      if (by_begin) *by_begin = how == "begin";
      const std::string seen = FormatSeen(SeenAt(ref.source, ref.fact->at));
      return how.empty() ? seen : "dbt's " + how + ", " + seen;
    };
    for (const FactRef& ref : p.facts) {
      if (ref.fact == stated.grain) d.grain_from = said(ref, "grain");
      if (ref.fact == stated.first && IsFinite(d.first)) d.first_from = said(ref, "first", &d.first_is_begin);
      if (ref.fact->row_time && d.row_time_from.empty()) d.row_time_from = said(ref, "row_time");
    }
  }

  // Each name, who says it, and by which rule it is one; where there is only the one there is nothing to say.
  void SayNames(const Proto& p, Dataset& d) const {
    if (p.facts.size() < 2 && p.joined.empty() && (p.facts.empty() || (*p.facts[0].fact->names).empty()))
      return;
    for (const FactRef& ref : p.facts) {
      const DatasetFact& f = *ref.fact;
      const Seen seen = SeenAt(ref.source, f.at);
      const auto joined = p.joined.find(f.name);
      std::string how = f.name == p.name ? "its own name" : "another name that leads to it";
      if (joined != p.joined.end()) how = joined->second;
      if (f.name != p.name && CanonicalUri(f.name) == p.name) how = HowOf(NameRule::kSpelling);
      d.names.push_back({f.name, how, seen});
      if (!f.relation.empty())
        d.names.push_back({Join_(f.relation),
                           f.writes_relation ? "the relation that it writes" : "the relation that it is",
                           seen});
      for (const NameFact& n : *f.names)
        d.names.push_back({n.name, n.detail.empty() ? HowOf(n.rule) : n.detail, seen});
      if (sources_[ref.source].source.kind != "registry") continue;
      for (const std::string& alias : f.aliases)
        d.names.push_back({alias, "an alias that a registry gives", seen});
    }
    std::sort(d.names.begin(), d.names.end());
    d.names.erase(std::unique(d.names.begin(), d.names.end()), d.names.end());
  }

  void MakeDataset(Proto& p, Dataset& d) {
    Rank(p);
    d.name = p.name;
    SayNames(p, d);
    Once(p.aliases), Once(p.short_names);
    std::erase(p.aliases, p.name);
    d.aliases = std::move(p.aliases);
    d.short_names = std::move(p.short_names);
    const bool alone = p.facts.size() == 1;
    const auto take = [&](auto& field) -> std::remove_cvref_t<decltype(field)> {
      if (alone) return std::move(field);
      return field;
    };
    std::vector<const DatasetFact*> facts;
    for (const FactRef& ref : p.facts) facts.push_back(ref.fact);
    WhereStated(p, calendars_.Lay(facts, d), d);
    for (const FactRef& ref : p.facts) d.seen.push_back({labels_[ref.source], take(ref.fact->at)});
    std::sort(d.seen.begin(), d.seen.end());
    const auto text = [&](Text DatasetFact::*field) -> const Text& {
      static const Text none;
      for (const FactRef& ref : p.facts)
        if (ref.fact->*field) return ref.fact->*field;
      return none;
    };
    const auto flag = [&](std::optional<bool> DatasetFact::*field) {
      return FirstStated(p, [&](const DatasetFact& f) { return f.*field; }).value_or(false);
    };
    if (const Text& kind = text(&DatasetFact::kind)) d.kind = ParseKind(*kind).value_or(Kind::kTable);
    d.platform = text(&DatasetFact::platform).value_or("");
    for (const FactRef& ref : p.facts)
      if (d.relation.empty()) d.relation = take(ref.fact->relation);
    const auto duration = [&](Text DatasetFact::*field) -> std::optional<Duration> {
      const Text& t = text(field);
      return t ? ParseDuration(*t) : std::nullopt;
    };
    d.complete_after = duration(&DatasetFact::complete_after);
    d.run_date_offset = duration(&DatasetFact::run_date_offset);
    d.retention = duration(&DatasetFact::retention);
    d.fresh_within = duration(&DatasetFact::fresh_within);
    if (const Text& keeps = text(&DatasetFact::keeps_from))
      if (const auto span = ParseDate(*keeps, d.calendar).span) d.keeps_from = span->start;
    if (const Text& row_time = text(&DatasetFact::row_time)) {
      if (*row_time == "exact")
        d.row_time = RowTime{};
      else if (const auto grain = ParseGrain(*row_time))
        d.row_time = RowTime{false, *grain};
    }
    d.operational = text(&DatasetFact::origin).value_or("") == "operational";
    for (const FactRef& ref : p.facts) {
      if (!d.writes_stated && ref.fact->write.mode) {
        d.writes = ParseWrites(*ref.fact->write.mode).value_or(Writes::kUnknown);
        d.writes_stated = true;
        if (Text& why = ref.fact->write.why) d.writes_why = take(*why);
      }
      if (!d.key_stated && ref.fact->write.key_given) {
        d.key = take(ref.fact->write.key);
        d.key_stated = true;
      }
      if (ref.fact->write.full_refresh == "false") d.full_refresh_off = true;
    }
    if (d.kind == Kind::kSnapshot && !d.writes_stated) d.writes = Writes::kSnapshot;
    d.proven_unique = FirstStated(p, [](const DatasetFact& f) { return f.proven_unique; });
    d.proven_not_null = FirstStated(p, [](const DatasetFact& f) { return f.proven_not_null; });
    d.rollback = text(&DatasetFact::rollback).value_or("none");
    d.owner = text(&DatasetFact::owner).value_or("");
    d.contact = text(&DatasetFact::contact).value_or("");
    d.group = text(&DatasetFact::group).value_or("");
    d.never_rebuild = flag(&DatasetFact::never_rebuild);
    d.deletions = flag(&DatasetFact::deletions);
    d.sequential = flag(&DatasetFact::sequential);
    for (const FactRef& ref : p.facts) {
      DatasetFact& f = *ref.fact;
      if (d.dimensions.empty()) d.dimensions = take(f.dimensions);
      if (d.built.empty() && !f.built.empty()) d.built = *f.built;
      if (d.vars.empty()) d.vars = take(f.vars);
      if (d.methods.empty())
        d.methods = take(f.methods);
      else
        d.methods.insert(f.methods.begin(), f.methods.end());
      d.side_effects.insert(d.side_effects.end(), f.side_effects.begin(), f.side_effects.end());
      d.tags.insert(d.tags.end(), f.tags.begin(), f.tags.end());
      for (FindingFact& finding : f.findings) {
        Finding& found = d.findings.emplace_back();
        found.seen = SeenAt(ref.source, finding.at);
        found.fact = take(finding);
      }
      d.signs.insert(d.signs.end(), (*f.signs).begin(), (*f.signs).end());
      for (const ChangeFact& c : f.changes)
        if (const auto span = ParseDate(c.on, d.calendar).span)
          d.changes.push_back({span->start, c.on, c.kind, c.what});
    }
    NoteConflict(p, d, "grain", [](const DatasetFact& f) {
      return f.partitions.empty() ? Text() : f.partitions.back().grain;
    });
    NoteConflict(p, d, "timezone", [](const DatasetFact& f) {
      return f.partitions.empty() ? Text() : f.partitions.back().timezone;
    });
    NoteConflict(p, d, "writes", [](const DatasetFact& f) { return f.write.mode; });
    NoteConflict(p, d, "key", [](const DatasetFact& f) {
      return f.write.key_given ? Text(backreach::Join(f.write.key, ", ")) : Text();
    });
    NoteConflict(p, d, "kind", [](const DatasetFact& f) { return f.kind; });
    NoteConflict(p, d, "owner", [](const DatasetFact& f) { return f.owner; });
    NoteConflict(p, d, "retention", [](const DatasetFact& f) { return f.retention; });
  }

  // ---- 4: edges, jobs, copies ----

  // What one source says of an edge: a fact, or a registry's job that reads and writes its ends.
  struct EdgeWord {
    DatasetId from, to;
    std::uint32_t source;
    EdgeFact* fact;
    const JobFact* job;
  };
  using EdgeGroup = std::span<const EdgeWord>;

  void MakeEdges() {
    std::vector<EdgeWord> words;
    for (std::uint32_t s = 0; s < sources_.size(); ++s) {
      const bool registry = sources_[s].source.kind == "registry";
      words.reserve(words.size() + sources_[s].facts.edges.size());
      for (EdgeFact& e : sources_[s].facts.edges) {
        if (OfTests(e)) continue;
        const auto from = Resolve(e.from, registry), to = Resolve(e.to, registry);
        // Two nodes joined into one dataset: a dependency of one on the other is none.
        if (from && to && !(*from == *to && e.from != e.to && !registry))
          words.push_back({*from, *to, s, &e, nullptr});
      }
      if (!registry) continue;
      for (const JobFact& j : sources_[s].facts.jobs)
        for (const std::string& r : j.reads)
          for (const std::string& w : j.writes) {
            const auto from = Resolve(r, true), to = Resolve(w, true);
            if (from && to) words.push_back({*from, *to, s, nullptr, &j});
          }
    }
    const auto ends = [](const EdgeWord& w) { return std::tie(w.from, w.to); };
    std::stable_sort(words.begin(), words.end(),
                     [&](const EdgeWord& a, const EdgeWord& b) { return ends(a) < ends(b); });
    out_.graph.edges.reserve(words.size());
    for (auto first = words.begin(); first != words.end();) {
      auto last = first + 1;
      while (last != words.end() && ends(*last) == ends(*first)) ++last;
      MakeEdgesBetween(first->from, first->to, {first, last});
      first = last;
    }
  }

  static Known KnownOf(const EdgeFact& e) {
    return e.known == "proven"     ? Known::kProven
           : e.known == "inferred" ? Known::kInferred
           : e.known == "assumed"  ? Known::kAssumed
                                   : Known::kDeclared;
  }

  // What a fact says of an edge's mapping.
  static void Take(const EdgeFact& e, Edge& edge) {
    edge.reads = Reads(reads::Unknown{});
    const Known known = KnownOf(e);
    edge.known = edge.seen.empty() ? known : std::min(edge.known, known);
    if (e.memory) edge.memory = ParseDuration(*e.memory);
    if (!e.dimension_map.empty()) edge.dimension_map = *e.dimension_map;
    if (!e.dimension_to.empty()) edge.dimension_to = *e.dimension_to;
    if (e.note) edge.note = *e.note;
    if (e.code && !e.reads) edge.code = std::make_shared<ReadInCode>(ReadInCode{*e.code, "", ""});
    if (e.seen_in && e.reads) edge.code = std::make_shared<ReadInCode>(ReadInCode{"", *e.seen_in, ""});
  }

  // What runs showed beside the mapping, of all that were seen to make an edge.
  static void TakeShown(const EdgeFact& e, Edge& edge) {
    for (const auto& pair : *e.columns)
      if (pair.size() == 2) edge.columns.push_back(pair);
    if (e.jobs.empty() && e.job)
      edge.jobs.push_back(*e.job);
    else
      edge.jobs.insert(edge.jobs.end(), e.jobs.begin(), e.jobs.end());
    edge.times += e.times;
  }

  // An edge that reads by several mappings at once is several edges between the same two.
  void AddEdge(Edge edge, const Text& reads) {
    const std::vector<Reads> list = reads ? ReadsListFromJson(*reads) : std::vector<Reads>();
    for (std::size_t i = 0; i + 1 < list.size(); ++i) {
      edge.reads = list[i];
      out_.graph.edges.push_back(edge);
    }
    if (!list.empty()) edge.reads = list.back();
    out_.graph.edges.push_back(std::move(edge));
  }

  void MakeEdgesBetween(DatasetId from, DatasetId to, const EdgeGroup& group) {
    if (group.size() == 1 && group[0].fact) {  // as most are
      EdgeFact& e = *group[0].fact;
      Edge edge;
      edge.from = from;
      edge.to = to;
      Take(e, edge);
      edge.seen.push_back({labels_[group[0].source], std::move(e.at)});
      edge.job = e.job.value_or("");
      edge.first_seen = e.first_seen.value_or("");
      edge.last_seen = e.last_seen.value_or("");
      edge.failed_only = e.failed_only;
      TakeShown(e, edge);
      AddEdge(std::move(edge), e.reads);
      return;
    }
    const auto is_registry = [&](std::uint32_t s) { return sources_[s].source.kind == "registry"; };
    bool declared = false;
    for (const EdgeWord& word : group) declared = declared || (word.fact && is_registry(word.source));
    std::map<std::string, Edge> by_reads;
    std::vector<Seen> everywhere;
    std::vector<EdgeStatement> stated;
    std::string first_seen, last_seen, job;
    Edge shown;
    bool failed_only = true, any = false;
    for (const auto& [f, t, s, e, j] : group) {
      if (!e) continue;
      everywhere.push_back(SeenAt(s, e->at));
      stated.push_back({e->reads.value_or(""), KnownOf(*e), SeenAt(s, e->at)});
      if (e->job && job.empty()) job = *e->job;
      TakeShown(*e, shown);
      failed_only = failed_only && e->failed_only;
      if (e->first_seen && (first_seen.empty() || *e->first_seen < first_seen)) first_seen = *e->first_seen;
      if (e->last_seen && *e->last_seen > last_seen) last_seen = *e->last_seen;
      if (declared && !is_registry(s)) continue;  // the registry's mappings replace the importers'
      any = true;
      Edge& edge = by_reads[e->reads.value_or("")];
      Take(*e, edge);
      edge.seen.push_back(SeenAt(s, e->at));
    }
    for (const auto& [f, t, s, e, j] : group) {
      if (!j) continue;
      failed_only = false;
      everywhere.push_back(SeenAt(s, j->at));
      stated.push_back({"\"same\"", Known::kDeclared, SeenAt(s, j->at)});
      if (job.empty()) job = j->name;
      if (any && !(by_reads.size() == 1 && by_reads.count(""))) continue;
      by_reads.erase("");
      Edge& edge = by_reads["\"same\""];
      edge.reads = reads::Same{};
      edge.known = Known::kDeclared;
    }
    // Somebody knows better, unless what runs happened to show is all that is known beside the code.
    if (by_reads.size() > 1 && !by_reads.begin()->second.code) by_reads.erase("");
    for (auto* list : {&shown.columns}) {
      std::sort(list->begin(), list->end());
      list->erase(std::unique(list->begin(), list->end()), list->end());
    }
    Once(shown.jobs);
    std::sort(everywhere.begin(), everywhere.end());
    everywhere.erase(std::unique(everywhere.begin(), everywhere.end()), everywhere.end());
    if (stated.size() < 2) stated.clear();
    for (auto& [text, edge] : by_reads) {
      edge.from = from;
      edge.to = to;
      edge.stated = stated;
      edge.job = job;
      edge.first_seen = first_seen;
      edge.last_seen = last_seen;
      edge.failed_only = failed_only;
      if (!failed_only && StartsWith(edge.note, "seen only in runs that failed")) edge.note.clear();
      edge.columns = shown.columns, edge.jobs = shown.jobs, edge.times = shown.times;
      if (by_reads.size() == 1) edge.seen = everywhere;
      std::sort(edge.seen.begin(), edge.seen.end());
      edge.seen.erase(std::unique(edge.seen.begin(), edge.seen.end()), edge.seen.end());
      AddEdge(std::move(edge), text.empty() ? Text() : Text(text));
    }
  }

  // A schedule with what a registry says over it. Another cron than the orchestrator's leaves nothing of what
  // its class told: then nobody knows which runs there are.
  static ScheduleFact Overridden(const ScheduleFact& known, const ScheduleFact& said) {
    ScheduleFact out = known;
    const bool other =
        (said.cron && said.cron != known.cron) || (said.timezone && said.timezone != known.timezone);
    if (said.cron && other) {
      out.type.reset(), out.inner.reset(), out.interval.reset(), out.covers.reset(), out.every.reset();
      out.events.clear();
      out.cron = said.cron, out.timezone = said.timezone;
    }
    if (said.type) out.type = said.type;
    if (said.covers) out.covers = said.covers, out.covers_declared = said.covers_declared;
    if (said.rewrites) out.rewrites = said.rewrites;
    if (!said.on.empty()) out.on = said.on;
    return out;
  }

  // The datasets that a job's calls of dbt write. Its run can be cut to any of them, by dbt itself.
  void TakeDbtRuns(const JobFact& f, std::uint32_t s, Job& job,
                   std::map<std::string, std::set<DatasetId>>& by_dbt) {
    if (f.dbt_runs.empty()) return;
    Dbt();
    std::set<std::string> said;
    for (const DbtRunFact& run : f.dbt_runs) {
      const DbtProjects::Answer answer = dbt_->WritesOf(run);
      for (const std::string& id : answer.writes)
        if (const auto dataset = Resolve(id, false);
            dataset && std::find(job.writes.begin(), job.writes.end(), *dataset) == job.writes.end())
          by_dbt[f.name].insert(*dataset);
      if (answer.unknown.empty()) continue;
      if (dbt_->empty())
        job.opaque = true;  // all of them are, and one line says so
      else if (said.insert(answer.unknown).second)
        out_.graph.unresolved.push_back(
            {{f.name, "dbt-run", std::nullopt,
              fmt::format("{} runs dbt, and what it writes is unknown: {}", f.name, answer.unknown), f.at},
             {},
             SeenAt(s, f.at)});
    }
  }

  void MakeJobs() {
    std::map<std::string, Job> jobs;
    std::map<std::string, std::set<DatasetId>> by_dbt;  // writes that a job's calls of dbt add
    for (std::uint32_t s = 0; s < sources_.size(); ++s) {
      const bool registry = sources_[s].source.kind == "registry";
      for (const JobFact& f : sources_[s].facts.jobs) {
        Job& job = jobs[f.name];
        job.name = f.name;
        job.seen.push_back(SeenAt(s, f.at));
        if (f.orchestrator) job.orchestrator = *f.orchestrator;
        if (f.schedule && registry)
          job.schedule = job.schedule ? Overridden(*job.schedule, *f.schedule) : *f.schedule;
        else if (f.schedule)
          job.schedule = job.schedule ? Overridden(*f.schedule, *job.schedule) : *f.schedule;
        const auto take = [&](const std::vector<std::string>& names, std::vector<DatasetId>& out) {
          for (const std::string& name : names)
            if (const auto id = Resolve(name, registry)) out.push_back(*id);
          std::sort(out.begin(), out.end());
          out.erase(std::unique(out.begin(), out.end()), out.end());
        };
        take(f.reads, job.reads);
        if (!f.tests || tests_.empty()) take(f.writes, job.writes);
        if (f.parent && job.parent.empty()) job.parent = *f.parent;
        job.opaque = job.opaque || f.opaque;
        TakeDbtRuns(f, s, job, by_dbt);
        if (f.schedule) take(f.schedule->on, job.fires_on);
        job.after.insert(job.after.end(), f.after.begin(), f.after.end());
        job.starts.insert(job.starts.end(), f.starts.begin(), f.starts.end());
        if (f.cells_per_run && (registry || job.cells_per_run.empty())) job.cells_per_run = *f.cells_per_run;
        const auto over = [&](auto& field, const auto& value) {
          if (value && (registry || !field)) field = value;
        };
        if (f.pool && (registry || job.pool.empty())) job.pool = *f.pool;
        if (f.owner && (registry || job.owner.empty())) job.owner = *f.owner;
        over(job.slots, f.slots);
        over(job.max_parallel, f.max_parallel);
        over(job.seconds_per_cell, f.seconds_per_cell);
        if (f.run_grain) job.run_grain = ParseGrain(*f.run_grain);
        if (f.separable) job.separable = *f.separable;
        job.sequential = job.sequential || f.sequential;
        for (const FindingFact& finding : f.findings)
          job.findings.push_back({finding, SeenAt(s, finding.at)});
        for (const auto& [engine, name] : f.methods) job.methods.emplace(engine, name);
      }
      for (const PoolFact& f : sources_[s].facts.pools) {
        Pool& pool = pools_[f.name];
        pool.name = f.name;
        if (f.slots && (registry || !pool.slots)) pool.slots = f.slots;
        if (f.usual_load && (registry || !pool.usual_load)) pool.usual_load = f.usual_load;
        pool.seen.push_back(SeenAt(s, f.at));
      }
      for (const ClientFact& f : sources_[s].facts.clients)
        out_.graph.clients.emplace(Lower(f.platform), f.command);
    }
    LineageGraph& g = out_.graph;
    for (auto& [name, job] : jobs) {
      const std::set<DatasetId>& built = by_dbt[name];
      if (!built.empty() && job.writes.empty()) job.separable = true;
      std::vector<DatasetId> all = job.writes;
      for (const DatasetId id : built)
        if (std::find(all.begin(), all.end(), id) == all.end()) all.push_back(id);
      job.writes = std::move(all);
      std::sort(job.writes.begin(), job.writes.end());
      job.opaque = job.opaque && job.reads.empty() && job.writes.empty();
      for (const DatasetId id : job.writes) {
        g.datasets[id.value].jobs.push_back(JobId{static_cast<std::uint32_t>(g.jobs.size())});
        // dbt's own command does not wait for the run before.
        if (job.sequential && !built.count(id)) g.datasets[id.value].sequential = true;
      }
      std::sort(job.seen.begin(), job.seen.end());
      g.jobs.push_back(std::move(job));
    }
    for (auto& [name, pool] : pools_) g.pools.push_back(std::move(pool));
    for (const std::uint32_t s : registries_)
      for (const JobFact& f : sources_[s].facts.jobs)
        if (f.pool && !pools_.count(*f.pool))
          g.unknown_names.push_back({"pool", *f.pool, {}, SeenAt(s, f.at)});
  }

  // What a registry names and no importer knows; where there are only registries, they are what is known.
  void NameStrangers() {
    LineageGraph& g = out_.graph;
    if (importers_.empty()) {
      g.unknown_names.clear();
      return;
    }
    for (const auto& [name, stranger] : strangers_)
      g.unknown_names.push_back({stranger.what, name, importer_index_.Near(name), stranger.seen});
    std::sort(g.unknown_names.begin(), g.unknown_names.end(), [](const UnknownName& a, const UnknownName& b) {
      return std::tie(a.what, a.name, a.seen) < std::tie(b.what, b.name, b.seen);
    });
    g.unknown_names.erase(std::unique(g.unknown_names.begin(), g.unknown_names.end(),
                                      [](const UnknownName& a, const UnknownName& b) {
                                        return a.what == b.what && a.name == b.name;
                                      }),
                          g.unknown_names.end());
  }

  void MakeCopies() {
    LineageGraph& g = out_.graph;
    std::map<std::string, std::pair<std::uint32_t, const CopyFact*>> facts;
    for (std::uint32_t s = 0; s < sources_.size(); ++s)
      for (const CopyFact& f : sources_[s].facts.copies) {
        // A registry that describes an exposure under its own id replaces it.
        const auto [it, fresh] = facts.emplace(f.id, std::pair{s, &f});
        if (!fresh && sources_[s].source.kind == "registry") it->second = {s, &f};
      }
    std::set<std::string> described;
    for (const auto& [id, entry] : facts)
      if (entry.second->where) described.insert(*entry.second->where);
    std::deque<CopyFact> outside = CopiesOutside(g);
    for (const CopyFact& f : outside) {
      if (described.count(*f.where)) continue;
      const auto source = std::find(labels_.begin(), labels_.end(), *f.note);
      facts.emplace(f.id, std::pair{static_cast<std::uint32_t>(source - labels_.begin()), &f});
    }
    std::map<std::string, std::uint32_t> ids;
    for (const auto& [id, fact] : facts) ids.emplace(id, static_cast<std::uint32_t>(ids.size()));
    for (const auto& [id, entry] : facts) {
      const auto& [s, f] = entry;
      const bool registry = sources_[s].source.kind == "registry";
      Copy copy;
      copy.id = id;
      for (const std::string& of : f->of) copy.of.push_back(PlaceOf(of, ids, registry));
      if (f->kind) copy.kind = *f->kind;
      copy.where = f->where.value_or("");
      copy.owner = f->owner.value_or("");
      copy.contact = f->contact.value_or("");
      if (f->times == 0) copy.note = f->note.value_or("");
      copy.times = f->times;
      copy.first_seen = f->first_seen.value_or(""), copy.last_seen = f->last_seen.value_or("");
      copy.by = f->by;
      copy.taken = f->taken;
      for (const std::string& name : f->feeds)
        if (const auto fed = Resolve(name, registry)) copy.feeds.push_back(*fed);
      copy.holds = f->holds;
      copy.refresh = f->refresh;
      copy.personal_data = f->personal_data;
      copy.known = f->known;
      copy.exposure = f->exposure;
      copy.expires = f->expires.value_or("");
      copy.seen.push_back(SeenAt(s, f->at));
      for (const CopyOf& of : copy.of) {
        if (of.placed()) continue;
        const auto near = registry_index_.Near(of.name);
        g.unresolved.push_back(
            {{of.name, "copy", std::nullopt,
              fmt::format("copy '{}' was taken from '{}', which nobody knows{}", id, of.name,
                          near.empty() ? "" : "; nearest: " + backreach::Join(near, ", ")),
              f->at},
             {},
             SeenAt(s, f->at)});
      }
      g.copies.push_back(std::move(copy));
    }
  }

  CopyOf PlaceOf(const std::string& name, const std::map<std::string, std::uint32_t>& ids, bool registry) {
    CopyOf of{{}, {}, name};
    if (const auto exact = Resolve(name, false)) {
      of.dataset = *exact;
      return of;
    }
    if (const auto it = ids.find(name); it != ids.end()) {
      of.copy = CopyId{it->second};
      return of;
    }
    if (registry) {
      const NameMatch match = registry_index_.Find(name);
      if (match.found)
        of.dataset = DatasetId{dataset_of_[Root(*match.found)]};
      else if (const auto placed = placed_.find(name); placed != placed_.end())
        of.dataset = DatasetId{dataset_of_[Root(placed->second)]};
    }
    return of;
  }

  // Exposures and copies of nothing, live dashboards among them: each shows something all the same, so any
  // plan may be the one that reaches it.
  void NameOrphans() {
    LineageGraph& g = out_.graph;
    std::set<std::string> said;
    const auto say = [&](const std::string& id, const Seen& seen, bool exposure) {
      if (!said.insert(id).second) return;
      g.unresolved.push_back(
          {{id, "orphan", std::nullopt,
            fmt::format("{} '{}' depends on nothing that is known: any plan may be the one "
                        "that reaches it",
                        exposure ? "exposure" : "copy", id),
            seen.at},
           {},
           seen});
    };
    for (const Copy& copy : g.copies)
      if (copy.of.empty()) say(copy.id, copy.seen.empty() ? Seen() : copy.seen[0], copy.exposure);
    std::vector<bool> reads(g.datasets.size(), false);
    bool dashboards = false;
    for (const Dataset& d : g.datasets) dashboards = dashboards || d.kind == Kind::kDashboard;
    if (!dashboards) return;
    for (const Edge& e : g.edges) reads[e.to.value] = true;
    std::set<std::string> described;  // a registry may say of an exposure what it holds
    for (const Copy& copy : g.copies) described.insert(copy.id);
    for (std::uint32_t i = 0; i < g.datasets.size(); ++i) {
      const Dataset& d = g.datasets[i];
      if (d.kind != Kind::kDashboard || reads[i] || described.count(d.name)) continue;
      say(d.name, d.seen.empty() ? Seen() : d.seen[0], StartsWith(d.name, "exposure."));
    }
  }

  void MakeRest() {
    LineageGraph& g = out_.graph;
    for (std::uint32_t s = 0; s < sources_.size(); ++s) {
      Facts& facts = sources_[s].facts;
      for (const UnresolvedFact& f : facts.unresolved) {
        if (f.what == "disabled") {
          g.disabled.push_back(f.name);
          continue;
        }
        Unresolved u{f, {}, SeenAt(s, f.at)};
        if (f.dataset)
          if (const auto id = Resolve(*f.dataset, false)) u.dataset = *id;
        g.unresolved.push_back(std::move(u));
      }
      for (const ExtractFact& f : facts.extracts) {
        Extract e{f, {}, SeenAt(s, f.at)};
        const NameMatch match = registry_index_.Find(f.dataset);
        if (match.found) e.dataset = DatasetId{dataset_of_[Root(*match.found)]};
        g.extracts.push_back(std::move(e));
      }
      const auto find = [&](const Text& name) {
        const NameMatch match = name ? registry_index_.Find(*name) : NameMatch();
        return match.found ? DatasetId{dataset_of_[Root(*match.found)]} : DatasetId{};
      };
      for (HistoryFact& f : facts.history) {
        const bool names = f.what == "read" || f.what == "pull";
        const DatasetId dataset = names ? find(f.name) : DatasetId{};
        const Seen seen = SeenAt(s, f.at);
        g.history.push_back({std::move(f), dataset, seen});
      }
      for (IgnoreFact& f : facts.ignores) {
        const DatasetId dataset = find(f.dataset);
        const Seen seen = SeenAt(s, f.at);
        g.ignores.push_back({std::move(f), dataset, seen});
      }
      for (CheckFact& f : facts.checks)
        if (const auto id = Resolve(f.dataset, false)) g.datasets[id->value].checks.push_back(std::move(f));
      for (TimingFact& f : facts.timings)
        if (const auto id = Resolve(f.dataset, false)) g.datasets[id->value].timings.push_back(std::move(f));
      for (MeasureFact& f : facts.measures)
        if (const auto id = Resolve(f.dataset, false)) g.datasets[id->value].measure = std::move(f);
      g.sources.push_back(sources_[s].source);
    }
    std::sort(g.disabled.begin(), g.disabled.end());
    for (const auto& p : problems_)
      g.unresolved.push_back({p.fact, DatasetId{dataset_of_[Root(p.proto)]}, SeenAt(p.source, p.fact.at)});
  }

  // ---- 5 ----

  void Finish() {
    LineageGraph& g = out_.graph;
    const auto before = [](const Edge& a, const Edge& b) {
      return std::tie(a.from, a.to) < std::tie(b.from, b.to);
    };
    if (!std::is_sorted(g.edges.begin(), g.edges.end(), before))
      std::stable_sort(g.edges.begin(), g.edges.end(), before);
    const auto by = [](const Unresolved& a, const Unresolved& b) {
      return std::tie(a.fact.name, a.fact.what, a.fact.message, a.seen) <
             std::tie(b.fact.name, b.fact.what, b.fact.message, b.seen);
    };
    std::sort(g.unresolved.begin(), g.unresolved.end(), by);
    std::sort(g.extracts.begin(), g.extracts.end(), [](const Extract& a, const Extract& b) {
      return std::tie(a.fact.dataset, a.fact.destination, a.seen) <
             std::tie(b.fact.dataset, b.fact.destination, b.seen);
    });
    g.Number();
    Sha256 hash;
    hash.Update("backreach.graph/1");
    for (const Source& s : g.sources) {
      hash.Update("\n" + s.kind + "\t" + s.name + "\t" + s.sha256);
      if (!s.beside_sha256.empty()) hash.Update("\t" + s.beside_sha256);
    }
    g.fingerprint = hash.Hex();
    for (std::uint32_t i = 0; i < g.datasets.size(); ++i) {
      const Dataset& d = g.datasets[i];
      out_.names.Add(d.name, i, true);
      for (const std::string& alias : d.aliases) out_.names.Add(alias, i, true);
      for (const std::string& name : d.short_names)
        if (name != d.name) out_.names.Add(name, i, false);
    }
    for (const auto& [name, p] : declared_) {  // a registry's own spelling is as good as any
      const std::uint32_t i = dataset_of_[Root(p)];
      if (g.datasets[i].name != name) out_.names.Add(name, i, false);
    }
  }

  struct PendingProblem {
    UnresolvedFact fact;
    std::uint32_t proto, source;
  };

  std::vector<SourceFacts> sources_;
  std::set<std::string> tests_;  // jobs that only look at what they read, where their project is known
  bool strict_ = false;
  std::vector<std::string> labels_;
  std::vector<std::uint32_t> registries_, importers_;
  std::deque<Proto> protos_;  // never moved: names are looked up by what stands in them
  std::unordered_map<std::string_view, std::uint32_t> by_name_;
  std::deque<std::string> kept_names_;  // what it holds that no prototype is called
  NameIndex importer_index_, registry_index_;
  std::map<std::string, std::uint32_t> declared_, placed_;
  std::set<std::string> ambiguous_;
  struct Stranger {
    std::string what;
    Seen seen;
  };
  std::map<std::string, Stranger> strangers_;  // names of registries that no importer knows
  std::set<std::string> explained_;            // the same, of which the registry says what they are
  std::vector<std::uint32_t> dataset_of_;
  CalendarMaker calendars_;
  std::vector<PendingProblem> problems_;
  std::map<std::string, Pool> pools_;
  std::unique_ptr<DbtProjects> dbt_;  // once a job calls dbt
  BuiltGraph out_;
};

}  // namespace

BuiltGraph BuildGraph(std::vector<SourceFacts> sources) { return Builder(std::move(sources)).Build(); }

const BuiltGraph& BuildGraphForGood(std::vector<SourceFacts> sources, bool strict) {
  constexpr std::size_t kMost = 200'000;  // datasets; above that the memory is worth more than the time
  std::size_t datasets = 0;
  for (const SourceFacts& s : sources) datasets += s.facts.datasets.size();
  static auto& builders = *new std::vector<std::unique_ptr<Builder>>;
  static auto& graphs = *new std::vector<std::unique_ptr<BuiltGraph>>;
  builders.push_back(std::make_unique<Builder>(std::move(sources), strict));
  graphs.push_back(std::make_unique<BuiltGraph>(builders.back()->Build()));
  if (datasets > kMost) builders.pop_back();
  return *graphs.back();
}

}  // namespace backreach
