// The audit for programs: the contract's JSON (audit.schema.json beside this file's room), and SARIF for
// code scanning.
#pragma once

#include <string>

#include "analysis/audit.hpp"

namespace backreach {

std::string AuditJson(const Audit& audit);
std::string AuditSarif(const Audit& audit);

}  // namespace backreach
