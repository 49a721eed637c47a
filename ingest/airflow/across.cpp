#include "ingest/airflow/across.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "graph/base/words.hpp"

namespace backreach {

namespace {

constexpr int kDeepest = 32;

bool IsTemplate(const std::string& text) { return text.find("{{") != std::string::npos; }
std::string LastPart(const std::string& path) { return path.substr(path.rfind('.') + 1); }

std::string Expression(const Json& j, int depth) {
  const std::string type = TypeOf(j);
  const Json& v = Unwrap(j);
  const bool all = type == "asset_all" || type == "dataset_all",
             any = type == "asset_any" || type == "dataset_any";
  if (!all && !any) return TextAt(v, {"uri", "name"}).value_or("?");
  const Json* objects = Find(v, {"objects"});
  if (!objects || !objects->is_array() || depth > kDeepest) return "?";
  std::vector<std::string> parts;
  for (const Json& item : *objects) {
    const std::string inner = TypeOf(item);
    const bool group = inner.find("_all") != std::string::npos || inner.find("_any") != std::string::npos;
    const std::string text = Expression(item, depth + 1);
    parts.push_back(group && objects->size() > 1 ? "(" + text + ")" : text);
  }
  return Join(parts, all ? " & " : " | ");
}

// The calendar unit of a mapper or window: `StartOfMonthMapper`, `ToDailyMapper`, `MonthWindow`.
std::string UnitOf(const std::string& name) {
  static constexpr std::pair<const char*, const char*> kUnits[] = {
      {"Hour", "hour"},   {"Day", "day"},         {"Daily", "day"}, {"Week", "week"},
      {"Month", "month"}, {"Quarter", "quarter"}, {"Year", "year"}};
  for (const auto& [word, unit] : kUnits)
    if (name.find(word) != std::string::npos) return unit;
  return "";
}

MappedReads ReadsOf(const Json& mapper, int depth) {
  const std::string name = LastPart(TypeOf(mapper));
  const Json& v = Unwrap(mapper);
  MappedReads out;
  out.how = name;
  if (name == "IdentityMapper" || name == "AllowedKeyMapper" ||
      (EndsWith(name, "Mapper") && (StartsWith(name, "StartOf") || StartsWith(name, "To")) &&
       !UnitOf(name).empty())) {
    out.reads = "\"same\"";  // keys are dates, and a period's start holds what begins in it
  } else if (name == "ChainMapper") {
    const Json* mappers = Find(v, {"mappers"});
    bool same = mappers && mappers->is_array() && !mappers->empty() && depth < kDeepest;
    for (const Json& one : same ? *mappers : Json::array())
      same = same && ReadsOf(one, depth + 1).reads == "\"same\"";
    out.reads = same ? "\"same\"" : "\"all\"";
  } else if (name == "RollupMapper" || name == "FanOutMapper") {
    const Json* window = Find(v, {"window"});
    const std::string kind = window ? LastPart(TypeOf(*window)) : "", unit = UnitOf(kind);
    const bool backward = window && TextAt(Unwrap(*window), {"direction"}) == "backward";
    if (unit.empty() || !EndsWith(kind, "Window"))
      out.reads = "\"all\"";
    else if (!backward)
      out.reads = "\"same\"";
    else  // the period that ends with the key, which is no calendar period: taken with its neighbour
      out.reads =
          fmt::format("{{\"window\":[{}],\"unit\":\"{}\"}}", name == "RollupMapper" ? "-1,0" : "0,1", unit);
  } else {
    out.reads = "\"all\"";  // a fixed key, products, classes of somebody's own
  }
  return out;
}

}  // namespace

Text ConditionText(const Json& condition) {
  const std::string text = Expression(condition, 0);
  return text.find(" & ") == std::string::npos ? Text() : Text(text);
}

std::map<std::string, MappedReads> ReadsOfMappers(const Json& timetable) {
  std::map<std::string, MappedReads> out;
  if (const Json* mapper = Find(timetable, {"default_partition_mapper"})) out[""] = ReadsOf(*mapper, 0);
  if (const Json* config = Find(timetable, {"partition_mapper_config"}); config && config->is_array())
    for (const Json& pair : *config) {
      if (!pair.is_array() || pair.size() != 2) continue;
      const Json& asset = Unwrap(pair[0]);
      for (const char* key : {"uri", "name"})
        if (const Text name = TextAt(asset, {key})) out[*name] = ReadsOf(pair[1], 0);
    }
  return out;
}

void AcrossDags::Add(const std::string& dag, const std::string& task, const Json& fields,
                     const TaskView& view, std::size_t job) {
  tasks_[dag][task] = job;
  const std::string type = TextAt(fields, {"task_type", "_task_type"}).value_or("");
  Relation r{Kind::kWaits, job, "", "", {}};
  if (type.find("TriggerDagRun") != std::string::npos) {
    r.kind = Kind::kStarts;
    r.dag = view.GetText({"trigger_dag_id"}).value_or("");
  } else if (type.find("ExternalTask") != std::string::npos) {
    r.kind = type.find("Marker") != std::string::npos ? Kind::kMarks : Kind::kWaits;
    r.dag = view.GetText({"external_dag_id"}).value_or("");
    r.group = view.GetText({"external_task_group_id"}).value_or("");
    std::set<std::string> ids;
    if (const Text one = view.GetText({"external_task_id"})) ids.insert(*one);
    if (const Json* several = view.Get({"external_task_ids"}); several && Unwrap(*several).is_array())
      for (const Json& id : Unwrap(*several))
        if (id.is_string()) ids.insert(id.get<std::string>());
    for (const std::string& id : ids)
      if (!IsTemplate(id)) r.tasks.push_back(id);
  }
  if (!r.dag.empty() && !IsTemplate(r.dag)) relations_.push_back(std::move(r));
}

std::vector<std::size_t> AcrossDags::Named(const Relation& r, const std::vector<JobFact>& jobs) const {
  std::vector<std::size_t> out;
  const auto dag = tasks_.find(r.dag);
  if (dag == tasks_.end()) return out;
  for (const auto& [task, job] : dag->second) {
    const bool named =
        !r.tasks.empty()   ? std::find(r.tasks.begin(), r.tasks.end(), task) != r.tasks.end()
        : !r.group.empty() ? StartsWith(task, r.group + ".")
        // A DAG that is started begins with the tasks that wait for none of its own.
        : r.kind == Kind::kStarts
            ? std::none_of(jobs[job].after.begin(), jobs[job].after.end(),
                           [&](const std::string& a) { return StartsWith(a, space_ + "/" + r.dag + "."); })
            : true;
    if (named) out.push_back(job);
  }
  return out;
}

void AcrossDags::Resolve(std::vector<JobFact>& jobs) const {
  std::vector<std::pair<std::size_t, std::string>> after;  // a job's place, and what it waits for
  for (const Relation& r : relations_) {
    const std::vector<std::size_t> others = Named(r, jobs);
    JobFact& job = jobs[r.job];
    for (const std::size_t other : others) {
      if (r.kind == Kind::kWaits) after.emplace_back(r.job, jobs[other].name);
      if (r.kind == Kind::kStarts) job.starts.push_back(jobs[other].name);
      if (r.kind != Kind::kWaits) after.emplace_back(other, job.name);
    }
    if (!others.empty()) continue;
    // Of a DAG that no file holds only the name is known.
    const std::string dag = space_ + "/" + r.dag;
    if (r.kind == Kind::kStarts) job.starts.push_back(dag);
    if (r.kind != Kind::kWaits) continue;
    for (const std::string& task : r.tasks) after.emplace_back(r.job, dag + "." + task);
    if (r.tasks.empty()) after.emplace_back(r.job, dag);
  }
  for (auto& [job, name] : after) jobs[job].after.push_back(std::move(name));
  for (JobFact& job : jobs) {
    std::sort(job.after.begin(), job.after.end());
    job.after.erase(std::unique(job.after.begin(), job.after.end()), job.after.end());
  }
}

}  // namespace backreach
