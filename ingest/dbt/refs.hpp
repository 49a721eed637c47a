// What a microbatch model does with its refs before dbt can cut them to the batch.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ingest/dbt/sql.hpp"

namespace backreach {

// A ref or source of which only the name is taken (`ref('a').render()`): dbt's filter by batch is lifted.
struct RenderedRef {
  bool source = false;
  std::vector<std::string> words;  // of ref('a'), ref('package', 'a'), source('raw', 'a'); none: not known
  std::string version;             // of ref('a', v=2)
  int line = 0;                    // of the model's code, from 1
  std::string macro;               // that the model calls there and that does it, "" if the model does
};

// In order of lines. `macros`: the project's own; their bodies are followed with what calls give them, and
// what cannot be followed to a ref has no words.
std::vector<RenderedRef> FindRenderedRefs(std::string_view sql, const MacroBodies& macros);

}  // namespace backreach
