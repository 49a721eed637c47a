// Which tables the statements of a text read and write: SQL that an orchestrator runs, which is no model.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "graph/facts/facts.hpp"
#include "ingest/sql/scan.hpp"

namespace backreach {

// What one statement writes, and from what. Rows that are only deleted come from nowhere.
struct SqlMove {
  SqlTable to;
  std::vector<SqlTable> from;
};

struct SqlMoves {
  std::vector<SqlMove> moves;
  std::vector<SqlTable> reads;  // of all statements, those that write nothing among them
  bool hidden = false;          // a table's name stands in branches of a template
  bool empty() const { return moves.empty() && reads.empty() && !hidden; }
};

// Temporary tables are followed to what they were made from, and are gone.
SqlMoves MovesOf(std::string_view sql);

// What a job's SQL moves, as facts: its reads and writes, the edges between them, and as `unresolved` each
// name that a template makes. `name` gives a table's dataset by what the SQL calls it; `known` are the names
// that have a dataset's fact already.
struct MovesInto {
  Facts& facts;
  std::set<std::string>& known;
  std::function<std::string(const std::string&)> name;
};
void AddMoves(const SqlMoves& moves, JobFact& job, const MovesInto& into);
// A dataset's fact for a name that has none yet.
void AddNamed(const std::string& name, const Place& at, const MovesInto& into);

}  // namespace backreach
