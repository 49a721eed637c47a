// backreach hazard: what a code means and what to do.

#include <fmt/format.h>

#include "analysis/hazards/hazard.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "graph/base/words.hpp"
#include "render/view/words.hpp"

namespace backreach {

namespace {

Status Run(const Arguments& a) {
  if (a.words.empty()) {
    std::string text;
    for (const HazardKind& kind : HazardKinds())
      text += fmt::format("{:<26} {:<9} {}\n", kind.code, ToString(kind.usual),
                          Wrapped(kind.when, TerminalWidth(), 37));
    WriteOut(a, text);
    return Status::kDone;
  }
  const HazardKind* kind = FindHazardKind(a.words[0]);
  if (!kind) {
    std::vector<std::string> codes;
    for (const HazardKind& k : HazardKinds()) codes.push_back(k.code);
    const auto near = Nearest(a.words[0], codes);
    throw Error(fmt::format("backreach: error: no hazard is called '{}'{}\n  all of them: backreach hazard",
                            a.words[0], near.empty() ? "" : "\n  nearest: " + Join(near, ", ")));
  }
  const int width = TerminalWidth();
  WriteOut(a, fmt::format("{} ({})\n  when     {}\n  then     {}\n  do       {}\n  accept   with the plan's "
                          "words: --accept {}[:DATASET]\n",
                          kind->code, ToString(kind->usual), Wrapped(kind->when, width, 11),
                          Wrapped(kind->outcome, width, 11), Wrapped(kind->remedy, width, 11), kind->code));
  return Status::kDone;
}

}  // namespace

Command HazardCommand() {
  return {"hazard",
          "CODE",
          0,
          1,
          "what a hazard means, what happens if nobody acts, and what to do",
          "  backreach hazard append-duplicates\n"
          "  backreach hazard",
          {},
          Run};
}

}  // namespace backreach
