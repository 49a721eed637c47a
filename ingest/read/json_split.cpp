// The inner loop looks at 64 bytes at a time: masks of quotes, backslashes and brackets, the usual trick with
// a prefix XOR for "inside a string", and then only the brackets outside strings one by one. SSE2 is in every
// x86-64; elsewhere the compiler gets a plain loop that it can vectorise.

#include "ingest/read/json_split.hpp"

#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace backreach {

namespace {

// Which of 64 bytes are what. Brackets are looked for apart: most blocks of a manifest lie within a string.
struct Masks {
  std::uint64_t quote, slash;
};
struct Brackets {
  std::uint64_t open, close;
};

#if defined(__SSE2__)
inline std::uint64_t Equal(const __m128i (&v)[4], char c) {
  const __m128i needle = _mm_set1_epi8(c);
  std::uint64_t mask = 0;
  for (int i = 0; i < 4; ++i)
    mask |= static_cast<std::uint64_t>(
                static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(v[i], needle))))
            << (16 * i);
  return mask;
}
inline Masks Classify(const char* p) {
  __m128i v[4];
  for (int i = 0; i < 4; ++i) v[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 16 * i));
  return {Equal(v, '"'), Equal(v, '\\')};
}
inline Brackets FindBrackets(const char* p) {
  __m128i folded[4];  // '[' and '{' differ in one bit alone, as do ']' and '}'
  for (int i = 0; i < 4; ++i)
    folded[i] =
        _mm_or_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 16 * i)), _mm_set1_epi8(0x20));
  return {Equal(folded, '{'), Equal(folded, '}')};
}
#else
inline Masks Classify(const char* p) {
  Masks m{0, 0};
  for (int i = 0; i < 64; ++i) {
    const std::uint64_t bit = std::uint64_t{1} << i;
    const char c = p[i];
    if (c == '"') m.quote |= bit;
    if (c == '\\') m.slash |= bit;
  }
  return m;
}
inline Brackets FindBrackets(const char* p) {
  Brackets b{0, 0};
  for (int i = 0; i < 64; ++i) {
    const std::uint64_t bit = std::uint64_t{1} << i;
    if (p[i] == '{' || p[i] == '[') b.open |= bit;
    if (p[i] == '}' || p[i] == ']') b.close |= bit;
  }
  return b;
}
#endif

inline std::uint64_t PrefixXor(std::uint64_t x) {
  for (int shift = 1; shift < 64; shift *= 2) x ^= x << shift;
  return x;
}

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

// The end of a string that begins at `at` (on its quote); npos if it does not end.
std::size_t SkipString(std::string_view text, std::size_t at) {
  for (std::size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == '"')
      return i + 1;
  }
  return std::string_view::npos;
}

}  // namespace

std::size_t SkipJsonValue(std::string_view text, std::size_t at) {
  if (at >= text.size()) return std::string_view::npos;
  if (text[at] == '"') return SkipString(text, at);
  if (text[at] != '{' && text[at] != '[') {
    std::size_t end = at;
    while (end < text.size() && text[end] != ',' && text[end] != '}' && text[end] != ']' &&
           !IsSpace(text[end]))
      ++end;
    return end == at ? std::string_view::npos : end;
  }
  std::int64_t depth = 0;
  bool escaped = false;      // the first byte of the block is escaped by the last one of the block before
  std::uint64_t inside = 0;  // all ones while a string is open across blocks
  char tail[64];
  for (std::size_t block = at; block < text.size(); block += 64) {
    const char* p = text.data() + block;
    const std::size_t left = text.size() - block;
    if (left < 64) {
      for (std::size_t i = 0; i < 64; ++i) tail[i] = i < left ? p[i] : ' ';
      p = tail;
    }
    Masks m = Classify(p);
    std::uint64_t escapes = escaped ? 1 : 0;  // bytes behind a backslash that is not escaped itself
    escaped = false;
    for (std::uint64_t slashes = m.slash & ~escapes; slashes != 0;) {
      const int i = __builtin_ctzll(slashes);
      escaped = i == 63;
      if (!escaped) escapes |= std::uint64_t{2} << i;
      slashes &= escaped ? 0 : ~(std::uint64_t{3} << i);
    }
    const std::uint64_t quotes = m.quote & ~escapes;
    if (quotes == 0 && inside != 0) continue;
    const std::uint64_t strings = PrefixXor(quotes) ^ inside;
    inside = static_cast<std::uint64_t>(-static_cast<std::int64_t>(strings >> 63));
    const Brackets found = FindBrackets(p);
    const std::uint64_t opens = found.open & ~strings;
    std::uint64_t brackets = opens | (found.close & ~strings);
    while (brackets != 0) {
      const int i = __builtin_ctzll(brackets);
      brackets &= brackets - 1;
      if (opens >> i & 1) {
        ++depth;
      } else if (--depth == 0) {
        return block + static_cast<std::size_t>(i) + 1;
      }
    }
  }
  return std::string_view::npos;
}

void ObjectSplitter::SkipSpace() {
  while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
}

bool ObjectSplitter::Fail(std::size_t byte, std::string what) {
  failed_ = true;
  error_ = {byte, std::move(what)};
  return false;
}

bool ObjectSplitter::Next() {
  if (failed_) return false;
  SkipSpace();
  if (at_ >= text_.size()) return Fail(text_.size(), "the file ends here");
  if (!started_) {
    if (text_[at_] != '{') return Fail(at_, "expected an object");
    ++at_;
    started_ = true;
    SkipSpace();
    if (at_ < text_.size() && text_[at_] == '}') {
      ++at_;
      return false;
    }
  } else if (text_[at_] == '}') {
    ++at_;
    return false;
  } else if (text_[at_] == ',') {
    ++at_;
    SkipSpace();
  } else {
    return Fail(at_, "expected ',' or '}'");
  }
  if (at_ >= text_.size()) return Fail(text_.size(), "the file ends here");
  if (text_[at_] != '"') return Fail(at_, "expected a key in quotes");
  const std::size_t end = SkipString(text_, at_);
  if (end == std::string_view::npos) return Fail(text_.size(), "the file ends inside a key");
  key_ = text_.substr(at_ + 1, end - at_ - 2);
  at_ = end;
  SkipSpace();
  if (at_ >= text_.size()) return Fail(text_.size(), "the file ends here");
  if (text_[at_] != ':') return Fail(at_, "expected ':' after a key");
  ++at_;
  SkipSpace();
  return true;
}

bool ObjectSplitter::Value(std::string_view& value) {
  const std::size_t end = SkipJsonValue(text_, at_);
  if (end == std::string_view::npos) return Fail(text_.size(), "the file ends inside a value");
  value = text_.substr(at_, end - at_);
  at_ = end;
  return true;
}

}  // namespace backreach
