// Feeds: a plan, as another engine runs it. Each reads the plan's JSON alone, so that what is handed over is
// what was looked at.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "render/plan_file/read_plan.hpp"

namespace backreach {

struct FeedOptions {
  int max_parallel = 4;
  bool force = false;
  bool tests = true;                              // dbt's tests, and the plan's own, after each wave
  std::string project_dir, profiles_dir, target;  // for every call of dbt; "": as dbt finds them
  std::string threads;
  bool staged = false;              // what is about to be written is checked first
  bool max_parallel_given = false;  // else a plan that advises fewer is followed
  std::string plan_path;            // of the plan's file, for the log of runs
};

struct Feed {
  const char* name;
  const char* summary;
  // File name -> content.
  std::map<std::string, std::string> (*write)(const FeedPlan& plan, const FeedOptions& options,
                                              std::vector<std::string>& warnings);
};

// In the order in which help lists them. A new feed is one file and one line in feeds.cpp.
const std::vector<Feed>& Feeds();

struct FeedResult {
  std::map<std::string, std::string> files;
  std::vector<std::string> warnings;
  std::vector<std::string> blocked;  // hazards that must be accepted first; then there are no files
};

// Throws Error(kBadRequest) if the text is no plan.
FeedResult WriteFeed(const Feed& feed, const std::string& plan_json, const std::string& path,
                     const FeedOptions& options);

// ---- What is run together, for every feed alike (work.cpp) ----

// Steps that one command does, or what is checked after a wave.
struct Work {
  std::vector<const FeedStep*> steps;  // none: it checks
  int wave = 0;
  std::vector<std::size_t> after;     // which works must be finished first: places in the list, smaller ones
  std::string what;                   // for people
  std::vector<std::string> commands;  // lines of shell, to be run in turn; each waits until its work is done
  std::string by_hand;                // what a person has to do in their place, or ""
  bool done_before = false;           // the correction itself, which has no command
  std::set<std::string> waits_for = {};  // DAGs of Airflow; the lines then call airflow_wait
};
// In an order that can be run. `engine`: whose commands are preferred; others are taken where it has none.
std::vector<Work> WorkOf(const FeedPlan& plan, const FeedOptions& options, const std::string& engine,
                         std::vector<std::string>& warnings);

// ---- Waiting for Airflow's runs (airflow_wait.cpp) ----

// A function of bash that comes back when the runs of a DAG are through: airflow_wait DAG FIRST LAST.
extern const char* const kAirflowWait;
// A line, and the DAG whose runs it waits for, or "".
struct Awaited {
  std::string line, dag;
};
// A call of Airflow as a line, followed by waiting for what it only queues.
Awaited WithWait(const std::vector<std::string>& words, const std::string& run_id);

// The call of a backfill, followed by waiting until that is through (dagster_wait.cpp).
std::string WithDagsterWait(const std::string& line);

// What stands at the head of a feed, as comment lines: what blocks and was overridden, then a count.
std::vector<std::string> HazardLines(const FeedPlan& plan);

// What a person who runs a work elsewhere has to know of it, as comment lines: where its table stands before
// it and how it goes back, and the line that logs it.
std::vector<std::string> StepLines(const FeedPlan& plan, const FeedOptions& options, const Work& work);

Feed AirflowFeed();
Feed DagsterFeed();
Feed DbtFeed();
Feed ShellFeed();
Feed SqlMeshFeed();

}  // namespace backreach
