// The list of feeds.

#include "render/engines/feed.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "graph/base/words.hpp"

namespace backreach {

const std::vector<Feed>& Feeds() {
  static const std::vector<Feed> feeds = {
      AirflowFeed(), DagsterFeed(), DbtFeed(), ShellFeed(), SqlMeshFeed(),
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

// What blocks comes first, and past a few of one code that code stands once with whom it is about.
std::vector<std::string> HazardLines(const FeedPlan& plan) {
  constexpr std::size_t kApart = 3;
  std::vector<std::string> out;
  for (const bool accepted : {false, true}) {
    std::vector<std::pair<std::string, std::vector<const FeedHazard*>>> codes;
    for (const FeedHazard& h : plan.hazards) {
      if (!h.blocking || h.accepted != accepted) continue;
      const std::string code = h.line.substr(0, h.line.find_first_of(" :"));
      if (codes.empty() || codes.back().first != code) codes.push_back({code, {}});
      codes.back().second.push_back(&h);
    }
    const char* said = accepted ? "accepted: " : "NOT SETTLED: ";
    for (const auto& [code, list] : codes) {
      if (list.size() <= kApart) {
        for (const FeedHazard* h : list) out.push_back(said + Printable(h->line));
        continue;
      }
      std::vector<std::string> names;
      for (const FeedHazard* h : list) {
        const std::size_t at = h->line.find(' '), end = h->line.find(": ");
        if (at != std::string::npos && end != std::string::npos && end > at)
          names.push_back(h->line.substr(at + 1, end - at - 1));
      }
      out.push_back(Printable(fmt::format("{}{} on {}: {}", said, code,
                                          Plural(static_cast<std::int64_t>(list.size()), "dataset"),
                                          ListOf(names, 8))));
    }
  }
  std::int64_t others = 0;
  for (const FeedHazard& h : plan.hazards) others += !h.blocking;
  if (others > 0)
    out.push_back(fmt::format("{} that {} nothing: see the plan", Plural(others, "hazard"),
                              others == 1 ? "blocks" : "block"));
  return out;
}

}  // namespace backreach
