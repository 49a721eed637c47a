// Platforms differ in what a name's parts are: a table platform has dotted parts behind its host (some
// producers write slashes between them), BigQuery's project is a part and no host, an embedded database has
// its file in the namespace, and everything else has a path.

#include "graph/names/address.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "graph/base/words.hpp"

namespace backreach {

namespace {

enum class Fold { kNone, kUpper, kLower };

struct Platform {
  std::string_view scheme, name;
  bool table;
  Fold fold = Fold::kNone;
};

// Schemes; those of one platform have one name.
constexpr Platform kPlatforms[] = {
    {"snowflake", "snowflake", true, Fold::kUpper},
    {"postgres", "postgres", true, Fold::kLower},
    {"postgresql", "postgres", true, Fold::kLower},
    {"redshift", "redshift", true, Fold::kLower},
    {"bigquery", "bigquery", true},
    {"mysql", "mysql", true},
    {"mariadb", "mysql", true},
    {"mssql", "mssql", true},
    {"sqlserver", "mssql", true},
    {"oracle", "oracle", true},
    {"trino", "trino", true},
    {"presto", "trino", true},
    {"databricks", "databricks", true},
    {"unitycatalog", "unitycatalog", true},
    {"hive", "hive", true},
    {"awsathena", "awsathena", true},
    {"clickhouse", "clickhouse", true},
    {"teradata", "teradata", true},
    {"db2", "db2", true},
    {"cassandra", "cassandra", true},
    {"crate", "crate", true},
    {"duckdb", "duckdb", true},
    {"sqlite", "sqlite", true},
    {"s3", "s3", false},
    {"s3a", "s3", false},
    {"s3n", "s3", false},
    {"gs", "gs", false},
    {"gcs", "gs", false},
    {"abfs", "abfss", false},
    {"abfss", "abfss", false},
    {"wasb", "wasbs", false},
    {"wasbs", "wasbs", false},
    {"file", "file", false},
};

const Platform* Find(std::string_view scheme) {
  for (const Platform& p : kPlatforms)
    if (p.scheme == scheme) return &p;
  return nullptr;
}

// Those that OpenLineage writes without slashes: `bigquery`, `file`.
bool StandsAlone(std::string_view scheme) {
  return scheme == "bigquery" || scheme == "file" || scheme == "hive" || scheme == "duckdb";
}

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t from = text.find_first_not_of(kBlanks);
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(kBlanks) + 1 - from);
}

bool IsScheme(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '-' || c == '.';
  });
}

std::string_view WithoutSlashes(std::string_view path) {
  while (!path.empty() && path.front() == '/') path.remove_prefix(1);
  while (!path.empty() && path.back() == '/') path.remove_suffix(1);
  return path;
}

// A table's parts where its name is a path: `/shop/public/orders`, `shop/public/orders`.
std::vector<std::string> PartsOf(const Platform& platform, std::string_view name) {
  name = WithoutSlashes(name);
  std::vector<std::string> out;
  for (const std::string& piece : Split(name, '/'))
    for (std::string& part : TableParts(platform.name, piece)) out.push_back(std::move(part));
  return out;
}

// A database in a file: what leads to the last part with a dot in it is the file.
void TakeFile(Address& out, const Platform& platform, std::string_view rest) {
  const std::size_t slash = rest.rfind('/');
  // Slashes between the parts: the last three of them are the table's, as long as one is left for the file.
  if (rest.find('.', slash == std::string_view::npos ? 0 : slash) == std::string_view::npos) {
    std::size_t first = slash;
    for (int i = 0; i < 2 && first != std::string_view::npos && first > 0; ++i) {
      const std::size_t before = rest.rfind('/', first - 1);
      if (before == std::string_view::npos || before == 0) break;
      first = before;
    }
    if (first != std::string_view::npos && first < slash) {
      out.inside = std::string(rest.substr(0, first));
      out.parts = PartsOf(platform, rest.substr(first));
      return;
    }
  }
  const std::string_view last = slash == std::string_view::npos ? rest : rest.substr(slash + 1);
  out.inside = std::string(slash == std::string_view::npos ? std::string_view() : rest.substr(0, slash));
  out.parts = TableParts(platform.name, last);
}

bool InFile(const Platform& p) { return p.name == "duckdb" || p.name == "sqlite"; }

std::optional<Address> Taken(std::string_view scheme_text, std::string_view authority,
                             std::string_view name) {
  const std::string scheme = Lower(scheme_text);
  const Platform* platform = Find(scheme);
  Address out;
  out.platform = platform ? std::string(platform->name) : scheme;
  if (platform && InFile(*platform)) {
    std::string rest(authority);
    if (!name.empty()) rest += "/" + std::string(name);
    TakeFile(out, *platform, rest);
    if (out.parts.empty()) return std::nullopt;
    return out;
  }
  out.authority = Lower(authority);
  if (!platform || !platform->table) {
    out.path = std::string(WithoutSlashes(name));
    return out;
  }
  if (platform->name == "bigquery") {
    out.authority.clear();
    std::string whole(authority);
    if (!name.empty()) whole += (whole.empty() ? "" : "/") + std::string(name);
    out.parts = PartsOf(*platform, whole);
  } else {
    out.parts = PartsOf(*platform, name);
  }
  if (out.parts.empty()) return std::nullopt;
  return out;
}

}  // namespace

std::vector<std::string> TableParts(std::string_view platform, std::string_view name) {
  const Platform* known = Find(Lower(platform));
  const Fold fold = known ? known->fold : Fold::kNone;
  std::vector<std::string> out;
  std::string part;
  bool quoted = false;
  const auto end = [&] {
    if (!quoted && fold == Fold::kUpper) part = Upper(part);
    if (!quoted && fold == Fold::kLower) part = Lower(part);
    if (!part.empty()) out.push_back(part);
    part.clear(), quoted = false;
  };
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '.') {
      end();
      continue;
    }
    const char close = c == '[' ? ']' : c == '"' || c == '`' ? c : '\0';
    if (close == '\0' || !part.empty() || name.find(close, i + 1) == std::string_view::npos) {
      part += c;
      continue;
    }
    quoted = true;
    for (++i; i < name.size(); ++i) {
      if (name[i] != close)
        part += name[i];
      else if (i + 1 < name.size() && name[i + 1] == close && close != ']')
        part += name[i++];
      else
        break;
    }
    // A back-tick may hold several parts, as BigQuery writes them.
    if (close == '`' && part.find('.') != std::string::npos) {
      for (const std::string& piece : Split(part, '.'))
        if (!piece.empty()) out.push_back(piece);
      part.clear();
    }
  }
  end();
  return out;
}

std::optional<Address> ParseAddress(std::string_view space, std::string_view name) {
  space = Trimmed(space), name = Trimmed(name);
  const std::size_t scheme_end = space.find("://");
  if (scheme_end == std::string_view::npos) {
    const std::string scheme = Lower(space);
    if (!StandsAlone(scheme)) return std::nullopt;
    return Taken(scheme, "", name);
  }
  if (!IsScheme(space.substr(0, scheme_end))) return std::nullopt;
  const std::string_view rest = space.substr(scheme_end + 3);
  const std::string scheme = Lower(space.substr(0, scheme_end));
  if (const Platform* p = Find(scheme); p && InFile(*p)) return Taken(scheme, rest, name);
  const std::size_t slash = rest.find('/');
  if (slash == std::string_view::npos) return Taken(scheme, rest, name);
  // A namespace with a path of its own: it leads the name.
  const std::string whole = std::string(rest.substr(slash + 1)) + "/" + std::string(WithoutSlashes(name));
  return Taken(scheme, rest.substr(0, slash), whole);
}

std::optional<Address> ParseAddress(std::string_view given) {
  given = Trimmed(given);
  const std::size_t scheme_end = given.find("://");
  if (scheme_end == std::string_view::npos) {
    const std::size_t slash = given.find('/');
    if (slash == std::string_view::npos || !StandsAlone(given.substr(0, slash))) return std::nullopt;
    return Taken(given.substr(0, slash), "", given.substr(slash + 1));
  }
  if (!IsScheme(given.substr(0, scheme_end))) return std::nullopt;
  const std::string_view rest = given.substr(scheme_end + 3);
  if (const Platform* p = Find(Lower(given.substr(0, scheme_end))); p && InFile(*p))
    return Taken(given.substr(0, scheme_end), rest, "");
  const std::size_t slash = rest.find('/');
  if (slash == std::string_view::npos) return Taken(given.substr(0, scheme_end), rest, "");
  return Taken(given.substr(0, scheme_end), rest.substr(0, slash), rest.substr(slash + 1));
}

std::string CanonicalName(const Address& a) {
  if (a.is_table()) {
    // What a quoted part has that the platform would fold, or a dot, keeps its quotes.
    const Platform* platform = Find(a.platform);
    std::string name;
    for (const std::string& part : a.parts) {
      const bool folded = !platform || platform->fold == Fold::kNone ||
                          part == (platform->fold == Fold::kUpper ? Upper(part) : Lower(part));
      const bool plain = folded && part.find('.') == std::string::npos;
      if (!name.empty()) name += '.';
      name += plain ? part : "\"" + part + "\"";
    }
    if (a.platform == "bigquery") return "bigquery/" + name;
    if (platform && InFile(*platform)) {
      const bool absolute = !a.inside.empty() && a.inside[0] == '/';
      return a.platform + "://" + a.inside + (a.inside.empty() && !absolute ? "" : "/") + name;
    }
    if (a.authority.empty() && StandsAlone(a.platform)) return a.platform + "/" + name;
    return a.platform + "://" + a.authority + "/" + name;
  }
  if (a.platform == "file" && a.authority.empty()) return "file/" + a.path;
  return a.platform + "://" + a.authority + (a.path.empty() ? "" : "/" + a.path);
}

std::optional<TableAddress> ParseTableAddress(std::string_view uri) {
  std::optional<Address> a = ParseAddress(uri);
  if (!a || a->parts.size() < 2 || a->parts.size() > 3) return std::nullopt;
  return TableAddress{std::move(a->platform), a->authority.empty() ? a->inside : a->authority,
                      std::move(a->parts)};
}

std::string CanonicalUri(std::string_view uri) {
  const auto address = ParseAddress(uri);
  return address ? CanonicalName(*address) : std::string(Trimmed(uri));
}

std::string CanonicalDataset(std::string_view space, std::string_view name) {
  if (const auto address = ParseAddress(space, name)) return CanonicalName(*address);
  space = Trimmed(space), name = Trimmed(name);
  std::string out(space);
  if (!out.empty() && !name.empty() && name.front() != '/' && out.back() != '/') out += '/';
  return out + std::string(name);
}

std::string RelationKey(std::string_view platform, const std::vector<std::string>& parts) {
  std::string key(platform);
  for (const std::string& part : parts) key += "\n" + (platform == "bigquery" ? part : Lower(part));
  return key;
}

std::string PlatformName(std::string_view given) {
  static constexpr std::pair<std::string_view, std::string_view> kOther[] = {
      {"athena", "awsathena"}, {"fabric", "mssql"}, {"synapse", "mssql"}, {"spark", "hive"}};
  const std::string name = Lower(given);
  for (const auto& [from, to] : kOther)
    if (name == from) return std::string(to);
  const Platform* known = Find(name);
  return known ? std::string(known->name) : name;
}

std::string PlatformOf(std::string_view name) {
  const auto a = ParseAddress(name);
  if (!a) return "";
  return a->platform + "://" + (a->authority.empty() ? a->inside : a->authority);
}

}  // namespace backreach
