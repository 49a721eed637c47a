// Statement by statement: all but the tables' own are skipped up to their semicolon outside of quotes.

#include "ingest/read/sql_dump.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "graph/base/words.hpp"
#include "ingest/read/inflate.hpp"

namespace backreach {

const std::string* DumpRow::Find(std::string_view column) const {
  for (std::size_t i = 0; i < columns.size() && i < values.size(); ++i)
    if (columns[i] == column) return values[i] ? &*values[i] : nullptr;
  return nullptr;
}

bool LooksLikeDump(std::string_view text) {
  const auto start = text.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos) return false;
  const std::string head = Lower(text.substr(start, 12));
  for (const char* word :
       {"--", "pragma", "begin", "create ", "insert ", "copy ", "set ", "select ", "\\restrict"})
    if (StartsWith(head, word)) return true;
  return false;
}

namespace {

void AppendUtf8(std::uint32_t c, std::string& out) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xc0 | c >> 6), out += static_cast<char>(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xe0 | c >> 12), out += static_cast<char>(0x80 | (c >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (c & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | (c >> 18 & 7)), out += static_cast<char>(0x80 | (c >> 12 & 0x3f));
    out += static_cast<char>(0x80 | (c >> 6 & 0x3f)), out += static_cast<char>(0x80 | (c & 0x3f));
  }
}

// PostgreSQL's backslashes in COPY lines and E'' texts.
std::string Unescaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  static const std::map<char, char> letters = {{'b', '\b'}, {'f', '\f'}, {'n', '\n'},
                                               {'r', '\r'}, {'t', '\t'}, {'v', '\v'}};
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const char c = text[++i];
    if (c >= '0' && c <= '7') {
      int value = 0, digits = 0;
      for (; digits < 3 && i < text.size() && text[i] >= '0' && text[i] <= '7'; ++digits, ++i)
        value = value * 8 + (text[i] - '0');
      --i;
      out += static_cast<char>(value);
    } else {
      const auto it = letters.find(c);
      out += it == letters.end() ? c : it->second;
    }
  }
  return out;
}

// SQLite's unistr(): \XXXX, \+XXXXXX, \uXXXX, \UXXXXXXXX and \\.
std::optional<std::string> FromUnistr(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    if (++i == text.size()) return std::nullopt;
    if (text[i] == '\\') {
      out += '\\';
      continue;
    }
    const std::size_t digits = text[i] == '+' ? 6 : text[i] == 'U' ? 8 : 4;
    if (text[i] == '+' || text[i] == 'u' || text[i] == 'U') ++i;
    std::string hex(text.substr(i, digits));
    if (hex.size() % 2 != 0) return std::nullopt;
    const auto bytes = FromHex(hex);
    if (!bytes || hex.size() != digits) return std::nullopt;
    std::uint32_t c = 0;
    for (const char b : *bytes) c = c << 8 | static_cast<unsigned char>(b);
    AppendUtf8(c, out);
    i += digits - 1;
  }
  return out;
}

class Reader {
 public:
  Reader(std::string_view text, const std::set<std::string>& tables,
         const std::function<void(const DumpRow&)>& row,
         const std::function<void(std::size_t, const std::string&)>& fault)
      : text_(text), tables_(tables), row_(row), fault_(fault) {}

  void Run() {
    while (Space(), at_ < text_.size()) {
      statement_ = at_;
      if (text_[at_] == '\\') {  // a command of psql
        Line();
      } else if (Word("create") && (Word("table") || (Word("temp") && Word("table")))) {
        if (Word("if")) Word("not"), Word("exists");
        Create();
      } else if (Word("insert")) {
        if (Word("or")) Word("replace");
        if (Word("into")) Insert();
        Skip();
      } else if (Word("copy")) {
        Copy();
      } else {
        Skip();
      }
    }
  }

 private:
  // Spaces and comments.
  void Space() {
    while (at_ < text_.size()) {
      if (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r' || text_[at_] == '\n' ||
          text_[at_] == ';')
        ++at_;
      else if (text_.substr(at_, 2) == "--")
        Line();
      else
        return;
    }
  }
  void Blank() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
      ++at_;
  }
  std::string_view Line() {
    const auto end = std::min(text_.find('\n', at_), text_.size());
    const std::string_view line = text_.substr(at_, end - at_);
    at_ = std::min(end + 1, text_.size());
    return line;
  }
  static bool IsName(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
  }
  bool Word(std::string_view word) {
    Blank();
    if (Lower(text_.substr(at_, word.size())) != word) return false;
    if (at_ + word.size() < text_.size() && IsName(text_[at_ + word.size()])) return false;
    at_ += word.size();
    return true;
  }
  bool Sign(char c) {
    Blank();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  // Of the statement's beginning; statements come in order, so every line is counted once.
  std::size_t LineNumber() {
    for (; counted_ < statement_; ++counted_) lines_ += text_[counted_] == '\n';
    return lines_;
  }

  // A name, quoted or not; of `a.b` the last part. Lower case.
  std::string Name() {
    std::string name;
    do {
      Blank();
      name.clear();
      if (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '`')) {
        const char quote = text_[at_++];
        while (at_ < text_.size() && text_[at_] != quote) name += text_[at_++];
        ++at_;
      } else {
        while (at_ < text_.size() && IsName(text_[at_])) name += text_[at_++];
      }
    } while (Sign('.'));
    return Lower(name);
  }

  // From a quote to behind its end; `backslashes`: E''.
  std::string_view Quoted(bool backslashes) {
    const char quote = text_[at_++];
    const std::size_t begin = at_;
    while (at_ < text_.size()) {
      if (backslashes && text_[at_] == '\\') {
        at_ += 2;
      } else if (text_[at_] != quote) {
        ++at_;
      } else if (at_ + 1 < text_.size() && text_[at_ + 1] == quote) {
        at_ += 2;
      } else {
        break;
      }
    }
    at_ = std::min(at_, text_.size());
    const std::string_view inside = text_.substr(begin, at_ - begin);
    at_ = std::min(at_ + 1, text_.size());
    return inside;
  }
  static std::string Undoubled(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
      out += text[i];
      if (text[i] == '\'' && i + 1 < text.size() && text[i + 1] == '\'') ++i;
    }
    return out;
  }

  // Up to behind the next semicolon that is in no quotes, `$$` ones included.
  void Skip() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\'' || c == '"') {
        const bool e = c == '\'' && at_ > 0 && (text_[at_ - 1] == 'E' || text_[at_ - 1] == 'e');
        Quoted(e && (at_ == 1 || !IsName(text_[at_ - 2])));
      } else if (c == '$' && (at_ == 0 || !IsName(text_[at_ - 1]))) {
        std::size_t end = at_ + 1;
        while (end < text_.size() && IsName(text_[end]) && text_[end] != '$') ++end;
        if (end >= text_.size() || text_[end] != '$') {
          ++at_;
          continue;
        }
        const std::string_view tag = text_.substr(at_, end + 1 - at_);
        const auto close = text_.find(tag, end + 1);
        at_ = close == std::string_view::npos ? text_.size() : close + tag.size();
      } else if (c == '-' && text_.substr(at_, 2) == "--") {
        Line();
      } else {
        ++at_;
        if (c == ';') return;
      }
    }
  }

  // The columns of a table, which inserts without a list of their own mean.
  void Create() {
    const std::string table = Name();
    if (!tables_.count(table) || !Sign('(')) return Skip();
    static const std::set<std::string> others = {"constraint", "primary", "unique",
                                                 "foreign",    "check",   "exclude"};
    std::vector<std::string> columns;
    while (at_ < text_.size()) {
      const std::string name = Name();
      if (!others.count(name)) columns.push_back(name);
      for (int depth = 0; at_ < text_.size(); ++at_) {
        const char c = text_[at_];
        if (c == '\'' || c == '"') {
          Quoted(false);
          --at_;
        } else if (c == '(') {
          ++depth;
        } else if ((c == ')' && depth-- == 0) || (c == ',' && depth == 0)) {
          break;
        }
      }
      if (!Sign(',')) break;
    }
    columns_[table] = std::move(columns);
    Skip();
  }

  std::vector<std::string> Columns(const std::string& table) {
    if (!Sign('(')) {
      const auto it = columns_.find(table);
      return it == columns_.end() ? std::vector<std::string>() : it->second;
    }
    std::vector<std::string> columns;
    do columns.push_back(Name());
    while (Sign(','));
    Sign(')');
    return columns;
  }

  void Insert() {
    DumpRow row;
    row.table = Name();
    if (!tables_.count(row.table)) return;
    row.line = LineNumber();
    row.columns = Columns(row.table);
    if (row.columns.empty())
      return fault_(
          row.line,
          fmt::format("the columns of {} are not known: its CREATE TABLE is not in the dump", row.table));
    if (!Word("values")) return fault_(row.line, "an INSERT without VALUES");
    do {
      row.values.clear();
      if (!Sign('(')) return fault_(row.line, "VALUES without a bracket");
      do {
        bool known = true;
        row.values.push_back(Value(0, known));
        if (!known)
          return fault_(row.line, fmt::format("value {} of the row is no literal", row.values.size()));
      } while (Sign(','));
      if (!Sign(')') || row.values.size() != row.columns.size())
        return fault_(row.line, fmt::format("a row of {} values for {} columns; is the file cut off?",
                                            row.values.size(), row.columns.size()));
      row_(row);
    } while (Sign(','));
  }

  // A literal, or one of the calls that SQLite wraps around texts with line breaks.
  std::optional<std::string> Value(int depth, bool& known) {
    Blank();
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    const bool quoted_next = at_ + 1 < text_.size() && text_[at_ + 1] == '\'';
    if (c == '\'') return Undoubled(Quoted(false));
    if ((c == 'E' || c == 'e') && quoted_next) return ++at_, Unescaped(Undoubled(Quoted(true)));
    if ((c == 'X' || c == 'x') && quoted_next) {
      ++at_;
      const auto bytes = FromHex(Quoted(false));
      known = bytes.has_value();
      return bytes;
    }
    if (depth < 8 && (Word("replace") || Word("unistr"))) return Call(depth, known);
    if (Word("null")) return std::nullopt;
    std::string word;
    while (at_ < text_.size() &&
           (IsName(text_[at_]) || text_[at_] == '-' || text_[at_] == '+' || text_[at_] == '.'))
      word += text_[at_++];
    known = !word.empty();
    return word;
  }

  std::optional<std::string> Call(int depth, bool& known) {
    const bool unistr = at_ > 0 && (text_[at_ - 1] == 'r' || text_[at_ - 1] == 'R');
    if (!Sign('(')) return known = false, std::nullopt;
    auto text = Value(depth + 1, known);
    if (!known || !text) return known = false, std::nullopt;
    if (unistr) {
      known = Sign(')');
      text = FromUnistr(*text);
      known = known && text;
      return text;
    }
    // replace(text, '\n', char(10))
    if (!Sign(',')) return known = false, std::nullopt;
    const auto what = Value(depth + 1, known);
    if (!known || !what || what->empty() || !Sign(',') || !Word("char") || !Sign('('))
      return known = false, std::nullopt;
    const auto code = Value(depth + 1, known);
    if (!known || !code || !Sign(')') || !Sign(')')) return known = false, std::nullopt;
    const std::string by = *code == "10" ? "\n" : *code == "13" ? "\r" : "";
    if (by.empty()) return known = false, std::nullopt;
    std::string out;
    for (std::size_t from = 0;;) {
      const auto hit = text->find(*what, from);
      out += text->substr(from, hit == std::string::npos ? hit : hit - from);
      if (hit == std::string::npos) return out;
      out += by;
      from = hit + what->size();
    }
  }

  // COPY table (columns) FROM stdin; and lines of values between tabs, up to `\.`.
  void Copy() {
    DumpRow row;
    row.table = Name();
    row.columns = Columns(row.table);
    Skip();
    if (at_ < text_.size() && text_[at_] == '\r') ++at_;
    if (at_ < text_.size() && text_[at_] == '\n') ++at_;
    statement_ = at_;
    row.line = LineNumber();
    const bool wanted = tables_.count(row.table) > 0;
    for (; at_ < text_.size(); ++row.line) {
      std::string_view line = Line();
      if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
      if (line == "\\.") return;
      if (!wanted) continue;
      row.values.clear();
      for (const std::string& value : Split(line, '\t'))
        row.values.push_back(value == "\\N" ? std::nullopt : std::optional<std::string>(Unescaped(value)));
      if (row.values.size() == row.columns.size())
        row_(row);
      else
        fault_(row.line, fmt::format("a line of {} values for {} columns; is the file cut off?",
                                     row.values.size(), row.columns.size()));
    }
    if (wanted)
      fault_(row.line, fmt::format("the rows of {} have no end (`\\.`): the file is cut off", row.table));
  }

  std::string_view text_;
  const std::set<std::string>& tables_;
  const std::function<void(const DumpRow&)>& row_;
  const std::function<void(std::size_t, const std::string&)>& fault_;
  std::size_t at_ = 0, statement_ = 0, counted_ = 0, lines_ = 1;
  std::map<std::string, std::vector<std::string>> columns_;
};

}  // namespace

void ReadDump(std::string_view text, const std::set<std::string>& tables,
              const std::function<void(const DumpRow&)>& row,
              const std::function<void(std::size_t line, const std::string& what)>& fault) {
  Reader(text, tables, row, fault).Run();
}

}  // namespace backreach
