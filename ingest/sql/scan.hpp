// A tokenizer for SQL with Jinja in it, and the few questions that importers ask of a statement. It knows
// comments, strings, quoted names, dollar quotes and Jinja; it is no parser, and where it cannot know it says
// so.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/sql/dialect.hpp"

namespace backreach {

struct SqlToken {
  enum class Kind { kWord, kQuoted, kString, kNumber, kSymbol, kJinja, kBlock };
  Kind kind;
  std::string_view text;  // a word as written, the inside of a string, name or Jinja expression
  std::size_t at;         // byte offset
  bool Is(std::string_view upper) const;  // a word, case folded
  bool IsSymbol(char c) const { return kind == Kind::kSymbol && text.size() == 1 && text[0] == c; }
};

// Tokens whose texts lie in the SQL that they were made of, or in `made` where something had to be left out
// (a doubled quote): both have to stay as long as the tokens.
struct SqlTokens : std::vector<SqlToken> {
  std::deque<std::string> made;
  SqlTokens() = default;
  SqlTokens(SqlTokens&&) = default;
  SqlTokens& operator=(SqlTokens&&) = default;
};

// Comments (SQL's and Jinja's) are dropped. `{{ }}` is one kJinja token, `{% %}` one kBlock token.
SqlTokens TokenizeSql(std::string_view sql, SqlDialect dialect = SqlDialect::kUnknown);
void TokenizeSql(std::string_view sql, std::vector<SqlToken>& tokens, std::deque<std::string>& made,
                 SqlDialect dialect = SqlDialect::kUnknown);

// The same of what a log or a script holds, where only `jinja` says that braces may be a template. True if the
// text ends inside of a string or comment: it was cut.
bool TokenizeStatement(std::string_view sql, SqlTokens& tokens, SqlDialect dialect, bool jinja);

// A table that a statement names: `shop.public.orders`, or the inside of a Jinja call (`ref('orders')`,
// `this`).
struct SqlTable {
  std::string name;
  bool jinja = false;
};

// What FROM and JOIN name in the tokens [from, to), common table expressions left out.
std::vector<SqlTable> TablesRead(const std::vector<SqlToken>& tokens, std::size_t from, std::size_t to);
std::vector<SqlTable> TablesRead(std::string_view sql);

// Rows that leave: COPY INTO a stage or bucket, UNLOAD, EXPORT DATA, COPY TO, INSERT OVERWRITE DIRECTORY,
// CLONE.
struct SqlExport {
  std::vector<SqlTable> tables;
  std::string destination;
  std::string how;  // "COPY INTO", "UNLOAD", ...
};
std::vector<SqlExport> FindExports(std::string_view sql);

// What else statements of a hook do that a rerun would do again: procedures called, other tables written.
// Grants, statistics, indexes and the like are none.
std::vector<std::string> SideEffects(std::string_view sql);

// True if the text calls out: NOTIFY, a mail or a webhook function.
bool Notifies(std::string_view sql);

}  // namespace backreach
