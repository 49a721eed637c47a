// backreach help TOPIC: longer texts than --help has room for.

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/help_topics.hpp"
#include "cli/output.hpp"

namespace backreach {

Command HelpCommand() {
  return {"help",
          "TOPIC",
          1,
          1,
          "a longer text: every key of the registry",
          "  backreach help registry\n"
          "  backreach help registry | less",
          {},
          [](const Arguments& a) {
            if (a.words[0] != "registry")
              throw Error(
                  fmt::format("backreach: error: no help on '{}'\n"
                              "  there is: backreach help registry; of a command: backreach COMMAND --help",
                              a.words[0]));
            WriteOut(a, kRegistryReference);
            return Status::kDone;
          }};
}

}  // namespace backreach
