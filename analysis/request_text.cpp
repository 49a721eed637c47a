// Names before selectors; dates in the zone of each target by itself.

#include "analysis/request_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/hazards/hazard.hpp"
#include "analysis/sweep/frame.hpp"
#include "graph/base/error.hpp"
#include "graph/base/words.hpp"
#include "graph/selection/selector.hpp"

namespace backreach {

namespace {

std::vector<std::string> LastNames(const std::vector<std::string>& ids) {
  std::vector<std::string> out;
  for (const std::string& id : ids) out.push_back(id.substr(id.rfind('.') + 1));
  return out;
}

}  // namespace

DatasetId FindDataset(const LineageGraph& graph, const NameIndex& names, const std::string& given) {
  const NameMatch match = names.Find(given);
  if (match.found) return DatasetId{*match.found};
  if (!match.candidates.empty()) {
    std::string message =
        fmt::format("backreach: error: '{}' could be any of {} datasets", given, match.candidates.size());
    std::size_t shown = 0;
    for (const std::uint32_t c : match.candidates) {
      if (++shown > 10) break;
      const Dataset& d = graph.datasets[c];
      message += "\n  " + d.name;
      if (!d.aliases.empty()) message += "  (" + d.aliases[0] + ")";
    }
    throw Error(message + "\n  give one of these names in full");
  }
  for (const std::string& id : graph.disabled)
    if (id == given || EndsWith(id, "." + given))
      throw Error(fmt::format(
          "backreach: error: '{}' is disabled ({})\n  no run writes it and nothing reads it: enable it "
          "in its project and ingest that again",
          given, id));
  std::string message = fmt::format("backreach: error: no dataset '{}'", given);
  auto near = names.Near(given);
  for (const std::string& off : Nearest(given, LastNames(graph.disabled), 1))
    near.push_back(off + " (disabled)");
  if (!near.empty()) message += "\n  nearest: " + Join(near, ", ");
  message += "\n  all of them: backreach datasets";
  throw Error(message);
}

namespace {

SpanSet ReadDates(const std::string& text, const Dataset& d) {
  DateResult result = ParseDate(text, d.calendar);
  if (result.span) return std::move(result.spans);
  throw Error("backreach: error: " + result.error);
}

Span ReadDate(const std::string& text, const Dataset& d) {
  const SpanSet spans = ReadDates(text, d);
  return {spans.front().start, spans.back().end};
}

// "A..B" (or one date) as a stretch of the dataset's time, both ends included. One date that the clocks show
// twice is two; a range ends with the second.
SpanSet ReadRange(const std::string& text, const Dataset& d) {
  const std::size_t dots = text.find("..");
  const std::string first = text.substr(0, dots);
  if (dots == std::string::npos || text.substr(dots + 2) == first) return ReadDates(first, d);
  const Span from = ReadDate(first, d), to = ReadDate(text.substr(dots + 2), d);
  if (to.end <= from.start)
    throw Error(
        fmt::format("backreach: error: the range {} ends before it begins\n  both ends are included: write "
                    "the earlier date first",
                    text));
  return SpanSet(Span{from.start, to.end});
}

class Reader {
 public:
  Reader(const LineageGraph& graph, const NameIndex& names, const RequestText& text)
      : graph_(graph), names_(names), text_(text), frame_(graph, text.now) {}

  Request Read() {
    out_.now = text_.now;
    out_.include_open = text_.include_open;
    out_.as_of = text_.as_of;
    out_.threads = text_.threads;
    out_.strict = text_.strict;
    if (text_.fail_on == "note")
      out_.fail_on = HazardSeverity::kNote;
    else if (text_.fail_on == "warning")
      out_.fail_on = HazardSeverity::kWarning;
    else if (text_.fail_on != "blocking")
      throw Error(
          fmt::format("backreach: error: --fail-on '{}' must be note, warning or blocking", text_.fail_on));
    if (text_.targets.empty() && !text_.no_target)
      throw Error(
          "backreach: error: no target was given\n  name what is corrected: backreach plan fct_orders --from "
          "2026-03-01 --to 2026-03-31");
    for (const std::string& given : text_.targets)
      for (const DatasetId id : Find(given, true)) AddTarget(id, given);
    std::sort(out_.targets.begin(), out_.targets.end(),
              [](const Target& a, const Target& b) { return a.dataset < b.dataset; });
    out_.targets.erase(std::unique(out_.targets.begin(), out_.targets.end(),
                                   [](const Target& a, const Target& b) { return a.dataset == b.dataset; }),
                       out_.targets.end());
    for (const std::string& given : text_.excludes) AddExclusion(given);
    for (const std::string& given : text_.accepts) AddAcceptance(given);
    for (const std::string& given : text_.unchanged) AddUnchanged(given);
    for (const std::string& given : text_.narrows)
      for (const DatasetId id : Find(given, true)) out_.narrow.insert(id);
    for (const std::string& given : text_.full_refreshes) {
      if (given.empty())
        out_.full_refresh_all = true;
      else
        for (const DatasetId id : Find(given, true)) out_.full_refresh.insert(id);
    }
    for (const std::string& given : text_.wheres) AddWhere(given);
    return std::move(out_);
  }

 private:
  // One by name; else what a selector stands for, which must be something if `some`. A word without any
  // operator may be one too (a folder of the project), but then the name is what the message is about.
  std::vector<DatasetId> Find(const std::string& given, bool some) const {
    const NameMatch match = names_.Find(given);
    if (match.found || !match.candidates.empty() || !text_.select)
      return {FindDataset(graph_, names_, given)};
    const bool surely = LooksLikeSelector(given);
    std::vector<DatasetId> found;
    try {
      found = text_.select(given);
    } catch (const Error&) {
      if (surely) throw;
    }
    if (!found.empty() || (surely && !some)) return found;
    if (!surely) return {FindDataset(graph_, names_, given)};
    throw Error(
        fmt::format("backreach: error: the selector '{}' matches no dataset\n"
                    "  try it alone: backreach datasets {}",
                    given, ShellWord(given)));
  }

  void AddTarget(DatasetId id, const std::string& given) {
    const Dataset& d = graph_[id];
    Target t;
    t.dataset = id;
    t.whole = text_.whole;
    const bool ranged = text_.from || text_.to || !text_.ranges.empty();
    if (text_.whole && ranged) throw Error("backreach: error: --whole and a range exclude each other");
    const bool dated = d.layout || !d.stores();
    if (dated && !ranged && !t.whole) {
      const std::string grain = d.layout ? FormatGrain(*d.grain) : "";
      throw Error(
          fmt::format("backreach: error: '{}' {} and no range was given\n  say which part is corrected: "
                      "--from 2026-03-01 --to 2026-03-31, --range A..B, or --whole",
                      given, d.layout ? "is cut by " + grain : "passes on what it reads"));
    }
    if (!ranged) t.whole = true;
    const Bounds& b = frame_[id];
    std::vector<Span> spans;
    const auto add = [&](const SpanSet& set) { spans.insert(spans.end(), set.begin(), set.end()); };
    for (const std::string& range : text_.ranges) add(ReadRange(range, d));
    if (text_.from && text_.from == text_.to)
      add(ReadDates(*text_.from, d));
    else if (text_.from || text_.to) {
      Span span{b.first, b.complete_end};
      if (text_.from) span.start = ReadDate(*text_.from, d).start;
      if (!text_.from && d.first_is_begin)
        out_.notes.push_back(fmt::format(
            "{}: without --from it is taken from dbt's begin on ({}); if its table is older, give --from",
            d.name, d.layout ? d.layout->Key(b.first) : d.first_text));
      if (text_.to) span.end = ReadDate(*text_.to, d).end;
      if (!d.layout) {
        if (!text_.to) span.end = text_.now;
      }
      if (span.end <= span.start) {
        if (text_.from && text_.to)
          throw Error(
              fmt::format("backreach: error: the range {} .. {} ends before it begins\n  both ends are "
                          "included: write the earlier date first",
                          *text_.from, *text_.to));
        if (text_.from) {
          // Nothing complete from there on: what has begun is trimmed and said, the rest has not begun.
          span.end = ReadDate(*text_.from, d).end;
        } else {
          span.start = std::min(span.end, span.start);
        }
      }
      if (span.end > span.start) spans.push_back(span);
    }
    if (t.whole) {
      t.asked = d.layout && d.stores() ? SpanSet(Span{b.first, b.begun_end}) : SpanSet::All();
      if (d.layout && d.retention && !IsFinite(b.first))
        t.asked = SpanSet(Span{b.kept_from, b.complete_end});
      else if (d.layout)
        t.asked = SpanSet(Span{b.first, b.complete_end});
      t.cells = t.asked;
    } else {
      t.asked = SpanSet::FromUnsorted(std::move(spans));
      if (d.layout && d.stores()) {
        t.cells = d.layout->AlignOut(t.asked);
        t.widened = !(t.cells == t.asked) && !t.asked.empty();
        const SpanSet begun = t.cells.Clip(kMinInstant, b.begun_end);
        t.not_begun = !(begun == t.cells);
      } else {
        t.cells = d.stores() ? SpanSet::All() : t.asked;
      }
    }
    out_.targets.push_back(std::move(t));
  }

  // DATASET@KEY, or DATASET@A..B: the name itself may hold an @.
  void AddUnchanged(const std::string& given) {
    const std::size_t at = given.rfind('@');
    if (at == std::string::npos || at == 0 || at + 1 == given.size())
      throw Error(fmt::format(
          "backreach: error: --unchanged '{}' must be DATASET@KEY: a cell that came out as it was", given));
    const DatasetId id = FindDataset(graph_, names_, given.substr(0, at));
    const Dataset& d = graph_[id];
    if (!d.stores() || !d.layout)
      throw Error(
          fmt::format("backreach: error: --unchanged '{}': {} has no cells to be named", given, d.name));
    const std::string key = given.substr(at + 1);
    const SpanSet cells = key.find("..") == std::string::npos ? ReadDates(key, d) : ReadRange(key, d);
    // Only cells that are named as a whole: a part of one may be what changed.
    for (const Span& s : cells) {
      const Span inside{d.layout->Ceil(s.start), d.layout->Floor(s.end)};
      if (inside.empty())
        throw Error(
            fmt::format("backreach: error: --unchanged '{}' is less than a cell of {}", given, d.name));
      out_.unchanged[id].Add(SpanSet(inside));
    }
  }

  void AddExclusion(const std::string& given) {
    // DATASET:A..B, where the name itself may hold colons: the shortest name that is one.
    Exclusion e;
    e.text = given;
    std::string range;
    if (names_.Find(given).found) {
      e.dataset = DatasetId{*names_.Find(given).found};
    } else {
      for (std::size_t at = given.rfind(':'); at != std::string::npos && at > 0;
           at = given.rfind(':', at - 1)) {
        const NameMatch match = names_.Find(given.substr(0, at));
        const bool date = at + 4 < given.size() && given[at + 1] >= '0' && given[at + 1] <= '9';
        if (!match.found || !date) continue;
        e.dataset = DatasetId{*match.found};
        range = given.substr(at + 1);
        break;
      }
      if (!e.dataset.valid() && text_.select && names_.Find(given).candidates.empty()) {
        const std::vector<DatasetId> found = Find(given, false);
        if (found.empty()) out_.notes.push_back(fmt::format("--exclude '{}' matches no dataset", given));
        for (const DatasetId id : found) ExcludeSelected(id, given);
        return;
      }
      if (!e.dataset.valid()) e.dataset = FindDataset(graph_, names_, given);
    }
    const Dataset& d = graph_[e.dataset];
    e.spans = SpanSet::All();
    if (!range.empty()) {
      e.spans = ReadRange(range, d);
      if (d.layout) e.spans = d.layout->AlignOut(e.spans);
    }
    for (const Target& t : out_.targets)
      if (t.dataset == e.dataset && e.spans.Intersects(t.cells))
        throw Error(fmt::format(
            "backreach: error: '{}' is a target and excluded at once\n  leave it out of one of the two",
            d.name));
    out_.exclusions.push_back(std::move(e));
  }

  // Of a set that a selector stands for, targets are no targets any more.
  void ExcludeSelected(DatasetId id, const std::string& given) {
    const auto target = std::find_if(out_.targets.begin(), out_.targets.end(),
                                     [&](const Target& t) { return t.dataset == id; });
    if (target != out_.targets.end()) {
      out_.targets.erase(target);
      out_.notes.push_back(
          fmt::format("{} is no target: --exclude '{}' takes it out", graph_[id].name, given));
      if (out_.targets.empty())
        throw Error(fmt::format("backreach: error: --exclude '{}' takes out every target", given));
    }
    Exclusion e;
    e.text = given;
    e.dataset = id;
    e.spans = SpanSet::All();
    out_.exclusions.push_back(std::move(e));
  }

  void AddAcceptance(const std::string& given) {
    const std::size_t colon = given.find(':');
    Acceptance a;
    a.code = given.substr(0, colon);
    if (!FindHazardKind(a.code)) {
      std::vector<std::string> codes;
      for (const HazardKind& kind : HazardKinds()) codes.push_back(kind.code);
      const auto near = Nearest(a.code, codes, 2);
      throw Error(fmt::format(
          "backreach: error: --accept: no hazard is called '{}'{}\n  backreach hazard CODE explains one",
          a.code, near.empty() ? "" : "; nearest: " + Join(near, ", ")));
    }
    if (colon != std::string::npos) a.dataset = FindDataset(graph_, names_, given.substr(colon + 1));
    out_.accepted.push_back(a);
  }

  void AddWhere(const std::string& given) {
    const std::size_t equals = given.find('=');
    if (equals == std::string::npos || equals == 0)
      throw Error(fmt::format("backreach: error: --where '{}' must be DIMENSION=VALUE", given));
    const std::string name = given.substr(0, equals), value = given.substr(equals + 1);
    for (const Target& t : out_.targets) {
      const auto& dimensions = graph_[t.dataset].dimensions;
      const auto it = dimensions.find(name);
      if (it == dimensions.end())
        throw Error(
            fmt::format("backreach: error: --where: {} has no dimension '{}'\n  declare it in a registry: "
                        "dimensions: {{{}: [...]}}",
                        graph_[t.dataset].name, name, name));
      if (std::find(it->second.begin(), it->second.end(), value) == it->second.end())
        throw Error(fmt::format("backreach: error: --where: '{}' is no value of {} of {}\n  known: {}", value,
                                name, graph_[t.dataset].name, Join(it->second, ", ")));
    }
    out_.where[name].push_back(value);
  }

  const LineageGraph& graph_;
  const NameIndex& names_;
  const RequestText& text_;
  Frame frame_;
  Request out_;
};

}  // namespace

Request ReadRequest(const LineageGraph& graph, const NameIndex& names, const RequestText& text) {
  return Reader(graph, names, text).Read();
}

}  // namespace backreach
