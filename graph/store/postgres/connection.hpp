// A schema of a PostgreSQL server as a store, for a team: `postgresql://user@host/db`, in any form that libpq
// takes, with its environment (PGPASSWORD, PGSSLMODE, a service file). The schema is `backreach`, or the
// first of a search_path that the address sets (`?options=-csearch_path%3Dfinance`).
#pragma once

#include <memory>
#include <string>

#include "graph/store/database/database.hpp"

namespace backreach::postgres {

// Changes nothing. Throws Error(kStore) where the server cannot be reached or the schema is not there.
std::unique_ptr<Database> ForReading(const std::string& address);
// Makes the schema where it is missing.
std::unique_ptr<Database> ForWriting(const std::string& address);

}  // namespace backreach::postgres
