// backreach export: the whole graph as JSON.

#include "cli/command.hpp"
#include "cli/loaded.hpp"
#include "cli/output.hpp"
#include "render/plan_file/json.hpp"

namespace backreach {

Command ExportCommand() {
  using Kind = OptionSpec::Kind;
  return {"export",
          "",
          0,
          0,
          "the whole graph as JSON: for other tools, and for a diff between two days",
          "  backreach export --out graph.json\n"
          "  backreach export | jq '.edges | length'",
          std::vector<OptionSpec>{{Kind::kValue, "out", "FILE", "write to this file"},
                                  {Kind::kValue, "as-of", "WHEN",
                                   "by what the store held then: an instant, or a date (its end, UTC)"}} +
              CommonOptions(),
          [](const Arguments& a) {
            WriteOut(a, GraphJson(LoadGraph(a).graph));
            return Status::kDone;
          }};
}

}  // namespace backreach
