// What the calls of dbt that jobs make write: their selections are asked of the dbt projects that are known.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/facts/facts.hpp"

namespace backreach {

class DbtProjects {
 public:
  // Of the sources that have nodes; they have to live as long.
  explicit DbtProjects(const std::vector<SourceFacts>& sources);
  ~DbtProjects();
  bool empty() const;

  struct Answer {
    std::vector<std::string> writes;  // unique ids, sorted
    std::string unknown;              // why nobody knows what it writes, in words; "" if `writes` is all
  };
  // A call is answered by the one project that it can mean; what leaves two open writes nothing and says so.
  Answer WritesOf(const DbtRunFact& run);
  // The unique ids of all kinds that a selector matches in any of the projects. `unknown`: why dbt would
  // refuse it.
  Answer Matching(const std::string& selector);

 private:
  struct Project;
  std::vector<std::unique_ptr<Project>> projects_;
  std::vector<Project*> Meant(const DbtRunFact& run, bool& told) const;
};

}  // namespace backreach
