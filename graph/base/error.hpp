// The one exception of backreach: what cannot go on. Content errors are Diagnostics, findings are Hazards.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace backreach {

// Exit status by contract (see README): what `main` returns for an Error.
enum class Status : int { kDone = 0, kFound = 1, kBadRequest = 2, kStore = 3, kInternal = 4 };

class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, Status status = Status::kBadRequest)
      : std::runtime_error(message), status_(status) {}
  // `where: error: what`, and each note on a line of its own: the one form of all messages. `where` empty:
  // the command line's fault.
  Error(const std::string& where, const std::string& what, const std::vector<std::string>& notes,
        Status status = Status::kBadRequest)
      : std::runtime_error(Text(where, what, notes)), status_(status) {}
  Status status() const { return status_; }

 private:
  static std::string Text(const std::string& where, const std::string& what,
                          const std::vector<std::string>& notes) {
    std::string out = (where.empty() ? std::string("backreach") : where) + ": error: " + what;
    for (const std::string& note : notes) out += "\n  " + note;
    return out;
  }
  Status status_;
};

}  // namespace backreach
