// Only what tells a period, a state and a name is looked at; files of other versions have other members
// beside.

#include "ingest/runs/runs.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "graph/base/words.hpp"
#include "graph/time/time.hpp"

namespace backreach {

namespace {

using Json = nlohmann::json;
using State = RunSeen::State;

std::string TextOf(const Json& j, const char* key) {
  if (!j.is_object() || !j.contains(key)) return "";
  const Json& value = j[key];
  return value.is_string() ? value.get<std::string>() : "";
}

std::optional<Instant> InstantOf(std::string text) {
  if (text.empty()) return std::nullopt;
  if (text.size() > 10 && text[10] == ' ') text[10] = 'T';
  // Fractions of a second tell nothing here.
  if (const std::size_t dot = text.find('.'); dot != std::string::npos) {
    std::size_t end = dot + 1;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
    text.erase(dot, end - dot);
  }
  if (text.size() == 10) text += "T00:00:00";
  return ParseInstant(text, true);
}

// Of two ends, where both are there and in order.
void AddSpan(const std::optional<Instant>& a, const std::optional<Instant>& b, std::vector<Span>& out) {
  if (a && b && *a < *b) out.push_back({*a, *b});
}

void AddBatches(const Json& result, RunSeen& run) {
  if (!result.contains("batch_results") || !result["batch_results"].is_object()) return;
  for (const bool good : {true, false}) {
    const Json& batches = result["batch_results"];
    const char* key = good ? "successful" : "failed";
    if (!batches.contains(key) || !batches[key].is_array()) continue;
    for (const Json& b : batches[key])
      if (b.is_array() && b.size() >= 2 && b[0].is_string() && b[1].is_string())
        AddSpan(InstantOf(b[0].get<std::string>()), InstantOf(b[1].get<std::string>()),
                good ? run.done : run.failed);
  }
}

// --vars as dbt keeps them: an object, or the text that was typed.
std::map<std::string, std::string> VarsOf(const Json& args) {
  std::map<std::string, std::string> out;
  if (!args.is_object() || !args.contains("vars")) return out;
  Json vars = args["vars"];
  if (vars.is_string()) vars = Json::parse(vars.get<std::string>(), nullptr, false);
  if (!vars.is_object()) return out;
  for (const auto& [name, value] : vars.items())
    out[name] = value.is_string() ? value.get<std::string>() : value.dump();
  return out;
}

std::optional<Json> Parsed(const std::string& text, const std::string& path, Diagnostics& diagnostics) {
  Json j = Json::parse(text, nullptr, false);
  if (!j.is_discarded()) return j;
  diagnostics.Error(path, "is no JSON", {"give the file as its tool wrote it"});
  return std::nullopt;
}

State AirflowState(const std::string& word) {
  if (word == "success") return State::kDone;
  if (word == "failed" || word == "upstream_failed") return State::kFailed;
  return word == "skipped" || word == "removed" ? State::kSkipped : State::kRunning;
}

RunSeen AirflowRun(const Json& j, const std::string& file) {
  RunSeen run;
  run.engine = "airflow";
  run.name = TextOf(j, "dag_id");
  run.task = TextOf(j, "task_id");
  const std::string state = TextOf(j, "state");
  run.state = AirflowState(state);
  for (const char* key : {"logical_date", "execution_date", "partition_date"})
    if (!run.date) run.date = InstantOf(TextOf(j, key));
  std::vector<Span> interval;
  AddSpan(InstantOf(TextOf(j, "data_interval_start")), InstantOf(TextOf(j, "data_interval_end")), interval);
  (run.state == State::kFailed ? run.failed : run.done) = interval;
  run.ended = InstantOf(TextOf(j, "end_date"));
  run.said = fmt::format("{}: {}{} {}: {}", file, run.name, run.task.empty() ? "" : "." + run.task,
                         run.date ? FormatInstant(*run.date) : TextOf(j, "dag_run_id"),
                         state.empty() ? "no state" : state);
  return run;
}

void OpenLineageEvent(const Json& e, const std::string& file, std::vector<RunSeen>& out) {
  const std::string type = TextOf(e, "eventType");
  if (!e.is_object() || !e.contains("outputs") || !e["outputs"].is_array()) return;
  if (type != "COMPLETE" && type != "FAIL" && type != "ABORT") return;
  std::vector<Span> period;
  if (e.contains("run") && e["run"].is_object() && e["run"].contains("facets")) {
    const Json& facets = e["run"]["facets"];
    if (facets.is_object() && facets.contains("nominalTime"))
      AddSpan(InstantOf(TextOf(facets["nominalTime"], "nominalStartTime")),
              InstantOf(TextOf(facets["nominalTime"], "nominalEndTime")), period);
  }
  for (const Json& o : e["outputs"]) {
    RunSeen run;
    run.engine = "openlineage";
    const std::string space = TextOf(o, "namespace"), name = TextOf(o, "name");
    run.name = space.empty() || StartsWith(name, "/") ? space + name : space + "/" + name;
    run.state = type == "COMPLETE" ? State::kDone : State::kFailed;
    (run.state == State::kDone ? run.done : run.failed) = period;
    run.ended = InstantOf(TextOf(e, "eventTime"));
    run.said = fmt::format("{}: {} {}", file, type, TextOf(e.value("job", Json::object()), "name"));
    out.push_back(std::move(run));
  }
}

}  // namespace

std::vector<RunSeen> ReadDbtRuns(const std::string& text, const std::string& path, Diagnostics& diagnostics) {
  std::vector<RunSeen> out;
  const auto j = Parsed(text, path, diagnostics);
  if (!j) return out;
  if (!j->is_object() || !j->contains("results") || !(*j)["results"].is_array()) {
    diagnostics.Error(path, "is no run_results.json of dbt: it has no list 'results'");
    return out;
  }
  const Json args = j->value("args", Json::object());
  const auto vars = VarsOf(args);
  for (const Json& r : (*j)["results"]) {
    RunSeen run;
    run.engine = "dbt";
    run.name = TextOf(r, "unique_id");
    if (run.name.empty()) continue;
    const std::string status = TextOf(r, "status");
    run.state = status == "success"                        ? State::kDone
                : status == "skipped" || status == "no-op" ? State::kSkipped
                                                           : State::kFailed;
    run.vars = vars;
    if (args.is_object() && args.contains("full_refresh") && args["full_refresh"].is_boolean())
      run.full_refresh = args["full_refresh"].get<bool>();
    AddBatches(r, run);
    if (run.done.empty() && run.failed.empty())
      AddSpan(InstantOf(TextOf(args, "event_time_start")), InstantOf(TextOf(args, "event_time_end")),
              run.state == State::kFailed ? run.failed : run.done);
    if (r.contains("timing") && r["timing"].is_array())
      for (const Json& t : r["timing"])
        if (TextOf(t, "name") == "execute") run.ended = InstantOf(TextOf(t, "completed_at"));
    run.said = fmt::format("{}: {}", BaseName(path), status.empty() ? "no status" : status);
    out.push_back(std::move(run));
  }
  return out;
}

std::vector<RunSeen> ReadAirflowRuns(const std::string& text, const std::string& path,
                                     Diagnostics& diagnostics) {
  std::vector<RunSeen> out;
  const auto j = Parsed(text, path, diagnostics);
  if (!j) return out;
  std::vector<const Json*> lists;
  if (j->is_array()) lists.push_back(&*j);
  if (j->is_object())
    for (const char* key : {"dag_runs", "task_instances"})
      if (j->contains(key) && (*j)[key].is_array()) lists.push_back(&(*j)[key]);
  if (lists.empty()) {
    diagnostics.Error(path, "holds no runs of Airflow: neither dag_runs nor task_instances nor a list",
                      {"export them: GET /api/v2/dags/DAG/dagRuns, or airflow dags list-runs -o json"});
    return out;
  }
  for (const Json* list : lists)
    for (std::size_t i = 0; i < list->size(); ++i) {
      RunSeen run = AirflowRun((*list)[i], BaseName(path));
      if (run.name.empty())
        diagnostics.Error(fmt::format("{}: /{}", path, i), "a run without dag_id");
      else
        out.push_back(std::move(run));
    }
  return out;
}

std::vector<RunSeen> ReadOpenLineageRuns(const std::string& text, const std::string& path,
                                         Diagnostics& diagnostics) {
  std::vector<RunSeen> out;
  Json j = Json::parse(text, nullptr, false);
  if (j.is_discarded()) {  // one event a line
    j = Json::array();
    std::size_t line = 0;
    for (const std::string& part : Split(text, '\n')) {
      ++line;
      if (part.find_first_not_of(" \t\r") == std::string::npos) continue;
      Json event = Json::parse(part, nullptr, false);
      if (event.is_discarded()) {
        diagnostics.Error(fmt::format("{}:{}", path, line), "is no JSON: an event a line was expected");
        return out;
      }
      j.push_back(std::move(event));
    }
  }
  if (j.is_object() && j.contains("events")) j = Json(j["events"]);
  if (j.is_object()) j = Json::array({j});
  if (!j.is_array()) {
    diagnostics.Error(path, "holds no events of OpenLineage");
    return out;
  }
  for (const Json& e : j) OpenLineageEvent(e, BaseName(path), out);
  return out;
}

}  // namespace backreach
