// A plan as a change record: hazards, steps, checks, copies, all of it in tables and fenced SQL.

#include "render/view/markdown.hpp"
#include "render/commands/lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "graph/base/words.hpp"
#include "render/view/plan_groups.hpp"
#include "render/view/text.hpp"
#include "render/view/words.hpp"

namespace backreach {

namespace {

// A name or message inside a table: no markup of its own, one line.
std::string Cell(const std::string& text) {
  std::string out;
  for (const char c : Printable(text)) {
    if (std::string_view("\\`*_{}[]<>|#~").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

// SQL as it is, inside a fence that is longer than any row of back-ticks in it.
std::string Fenced(const std::string& sql) {
  std::size_t longest = 2, row = 0;
  for (const char c : sql) longest = std::max(longest, row = c == '`' ? row + 1 : 0);
  const std::string fence(longest + 1, '`');
  std::string out = fence + "sql\n";
  for (const std::string& line : Split(sql, '\n')) out += Printable(line) + "\n";
  return out + fence + "\n";
}

// What to ask the platform before a step's result is published, and after it; what is asked twice stands
// once.
template <typename Name>
void Checks(const Plan& plan, const Name& name, std::string& out) {
  bool any = false;
  for (const Step& s : plan.steps) {
    if (s.before_publish.empty() && s.after_run.empty()) continue;
    if (!any) out += "\n## Checks\n";
    any = true;
    out += fmt::format("\nStep {}, {}:\n", s.id, name(s.dataset));
    std::set<std::string> said;
    const auto block = [&](const char* when, const std::vector<Check>& checks) {
      for (const Check& check : checks)
        if (said.insert(check.text).second)
          out += fmt::format("\n{}: {}{}\n\n", when, check.name,
                             check.kind == "dbt-test" ? ", as a dbt test" : "") +
                 Fenced(check.text);
    };
    block("Before", s.before_publish);
    block("After", s.after_run);
  }
}

constexpr std::size_t kListed = 16;  // so many steps have a row each

void ListedSteps(const LineageGraph& g, const Plan& plan, const ShortNames& names, std::string& out) {
  const auto name = [&](DatasetId id) { return Cell(names(id)); };
  out +=
      "| step | wave | after | dataset | cells | period | how |\n| --- | --- | --- | --- | --- | --- | --- "
      "|\n";
  for (const Step& s : plan.steps) {
    std::vector<std::string> after;
    for (const int a : s.after) after.push_back(std::to_string(a));
    const std::string cells = s.whole ? "whole" : StepCells(s);
    out += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", s.id, s.wave, ListOf(after, 8),
                       name(s.dataset), cells, s.whole ? "" : Cell(SpansText(g[s.dataset], s.spans)),
                       s.correct           ? "the correction itself"
                       : s.methods.empty() ? ""
                                           : Cell(CommandOf(s, s.methods[0])));
  }
}

// A row for what one command does together.
void GroupedSteps(const LineageGraph& g, const Plan& plan, const ShortNames& names, std::string& out) {
  out += "| steps | wave | datasets | cells | period | how |\n| --- | --- | --- | --- | --- | --- |\n";
  for (const StepGroup& group : GroupSteps(g, plan)) {
    std::vector<int> ids;
    std::vector<std::string> datasets;
    for (const Step* s : group.steps) ids.push_back(s->id), datasets.push_back(Cell(names(s->dataset)));
    const Step& first = *group.steps[0];
    std::string how = Join(
        std::vector<std::string>(group.commands.begin(),
                                 group.commands.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(
                                                              group.commands.size(), 4))),
        " && ");
    if (group.commands.size() > 4) how += fmt::format(" and {} more", group.commands.size() - 4);
    if (first.correct) how = "the correction itself";
    out +=
        fmt::format("| {} | {} | {} | {} | {} | {} |\n", NumbersText(ids), group.wave, Join(datasets, ", "),
                    first.whole ? "whole" : StepCells(first) + (ids.size() > 1 ? " each" : ""),
                    first.whole ? "" : Cell(SpansText(g[first.dataset], first.spans)), Cell(how));
  }
}

}  // namespace

std::string PlanMarkdown(const LineageGraph& g, const Plan& plan) {
  const ShortNames names(g);
  const auto name = [&](DatasetId id) { return Cell(names(id)); };
  std::string out = "# Backfill of ";
  std::vector<std::string> targets;
  for (const Target& t : plan.request.targets) targets.push_back(name(t.dataset));
  out += ListOf(targets) + "\n\n" + Cell(plan.summary) + "\n\n";
  out += fmt::format("Plan `{}`, made for {}, graph `{}`.\n", plan.id, FormatInstant(plan.request.now),
                     g.fingerprint.substr(0, 16));
  const auto section = [&](const char* title) { out += fmt::format("\n## {}\n\n", title); };
  if (!plan.hazards.empty()) {
    section("Hazards");
    out +=
        "| severity | hazard | dataset | what happens | what to do | accepted |\n| --- | --- | --- | --- | "
        "--- | --- |\n";
    const auto row = [&](HazardSeverity severity, const std::string& code, const std::string& who,
                         const std::string& what, const std::string& remedy, bool accepted) {
      out += fmt::format("| {} | {} | {} | {} | {} | {} |\n", ToString(severity), code, who, Cell(what),
                         Cell(remedy), accepted ? "yes" : "");
    };
    for (const HazardGroup& group : GroupHazards(g, plan, false))
      row(group.severity, group.code, Cell(WhoOf(group, plan, [&](DatasetId id) { return names(id); })),
          group.sentence, group.remedy, false);
    for (const Hazard& h : plan.hazards)
      if (h.accepted)
        row(h.severity, h.code, h.dataset.valid() ? name(h.dataset) : "", h.message, h.remedy, true);
  }
  if (!plan.steps.empty()) section("Steps");
  if (plan.steps.size() > kListed)
    GroupedSteps(g, plan, names, out);
  else if (!plan.steps.empty())
    ListedSteps(g, plan, names, out);
  Checks(plan, name, out);
  if (!plan.fresh.empty()) {
    section("Right by itself");
    for (const Fresh& f : plan.fresh) out += "- " + name(f.dataset) + "\n";
  }
  if (!plan.afterwards.empty()) {
    section("Afterwards");
    for (const Afterwards& a : plan.afterwards)
      out += fmt::format("- {} {}: {}\n", name(a.cells.dataset),
                         a.cells.whole ? "whole" : Cell(SpansText(g[a.cells.dataset], a.cells.spans)),
                         Cell(a.what));
  }
  if (!plan.left_stale.empty()) {
    section("Stays as it is");
    for (const LeftStale& l : plan.left_stale) {
      out += fmt::format("- {} {}: {}", name(l.cells.dataset),
                         l.cells.whole ? "" : Cell(SpansText(g[l.cells.dataset], l.cells.spans)),
                         ToString(l.reason));
      if (!l.mixes_into.empty()) out += "; mixes into " + Cell(names.List(l.mixes_into));
      out += "\n";
    }
  }
  if (plan.copies.empty() && !plan.nothing_to_do) {
    section("Out of reach");
    out += Cell(NoCopies(g, plan, names)) + "\n";
  }
  if (!plan.copies.empty()) {
    section("Out of reach");
    out +=
        "| copy | taken | wrong in it | heals | owner | contact | to do |\n| --- | --- | --- | --- | --- | "
        "--- | --- "
        "|\n";
    for (const AffectedCopy& c : plan.copies)
      out += fmt::format(
          "| {} | {} | {} | {} | {} | {} | {} |\n", Cell(c.id), Cell(Join(c.taken, ", ")),
          c.keyed_by.valid() ? Cell(SpansText(g[c.keyed_by], c.affected)) : "",
          c.heals ? FormatInstant(c.heals->at) + (c.stays.empty() ? "" : ", but for " + Cell(c.stays)) : "",
          Cell(c.owner), Cell(OwnerText(c.owner, c.contact, "", "") == c.owner ? "" : c.contact), c.action);
  }
  if (!plan.notes.empty()) {
    section("Notes");
    for (const std::string& note : plan.notes) out += "- " + Cell(note) + "\n";
  }
  return out;
}

}  // namespace backreach
