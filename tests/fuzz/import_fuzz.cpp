// Every importer on mutated copies of real files: it may refuse them, and must not crash, hang or throw.
//   import_fuzz SECONDS FOLDER

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "graph/base/error.hpp"
#include "graph/join/builder.hpp"
#include "ingest/importer.hpp"
#include "render/engines/feed.hpp"
#include "samples.hpp"

using namespace backreach;

namespace {

std::string Read(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

std::string Mutated(std::string text, std::mt19937_64& random) {
  static const std::vector<std::string> words = {
      "null", "{}", "[]", "\"\"", "-1",     "1e999",      "\xFF",      "\\u0000",         "{{",  "}",
      "]",    "\t", "&a", "*a",   "<<: *a", "2026-02-30", "\"name\":", "window: [9, -9]", "day", ":"};
  const std::size_t edits = 1 + random() % 6;
  for (std::size_t e = 0; e < edits && !text.empty(); ++e) {
    const std::size_t at = random() % text.size(), n = 1 + random() % 12;
    switch (random() % 6) {
      case 0: text.erase(at, n); break;
      case 1: text.insert(at, words[random() % words.size()]); break;
      case 2: text[at] = static_cast<char>(random()); break;
      case 3: text.resize(at); break;
      case 4: text.insert(at, text.substr(random() % text.size(), 1 + random() % 200)); break;
      default: text.replace(at, std::min(n, text.size() - at), words[random() % words.size()]);
    }
  }
  return text;
}

// A plan file is refused with a message, or is written by every feed.
bool FeedsTake(const std::string& plan) {
  FeedOptions options;
  options.force = true;
  try {
    for (const Feed& feed : Feeds()) WriteFeed(feed, plan, "plan.json", options);
  } catch (const Error&) {
    return false;
  } catch (const std::exception&) {
    std::ofstream("fuzz-failure.bin", std::ios::binary) << plan;
    throw;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 20;
  const std::filesystem::path root = argc > 2 ? argv[2] : "examples";
  struct Input {
    const char* importer;
    std::string text;
    const char* option = nullptr;  // the mutated file is given by it, beside the manifest as it is
    const char* file = "input";
    const char* dialect = nullptr;
  };
  const std::string catalog =
      R"({"nodes": {"model.shop.fct_orders": {"metadata": {"type": "BASE TABLE"}, "columns":
      {"order_id": {"type": "BIGINT", "index": 1}}, "stats": {"row_count": {"value": 1200.0}, "bytes": {"value": "12"}}}},
      "sources": {"source.shop.raw.clicks": {"metadata": {"type": "VIEW"}, "columns": {}, "stats": {}}}})";
  const std::string loaded =
      R"({"metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/sources/v3.json"},
      "results": [{"unique_id": "source.shop.raw.clicks", "max_loaded_at": "2026-04-01T00:00:00Z", "status": "pass"}]})";
  std::vector<Input> inputs = {{"dbt", Read(root / "shop/target/manifest.json")},
                               {"airflow", Read(root / "shop/serialized_dags.jsonl")},
                               {"registry", Read(root / "shop/registry.yml")},
                               {"dbt", Read(root / "shop/target/run_results.json"), "run-results"},
                               {"dbt", catalog, "catalog"},
                               {"dbt", loaded, "sources"}};
  for (std::string& text : AirflowForms(Read(root / "shop/serialized_dags.jsonl")))
    inputs.push_back({"airflow", std::move(text)});
  for (std::string& text : RegistryExamples(Read(root / "../REGISTRY.md")))
    inputs.push_back({"registry", std::move(text)});
  inputs.push_back({"plan", SamplePlan()});
  for (ToolSample& s : ToolSamples())
    inputs.push_back({s.importer, std::move(s.text), s.option, s.file, s.dialect});
  const std::string manifest = (root / "shop/target/manifest.json").string();
  for (const Input& input : inputs)
    if (input.text.empty()) return fmt::print("no input under {}\n", root.string()), 2;
  const auto seed = static_cast<std::uint64_t>(argc > 3 ? std::atoll(argv[3]) : 20261129);
  std::mt19937_64 random(seed);
  const auto folder =
      std::filesystem::temp_directory_path() / fmt::format("backreach-fuzz-{}", std::random_device()());
  std::filesystem::create_directories(folder / "p/d/t");
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  std::size_t runs = 0, taken = 0;
  while (std::chrono::steady_clock::now() < until) {
    const Input& input = inputs[random() % inputs.size()];
    const std::string file = (folder / input.file).string();
    const std::string text = Mutated(input.text, random);
    std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
    if (input.importer == std::string("plan")) taken += FeedsTake(text);
    for (const Importer& importer : Importers()) {
      if (std::string(importer.name) != input.importer) continue;
      Diagnostics diagnostics;
      try {
        ImportRequest request{{input.option ? manifest : file}, {}};
        if (input.option) request.options[input.option] = {file};
        if (input.dialect) request.options["dialect"] = {input.dialect};
        auto facts = importer.run(request, diagnostics);
        Format(diagnostics);
        if (facts.empty() != diagnostics.has_errors() && facts.empty())
          throw std::runtime_error("nothing was read, and no error says why");
        if (!diagnostics.has_errors()) {
          BuildGraph(std::move(facts));
          ++taken;
        }
      } catch (const std::exception& e) {
        std::ofstream("fuzz-failure.bin", std::ios::binary) << text;
        fmt::print("{} threw on run {} of seed {}: {} (input kept in fuzz-failure.bin)\n", importer.name,
                   runs, seed, e.what());
        return 1;
      }
    }
    ++runs;
  }
  std::filesystem::remove_all(folder);
  fmt::print("{} mutated files, {} of them taken: 1 passed, 0 failed\n", runs, taken);
  return 0;
}
