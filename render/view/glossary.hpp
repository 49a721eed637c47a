// The words of the output, each in a sentence or two.
#pragma once

#include <vector>

namespace backreach {

struct GlossaryWord {
  const char* word;
  const char* meaning;
};
// Sorted by word.
const std::vector<GlossaryWord>& Glossary();

}  // namespace backreach
