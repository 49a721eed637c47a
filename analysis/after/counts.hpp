// Counts of rows, as files bring them: `dataset,partition,rows[,distinct_keys][,counted_at]`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/base/diagnostics.hpp"
#include "graph/time/time.hpp"

namespace backreach {

struct Count {
  std::string dataset, partition;  // as written
  std::int64_t rows = 0;
  std::optional<std::int64_t> distinct;
  std::optional<Instant> at;
  std::size_t line = 0;
};

struct Counts {
  std::string path;  // for messages
  std::vector<Count> rows;
};

// Reads CSV with its header. What is no count, and what stands twice, is an error with its line.
Counts ReadCounts(const std::string& text, const std::string& path, Diagnostics& diagnostics);

}  // namespace backreach
