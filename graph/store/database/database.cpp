#include "graph/store/database/database.hpp"

#include "graph/base/error.hpp"

namespace backreach {

void RefuseStore(const std::string& path, const std::string& why) {
  throw Error(path + ": error: " + why + "\n  the file was not touched", Status::kStore);
}

void StoreDamaged(const std::string& path, const std::string& what) {
  throw Error(path + ": error: the store is damaged (" + what +
                  ")\n"
                  "  move it away and ingest the sources again",
              Status::kStore);
}

}  // namespace backreach
