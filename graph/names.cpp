// Exact names beat folded ones, which beat a last part that only one dataset has.

#include "graph/names.hpp"

#include <algorithm>
#include <set>

#include "graph/words.hpp"

namespace backreach {

namespace {

std::string_view LastPart(std::string_view name) {
  const std::size_t at = name.find_last_of("./");
  return at == std::string_view::npos || at + 1 == name.size() ? name : name.substr(at + 1);
}

// True if `name` is `given`, or ends in it at a dot or a slash.
bool EndsAtPart(std::string_view name, std::string_view given) {
  if (!EndsWith(name, given)) return false;
  if (name.size() == given.size()) return true;
  const char before = name[name.size() - given.size() - 1];
  return before == '.' || before == '/' || before == ':';
}

}  // namespace

void NameIndex::Add(std::string_view name, std::uint32_t id, bool exact) {
  const auto at = static_cast<std::uint32_t>(entries_.size());
  entries_.push_back({std::string(name), id, exact});
  if (exact) {
    exact_.emplace(std::string(name), at);
    folded_.emplace(Lower(name), at);
  }
  last_part_.emplace(Lower(LastPart(name)), at);
}

std::optional<std::uint32_t> NameIndex::FindExact(std::string_view given) const {
  const auto it = exact_.find(std::string(given));
  if (it == exact_.end()) return std::nullopt;
  return entries_[it->second].id;
}

NameMatch NameIndex::FindPlain(std::string_view given) const {
  const auto collect = [&](const auto& range, auto matches) {
    std::set<std::uint32_t> ids;
    for (auto it = range.first; it != range.second; ++it)
      if (matches(entries_[it->second])) ids.insert(entries_[it->second].id);
    return std::vector<std::uint32_t>(ids.begin(), ids.end());
  };
  const auto decide = [](std::vector<std::uint32_t> ids) {
    NameMatch match;
    if (ids.size() == 1)
      match.found = ids[0];
    else
      match.candidates = std::move(ids);
    return match;
  };
  const std::string key(given), folded = Lower(given);
  const auto any = [](const Entry&) { return true; };
  auto ids = collect(exact_.equal_range(key), any);
  if (!ids.empty()) return decide(std::move(ids));
  ids = collect(folded_.equal_range(folded), any);
  if (!ids.empty()) return decide(std::move(ids));
  const auto range = last_part_.equal_range(std::string(Lower(LastPart(given))));
  ids = collect(range, [&](const Entry& e) { return EndsAtPart(e.name, given); });
  if (!ids.empty()) return decide(std::move(ids));
  ids = collect(range, [&](const Entry& e) { return EndsAtPart(Lower(e.name), folded); });
  return decide(std::move(ids));
}

NameMatch NameIndex::Find(std::string_view given) const {
  NameMatch match = FindPlain(given);
  if (match.found || !match.candidates.empty()) return match;
  if (const auto plain = Unquoted(given)) match = FindPlain(*plain);
  if (match.found || !match.candidates.empty()) return match;
  const std::string canonical = CanonicalUri(given);
  return canonical == given ? match : FindPlain(canonical);
}

std::vector<std::string> NameIndex::Near(std::string_view given, std::size_t most) const {
  std::vector<std::string> names;
  names.reserve(entries_.size());
  for (const Entry& e : entries_) names.push_back(e.name);
  return Nearest(given, names, most);
}

std::optional<std::string> Unquoted(std::string_view name) {
  if (name.find_first_of("\"`[") == std::string_view::npos) return std::nullopt;
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const char close = c == '[' ? ']' : c == '"' || c == '`' ? c : '\0';
    if (close == '\0') {
      out += c;
      continue;
    }
    for (++i; i < name.size(); ++i) {
      if (name[i] != close) {
        out += name[i];
      } else if (i + 1 < name.size() && name[i + 1] == close && close != ']') {
        out += name[i++];
      } else {
        break;
      }
    }
  }
  return out;
}

std::optional<TableAddress> ParseTableAddress(std::string_view uri) {
  const std::size_t scheme_end = uri.find("://");
  if (scheme_end == std::string_view::npos) return std::nullopt;
  std::string platform = Lower(uri.substr(0, scheme_end));
  if (platform == "postgresql") platform = "postgres";
  static const std::set<std::string> platforms = {"snowflake", "postgres", "redshift", "bigquery",
                                                  "mysql",     "mssql",    "trino",    "databricks",
                                                  "duckdb",    "oracle"};
  if (!platforms.count(platform)) return std::nullopt;
  TableAddress out;
  const std::string_view rest = uri.substr(scheme_end + 3);
  const std::size_t slash = rest.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  out.platform = platform;
  out.account = Lower(rest.substr(0, slash));
  for (const std::string& part : Split(rest.substr(slash + 1), '/'))
    for (const std::string& piece : Split(part, '.'))
      if (!piece.empty()) out.parts.push_back(piece);
  if (out.parts.size() < 2 || out.parts.size() > 3) return std::nullopt;
  return out;
}

std::string CanonicalUri(std::string_view uri) {
  const std::size_t scheme_end = uri.find("://");
  if (scheme_end == std::string_view::npos) return std::string(uri);
  const std::size_t path = uri.find('/', scheme_end + 3);
  std::string out = Lower(uri.substr(0, path));
  if (path == std::string_view::npos) return out;
  std::string_view rest = uri.substr(path);
  while (rest.size() > 1 && rest[0] == '/' && rest[1] == '/') rest.remove_prefix(1);
  return out + std::string(rest);
}

std::string RelationKey(std::string_view platform, const std::vector<std::string>& parts) {
  std::string key(platform);
  for (const std::string& part : parts) key += "\n" + (platform == "bigquery" ? part : Lower(part));
  return key;
}

}  // namespace backreach
