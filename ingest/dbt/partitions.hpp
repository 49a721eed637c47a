// The time unit that a dbt model's partition config names, in each adapter's own spelling.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace backreach {

// What config says of partitions: BigQuery's mapping, or texts (`day(ts)`, `toStartOfMonth(d)`,
// `ARRAY['day(ts)']`).
struct DbtPartitionConfig {
  std::string adapter;
  std::string field, granularity, data_type;  // BigQuery; lower case but for the field
  std::vector<std::string> texts;
};

struct DbtPartition {
  std::string grain;   // `hour`, `day`, `week`, `month`, `quarter`, `year`
  std::string column;  // that is cut
  bool utc = false;    // the platform cuts in UTC, whatever its zone
};

// Nothing where the adapter does not read such a config, or no unit of time is named (a column alone, a range
// of numbers, a bucket).
std::optional<DbtPartition> ReadDbtPartition(const DbtPartitionConfig& config);

}  // namespace backreach
