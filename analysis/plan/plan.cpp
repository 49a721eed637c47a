// What the parts of a plan say of themselves in words.

#include "analysis/plan/plan.hpp"

#include "graph/base/words.hpp"

namespace backreach {

const char* ToString(Effect effect) {
  static constexpr const char* kWords[] = {"none",       "replaced", "unknown", "overwritten-open",
                                           "duplicated", "lost",     "kept-old"};
  return kWords[static_cast<int>(effect)];
}

const char* ToString(StaleReason reason) {
  static constexpr const char* kWords[] = {"excluded",       "protected",      "snapshot",
                                           "cannot-rebuild", "inputs-expired", "outside-return"};
  return kWords[static_cast<int>(reason)];
}

std::string KeyOf(const Dataset& dataset, Instant t) {
  if (!IsFinite(t)) return t < 0 ? "the beginning" : "no end";
  return dataset.layout ? dataset.layout->Key(t) : dataset.calendar.Key(t);
}

std::pair<std::string, std::string> KeysOf(const Calendar& calendar, Span span) {
  return {IsFinite(span.start) ? calendar.Key(span.start) : "",
          IsFinite(span.end) ? calendar.Key(span.end - 1) : ""};
}

std::string SpansText(const Dataset& dataset, const SpanSet& spans) {
  if (spans.empty()) return "nothing";
  std::vector<std::string> parts;
  for (const Span& s : spans) {
    if (s == kAllTime) return "all of it";
    const std::string to = IsFinite(s.end) ? KeyOf(dataset, s.end - 1) : "";
    if (!IsFinite(s.start))
      parts.push_back("everything up to " + to);
    else if (!IsFinite(s.end))
      parts.push_back("everything from " + KeyOf(dataset, s.start));
    else
      parts.push_back(KeyOf(dataset, s.start) == to ? to : KeyOf(dataset, s.start) + " .. " + to);
  }
  if (parts.size() <= 4) return Join(parts, ", ");
  return Thousands(static_cast<std::int64_t>(parts.size())) + " spans, the first " + parts.front() +
         ", the last " + parts.back();
}

std::string ShortName(const LineageGraph& graph, DatasetId id) {
  const std::string& name = graph[id].name;
  for (const char* prefix : {"model.", "source.", "seed.", "snapshot.", "exposure."}) {
    if (!StartsWith(name, prefix)) continue;
    const std::size_t package = name.find('.', std::string(prefix).size());
    if (package != std::string::npos) return name.substr(package + 1);
  }
  return name;
}

}  // namespace backreach
