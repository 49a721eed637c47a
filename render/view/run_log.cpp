// A run in progress holds all of its cells until it ends, also those that are done: nobody has looked at them
// yet.

#include "render/view/run_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "analysis/after/run.hpp"
#include "analysis/plan/plan.hpp"
#include "graph/base/digest.hpp"
#include "graph/base/words.hpp"
#include "render/view/words.hpp"

namespace backreach {

using Json = nlohmann::ordered_json;

namespace {

constexpr const char* kProducer = "https://github.com/backreach/backreach";

const Dataset* Find(const LineageGraph* graph, const std::string& name) {
  if (!graph) return nullptr;
  const auto it = std::lower_bound(graph->datasets.begin(), graph->datasets.end(), name,
                                   [](const Dataset& d, const std::string& n) { return d.name < n; });
  return it != graph->datasets.end() && it->name == name ? &*it : nullptr;
}

// What one run does with one dataset, over all its steps.
struct Touched {
  bool whole = false, done = true, along = true;
  SpanSet spans, rebuilt;
};

std::map<std::string, Touched> TouchedBy(const LoggedRun& run, const StatusQuestion& question) {
  std::map<std::string, Touched> out;
  for (const LoggedStep& step : run.steps) {
    if (!question.names.empty() &&
        std::find(question.names.begin(), question.names.end(), step.dataset) == question.names.end())
      continue;
    Touched& t = out[step.dataset];
    const LoggedCells cells = Rebuilt(run, step);
    t.whole = t.whole || step.whole;
    t.along = t.along && step.along;
    t.spans.Add(step.spans);
    t.rebuilt.Add(cells.spans);
    t.done = t.done && (step.whole ? cells.whole : cells.spans.Covers(step.spans));
  }
  return out;
}

std::string KeyText(const Dataset* d, Instant t) { return d ? KeyOf(*d, t) : FormatInstant(t); }

std::string CellsText(const Dataset* d, const Touched& t) {
  if (t.whole || t.spans.empty()) return "all of it";
  if (d) return SpansText(*d, t.spans);
  std::vector<std::string> parts;
  for (const Span& s : t.spans)
    parts.push_back((IsFinite(s.start) ? FormatInstant(s.start) : "the beginning") + " .. " +
                    FormatInstant(s.end));
  return ListOf(parts, 4);
}

Json SpansJson(const Dataset* d, const SpanSet& spans) {
  Json out = Json::array();
  for (const Span& s : spans) {
    const bool keyed = d && d->layout;
    out.push_back({{"from", keyed && IsFinite(s.start) ? Json(KeyText(d, s.start)) : Json()},
                   {"to", keyed && IsFinite(s.end) ? Json(KeyText(d, s.end - 1)) : Json()},
                   {"start", IsFinite(s.start) ? Json(FormatInstant(s.start)) : Json()},
                   {"end", IsFinite(s.end) ? Json(FormatInstant(s.end)) : Json()}});
  }
  return out;
}

Json RunJson(const LineageGraph* graph, const LoggedRun& run, const std::map<std::string, Touched>& touched) {
  Json datasets = Json::array();
  for (const auto& [name, t] : touched) {
    const Dataset* d = Find(graph, name);
    datasets.push_back({{"dataset", name},
                        {"whole", t.whole},
                        {"spans", SpansJson(d, t.whole ? SpanSet() : t.spans)},
                        {"done", t.done},
                        {"rebuilt", SpansJson(d, t.rebuilt)},
                        {"along", t.along}});
  }
  const Progress progress = ProgressOf(run);
  return {{"plan", run.plan},
          {"state", ToString(run.state)},
          {"since", run.started_at},
          {"until", run.ended_at.empty() ? Json() : Json(run.ended_at)},
          {"by", run.by.empty() ? Json() : Json(run.by)},
          {"summary", run.summary},
          {"steps", {{"done", progress.done}, {"of", progress.all}, {"failed", progress.failed}}},
          {"datasets", datasets}};
}

// The namespace and the name of a dataset, as OpenLineage has them.
Json DatasetEvent(const LineageGraph* graph, const std::string& name) {
  std::string full = name;
  if (const Dataset* d = Find(graph, name); d && full.find("://") == std::string::npos)
    for (const std::string& alias : d->aliases)
      if (alias.find("://") != std::string::npos) {
        full = alias;
        break;
      }
  const std::size_t scheme = full.find("://");
  const std::size_t slash = scheme == std::string::npos ? scheme : full.find('/', scheme + 3);
  if (slash == std::string::npos || slash + 1 >= full.size())
    return {{"namespace", "backreach"}, {"name", full}};
  return {{"namespace", full.substr(0, slash)}, {"name", full.substr(slash + 1)}};
}

// One for a start of a plan, always the same.
std::string RunId(const LoggedRun& run) {
  std::string hex =
      Sha256Hex(run.plan + " " + run.started_at + " " + std::to_string(run.number)).substr(0, 32);
  hex[12] = '5', hex[16] = '8';
  return hex.substr(0, 8) + "-" + hex.substr(8, 4) + "-" + hex.substr(12, 4) + "-" + hex.substr(16, 4) + "-" +
         hex.substr(20);
}

std::string Event(const LineageGraph* graph, const LoggedRun& run, const char* type, const std::string& at,
                  const std::map<std::string, Touched>& touched) {
  Json outputs = Json::array();
  for (const auto& [name, t] : touched) outputs.push_back(DatasetEvent(graph, name));
  const Json j = {
      {"eventTime", at},
      {"eventType", type},
      {"producer", kProducer},
      {"schemaURL", "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"},
      {"run",
       {{"runId", RunId(run)},
        {"facets",
         {{"processing_engine",
           {{"_producer", kProducer},
            {"_schemaURL",
             "https://openlineage.io/spec/facets/1-1-1/ProcessingEngineRunFacet.json#/$defs/"
             "ProcessingEngineRunFacet"},
            {"name", "backreach"},
            {"version", "0.1.0"}}}}}}},
      {"job",
       {{"namespace", "backreach"},
        {"name", "correction." + run.plan},
        {"facets",
         {{"documentation",
           {{"_producer", kProducer},
            {"_schemaURL",
             "https://openlineage.io/spec/facets/1-0-1/DocumentationJobFacet.json#/$defs/"
             "DocumentationJobFacet"},
            {"description", run.summary}}},
          {"jobType",
           {{"_producer", kProducer},
            {"_schemaURL",
             "https://openlineage.io/spec/facets/2-0-3/JobTypeJobFacet.json#/$defs/JobTypeJobFacet"},
            {"processingType", "BATCH"},
            {"integration", "BACKREACH"},
            {"jobType", "CORRECTION"}}}}}}},
      {"inputs", Json::array()},
      {"outputs", outputs}};
  return j.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string StatusText(const LineageGraph* graph, const std::vector<LoggedRun>& log,
                       const StatusQuestion& question, int width) {
  std::string out;
  const LoggedRun* last = nullptr;
  for (const LoggedRun& run : log) {
    const auto touched = TouchedBy(run, question);
    if (touched.empty()) continue;
    if (run.state != LoggedRun::State::kInProgress) {
      if (!last || run.ended_at >= last->ended_at) last = &run;
      continue;
    }
    const Progress progress = ProgressOf(run);
    out += Wrapped(fmt::format(
                       "correction in progress since {}{}: plan {}, {} of {} done{}", run.started_at,
                       run.by.empty() ? "" : " by " + Printable(run.by), run.plan, progress.done,
                       Plural(static_cast<std::int64_t>(progress.all), "step"),
                       progress.failed.empty() ? "" : fmt::format(", step {} failed", progress.failed[0])),
                   width, 0, 2) +
           "\n";
    for (const auto& [name, t] : touched)
      out += "  " +
             Wrapped(fmt::format("{}  {}{}{}", Printable(name), CellsText(Find(graph, name), t),
                                 t.done ? "  (rebuilt)" : "", t.along ? "  (written along)" : ""),
                     width, 2, 6) +
             "\n";
  }
  const std::string on = question.asked.empty() ? "" : " on " + Printable(question.asked);
  if (out.empty()) out = "no correction is in progress" + on + "\n";
  if (last && !question.asked.empty())
    out += Wrapped(fmt::format("the last one that ended: plan {}, {} {}{}", last->plan, ToString(last->state),
                               last->ended_at, last->by.empty() ? "" : ", by " + Printable(last->by)),
                   width, 0, 2) +
           "\n";
  return out;
}

std::string StatusJson(const LineageGraph* graph, const std::vector<LoggedRun>& log,
                       const StatusQuestion& question) {
  Json progress = Json::array(), ended = Json::array();
  for (const LoggedRun& run : log) {
    const auto touched = TouchedBy(run, question);
    if (touched.empty()) continue;
    (run.state == LoggedRun::State::kInProgress ? progress : ended).push_back(RunJson(graph, run, touched));
  }
  const Json j = {
      {"format", "backreach.status/1"}, {"dataset", question.asked.empty() ? Json() : Json(question.asked)},
      {"looked_at", question.names},    {"correction_in_progress", !progress.empty()},
      {"in_progress", progress},        {"ended", ended}};
  return j.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string StatusEvents(const LineageGraph* graph, const std::vector<LoggedRun>& log,
                         const StatusQuestion& question) {
  std::string out;
  for (const LoggedRun& run : log) {
    const auto touched = TouchedBy(run, question);
    if (touched.empty()) continue;
    out += Event(graph, run, "START", run.started_at, touched);
    if (run.state == LoggedRun::State::kFinished) out += Event(graph, run, "COMPLETE", run.ended_at, touched);
    if (run.state == LoggedRun::State::kAbandoned) out += Event(graph, run, "ABORT", run.ended_at, touched);
  }
  return out;
}

}  // namespace backreach
