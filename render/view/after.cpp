// Tables of what ran and of what ways of writing do.

#include "render/view/after.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "graph/base/words.hpp"
#include "render/view/words.hpp"

namespace backreach {

using Json = nlohmann::ordered_json;

namespace {

Json SpansJson(const Calendar& calendar, const SpanSet& spans) {
  Json out = Json::array();
  for (const Span& s : spans)
    out.push_back({{"from", IsFinite(s.start) ? Json(calendar.Key(s.start)) : Json()},
                   {"to", IsFinite(s.end) ? Json(calendar.Key(s.end - 1)) : Json()},
                   {"start", IsFinite(s.start) ? Json(FormatInstant(s.start)) : Json()},
                   {"end", IsFinite(s.end) ? Json(FormatInstant(s.end)) : Json()}});
  return out;
}

std::string SpansText(const Calendar& calendar, const SpanSet& spans) {
  std::vector<std::string> out;
  for (const Span& s : spans) {
    const std::string from = IsFinite(s.start) ? calendar.Key(s.start) : "the beginning";
    const std::string to = IsFinite(s.end) ? calendar.Key(s.end - 1) : "the end";
    out.push_back(from == to ? to : from + " .. " + to);
  }
  return ListOf(out, 4);
}

// Of a dataset that the plan does not have: by its instants.
std::string InstantsText(const SpanSet& spans) {
  std::vector<std::string> out;
  for (const Span& s : spans) out.push_back(FormatInstant(s.start) + " .. " + FormatInstant(s.end));
  return ListOf(out, 3);
}

const RecordedStep* StepOf(const RecordedPlan& plan, const std::string& dataset) {
  for (const RecordedStep& step : plan.steps)
    if (step.cells.dataset == dataset) return &step;
  return nullptr;
}

const char* Mark(const std::string& state) {
  return state == "ran" ? " " : state == "by-hand" ? "-" : state == "failed" ? "x" : "!";
}

}  // namespace

std::string ReconcileText(const RecordedPlan& plan, const Reconciliation& found, int width) {
  std::map<std::string, std::int64_t> states;
  for (const ReconciledStep& s : found.steps) ++states[s.state];
  std::string out =
      fmt::format("plan {}: {} of {} ran", plan.id, states["ran"],
                  Plural(static_cast<std::int64_t>(found.steps.size()) - states["by-hand"], "step"));
  for (const auto& [state, word] :
       std::vector<std::pair<std::string, std::string>>{{"partly", "ran in part"},
                                                        {"failed", "failed"},
                                                        {"not-run", "did not run"},
                                                        {"by-hand", "by hand"}})
    if (states[state] > 0) out += fmt::format(", {} {}", states[state], word);
  out += "\n";
  for (const ReconciledStep& s : found.steps) {
    const RecordedStep* step = plan.Step(s.id);
    std::string line = fmt::format("{}  {}", Printable(s.dataset), s.state);
    if (step && !s.missing.empty()) line += ": not " + SpansText(CalendarOf(*step), s.missing);
    if (!s.said.empty() && s.state != "ran") line += "; " + Printable(ListOf(s.said, 3));
    out += fmt::format("{} {:>4}  {}\n", Mark(s.state), s.id, Wrapped(line, width, 8));
  }
  if (!found.extra.empty()) out += "NOT ASKED FOR\n";
  for (const ExtraRun& e : found.extra) {
    const RecordedStep* step = StepOf(plan, e.dataset);
    std::string line = Printable(e.dataset);
    if (!e.cells.empty())
      line += "  " + (step && step->grain ? SpansText(CalendarOf(*step), e.cells) : InstantsText(e.cells));
    out += "  " + Wrapped(line + "; " + Printable(e.said), width, 2, 6) + "\n";
  }
  for (const std::string& note : found.notes) out += Wrapped(Printable(note), width, 0) + "\n";
  return out;
}

std::string ReconcileJson(const RecordedPlan& plan, const Reconciliation& found) {
  Json steps = Json::array(), extra = Json::array();
  for (const ReconciledStep& s : found.steps) {
    const RecordedStep* step = plan.Step(s.id);
    const Calendar calendar = step ? CalendarOf(*step) : Calendar();
    steps.push_back({{"id", s.id},
                     {"dataset", s.dataset},
                     {"state", s.state},
                     {"whole", s.whole},
                     {"ran", SpansJson(calendar, s.ran)},
                     {"missing", SpansJson(calendar, s.missing)},
                     {"failed", SpansJson(calendar, s.failed)},
                     {"said", s.said}});
  }
  for (const ExtraRun& e : found.extra) {
    const RecordedStep* step = StepOf(plan, e.dataset);
    Json spans = Json::array();
    if (step && step->grain)
      spans = SpansJson(CalendarOf(*step), e.cells);
    else
      for (const Span& s : e.cells)
        spans.push_back({{"from", Json()},
                         {"to", Json()},
                         {"start", FormatInstant(s.start)},
                         {"end", FormatInstant(s.end)}});
    extra.push_back({{"dataset", e.dataset}, {"spans", spans}, {"said", e.said}});
  }
  const Json j = {{"format", "backreach.reconcile/1"},
                  {"plan", found.plan},
                  {"steps", steps},
                  {"not_asked_for", extra},
                  {"notes", found.notes}};
  return j.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

namespace {

void ChangeLines(const LineageGraph& graph, const std::vector<PlanChange>& changes, const char* mark,
                 int width, std::string& out) {
  for (const PlanChange& c : changes) {
    const auto d =
        std::lower_bound(graph.datasets.begin(), graph.datasets.end(), c.dataset,
                         [](const Dataset& known, const std::string& name) { return known.name < name; });
    const std::string cells = c.whole                                             ? "whole"
                              : d != graph.datasets.end() && d->name == c.dataset ? SpansText(*d, c.cells)
                                                                                  : InstantsText(c.cells);
    out += fmt::format("  {} {}  {}\n", mark, Printable(c.dataset), cells);
    for (const std::string& why : c.because) out += "      " + Wrapped(Printable(why), width, 6, 8) + "\n";
  }
}

}  // namespace

std::string PlanDifferenceText(const LineageGraph& graph, const PlanDifference& d, int width) {
  std::string out = fmt::format("plan {} against {}: {}\n", d.new_id, d.old_id,
                                d.same_graph ? "the same graph" : "the graph is another one");
  for (const std::string& line : d.request)
    out += "  " + Wrapped("asked otherwise: " + Printable(line), width, 2, 4) + "\n";
  if (d.added.empty() && d.gone.empty()) return out + "no cell came, none went\n";
  ChangeLines(graph, d.added, "+", width, out);
  ChangeLines(graph, d.gone, "-", width, out);
  return out;
}

namespace {

std::string Told(const std::vector<std::string>& told) { return told.empty() ? "nothing" : Join(told, ", "); }

std::string RunLine(const Simulated& r, const std::string& name, std::size_t width) {
  return fmt::format("  {:<{}}  {:<16}  {:>3} -> {:>3} (right: {:>3})  {:<45}  {}", name, width,
                     ToString(r.effect), r.rows_before, r.rows_after, r.rows_right,
                     r.moved.empty() ? "-" : Join(r.moved, ", "), r.moved.empty() ? "" : Told(r.told_by));
}

}  // namespace

std::string SimulateText(const std::vector<Simulated>& runs, int) {
  std::string out;
  std::optional<Situation> last;
  for (const Simulated& r : runs) {
    if (last != r.situation) {
      out += fmt::format("{}{}: {}\n", last ? "\n" : "", ToString(r.situation), SentenceOf(r.situation));
      out += fmt::format("  {:<26}  {:<16}  {:<24}  {:<45}  {}\n", "written by", "effect", "rows", "moves",
                         "told by");
      last = r.situation;
    }
    std::string line = RunLine(r, ToString(r.way), 26);
    while (!line.empty() && line.back() == ' ') line.pop_back();
    out += line + "\n";
  }
  return out;
}

std::string SimulatedPlanText(const std::vector<SimulatedStep>& steps, int width) {
  std::string out;
  for (const SimulatedStep& s : steps) {
    out += fmt::format("{}  {}  {}\n", s.id, Printable(s.dataset),
                       s.way.empty() ? "written in a way that cannot be shown" : "written by " + s.way);
    if (s.way.empty()) {
      out += "     plan: " + (s.predicted.empty() ? "a correction by hand" : s.predicted) + "\n";
      continue;
    }
    for (const Simulated& r : s.runs) {
      std::vector<std::string> own;
      for (const std::string& check : r.told_by)
        if (std::find(s.checks.begin(), s.checks.end(), check) != s.checks.end()) own.push_back(check);
      std::string rows = fmt::format("{} -> {} rows of the made-up table", r.rows_before, r.rows_after);
      if (s.rows && r.rows_before > 0)
        rows = fmt::format("about {} -> {} rows", Thousands(*s.rows),
                           Thousands(static_cast<std::int64_t>(static_cast<double>(*s.rows) *
                                                               static_cast<double>(r.rows_after) /
                                                               static_cast<double>(r.rows_before))));
      const std::string text = fmt::format(
          "{}: {}; {}{}", SentenceOf(r.situation), ToString(r.effect), rows,
          r.moved.empty()
              ? ""
              : fmt::format("; moves {}; of the checks that it has: {}", Join(r.moved, ", "), Told(own)));
      out += fmt::format("     {}\n", Wrapped(text, width, 5, 7));
    }
    out += fmt::format("     plan: {}\n", s.predicted);
  }
  return out;
}

namespace {

Json SimulatedJson(const Simulated& r) {
  return {{"way", ToString(r.way)},       {"situation", ToString(r.situation)},
          {"effect", ToString(r.effect)}, {"moved", r.moved},
          {"told_by", r.told_by},         {"rows_before", r.rows_before},
          {"rows_after", r.rows_after},   {"rows_right", r.rows_right}};
}

}  // namespace

std::string SimulateJson(const std::vector<Simulated>& runs, const std::vector<SimulatedStep>* steps) {
  Json j = {{"format", "backreach.simulate/1"}};
  if (!steps) {
    j["runs"] = Json::array();
    for (const Simulated& r : runs) j["runs"].push_back(SimulatedJson(r));
  } else {
    j["steps"] = Json::array();
    for (const SimulatedStep& s : *steps) {
      Json own = Json::array();
      for (const Simulated& r : s.runs) own.push_back(SimulatedJson(r));
      j["steps"].push_back({{"id", s.id},
                            {"dataset", s.dataset},
                            {"way", s.way.empty() ? Json() : Json(s.way)},
                            {"predicted", s.predicted.empty() ? Json() : Json(s.predicted)},
                            {"rows", s.rows ? Json(*s.rows) : Json()},
                            {"checks", s.checks},
                            {"runs", own}});
    }
  }
  return j.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace backreach
