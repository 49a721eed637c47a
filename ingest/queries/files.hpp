// Logs as files: CSV whose fields may hold line breaks, JSON lines, JSON arrays, plain SQL. Read in one pass
// over a mapped file; nothing of a row is kept.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/base/diagnostics.hpp"
#include "ingest/queries/row.hpp"
#include "ingest/read/file.hpp"

namespace backreach::queries {

// What a file turned out to be, with its columns.
struct LogFile {
  std::string path, name;  // name: without folders
  enum class Form { kCsv, kCsvLog, kJson, kSql } form = Form::kCsv;
  Columns columns;
};

// What a file is, from its beginning. An error is reported for what is no log.
std::optional<LogFile> LookAt(const std::string& path, Diagnostics& diagnostics);

using TakeRecord = std::function<void(Record&)>;
// Every row, in the order of the file. Rows that cannot be read are counted in `broken`, by line.
struct Broken {
  std::size_t rows = 0, first_line = 0;
  std::string why;
};
void EachRecord(const LogFile& log, Diagnostics& diagnostics, Broken& broken, const TakeRecord& take);

}  // namespace backreach::queries
