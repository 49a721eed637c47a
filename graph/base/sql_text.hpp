// Texts and names inside a statement, as the platform reads them: in some a backslash escapes what follows.
#pragma once

#include <string>
#include <string_view>

namespace backreach {

std::string SqlString(std::string_view platform, std::string_view text);      // in single quotes
std::string SqlIdentifier(std::string_view platform, std::string_view name);  // always quoted
// Text inside a template of Jinja's, where `{{`, `{%` and `{#` would begin what is run.
std::string JinjaText(std::string_view text);

}  // namespace backreach
