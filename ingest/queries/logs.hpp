// What the rows of each kind of log mean.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ingest/queries/collector.hpp"
#include "ingest/queries/row.hpp"

namespace backreach::queries {

// Reads one kind of log into a collector.
class LogReader {
 public:
  virtual ~LogReader() = default;
  virtual void Take(Record& record) = 0;
  virtual void End() {}
};

// What an ingest knows across its files: results that were downloaded, by the statement that made them;
// children of scripts.
struct Across {
  std::map<std::string, std::pair<std::string, std::string>> downloads;  // statement -> its event, the form
  std::set<std::string> parents;
};

// In which order the files of an ingest are read: what others need comes first.
int TurnOf(const Columns& columns);
// The reader for a log with these columns; null where nobody knows what they mean.
std::unique_ptr<LogReader> ReaderFor(const Columns& columns, bool csvlog, bool sql,
                                     const std::string& dialect, Collector& collector, Across& across);

}  // namespace backreach::queries
