// SQLMesh: a restatement of one model and of nothing below it, since the plan has a step for each of these.
// The same name twice does that: with --restate-model alone SQLMesh goes on downstream by rules of its own.

#include "graph/base/words.hpp"
#include "render/commands/lines.hpp"

namespace backreach {

namespace {

// SQLMesh takes the end of a date as included and that of a time as excluded; both are UTC.
std::pair<std::string, std::string> Bounds(const Calendar& calendar, Span span) {
  if (calendar.grain().bears_dates())
    return {FormatInstant(span.start).substr(0, 10), FormatInstant(span.end - 1).substr(0, 10)};
  const auto time = [](Instant t) {
    std::string text = FormatInstant(t).substr(0, 19);
    text[10] = ' ';
    return text;
  };
  return {time(span.start), time(span.end)};
}

}  // namespace

std::vector<Line> SqlMeshLines(const Step& step, const way::SqlMeshRestate& restate) {
  const std::string model = ShellWord(restate.model);
  const std::string head = "sqlmesh plan --restate-model " + model + " --backfill-model " + model,
                    tail = " --auto-apply --no-prompts --skip-tests";
  if (step.whole || !step.calendar) return {{head + tail, {}}};
  std::vector<Line> out;
  for (const Span& s : Stretches(step, *step.calendar, false)) {
    const auto [start, end] = Bounds(*step.calendar, s);
    out.push_back({head + " --start " + ShellWord(start) + " --end " + ShellWord(end) + tail, {}});
  }
  return out;
}

}  // namespace backreach
