// Messages as they are printed: place, severity, text, then what to do.

#include "graph/base/diagnostics.hpp"

#include "graph/base/words.hpp"

namespace backreach {

std::string Format(const Diagnostics& diagnostics) {
  constexpr std::size_t kMost = 20;
  std::size_t shown[3] = {0, 0, 0};
  std::string out;
  for (const Diagnostic& d : diagnostics.items()) {
    if (++shown[static_cast<int>(d.severity)] > kMost) continue;
    static constexpr const char* kWords[] = {"note", "warning", "error"};
    if (!d.where.empty())
      out += Printable(d.where) + ": ";
    else
      out += "backreach: ";
    out += std::string(kWords[static_cast<int>(d.severity)]) + ": " + Printable(d.message) + "\n";
    for (const std::string& note : d.notes) out += "  " + Printable(note) + "\n";
  }
  static constexpr const char* kPlural[] = {"notes", "warnings", "errors"};
  for (int s = 2; s >= 0; --s) {
    const std::size_t all = diagnostics.count(static_cast<Severity>(s));
    if (all > kMost) out += "... and " + std::to_string(all - kMost) + " more " + kPlural[s] + "\n";
  }
  return out;
}

}  // namespace backreach
