// Assets as facts. A mapping of Dagster's is taken apart: what it says of time is the edge's reads, what it
// says of other dimensions is how their values meet. What is not told is read as more, never as less.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "graph/base/words.hpp"
#include "ingest/dagster/assets.hpp"
#include "ingest/dagster/cuts.hpp"

namespace backreach::dagster {

namespace {

using Kind = Mapping::Kind;

// How an asset is cut: by time, and by the rest.
struct Shape {
  const Dimension* time = nullptr;
  std::vector<const Dimension*> others;
  bool grain = false;  // its time is cut by a grain of ours
};

Shape ShapeOf(const Asset& asset) {
  Shape out;
  for (const Dimension& d : asset.dimensions) {
    if (d.kind != Dimension::Kind::kTime)
      out.others.push_back(&d);
    else if (!out.time)
      out.time = &d;
  }
  out.grain = out.time && out.time->exclusions.empty() && CutOf(out.time->cron);
  return out;
}

// What the tool names it, else `partition`.
std::string NameOf(const Dimension& d) { return d.name.empty() ? "partition" : d.name; }

class EdgeMaker {
 public:
  EdgeMaker(const Asset& child, const Asset& parent, const Dependency& dep, EdgeFact& edge)
      : dep_(dep), child_(ShapeOf(child)), parent_(ShapeOf(parent)), edge_(edge) {}

  void Make() {
    if (dep_.inferred) edge_.known = "inferred";
    const Mapping& m = dep_.mapping;
    if (m.kind == Kind::kMulti)
      Several(m);
    else if (m.kind == Kind::kMultiToSingle)
      OneOfSeveral(m);
    else
      Single(m);
  }

 private:
  bool Cut(const Shape& shape) const { return shape.time || !shape.others.empty(); }

  void Single(const Mapping& m) {
    if (m.kind == Kind::kNone && dep_.told) {  // neither is partitioned, and nobody says more
      edge_.known = "assumed";
      return;
    }
    if (m.kind == Kind::kNone && (!Cut(child_) || !Cut(parent_))) {
      edge_.reads = Whole();
      return Loose();
    }
    if (parent_.time || child_.time || !Cut(child_) || !Cut(parent_))
      Time(m, parent_.time != nullptr);
    else if (m.kind == Kind::kNone || m.kind == Kind::kOther)
      Unknown(m);
    else
      edge_.reads = "\"same\"";
    const Dimension* other = child_.others.size() == 1 ? child_.others[0] : nullptr;
    for (const Dimension* d : parent_.others)
      if (m.kind == Kind::kIdentity && child_.others.size() > 1)
        Values(*d, Named(child_, NameOf(*d)), m);
      else
        Values(*d, m.kind == Kind::kTimeWindow ? nullptr : other, m);
  }

  // One of the two has one dimension, which is one of the other's.
  void OneOfSeveral(const Mapping& m) {
    const bool up =
        parent_.others.size() + (parent_.time ? 1 : 0) > child_.others.size() + (child_.time ? 1 : 0);
    const Shape &several = up ? parent_ : child_, &single = up ? child_ : parent_;
    const Dimension* one = nullptr;  // of the several that is not of time
    bool time = m.dimension ? several.time && several.time->name == *m.dimension
                            : single.time && several.time && single.others.empty();
    if (!time && single.others.size() == 1)
      one = m.dimension ? Named(several, *m.dimension) : Alike(several, *single.others[0]);
    if (!time && !one) return Unknown(m);
    edge_.reads = time           ? "\"same\""
                  : parent_.time ? Text("\"all\"")
                  : child_.time  ? Text("\"all\"")
                                 : Text("\"same\"");
    Mapping identity;
    identity.kind = Kind::kIdentity;
    for (const Dimension* d : parent_.others) {
      if (time || (up && d != one))
        Values(*d, nullptr, m);
      else
        Values(*d, up ? single.others[0] : one, identity);
    }
  }

  void Several(const Mapping& m) {
    const auto of_time = parent_.time ? m.dimensions.find(parent_.time->name) : m.dimensions.end();
    if (of_time != m.dimensions.end() && child_.time && of_time->second.name == child_.time->name)
      Time(of_time->second.mapping, true);
    else
      edge_.reads = Whole();
    for (const Dimension* d : parent_.others) {
      const auto it = m.dimensions.find(NameOf(*d));
      if (it == m.dimensions.end())
        Values(*d, nullptr, m);
      else
        Values(*d, Named(child_, it->second.name), it->second.mapping);
    }
  }

  // Everything of the parent, as it stands for what is not cut by time.
  static Text Whole() { return "\"all\""; }

  void Unknown(const Mapping& m) {
    edge_.reads = Whole();
    edge_.known = "assumed";
    edge_.note = fmt::format("Dagster does not tell what {} maps",
                             m.description.empty() ? "its mapping" : m.description);
    Loose();
  }

  // Every value of the parent reaches all of the reader.
  void Loose() {
    for (const Dimension* d : parent_.others) edge_.dimension_to.Make()[NameOf(*d)] = "";
  }

  void NotTold(const char* what) {
    edge_.known = "assumed";
    edge_.note = fmt::format("GraphQL does not tell {}; examples/dagster/export_assets.py does", what);
  }

  // What a mapping between two definitions of time reads. `parent`: the parent has one at all.
  void Time(const Mapping& m, bool parent) {
    if (!parent) {
      edge_.reads = Whole();
      return;
    }
    switch (m.kind) {
      case Kind::kNone: NotTold("whether it reads all, the last or the same partitions"); return;
      case Kind::kTimeWindow: Window(m); return;
      case Kind::kIdentity: SameKeys(); return;
      case Kind::kLast: edge_.reads = "\"latest\""; return;
      case Kind::kSpecific: Fixed(m); return;
      case Kind::kAll:
      case Kind::kStatic: edge_.reads = Whole(); return;
      default: Unknown(m);
    }
  }

  void Window(const Mapping& m) {
    if (!m.offsets_told) {
      NotTold("its offsets");
      return;
    }
    if (m.start_offset == 0 && m.end_offset == 0) {
      edge_.reads = "\"same\"";
    } else if (!child_.grain || m.start_offset > m.end_offset) {
      edge_.reads = Whole();  // offsets count the child's partitions, which are no grain of ours
    } else {
      edge_.reads = fmt::format("{{\"window\":[{},{}]}}", m.start_offset, m.end_offset);
    }
  }

  // Identity compares keys as text, whatever instants they stand for.
  void SameKeys() {
    if (!child_.time || !child_.grain || !parent_.grain) {
      edge_.reads = Whole();
      return;
    }
    const auto mine = CutOf(child_.time->cron), theirs = CutOf(parent_.time->cron);
    const bool same_zone = child_.time->timezone == parent_.time->timezone;
    const bool dates =
        mine->grain != "hour" && !EndsWith(mine->grain, "hours") && !EndsWith(mine->grain, "minutes");
    if (same_zone && mine->starts_at == theirs->starts_at)
      edge_.reads = "\"same\"";
    else if (dates && mine->grain == theirs->grain && mine->week_start == theirs->week_start)
      edge_.reads = "\"key\"";
    else
      edge_.reads = Whole();
  }

  // Certain partitions, whatever the reader's: the days from the first to the last of them.
  void Fixed(const Mapping& m) {
    std::set<std::string> days;
    for (const std::string& key : m.keys)
      if (key.size() >= 10 && key[4] == '-' && key[7] == '-') days.insert(key.substr(0, 10));
    const auto is_date = [](const std::string& day) { return ParseDate(day, Calendar()).span.has_value(); };
    if (!m.keys_told || days.empty() ||
        days.size() != std::set<std::string>(m.keys.begin(), m.keys.end()).size() ||
        !std::all_of(days.begin(), days.end(), is_date))
      edge_.reads = Whole();
    else
      edge_.reads =
          fmt::format("{{\"fixed\":{{\"from\":\"{}\",\"to\":\"{}\"}}}}", *days.begin(), *days.rbegin());
  }

  // How the values of one of the parent's dimensions meet those of the reader's; null: it has none that
  // they belong to.
  void Values(const Dimension& from, const Dimension* to, const Mapping& m) {
    const std::string name = NameOf(from);
    auto& map = edge_.dimension_map;
    const auto none_of = [&](const std::string& key) { map.Make()[name][key]; };
    if (to && (m.kind == Kind::kIdentity || (m.kind == Kind::kStatic && m.keys_told))) {
      if (NameOf(*to) != name) edge_.dimension_to.Make()[name] = NameOf(*to);
      for (const std::string& key : from.keys) {
        if (m.kind == Kind::kStatic) {
          const auto it = m.by_upstream.find(key);
          map.Make()[name][key] = it == m.by_upstream.end() ? std::vector<std::string>() : it->second;
        } else if (to->kind == Dimension::Kind::kStatic &&
                   std::find(to->keys.begin(), to->keys.end(), key) == to->keys.end()) {
          none_of(key);
        }
      }
      return;
    }
    edge_.dimension_to.Make()[name] = "";
    if (m.kind == Kind::kSpecific && m.keys_told) {
      for (const std::string& key : from.keys)
        if (std::find(m.keys.begin(), m.keys.end(), key) == m.keys.end()) none_of(key);
    } else if (m.kind == Kind::kLast && from.kind == Dimension::Kind::kStatic) {
      for (std::size_t i = 0; i + 1 < from.keys.size(); ++i) none_of(from.keys[i]);
    }
  }

  static const Dimension* Named(const Shape& shape, const std::string& name) {
    for (const Dimension* d : shape.others)
      if (NameOf(*d) == name) return d;
    return nullptr;
  }
  // The one with the same values; nothing if several have them.
  static const Dimension* Alike(const Shape& shape, const Dimension& like) {
    const Dimension* found = nullptr;
    for (const Dimension* d : shape.others)
      if (d->kind == like.kind && d->keys == like.keys) {
        if (found) return nullptr;
        found = d;
      }
    return found;
  }

  const Dependency& dep_;
  const Shape child_, parent_;
  EdgeFact& edge_;
};

class Maker {
 public:
  Maker(const std::map<std::string, const Asset*>& every, const std::string& space, const std::string& path,
        Diagnostics& diagnostics, Facts& facts)
      : every_(every), space_(space), path_(path), diagnostics_(diagnostics), facts_(facts) {}

  void Make(const std::vector<const Asset*>& assets) {
    for (const Asset* asset : assets) {
      Dataset(*asset);
      if (!asset->stub && asset->executable) Job(*asset);
      for (const Dependency& dep : asset->dependencies) Edge(*asset, dep);
    }
    for (auto& [name, job] : jobs_) {
      for (auto* list : {&job.reads, &job.writes}) {
        std::sort(list->begin(), list->end());
        list->erase(std::unique(list->begin(), list->end()), list->end());
      }
      facts_.jobs.push_back(std::move(job));
    }
    for (const std::string& pool : pools_) facts_.pools.push_back({pool, {}, {}, {BaseName(path_), ""}});
    if (not_told_ > 0)
      diagnostics_.Note(path_,
                        fmt::format("{} between partitioned assets {} not told by GraphQL: taken as the same "
                                    "time, and said in every plan (mapping-assumed)",
                                    Plural(not_told_, "mapping"), not_told_ == 1 ? "is" : "are"),
                        {"examples/dagster/export_assets.py writes them all"});
    if (hours_ > 0)
      diagnostics_.Note(path_, fmt::format("at which hour the partitions of {} begin GraphQL does not tell: "
                                           "taken as midnight",
                                           Plural(hours_, "asset")));
  }

 private:
  std::string Full(const std::vector<std::string>& key) const { return space_ + "/" + dagster::NameOf(key); }

  void Dataset(const Asset& asset) {
    DatasetFact fact;
    fact.name = Full(asset.key);
    fact.short_names.push_back(dagster::NameOf(asset.key));
    fact.at = asset.at;
    fact.group = asset.group;
    if (!asset.owners.empty()) fact.owner = Join(asset.owners, ", ");
    if (asset.stub) {
      fact.kind = "external";
    } else {
      fact.kind = asset.executable ? "table" : "source";
      if (!asset.executable) fact.write.mode = "none";
    }
    if (!asset.stub) Partitions(asset, fact);
    if (asset.executable && !asset.stub) fact.methods["dagster"] = Join(asset.key, "\n");
    facts_.datasets.push_back(std::move(fact));
  }

  void Partitions(const Asset& asset, DatasetFact& fact) {
    const Shape shape = ShapeOf(asset);
    for (const Dimension* d : shape.others)
      if (!d->keys.empty()) fact.dimensions[NameOf(*d)] = d->keys;
    PartitionFact block;
    if (!shape.time) {
      block.grain = "none";
      fact.partitions.push_back(std::move(block));
      return;
    }
    const auto cut =
        TimeCutOf(*shape.time, dagster::NameOf(asset.key), path_ + ": " + asset.at.place, diagnostics_);
    if (!cut) return;
    fact.partitions.push_back(cut->fact);
    fact.complete_after = cut->complete_after;
    fact.methods["dagster_time"] = shape.time->name;
    if (!shape.time->hour_told && cut->grain) ++hours_;
    if (cut->grain) return;
    facts_.unresolved.push_back(
        {shape.time->cron, "grain", fact.name,
         fmt::format("{} is cut by the cron '{}'{}, which is no grain of backreach's: taken whole", fact.name,
                     shape.time->cron,
                     shape.time->exclusions.empty() ? "" : " without " + Join(shape.time->exclusions, ", ")),
         asset.at});
  }

  std::string JobName(const Asset& asset) const {
    const std::string op = asset.op ? *asset.op : Join(asset.key, "__");
    return space_ + "/" + (asset.location.empty() ? "" : asset.location + "/") + op;
  }

  void Job(const Asset& asset) {
    const std::string name = JobName(asset);
    const auto [it, fresh] = jobs_.try_emplace(name);
    JobFact& job = it->second;
    if (fresh) {
      job.name = name;
      job.orchestrator = "dagster";
      job.at = asset.at;
      // Where the members of a multi-asset stand alone it can be run for each of them.
      job.separable = asset.together.size() < 2;
      job.cells_per_run = asset.cells_per_run;
      if (!job.cells_per_run && !asset.dimensions.empty()) job.cells_per_run = "1";
    }
    job.writes.push_back(Full(asset.key));
    std::vector<std::string> reads;
    for (const Dependency& dep : asset.dependencies) reads.push_back(Full(dep.key));
    job.reads.insert(job.reads.end(), reads.begin(), reads.end());
    if (!job.pool && !asset.pools.empty()) job.pool = asset.pools[0];
    pools_.insert(asset.pools.begin(), asset.pools.end());
    if (!asset.owners.empty() && !job.owner) job.owner = Join(asset.owners, ", ");
    if (asset.condition) Automation(*asset.condition, reads, job);
  }

  // When Dagster starts it by itself. A condition that only looks for what is missing does not react to a
  // rebuild; one that is not known here is taken to.
  static void Automation(const std::string& text, std::vector<std::string> reads, JobFact& job) {
    ScheduleFact& s = job.schedule ? *job.schedule : job.schedule.emplace();
    s.type = text.substr(0, text.find('('));
    if (StartsWith(text, "on_cron(") && text.back() == ')') {
      const std::string inside = text.substr(8, text.size() - 9);
      const auto comma = inside.rfind(", ");
      s.cron = inside.substr(0, comma);
      if (comma != std::string::npos) s.timezone = inside.substr(comma + 2);
    }
    if (s.type == "on_missing") return;
    s.on.insert(s.on.end(), std::make_move_iterator(reads.begin()), std::make_move_iterator(reads.end()));
    std::erase_if(s.on, [&](const std::string& name) {
      return std::find(job.writes.begin(), job.writes.end(), name) != job.writes.end();
    });
  }

  void Edge(const Asset& asset, const Dependency& dep) {
    EdgeFact edge;
    edge.from = Full(dep.key);
    edge.to = Full(asset.key);
    edge.at = asset.at;
    if (asset.executable && !asset.stub) edge.job = JobName(asset);
    const auto parent = every_.find(dagster::NameOf(dep.key));
    if (parent == every_.end() || parent->second->stub)
      edge.known = "assumed";  // another location's, whose partitions nobody told
    else
      EdgeMaker(asset, *parent->second, dep, edge).Make();
    if (!dep.told && edge.known == "assumed" && !edge.reads) ++not_told_;
    facts_.edges.push_back(std::move(edge));
  }

  const std::map<std::string, const Asset*>& every_;
  const std::string& space_;
  const std::string& path_;
  Diagnostics& diagnostics_;
  Facts& facts_;
  std::map<std::string, JobFact> jobs_;
  std::set<std::string> pools_;
  std::int64_t not_told_ = 0, hours_ = 0;
};

}  // namespace

Facts FactsOf(const std::vector<const Asset*>& assets, const std::map<std::string, const Asset*>& every,
              const std::string& space, const std::string& path, Diagnostics& diagnostics) {
  Facts facts;
  Maker(every, space, path, diagnostics, facts).Make(assets);
  return facts;
}

}  // namespace backreach::dagster
