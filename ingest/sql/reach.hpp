// Which rows of which parents a row of a query is made from, by columns and time: the question that a mapping
// answers, asked of SQL that nobody prepared.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "graph/facts/code_reach.hpp"
#include "ingest/sql/query.hpp"

namespace backreach {

// What a name in a FROM is.
struct SqlNamed {
  enum class Kind { kParent, kThis, kOther } kind = Kind::kOther;
  int parent = 0;
};

struct SqlReachOptions {
  std::string adapter;
  std::function<SqlNamed(const std::vector<std::string>& parts)> table;
  // Columns of a parent that hold whole days; lower case.
  std::function<bool(int parent, const std::string& column)> holds_days;
  // The unit of time that a parent's column was cut to; kNone where nobody knows. May be empty.
  std::function<Grain::Unit(int parent, const std::string& column)> cut_to = {};
};

struct SqlColumnUse {
  int parent;
  CodeUse use;
};

struct SqlReach {
  // A query's own columns, lower case; `open`: there are more that are not known by name.
  std::vector<std::string> columns;
  bool open = false;
  std::map<std::string, std::vector<SqlColumnUse>> uses;  // of each column; "*": of any other
  std::set<int> named;                                    // parents that it names
  std::set<std::string> days;                             // columns that hold days
  std::map<std::string, Grain::Unit> cuts;                // columns that the query cuts to a unit of time
  std::set<std::pair<int, std::string>> parents_days;     // columns of parents that are seen to hold days
  // Signs of reading across rows, for a parent: what and where.
  std::map<int, std::pair<std::string, std::size_t>> signs;
};

// Of a query with very many columns only `wanted` are followed, and those whose names may be a time's.
SqlReach ReachOf(const SqlTree& tree, std::string_view sql, const SqlReachOptions& options,
                 const std::vector<std::string>& wanted);

}  // namespace backreach
