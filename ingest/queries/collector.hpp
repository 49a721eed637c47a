// What the statements of logs come to, folded over repetitions: who reads what, what is written from what,
// where rows leave. One collector takes all files of an ingest; what a session keeps to itself (temporary
// tables, a search path, prepared statements) is followed and never kept.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "graph/facts/facts.hpp"
#include "graph/time/time.hpp"
#include "ingest/sql/statements.hpp"

namespace backreach::queries {

// One statement that a log tells of.
struct Statement {
  std::string_view id, user, text, session, database, schema;
  std::string client;                // what it came through
  std::string_view tag, comment_of;  // labels and tags, as text
  std::optional<Instant> at;
  std::string_view file;
  std::size_t line = 0;
  std::string_view via = "text";
  std::int64_t times = 1;
  bool failed = false, cancelled = false;
  bool of_job = false;                  // labels say that a scheduler or dbt ran it
  bool kept_nothing = false;            // it is told by another row as well (the parent of a script)
  std::size_t limit = 0;                // texts of so many bytes were cut
  std::vector<std::string> referenced;  // tables that the log itself names, canonical
};

class Collector {
 public:
  Collector(std::string dialect, std::string source);

  void Take(const Statement& statement);
  // What logs tell without a text.
  void TakeRead(const Statement& statement, const std::string& dataset, bool rows);
  void TakeExtract(const Statement& statement, const std::vector<std::string>& datasets,
                   std::string destination, const std::string& how);
  void TakeWrite(const Statement& statement, const std::string& target,
                 const std::vector<std::string>& sources, const char* verb, const std::string& shape);
  void TakeFetch(const Statement& statement, std::string_view stage, std::string_view place);
  void TakeClient(const std::string& user, const std::string& client);
  void NotUnderstood(const Statement& statement, std::string reason, bool possible);
  void Failed(const Statement& statement);
  // A row that was looked at, whatever it held.
  void Count(const Statement& statement, const char* what);
  // A name with its parts as the platform stores them, for logs that name tables.
  std::string NameOf(const std::vector<std::string>& parts);

  // What was counted by file is put away: the same rows in another form give the same facts.
  void EndOfFile();
  Facts Facts_();
  std::int64_t statements() const { return statements_all_; }
  std::int64_t not_understood() const { return static_cast<std::int64_t>(unresolved_.size()); }

 private:
  using Id = std::uint32_t;
  struct Tally {
    std::int64_t times = 0, days = 0;
    Instant first = kMaxInstant, last = kMinInstant;
    std::int64_t last_day = -1;
    std::uint64_t digest = 0;
    bool job = false, rows = false;
  };
  struct Write {
    Tally tally;
    std::vector<std::string> ids;
    std::set<Id> sources;
    std::set<std::uint64_t> shapes;
    std::string verb, user, place, via, text_of;
  };
  struct Extract_ {
    Tally tally;
    std::vector<std::string> ids;
    std::unordered_set<std::uint64_t> seen;  // of ids
    std::string how, file, client, destination;
    std::size_t line = 0;
    std::set<std::string> behind;
    bool cancelled = false, frozen = false;
  };
  struct Temporary {
    std::vector<Id> sources;
    bool pulls = false;
  };
  struct Session {
    std::vector<std::string> path;
    std::unordered_map<std::string, Temporary>
        temporary;  // by folded last part; prepared ones under `\x01name`
    std::string database;
  };

  Id IdOf(std::string_view name);
  void IsTable(Id id) {
    if (tables_.size() <= id) tables_.resize(names_.size());
    tables_[id] = true;
  }
  const std::string& Text_(Id id) const { return names_[id]; }
  Session& SessionOf(std::string_view key);
  void Add(Tally& tally, const Statement& statement);
  std::string Folded(std::string_view part, bool quoted) const;
  static bool IsSystem(const std::vector<std::string>& parts, SqlDialect dialect);
  // The parts of a name as the platform stores them; empty for one that is none of ours.
  std::vector<std::string> PartsOf(const SqlName& name, const Statement& statement,
                                   const Session* session) const;
  // The datasets behind a name: itself, or what a temporary table was made from.
  void Resolve(const SqlName& name, const Statement& statement, std::vector<Id>& out, bool& pulls);
  void Resolve(const std::vector<SqlName>& names, const Statement& statement, std::vector<Id>& out);
  Temporary* TemporaryOf(const SqlName& name, const Statement& statement);

  void Deed(const SqlDeed& deed, const Statement& statement);
  void Reads(const SqlDeed& deed, const Statement& statement);
  void TakesOut(const SqlDeed& deed, const Statement& statement);
  void Writes(const SqlDeed& deed, const Statement& statement);
  void MakesView(const SqlDeed& deed, const Statement& statement);
  void Moves(const SqlDeed& deed, const Statement& statement);
  void SearchPath(const SqlDeed& deed, const Statement& statement);
  void Read(Id dataset, const Statement& statement, bool rows);
  void Extract(const Statement& statement, Id dataset, const std::string& destination, const std::string& how,
               bool frozen = false);
  std::string OutsideOf(const std::vector<std::string>& parts) const;

  std::string dialect_name_, source_;
  SqlDialect dialect_;
  StatementReader reader_;
  std::deque<std::string> names_;
  std::map<std::string, std::vector<std::string>> odd_;  // names with a dot inside of a part
  std::unordered_map<std::string_view, Id> ids_;
  std::unordered_map<std::uint64_t, Tally> reads_;  // by dataset and user
  std::deque<std::string> users_;
  std::unordered_map<std::string_view, Id> user_ids_;
  std::map<Id, Write> writes_;
  std::map<std::string, Extract_> extracts_;  // by dataset, folded destination, user
  std::unordered_map<std::uint64_t, Tally> edges_;
  std::unordered_map<std::string, Tally> counts_;  // by what
  std::set<Id> views_;
  std::vector<bool> tables_;           // by number: it is read, or rows of it leave
  std::map<Id, std::string> outside_;  // tables that lie outside, with where
  std::map<std::string, std::string> outside_schemas_, attached_;
  std::map<std::pair<std::string, std::string>, std::pair<std::string, Tally>> moves_;  // what and names
  std::map<std::string, bool> routines_;  // by last part: does its body take rows out
  std::map<std::pair<std::string, std::string>, Tally> clients_;
  std::vector<ExtractFact> fetches_;
  std::vector<UnresolvedFact> unresolved_;
  std::map<std::string, std::size_t> like_it_;  // not understood, by reason and user
  std::vector<std::string> failed_;
  std::vector<HistoryFact> history_;
  std::unordered_map<std::string, Session> sessions_;
  std::deque<std::string> session_order_;
  std::int64_t statements_all_ = 0;
  std::vector<Id> scratch_;
};

}  // namespace backreach::queries
