// A resumable script: each command is logged when it is done, and left out when the script is started again.

#include <fmt/format.h>

#include <algorithm>

#include "graph/base/words.hpp"
#include "render/engines/feed.hpp"
#include "render/quote.hpp"

namespace backreach {

namespace {

constexpr const char* kFunctions =
    R"sh(# step IDS WHAT COMMAND...: runs the commands in turn; what the log has as done is left out.
step() {
  local ids=$1 what=$2 n=0; shift 2
  if grep -qx "done $ids" "$LOG"; then echo "step $ids: already done ($what)"; return 0; fi
  echo "step $ids: $what"
  for command in "$@"; do
    n=$((n + 1))
    if [ $# -gt 1 ] && grep -qx "part $n of $ids" "$LOG"; then echo "  part $n: already done"; continue; fi
    if ! bash -euo pipefail -c -- "$command"; then
      echo "step $ids failed: mend it and start this script again" >&2; exit 1
    fi
    if [ $# -gt 1 ]; then echo "part $n of $ids" >> "$LOG"; fi
  done
  echo "done $ids" >> "$LOG"
  log_step "$ids"
}
)sh";

// Beside the store the script keeps the log of runs itself; elsewhere the lines stand behind each step.
constexpr const char* kRunLog =
    R"sh(
# The log of runs, where backreach and its store are at hand: started, step by step, finished.
LOGS=no
if [ -f "$PLAN" ] && [ -f "${BACKREACH_STORE:-.backreach/graph.db}" ] && command -v backreach >/dev/null; then LOGS=yes; fi
log_step() {
  case $1 in tests-*) return 0 ;; esac
  # shellcheck disable=SC2086
  if [ "$LOGS" = yes ]; then backreach run step "$PLAN" $1 --quiet || echo "step $1 is done, and could not be logged" >&2; fi
}
)sh";

constexpr const char* kByHand =
    R"sh(
# by_hand IDS WHAT TODO: stops until the log says that somebody did it.
by_hand() {
  if grep -qx "done $1" "$LOG"; then echo "step $1: already done ($2)"; log_step "$1"; return 0; fi
  printf 'step %s: %s\n  %s\n  then: echo "done %s" >> %q, and start this script again\n' "$1" "$2" "$3" "$1" "$LOG" >&2
  exit 1
}
)sh";

// The rows that a model's run is about to write are what its compiled query gives: asked before anything is
// written, on every platform that dbt knows.
constexpr const char* kStaged =
    R"sh(
# staged WHAT CHECK OPTIONS... -- dbt compile ...: asks CHECK of the rows that the run is about to write; a row of the
# answer is a fault, and nothing is written.
staged() {
  local what=$1 check=$2 sql options=(); shift 2
  while [ "$1" != -- ]; do options+=("$1"); shift; done; shift
  sql=$("$@" | python3 -c 'import json, sys; t = sys.stdin.read(); print(json.loads(t[t.index("{"):])["compiled"])')
  echo "  the rows that $what is about to get are checked"
  if ! dbt --quiet show "${options[@]}" --output json --limit 20 --inline "{% raw %}with staged as (
$sql
)
$check{% endraw %}" | tee /dev/stderr | grep -F '"show": []' >/dev/null; then
    echo "  $what: these rows must not be written; nothing was changed" >&2; return 1
  fi
}
export -f staged
)sh";

// What must not be among the rows: a key twice; or nothing at all.
std::string StagedCheck(const FeedStep& step) {
  std::string keys;
  for (const std::string& line : Split(step.staged_check, '\n')) {
    if (StartsWith(line, "--")) continue;
    keys += (keys.empty() ? "" : "\n") + (StartsWith(line, "from ") ? std::string("from staged") : line);
  }
  const std::string none =
      "select 'there are no rows' as fault from (select count(*) as n from staged) as c where c.n = 0";
  if (keys.empty()) return none;
  return "select 'a key stands twice' as fault from (\n" + keys + "\n) as d\nunion all\n" + none;
}

// The line that checks what a line of dbt is about to write; "" where dbt cannot tell it beforehand.
std::string StagedLine(const FeedStep& step, const std::string& command, const FeedOptions& options) {
  const std::string run = "dbt run ";
  if (!StartsWith(command, run) || command.find("--event-time-start") != std::string::npos) return "";
  std::string line = "staged " + ShellQuoted(Printable(step.dataset)) + " " + ShellQuoted(StagedCheck(step));
  const auto option = [&](const char* name, const std::string& value) {
    if (!value.empty()) line += std::string(" ") + name + " " + ShellWord(value);
  };
  option("--project-dir", options.project_dir);
  option("--profiles-dir", options.profiles_dir);
  option("--target", options.target);
  return line + " -- dbt --quiet compile --output json " + command.substr(run.size());
}

// Puts a check before each line of each work; says of which works none could be made.
void Stage(std::vector<Work>& works, const FeedOptions& options, std::vector<std::string>& warnings) {
  for (Work& work : works) {
    if (work.steps.empty() || work.done_before || !work.by_hand.empty()) continue;
    std::vector<std::string> with;
    bool all = work.steps.size() == 1;
    for (const std::string& command : work.commands) {
      const std::string check = all ? StagedLine(*work.steps[0], command, options) : "";
      all = all && !check.empty();
      if (!check.empty()) with.push_back(check);
      with.push_back(command);
    }
    if (all)
      work.commands = std::move(with);
    else
      warnings.push_back(
          fmt::format("step {} ({}) is written in place: its rows cannot be asked for beforehand",
                      work.steps[0]->id, work.steps[0]->dataset));
  }
}

std::string IdsOf(const Work& work) {
  if (work.steps.empty()) return fmt::format("tests-{}", work.wave);
  std::vector<std::string> ids;
  for (const FeedStep* step : work.steps) ids.push_back(std::to_string(step->id));
  return Join(ids, " ");
}

std::string Header(const FeedPlan& plan, const FeedOptions& options, const std::vector<Work>& works) {
  std::string out = "#!/usr/bin/env bash\n# " + Printable(plan.summary) + "\n";
  out += fmt::format(
      "# Plan {}, made for {}. Started again it goes on where it stopped: done steps are in the log.\n",
      plan.id, plan.now);
  for (const std::string& line : HazardLines(plan)) out += "# " + line + "\n";
  out +=
      fmt::format("set -euo pipefail\nLOG=${{BACKREACH_LOG:-backreach-{}.log}}\ntouch \"$LOG\"\n", plan.id);
  out += fmt::format("PLAN=${{BACKREACH_PLAN:-}}\nif [ -z \"$PLAN\" ]; then PLAN={}; fi\n\n",
                     ShellWord(options.plan_path));
  out += kFunctions;
  const auto any = [&](auto f) { return std::any_of(works.begin(), works.end(), f); };
  if (any([](const Work& w) { return !w.by_hand.empty(); })) out += kByHand;
  if (any([](const Work& w) { return !w.waits_for.empty(); }))
    out += "\n" + std::string(kAirflowWait) + "export -f airflow_wait\n";
  if (options.staged) out += kStaged;
  out += kRunLog;
  out += fmt::format(
      "if [ \"$LOGS\" = yes ]; then\n  backreach run start \"$PLAN\" --resume{} || {{ echo \"nothing was "
      "started\" >&2; exit 1; }}\nfi\n",
      options.force ? " --force" : "");
  return out + "\n";
}

std::map<std::string, std::string> WriteScript(const FeedPlan& plan, const FeedOptions& options,
                                               const std::string& engine, const std::string& name,
                                               std::vector<std::string>& warnings) {
  std::vector<Work> works = WorkOf(plan, options, engine, warnings);
  if (options.staged) Stage(works, options, warnings);
  std::string out = Header(plan, options, works);
  for (const Work& work : works) {
    if (work.done_before) {
      for (const FeedStep* step : work.steps)
        out += fmt::format("# step {}: {} is the correction itself, done before\n", step->id,
                           Printable(step->dataset));
      out += fmt::format("log_step {}\n", ShellWord(IdsOf(work)));
      continue;
    }
    for (const std::string& line : StepLines(plan, options, work)) out += "# " + line + "\n";
    const std::string ids = ShellWord(IdsOf(work)), what = ShellQuoted(Printable(work.what));
    if (!work.by_hand.empty()) {
      out += fmt::format("by_hand {} {} {}\n", ids, what, ShellQuoted(Printable(work.by_hand)));
      continue;
    }
    out += fmt::format("step {} {}", ids, what);
    for (const std::string& command : work.commands) out += " \\\n  " + ShellQuoted(command);
    out += "\n";
  }
  out += "\nif [ \"$LOGS\" = yes ]; then backreach run finish \"$PLAN\"; fi\n";
  for (const std::string& later : plan.afterwards)
    out += fmt::format("echo {}\n", ShellQuoted("afterwards: " + Printable(later)));
  return {{name, out}};
}

}  // namespace

Feed ShellFeed() {
  return {"shell", "a resumable script",
          [](const FeedPlan& plan, const FeedOptions& options, std::vector<std::string>& warnings) {
            return WriteScript(plan, options, "shell", "backreach_plan_" + plan.id.substr(0, 8) + ".sh",
                               warnings);
          }};
}

Feed DbtFeed() {
  return {"dbt", "the ordered dbt commands, as a resumable script",
          [](const FeedPlan& plan, const FeedOptions& options, std::vector<std::string>& warnings) {
            return WriteScript(plan, options, "dbt", "backreach_plan_" + plan.id.substr(0, 8) + "_dbt.sh",
                               warnings);
          }};
}

Feed DagsterFeed() {
  return {"dagster", "backfills of exactly the plan's partitions, one after another, as a resumable script",
          [](const FeedPlan& plan, const FeedOptions& options, std::vector<std::string>& warnings) {
            return WriteScript(plan, options, "dagster",
                               "backreach_plan_" + plan.id.substr(0, 8) + "_dagster.sh", warnings);
          }};
}

Feed SqlMeshFeed() {
  return {"sqlmesh", "restatements of one model each, as a resumable script",
          [](const FeedPlan& plan, const FeedOptions& options, std::vector<std::string>& warnings) {
            return WriteScript(plan, options, "sqlmesh",
                               "backreach_plan_" + plan.id.substr(0, 8) + "_sqlmesh.sh", warnings);
          }};
}

}  // namespace backreach
