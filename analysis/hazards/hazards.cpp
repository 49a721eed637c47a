// The list of hazards, and what they share.

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "analysis/hazards/all.hpp"
#include "analysis/hazards/hazard.hpp"
#include "graph/base/words.hpp"
#include "graph/time/run_bound.hpp"

namespace backreach {

// In the order in which a plan lists them, within one severity.
const std::vector<HazardKind>& HazardKinds() {
  static const std::vector<HazardKind> kinds = {
      hazards::Cycle(),
      hazards::AppendDuplicates(),
      hazards::BoundedMatch(),
      hazards::UnfilteredBatch(),
      hazards::WatermarkFilter(),
      hazards::OpenPartition(),
      hazards::BeforeBegin(),
      hazards::Retention(),
      hazards::PartialOverwrite(),
      hazards::SourceReextract(),
      hazards::LeftStale(),
      hazards::CannotRebuild(),
      hazards::NullKey(),
      hazards::ColumnsKept(),
      hazards::RangeNotPassed(),
      hazards::UnprovenKey(),
      hazards::MergeKeepsRemovedRows(),
      hazards::EmptyPartitionKept(),
      hazards::WriteUnknown(),
      hazards::SchemaChange(),
      hazards::KeyChange(),
      hazards::LayoutChange(),
      hazards::RestatesWithNewer(),
      hazards::RewrittenAlong(),
      hazards::AlreadyRun(),
      hazards::SharedCompute(),
      hazards::ScheduleCollision(),
      hazards::FiresByItself(),
      hazards::SideEffects(),
      hazards::Deletions(),
      hazards::Unresolved(),
      hazards::NoRollback(),
      hazards::Widened(),
      hazards::TimezoneAssumed(),
      hazards::GrainUnknown(),
      hazards::MappingAssumed(),
  };
  return kinds;
}

const HazardKind* FindHazardKind(const std::string& code) {
  for (const HazardKind& kind : HazardKinds())
    if (code == kind.code) return &kind;
  return nullptr;
}

const std::vector<const Step*>& HazardContext::StepsOf(DatasetId id) const {
  static const std::vector<const Step*> none;
  const auto it = steps_of.find(id);
  return it == steps_of.end() ? none : it->second;
}

std::vector<Written> FindWritten(const Plan& plan) {
  std::vector<Written> out;
  std::map<DatasetId, std::size_t>
      own;  // several steps of one dataset (turns of a cycle) are written once over
  for (const Step& step : plan.steps) {
    if (step.correct) continue;
    const auto [it, fresh] = own.emplace(step.dataset, out.size());
    if (fresh)
      out.push_back({step.dataset, step.spans, step.whole, false});
    else
      out[it->second].spans.Add(step.spans);
  }
  for (const Step& step : plan.steps)
    for (const Cells& cells : step.rewrites) out.push_back({cells.dataset, cells.spans, cells.whole, true});
  return out;
}

Hazard MakeHazard(const char* code, HazardSeverity severity, const Written& written, std::string message,
                  std::string remedy) {
  Hazard h =
      MakeHazard(code, severity, written.dataset, written.spans, std::move(message), std::move(remedy));
  h.whole = written.whole;
  return h;
}

Hazard MakeHazard(const char* code, HazardSeverity severity, DatasetId dataset, SpanSet spans,
                  std::string message, std::string remedy) {
  Hazard h;
  h.code = code;
  h.severity = severity;
  h.dataset = dataset;
  h.whole = spans.IsAll();
  if (!h.whole) h.spans = std::move(spans);
  h.message = std::move(message);
  h.remedy = std::move(remedy);
  return h;
}

const Finding* LostByRebuild(const Frame& frame, DatasetId id, const Dataset& d) {
  for (const Finding& f : d.findings) {
    if (f.fact.code != "bounded-rebuild") continue;
    const auto reach = ReachOf(frame.now(), d, f);
    if (!reach || !d.layout || *reach > frame[id].first) return &f;
  }
  return nullptr;
}

std::optional<Instant> ReachOf(Instant now, const Dataset& d, const Finding& f) {
  const Zone& zone = d.layout ? d.layout->zone() : *Zone::Utc();
  if (const auto since = f.fact.data.find("since"); since != f.fact.data.end()) {
    const Civil day = std::strtoll(since->second.c_str(), nullptr, 10) * kDay;
    return std::max(zone.FirstReach(day), day);
  }
  const auto it = f.fact.data.find("bound");
  std::optional<Instant> latest;
  if (it != f.fact.data.end())
    for (const RunBound& bound : ParseRunBounds(it->second))
      latest = std::max(latest.value_or(kMinInstant), bound.At(now, zone));
  return latest;
}

SpanSet BeyondReach(const HazardContext& c, const Written& w, const Finding& f) {
  const auto bound = ReachOf(c.frame.now(), c.graph[w.dataset], f);
  if (!bound || w.whole || w.spans.empty()) return w.whole ? SpanSet::All() : w.spans;
  return w.spans.Clip(kMinInstant, c.graph[w.dataset].layout->Ceil(*bound));
}

bool KeyIsGrain(const Dataset& d) {
  // As the platform compares names: quotes are no part of them.
  const auto bare = [](std::string text) {
    std::erase_if(text, [](char c) { return c == '"' || c == '`' || c == '[' || c == ']'; });
    return Lower(text);
  };
  return d.key.size() == 1 && !d.column.empty() && bare(d.key[0]) == bare(d.column);
}

bool RangeInstead(const Dataset& d, const Finding& f) {
  const auto instead = f.fact.data.find("instead");
  const auto from = d.vars.find("from");
  if (instead == f.fact.data.end() || from == d.vars.end()) return false;
  const auto names = Split(instead->second, ',');
  return std::find(names.begin(), names.end(), from->second) != names.end();
}

std::string RefreshedBy(const Dataset& d) {
  const auto by = d.methods.find("refreshed_by");
  return by == d.methods.end() ? "" : by->second;
}

std::string FullRefreshRemedy(const HazardContext& c, DatasetId id) {
  const Dataset& d = c.graph[id];
  for (const Finding& f : d.findings)  // batches after the first find a table, and insert all of it again
    if (f.fact.code == "unfiltered-batch") return "";
  for (const Step* step : c.StepsOf(id))
    for (const Method& m : step->methods)
      if (const auto* run = std::get_if<way::DbtRun>(&m.way);
          m.effect == Effect::kReplaced && run && run->full_refresh)
        return fmt::format(", or build it from nothing: --full-refresh={}", d.name);
  return "";
}

bool ReplacesPresentCells(const Dataset& d) {
  return d.writes == Writes::kDynamicOverwrite || (d.writes == Writes::kDeleteInsert && KeyIsGrain(d));
}

bool Crosses(const Written& w, Instant at) {
  return std::any_of(w.spans.begin(), w.spans.end(),
                     [&](const Span& s) { return s.start < at && at < s.end; });
}

bool Inside(const Written& w, const Change& change) {
  return w.whole || w.spans.empty() || std::any_of(w.spans.begin(), w.spans.end(), [&](const Span& s) {
           return s.start <= change.on && change.on < s.end;
         });
}

std::string CountText(const Dataset& d, const SpanSet& spans, bool whole) {
  if (whole || spans.empty() || !d.layout) return "the whole table";
  if (!IsFinite(spans.front().start) || !IsFinite(spans.back().end))
    return "all that it has up to " + KeyOf(d, spans.back().end - 1);
  const std::int64_t n = d.layout->Count(spans);
  return CountOf(n, d.layout->blocks().back().calendar.grain());
}

std::string NamesText(const LineageGraph& graph, const std::vector<DatasetId>& ids) {
  std::vector<std::string> names;
  for (const DatasetId id : ids) names.push_back(graph[id].name);
  return ListOf(names);
}

}  // namespace backreach
