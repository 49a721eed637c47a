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
          "a longer text: every key of the registry, or its JSON Schema",
          "  backreach help registry\n"
          "  backreach help registry-schema > registry.schema.json",
          {},
          [](const Arguments& a) {
            const bool schema = a.words[0] == "registry-schema";
            if (a.words[0] != "registry" && !schema)
              throw Error(
                  fmt::format("backreach: error: no help on '{}'\n"
                              "  there is: backreach help registry, backreach help registry-schema; of a "
                              "command: backreach COMMAND --help",
                              a.words[0]));
            WriteOut(a, schema ? kRegistrySchema : kRegistryReference);
            return Status::kDone;
          }};
}

}  // namespace backreach
