#include <fmt/format.h>

#include <algorithm>

#include "analysis/hazard.hpp"
#include "analysis/hazards/all.hpp"
#include "graph/words.hpp"

namespace backreach {

// In the order in which a plan lists them, within one severity.
const std::vector<HazardKind>& HazardKinds() {
  static const std::vector<HazardKind> kinds = {
      hazards::Cycle(),
      hazards::AppendDuplicates(),
      hazards::OpenPartition(),
      hazards::Retention(),
      hazards::PartialOverwrite(),
      hazards::SourceReextract(),
      hazards::LeftStale(),
      hazards::CannotRebuild(),
      hazards::NullKey(),
      hazards::UnprovenKey(),
      hazards::MergeKeepsRemovedRows(),
      hazards::EmptyPartitionKept(),
      hazards::WriteUnknown(),
      hazards::SchemaChange(),
      hazards::KeyChange(),
      hazards::LayoutChange(),
      hazards::RestatesWithNewer(),
      hazards::RewrittenAlong(),
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

std::vector<const Step*> HazardContext::StepsOf(DatasetId id) const {
  std::vector<const Step*> out;
  for (const Step& step : plan.steps)
    if (step.dataset == id) out.push_back(&step);
  return out;
}

std::vector<Written> WrittenCells(const HazardContext& context) {
  std::vector<Written> out;
  for (const Step& step : context.plan.steps) {
    if (!step.correct) {
      // Several steps of one dataset (turns of a cycle) are written once over.
      const auto same = std::find_if(out.begin(), out.end(), [&](const Written& w) { return w.dataset == step.dataset && !w.along; });
      if (same != out.end()) same->spans.Add(step.spans);
      else out.push_back({step.dataset, step.spans, step.whole, false});
    }
  }
  for (const Step& step : context.plan.steps)
    for (const Cells& cells : step.rewrites) out.push_back({cells.dataset, cells.spans, cells.whole, true});
  return out;
}

Hazard MakeHazard(const char* code, HazardSeverity severity, const Written& written, std::string message, std::string remedy) {
  Hazard h = MakeHazard(code, severity, written.dataset, written.spans, std::move(message), std::move(remedy));
  h.whole = written.whole;
  return h;
}

Hazard MakeHazard(const char* code, HazardSeverity severity, DatasetId dataset, SpanSet spans, std::string message, std::string remedy) {
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

std::string CountText(const Dataset& d, const SpanSet& spans, bool whole) {
  if (whole || spans.empty() || !d.layout) return "the whole table";
  if (!IsFinite(spans.front().start) || !IsFinite(spans.back().end)) return "all that it has up to " + KeyOf(d, spans.back().end - 1);
  const std::int64_t n = d.layout->Count(spans);
  return CountOf(n, d.layout->blocks().back().calendar.grain());
}

std::string NamesText(const LineageGraph& graph, const std::vector<DatasetId>& ids) {
  std::vector<std::string> names;
  for (const DatasetId id : ids) names.push_back(graph[id].name);
  return ListOf(names);
}

}  // namespace backreach
