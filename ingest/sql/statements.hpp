// What a statement of any warehouse does: which tables it reads, which it writes, and where rows leave. The
// grammar goes as deep as that needs: names in FROM, WITH, MERGE and the like, and the forms in which rows
// are copied out. What is not understood is said, never dropped.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/sql/dialect.hpp"
#include "ingest/sql/scan.hpp"

namespace backreach {

// A name as written: `dw.core."Ledger 2026"` has three parts, the last of them quoted. Its texts lie in the
// statement (or in the reader).
struct SqlName {
  static constexpr std::size_t kMost = 6;
  std::array<std::string_view, kMost> part;
  std::uint8_t parts = 0;
  std::uint8_t quoted = 0;  // a bit for each part
  bool jinja = false;       // a template, or with one in it
  bool empty() const { return parts == 0; }
  std::string_view last() const { return parts == 0 ? std::string_view() : part[parts - 1]; }
  bool IsQuoted(std::size_t i) const { return (quoted >> i & 1) != 0; }
  void Add(std::string_view text, bool in_quotes);
};

// One thing that a statement does.
struct SqlDeed {
  enum class Kind {
    kReads,         // rows go to whoever asked
    kTakesOut,      // rows leave, to `destination`
    kWrites,        // `target` from `reads`
    kMakesView,     // `target` over `reads`
    kOutside,       // `target` is made known as a table that lies outside; `destination` is where
    kRenames,       // `target` is called `other` from now on
    kSwaps,         // `target` and `other` change places
    kDrops,         // `target`
    kCalls,         // the procedure `target`
    kFetches,       // files of the stage `target` (its text in `destination`) are taken to `place`
    kSearchPath,    // `names`: where names without a schema are looked for
    kAttaches,      // another database, as `target`
    kPrepares,      // `target` stands for a statement that reads
    kRuns,          // a prepared statement or cursor
    kDefines,       // a routine, task or pipe; `possible`: its body takes rows out
    kLoads,         // files into `target`
    kNotUnderstood  // `trouble` says why
  };
  enum class Verb { kNone, kCreate, kInsert, kChange, kClone, kRefresh };
  Kind kind = Kind::kReads;
  Verb verb = Verb::kNone;
  SqlName target, other;
  std::vector<SqlName> reads, names;
  std::vector<SqlName> calls;  // table functions of a schema: nobody knows what they read
  std::string destination, place, how;
  std::string trouble;
  bool possible = false;      // what is not understood may take rows out
  bool temporary = false;     // gone with the session
  bool session_wide = false;  // of a script's own: every table of a database
  bool rows = false;          // reads whole rows of whole tables: no filter, group or aggregate
  bool anything = false;      // reads some table, file or function at all
};

struct SqlReading {
  SqlDialect dialect = SqlDialect::kUnknown;
  bool jinja = false;  // templates are expected, and stand for names and texts
};

// Reads one text after the other; what it returns holds until the next.
class StatementReader {
 public:
  explicit StatementReader(SqlReading how) : how_(how) {}
  // All statements of a text. `cut`: the text may end early.
  const std::vector<SqlDeed>& Read(std::string_view text);
  // The text last read ends inside something: a string, a bracket, a list.
  bool cut() const { return cut_; }

 private:
  friend class StatementScanner;
  SqlTokens& Tokens();
  SqlReading how_;
  std::vector<SqlDeed> deeds_;
  std::deque<SqlTokens> tokens_;  // of the text, and of texts inside of it
  std::size_t used_ = 0;          // of them, by the text at hand
  bool cut_ = false;
};

}  // namespace backreach
