// Query history: the logs of warehouses as their users export them, and scripts. Every file adds to what was
// said before; the same statement twice, in whatever form, counts once.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "graph/base/words.hpp"
#include "ingest/importer.hpp"
#include "ingest/queries/files.hpp"
#include "ingest/queries/logs.hpp"

namespace backreach {

namespace {

using namespace queries;

const std::vector<std::string>& Dialects() {
  static const std::vector<std::string> names = {
      "snowflake", "bigquery",   "redshift", "databricks", "postgres", "duckdb", "spark",
      "trino",     "clickhouse", "mysql",    "sqlserver",  "oracle",   "sqlite"};
  return names;
}

std::string DialectGiven(const ImportRequest& request, Diagnostics& diagnostics) {
  const auto given = request.options.find("dialect");
  if (given == request.options.end() || given->second.empty()) {
    diagnostics.Error("backreach",
                      "query history needs --dialect: which engine wrote it decides how its text is read",
                      {"one of " + Join(Dialects(), ", ")});
    return "";
  }
  std::string name = Lower(given->second.back());
  if (name == "postgresql") name = "postgres";
  if (DialectOf(name) == SqlDialect::kUnknown) {
    const auto near = Nearest(name, Dialects(), 1);
    diagnostics.Error(
        "backreach", fmt::format("--dialect '{}' is not known", given->second.back()),
        {near.empty() ? "one of " + Join(Dialects(), ", ") : "did you mean '" + near[0] + "'?"});
    return "";
  }
  return name;
}

std::vector<SourceFacts> Run(const ImportRequest& request, Diagnostics& diagnostics) {
  const std::string dialect = DialectGiven(request, diagnostics);
  if (dialect.empty()) return {};
  std::vector<LogFile> files;
  for (const std::string& path : request.inputs)
    if (auto file = LookAt(path, diagnostics)) files.push_back(std::move(*file));
  if (diagnostics.has_errors()) return {};
  std::stable_sort(files.begin(), files.end(),
                   [](const LogFile& a, const LogFile& b) { return TurnOf(a.columns) < TurnOf(b.columns); });
  const auto named = request.options.find("name");
  const std::string name = named == request.options.end() ? dialect : named->second.back();
  Collector collector(dialect, name);
  Across across;
  for (const LogFile& file : files) {
    const auto reader = ReaderFor(file.columns, file.form == LogFile::Form::kCsvLog,
                                  file.form == LogFile::Form::kSql, dialect, collector, across);
    if (!reader) {
      diagnostics.Error(file.path, "no column of it holds statements, and none is known of any engine's logs",
                        {"a log needs a header with query_text, or the columns of its engine's own view"});
      continue;
    }
    Broken broken;
    EachRecord(file, diagnostics, broken, [&](Record& record) { reader->Take(record); });
    reader->End();
    collector.EndOfFile();
    if (broken.rows > 0)
      diagnostics.Warning(fmt::format("{}:{}", file.path, broken.first_line),
                          fmt::format("{} could not be read: {}",
                                      Plural(static_cast<std::int64_t>(broken.rows), "row"), broken.why),
                          {"what they did is unknown; the rest counts"});
  }
  if (diagnostics.has_errors()) return {};
  SourceFacts source;
  source.source = {"queries", name, name, "", ""};
  source.facts = collector.Facts_();
  return {std::move(source)};
}

}  // namespace

Importer QueriesImporter() {
  return {
      "queries",
      "FILE...",
      "Query history: who reads what, what is written from what, and where rows leave (CSV, JSON, SQL)",
      "  backreach ingest queries query_history.csv access_history.csv --dialect snowflake\n"
      "  backreach ingest queries postgresql.csv --dialect postgres",
      true,
      {{"dialect",
        "the engine that wrote it: snowflake, bigquery, redshift, databricks, postgres, duckdb, ...", false,
        "NAME"},
       {"name", "what this history is called, where there are several of one engine (default: the dialect)",
        false}},
      Run,
      true};
}

}  // namespace backreach
