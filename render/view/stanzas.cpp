// Each kind of doubt has one form of entry. Entries are one line each, so that one `#` is all that keeps them
// back, and stand in the order of what lies below them within their section.

#include "render/view/stanzas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/hazards/assumed.hpp"
#include "graph/base/words.hpp"
#include "graph/base/yaml_text.hpp"
#include "render/view/words.hpp"

namespace backreach {

namespace {

const char* const kSections[] = {"datasets", "edges", "jobs", "copies"};

std::string Evidence(const GrainEvidence& e, const std::string& column) {
  using Kind = GrainEvidence::Kind;
  switch (e.kind) {
    case Kind::kColumn: return "its source names " + column + " as the time of its rows, and no unit";
    case Kind::kPartition: return "it is partitioned by " + column;
    case Kind::kWatermark: return "an ordinary run takes what is newer than the newest " + column;
    case Kind::kKey: return "rows are replaced by " + column;
    case Kind::kUnique:
      return e.detail.empty() ? "its key has " + column + " in it"
                              : column + " is part of what " + e.detail + " tests";
    case Kind::kCut: return fmt::format("its query cuts {} to the {}", column, e.detail);
    case Kind::kReader: return "its readers take their own time from " + column;
    case Kind::kDays: return column + " holds days";
    case Kind::kType: return fmt::format("{} is a {}", column, e.detail);
    case Kind::kCluster: return "it is clustered by " + column;
    case Kind::kSort: return "it is sorted by " + column;
    case Kind::kLoaded: return column + " says when its rows were loaded";
  }
  return "";
}

// The entry by name that a registry has of a dataset already.
std::string EntryOf(const Dataset& d) {
  for (const Seen& s : d.seen)
    if (StartsWith(s.source, "registry:") && !s.at.place.empty() &&
        std::any_of(s.at.place.begin(), s.at.place.end(), [](char c) { return c >= '0' && c <= '9'; }))
      return s.at.file + ":" + s.at.place;
  return "";
}

Stanza GrainStanza(const LineageGraph& g, const Doubt& d) {
  Stanza out{"datasets", "", EntryOf(g[d.dataset])};
  std::string partitions = "day";
  if (d.guess)
    partitions =
        fmt::format("{{grain: {}, column: {}}}", FormatGrain(d.guess->grain), YamlText(d.guess->column));
  out.entry = "partitions: " + partitions;
  if (out.into.empty()) out.entry = fmt::format("{{name: {}, {}}}", YamlText(g[d.dataset].name), out.entry);
  return out;
}

Stanza EdgeStanza(const LineageGraph& g, const Doubt& d) {
  const Edge& e = g[d.edges[0]];
  const std::string reads = e.self()                        ? "{window: [-1, -1]}"
                            : d.kind == Doubt::Kind::kWhole ? "same"
                                                            : ReadsStanza(g, d.edges);
  return {
      "edges",
      fmt::format("{{from: {}, to: {}, reads: {}}}", YamlText(g[e.from].name), YamlText(g[e.to].name), reads),
      ""};
}

std::string IdOf(const std::string& dataset) {
  std::string id = Split(dataset, '.').back() + "-extract";
  for (char& c : id)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_'))
      c = '-';
  return id;
}

Stanza CopyStanza(const LineageGraph& g, const Doubt& d) {
  std::string id, kind = "dashboard_cache", owner, more;
  std::vector<std::string> of;
  if (d.kind == Doubt::Kind::kWayOut) {
    id = IdOf(d.finding.dataset), kind = "export";
    of.push_back(YamlText(d.finding.dataset));
    more = ", where: " + YamlText(d.finding.destination);
  } else if (d.copy.valid()) {
    const Copy& copy = g[d.copy];
    id = copy.id, kind = copy.kind, owner = copy.owner;
    for (const CopyOf& o : copy.of) of.push_back(YamlText(o.dataset.valid() ? g[o.dataset].name : o.name));
    more = ", holds: all";
  } else {
    const Dataset& board = g[d.dataset];
    id = board.name, owner = board.owner;
    for (const EdgeId e : g.in(d.dataset)) of.push_back(YamlText(g[g[e].from].name));
    more = ", holds: all";
  }
  if (!owner.empty()) more += ", owner: " + YamlText(owner);
  return {"copies", fmt::format("{{id: {}, of: [{}], kind: {}{}}}", YamlText(id), Join(of, ", "), kind, more),
          ""};
}

std::string BelowText(const Doubt& d) {
  std::vector<std::string> parts;
  if (d.tables > 0) {
    std::string text = Plural(d.tables, "table");
    if (d.cells > 0) text += fmt::format(" ({})", Plural(d.cells, "cell"));
    parts.push_back(std::move(text));
  }
  if (d.copies > 0) parts.push_back(d.copies == 1 ? "1 copy" : Thousands(d.copies) + " copies");
  return parts.empty() ? "" : ListOf(parts);
}

}  // namespace

Stanza StanzaOf(const LineageGraph& g, const Doubt& d) {
  switch (d.kind) {
    case Doubt::Kind::kGrain: return GrainStanza(g, d);
    case Doubt::Kind::kWhole:
    case Doubt::Kind::kRecognised:
    case Doubt::Kind::kSameDays: return EdgeStanza(g, d);
    case Doubt::Kind::kExposure:
    case Doubt::Kind::kWayOut: return CopyStanza(g, d);
    case Doubt::Kind::kJob:
      return {"jobs", fmt::format("{{name: {}, reads: [], writes: []}}", YamlText(g[d.job].name)), ""};
  }
  return {};
}

std::string ReasonOf(const LineageGraph& g, const Doubt& d) {
  std::vector<std::string> parts;
  if (const std::string below = BelowText(d);
      !below.empty() && d.kind != Doubt::Kind::kExposure && d.kind != Doubt::Kind::kWayOut)
    parts.push_back(below);
  switch (d.kind) {
    case Doubt::Kind::kGrain:
      if (!d.guess) {
        parts.push_back("nothing shows how it is cut in time, and a day is as good a guess as any");
        break;
      }
      for (const GrainEvidence& e : d.guess->evidence) parts.push_back(Evidence(e, d.guess->column));
      if (!d.guess->others.empty()) parts.push_back("it may also be " + ListOf(d.guess->others, 3));
      break;
    case Doubt::Kind::kWhole: {
      const Edge& e = g[d.edges[0]];
      const std::string why = e.code && !e.code->why.empty() ? e.code->why : e.note;
      parts.push_back((e.self() ? "reads itself, and nothing says which rows"
                                : "read whole, since nobody said which days") +
                      (why.empty() ? "" : ": " + why) +
                      (e.code && !e.code->place.empty() ? " (" + e.code->place + ")" : ""));
      break;
    }
    case Doubt::Kind::kRecognised: {
      const Edge& e = g[d.edges[0]];
      parts.push_back(fmt::format("read in {}, and planned with already; to state it",
                                  e.code->place.empty() ? "the code" : e.code->place));
      break;
    }
    case Doubt::Kind::kSameDays: parts.push_back("taken as the same days, and no code tells"); break;
    case Doubt::Kind::kExposure:
      parts.push_back(d.copy.valid()
                          ? fmt::format("holds data of its own ({}), and nobody said which; add when it was "
                                        "taken",
                                        g[d.copy].kind)
                          : "taken as live; if it holds an extract or a cache, it keeps the old numbers");
      break;
    case Doubt::Kind::kWayOut: parts.push_back(d.finding.message); break;
    case Doubt::Kind::kJob:
      parts.push_back("nobody knows what it reads and writes; empty lists say that it is of no concern");
      break;
  }
  return Printable(Join(parts, "; "));
}

std::string GuessText(const GrainGuess& guess) {
  std::vector<std::string> parts;
  for (const GrainEvidence& e : guess.evidence) parts.push_back(Evidence(e, guess.column));
  return Printable(fmt::format("{} by {}: {}", FormatGrain(guess.grain), guess.column, Join(parts, "; ")));
}

RegistryDraft DraftRegistry(const LineageGraph& g, const std::vector<Doubt>& doubts, std::size_t most,
                            const std::string& existing) {
  RegistryDraft out;
  std::map<std::string, std::string> sections;
  std::map<std::string, int> ids;
  for (const Doubt& d : doubts) {
    Stanza stanza = StanzaOf(g, d);
    if (d.kind == Doubt::Kind::kWayOut) {  // a second one of the same dataset has another id
      const std::string id = IdOf(d.finding.dataset);
      if (const int n = ++ids[id]; n > 1)
        stanza.entry.replace(stanza.entry.find(id), id.size(), fmt::format("{}-{}", id, n));
    }
    if (existing.find(stanza.entry) != std::string::npos) continue;
    if (out.entries == most) {
      ++out.left_out;
      continue;
    }
    ++out.entries;
    std::string& text = sections[stanza.section];
    text += "  # " + Wrapped(ReasonOf(g, d), 118, 4, 4).append("\n");
    // Where an entry of that name stands already, a second one would be refused.
    text += stanza.into.empty() ? "  #- " + stanza.entry + "\n"
                                : fmt::format("  # add to the entry in {}: {}\n", stanza.into, stanza.entry);
  }
  // Lines that a reason goes on in are comments too.
  for (auto& [section, text] : sections) {
    std::string commented;
    for (const std::string& line : Split(text, '\n'))
      commented += StartsWith(line, "    ") ? "  # " + line.substr(4) + "\n"
                   : line.empty()           ? ""
                                            : line + "\n";
    text = std::move(commented);
  }
  if (out.entries == 0) return out;
  out.text += "backreach: 1\n";
  for (const char* section : kSections)
    if (const auto it = sections.find(section); it != sections.end())
      out.text += fmt::format("\n{}:\n{}", section, it->second);
  return out;
}

std::string Taken(const std::string& draft) {
  std::string out;
  for (const std::string& line : Split(draft, '\n'))
    out += (StartsWith(line, "  #- ") ? "  - " + line.substr(5) : line) + "\n";
  return out;
}

std::string DoubtsText(const LineageGraph& g, const std::vector<Doubt>& doubts, std::size_t most, int width) {
  std::string out;
  std::size_t shown = 0;
  for (const Doubt& d : doubts) {
    if (shown == most) break;
    ++shown;
    const Stanza stanza = StanzaOf(g, d);
    out += Wrapped(stanza.section + ": - " + Printable(stanza.entry), width, 0, 4) + "\n";
    out += "    " + Wrapped(ReasonOf(g, d), width, 4) + "\n";
    if (!stanza.into.empty()) out += "    to be added to the entry in " + Printable(stanza.into) + "\n";
  }
  if (doubts.size() > shown)
    out += fmt::format("and {} more (--all)\n", Thousands(static_cast<std::int64_t>(doubts.size() - shown)));
  return out;
}

std::string UnknownNameText(const UnknownName& name) {
  std::string text = name.seen.at.file + ":" + name.seen.at.place + ": note: ";
  if (name.what == "selector")
    text += fmt::format("the selector '{}' matches nothing", name.name);
  else if (name.what == "pool")
    text += fmt::format("no source knows the pool '{}': how many slots it has is unknown", name.name);
  else if (name.what == "output")
    text += fmt::format("no source knows '{}', which a job writes, and no entry says what it is", name.name);
  else
    text += fmt::format("no other source knows the dataset '{}'", name.name);
  if (!name.near.empty()) text += "; nearest: " + Join(name.near, ", ");
  return Printable(text);
}

}  // namespace backreach
