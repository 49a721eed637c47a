// The sources of a store, with the versions that it holds of each.
#pragma once

#include <string>
#include <vector>

#include "graph/time/time.hpp"

namespace backreach {

struct SourceView {
  std::string kind, name, key;
  bool adds_up = false;
  struct Version {
    std::int64_t number = 0;
    Instant ingested_at = 0;
    std::string sha256;
  };
  std::vector<Version> versions;  // oldest first, never empty
};

// `now`: for ages.
std::string SourcesText(const std::vector<SourceView>& sources, Instant now);
std::string SourcesJson(const std::vector<SourceView>& sources, Instant now);

}  // namespace backreach
