// Is a manifest older than the project that it stands in? Then it tells of code that is no more.
#pragma once

#include <string>

#include "graph/base/diagnostics.hpp"

namespace backreach {

// Warns where a file of the project's code was changed after the manifest was written. A manifest without a
// project around it (`dbt_project.yml` in its folder or the one above) is not judged.
void WarnIfStale(const std::string& manifest, Diagnostics& diagnostics);

}  // namespace backreach
