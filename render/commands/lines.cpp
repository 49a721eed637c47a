// Which engine's file knows a way.

#include "render/commands/lines.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "graph/base/words.hpp"

namespace backreach {

namespace {

// More lines than this nobody runs one by one.
constexpr std::size_t kMostLines = 10'000;

struct Writer {
  const Step& step;
  const Method& method;
  std::vector<Line> operator()(const std::monostate&) const {
    std::vector<Line> out;
    for (const std::string& command : method.commands) out.push_back({command, {}});
    return out;
  }
  std::vector<Line> operator()(const way::Refresh& refresh) const { return RefreshLines(refresh); }
  std::vector<Line> operator()(const way::Shell& shell) const { return RegistryLines(step, shell); }
  std::vector<Line> operator()(const way::SqlMeshRestate& restate) const {
    return SqlMeshLines(step, restate);
  }
  std::vector<Line> operator()(const way::DagsterBackfill& backfill) const {
    return DagsterLines(step, backfill);
  }
  template <typename T>
  std::vector<Line> operator()(const T& dbt) const {
    return DbtLines(step, dbt);
  }
};

}  // namespace

std::vector<Line> LinesOf(const Step& step, const Method& method) {
  return std::visit(Writer{step, method}, method.way);
}

std::string CommandOf(const Step& step, const Method& method) {
  constexpr std::size_t kMostShown = 8;
  const std::vector<Line> lines = LinesOf(step, method);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < std::min(lines.size(), kMostShown); ++i) texts.push_back(lines[i].text);
  const std::string all = Join(texts, " && ");
  return lines.size() <= kMostShown ? all : fmt::format("{} and {} more", all, lines.size() - kMostShown);
}

std::vector<Span> Stretches(const Step& step, const Calendar& calendar, bool each_cell) {
  std::vector<Span> out;
  for (const Span& s : step.spans) {
    if (!IsFinite(s.start) || out.size() > kMostLines) return {};
    if (!each_cell) {
      out.push_back(s);
      continue;
    }
    for (Instant t = calendar.Floor(s.start); t < s.end; t = calendar.Next(t)) {
      if (out.size() > kMostLines) return {};
      out.push_back({t, calendar.Next(t)});
    }
  }
  return out;
}

}  // namespace backreach
