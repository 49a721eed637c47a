// backreach sources: what was ingested, and when.

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/output.hpp"
#include "graph/store/store.hpp"
#include "graph/words.hpp"
#include "render/json.hpp"

namespace backreach {

Command SourcesCommand() {
  using Kind = OptionSpec::Kind;
  return {
      "sources",
      "",
      0,
      0,
      "what was ingested, and when",
      "  backreach sources\n"
      "  backreach sources --format json --store prod.db",
      std::vector<OptionSpec>{{Kind::kValue, "format", "FORMAT", "text (default) or json"}} + CommonOptions(),
      [](const Arguments& a) {
        const std::string format = FormatOf(a, {"text", "json"}, "text");
        const Store store = Store::OpenForReading(StorePath(a));
        const auto sources = store.Sources();
        if (format == "json") {
          WriteOut(a, SourcesJson(sources));
          return Status::kDone;
        }
        std::string text;
        for (const Source& s : sources)
          text += fmt::format("{:<10} {:<24} {}  {}\n", s.kind, Printable(s.name), s.ingested_at,
                              s.sha256.substr(0, 12));
        if (text.empty()) text = "no source was ingested yet\n";
        WriteOut(a, text);
        return Status::kDone;
      }};
}

}  // namespace backreach
