// SQLite's interface for such tables is one of C: a cursor that is told to go on, and asked for columns.

#include "graph/store/sqlite/given_rows.hpp"

#include <sqlite3.h>

#include <exception>

namespace backreach {

namespace {

constexpr const char* kName = "given_rows";

struct Given {
  const std::function<bool(GivenRow&)>* next = nullptr;
  GivenRow row;
  bool more = false;
  std::exception_ptr thrown;  // nothing may be thrown through SQLite

  int Next() {
    try {
      more = (*next)(row);
      return SQLITE_OK;
    } catch (...) {
      thrown = std::current_exception();
      return SQLITE_ERROR;
    }
  }
};

struct Table {
  sqlite3_vtab base;
  Given* given;
};
struct Cursor {
  sqlite3_vtab_cursor base;
  Given* given;
};
Given& Of(sqlite3_vtab_cursor* cursor) { return *reinterpret_cast<Cursor*>(cursor)->given; }

int Connect(sqlite3* db, void* given, int, const char* const*, sqlite3_vtab** out, char**) {
  std::string columns = "c0";
  for (int i = 1; i < GivenRow::kMostColumns; ++i) columns += ", c" + std::to_string(i);
  if (const int code = sqlite3_declare_vtab(db, ("CREATE TABLE x (" + columns + ")").c_str());
      code != SQLITE_OK)
    return code;
  *out = &(new Table{{}, static_cast<Given*>(given)})->base;
  return SQLITE_OK;
}
int Disconnect(sqlite3_vtab* table) {
  delete reinterpret_cast<Table*>(table);
  return SQLITE_OK;
}
int BestIndex(sqlite3_vtab*, sqlite3_index_info*) { return SQLITE_OK; }
int Open(sqlite3_vtab* table, sqlite3_vtab_cursor** out) {
  *out = &(new Cursor{{}, reinterpret_cast<Table*>(table)->given})->base;
  return SQLITE_OK;
}
int Close(sqlite3_vtab_cursor* cursor) {
  delete reinterpret_cast<Cursor*>(cursor);
  return SQLITE_OK;
}
int Filter(sqlite3_vtab_cursor* cursor, int, const char*, int, sqlite3_value**) { return Of(cursor).Next(); }
int Next(sqlite3_vtab_cursor* cursor) { return Of(cursor).Next(); }
int Eof(sqlite3_vtab_cursor* cursor) { return Of(cursor).more ? 0 : 1; }
int Column(sqlite3_vtab_cursor* cursor, sqlite3_context* context, int column) {
  const GivenRow::Cell& cell = Of(cursor).row.cell(column);
  switch (cell.kind) {
    case GivenRow::Cell::Kind::kNull: sqlite3_result_null(context); break;
    case GivenRow::Cell::Kind::kNumber: sqlite3_result_int64(context, cell.number); break;
    case GivenRow::Cell::Kind::kReal: sqlite3_result_double(context, cell.real); break;
    case GivenRow::Cell::Kind::kText:
      sqlite3_result_text64(context, cell.text, cell.size, SQLITE_STATIC, SQLITE_UTF8);
      break;
  }
  return SQLITE_OK;
}
int Rowid(sqlite3_vtab_cursor*, sqlite3_int64* id) {
  *id = 0;
  return SQLITE_OK;
}

sqlite3_module Module() {
  sqlite3_module m{};
  m.xConnect = Connect, m.xDisconnect = Disconnect, m.xBestIndex = BestIndex, m.xOpen = Open,
  m.xClose = Close;
  m.xFilter = Filter, m.xNext = Next, m.xEof = Eof, m.xColumn = Column, m.xRowid = Rowid;
  return m;
}

}  // namespace

namespace sqlite {

void InsertGiven(SQLite::Database& db, const std::string& table, int columns,
                 const std::function<bool(GivenRow&)>& next) {
  static const sqlite3_module module = Module();
  Given given;
  given.next = &next;
  if (sqlite3_create_module(db.getHandle(), kName, &module, &given) != SQLITE_OK)
    throw SQLite::Exception(db.getHandle());
  std::string list = "c0";
  for (int i = 1; i < columns; ++i) list += ", c" + std::to_string(i);
  const auto forget = [&] { sqlite3_create_module(db.getHandle(), kName, nullptr, nullptr); };
  try {
    db.exec("INSERT INTO " + table + " SELECT " + list + " FROM " + kName);
  } catch (const SQLite::Exception&) {
    forget();
    if (given.thrown) std::rethrow_exception(given.thrown);
    throw;
  }
  forget();
}

}  // namespace sqlite

}  // namespace backreach
