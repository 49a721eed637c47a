// Facts and nodes as layout 4 kept them, to be read from stores that have not been written to since. A fact
// was the fields that say something: each its number (from 1, one byte) and its value, and a zero at the end.
// A text that was the same as in the fact before had the highest bit of its number set and no value. It knew
// no types, so the fields are those of today's lists: what was added to their ends later is absent.
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

namespace backreach {

inline constexpr std::size_t kLayout4Fields = 64;
inline constexpr unsigned char kAsBefore = 0x80;

class Layout4Reader {
 public:
  explicit Layout4Reader(ByteReader& in) : in_(in) {}
  template <typename T>
  void Read(T& fact, std::array<std::string_view, kLayout4Fields>* before) {
    Numbered numbered{*this, before, 0, in_.Byte()};
    FieldsOf(numbered, fact);
    if (numbered.next != 0) in_.Fail();
  }

 private:
  struct Numbered {
    Layout4Reader& reader;
    std::array<std::string_view, kLayout4Fields>* before;
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
  // A field of a kind that layout 4 did not have is in none of its blocks.
  template <typename T>
  requires std::is_enum_v<T>
  void Value(T&) { in_.Fail(); }
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
  requires requires(Layout4Reader& r, T& t) { FieldsOf(r, t); }
  void Value(T& fact) { Read(fact, nullptr); }
  ByteReader& in_;
};

// Appends a block's facts to the list; throws Error(kStore) with the complaint if they are none.
template <typename List>
void UnpackLayout4(std::string_view bytes, const char* complaint, List& list) {
  ByteReader in(bytes, complaint);
  Layout4Reader reader(in);
  std::array<std::string_view, kLayout4Fields> before{};
  while (!in.done()) reader.Read(list.emplace_back(), &before);
}

// The nodes of a dbt project: blocks of nodes, and of the configs that they name by number, in today's form.
PackedNodes RepackLayout4Nodes(const std::vector<std::string>& nodes, const std::vector<std::string>& configs,
                               const char* complaint);

}  // namespace backreach
