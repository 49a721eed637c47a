// The layouts of the store, oldest first: layout N is what the first N scripts make.
#pragma once

#include <vector>

namespace backreach {

// `PRAGMA application_id` of a store: "bkrc".
inline constexpr int kApplicationId = 0x626B7263;

const std::vector<const char*>& LayoutScripts();

}  // namespace backreach
