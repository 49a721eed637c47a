// Messages about inputs: they carry their origin and are collected, not thrown.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace backreach {

enum class Severity { kNote, kWarning, kError };

struct Diagnostic {
  Severity severity = Severity::kError;
  std::string where;    // `registry.yml:14:5`, `target/manifest.json`
  std::string message;  // lower case, no full stop, the user's spelling in quotes
  std::vector<std::string> notes;
};

// Of each severity the first are kept and the rest are counted: a broken file has more faults than anybody
// reads.
class Diagnostics {
 public:
  static constexpr std::size_t kMost = 200;

  void Error(std::string where, std::string message, std::vector<std::string> notes = {}) {
    Add({Severity::kError, std::move(where), std::move(message), std::move(notes)});
  }
  void Warning(std::string where, std::string message, std::vector<std::string> notes = {}) {
    Add({Severity::kWarning, std::move(where), std::move(message), std::move(notes)});
  }
  void Note(std::string where, std::string message, std::vector<std::string> notes = {}) {
    Add({Severity::kNote, std::move(where), std::move(message), std::move(notes)});
  }
  void Append(Diagnostics&& more) {
    for (int s = 0; s < 3; ++s) counts_[s] += more.counts_[s] - more.kept_[s];
    for (Diagnostic& item : more.items_) Add(std::move(item));
  }
  bool has_errors() const { return count(Severity::kError) > 0; }
  // All that were reported, kept or not.
  std::size_t count(Severity severity) const { return counts_[static_cast<int>(severity)]; }
  const std::vector<Diagnostic>& items() const { return items_; }

 private:
  void Add(Diagnostic item) {
    const int s = static_cast<int>(item.severity);
    ++counts_[s];
    if (kept_[s] == kMost) return;
    ++kept_[s];
    items_.push_back(std::move(item));
  }
  std::vector<Diagnostic> items_;
  std::size_t counts_[3] = {0, 0, 0}, kept_[3] = {0, 0, 0};
};

// `where: error: message`, notes indented below; at most 20 of a severity, then how many more.
std::string Format(const Diagnostics& diagnostics);

}  // namespace backreach
