// Which runs of an Airflow DAG write a step's cells, and the commands that make exactly these. A run belongs
// to cells by its data interval, which need be no cell: it may begin at another hour, be shorter, or be
// longer.
#pragma once

#include <optional>
#include <vector>

#include "analysis/plan/plan.hpp"
#include "graph/lineage/lineage.hpp"

namespace backreach {

// A DAG's task among the jobs that write a dataset: null where the job is not Airflow's.
struct AirflowTask {
  std::string dag, task;
};
std::optional<AirflowTask> AirflowTaskOf(const Job& job);
// What runs and is paused as one: `shop/nightly` for the job `shop/nightly.load`, since two installations may
// have a DAG of one id. Of other jobs their name.
std::string RunsAs(const Job& job);

// Runs without a gap, as a backfill takes them: the first and the last of the dates that the command
// compares, both included. These are logical dates; ticks for triggers, whose data interval ends there; dates
// of partitions.
struct AirflowStretch {
  Instant first, last;
};

struct AirflowRuns {
  std::vector<AirflowStretch> stretches;
  SpanSet written;       // all that these runs write, not yet widened to cells
  bool known = true;     // which cells a run writes is known: by its data interval, or declared
  bool periodic = true;  // commands with a period exist; else the rest is empty
};

// The runs that write the step's cells; not periodic where the DAG takes no dates or nobody knows which it
// has.
AirflowRuns RunsFor(const LineageGraph& graph, const Job& job, const Step& step);

// Adds a method for each Airflow task that writes the step's dataset. `effect`: of a run that covers the
// cells.
void AirflowMethods(const LineageGraph& graph, Effect effect, Step& step);

}  // namespace backreach
