// Dagster: a backfill of exactly these partitions, by the call of its API that takes assets and ranges. Left
// to itself (an asset and its downstream) Dagster finds cells of its own, and not all of them. Keys are
// written exactly as the definition has them: a date that is none of its keys would run the next one.

#include <fmt/format.h>

#include <algorithm>

#include "graph/base/words.hpp"
#include "render/commands/lines.hpp"
#include "render/quote.hpp"

namespace backreach {

namespace {

constexpr std::size_t kMostRanges = 1000;  // in one call

// The key of the partition that starts at `t`; the second showing of an hour carries its offset.
std::string KeyAt(const Calendar& calendar, const std::string& format, Instant t) {
  const std::int64_t k = calendar.Index(t);
  const std::string key =
      FormatTime(calendar.follows_wall_clock() ? calendar.CivilStart(k) : calendar.Nominal(k), format);
  const Zone& zone = calendar.zone();
  if (calendar.grain().bears_dates() || !zone.IsRepeated(t) || zone.FirstReach(zone.ToCivil(t)) == t)
    return key;
  std::string offset = FormatOffset(zone.OffsetAt(t));
  std::erase(offset, ':');
  return key + offset;
}

struct Range {
  std::string first, last;
};

// A stretch of time for each line of the other dimensions: those are joined in the order of their names.
class Ranges {
 public:
  Ranges(const Step& step, const way::DagsterBackfill& backfill) : step_(step), way_(backfill) {}

  std::vector<Range> Make() {
    if (step_.parts.empty()) {
      std::map<std::string, std::vector<std::string>> all;
      for (const auto& [name, values] : way_.dimensions)
        if (name != way_.time_dimension) all[name] = values;
      Add(all, step_.spans);
    }
    for (const StepPart& part : step_.parts) Add(part.values, part.spans);
    return std::move(out_);
  }

 private:
  void Add(const std::map<std::string, std::vector<std::string>>& values, const SpanSet& spans) {
    std::vector<std::map<std::string, std::string>> lines = {{}};
    for (const auto& [name, list] : values) {
      std::vector<std::map<std::string, std::string>> next;
      for (const auto& line : lines)
        for (const std::string& value : list) {
          if (next.size() > kMostRanges) break;
          auto more = line;
          more[name] = value;
          next.push_back(std::move(more));
        }
      lines = std::move(next);
    }
    for (auto& line : lines) {
      if (step_.whole || !step_.calendar) {
        if (!line.empty()) out_.push_back({Joined(line), Joined(line)});
        continue;
      }
      for (const Span& s : Stretches(Only(spans), *step_.calendar, false)) {
        if (out_.size() > kMostRanges) return;
        const auto key = [&](Instant t) {
          line[way_.time_dimension] = KeyAt(*step_.calendar, way_.key_format, t);
          return Joined(line);
        };
        const std::string first = key(s.start);
        out_.push_back({first, key(step_.calendar->Floor(s.end - 1))});
      }
    }
  }
  Step Only(const SpanSet& spans) const {
    Step step;
    step.spans = spans;
    return step;
  }
  static std::string Joined(const std::map<std::string, std::string>& line) {
    std::vector<std::string> parts;
    for (const auto& [name, value] : line) parts.push_back(value);
    return Join(parts, "|");
  }

  const Step& step_;
  const way::DagsterBackfill& way_;
  std::vector<Range> out_;
};

}  // namespace

std::vector<Line> DagsterLines(const Step& step, const way::DagsterBackfill& backfill) {
  std::vector<std::string> path;
  for (const std::string& part : backfill.asset) path.push_back(JsonText(part));
  std::string asset = "{\"assetKey\": {\"path\": [" + Join(path, ", ") + "]}";
  if (!backfill.key_format.empty() || !backfill.dimensions.empty()) {
    // Never left out for an asset that has partitions: that would mean all of them.
    const std::vector<Range> ranges = Ranges(step, backfill).Make();
    if (ranges.empty() || ranges.size() > kMostRanges) return {};
    std::vector<std::string> texts;
    for (const Range& r : ranges)
      texts.push_back("{\"start\": " + JsonText(r.first) + ", \"end\": " + JsonText(r.last) + "}");
    asset += ", \"partitions\": {\"ranges\": [" + Join(texts, ", ") + "]}";
  }
  const std::string body =
      "{\"query\": \"mutation($p: LaunchBackfillParams!) { launchPartitionBackfill(backfillParams: $p) { "
      "__typename ... on LaunchBackfillSuccess { backfillId } ... on PythonError { message } } }\", "
      "\"variables\": {\"p\": {\"partitionsByAssets\": [" +
      asset + "}]}}}";
  // A refusal comes with status 200: only an id says that it was taken.
  return {
      {"curl -sS --fail-with-body \"${DAGSTER_URL:-http://localhost:3000}/graphql\" -H 'content-type: "
       "application/json' -d " +
           ShellQuoted(body) + " | tee \"${BACKREACH_ANSWER:-/dev/stderr}\" | grep -q backfillId",
       {}}};
}

}  // namespace backreach
