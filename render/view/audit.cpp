// What was looked at comes first: nothing found is worth no more than that.

#include "render/view/audit.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "graph/base/words.hpp"
#include "render/view/words.hpp"

namespace backreach {

namespace {

std::string Counted(const Audit& audit, bool registry) {
  const std::string seen_out =
      audit.extracts_seen == 1 ? "1 way out was" : fmt::format("{} ways out were", audit.extracts_seen);
  const std::string exposures = Plural(static_cast<std::int64_t>(audit.exposures_seen), "exposure");
  if (!registry)
    return fmt::format("{} seen, {} documented; no registry has been read, {}.", seen_out,
                       audit.documented.size(), exposures);
  return fmt::format(
      "{} seen, {} documented by the registry; {} named in the registry, {}.", seen_out,
      audit.documented.size(),
      audit.registry_copies == 1 ? "1 copy is" : fmt::format("{} copies are", audit.registry_copies),
      exposures);
}

std::string LookedAt(const Audit& audit) {
  std::vector<std::string> parts;
  for (const auto& [what, n] : audit.looked_at)
    if (what != "registry copies" && what != "exposures")
      parts.push_back(fmt::format("{} {}", Thousands(n), what));
  return parts.empty() ? "" : "Looked at: " + Join(parts, ", ") + ".";
}

std::string Verdict(const Audit& audit) {
  std::size_t blocking = 0, possible = 0;
  for (const AuditFinding& f : audit.findings) blocking += f.severity == HazardSeverity::kBlocking;
  for (const AuditNotUnderstood& n : audit.not_understood) possible += n.possible_extract;
  if (!audit.findings.empty())
    return fmt::format("{}, of which {} must be written down.",
                       Plural(static_cast<std::int64_t>(audit.findings.size()), "finding"), blocking);
  if (possible > 0)
    return fmt::format("Nothing undocumented was found, but {} may take rows out and {} not understood.",
                       Plural(static_cast<std::int64_t>(possible), "statement"),
                       possible == 1 ? "was" : "were");
  bool anything = false;
  for (const auto& [what, n] : audit.looked_at)
    anything = anything || (n > 0 && what != "registry copies" && what != "exposures");
  if (!anything && audit.extracts_seen == 0)
    return "There was nothing to look into: no statements, no tasks, no models. That is no result.";
  if (!audit.not_looked_into.empty()) return "Nothing undocumented was found in what was looked at.";
  return "Nothing undocumented was found.";
}

}  // namespace

std::string AuditText(const LineageGraph& graph, const Audit& audit, const TextStyle& style) {
  std::string out;
  bool registry = false;
  for (const Source& s : graph.sources) registry = registry || s.kind == "registry";
  out += Wrapped(Counted(audit, registry), style.width, 0) + "\n";
  if (const std::string looked = LookedAt(audit); !looked.empty())
    out += Wrapped(looked, style.width, 0) + "\n";
  for (const std::string& not_looked : audit.not_looked_into)
    out += Wrapped("Not looked into: " + Printable(not_looked) + ".", style.width, 0) + "\n";
  out += Wrapped(Verdict(audit), style.width, 0) + "\n";
  for (const AuditFinding& f : audit.findings) {
    const char* mark = f.severity == HazardSeverity::kBlocking ? "x" : "!";
    out += fmt::format("\n{} {}  {}\n", mark, f.code, Printable(f.dataset));
    out += "    " + Wrapped(Printable(f.message), style.width, 4, 4) + "\n";
    if (!f.behind.empty())
      out += "    " + Wrapped(Printable("behind it: " + ListOf(f.behind)), style.width, 4, 4) + "\n";
    if (!f.remedy.empty()) out += "    " + Wrapped(Printable(f.remedy), style.width, 4, 4) + "\n";
    const std::string seen = FormatSeen(f.seen);
    if (seen.size() > 2) out += "    seen in " + Printable(seen) + "\n";
  }
  const auto section = [&](const char* title) { out += fmt::format("\n{}\n", title); };
  const auto line = [&](const std::string& text) {
    out += "  " + Wrapped(Printable(text), style.width, 2, 4) + "\n";
  };
  if (!audit.documented.empty()) {
    section("DOCUMENTED");
    for (const AuditDocumented& d : audit.documented)
      line(fmt::format("{}: {} to {}{}", d.copy, d.dataset, d.destination,
                       d.times > 1 ? fmt::format(", {} times", d.times) : ""));
  }
  if (!audit.readers.empty()) {
    section("READERS THAT KEEP NOTHING WE KNOW OF");
    const std::size_t most = style.all ? audit.readers.size() : 20;
    for (std::size_t i = 0; i < audit.readers.size() && i < most; ++i) {
      const AuditReader& r = audit.readers[i];
      line(fmt::format("{}: {}{}, {}", r.dataset, r.user.value_or("nobody named"),
                       r.client ? " (" + *r.client + ")" : "",
                       r.times == 1 ? "once" : Thousands(r.times) + " times"));
    }
    if (audit.readers.size() > most)
      line(fmt::format("and {} more (--format json has all)", audit.readers.size() - most));
  }
  if (!audit.accepted.empty()) {
    section("ACCEPTED");
    for (const AuditAccepted& a : audit.accepted)
      line(fmt::format("{} {} -> {}{}: {}", a.finding.code, a.finding.dataset, a.finding.destination,
                       a.until ? ", until " + *a.until : "", a.reason));
  }
  if (!audit.not_understood.empty()) {
    section("NOT UNDERSTOOD");
    for (const AuditNotUnderstood& n : audit.not_understood)
      line(fmt::format("{}{}: {}", n.possible_extract ? "! " : "", n.id, n.reason));
  }
  return out;
}

}  // namespace backreach
