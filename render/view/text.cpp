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
        widths[c] = std::max(widths[c], std::min<std::size_t>(Columns(row[c]), 40));
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

class PlanWriter {
 public:
  PlanWriter(const LineageGraph& graph, const Plan& plan, const TextStyle& style)
      : g_(graph), plan_(plan), style_(style), names_(graph) {}

  std::string Write() {
    Question();
    Answer();
    Settle();
    Steps();
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
    Line();
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

  // By code: each dataset with what happens to it, then what to do about it, once.
  void HazardList(const char* title, HazardSeverity severity, const char* mark) {
    std::vector<std::pair<std::string, std::vector<const Hazard*>>> codes;
    for (const Hazard& h : plan_.hazards) {
      if (h.severity != severity || h.accepted) continue;
      if (codes.empty() || codes.back().first != h.code) codes.push_back({h.code, {}});
      codes.back().second.push_back(&h);
    }
    if (codes.empty()) return;
    Line(Paint(title, severity));
    constexpr std::size_t kMost = 5;
    for (const auto& [code, list] : codes) {
      Line("  " + Paint(std::string(mark) + " " + code, severity));
      std::vector<DatasetId> folded;
      for (std::size_t i = 0; i < list.size(); ++i) {
        const Hazard& h = *list[i];
        if (!style_.all && i >= kMost && list.size() > kMost + 1) {
          folded.push_back(h.dataset);
          continue;
        }
        Line("      " + Wrapped(Shortened(h.message), style_.width, 6, 8));
        const bool last_with_it = i + 1 == list.size() || list[i + 1]->remedy != h.remedy ||
                                  (!style_.all && i + 1 >= kMost && list.size() > kMost + 1);
        if (last_with_it) Line("      -> " + Wrapped(Shortened(h.remedy), style_.width, 9, 9));
      }
      if (!folded.empty())
        Line("      " +
             Wrapped(fmt::format("and {} more: {} (--all)", folded.size(), Printable(names_.List(folded))),
                     style_.width, 6, 8));
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
    if (s.whole && !g_[s.dataset].grain) text += "; no grain known, so all of it";
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
    Line("THEN REBUILD");
    const std::size_t kLong = 40;
    int wave = -1;
    Table table(style_.width);
    const auto flush = [&] {
      if (!table.empty()) out_ += table.Text("    ");
      table = Table(style_.width);
    };
    if (plan_.steps.size() > kLong && !style_.all) {
      std::map<int, std::vector<const Step*>> waves;
      for (const Step& s : plan_.steps) waves[s.wave].push_back(&s);
      std::size_t shown = 0;
      for (const auto& [w, steps] : waves) {
        if (++shown > 12) {
          Line(fmt::format("  ... and {} more waves", waves.size() - 12));
          break;
        }
        Line(fmt::format("  wave {}: {}", w, Plural(static_cast<std::int64_t>(steps.size()), "step")));
        std::vector<const Step*> widest = steps;
        std::stable_sort(widest.begin(), widest.end(), [](const Step* a, const Step* b) {
          return a->partitions.value_or(1 << 30) > b->partitions.value_or(1 << 30);
        });
        if (widest.size() > 3) widest.resize(3);
        for (const Step* s : widest)
          table.Row({std::to_string(s->id), Name(s->dataset), CellsOf(*s), Period(*s)});
        flush();
      }
      Line(fmt::format(
          "  this is {} steps by wave with the widest of each; all of them: --all, or --format json",
          Thousands(static_cast<std::int64_t>(plan_.steps.size()))));
      return;
    }
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

  void Section(const char* title, const std::vector<std::string>& lines) {
    if (lines.empty()) return;
    Line(title);
    for (const std::string& line : lines) Line("  " + Wrapped(line, style_.width, 2, 4));
  }

  void RightByItself() {
    if (plan_.fresh.empty()) return;
    std::vector<std::string> parts;
    for (const Fresh& f : plan_.fresh)
      parts.push_back(Name(f.dataset) + (g_[f.dataset].kind == Kind::kDashboard ? " (dashboard)" : ""));
    Section("RIGHT BY ITSELF, once what it reads is", {ListOf(parts, style_.all ? 1000 : 12)});
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
      std::string line = Name(l.cells.dataset) + (l.cells.whole ? "" : " " + SpansText(d, l.cells.spans)) +
                         ": " + (itself ? why.at(l.reason) : "reads only what stays as it is (a snapshot)");
      if (!l.mixes_into.empty())
        line += "; mixes old into " + Printable(names_.List(l.mixes_into));
      else if (!l.read_by.empty())
        line += "; read by " + Printable(names_.List(l.read_by));
      lines.push_back(line);
    }
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
    std::map<std::string, std::vector<std::string>> by_code;
    for (const Hazard& h : plan_.hazards)
      if (h.severity == HazardSeverity::kNote && h.code != "no-rollback")
        by_code[h.code].push_back(h.message);
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
    for (const auto& [code, messages] : by_code) {
      const std::size_t most = style_.all ? messages.size() : 3;
      for (std::size_t i = 0; i < messages.size() && i < most; ++i)
        lines.push_back(Shortened(messages[i]) + " [" + code + "]");
      if (messages.size() > most)
        lines.push_back(fmt::format("and {} more [{}]", messages.size() - most, code));
    }
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
    // Typed as they are: a name is one word of a shell.
    const auto word = [&](DatasetId id) { return ShellWord(names_(id)); };
    const std::string target = word(plan_.request.targets[0].dataset);
    const Hazard* first = nullptr;
    for (const Hazard& h : plan_.hazards)
      if (!first && h.severity == HazardSeverity::kBlocking && !h.accepted) first = &h;
    Table table(1000);
    if (first)
      table.Row({"backreach plan ... --accept " +
                     ShellWord(first->code + (first->dataset.valid() ? ":" + names_(first->dataset) : "")),
                 "once it is settled"});
    if (plan_.steps.size() > 1)
      table.Row({fmt::format("backreach explain {} ... {}", target, word(plan_.steps.back().dataset)),
                 "why a step is here"});
    table.Row(
        {"backreach plan ... --format json --out plan.json", "then: backreach feed plan.json --to airflow"});
    const std::string text = table.Text("       ");
    out_ += "Next:" + text.substr(5);
  }

  const LineageGraph& g_;
  const Plan& plan_;
  const TextStyle& style_;
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

std::string AuditText(const LineageGraph& graph, const Audit& audit, const TextStyle& style) {
  std::string out;
  std::size_t blocking = 0;
  bool registry = false;
  for (const Source& s : graph.sources) registry = registry || s.kind == "registry";
  for (const AuditFinding& f : audit.findings) blocking += f.severity == HazardSeverity::kBlocking;
  const std::string seen_out = audit.extracts_seen == 1
                                   ? "1 way out was"
                                   : fmt::format("{} ways out were", audit.extracts_seen),
                    exposures = Plural(static_cast<std::int64_t>(audit.exposures), "exposure");
  const std::string counts =
      registry ? fmt::format("{} seen in code, {} documented by the registry; {} named in the registry, {}.",
                             seen_out, audit.documented.size(),
                             audit.registry_copies == 1 ? "1 copy is"
                                                        : fmt::format("{} copies are", audit.registry_copies),
                             exposures)
               : fmt::format("{} seen in code, {} documented; no registry has been read, {}.", seen_out,
                             audit.documented.size(), exposures);
  out += Wrapped(counts, style.width, 0) + "\n";
  if (audit.findings.empty())
    out += "Nothing undocumented was found.\n";
  else
    out += fmt::format("{}, of which {} must be written down.\n",
                       Plural(static_cast<std::int64_t>(audit.findings.size()), "finding"), blocking);
  for (const AuditFinding& f : audit.findings) {
    const char* mark = f.severity == HazardSeverity::kBlocking ? "x" : "!";
    out += fmt::format("\n{} {}  {}\n", mark, f.code, Printable(f.dataset));
    out += "    " + Wrapped(Printable(f.message), style.width, 4, 4) + "\n";
    if (!f.remedy.empty()) out += "    " + Wrapped(Printable(f.remedy), style.width, 4, 4) + "\n";
    const std::string seen = FormatSeen(f.seen);
    if (seen.size() > 2) out += "    seen in " + Printable(seen) + "\n";
  }
  if (!audit.documented.empty()) {
    out += "\nDOCUMENTED\n";
    for (const AuditDocumented& d : audit.documented)
      out += "  " +
             Wrapped(Printable(fmt::format("{}: {} to {}", d.copy, d.dataset, d.destination)), style.width, 2,
                     4) +
             "\n";
  }
  if (!audit.not_understood.empty()) {
    out += "\nNOT UNDERSTOOD\n";
    for (const AuditNotUnderstood& n : audit.not_understood)
      out += "  " + Wrapped(Printable(n.reason), style.width, 2, 4) + "\n";
  }
  return out;
}

}  // namespace backreach
