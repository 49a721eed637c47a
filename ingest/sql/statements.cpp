// Statements are read over tokens, in one pass with a stack of brackets: each bracket knows whether a SELECT
// was seen in it (so that its FROM names tables), which names its WITH has made up so far, and whether a
// table comes next. No tree is made, and no bracket is ever walked twice, so a statement of a megabyte costs
// what its tokens cost. A text that holds statements in its strings (UNLOAD, EXECUTE IMMEDIATE, DO) is read
// in turn, a few levels deep.

#include "ingest/sql/statements.hpp"

#include <algorithm>
#include <set>

#include "graph/base/words.hpp"

namespace backreach {

void SqlName::Add(std::string_view text, bool in_quotes) {
  if (parts == kMost) return;
  part[parts] = text;
  if (in_quotes) quoted = static_cast<std::uint8_t>(quoted | 1u << parts);
  ++parts;
}

namespace {

// What a word means for the scan. Most words mean nothing.
enum class Word : unsigned char {
  kNone,
  kSelect,
  kFrom,
  kJoin,
  kWith,
  kUsing,
  kInto,
  kTable,
  kEnds,     // the list of tables ends here
  kNarrows,  // the same, and not all rows are taken
  kOn,
  kAs,
  kApply,
  kChanges,  // INSERT, UPDATE, DELETE, MERGE
  kSums,     // an aggregate, with a bracket behind it
  kSkip      // LATERAL, ONLY: before a table's name
};

struct WordEntry {
  std::string_view text;
  Word word;
};
constexpr WordEntry kWords[] = {{"SELECT", Word::kSelect},
                                {"FROM", Word::kFrom},
                                {"JOIN", Word::kJoin},
                                {"STRAIGHT_JOIN", Word::kJoin},
                                {"WITH", Word::kWith},
                                {"USING", Word::kUsing},
                                {"INTO", Word::kInto},
                                {"TABLE", Word::kTable},
                                {"ON", Word::kOn},
                                {"AS", Word::kAs},
                                {"APPLY", Word::kApply},
                                {"LATERAL", Word::kSkip},
                                {"ONLY", Word::kSkip},
                                {"WHERE", Word::kNarrows},
                                {"GROUP", Word::kNarrows},
                                {"HAVING", Word::kNarrows},
                                {"LIMIT", Word::kNarrows},
                                {"QUALIFY", Word::kNarrows},
                                {"TOP", Word::kNarrows},
                                {"FETCH", Word::kNarrows},
                                {"SAMPLE", Word::kNarrows},
                                {"TABLESAMPLE", Word::kNarrows},
                                {"DISTINCT", Word::kNarrows},
                                {"PREWHERE", Word::kNarrows},
                                {"ORDER", Word::kEnds},
                                {"WINDOW", Word::kEnds},
                                {"UNION", Word::kEnds},
                                {"EXCEPT", Word::kEnds},
                                {"INTERSECT", Word::kEnds},
                                {"MINUS", Word::kEnds},
                                {"SET", Word::kEnds},
                                {"VALUES", Word::kEnds},
                                {"RETURNING", Word::kEnds},
                                {"WHEN", Word::kEnds},
                                {"OFFSET", Word::kEnds},
                                {"CLUSTER", Word::kEnds},
                                {"DISTRIBUTE", Word::kEnds},
                                {"SORT", Word::kEnds},
                                {"FOR", Word::kEnds},
                                {"INSERT", Word::kChanges},
                                {"UPDATE", Word::kChanges},
                                {"DELETE", Word::kChanges},
                                {"MERGE", Word::kChanges},
                                {"COUNT", Word::kSums},
                                {"SUM", Word::kSums},
                                {"AVG", Word::kSums},
                                {"MIN", Word::kSums},
                                {"MAX", Word::kSums},
                                {"APPROX_COUNT_DISTINCT", Word::kSums}};

// Words are looked up by length and first letter; the table holds the few candidates of each.
struct WordTable {
  std::array<std::array<std::uint8_t, 4>, 32 * 32> at{};
  WordTable() {
    for (std::size_t i = 0; i < std::size(kWords); ++i) {
      auto& row = at[Row(kWords[i].text)];
      for (std::uint8_t& slot : row)
        if (slot == 0) {
          slot = static_cast<std::uint8_t>(i + 1);
          break;
        }
    }
  }
  static std::size_t Row(std::string_view text) {
    return (text.size() & 31) * 32 + (static_cast<unsigned char>(text[0]) & 31);
  }
};

Word WordOf(const SqlToken& t) {
  static const WordTable table;
  if (t.kind != SqlToken::Kind::kWord || t.text.size() < 2 || t.text.size() > 21) return Word::kNone;
  for (const std::uint8_t slot : table.at[WordTable::Row(t.text)]) {
    if (slot == 0) return Word::kNone;
    if (t.Is(kWords[slot - 1u].text)) return kWords[slot - 1u].word;
  }
  return Word::kNone;
}

// Words in one text, blanks between them; asked in any case.
class WordSet {
 public:
  explicit WordSet(std::string_view words) {
    for (std::string& word : Split(words, ' '))
      if (!word.empty()) words_.insert(std::move(word));
  }
  bool Has(std::string_view word) const { return word.size() <= 20 && words_.count(Upper(word)) > 0; }

 private:
  std::set<std::string, std::less<>> words_;
};

bool Same(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto fold = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    if (fold(a[i]) != fold(b[i])) return false;
  }
  return true;
}

// Words that end a table's place in a list, so that they are no alias of it.
bool NoAlias(const SqlToken& t) {
  static const WordSet words(
      "WHERE GROUP ORDER HAVING LIMIT UNION EXCEPT INTERSECT MINUS ON USING JOIN LEFT RIGHT FULL "
      "INNER OUTER CROSS NATURAL SET VALUES WINDOW QUALIFY FETCH OFFSET WHEN RETURNING WITH "
      "LATERAL TABLESAMPLE SAMPLE PIVOT UNPIVOT FOR AS INTO FROM ANTI SEMI ASOF FINAL PREWHERE "
      "CLUSTER TO DISTRIBUTE SORT SELECT AT BEFORE CHANGES CONNECT START MATCH_RECOGNIZE END "
      "POSITIONAL GLOBAL ARRAY STRAIGHT_JOIN FORCE USE IGNORE PARTITION VERSION TIMESTAMP NOT "
      "AND OR UPDATE DELETE INSERT MERGE THEN DO LOOP ");
  return t.kind == SqlToken::Kind::kWord && words.Has(t.text);
}

bool Holds(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace

// Reads the statements of one text into the reader's deeds.
class StatementScanner {
 public:
  StatementScanner(StatementReader& reader, std::string_view text, int depth)
      : reader_(reader), text_(text), depth_(depth), held_(reader.Tokens()), t_(held_) {
    open_ = TokenizeStatement(text, held_, reader.how_.dialect, reader.how_.jinja);
  }

  // Everything there is. Nested texts are complete or their outer text is cut.
  void All() {
    if (depth_ == 0) reader_.cut_ = open_ || LooksCut();
    for (std::size_t i = 0; i < t_.size();) {
      const std::size_t end = EndOf(i);
      Statement(i, end);
      if (end_of_text_) break;  // the body of a routine
      i = end + 1;
    }
  }

 private:
  using Kind = SqlDeed::Kind;
  using Verb = SqlDeed::Verb;
  using Token = SqlToken::Kind;

  // ---- tokens ----

  bool Is(std::size_t i, std::string_view upper) const { return i < end_ && t_[i].Is(upper); }
  bool IsSymbol(std::size_t i, char c) const { return i < end_ && t_[i].IsSymbol(c); }
  bool IsString(std::size_t i) const { return i < end_ && t_[i].kind == Token::kString; }
  bool IsName(std::size_t i) const {
    return i < end_ &&
           (t_[i].kind == Token::kWord || t_[i].kind == Token::kQuoted || t_[i].kind == Token::kJinja ||
            (t_[i].IsSymbol('#') && i + 1 < end_ && t_[i].at + 1 == t_[i + 1].at));
  }
  bool IsOneOf(std::size_t i, std::initializer_list<std::string_view> words) const {
    return i < end_ && t_[i].kind == Token::kWord &&
           std::any_of(words.begin(), words.end(), [&](std::string_view w) { return t_[i].Is(w); });
  }
  std::size_t Behind(std::size_t i, std::initializer_list<std::string_view> words) const {
    while (IsOneOf(i, words)) ++i;
    return i;
  }
  // Behind the bracket that opens at `i`.
  std::size_t BehindBracket(std::size_t i) const {
    int depth = 0;
    for (; i < end_; ++i) {
      if (t_[i].IsSymbol('(')) ++depth;
      if (t_[i].IsSymbol(')') && --depth == 0) return i + 1;
    }
    return end_;
  }
  std::size_t Find(std::size_t i, std::string_view word) const {
    int depth = 0;
    for (; i < end_; ++i) {
      if (t_[i].IsSymbol('(')) ++depth;
      if (t_[i].IsSymbol(')')) --depth;
      if (depth == 0 && t_[i].Is(word)) return i;
    }
    return end_;
  }
  std::size_t EndOfToken(std::size_t i) const {
    const SqlToken& t = t_[i];
    switch (t.kind) {
      case Token::kWord:
      case Token::kNumber:
      case Token::kSymbol: return t.at + t.text.size();
      default: break;
    }
    // A quoted text: its end is where the next token begins, less the blanks.
    std::size_t end = i + 1 < t_.size() ? t_[i + 1].at : text_.size();
    while (end > t.at + 1 && (text_[end - 1] == ' ' || text_[end - 1] == '\n' || text_[end - 1] == '\t' ||
                              text_[end - 1] == '\r'))
      --end;
    return end;
  }
  std::size_t EndOf(std::size_t i) const {
    int depth = 0;
    for (; i < t_.size(); ++i) {
      if (t_[i].kind != Token::kSymbol) continue;
      const char c = t_[i].text[0];
      if (c == '(') ++depth;
      if (c == ')' && depth > 0) --depth;
      if (c == ';' && depth == 0) return i;
    }
    return i;
  }
  // The text ends where no statement does.
  bool LooksCut() const {
    int depth = 0;
    for (const SqlToken& t : t_) {
      if (t.IsSymbol('(')) ++depth;
      if (t.IsSymbol(')')) --depth;
    }
    if (depth > 0) return true;
    if (t_.empty()) return false;
    const SqlToken& last = t_.back();
    if (last.kind == Token::kSymbol) return Holds(",.=+<|", last.text);
    static const std::set<std::string, std::less<>> words = {
        "SELECT", "FROM", "WHERE", "JOIN", "AND", "OR", "ON", "BY", "AS", "INTO", "IN", "UNION", "NOT"};
    return last.kind == Token::kWord && words.count(Upper(last.text)) > 0;
  }

  // ---- names ----

  // A table's name at `i`, moved behind it.
  SqlName Name(std::size_t& i) {
    SqlName out;
    while (i < end_) {
      const SqlToken& t = t_[i];
      if (t.kind == Token::kWord || t.kind == Token::kNumber) {
        std::string_view text = t.text;
        ++i;
        // Projects of BigQuery have dashes in their names, wildcards a star behind.
        while (i + 1 < end_ && t_[i].IsSymbol('-') && t_[i].at == EndOfToken(i - 1) &&
               t_[i + 1].at == t_[i].at + 1 &&
               (t_[i + 1].kind == Token::kWord || t_[i + 1].kind == Token::kNumber)) {
          text = text_.substr(t.at, EndOfToken(i + 1) - t.at);
          i += 2;
        }
        out.Add(text, false);
      } else if (t.kind == Token::kQuoted) {
        ++i;
        AddQuoted(t, out);
      } else if (t.kind == Token::kJinja) {
        ++i;
        out.Add(t.text, true);
        out.jinja = true;
      } else if (t.IsSymbol('#') && i + 1 < end_ && t_[i + 1].kind == Token::kWord) {
        out.Add(text_.substr(t.at, 1 + t_[i + 1].text.size()), false);
        i += 2;
      } else {
        break;
      }
      // Templates and words without a blank between them are one part: `shop_{{ env }}.orders`.
      if (i < end_ && reader_.how_.jinja && !t_[i].IsSymbol('.') && t_[i].at == EndOfToken(i - 1) &&
          (t_[i].kind == Token::kJinja || (t.kind == Token::kJinja && t_[i].kind == Token::kWord))) {
        const std::size_t from = t.kind == Token::kJinja ? t.at : t.at;
        std::size_t last = i;
        while (last + 1 < end_ && t_[last + 1].at == EndOfToken(last) &&
               (t_[last + 1].kind == Token::kJinja || t_[last + 1].kind == Token::kWord))
          ++last;
        out.part[out.parts - 1u] = text_.substr(from, EndOfToken(last) - from);
        out.jinja = true;
        i = last + 1;
      }
      if (i >= end_ || !(t_[i].IsSymbol('.') || (t_[i].IsSymbol(':') && t_[i].at == EndOfToken(i - 1))))
        break;
      if (t_[i].IsSymbol(':') && reader_.how_.dialect != SqlDialect::kBigQuery) break;
      const bool twice = IsSymbol(i + 1, '.');
      if (twice) out.Add("", false);  // `db..t`
      i += twice ? 2 : 1;
      if (i >= end_) break;
      if (t_[i].IsSymbol('*')) break;
    }
    return out;
  }
  // A quoted part. One pair of back-ticks may hold all parts in BigQuery, where no part holds a dot unless
  // its neighbours have back-ticks of their own.
  void AddQuoted(const SqlToken& t, SqlName& out) const {
    const bool all = text_[t.at] == '`' && reader_.how_.dialect == SqlDialect::kBigQuery && out.empty() &&
                     Holds(t.text, ".") &&
                     !(EndOfToken(Index(t)) < text_.size() && text_[EndOfToken(Index(t))] == '.' &&
                       EndOfToken(Index(t)) + 1 < text_.size() && text_[EndOfToken(Index(t)) + 1] == '`');
    if (!all) return out.Add(t.text, true);
    std::string_view rest = t.text;
    for (std::size_t dot; (dot = rest.find('.')) != std::string_view::npos; rest.remove_prefix(dot + 1))
      out.Add(rest.substr(0, dot), true);
    out.Add(rest, true);
  }
  std::size_t Index(const SqlToken& t) const { return static_cast<std::size_t>(&t - t_.data()); }

  // A place at `i`: a string, a stage with its path, a template. Moved behind it.
  std::string PlaceAt(std::size_t& i) {
    if (i >= end_) return "";
    if (t_[i].kind == Token::kString || t_[i].kind == Token::kQuoted) return std::string(t_[i++].text);
    if (t_[i].kind == Token::kJinja && !(i + 1 < end_ && t_[i + 1].at == EndOfToken(i)))
      return "{{ " + std::string(t_[i++].text) + " }}";
    if (t_[i].IsSymbol('@') || t_[i].kind == Token::kJinja || IsOneOf(i, {"FILE"})) {
      const std::size_t from = t_[i].at;
      std::size_t end = from;
      // Up to the next blank outside of quotes and templates; a path may hold what tokens do not.
      while (end < text_.size() && text_[end] != ' ' && text_[end] != '\n' && text_[end] != '\t' &&
             text_[end] != '\r' && text_[end] != ';' && text_[end] != ')') {
        const char c = text_[end];
        if (c == '(') break;
        if (c == '"' || c == '\'') {
          const std::size_t close = text_.find(c, end + 1);
          end = close == std::string_view::npos ? text_.size() : close + 1;
        } else if (text_.compare(end, 2, "{{") == 0) {
          const std::size_t close = text_.find("}}", end);
          end = close == std::string_view::npos ? text_.size() : close + 2;
        } else {
          ++end;
        }
      }
      while (i < end_ && t_[i].at < end) ++i;
      return std::string(text_.substr(from, end - from));
    }
    return "";
  }

  // ---- the scan of a query ----

  struct Frame {
    bool query = false, expect = false, list = false, recursive = false, args = false, fresh = true;
    std::size_t ctes = 0, aliases = 0;
    std::string_view cte;
  };

  // `name [(columns)] AS [NOT MATERIALIZED] (` at `i`: the bracket's place, else 0.
  std::size_t TableExpressionAt(std::size_t i, std::string_view& name) const {
    if (i >= end_ || (t_[i].kind != Token::kWord && t_[i].kind != Token::kQuoted)) return 0;
    std::size_t k = i + 1;
    if (IsSymbol(k, '(')) k = BehindBracket(k);
    if (!Is(k, "AS")) return 0;
    k = Behind(k + 1, {"NOT", "MATERIALIZED"});
    if (!IsSymbol(k, '(')) return 0;
    name = t_[i].text;
    return k;
  }

  bool IsExpression(std::string_view name) const {
    return std::any_of(ctes_.rbegin(), ctes_.rend(), [&](std::string_view c) { return Same(c, name); });
  }

  // Reads [from, to) into the deed. `query`: a SELECT, or what stands like one, was before it.
  void Scan(std::size_t from, std::size_t to, SqlDeed& deed, bool query, bool expect = false,
            bool using_names = false) {
    const std::size_t kept = end_;
    end_ = to;
    frames_.clear(), ctes_.clear(), aliases_.clear();
    frames_.emplace_back();
    frames_.back().query = query;
    frames_.back().expect = frames_.back().list = expect;
    using_names_ = using_names, scan_from_ = from;
    std::string_view pending;
    for (std::size_t i = from; i < to;) {
      Frame& top = frames_.back();
      const SqlToken& t = t_[i];
      if (t.kind == Token::kSymbol) {
        const char c = t.text[0];
        if (c == '(') {
          Open(i, pending);
          pending = {};
          ++i;
          continue;
        }
        if (c == ')') {
          i = Close(i, pending);
          continue;
        }
        if (c == ',' && top.list) top.expect = true;
        if (c == '@' && top.expect) {
          deed.anything = true;
          PlaceAt(i);
          Alias(i);
          top.expect = false;
          continue;
        }
        if (c == '*' && top.fresh) top.fresh = false;
        if (!(c == '#' && top.expect)) {
          ++i;
          continue;
        }
      }
      if (t.kind == Token::kWord) {
        const std::size_t next = OnWord(i, deed, pending);
        if (next != i) {
          i = next;
          continue;
        }
      }
      if (frames_.back().expect && (IsName(i) || IsString(i))) {
        i = Table(i, deed);
        continue;
      }
      frames_.back().fresh = false;
      ++i;
    }
    end_ = kept;
  }

  void Open(std::size_t i, std::string_view pending) {
    Frame& top = frames_.back();
    Frame f;
    f.ctes = ctes_.size(), f.aliases = aliases_.size();
    f.cte = pending;
    if (!pending.empty() && top.recursive) ctes_.push_back(pending);
    const Word next = i + 1 < end_ ? WordOf(t_[i + 1]) : Word::kNone;
    if (top.expect) {
      const bool query = next == Word::kSelect || next == Word::kWith || next == Word::kFrom ||
                         next == Word::kTable || Is(i + 1, "VALUES");
      f.query = !query, f.expect = f.list = !query;
      top.expect = false;
    } else if (i > scan_from_ && (t_[i - 1].kind == Token::kWord || t_[i - 1].kind == Token::kQuoted) &&
               WordOf(t_[i - 1]) == Word::kNone) {
      f.args = true;
    }
    top.fresh = false;
    frames_.push_back(f);
  }

  std::size_t Close(std::size_t i, std::string_view& pending) {
    if (frames_.size() == 1) return i + 1;
    const Frame f = frames_.back();
    frames_.pop_back();
    ctes_.resize(std::min(ctes_.size(), f.ctes));
    aliases_.resize(std::min(aliases_.size(), f.aliases));
    ++i;
    if (f.cte.empty()) return i;
    ctes_.push_back(f.cte);
    if (IsSymbol(i, ',')) {
      std::string_view name;
      if (const std::size_t at = TableExpressionAt(i + 1, name)) {
        pending = name;
        return at;
      }
    }
    frames_.back().fresh = true;  // the query that the list stands before
    return i;
  }

  // What a word changes; returns where to go on, or `i` where it may be a table's name.
  std::size_t OnWord(std::size_t i, SqlDeed& deed, std::string_view& pending) {
    Frame& top = frames_.back();
    const Word word = WordOf(t_[i]);
    const bool fresh = top.fresh;
    const bool after_dot = i > 0 && t_[i - 1].IsSymbol('.');
    if (after_dot || word == Word::kNone) return i;
    switch (word) {
      case Word::kWith: {
        std::size_t k = i + 1;
        const bool recursive = Is(k, "RECURSIVE");
        if (recursive) ++k;
        std::string_view name;
        if (const std::size_t at = TableExpressionAt(k, name)) {
          top.recursive = recursive;
          pending = name;
          return at;
        }
        return i + 1;
      }
      case Word::kSelect: top.query = true, top.list = top.expect = false, top.fresh = false; return i + 1;
      case Word::kFrom: {
        const bool distinct =
            i > 1 && t_[i - 1].Is("DISTINCT") && (t_[i - 2].Is("IS") || t_[i - 2].Is("NOT"));
        if (fresh && !top.args) top.query = true;  // FROM first
        top.fresh = false;
        if (top.query && !distinct) {
          top.expect = top.list = true;
          aliases_.resize(std::min(aliases_.size(), top.aliases));
        }
        return i + 1;
      }
      case Word::kJoin:
      case Word::kApply:
        if (top.query) top.expect = top.list = true;
        return i + 1;
      case Word::kUsing:
        if (frames_.size() == 1 && using_names_)
          top.query = top.expect = top.list = true, using_names_ = false;
        return i + 1;
      case Word::kTable:
        if (fresh) top.query = top.expect = true, top.fresh = false;
        return i + 1;
      case Word::kSkip: return top.expect ? i + 1 : i;
      case Word::kSums:
        if (IsSymbol(i + 1, '(')) deed.rows = false;
        return i;
      case Word::kNarrows:
        if (!(t_[i].Is("TOP") || t_[i].Is("SAMPLE")) || top.query) deed.rows = false;
        [[fallthrough]];
      case Word::kEnds:
        if (top.expect && !t_[i].Is("VALUES")) return i;
        top.expect = top.list = top.fresh = false;
        return i + 1;
      case Word::kOn: top.expect = false; return i + 1;
      case Word::kAs: return i + 1;
      case Word::kInto: return Into(i, deed);
      case Word::kChanges: return fresh && frames_.size() > 1 ? Changes(i, deed) : i + 1;
      default: return i;
    }
  }

  // SELECT ... INTO: a table, or a file.
  std::size_t Into(std::size_t i, SqlDeed& deed) {
    if (frames_.size() > 1 || !frames_.back().query || deed.kind != Kind::kReads) return i + 1;
    std::size_t k = i + 1;
    if (IsOneOf(k, {"OUTFILE", "DUMPFILE"})) {
      deed.kind = Kind::kTakesOut, deed.how = "INTO OUTFILE";
      if (IsString(++k)) deed.destination = std::string(t_[k++].text);
      return k;
    }
    const bool temporary = IsOneOf(k, {"TEMP", "TEMPORARY", "LOCAL"});
    k = Behind(k, {"TEMP", "TEMPORARY", "LOCAL", "UNLOGGED", "TABLE", "STRICT"});
    if (!IsName(k)) return k;
    deed.target = Name(k);
    deed.temporary = temporary || deed.target.last().substr(0, 1) == "#";
    deed.kind = Kind::kWrites, deed.verb = Verb::kCreate, deed.how = "SELECT INTO";
    return k;
  }

  // A statement that changes a table, inside of a query: it writes as well, and what it returns is read.
  std::size_t Changes(std::size_t i, SqlDeed& deed) {
    Frame& top = frames_.back();
    SqlDeed inner;
    inner.kind = Kind::kWrites;
    inner.verb = t_[i].Is("INSERT") ? Verb::kInsert : Verb::kChange;
    std::size_t k = Behind(i + 1, {"INTO", "FROM", "ONLY", "TABLE", "OVERWRITE"});
    if (!IsName(k)) return i + 1;
    inner.target = Name(k);
    if (inner.verb == Verb::kChange) deed.reads.push_back(inner.target), deed.anything = true;
    inside_.push_back(std::move(inner));
    Alias(k);
    top.query = true, top.fresh = true;
    if (IsSymbol(k, '(') && inside_.back().verb == Verb::kInsert && !Is(k + 1, "SELECT") &&
        !Is(k + 1, "WITH"))
      k = BehindBracket(k);
    return k;
  }

  void Alias(std::size_t& i) {
    if (Is(i, "AS")) ++i;
    if (i < end_ && (t_[i].kind == Token::kWord || t_[i].kind == Token::kQuoted) && !NoAlias(t_[i])) {
      aliases_.push_back(t_[i].text);
      ++i;
    }
  }

  // What stands where a table is expected; returns what is behind it and its alias.
  std::size_t Table(std::size_t i, SqlDeed& deed) {
    Frame& top = frames_.back();
    top.expect = false;
    if (IsString(i)) {  // a file
      deed.anything = true;
      ++i;
      Alias(i);
      return i;
    }
    if (t_[i].kind == Token::kWord && (Is(i, "VALUES") || NoAlias(t_[i]))) {
      if (Is(i, "VALUES")) deed.rows = false;
      return Is(i, "SELECT") || Is(i, "WITH") || Is(i, "FROM") ? i : i + 1;
    }
    if (Is(i, "IDENTIFIER") && IsSymbol(i + 1, '(')) {
      if (IsString(i + 2) && IsSymbol(i + 3, ')')) {
        SqlName name;
        std::string_view rest = t_[i + 2].text;
        for (std::size_t dot; (dot = rest.find('.')) != std::string_view::npos; rest.remove_prefix(dot + 1))
          name.Add(rest.substr(0, dot), false);
        name.Add(rest, false);
        deed.reads.push_back(name);
      } else if (deed.trouble.empty()) {
        deed.trouble = "a table is named by a variable";
      }
      deed.anything = true;
      i = BehindBracket(i + 1);
      Alias(i);
      return i;
    }
    std::size_t k = i;
    const SqlName name = Name(k);
    if (name.empty()) return i + 1;
    const bool wildcard = IsSymbol(k, '*') && !name.IsQuoted(name.parts - 1u);
    if (wildcard) ++k;
    deed.anything = true;
    if (IsSymbol(k, '(') && !IsOneOf(k + 1, {"NOLOCK", "READUNCOMMITTED", "TABLOCK", "HOLDLOCK"})) {
      if (name.parts > 1) deed.calls.push_back(name);
      return k;  // its arguments are read like any bracket
    }
    if (IsSymbol(k, '(')) k = BehindBracket(k);
    const bool path =
        name.parts == 2 && name.IsQuoted(1) &&
        (Holds(name.part[1], "/") || Same(name.part[0], "delta") || Same(name.part[0], "parquet"));
    const bool local = name.parts == 1 && IsExpression(name.part[0]);
    const bool nested =
        name.parts > 1 &&
        std::any_of(aliases_.begin() + static_cast<std::ptrdiff_t>(std::min(top.aliases, aliases_.size())),
                    aliases_.end(), [&](std::string_view a) { return Same(a, name.part[0]); });
    if (!path && !local && !nested) deed.reads.push_back(name);
    Alias(k);
    return k;
  }

  // ---- statements ----

  SqlDeed& Add(Kind kind, Verb verb = Verb::kNone, std::string how = "") {
    SqlDeed& deed = reader_.deeds_.emplace_back();
    deed.kind = kind, deed.verb = verb, deed.how = std::move(how);
    return deed;
  }
  void NotUnderstood(std::string trouble, bool possible) {
    SqlDeed& deed = Add(Kind::kNotUnderstood);
    deed.trouble = std::move(trouble), deed.possible = possible;
  }
  // The deeds that were found inside of the last one read what it reads.
  void Settle(const std::vector<SqlName> reads) {
    for (SqlDeed& inner : inside_) {
      inner.reads = reads;
      std::erase_if(inner.reads, [&](const SqlName& n) {
        return n.last() == inner.target.last() && n.parts == inner.target.parts;
      });
      reader_.deeds_.push_back(std::move(inner));
    }
    inside_.clear();
  }

  // Whether anything in the range looks like a way out, for statements that nobody knows.
  bool LooksLikeExport(std::size_t from, std::size_t to) const {
    for (std::size_t i = from; i < to; ++i) {
      const SqlToken& t = t_[i];
      if (t.kind == Token::kString &&
          (Holds(t.text, "://") || Holds(Upper(t.text), "COPY ") || Holds(Upper(t.text), "UNLOAD") ||
           Holds(Upper(t.text), "EXPORT DATA") || Holds(Upper(t.text), "OVERWRITE DIRECTORY") ||
           Holds(Upper(t.text), "OUTFILE")))
        return true;
      if (t.Is("UNLOAD") || t.Is("OUTFILE") || t.Is("COPY") || t.Is("EXPORT")) return true;
    }
    return false;
  }

  void Statement(std::size_t from, std::size_t to) {
    end_ = to;
    from = Opening(from);
    if (from >= to) return;
    const SqlToken& first = t_[from];
    if (first.IsSymbol('(')) return Query(from, to);
    if (first.kind == Token::kJinja || first.kind == Token::kBlock) {  // a call of a macro, or a branch
      if (from + 1 < to) Statement(from + 1, to);
      return;
    }
    if (first.IsSymbol('\\') && Is(from + 1, "COPY")) return Copy(from + 1, to);  // psql's own
    if (first.kind != Token::kWord) {
      if (first.IsSymbol('{') || first.IsSymbol('?') || first.IsSymbol('$'))
        NotUnderstood("it is a template, and was never filled in", LooksLikeExport(from, to));
      else if (first.kind != Token::kSymbol || !Holds("\\@/!.:", first.text))
        NotUnderstood("it begins like no statement", LooksLikeExport(from, to));
      return;
    }
    const std::string word = Upper(first.text);
    using Reads = void (StatementScanner::*)(std::size_t, std::size_t);
    static const std::vector<std::pair<std::string_view, Reads>> forms = {
        {"SELECT", &StatementScanner::Query},
        {"WITH", &StatementScanner::WithQuery},
        {"TABLE", &StatementScanner::Query},
        {"FROM", &StatementScanner::Query},
        {"VALUES", &StatementScanner::Nothing},
        {"PIVOT", &StatementScanner::Pivot},
        {"UNPIVOT", &StatementScanner::Pivot},
        {"INSERT", &StatementScanner::Insert},
        {"REPLACE", &StatementScanner::Insert},
        {"CREATE", &StatementScanner::Create},
        {"COPY", &StatementScanner::Copy},
        {"UNLOAD", &StatementScanner::Unload},
        {"EXPORT", &StatementScanner::Export},
        {"MERGE", &StatementScanner::Merge},
        {"UPDATE", &StatementScanner::Update},
        {"DELETE", &StatementScanner::Delete},
        {"TRUNCATE", &StatementScanner::Truncate},
        {"ALTER", &StatementScanner::Alter},
        {"DROP", &StatementScanner::Drop},
        {"CALL", &StatementScanner::Call},
        {"EXEC", &StatementScanner::Execute},
        {"EXECUTE", &StatementScanner::Execute},
        {"DO", &StatementScanner::Do},
        {"GET", &StatementScanner::Get},
        {"SET", &StatementScanner::Set},
        {"USE", &StatementScanner::Use},
        {"DECLARE", &StatementScanner::Declare},
        {"PREPARE", &StatementScanner::Prepare},
        {"EXPLAIN", &StatementScanner::Explain},
        {"ATTACH", &StatementScanner::Attach},
        {"REFRESH", &StatementScanner::Refresh},
        {"RENAME", &StatementScanner::Rename},
        {"LOAD", &StatementScanner::Load},
        {"OPEN", &StatementScanner::Open_},
        {"SUMMARIZE", &StatementScanner::Pivot},
        {"IF", &StatementScanner::Scripting},
        {"ELSEIF", &StatementScanner::Scripting},
        {"ELSIF", &StatementScanner::Scripting},
        {"WHILE", &StatementScanner::Scripting},
        {"FOR", &StatementScanner::Scripting},
        {"RETURN", &StatementScanner::Return},
        {"LET", &StatementScanner::Return}};
    for (const auto& [form, read] : forms)
      if (word == form) return (this->*read)(from, to);
    static const WordSet harmless(
        "BEGIN START COMMIT ROLLBACK END ABORT SAVEPOINT RELEASE SHOW DESCRIBE DESC GRANT REVOKE "
        "COMMENT ANALYZE VACUUM LOCK UNLOCK RESET DISCARD CHECKPOINT CLUSTER REINDEX LISTEN "
        "UNLISTEN NOTIFY DEALLOCATE CLOSE FETCH MOVE LIST LS REMOVE RM PUT OPTIMIZE CACHE "
        "UNCACHE CLEAR MSCK ASSERT UNSET DETACH PRAGMA INSTALL IMPORT REASSIGN SECURITY RAISE "
        "SIGNAL EXCEPTION BREAK CONTINUE LEAVE ITERATE LOOP REPEAT UNTIL ELSE THEN UNDROP CANCEL "
        "KILL RESTORE REPAIR FSCK GENERATE CONVERT SYNC ADD DBCC GO PRINT WAITFOR DENY BACKUP "
        "FLUSH PURGE EXISTS SYSTEM WATCH CHECK HELP HANDLER XA STOP PAUSE RESUME SUSPEND APPLY "
        "FREE VALIDATE AUDIT NOAUDIT PASSWORD TRANSACTION CASE WHEN NULL STATISTICS IMMEDIATE "
        "DEFERRED EXCLUSIVE ");
    if (harmless.Has(word)) return;
    NotUnderstood("a statement '" + word.substr(0, 30) + "' is not known", LooksLikeExport(from, to));
  }

  // Past what a block begins with: BEGIN, THEN, labels, and blocks of templates.
  std::size_t Opening(std::size_t i) const {
    for (;;) {
      if (i < end_ && t_[i].kind == Token::kBlock) {
        ++i;
      } else if (Is(i, "BEGIN") && i + 1 < end_ &&
                 !IsOneOf(i + 1, {"TRANSACTION", "WORK", "TRAN", "ISOLATION", "READ", "NOT", "DEFERRABLE",
                                  "NAME"})) {
        ++i;
      } else if (IsOneOf(i, {"THEN", "ELSE", "LOOP", "ATOMIC"}) && i + 1 < end_) {
        ++i;
      } else if (IsSymbol(i, '<') && IsSymbol(i + 1, '<')) {
        while (i < end_ && !IsSymbol(i, '>')) ++i;
        i += 2;
      } else {
        return i;
      }
    }
  }

  void Nothing(std::size_t, std::size_t) {}

  void Query(std::size_t from, std::size_t to) { ReadRows(from, to, from); }

  // A query whose rows go to whoever asked; `begin` is where its rows are chosen.
  void ReadRows(std::size_t from, std::size_t to, std::size_t begin) {
    SqlDeed& added = Add(Kind::kReads);
    SqlDeed deed = std::move(added);
    reader_.deeds_.pop_back();
    deed.rows = true;
    Scan(from, to, deed, false);
    if (IsOneOf(begin, {"SELECT"})) Functions(begin, to, deed);
    if (deed.kind == Kind::kReads && deed.reads.empty() && !deed.anything && text_.size() > 500 &&
        NamesColumns(from, to))
      deed.trouble = "it names columns and no table: its text was cut off";
    if (deed.kind == Kind::kTakesOut && deed.destination.empty())
      deed.trouble = "where it goes is not to be seen";
    const std::vector<SqlName> reads = deed.reads;
    reader_.deeds_.push_back(std::move(deed));
    Settle(reads);
  }

  // Functions in a select list that move rows by themselves.
  void Functions(std::size_t from, std::size_t to, SqlDeed& deed) {
    for (std::size_t i = from; i + 1 < to; ++i) {
      if (t_[i].kind != Token::kWord || !t_[i + 1].IsSymbol('(')) continue;
      if (t_[i].Is("QUERY_EXPORT_TO_S3")) {  // PostgreSQL's extension for S3
        if (!IsString(i + 2)) {
          deed.trouble = "a query to export is made up at run time", deed.possible = true;
          continue;
        }
        deed.kind = Kind::kTakesOut, deed.how = "query_export_to_s3";
        Nested(t_[i + 2].text, [&](const SqlDeed& inner) {
          deed.reads.insert(deed.reads.end(), inner.reads.begin(), inner.reads.end());
        });
        std::vector<std::string> strings;
        for (std::size_t k = i + 3; k < to; ++k)
          if (IsString(k)) strings.emplace_back(t_[k].text);
        deed.destination =
            strings.empty() ? "" : "s3://" + strings[0] + (strings.size() > 1 ? "/" + strings[1] : "");
        deed.anything = true;
      } else if (t_[i].Is("DBLINK_EXEC") || t_[i].Is("LO_EXPORT") || t_[i].Is("XP_CMDSHELL")) {
        deed.trouble = "it calls " + Lower(t_[i].text) + ", which may take rows out", deed.possible = true;
        deed.kind = Kind::kNotUnderstood;
      }
    }
  }

  // WITH, and what stands behind its list.
  void WithQuery(std::size_t from, std::size_t to) {
    std::size_t i = from + 1;
    if (Is(i, "RECURSIVE")) ++i;
    std::string_view name;
    for (std::size_t at; (at = TableExpressionAt(i, name)) != 0;) {
      i = BehindBracket(at);
      if (!IsSymbol(i, ',')) break;
      ++i;
    }
    if (Is(i, "INSERT")) return InsertFrom(i, to, from, i);
    if (Is(i, "MERGE") || Is(i, "UPDATE") || Is(i, "DELETE")) return Change(i, to, from);
    ReadRows(from, to, i);
  }

  void Pivot(std::size_t from, std::size_t to) {
    SqlDeed& deed = Add(Kind::kReads);
    std::size_t k = from + 1;
    if (IsName(k)) deed.reads.push_back(Name(k)), deed.anything = true;
    (void)to;
  }

  // Rows of [from, to) into a deed that takes them or keeps them.
  void Source(std::size_t from, std::size_t to, SqlDeed& deed) {
    if (Is(from, "TABLE") && !IsSymbol(from + 1, '(')) ++from;
    if (!IsSymbol(from, '(') && !IsOneOf(from, {"SELECT", "WITH", "FROM", "VALUES", "PIVOT", "UNPIVOT"})) {
      if (IsSymbol(from, '@') || IsString(from)) {
        deed.anything = true;
        return;
      }
      if (IsName(from)) {
        std::size_t k = from;
        const SqlName name = Name(k);
        deed.anything = true;
        if (IsSymbol(k, '(') && name.parts > 1 && deed.how == "EXPORT DATA") {
          deed.calls.push_back(name);
          return;
        }
        deed.reads.push_back(name);
      }
      return;
    }
    if (IsOneOf(from, {"PIVOT", "UNPIVOT"}) ||
        (IsSymbol(from, '(') && IsOneOf(from + 1, {"PIVOT", "UNPIVOT"}))) {
      std::size_t k = from + (IsSymbol(from, '(') ? 2u : 1u);
      if (IsName(k)) deed.reads.push_back(Name(k)), deed.anything = true;
      return;
    }
    Scan(from, to, deed, false);
    if (deed.reads.empty() && !deed.anything && NamesColumns(from, to))
      deed.trouble = "it names columns and no table: its text was cut off", deed.possible = true;
  }

  // A select list with a column in it: there is a table that it comes from.
  bool NamesColumns(std::size_t from, std::size_t to) const {
    static const WordSet none(
        "NULL TRUE FALSE CURRENT_DATE CURRENT_TIMESTAMP CURRENT_TIME CURRENT_USER SYSDATE "
        "LOCALTIMESTAMP SESSION_USER USER");
    for (std::size_t i = from; i + 1 < to; ++i) {
      if (!(t_[i].Is("SELECT") || t_[i].IsSymbol(','))) continue;
      const SqlToken& t = t_[i + 1];
      const bool ends = i + 2 >= to || t_[i + 2].IsSymbol(',');
      if (t.kind == Token::kWord && ends && !none.Has(t.text)) return true;
    }
    return false;
  }

  void Insert(std::size_t from, std::size_t to) { InsertFrom(from, to, to, from); }

  // `with_from`: where the WITH before it begins, `to` where there is none.
  void InsertFrom(std::size_t at, std::size_t to, std::size_t with_from, std::size_t) {
    SqlDeed deed;
    deed.kind = Kind::kWrites, deed.verb = Verb::kInsert, deed.how = "INSERT";
    std::size_t i = Behind(at + 1, {"OVERWRITE", "INTO", "OR", "REPLACE", "IGNORE", "ABORT", "ROLLBACK",
                                    "LOW_PRIORITY", "DELAYED", "HIGH_PRIORITY"});
    const bool local = Is(i, "LOCAL");
    if (Is(i + (local ? 1u : 0u), "DIRECTORY")) {
      deed.kind = Kind::kTakesOut, deed.verb = Verb::kNone, deed.how = "INSERT OVERWRITE DIRECTORY";
      i += local ? 2 : 1;
      if (IsString(i) || (i < to && t_[i].kind == Token::kQuoted) || (i < to && t_[i].kind == Token::kJinja))
        deed.destination = PlaceAt(i);
      // `USING csv OPTIONS (path '...')`
      for (std::size_t k = i; deed.destination.empty() && k + 1 < to; ++k)
        if (t_[k].Is("PATH") || (t_[k].kind == Token::kString && Same(t_[k].text, "path")) ||
            (t_[k].kind == Token::kQuoted && Same(t_[k].text, "path"))) {
          std::size_t v = k + 1;
          if (IsSymbol(v, '=')) ++v;
          if (IsString(v) || (v < to && t_[v].kind == Token::kQuoted))
            deed.destination = std::string(t_[v].text);
        }
      while (i < to && !IsOneOf(i, {"SELECT", "WITH", "FROM", "TABLE"}) &&
             !(IsSymbol(i, '(') && IsOneOf(i + 1, {"SELECT", "WITH"})))
        ++i;
      Source(i, to, deed);
      return Finish(std::move(deed));
    }
    if (IsOneOf(i, {"ALL", "FIRST"})) return InsertAll(i, to);
    i = Behind(i, {"TABLE"});
    if (Is(i, "FUNCTION") ||
        (IsOneOf(i, {"S3", "URL", "HDFS", "REMOTE", "FILE", "GCS"}) && IsSymbol(i + 1, '('))) {
      deed.kind = Kind::kTakesOut, deed.verb = Verb::kNone, deed.how = "INSERT INTO FUNCTION";
      if (Is(i, "FUNCTION")) ++i;
      const std::size_t open = i + 1, close = BehindBracket(open);
      deed.destination = i < to ? Lower(t_[i].text) : "";
      for (std::size_t k = open; k < close && k < to; ++k)
        if (IsString(k)) {
          deed.destination = std::string(t_[k].text);
          break;
        }
      Source(close, to, deed);
      return Finish(std::move(deed));
    }
    if (!IsName(i)) return NotUnderstood("an INSERT that names no table", LooksLikeExport(at, to));
    deed.target = Name(i);
    PathTarget(deed);
    deed.temporary = deed.target.last().substr(0, 1) == "#";
    if (Is(i, "AS")) i += 2;
    if (Is(i, "PARTITION")) i = IsSymbol(i + 1, '(') ? BehindBracket(i + 1) : i + 1;
    if (IsOneOf(i, {"IF"})) i = Behind(i, {"IF", "NOT", "EXISTS"});
    if (IsSymbol(i, '(') && !IsOneOf(i + 1, {"SELECT", "WITH", "FROM"}) && !IsSymbol(i + 1, '('))
      i = BehindBracket(i);
    if (Is(i, "BY") && Is(i + 1, "NAME")) i += 2;
    if (IsOneOf(i, {"OVERRIDING"})) i += 3;
    if (with_from < at)
      Scan(with_from, to, deed, false);
    else
      Source(i, to, deed);
    if (with_from < at) {  // the target stood in the middle of what was scanned
      std::erase_if(deed.reads,
                    [&](const SqlName& n) { return n.part[0].data() == deed.target.part[0].data(); });
    }
    Finish(std::move(deed));
  }

  // Snowflake's INSERT ALL INTO a ... INTO b ... SELECT.
  void InsertAll(std::size_t i, std::size_t to) {
    std::vector<SqlName> targets;
    std::size_t query = to;
    int depth = 0;
    for (std::size_t k = i; k < to; ++k) {
      if (t_[k].IsSymbol('(')) ++depth;
      if (t_[k].IsSymbol(')')) --depth;
      if (depth > 0) continue;
      if (t_[k].Is("INTO") && IsName(k + 1)) {
        std::size_t n = k + 1;
        targets.push_back(Name(n));
      }
      if (t_[k].Is("SELECT") || (t_[k].Is("WITH") && k + 1 < to)) {
        query = k;
        break;
      }
    }
    SqlDeed deed;
    deed.kind = Kind::kWrites, deed.verb = Verb::kInsert, deed.how = "INSERT ALL";
    Source(query, to, deed);
    for (const SqlName& target : targets) {
      SqlDeed one = deed;
      one.target = target;
      reader_.deeds_.push_back(std::move(one));
    }
  }

  // Spark's delta.`s3://...`: a table that is nothing but a place.
  static void PathTarget(SqlDeed& deed) {
    const SqlName& n = deed.target;
    if (n.parts != 2 || !n.IsQuoted(1) ||
        !(Holds(n.part[1], "/") && (Holds(n.part[1], ":") || n.part[1][0] == '/')))
      return;
    deed.kind = Kind::kTakesOut, deed.verb = Verb::kNone;
    deed.how = Upper(n.part[0]) + " files";
    deed.destination = std::string(n.part[1]);
  }

  void Finish(SqlDeed deed) {
    const std::vector<SqlName> reads = deed.reads;
    if (deed.kind == Kind::kTakesOut && deed.destination.empty()) {
      deed.trouble = "where it goes is not to be seen", deed.possible = true;
    }
    reader_.deeds_.push_back(std::move(deed));
    Settle(reads);
  }

  void Create(std::size_t from, std::size_t to) {
    bool temporary = false, outside = false, snapshot = false;
    std::size_t i = from + 1;
    for (;; ++i) {
      temporary = temporary || IsOneOf(i, {"TEMP", "TEMPORARY"});
      outside = outside || IsOneOf(i, {"EXTERNAL", "FOREIGN"});
      snapshot = snapshot || Is(i, "SNAPSHOT");
      if (!IsOneOf(i, {"OR",       "REPLACE",    "ALTER",    "TEMP",        "TEMPORARY",    "LOCAL",
                       "GLOBAL",   "TRANSIENT",  "VOLATILE", "UNLOGGED",    "EXTERNAL",     "FOREIGN",
                       "SNAPSHOT", "MULTISET",   "SECURE",   "RECURSIVE",   "HYBRID",       "ICEBERG",
                       "DYNAMIC",  "STREAMING",  "LIVE",     "INCREMENTAL", "MATERIALIZED", "REFRESH",
                       "FORCE",    "EDITIONABLE"}))
        break;
    }
    const bool materialized =
        Find(from, "MATERIALIZED") < i || Find(from, "DYNAMIC") < i || Find(from, "STREAMING") < i;
    if (IsOneOf(i, {"PROCEDURE", "FUNCTION", "TASK", "PIPE", "TRIGGER", "EVENT", "RULE", "AGGREGATE",
                    "PACKAGE", "MACRO"}))
      return Defines(i, to);
    if (outside && Is(i, "SCHEMA")) {
      std::size_t k = Behind(i + 1, {"IF", "NOT", "EXISTS"});
      SqlDeed& deed = Add(Kind::kOutside, Verb::kNone, "EXTERNAL SCHEMA");
      deed.session_wide = true;
      deed.target = Name(k);
      return;
    }
    if (IsOneOf(i, {"DATABASE", "SCHEMA"}) && Find(i, "CLONE") < to) {
      std::size_t k = Behind(i + 1, {"IF", "NOT", "EXISTS"});
      const SqlName name = Name(k);
      std::string text = "a whole " + Lower(t_[i].text) + " is cloned";
      (void)name;
      return NotUnderstood(std::move(text), true);
    }
    const bool view = Is(i, "VIEW");
    if (!view && !Is(i, "TABLE")) return;  // a schema, an index, a role
    i = Behind(i + 1, {"IF", "NOT", "EXISTS"});
    if (!IsName(i)) return;
    SqlDeed deed;
    deed.target = Name(i);
    deed.temporary = temporary || deed.target.last().substr(0, 1) == "#";
    deed.kind = view && !materialized ? Kind::kMakesView : Kind::kWrites;
    deed.verb = Verb::kCreate, deed.how = view ? "CREATE VIEW" : "CREATE TABLE AS";
    PathTarget(deed);
    CreateBody(i, to, outside, snapshot, std::move(deed));
  }

  void CreateBody(std::size_t i, std::size_t to, bool outside, bool snapshot, SqlDeed deed) {
    int depth = 0;
    std::size_t query = to;
    std::string location, server;
    bool clone = false, shape = false;
    for (std::size_t k = i; k < to; ++k) {
      if (t_[k].IsSymbol('(')) ++depth;
      if (t_[k].IsSymbol(')')) --depth;
      if (t_[k].Is("LIKE") && k + 1 < to && query == to) shape = true;
      if (depth > 0) continue;
      if ((t_[k].Is("CLONE") || (t_[k].Is("COPY") && !Is(k + 1, "GRANTS"))) && IsName(k + 1)) {
        clone = true;
        query = k + 1;
        break;
      }
      if ((t_[k].Is("LOCATION") || t_[k].Is("PATH")) && k + 1 < to) {
        std::size_t v = k + 1;
        if (IsSymbol(v, '=')) ++v;
        if (IsString(v)) location = std::string(t_[v].text);
        if (IsSymbol(v, '@')) location = PlaceAt(v);
      }
      if (t_[k].Is("SERVER") && k + 1 < to) server = std::string(t_[k + 1].text);
      if (t_[k].Is("AS") && k + 1 < to &&
          (t_[k + 1].IsSymbol('(') ||
           IsOneOf(k + 1, {"SELECT", "WITH", "TABLE", "FROM", "VALUES", "EXECUTE", "PIVOT"}))) {
        query = k + 1;
        break;
      }
      if (IsOneOf(k, {"SELECT"}) && k > i) {  // MySQL takes it without AS
        query = k;
        break;
      }
    }
    if (clone) {
      std::size_t k = query;
      deed.verb = Verb::kClone, deed.how = snapshot ? "SNAPSHOT" : "CLONE", deed.kind = Kind::kWrites;
      deed.reads = {Name(k)}, deed.anything = true;
      return Finish(std::move(deed));
    }
    if (outside) {
      SqlDeed& known = Add(Kind::kOutside, Verb::kNone, "EXTERNAL TABLE");
      known.target = deed.target;
      known.destination = !location.empty() ? location : server;
    }
    if (query == to) return;  // only a shape
    (void)shape;
    // WITH NO DATA at the end: a shape too.
    for (std::size_t k = to; k-- > query && k + 3 > to - std::min<std::size_t>(to, 3);)
      if (t_[k].Is("NO") && Is(k + 1, "DATA")) return;
    if (outside) {
      deed.kind = Kind::kTakesOut, deed.verb = Verb::kNone, deed.how = "CREATE EXTERNAL TABLE AS";
      deed.destination = !location.empty() ? location : "";
    } else if (!location.empty() && deed.kind == Kind::kWrites) {
      deed.place = location;
    }
    const std::string kept = deed.destination;
    Source(query, to, deed);
    if (outside && deed.destination.empty()) {
      std::vector<std::string> parts;
      for (std::size_t n = 0; n < deed.target.parts; ++n) parts.emplace_back(deed.target.part[n]);
      deed.destination = Join(parts, ".");
    }
    Finish(std::move(deed));
  }

  // A routine, task or pipe: what it does it does when it runs. Its body may take the rest of the text.
  void Defines(std::size_t i, std::size_t to) {
    const std::string what = Lower(t_[i].text);
    std::size_t k = Behind(i + 1, {"IF", "NOT", "EXISTS"});
    SqlDeed deed;
    deed.kind = Kind::kDefines, deed.how = what;
    deed.target = Name(k);
    std::vector<std::string_view> bodies;
    bool block = false;
    for (std::size_t n = k; n < to; ++n) {
      if (t_[n].kind == Token::kString) bodies.push_back(t_[n].text);
      block = block || t_[n].Is("BEGIN");
    }
    for (const std::string_view body : bodies)
      if (Exports(body)) deed.possible = true;
    if (block || what == "task" || what == "pipe") {
      const std::size_t rest = block ? t_.size() : to;
      const std::size_t at = k < t_.size() ? t_[std::min(k, t_.size() - 1)].at : text_.size();
      const std::size_t stop = rest < t_.size() ? t_[rest].at : text_.size();
      if (bodies.empty() && stop > at && Exports(text_.substr(at, stop - at))) deed.possible = true;
      if (block) end_of_text_ = true;
    }
    reader_.deeds_.push_back(std::move(deed));
  }
  // Whether a body holds a statement that takes rows out, or makes one up.
  bool Exports(std::string_view body) {
    if (depth_ > 3 || body.size() < 8) return false;
    bool out = false;
    const std::string upper = Upper(body);
    if (!Holds(upper, "COPY") && !Holds(upper, "UNLOAD") && !Holds(upper, "EXPORT") &&
        !Holds(upper, "OUTFILE") && !Holds(upper, "DIRECTORY") && !Holds(upper, "EXECUTE"))
      return false;
    Nested(body, [&](const SqlDeed& deed) { out = out || deed.kind == Kind::kTakesOut || deed.possible; });
    if (!out && (Holds(upper, "COPY INTO @") || Holds(upper, "UNLOAD") || Holds(upper, "EXPORT DATA")))
      out = true;
    return out;
  }

  // Statements inside of a text, handed to `f` and not kept.
  template <typename F>
  void Nested(std::string_view text, F f) {
    if (depth_ > 3) return;
    const std::size_t before = reader_.deeds_.size();
    StatementScanner(reader_, text, depth_ + 1).All();
    std::vector<SqlDeed> found(
        std::make_move_iterator(reader_.deeds_.begin() + static_cast<std::ptrdiff_t>(before)),
        std::make_move_iterator(reader_.deeds_.end()));
    reader_.deeds_.resize(before);
    for (SqlDeed& deed : found) f(deed);
  }
  // The same, kept.
  void Inner(std::string_view text) {
    if (depth_ > 3) return NotUnderstood("texts in texts, too deep to follow", true);
    StatementScanner(reader_, text, depth_ + 1).All();
  }

  void Copy(std::size_t from, std::size_t to) {
    if (Is(from + 1, "INTO")) return CopyInto(from, to);
    if (Is(from + 1, "FILES")) {
      std::size_t k = Behind(from + 2, {"INTO"});
      const std::string place = PlaceAt(k);
      k = Behind(k, {"FROM"});
      SqlDeed& deed = Add(Kind::kFetches, Verb::kNone, "COPY FILES");
      deed.destination = PlaceAt(k);
      deed.place = place;
      return;
    }
    if (Is(from + 1, "FROM") && Is(from + 2, "DATABASE")) {
      std::size_t k = from + 3;
      const SqlName source = Name(k);
      k = Behind(k, {"TO"});
      const SqlName target = Name(k);
      SqlDeed& deed = Add(Kind::kTakesOut, Verb::kNone, "COPY FROM DATABASE");
      deed.session_wide = true, deed.anything = true;
      deed.destination = std::string(target.last());
      deed.names = {source};
      return;
    }
    std::size_t i = from + 1;
    if (Is(i, "BINARY") && IsName(i + 1)) ++i;
    const std::size_t source = i;
    if (IsSymbol(i, '('))
      i = BehindBracket(i);
    else {
      if (!IsName(i)) return NotUnderstood("a COPY of nothing that is known", true);
      Name(i);
      if (IsSymbol(i, '(')) i = BehindBracket(i);
    }
    if (IsOneOf(i, {"FROM"})) {
      SqlDeed& deed = Add(Kind::kLoads);
      std::size_t k = source;
      if (IsName(k)) deed.target = Name(k);
      return;
    }
    if (!Is(i, "TO")) {
      if (IsSymbol(source, '(') || reader_.cut_) return NotUnderstood("a COPY that names no place", true);
      return NotUnderstood("a COPY that names no place", true);
    }
    SqlDeed deed;
    deed.kind = Kind::kTakesOut, deed.how = "COPY TO";
    std::size_t k = i + 1;
    if (Is(k, "PROGRAM") && IsString(k + 1)) {
      deed.destination = std::string(t_[k + 1].text);
      deed.how = "COPY TO PROGRAM";
    } else if (Is(k, "STDOUT")) {
      deed.destination = "STDOUT";
    } else if (k < to && (IsString(k) || t_[k].kind == Token::kJinja || t_[k].kind == Token::kQuoted)) {
      deed.destination = PlaceAt(k);
    } else if (k < to && t_[k].kind == Token::kWord) {
      deed.destination = std::string(t_[k].text);
    }
    if (IsSymbol(source, '('))
      Source(source, BehindBracket(source), deed);
    else
      Source(source, i, deed);
    Finish(std::move(deed));
  }

  void CopyInto(std::size_t from, std::size_t to) {
    std::size_t i = from + 2;
    // A location is a string, a stage or a template of one; a table loads.
    const bool location =
        IsString(i) || IsSymbol(i, '@') ||
        (i < to && t_[i].kind == Token::kJinja &&
         (Holds(t_[i].text, "stage") || Holds(t_[i].text, "location") || Holds(t_[i].text, "bucket") ||
          Holds(t_[i].text, "s3") || Holds(t_[i].text, "path")));
    if (!location) {
      SqlDeed& deed = Add(Kind::kLoads);
      if (IsName(i)) deed.target = Name(i);
      if (i < to && t_[i].IsSymbol('?'))
        deed.kind = Kind::kNotUnderstood, deed.trouble = "its names were taken out", deed.possible = true;
      return;
    }
    SqlDeed deed;
    deed.kind = Kind::kTakesOut, deed.how = "COPY INTO";
    deed.destination = PlaceAt(i);
    const std::size_t at = Find(i, "FROM");
    if (at + 1 < to && (IsSymbol(at + 1, '('))) {
      Source(at + 1, BehindBracket(at + 1), deed);
    } else if (at + 1 < to) {
      Source(at + 1, to, deed);
    } else {
      deed.trouble = "what it takes is not to be seen", deed.possible = true;
    }
    Finish(std::move(deed));
  }

  void Unload(std::size_t from, std::size_t to) {
    SqlDeed deed;
    deed.kind = Kind::kTakesOut, deed.how = "UNLOAD";
    std::size_t i = from + 1;
    if (!IsSymbol(i, '(')) {  // some let a table stand bare
      if (IsName(i)) deed.reads = {Name(i)}, deed.anything = true;
    } else {
      const std::size_t close = BehindBracket(i);
      if (IsString(i + 1) && (IsSymbol(i + 2, ')') || i + 2 >= to)) {
        std::string trouble;
        bool of_file = false;
        Nested(t_[i + 1].text, [&](const SqlDeed& inner) {
          deed.reads.insert(deed.reads.end(), inner.reads.begin(), inner.reads.end());
          deed.calls.insert(deed.calls.end(), inner.calls.begin(), inner.calls.end());
          of_file = of_file || inner.anything;
          if (trouble.empty()) trouble = inner.trouble;
        });
        deed.anything = of_file;
        deed.trouble = trouble;
      } else if (IsString(i + 1)) {
        deed.trouble = "its query is put together from pieces", deed.possible = true;
      } else {
        Source(i + 1, close > i + 1 ? close - 1 : close, deed);
      }
      i = close;
    }
    for (; i + 1 < to; ++i) {
      if (!t_[i].Is("TO")) continue;
      if (IsString(i + 1) || t_[i + 1].kind == Token::kQuoted || t_[i + 1].kind == Token::kJinja) {
        std::size_t k = i + 1;
        deed.destination = PlaceAt(k);
      } else if (t_[i + 1].IsSymbol('?')) {
        deed.trouble = "its texts were taken out", deed.possible = true;
        deed.reads.clear();
      }
      break;
    }
    Finish(std::move(deed));
  }

  void Export(std::size_t from, std::size_t to) {
    SqlDeed deed;
    deed.kind = Kind::kTakesOut, deed.how = "EXPORT DATA";
    if (Is(from + 1, "DATABASE")) {
      deed.how = "EXPORT DATABASE", deed.session_wide = true, deed.anything = true;
      for (std::size_t k = from + 2; k < to && deed.destination.empty(); ++k)
        if (IsString(k)) deed.destination = std::string(t_[k].text);
      return Finish(std::move(deed));
    }
    if (Is(from + 1, "TABLE")) {
      std::size_t k = from + 2;
      deed.how = "EXPORT TABLE";
      if (IsName(k)) deed.reads = {Name(k)}, deed.anything = true;
      for (; k < to && deed.destination.empty(); ++k)
        if (IsString(k)) deed.destination = std::string(t_[k].text);
      return Finish(std::move(deed));
    }
    if (Is(from + 1, "MODEL")) return;
    if (!Is(from + 1, "DATA")) return NotUnderstood("an EXPORT of a kind that is not known", true);
    std::size_t i = from + 2, query = to;
    for (; i < to; ++i) {
      if (t_[i].Is("OPTIONS") && IsSymbol(i + 1, '(')) {
        const std::size_t close = BehindBracket(i + 1);
        for (std::size_t k = i + 2; k + 2 < close; ++k)
          if (t_[k].Is("URI") && t_[k + 1].IsSymbol('=') && IsString(k + 2)) {
            deed.destination = std::string(t_[k + 2].text);
            // What is added to it is made up at run time.
            if (IsSymbol(k + 3, '|') || IsSymbol(k + 3, '+')) deed.destination += "*";
          } else if (t_[k].Is("URI") && t_[k + 1].IsSymbol('=') && t_[k + 2].kind == Token::kJinja) {
            deed.destination = "{{ " + std::string(t_[k + 2].text) + " }}";
          }
        i = close - 1;
      } else if (t_[i].Is("AS")) {
        query = i + 1;
        break;
      } else if (t_[i].Is("SELECT") || (t_[i].Is("WITH") && !Is(i + 1, "CONNECTION"))) {
        query = i;
        break;
      }
    }
    if (query == to) deed.trouble = "what it takes is not to be seen", deed.possible = true;
    Source(query, to, deed);
    Finish(std::move(deed));
  }

  void Merge(std::size_t from, std::size_t to) { Change(from, to, from); }
  void Update(std::size_t from, std::size_t to) { Change(from, to, from); }
  void Delete(std::size_t from, std::size_t to) { Change(from, to, from); }

  // A table changed in place. `scan_from`: a WITH may stand before it.
  void Change(std::size_t at, std::size_t to, std::size_t scan_from) {
    SqlDeed deed;
    deed.kind = Kind::kWrites, deed.verb = Verb::kChange, deed.how = Upper(t_[at].text);
    std::size_t i = Behind(at + 1, {"INTO", "FROM", "ONLY", "TABLE", "LOW_PRIORITY", "IGNORE"});
    if (t_[at].Is("DELETE") && i < to && !Is(at + 1, "FROM") && Find(at, "FROM") < to &&
        !Is(at + 1, "ONLY")) {
      // `DELETE t FROM orders t`: of several tables, the one that is named first.
      const std::size_t from_at = Find(at, "FROM");
      if (from_at > i) i = IsName(from_at + 1) ? from_at + 1 : i;
    }
    if (!IsName(i)) return NotUnderstood("a change of no table that is known", false);
    deed.target = Name(i);
    deed.temporary = deed.target.last().substr(0, 1) == "#";
    PathTarget(deed);
    if (deed.kind == Kind::kTakesOut) deed.kind = Kind::kWrites, deed.verb = Verb::kChange;
    std::size_t k = i;
    Alias(k);
    if (scan_from < at) {
      Scan(scan_from, to, deed, true, false, true);
      std::erase_if(deed.reads,
                    [&](const SqlName& n) { return n.part[0].data() == deed.target.part[0].data(); });
    } else {
      aliases_.clear();
      Scan(k, to, deed, true, false, true);
    }
    Finish(std::move(deed));
  }

  void Truncate(std::size_t from, std::size_t) {
    std::size_t i = Behind(from + 1, {"TABLE", "ONLY", "IF", "EXISTS"});
    if (!IsName(i)) return;
    SqlDeed& deed = Add(Kind::kWrites, Verb::kChange, "TRUNCATE");
    deed.target = Name(i);
  }

  void Alter(std::size_t from, std::size_t to) {
    if (!IsOneOf(from + 1, {"TABLE", "VIEW", "MATERIALIZED", "FOREIGN", "EXTERNAL", "DYNAMIC"})) return;
    std::size_t i = Behind(from + 1, {"TABLE", "VIEW", "MATERIALIZED", "FOREIGN", "EXTERNAL", "DYNAMIC", "IF",
                                      "EXISTS", "ONLY"});
    if (!IsName(i)) return;
    const SqlName target = Name(i);
    if (Is(i, "SWAP")) {
      std::size_t k = Behind(i, {"SWAP", "WITH"});
      SqlDeed& deed = Add(Kind::kSwaps);
      deed.target = target;
      if (IsName(k)) deed.other = Name(k);
    } else if (Is(i, "RENAME") && Is(i + 1, "TO")) {
      std::size_t k = i + 2;
      SqlDeed& deed = Add(Kind::kRenames);
      deed.target = target;
      if (IsName(k)) deed.other = Name(k);
    } else if (Is(i, "APPEND") || (Is(i, "EXCHANGE") && Find(i, "TABLE") < to)) {
      std::size_t k = Is(i, "APPEND") ? Find(i, "FROM") + 1 : Find(i, "TABLE") + 1;
      SqlDeed& deed = Add(Kind::kWrites, Verb::kChange, "ALTER TABLE");
      deed.target = target;
      if (IsName(k)) deed.reads = {Name(k)}, deed.anything = true;
    } else if (Is(i, "REFRESH")) {
      SqlDeed& deed = Add(Kind::kWrites, Verb::kRefresh, "REFRESH");
      deed.target = target;
    }
  }

  // MySQL's RENAME TABLE a TO b, c TO d.
  void Rename(std::size_t from, std::size_t to) {
    std::size_t i = Behind(from + 1, {"TABLE", "VIEW"});
    while (IsName(i)) {
      const SqlName target = Name(i);
      if (!Is(i, "TO")) return;
      ++i;
      SqlDeed& deed = Add(Kind::kRenames);
      deed.target = target;
      if (IsName(i)) deed.other = Name(i);
      if (!IsSymbol(i, ',')) return;
      ++i;
    }
    (void)to;
  }

  void Drop(std::size_t from, std::size_t) {
    std::size_t i = from + 1;
    if (!IsOneOf(i, {"TABLE", "VIEW", "MATERIALIZED"})) return;
    i = Behind(i, {"TABLE", "VIEW", "MATERIALIZED", "IF", "EXISTS"});
    if (!IsName(i)) return;
    SqlDeed& deed = Add(Kind::kDrops);
    deed.target = Name(i);
  }

  void Call(std::size_t from, std::size_t) {
    std::size_t i = from + 1;
    SqlDeed& deed = Add(Kind::kCalls, Verb::kNone, "CALL");
    if (IsName(i)) deed.target = Name(i);
    if (Same(deed.target.last(), "REFRESH_MATERIALIZED_VIEW")) deed.kind = Kind::kReads;
  }

  void Execute(std::size_t from, std::size_t to) {
    if (Is(from + 1, "IMMEDIATE")) {
      const bool constant = IsString(from + 2) && (from + 3 >= to || IsOneOf(from + 3, {"USING", "INTO"}));
      if (constant) return Inner(t_[from + 2].text);
      bool possible = true;
      if (IsString(from + 2))
        possible = LooksLikeExport(from, to) || !Holds(Upper(t_[from + 2].text), "SELECT COUNT");
      return NotUnderstood("a statement that is made up at run time", possible);
    }
    if (IsOneOf(from + 1, {"TASK", "JOB", "NOTEBOOK", "AS", "ALERT"})) return;
    if (IsSymbol(from + 1, '(') || IsString(from + 1)) {
      if (IsString(from + 2) && IsSymbol(from + 3, ')')) return Inner(t_[from + 2].text);
      return NotUnderstood("a statement that is made up at run time", true);
    }
    std::size_t i = from + 1;
    if (IsOneOf(i, {"FORMAT"}) || !IsName(i))
      return NotUnderstood("a statement that is made up at run time", LooksLikeExport(from, to));
    const SqlName name = Name(i);
    const bool prepared = Is(from, "EXECUTE") && reader_.how_.dialect != SqlDialect::kSqlServer;
    SqlDeed& deed = Add(prepared && name.parts == 1 ? Kind::kRuns : Kind::kCalls, Verb::kNone, "EXECUTE");
    deed.target = name;
  }

  // DO $$ ... $$: the body is read as a script; FOR ... EXECUTE in it is made up at run time.
  void Do(std::size_t from, std::size_t to) {
    for (std::size_t i = from + 1; i < to; ++i)
      if (IsString(i)) return Inner(t_[i].text);
  }

  void Get(std::size_t from, std::size_t) {
    std::size_t i = from + 1;
    if (!IsSymbol(i, '@') && !IsString(i)) return;
    SqlDeed& deed = Add(Kind::kFetches, Verb::kNone, "GET");
    deed.destination = PlaceAt(i);
    deed.place = PlaceAt(i);
  }

  void Set(std::size_t from, std::size_t to) {
    std::size_t i = Behind(from + 1, {"SESSION", "LOCAL"});
    const bool schema = Is(i, "SCHEMA");
    if (!Is(i, "SEARCH_PATH") && !Is(i, "CURRENT_SCHEMA") && !schema) return;
    i = Behind(i + 1, {"TO"});
    if (IsSymbol(i, '=')) ++i;
    SqlDeed& deed = Add(Kind::kSearchPath);
    for (; i < to; ++i) {
      SqlName name;
      if (t_[i].kind == Token::kWord)
        name.Add(t_[i].text, false);
      else if (t_[i].kind == Token::kQuoted || t_[i].kind == Token::kString)
        name.Add(t_[i].text, true);
      else
        continue;
      deed.names.push_back(name);
    }
  }

  void Use(std::size_t from, std::size_t) {
    std::size_t i = from + 1;
    if (IsOneOf(i, {"ROLE", "WAREHOUSE", "SECONDARY"})) return;
    const bool database = IsOneOf(i, {"DATABASE", "CATALOG"});
    i = Behind(i, {"DATABASE", "CATALOG", "SCHEMA"});
    if (!IsName(i)) return;
    SqlDeed& deed = Add(Kind::kSearchPath);
    deed.names = {Name(i)};
    deed.session_wide = database;
  }

  void Declare(std::size_t from, std::size_t to) {
    const std::size_t at = Find(from, "CURSOR");
    if (at >= to) {
      const std::size_t begin = Find(from, "BEGIN");  // a block: its statements come by themselves
      if (begin < to) Statement(begin, to);
      return;
    }
    std::size_t query = Find(at, "FOR");
    if (query >= to) query = Find(at, "IS");
    if (query + 1 < to) ReadRows(query + 1, to, query + 1);
  }
  void Open_(std::size_t from, std::size_t to) {
    const std::size_t query = Find(from, "FOR");
    if (query + 1 < to && IsOneOf(query + 1, {"SELECT", "WITH"})) ReadRows(query + 1, to, query + 1);
  }

  void Prepare(std::size_t from, std::size_t to) {
    std::size_t i = from + 1;
    if (!IsName(i)) return;
    const SqlName name = Name(i);
    const std::size_t at = std::min(Find(i, "AS"), Find(i, "FROM"));
    SqlDeed deed;
    deed.kind = Kind::kPrepares, deed.target = name;
    if (at + 1 < to && IsOneOf(at + 1, {"SELECT", "WITH", "TABLE"})) {
      deed.rows = true;
      Scan(at + 1, to, deed, false);
    }
    deed.kind = Kind::kPrepares;
    reader_.deeds_.push_back(std::move(deed));
    inside_.clear();
  }

  void Explain(std::size_t from, std::size_t to) {
    const std::size_t analyze = Find(from, "ANALYZE");
    if (analyze > from + 3) return;
    for (std::size_t i = from + 1; i < to; ++i)
      if (IsOneOf(i, {"INSERT", "UPDATE", "DELETE", "MERGE", "CREATE"})) return Statement(i, to);
  }

  void Attach(std::size_t from, std::size_t to) {
    SqlDeed& deed = Add(Kind::kAttaches);
    for (std::size_t i = from + 1; i < to; ++i)
      if (IsString(i) && deed.destination.empty()) deed.destination = std::string(t_[i].text);
    const std::size_t as = Find(from, "AS");
    if (as + 1 < to && IsName(as + 1)) {
      std::size_t k = as + 1;
      deed.target = Name(k);
    }
  }

  void Refresh(std::size_t from, std::size_t) {
    if (!IsOneOf(from + 1, {"MATERIALIZED", "DYNAMIC"})) return;
    std::size_t i = Behind(from + 1, {"MATERIALIZED", "DYNAMIC", "VIEW", "TABLE", "CONCURRENTLY"});
    if (!IsName(i)) return;
    SqlDeed& deed = Add(Kind::kWrites, Verb::kRefresh, "REFRESH");
    deed.target = Name(i);
  }

  void Load(std::size_t from, std::size_t to) {
    if (!Is(from + 1, "DATA")) return;
    const std::size_t at = std::min(Find(from, "INTO"), Find(from, "OVERWRITE"));
    std::size_t i = Behind(at, {"INTO", "OVERWRITE", "TABLE"});
    SqlDeed& deed = Add(Kind::kLoads);
    if (i < to && IsName(i)) deed.target = Name(i);
  }

  // IF ... THEN, WHILE ... DO, FOR x IN (...) DO: what is asked is read, what follows is a statement.
  void Scripting(std::size_t from, std::size_t to) {
    std::size_t at = to;
    for (const std::string_view word : {"THEN", "DO", "LOOP", "BEGIN"}) at = std::min(at, Find(from, word));
    if (Is(from, "FOR") && at < to) {
      for (std::size_t i = from; i + 1 < at; ++i)
        if (t_[i].Is("IN") && (IsOneOf(i + 1, {"SELECT", "WITH"}) || IsSymbol(i + 1, '('))) {
          // Reads that a script makes for itself keep nothing.
          break;
        }
    }
    if (at + 1 < to) Statement(at + 1, to);
  }

  // RETURN TABLE(q), LET x := (SELECT ...): reads of a script itself.
  void Return(std::size_t, std::size_t) {}

  StatementReader& reader_;
  std::string_view text_;
  int depth_;
  SqlTokens& held_;
  const std::vector<SqlToken>& t_;
  bool open_ = false, using_names_ = false, end_of_text_ = false;
  std::size_t end_ = 0, scan_from_ = 0;
  std::vector<Frame> frames_;
  std::vector<std::string_view> ctes_, aliases_;
  std::vector<SqlDeed> inside_;
};

// Kept from text to text: most of a log's time would go into making them anew.
SqlTokens& StatementReader::Tokens() {
  if (used_ == tokens_.size()) tokens_.emplace_back();
  SqlTokens& tokens = tokens_[used_++];
  tokens.clear(), tokens.made.clear();
  return tokens;
}

const std::vector<SqlDeed>& StatementReader::Read(std::string_view text) {
  deeds_.clear();
  used_ = 0;
  cut_ = false;
  StatementScanner(*this, text, 0).All();
  return deeds_;
}

namespace {

// A name as importers of templates keep it: the inside of a call, or dotted parts with their templates.
SqlTable TableOf(const SqlName& name) {
  SqlTable out;
  out.jinja = name.jinja;
  const auto bare = [&](std::size_t i) {
    return name.jinja && name.IsQuoted(i) && name.part[i].find("{{") == std::string_view::npos;
  };
  if (name.parts == 1 && bare(0)) {
    out.name = std::string(name.part[0]);
    return out;
  }
  for (std::size_t i = 0; i < name.parts; ++i) {
    if (i > 0) out.name += '.';
    const bool call = bare(i) && name.part[i].find_first_of("( '\"") != std::string_view::npos;
    out.name += call ? "{{ " + std::string(name.part[i]) + " }}" : std::string(name.part[i]);
  }
  return out;
}

}  // namespace

std::vector<SqlExport> FindExports(std::string_view sql) {
  StatementReader reader({SqlDialect::kUnknown, true});
  std::vector<SqlExport> out;
  for (const SqlDeed& deed : reader.Read(sql)) {
    const bool clone = deed.kind == SqlDeed::Kind::kWrites && deed.verb == SqlDeed::Verb::kClone;
    if (deed.kind != SqlDeed::Kind::kTakesOut && !clone) continue;
    SqlExport found;
    for (const SqlName& name : deed.reads) {
      SqlTable table = TableOf(name);
      const bool known = std::any_of(found.tables.begin(), found.tables.end(),
                                     [&](const SqlTable& t) { return t.name == table.name; });
      if (!known) found.tables.push_back(std::move(table));
    }
    found.destination = clone ? TableOf(deed.target).name : deed.destination;
    found.how = clone ? "CLONE" : deed.how;
    if (found.destination.empty()) found.destination = "(a place that only the run knows)";
    // What takes no table takes nothing of anybody's.
    if (found.tables.empty() && deed.anything && !deed.session_wide && deed.calls.empty() && !deed.possible)
      continue;
    out.push_back(std::move(found));
  }
  return out;
}

}  // namespace backreach
