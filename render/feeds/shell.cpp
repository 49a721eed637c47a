// A resumable script: each step is logged when it is done, and left out when the script is started again.

#include <fmt/format.h>

#include "graph/words.hpp"
#include "render/feeds/feed.hpp"

namespace backreach {

namespace {

std::string Quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::map<std::string, std::string> WriteScript(const FeedPlan& plan, const char* engine,
                                               const std::string& name, std::vector<std::string>& warnings) {
  std::string out = "#!/usr/bin/env bash\n# " + Printable(plan.summary) + "\n";
  out += fmt::format(
      "# Plan {}, made for {}. Started again it goes on where it stopped: done steps are in the log.\n",
      plan.id, plan.now);
  for (const std::string& hazard : plan.hazards) out += "# hazard: " + Printable(hazard) + "\n";
  out +=
      fmt::format("set -euo pipefail\nLOG=${{BACKREACH_LOG:-backreach-{}.log}}\ntouch \"$LOG\"\n\n", plan.id);
  out += R"sh(# step ID DESCRIPTION COMMAND: runs the command once, unless it is logged as done.
step() {
  if grep -qx "done $1" "$LOG"; then echo "step $1: already done ($2)"; return 0; fi
  echo "step $1: $2"
  if bash -euo pipefail -c "$3"; then echo "done $1" >> "$LOG"; else
    echo "step $1 failed: mend it and start this script again" >&2; exit 1
  fi
}

)sh";
  std::map<int, int> run_step;
  for (const FeedStep& step : plan.steps) {
    std::string what = step.dataset + " " + (step.whole ? "whole" : "");
    for (std::size_t i = 0; i < step.spans.size() && i < 4; ++i)
      what += (i ? ", " : "") + (step.spans[i].from.empty() ? std::string("beginning") : step.spans[i].from) +
              " .. " + step.spans[i].to;
    if (step.spans.size() > 4) what += fmt::format(" and {} more spans", step.spans.size() - 4);
    std::string command = CommandOf(step, engine);
    if (step.run && run_step.count(*step.run))
      command = "true  # written by the run of step " + std::to_string(run_step[*step.run]);
    else if (step.run)
      run_step[*step.run] = step.id;
    if (step.action == "correct" && command.empty()) {
      out += fmt::format("# step {}: {} is the correction itself, done before\n", step.id, Printable(what));
      continue;
    }
    if (command.empty()) {
      warnings.push_back(
          fmt::format("step {} ({}) has no command: the script stops there until one is filled in", step.id,
                      step.dataset));
      command = "echo 'no command is known for this step: fill it in' >&2; exit 1";
    }
    out += fmt::format("step {} {} {}\n", step.id, Quoted(Printable(what)), Quoted(command));
  }
  out += "\n";
  for (const std::string& later : plan.afterwards)
    out += fmt::format("echo {}\n", Quoted("afterwards: " + Printable(later)));
  return {{name, out}};
}

}  // namespace

Feed ShellFeed() {
  return {"shell", "a resumable script",
          [](const FeedPlan& plan, const FeedOptions&, std::vector<std::string>& warnings) {
            return WriteScript(plan, "shell", "backreach_plan_" + plan.id.substr(0, 8) + ".sh", warnings);
          }};
}

Feed DbtFeed() {
  return {"dbt", "the ordered dbt commands, as a resumable script",
          [](const FeedPlan& plan, const FeedOptions&, std::vector<std::string>& warnings) {
            return WriteScript(plan, "dbt", "backreach_plan_" + plan.id.substr(0, 8) + "_dbt.sh", warnings);
          }};
}

}  // namespace backreach
