// The ordinary run is judged first, then each engine says with which commands it does exactly these cells.

#include "analysis/methods.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "graph/words.hpp"

namespace backreach {

std::string ShellWord(const std::string& text) {
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._-/:=@,+%").find(c) != std::string_view::npos;
  });
  if (plain) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

namespace {

// dbt takes naive times and means UTC; the end is excluded.
std::string DbtTime(Instant t) {
  std::string text = FormatInstant(t);
  text.pop_back();
  return EndsWith(text, "T00:00:00") ? text.substr(0, 10) : text;
}

Effect EffectOf(Writes writes) {
  switch (writes) {
    case Writes::kAppend: return Effect::kDuplicated;
    case Writes::kUnknown: return Effect::kUnknown;
    case Writes::kNone:
    case Writes::kSnapshot: return Effect::kNone;
    default: return Effect::kReplaced;
  }
}

// `refresh`: what a full refresh does.
void DbtMethods(const Dataset& d, const std::string& selector, Effect effect, Effect refresh, Step& step) {
  const std::string select = "--select " + ShellWord(selector);
  if (d.built_anew) {  // never beside a window, which would be all that is left
    step.methods.push_back({"dbt", "dbt run --full-refresh " + select, effect});
    return;
  }
  if (d.kind == Kind::kSeed) {
    step.methods.push_back({"dbt", "dbt seed " + select, effect});
    return;
  }
  if (d.methods.count("dbt_batches") && !step.whole) {
    // One window for each stretch; never beside --full-refresh, --empty or --sample, which lose rows.
    std::vector<std::string> commands;
    for (const Span& s : step.spans)
      if (IsFinite(s.start))
        commands.push_back(fmt::format("dbt run {} --event-time-start {} --event-time-end {}", select,
                                       ShellWord(DbtTime(s.start)), ShellWord(DbtTime(s.end))));
    if (!commands.empty())
      step.methods.push_back({"dbt", Join(commands, " && "), effect});
    else
      step.methods.push_back({"dbt", "dbt run " + select, effect});
  } else if (!d.vars.empty() && !step.whole && d.vars.count("from")) {
    std::vector<std::string> commands;
    for (const Span& s : step.spans) {
      if (!IsFinite(s.start)) continue;
      const bool inclusive = d.vars.count("to_is") && d.vars.at("to_is") == "inclusive";
      const Zone& zone = step.calendar->zone();
      std::string vars =
          fmt::format("{{\"{}\": \"{}\"", d.vars.at("from"), FormatCivilInstant(s.start, zone));
      if (d.vars.count("to"))
        vars += fmt::format(", \"{}\": \"{}\"", d.vars.at("to"),
                            inclusive ? step.calendar->Key(s.end - 1) : FormatCivilInstant(s.end, zone));
      commands.push_back(fmt::format("dbt run {} --vars {}", select, ShellWord(vars + "}")));
    }
    step.methods.push_back({"dbt", Join(commands, " && "), effect});
  } else {
    step.methods.push_back({"dbt", "dbt run " + select, effect});
  }
  const bool incremental =
      d.writes != Writes::kWhole && d.writes != Writes::kRefresh && d.writes != Writes::kUnknown;
  if (incremental && !d.full_refresh_off)
    step.methods.push_back({"dbt", "dbt run --full-refresh " + select, refresh});
}

void AirflowMethods(const LineageGraph& graph, const Dataset& d, Effect effect, Step& step) {
  for (const JobId id : d.jobs) {
    const Job& job = graph[id];
    const auto it = job.methods.find("airflow");
    if (it == job.methods.end()) continue;
    const auto words = Split(it->second, ' ');
    std::vector<std::string> commands;
    if (!step.whole && job.schedule && job.schedule->covers == "interval") {
      // Logical dates are the starts of the intervals; both ends are included, so the last one is its start.
      for (const Span& s : step.spans)
        if (IsFinite(s.start))
          commands.push_back(fmt::format(
              "airflow backfill create --dag-id {} --from-date {} --to-date {} --reprocess-behavior "
              "completed",
              ShellWord(words[0]), FormatInstant(s.start), FormatInstant(step.calendar->Floor(s.end - 1))));
    }
    if (commands.empty()) commands.push_back("airflow dags trigger " + ShellWord(words[0]));
    step.methods.push_back({"airflow", Join(commands, " && "), effect});
  }
}

}  // namespace

void FillMethods(const LineageGraph& graph, bool inputs_gone, bool bounded, Step& step) {
  const Dataset& d = graph[step.dataset];
  if (step.correct) {
    if (d.kind == Kind::kSeed && d.methods.count("dbt"))
      DbtMethods(d, d.methods.at("dbt"), Effect::kReplaced, Effect::kReplaced, step);
    return;
  }
  const Effect effect = d.written_whole() && inputs_gone ? Effect::kLost : EffectOf(d.writes);
  step.effect = effect;
  if (d.writes == Writes::kRefresh)
    step.methods.push_back({d.platform.empty() ? "warehouse" : d.platform, "refresh " + d.name, effect});
  else if (const auto it = d.methods.find("dbt"); it != d.methods.end())
    DbtMethods(d, it->second, effect, inputs_gone || bounded ? Effect::kLost : Effect::kReplaced, step);
  if (d.built_anew) return;  // jobs run it as they always do
  AirflowMethods(graph, d, effect, step);
  for (const JobId id : d.jobs)
    if (const auto it = graph[id].methods.find("shell"); it != graph[id].methods.end())
      step.methods.push_back({"shell", it->second, effect});
}

}  // namespace backreach
