// Both ways: every extract that importers saw against the registry's copies, and every copy of the registry
// against what was seen. Several logs may tell of one statement: the one that tells most counts, and a
// statement is counted once. What only code shows has no user and no dates, and `times` is 0.

#include "analysis/audit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "analysis/copies.hpp"
#include "graph/base/words.hpp"
#include "graph/base/yaml_text.hpp"

namespace backreach {

namespace {

// How much a log tells of a way out: its text says what is taken and where to.
int RankOf(const Text& via) {
  if (!via) return 6;
  static const std::map<std::string, int> ranks = {{"text", 5},   {"pieces", 4}, {"audit", 4}, {"lineage", 3},
                                                   {"access", 3}, {"unload", 2}, {"jobs", 1},  {"stats", 0}};
  const auto it = ranks.find(*via);
  return it == ranks.end() ? 1 : it->second;
}

void Earlier(Text& to, const Text& from) {
  if (from && (!to || *from < *to)) to = from;
}
void Later(Text& to, const Text& from) {
  if (from && (!to || *from > *to)) to = from;
}

// Facts of one thing that several logs tell: those of one kind of log add up unless their times overlap.
struct Counted {
  struct Stretch {
    Text first, last;
    std::int64_t times, days;
  };
  std::map<std::string, std::vector<Stretch>> by_log;
  void Add(const HistoryFact& f) {
    by_log[f.via.value_or("")].push_back({f.first_seen, f.last_seen, f.times, f.days});
  }
  static std::int64_t Sum(std::vector<Stretch> list, std::int64_t Stretch::*field) {
    std::sort(list.begin(), list.end(), [](const Stretch& a, const Stretch& b) { return a.first < b.first; });
    std::int64_t sum = 0, most = 0;
    Text end;
    for (const Stretch& s : list) {
      // Two facts over the same time are the same statements, told of twice in part.
      if (end && s.first && *s.first < *end) {
        most = std::max(most, s.*field);
      } else {
        sum += most, most = s.*field;
      }
      Later(end, s.last);
    }
    return sum + most;
  }
  std::int64_t Most(std::int64_t Stretch::*field) const {
    std::int64_t out = 0;
    for (const auto& [log, list] : by_log) out = std::max(out, Sum(list, field));
    return out;
  }
};

bool ToClient(const std::string& destination) {
  return destination == "STDOUT" || StartsWith(destination, "client ") || StartsWith(destination, "download");
}

class Auditor {
 public:
  Auditor(const LineageGraph& graph, Instant now) : graph_(graph), now_(now) {}

  Audit Make() {
    Clients();
    Extracts();
    Fetches();
    Readers();
    Entries();
    NotUnderstood();
    LookedAt();
    Accept();
    Sort();
    return std::move(out_);
  }

 private:
  struct Group {
    std::string dataset, destination, what;
    DatasetId id;
    Text user, first, last, client;
    std::set<std::string> ids, behind;
    std::int64_t times = 0;
    bool frozen = false, cancelled = true, in_code = true;
    Seen seen;
  };

  std::string NameOf(DatasetId id, const std::string& otherwise) const {
    return id.valid() ? graph_[id].name : otherwise;
  }

  void Clients() {
    for (const History& h : graph_.history)
      if (h.fact.what == "client" && h.fact.other) clients_[h.fact.name] = *h.fact.other;
    for (const History& h : graph_.history)
      if (h.fact.what == "failed") failed_.insert(h.fact.ids.begin(), h.fact.ids.end());
  }

  // ---- ways out ----

  void Extracts() {
    std::map<std::string, int> best;
    for (const struct Extract& e : graph_.extracts)
      for (const std::string& id : e.fact.ids)
        if (!e.fact.fetched) {
          int& rank = best[id];
          rank = std::max(rank, RankOf(e.fact.via) + 1);
        }
    std::map<std::string, Group> groups;
    for (const struct Extract& e : graph_.extracts) {
      if (e.fact.fetched) continue;
      ++out_.extracts_seen;
      std::set<std::string> ids;
      for (const std::string& id : e.fact.ids)
        if (best[id] == RankOf(e.fact.via) + 1 && (e.fact.via == "text" || !failed_.count(id)))
          ids.insert(id);
      if (ids.empty() && !e.fact.ids.empty()) continue;  // better known elsewhere
      const std::string dataset = NameOf(e.dataset, e.fact.dataset);
      if (dataset == "(unknown)") {
        for (const std::string& id : ids) placeless_[id] = {e.fact.destination, e.seen};
        continue;
      }
      const std::string folded = e.fact.frozen ? e.fact.destination : FoldDates(e.fact.destination);
      Group& g = groups[dataset + "\n" + folded + "\n" + e.fact.user.value_or("")];
      if (g.dataset.empty()) {
        g.dataset = dataset, g.id = e.dataset, g.what = e.fact.what, g.seen = e.seen;
        g.destination = e.fact.destination, g.user = e.fact.user;
      }
      if (g.destination != e.fact.destination || ids.size() + g.ids.size() > 1) g.destination = folded;
      if (!e.fact.ids.empty() || e.fact.via) g.in_code = false;
      g.ids.insert(ids.begin(), ids.end());
      if (e.fact.via == "stats" || e.fact.ids.empty()) g.times = std::max(g.times, e.fact.times);
      g.behind.insert(e.fact.behind.begin(), e.fact.behind.end());
      if (e.fact.job) g.behind.insert(*e.fact.job);
      if (!g.client) g.client = e.fact.client;
      Earlier(g.first, e.fact.first_seen), Later(g.last, e.fact.last_seen);
      g.frozen = g.frozen || e.fact.frozen;
      g.cancelled = g.cancelled && e.fact.cancelled;
      g.seen = std::min(g.seen, e.seen);
    }
    MergeCode(groups);
    for (auto& [key, g] : groups) Judge(g);
  }

  // A task's code and the log of its statements tell of one way out: it is the log's, with the task behind
  // it.
  static void MergeCode(std::map<std::string, Group>& groups) {
    for (auto it = groups.begin(); it != groups.end();) {
      Group& code = it->second;
      Group* log = nullptr;
      if (code.in_code && !code.user)
        for (auto& [key, other] : groups)
          if (&other != &code && !other.in_code && other.dataset == code.dataset &&
              (FoldDates(other.destination) == FoldDates(code.destination) ||
               CoversDestination(code.destination, other.destination)))
            log = &other;
      if (!log) {
        ++it;
        continue;
      }
      log->behind.insert(code.behind.begin(), code.behind.end());
      it = groups.erase(it);
    }
  }

  const Copy* Covering(const Group& g) const {
    const Copy* found = nullptr;
    for (const Copy& copy : graph_.copies) {
      if (copy.exposure || !copy.known) continue;
      const bool same = g.id.valid() ? TakenFrom(graph_, copy, g.id)
                                     : std::any_of(copy.of.begin(), copy.of.end(),
                                                   [&](const CopyOf& of) { return of.name == g.dataset; });
      if (!same) continue;
      const bool pulls = g.user && std::find(copy.by.begin(), copy.by.end(), *g.user) != copy.by.end();
      if (CoversDestination(copy.where, g.destination) || (ToClient(g.destination) && pulls)) found = &copy;
    }
    return found;
  }

  void Judge(Group& g) {
    const std::vector<std::string> ids(g.ids.begin(), g.ids.end());
    g.times = std::max(g.times, static_cast<std::int64_t>(ids.size()));
    told_.insert(ids.begin(), ids.end());
    if (const Copy* copy = Covering(g)) {
      matched_[copy->id] = g.last;
      out_.documented.push_back({copy->id, g.dataset, g.destination, g.user, g.times, ids, g.first, g.last});
      return;
    }
    AuditFinding f;
    const bool clone = g.frozen || g.what.find("CLONE") != std::string::npos;
    f.code = clone ? "frozen-copy" : "undocumented-extract";
    f.dataset = g.dataset, f.destination = g.destination;
    f.user = g.user, f.first_seen = g.first, f.last_seen = g.last;
    f.times = g.times, f.statement_ids = ids;
    f.client = g.client;
    if (!f.client && g.user)
      if (const auto it = clients_.find(*g.user); it != clients_.end()) f.client = it->second;
    f.behind.assign(g.behind.begin(), g.behind.end());
    f.severity = clone ? HazardSeverity::kWarning : HazardSeverity::kBlocking;
    const std::string goes = ToClient(g.destination) ? "goes to the client" : "goes to " + g.destination;
    f.message = clone ? fmt::format("{}: {} keeps rows of {} as they were, and nothing brings it up to date",
                                    g.what, g.destination, g.dataset)
                      : fmt::format("{}: {} {}, and no registry entry says so", g.what, g.dataset, goes);
    if (!g.in_code) f.message += Who(f);
    f.remedy = "write it down: backreach audit --suggest prints the stanza";
    f.seen = g.seen;
    Weigh(f, g.id);
    out_.findings.push_back(std::move(f));
  }

  static std::string Who(const AuditFinding& f) {
    std::string out;
    if (f.user) out += " by " + *f.user;
    if (f.client) out += " through " + *f.client;
    if (f.times > 0) out += fmt::format(", {}", f.times == 1 ? "once" : Thousands(f.times) + " times");
    if (f.first_seen && f.last_seen && *f.first_seen != *f.last_seen)
      out += fmt::format(" from {} to {}", f.first_seen->substr(0, 10), f.last_seen->substr(0, 10));
    else if (f.first_seen)
      out += " on " + f.first_seen->substr(0, 10);
    return out.empty() ? out : ";" + (out[0] == ',' ? out.substr(1) : out);
  }

  // How much it is, and how far up it lies: what corrections reach it.
  void Weigh(AuditFinding& f, DatasetId id) {
    if (!id.valid()) return;
    if (graph_[id].measure && graph_[id].measure->rows) f.rows = *graph_[id].measure->rows;
    auto [it, fresh] = upstream_.try_emplace(id, 0);
    if (fresh && upstream_.size() < 2000) {
      std::set<DatasetId> seen = {id};
      std::vector<DatasetId> todo = {id};
      while (!todo.empty() && seen.size() < 10'000) {
        const DatasetId at = todo.back();
        todo.pop_back();
        for (const EdgeId e : graph_.in(at))
          if (seen.insert(graph_[e].from).second) todo.push_back(graph_[e].from);
      }
      it->second = static_cast<std::int64_t>(seen.size()) - 1;
    }
    f.upstream = it->second;
  }

  static std::string Bare(const std::string& place) {
    std::string out;
    for (const char c : Lower(place))
      if (c != '"' && c != '\'') out += c;
    return out;
  }

  // Files taken from a stage: known where something was seen to fill it.
  void Fetches() {
    for (const struct Extract& e : graph_.extracts) {
      if (!e.fact.fetched) continue;
      const std::string stage = Bare(e.fact.dataset);
      const bool filled =
          std::any_of(graph_.extracts.begin(), graph_.extracts.end(), [&](const struct Extract& other) {
            if (other.fact.fetched) return false;
            const std::string to = Bare(other.fact.destination);
            return to == stage || CoversDestination(stage, to) || CoversDestination(to, stage);
          });
      if (filled) continue;
      for (const std::string& id : e.fact.ids)
        if (said_.insert(id).second)
          out_.not_understood.push_back(
              {id, e.seen.at.file, e.seen.at.place,
               fmt::format("files of {} are fetched to {}{}, and nothing was seen to fill it", e.fact.dataset,
                           e.fact.destination, e.fact.user ? " by " + *e.fact.user : ""),
               true});
    }
  }

  // ---- who reads ----

  void Readers() {
    struct Reader {
      Counted reads, pulls;
      std::map<std::string, std::vector<HistoryFact>> parts;
      Text first, last;
      DatasetId id;
      bool any_pull = false;
    };
    std::map<std::pair<std::string, std::string>, Reader> readers;
    for (const History& h : graph_.history) {
      const bool pull = h.fact.what == "pull";
      if (!pull && h.fact.what != "read") continue;
      Reader& r = readers[{NameOf(h.dataset, h.fact.name), h.fact.user.value_or("")}];
      (pull ? r.pulls : r.reads).Add(h.fact);
      r.id = h.dataset;
      r.any_pull = r.any_pull || pull;
      Earlier(r.first, h.fact.first_seen), Later(r.last, h.fact.last_seen);
    }
    for (const auto& [key, r] : readers) {
      AuditReader reader;
      reader.dataset = key.first;
      if (!key.second.empty()) reader.user = key.second;
      if (const auto it = clients_.find(key.second); it != clients_.end()) reader.client = it->second;
      reader.first_seen = r.first, reader.last_seen = r.last;
      // Texts tell which of them take whole rows; another log of the same statements does not.
      std::set<std::string> logs;
      for (const auto& [log, list] : r.reads.by_log) logs.insert(log);
      for (const auto& [log, list] : r.pulls.by_log) logs.insert(log);
      for (const std::string& log : logs) {
        std::int64_t n = 0;
        if (const auto it = r.reads.by_log.find(log); it != r.reads.by_log.end())
          n += Counted::Sum(it->second, &Counted::Stretch::times);
        if (const auto it = r.pulls.by_log.find(log); it != r.pulls.by_log.end())
          n += Counted::Sum(it->second, &Counted::Stretch::times);
        reader.times = std::max(reader.times, n);
      }
      reader.whole_rows = r.any_pull;
      const std::int64_t pulls = r.pulls.Most(&Counted::Stretch::times),
                         days = r.pulls.Most(&Counted::Stretch::days);
      if (pulls >= 2 && days >= 2) Pulls(reader, pulls, r.id);
      out_.readers.push_back(std::move(reader));
    }
  }

  // A client that pulls whole tables again and again keeps them somewhere, most likely.
  void Pulls(const AuditReader& reader, std::int64_t times, DatasetId id) {
    Group g;
    g.dataset = reader.dataset, g.id = id, g.user = reader.user, g.times = times;
    g.destination = "client " + reader.client.value_or(reader.user.value_or("unknown"));
    if (const Copy* copy = Covering(g)) {
      matched_[copy->id] = reader.last_seen;
      out_.documented.push_back(
          {copy->id, g.dataset, g.destination, g.user, times, {}, reader.first_seen, reader.last_seen});
      return;
    }
    AuditFinding f;
    f.code = "probable-extract";
    f.dataset = g.dataset, f.destination = g.destination, f.user = reader.user, f.client = reader.client;
    f.first_seen = reader.first_seen, f.last_seen = reader.last_seen, f.times = times;
    f.message =
        fmt::format("all rows of {} are pulled again and again, and what becomes of them is not to be seen{}",
                    g.dataset, Who(f));
    f.remedy = "ask who it is; if a copy is kept, write it down with by: [the user]";
    Weigh(f, id);
    out_.findings.push_back(std::move(f));
  }

  // ---- the registry's own entries ----

  void Entries() {
    bool logs = false;
    for (const History& h : graph_.history) logs = logs || h.fact.what == "statements";
    for (const Copy& copy : graph_.copies) {
      if (!copy.known) continue;
      if (copy.exposure) {
        ++out_.exposures_seen;
        out_.exposures.push_back(
            {copy.id, copy.of.empty() ? "" : NameOf(copy.of[0].dataset, copy.of[0].name), copy.kind});
        continue;
      }
      ++out_.registry_copies;
      Entry(copy, logs);
    }
  }

  void Entry(const Copy& copy, bool logs) {
    const std::string of = copy.of.empty() ? "" : NameOf(copy.of[0].dataset, copy.of[0].name);
    const auto say = [&](const char* code, const std::string& dataset, const std::string& message,
                         const std::string& remedy) {
      AuditFinding f;
      f.code = code, f.dataset = dataset, f.destination = copy.where, f.copy = copy.id;
      f.message = message, f.remedy = remedy;
      f.seen = copy.seen.empty() ? Seen() : copy.seen[0];
      out_.findings.push_back(std::move(f));
    };
    for (const CopyOf& o : copy.of)
      if (!o.placed())
        say("unknown-dataset", o.name,
            fmt::format("copy '{}' was taken of '{}', which nobody knows{}", copy.id, o.name,
                        NearestTo(o.name)),
            "correct its name, or ingest what knows it");
    if (copy.owner.empty() && copy.contact.empty())
      say("no-owner", of, fmt::format("copy '{}' names nobody who could act on it", copy.id),
          "add owner and contact");
    // A place that importers look at, and where nothing was seen to go: only where something of its kind was.
    const bool place = copy.where.find("://") != std::string::npos || copy.where.find('@') == 0 ||
                       (logs && copy.where.find('/') == 0);
    const bool seen = matched_.count(copy.id) > 0;
    if ((place || (logs && !copy.by.empty() && copy.where.empty())) && !seen &&
        (out_.extracts_seen > 0 || logs))
      say("never-seen", of,
          fmt::format("copy '{}' ({}) was written by nothing that was looked at", copy.id,
                      copy.where.empty() ? "by " + Join(copy.by, ", ") : copy.where),
          "drop the entry, or ingest what writes it");
    const Calendar utc;
    if (!copy.expires.empty())
      if (const auto day = ParseDate(copy.expires, utc).span; day && day->start <= now_)
        say("expired", of,
            fmt::format("copy '{}' was to be kept until {}: its file is gone, or should be", copy.id,
                        copy.expires),
            "drop the entry, or say how long it is kept now");
    if (copy.kind == "ml_model" && !copy.taken.empty()) Retrained(copy, say);
  }

  template <typename Say>
  void Retrained(const Copy& copy, Say say) {
    const std::string latest = *std::max_element(copy.taken.begin(), copy.taken.end());
    Text later;
    for (const CopyOf& of : copy.of) {
      if (!of.dataset.valid()) continue;
      for (const History& h : graph_.history) {
        const bool reads = h.fact.what == "pull" || h.fact.what == "read";
        if (!reads || h.dataset != of.dataset || !h.fact.user || !h.fact.last_seen) continue;
        if (std::find(copy.by.begin(), copy.by.end(), *h.fact.user) != copy.by.end())
          Later(later, h.fact.last_seen);
      }
    }
    if (const auto it = matched_.find(copy.id); it != matched_.end()) Later(later, it->second);
    if (later && later->substr(0, 10) > latest.substr(0, 10))
      say("retrained", copy.of.empty() ? "" : NameOf(copy.of[0].dataset, copy.of[0].name),
          fmt::format("model '{}' is written down as trained on {}, and its data was pulled again on {}",
                      copy.id, latest, later->substr(0, 10)),
          "add the day to 'taken', with the window that it was trained on");
  }

  std::string NearestTo(const std::string& name) const {
    std::vector<std::string> names;
    for (const Dataset& d : graph_.datasets) names.push_back(d.name);
    const auto near = Nearest(name, names, 3);
    return near.empty() ? "" : "; nearest: " + Join(near, ", ");
  }

  // ---- what was not understood, and what was looked at ----

  void NotUnderstood() {
    for (const Unresolved& u : graph_.unresolved) {
      const std::string& what = u.fact.what;
      if (what != "truncated" && what != "extract" && what != "statement") continue;
      const std::string& id = u.fact.name;
      if (what != "truncated" && told_.count(id)) continue;  // another log told
      if (what != "truncated" && !said_.insert(id).second) continue;
      std::string reason = u.fact.message;
      if (const auto it = placeless_.find(id); it != placeless_.end())
        reason += "; its rows went to " + it->second.first;
      out_.not_understood.push_back({id, u.seen.at.file, u.seen.at.place, reason, what == "extract"});
    }
    for (const auto& [id, where] : placeless_)
      if (!told_.count(id) && said_.insert(id).second)
        out_.not_understood.push_back(
            {id, where.second.at.file, where.second.at.place,
             fmt::format("rows were unloaded to {}, and the statement is not in the log", where.first),
             true});
  }

  void LookedAt() {
    std::map<std::string, Counted> counts;
    for (const History& h : graph_.history)
      if (h.fact.what == "statements") counts[h.fact.name].Add(h.fact);
    for (const auto& [what, counted] : counts) out_.looked_at[what] += counted.Most(&Counted::Stretch::times);
    std::int64_t tasks = 0, opaque = 0;
    for (const Job& j : graph_.jobs) {
      if (j.orchestrator.empty()) continue;
      ++tasks;
      opaque += j.opaque;
    }
    std::set<std::string> kinds;
    for (const Source& s : graph_.sources) kinds.insert(s.kind);
    if (tasks > 0) out_.looked_at["tasks"] = tasks;
    if (kinds.count("dbt")) {
      std::int64_t nodes = 0;
      for (const Dataset& d : graph_.datasets)
        for (const Seen& s : d.seen) nodes += StartsWith(s.source, "dbt:") && d.kind != Kind::kDashboard;
      out_.looked_at["dbt nodes and their hooks"] = nodes;
      out_.looked_at["exposures"] = static_cast<std::int64_t>(out_.exposures_seen);
    }
    if (out_.registry_copies > 0 || kinds.count("registry"))
      out_.looked_at["registry copies"] = static_cast<std::int64_t>(out_.registry_copies);
    if (!kinds.count("queries"))
      out_.not_looked_into.push_back(
          "no query history was ingested: what people and tools pull by hand is not known");
    if (opaque > 0)
      out_.not_looked_into.push_back(
          fmt::format("{} tell nothing of what they read and write", Plural(opaque, "task")));
    if (!kinds.count("registry"))
      out_.not_looked_into.push_back("no registry was ingested: nothing can be documented");
  }

  // ---- what was decided ----

  void Accept() {
    std::vector<AuditFinding> kept;
    for (AuditFinding& f : out_.findings) {
      const IgnoreFact* by = nullptr;
      for (const Ignore& i : graph_.ignores)
        if (Matches(i, f)) by = &i.fact;
      if (!by) {
        kept.push_back(std::move(f));
        continue;
      }
      const Calendar utc;
      const auto until = by->until ? ParseDate(*by->until, utc).span : std::nullopt;
      if (until && until->end <= now_) {
        f.message += fmt::format("; it was accepted until {}: {}", *by->until, by->reason);
        f.ends_accepted = true;
        kept.push_back(std::move(f));
      } else {
        out_.accepted.push_back({std::move(f), by->reason, by->until});
      }
    }
    out_.findings = std::move(kept);
  }
  bool Matches(const Ignore& i, const AuditFinding& f) const {
    if (i.fact.code && *i.fact.code != f.code) return false;
    if (i.fact.user && (!f.user || *i.fact.user != *f.user)) return false;
    if (i.fact.dataset && *i.fact.dataset != f.dataset &&
        !(i.dataset.valid() && graph_[i.dataset].name == f.dataset))
      return false;
    return !i.fact.destination || *i.fact.destination == f.destination ||
           CoversDestination(*i.fact.destination, f.destination);
  }

  void Sort() {
    std::sort(out_.findings.begin(), out_.findings.end(), [](const AuditFinding& a, const AuditFinding& b) {
      if (a.severity != b.severity) return a.severity > b.severity;
      if (a.rows != b.rows) return a.rows > b.rows;
      if (a.upstream != b.upstream) return a.upstream > b.upstream;
      return std::tie(a.code, a.dataset, a.destination, a.user, a.message) <
             std::tie(b.code, b.dataset, b.destination, b.user, b.message);
    });
    std::sort(out_.documented.begin(), out_.documented.end(),
              [](const AuditDocumented& a, const AuditDocumented& b) {
                return std::tie(a.copy, a.dataset, a.destination, a.user) <
                       std::tie(b.copy, b.dataset, b.destination, b.user);
              });
    std::sort(out_.not_understood.begin(), out_.not_understood.end(),
              [](const AuditNotUnderstood& a, const AuditNotUnderstood& b) {
                if (a.possible_extract != b.possible_extract) return a.possible_extract;
                return std::tie(a.reason, a.id, a.file, a.place) < std::tie(b.reason, b.id, b.file, b.place);
              });
  }

  const LineageGraph& graph_;
  Instant now_;
  Audit out_;
  std::map<std::string, std::string> clients_;
  std::map<std::string, Text> matched_;  // copies that were seen, with when last
  std::set<std::string> failed_, told_, said_;
  std::map<std::string, std::pair<std::string, Seen>>
      placeless_;  // statements of which only the place is known
  std::map<DatasetId, std::int64_t> upstream_;
};

}  // namespace

Audit MakeAudit(const LineageGraph& graph, Instant now) { return Auditor(graph, now).Make(); }

namespace {

std::string IdFor(const AuditFinding& f, std::map<std::string, int>& ids) {
  std::string id = Split(f.dataset, '.').back() + "-extract";
  for (char& c : id)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_'))
      c = '-';
  if (const int n = ++ids[id]; n > 1) id += "-" + std::to_string(n);
  return id;
}

}  // namespace

std::string SuggestRegistry(const Audit& audit) {
  std::string out;
  std::map<std::string, int> ids;
  for (const AuditFinding& f : audit.findings) {
    if (f.code != "undocumented-extract" && f.code != "frozen-copy" && f.code != "probable-extract") continue;
    // A document of its own: so it can stand alone, and be appended to a registry that exists.
    if (out.empty()) out = "---\nbackreach: 1\ncopies:\n";
    out += fmt::format("  - id: {}\n    of: {}\n    kind: export\n", IdFor(f, ids), YamlQuoted(f.dataset));
    if (!ToClient(f.destination)) out += fmt::format("    where: {}\n", YamlQuoted(FoldDates(f.destination)));
    if (f.user) out += fmt::format("    by: [{}]\n", YamlQuoted(*f.user));
    out += "    owner:        # who answers for it\n    contact:\n";
    if (f.times == 1 && f.first_seen) out += "    taken: " + f.first_seen->substr(0, 10) + "\n";
    out += fmt::format("    note: {}\n", YamlQuoted(f.message));
  }
  return out;
}

}  // namespace backreach
