// Rows of single tables out of a database's dump: SQLite's `.dump`, and pg_dump with COPY or with inserts.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace backreach {

struct DumpRow {
  std::string table;  // lower case, without its schema
  std::size_t line = 0;
  std::vector<std::string> columns;
  std::vector<std::optional<std::string>> values;  // bytes of X'..' as they are, of PostgreSQL's bytea `\x..`

  // The value of a column, or null.
  const std::string* Find(std::string_view column) const;
};

// A dump begins with a comment or a statement, a JSON document never does.
bool LooksLikeDump(std::string_view text);

// Calls `row` for each row of the tables, in the order of the file. A row that cannot be read goes to `fault`
// with its line and what is wrong with it.
void ReadDump(std::string_view text, const std::set<std::string>& tables,
              const std::function<void(const DumpRow&)>& row,
              const std::function<void(std::size_t line, const std::string& what)>& fault);

}  // namespace backreach
