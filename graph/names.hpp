// Names: the index that finds a dataset by any unambiguous name, and the parts of names that are addresses.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace backreach {

// The result of asking for a name: one, none (with the nearest), or several candidates.
struct NameMatch {
  std::optional<std::uint32_t> found;
  std::vector<std::uint32_t> candidates;  // if ambiguous
};

// Exact names beat folded ones, which beat a unique last part. Quotes, back-ticks and brackets are read as
// SQL identifiers. Numbers are the caller's.
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
    std::string name;
    std::uint32_t id;
    bool exact;
  };
  NameMatch FindPlain(std::string_view given) const;
  std::vector<Entry> entries_;
  std::unordered_multimap<std::string, std::uint32_t> exact_, folded_, last_part_;
};

// `"shop"."public"."orders"`, `[dbo].[t]`, `` `p.d.t` `` without their quotes; nothing if there are none.
std::optional<std::string> Unquoted(std::string_view name);

// A table's address: `snowflake://acct/SHOP.PUBLIC.ORDERS`, `postgres://host:5432/shop/public/orders`.
struct TableAddress {
  std::string platform, account;
  std::vector<std::string> parts;
};
std::optional<TableAddress> ParseTableAddress(std::string_view uri);

// A canonical name: scheme and host in lower case, one slash between namespace and name.
std::string CanonicalUri(std::string_view uri);

// The key under which two relations of one platform are the same table: case folded, except on BigQuery.
std::string RelationKey(std::string_view platform, const std::vector<std::string>& parts);

}  // namespace backreach
