// Stores of older layouts: read as they are, and brought up to date by whoever writes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/facts/facts.hpp"
#include "graph/store/database/database.hpp"

namespace backreach {

// One source of a store of layout 4. Facts are null where an even older layout had them, and they have to be
// ingested again; `complaint` says so of facts that are not those that were ingested.
struct OlderSource {
  SourceFacts facts;
  bool lost = false;
  std::string complaint;
};
std::vector<OlderSource> ReadLayout4(Database& db, bool with_nodes);

// Makes the tables in an empty file, and migrates those of an older layout, step by step and in one
// transaction. What can be read is kept; what cannot is said to be lost, and its rows are kept beside until
// its source was ingested again.
void BringUpToDate(Database& db);
// Takes away what was kept beside, if no source lacks its facts any more.
void DropOlderRows(Database& db);

}  // namespace backreach
