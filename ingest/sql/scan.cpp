// Tokens of SQL with Jinja, and what statements read, write out and do beside.

#include "ingest/sql/scan.hpp"

#include <algorithm>
#include <set>

#include "graph/base/words.hpp"

namespace backreach {

namespace {

bool WordStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool WordPart(char c) { return WordStart(c) || (c >= '0' && c <= '9') || c == '$'; }

std::string_view Trimmed(std::string_view s) {
  const auto from = s.find_first_not_of(" \t\r\n-"), to = s.find_last_not_of(" \t\r\n-");
  return from == std::string_view::npos ? std::string_view() : s.substr(from, to - from + 1);
}

std::string InBraces(std::string_view expression) { return "{{ " + std::string(expression) + " }}"; }

// Keywords that end a list of tables, or cannot be a table's name or alias.
const std::set<std::string>& Clauses() {
  static const std::set<std::string> words = {
      "SELECT",    "WHERE",   "GROUP", "ORDER",    "HAVING",    "LIMIT",      "UNION",   "EXCEPT",
      "INTERSECT", "MINUS",   "ON",    "USING",    "JOIN",      "LEFT",       "RIGHT",   "FULL",
      "INNER",     "OUTER",   "CROSS", "NATURAL",  "SET",       "VALUES",     "WINDOW",  "QUALIFY",
      "FETCH",     "OFFSET",  "WHEN",  "THEN",     "RETURNING", "WITH",       "LATERAL", "TABLESAMPLE",
      "PIVOT",     "UNPIVOT", "FOR",   "AS",       "INTO",      "FROM",       "ANTI",    "SEMI",
      "ASOF",      "SAMPLE",  "FINAL", "PREWHERE", "CLUSTER",   "DISTRIBUTE", "SORT",    "WHILE",
      "END",       "AND",     "OR",    "NOT"};
  return words;
}

// A table's name at `i`: dotted words, quoted names, Jinja. Moves `i` behind it; empty if there is none.
SqlTable NameAt(const std::vector<SqlToken>& t, std::size_t& i, std::size_t to) {
  SqlTable out;
  if (i >= to) return out;
  if (t[i].kind == SqlToken::Kind::kJinja && !(i + 1 < to && t[i + 1].IsSymbol('.'))) {
    out.name = t[i].text;
    out.jinja = true;
    ++i;
    return out;
  }
  while (i < to) {
    const SqlToken& token = t[i];
    if (token.kind == SqlToken::Kind::kWord || token.kind == SqlToken::Kind::kQuoted ||
        token.kind == SqlToken::Kind::kNumber) {
      if (token.kind == SqlToken::Kind::kWord && out.name.empty() && Clauses().count(Upper(token.text)))
        return out;
      out.name += token.text;
    } else if (token.kind == SqlToken::Kind::kJinja) {
      out.name += InBraces(token.text);
      out.jinja = true;
    } else {
      break;
    }
    ++i;
    if (i + 1 < to && (t[i].IsSymbol('.') || t[i].IsSymbol(':') || t[i].IsSymbol('-')) && !out.name.empty() &&
        t[i].at + 1 == t[i + 1].at) {
      out.name += t[i].text;
      ++i;
    } else {
      break;
    }
  }
  return out;
}

// The token behind the bracket that opens at `i`.
std::size_t BehindBracket(const std::vector<SqlToken>& t, std::size_t i, std::size_t to) {
  int depth = 0;
  for (; i < to; ++i) {
    if (t[i].IsSymbol('(')) ++depth;
    if (t[i].IsSymbol(')') && --depth == 0) return i + 1;
  }
  return to;
}

std::size_t EndOfStatement(const std::vector<SqlToken>& t, std::size_t i) {
  while (i < t.size() && !t[i].IsSymbol(';')) ++i;
  return i;
}

}  // namespace

bool SqlToken::Is(std::string_view upper) const {
  if (kind != Kind::kWord || text.size() != upper.size()) return false;
  for (std::size_t i = 0; i < upper.size(); ++i) {
    const char c = text[i] >= 'a' && text[i] <= 'z' ? static_cast<char>(text[i] - 32) : text[i];
    if (c != upper[i]) return false;
  }
  return true;
}

SqlTokens TokenizeSql(std::string_view s, SqlDialect dialect) {
  SqlTokens out;
  TokenizeSql(s, out, out.made, dialect);
  return out;
}

namespace {

class Tokenizer {
 public:
  Tokenizer(std::string_view s, SqlDialect dialect, std::vector<SqlToken>& out, std::deque<std::string>& made,
            bool jinja = true)
      : s_(s),
        lexis_(LexisOf(dialect)),
        triple_(dialect == SqlDialect::kBigQuery),
        jinja_(jinja),
        out_(out),
        made_(made) {}
  // The text ended inside of a string or comment.
  bool open() const { return open_; }

  void Run() {
    out_.reserve(out_.size() + s_.size() / 6);
    while (i_ < s_.size()) {
      if (Blank(s_[i_]))
        ++i_;
      else if (!Comment() && !Jinja() && !Prefixed() && !Quote() && !Dollars() && !Word())
        Add(Kind::kSymbol, i_, 1);
    }
  }

 private:
  using Kind = SqlToken::Kind;
  using Is = SqlLexis::Is;

  static bool Blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
  bool NextIs(char c) const { return i_ + 1 < s_.size() && s_[i_ + 1] == c; }
  std::size_t Behind(std::string_view mark, std::size_t from) const {
    const std::size_t end = s_.find(mark, from);
    return end == std::string_view::npos ? s_.size() : end + mark.size();
  }
  void Add(Kind kind, std::size_t from, std::size_t size) {
    out_.push_back({kind, s_.substr(from, size), from});
    i_ = from + size;
  }

  // Nothing but blanks before it in its line.
  bool BeginsLine() const {
    for (std::size_t k = i_; k-- > 0 && s_[k] != '\n';)
      if (!Blank(s_[k])) return false;
    return true;
  }
  bool Comment() {
    const char c = s_[i_];
    if (c == '{' && jinja_ && NextIs('#')) {
      i_ = Behind("#}", i_);
      return true;
    }
    if (!lexis_.comments) return false;
    if (c == '/' && NextIs('*')) {
      Block();
      return true;
    }
    bool line = c == '-' && NextIs('-');
    // Elsewhere `//` divides, and `#` is an operator or part of a name.
    if (c == '/' && NextIs('/'))
      line = lexis_.slashes == Is::kYes || (lexis_.slashes == Is::kMaybe && BeginsLine());
    if (c == '#')
      line = lexis_.hash == Is::kYes || i_ == 0 || s_[i_ - 1] == '\n' ||
             (lexis_.hash == Is::kMaybe && Blank(s_[i_ - 1]) && (NextIs(' ') || BeginsLine()));
    if (!line) return false;
    i_ = Behind("\n", i_);
    return true;
  }
  void Block() {
    int depth = 0;
    if (!lexis_.nested) {
      const std::size_t end = s_.find("*/", i_ + 2);
      open_ = open_ || end == std::string_view::npos;
      i_ = end == std::string_view::npos ? s_.size() : end + 2;
      return;
    }
    for (; i_ < s_.size(); ++i_) {
      if (s_[i_] == '/' && NextIs('*') && (depth == 0 || lexis_.nested))
        ++depth, ++i_;
      else if (s_[i_] == '*' && NextIs('/') && (++i_, --depth == 0))
        break;
    }
    open_ = open_ || depth > 0;
    i_ = std::min(i_ + 1, s_.size());
  }

  bool Jinja() {
    if (s_[i_] != '{' || !jinja_ || !(NextIs('{') || NextIs('%'))) return false;
    const bool expression = s_[i_ + 1] == '{';
    const std::size_t from = i_, end = Behind(expression ? "}}" : "%}", i_ + 2);
    const std::size_t inner = end >= i_ + 4 ? end - i_ - 4 : 0;
    out_.push_back({expression ? Kind::kJinja : Kind::kBlock, Trimmed(s_.substr(i_ + 2, inner)), from});
    i_ = end;
    return true;
  }

  // E'it\'s', r'\d', b'..', N'..': the letters belong to the string, and in the first two a backslash keeps a
  // quote from ending it whatever the dialect says of others.
  bool Prefixed() {
    const char c = static_cast<char>(s_[i_] | 0x20);
    if ((c != 'e' && c != 'r' && c != 'b' && c != 'n') || i_ + 1 >= s_.size()) return false;
    const char second = static_cast<char>(s_[i_ + 1] | 0x20);
    const std::size_t n = triple_ && ((c == 'r' && second == 'b') || (c == 'b' && second == 'r')) ? 2 : 1;
    const char quote = i_ + n < s_.size() ? s_[i_ + n] : '\0';
    if (quote != '\'' && !(quote == '"' && lexis_.double_quoted)) return false;
    if (c == 'r' && !triple_ && lexis_.backslash == Is::kNo) return false;
    const Is before = lexis_.backslash;
    if (c == 'e' || c == 'r') lexis_.backslash = Is::kYes;
    i_ += n;
    Quote();
    lexis_.backslash = before;
    return true;
  }
  // Three quotes in a row hold single ones.
  bool Triple(char quote) {
    if (!triple_ || !NextIs(quote) || i_ + 2 >= s_.size() || s_[i_ + 2] != quote) return false;
    const std::size_t from = i_ + 3;
    std::size_t end = from;
    while (end + 2 < s_.size() && !(s_[end] == quote && s_[end + 1] == quote && s_[end + 2] == quote))
      end += s_[end] == '\\' ? 2 : 1;
    const bool closed = end + 2 < s_.size();
    open_ = open_ || !closed;
    out_.push_back({Kind::kString, s_.substr(from, (closed ? end : s_.size()) - from), i_});
    i_ = closed ? end + 3 : s_.size();
    return true;
  }

  bool Quote() {
    const char c = s_[i_];
    if ((c == '\'' || c == '"') && Triple(c)) return true;
    if (c == '\'') {
      Quoted('\'', Kind::kString);
    } else if (c == '"') {
      Quoted('"', lexis_.double_quoted ? Kind::kString : Kind::kQuoted);
    } else if (c == '`') {
      Quoted(c, Kind::kQuoted);
    } else if (c == '[' && i_ + 1 < s_.size() && WordStart(s_[i_ + 1]) && ClosesAsName()) {
      Quoted(']', Kind::kQuoted);
    } else {
      return false;
    }
    return true;
  }
  // The bracket at `i_` closes before anything that no name holds.
  bool ClosesAsName() {
    if (stop_ <= i_) stop_ = std::min(s_.find_first_of("](,'\n", i_), s_.size());
    return stop_ < s_.size() && s_[stop_] == ']';
  }
  // Whether the backslash at `i_` keeps a quote from ending its string. Not known: what follows the quote
  // goes on like a text, where behind a string that ends there would be a blank, a comma or a bracket.
  bool Escapes(char quote) const {
    if (s_[i_] != '\\' || quote == ']' || quote == '`' || lexis_.backslash == Is::kNo) return false;
    if (lexis_.backslash == Is::kYes) return i_ + 1 < s_.size();
    return NextIs(quote) && i_ + 2 < s_.size() && (WordPart(s_[i_ + 2]) || s_[i_ + 2] == quote);
  }
  void Quoted(char quote, Kind kind) {
    const std::size_t from = i_++;
    std::size_t kept = i_;        // what follows from here on was not copied yet
    std::string* text = nullptr;  // only where a quote is doubled or escaped
    while (i_ < s_.size()) {
      if (s_[i_] == '{' && jinja_ && (NextIs('{') || NextIs('%'))) {  // Jinja's own quotes end no string
        i_ = Behind(s_[i_ + 1] == '{' ? "}}" : "%}", i_ + 2);
        continue;
      }
      const bool escaped = Escapes(quote);
      if (!escaped && s_[i_] == quote && !NextIs(quote)) break;
      if (!(escaped && NextIs(quote)) && s_[i_] != quote) {
        i_ += escaped ? 2 : 1;
        continue;
      }
      if (!text) text = &made_.emplace_back();
      text->append(s_.substr(kept, i_ - kept));
      text->push_back(quote);
      kept = i_ += 2;
    }
    open_ = open_ || i_ >= s_.size();
    i_ = std::min(i_, s_.size());
    const std::string_view rest = kept < i_ ? s_.substr(kept, i_ - kept) : std::string_view();
    if (text) text->append(rest);
    ++i_;
    out_.push_back({kind, text ? std::string_view(*text) : rest, from});
  }

  // $$ text $$, $body$ text $body$
  bool Dollars() {
    if (s_[i_] != '$' || i_ + 1 >= s_.size() || !(s_[i_ + 1] == '$' || WordStart(s_[i_ + 1]))) return false;
    const std::size_t close = s_.find('$', i_ + 1);
    if (close == std::string_view::npos ||
        s_.substr(i_ + 1, close - i_ - 1).find_first_of(" \n\t(),;.") != std::string_view::npos)
      return false;
    const std::string_view tag = s_.substr(i_, close - i_ + 1);
    const std::size_t from = i_, end = Behind(tag, i_ + tag.size());
    open_ = open_ || end < from + 2 * tag.size() || s_.substr(end - tag.size(), tag.size()) != tag;
    const std::size_t size = end - from > 2 * tag.size() ? end - from - 2 * tag.size() : 0;
    Add(Kind::kString, from + tag.size(), size);
    out_.back().at = from;
    i_ = end;
    return true;
  }

  bool Word() {
    const std::size_t from = i_;
    std::size_t end = i_;
    if (WordStart(s_[i_])) {
      while (end < s_.size() && WordPart(s_[end])) ++end;
      Add(Kind::kWord, from, end - from);
      return true;
    }
    if (s_[i_] < '0' || s_[i_] > '9') return false;
    while (end < s_.size() && (WordPart(s_[end]) || (s_[end] == '.' && end + 1 < s_.size() &&
                                                     s_[end + 1] >= '0' && s_[end + 1] <= '9')))
      ++end;
    Add(Kind::kNumber, from, end - from);
    return true;
  }

  std::string_view s_;
  SqlLexis lexis_;
  bool triple_, jinja_, open_ = false;
  std::vector<SqlToken>& out_;
  std::deque<std::string>& made_;
  std::size_t i_ = 0;
  std::size_t stop_ = 0;  // the next sign at which a name in brackets ends, one way or the other
};

}  // namespace

void TokenizeSql(std::string_view s, std::vector<SqlToken>& out, std::deque<std::string>& made,
                 SqlDialect dialect) {
  Tokenizer(s, dialect, out, made).Run();
}

bool TokenizeStatement(std::string_view s, SqlTokens& out, SqlDialect dialect, bool jinja) {
  Tokenizer tokenizer(s, dialect, out, out.made, jinja);
  tokenizer.Run();
  return tokenizer.open();
}

std::vector<SqlTable> TablesRead(const std::vector<SqlToken>& t, std::size_t from, std::size_t to) {
  std::set<std::string> local;  // common table expressions
  for (std::size_t i = from; i + 2 < to; ++i)
    if ((t[i].kind == SqlToken::Kind::kWord || t[i].kind == SqlToken::Kind::kQuoted) && t[i + 1].Is("AS") &&
        (t[i + 2].IsSymbol('(') || t[i + 2].Is("MATERIALIZED") || t[i + 2].Is("NOT")))
      local.insert(Lower(t[i].text));
  std::vector<SqlTable> out;
  std::set<std::string> known;
  const auto add = [&](SqlTable table) {
    if (table.name.empty() || (!table.jinja && local.count(Lower(table.name)))) return;
    if (known.insert(table.name).second) out.push_back(std::move(table));
  };
  for (std::size_t i = from; i < to; ++i) {
    const bool list = t[i].Is("FROM");
    if (!list && !t[i].Is("JOIN")) continue;
    // EXTRACT(day FROM x), TRIM(x FROM y) and IS DISTINCT FROM name no table.
    if (list && i > from &&
        (t[i - 1].Is("DISTINCT") && i > from + 1 && (t[i - 2].Is("IS") || t[i - 2].Is("NOT"))))
      continue;
    if (list && i > from + 2 && t[i - 2].IsSymbol('(') &&
        (t[i - 3].Is("EXTRACT") || t[i - 3].Is("TRIM") || t[i - 3].Is("SUBSTRING")))
      continue;
    std::size_t at = i + 1;
    while (at < to) {
      while (at < to && (t[at].Is("LATERAL") || t[at].Is("ONLY") || t[at].Is("TABLE"))) ++at;
      if (at < to && t[at].IsSymbol('(')) break;  // a subquery: its own FROM comes by itself
      SqlTable table = NameAt(t, at, to);
      const bool call = at < to && t[at].IsSymbol('(');  // a table function
      if (!call)
        add(std::move(table));
      else
        at = BehindBracket(t, at, to);
      if (!list) break;
      if (at < to && t[at].Is("AS")) ++at;
      if (at < to && (t[at].kind == SqlToken::Kind::kWord || t[at].kind == SqlToken::Kind::kQuoted) &&
          !Clauses().count(Upper(t[at].text)))
        ++at;
      if (at >= to || !t[at].IsSymbol(',')) break;
      ++at;
    }
  }
  return out;
}

std::vector<SqlTable> TablesRead(std::string_view sql) {
  const auto tokens = TokenizeSql(sql);
  return TablesRead(tokens, 0, tokens.size());
}

std::vector<std::string> SideEffects(std::string_view sql) {
  const auto t = TokenizeSql(sql);
  std::vector<std::string> out;
  std::size_t end = 0;  // of the statement at hand
  for (std::size_t i = 0; i < t.size(); ++i) {
    // A statement begins behind a semicolon, and behind Jinja that decides whether or where it is written.
    if (i > 0 && !t[i - 1].IsSymbol(';') && t[i - 1].kind != SqlToken::Kind::kBlock) continue;
    if (i == 0 || end < i) end = EndOfStatement(t, i);
    const auto is = [&](std::size_t k, std::initializer_list<const char*> words) {
      return k < end && std::any_of(words.begin(), words.end(), [&](const char* w) { return t[k].Is(w); });
    };
    const auto behind = [&](std::size_t k, std::initializer_list<const char*> words) {
      while (is(k, words)) ++k;
      return k;
    };
    // Another table than the model's own, with what is done to it.
    const auto tell = [&](const char* does, std::size_t k) {
      const SqlTable table = NameAt(t, k, end);
      const std::string name = table.jinja ? InBraces(table.name) : table.name;
      if (!name.empty() && name != "{{ this }}") out.push_back(does + name);
    };
    if (is(i, {"EXECUTE", "EXEC"}) && is(i + 1, {"IMMEDIATE"})) {
      if (i + 2 >= end || t[i + 2].kind != SqlToken::Kind::kString) {
        out.push_back("runs a statement that is made up at run time");
        continue;
      }
      for (const SqlExport& found : FindExports(t[i + 2].text))
        out.push_back("writes out to " + found.destination + " (" + found.how + ")");
      for (std::string& effect : SideEffects(t[i + 2].text)) out.push_back(std::move(effect));
    } else if (is(i, {"EXECUTE"}) && is(i + 1, {"TASK", "JOB", "NOTEBOOK"})) {
      tell("starts ", i + 2);
    } else if (is(i, {"CALL", "EXEC", "EXECUTE"})) {
      tell("calls ", i + 1);
    } else if (is(i, {"INSERT", "MERGE"})) {
      const std::size_t k = behind(i + 1, {"INTO", "OVERWRITE", "TABLE"});
      if (!is(k, {"DIRECTORY", "LOCAL"})) tell("also writes ", k);
    } else if (is(i, {"CREATE"})) {
      // CREATE TABLE ... AS: a table that stays, not a view, and not one of this session.
      const std::size_t kind =
          behind(i + 1, {"OR", "REPLACE", "TRANSIENT", "UNLOGGED", "EXTERNAL", "MULTISET"});
      if (!is(kind, {"TABLE"})) continue;
      std::size_t k = kind;
      while (k < end && !t[k].Is("AS")) ++k;
      if (k < end && !is(kind + 1, {"IF"})) tell("also writes ", kind + 1);  // what exists is left as it is
    } else if (is(i, {"UPDATE"})) {
      tell("also changes ", behind(i + 1, {"ONLY"}));
    } else if (is(i, {"DELETE", "TRUNCATE"})) {
      tell("also takes rows from ", behind(i + 1, {"FROM", "TABLE", "ONLY", "IF", "EXISTS"}));
    } else if (is(i, {"ALTER", "REFRESH"})) {
      std::size_t k = i;
      bool refreshes = t[i].Is("REFRESH"), swaps = false;
      for (; k < end; ++k) refreshes = refreshes || t[k].Is("REFRESH"), swaps = swaps || t[k].Is("SWAP");
      const std::size_t kind = behind(i + 1, {"MATERIALIZED", "DYNAMIC", "VIEW", "CONCURRENTLY"});
      const bool table = is(kind, {"TABLE"});
      const std::size_t name = behind(kind + (table ? 1 : 0), {"IF", "EXISTS"});
      if (swaps) tell("also swaps ", name);
      // Spark's REFRESH TABLE only forgets what it knew of the files.
      if (refreshes && !(t[i].Is("REFRESH") && table)) tell("also refreshes ", name);
    }
  }
  if (Notifies(sql)) out.push_back("notifies");
  return out;
}

bool Notifies(std::string_view sql) {
  static const std::set<std::string> calls = {
      "NOTIFY",         "PG_NOTIFY", "SYSTEM$SEND_EMAIL",
      "SP_SEND_DBMAIL", "HTTP_POST", "SYSTEM$SEND_SNOWFLAKE_NOTIFICATION"};
  for (const SqlToken& token : TokenizeSql(sql))
    if (token.kind == SqlToken::Kind::kWord && calls.count(Upper(token.text))) return true;
  return false;
}

}  // namespace backreach
