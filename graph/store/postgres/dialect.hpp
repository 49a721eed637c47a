// The store's SQL, which is written for SQLite, as PostgreSQL wants it.
#pragma once

#include <string>
#include <string_view>

namespace backreach::postgres {

// `?` becomes `$1`, `$2`, ... outside of quotes.
std::string NumberPlaces(std::string_view sql);
// Types and table options of the store's own statements: numbers are bigint, texts compare byte by byte, an
// `id` that is a key counts up by itself. What is no definition stays as it is.
std::string Definitions(std::string_view sql);
// A text as PostgreSQL can keep it: bytes that are no UTF-8, and NUL, become `\xFF`. True texts stay as they
// are.
std::string Keepable(std::string_view text);
// A value of a row in the text form of COPY.
void AppendForCopy(std::string_view text, std::string& out);

}  // namespace backreach::postgres
