// What the store asks of a database: statements, transactions, rows by the ten thousand. There are two,
// SQLite's file and a schema of PostgreSQL; both are spoken to in the SQL that they share, with `?` for what
// is bound. All of it throws Error(kStore) in our words; one thread uses a database at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "graph/store/database/given_rows.hpp"

namespace backreach {

// Throws Error(kStore): nothing was touched.
[[noreturn]] void RefuseStore(const std::string& path, const std::string& why);
[[noreturn]] void StoreDamaged(const std::string& path, const std::string& what);

// A prepared statement as a database makes it; columns and places are counted as SQLite does: from 0 and
// from 1.
class PreparedStatement {
 public:
  virtual ~PreparedStatement() = default;
  virtual void BindNumber(int place, std::int64_t number) = 0;
  virtual void BindReal(int place, double number) = 0;
  virtual void BindText(int place, std::string_view text) = 0;
  virtual void BindBytes(int place, std::string_view bytes) = 0;  // lent until the next reset
  virtual bool Step() = 0;                                        // true: there is a row
  virtual void Reset() = 0;                                       // what is bound stays
  virtual std::int64_t Number(int column) const = 0;
  // Valid until the next step.
  virtual std::string_view Bytes(int column) const = 0;
};

// Rows into one table, in any order with those of other tables.
class RowSink {
 public:
  virtual ~RowSink() = default;
  virtual void Add(const GivenRow& row) = 0;
  virtual void Finish() = 0;
};

class Database {
 public:
  virtual ~Database() = default;
  Database() = default;
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // One statement or several, without results.
  virtual void Exec(const std::string& sql) = 0;
  virtual std::unique_ptr<PreparedStatement> Prepare(const std::string& sql) = 0;
  // `writing`: waits up to 30 s for another writer, and keeps others away until the end.
  virtual void Begin(bool writing) = 0;
  virtual void Commit() = 0;
  virtual void Rollback() noexcept = 0;

  // How a table is named where all of its rows are to be read, whatever an index knows of them.
  virtual std::string Whole(const std::string& table) { return table; }
  virtual bool HasTable(const std::string& name) = 0;
  virtual std::vector<std::string> TablesLike(const std::string& prefix) = 0;
  // Throws if what is there is somebody else's, not what its layout says, or newer than this program; 0:
  // empty.
  virtual int CheckedLayout() = 0;
  virtual void SayLayout() = 0;
  // In an empty store, before and outside of any transaction.
  virtual void PrepareEmpty() {}
  // After every change of layout: what holds for the connection.
  virtual void Settle() {}
  // Rows into a table, `columns` of each; `next` sets the next one, or says that there is none.
  virtual void InsertGiven(const std::string& table, int columns,
                           const std::function<bool(GivenRow&)>& next) = 0;
  virtual std::unique_ptr<RowSink> Rows(const std::string& table, int columns) = 0;
  // Gives back what was deleted and committed; throws Error(kStore) where that alone failed. Then: makes sure
  // that what was committed can be read by all.
  virtual void Compact() {}
  virtual void Checkpoint() {}
  // Throws if what was read was being changed meanwhile, where the database does not prevent that by itself.
  virtual void CheckUnchanged() const {}
  // The database's own check; what it complains of.
  virtual std::vector<std::string> Complaints() { return {}; }
  // For messages: a path, or an address without its password.
  const std::string& path() const { return path_; }

 protected:
  std::string path_;
};

class Column {
 public:
  Column(const PreparedStatement& row, int column) : row_(row), column_(column) {}
  std::int64_t getInt64() const { return row_.Number(column_); }
  int getInt() const { return static_cast<int>(row_.Number(column_)); }
  std::string getString() const { return std::string(row_.Bytes(column_)); }
  std::string_view bytes() const { return row_.Bytes(column_); }

 private:
  const PreparedStatement& row_;
  int column_;
};

class Statement {
 public:
  Statement(Database& db, const std::string& sql) : body_(db.Prepare(sql)) {}
  void bind(int place, std::int64_t number) { body_->BindNumber(place, number); }
  void bind(int place, int number) { body_->BindNumber(place, number); }
  void bind(int place, double number) { body_->BindReal(place, number); }
  void bind(int place, const std::string& text) { body_->BindText(place, text); }
  void bindBytes(int place, std::string_view lent) { body_->BindBytes(place, lent); }
  bool executeStep() { return body_->Step(); }
  void exec() {
    while (body_->Step()) {
    }
  }
  void reset() { body_->Reset(); }
  Column getColumn(int column) const { return {*body_, column}; }

 private:
  std::unique_ptr<PreparedStatement> body_;
};

// All or nothing: what was not committed is undone.
class Transaction {
 public:
  explicit Transaction(Database& db, bool writing = false) : db_(db) { db_.Begin(writing); }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction() {
    if (!done_) db_.Rollback();
  }
  void commit() {
    db_.Commit();
    done_ = true;
  }

 private:
  Database& db_;
  bool done_ = false;
};

}  // namespace backreach
