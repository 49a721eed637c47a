// What the columns of logs are called, and how logs write times.

#include "ingest/queries/row.hpp"

#include <map>

#include "graph/base/words.hpp"

namespace backreach::queries {

std::optional<Column> ColumnOf(std::string_view name) {
  using C = Column;
  static const std::map<std::string, Column, std::less<>> names = {
      {"query_id", C::kId},
      {"job_id", C::kId},
      {"statement_id", C::kId},
      {"query", C::kText},
      {"query_text", C::kText},
      {"statement_text", C::kText},
      {"querytxt", C::kText},
      {"sql_text", C::kText},
      {"sql", C::kText},
      {"statement", C::kText},
      {"user_name", C::kUser},
      {"user", C::kUser},
      {"user_email", C::kUser},
      {"executed_by", C::kUser},
      {"created_by", C::kUser},
      {"usename", C::kUser},
      {"username", C::kUser},
      {"user_id", C::kUser},
      {"userid", C::kUser},
      {"database_name", C::kDatabase},
      {"dbname", C::kDatabase},
      {"datname", C::kDatabase},
      {"database", C::kDatabase},
      {"project_id", C::kDatabase},
      {"catalog", C::kDatabase},
      {"schema_name", C::kSchema},
      {"schema", C::kSchema},
      {"session_id", C::kSession},
      {"session_info", C::kSession},
      {"pid", C::kSession},
      {"client_application", C::kClient},
      {"client_application_id", C::kApplication},
      {"client_environment", C::kEnvironment},
      {"client_driver", C::kDriver},
      {"application_name", C::kClient},
      {"application", C::kClient},
      {"source", C::kSource},
      {"query_tag", C::kTag},
      {"query_label", C::kTag},
      {"label", C::kTag},
      {"query_tags", C::kTag},
      {"execution_status", C::kStatus},
      {"status", C::kStatus},
      {"error_result", C::kErrorCode},
      {"error_code", C::kErrorCode},
      {"aborted", C::kErrorCode},
      {"statement_type", C::kType},
      {"query_type", C::kType},
      {"job_type", C::kJobType},
      {"start_time", C::kStart},
      {"starttime", C::kStart},
      {"creation_time", C::kStart},
      {"query_start_time", C::kStart},
      {"event_time", C::kStart},
      {"timestamp", C::kStart},
      {"log_time", C::kStart},
      {"labels", C::kLabels},
      {"referenced_tables", C::kReferenced},
      {"destination_table", C::kDestination},
      {"parent_job_id", C::kParent},
      {"parent_query_id", C::kParent},
      {"direct_objects_accessed", C::kDirect},
      {"objects_modified", C::kModified},
      {"unloaded_location", C::kLocation},
      {"path", C::kLocation},
      {"sequence", C::kSequence},
      {"text", C::kChunk},
      {"calls", C::kCalls},
      {"source_table_full_name", C::kSourceTable},
      {"source_path", C::kSourcePath},
      {"target_table_full_name", C::kTargetTable},
      {"target_path", C::kTargetPath},
      {"entity_type", C::kEntityType},
      {"entity_id", C::kEntityId},
      {"record_id", C::kRecord},
      {"event_id", C::kEvent},
      {"service_name", C::kService},
      {"action_name", C::kAction},
      {"request_params", C::kParams},
      {"user_identity", C::kIdentity},
      {"protopayload", C::kPayload},
      {"protopayload_auditlog", C::kPayload},
      {"message", C::kMessage},
      {"error_severity", C::kSeverity},
      {"state_code", C::kSqlState},
      {"line_num", C::kLineNumber},
      {"queryid", C::kRecord},
      {"rows_produced", C::kRows},
      {"user_type", C::kUserType}};
  const auto it = names.find(Lower(name));
  return it == names.end() ? std::nullopt : std::optional(it->second);
}

std::optional<Instant> TimeOf(std::string_view t) {
  const auto digits = [&](std::size_t at, std::size_t n, std::int64_t& out) {
    out = 0;
    if (at + n > t.size()) return false;
    for (std::size_t i = at; i < at + n; ++i) {
      if (t[i] < '0' || t[i] > '9') return false;
      out = out * 10 + (t[i] - '0');
    }
    return true;
  };
  std::int64_t year, month, day, hour = 0, minute = 0, second = 0;
  if (t.size() >= 10 && t[4] == '-' && t[7] == '-' && digits(0, 4, year) && digits(5, 2, month) &&
      digits(8, 2, day)) {
    if (month < 1 || month > 12 || day < 1 || day > 31) return std::nullopt;
    std::size_t i = 10;
    if (t.size() >= 16 && (t[10] == ' ' || t[10] == 'T') && digits(11, 2, hour) && digits(14, 2, minute)) {
      i = 16;
      if (t.size() >= 19 && t[16] == ':' && digits(17, 2, second)) i = 19;
    }
    while (i < t.size() && (t[i] == '.' || (t[i] >= '0' && t[i] <= '9'))) ++i;
    while (i < t.size() && t[i] == ' ') ++i;
    std::int64_t offset = 0;
    if (i < t.size() && (t[i] == '+' || t[i] == '-')) {
      std::int64_t h = 0, m = 0;
      const int sign = t[i] == '-' ? -1 : 1;
      if (digits(i + 1, 2, h)) {
        if (!digits(i + 3, 2, m)) digits(i + 4, 2, m);
        offset = sign * (h * kHour + m * kMinute);
      }
    }
    return DaysFromCivil(year, month, day) * kDay + hour * kHour + minute * kMinute + second - offset;
  }
  if (t.size() >= 10 && t.size() <= 16) {  // since 1970, in seconds, milliseconds or microseconds
    std::int64_t n;
    const std::size_t size = t.find('.') == std::string_view::npos ? t.size() : t.find('.');
    if (!digits(0, size, n)) return std::nullopt;
    return n > 100'000'000'000'000 ? n / 1'000'000 : n > 100'000'000'000 ? n / 1000 : n;
  }
  return std::nullopt;
}

}  // namespace backreach::queries
