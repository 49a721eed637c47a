// backreach copies: what was taken from a dataset, or from all.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analysis/request_text.hpp"
#include "analysis/sweep/sweep.hpp"
#include "cli/command.hpp"
#include "cli/loaded.hpp"
#include "cli/output.hpp"
#include "graph/base/words.hpp"
#include "render/plan_file/json.hpp"
#include "render/view/words.hpp"

namespace backreach {

namespace {

// A field for CSV; formulas are defused, since spreadsheets run them.
std::string Csv(const std::string& text) {
  std::string field = Printable(text);
  if (!field.empty() && std::string_view("=+-@").find(field[0]) != std::string_view::npos)
    field = "'" + field;
  if (field.find_first_of(",\"\n") == std::string::npos) return field;
  std::string out = "\"";
  for (const char c : field) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

Status Run(const Arguments& a) {
  const std::string format = FormatOf(a, {"text", "json", "csv"}, "text");
  const BuiltGraph& built = LoadGraph(a);
  const LineageGraph& g = built.graph;
  std::vector<CopyId> ids;
  std::optional<Region> below;
  if (!a.words.empty()) below.emplace(g, std::vector<DatasetId>{FindDataset(g, built.names, a.words[0])});
  std::vector<bool> taken(g.copies.size(), false);
  for (bool more = true; more;) {
    more = false;
    for (std::uint32_t i = 0; i < g.copies.size(); ++i) {
      if (taken[i]) continue;
      bool is = !below;
      for (const CopyOf& of : g.copies[i].of)
        is =
            is || (of.dataset.valid() && below->Has(of.dataset)) || (of.copy.valid() && taken[of.copy.value]);
      if (is) taken[i] = more = true;
    }
  }
  for (std::uint32_t i = 0; i < g.copies.size(); ++i)
    if (taken[i]) ids.push_back(CopyId{i});
  if (format == "json") {
    WriteOut(a, CopiesJson(g, ids));
    return Status::kDone;
  }
  std::string text;
  if (format == "csv") text = "id,of,kind,where,owner,contact,taken\n";
  for (const CopyId id : ids) {
    const Copy& c = g[id];
    std::vector<std::string> of;
    for (const CopyOf& o : c.of)
      of.push_back(o.dataset.valid() ? g[o.dataset].name : o.name + (o.copy.valid() ? "" : " (unknown)"));
    if (format == "csv") {
      text += Csv(c.id) + "," + Csv(Join(of, "; ")) + "," + Csv(c.kind) + "," + Csv(c.where) + "," +
              Csv(c.owner) + "," + Csv(c.contact) + "," + Csv(Join(c.taken, "; ")) + "\n";
    } else {
      text += Printable(c.id) + "\n";
      text += fmt::format("  of     {}\n  kind   {}{}\n", Printable(ListOf(of, 20)), c.kind,
                          c.where.empty() ? "" : ", " + Printable(c.where));
      const std::string who = OwnerText(c.owner, c.contact, ", ", "");
      text += fmt::format("  who    {}\n", who.empty() ? "nobody named" : Printable(who));
      if (!c.taken.empty()) text += "  taken  " + ListOf(c.taken, 5) + "\n";
      for (const Seen& s : c.seen) text += "  from   " + Printable(FormatSeen(s)) + "\n";
    }
  }
  if (ids.empty() && format == "text")
    text = a.words.empty()
               ? "no copies are known: no registry names one, and no exposure\n"
               : fmt::format(
                     "no copies are known below {}; that is no proof that there are none (backreach audit)\n",
                     Printable(a.words[0]));
  WriteOut(a, text);
  return Status::kDone;
}

}  // namespace

Command CopiesCommand() {
  using Kind = OptionSpec::Kind;
  return {"copies",
          "DATASET",
          0,
          1,
          "every known copy outside the platform, or those below a dataset",
          "  backreach copies\n"
          "  backreach copies revenue_daily --format csv",
          std::vector<OptionSpec>{{Kind::kValue, "format", "FORMAT", "text (default), json or csv"}} +
              CommonOptions(),
          Run};
}

}  // namespace backreach
