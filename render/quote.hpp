// A text inside another language, one function a target. A shell's words are quoted by ShellWord
// (graph/base/words.hpp), SQL's texts and names by graph/base/sql_text.hpp, HTML and XML by XmlEscaped
// (render/view/words.hpp).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace backreach {

std::string ShellQuoted(std::string_view text);  // always in quotes
// A line of shell with its placeholders filled in: a value is quoted as the quotes around it want. `${name}`
// is the shell's own and stays. Nothing where a value that needs quotes stands in what is not read here (see
// ShellPlaces).
std::optional<std::string> ShellFilled(const std::string& line,
                                       const std::vector<std::pair<std::string, std::string>>& values);
std::string PythonText(std::string_view text);
std::string JsonText(std::string_view text);  // YAML reads it alike
// A relation's parts as the platform quotes them.
std::string SqlName(const std::string& platform, const std::vector<std::string>& parts);
// Bash in a field of Airflow's that is a Jinja template, where a text that ends in .sh would be a file.
std::string AirflowBash(std::string_view text);

}  // namespace backreach
