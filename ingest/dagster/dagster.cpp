// Dagster's asset graph, a source for each code location.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "graph/base/digest.hpp"
#include "graph/base/words.hpp"
#include "ingest/dagster/assets.hpp"
#include "ingest/importer.hpp"
#include "ingest/read/file.hpp"

namespace backreach {

namespace {

using dagster::Asset;
using dagster::Json;

constexpr std::size_t kMostBytes = std::size_t{2} << 30;

// GraphQL's own answer to a query that it refused.
std::string Refusal(const Json& document) {
  const Json* errors = dagster::Find(document, "errors");
  if (!errors || !errors->is_array() || errors->empty()) return "";
  return dagster::TextAt((*errors)[0], "message").value_or("an error without a message");
}

void ReadFile(const std::string& path, Diagnostics& diagnostics, std::vector<Asset>& assets,
              std::vector<std::string>& digests) {
  const auto text = ReadSmallFile(path, kMostBytes, diagnostics);
  if (!text) return;
  digests.push_back(Sha256Hex(*text));
  if (const auto fault = EncodingFault(*text)) return diagnostics.Error(path, *fault);
  Json document;
  try {
    document = Json::parse(WithoutMark(*text));
  } catch (const Json::exception& e) {
    return diagnostics.Error(path, std::string("this is not JSON: ") + e.what());
  }
  const std::string file = BaseName(path);
  std::vector<Asset> more;
  if (dagster::IsExport(document))
    more = dagster::ReadExport(document, file, path, diagnostics);
  else if (dagster::IsAnswer(document))
    more = dagster::ReadAnswer(document, file, path, diagnostics);
  else if (const std::string refusal = Refusal(document); !refusal.empty())
    return diagnostics.Error(path, "Dagster refused the query: " + refusal,
                             {"the query to send is examples/dagster/asset_graph.graphql"});
  else
    return diagnostics.Error(path, "no asset graph of Dagster's",
                             {"expected what examples/dagster/export_assets.py writes (\"form\": "
                              "\"dagster-assets/1\"), or the answer to examples/dagster/asset_graph.graphql "
                              "({\"data\": {\"assetNodes\": []}})"});
  if (more.empty() && !diagnostics.has_errors()) diagnostics.Warning(path, "it holds no assets");
  assets.insert(assets.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

std::vector<SourceFacts> Run(const ImportRequest& request, Diagnostics& diagnostics) {
  const auto given = request.options.find("name");
  const std::string name = given == request.options.end() ? "dagster" : given->second.back();
  std::vector<Asset> assets;
  std::vector<std::string> digests;
  for (const std::string& path : request.inputs) ReadFile(path, diagnostics, assets, digests);
  if (diagnostics.has_errors()) return {};
  // An asset that several files or locations have counts once: where it is defined, not where it is only
  // named; of two definitions the later file's.
  std::map<std::string, const Asset*> every;
  for (const Asset& asset : assets) {
    const Asset*& known = every[dagster::NameOf(asset.key)];
    if (!known || known->stub || !asset.stub) known = &asset;
  }
  std::map<std::string, std::vector<const Asset*>> by_location;
  for (const Asset& asset : assets)
    if (every[dagster::NameOf(asset.key)] == &asset) by_location[asset.location].push_back(&asset);
  if (by_location.empty()) by_location[""];
  std::vector<SourceFacts> out;
  for (const auto& [location, mine] : by_location) {
    SourceFacts source;
    const std::string label = location.empty() ? name : name == "dagster" ? location : name + "/" + location;
    source.source = {"dagster", label, name + "/" + location, Sha256Hex(Join(digests, "\n")), ""};
    if (digests.size() == 1) source.source.sha256 = digests[0];
    source.facts = dagster::FactsOf(mine, every, name, request.inputs[0], diagnostics);
    out.push_back(std::move(source));
  }
  if (diagnostics.has_errors()) return {};
  return out;
}

}  // namespace

Importer DagsterImporter() {
  return {
      "dagster",
      "FILE...",
      "Dagster's asset graph: what examples/dagster/export_assets.py writes, or the answer of its GraphQL, "
      "which tells less of mappings",
      "  backreach ingest dagster assets.json\n"
      "  backreach ingest dagster asset_graph.json --name prod",
      true,
      {{"name", "the installation's name, which its assets begin with (default: dagster)", false}},
      Run};
}

}  // namespace backreach
