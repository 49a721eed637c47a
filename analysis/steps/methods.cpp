// The ordinary run is judged first, then each engine says in which ways it does exactly these cells.

#include "analysis/steps/methods.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analysis/steps/airflow_runs.hpp"
#include "graph/base/words.hpp"

namespace backreach {

namespace {

Effect EffectOf(Writes writes) {
  switch (writes) {
    case Writes::kAppend: return Effect::kDuplicated;
    case Writes::kUnknown: return Effect::kUnknown;
    case Writes::kNone:
    case Writes::kSnapshot: return Effect::kNone;
    default: return Effect::kReplaced;
  }
}

std::string Noted(const Dataset& d, const char* what) {
  const auto it = d.methods.find(what);
  return it == d.methods.end() ? "" : it->second;
}

// Every stretch has a beginning: a command that names its period can be written.
bool Bounded(const Step& step) { return !step.spans.empty() && IsFinite(step.spans.front().start); }

// All of a microbatch model, from where its batches begin to the end of today.
std::optional<Span> FromBeginToNow(const Dataset& d, Instant now) {
  const std::string begin = Noted(d, "dbt_begin");
  const DateResult date = ParseDate(begin, Calendar());
  if (begin.empty() || !date.span) return std::nullopt;
  const Span span{date.span->start, Calendar().Next(now)};
  return span.start < span.end ? std::optional(span) : std::nullopt;
}

// What dbt's ordinary run of the model is, with its period where it has one.
void OrdinaryRun(const Dataset& d, const std::string& selector, Instant now, Effect effect, Step& step) {
  const auto from = d.vars.find("from"), to = d.vars.find("to");
  if (WholeInBatches(d, step)) {
    step.methods.push_back({"dbt", {}, Effect::kKeptOld, way::DbtRun{selector}});
    if (const auto window = FromBeginToNow(d, now))
      step.methods.push_back({"dbt", {}, effect, way::DbtBatches{selector, window}});
  } else if (d.methods.count("dbt_batches") && Bounded(step)) {
    step.methods.push_back({"dbt", {}, effect, way::DbtBatches{selector, {}, step.sequential}});
  } else if (from != d.vars.end() && Bounded(step)) {
    const bool inclusive = d.vars.count("to_is") && d.vars.at("to_is") == "inclusive";
    const bool pair = to != d.vars.end();
    step.methods.push_back(
        {"dbt",
         {},
         effect,
         way::DbtVars{selector, from->second, pair ? to->second : "", inclusive, step.sequential || !pair}});
  } else {
    step.methods.push_back({"dbt", {}, effect, way::DbtRun{selector}});
  }
}

// `refresh`: what a full refresh does.
void DbtMethods(const Dataset& d, Instant now, Effect effect, Effect refresh, Step& step) {
  const std::string& selector = d.methods.at("dbt");
  if (d.built_anew) {  // never beside a window, which would be all that is left
    step.methods.push_back({"dbt", {}, effect, way::DbtRun{selector, true}});
    return;
  }
  if (d.kind == Kind::kSeed) {
    step.methods.push_back({"dbt", {}, effect, way::DbtSeed{selector}});
    return;
  }
  OrdinaryRun(d, selector, now, effect, step);
  const bool incremental =
      d.writes != Writes::kWhole && d.writes != Writes::kRefresh && d.writes != Writes::kUnknown;
  if (incremental && !d.full_refresh_off)
    step.methods.push_back({"dbt", {}, refresh, way::DbtRun{selector, true}});
}

// Who is told to refresh a stored view is the platform's matter; `dbt run` does it where that is noted.
void RefreshMethods(const LineageGraph& graph, const Dataset& d, Effect effect, Step& step) {
  if (d.methods.count("dbt") && d.methods.count("dbt_refreshes"))
    step.methods.push_back({"dbt", {}, effect, way::DbtRun{d.methods.at("dbt")}});
  way::Refresh refresh{Noted(d, "refresh"), d.platform, Noted(d, "relation"), d.relation, {}};
  if (const auto client = graph.clients.find(Lower(d.platform)); client != graph.clients.end())
    refresh.client = client->second;
  step.methods.push_back({"sql", {}, effect, std::move(refresh)});
}

// What a run of the moment does to the step's cells, as far as its schedule says which ones it takes.
Effect EffectOfTheMoment(const Job& job, Instant now, Effect effect, const Step& step) {
  if (step.whole) return effect;
  if (!job.schedule || (!job.schedule->rewrites && !job.schedule->covers)) return Effect::kUnknown;
  const Text& rewrites = job.schedule->rewrites;
  if (rewrites == "all") return effect;
  if (!rewrites || rewrites == "latest") return Effect::kKeptOld;
  const auto back = ParseDuration(*rewrites);
  if (!back || !step.calendar) return Effect::kUnknown;
  const Instant from = AddDuration(step.calendar->zone(), now, *back, -1);
  return step.spans.front().start >= from ? effect : Effect::kKeptOld;
}

void ShellMethods(const LineageGraph& graph, const Dataset& d, Instant now, Effect effect, Step& step) {
  for (const JobId id : d.jobs) {
    const Job& job = graph[id];
    const auto it = job.methods.find("shell");
    if (it == job.methods.end()) continue;
    const bool period = TakesPeriod(it->second);
    if (period && !Bounded(step)) continue;  // it asks for a period, and there is none to give
    const bool each = step.sequential || it->second.find("{key}") != std::string::npos;
    step.methods.push_back({"shell",
                            {},
                            period ? effect : EffectOfTheMoment(job, now, effect, step),
                            way::Shell{it->second, d.key_format, period && each, job.run_grain}});
  }
}

// The model alone, in its own intervals.
void SqlMeshMethods(const Dataset& d, Effect effect, Step& step) {
  const std::string model = Noted(d, "sqlmesh");
  if (!model.empty() && (step.whole || Bounded(step)))
    step.methods.push_back({"sqlmesh", {}, effect, way::SqlMeshRestate{model}});
}

// The asset alone, by the keys of its own definition: one whose cron is no grain of ours has keys that
// nobody here can name.
void DagsterMethods(const Dataset& d, Effect effect, Step& step) {
  const std::string asset = Noted(d, "dagster");
  if (asset.empty()) return;
  const bool cut = !d.key_format.empty();
  if (cut && (step.whole || !Bounded(step))) return;
  way::DagsterBackfill way{Split(asset, '\n'), d.key_format, Noted(d, "dagster_time"), d.dimensions};
  step.methods.push_back({"dagster", {}, effect, std::move(way)});
}

}  // namespace

void ShareRuns(std::vector<Step>& steps) {
  std::map<int, SpanSet> spans;
  std::map<int, const Step*> first;
  std::set<int> apart;  // cut differently: their keys are not each other's
  for (const Step& step : steps) {
    if (!step.run) continue;
    spans[*step.run].Add(step.spans);
    const Step& one = *first.emplace(*step.run, &step).first->second;
    if (!step.calendar || !one.calendar || !(*step.calendar == *one.calendar)) apart.insert(*step.run);
  }
  for (Step& step : steps)
    for (Method& m : step.methods)
      if (auto* shell = std::get_if<way::Shell>(&m.way); shell && step.run && !apart.count(*step.run))
        shell->spans = spans[*step.run];
}

bool WholeInBatches(const Dataset& d, const Step& step) {
  return step.whole && !step.correct && d.methods.count("dbt_batches") && d.methods.count("dbt") &&
         d.writes != Writes::kWhole;
}

bool WiderThanVariable(const Dataset& d, const Step& step) {
  if (step.whole || !step.calendar || !d.vars.count("from") || d.vars.count("to")) return false;
  switch (step.calendar->grain().unit) {
    case Grain::Unit::kMinutes:
    case Grain::Unit::kHour:
    case Grain::Unit::kDay: return false;
    default: return true;
  }
}

bool TakesPeriod(const std::string& line) {
  for (const char* name : {"{from}", "{to}", "{start}", "{end}", "{key}"})
    for (std::size_t at = line.find(name); at != std::string::npos; at = line.find(name, at + 1))
      if (at == 0 || line[at - 1] != '$') return true;
  return false;
}

void FillMethods(const LineageGraph& graph, Instant now, bool inputs_gone, bool bounded, Step& step) {
  const Dataset& d = graph[step.dataset];
  if (step.correct) {
    if (d.kind == Kind::kSeed && d.methods.count("dbt"))
      DbtMethods(d, now, Effect::kReplaced, Effect::kReplaced, step);
    return;
  }
  const Effect effect = d.written_whole() && inputs_gone ? Effect::kLost : EffectOf(d.writes);
  if (d.writes == Writes::kRefresh)
    RefreshMethods(graph, d, effect, step);
  else if (d.methods.count("dbt"))
    DbtMethods(d, now, effect, inputs_gone || bounded ? Effect::kLost : Effect::kReplaced, step);
  if (!d.built_anew) {  // jobs run it as they always do
    SqlMeshMethods(d, effect, step);
    AirflowMethods(graph, effect, step);
    DagsterMethods(d, effect, step);
    ShellMethods(graph, d, now, effect, step);
  }
  step.effect = step.methods.empty() ? effect : step.methods[0].effect;
}

}  // namespace backreach
