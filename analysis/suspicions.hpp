// How a dataset may be cut in time, where nobody said it: a guess with its evidence, for a person to say yes
// or no to. Nothing is ever planned with it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/lineage/lineage.hpp"

namespace backreach {

struct GrainEvidence {
  enum class Kind {
    kColumn,     // the source names the column, and no unit
    kPartition,  // the adapter partitions by it
    kWatermark,  // an ordinary run takes what is newer than its newest
    kKey,        // rows are replaced by it
    kUnique,     // a test says that rows are unique by it, alone or with others: `detail`
    kCut,        // the query cuts it to the unit
    kReader,     // readers take what cuts them from it
    kDays,       // it holds days
    kType,       // its type in the catalog: `detail`
    kCluster,
    kSort,
    kLoaded  // it says when rows were loaded, which need not be what they are about
  };
  Kind kind;
  std::string detail;
};

struct GrainGuess {
  std::string column;  // lower case
  Grain grain;
  int weight = 0;  // how much speaks for it, for comparing guesses alone
  std::vector<GrainEvidence> evidence;
  std::vector<std::string> others;  // columns for which about as much speaks
};

// Nothing where the grain is known or too little speaks for any column.
std::optional<GrainGuess> GuessGrain(const Dataset& dataset);

}  // namespace backreach
