// Messages about inputs: they carry their origin and are collected, not thrown.
#pragma once

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

class Diagnostics {
 public:
  void Error(std::string where, std::string message, std::vector<std::string> notes = {}) {
    items_.push_back({Severity::kError, std::move(where), std::move(message), std::move(notes)});
    ++errors_;
  }
  void Warning(std::string where, std::string message, std::vector<std::string> notes = {}) {
    items_.push_back({Severity::kWarning, std::move(where), std::move(message), std::move(notes)});
  }
  void Note(std::string where, std::string message, std::vector<std::string> notes = {}) {
    items_.push_back({Severity::kNote, std::move(where), std::move(message), std::move(notes)});
  }
  void Append(Diagnostics&& more) {
    for (Diagnostic& item : more.items_) items_.push_back(std::move(item));
    errors_ += more.errors_;
  }
  bool has_errors() const { return errors_ > 0; }
  const std::vector<Diagnostic>& items() const { return items_; }

 private:
  std::vector<Diagnostic> items_;
  std::size_t errors_ = 0;
};

// `where: error: message`, notes indented below; at most 20 of a severity, then how many more.
std::string Format(const Diagnostics& diagnostics);

}  // namespace backreach
