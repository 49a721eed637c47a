// The list of importers: a new one is a line here.

#include "ingest/importer.hpp"

namespace backreach {

const std::vector<Importer>& Importers() {
  static const std::vector<Importer> importers = {
      DbtImporter(),     AirflowImporter(), OpenLineageImporter(), DagsterImporter(), SqlMeshImporter(), BqetlImporter(),
      ArgoImporter(),    KestraImporter(),  RegistryImporter(), QueriesImporter(),
  };
  return importers;
}

}  // namespace backreach
