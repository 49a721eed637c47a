// Names: the index that finds a dataset by any unambiguous name, and the parts of names that are addresses.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/names/address.hpp"

namespace backreach {

// The result of asking for a name: one, none (with the nearest), or several candidates.
struct NameMatch {
  std::optional<std::uint32_t> found;
  std::vector<std::uint32_t> candidates;  // if ambiguous
};

// Exact names beat folded ones, which beat a unique last part. Quotes, back-ticks and brackets are read as
// SQL identifiers. Numbers are the caller's. One thread asks at a time.
class NameIndex {
 public:
  // `exact`: a canonical name or an alias; else a short name, which counts like a last part.
  void Add(std::string_view name, std::uint32_t id, bool exact);
  NameMatch Find(std::string_view given) const;
  std::optional<std::uint32_t> FindExact(std::string_view given) const;
  // The nearest names, for a message.
  std::vector<std::string> Near(std::string_view given, std::size_t most = 3) const;

 private:
  struct Entry {
    std::size_t at;  // in texts_
    std::uint32_t size, id;
    bool exact;
  };
  enum class By { kExact, kFolded, kLastPart };
  // Open addressing over the entries that have a key; filled when it is first asked.
  struct Table {
    struct Slot {
      std::uint32_t hash = 0, entry = 0;  // one more than the entry's number; 0: free
    };
    std::vector<Slot> slots;
    std::size_t filled = 0;  // entries that are in it, or have no key
    std::size_t used = 0;
  };
  std::string_view NameOf(const Entry& e) const { return std::string_view(texts_).substr(e.at, e.size); }
  static std::string KeyOf(By by, std::string_view name);
  void Fill(By by) const;
  template <typename F>
  void Each(By by, std::string_view key, F f) const;
  NameMatch FindPlain(std::string_view given) const;
  std::string texts_;  // all names, one behind the other
  std::vector<Entry> entries_;
  mutable Table tables_[3];
};

// `"shop"."public"."orders"`, `[dbo].[t]`, `` `p.d.t` `` without their quotes; nothing if there are none.
std::optional<std::string> Unquoted(std::string_view name);

}  // namespace backreach
