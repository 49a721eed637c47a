// Jinja in an expression of SQL, read as far as it computes: defaults of variables, names that {% set %} or a
// macro's parameters gave a value.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/sql/clauses.hpp"
#include "ingest/sql/time.hpp"

namespace backreach {

// What Jinja gave a name, and where.
struct JinjaValue {
  std::size_t at = 0;            // the {% set %}
  std::size_t from = 0, to = 0;  // the tokens of a block's text, or
  std::string_view text;         // the expression
};
// Several values where they were given under ifs.
using JinjaNames = std::map<std::string, std::vector<JinjaValue>, std::less<>>;

// One side of a comparison, with Jinja read.
struct SqlSide {
  std::vector<SqlPart> parts;
  std::deque<std::string> made;
  std::vector<std::string> unset, given, either;  // variables without default; with one; beside another value
  std::size_t set_at = 0;                         // one more than the place of the last name's value
};
// The tokens [from, to). `choice`: which of its values is taken for a name that has several.
void ReadSide(const SqlTokenList& t, std::size_t from, std::size_t to, const JinjaNames& names,
              std::size_t choice, SqlDialect dialect, SqlSide& side);

}  // namespace backreach
