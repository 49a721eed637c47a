// These files are read whole: they hold a few lines for each node, far less than a manifest.

#include "ingest/dbt/artifacts.hpp"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>

#include "graph/base/digest.hpp"
#include "graph/base/words.hpp"
#include "ingest/read/file.hpp"

namespace backreach {

namespace {

namespace dom = simdjson::dom;

std::string Str(const dom::element& e, const char* pointer) {
  std::string_view s;
  return e.at_pointer(pointer).get(s) ? std::string() : std::string(s);
}
bool True(const dom::element& e, const char* pointer) {
  bool b;
  return !e.at_pointer(pointer).get(b) && b;
}
// A whole number, which some warehouses write as text or with a point.
std::optional<std::int64_t> Whole(const dom::element& e, const char* pointer) {
  std::int64_t n;
  double d;
  const auto at = e.at_pointer(pointer);
  if (!at.get(n)) return n;
  if (!at.get(d)) return d >= 0 && d < 9e15 ? std::optional(static_cast<std::int64_t>(d)) : std::nullopt;
  std::string_view s;
  if (at.get(s) || s.empty() || s.size() > 15) return std::nullopt;
  std::int64_t out = 0;
  for (const char c : s) {
    if (c < '0' || c > '9') return std::nullopt;
    out = out * 10 + (c - '0');
  }
  return out;
}

bool Parse(const std::string& path, Diagnostics& diagnostics, dom::parser& parser, dom::element& root,
           std::string* digest = nullptr) {
  constexpr std::size_t kMost = std::size_t{1} << 30;
  const auto text = ReadSmallFile(path, kMost, diagnostics);
  if (!text) return false;
  if (const auto error = parser.parse(WithoutMark(*text)).get(root)) {
    diagnostics.Error(
        path, fmt::format("no JSON: {}", simdjson::error_message(error)),
        {"was dbt still writing it? run dbt again, or give the manifest alone; nothing was changed"});
    return false;
  }
  if (digest) *digest = Sha256Hex(*text);
  return true;
}
void Wrong(const std::string& path, const char* missing, const char* what, Diagnostics& diagnostics) {
  diagnostics.Error(path, fmt::format("{} is missing: this is not {}; nothing was changed", missing, what));
}
// The results of a freshness check.
bool SourceResults(const std::string& path, const dom::element& root, dom::array& results,
                   Diagnostics& diagnostics) {
  const std::string schema = Str(root, "/metadata/dbt_schema_version");
  if (!root["results"].get(results) && (schema.empty() || schema.find("/sources/") != std::string::npos))
    return true;
  Wrong(path, "/results of a freshness check", "dbt's sources.json", diagnostics);
  return false;
}

// One invocation of dbt, as its run_results.json tells it.
struct Invocation {
  std::string path, generated_at, command;
  bool retry = false, rehearsal = false, full_refresh = false;
  dom::parser parser;  // holds the results
  dom::array results;

  // False for `compile`, `docs generate` and the like, which write the same file and execute nothing.
  bool executed() const {
    for (const char* word : {"compile", "generate", "docs", "parse", "list", "ls", "show", "freshness"})
      if (command == word) return false;
    return true;
  }
};

class Reader {
 public:
  Reader(SourceFacts& out, Diagnostics& diagnostics) : out_(out), diagnostics_(diagnostics) {
    for (std::size_t i = 0; i < Facts().datasets.size(); ++i) datasets_.emplace(Facts().datasets[i].name, i);
    for (std::size_t i = 0; i < Facts().checks.size(); ++i) checks_.emplace(Facts().checks[i].id, i);
  }

  void RunResults(const std::vector<std::string>& files) {
    std::vector<std::unique_ptr<Invocation>> runs;
    for (const std::string& file : files)
      if (auto run = ReadInvocation(file)) runs.push_back(std::move(run));
    std::stable_sort(runs.begin(), runs.end(), [](const auto& a, const auto& b) {
      return std::tie(a->generated_at, a->path) < std::tie(b->generated_at, b->path);
    });
    for (const auto& run : runs) {
      std::size_t known = 0;
      for (const dom::element result : run->results) known += Result(*run, result);
      SayIfForeign(run->path, known, run->results.size());
    }
  }

  void Catalog(const std::string& path) {
    dom::parser parser;
    dom::element root;
    if (!Read(path, parser, root)) return;
    dom::object nodes;
    if (root["nodes"].get(nodes)) return Wrong(path, "/nodes", "dbt's catalog.json", diagnostics_);
    std::size_t known = 0, all = 0;
    for (const char* section : {"nodes", "sources"}) {
      dom::object entries;
      if (root[section].get(entries)) continue;
      for (const auto& entry : entries) {
        ++all;
        if (!datasets_.count(std::string(entry.key))) continue;
        ++known;
        MeasureFact& m = MeasureOf(std::string(entry.key));
        m.relation_type = Lower(Str(entry.value, "/metadata/type"));
        dom::object columns, stats;
        if (!entry.value["columns"].get(columns))
          for (const auto& column : columns) {
            std::string_view type;
            if (!column.value["type"].get(type)) m.column_types[Lower(column.key)] = Lower(type);
          }
        for (const char* word : {"row_count", "num_rows", "rows"})
          if (const auto n = Whole(entry.value, fmt::format("/stats/{}/value", word).c_str()); n && !m.rows)
            m.rows = n;
        for (const char* word : {"bytes", "num_bytes"})
          if (const auto n = Whole(entry.value, fmt::format("/stats/{}/value", word).c_str()); n && !m.bytes)
            m.bytes = n;
        m.at = {BaseName(path), fmt::format("/{}/{}", section, std::string(entry.key))};
      }
    }
    SayIfForeign(path, known, all);
  }

  void Sources(const std::string& path) {
    dom::parser parser;
    dom::element root;
    dom::array results;
    if (!Read(path, parser, root)) return;
    if (!SourceResults(path, root, results, diagnostics_)) return;
    std::size_t known = 0;
    for (const dom::element result : results) {
      const std::string id = Str(result, "/unique_id");
      if (!datasets_.count(id)) continue;
      ++known;
      MeasureFact& m = MeasureOf(id);
      m.loaded_at = Str(result, "/max_loaded_at");
      m.freshness = Str(result, "/status");
      if (m.at.file.empty()) m.at = {BaseName(path), "/results"};
    }
    SayIfForeign(path, known, results.size());
  }

  void Finish() {
    std::sort(digests_.begin(), digests_.end());
    if (!digests_.empty()) out_.source.beside_sha256 = Sha256Hex(Join(digests_, "\n"));
    for (auto& [name, measure] : measures_) Facts().measures.push_back(std::move(measure));
  }

 private:
  backreach::Facts& Facts() { return out_.facts; }

  bool Read(const std::string& path, dom::parser& parser, dom::element& root) {
    std::string digest;
    if (!Parse(path, diagnostics_, parser, root, &digest)) return false;
    digests_.push_back(std::move(digest));
    return true;
  }

  std::unique_ptr<Invocation> ReadInvocation(const std::string& path) {
    auto run = std::make_unique<Invocation>();
    dom::element root;
    if (!Read(path, run->parser, root)) return nullptr;
    if (root["results"].get(run->results)) {
      Wrong(path, "/results", "dbt's run_results.json", diagnostics_);
      return nullptr;
    }
    run->path = path;
    run->generated_at = Str(root, "/metadata/generated_at");
    run->command = Str(root, "/args/which");
    if (run->command.empty()) run->command = Str(root, "/args/rpc_method");
    const std::string invoked = Str(root, "/args/invocation_command");
    run->retry = StartsWith(invoked, "dbt retry") || run->command == "retry";
    dom::element sample;
    run->rehearsal =
        True(root, "/args/empty") || (!root.at_pointer("/args/sample").get(sample) && !sample.is_null());
    run->full_refresh = True(root, "/args/full_refresh");
    if (run->executed()) return run;
    diagnostics_.Note(path, fmt::format("is of 'dbt {}', which runs nothing: nothing is taken from it",
                                        Printable(run->command)));
    return nullptr;
  }

  // Another project's file is no error, but it must not pass for one that was read.
  void SayIfForeign(const std::string& path, std::size_t known, std::size_t all) {
    if (known == 0 && all > 0)
      diagnostics_.Warning(path, "names no node of this manifest: nothing is taken from it",
                           {"is it of another project, or of an older state of this one?"});
  }

  // True if the manifest knows the node.
  bool Result(const Invocation& run, const dom::element& result) {
    const std::string id = Str(result, "/unique_id"), status = Str(result, "/status");
    Time(run, result, id, status);
    return checks_.count(id) > 0 || datasets_.count(id) > 0;
  }

  void Time(const Invocation& run, const dom::element& result, const std::string& id,
            const std::string& status) {
    if (const auto check = checks_.find(id); check != checks_.end() && !status.empty())
      Facts().checks[check->second].last_status = status;
    const auto at = datasets_.find(id);
    // What failed, was cut short or ran on no rows says nothing of how long a run takes.
    if (at == datasets_.end() || status != "success" || run.rehearsal) return;
    TimingFact timing;
    timing.dataset = id;
    if (result["execution_time"].get(timing.seconds) || timing.seconds < 0) return;
    dom::array batches;
    if (!result.at_pointer("/batch_results/successful").get(batches) && batches.size() > 0) {
      if (run.retry) return;  // lists the batches of the run before, and counts only its own time
      timing.batches = static_cast<std::int64_t>(batches.size());
    } else if (Facts().datasets[at->second].methods.count("dbt_batches")) {
      return;  // its batches are not told: the time of how many this is, nobody knows
    } else if (run.full_refresh && Facts().datasets[at->second].write.mode != "whole") {
      timing.full_refresh = true;
    }
    if (const auto rows = Whole(result, "/adapter_response/rows_affected"); rows && *rows >= 0)
      timing.rows = rows;
    timing.ended_at = run.generated_at;
    timing.at = {BaseName(run.path), "/results"};
    Facts().timings.push_back(std::move(timing));
  }

  MeasureFact& MeasureOf(const std::string& dataset) {
    MeasureFact& m = measures_[dataset];
    m.dataset = dataset;
    return m;
  }

  SourceFacts& out_;
  Diagnostics& diagnostics_;
  std::unordered_map<std::string, std::size_t> datasets_, checks_;
  std::map<std::string, MeasureFact> measures_;
  std::vector<std::string> digests_;
};

}  // namespace

std::optional<std::map<std::string, std::string>> ReadRunStatuses(const std::string& path,
                                                                  Diagnostics& diagnostics) {
  dom::parser parser;
  dom::element root;
  dom::array results;
  if (!Parse(path, diagnostics, parser, root)) return std::nullopt;
  if (root["results"].get(results)) {
    Wrong(path, "/results", "dbt's run_results.json", diagnostics);
    return std::nullopt;
  }
  std::map<std::string, std::string> out;
  for (const dom::element result : results) out[Str(result, "/unique_id")] = Str(result, "/status");
  return out;
}

std::optional<std::map<std::string, std::string>> ReadLoadedAt(const std::string& path,
                                                               Diagnostics& diagnostics) {
  dom::parser parser;
  dom::element root;
  dom::array results;
  if (!Parse(path, diagnostics, parser, root) || !SourceResults(path, root, results, diagnostics))
    return std::nullopt;
  std::map<std::string, std::string> out;
  for (const dom::element result : results)
    if (const std::string at = Str(result, "/max_loaded_at"); !at.empty())
      out[Str(result, "/unique_id")] = at;
  return out;
}

void AddDbtArtifacts(const DbtArtifacts& files, SourceFacts& out, Diagnostics& diagnostics) {
  if (files.run_results.empty() && files.catalog.empty() && files.sources.empty()) return;
  Reader reader(out, diagnostics);
  reader.RunResults(files.run_results);
  if (!files.catalog.empty()) reader.Catalog(files.catalog);
  if (!files.sources.empty()) reader.Sources(files.sources);
  reader.Finish();
}

}  // namespace backreach
