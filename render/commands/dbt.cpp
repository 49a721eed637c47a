// dbt: what it is called with. Windows of event times are UTC with their end excluded, and never stand beside
// --full-refresh, --empty or --sample, which lose rows; variables hold what the project says they hold.

#include <fmt/format.h>

#include "graph/base/words.hpp"
#include "render/commands/lines.hpp"
#include "render/quote.hpp"

namespace backreach {

namespace {

Line Call(std::vector<std::string> words) {
  std::vector<std::string> quoted;
  for (const std::string& word : words) quoted.push_back(ShellWord(word));
  return {Join(quoted, " "), std::move(words)};
}

// dbt takes naive times and means UTC.
std::string EventTime(Instant t) {
  std::string text = FormatInstant(t);
  text.pop_back();
  return EndsWith(text, "T00:00:00") ? text.substr(0, 10) : text;
}

// The last day of a stretch, of cells shorter than a day the last hour or cell.
std::string LastOf(const Calendar& calendar, Span span) {
  const Grain::Unit unit = calendar.grain().unit;
  if (unit == Grain::Unit::kMinutes) return FormatCivilInstant(calendar.Floor(span.end - 1), calendar.zone());
  const bool hours = unit == Grain::Unit::kHour || unit == Grain::Unit::kHours;
  const Calendar last(Grain{hours ? Grain::Unit::kHour : Grain::Unit::kDay, 1}, &calendar.zone(),
                      hours ? 0 : calendar.starts_at());
  if (!hours) return last.Key(span.end - 1);
  const std::string text = FormatCivilInstant(last.Floor(span.end - 1), calendar.zone());
  return text.size() == 10 ? text + "T00:00" : text;
}

}  // namespace

std::vector<Line> DbtLines(const Step&, const way::DbtRun& run) {
  std::vector<std::string> words = {"dbt", "run"};
  if (run.full_refresh) words.push_back("--full-refresh");
  words.insert(words.end(), {"--select", run.selector});
  return {Call(std::move(words))};
}

std::vector<Line> DbtLines(const Step&, const way::DbtSeed& seed) {
  return {Call({"dbt", "seed", "--select", seed.selector})};
}

std::vector<Line> DbtLines(const Step& step, const way::DbtBatches& batches) {
  std::vector<Span> windows;
  if (batches.window)
    windows.push_back(*batches.window);
  else
    windows = Stretches(step, *step.calendar, false);
  std::vector<Line> out;
  for (const Span& s : windows) {
    std::vector<std::string> words = {"dbt",
                                      "run",
                                      "--select",
                                      batches.selector,
                                      "--event-time-start",
                                      EventTime(s.start),
                                      "--event-time-end",
                                      EventTime(s.end)};
    // With one thread dbt takes batch after batch, oldest first, whatever the model says of them.
    if (batches.in_order) words.insert(words.end(), {"--threads", "1"});
    out.push_back(Call(std::move(words)));
  }
  return out;
}

std::vector<Line> DbtLines(const Step& step, const way::DbtVars& vars) {
  const Calendar& calendar = *step.calendar;
  std::vector<Line> out;
  for (const Span& s : Stretches(step, calendar, vars.each_cell)) {
    std::string json =
        fmt::format("{{{}: {}", JsonText(vars.from), JsonText(FormatCivilInstant(s.start, calendar.zone())));
    if (!vars.to.empty())
      json += fmt::format(
          ", {}: {}", JsonText(vars.to),
          JsonText(vars.inclusive ? LastOf(calendar, s) : FormatCivilInstant(s.end, calendar.zone())));
    out.push_back(Call({"dbt", "run", "--select", vars.selector, "--vars", json + "}"}));
  }
  return out;
}

}  // namespace backreach
