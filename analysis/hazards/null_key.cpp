// Keys with nulls: such rows match nothing and are inserted again.

#include <fmt/format.h>

#include <algorithm>

#include "analysis/hazards/all.hpp"
#include "graph/base/words.hpp"

namespace backreach::hazards {

namespace {

void Find(const HazardContext& c, std::vector<Hazard>& out) {
  for (const Written& w : WrittenCells(c)) {
    const Dataset& d = c.graph[w.dataset];
    if ((d.writes != Writes::kMerge && d.writes != Writes::kDeleteInsert) || d.key.empty() ||
        d.proven_not_null == true)
      continue;
    std::vector<std::string> open, known;
    for (const std::string& column : d.key) {
      bool shown = false, failed = false;
      for (const CheckFact& check : d.checks) {
        const bool on = std::any_of(check.columns.begin(), check.columns.end(),
                                    [&](const std::string& k) { return Lower(k) == Lower(column); });
        if (!on) continue;
        if (check.kind == "not_null_constraint") shown = true;
        if (check.kind != "not_null" || !check.enabled) continue;
        if (check.last_status == "fail")
          failed = true;
        else if (check.covers_all_rows && check.fails_run)
          shown = true;
      }
      if (failed)
        known.push_back(column);
      else if (!shown)
        open.push_back(column);
    }
    if (d.proven_not_null == false) known = d.key, open.clear();
    if (open.empty() && known.empty()) continue;
    const bool nulls = !known.empty();
    Hazard h = MakeHazard(
        "null-key", nulls ? HazardSeverity::kBlocking : HazardSeverity::kWarning, w,
        nulls ? fmt::format("{} has nulls in its key ({}): such rows match nothing and are inserted again",
                            d.name, Join(known, ", "))
              : fmt::format("nothing shows that the key of {} is never null ({}): rows with a null would be "
                            "inserted again",
                            d.name, Join(open, ", ")),
        "test the key's columns for nulls (not_null), or coalesce them in the key");
    h.evidence["columns"] = nulls ? known : open;
    out.push_back(std::move(h));
  }
}

}  // namespace

HazardKind NullKey() {
  return {"null-key",
          HazardSeverity::kWarning,
          "a merge or delete+insert on a key with a column that nothing shows to be not null",
          "rows whose key is null match nothing and are inserted again by every run",
          "add a not_null test on every column of the key, or coalesce nulls in it",
          Find};
}

}  // namespace backreach::hazards
