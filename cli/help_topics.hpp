// Texts of the project that the program carries along.
#pragma once

namespace backreach {

extern const char* const kRegistryReference;  // REGISTRY.md
extern const char* const kRegistrySchema;     // render/registry.schema.json

}  // namespace backreach
