// The registry's blocks, for other importers whose files carry them (dbt's `meta.backreach`).
#pragma once

#include <string>

#include "graph/base/diagnostics.hpp"
#include "graph/facts/facts.hpp"

namespace backreach {

// `text` is YAML or JSON of one dataset block (or copy block) without its name; `where` is printed in
// messages. What it states overrides what `fact` holds; faults are reported as warnings and the rest is
// taken.
void ReadDatasetBlock(const std::string& text, const std::string& where, DatasetFact& fact,
                      Diagnostics& diagnostics);
void ReadCopyBlock(const std::string& text, const std::string& where, CopyFact& fact,
                   Diagnostics& diagnostics);

}  // namespace backreach
