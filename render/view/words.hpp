// Layout of text for people.
#pragma once

#include <string>
#include <string_view>

namespace backreach {

// How many columns a UTF-8 text takes (combining marks none, wide characters two).
std::size_t Columns(std::string_view text);
// `text` wrapped at blanks to `width`; its first line begins at column `at`, the following ones are indented
// to `indent` (default: the same column). Words are never cut.
std::string Wrapped(const std::string& text, int width, std::size_t at, int indent = -1);
// Who owns something and where to reach them, "" where nobody is named: "Ann, ann@shop.example". An owner
// known by an address alone is named once.
std::string OwnerText(const std::string& owner, const std::string& contact, std::string_view before,
                      std::string_view behind);
// For HTML, SVG and DOT's HTML-like labels.
std::string XmlEscaped(std::string_view text);

}  // namespace backreach
