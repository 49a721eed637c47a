// A copy is wrong where what it holds overlaps the dirty spans of what it was taken from, up to the moment it
// was taken. Copies of copies are judged by the wrong part of the first one, in rounds until nothing grows.

#include "analysis/copies.hpp"

#include <algorithm>
#include <set>

#include "graph/base/words.hpp"

namespace backreach {

namespace {

// The moments at which something taken on this date (or at this instant) may have been taken: an instant is
// one, a date any of that day. Nothing where it lies after `now`.
std::optional<Span> TakenAt(const std::string& text, const Calendar& calendar, Instant now) {
  std::optional<Span> moments;
  if (const auto instant = ParseInstant(text, false))
    moments = Span{*instant, *instant};
  else
    moments = ParseDate(text, calendar).span;
  if (!moments || moments->start > now) return std::nullopt;
  return Span{moments->start, std::max(moments->start, std::min(moments->end, now))};
}

// What it holds, if it may have been taken at any of these moments.
SpanSet HeldSpans(const HoldsFact& holds, Span taken, const Calendar& calendar) {
  if (holds.all) return SpanSet(Span{kMinInstant, taken.end});
  if (holds.last) {
    const auto d = ParseDuration(*holds.last);
    return d ? SpanSet(Span{AddDuration(calendar.zone(), taken.start, *d, -1), taken.end})
             : SpanSet(Span{kMinInstant, taken.end});
  }
  Span span{kMinInstant, kMaxInstant};
  if (holds.from)
    if (const auto from = ParseDate(*holds.from, calendar).span) span.start = from->start;
  if (holds.to)
    if (const auto to = ParseDate(*holds.to, calendar).span) span.end = to->end;
  return SpanSet(span);
}

struct Judged {
  SpanSet affected;
  DatasetId keyed_by;
};

// The part of the copy that is wrong, given the dirty spans of what it was taken from.
SpanSet WrongPart(const Copy& copy, const SpanSet& dirty, const Calendar& calendar, Instant now) {
  SpanSet wrong;
  std::vector<Span> moments;
  for (const std::string& taken : copy.taken)
    if (const auto at = TakenAt(taken, calendar, now)) moments.push_back(*at);
  if (copy.taken.empty()) moments.push_back({now, now});
  for (const Span& taken : moments) {
    // What did not exist yet when it was taken cannot be in it, whatever it holds.
    const SpanSet existed = dirty.Clip(kMinInstant, taken.end);
    if (existed.empty()) continue;
    const std::optional<HoldsFact>& holds = copy.holds     ? copy.holds
                                            : copy.refresh ? copy.refresh->holds
                                                           : copy.holds;
    wrong.Add(holds ? Intersection(existed, HeldSpans(*holds, taken, calendar)) : existed);
  }
  // A feed that appends holds what its earlier runs took, for all of its life.
  if (copy.refresh && copy.refresh->keeps == "append") {
    const SpanSet existed = dirty.Clip(kMinInstant, now);
    wrong.Add(copy.holds ? Intersection(existed, HeldSpans(*copy.holds, {now, now}, calendar)) : existed);
  }
  return wrong;
}

}  // namespace

std::string ActionFor(const std::string& kind) {
  if (kind == "ml_model") return "retrain";
  if (kind == "notebook") return "rerun";
  if (kind == "dashboard_cache") return "refresh";
  if (kind == "feature_set") return "rebuild";
  if (kind == "other") return "annotate";
  return "send-again";
}

std::string FoldDates(const std::string& text) {
  const auto digit = [&](std::size_t i) { return i < text.size() && text[i] >= '0' && text[i] <= '9'; };
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (text.compare(i, 2, "{{") == 0 || text.compare(i, 2, "{%") == 0) {  // a template: a date in most names
      const std::size_t end = text.find(text[i + 1] == '{' ? "}}" : "%}", i);
      out += '*';
      i = end == std::string::npos ? text.size() : end + 2;
      continue;
    }
    std::size_t n = 0;
    while (digit(i + n)) ++n;
    if (n == 4 && (text[i] == '1' || text[i] == '2') && i + 4 < text.size() &&
        (text[i + 4] == '-' || text[i + 4] == '_') && digit(i + 5) && digit(i + 6)) {
      std::size_t j = i + 7;
      if (j < text.size() && text[j] == text[i + 4] && digit(j + 1) && digit(j + 2)) j += 3;
      out += '*';
      i = j;
    } else if (n == 8 || n == 10 || n == 14 || (n == 6 && text[i] == '2')) {
      out += '*';
      i += n;
    } else if (n > 0) {
      out.append(text, i, n);
      i += n;
    } else {
      out += text[i++];
    }
  }
  return out;
}

bool CoversDestination(const std::string& where, const std::string& destination) {
  if (where.empty() || destination.empty()) return false;
  const auto parts = [](const std::string& text) {
    std::vector<std::string> out;
    std::string folded = FoldDates(text);
    if (StartsWith(folded, "s3a://") || StartsWith(folded, "s3n://")) folded = "s3" + folded.substr(3);
    for (const std::string& part : Split(folded, '/'))
      if (!part.empty()) out.push_back(part);
    return out;
  };
  const auto a = parts(where), b = parts(destination);
  return !a.empty() && a.size() <= b.size() && std::equal(a.begin(), a.end(), b.begin());
}

bool TakenFrom(const LineageGraph& graph, const Copy& copy, DatasetId dataset) {
  for (const CopyOf& of : copy.of) {
    if (of.dataset == dataset) return true;
    if (!of.dataset.valid()) continue;
    std::vector<DatasetId> todo = {of.dataset};
    std::set<DatasetId> seen;
    while (!todo.empty()) {
      const DatasetId id = todo.back();
      todo.pop_back();
      if (id == dataset) return true;
      if (graph[id].stores() || !seen.insert(id).second) continue;
      for (const EdgeId e : graph.in(id)) todo.push_back(graph[e].from);
    }
  }
  return false;
}

CopyFindings JudgeCopies(const LineageGraph& graph, Instant now, const DirtyOf& dirty_of) {
  const std::size_t n = graph.copies.size();
  std::vector<Judged> judged(n);
  static const Calendar utc;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t c = 0; c < n; ++c) {
      const Copy& copy = graph.copies[c];
      SpanSet wrong;
      DatasetId keyed_by = judged[c].keyed_by;
      for (const CopyOf& of : copy.of) {
        SpanSet dirty;
        DatasetId key;
        if (of.dataset.valid())
          dirty = dirty_of(of.dataset), key = of.dataset;
        else if (of.copy.valid())
          dirty = judged[of.copy.value].affected, key = judged[of.copy.value].keyed_by;
        if (dirty.empty()) continue;
        const SpanSet part = WrongPart(copy, dirty, key.valid() ? graph[key].calendar : utc, now);
        if (part.empty()) continue;
        wrong.Add(part);
        if (!keyed_by.valid()) keyed_by = key;
      }
      wrong.Add(judged[c].affected);
      if (wrong == judged[c].affected) continue;
      judged[c] = {wrong, keyed_by};
      changed = true;
    }
  }
  CopyFindings out;
  for (std::size_t c = 0; c < n; ++c) {
    if (judged[c].affected.empty()) continue;
    const Copy& copy = graph.copies[c];
    AffectedCopy a;
    a.id = copy.id;
    for (const CopyOf& of : copy.of) {
      a.of.push_back(of.dataset.valid() ? graph[of.dataset].name : of.name);
      if (of.dataset.valid()) a.datasets.push_back(of.dataset);
    }
    a.kind = copy.kind;
    a.where = copy.where;
    a.owner = copy.owner;
    a.contact = copy.contact;
    a.note = copy.note;
    a.taken = copy.taken;
    a.keyed_by = judged[c].keyed_by;
    a.affected = judged[c].affected;
    a.known = copy.known;
    const bool declared = copy.holds || (copy.refresh && copy.refresh->holds);
    a.content = declared ? "declared" : copy.refresh ? "derived" : "unknown";
    a.action = ActionFor(copy.kind);
    a.personal_data = copy.personal_data;
    out.affected.push_back(std::move(a));
    for (const DatasetId fed : copy.feeds) {
      // Unknown content may have gone anywhere in what came back.
      out.fed.emplace_back(fed, declared ? judged[c].affected : SpanSet::All());
    }
  }
  // Ways out that importers saw and that no registry entry covers: copies that nobody wrote down.
  std::set<std::string> listed;
  for (const Extract& extract : graph.extracts) {
    if (!extract.dataset.valid()) continue;
    const SpanSet dirty = dirty_of(extract.dataset);
    if (dirty.empty()) continue;
    const bool covered = std::any_of(graph.copies.begin(), graph.copies.end(), [&](const Copy& copy) {
      return TakenFrom(graph, copy, extract.dataset) &&
             CoversDestination(copy.where, extract.fact.destination);
    });
    if (covered) continue;
    AffectedCopy a;
    a.id = "extract:" + graph[extract.dataset].name + "->" + FoldDates(extract.fact.destination);
    if (!listed.insert(a.id).second) continue;
    a.of = {graph[extract.dataset].name};
    a.datasets = {extract.dataset};
    a.kind = "export";
    a.where = extract.fact.destination;
    a.note = extract.fact.what;
    a.keyed_by = extract.dataset;
    a.affected = dirty.Clip(kMinInstant, now);
    a.known = false;
    a.content = "unknown";
    a.action = "send-again";
    out.affected.push_back(std::move(a));
  }
  std::sort(out.affected.begin(), out.affected.end(),
            [](const AffectedCopy& a, const AffectedCopy& b) { return a.id < b.id; });
  return out;
}

}  // namespace backreach
