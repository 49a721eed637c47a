// Two moments of a store as text and JSON: what changed, and what that means for one dataset.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/diff.hpp"

namespace backreach {

// One source at both moments; versions are 0 where it was not there.
struct SourceChange {
  std::string kind, name;
  std::int64_t before = 0, after = 0;
  std::string before_sha256, after_sha256;
};

struct DiffView {
  Instant from = 0, to = 0;
  std::string from_fingerprint, to_fingerprint;
  std::vector<SourceChange> sources;  // that changed
  GraphDiff diff;
  std::string target;  // "" if none was asked for
  ReachChange reach;
};

std::string DiffText(const DiffView& view, int width);
std::string DiffJson(const DiffView& view);

}  // namespace backreach
