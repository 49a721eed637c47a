// Feeds: a plan, as another engine runs it. Each reads the plan's JSON alone, so that what is handed over is
// what was looked at.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace backreach {

struct FeedOptions {
  int max_parallel = 4;
  bool force = false;
};

// A step as a feed needs it.
struct FeedSpan {
  std::string from, to, start, end;
};
struct FeedStep {
  int id = 0, wave = 0;
  std::vector<int> after;
  std::string dataset, grain, timezone, action;
  bool whole = false, sequential = false;
  std::optional<int> run;
  std::int64_t partitions = 1;
  std::vector<FeedSpan> spans;
  std::vector<std::pair<std::string, std::string>> methods;  // engine, command
};
struct FeedPlan {
  std::string id, summary, now;
  std::vector<FeedStep> steps;
  std::vector<std::string> afterwards;
  std::vector<std::string> hazards;  // for people: "append-duplicates fct_orders: ..."
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

// The command of a step for an engine, or its first one; empty if there is none.
std::string CommandOf(const FeedStep& step, const std::string& engine);

Feed AirflowFeed();
Feed DbtFeed();
Feed ShellFeed();

}  // namespace backreach
