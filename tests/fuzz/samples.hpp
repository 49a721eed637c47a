// Files to be mutated that are made here: the forms of Airflow's table, a registry with every key, a plan.
#pragma once

#include <string>
#include <vector>

namespace backreach {

// An input of a tool: `file`, where its name or folder matters; `dialect`, as the importer's option.
struct ToolSample {
  const char* importer;
  std::string text;
  const char* option = nullptr;
  const char* file = "input";
  const char* dialect = nullptr;
};
std::vector<ToolSample> ToolSamples();
// Lines of `{"dag_id": .., "data": ..}` in every form that people have the table in: as they are, one
// document by itself, compressed columns, and dumps of SQLite and PostgreSQL with and without compression.
std::vector<std::string> AirflowForms(const std::string& lines);
// The examples of REGISTRY.md, each a registry.
std::vector<std::string> RegistryExamples(const std::string& markdown);
// A plan file with a step of each engine.
std::string SamplePlan();

}  // namespace backreach
