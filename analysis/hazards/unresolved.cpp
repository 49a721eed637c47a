// Names in the sources that could not be placed.

#include <fmt/format.h>

#include <map>
#include <set>

#include "analysis/hazards/all.hpp"
#include "graph/base/words.hpp"

namespace backreach::hazards {

namespace {

void Find(const HazardContext& c, std::vector<Hazard>& out) {
  std::set<DatasetId> mentioned;
  const auto& members = c.sweeper.region().members();
  for (std::size_t i = 0; i < members.size(); ++i)
    if (!c.reached[i].empty()) mentioned.insert(members[i]);
  std::map<DatasetId, std::vector<const backreach::Unresolved*>> by_dataset;
  std::size_t rest = 0;
  for (const auto& u : c.graph.unresolved) {
    if (u.fact.what == "copy" || u.fact.what == "orphan") {
      const bool registry = StartsWith(u.seen.source, "registry:");
      Hazard h = MakeHazard(
          "unresolved", HazardSeverity::kWarning, DatasetId{}, {},
          u.fact.message + " (" + FormatSeen(u.seen) + ")",
          u.fact.what == "orphan"
              ? "say what it is taken from: copies: [{id: ..., of: [...]}] in a registry, or the exposure's "
                "depends_on; until then it is in no plan"
          : registry ? "correct the name in the registry; until then this copy is in no plan"
                     : "correct the name in the project, or say in a registry what is meant; until then what "
                       "hangs on it is in no plan");
      h.evidence["name"] = {u.fact.name};
      out.push_back(std::move(h));
    } else if (u.dataset.valid() && mentioned.count(u.dataset)) {
      by_dataset[u.dataset].push_back(&u);
    } else {
      ++rest;
    }
  }
  for (const auto& [id, list] : by_dataset) {
    std::vector<std::string> messages, names;
    for (const auto* u : list) {
      messages.push_back(u->fact.message + " (" + FormatSeen(u->seen) + ")");
      names.push_back(u->fact.name);
    }
    Hazard h = MakeHazard("unresolved", HazardSeverity::kWarning, id, {}, ListOf(messages, 8),
                          "name what is meant in a registry, so that nothing is missing from the plan");
    h.evidence["names"] = names;
    out.push_back(std::move(h));
  }
  if (rest > 0)
    out.push_back(MakeHazard(
        "unresolved", HazardSeverity::kWarning, DatasetId{}, {},
        fmt::format("{} elsewhere in the graph could not be placed and may hide readers of what is corrected",
                    Plural(static_cast<std::int64_t>(rest), "other name")),
        "backreach doctor lists them"));
}

}  // namespace

HazardKind Unresolved() {
  return {"unresolved",
          HazardSeverity::kWarning,
          "an importer saw a name that it could not place (a template, a missing node, a truncated "
          "statement), or a mapping that cannot stand",
          "something that the correction reaches may be missing from the plan",
          "name what is meant in a registry; backreach doctor lists all of them",
          Find};
}

}  // namespace backreach::hazards
