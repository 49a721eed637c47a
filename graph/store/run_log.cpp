// A run, its steps, and the stretches of each: those that it is to write, and those that are done.

#include "graph/store/run_log.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <initializer_list>
#include <map>
#include <tuple>
#include <utility>

#include "graph/base/words.hpp"

namespace backreach {

namespace {

template <typename State>
State StateOf(const Database& db, const std::string& word, std::initializer_list<State> all) {
  for (const State state : all)
    if (word == ToString(state)) return state;
  StoreDamaged(db.path(), "its log of runs says '" + word + "'");
}

// `region=eu,us` a line. A value may hold anything but these signs, which are percent-coded.
std::string Coded(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '%' || c == '=' || c == ',' || c == '\n')
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out;
}
std::string Decoded(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      out += static_cast<char>(std::strtol(text.substr(i + 1, 2).c_str(), nullptr, 16));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}
std::string WriteDimensions(const std::map<std::string, std::vector<std::string>>& where) {
  std::vector<std::string> lines;
  for (const auto& [name, values] : where) {
    std::vector<std::string> coded;
    for (const std::string& value : values) coded.push_back(Coded(value));
    lines.push_back(Coded(name) + "=" + Join(coded, ","));
  }
  return Join(lines, "\n");
}
std::map<std::string, std::vector<std::string>> ReadDimensions(const std::string& text) {
  std::map<std::string, std::vector<std::string>> out;
  if (text.empty()) return out;
  for (const std::string& line : Split(text, '\n')) {
    const std::size_t at = line.find('=');
    if (at == std::string::npos) continue;
    for (const std::string& value : Split(line.substr(at + 1), ','))
      out[Decoded(line.substr(0, at))].push_back(Decoded(value));
  }
  return out;
}

void ReadSteps(Database& db, std::map<std::int64_t, LoggedRun*>& runs) {
  using Step = LoggedStep::State;
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, std::pair<std::int64_t, std::size_t>> places;
  Statement steps(
      db,
      "SELECT run, step, n, dataset, whole, along, state, at, position, dimensions FROM run_step "
      "ORDER BY run, step, n");
  while (steps.executeStep()) {
    const auto number = [&](int column) { return steps.getColumn(column).getInt64(); };
    const auto text = [&](int column) { return steps.getColumn(column).getString(); };
    const auto run = runs.find(number(0));
    if (run == runs.end()) StoreDamaged(db.path(), "a step of no run");
    LoggedStep step;
    step.id = static_cast<int>(number(1));
    step.dataset = text(3), step.whole = number(4) != 0, step.along = number(5) != 0;
    step.state = StateOf(db, text(6), {Step::kPlanned, Step::kStarted, Step::kDone, Step::kFailed});
    step.at = text(7), step.position = text(8), step.where = ReadDimensions(text(9));
    places[{number(0), number(1), number(2)}] = {number(0), run->second->steps.size()};
    run->second->steps.push_back(std::move(step));
  }
  Statement spans(
      db, "SELECT run, step, n, done, begins, ends FROM run_span ORDER BY run, step, n, done, begins");
  while (spans.executeStep()) {
    const auto number = [&](int column) { return spans.getColumn(column).getInt64(); };
    const auto place = places.find({number(0), number(1), number(2)});
    if (place == places.end()) StoreDamaged(db.path(), "cells of no step of a run");
    LoggedStep& step = runs[place->second.first]->steps[place->second.second];
    (number(3) != 0 ? step.done : step.spans).Add(SpanSet(Span{number(4), number(5)}));
  }
}

}  // namespace

std::vector<LoggedRun> ReadRunLog(Database& db) {
  std::vector<LoggedRun> out;
  if (!db.HasTable("run")) return out;
  using Run = LoggedRun::State;
  Statement runs(
      db, "SELECT id, plan, state, started_at, ended_at, started_by, summary FROM run ORDER BY id");
  while (runs.executeStep()) {
    const auto text = [&](int column) { return runs.getColumn(column).getString(); };
    LoggedRun& run = out.emplace_back();
    run.number = runs.getColumn(0).getInt64();
    run.plan = text(1);
    run.state = StateOf(db, text(2), {Run::kInProgress, Run::kFinished, Run::kAbandoned});
    run.started_at = text(3), run.ended_at = text(4), run.by = text(5), run.summary = text(6);
  }
  std::map<std::int64_t, LoggedRun*> by_number;
  for (LoggedRun& run : out) by_number[run.number] = &run;
  if (!out.empty()) ReadSteps(db, by_number);
  return out;
}

void WriteRun(Database& db, const LoggedRun& run) {
  std::int64_t number = run.number;
  {
    Statement q(db, number == 0 ? "INSERT INTO run (plan, state, started_at, ended_at, started_by, summary) "
                                  "VALUES (?, ?, ?, ?, ?, ?) RETURNING id"
                                : "UPDATE run SET plan = ?, state = ?, started_at = ?, ended_at = ?, "
                                  "started_by = ?, summary = ? WHERE id = ? RETURNING id");
    q.bind(1, run.plan), q.bind(2, ToString(run.state)), q.bind(3, run.started_at);
    q.bind(4, run.ended_at), q.bind(5, run.by), q.bind(6, run.summary);
    if (number != 0) q.bind(7, number);
    if (!q.executeStep()) StoreDamaged(db.path(), "a run that was started is not in its log");
    number = q.getColumn(0).getInt64();
    q.exec();
  }
  for (const char* table : {"run_step", "run_span"}) {
    Statement q(db, std::string("DELETE FROM ") + table + " WHERE run = ?");
    q.bind(1, number);
    q.exec();
  }
  Statement steps(
      db,
      "INSERT INTO run_step (run, step, n, dataset, whole, along, state, at, position, dimensions) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  Statement spans(db, "INSERT INTO run_span VALUES (?, ?, ?, ?, ?, ?)");
  std::map<int, int> count;  // a step's own cells, then what it writes along
  for (const LoggedStep& step : run.steps) {
    const int n = count[step.id]++;
    steps.bind(1, number), steps.bind(2, step.id), steps.bind(3, n), steps.bind(4, step.dataset);
    steps.bind(5, step.whole ? 1 : 0), steps.bind(6, step.along ? 1 : 0), steps.bind(7, ToString(step.state));
    steps.bind(8, step.at), steps.bind(9, step.position), steps.bind(10, WriteDimensions(step.where));
    steps.exec();
    steps.reset();
    for (const bool done : {false, true})
      for (const Span& s : done ? step.done : step.spans) {
        spans.bind(1, number), spans.bind(2, step.id), spans.bind(3, n), spans.bind(4, done ? 1 : 0);
        spans.bind(5, static_cast<std::int64_t>(s.start)), spans.bind(6, static_cast<std::int64_t>(s.end));
        spans.exec();
        spans.reset();
      }
  }
}

}  // namespace backreach
