// The question: which datasets are corrected, over which spans, seen from which instant.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "graph/facts/run_log.hpp"
#include "graph/lineage/lineage.hpp"
#include "graph/time/span.hpp"

namespace backreach {

struct Target {
  DatasetId dataset;
  bool whole = false;      // asked for as a whole
  SpanSet asked;           // the dates as given, before widening to partitions
  SpanSet cells;           // whole partitions of the target; everything for a dataset without grain
  bool widened = false;    // widening to partitions added something
  bool not_begun = false;  // part of the range has not begun, and is left out
};

struct Exclusion {
  DatasetId dataset;
  SpanSet spans;  // all time where the whole dataset is left out
  std::string text;
};

struct Acceptance {
  std::string code;
  DatasetId dataset;  // invalid: on every dataset
};

enum class HazardSeverity { kNote, kWarning, kBlocking };
const char* ToString(HazardSeverity severity);

struct Request {
  std::vector<Target> targets;
  Instant now = 0;
  std::vector<Exclusion> exclusions;
  std::vector<Acceptance> accepted;
  std::set<DatasetId> narrow;
  std::map<std::string, std::vector<std::string>> where;
  bool include_open = false;
  bool full_refresh_all = false;     // of all steps that have a way to be built from nothing
  std::set<DatasetId> full_refresh;  // or of these; in a plan: of which it was taken
  bool strict = false;               // assumed mappings are read as `all` (the graph is built so)
  HazardSeverity fail_on = HazardSeverity::kBlocking;
  int threads = 1;
  std::optional<Instant> as_of;  // planned with what the store held then
  // Cells that are known to come out as they are: they are rebuilt, and dirty nothing.
  std::map<DatasetId, SpanSet> unchanged;
  std::vector<LoggedRun> log;      // what was rebuilt before, and what is in progress
  std::vector<std::string> notes;  // what reading the request already has to say
};

}  // namespace backreach
