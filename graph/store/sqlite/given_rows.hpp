// Many rows into one table, without a statement's start and end for each: SQLite reads them as a table that
// is nowhere but here. For rows by the ten thousand it takes half the time.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <functional>
#include <string>

#include "graph/store/database/given_rows.hpp"

namespace backreach::sqlite {

// `next` sets the next row, or says that there is none.
void InsertGiven(SQLite::Database& db, const std::string& table, int columns,
                 const std::function<bool(GivenRow&)>& next);

}  // namespace backreach::sqlite
