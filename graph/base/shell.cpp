// Not a shell: a reader that knows the plain forms and gives up at the first that is not.

#include "graph/base/shell.hpp"

#include <algorithm>

#include "graph/base/words.hpp"

namespace backreach {

namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Reads a line up to one place after another, and knows in what it stands.
class Reader {
 public:
  explicit Reader(std::string_view line) : line_(line) {}

  ShellPlace At(std::size_t place) {
    while (at_ < place && !lost_) Next();
    // Behind a backslash or a dollar the quotes of a word would be others.
    if (lost_ || at_ != place || comment_ || quote_ == '$' || before_ == '$') return ShellPlace::kUnknown;
    return quote_ == 0     ? ShellPlace::kBare
           : quote_ == '"' ? ShellPlace::kDoubleQuotes
                           : ShellPlace::kSingleQuotes;
  }

 private:
  bool Here(std::string_view text) const { return line_.compare(at_, text.size(), text) == 0; }

  void Next() {
    const char c = line_[at_];
    if (comment_) {
      comment_ = c != '\n';
    } else if (quote_ == '\'') {
      if (c == '\'') quote_ = 0;
    } else if (quote_ == '$') {  // $'..'
      if (c == '\\')
        ++at_;
      else if (c == '\'')
        quote_ = 0;
    } else if (c == '`' || (c == '$' && quote_ == '"' && at_ + 1 < line_.size() && Opens(line_[at_ + 1]))) {
      lost_ = true;
    } else if (c == '\\') {
      ++at_;
    } else if (quote_ == '"') {
      if (c == '"') quote_ = 0;
    } else {
      Bare(c);
    }
    before_ = at_ < line_.size() && line_[at_] == c ? c : '\\';
    ++at_;
  }

  static bool Opens(char c) { return c == '(' || c == '{' || c == '['; }

  void Bare(char c) {
    if (c == '"') {
      quote_ = '"';
    } else if (c == '\'') {
      quote_ = before_ == '$' ? '$' : '\'';
    } else if (c == '#') {
      comment_ = at_ == 0 || std::string_view(" \t\n;&|()").find(before_) != std::string_view::npos;
    } else if (Here("((") || Here("${") || Here("$[") || Here("$$")) {
      lost_ = true;
    } else if (Here("<<<")) {
      at_ += 2;
    } else if (Here("<<")) {
      lost_ = true;
    }
  }

  const std::string_view line_;
  std::size_t at_ = 0;
  char quote_ = 0;   // 0, ', " or $ (of $'..')
  char before_ = 0;  // the character in front; a backslash for one that it made plain
  bool comment_ = false, lost_ = false;
};

}  // namespace

std::string ShellLine(const std::vector<std::string>& words) {
  std::vector<std::string> quoted;
  for (const std::string& word : words) quoted.push_back(ShellWord(word));
  return Join(quoted, " ");
}

std::optional<std::vector<std::string>> ShellWords(std::string_view line) {
  std::vector<std::string> out;
  char quote = 0;
  bool open = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote == 0 && c == ' ') {
      open = false;
      continue;
    }
    if (!open) out.emplace_back(), open = true;
    if (quote == 0 && c == '$' && i + 1 < line.size() && line[i + 1] == '\'') {
      quote = '$', ++i;
    } else if (c == '\'') {
      quote = quote ? 0 : '\'';
    } else if (c == '\\' && quote != '\'' && i + 1 < line.size()) {
      const char next = line[++i];
      if (quote == '$' && next == 'x' && i + 2 < line.size() && HexDigit(line[i + 1]) >= 0 &&
          HexDigit(line[i + 2]) >= 0) {
        out.back() += static_cast<char>(HexDigit(line[i + 1]) * 16 + HexDigit(line[i + 2]));
        i += 2;
      } else {
        out.back() += next;
      }
    } else {
      out.back() += c;
    }
  }
  // Read generously, and held against the one spelling that there is.
  if (out.empty() || ShellLine(out) != line) return std::nullopt;
  return out;
}

std::vector<ShellPlace> ShellPlaces(std::string_view line, const std::vector<std::size_t>& places) {
  Reader reader(line);
  std::vector<ShellPlace> out;
  for (const std::size_t place : places) out.push_back(reader.At(place));
  return out;
}

bool StandsBare(std::string_view line, std::string_view name) {
  std::vector<std::size_t> places;
  for (std::size_t at = line.find(name); at != std::string_view::npos; at = line.find(name, at + 1))
    if (at == 0 || line[at - 1] != '$') places.push_back(at);
  const std::vector<ShellPlace> found = ShellPlaces(line, places);
  return !found.empty() &&
         std::all_of(found.begin(), found.end(), [](ShellPlace p) { return p == ShellPlace::kBare; });
}

}  // namespace backreach
