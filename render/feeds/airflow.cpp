// One DAG file that holds the plan: a task per step in the plan's partial order, a chain where cells must run
// one at a time, a pool for the cap. It needs nothing of ours at run time, and runs on Airflow 2.11 and 3.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "graph/words.hpp"
#include "render/feeds/feed.hpp"

namespace backreach {

namespace {

// A text as a Python literal.
std::string Python(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += std::string("\\") + c;
    else if (c == '\n')
      out += "\\n";
    else if (u < 0x20 || u == 0x7F)
      out += fmt::format("\\x{:02x}", u);
    else
      out += c;
  }
  return out + "\"";
}

std::string TaskId(const FeedStep& step) {
  std::string id = fmt::format("s{:03}_", step.id);
  for (const char c : step.dataset)
    id += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.'
              ? c
              : '_';
  return id.substr(0, 200);
}

// Bash text in a template field: what looks like Jinja is data, and a text ending in .sh would be a file.
std::string Bash(const std::string& command) {
  std::string out;
  for (std::size_t i = 0; i < command.size(); ++i) {
    if (command[i] == '{' && i + 1 < command.size() &&
        (command[i + 1] == '{' || command[i + 1] == '%' || command[i + 1] == '#'))
      out += "{{ '{' }}";
    else
      out += command[i];
  }
  return out + " ";
}

std::map<std::string, std::string> Write(const FeedPlan& plan, const FeedOptions& options,
                                         std::vector<std::string>& warnings) {
  const std::string short_id = plan.id.substr(0, 8);
  std::string out = "# A backfill plan as a DAG. " + Printable(plan.summary) + "\n";
  out += fmt::format("# Plan {}, made for {}. Trigger it by hand; it has no schedule.\n", plan.id, plan.now);
  for (const std::string& hazard : plan.hazards) out += "# hazard: " + Printable(hazard) + "\n";
  for (const std::string& later : plan.afterwards) out += "# afterwards: " + Printable(later) + "\n";
  out += R"(
import datetime

try:
    from airflow.sdk import DAG
    from airflow.providers.standard.operators.bash import BashOperator
    from airflow.providers.standard.operators.empty import EmptyOperator
except ImportError:  # Airflow 2
    from airflow import DAG
    from airflow.operators.bash import BashOperator
    from airflow.operators.empty import EmptyOperator

# The pool must be there before the run: airflow pools set backreach_plan )";
  out += fmt::format("{} backfill\n", options.max_parallel);
  out += fmt::format(
      "POOL = \"backreach_plan\"\n\nwith DAG(\n    dag_id={},\n    description={},\n    schedule=None,\n    "
      "start_date=datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc),\n"
      "    catchup=False,\n    is_paused_upon_creation=False,\n    max_active_runs=1,\n    "
      "max_active_tasks={},\n    tags=[\"backreach\"],\n) as dag:\n",
      Python("backreach_plan_" + short_id), Python(Printable(plan.summary).substr(0, 900)),
      options.max_parallel);
  if (plan.steps.empty()) out += "    EmptyOperator(task_id=\"nothing_to_do\")\n";
  std::map<int, std::string> first, last;  // step -> variables of its first and last task
  std::set<int> written_runs;
  std::map<int, int> run_step;
  for (const FeedStep& step : plan.steps) {
    const std::string id = TaskId(step);
    const std::string command = CommandOf(step, "dbt");
    const std::string what = step.whole               ? "whole"
                             : step.spans.empty()     ? ""
                             : step.spans.size() == 1 ? step.spans[0].from + " .. " + step.spans[0].to
                                                      : fmt::format("{} spans", step.spans.size());
    out += fmt::format("\n    # step {}, wave {}: {} {}\n", step.id, step.wave, Printable(step.dataset),
                       Printable(what));
    const std::string var = fmt::format("step_{}", step.id);
    const auto task = [&](const std::string& name, const std::string& task_id, const std::string& bash) {
      return fmt::format("    {} = BashOperator(task_id={}, bash_command={}, pool=POOL)\n", name,
                         Python(task_id), Python(Bash(bash)));
    };
    if (step.run && run_step.count(*step.run)) {
      // One run writes both: it is a task already.
      out += fmt::format("    {} = EmptyOperator(task_id={})  # written by step {}'s run\n", var, Python(id),
                         run_step[*step.run]);
      out += fmt::format("    {} >> {}\n", last[run_step[*step.run]], var);
      first[step.id] = last[step.id] = var;
      continue;
    }
    if (step.run) run_step[*step.run] = step.id;
    if (step.action == "correct" && command.empty()) {
      out += fmt::format(
          "    {} = EmptyOperator(task_id={})  # the correction itself: done before this DAG is started\n",
          var, Python(id));
      first[step.id] = last[step.id] = var;
    } else if (command.empty()) {
      warnings.push_back(fmt::format("step {} ({}) has no command: its task fails until one is filled in",
                                     step.id, step.dataset));
      out +=
          task(var, id,
               fmt::format("echo {} >&2; exit 1", Python("no command is known for this step: fill it in")));
      first[step.id] = last[step.id] = var;
    } else {
      // Commands of several spans are a chain; so they are where cells must run oldest first.
      std::vector<std::string> parts;
      std::string rest = command;
      for (std::size_t at; (at = rest.find(" && ")) != std::string::npos; rest = rest.substr(at + 4))
        parts.push_back(rest.substr(0, at));
      parts.push_back(rest);
      for (std::size_t i = 0; i < parts.size(); ++i) {
        const std::string name = parts.size() == 1 ? var : fmt::format("{}_{}", var, i + 1);
        out += task(name, parts.size() == 1 ? id : fmt::format("{}_{}", id, i + 1), parts[i]);
        if (i > 0) out += fmt::format("    {} >> {}\n", last[step.id], name);
        if (i == 0) first[step.id] = name;
        last[step.id] = name;
      }
    }
  }
  out += "\n";
  for (const FeedStep& step : plan.steps)
    for (const int before : step.after) out += fmt::format("    {} >> {}\n", last[before], first[step.id]);
  return {{fmt::format("backreach_plan_{}.py", short_id), out}};
}

}  // namespace

Feed AirflowFeed() { return {"airflow", "one DAG file that holds the plan", Write}; }

}  // namespace backreach
