// Counts before and after, for people, programs and pictures.
#pragma once

#include <string>

#include "analysis/after/verify.hpp"

namespace backreach {

std::string VerifyText(const Verification& verification, int width, bool all);
std::string VerifyJson(const Verification& verification);
// Rows per partition, before and after, a chart for each dataset.
std::string VerifySvg(const Verification& verification);

}  // namespace backreach
