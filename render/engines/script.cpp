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
    if ! bash -euo pipefail -c "$command"; then
      echo "step $ids failed: mend it and start this script again" >&2; exit 1
    fi
    if [ $# -gt 1 ]; then echo "part $n of $ids" >> "$LOG"; fi
  done
  echo "done $ids" >> "$LOG"
}
)sh";

constexpr const char* kByHand =
    R"sh(
# by_hand IDS WHAT TODO: stops until the log says that somebody did it.
by_hand() {
  if grep -qx "done $1" "$LOG"; then echo "step $1: already done ($2)"; return 0; fi
  printf 'step %s: %s\n  %s\n  then: echo "done %s" >> %q, and start this script again\n' "$1" "$2" "$3" "$1" "$LOG" >&2
  exit 1
}
)sh";

std::string IdsOf(const Work& work) {
  if (work.steps.empty()) return fmt::format("tests-{}", work.wave);
  std::vector<std::string> ids;
  for (const FeedStep* step : work.steps) ids.push_back(std::to_string(step->id));
  return Join(ids, " ");
}

std::string Header(const FeedPlan& plan, const std::vector<Work>& works) {
  std::string out = "#!/usr/bin/env bash\n# " + Printable(plan.summary) + "\n";
  out += fmt::format(
      "# Plan {}, made for {}. Started again it goes on where it stopped: done steps are in the log.\n",
      plan.id, plan.now);
  for (const std::string& line : HazardLines(plan)) out += "# " + line + "\n";
  out +=
      fmt::format("set -euo pipefail\nLOG=${{BACKREACH_LOG:-backreach-{}.log}}\ntouch \"$LOG\"\n\n", plan.id);
  out += kFunctions;
  const auto any = [&](auto f) { return std::any_of(works.begin(), works.end(), f); };
  if (any([](const Work& w) { return !w.by_hand.empty(); })) out += kByHand;
  if (any([](const Work& w) {
        return std::any_of(w.commands.begin(), w.commands.end(),
                           [](const std::string& c) { return c.find("airflow_wait ") != std::string::npos; });
      }))
    out += "\n" + std::string(kAirflowWait) + "export -f airflow_wait\n";
  return out + "\n";
}

std::map<std::string, std::string> WriteScript(const FeedPlan& plan, const FeedOptions& options,
                                               const std::string& engine, const std::string& name,
                                               std::vector<std::string>& warnings) {
  const std::vector<Work> works = WorkOf(plan, options, engine, warnings);
  std::string out = Header(plan, works);
  for (const Work& work : works) {
    if (work.done_before) {
      for (const FeedStep* step : work.steps)
        out += fmt::format("# step {}: {} is the correction itself, done before\n", step->id,
                           Printable(step->dataset));
      continue;
    }
    const std::string ids = ShellWord(IdsOf(work)), what = ShellQuoted(Printable(work.what));
    if (!work.by_hand.empty()) {
      out += fmt::format("by_hand {} {} {}\n", ids, what, ShellQuoted(Printable(work.by_hand)));
      continue;
    }
    out += fmt::format("step {} {}", ids, what);
    for (const std::string& command : work.commands) out += " \\\n  " + ShellQuoted(command);
    out += "\n";
  }
  out += "\n";
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
