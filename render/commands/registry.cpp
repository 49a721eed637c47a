// The registry's own commands: one line of shell each, whose placeholders are the period.

#include <fmt/format.h>

#include "graph/base/words.hpp"
#include "render/commands/lines.hpp"
#include "render/quote.hpp"

namespace backreach {

namespace {

std::string KeyAt(const Calendar& calendar, const std::string& format, Instant t) {
  return format.empty() ? calendar.Key(t) : FormatTime(calendar.Nominal(calendar.Index(t)), format);
}

// What one run writes, where that is longer than a cell of the step.
Calendar RunCalendar(const Step& step, const way::Shell& shell) {
  const Calendar& cells = *step.calendar;
  if (!shell.runs || shell.runs->none()) return cells;
  const Calendar runs(*shell.runs, &cells.zone(), cells.starts_at(), cells.week_start());
  const Instant at = step.spans.front().start;
  return runs.Next(at) - runs.Floor(at) > cells.Next(at) - cells.Floor(at) ? runs : cells;
}

}  // namespace

std::string FormatTime(Civil c, const std::string& format) {
  const std::int64_t days = c >= 0 ? c / kDay : -((-c + kDay - 1) / kDay);
  const CivilDate date = CivilFromDays(days);
  const std::int64_t second = c - days * kDay;
  std::string out;
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%' || i + 1 == format.size()) {
      out += format[i];
      continue;
    }
    switch (format[++i]) {
      case 'Y': out += fmt::format("{:04}", date.year); break;
      case 'y': out += fmt::format("{:02}", date.year % 100); break;
      case 'm': out += fmt::format("{:02}", date.month); break;
      case 'd': out += fmt::format("{:02}", date.day); break;
      case 'j': out += fmt::format("{:03}", days - DaysFromCivil(date.year, 1, 1) + 1); break;
      case 'H': out += fmt::format("{:02}", second / kHour); break;
      case 'M': out += fmt::format("{:02}", second % kHour / kMinute); break;
      case 'S': out += fmt::format("{:02}", second % kMinute); break;
      case 'F': out += fmt::format("{:04}-{:02}-{:02}", date.year, date.month, date.day); break;
      case '%': out += '%'; break;
      default: out += fmt::format("%{}", format[i]); break;
    }
  }
  return out;
}

std::vector<Line> RegistryLines(const Step& own, const way::Shell& shell) {
  if (shell.spans) {
    Step step;
    step.calendar = own.calendar;
    step.spans = *shell.spans;
    way::Shell alone = shell;
    alone.spans.reset();
    return RegistryLines(step, alone);
  }
  const Step& step = own;
  if (step.whole || step.spans.empty() || !IsFinite(step.spans.front().start)) return {{shell.line, {}}};
  const Calendar& cells = *step.calendar;
  const Calendar runs = RunCalendar(step, shell);
  const auto stretches = Stretches(step, shell.each_cell ? runs : cells, shell.each_cell);
  std::vector<Line> out;
  for (const Span& s : stretches) {
    auto text = ShellFilled(shell.line, {{"{from}", KeyAt(cells, shell.key_format, s.start)},
                                         {"{to}", KeyAt(cells, shell.key_format, s.end - 1)},
                                         {"{key}", KeyAt(runs, shell.key_format, s.start)},
                                         {"{start}", FormatInstant(s.start)},
                                         {"{end}", FormatInstant(s.end)}});
    if (!text) return {};  // a key that would have to be quoted where nobody knows how
    if (!out.empty() && out.back().text == *text) continue;
    out.push_back({std::move(*text), {}});
  }
  return out;
}

}  // namespace backreach
