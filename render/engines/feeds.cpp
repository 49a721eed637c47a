// The list of feeds.

#include "render/engines/feed.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "graph/base/words.hpp"

namespace backreach {

const std::vector<Feed>& Feeds() {
  static const std::vector<Feed> feeds = {
      AirflowFeed(),
      DbtFeed(),
      ShellFeed(),
  };
  return feeds;
}

FeedResult WriteFeed(const Feed& feed, const std::string& text, const std::string& path,
                     const FeedOptions& options) {
  const FeedPlan plan = ReadFeedPlan(text, path);
  FeedResult result;
  for (const FeedHazard& h : plan.hazards)
    if (h.blocking && !h.accepted && !options.force) result.blocked.push_back(h.line);
  if (!result.blocked.empty()) return result;
  FeedOptions with = options;
  with.plan_path = path;
  if (!options.max_parallel_given && plan.at_a_time && *plan.at_a_time < with.max_parallel) {
    with.max_parallel = std::max(1, *plan.at_a_time);
    result.warnings.push_back(
        fmt::format("{} at a time, as the plan advises for the pools that it shares{}", with.max_parallel,
                    plan.best_start > plan.now ? "; start it at " + plan.best_start : ""));
  }
  result.files = feed.write(plan, with, result.warnings);
  return result;
}

std::vector<std::string> StepLines(const FeedPlan&, const FeedOptions& options, const Work& work) {
  std::vector<std::string> out;
  for (const FeedStep* step : work.steps) {
    if (!step->position.empty())
      out.push_back(fmt::format("before it, note where {} stands: {}", Printable(step->dataset),
                                Printable(step->position)));
    if (!step->back.empty()) out.push_back("to go back: " + Printable(step->back));
  }
  std::string ids;
  for (const FeedStep* step : work.steps) ids += fmt::format(" {}", step->id);
  if (!ids.empty() && !options.plan_path.empty())
    out.push_back("when it is done: backreach run step " + Printable(ShellWord(options.plan_path)) + ids);
  return out;
}

std::vector<std::string> HazardLines(const FeedPlan& plan) {
  std::vector<std::string> out;
  std::int64_t others = 0;
  for (const FeedHazard& h : plan.hazards) {
    if (h.blocking)
      out.push_back((h.accepted ? "accepted: " : "NOT SETTLED: ") + Printable(h.line));
    else
      ++others;
  }
  if (others > 0)
    out.push_back(fmt::format("{} that {} nothing: see the plan", Plural(others, "hazard"),
                              others == 1 ? "blocks" : "block"));
  return out;
}

}  // namespace backreach
