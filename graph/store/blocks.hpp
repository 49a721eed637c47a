// Facts as bytes. A fact is the fields that say something: each its number (from 1) and its value, and a zero
// at the end. A text that is the same as in the fact before has the highest bit of its number set and no
// value.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "graph/bytes.hpp"
#include "graph/store/fields.hpp"

namespace backreach {

inline constexpr std::size_t kMostFields = 64;
inline constexpr unsigned char kAsBefore = 0x80;

// Writes the fields of one fact after the other.
class FactWriter {
 public:
  explicit FactWriter(ByteWriter& out) : out_(out) {}
  // `before`: the texts of the fact before, which have to live on; null for what is inside of a fact.
  template <typename T>
  void Write(T& fact, std::array<std::string_view, kMostFields>* before) {
    Numbered numbered{*this, before, 0};
    FieldsOf(numbered, fact);
    out_.Byte(0);
  }

 private:
  struct Numbered {
    FactWriter& writer;
    std::array<std::string_view, kMostFields>* before;
    std::size_t number;
    template <typename... F>
    void operator()(F&... fields) {
      static_assert(sizeof...(F) < kMostFields);
      (writer.Field(++number, fields, before), ...);
    }
  };
  template <typename T>
  void Field(std::size_t number, T& value, std::array<std::string_view, kMostFields>* before) {
    if (!Says(value)) return;
    if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, Text>) {
      const std::string_view text = View(value);
      if (before) {
        std::string_view& last = (*before)[number];
        if (last.data() && last == text) return out_.Byte(static_cast<unsigned char>(number | kAsBefore));
        last = text;
      }
    }
    out_.Byte(static_cast<unsigned char>(number));
    Value(value);
  }
  static std::string_view View(const std::string& s) { return s; }
  static std::string_view View(const Text& s) { return *s; }

  static bool Says(const std::string& s) { return !s.empty(); }
  static bool Says(const Text& s) { return s.has_value(); }
  static bool Says(bool b) { return b; }
  static bool Says(std::int64_t n) { return n != 0; }
  static bool Says(double d) { return d != 0; }
  template <typename T>
  static bool Says(const std::optional<T>& value) {
    return value.has_value();
  }
  template <typename T>
  static bool Says(const Seldom<T>& value) {
    return !value.empty();
  }
  template <typename T>
  static bool Says(const std::vector<T>& list) {
    return !list.empty();
  }
  template <typename K, typename V>
  static bool Says(const std::map<K, V>& map) {
    return !map.empty();
  }

  void Value(const std::string& s) { out_.Text(s); }
  void Value(const Text& s) { out_.Text(*s); }
  void Value(bool b) { out_.Byte(b ? 1 : 0); }
  void Value(std::int64_t n) {
    out_.Number(static_cast<std::uint64_t>(n) << 1 ^ static_cast<std::uint64_t>(n >> 63));
  }
  void Value(double d) { out_.Raw(&d, sizeof d); }
  template <typename T>
  void Value(std::optional<T>& value) {
    Value(*value);
  }
  template <typename T>
  void Value(Seldom<T>& value) {
    Value(value.Make());
  }
  template <typename T>
  void Value(std::vector<T>& list) {
    out_.Number(list.size());
    for (T& item : list) Value(item);
  }
  template <typename K, typename V>
  void Value(std::map<K, V>& map) {
    out_.Number(map.size());
    for (auto& [key, value] : map) out_.Text(key), Value(value);
  }
  template <typename T>
  requires requires(FactWriter& w, T& t) { FieldsOf(w, t); }
  void Value(T& fact) { Write(fact, nullptr); }
  ByteWriter& out_;
};

class FactReader {
 public:
  explicit FactReader(ByteReader& in) : in_(in) {}
  template <typename T>
  void Read(T& fact, std::array<std::string_view, kMostFields>* before) {
    Numbered numbered{*this, before, 0, in_.Byte()};
    FieldsOf(numbered, fact);
    if (numbered.next != 0) in_.Fail();
  }

 private:
  struct Numbered {
    FactReader& reader;
    std::array<std::string_view, kMostFields>* before;
    std::size_t number;
    unsigned char next;
    template <typename... F>
    void operator()(F&... fields) {
      (Take(fields), ...);
    }
    template <typename T>
    void Take(T& field) {
      ++number;
      if ((next & ~kAsBefore) != number) {
        if constexpr (std::is_arithmetic_v<T>) field = {};  // a fact's own default may be another
        return;
      }
      if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, Text>) {
        std::string_view text;
        if (next & kAsBefore) {
          if (!before) reader.in_.Fail();
          text = (*before)[number];
        } else {
          text = reader.in_.Text();
          if (before) (*before)[number] = text;
        }
        field = std::string(text);
      } else {
        if (next & kAsBefore) reader.in_.Fail();
        reader.Value(field);
      }
      next = reader.in_.Byte();
    }
  };

  void Value(std::string& s) { s = in_.Text(); }
  void Value(bool& b) { b = in_.Byte() != 0; }
  void Value(std::int64_t& n) {
    const std::uint64_t u = in_.Number();
    n = static_cast<std::int64_t>(u >> 1 ^ (~(u & 1) + 1));
  }
  void Value(double& d) { in_.Raw(&d, sizeof d); }
  template <typename T>
  void Value(std::optional<T>& value) {
    Value(value.emplace());
  }
  template <typename T>
  void Value(Seldom<T>& value) {
    Value(value.Make());
  }
  template <typename T>
  void Value(std::vector<T>& list) {
    list.resize(in_.Count());
    for (T& item : list) Value(item);
  }
  template <typename K, typename V>
  void Value(std::map<K, V>& map) {
    for (std::size_t n = in_.Count(); n > 0; --n) {
      K key(in_.Text());
      Value(map.emplace_hint(map.end(), std::move(key), V())->second);
    }
  }
  template <typename T>
  requires requires(FactReader& r, T& t) { FieldsOf(r, t); }
  void Value(T& fact) { Read(fact, nullptr); }
  ByteReader& in_;
};

// A block is about so long: it is bound to one row, and its texts are looked up within it.
inline constexpr std::size_t kBlockSize = 64u << 10;

// Calls emit(number of facts, bytes) for each block of a list.
template <typename List, typename F>
void PackList(List& list, F emit) {
  ByteWriter out;
  FactWriter writer(out);
  std::array<std::string_view, kMostFields> before{};
  std::size_t facts = 0;
  for (auto& fact : list) {
    writer.Write(fact, &before);
    ++facts;
    if (out.size() < kBlockSize) continue;
    emit(facts, out.bytes());
    out.Clear(), before = {}, facts = 0;
  }
  if (facts > 0) emit(facts, out.bytes());
}

// Appends a block's facts to the list; throws Error(kStore) with the complaint if they are none.
template <typename List>
void UnpackBlock(std::string_view bytes, const char* complaint, List& list) {
  ByteReader in(bytes, complaint);
  FactReader reader(in);
  std::array<std::string_view, kMostFields> before{};
  while (!in.done()) reader.Read(list.emplace_back(), &before);
}

}  // namespace backreach
