// How a dataset is cut in time, from what several sources say of its partitions.
#pragma once

#include <memory>
#include <vector>

#include "graph/facts/facts.hpp"
#include "graph/lineage/lineage.hpp"

namespace backreach {

class CalendarMaker {
 public:
  // Which of the facts stated what was taken; null where none did.
  struct Stated {
    const DatasetFact *grain = nullptr, *first = nullptr;
  };
  // Fills the dataset's grain, calendar, layout, first and last partition. `facts`: by rank, the best first.
  Stated Lay(const std::vector<const DatasetFact*>& facts, Dataset& dataset);

 private:
  std::vector<std::shared_ptr<const Layout>> layouts_;  // equal ones are one
};

}  // namespace backreach
