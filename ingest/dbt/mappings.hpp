// What the code of dbt models tells of the columns and times by which they read their parents.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "graph/facts/code_reach.hpp"
#include "ingest/dbt/code.hpp"
#include "ingest/dbt/sql.hpp"

namespace backreach {

// What a name in the code may mean.
struct DbtParent {
  std::string id;
  std::vector<std::string> relation;  // database, schema, table
  std::vector<std::string> names;     // in a ref
  bool source = false, ephemeral = false;
  const std::set<std::string>* days = nullptr;               // columns that hold days, lower case
  const std::map<std::string, Grain::Unit>* cuts = nullptr;  // columns that are cut to a unit of time
};

struct DbtCodeReads {
  std::vector<CodeReads> of;  // each parent, in the order given
  std::vector<bool> told;     // whether there is anything to tell: not where there is no code
  std::vector<std::set<std::string>> parents_days;  // of each parent, columns seen to hold days
  std::set<std::string> days;                       // its own columns that hold days
  std::map<std::string, Grain::Unit> cuts;          // its own columns that it cuts to a unit of time
};

DbtCodeReads ReadDbtCode(const DbtCode& code, const std::vector<DbtParent>& parents,
                         const std::vector<std::string>& own_relation,
                         const std::vector<std::string>& columns, const MacroBodies& macros,
                         const std::string& adapter);

}  // namespace backreach
