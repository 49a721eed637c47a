// Names as addresses: what the parts of a dataset's name mean on its platform, and the one spelling that
// OpenLineage's naming gives it (`namespace/name`; a name that begins with a slash has no second one).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace backreach {

// A dataset's name taken apart. Scheme, host and bucket are in lower case, the parts of a table as the
// platform stores them (quotes taken away, the rest folded as the platform folds); paths are as they were.
struct Address {
  std::string platform;            // `postgres`, `s3`, `file`, ...: of several schemes for one the usual one
  std::string authority;           // host and port, account, bucket; "" where the platform has none
  std::string inside;              // of a namespace with a path of its own (`duckdb:///data/shop.duckdb`)
  std::vector<std::string> parts;  // of a table: database, schema, table, or fewer
  std::string path;                // of everything else, without a slash at its ends
  bool is_table() const { return !parts.empty(); }
};

// Nothing for what is no address: a dbt unique id, a word.
std::optional<Address> ParseAddress(std::string_view name);
// The same, of a namespace and a name as OpenLineage has them.
std::optional<Address> ParseAddress(std::string_view space, std::string_view name);
std::string CanonicalName(const Address& address);

// A table's platform, account (host and port) and two or three parts.
struct TableAddress {
  std::string platform, account;
  std::vector<std::string> parts;
};
std::optional<TableAddress> ParseTableAddress(std::string_view uri);

// The canonical name of what is an address; anything else as it is, blanks at its ends apart.
std::string CanonicalUri(std::string_view uri);
std::string CanonicalDataset(std::string_view space, std::string_view name);

// The parts of a name with dots between them; quotes, back-ticks and brackets are read as the platform does,
// and parts without them folded.
std::vector<std::string> TableParts(std::string_view platform, std::string_view name);

// The key under which two relations of one platform are the same table: case folded, except on BigQuery.
std::string RelationKey(std::string_view platform, const std::vector<std::string>& parts);

// The platform that dbt's adapter or another tool calls by this name: `athena` is OpenLineage's `awsathena`.
std::string PlatformName(std::string_view given);

// Where a dataset lies: the platform with its bucket, host or file system. "" for what is no address.
std::string PlatformOf(std::string_view name);

}  // namespace backreach
