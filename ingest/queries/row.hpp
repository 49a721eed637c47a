// One row of a log, whatever the engine calls its columns: what the readers of files hand to whoever knows
// what the rows mean.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "graph/time/time.hpp"

namespace backreach::queries {

// The columns that mean something, under one name each.
enum class Column : unsigned char {
  kId,
  kText,
  kUser,
  kDatabase,
  kSchema,
  kSession,
  kClient,
  kTag,
  kStatus,
  kErrorCode,
  kType,
  kJobType,
  kStart,
  kLabels,
  kReferenced,
  kDestination,
  kParent,
  kDirect,
  kModified,
  kLocation,
  kSequence,
  kChunk,
  kCalls,
  kSourceTable,
  kSourcePath,
  kTargetTable,
  kTargetPath,
  kEntityType,
  kEntityId,
  kRecord,
  kEvent,
  kService,
  kAction,
  kParams,
  kIdentity,
  kPayload,
  kMessage,
  kSeverity,
  kSqlState,
  kLineNumber,
  kFailedQuery,
  kTruncated,
  kApplication,
  kDriver,
  kSource,
  kRows,
  kUserType,
  kEnvironment,
  kCount
};

// The column that a log's own name of it means; nothing for the many that are of no use here.
std::optional<Column> ColumnOf(std::string_view name);

// Values by column, empty where there is none. They hold until the next row is read.
struct Record {
  std::array<std::string_view, static_cast<std::size_t>(Column::kCount)> values{};
  std::string_view operator[](Column c) const { return values[static_cast<std::size_t>(c)]; }
  std::string_view& at(Column c) { return values[static_cast<std::size_t>(c)]; }
  std::string_view file;
  std::size_t line = 0;
};

// Which columns a file has at all: what kind of log it is.
struct Columns {
  std::array<bool, static_cast<std::size_t>(Column::kCount)> there{};
  bool Has(Column c) const { return there[static_cast<std::size_t>(c)]; }
};

// `2026-05-04 01:00:01.000 +0000`, `2026-05-04T01:00:01Z`, seconds or milliseconds since 1970; nothing for
// anything else.
std::optional<Instant> TimeOf(std::string_view text);

}  // namespace backreach::queries
