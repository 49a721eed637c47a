// The JSON form of `reads` that export, plans and the store share: "same", {"window": [-6, 0], "unit":
// "day"}.
#pragma once

#include <optional>
#include <string>

#include "graph/reads.hpp"

namespace backreach {

// Null for an unknown mapping (JSON `null`).
std::optional<std::string> ReadsToJson(const Reads& reads);
// Nothing if the text is no such form.
std::optional<Reads> ReadsFromJson(const std::string& text);

}  // namespace backreach
