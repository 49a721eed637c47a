// Each count is placed in a cell of its dataset, and each cell in one of: planned, written along, open (its
// ordinary run changes it), and all the rest, which nothing was to touch. What is said of a cell follows from
// its place and its two counts. Patterns (twice the rows, a part of them) count whatever tolerance is given;
// only what is expected of the dataset itself excuses them.

#include "analysis/after/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "analysis/steps/ticks.hpp"
#include "graph/base/words.hpp"

namespace backreach {

namespace {

constexpr const char* kNull = "__NULL__";
constexpr std::size_t kMostMissing = 1000;  // said cell by cell

// What the plan says of one dataset.
struct Planned {
  std::vector<const RecordedStep*> steps;
  bool whole = false, correct = true;
  SpanSet cells, along, open;
  bool along_whole = false;
  std::optional<Calendar> calendar;
  std::shared_ptr<const Layout> layout;  // of the graph, where it knows the dataset
  Instant complete_end = kMaxInstant;    // what was complete when the plan was made
  std::set<std::string> hazards;
  std::string effect, deleted_in;
  bool coarse = false;  // it is made of smaller cells
};

struct Cell {
  std::string key;
  Instant start = kMaxInstant;
  Span span;
  bool dated = false;
  const Count* before = nullptr;
  const Count* after = nullptr;
  std::int64_t before_rows = 0, after_rows = 0;  // of smaller counts: their sum
  bool planned = false, along = false, open = false;
};

std::string Amount(std::int64_t n) { return Thousands(n); }

std::string Percent(std::int64_t before, std::int64_t after) {
  if (before == 0) return "from nothing";
  return fmt::format("{:+.1f}%", 100.0 * (static_cast<double>(after) - static_cast<double>(before)) /
                                     static_cast<double>(before));
}

std::string ChangeText(std::int64_t before, std::int64_t after) {
  const std::int64_t d = after - before;
  return (d < 0 ? "-" : "+") + Thousands(d < 0 ? -d : d);
}

// A partition as a query writes it, in the form of a date: `2026-03-01 05:00:00+00` is `2026-03-01T05:00`.
// BigQuery's ids are dates without their signs (20260301, 2026030105, 202603).
std::string AsDate(std::string text) {
  if (text.find_first_not_of("0123456789") == std::string::npos && text.size() >= 6 && text.size() <= 10 &&
      text.size() % 2 == 0) {
    std::string date = text.substr(0, 4) + "-" + text.substr(4, 2);
    if (text.size() > 6) date += "-" + text.substr(6, 2);
    if (text.size() > 8) date += "T" + text.substr(8, 2);
    return date;
  }
  if (text.size() > 10 && text[10] == ' ') text[10] = 'T';
  for (const char* zone : {"+00:00", "+00", "Z", " UTC"})
    if (text.size() > 16 && EndsWith(text, zone)) {
      text.resize(text.size() - std::string(zone).size());
      break;
    }
  if (const std::size_t dot = text.find('.'); dot != std::string::npos && text.size() > 19) text.resize(dot);
  if (text.size() == 19 && text.compare(16, 3, ":00") == 0) text.resize(16);
  return text;
}

class Verifier {
 public:
  Verifier(const VerifyQuestion& question, Diagnostics& diagnostics)
      : q_(question), plan_(*question.plan), diagnostics_(diagnostics) {
    if (q_.graph)
      for (std::uint32_t i = 0; i < q_.graph->datasets.size(); ++i)
        ids_[q_.graph->datasets[i].name] = DatasetId{i};
    MakePlanned();
  }

  Verification Make() {
    out_.plan = plan_.id;
    Place(*q_.before, true);
    Place(*q_.after, false);
    CheckOrderOfFiles();
    if (diagnostics_.has_errors()) return std::move(out_);
    for (const auto& [dataset, planned] : planned_) cells_[dataset];
    for (auto& [dataset, cells] : cells_) OfDataset(dataset, cells);
    Moments();
    Result();
    return std::move(out_);
  }

 private:
  // ---- The plan ----

  void MakePlanned() {
    std::map<std::string, Grain> grains;
    for (const RecordedStep& step : plan_.steps)
      if (step.grain) grains.emplace(step.cells.dataset, *step.grain);
    for (const RecordedStep& step : plan_.steps) {
      Planned& p = planned_[step.cells.dataset];
      p.steps.push_back(&step);
      p.whole = p.whole || step.cells.whole;
      p.correct = p.correct && step.correct;
      p.cells.Add(step.cells.Set());
      if (step.grain && !p.calendar) p.calendar = CalendarOf(step);
      p.hazards.insert(step.hazards.begin(), step.hazards.end());
      if (p.effect.empty()) p.effect = step.effect;
      for (const RecordedCells& read : step.reads)
        if (const auto it = grains.find(read.dataset); it != grains.end() && step.grain)
          p.coarse = p.coarse || Length(it->second) < Length(*step.grain);
      for (const RecordedCells& along : step.rewrites) {
        Planned& other = planned_along_[along.dataset];
        other.along.Add(along.Set());
        other.along_whole = other.along_whole || along.whole;
      }
    }
    for (const RecordedCells& cells : plan_.afterwards)
      open_[cells.dataset].Add(cells.whole ? SpanSet::All() : cells.Set());
    for (const RecordedHazard& h : plan_.hazards)
      if (h.code == "deletions")
        if (const auto it = h.evidence.find("deleted_in"); it != h.evidence.end())
          if (const auto p = planned_.find(h.cells.dataset); p != planned_.end())
            p->second.deleted_in = ListOf(it->second);
  }

  static std::int64_t Length(const Grain& g) {
    switch (g.unit) {
      case Grain::Unit::kMinutes: return g.count * kMinute;
      case Grain::Unit::kHour: return kHour;
      case Grain::Unit::kHours: return g.count * kHour;
      case Grain::Unit::kDay: return kDay;
      case Grain::Unit::kWeek: return 7 * kDay;
      case Grain::Unit::kMonth: return 30 * kDay;
      case Grain::Unit::kQuarter: return 91 * kDay;
      case Grain::Unit::kYear: return 365 * kDay;
      case Grain::Unit::kNone: break;
    }
    return 36'500 * kDay;
  }

  const Dataset* Known(const std::string& name) const {
    const auto it = ids_.find(name);
    return it == ids_.end() ? nullptr : &(*q_.graph)[it->second];
  }

  // How the cells of a dataset are cut: by the graph, else by the plan's own step; nothing: whole, or
  // unknown.
  struct Cut {
    std::shared_ptr<const Layout> layout;
    bool none = false;  // known to have no grain
  };
  Cut CutOf(const std::string& name) const {
    Cut out;
    if (const Dataset* d = Known(name)) {
      out.layout = d->layout;
      out.none = !d->layout;
      if (out.layout) return out;
    }
    const auto p = planned_.find(name);
    if (p != planned_.end() && p->second.calendar) {
      out.layout = std::make_shared<const Layout>(*p->second.calendar);
      out.none = false;
    } else if (p != planned_.end()) {
      out.none = true;
    }
    return out;
  }

  // ---- Counts into cells ----

  std::string Canonical(const std::string& name) const {
    if (planned_.count(name) || ids_.count(name)) return name;
    if (q_.canonical)
      if (const auto found = q_.canonical(name)) return *found;
    std::set<std::string> found;
    for (const auto& [dataset, p] : planned_)
      if (EndsWith(dataset, "." + name) || EndsWith(dataset, "/" + name)) found.insert(dataset);
    return found.size() == 1 ? *found.begin() : name;
  }

  void Place(const Counts& counts, bool before) {
    std::map<std::string, std::string> names;
    std::map<std::string, Cut> cuts;
    for (const Count& c : counts.rows) {
      const auto [name, fresh] = names.emplace(c.dataset, "");
      if (fresh) name->second = Canonical(c.dataset);
      const std::string& dataset = name->second;
      const auto cut = cuts.emplace(dataset, Cut{});
      if (cut.second) cut.first->second = CutOf(dataset);
      PlaceOne(counts, c, dataset, cut.first->second, before);
    }
  }

  void PlaceOne(const Counts& counts, const Count& c, const std::string& dataset, const Cut& cut,
                bool before) {
    const std::string where = fmt::format("{}:{}", counts.path, c.line);
    Cell cell;
    // Hive's form: dt=2026-03-01.
    std::string partition = c.partition;
    if (const std::size_t at = partition.find('=');
        at != std::string::npos && partition.find('/') == std::string::npos)
      partition.erase(0, at + 1);
    const bool null = partition.empty() || partition == kNull || partition == "__HIVE_DEFAULT_PARTITION__";
    std::optional<Span> given;
    if (null) {
      cell.key = cut.none && partition.empty() ? "" : kNull;
    } else if (const bool date = partition[0] >= '0' && partition[0] <= '9'; date && cut.layout) {
      given = DateOf(partition, *cut.layout);
      if (!given) {
        diagnostics_.Error(
            where, fmt::format("partition '{}' is none of {}", partition, dataset),
            {"its cells are cut by " + FormatGrain(cut.layout->blocks().back().calendar.grain())});
        return;
      }
      const Span at = cut.layout->CellAt(given->start);
      if (given->end > at.end) {
        diagnostics_.Error(where,
                           fmt::format("partition '{}' is wider than a cell of {}", partition, dataset),
                           {"count cell by cell"});
        return;
      }
      cell.key = cut.layout->Key(at.start);
      cell.start = at.start, cell.span = at, cell.dated = true;
    } else {
      cell.key = partition;
    }
    const auto [it, fresh] = cells_[dataset].emplace(std::pair(cell.start, cell.key), cell);
    Cell& into = it->second;
    const Count*& slot = before ? into.before : into.after;
    std::int64_t& rows = before ? into.before_rows : into.after_rows;
    if (slot) {
      // Counts of parts of a cell (its days, in one form) add up; a cell that is named twice is no part.
      const bool parts = given && slot->partition.size() == c.partition.size() &&
                         AsDate(slot->partition) != AsDate(c.partition);
      if (!parts) {
        diagnostics_.Error(
            where, fmt::format("{} {} stands twice", dataset, into.key.empty() ? "(whole)" : into.key),
            {fmt::format("the other one: {}:{}", counts.path, slot->line)});
        return;
      }
      summed_.insert(dataset);
      rows += c.rows;
      return;
    }
    slot = &c;
    rows = c.rows;
  }

  static std::optional<Span> DateOf(const std::string& partition, const Layout& layout) {
    const std::string text = AsDate(partition);
    // A date of the file is read where it is: its cell's block has to be found first.
    for (auto block = layout.blocks().rbegin(); block != layout.blocks().rend(); ++block) {
      const DateResult read = ParseDate(text, block->calendar);
      if (!read.span) continue;
      if (layout.single() || (read.span->start >= block->from && read.span->start < block->until)) {
        // What queries cut to is a coarse cell's first day.
        const Span cell = layout.CellAt(read.span->start);
        if (read.span->start == cell.start && read.span->end <= cell.end) return cell;
        return read.span;
      }
    }
    return std::nullopt;
  }

  // The later file must not be the earlier one.
  void CheckOrderOfFiles() {
    for (const auto& [dataset, cells] : cells_)
      for (const auto& [key, cell] : cells) {
        if (!cell.before || !cell.after || !cell.before->at || !cell.after->at) continue;
        if (*cell.before->at <= *cell.after->at) continue;
        diagnostics_.Error(
            fmt::format("{}:{}", q_.before->path, cell.before->line),
            fmt::format(
                "{} {} was counted at {}, after the count that is given as the later one ({}): the files "
                "seem to be swapped",
                dataset, cell.key, FormatInstant(*cell.before->at), FormatInstant(*cell.after->at)),
            {fmt::format("the other one: {}:{}; give them the other way round", q_.after->path,
                         cell.after->line)});
        return;
      }
  }

  // ---- One dataset ----

  using Cells = std::map<std::pair<Instant, std::string>, Cell>;

  void OfDataset(const std::string& dataset, Cells& cells) {
    const auto it = planned_.find(dataset);
    static const Planned none;
    const Planned& p = it == planned_.end() ? none : it->second;
    const auto along = planned_along_.find(dataset);
    const auto open = open_.find(dataset);
    const Dataset* d = Known(dataset);
    VerifiedDataset summary;
    summary.dataset = dataset;
    summary.whole = p.whole;
    const Cut cut = CutOf(dataset);
    if (cut.layout) summary.unit = FormatGrain(cut.layout->blocks().back().calendar.grain());
    has_before_ = has_after_ = false;
    for (auto& [key, cell] : cells) {
      cell.planned = it != planned_.end() && (p.whole || (cell.dated && p.cells.Intersects(cell.span)));
      if (along != planned_along_.end())
        cell.along = along->second.along_whole || (cell.dated && along->second.along.Intersects(cell.span));
      if (cell.dated) {
        const Instant end = d && d->complete_after
                                ? AddDuration(d->calendar.zone(), cell.span.end, *d->complete_after)
                                : cell.span.end;
        cell.open = end > plan_.now || (open != open_.end() && open->second.Intersects(cell.span));
      } else if (open != open_.end()) {
        cell.open = open->second.IsAll();
      }
      has_before_ = has_before_ || cell.before;
      has_after_ = has_after_ || cell.after;
    }
    if (it != planned_.end() && !has_before_ && !has_after_) {
      // A correction is the question, not the answer: that nobody counted it is only said.
      Add("unverified", p.correct ? "note" : "warning", dataset, std::nullopt, {}, {},
          fmt::format("{} was not counted: nothing is known of it", dataset));
      Unverified(!p.correct);
      return;
    }
    Totals(cells, summary);
    if (it != planned_.end()) Missing(dataset, p, cut, cells, summary);
    for (auto& [key, cell] : cells) {
      const std::size_t first = out_.findings.size();
      if (cell.planned)
        PlannedCell(dataset, p, cell);
      else
        OtherCell(dataset, cell);
      CountedCell shown{cell.key.empty() ? "whole" : cell.key,
                        cell.start,
                        cell.planned,
                        RowsBefore(cell),
                        RowsAfter(cell),
                        ""};
      if (out_.findings.size() > first) shown.code = out_.findings[first].code;
      summary.cells.push_back(std::move(shown));
    }
    if (it != planned_.end() && !has_before_) {
      Add("unverified", "warning", dataset, std::nullopt, {}, {},
          fmt::format("there are no counts from before of {}: nothing to compare with, only whether its "
                      "cells are there",
                      dataset));
      Unverified(true);
    }
    if (summed_.count(dataset))
      out_.notes.push_back(fmt::format("{}: counts of parts of a cell were summed", dataset));
    out_.datasets.push_back(std::move(summary));
  }

  static std::optional<std::int64_t> RowsBefore(const Cell& c) {
    return c.before ? std::optional(c.before_rows) : std::nullopt;
  }
  static std::optional<std::int64_t> RowsAfter(const Cell& c) {
    return c.after ? std::optional(c.after_rows) : std::nullopt;
  }

  static void Totals(const Cells& cells, VerifiedDataset& summary) {
    for (const auto& [key, cell] : cells) {
      if (cell.before) summary.before = summary.before.value_or(0) + cell.before_rows;
      if (cell.after) summary.after = summary.after.value_or(0) + cell.after_rows;
      if (cell.planned && cell.after) ++summary.counted;
    }
  }

  // Planned cells that neither file has.
  void Missing(const std::string& dataset, const Planned& p, const Cut& cut, const Cells& cells,
               VerifiedDataset& summary) {
    if (p.whole || !cut.layout || p.cells.empty()) {
      if (p.whole) summary.planned = std::nullopt;
      return;
    }
    std::vector<Span> counted;
    for (const auto& [key, cell] : cells)
      if (cell.dated && (cell.before || cell.after)) counted.push_back(cell.span);
    const Layout& layout = *cut.layout;
    if (IsFinite(p.cells.front().start)) summary.planned = layout.Count(p.cells);
    const SpanSet missing = Difference(p.cells, SpanSet::FromUnsorted(std::move(counted)));
    std::size_t said = 0;
    for (const Span& s : missing) {
      if (!IsFinite(s.start)) continue;
      for (Instant t = layout.Floor(s.start); t < s.end; t = layout.Next(t)) {
        if (++said > kMostMissing) {
          Add("missing", "fail", dataset, layout.Key(t) + " .. " + layout.Key(s.end - 1), {}, {},
              fmt::format("{}: these were planned and never counted{}", dataset, ReadBy(dataset)));
          break;
        }
        Add("missing", "fail", dataset, layout.Key(t), {}, {},
            fmt::format("{} {} was planned, and neither count has it: {} of {} are there{}", dataset,
                        layout.Key(t), summary.counted,
                        CountOf(summary.planned.value_or(0), layout.blocks().back().calendar.grain()),
                        ReadBy(dataset)));
      }
    }
  }

  std::string ReadBy(const std::string& dataset) const {
    const auto readers = plan_.ReadersOf(dataset);
    return readers.empty() ? "" : "; read by " + ListOf(readers);
  }

  std::string Why(const Planned& p) const {
    return p.deleted_in.empty() ? "" : "; rows of " + p.deleted_in + " were deleted on request";
  }

  void PlannedCell(const std::string& dataset, const Planned& p, const Cell& c) {
    const std::string name = dataset + (c.key.empty() ? "" : " " + c.key);
    if (!c.after) {
      Add("lost", "fail", dataset, c.key, c.before_rows, {},
          fmt::format("{} had {} rows and is gone{}", name, Amount(c.before_rows), ReadBy(dataset)));
      return;
    }
    Duplicates(dataset, name, c);
    if (!c.before) {
      if (has_before_)
        Add("new", "note", dataset, c.key, {}, c.after_rows,
            fmt::format("{} was not counted before and has {} rows now", name, Amount(c.after_rows)));
      return;
    }
    const std::int64_t b = c.before_rows, a = c.after_rows;
    if (b == a) {
      const bool kept = p.effect == "kept-old";
      Add(kept ? "not-rewritten" : "equal", kept ? "warning" : "note", dataset, c.key, b, a,
          kept ? fmt::format("{} has {} rows as before: the plan's own command changes nothing of it", name,
                             Amount(a))
               : fmt::format("{} has {} rows, before and after", name, Amount(a)));
      if (kept) Unverified(true);
      return;
    }
    if (a == 0) {
      Add("emptied", Excused(dataset, b, a) ? "note" : "fail", dataset, c.key, b, a,
          fmt::format("{} had {} rows and is empty{}{}", name, Amount(b), Why(p), ReadBy(dataset)));
      return;
    }
    if (Pattern(dataset, p, c, name)) return;
    Change(dataset, p, c, name);
  }

  bool Excused(const std::string& dataset, std::int64_t b, std::int64_t a) const {
    const Expectation* e = ExpectedOf(dataset);
    if (!e || b == 0) return false;
    const double change = 100.0 * (static_cast<double>(a) - static_cast<double>(b)) / static_cast<double>(b);
    return change >= e->least - 1e-9 && change <= e->most + 1e-9;
  }
  const Expectation* ExpectedOf(const std::string& dataset) const {
    for (const auto& [name, e] : q_.expected)
      if (name == dataset || Canonical(name) == dataset) return &e;
    return nullptr;
  }

  // Twice the rows, or a part of them: said whatever tolerance was given.
  bool Pattern(const std::string& dataset, const Planned& p, const Cell& c, const std::string& name) {
    const std::int64_t b = c.before_rows, a = c.after_rows;
    if (b == 0) return false;
    const double ratio = static_cast<double>(a) / static_cast<double>(b);
    const double times = std::round(ratio);
    const bool excused = Excused(dataset, b, a);
    if (times >= 2 && times <= 4 && std::abs(ratio - times) <= 0.1) {
      Add("doubled", excused ? "note" : "fail", dataset, c.key, b, a,
          fmt::format("{} has {} times the rows that it had ({} -> {}): they seem to be there {} times{}",
                      name, times, Amount(b), Amount(a), times == 2 ? "2" : fmt::format("{}", times),
                      ReadBy(dataset)));
      return true;
    }
    if (ratio > 0.5 + 1e-9 && !(ratio < 0.9 && p.hazards.count("partial-overwrite"))) return false;
    const bool evidence = p.coarse || p.hazards.count("partial-overwrite") || p.effect == "lost";
    if (!evidence && ratio >= 0.45) return false;  // a doubled cell set right looks like that
    Add("partial-overwrite", excused ? "note" : "fail", dataset, c.key, b, a,
        fmt::format("{} has {:.0f}% of the rows that it had ({} -> {}): it seems to be written from a part "
                    "of its input{}{}",
                    name, 100 * ratio, Amount(b), Amount(a), Why(p), ReadBy(dataset)));
    return true;
  }

  void Change(const std::string& dataset, const Planned& p, const Cell& c, const std::string& name) {
    const std::int64_t b = c.before_rows, a = c.after_rows;
    const std::string text = fmt::format("{}: {} -> {} ({}, {}){}", name, Amount(b), Amount(a),
                                         ChangeText(b, a), Percent(b, a), Why(p));
    const Expectation* e = ExpectedOf(dataset);
    const double change =
        b == 0 ? 1e18 : 100.0 * (static_cast<double>(a) - static_cast<double>(b)) / static_cast<double>(b);
    if (e && !Excused(dataset, b, a)) {
      Add("unexpected-change", "fail", dataset, c.key, b, a,
          fmt::format("{}; expected was {:+g}% to {:+g}%", text, e->least, e->most));
    } else if (!e && q_.tolerance && std::abs(change) > *q_.tolerance + 1e-9) {
      Add("unexpected-change", "fail", dataset, c.key, b, a,
          fmt::format("{}; tolerated is {:g}%", text, *q_.tolerance));
    } else {
      const bool half = b > 0 && a * 2 <= b + b / 9 && !e;
      Add("changed", half ? "warning" : "note", dataset, c.key, b, a,
          text + (half ? "; about half is left: a doubled cell set right, or a part of its input" : ""));
    }
  }

  void Duplicates(const std::string& dataset, const std::string& name, const Cell& c) {
    if (!c.after->distinct || c.after->rows <= *c.after->distinct || summed_.count(dataset)) return;
    const std::int64_t excess = c.after->rows - *c.after->distinct;
    const bool old = c.before && c.before->distinct && c.before->rows - *c.before->distinct >= excess;
    Add("duplicates", old ? "warning" : "fail", dataset, c.key, RowsBefore(c), c.after_rows,
        fmt::format("{} has {} rows and {} distinct keys: {} too many{}", name, Amount(c.after->rows),
                    Amount(*c.after->distinct), Amount(excess), old ? ", as before" : ""));
  }

  // A cell that the plan does not write.
  void OtherCell(const std::string& dataset, const Cell& c) {
    const std::string name = dataset + (c.key == kNull  ? " (rows without a partition)"
                                        : c.key.empty() ? ""
                                                        : " " + c.key);
    const auto b = RowsBefore(c), a = RowsAfter(c);
    if (b == a) return;
    const bool other_day = !c.before && !has_before_;
    if (other_day) return;  // nothing was counted before
    if (std::find(plan_.fresh_on_read.begin(), plan_.fresh_on_read.end(), dataset) !=
        plan_.fresh_on_read.end()) {
      Add(!b ? "new" : "changed", "note", dataset, c.key, b, a,
          fmt::format("{}: {} -> {}; it shows what was rebuilt", name, b ? Amount(*b) : "not counted",
                      a ? Amount(*a) : "not counted"));
      return;
    }
    if (c.open || c.along) {
      Add(!b ? "new" : "changed", "note", dataset, c.key, b, a,
          fmt::format("{}: {} -> {}; {}", name, b ? Amount(*b) : "not counted",
                      a ? Amount(*a) : "not counted",
                      c.along ? "the plan's runs write it along" : "its ordinary run writes it"));
      return;
    }
    if (!a) {
      Add("lost", "fail", dataset, c.key, b, a,
          fmt::format("{} had {} rows and is gone, and the plan does not write it{}", name, Amount(*b),
                      ReadBy(dataset)));
      return;
    }
    Add("changed-outside", "fail", dataset, c.key, b, a,
        fmt::format("{}: {} -> {}, and the plan does not write it", name, b ? Amount(*b) : "not counted",
                    Amount(*a)));
  }

  // ---- When it was counted ----

  void Moments() {
    bool untimed = false;
    const auto begun = q_.run ? ParseInstant(q_.run->started_at, true) : std::nullopt;
    const auto ended =
        q_.run && !q_.run->ended_at.empty() ? ParseInstant(q_.run->ended_at, true) : std::nullopt;
    for (const auto& [dataset, cells] : cells_) {
      std::set<std::pair<Instant, Instant>> windows;
      std::vector<Span> counted;
      bool stale = false, late = false;
      for (const auto& [key, cell] : cells) {
        if (!cell.planned) continue;
        for (const Count* count : {cell.before, cell.after}) untimed = untimed || (count && !count->at);
        if (cell.after && cell.after->at && *cell.after->at < ended.value_or(begun.value_or(plan_.now)) &&
            !stale) {
          stale = true;
          Doubt(
              dataset, cell.key,
              fmt::format(
                  "the count of {} {} that is given as the later one was taken at {}, before the {} ({}): it "
                  "is older than what it should tell of",
                  dataset, cell.key, FormatInstant(*cell.after->at),
                  ended   ? "run was finished"
                  : begun ? "run was started"
                          : "plan was made",
                  FormatInstant(ended.value_or(begun.value_or(plan_.now)))));
        }
        if (begun && cell.before && cell.before->at && *cell.before->at > *begun && !late) {
          late = true;
          Doubt(dataset, cell.key,
                fmt::format(
                    "the count of {} {} that is given as the earlier one was taken at {}, after the run was "
                    "started ({})",
                    dataset, cell.key, FormatInstant(*cell.before->at), FormatInstant(*begun)));
        }
        if (cell.before && cell.after && cell.before->at && cell.after->at)
          windows.emplace(*cell.before->at, *cell.after->at),
              counted.push_back(cell.dated ? cell.span : kAllTime);
      }
      if (windows.empty()) continue;
      Instant from = windows.begin()->first, to = from;
      for (const auto& w : windows) to = std::max(to, w.second);
      Scheduled(dataset, SpanSet::FromUnsorted(std::move(counted)), {from, to});
    }
    if (untimed)
      out_.notes.push_back(
          "there are counts without a time (no counted_at): nobody can tell whether another run lies between "
          "them");
  }

  void Doubt(const std::string& dataset, const std::string& key, std::string message) {
    Add("unverified", "warning", dataset, key, {}, {}, std::move(message));
    Unverified(true);
  }

  // Runs of others between the two counts.
  void Scheduled(const std::string& dataset, const SpanSet& cells, Span time) {
    const Dataset* d = Known(dataset);
    if (!d) return;
    for (const JobId id : d->jobs) {
      const Job& job = (*q_.graph)[id];
      if (!job.schedule) continue;
      const auto ticks = TicksOf(*job.schedule);
      if (!ticks) continue;
      std::size_t n = 0;
      for (auto t = ticks->After(time.start); t && *t <= time.end && n < 10'000; t = ticks->After(*t), ++n) {
        if (!WrittenAt(*job.schedule, *ticks, *t, *d).Intersects(cells)) continue;
        Doubt(dataset, "",
              fmt::format("{}: the scheduled run of {} ({}) at {} lies between the two counts and writes the "
                          "same cells: "
                          "the difference may be its own",
                          dataset, job.name, ScheduleText(*job.schedule), FormatInstant(*t)));
        break;
      }
    }
  }

  // ---- The result ----

  void Add(const char* code, const char* severity, const std::string& dataset,
           std::optional<std::string> partition, std::optional<std::int64_t> before,
           std::optional<std::int64_t> after, std::string message) {
    if (partition && partition->empty()) partition.reset();
    out_.findings.push_back(
        {code, severity, dataset, std::move(partition), before, after, std::move(message)});
  }
  void Unverified(bool yes) { unverified_ = unverified_ || yes; }

  void Result() {
    bool fail = false;
    for (const VerifyFinding& f : out_.findings) fail = fail || f.severity == "fail";
    const bool nothing = out_.datasets.empty();
    out_.result = fail ? "fail" : unverified_ || nothing ? "unverified" : "pass";
    out_.notes.push_back(
        "only counts of rows are compared: columns and values are not compared, and equal counts do "
        "not say that the rows are right");
    const auto rank = [](const VerifyFinding& f) {
      return f.severity == "fail" ? 0 : f.severity == "warning" ? 1 : 2;
    };
    std::stable_sort(out_.findings.begin(), out_.findings.end(),
                     [&](const VerifyFinding& a, const VerifyFinding& b) { return rank(a) < rank(b); });
  }

  const VerifyQuestion& q_;
  const RecordedPlan& plan_;
  Diagnostics& diagnostics_;
  std::map<std::string, DatasetId> ids_;
  std::map<std::string, Planned> planned_, planned_along_;
  std::map<std::string, SpanSet> open_;
  std::map<std::string, Cells> cells_;
  std::set<std::string> summed_;
  bool has_before_ = false, has_after_ = false, unverified_ = false;
  Verification out_;
};

}  // namespace

Verification Verify(const VerifyQuestion& question, Diagnostics& diagnostics) {
  return Verifier(question, diagnostics).Make();
}

}  // namespace backreach
