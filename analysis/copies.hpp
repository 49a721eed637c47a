// Copies: what was taken out of the platform, judged by what it holds and when it was taken.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "analysis/plan/plan.hpp"
#include "graph/lineage/lineage.hpp"

namespace backreach {

// Dirty spans of a dataset, whatever is done about them; empty if it is not reached.
using DirtyOf = std::function<SpanSet(DatasetId)>;

struct CopyFindings {
  std::vector<AffectedCopy> affected;  // sorted by id
  std::vector<std::pair<DatasetId, SpanSet>>
      fed;  // datasets of ours made from what comes back, and the wrong part
};

CopyFindings JudgeCopies(const LineageGraph& graph, Instant now, const DirtyOf& dirty_of);

// Says of each model that what it was trained on is rebuilt while it is not; returns what is worth a note.
std::vector<std::string> NoteMismatches(const LineageGraph& graph, const std::vector<DatasetId>& rebuilt,
                                        std::vector<AffectedCopy>& copies);

// True if a copy's `where` is the destination, or a leading path of it by whole path parts; dates folded.
bool CoversDestination(const std::string& where, const std::string& destination);
// Digits of dates replaced by `*`: files of a series have one name.
std::string FoldDates(const std::string& text);
// True if `copy` was taken of `dataset`, or of a view over it.
bool TakenFrom(const LineageGraph& graph, const Copy& copy, DatasetId dataset);
// What a person should do about a copy of this kind.
std::string ActionFor(const std::string& kind);

}  // namespace backreach
