// Selectors that mean one node each.
#pragma once

#include <string>
#include <vector>

namespace backreach {

// How a node is named to `dbt --select` by its fully qualified name, so that nothing else is taken along:
// `pkg.orders` also takes what lies in a folder `orders`, and what another package has under the same path.
// Where no selector takes the node alone, it is left empty.
struct DbtSelectable {
  std::string* selector;  // the name on the way in, parts joined by dots
  std::string package;
};
void MakeSelectorsExact(std::vector<DbtSelectable>& nodes);

}  // namespace backreach
