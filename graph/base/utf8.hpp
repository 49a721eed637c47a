// UTF-8, strictly: no overlong forms, no surrogates.
#pragma once

#include <cstddef>
#include <string_view>

namespace backreach {

// The length in bytes of the character that begins at `at`; 0 where none does.
std::size_t Utf8LengthAt(std::string_view text, std::size_t at);

}  // namespace backreach
