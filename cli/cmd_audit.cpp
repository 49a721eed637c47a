// backreach audit: ways out of the platform that nobody wrote down.

#include <fmt/format.h>

#include "analysis/audit.hpp"
#include "cli/command.hpp"
#include "cli/loaded.hpp"
#include "cli/output.hpp"
#include "graph/time/time.hpp"
#include "render/plan_file/audit_file.hpp"
#include "render/view/audit.hpp"

namespace backreach {

namespace {

Status Run(const Arguments& a) {
  const std::string format = FormatOf(a, {"text", "json", "sarif"}, "text");
  const std::string bar = a.value("fail-on").value_or("blocking");
  if (bar != "blocking" && bar != "warning" && bar != "note")
    throw Error(fmt::format("backreach: error: --fail-on '{}' must be note, warning or blocking", bar));
  const HazardSeverity fail_on = bar == "note"      ? HazardSeverity::kNote
                                 : bar == "warning" ? HazardSeverity::kWarning
                                                    : HazardSeverity::kBlocking;
  const std::int64_t now = MomentOf(a, "now").value_or(ClockNow());
  const BuiltGraph& built = LoadGraph(a);
  const Audit audit = MakeAudit(built.graph, now);
  if (a.flag("suggest"))
    WriteOut(a, SuggestRegistry(audit));
  else
    WriteOut(a, format == "json"    ? AuditJson(audit)
                : format == "sarif" ? AuditSarif(audit)
                                    : AuditText(built.graph, audit, {TerminalWidth(), Coloured(), false}));
  for (const AuditFinding& f : audit.findings)
    if (f.severity >= fail_on) return Status::kFound;
  for (const AuditNotUnderstood& n : audit.not_understood)
    if (n.possible_extract) return Status::kFound;
  return Status::kDone;
}

}  // namespace

Command AuditCommand() {
  using Kind = OptionSpec::Kind;
  return {"audit",
          "",
          0,
          0,
          "ways out of the platform that nobody wrote down, and registry entries that no longer hold",
          "  backreach audit\n"
          "  backreach audit --suggest >> registry.yml",
          std::vector<OptionSpec>{{Kind::kValue, "format", "FORMAT", "text (default), json or sarif"},
                                  {Kind::kFlag, "suggest", "", "print the registry entries that are missing"},
                                  {Kind::kValue, "fail-on", "SEVERITY",
                                   "exit status 1 at or above this: note, warning, blocking (default)"},
                                  {Kind::kValue, "now", "T", "what has expired is judged as of this instant"},
                                  {Kind::kValue, "out", "FILE", "write to this file"}} +
              CommonOptions(),
          Run};
}

}  // namespace backreach
