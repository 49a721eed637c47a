// backreach sources: what was ingested, and when.

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/output.hpp"
#include "graph/base/words.hpp"
#include "graph/store/store.hpp"
#include "render/view/sources.hpp"

namespace backreach {

Command SourcesCommand() {
  using Kind = OptionSpec::Kind;
  return {
      "sources",
      "",
      0,
      0,
      "what was ingested, when, and in how many versions",
      "  backreach sources\n"
      "  backreach sources --format json --store prod.db",
      std::vector<OptionSpec>{{Kind::kValue, "format", "FORMAT", "text (default) or json"}} + CommonOptions(),
      [](const Arguments& a) {
        const std::string format = FormatOf(a, {"text", "json"}, "text");
        const Store store = Store::OpenForReading(StorePath(a));
        std::vector<SourceView> sources;
        for (const StoredSource& s : store.History()) {
          SourceView& view = sources.emplace_back(SourceView{s.kind, s.name, s.key, s.adds_up, {}});
          for (const StoredVersion& v : s.versions)
            view.versions.push_back({v.number, ParseInstant(v.ingested_at, true).value_or(0), v.sha256});
        }
        WriteOut(a, format == "json" ? SourcesJson(sources, ClockNow()) : SourcesText(sources, ClockNow()));
        return Status::kDone;
      }};
}

}  // namespace backreach
