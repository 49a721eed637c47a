// What a child reads of a parent, as far as runs show it: in each run a stretch of the parent was read and
// one of the child written. Only where all runs that showed the edge told both, and all agree, is it a
// window; it is then offered as what was seen, never as what was said.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ingest/openlineage/period.hpp"

namespace backreach::openlineage {

struct Offset {
  std::int64_t from = 0, to = 0;  // in units, from the beginning and from the end of what is written
  Cut unit = Cut::kNone;
  friend auto operator<=>(const Offset&, const Offset&) = default;
};

// How far what was read lies from what was written; nothing where no unit fits.
std::optional<Offset> OffsetOf(const Period& read, const Period& written);

// The runs of one edge, one after the other in any order.
class Window {
 public:
  // A run that showed the edge; either may be unknown.
  void Add(const std::optional<Period>& read, const std::optional<Period>& written);
  // Runs that showed the edge and told nothing of what they read.
  void AddSilent(std::int64_t runs) { runs_ += runs, unlike_ = true; }
  // The contract's JSON form, `"same"` or `{"window":[-6,0],"unit":"day"}`; "" where runs do not tell.
  std::string Reads() const;
  std::int64_t runs() const { return runs_; }

 private:
  std::int64_t runs_ = 0;
  bool unlike_ = false;  // one run did not tell, or told something else than another
  std::optional<Offset> offset_;
  std::optional<Civil> first_, other_;  // two different beginnings of what was written
  Cut written_ = Cut::kNone;
};

}  // namespace backreach::openlineage
