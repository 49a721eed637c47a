// A plan as its file has it, for what looks at it later: the log of runs, counts, what ran, another plan.
// Names and times stand as they were written; the graph that it was made from need not be there any more.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graph/time/calendar.hpp"
#include "graph/time/span.hpp"

namespace backreach {

// A stretch of cells: its first and last key, both included ("" where the beginning is unknown), and
// instants.
struct RecordedSpan {
  std::string from, to;
  Span span;
  std::map<std::string, std::vector<std::string>> where;  // of dimensions beside time
};

struct RecordedCells {
  std::string dataset;
  bool whole = false;
  std::vector<RecordedSpan> spans;
  SpanSet Set() const;
};

struct RecordedReason {
  std::string from, reads_text;
};

struct RecordedCheck {
  std::string name, kind, text;
};

struct RecordedMethod {
  std::string engine;
  std::vector<std::string> commands;
};

struct RecordedStep {
  int id = 0, wave = 0;
  std::vector<int> after;
  RecordedCells cells;
  bool correct = false, sequential = false;
  std::optional<int> run;
  std::optional<Grain> grain;  // nothing: unknown or none
  std::string timezone;
  std::optional<std::int64_t> partitions;
  std::vector<RecordedCells> reads, rewrites;
  std::vector<RecordedReason> because;
  std::string effect;  // "" for a correction
  std::vector<RecordedMethod> methods;
  std::vector<RecordedCheck> before, after_run;
  std::vector<std::string> hazards;
};

struct RecordedHazard {
  std::string code, severity, message;
  RecordedCells cells;  // of no dataset where its name is ""
  bool accepted = false;
  std::map<std::string, std::vector<std::string>> evidence;
};

struct RecordedTarget {
  RecordedCells cells;
  SpanSet asked;  // the dates as they were given, before widening to partitions
};

struct RecordedPlan {
  std::string path;  // of the file, for messages
  std::string id, fingerprint, summary;
  Instant now = 0;
  // The request.
  std::vector<RecordedTarget> targets;
  std::vector<RecordedCells> excluded, unchanged;
  std::vector<std::string> accepted, narrow, full_refresh;
  std::map<std::string, std::vector<std::string>> where;
  bool include_open = false, strict = false;
  // The answer.
  std::vector<RecordedStep> steps;  // in an order that can be run
  std::vector<RecordedCells> afterwards;
  std::vector<std::string> fresh_on_read;
  std::vector<RecordedHazard> hazards;

  const RecordedStep* Step(int id) const;
  // What reads this dataset in the plan, by name: steps, and views that are fresh on read are not among them.
  std::vector<std::string> ReadersOf(const std::string& dataset) const;
};

// How a step's cells are cut, as far as its file tells: the hour at which its days begin and its first
// weekday follow from where its cells begin.
Calendar CalendarOf(const RecordedStep& step);

}  // namespace backreach
