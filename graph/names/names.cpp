// Exact names beat folded ones, which beat a last part that only one dataset has.

#include "graph/names/names.hpp"

#include <functional>
#include <set>

#include "graph/base/words.hpp"

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
  entries_.push_back({texts_.size(), static_cast<std::uint32_t>(name.size()), id, exact});
  texts_ += name;
}

std::string NameIndex::KeyOf(By by, std::string_view name) {
  return Lower(by == By::kLastPart ? LastPart(name) : name);
}

void NameIndex::Fill(By by) const {
  Table& table = tables_[static_cast<int>(by)];
  if (table.filled == entries_.size()) return;
  const auto put = [&](Table::Slot slot) {
    std::size_t at = slot.hash & (table.slots.size() - 1);
    while (table.slots[at].entry != 0) at = (at + 1) & (table.slots.size() - 1);
    table.slots[at] = slot;
  };
  const std::size_t most = table.used + entries_.size() - table.filled;
  if (most * 2 > table.slots.size()) {
    std::size_t size = 64;
    while (size < most * 2) size *= 2;
    // Again from the first entry on: of equal names the first stays the first that is found.
    table.slots.assign(size, {});
    table.filled = table.used = 0;
  }
  for (; table.filled < entries_.size(); ++table.filled) {
    const Entry& e = entries_[table.filled];
    if (!e.exact && by != By::kLastPart) continue;
    const std::size_t hash = by == By::kExact ? std::hash<std::string_view>()(NameOf(e))
                                              : std::hash<std::string>()(KeyOf(by, NameOf(e)));
    put({static_cast<std::uint32_t>(hash), static_cast<std::uint32_t>(table.filled + 1)});
    ++table.used;
  }
}

// Calls f with the entries of this key until it returns false, in the order in which they were added.
template <typename F>
void NameIndex::Each(By by, std::string_view key, F f) const {
  Fill(by);
  const Table& table = tables_[static_cast<int>(by)];
  if (table.slots.empty()) return;
  const auto hash = static_cast<std::uint32_t>(std::hash<std::string_view>()(key));
  for (std::size_t at = hash & (table.slots.size() - 1); table.slots[at].entry != 0;
       at = (at + 1) & (table.slots.size() - 1)) {
    if (table.slots[at].hash != hash) continue;
    const Entry& e = entries_[table.slots[at].entry - 1];
    const bool same = by == By::kExact ? NameOf(e) == key : KeyOf(by, NameOf(e)) == key;
    if (same && !f(e)) return;
  }
}

std::optional<std::uint32_t> NameIndex::FindExact(std::string_view given) const {
  std::optional<std::uint32_t> found;
  Each(By::kExact, given, [&](const Entry& e) {
    found = e.id;
    return false;
  });
  return found;
}

NameMatch NameIndex::FindPlain(std::string_view given) const {
  const auto collect = [&](By by, std::string_view key, auto matches) {
    std::set<std::uint32_t> ids;
    Each(by, key, [&](const Entry& e) {
      if (matches(NameOf(e))) ids.insert(e.id);
      return true;
    });
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
  const std::string folded = Lower(given), last = KeyOf(By::kLastPart, given);
  const auto any = [](std::string_view) { return true; };
  auto ids = collect(By::kExact, given, any);
  if (!ids.empty()) return decide(std::move(ids));
  ids = collect(By::kFolded, folded, any);
  if (!ids.empty()) return decide(std::move(ids));
  ids = collect(By::kLastPart, last, [&](std::string_view name) { return EndsAtPart(name, given); });
  if (!ids.empty()) return decide(std::move(ids));
  ids = collect(By::kLastPart, last, [&](std::string_view name) { return EndsAtPart(Lower(name), folded); });
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
  for (const Entry& e : entries_) names.emplace_back(NameOf(e));
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

}  // namespace backreach
