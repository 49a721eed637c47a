// Facts as bytes. A fact is its length and its fields; a field is its number and its wire type in one number
// (number * 8 + type), then its value. What a reader does not know it can step over by the type, so a field
// may be added without a new layout. A text that is the same as in the fact before has no value.
//
// A list of facts is cut into blocks by its content: after a fact whose identity hashes to an end. So a fact
// more, or one less, changes the block that it stands in and no other, and versions share the rest.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "graph/base/bytes.hpp"
#include "graph/store/fields.hpp"
#include "graph/store/hash.hpp"

namespace backreach {

enum class Wire : unsigned char {
  kNumber = 0,    // seven bits a byte; signed ones zigzag
  kEight = 1,     // eight bytes
  kBytes = 2,     // a length and so many bytes: a text, a fact inside of a fact, the items of a list
  kAsBefore = 3,  // nothing: the text that the fact before had
};

inline constexpr std::size_t kMostFields = 128;
// The texts of the fact before by field, which have to live on.
using TextsBefore = std::array<std::string_view, kMostFields>;

template <typename T>
inline constexpr bool kIsText = std::is_same_v<T, std::string> || std::is_same_v<T, Text>;

// The wire type of a field. A new kind of value needs a line here, in FactWriter::Value and in
// FactReader::Value.
template <typename T>
struct WireOf {
  static constexpr Wire value = std::is_same_v<T, double>                      ? Wire::kEight
                                : std::is_arithmetic_v<T> || std::is_enum_v<T> ? Wire::kNumber
                                                                               : Wire::kBytes;
};
template <typename T>
struct WireOf<std::optional<T>> : WireOf<T> {};

// Writes the fields of one fact after the other.
class FactWriter {
 public:
  explicit FactWriter(ByteWriter& out) : out_(out) {}
  // `before` is null for what is inside of a fact. Returns the hash of the fact's first two texts, which by
  // custom name it (formats and places may change without moving a block's end).
  template <typename T>
  std::uint64_t Write(T& fact, TextsBefore* before) {
    const std::size_t begin = out_.Open();
    Numbered numbered{*this, before, 0, 0, 0};
    FieldsOf(numbered, fact);
    out_.Close(begin);
    return numbered.identity;
  }

 private:
  struct Numbered {
    FactWriter& writer;
    TextsBefore* before;
    std::size_t number;
    std::uint64_t identity;
    int texts;
    template <typename... F>
    void operator()(F&... fields) {
      static_assert(sizeof...(F) < kMostFields);
      (Field(fields), ...);
    }
    template <typename T>
    void Field(T& value) {
      ++number;
      if (!Says(value)) return;
      if constexpr (kIsText<T>) {
        if (before) {
          const std::string_view text = View(value);
          if (texts++ < 2) identity = IdentityHash(text, identity);
          std::string_view& last = (*before)[number];
          if (last.data() && last == text) return writer.Tag(number, Wire::kAsBefore);
          last = text;
        }
      }
      writer.Tag(number, WireOf<T>::value);
      if constexpr (WireOf<T>::value == Wire::kBytes)
        writer.Sized(value);
      else
        writer.Value(value);
    }
  };
  void Tag(std::size_t number, Wire wire) { out_.Number(number << 3 | static_cast<std::size_t>(wire)); }

  static std::string_view View(const std::string& s) { return s; }
  static std::string_view View(const Text& s) { return *s; }

  static bool Says(const std::string& s) { return !s.empty(); }
  static bool Says(const Text& s) { return s.has_value(); }
  template <typename T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) static bool Says(T value) { return value != T{}; }
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

  // Numbers stand as they are.
  void Value(bool b) { out_.Byte(b ? 1 : 0); }
  void Value(std::int64_t n) {
    out_.Number(static_cast<std::uint64_t>(n) << 1 ^ static_cast<std::uint64_t>(n >> 63));
  }
  void Value(double d) { out_.Raw(&d, sizeof d); }
  template <typename T>
  requires std::is_enum_v<T>
  void Value(T value) { out_.Number(static_cast<std::uint64_t>(value)); }
  template <typename T>
  void Value(std::optional<T>& value) {
    Value(*value);
  }
  // Everything else is preceded by its length.
  void Sized(const std::string& s) { out_.Text(s); }
  void Sized(const Text& s) { out_.Text(*s); }
  template <typename T>
  requires requires(FactWriter& w, T& t) { FieldsOf(w, t); }
  void Sized(T& fact) { Write(fact, nullptr); }
  template <typename T>
  void Sized(std::optional<T>& value) {
    Sized(*value);
  }
  template <typename T>
  void Sized(Seldom<T>& value) {
    Sized(value.Make());
  }
  template <typename T>
  void Sized(std::vector<T>& list) {
    const std::size_t begin = out_.Open();
    for (T& item : list) Item(item);
    out_.Close(begin);
  }
  template <typename K, typename V>
  void Sized(std::map<K, V>& map) {
    const std::size_t begin = out_.Open();
    for (auto& [key, value] : map) out_.Text(key), Item(value);
    out_.Close(begin);
  }
  template <typename T>
  void Item(T& item) {
    if constexpr (WireOf<T>::value == Wire::kBytes)
      Sized(item);
    else
      Value(item);
  }
  ByteWriter& out_;
};

class FactReader {
 public:
  // `skipped` counts the fields that are not known here.
  explicit FactReader(ByteReader& in, std::size_t* skipped = nullptr) : in_(in), skipped_(skipped) {}
  template <typename T>
  void Read(T& fact, TextsBefore* before) {
    ByteReader part = in_.Part();
    FactReader reader(part, skipped_);
    Numbered numbered{reader, before};
    numbered.Next();
    FieldsOf(numbered, fact);
    while (numbered.next != 0) numbered.Skip();
  }

 private:
  struct Numbered {
    FactReader& reader;
    TextsBefore* before;
    std::size_t number = 0;
    std::uint64_t next = 0;  // the number of the next field; 0 at the end
    Wire wire = Wire::kNumber;
    template <typename... F>
    void operator()(F&... fields) {
      (Take(fields), ...);
    }
    void Next() {
      if (reader.in_.done()) {
        next = 0;
        return;
      }
      const std::uint64_t tag = reader.in_.Number(), after = tag >> 3;
      if (after <= next || (tag & 7) > static_cast<std::uint64_t>(Wire::kAsBefore)) reader.in_.Fail();
      next = after, wire = static_cast<Wire>(tag & 7);
    }
    void Skip() {
      if (reader.skipped_) ++*reader.skipped_;
      if (wire == Wire::kNumber) reader.in_.Number();
      if (wire == Wire::kEight) reader.in_.Skip(8);
      if (wire == Wire::kBytes) reader.in_.Text();
      Next();
    }
    template <typename T>
    void Take(T& field) {
      ++number;
      if (next != number) {
        if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>)
          field = {};  // a fact's own default may be another
        return;
      }
      if constexpr (kIsText<T>) {
        std::string_view text;
        if (wire == Wire::kAsBefore) {
          if (!before) reader.in_.Fail();
          text = (*before)[number];
        } else if (wire == Wire::kBytes) {
          text = reader.in_.Text();
          if (before) (*before)[number] = text;
        } else {
          reader.in_.Fail();
        }
        field = std::string(text);
      } else {
        if (wire != WireOf<T>::value) reader.in_.Fail();
        reader.Item(field);
      }
      Next();
    }
  };

  template <typename T>
  void Item(T& item) {
    if constexpr (WireOf<T>::value == Wire::kBytes)
      Sized(item);
    else
      Value(item);
  }
  void Value(bool& b) { b = in_.Number() != 0; }
  void Value(std::int64_t& n) {
    const std::uint64_t u = in_.Number();
    n = static_cast<std::int64_t>(u >> 1 ^ (~(u & 1) + 1));
  }
  void Value(double& d) { in_.Raw(&d, sizeof d); }
  template <typename T>
  requires std::is_enum_v<T>
  void Value(T& value) { value = static_cast<T>(in_.Number()); }
  template <typename T>
  void Value(std::optional<T>& value) {
    Value(value.emplace());
  }
  void Sized(std::string& s) { s = in_.Text(); }
  void Sized(Text& s) { s = Text(in_.Text()); }
  template <typename T>
  requires requires(FactReader& r, T& t) { FieldsOf(r, t); }
  void Sized(T& fact) { Read(fact, nullptr); }
  template <typename T>
  void Sized(std::optional<T>& value) {
    Sized(value.emplace());
  }
  template <typename T>
  void Sized(Seldom<T>& value) {
    Sized(value.Make());
  }
  template <typename T>
  void Sized(std::vector<T>& list) {
    ByteReader part = in_.Part();
    FactReader reader(part, skipped_);
    while (!part.done()) {
      T item{};
      reader.Item(item);
      list.push_back(std::move(item));
    }
  }
  template <typename K, typename V>
  void Sized(std::map<K, V>& map) {
    ByteReader part = in_.Part();
    FactReader reader(part, skipped_);
    while (!part.done()) {
      K key(part.Text());
      reader.Item(map.emplace_hint(map.end(), std::move(key), V())->second);
    }
  }
  ByteReader& in_;
  std::size_t* skipped_;
};

// A block ends after one fact in this many, by the hash of its identity, but not below the least size; what
// has no such fact for long is cut at the most.
inline constexpr std::uint64_t kEnds = 256;
inline constexpr std::size_t kLeastBlock = 16u << 10, kMostBlock = 256u << 10;
inline bool EndsBlock(std::size_t size, std::uint64_t identity) {
  return size >= kMostBlock || (size >= kLeastBlock && identity % kEnds == 0);
}

// Calls emit(number of facts, bytes) for each block of a list.
template <typename List, typename F>
void PackList(List& list, F emit) {
  ByteWriter out;
  FactWriter writer(out);
  TextsBefore before{};
  std::size_t facts = 0;
  for (auto& fact : list) {
    const std::uint64_t identity = writer.Write(fact, &before);
    ++facts;
    if (!EndsBlock(out.size(), identity)) continue;
    emit(facts, out.bytes());
    out.Clear(), before = {}, facts = 0;
  }
  if (facts > 0) emit(facts, out.bytes());
}

// Appends a block's facts to the list; throws Error(kStore) with the complaint if they are none.
template <typename List>
void UnpackBlock(std::string_view bytes, const char* complaint, List& list, std::size_t* skipped = nullptr) {
  ByteReader in(bytes, complaint);
  FactReader reader(in, skipped);
  TextsBefore before{};
  while (!in.done()) reader.Read(list.emplace_back(), &before);
}

}  // namespace backreach
