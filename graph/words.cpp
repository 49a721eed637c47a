// Words for people: plurals, lists, wrapping, near names, what is printable.

#include "graph/words.hpp"

#include <algorithm>
#include <cstdint>

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

std::string Printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    const std::size_t length = c < 0x80                ? 1
                               : c >= 0xF0 && c < 0xF5 ? 4
                               : c >= 0xE0             ? 3
                               : c >= 0xC2 && c < 0xE0 ? 2
                                                       : 0;
    std::uint32_t code = length == 1 ? c : length == 2 ? c & 0x1F : length == 3 ? c & 0x0F : c & 0x07;
    bool good = length > 0 && i + length <= text.size();
    for (std::size_t k = 1; good && k < length; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      good = (next & 0xC0) == 0x80;
      code = code << 6 | (next & 0x3F);
    }
    if (!good) {
      out += "\xEF\xBF\xBD";
      ++i;
      continue;
    }
    const bool hidden = (code >= 0x200B && code <= 0x200F) || (code >= 0x202A && code <= 0x202E) ||
                        (code >= 0x2060 && code <= 0x2069) || code == 0xFEFF || code == 0x2028 ||
                        code == 0x2029 || (code >= 0x80 && code < 0xA0) || code == 0xAD;
    if (code < 0x20 || code == 0x7F) {
      const std::uint32_t picture =
          code == 0x7F ? 0x2421 : 0x2400 + code;  // the Unicode pictures of controls
      out += static_cast<char>(0xE0 | picture >> 12);
      out += static_cast<char>(0x80 | (picture >> 6 & 0x3F));
      out += static_cast<char>(0x80 | (picture & 0x3F));
    } else if (hidden) {
      static constexpr char kHex[] = "0123456789ABCDEF";
      out += "<U+";
      for (int shift = 12; shift >= 0; shift -= 4) out += kHex[code >> shift & 15];
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
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._-/:=@,+%").find(c) != std::string_view::npos;
  });
  if (plain) return std::string(text);
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
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
  return Thousands(n) + " " + std::string(word) + (n == 1 ? "" : "s");
}

}  // namespace backreach
