// A database is asked through its own client: psql or duckdb with a connection, or dbt, which knows the
// profile. The client is started with its words, never through a shell: names and connections are data.

#include "cli/counting.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "graph/base/words.hpp"
#include "graph/time/time.hpp"

extern char** environ;

namespace backreach {

namespace {

// The standard output of a program; its standard error goes to ours.
std::string OutputOf(std::vector<std::string> words) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw Error(fmt::format("backreach: error: {} cannot be started: {}", words[0], std::strerror(errno)));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string out;
  if (failed == 0) {
    char buffer[65536];
    for (ssize_t n = 0; (n = read(ends[0], buffer, sizeof buffer)) != 0;) {
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) break;
      out.append(buffer, static_cast<std::size_t>(n));
    }
  }
  close(ends[0]);
  if (failed != 0)
    throw Error(
        fmt::format("backreach: error: {} cannot be started: {}\n  install it, or make the counts with the "
                    "queries of: backreach verify PLAN.json --sql",
                    words[0], std::strerror(failed)));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw Error(fmt::format("backreach: error: {} failed (status {}); nothing was verified", words[0],
                            WIFEXITED(status) ? WEXITSTATUS(status) : -1));
  return out;
}

std::string CsvField(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

constexpr const char* kHeader = "dataset,partition,rows,distinct_keys,counted_at\n";

// Rows of a client that prints CSV without its header.
void TakeCsv(const std::string& output, std::size_t columns, const std::string& at, std::string& out) {
  for (std::string line : Split(output, '\n')) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty()) continue;
    out += line + (columns == 4 ? "," : ",,") + at + "\n";
  }
}

// What dbt show prints: {"show": [{...}]}.
void TakeDbt(const std::string& output, const std::string& at, std::string& out) {
  const auto begin = output.find('{');
  const auto json =
      nlohmann::json::parse(begin == std::string::npos ? "" : output.substr(begin), nullptr, false);
  if (json.is_discarded() || !json.is_object() || !json.contains("show") || !json["show"].is_array())
    throw Error("backreach: error: dbt show did not print its rows as JSON; nothing was verified");
  const auto text = [](const nlohmann::json& row, const char* key) {
    if (!row.contains(key) || row[key].is_null()) return std::string();
    if (row[key].is_string()) return row[key].get<std::string>();
    if (row[key].is_number_float()) return fmt::format("{:.0f}", row[key].get<double>());
    return row[key].dump();
  };
  for (const auto& row : json["show"])
    out += CsvField(text(row, "dataset")) + "," + CsvField(text(row, "partition")) + "," + text(row, "rows") +
           "," + text(row, "distinct_keys") + "," + at + "\n";
}

}  // namespace

std::vector<CountQuery> CountQueries(const RecordedPlan& plan) {
  std::vector<CountQuery> out;
  std::set<std::string> said;
  for (const RecordedStep& step : plan.steps)
    for (const RecordedCheck& check : step.after_run)
      if (check.kind == "sql" && StartsWith(check.name, "rows per partition") &&
          said.insert(check.text).second)
        out.push_back({step.cells.dataset, check.text});
  return out;
}

std::string RunCounts(const Arguments& a, const RecordedPlan& plan) {
  const std::vector<CountQuery> queries = CountQueries(plan);
  if (queries.empty())
    throw Error(plan.path +
                ": error: no step of the plan has a query for its counts\n  the platform of its tables is "
                "not known: give counts files (--before, --after)");
  const std::string at = FormatInstant(ClockNow());
  const std::string connect = a.value("connect").value_or("");
  std::string out = kHeader;
  for (const CountQuery& query : queries) {
    const std::size_t columns = query.sql.find("distinct_keys") == std::string::npos ? 3 : 4;
    if (StartsWith(connect, "postgres://") || StartsWith(connect, "postgresql://")) {
      TakeCsv(
          OutputOf({"psql", connect, "-X", "-q", "-v", "ON_ERROR_STOP=1", "--csv", "-t", "-c", query.sql}),
          columns, at, out);
    } else if (StartsWith(connect, "duckdb:")) {
      TakeCsv(OutputOf({"duckdb", "-readonly", "-csv", "-noheader", connect.substr(7), "-c", query.sql}),
              columns, at, out);
    } else if (connect.empty()) {
      std::vector<std::string> words = {"dbt", "--quiet", "show", "--output", "json", "--limit", "-1"};
      for (const char* option : {"project-dir", "profiles-dir", "target"})
        if (const auto value = a.value(option))
          words.insert(words.end(), {std::string("--") + option, *value});
      words.insert(words.end(), {"--inline", query.sql});
      TakeDbt(OutputOf(std::move(words)), at, out);
    } else {
      throw Error(
          fmt::format("backreach: error: --connect '{}' is no connection\n  write postgresql://user@host/db, "
                      "duckdb:FILE, or leave it out for dbt's profile",
                      connect));
    }
  }
  return out;
}

}  // namespace backreach
