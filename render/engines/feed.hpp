// Feeds: a plan, as another engine runs it. Each reads the plan's JSON alone, so that what is handed over is
// what was looked at.
#pragma once

#include <map>
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
};
// In an order that can be run. `engine`: whose commands are preferred; others are taken where it has none.
std::vector<Work> WorkOf(const FeedPlan& plan, const FeedOptions& options, const std::string& engine,
                         std::vector<std::string>& warnings);

// ---- Waiting for Airflow's runs (airflow_wait.cpp) ----

// A function of bash that comes back when the runs of a DAG are through: airflow_wait DAG FIRST LAST.
extern const char* const kAirflowWait;
// The line, followed by waiting for what it only queues.
std::string WithWait(const std::string& line, const std::string& run_id);

// The call of a backfill, followed by waiting until that is through (dagster_wait.cpp).
std::string WithDagsterWait(const std::string& line);

// What stands at the head of a feed, as comment lines: what blocks and was overridden, then a count.
std::vector<std::string> HazardLines(const FeedPlan& plan);

Feed AirflowFeed();
Feed DagsterFeed();
Feed DbtFeed();
Feed ShellFeed();
Feed SqlMeshFeed();

}  // namespace backreach
