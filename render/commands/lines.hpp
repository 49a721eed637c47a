// A way to run a step, as lines that can be typed.
#pragma once

#include <string>
#include <vector>

#include "analysis/plan/plan.hpp"

namespace backreach {

// A line, and where it calls one program with words, these: a feed may put several such calls together.
struct Line {
  std::string text;
  std::vector<std::string> words;
};

// To be run in turn, one a stretch or one a cell. None where there would be more than anybody runs.
std::vector<Line> LinesOf(const Step& step, const Method& method);
// For people: joined by ` && `, the first few.
std::string CommandOf(const Step& step, const Method& method);

// One way each, by engine.
std::vector<Line> DbtLines(const Step& step, const way::DbtRun& run);
std::vector<Line> DbtLines(const Step& step, const way::DbtSeed& seed);
std::vector<Line> DbtLines(const Step& step, const way::DbtBatches& batches);
std::vector<Line> DbtLines(const Step& step, const way::DbtVars& vars);
std::vector<Line> RefreshLines(const way::Refresh& refresh);
std::vector<Line> RegistryLines(const Step& step, const way::Shell& shell);
std::vector<Line> SqlMeshLines(const Step& step, const way::SqlMeshRestate& restate);
std::vector<Line> DagsterLines(const Step& step, const way::DagsterBackfill& backfill);

// The stretches of a step, or its cells oldest first; `calendar` cuts them.
std::vector<Span> Stretches(const Step& step, const Calendar& calendar, bool each_cell);
// A wall-clock time by strftime's letters for dates; what is none of them stays as it is.
std::string FormatTime(Civil c, const std::string& format);

}  // namespace backreach
