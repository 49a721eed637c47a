// What every importer is: outside formats in, facts out. Importers are pure: they read files and return facts
// and diagnostics; they never see the store, and never throw for content.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graph/base/diagnostics.hpp"
#include "graph/facts/facts.hpp"

namespace backreach {

struct ImportRequest {
  std::vector<std::string> inputs;  // files or folders, as given
  std::map<std::string, std::vector<std::string>>
      options;  // without dashes: "catalog" -> {"target/catalog.json"}
};

struct ImportOption {
  const char* name;  // "catalog"
  const char* help;
  bool repeatable = false;
  const char* placeholder = "NAME";
};

struct Importer {
  const char* name;      // "dbt"
  const char* argument;  // "MANIFEST|FOLDER"
  const char* summary;
  const char* examples;  // two lines, each a command
  bool many_inputs;
  std::vector<ImportOption> options;
  // Facts by source; none of them count if `diagnostics` has an error.
  std::vector<SourceFacts> (*run)(const ImportRequest& request, Diagnostics& diagnostics);
  // Each ingest adds to what the same source said before (events, query history) in place of replacing it.
  bool adds_up = false;
  // How what was said before goes into what is given, where it is not fact by fact.
  void (*merge)(Facts& before, Facts& given) = nullptr;
};

// In the order in which help lists them. A new importer is one file and one line in importers.cpp.
const std::vector<Importer>& Importers();

// One per file; each is defined in the file of its format.
Importer DbtImporter();
Importer AirflowImporter();
Importer DagsterImporter();
Importer SqlMeshImporter();
Importer BqetlImporter();
Importer ArgoImporter();
Importer KestraImporter();
Importer OpenLineageImporter();
Importer RegistryImporter();
Importer QueriesImporter();

// A registry that is at hand as text; nothing where something in it is wrong. `file` is what its places name.
std::optional<SourceFacts> ReadRegistryText(const std::string& file, const std::string& text,
                                            Diagnostics& diagnostics);

}  // namespace backreach
