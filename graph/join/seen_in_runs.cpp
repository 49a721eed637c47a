#include "graph/join/seen_in_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "graph/base/words.hpp"
#include "graph/names/address.hpp"

namespace backreach {

namespace {

bool OfRuns(const Seen& seen) { return StartsWith(seen.source, "openlineage:"); }
bool OnlyOfRuns(const std::vector<Seen>& seen) {
  return !seen.empty() && std::all_of(seen.begin(), seen.end(), OfRuns);
}

struct Ends {
  DatasetId from, to;
};

}  // namespace

// ---- Edges that a manifest knows better ----

void LeaveToManifests(LineageGraph& g) {
  const auto bare = [&](const Edge& e) {
    return std::holds_alternative<reads::Unknown>(e.reads) && !e.code && !e.self() && OnlyOfRuns(e.seen);
  };
  const auto of = [&](DatasetId from) {
    Edge ends;
    ends.from = from;
    return std::equal_range(g.edges.begin(), g.edges.end(), ends,
                            [](const Edge& a, const Edge& b) { return a.from < b.from; });
  };
  std::vector<Ends> bypassed;
  for (const Edge& e : g.edges)
    if (bare(e)) bypassed.push_back({e.from, e.to});
  std::set<std::pair<DatasetId, DatasetId>> gone;
  std::vector<bool> met(g.datasets.size(), false);
  for (const Ends& ends : bypassed) {
    std::vector<DatasetId> todo = {ends.from}, marked;
    Edge* last = nullptr;
    while (!todo.empty() && !last) {
      const DatasetId at = todo.back();
      todo.pop_back();
      const auto [first, end] = of(at);
      for (auto it = first; it != end; ++it) {
        if (OnlyOfRuns(it->seen)) continue;
        if (it->to == ends.to && !(at == ends.from)) last = &*it;
        if (g[it->to].stores() || met[it->to.value]) continue;
        met[it->to.value] = true;
        marked.push_back(it->to);
        todo.push_back(it->to);
      }
    }
    for (const DatasetId id : marked) met[id.value] = false;
    if (!last) continue;
    const auto [first, end] = of(ends.from);
    for (auto it = first; it != end; ++it) {
      if (!(it->to == ends.to)) continue;
      if (last->first_seen.empty() || (!it->first_seen.empty() && it->first_seen < last->first_seen))
        last->first_seen = it->first_seen;
      last->last_seen = std::max(last->last_seen, it->last_seen);
    }
    gone.emplace(ends.from, ends.to);
  }
  if (!gone.empty()) std::erase_if(g.edges, [&](const Edge& e) { return gone.count({e.from, e.to}) > 0; });
}

// ---- What left the platform ----

std::deque<CopyFact> CopiesOutside(const LineageGraph& g) {
  std::deque<CopyFact> out;
  std::vector<std::vector<const Edge*>> in(g.datasets.size());
  bool any = false;
  for (const Edge& e : g.edges)
    if (std::any_of(e.seen.begin(), e.seen.end(), OfRuns) && !e.self()) {
      in[e.to.value].push_back(&e);
      any = true;
    }
  if (!any) return out;
  // Places that are ours: something reads there, or another source than the events speaks of it.
  std::set<std::string> ours;
  for (const Edge& e : g.edges)
    if (!e.self()) ours.insert(PlatformOf(g[e.from].name));
  for (const Job& job : g.jobs)
    for (const DatasetId id : job.reads) ours.insert(PlatformOf(g[id].name));
  for (const Dataset& d : g.datasets) {
    if (OnlyOfRuns(d.seen)) continue;
    ours.insert(PlatformOf(d.name));
    for (const std::string& alias : d.aliases) ours.insert(PlatformOf(alias));
  }
  for (std::size_t i = 0; i < g.datasets.size(); ++i) {
    const Dataset& d = g.datasets[i];
    if (in[i].empty() || !OnlyOfRuns(d.seen)) continue;
    const std::string place = PlatformOf(d.name);
    if (place.empty() || ours.count(place)) continue;
    CopyFact& copy = out.emplace_back();
    copy.id = d.name;
    copy.kind = ParseAddress(d.name)->is_table() ? "export" : "file";
    copy.where = d.name;
    if (!d.owner.empty()) copy.owner = d.owner;
    copy.known = false;
    copy.note = d.seen[0].source;
    copy.at = d.seen[0].at;
    for (const Edge* e : in[i]) {
      copy.of.push_back(g[e->from].name);
      copy.times = std::max({copy.times, e->times, std::int64_t{1}});
      if (!e->first_seen.empty() && (!copy.first_seen || e->first_seen < *copy.first_seen))
        copy.first_seen = e->first_seen;
      if (!e->last_seen.empty() && (!copy.last_seen || e->last_seen > *copy.last_seen))
        copy.last_seen = e->last_seen;
    }
  }
  return out;
}

// ---- Look-alikes ----

namespace {

// The letters U+00C0 to U+017F without their marks, as far as they have some: two bytes each in UTF-8.
constexpr std::string_view kBare =
    "AAAAAAACEEEEIIIIDNOOOOO*OUUUUYTsaaaaaaaceeeeiiiidnooooo*ouuuuyty"
    "AaAaAaCcCcCcCcDdDdEeEeEeEeEeGgGgGgGgHhHhIiIiIiIiIiIiJjKkkLlLlLlLlLl"
    "NnNnNnnNnOoOoOoOoRrRrRrSsSsSsSsTtTtTtUuUuUuUuUuUuWwYyYZzZzZzs";

// A name as a hurried reader sees it: no case, no marks on letters, no blanks.
std::string Glance(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0u;
    if ((c == 0xCC && next >= 0x80) || (c == 0xCD && next >= 0x80 && next <= 0xAF)) {  // a mark of its own
      ++i;
    } else if (c >= 0xC3 && c <= 0xC5 && next >= 0x80) {
      const std::size_t at = (c - 0xC3) * 64 + next - 0x80;
      if (at < kBare.size()) out += kBare[at];
      ++i;
    } else if (c == 0xC2 && next == 0xA0) {
      ++i;
    } else if (c != ' ') {
      out += text[i];
    }
  }
  return Lower(out);
}

// `db-1.prod.example.com:5432` is `db-1`: what people write for short.
std::string HostAtAGlance(std::string_view authority) {
  return Lower(authority.substr(0, authority.find_first_of(".:")));
}

}  // namespace

void SayLookAlikes(LineageGraph& g) {
  constexpr std::size_t kMost = 50;  // pairs of names; places are said once each
  struct Like {
    std::uint32_t id;
    std::string authority, name;
  };
  std::map<std::string, std::vector<Like>> by_glance;
  for (std::uint32_t i = 0; i < g.datasets.size(); ++i) {
    const std::string& name = g.datasets[i].name;
    if (name.find('/') == std::string::npos) continue;
    const auto a = ParseAddress(name);
    if (!a) continue;
    const std::string inside = a->is_table() ? Join(a->parts, ".") : a->path;
    by_glance[a->platform + "\n" + HostAtAGlance(a->authority) + "\n" + a->inside + "\n" + Glance(inside)]
        .push_back({i, a->authority, name});
  }
  std::map<std::pair<std::string, std::string>, std::vector<std::pair<Like, Like>>> places;
  std::size_t said = 0;
  const auto say = [&](const Like& a, const Like& b, const std::string& what) {
    for (const std::uint32_t id : {a.id, b.id}) {
      const Dataset& d = g.datasets[id];
      const Seen seen = d.seen.empty() ? Seen() : d.seen[0];
      g.unresolved.push_back(
          {{b.name, "look-alike", d.name,
            fmt::format("{} and {} look alike and are two datasets here{}; if they are one: {{name: \"{}\", "
                        "aliases: [\"{}\"]}}",
                        a.name, b.name, what, a.name, b.name),
            seen.at},
           DatasetId{id},
           seen});
    }
  };
  for (const auto& [key, list] : by_glance) {
    for (std::size_t i = 1; i < list.size(); ++i) {
      const Like &a = list[i - 1], &b = list[i];
      if (a.authority != b.authority)
        places[{a.authority, b.authority}].push_back({a, b});
      else if (++said <= kMost)
        say(a, b, "");
    }
  }
  for (const auto& [ends, pairs] : places)
    say(pairs[0].first, pairs[0].second,
        pairs.size() == 1 ? std::string()
                          : fmt::format(" (as are {} more on these two hosts)",
                                        Thousands(static_cast<std::int64_t>(pairs.size()) - 1)));
}

}  // namespace backreach
