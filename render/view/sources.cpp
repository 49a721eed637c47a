#include "render/view/sources.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "graph/base/words.hpp"

namespace backreach {

namespace {

// The largest unit that fits: "3 days", "5 hours".
std::string AgeText(Instant seconds) {
  if (seconds < kMinute) return "just now";
  if (seconds < kHour) return Plural(seconds / kMinute, "minute") + " ago";
  if (seconds < 2 * kDay) return Plural(seconds / kHour, "hour") + " ago";
  return Plural(seconds / kDay, "day") + " ago";
}

}  // namespace

std::string SourcesText(const std::vector<SourceView>& sources, Instant now) {
  std::string text;
  for (const SourceView& s : sources) {
    const SourceView::Version& last = s.versions.back();
    text += fmt::format("{:<10} {:<24} {}  {}  {}, {}{}\n", s.kind, Printable(s.name),
                        FormatInstant(last.ingested_at), last.sha256.substr(0, 12),
                        AgeText(now - last.ingested_at),
                        Plural(static_cast<std::int64_t>(s.versions.size()), "version"),
                        s.versions.size() > 1 ? " since " + FormatInstant(s.versions[0].ingested_at) : "");
  }
  return text.empty() ? "no source was ingested yet\n" : text;
}

std::string SourcesJson(const std::vector<SourceView>& sources, Instant now) {
  using Json = nlohmann::ordered_json;
  Json j = {{"format", "backreach.sources/1"}, {"sources", Json::array()}};
  for (const SourceView& s : sources) {
    Json versions = Json::array();
    for (const SourceView::Version& v : s.versions)
      versions.push_back(
          {{"number", v.number}, {"ingested_at", FormatInstant(v.ingested_at)}, {"sha256", v.sha256}});
    const SourceView::Version& last = s.versions.back();
    j["sources"].push_back({{"kind", s.kind},
                            {"name", s.name},
                            {"key", s.key},
                            {"sha256", last.sha256},
                            {"ingested_at", FormatInstant(last.ingested_at)},
                            {"age_seconds", now - last.ingested_at},
                            {"adds_up", s.adds_up},
                            {"versions", versions}});
  }
  return j.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace backreach
