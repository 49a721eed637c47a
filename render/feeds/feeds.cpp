// The list of feeds.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "graph/error.hpp"
#include "render/feeds/feed.hpp"

namespace backreach {

using Json = nlohmann::json;

const std::vector<Feed>& Feeds() {
  static const std::vector<Feed> feeds = {
      AirflowFeed(),
      DbtFeed(),
      ShellFeed(),
  };
  return feeds;
}

std::string CommandOf(const FeedStep& step, const std::string& engine) {
  for (const auto& [name, command] : step.methods)
    if (name == engine) return command;
  return step.methods.empty() ? "" : step.methods[0].second;
}

namespace {

std::string TextOf(const Json& j, const char* key) {
  return j.contains(key) && j[key].is_string() ? j[key].get<std::string>() : "";
}

FeedPlan ReadPlan(const Json& j, std::vector<std::string>& blocked) {
  FeedPlan plan;
  plan.id = TextOf(j, "id");
  plan.summary = TextOf(j, "summary");
  plan.now = TextOf(j.at("request"), "now");
  for (const Json& s : j.at("steps")) {
    FeedStep step;
    step.id = s.at("id").get<int>();
    step.wave = s.at("wave").get<int>();
    step.after = s.at("after").get<std::vector<int>>();
    step.dataset = s.at("dataset").get<std::string>();
    step.grain = TextOf(s, "grain");
    step.timezone = TextOf(s, "timezone");
    step.action = TextOf(s, "action");
    step.whole = s.at("whole").get<bool>();
    step.sequential = s.at("sequential").get<bool>();
    if (s.at("run").is_number()) step.run = s["run"].get<int>();
    if (s.at("partitions").is_number()) step.partitions = s["partitions"].get<std::int64_t>();
    for (const Json& span : s.at("spans"))
      step.spans.push_back(
          {TextOf(span, "from"), TextOf(span, "to"), TextOf(span, "start"), TextOf(span, "end")});
    for (const Json& m : s.at("methods"))
      step.methods.emplace_back(TextOf(m, "engine"), TextOf(m, "command"));
    plan.steps.push_back(std::move(step));
  }
  for (const Json& a : j.at("afterwards"))
    plan.afterwards.push_back(TextOf(a, "dataset") + ": " + TextOf(a, "what"));
  for (const Json& h : j.at("hazards")) {
    const std::string line = TextOf(h, "code") + " " + TextOf(h, "dataset") + ": " + TextOf(h, "message");
    plan.hazards.push_back(line);
    if (TextOf(h, "severity") == "blocking" && !h.at("accepted").get<bool>()) blocked.push_back(line);
  }
  return plan;
}

}  // namespace

FeedResult WriteFeed(const Feed& feed, const std::string& text, const std::string& path,
                     const FeedOptions& options) {
  const Json j = Json::parse(text, nullptr, false);
  if (j.is_discarded() || !j.is_object() || TextOf(j, "format") != "backreach.plan/1")
    throw Error(path +
                ": error: not a plan (backreach.plan/1)\n  make one with: backreach plan ... --format json "
                "--out plan.json");
  FeedResult result;
  try {
    const FeedPlan plan = ReadPlan(j, result.blocked);
    if (options.force) result.blocked.clear();
    if (result.blocked.empty()) result.files = feed.write(plan, options, result.warnings);
  } catch (const Json::exception& e) {
    throw Error(fmt::format("{}: error: the plan is damaged: {}", path, e.what()));
  }
  return result;
}

}  // namespace backreach
