// A text as a value of YAML.
#pragma once

#include <string>

namespace backreach {

// In quotes where it would be read as something else; what would not be seen is written by its number.
std::string YamlText(const std::string& text);

}  // namespace backreach
