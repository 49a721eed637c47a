// What commands share: the store's path, formats, common options.

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <iostream>

#include "cli/command.hpp"
#include "graph/base/words.hpp"
#include "graph/time/calendar.hpp"
#include "graph/time/time.hpp"

namespace backreach {

std::string StorePath(const Arguments& arguments) {
  if (const auto given = arguments.value("store")) {
    if (given->empty()) throw Error("backreach: error: --store '' names no store: give the path of one");
    return *given;
  }
  if (const char* environment = std::getenv("BACKREACH_STORE"); environment && *environment)
    return environment;
  return ".backreach/graph.db";
}

void Say(const Arguments& arguments, const std::string& text) {
  if (!arguments.flag("quiet") && !text.empty()) std::cerr << text;
}

std::string FormatOf(const Arguments& arguments, const std::vector<std::string>& known,
                     const std::string& usual) {
  const std::string format = arguments.value("format").value_or(usual);
  for (const std::string& name : known)
    if (name == format) return format;
  const auto near = Nearest(format, known, 1);
  throw Error(fmt::format("backreach: error: --format '{}' must be one of {}{}", format, Join(known, ", "),
                          near.empty() ? "" : "\n  did you mean: " + near[0]));
}

std::int64_t ClockNow() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::optional<std::int64_t> MomentOf(const Arguments& arguments, const std::string& option) {
  const auto given = arguments.value(option);
  if (!given) return std::nullopt;
  if (given->find(':') != std::string::npos)
    if (const auto instant = ParseInstant(*given, true)) return instant;
  const DateResult date = ParseDate(*given, Calendar());
  if (date.span && IsFinite(date.span->end)) return date.span->end - 1;
  throw Error(
      fmt::format("backreach: error: --{} '{}' is no instant or date: write 2026-11-01 or "
                  "2026-11-01T09:00Z",
                  option, *given));
}

int TerminalWidth() {
  struct winsize size {};
  if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 60)
    return std::min<int>(size.ws_col, 160);
  return 80;
}

bool Coloured() { return isatty(STDOUT_FILENO) && !std::getenv("NO_COLOR"); }

std::vector<OptionSpec> CommonOptions() {
  using Kind = OptionSpec::Kind;
  return {{Kind::kValue, "store", "PATH",
           "the graph store: a file, or postgresql://user@host/db (default: $BACKREACH_STORE, or "
           ".backreach/graph.db)"},
          {Kind::kFlag, "quiet", "", "say nothing on standard error but errors"}};
}

std::vector<OptionSpec> RequestOptions() {
  using Kind = OptionSpec::Kind;
  return {
      {Kind::kValue, "from", "DATE", "first day, hour, month, ... that is corrected, in the target's zone"},
      {Kind::kValue, "to", "DATE", "last one, included (default: the last complete partition)"},
      {Kind::kList, "range", "A..B", "a range, both ends included; may be given several times"},
      {Kind::kFlag, "whole", "", "all of the target"},
      {Kind::kValue, "now", "INSTANT",
       "the instant to plan from (default: the clock, read once); UTC unless it has a zone"},
      {Kind::kList, "exclude", "DATASET[:A..B]", "leave this out: it is left stale, and named"},
      {Kind::kValue, "state", "FOLDER", "an older target folder of dbt, for state: and result: selectors"},
      {Kind::kFlag, "include-open", "",
       "keep an open partition that was asked for in the plan (it stays flagged)"},
      {Kind::kList, "unchanged", "DATASET@KEY", "this cell came out as it was: it dirties nothing"},
      {Kind::kList, "accept", "CODE[:DATASET]", "accept a hazard, everywhere or on one dataset"},
      {Kind::kValue, "fail-on", "SEVERITY",
       "exit status 1 at or above this: note, warning, blocking (default)"},
      {Kind::kList, "narrow", "DATASET", "treat it as row_time: exact, for this plan"},
      {Kind::kOptional, "full-refresh", "DATASET",
       "[=DATASET]: build all steps, or these, from nothing; refused where rows would be lost"},
      {Kind::kFlag, "strict", "", "read mappings that are only assumed as all"},
      {Kind::kList, "where", "DIMENSION=VALUE", "only these partitions beside time"},
      {Kind::kValue, "threads", "N", "how many steps may run together, for estimates"}};
}

std::string AskedWords(const Arguments& arguments, const std::vector<OptionSpec>& specs) {
  std::vector<std::string> words;
  for (const std::string& word : arguments.words) words.push_back(ShellWord(word));
  for (const OptionSpec& spec : specs) {
    const auto given = arguments.values.find(spec.name);
    if (given == arguments.values.end()) continue;
    const std::string name = std::string("--") + spec.name;
    if (spec.kind == OptionSpec::Kind::kFlag) {
      words.push_back(name);
      continue;
    }
    for (const std::string& value : given->second) {
      if (spec.kind == OptionSpec::Kind::kOptional) {
        words.push_back(value.empty() ? name : name + "=" + ShellWord(value));
        continue;
      }
      words.push_back(name);
      words.push_back(ShellWord(value));
    }
  }
  return Join(words, " ");
}

std::vector<OptionSpec> operator+(std::vector<OptionSpec> a, const std::vector<OptionSpec>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace backreach
