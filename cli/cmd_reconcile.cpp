// backreach reconcile: what ran, held against the plan.

#include <filesystem>

#include "analysis/after/reconcile.hpp"
#include "analysis/after/run.hpp"
#include "cli/command.hpp"
#include "cli/loaded.hpp"
#include "cli/output.hpp"
#include "cli/plan_input.hpp"
#include "graph/store/store.hpp"
#include "ingest/runs/runs.hpp"
#include "render/view/after.hpp"

namespace backreach {

namespace {

using Reader = std::vector<RunSeen> (*)(const std::string&, const std::string&, Diagnostics&);

// The kinds of records: a further one is a line here and a reader in ingest/runs.
constexpr struct {
  const char* option;
  Reader read;
} kRecords[] = {
    {"run-results", ReadDbtRuns}, {"airflow-runs", ReadAirflowRuns}, {"openlineage", ReadOpenLineageRuns}};

std::vector<RunSeen> ReadAll(const Arguments& a) {
  std::vector<RunSeen> out;
  Diagnostics diagnostics;
  bool any = false;
  for (const auto& kind : kRecords)
    for (const std::string& path : a.list(kind.option)) {
      any = true;
      for (RunSeen& run : kind.read(ReadWhole(path, ""), path, diagnostics)) out.push_back(std::move(run));
    }
  if (!any)
    throw Error(
        "backreach: error: reconcile needs what ran: --run-results, --airflow-runs or --openlineage\n"
        "  backreach reconcile plan.json --run-results target/run_results.json");
  if (diagnostics.has_errors()) {
    std::string text = Format(diagnostics);
    while (!text.empty() && text.back() == '\n') text.pop_back();
    throw Error(text);
  }
  return out;
}

// Writes what ran into the log of the run in progress.
void Log(const Arguments& a, const RecordedPlan& plan, const Reconciliation& found) {
  const std::string at = LogMoment(a);
  Store store = Store::OpenForWriting(StorePath(a));
  store.ChangeRunLog([&](std::vector<LoggedRun>& log) {
    LoggedRun* run = FindRun(log, plan.id, true);
    if (!run)
      throw Error("backreach: error: plan " + plan.id +
                  " is not in progress: there is nothing to log to\n  backreach run start " + plan.path);
    for (const ReconciledStep& s : found.steps) {
      StepReport report;
      report.id = s.id, report.at = at;
      if (s.state == "failed") report.state = LoggedStep::State::kFailed;
      if (s.state == "partly" || (s.state == "failed" && !s.ran.empty())) {
        StepReport part = report;
        part.state = LoggedStep::State::kDone, part.cells = s.ran;
        LogStep(*run, part);
      }
      if (s.state == "ran" || s.state == "failed") LogStep(*run, report);
    }
  });
}

Status Run(const Arguments& a) {
  const std::string format = FormatOf(a, {"text", "json"}, "text");
  ReconcileQuestion question;
  const RecordedPlan plan = ReadPlanFile(a.words[0]);
  question.plan = &plan;
  question.runs = ReadAll(a);
  question.since = plan.now;
  std::error_code ec;
  if (std::filesystem::exists(StorePath(a), ec)) {
    const std::vector<LoggedRun> log = Store::OpenForReading(StorePath(a)).RunLog();
    if (const LoggedRun* run = FindRun(log, plan.id, false))
      if (const auto at = ParseInstant(run->started_at, true)) question.since = *at;
    const BuiltGraph& built = LoadGraph(a);
    question.graph = &built.graph;
    question.canonical = [&](const std::string& name) -> std::optional<std::string> {
      const NameMatch match = built.names.Find(name);
      return match.found ? std::optional(built.graph.datasets[*match.found].name) : std::nullopt;
    };
  }
  const Reconciliation found = Reconcile(question);
  if (a.flag("log")) Log(a, plan, found);
  WriteOut(a, format == "json" ? ReconcileJson(plan, found) : ReconcileText(plan, found, TerminalWidth()));
  for (const ReconciledStep& s : found.steps)
    if (s.state != "ran" && s.state != "by-hand") return Status::kFound;
  return Status::kDone;
}

}  // namespace

Command ReconcileCommand() {
  using Kind = OptionSpec::Kind;
  return {
      "reconcile",
      "PLAN.json",
      1,
      1,
      "what ran and what did not, by the engines' own records",
      "  backreach reconcile plan.json --run-results target/run_results.json\n"
      "  backreach reconcile plan.json --airflow-runs runs.json --format json",
      std::vector<OptionSpec>{{Kind::kList, "run-results", "FILE", "dbt's run_results.json"},
                              {Kind::kList, "airflow-runs", "FILE",
                               "Airflow's runs: dagRuns or taskInstances of its API, or list-runs -o json"},
                              {Kind::kList, "openlineage", "FILE", "events of OpenLineage"},
                              {Kind::kFlag, "log", "", "write what ran into the log of the run in progress"},
                              {Kind::kValue, "at", "INSTANT", "when, for --log (default: the clock)"},
                              {Kind::kValue, "format", "FORMAT", "text (default) or json"},
                              {Kind::kValue, "out", "FILE", "write to this file"}} +
          CommonOptions(),
      Run};
}

}  // namespace backreach
