// The JSON form of `reads` that export, plans and the store share: "same", {"window": [-6, 0], "unit":
// "day"}.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/reads/reads.hpp"

namespace backreach {

// Null for an unknown mapping (JSON `null`).
std::optional<std::string> ReadsToJson(const Reads& reads);
// Nothing if the text is no such form.
std::optional<Reads> ReadsFromJson(const std::string& text);
// The same where an edge may read by several at once: one of these forms, or a list of them (the union).
// Empty if the text is no such form.
std::vector<Reads> ReadsListFromJson(const std::string& text);
std::optional<std::string> ReadsListToJson(const std::vector<Reads>& reads);

}  // namespace backreach
