// A text as one value of YAML, also inside `{..}` and `[..]`.
#pragma once

#include <string>
#include <string_view>

namespace backreach {

// Bare where every reader of YAML takes it for a text, else in double quotes; what would not be seen is
// written by its number.
std::string YamlText(std::string_view text);
std::string YamlQuoted(std::string_view text);  // always in double quotes

}  // namespace backreach
