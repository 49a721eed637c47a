// The audit for people.
#pragma once

#include <string>

#include "analysis/audit.hpp"
#include "render/view/text.hpp"

namespace backreach {

std::string AuditText(const LineageGraph& graph, const Audit& audit, const TextStyle& style);

}  // namespace backreach
