// backreach run: the log of what was rebuilt, and what is in progress.

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>

#include "analysis/after/run.hpp"
#include "cli/command.hpp"
#include "cli/plan_input.hpp"
#include "graph/base/words.hpp"
#include "graph/store/store.hpp"

namespace backreach {

namespace {

// Who is at work, where nobody says --by.
std::string Who(const Arguments& a) {
  if (const auto by = a.value("by")) return *by;
  const struct passwd* user = getpwuid(geteuid());
  return user && user->pw_name ? user->pw_name : "";
}

Store OpenLog(const Arguments& a) {
  Store::OpenForReading(StorePath(a));  // what is not there is not made
  return Store::OpenForWriting(StorePath(a));
}

[[noreturn]] void NotInProgress(const std::vector<LoggedRun>& log, const RecordedPlan& plan) {
  const LoggedRun* run = FindRun(log, plan.id, false);
  throw Error(
      fmt::format("backreach: error: plan {} is not in progress{}\n  start it with: backreach run start {}",
                  plan.id, run ? fmt::format(": it is {}", ToString(run->state)) : "", ShellWord(plan.path)));
}

Status Start(const Arguments& a) {
  const RecordedPlan plan = ReadPlanFile(a.words[0]);
  const std::string at = LogMoment(a);
  if (plan.steps.empty())
    throw Error(plan.path + ": error: the plan has no steps: there is nothing to start");
  Store store = OpenLog(a);
  std::vector<std::string> refused;
  bool again = false;
  store.ChangeRunLog([&](std::vector<LoggedRun>& log) {
    if (a.flag("resume") && FindRun(log, plan.id, true)) {
      again = true;
      return;
    }
    refused = RefusalsOf(log, plan, a.flag("force"));
    if (!refused.empty()) return;
    LoggedRun run = EntryOf(plan);
    run.started_at = at, run.by = Who(a);
    log.push_back(std::move(run));
  });
  if (!refused.empty()) {
    std::string text = fmt::format("{}: plan {} was not started:\n", plan.path, plan.id);
    for (const std::string& line : refused) text += "  x " + Printable(line) + "\n";
    Say(a, text + "  see: backreach status\n");
    return Status::kFound;
  }
  Say(a, again ? fmt::format("plan {} is in progress already: it goes on\n", plan.id)
               : fmt::format("plan {} is in progress since {}: {}\n", plan.id, at,
                             Plural(static_cast<std::int64_t>(plan.steps.size()), "step")));
  return Status::kDone;
}

int StepNumber(const std::string& word) {
  int id = 0;
  const auto [end, ec] = std::from_chars(word.data(), word.data() + word.size(), id);
  if (ec != std::errc{} || *end != '\0' || id < 1)
    throw Error(fmt::format("backreach: error: '{}' is no step: give the numbers that the plan shows", word));
  return id;
}

// --cells A..B: keys of the step's own cells.
SpanSet CellsOf(const Arguments& a, const RecordedStep& step) {
  const Calendar calendar = CalendarOf(step);
  std::vector<Span> spans;
  for (const std::string& range : a.list("cells")) {
    const std::size_t dots = range.find("..");
    const std::string from = range.substr(0, dots),
                      to = dots == std::string::npos ? from : range.substr(dots + 2);
    const DateResult first = ParseDate(from, calendar), last = ParseDate(to, calendar);
    if (!first.span || !last.span || first.span->start >= last.span->end)
      throw Error(
          fmt::format("backreach: error: --cells '{}' are no cells of step {}: write A..B as the plan does",
                      range, step.id));
    spans.push_back({calendar.Floor(first.span->start), calendar.Ceil(last.span->end)});
  }
  if (step.cells.whole && !spans.empty())
    throw Error(fmt::format("backreach: error: step {} is whole: it has no cells to be named", step.id));
  return SpanSet::FromUnsorted(std::move(spans));
}

Status Step(const Arguments& a) {
  const RecordedPlan plan = ReadPlanFile(a.words[0]);
  StepReport report;
  report.at = LogMoment(a);
  report.position = a.value("position").value_or("");
  if (a.flag("failed") && a.flag("started"))
    throw Error("backreach: error: --started and --failed exclude each other");
  if (a.flag("failed")) report.state = LoggedStep::State::kFailed;
  if (a.flag("started") || (!report.position.empty() && !a.flag("failed")))
    report.state = LoggedStep::State::kStarted;
  std::vector<StepReport> reports;
  for (std::size_t i = 1; i < a.words.size(); ++i) {
    report.id = StepNumber(a.words[i]);
    const RecordedStep* step = plan.Step(report.id);
    if (!step)
      throw Error(fmt::format("{}: error: the plan has no step {}\n  it has {}", plan.path, report.id,
                              Plural(static_cast<std::int64_t>(plan.steps.size()), "step")));
    if (!a.list("cells").empty()) report.cells = CellsOf(a, *step);
    reports.push_back(report);
  }
  if (reports.size() > 1 && !a.list("cells").empty())
    throw Error("backreach: error: --cells are of one step: name one");
  Store store = OpenLog(a);
  Progress progress;
  store.ChangeRunLog([&](std::vector<LoggedRun>& log) {
    LoggedRun* run = FindRun(log, plan.id, true);
    if (!run) NotInProgress(log, plan);
    for (const StepReport& r : reports) LogStep(*run, r);
    progress = ProgressOf(*run);
  });
  Say(a, fmt::format("plan {}: {} of {} done\n", plan.id, progress.done,
                     Plural(static_cast<std::int64_t>(progress.all), "step")));
  return Status::kDone;
}

Status End(const Arguments& a, LoggedRun::State state) {
  const RecordedPlan plan = ReadPlanFile(a.words[0]);
  const std::string at = LogMoment(a);
  Store store = OpenLog(a);
  LoggedRun ended;
  store.ChangeRunLog([&](std::vector<LoggedRun>& log) {
    LoggedRun* run = FindRun(log, plan.id, true);
    if (!run) NotInProgress(log, plan);
    const Progress progress = ProgressOf(*run);
    if (state == LoggedRun::State::kFinished && !progress.failed.empty() && !a.flag("force"))
      throw Error(
          fmt::format("backreach: error: step {} of plan {} failed: it is not through\n"
                      "  log it again when it is mended, give the run up (run abandon), or say --force",
                      progress.failed[0], plan.id));
    run->state = state;
    run->ended_at = at;
    ended = *run;
  });
  const Progress progress = ProgressOf(ended);
  if (state == LoggedRun::State::kFinished) {
    const bool part = progress.done > 0 && progress.done < progress.all;
    Say(a, fmt::format(
               "plan {} is finished{}\n  next: backreach verify {} --before before.csv --after after.csv\n",
               plan.id,
               part ? fmt::format(" ({} of {} steps were logged; all count as done)", progress.done,
                                  progress.all)
                    : "",
               ShellWord(plan.path)));
    return Status::kDone;
  }
  std::string text = fmt::format("plan {} is abandoned: {} of {} steps count as done, the rest for nothing\n",
                                 plan.id, progress.done, progress.all);
  for (const LoggedStep* step : ToTakeBack(ended))
    text += fmt::format("  to take step {} back: {} was at {}\n", step->id, Printable(step->dataset),
                        Printable(step->position));
  Say(a, text);
  return Status::kDone;
}

Status Finish(const Arguments& a) { return End(a, LoggedRun::State::kFinished); }
Status Abandon(const Arguments& a) { return End(a, LoggedRun::State::kAbandoned); }

}  // namespace

Command RunCommand() {
  using Kind = OptionSpec::Kind;
  const std::vector<OptionSpec> at = {{Kind::kValue, "at", "INSTANT", "when it was (default: the clock)"}};
  return {
      "run",
      "",
      0,
      0,
      "the log of what was rebuilt: start, step, finish, abandon",
      "",
      {},
      nullptr,
      {{"start", "PLAN.json", 1, 1,
        "write down that this plan is being run; refused where another run in progress has some of its cells",
        "  backreach run start plan.json\n  backreach run start plan.json --by ana --at 2026-04-20T09:00Z",
        at +
            std::vector<OptionSpec>{
                {Kind::kValue, "by", "NAME", "who runs it (default: the user)"},
                {Kind::kFlag, "resume", "", "go on if this very plan is in progress"},
                {Kind::kFlag, "force", "", "although blocking hazards are not accepted"}} +
            CommonOptions(),
        Start},
       {"step", "PLAN.json STEP...", 2, -1, "write down that steps are done, or cells of one",
        "  backreach run step plan.json 3\n"
        "  backreach run step plan.json 4 --cells 2026-03-01..2026-03-10",
        at +
            std::vector<OptionSpec>{
                {Kind::kList, "cells", "A..B", "only these cells of the step are done"},
                {Kind::kFlag, "started", "", "it has begun"},
                {Kind::kFlag, "failed", "", "it failed"},
                {Kind::kValue, "position", "TEXT",
                 "where its table stood before, to go back to (a snapshot's id, a time)"}} +
            CommonOptions(),
        Step},
       {"finish", "PLAN.json", 1, 1, "write down that all of the plan is done",
        "  backreach run finish plan.json\n  backreach run finish plan.json --at 2026-04-20T12:30Z",
        at + std::vector<OptionSpec>{{Kind::kFlag, "force", "", "although a step is logged as failed"}} +
            CommonOptions(),
        Finish},
       {"abandon", "PLAN.json", 1, 1, "give the run up: only what it logged as done counts",
        "  backreach run abandon plan.json\n  backreach run abandon plan.json --at 2026-04-20T12:30Z",
        at + CommonOptions(), Abandon}}};
}

}  // namespace backreach
