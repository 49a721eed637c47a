// The layout of the store (schema.md says what a person finds in it).
#pragma once

namespace backreach {

// `PRAGMA application_id` of a store: "bkrc".
inline constexpr int kApplicationId = 0x626B7263;

// `PRAGMA user_version`: the layout that this program writes.
inline constexpr int kLayout = 6;

extern const char* const kSchema;     // makes it in an empty file
extern const char* const kRunTables;  // and the log of runs beside, which came with layout 6

}  // namespace backreach
