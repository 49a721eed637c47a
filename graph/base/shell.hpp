// Lines of shell, as far as they are taken apart: words that ShellWord quoted, and where a word may be put
// in.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace backreach {

// The words of a line that is nothing but words as ShellWord writes them, joined by single spaces. Nothing if
// it is anything else: such a line is never run in the belief that it calls one program.
std::optional<std::vector<std::string>> ShellWords(std::string_view line);
std::string ShellLine(const std::vector<std::string>& words);  // the other way

// In what a place of a line stands. kUnknown: in a comment, a here-document, backticks, `$'..'`, `${..}`,
// arithmetic, or behind anything that only a whole shell could read.
enum class ShellPlace { kUnknown, kBare, kSingleQuotes, kDoubleQuotes };
std::vector<ShellPlace> ShellPlaces(std::string_view line,
                                    const std::vector<std::size_t>& places);  // ascending
// Whether a word may be put at all places of a placeholder, of which there is one at least; `${name}` is the
// shell's own.
bool StandsBare(std::string_view line, std::string_view name);

}  // namespace backreach
