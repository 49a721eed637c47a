// Relations between DAGs: sensors, markers and triggers, resolved when all DAGs are read. And what a schedule
// on assets says: the condition, and which partitions of an asset a run reads.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ingest/airflow/task.hpp"

namespace backreach {

class AcrossDags {
 public:
  explicit AcrossDags(std::string space) : space_(std::move(space)) {}
  // A task of a DAG: what it waits for, what waits for it, what it starts. Templates are reported elsewhere.
  void Add(const std::string& dag, const std::string& task, const Json& fields, const TaskView& view,
           std::size_t job);
  void Resolve(std::vector<JobFact>& jobs) const;

 private:
  enum class Kind { kWaits, kMarks, kStarts };
  struct Relation {
    Kind kind;
    std::size_t job;
    std::string dag, group;
    std::vector<std::string> tasks;  // none: all of the DAG, or of its group
  };
  std::vector<std::size_t> Named(const Relation& r, const std::vector<JobFact>& jobs) const;

  std::string space_;
  std::vector<Relation> relations_;
  std::map<std::string, std::map<std::string, std::size_t>> tasks_;  // by DAG and task
};

// `a & (b | c)` of an asset condition by names or URIs; nothing where it is any of them, or one.
Text ConditionText(const Json& condition);

// What a run of a partitioned schedule reads of each asset: by URI or name, in the contract's JSON form;
// under "" what holds for all others.
struct MappedReads {
  Text reads;
  std::string how;  // the mapper's name
};
std::map<std::string, MappedReads> ReadsOfMappers(const Json& timetable);

}  // namespace backreach
