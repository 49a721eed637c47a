// Small text helpers that every layer shares: nearest names, safe printing, joining.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace backreach {

// Candidates close to `given` (edit distance, or one contains the other), nearest first, at most `most`.
std::vector<std::string> Nearest(std::string_view given, const std::vector<std::string>& candidates,
                                 std::size_t most = 3);

// What a terminal would obey or not show (controls, line breaks, direction marks, invisible characters) in a
// visible form: `␊`, `<U+202E>`; bytes that are no UTF-8 as `\xFF`.
std::string Printable(std::string_view text);

std::string Join(const std::vector<std::string>& parts, std::string_view separator);
// "a, b and c"; past `most`, "a, b and 7 more".
std::string ListOf(const std::vector<std::string>& parts, std::size_t most = 5);
std::string Lower(std::string_view text);  // ASCII only
std::string Upper(std::string_view text);  // ASCII only
std::vector<std::string> Split(std::string_view text, char separator);
bool StartsWith(std::string_view text, std::string_view prefix);
bool EndsWith(std::string_view text, std::string_view suffix);
std::string BaseName(std::string_view path);
// A word quoted for a shell, where it needs it. Characters that no terminal shows as they are make it one of
// bash, ksh and zsh: $'a\x0Ab'. A byte 0 is in no word: who makes a line leaves such names out.
std::string ShellWord(std::string_view text);
// "1 step", "3 steps", with thousands separators: "1,234 cells".
std::string Plural(std::int64_t n, std::string_view word);
std::string Thousands(std::int64_t n);

}  // namespace backreach
