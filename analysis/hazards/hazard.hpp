// Hazards: ways in which a green run of the plan leaves the data worse off. One file each under hazards/,
// each registered in one line of hazards.cpp.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/plan/plan.hpp"
#include "analysis/sweep/sweep.hpp"

namespace backreach {

// What the runs of a plan write: the steps' own cells, and those that come along.
struct Written {
  DatasetId dataset;
  SpanSet spans;  // empty where `whole`
  bool whole = false;
  bool along = false;
};

// What every hazard may look at: the plan as far as it is made, and the sets it was made from.
struct HazardContext {
  const LineageGraph& graph;
  const Frame& frame;
  const Sweeper& sweeper;
  const Plan& plan;
  // By position in the sweeper's region: all that is reached (whatever is done about it), and what is
  // rebuilt.
  const std::vector<Dirt>& reached;
  const std::vector<Dirt>& rebuilt;
  // Cells whose input is gone, by position; for tables written whole all of their history.
  const std::vector<SpanSet>& expired;
  // For each dataset with expired input: which parents lost it, and from when on it is safe.
  struct Expiry {
    DatasetId dataset, parent;
    SpanSet cells;
    Instant safe_from;
  };
  const std::vector<Expiry>& expiries;
  // Open cells of each dataset that the correction reaches, and which of them the request itself asked for.
  const std::vector<SpanSet>& open;
  const std::vector<SpanSet>& open_asked;

  // The steps of each dataset, and what all runs of the plan write (see WrittenCells).
  std::map<DatasetId, std::vector<const Step*>> steps_of;
  std::vector<Written> written;

  const std::vector<const Step*>& StepsOf(DatasetId id) const;
};

struct HazardKind {
  const char* code;
  HazardSeverity usual;
  const char* when;     // one sentence: when it is reported
  const char* outcome;  // what happens to the data if nobody acts
  const char* remedy;   // what to do
  void (*find)(const HazardContext& context, std::vector<Hazard>& out);  // null: found by the planner itself
};

std::vector<Written> FindWritten(const Plan& plan);
inline const std::vector<Written>& WrittenCells(const HazardContext& context) { return context.written; }

// A hazard with its dataset and cells filled in.
Hazard MakeHazard(const char* code, HazardSeverity severity, const Written& written, std::string message,
                  std::string remedy);
Hazard MakeHazard(const char* code, HazardSeverity severity, DatasetId dataset, SpanSet spans,
                  std::string message, std::string remedy);
// Where the bound of a finding (`bound`: a RunBound, or `since`: a day) lies for a run now; nothing where
// nobody knows.
std::optional<Instant> ReachOf(Instant now, const Dataset& dataset, const Finding& finding);
// The declared variables filter in the place of a finding's bound: where they are given, the query has none.
bool RangeInstead(const Dataset& dataset, const Finding& finding);
// What a build from nothing would lack of the dataset's history, as its query has it: its finding, or null.
const Finding* LostByRebuild(const Frame& frame, DatasetId id, const Dataset& dataset);
// Of what is written, the cells that begin before the bound of a finding; all of them
// where nobody knows how far the bound reaches.
SpanSet BeyondReach(const HazardContext& context, const Written& written, const Finding& finding);
// Written by the column that cuts it into partitions: the key names cells, not rows.
bool KeyIsGrain(const Dataset& dataset);
// A run replaces the cells that its result has rows for, and no others.
bool ReplacesPresentCells(const Dataset& dataset);
// The declared variables filter in the place of a finding's filter: where they are given there is no such
// one.
bool RangeInstead(const Dataset& dataset, const Finding& finding);
// Who refreshes what the platform keeps up to date: "itself", "told", "trigger"; "" where nothing is known.
std::string RefreshedBy(const Dataset& dataset);
// ", or build it from nothing: --full-refresh=..." where that would replace it; else "".
std::string FullRefreshRemedy(const HazardContext& context, DatasetId dataset);
// How sure a hazard is that was found in a query's text: evidence for those who doubt it.
inline constexpr const char* kByText = "found in the text of the query, which is tokenized and not run";
// One stretch of the cells has some before the instant and some after it: far sets on its two sides do not.
bool Crosses(const Written& written, Instant at);
// The day of a declared change lies inside the cells.
bool Inside(const Written& written, const Change& change);
// "31 days", "1 month", "1 table", "cells of unknown number".
std::string CountText(const Dataset& dataset, const SpanSet& spans, bool whole);
// Names of datasets for a sentence, at most five.
std::string NamesText(const LineageGraph& graph, const std::vector<DatasetId>& ids);

const std::vector<HazardKind>& HazardKinds();
const HazardKind* FindHazardKind(const std::string& code);

}  // namespace backreach
