// A lineage graph as a test writes it down:
//
//   orders@day first=2026-01-01 writes=merge key=id
//   orders -> revenue@month: window -1 0
//   orders -> report@none
//   orders -> clean view -> shown@day
//   copy deck of revenue taken 2026-04-01 holds 2026-01-01 .. 2026-03-31
//   job nightly writes orders, revenue pool=warehouse cron=0-6-*-*-*
//   pool warehouse slots=2
//
// A line says a dataset with its words, or a chain of edges with the mapping of the last behind a colon
// (nothing: nobody stated one; the others of a chain are `same`). A dataset's words may stand wherever it is
// named first. `#` begins a comment.
#pragma once

#include <string>
#include <vector>

#include "analysis/plan/plan.hpp"
#include "analysis/request_text.hpp"
#include "graph/join/builder.hpp"

namespace backreach::test {

// What the notation says, as one source. Throws std::runtime_error with the line that it cannot read.
SourceFacts FactsOf(const std::string& text);

// A graph, and what is asked of it. Seen from 2026-04-20T09:00Z unless told otherwise.
class Asked {
 public:
  explicit Asked(const std::string& text) : built_(BuildGraph({FactsOf(text)})) {}
  RequestText request;
  std::vector<LoggedRun> log;  // of runs before
  // `orders 2026-03-01 .. 2026-03-02`, or `orders` for all of it.
  Plan Ask(const std::string& question);
  const LineageGraph& graph() const { return built_.graph; }

 private:
  BuiltGraph built_;
};

// The steps of a plan: `1 orders 2026-03-01`, `2 revenue 2026-03-01 .. 2026-04-01`, `3 report whole`; the
// waves are told by `|` between their lines.
std::string StepsOf(const Asked& asked, const Plan& plan);
std::string StepsOf(const std::string& graph, const std::string& question);
// `code dataset`, sorted, each once.
std::vector<std::string> HazardsOf(const Asked& asked, const Plan& plan);
bool Has(const Plan& plan, const std::string& code);

}  // namespace backreach::test
