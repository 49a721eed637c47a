// Copies for people: a list by owner, a table for spreadsheets, a notice for each owner.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "analysis/plan/plan.hpp"
#include "graph/lineage/lineage.hpp"

namespace backreach {

// A copy with what is wrong in it, where a correction was asked about.
struct ListedCopy {
  const Copy* copy = nullptr;              // null for one that nobody wrote down
  const AffectedCopy* affected = nullptr;  // null where no correction was asked about, or it is not reached
};

std::string CopiesText(const LineageGraph& graph, const std::vector<ListedCopy>& copies);
std::string CopiesCsv(const LineageGraph& graph, const std::vector<ListedCopy>& copies);
// File names and Markdown texts, ready to send. `what`: the correction in words, "" where there is none.
std::vector<std::pair<std::string, std::string>> CopyNotices(const LineageGraph& graph,
                                                             const std::vector<ListedCopy>& copies,
                                                             const std::string& what);

}  // namespace backreach
