// A row on its way into a table: what is null, a number or a text, lent where it lives long enough.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "graph/facts/facts.hpp"

namespace backreach {

// A text that is not null where it is empty.
struct Exactly {
  const std::string& text;
};

// One row: texts that are lent have to live until the next one, others are kept here. An empty text is null.
class GivenRow {
 public:
  static constexpr int kMostColumns = 24;
  struct Cell {
    enum class Kind : std::uint8_t { kNull, kNumber, kReal, kText } kind = Kind::kNull;
    std::int64_t number = 0;
    const char* text = nullptr;
    std::size_t size = 0;
    double real = 0;
  };

  template <typename... T>
  void Set(T&&... values) {
    static_assert(sizeof...(values) <= kMostColumns);
    int column = 0;
    (Put(column++, std::forward<T>(values)), ...);
  }
  const Cell& cell(int column) const { return cells_[static_cast<std::size_t>(column)]; }

 private:
  Cell& At(int column) { return cells_[static_cast<std::size_t>(column)]; }
  void Put(int column, std::int64_t n) { At(column) = {Cell::Kind::kNumber, n, nullptr, 0, 0}; }
  void Put(int column, double d) { At(column) = {Cell::Kind::kReal, 0, nullptr, 0, d}; }
  void Put(int column, std::uint32_t n) { Put(column, static_cast<std::int64_t>(n)); }
  void Put(int column, bool b) { Put(column, std::int64_t{b ? 1 : 0}); }
  void Put(int column, const std::string& lent) {
    At(column) = {lent.empty() ? Cell::Kind::kNull : Cell::Kind::kText, 0, lent.data(), lent.size(), 0};
  }
  void Put(int column, const Exactly& lent) {
    At(column) = {Cell::Kind::kText, 0, lent.text.data(), lent.text.size(), 0};
  }
  void Put(int column, std::string& lent) { Put(column, static_cast<const std::string&>(lent)); }
  void Put(int column, std::string&& text) {
    std::string& kept = kept_[static_cast<std::size_t>(column)];
    kept = std::move(text);
    Put(column, static_cast<const std::string&>(kept));
  }
  // `c ? a_const_string : std::string()` makes one of these: it is gone before SQLite reads the row.
  void Put(int column, const std::string&& text) { Put(column, std::string(text)); }
  void Put(int column, const Text& text) {
    if (text)
      Put(column, *text);
    else
      At(column) = {};
  }
  void Put(int column, const char* text) { Put(column, std::string(text)); }
  template <typename T>
  void Put(int column, const std::optional<T>& value) {
    if (value)
      Put(column, *value);
    else
      At(column) = {};
  }
  std::array<Cell, kMostColumns> cells_;
  std::array<std::string, kMostColumns> kept_;
};

}  // namespace backreach
