// Both ways: every extract that importers saw against the registry's copies, and every copy of the registry
// against what was seen. Without logs nothing is known of users and dates, and `times` is 0.

#include "analysis/audit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analysis/copies.hpp"
#include "graph/base/words.hpp"
#include "graph/base/yaml_text.hpp"

namespace backreach {

Audit MakeAudit(const LineageGraph& graph) {
  Audit out;
  std::set<std::string> matched;
  std::set<std::string> done;
  for (const Extract& e : graph.extracts) {
    ++out.extracts_seen;
    const std::string dataset = e.dataset.valid() ? graph[e.dataset].name : e.fact.dataset;
    const std::string key = dataset + "\n" + FoldDates(e.fact.destination) + "\n" + e.fact.user.value_or("");
    if (!done.insert(key).second) continue;
    const Copy* covering = nullptr;
    for (const Copy& copy : graph.copies) {
      const bool same = e.dataset.valid()
                            ? TakenFrom(graph, copy, e.dataset)
                            : std::any_of(copy.of.begin(), copy.of.end(),
                                          [&](const CopyOf& of) { return of.name == e.fact.dataset; });
      if (!copy.exposure && same && CoversDestination(copy.where, e.fact.destination)) covering = &copy;
    }
    std::vector<std::string> ids;
    if (e.fact.statement_id) ids.push_back(*e.fact.statement_id);
    if (covering) {
      matched.insert(covering->id);
      out.documented.push_back({covering->id, dataset, e.fact.destination, e.fact.user, e.fact.times, ids});
      continue;
    }
    AuditFinding f;
    const bool clone = e.fact.what.find("CLONE") != std::string::npos;
    f.code = clone ? "frozen-copy" : "undocumented-extract";
    f.dataset = dataset;
    f.destination = e.fact.destination;
    f.user = e.fact.user;
    f.first_seen = e.fact.first_seen;
    f.last_seen = e.fact.last_seen;
    f.times = e.fact.times;
    f.statement_ids = ids;
    f.severity = clone ? HazardSeverity::kWarning : HazardSeverity::kBlocking;
    f.message = fmt::format("{}: {} goes to {}, and no registry entry says so", e.fact.what, dataset,
                            e.fact.destination);
    f.remedy = "write it down: backreach audit --suggest prints the stanza";
    f.seen = e.seen;
    out.findings.push_back(std::move(f));
  }
  for (const Copy& copy : graph.copies) {
    if (copy.exposure) {
      ++out.exposures;  // documentation by itself
      continue;
    }
    ++out.registry_copies;
    const auto entry = [&](const char* code, const std::string& dataset, const std::string& message,
                           const std::string& remedy) {
      AuditFinding f;
      f.code = code;
      f.dataset = dataset;
      f.destination = copy.where;
      f.message = message;
      f.remedy = remedy;
      f.seen = copy.seen.empty() ? Seen() : copy.seen[0];
      out.findings.push_back(std::move(f));
    };
    std::string of = copy.of.empty()              ? ""
                     : copy.of[0].dataset.valid() ? graph[copy.of[0].dataset].name
                                                  : copy.of[0].name;
    for (const CopyOf& o : copy.of)
      if (!o.placed())
        entry("unknown-dataset", o.name,
              fmt::format("copy '{}' was taken of '{}', which nobody knows", copy.id, o.name),
              "correct its name, or ingest what knows it");
    if (copy.owner.empty() && copy.contact.empty())
      entry("no-owner", of, fmt::format("copy '{}' names nobody who could act on it", copy.id),
            "add owner and contact");
    // A place that importers look at, and where nothing was seen to go: only where something of its kind was
    // seen.
    const bool place = copy.where.find("://") != std::string::npos || copy.where.find('@') == 0;
    if (place && !matched.count(copy.id) && out.extracts_seen > 0)
      entry("never-seen", of,
            fmt::format("copy '{}' ({}) was written by nothing that the importers saw", copy.id, copy.where),
            "drop the entry, or ingest what writes it");
  }
  std::sort(out.findings.begin(), out.findings.end(), [](const AuditFinding& a, const AuditFinding& b) {
    if (a.severity != b.severity) return a.severity > b.severity;
    return std::tie(a.code, a.dataset, a.destination, a.message) <
           std::tie(b.code, b.dataset, b.destination, b.message);
  });
  std::sort(out.documented.begin(), out.documented.end(),
            [](const AuditDocumented& a, const AuditDocumented& b) {
              return std::tie(a.copy, a.dataset, a.destination) < std::tie(b.copy, b.dataset, b.destination);
            });
  for (const Unresolved& u : graph.unresolved) {
    if (u.fact.what != "truncated" && u.fact.what != "extract") continue;
    out.not_understood.push_back(
        {u.fact.name, u.seen.at.file, u.seen.at.place, u.fact.message, u.fact.what == "extract"});
  }
  return out;
}

std::string SuggestRegistry(const Audit& audit) {
  std::string out;
  std::map<std::string, int> ids;
  for (const AuditFinding& f : audit.findings) {
    if (f.code != "undocumented-extract" && f.code != "frozen-copy") continue;
    if (out.empty()) out = "backreach: 1\ncopies:\n";
    const auto parts = Split(f.dataset, '.');
    std::string id = parts.back() + "-extract";
    for (char& c : id)
      if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
            c == '_'))
        c = '-';
    if (const int n = ++ids[id]; n > 1) id += "-" + std::to_string(n);
    out += fmt::format(
        "  - id: {}\n    of: {}\n    kind: export\n    where: {}\n    owner:        # who answers for it\n   "
        " contact:\n    note: {}\n",
        id, YamlQuoted(f.dataset), YamlQuoted(FoldDates(f.destination)), YamlQuoted(f.message));
  }
  return out;
}

}  // namespace backreach
