// The joined graph as relations that a person can query (schema.md documents them). They are derived: written
// with the facts that they come from, and dropped where these differ. Nothing of backreach reads them back.
#pragma once

#include <string>

#include "graph/lineage/lineage.hpp"
#include "graph/store/database/database.hpp"

namespace backreach {

// Of the relations: a column or table that goes, or means something else, is a new one; new ones may come.
inline constexpr int kRelationsContract = 1;

// True if the relations are there, and were made from what `made_from` names.
bool HasRelations(Database& db, const std::string& made_from);
void DropRelations(Database& db);
void WriteRelations(Database& db, const LineageGraph& graph, const std::string& made_from);

}  // namespace backreach
