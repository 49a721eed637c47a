// Texts of the project that the program carries along.
#pragma once

namespace backreach {

extern const char* const kRegistryReference;  // REGISTRY.md

}  // namespace backreach
