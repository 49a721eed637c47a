// A SELECT as a tree: queries, the items of their FROM, expressions. Made for questions about columns, not
// for running it: where the grammar is not known an expression keeps its parts, and says that it is not
// understood.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/sql/scan.hpp"

namespace backreach {

struct SqlQuery;
struct SqlWindow;

// Children are owned by the tree (SqlTree), as all nodes are.
struct SqlExpr {
  enum class Kind {
    kColumn,    // name, qualifier
    kNumber,    // text
    kString,    // text
    kInterval,  // args[0]: amount or text; name: unit, empty where it stands in the text
    kCall,      // name, args
    kOp,        // name: + - * / || = < > <= >= <> and or not neg is in ...; args
    kCase,      // args: what it may come to
    kCast,      // args[0]; name: type, lower case
    kZone,      // args[0] at time zone args[1]
    kQuery,     // query: scalar, or the one of EXISTS, IN, ANY
    kStar,      // qualifier
    kWord,      // NULL, TRUE, CURRENT_DATE and the like
    kOther      // args: what could be read of it
  };
  Kind kind = Kind::kOther;
  std::string name, qualifier, text;
  std::vector<SqlExpr*> args;
  std::vector<SqlExpr*> filters;  // of an aggregate's FILTER, of CASE the conditions
  SqlQuery* query = nullptr;
  SqlWindow* over = nullptr;
  std::vector<SqlExpr*> order;  // within an aggregate's brackets
  bool distinct = false;
  std::vector<std::string> except;                         // of a star
  std::vector<std::pair<std::string, SqlExpr*>> replaced;  // of a star
  std::size_t at = 0;                                      // byte offset
  bool Is(Kind k) const { return kind == k; }
  bool Calls(std::string_view n) const { return kind == Kind::kCall && name == n; }
  bool Op(std::string_view n) const { return kind == Kind::kOp && name == n; }
};

struct SqlOrder {
  SqlExpr* by = nullptr;
  bool down = false;
};

struct SqlWindow {
  std::string base;  // a named window
  std::vector<SqlExpr*> partition;
  std::vector<SqlOrder> order;
  enum class Frame { kNone, kRows, kRange, kGroups } frame = Frame::kNone;
  struct Edge {
    enum class Kind { kPreceding, kCurrent, kFollowing } kind = Kind::kCurrent;
    SqlExpr* by = nullptr;  // null: unbounded
  } from, to;
};

// One item of a FROM, with how it is joined to those before it.
struct SqlItem {
  std::string name;  // of a table, dots left in, quotes out; empty for a query
  SqlQuery* query = nullptr;
  SqlExpr* call = nullptr;           // a table function
  std::vector<SqlItem> inner;        // joined in brackets
  std::string alias;                 // lower case
  std::vector<std::string> columns;  // renamed
  enum class Join { kFirst, kInner, kLeft, kRight, kFull, kCross, kSemi, kAnti } join = Join::kFirst;
  bool asof = false, natural = false, lateral = false;
  SqlExpr* on = nullptr;
  std::vector<std::string> by;  // USING
  std::string odd;              // PIVOT, TABLESAMPLE: what is not followed
  std::size_t at = 0;
};

struct SqlSelectItem {
  SqlExpr* value = nullptr;
  std::string alias;  // lower case; empty: none given
};

struct SqlSelect {
  std::vector<SqlSelectItem> items;
  std::vector<SqlItem> from;
  SqlExpr *where = nullptr, *having = nullptr, *qualify = nullptr;
  std::vector<SqlExpr*> group;
  bool grouped = false, group_all = false, group_sets = false;
  bool distinct = false;
  std::vector<SqlExpr*> distinct_on;
  std::map<std::string, SqlWindow*> windows;
  std::size_t at = 0;
};

struct SqlQuery {
  std::vector<std::pair<std::string, SqlQuery*>> with;
  bool recursive = false;
  bool by_name = false;             // UNION BY NAME
  std::vector<SqlSelect*> selects;  // one, or the branches of a set operation, with
  std::vector<SqlQuery*> nested;    // those in brackets, at the same position (null where a select stands)
  std::vector<SqlOrder> order;
  std::vector<SqlExpr*> limit_by;  // ClickHouse
  bool limited = false;
  std::size_t limit_at = 0, at = 0;
  SqlQuery* outer = nullptr;  // whose WITH can be seen
  std::vector<std::string> renamed;
  std::size_t branches() const { return selects.size(); }
};

// A statement read; `query` is null where it is none, or `trouble` says what stopped the reading.
struct SqlTree {
  std::deque<SqlExpr> exprs;
  std::deque<SqlQuery> queries;
  std::deque<SqlSelect> selects;
  std::deque<SqlWindow> windows;
  SqlTokens tokens;
  SqlQuery* query = nullptr;
  std::string trouble;
  std::size_t trouble_at = 0;
};

// The text has to stay as long as the tree. Names of the adapters are dbt's.
std::unique_ptr<SqlTree> ReadQuery(std::string_view sql, std::string_view adapter);

}  // namespace backreach
