// Words for people: plurals, lists, wrapping, near names, what is printable.

#include "graph/base/words.hpp"

#include "graph/base/utf8.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

namespace backreach {

namespace {

// Edit distance with adjacent swaps, given up (as limit + 1) past `limit`.
std::size_t Distance(std::string_view a, std::string_view b, std::size_t limit) {
  const std::size_t gap = a.size() > b.size() ? a.size() - b.size() : b.size() - a.size();
  if (gap > limit || a.size() > 200 || b.size() > 200) return limit + 1;
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

std::string_view LastPart(std::string_view name) {
  const std::size_t at = name.find_last_of("./");
  return at == std::string_view::npos ? name : name.substr(at + 1);
}

}  // namespace

std::vector<std::string> Nearest(std::string_view given, const std::vector<std::string>& candidates,
                                 std::size_t most) {
  struct Scored {
    std::size_t score;
    const std::string* name;
  };
  const std::string folded = Lower(given);
  const std::size_t limit = std::max<std::size_t>(2, given.size() / 4);
  std::vector<Scored> found;
  for (const std::string& candidate : candidates) {
    const std::string other = Lower(candidate);
    std::size_t score = Distance(folded, other, limit);
    if (score > limit)
      score =
          Distance(LastPart(folded), LastPart(other), 2) <= 2 && LastPart(folded).size() > 2 ? limit : score;
    if (score > limit && folded.size() >= 4 && other.find(folded) != std::string::npos) score = limit;
    if (score <= limit) found.push_back({score, &candidate});
  }
  std::sort(found.begin(), found.end(), [](const Scored& a, const Scored& b) {
    return a.score != b.score ? a.score < b.score : *a.name < *b.name;
  });
  std::vector<std::string> out;
  for (const Scored& s : found) {
    if (out.size() == most) break;
    if (std::find(out.begin(), out.end(), *s.name) == out.end()) out.push_back(*s.name);
  }
  return out;
}

namespace {

// One character of UTF-8: its code and its length in bytes; a length of 0 is a byte that begins none.
struct Character {
  std::uint32_t code = 0;
  std::size_t length = 0;
};

Character CharacterAt(std::string_view text, std::size_t at) {
  const auto c = static_cast<unsigned char>(text[at]);
  const std::size_t length = c < 0x80                ? 1
                             : c >= 0xF0 && c < 0xF5 ? 4
                             : c >= 0xE0 && c < 0xF0 ? 3
                             : c >= 0xC2 && c < 0xE0 ? 2
                                                     : 0;
  if (length == 0 || at + length > text.size()) return {};
  std::uint32_t code = length == 1 ? c : length == 2 ? c & 0x1F : length == 3 ? c & 0x0F : c & 0x07;
  for (std::size_t k = 1; k < length; ++k) {
    const auto next = static_cast<unsigned char>(text[at + k]);
    if ((next & 0xC0) != 0x80) return {};
    code = code << 6 | (next & 0x3F);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  if (overlong || (code >= 0xD800 && code < 0xE000) || code > 0x10FFFF) return {};
  return {code, length};
}

// What shows as nothing, or turns what stands beside it around: a name with it looks like another name.
bool Hidden(std::uint32_t code) {
  static constexpr std::pair<std::uint32_t, std::uint32_t> kRanges[] = {
      {0x80, 0x9F},       {0xAD, 0xAD},      {0x34F, 0x34F},   {0x61C, 0x61C},   {0x115F, 0x1160},
      {0x17B4, 0x17B5},   {0x180B, 0x180F},  {0x200B, 0x200F}, {0x2028, 0x202E}, {0x2060, 0x206F},
      {0x3164, 0x3164},   {0xFEFF, 0xFEFF},  {0xFFA0, 0xFFA0}, {0xFFF0, 0xFFFB}, {0x1BCA0, 0x1BCA3},
      {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF}};
  return std::any_of(std::begin(kRanges), std::end(kRanges),
                     [&](const auto& range) { return code >= range.first && code <= range.second; });
}

void AppendPicture(std::uint32_t code, std::string& out) {  // the Unicode pictures of controls
  const std::uint32_t picture = code == 0x7F ? 0x2421 : 0x2400 + code;
  out += static_cast<char>(0xE0 | picture >> 12);
  out += static_cast<char>(0x80 | (picture >> 6 & 0x3F));
  out += static_cast<char>(0x80 | (picture & 0x3F));
}

void AppendHex(std::uint32_t code, int digits, std::string& out) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) out += kHex[code >> shift & 15];
}

}  // namespace

std::size_t Utf8LengthAt(std::string_view text, std::size_t at) { return CharacterAt(text, at).length; }

std::string Printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const auto [code, length] = CharacterAt(text, i);
    if (length == 0) {
      out += "\\x";
      AppendHex(static_cast<unsigned char>(text[i]), 2, out);
      ++i;
      continue;
    }
    if (code < 0x20 || code == 0x7F) {
      AppendPicture(code, out);
    } else if (Hidden(code)) {
      out += "<U+";
      AppendHex(code, code > 0xFFFF ? 5 : 4, out);
      out += ">";
    } else {
      out.append(text.substr(i, length));
    }
    i += length;
  }
  return out;
}

std::string Join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string out;
  for (const std::string& part : parts) {
    if (!out.empty()) out += separator;
    out += part;
  }
  return out;
}

std::string ListOf(const std::vector<std::string>& parts, std::size_t most) {
  std::string out;
  const std::size_t shown = parts.size() > most ? most - 1 : parts.size();
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0) out += i + 1 == parts.size() ? " and " : ", ";
    out += parts[i];
  }
  if (shown < parts.size())
    out += " and " + Thousands(static_cast<std::int64_t>(parts.size() - shown)) + " more";
  return out;
}

std::string ShellWord(std::string_view text) {
  // A `=` in front is a path of zsh's.
  const bool plain = !text.empty() && text[0] != '=' && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._-/:=@,+%").find(c) != std::string_view::npos;
  });
  if (plain) return std::string(text);
  std::string out = "'";
  if (Printable(text) == text) {
    for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
  }
  // What is not shown as it is would be another word once it was shown: such characters are written out.
  out = "$'";
  for (std::size_t i = 0; i < text.size();) {
    const auto [code, length] = CharacterAt(text, i);
    const bool shown = length > 0 && code >= 0x20 && code != 0x7F && !Hidden(code);
    for (const std::size_t end = i + std::max<std::size_t>(length, 1); i < end; ++i) {
      const char c = text[i];
      if (c == '\'' || c == '\\')
        out += '\\';
      else if (!shown) {
        out += "\\x";
        AppendHex(static_cast<unsigned char>(c), 2, out);
        continue;
      }
      out += c;
    }
  }
  return out + "'";
}

std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

std::string Upper(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return out;
}

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> out;
  std::size_t from = 0;
  while (true) {
    const std::size_t at = text.find(separator, from);
    out.emplace_back(text.substr(from, at == std::string_view::npos ? at : at - from));
    if (at == std::string_view::npos) return out;
    from = at + 1;
  }
}

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}
bool EndsWith(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

std::string BaseName(std::string_view path) {
  const std::size_t at = path.find_last_of('/');
  return std::string(at == std::string_view::npos ? path : path.substr(at + 1));
}

std::string Thousands(std::int64_t n) {
  std::string digits = std::to_string(n < 0 ? -n : n);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return (n < 0 ? "-" : "") + digits;
}

std::string Plural(std::int64_t n, std::string_view word) {
  const std::string one(word);
  if (n == 1) return "1 " + one;
  // "copies" and "entries", but "days".
  const bool y = one.size() > 1 && one.back() == 'y' &&
                 std::string_view("aeiou").find(one[one.size() - 2]) == std::string_view::npos;
  return Thousands(n) + " " + (y ? one.substr(0, one.size() - 1) + "ies" : one + "s");
}

}  // namespace backreach
