// One DAG file that holds the plan: tasks in the plan's partial order, a chain where commands must run one
// after the other, a pool for the cap. It needs nothing of ours at run time, and runs on Airflow 2.11 and 3.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "graph/base/words.hpp"
#include "render/engines/feed.hpp"
#include "render/quote.hpp"

namespace backreach {

namespace {

std::string TaskId(const Work& work) {
  if (work.steps.empty()) return fmt::format("tests_of_wave_{}", work.wave);
  std::string id = fmt::format("s{:03}_", work.steps[0]->id);
  if (work.steps.size() > 1) id += fmt::format("and_{}_more_", work.steps.size() - 1);
  for (const char c : work.steps[0]->dataset)
    id += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.'
              ? c
              : '_';
  return id.substr(0, 200);
}

// Cut between characters, and said: the whole of it stands at the head of the file.
std::string Short(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "... (cut; the whole sentence begins this file)";
}

std::string Variable(const Work& work) {
  return work.steps.empty() ? fmt::format("tests_{}", work.wave) : fmt::format("step_{}", work.steps[0]->id);
}

std::string Head(const FeedPlan& plan, const FeedOptions& options, const std::vector<Work>& works) {
  const std::string short_id = plan.id.substr(0, 8);
  // A name in the first two lines could tell Python that the file is in another encoding.
  std::string out = "# -*- coding: utf-8 -*-\n# A backfill plan as a DAG. " + Printable(plan.summary) + "\n";
  out += fmt::format("# Plan {}, made for {}. Trigger it by hand; it has no schedule.\n", plan.id, plan.now);
  for (const std::string& line : HazardLines(plan)) out += "# " + line + "\n";
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
  out += fmt::format("{} backfill\nPOOL = \"backreach_plan\"\n\n", options.max_parallel);
  if (std::any_of(works.begin(), works.end(), [](const Work& w) { return !w.waits_for.empty(); })) {
    out += "AIRFLOW_WAIT = (\n";
    for (const std::string& line : Split(kAirflowWait, '\n')) {
      if (line.empty()) continue;
      std::string text = AirflowBash(line);
      text.pop_back();
      out += "    " + PythonText(text + "\n") + "\n";
    }
    out += ")\n\n";
  }
  return out + fmt::format(
                   "with DAG(\n    dag_id={},\n    description={},\n    schedule=None,\n    "
                   "start_date=datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc),\n"
                   "    catchup=False,\n    is_paused_upon_creation=False,\n    max_active_runs=1,\n    "
                   "max_active_tasks={},\n    tags=[\"backreach\"],\n) as dag:\n",
                   PythonText("backreach_plan_" + short_id), PythonText(Short(Printable(plan.summary), 900)),
                   options.max_parallel);
}

// A DAG of thousands of tasks is none that anybody can look at: past this many, several commands are a task,
// each in a shell of its own.
std::vector<std::string> Packed(const std::vector<std::string>& commands) {
  constexpr std::size_t kMostTasks = 200;
  if (commands.size() <= kMostTasks) return commands;
  const std::size_t each = (commands.size() + kMostTasks - 1) / kMostTasks;
  std::vector<std::string> out;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    if (i % each == 0) out.push_back("set -e");
    out.back() += "\n(\n" + commands[i] + "\n)";
  }
  return out;
}

// The tasks of one work, a chain; the names of the first and the last.
std::pair<std::string, std::string> Tasks(const Work& work, std::string& out) {
  const std::string var = Variable(work), id = TaskId(work);
  if (work.done_before) {
    out += fmt::format(
        "    {} = EmptyOperator(task_id={})  # the correction itself: done before this DAG is started\n", var,
        PythonText(id));
    return {var, var};
  }
  std::vector<std::string> commands = Packed(work.commands);
  if (!work.by_hand.empty())
    commands = {fmt::format("echo {} >&2; exit 1",
                            ShellQuoted(Printable(work.by_hand) + "; then mark this task as a success"))};
  std::string first, last;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const bool one = commands.size() == 1;
    const std::string name = one ? var : fmt::format("{}_{}", var, i + 1);
    out += fmt::format("    {} = BashOperator(task_id={}, bash_command={}{}, pool=POOL)\n", name,
                       PythonText(one ? id : fmt::format("{}_{}", id, i + 1)),
                       work.waits_for.empty() ? "" : "AIRFLOW_WAIT + ", PythonText(AirflowBash(commands[i])));
    if (i > 0) out += fmt::format("    {} >> {}\n", last, name);
    if (i == 0) first = name;
    last = name;
  }
  return {first, last};
}

std::map<std::string, std::string> Write(const FeedPlan& plan, const FeedOptions& options,
                                         std::vector<std::string>& warnings) {
  if (options.staged)
    warnings.push_back("--staged is for the dbt and shell feeds: the tasks of this DAG write in place");
  const std::vector<Work> works = WorkOf(plan, options, "dbt", warnings);
  std::string out = Head(plan, options, works);
  if (works.empty()) out += "    EmptyOperator(task_id=\"nothing_to_do\")\n";
  std::vector<std::pair<std::string, std::string>> ends;
  std::map<std::string, std::size_t> of_dag;  // Airflow takes one unfinished backfill a DAG
  std::set<std::pair<std::size_t, std::size_t>> links;
  for (std::size_t i = 0; i < works.size(); ++i) {
    const Work& work = works[i];
    std::string ids;
    for (const FeedStep* step : work.steps) ids += fmt::format("{}{}", ids.empty() ? "" : ", ", step->id);
    out += work.steps.empty() ? fmt::format("\n    # {}\n", Printable(work.what))
                              : fmt::format("\n    # step {}, wave {}: {}\n", ids, work.wave,
                                            Printable(work.done_before ? work.steps[0]->dataset : work.what));
    for (const std::string& line : StepLines(plan, options, work)) out += "    # " + line + "\n";
    ends.push_back(Tasks(work, out));
    for (const std::size_t before : work.after) links.emplace(before, i);
    for (const std::string& dag : work.waits_for) {
      const auto it = of_dag.find(dag);
      if (it != of_dag.end()) links.emplace(it->second, i);
      of_dag[dag] = i;
    }
  }
  out += "\n";
  for (const auto& [before, i] : links)
    out += fmt::format("    {} >> {}\n", ends[before].second, ends[i].first);
  return {{fmt::format("backreach_plan_{}.py", plan.id.substr(0, 8)), out}};
}

}  // namespace

Feed AirflowFeed() { return {"airflow", "one DAG file that holds the plan", Write}; }

}  // namespace backreach
