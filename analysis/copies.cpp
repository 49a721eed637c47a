// A copy is wrong where what it holds overlaps the dirty spans of what it was taken from, up to the moment it
// was taken. Copies of copies are judged by the wrong part of the first one, in rounds until nothing grows.

#include "analysis/copies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "graph/base/words.hpp"
#include "graph/time/schedule.hpp"

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
  std::optional<Heals> heals;
};

// When a recurring copy is taken: the last time up to now, and the next one. Nothing without a cron that can
// be read.
struct Runs {
  std::optional<Ticks> ticks;
  std::optional<Instant> last, next;
};
Runs RunsOf(const Copy& copy, Instant now) {
  Runs out;
  if (!copy.refresh || !copy.refresh->cron) return out;
  const auto cron = Cron::Parse(*copy.refresh->cron);
  const Zone* zone = ZoneOfSchedule(copy.refresh->timezone.value_or("UTC"));
  if (!cron || !zone) return out;
  out.ticks = Ticks::Of({*cron}, zone);
  out.last = out.ticks->AtOrBefore(now);
  out.next = out.ticks->After(now);
  return out;
}

// What a run takes: its own content, or what the copy is said to hold.
const std::optional<HoldsFact>& TakenByRun(const Copy& copy) {
  return copy.refresh->holds ? copy.refresh->holds : copy.holds;
}

SpanSet Held(const std::optional<HoldsFact>& holds, Span taken, const Calendar& calendar) {
  return holds ? HeldSpans(*holds, taken, calendar) : SpanSet(Span{kMinInstant, taken.end});
}

// One that was taken once, or on days that are listed: what did not exist yet when it was taken cannot be in
// it, whatever it holds.
SpanSet WrongOfMoments(const Copy& copy, const SpanSet& dirty, const Calendar& calendar, Instant now) {
  std::vector<Span> moments;
  for (const std::string& taken : copy.taken)
    if (const auto at = TakenAt(taken, calendar, now)) moments.push_back(*at);
  if (copy.taken.empty()) moments.push_back({now, now});
  SpanSet wrong;
  for (const Span& taken : moments)
    wrong.Add(Intersection(dirty.Clip(kMinInstant, taken.end), Held(copy.holds, taken, calendar)));
  return wrong;
}

// One that is replaced by every run holds what the last one took, and the next one brings all of it right.
Judged WrongOfReplaced(const Copy& copy, const SpanSet& dirty, const Calendar& calendar, Instant now) {
  const Runs runs = RunsOf(copy, now);
  const Instant at = runs.last.value_or(now);
  Judged out;
  out.affected = Intersection(dirty.Clip(kMinInstant, at), Held(TakenByRun(copy), {at, at}, calendar));
  // The last time that is written down may be the one that it was really taken.
  std::optional<Span> taken;
  for (const std::string& text : copy.taken)
    if (const auto moment = TakenAt(text, calendar, now); moment && (!taken || moment->start > taken->start))
      taken = moment;
  if (taken)
    out.affected.Add(
        Intersection(dirty.Clip(kMinInstant, taken->end), Held(TakenByRun(copy), *taken, calendar)));
  if (runs.next && !out.affected.empty()) out.heals = Heals{*runs.next, out.affected};
  return out;
}

// One that every run adds to keeps what earlier runs took. The next run brings right what it takes again;
// the rest stays for ever, unless the copy keeps a stretch before today only: then it rolls out of it.
Judged WrongOfAppended(const Copy& copy, const SpanSet& dirty, const Calendar& calendar, Instant now) {
  const Runs runs = RunsOf(copy, now);
  const Instant last = runs.last.value_or(now);
  SpanSet held(Span{kMinInstant, last});
  if (copy.holds) held = HeldSpans(*copy.holds, {now, now}, calendar);
  // The first run is the earliest that is written down.
  std::optional<Instant> first;
  for (const std::string& taken : copy.taken)
    if (const auto at = TakenAt(taken, calendar, now)) first = std::min(first.value_or(at->start), at->start);
  const std::optional<HoldsFact>& each = copy.refresh->holds;
  if (first && each && each->last)
    if (const auto d = ParseDuration(*each->last))
      held = held.Clip(AddDuration(calendar.zone(), *first, *d, -1), kMaxInstant);
  Judged out;
  out.affected = Intersection(dirty.Clip(kMinInstant, last), held);
  if (!runs.next || out.affected.empty()) return out;
  if (copy.holds && copy.holds->last) {
    const auto keeps = ParseDuration(*copy.holds->last);
    const Instant end = out.affected.spans().back().end;
    if (keeps && IsFinite(end))
      if (const auto at =
              runs.ticks->AtOrAfter(std::max(*runs.next, AddDuration(calendar.zone(), end, *keeps))))
        out.heals = Heals{*at, out.affected};
    return out;
  }
  if (each) {
    const SpanSet again = Intersection(out.affected, HeldSpans(*each, {*runs.next, *runs.next}, calendar));
    if (!again.empty()) out.heals = Heals{*runs.next, again};
  }
  return out;
}

// The part of the copy that is wrong, given the dirty spans of what it was taken from, and what of it comes
// right by itself.
Judged WrongPart(const Copy& copy, const SpanSet& dirty, const Calendar& calendar, Instant now) {
  if (!copy.refresh) return {WrongOfMoments(copy, dirty, calendar, now), {}, {}};
  if (copy.refresh->keeps == "append") return WrongOfAppended(copy, dirty, calendar, now);
  if (copy.refresh->keeps == "replace") return WrongOfReplaced(copy, dirty, calendar, now);
  // Nobody says what becomes of what earlier runs took: as if it were kept.
  return {WrongOfAppended(copy, dirty, calendar, now).affected, {}, {}};
}

std::string HoldsText(const std::optional<HoldsFact>& holds) {
  if (!holds) return "";
  if (holds->all) return "all of it";
  if (holds->last) return "the last " + *holds->last + " before it was taken";
  if (holds->from && holds->to) return *holds->from + " .. " + *holds->to;
  return holds->from ? "from " + *holds->from + " on" : "up to " + holds->to.value_or("?");
}

std::string ContentText(const Copy& copy) {
  std::string out = HoldsText(copy.holds);
  if (copy.refresh && copy.refresh->holds) {
    const std::string each = HoldsText(copy.refresh->holds);
    out += (out.empty() ? "" : "; ") + std::string("each run ") +
           (copy.refresh->keeps == "append" ? "adds " : "brings ") + each;
  }
  if (out.empty()) out = "unknown";
  if (copy.personal_data) out += "; personal data";
  return out;
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
  const auto hex = [&](std::size_t i) {
    return digit(i) ||
           (i < text.size() && ((text[i] >= 'a' && text[i] <= 'f') || (text[i] >= 'A' && text[i] <= 'F')));
  };
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (text.compare(i, 2, "{{") == 0 || text.compare(i, 2, "{%") == 0) {  // a template: a date in most names
      const std::size_t end = text.find(text[i + 1] == '{' ? "}}" : "%}", i);
      out += '*';
      i = end == std::string::npos ? text.size() : end + 2;
      continue;
    }
    std::size_t n = 0, h = 0;
    while (digit(i + n)) ++n;
    while (hex(i + h) || (h > 7 && i + h < text.size() && text[i + h] == '-')) ++h;
    const bool year = n == 4 && (text[i] == '1' || text[i] == '2') && i + 4 < text.size();
    if (h >= 32) {  // the id of a run
      out += '*', i += h;
    } else if (year && (text[i + 4] == '-' || text[i + 4] == '_' || text[i + 4] == '/') && digit(i + 5) &&
               digit(i + 6) && !digit(i + 7)) {
      std::size_t j = i + 7;
      if (j < text.size() && text[j] == text[i + 4] && digit(j + 1) && digit(j + 2) && !digit(j + 3)) j += 3;
      out += '*', i = j;
    } else if (n == 8 || n == 10 || n == 12 || n == 14 || (n == 6 && text[i] == '2') ||
               (n > 0 && !out.empty() && out.back() == '=')) {  // `day=3`
      out += '*', i += n;
    } else if (n > 0) {
      out.append(text, i, n);
      i += n;
    } else {
      out += text[i++];
    }
  }
  return out;
}

namespace {

// The parts of a place, one scheme for each of the spellings of one store; a stage's name in one case.
std::vector<std::string> PartsOfPlace(const std::string& text) {
  std::string folded = FoldDates(text);
  static const std::vector<std::pair<std::string, std::string>> schemes = {{"s3a://", "s3://"},
                                                                           {"s3n://", "s3://"},
                                                                           {"gcs://", "gs://"},
                                                                           {"abfs://", "abfss://"},
                                                                           {"file://", ""}};
  for (const auto& [from, to] : schemes)
    if (StartsWith(folded, from)) folded = to + folded.substr(from.size());
  std::vector<std::string> out;
  for (std::string& part : Split(folded, '/'))
    if (!part.empty()) out.push_back(std::move(part));
  if (!out.empty() && out[0][0] == '@') out[0] = Upper(out[0]);
  return out;
}

bool LeadsTo(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return !a.empty() && a.size() <= b.size() && std::equal(a.begin(), a.end(), b.begin());
}

}  // namespace

bool CoversDestination(const std::string& where, const std::string& destination) {
  if (where.empty() || destination.empty()) return false;
  const auto a = PartsOfPlace(where);
  if (LeadsTo(a, PartsOfPlace(destination))) return true;
  // A program that writes a file: `gzip > /srv/out/x.gz`.
  if (destination.find(' ') != std::string::npos)
    for (const std::string& word : Split(destination, ' '))
      if (word.size() > 1 && word.find('/') != std::string::npos && LeadsTo(a, PartsOfPlace(word)))
        return true;
  return false;
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

namespace {

// Ways out that importers saw and that no entry covers: copies that nobody wrote down. One that was seen once
// holds what there was then; of one that comes again nobody knows when it came last.
void Undocumented(const LineageGraph& graph, Instant now, const DirtyOf& dirty_of,
                  std::vector<AffectedCopy>& out) {
  std::map<std::string, std::size_t> listed;
  for (const Extract& extract : graph.extracts) {
    const ExtractFact& fact = extract.fact;
    if (!extract.dataset.valid() || fact.fetched) continue;
    const SpanSet dirty = dirty_of(extract.dataset);
    if (dirty.empty()) continue;
    const bool covered = std::any_of(graph.copies.begin(), graph.copies.end(), [&](const Copy& copy) {
      const bool pulls = fact.user && std::find(copy.by.begin(), copy.by.end(), *fact.user) != copy.by.end();
      return TakenFrom(graph, copy, extract.dataset) &&
             (CoversDestination(copy.where, fact.destination) || (fact.destination == "STDOUT" && pulls));
    });
    if (covered) continue;
    const std::string id = "extract:" + graph[extract.dataset].name + "->" +
                           (fact.frozen ? fact.destination : FoldDates(fact.destination)) +
                           (fact.destination == "STDOUT" && fact.user ? " by " + *fact.user : "");
    Instant end = now;
    if (fact.last_seen && fact.times == 1)
      if (const auto at = ParseInstant(*fact.last_seen, true)) end = *at;
    const SpanSet wrong = dirty.Clip(kMinInstant, end);
    if (wrong.empty()) continue;
    const auto [it, fresh] = listed.emplace(id, out.size());
    if (!fresh) {
      AffectedCopy& known = out[it->second];
      known.affected.Add(wrong);
      known.times = std::max(known.times, fact.times);
      continue;
    }
    AffectedCopy a;
    a.id = id;
    a.of = {graph[extract.dataset].name};
    a.datasets = {extract.dataset};
    a.kind = fact.frozen ? "other" : "export";
    a.where = fact.destination;
    a.note = fact.what;
    if (fact.user) a.by = {*fact.user};
    if (fact.times == 1 && fact.last_seen) a.taken = {*fact.last_seen};
    a.first_seen = fact.first_seen, a.last_seen = fact.last_seen, a.times = fact.times;
    a.keyed_by = extract.dataset;
    a.affected = wrong;
    a.known = false;
    a.content = "unknown", a.content_text = "unknown";
    a.action = fact.frozen ? "annotate" : "send-again";
    out.push_back(std::move(a));
  }
}

}  // namespace

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
      std::optional<Heals> heals;
      for (const CopyOf& of : copy.of) {
        SpanSet dirty;
        DatasetId key;
        if (of.dataset.valid())
          dirty = dirty_of(of.dataset), key = of.dataset;
        else if (of.copy.valid())
          dirty = judged[of.copy.value].affected, key = judged[of.copy.value].keyed_by;
        if (dirty.empty()) continue;
        const Judged part = WrongPart(copy, dirty, key.valid() ? graph[key].calendar : utc, now);
        if (part.affected.empty()) continue;
        wrong.Add(part.affected);
        // What is made of a copy heals only when that has: nobody knows when it is taken again.
        if (part.heals && of.dataset.valid()) {
          if (!heals)
            heals = part.heals;
          else
            heals->at = std::max(heals->at, part.heals->at), heals->spans.Add(part.heals->spans);
        }
        if (!keyed_by.valid()) keyed_by = key;
      }
      wrong.Add(judged[c].affected);
      if (wrong == judged[c].affected) continue;
      judged[c] = {wrong, keyed_by, heals};
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
    const bool of_copy =
        std::any_of(copy.of.begin(), copy.of.end(), [](const CopyOf& of) { return of.copy.valid(); });
    a.content = declared ? "declared" : copy.refresh || of_copy ? "derived" : "unknown";
    a.content_text = ContentText(copy);
    a.action = ActionFor(copy.kind);
    a.personal_data = copy.personal_data;
    a.by = copy.by;
    for (const DatasetId fed : copy.feeds) a.feeds.push_back(graph[fed].name);
    a.heals = judged[c].heals;
    if (a.heals && Difference(a.affected, a.heals->spans).empty()) a.action = "accept";
    const SpanSet stays = a.heals ? Difference(a.affected, a.heals->spans) : a.affected;
    if (a.keyed_by.valid() && a.heals && !stays.empty()) a.stays = SpansText(graph[a.keyed_by], stays);
    out.affected.push_back(std::move(a));
    for (const DatasetId fed : copy.feeds) {
      // Unknown content may have gone anywhere in what came back.
      out.fed.emplace_back(fed, declared ? judged[c].affected : SpanSet::All());
    }
  }
  Undocumented(graph, now, dirty_of, out.affected);
  std::sort(out.affected.begin(), out.affected.end(),
            [](const AffectedCopy& a, const AffectedCopy& b) { return a.id < b.id; });
  return out;
}

std::vector<std::string> NoteMismatches(const LineageGraph& graph, const std::vector<DatasetId>& rebuilt,
                                        std::vector<AffectedCopy>& copies) {
  const std::set<DatasetId> steps(rebuilt.begin(), rebuilt.end());
  std::vector<std::string> notes;
  for (AffectedCopy& copy : copies) {
    if (copy.kind != "ml_model") continue;
    std::vector<std::string> names;
    for (const DatasetId id : copy.datasets)
      if (steps.count(id)) copy.features.push_back(id), names.push_back(graph[id].name);
    if (names.empty()) continue;
    copy.mismatch = fmt::format(
        "training/serving mismatch: {} {} rebuilt and the model is not; what serves it differs "
        "from what it was trained on ({}) until it is trained again",
        ListOf(names), names.size() == 1 ? "is" : "are", copy.content_text);
    notes.push_back(fmt::format("{}: {}", copy.id, copy.mismatch));
  }
  return notes;
}

}  // namespace backreach
