// The one exception of backreach: what cannot go on. Content errors are Diagnostics, findings are Hazards.
#pragma once

#include <stdexcept>
#include <string>

namespace backreach {

// Exit status by contract (see README): what `main` returns for an Error.
enum class Status : int { kDone = 0, kFound = 1, kBadRequest = 2, kStore = 3, kInternal = 4 };

class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, Status status = Status::kBadRequest)
      : std::runtime_error(message), status_(status) {}
  Status status() const { return status_; }

 private:
  Status status_;
};

}  // namespace backreach
