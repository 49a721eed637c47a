// The list of feeds.

#include "render/engines/feed.hpp"

#include <fmt/format.h>

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
  if (result.blocked.empty()) result.files = feed.write(plan, options, result.warnings);
  return result;
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
