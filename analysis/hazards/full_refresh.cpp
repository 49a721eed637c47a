// A full refresh is a table written whole: its step is whole, and it passes on its dirty cells. What only an
// ordinary run does to a table (filters by its own rows, variables, matches by key) is no part of it.

#include "analysis/hazards/full_refresh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/hazards/hazard.hpp"
#include "graph/base/error.hpp"
#include "graph/base/words.hpp"

namespace backreach {

namespace {

const Method* FromNothing(const Step& step) {
  for (const Method& m : step.methods)
    if (const auto* run = std::get_if<way::DbtRun>(&m.way); run && run->full_refresh) return &m;
  return nullptr;
}

// A model of dbt whose runs add to what is there.
bool AddsByDbt(const Dataset& d) {
  return d.methods.count("dbt") > 0 && d.kind != Kind::kSeed && d.writes != Writes::kWhole &&
         d.writes != Writes::kRefresh && d.writes != Writes::kUnknown && d.writes != Writes::kSnapshot &&
         d.writes != Writes::kNone;
}

// What would be lost, "" if nothing.
std::string Lost(const Frame& frame, const Request& request, DatasetId id, const Dataset& d,
                 const Method* method) {
  if (d.full_refresh_off) return "full_refresh: false guards what it has";
  if (const Finding* found = LostByRebuild(frame, id, d))
    return "its query then " + found->fact.detail + ", all older rows would be lost";
  if (method && method->effect == Effect::kLost)
    return "what its older rows were made from is not kept any more: they would be lost";
  for (const Target& t : request.targets)
    if (t.dataset == id && d.first_is_begin && d.layout && !t.cells.Clip(kMinInstant, d.first).empty())
      return fmt::format("it would begin with dbt's begin ({}), and what is asked for before would be lost",
                         d.layout->Key(d.first));
  return "";
}

void MakeAnew(Dataset& d) {
  d.built_anew = true;
  d.writes = Writes::kWhole;
  d.writes_stated = true;
  d.writes_why = "--full-refresh builds it from nothing";
  d.vars.clear();
  std::erase_if(d.findings, [](const Finding& f) {
    for (const char* code :
         {"watermark-filter", "range-not-passed", "bounded-match", "columns-kept", "on-schema-change"})
      if (f.fact.code == code) return true;
    return false;
  });
}

}  // namespace

BuiltAnew BuildAnew(const LineageGraph& graph, const Request& request, const Plan& ordinary) {
  BuiltAnew out{graph, request};
  const Frame frame(graph, request.now);
  std::map<DatasetId, const Step*> steps;
  for (const Step& step : ordinary.steps)
    if (!step.correct) steps.emplace(step.dataset, &step);
  std::set<DatasetId> asked = request.full_refresh;
  if (request.full_refresh_all)
    for (const auto& [id, step] : steps)
      if (AddsByDbt(graph[id])) asked.insert(id);
  out.request.full_refresh.clear();
  std::vector<std::string> refused, fine;
  for (const DatasetId id : asked) {
    const Dataset& d = graph[id];
    const auto step = steps.find(id);
    const Method* method = step == steps.end() ? nullptr : FromNothing(*step->second);
    const std::string lost = Lost(frame, request, id, d, method);
    if (!lost.empty()) {
      refused.push_back(fmt::format("\n  {}: {}", d.name, lost));
    } else if (step == steps.end()) {
      out.request.notes.push_back(
          fmt::format("--full-refresh: {} is no step of this plan, nothing to build", d.name));
    } else if (d.writes == Writes::kWhole) {
      out.request.notes.push_back(
          fmt::format("--full-refresh: every run of {} builds it from nothing anyway", d.name));
    } else if (!method) {
      refused.push_back(fmt::format("\n  {}: nothing is known that builds it from nothing", d.name));
    } else {
      fine.push_back("--full-refresh=" + d.name);
      out.request.full_refresh.insert(id);
    }
  }
  if (!refused.empty()) {
    constexpr std::size_t kMost = 12;
    const std::size_t more = refused.size() > kMost ? refused.size() - kMost : 0;
    if (more > 0) refused.resize(kMost);
    throw Error(fmt::format("backreach: error: --full-refresh is refused{}{}\n  {}", Join(refused, ""),
                            more > 0 ? fmt::format("\n  and {} more", more) : "",
                            fine.empty() ? "leave it out: the ordinary run of each is planned then"
                                         : "for the others give: " + Join(fine, " ")));
  }
  for (const DatasetId id : out.request.full_refresh) MakeAnew(out.graph.datasets[id.value]);
  return out;
}

}  // namespace backreach
