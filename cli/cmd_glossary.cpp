// backreach glossary: what the words of the output mean.

#include <fmt/format.h>

#include "analysis/hazards/hazard.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "graph/base/words.hpp"
#include "render/view/glossary.hpp"
#include "render/view/words.hpp"

namespace backreach {

namespace {

Status Run(const Arguments& a) {
  const auto line = [](const GlossaryWord& w) {
    return fmt::format("{:<16} {}\n", w.word, Wrapped(w.meaning, TerminalWidth(), 17));
  };
  std::string text;
  if (a.words.empty()) {
    for (const GlossaryWord& w : Glossary()) text += line(w);
    WriteOut(a, text);
    return Status::kDone;
  }
  const std::string asked = Lower(Join(a.words, " "));
  std::vector<std::string> words;
  for (const GlossaryWord& w : Glossary()) {
    words.push_back(w.word);
    if (asked == w.word || asked == std::string(w.word) + "s") text += line(w);
  }
  if (text.empty() && FindHazardKind(asked))
    throw Error(fmt::format("backreach: error: '{}' is a hazard\n  see: backreach hazard {}", asked, asked));
  if (text.empty()) {
    const auto near = Nearest(asked, words);
    throw Error(
        fmt::format("backreach: error: the output has no word '{}'{}\n  all of them: backreach glossary",
                    Join(a.words, " "), near.empty() ? "" : "\n  nearest: " + Join(near, ", ")));
  }
  WriteOut(a, text);
  return Status::kDone;
}

}  // namespace

Command GlossaryCommand() {
  return {"glossary",
          "WORD",
          0,
          -1,
          "what the words of the output mean",
          "  backreach glossary wave\n"
          "  backreach glossary",
          {},
          Run};
}

}  // namespace backreach
