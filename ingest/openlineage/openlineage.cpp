// OpenLineage's events: files of one event, an array, {"events": []}, JSON lines, or standard input.

#include <fmt/format.h>

#include "graph/base/words.hpp"
#include "ingest/importer.hpp"
#include "ingest/openlineage/events.hpp"
#include "ingest/openlineage/facts.hpp"
#include "ingest/openlineage/ledger.hpp"
#include "ingest/read/json_stream.hpp"

namespace backreach {

namespace {

using namespace openlineage;

// False if the input cannot be read, or holds something that is no JSON.
bool ReadEvents(const std::string& path, EventReader& reader, Diagnostics& diagnostics) {
  auto stream = JsonStream::Open(path, "events", diagnostics);
  if (!stream) return false;
  std::string_view document;
  std::size_t events = 0;
  const std::size_t before = diagnostics.items().size();
  while (stream->Next(document)) {
    ++events;
    std::string fault = reader.Read(document);
    if (!fault.empty() && stream->Longer(document)) fault = reader.Read(document);
    if (fault.empty()) continue;
    diagnostics.Error(stream->Where(), "an event " + fault,
                      {"nothing was changed: take the line out, or fetch the file again"});
    return false;
  }
  if (diagnostics.items().size() > before && diagnostics.has_errors()) return false;
  if (events == 0) diagnostics.Error(path == "-" ? "standard input" : path, "holds no event");
  return stream->Settled() && events > 0;
}

std::vector<SourceFacts> Run(const ImportRequest& request, Diagnostics& diagnostics) {
  const auto given = request.options.find("name");
  const std::string name = given == request.options.end() ? "events" : given->second.back();
  Ledger ledger;
  EventReader reader(ledger);
  for (const std::string& path : request.inputs)
    if (!ReadEvents(path, reader, diagnostics)) return {};
  if (reader.left_out() > 0)
    diagnostics.Warning(request.inputs[0],
                        fmt::format("{} with neither a job nor a dataset: left out",
                                    Plural(static_cast<std::int64_t>(reader.left_out()), "event")));
  if (reader.without_time() > 0)
    diagnostics.Warning(request.inputs[0],
                        fmt::format("{} without an eventTime: when they were seen is unknown",
                                    Plural(static_cast<std::int64_t>(reader.without_time()), "event")));
  if (ledger.trimmed() > 0)
    diagnostics.Note(
        request.inputs[0],
        fmt::format("blanks at the ends of {} were trimmed: '{}'",
                    Plural(static_cast<std::int64_t>(ledger.trimmed()), "name"), ledger.trimmed_example()));
  if (diagnostics.has_errors()) return {};
  std::vector<SourceFacts> out(1);
  out[0].source = {"openlineage", name, name, "", ""};
  out[0].facts = FactsOf(ledger);
  return out;
}

// Two ledgers are one: what each saw of a run is put together, and said anew.
void Merge(Facts& before, Facts& given) {
  Ledger ledger;
  ledger.Unpack(before.observed);
  ledger.Unpack(given.observed);
  given = FactsOf(ledger);
}

}  // namespace

Importer OpenLineageImporter() {
  return {"openlineage",
          "FILE...",
          "OpenLineage events: JSON lines, one event, an array or {\"events\": []}; - is standard input",
          "  backreach ingest openlineage events.ndjson\n"
          "  backreach ingest openlineage - --name prod < events.ndjson",
          true,
          {{"name", "what these events are called together (default: events); each name adds up by itself",
            false}},
          Run,
          true,
          Merge};
}

}  // namespace backreach
