// The order of a plan's text: the answer in two paragraphs, what must be settled, what to run by wave, what
// is right by itself, what follows, what stays, what is out of reach, what was assumed, and what to type
// next.

#include "render/view/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "analysis/hazards/assumed.hpp"
#include "graph/base/words.hpp"
#include "graph/lineage/traversal.hpp"
#include "render/view/plan_groups.hpp"
#include "render/view/words.hpp"

namespace backreach {

namespace {

std::vector<std::string> NameParts(const std::string& name) {
  std::vector<std::string> parts;
  std::string part;
  for (const char c : name) {
    if (c == '.' || c == '/') {
      parts.push_back(part);
      part.clear();
    } else {
      part += c;
    }
  }
  parts.push_back(part);
  return parts;
}

// The last `n` parts of a name, with the separators that stand between them.
std::string LastParts(const std::string& name, std::size_t n) {
  std::size_t at = name.size();
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t before = at == 0 ? std::string::npos : name.find_last_of("./", at - 1);
    if (before == std::string::npos) return name;
    at = before;
  }
  return name.substr(at + 1);
}

class Table {
 public:
  explicit Table(int width) : width_(width) {}
  void Row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }
  // Columns line up; the last one is wrapped under itself, or on a line of its own where little room is left.
  std::string Text(const std::string& indent) const {
    std::vector<std::size_t> widths;
    for (const auto& row : rows_)
      for (std::size_t c = 0; c + 1 < row.size(); ++c) {
        if (widths.size() <= c) widths.resize(c + 1, 0);
        widths[c] = std::max(widths[c], std::min<std::size_t>(Columns(row[c]), 64));
      }
    std::string out;
    for (const auto& row : rows_) {
      std::string line = indent;
      for (std::size_t c = 0; c < row.size(); ++c) {
        if (c + 1 < row.size()) {
          const std::size_t size = Columns(row[c]);
          line += row[c] + std::string((widths[c] > size ? widths[c] - size : 0) + 2, ' ');
          continue;
        }
        const std::size_t at = Columns(line), left = static_cast<std::size_t>(width_) > at
                                                         ? static_cast<std::size_t>(width_) - at
                                                         : 0;
        if (c > 0 && Columns(row[c]) > left && left < 34) {
          while (!line.empty() && line.back() == ' ') line.pop_back();
          const std::string under(indent.size() + 6, ' ');
          line += "\n" + under + Wrapped(row[c], width_, under.size());
        } else {
          line += Wrapped(row[c], width_, at);
        }
      }
      while (!line.empty() && line.back() == ' ') line.pop_back();
      out += line + "\n";
    }
    return out;
  }

 private:
  int width_;
  std::vector<std::vector<std::string>> rows_;
};

constexpr std::size_t kListed = 16;  // so many steps are listed one by one

class PlanWriter {
 public:
  PlanWriter(const LineageGraph& graph, const Plan& plan, const TextStyle& style)
      : g_(graph), plan_(plan), style_(style), names_(graph) {}

  std::string Write() {
    Question();
    Answer();
    Settle();
    Steps();
    Pools();
    RightByItself();
    After();
    Stays();
    OutOfReach();
    Assumed();
    Notes();
    Next();
    return std::move(out_);
  }

 private:
  std::string Name(DatasetId id) const { return Printable(names_(id)); }

  void Line(const std::string& text = "") { out_ += text + "\n"; }
  void Paragraph(const std::string& text) { out_ += Wrapped(text, style_.width, 0) + "\n"; }

  std::string Paint(const std::string& text, HazardSeverity severity) const {
    if (!style_.colour) return text;
    const char* code = severity == HazardSeverity::kBlocking  ? "\033[31m"
                       : severity == HazardSeverity::kWarning ? "\033[33m"
                                                              : "\033[36m";
    return code + text + "\033[0m";
  }

  void Question() {
    for (const Target& t : plan_.request.targets) {
      const Dataset& d = g_[t.dataset];
      const Zone& zone = d.calendar.zone();
      std::string line = Name(t.dataset) + " is corrected";
      for (const auto& [name, list] : plan_.request.where)
        line += " for " + Printable(name + " " + ListOf(list)) + (d.layout ? "," : "");
      if (d.layout && !t.cells.empty()) {
        const bool bounded = IsFinite(t.cells.front().start) && IsFinite(t.cells.back().end);
        line += " for " + SpansText(d, t.cells);
        const std::int64_t values = ValuesAsked();
        if (bounded)
          line += ": " + (values > 1 ? Plural(d.layout->Count(t.cells) * values, "cell")
                                     : CountOf(d.layout->Count(t.cells),
                                               d.layout->blocks().back().calendar.grain()));
        line += ", " + zone.name();
        if (d.run_date_offset && bounded && t.cells.size() == 1)
          line += fmt::format(
              " (run dates {} .. {})",
              d.layout->Key(AddDuration(zone, t.cells.front().start, *d.run_date_offset)),
              d.layout->Key(AddDuration(zone, d.layout->Floor(t.cells.back().end - 1), *d.run_date_offset)));
      } else if (t.whole) {
        line += " as a whole";
      } else {
        line += " for " + SpansText(d, t.asked);
      }
      line += fmt::format(". Now is {}{}.", FormatCivilInstant(plan_.request.now, zone),
                          zone.name() == "UTC" ? " UTC" : " there");
      Paragraph(line);
    }
    Line();
  }

  // How many values of dimensions were asked for, one by one.
  std::int64_t ValuesAsked() const {
    std::int64_t values = 1;
    for (const auto& [name, list] : plan_.request.where) values *= static_cast<std::int64_t>(list.size());
    return values;
  }

  void Answer() {
    if (plan_.nothing_to_do) {
      Paragraph(plan_.summary + ".");
      return;
    }
    const Totals& t = plan_.totals;
    int waves = 0;
    for (const Step& s : plan_.steps) waves = std::max(waves, s.wave + 1);
    std::string line =
        plan_.steps.empty()
            ? "Nothing can be rebuilt."
            : fmt::format("{}, {} to rebuild in {}{}.", Plural(t.datasets, "dataset"),
                          t.partitions ? Plural(*t.partitions, "cell") : "cells of unknown number",
                          Plural(waves, "wave"),
                          t.seconds ? ", " + Seconds(*t.seconds) +
                                          (t.threads > 1 ? fmt::format(" with {} at a time", t.threads)
                                                         : std::string(" one after another")) +
                                          EarlierRuns()
                                    : "");
    Paragraph(line);
    Untimed();
    std::size_t settle = 0, known = 0;
    for (const Hazard& h : plan_.hazards) {
      if (h.accepted) continue;
      settle += h.severity == HazardSeverity::kBlocking;
      known += h.severity == HazardSeverity::kWarning;
    }
    std::vector<std::string> parts;
    if (settle > 0)
      parts.push_back(Plural(static_cast<std::int64_t>(settle), "thing") + " must be settled first");
    if (known > 0) parts.push_back(fmt::format("{} {} worth knowing", known, known == 1 ? "is" : "are"));
    line = parts.empty() ? "Nothing has to be settled first." : ListOf(parts) + ".";
    if (t.copies > 0)
      line += fmt::format(" {} {} the old numbers until somebody acts.",
                          t.copies == 1 ? "1 copy" : Thousands(t.copies) + " copies",
                          t.copies == 1 ? "keeps" : "keep");
    std::size_t stay = plan_.left_stale.size();
    if (stay > 0)
      line += fmt::format(" {} {} as {}.", Plural(static_cast<std::int64_t>(stay), "dataset"),
                          stay == 1 ? "stays" : "stay", stay == 1 ? "it is" : "they are");
    Paragraph(line);
    if (plan_.widest) Widening(*plan_.widest);
    Line();
  }

  // What one thing that nobody said costs, and what to say.
  void Widening(const Widest& w) {
    const auto size = [](const Widest::Size& s) {
      std::vector<std::string> parts;
      if (s.whole > 0) parts.push_back(Plural(s.whole, "table") + " whole");
      if (s.cells && (*s.cells > 0 || s.whole == 0)) parts.push_back(Plural(*s.cells, "cell"));
      return Join(parts, " and ");
    };
    if (w.edges.empty()) {
      Paragraph(fmt::format(
          "Widest: {} for one table: {} is rebuilt whole; {} if its rows carry a time of their own.",
          size(w.now), Name(w.dataset), size(w.then)));
      Paragraph(fmt::format("  to try it: --narrow {}", ShellWord(names_(w.dataset))));
      return;
    }
    Paragraph(fmt::format("Widest: {} for one edge: {} reads {} whole; {} if it is `same`.", size(w.now),
                          Name(w.dataset), Name(g_[w.edges[0]].from), size(w.then)));
    out_ += "  to say so: " + Wrapped(Printable(w.stanza), style_.width, 13, 4) + "\n";
  }

  // What the time is known from: " (12 earlier runs)".
  std::string EarlierRuns() const {
    std::set<std::string> runs;
    for (const Step& s : plan_.steps)
      if (s.from_runs > 0)
        for (const TimingFact& t : g_[s.dataset].timings) runs.insert(t.ended_at);
    if (runs.empty()) return "";
    return fmt::format(" ({})", Plural(static_cast<std::int64_t>(runs.size()), "earlier run"));
  }

  // Which steps nobody has a time of, where others have one.
  void Untimed() {
    if (plan_.totals.seconds) return;
    std::vector<DatasetId> unknown;
    bool some = false;
    for (const Step& s : plan_.steps) {
      some = some || s.seconds;
      if (!s.seconds && !s.correct) unknown.push_back(s.dataset);
    }
    if (some)
      Paragraph("How long it takes is unknown: no run is known of " + Printable(names_.List(unknown, 4)) +
                ".");
  }

  static std::string Seconds(double s) { return s < 1 ? "less than a second" : "about " + Rounded(s); }
  static std::string Rounded(double s) {
    if (s < 90) return Plural(static_cast<std::int64_t>(s + 0.5), "second");
    if (s < 5400) return Plural(static_cast<std::int64_t>(s / 60 + 0.5), "minute");
    return fmt::format("{:.1f} hours", s / 3600);
  }

  // Full names inside a message become the short ones that the rest of the text uses.
  std::string Shortened(const std::string& message) {
    if (by_name_.empty())
      for (std::uint32_t i = 0; i < g_.datasets.size(); ++i)
        by_name_.emplace(g_.datasets[i].name, DatasetId{i});
    std::string out;
    for (std::size_t i = 0; i < message.size();) {
      const std::size_t end = std::min(message.find(' ', i), message.size());
      std::string word = message.substr(i, end - i), head, tail;
      while (!word.empty() && std::string_view("(['").find(word.front()) != std::string_view::npos)
        head += word.front(), word.erase(0, 1);
      while (!word.empty() && std::string_view(",;:.)]'").find(word.back()) != std::string_view::npos)
        tail.insert(0, 1, word.back()), word.pop_back();
      const auto it = by_name_.find(word);
      out += head + (it == by_name_.end() ? word : names_(it->second)) + tail;
      if (end < message.size()) out += ' ';
      i = end + 1;
    }
    return Printable(out);
  }

  // By code: what happens to each dataset, then what to do about it, once; past a few the sentence stands
  // once, with whom it is about behind it.
  void HazardList(const char* title, HazardSeverity severity, const char* mark) {
    const std::vector<HazardGroup> groups = GroupHazards(g_, plan_, style_.all);
    bool any = false;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const HazardGroup& group = groups[i];
      if (group.severity != severity) continue;
      if (!any) Line(Paint(title, severity));
      // In a long plan the code shares the line of its first sentence.
      const bool begins = !any || groups[i - 1].code != group.code;
      const bool shared = plan_.steps.size() > kListed && !style_.all;
      const std::string head = "  " + Paint(std::string(mark) + " " + group.code, severity);
      if (begins && !shared) Line(head);
      any = true;
      std::string text = group.sentence;
      if (group.hazards.size() > 1)
        text += ": " + WhoOf(group, plan_, [&](DatasetId id) { return g_[id].name; });
      const std::string before = begins && shared ? head + "  " : "      ";
      Line(before + Wrapped(Shortened(text), style_.width, Columns(before), 8));
      const bool next_has_it = i + 1 < groups.size() && groups[i + 1].code == group.code &&
                               groups[i + 1].severity == severity && groups[i + 1].remedy == group.remedy;
      if (!next_has_it) Line("      -> " + Wrapped(Shortened(group.remedy), style_.width, 9, 9));
    }
  }

  void Settle() {
    HazardList("SETTLE FIRST", HazardSeverity::kBlocking, "x");
    std::vector<std::string> accepted;
    for (const Hazard& h : plan_.hazards)
      if (h.accepted && h.severity != HazardSeverity::kNote)
        accepted.push_back(h.code + (h.dataset.valid() ? ":" + Name(h.dataset) : ""));
    if (!accepted.empty()) out_ += Wrapped("ACCEPTED  " + ListOf(accepted, 8), style_.width, 10) + "\n";
    HazardList("WORTH KNOWING", HazardSeverity::kWarning, "!");
  }

  std::string CellsOf(const Step& s) const { return s.whole ? "whole" : StepCells(s); }
  std::string Period(const Step& s) const {
    const Dataset& d = g_[s.dataset];
    std::string text = !s.whole ? SpansText(d, s.spans) : d.layout ? "1 table, all of it" : "1 table";
    for (const StepPart& part : s.parts) {
      std::vector<std::string> values;
      for (const auto& [name, list] : part.values) values.push_back(name + " " + ListOf(list));
      text += (&part == &s.parts.front() ? " for " : "; ") + Printable(ListOf(values)) +
              (s.parts.size() > 1 && !s.whole ? ": " + SpansText(d, part.spans) : "");
    }
    if (s.whole) return text;
    if (d.run_date_offset && IsFinite(s.spans.front().start) && IsFinite(s.spans.back().end)) {
      const Zone& zone = s.calendar->zone();
      text += fmt::format(
          " (run {} .. {})", s.calendar->Key(AddDuration(zone, s.spans.front().start, *d.run_date_offset)),
          s.calendar->Key(AddDuration(zone, s.calendar->Floor(s.spans.back().end - 1), *d.run_date_offset)));
    }
    return text;
  }
  std::string ReadsOf(const Step& s) const {
    if (s.correct) return "corrected here";
    std::vector<std::string> parts;
    std::vector<DatasetId> seen;
    for (const StepBecause& b : s.because) {
      const Edge& edge = g_[b.edge];
      if (std::find(seen.begin(), seen.end(), edge.from) != seen.end()) continue;
      seen.push_back(edge.from);
      std::string how =
          std::holds_alternative<reads::Unknown>(edge.reads) || (edge.known == Known::kAssumed && edge.code)
              ? "assumed " + FormatReads(edge.effective)
              : FormatReads(edge.effective);
      if (edge.self())
        how = "its own past";
      else if (g_[edge.from].stores() && !g_[edge.from].layout)
        how = "any row";
      const bool plain = how == "same" || (s.whole && how == "assumed same");
      parts.push_back(Name(edge.from) + (plain ? "" : " (" + how + ")"));
    }
    if (parts.empty()) parts.push_back("corrected, as asked");
    std::string text = ListOf(parts, 4);
    if (s.whole && !g_[s.dataset].grain && uncut_.size() < 3) text += "; no grain known, so all of it";
    if (!s.widened_by.empty())
      text += fmt::format("; {} more because of {}",
                          s.widened_cost ? Thousands(*s.widened_cost) : std::string("many"),
                          Printable(names_.List(s.widened_by, 2)));
    if (s.sequential) text += "; oldest first, one at a time";
    if (!s.interleaved.empty()) text += "; turn by turn with " + Printable(names_.List(s.interleaved));
    if (!s.rewrites.empty()) {
      const DatasetId also = s.rewrites[0].dataset;
      text +=
          "; the run also writes " + (also == s.dataset ? "cells beside these" : Printable(g_[also].name));
    }
    return text;
  }

  void Steps() {
    if (plan_.steps.empty()) return;
    uncut_ = Uncut();
    Line("THEN REBUILD");
    if (plan_.steps.size() > kListed && !style_.all) return GroupedSteps();
    int wave = -1;
    Table table(style_.width);
    const auto flush = [&] {
      if (!table.empty()) out_ += table.Text("    ");
      table = Table(style_.width);
    };
    for (const Step& s : plan_.steps) {
      if (s.wave != wave) {
        flush();
        wave = s.wave;
        Line(fmt::format("  wave {}", wave));
      }
      table.Row({std::to_string(s.id), Name(s.dataset), CellsOf(s), Period(s), ReadsOf(s)});
    }
    flush();
  }

  // A long plan: what one command does together is one entry, with what to type.
  void GroupedSteps() {
    constexpr std::size_t kMostSteps = 400;
    int wave = -1;
    std::size_t shown = 0;
    for (const StepGroup& group : GroupSteps(g_, plan_)) {
      if (shown >= kMostSteps) break;
      const std::string head =
          group.wave != wave ? fmt::format("  wave {}  ", wave = group.wave) : "          ";
      shown += group.steps.size();
      const Step& first = *group.steps[0];
      std::vector<int> ids;
      std::optional<std::int64_t> cells = 0;
      for (const Step* s : group.steps) {
        ids.push_back(s->id);
        if (!s->partitions)
          cells.reset();
        else if (cells)
          *cells += *s->partitions;
      }
      std::string line = NumbersText(ids) + "  ";
      if (group.steps.size() == 1)
        line +=
            Name(first.dataset) + (first.whole ? "  whole" : "  " + CellsOf(first) + "  " + Period(first));
      else if (first.whole)
        line += Plural(static_cast<std::int64_t>(ids.size()), "table") + " whole";
      else
        line += fmt::format("{}, {}, {}", Plural(static_cast<std::int64_t>(ids.size()), "table"),
                            cells ? Plural(*cells, "cell") : std::string("cells of unknown number"),
                            Period(first));
      if (group.steps.size() == 1 && first.correct) line += "  corrected here";
      if (group.steps.size() == 1 && group.commands.empty() && !first.correct)
        line += "  no command is known";
      const bool fits = group.commands.size() == 1 && Columns(line) + Columns(group.commands[0]) + 13 <
                                                          static_cast<std::size_t>(style_.width);
      if (fits) line += "   " + Printable(group.commands[0]);
      Line(head + (fits ? line : Wrapped(line, style_.width, head.size(), 12)));
      if (fits) continue;
      for (std::size_t i = 0; i < group.commands.size() && i < 4; ++i)
        Line(CommandLines(Printable(group.commands[i]), style_.width, "        "));
      if (group.commands.size() > 4)
        Line(fmt::format("        and {} more commands of this kind (--all, or --format json)",
                         group.commands.size() - 4));
    }
    if (shown < plan_.steps.size())
      Line(fmt::format("  and {} more steps: --all, or --format json",
                       Thousands(static_cast<std::int64_t>(plan_.steps.size() - shown))));
    else
      Line("  each step by itself, with what it reads: --all");
  }

  // Steps of tables of which nobody knows how they are cut.
  std::vector<int> Uncut() const {
    std::vector<int> out;
    for (const Step& s : plan_.steps)
      if (s.whole && !g_[s.dataset].grain) out.push_back(s.id);
    return out;
  }

  void Section(const char* title, const std::vector<std::string>& lines) {
    if (lines.empty()) return;
    Line(title);
    for (const std::string& line : lines) Line("  " + Wrapped(line, style_.width, 2, 4));
  }

  void Pools() {
    std::vector<std::string> lines;
    for (const PoolUse& use : plan_.pools) {
      lines.push_back(Printable(use.pool + ": " + use.sentence));
      if (use.forecasts.empty()) continue;
      lines.push_back("  taken for this: " + Printable(Join(use.assumptions, "; ")));
      if (!use.unknown.empty()) lines.push_back("  not known: " + Printable(ListOf(use.unknown, 3)));
    }
    Section("ON SHARED POOLS", lines);
  }

  void RightByItself() {
    if (plan_.fresh.empty()) return;
    std::vector<std::string> parts;
    for (const Fresh& f : plan_.fresh)
      parts.push_back(Name(f.dataset) + (g_[f.dataset].kind == Kind::kDashboard ? " (dashboard)" : ""));
    Section("RIGHT BY ITSELF, once what it reads is", {ListOf(parts, style_.all                     ? 1000
                                                                     : plan_.steps.size() > kListed ? 5
                                                                                                    : 12)});
  }

  void After() {
    std::vector<std::string> lines;
    for (const Afterwards& a : plan_.afterwards) {
      const std::string cells = a.cells.whole ? "whole" : SpansText(g_[a.cells.dataset], a.cells.spans);
      lines.push_back(
          fmt::format("{} {}: {}{}", Name(a.cells.dataset), cells, a.what,
                      a.waits_for.empty() ? "" : " (" + Printable(names_.List(a.waits_for)) + ")"));
      if (lines.size() == 12 && plan_.afterwards.size() > 13 && !style_.all) {
        lines.push_back(fmt::format("and {} more", plan_.afterwards.size() - 12));
        break;
      }
    }
    Section("AFTERWARDS", lines);
  }

  void Stays() {
    std::vector<std::string> lines;
    std::vector<std::pair<std::string, std::vector<DatasetId>>> alike;  // whole ones, by why
    for (const LeftStale& l : plan_.left_stale) {
      static const std::map<StaleReason, const char*> why = {
          {StaleReason::kExcluded, "left out as asked"},
          {StaleReason::kProtected, "marked never to be rebuilt"},
          {StaleReason::kSnapshot, "a snapshot records today, it cannot go back"},
          {StaleReason::kCannotRebuild, "cannot be rebuilt"},
          {StaleReason::kInputsExpired, "its input is no longer kept"},
          {StaleReason::kOutsideReturn, "waits for what comes back from outside"}};
      const Dataset& d = g_[l.cells.dataset];
      const bool itself =
          l.reason != StaleReason::kSnapshot || d.kind == Kind::kSnapshot || d.writes == Writes::kSnapshot;
      const std::string because = itself ? why.at(l.reason) : "reads only what stays as it is (a snapshot)";
      if (l.cells.whole && l.mixes_into.empty() && plan_.left_stale.size() > 4 && !style_.all) {
        const auto same =
            std::find_if(alike.begin(), alike.end(), [&](const auto& a) { return a.first == because; });
        if (same == alike.end())
          alike.push_back({because, {l.cells.dataset}});
        else
          same->second.push_back(l.cells.dataset);
        continue;
      }
      std::string line =
          Name(l.cells.dataset) + (l.cells.whole ? "" : " " + SpansText(d, l.cells.spans)) + ": " + because;
      if (!l.mixes_into.empty())
        line += "; mixes old into " + Printable(names_.List(l.mixes_into));
      else if (!l.read_by.empty())
        line += "; read by " + Printable(names_.List(l.read_by));
      lines.push_back(line);
    }
    for (const auto& [because, ids] : alike)
      lines.push_back(Printable(names_.List(ids, 20)) + ": " + because);
    Section("STAYS AS IT IS", lines);
  }

  void OutOfReach() {
    if (plan_.copies.empty()) {
      if (!plan_.nothing_to_do) Section("OUT OF REACH", {Printable(NoCopies(g_, plan_, names_))});
      return;
    }
    Line("OUT OF REACH");
    Table table(style_.width);
    table.Row({"", "taken", "wrong in it, and who"});
    for (const AffectedCopy& c : plan_.copies) {
      std::string taken = c.taken.empty()       ? "unknown"
                          : c.taken.size() == 1 ? c.taken[0]
                                                : fmt::format("{} times", c.taken.size());
      std::string wrong = c.keyed_by.valid() ? SpansText(g_[c.keyed_by], c.affected) : "unknown";
      if (c.content == "unknown") wrong += " (holds unknown: taken as wrong)";
      if (c.heals)
        wrong += ", heals " + FormatInstant(c.heals->at).substr(0, 10) +
                 (c.stays.empty() ? "" : " but for " + c.stays);
      std::string who =
          OwnerText(c.owner, StartsWith(c.contact, "mailto:") ? c.contact.substr(7) : c.contact, ", ", "");
      if (who.empty()) who = "nobody named";
      who += ": " + c.action;
      if (!c.known) who += " (undocumented: " + c.where + ")";
      std::string id = ShortCopy(c.id);
      if (!c.known && !c.datasets.empty()) id = names_(c.datasets[0]) + ", written out";
      table.Row({Printable(id), taken, Printable(wrong + "; " + who)});
    }
    out_ += table.Text("  ");
  }
  // A person, a mail address without its scheme, and what there is to do.
  static std::string ShortCopy(const std::string& id) {
    const auto parts = Split(id, '.');
    return StartsWith(id, "exposure.") && parts.size() == 3 ? parts[2] : id;
  }

  void Assumed() {
    std::vector<std::string> lines;
    std::size_t read = 0;
    for (const AssumedMapping& a : plan_.assumed) {
      const Edge& edge = g_[a.edges[0]];
      if (edge.known != Known::kInferred) continue;
      if (++read > 3 && !style_.all) continue;
      lines.push_back(fmt::format("{} -> {}: {}, read in {}; to state it: {}", Name(edge.from), Name(edge.to),
                                  ReadsOfAll(g_, a.edges),
                                  edge.code->place.empty() ? "the code" : edge.code->place, a.stanza));
    }
    if (read > 3 && !style_.all) lines.push_back(fmt::format("and {} more that were read in code", read - 3));
    for (const HazardGroup& group : GroupHazards(g_, plan_, style_.all)) {
      if (group.severity != HazardSeverity::kNote || group.code == "no-rollback" ||
          (group.code == "grain-unknown" && uncut_.size() > 2 && !style_.all))
        continue;
      std::string text = group.sentence;
      if (group.hazards.size() > 1)
        text += ": " + WhoOf(group, plan_, [&](DatasetId id) { return g_[id].name; });
      lines.push_back(Shortened(text) + " [" + group.code + "]");
    }
    if (uncut_.size() > 2 && !style_.all)
      lines.push_back(
          fmt::format("no grain is known of {} tables, so all of each is rebuilt: steps {}; backreach init "
                      "--for {} offers how they may be cut [grain-unknown]",
                      uncut_.size(), NumbersText(uncut_), FirstTarget()));
    std::size_t no_way_back = 0;
    for (const Hazard& h : plan_.hazards) no_way_back += h.code == "no-rollback";
    if (no_way_back > 0)
      lines.push_back(fmt::format("{} overwritten in place with no way back [no-rollback]",
                                  no_way_back == 1
                                      ? "1 dataset is"
                                      : Thousands(static_cast<std::int64_t>(no_way_back)) + " datasets are"));
    Section("ASSUMED", lines);
  }

  void Notes() {
    std::vector<std::string> lines;
    for (const std::string& note : plan_.notes) lines.push_back(Printable(note));
    Section("NOTES", lines);
  }

  void Next() {
    if (plan_.nothing_to_do || plan_.steps.empty()) return;
    Line();
    std::vector<std::string> accepts;
    std::set<std::string> codes;
    for (const Hazard& h : plan_.hazards) {
      if (h.severity != HazardSeverity::kBlocking || h.accepted) continue;
      accepts.push_back(" --accept " +
                        ShellWord(h.code + (h.dataset.valid() ? ":" + names_(h.dataset) : std::string())));
      codes.insert(" --accept " + h.code);
    }
    if (accepts.size() > 3) accepts.assign(codes.begin(), codes.end());
    const std::string asked = Asked();
    std::vector<std::string> lines;
    if (!accepts.empty())
      lines.push_back("backreach plan " + asked + Join(accepts, "") + "  # once it is settled");
    if (plan_.steps.size() > 1)
      lines.push_back(fmt::format("backreach explain {} {}  # why a step is here", asked,
                                  ShellWord(names_(plan_.steps.back().dataset))));
    lines.push_back("backreach plan " + asked + " --format json --out plan.json  # to keep it");
    lines.push_back("backreach feed plan.json --to " + Engine() + "  # and to hand it over");
    for (const std::string& line : lines) Line((&line == &lines[0] ? "Next:  " : "       ") + line);
  }

  std::string FirstTarget() const { return ShellWord(names_(plan_.request.targets[0].dataset)); }

  // What was asked, as it can be typed again.
  std::string Asked() const {
    if (!style_.asked.empty()) return style_.asked;
    std::string out;
    for (const Target& t : plan_.request.targets) {
      out += (out.empty() ? "" : " ") + ShellWord(names_(t.dataset));
      if (t.whole) out += " --whole";
      if (const Dataset& d = g_[t.dataset]; d.layout && !t.whole)
        for (const Span& s : t.cells)
          if (const auto [from, to] = KeysOf(d.calendar, s); !from.empty())
            out += " --range " + ShellWord(from + ".." + to);
    }
    return out + " --now " + FormatInstant(plan_.request.now);
  }

  // Who would run most of it.
  std::string Engine() const {
    std::map<std::string, int> engines;
    for (const Step& s : plan_.steps)
      if (!s.methods.empty()) ++engines[s.methods[0].engine];
    if (engines.count("airflow")) return "airflow";
    return engines.count("dbt") ? "dbt" : "shell";
  }

  const LineageGraph& g_;
  const Plan& plan_;
  const TextStyle& style_;
  std::vector<int> uncut_;  // numbers of steps
  ShortNames names_;
  std::unordered_map<std::string, DatasetId> by_name_;
  std::string out_;
};

}  // namespace

ShortNames::ShortNames(const LineageGraph& graph) : graph_(graph), names_(graph.datasets.size()) {
  std::unordered_map<std::string, int> count;
  for (std::size_t n = 1; n <= 3; ++n)
    for (const Dataset& d : graph.datasets) ++count[LastParts(d.name, n)];
  for (std::size_t i = 0; i < graph.datasets.size(); ++i) {
    const std::string& name = graph.datasets[i].name;
    names_[i] = name;
    for (std::size_t n = 1; n <= 3; ++n) {
      std::string candidate = LastParts(name, n);
      const auto parts = NameParts(candidate);
      const bool version =
          n == 1 && parts[0].size() > 1 && parts[0][0] == 'v' && parts[0][1] >= '0' && parts[0][1] <= '9';
      if (candidate.empty() || version || (count[candidate] > 1 && candidate != name)) continue;
      names_[i] = std::move(candidate);
      break;
    }
  }
}

std::string ShortNames::operator()(DatasetId id) const { return names_[id.value]; }

std::string ShortNames::List(const std::vector<DatasetId>& ids, std::size_t most) const {
  std::vector<std::string> names;
  for (const DatasetId id : ids)
    if (id.valid()) names.push_back(names_[id.value]);
  return ListOf(names, most);
}

std::string StepCells(const Step& step) {
  const Grain& grain = step.calendar->grain();
  const bool times = grain.unit == Grain::Unit::kMinutes || grain.unit == Grain::Unit::kHours;
  if (!step.partitions) return times ? "cells of " + FormatGrain(grain) : FormatGrain(grain) + "s";
  // Two teams' two days are four cells, not four days.
  std::int64_t values = 0;
  for (const StepPart& part : step.parts) {
    std::int64_t here = 1;
    for (const auto& [name, list] : part.values) here *= static_cast<std::int64_t>(list.size());
    values += here;
  }
  return values > 1 ? Plural(*step.partitions, "cell") : CountOf(*step.partitions, grain);
}

// What was there to find ways out in: an empty result of nothing is no result.
std::string LookedInto(const LineageGraph& g) {
  std::int64_t tasks = 0, opaque = 0;
  for (const Job& job : g.jobs) {
    tasks += !job.orchestrator.empty();
    opaque += !job.orchestrator.empty() && job.opaque;
  }
  std::string out = Plural(tasks, "task");
  if (opaque > 0) out += fmt::format(" ({} of unknown effect)", Thousands(opaque));
  const auto seen = static_cast<std::int64_t>(g.extracts.size());
  return out + fmt::format(" and {} of hooks and tasks are known",
                           seen == 1 ? std::string("1 way out") : Thousands(seen) + " ways out");
}

std::string NoCopies(const LineageGraph& g, const Plan& plan, const ShortNames& names) {
  std::vector<std::uint32_t> roots;
  std::vector<DatasetId> targets;
  for (const Target& t : plan.request.targets)
    roots.push_back(g.entry_rank(t.dataset)), targets.push_back(t.dataset);
  std::set<DatasetId> below;
  for (const std::uint32_t rank : Reachable(g.ranked(), roots)) below.insert(g.order()[rank]);
  std::int64_t here = 0, elsewhere = 0, unplaced = 0;
  for (const Copy& copy : g.copies) {
    bool in = false, placed = false;
    for (const CopyOf& of : copy.of) {
      placed = placed || of.placed();
      in = in || (of.dataset.valid() && below.count(of.dataset));
    }
    ++(in ? here : placed ? elsewhere : unplaced);
  }
  const auto copies = [](std::int64_t n) { return Plural(n, "copy"); };
  std::string out;
  if (g.copies.empty())
    out = "no copies are known anywhere: no registry names one, and no exposure";
  else if (here > 0)
    out =
        fmt::format("no copy holds what is wrong: {} below {}, of other periods or from before there was any",
                    copies(here), names.List(targets, 3));
  else
    out = fmt::format("no copies known below {}", names.List(targets, 3));
  if (elsewhere > 0)
    out += fmt::format("; {} {} known elsewhere", copies(elsewhere), elsewhere == 1 ? "is" : "are");
  if (unplaced > 0) out += fmt::format("; of {} nobody knows what it was taken from", copies(unplaced));
  out += "; " + LookedInto(g);
  std::int64_t logs = 0;
  for (const Source& s : g.sources) logs += s.kind == "queries";
  out += logs > 0
             ? fmt::format("; {} read for ways out: backreach audit",
                           logs == 1 ? "1 query log was" : Thousands(logs) + " query logs were")
             : "; no query log was read, so what people take out by hand would not be seen: backreach audit";
  return out;
}

std::string PlanText(const LineageGraph& graph, const Plan& plan, const TextStyle& style) {
  return PlanWriter(graph, plan, style).Write();
}

}  // namespace backreach
