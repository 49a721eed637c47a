// dbt's manifest.json (v1 to v12 and 2.0), read by the keys that are there and not by its version. The file
// is split into nodes and each node is parsed by itself, so memory does not grow with the file.

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "graph/calendar.hpp"
#include "graph/digest.hpp"
#include "graph/words.hpp"
#include "ingest/dbt_artifacts.hpp"
#include "ingest/dbt_nodes.hpp"
#include "ingest/dbt_partitions.hpp"
#include "ingest/dbt_sql.hpp"
#include "ingest/dbt_writes.hpp"
#include "ingest/file.hpp"
#include "ingest/importer.hpp"
#include "ingest/json_fields.hpp"
#include "ingest/json_split.hpp"
#include "ingest/registry_blocks.hpp"
#include "ingest/sql_scan.hpp"

namespace backreach {

namespace {

namespace dom = simdjson::dom;
using json::Bool;
using json::Child;
using json::Fields;
using json::OptStr;
using json::Str;
using json::Strings;

std::string Unescape(std::string_view key) {
  if (key.find('\\') == std::string_view::npos) return std::string(key);
  dom::parser parser;
  std::string_view out;
  const std::string quoted = "\"" + std::string(key) + "\"";
  return parser.parse(quoted).get(out) ? std::string(key) : std::string(out);
}

// `(a, b)` and `a,b` are written for lists too; anything with a call in it is one expression.
std::vector<std::string> KeyColumns(const Fields& config) {
  dom::element key;
  if (!Child(config, "unique_key", key)) return {};
  std::vector<std::string> given = Strings(key), out;
  for (std::string text : given) {
    const bool list = given.size() == 1;
    if (list && text.size() > 2 && text.front() == '(' && text.back() == ')')
      text = text.substr(1, text.size() - 2);
    const bool split = list && text.find_first_of("('\"|") == std::string::npos;
    for (const std::string& part : split ? Split(text, ',') : std::vector<std::string>{text}) {
      const auto from = part.find_first_not_of(" \t\n"), to = part.find_last_not_of(" \t\n");
      if (from != std::string::npos) out.push_back(part.substr(from, to - from + 1));
    }
  }
  return out;
}

// What only the writing of a model depends on, until the adapter and all other nodes are known.
struct PendingWrite {
  DbtWriteConfig config;
  std::string batch_size, begin;
  DbtPartitionConfig partition;
  std::vector<std::string> static_partitions;  // BigQuery's insert_overwrite of listed partitions
  bool skips_matched = false;                  // a merge that only inserts
  bool microbatch = false, has_partition_by = false, python = false;
  std::vector<std::string> hooks;       // the text of pre- and post-hooks
  std::string sql;                      // of incremental models
  std::vector<std::string> predicates;  // incremental_predicates
  std::vector<std::string> update_columns, exclude_columns;
  std::string on_schema_change;
};

// What is kept of a node until the adapter and all other nodes are known.
struct PendingNode {
  explicit PendingNode(DatasetFact& f) : fact(f) {}
  DatasetFact& fact;  // among the facts already
  std::unique_ptr<PendingWrite> write = std::make_unique<PendingWrite>();
  std::string resource_type, event_time, package;
  std::vector<std::string> parents, fqn;
  bool external = false;
  bool microbatch = false;  // told here once `write` is settled and gone
};

struct PendingTest {
  CheckFact check;
  std::vector<std::string> parents;
  std::string attached;
  std::string model_kwarg;
};

struct PendingExposure {
  CopyFact copy;
  std::string id, type;
  std::vector<std::string> parents;
  bool holds_extract = false;
  std::string group, meta_block;
  Text url;
};

class ManifestReader {
 public:
  ManifestReader(std::string path, std::string project, Diagnostics& diagnostics)
      : path_(std::move(path)),
        file_(BaseName(path_)),
        project_(std::move(project)),
        diagnostics_(diagnostics) {}

  bool Read(SourceFacts& out) {
    auto file = MappedFile::Open(path_, diagnostics_);
    if (!file) return false;
    const std::string_view all = file->bytes(), text = WithoutMark(all);
    base_ = all.size() - text.size();
    if (text.empty()) return NotAManifest("the file is empty");
    if ((text.size() > 1 && (text.substr(0, 2) == "\xFF\xFE" || text.substr(0, 2) == "\xFE\xFF")) ||
        text.substr(0, 8).find('\0') != std::string_view::npos) {
      diagnostics_.Error(path_, "is encoded in UTF-16: convert it to UTF-8 (iconv -f UTF-16 -t UTF-8)");
      return false;
    }
    if (!Walk(*file, text)) return false;
    if (!Judge()) return false;
    Finish(out);
    out.source.sha256 = sha256_;
    return !diagnostics_.has_errors();
  }

 private:
  bool NotAManifest(const std::string& why) {
    diagnostics_.Error(path_, "not a dbt manifest: " + why,
                       {"give target/manifest.json, or the target folder that holds it"});
    return false;
  }

  bool Broken(const SplitError& e, const std::string& pointer) {
    diagnostics_.Error(
        path_,
        fmt::format("{} (byte {}){}", e.what, Thousands(static_cast<std::int64_t>(e.byte + base_)),
                    pointer.empty() ? "" : ", in " + pointer),
        {"the file is damaged or was cut off: run dbt again; nothing was changed"});
    return false;
  }

  // Says where the first byte stands that is no UTF-8, counted in the whole file.
  bool NotUtf8(std::string_view document, const std::string& pointer) {
    diagnostics_.Error(path_, EncodingFault(document).value_or("is not UTF-8") + ", in " + pointer,
                       {"nothing was changed"});
    return false;
  }

  // Parses one value completely, so that broken JSON and bad UTF-8 are refused wherever they stand.
  bool Parse(std::string_view document, std::string_view value, const std::string& pointer,
             dom::element& out) {
    const std::size_t behind =
        static_cast<std::size_t>(document.data() + document.size() - (value.data() + value.size()));
    const auto result = parser_.parse(value.data(), value.size(), behind < simdjson::SIMDJSON_PADDING);
    if (!result.get(out)) return true;
    const std::size_t at = static_cast<std::size_t>(value.data() - document.data()) + base_;
    if (!simdjson::validate_utf8(value.data(), value.size())) {
      return NotUtf8(document, pointer);
    } else {
      diagnostics_.Error(
          path_,
          fmt::format("broken JSON in {} (value at byte {}): {}", pointer,
                      Thousands(static_cast<std::int64_t>(at)), simdjson::error_message(result.error())),
          {"run dbt again; nothing was changed"});
    }
    return false;
  }

  bool Walk(MappedFile& file, std::string_view text) {
    std::size_t at = 0;
    while (at < text.size() && (text[at] == ' ' || text[at] == '\n' || text[at] == '\r' || text[at] == '\t'))
      ++at;
    if (at >= text.size() || text[at] != '{') return NotAManifest("the file holds no JSON object");
    ObjectSplitter top(text, at);
    HashBeside hash(file);
    while (top.Next()) {
      const std::string section(top.key());
      const std::string pointer = "/" + section;
      sections_.insert(section);
      const bool object = top.value_begin() < text.size() && text[top.value_begin()] == '{';
      if (!object || section == "metadata") {
        std::string_view value;
        if (!top.Value(value)) return Broken(*top.error(), pointer);
        dom::element element;
        if (!Parse(text, value, pointer, element)) return false;
        if (section == "metadata") Metadata(element);
        if (section == "disabled" && element.is_array()) DisabledList(element);
        continue;
      }
      ObjectSplitter members(text, top.value_begin());
      while (members.Next()) {
        if (!simdjson::validate_utf8(members.key().data(), members.key().size()))
          return NotUtf8(text, pointer);
        const std::string id = Unescape(members.key());
        std::string_view value;
        if (!members.Value(value)) {
          SplitError e = *members.error();
          e.what = "the file ends inside " + pointer + "/" + id;
          return Broken(e, "");
        }
        dom::element element;
        if (!Parse(text, value, pointer + "/" + id, element)) return false;
        Member(section, id, element);
        hash.Passed(base_ + members.end());
      }
      if (members.error()) return Broken(*members.error(), pointer);
      top.Resume(members.end());
    }
    if (top.error()) return Broken(*top.error(), "");
    for (std::size_t i = top.end(); i < text.size(); ++i)
      if (text[i] != ' ' && text[i] != '\n' && text[i] != '\r' && text[i] != '\t')
        return Broken({i, "something stands behind the end of the document"}, "");
    sha256_ = hash.Hex();
    return true;
  }

  void Metadata(const dom::element& m) {
    schema_version_ = std::string(Str(m, "dbt_schema_version"));
    adapter_ = Lower(Str(m, "adapter_type"));
    if (project_.empty()) project_ = std::string(Str(m, "project_name"));
  }

  // Is this a manifest at all? Said by the schema version, or by the sections if that is missing.
  bool Judge() {
    if (!schema_version_.empty() && schema_version_.find("/manifest/") == std::string::npos) {
      const auto parts = Split(schema_version_, '/');
      return NotAManifest(parts.size() > 2 ? "it says that it is a " + parts[parts.size() - 2]
                                           : "its schema is " + schema_version_);
    }
    if (!sections_.count("nodes") || (schema_version_.empty() && !sections_.count("metadata")))
      return NotAManifest("there is no 'nodes' section in it");
    if (schema_version_.empty()) {
      if (!sections_.count("parent_map") && !sections_.count("macros") && !sections_.count("sources"))
        return NotAManifest("it has no schema version, and not the sections of a manifest");
      diagnostics_.Warning(
          path_, "no schema version (metadata.dbt_schema_version): read by the keys that are there");
    }
    return true;
  }

  void Member(const std::string& section, const std::string& id, const dom::element& e) {
    const bool data = section == "nodes" || section == "sources" || section == "functions";
    const bool passage = section == "metrics" || section == "semantic_models" || section == "saved_queries";
    if (data || passage || section == "exposures" || section == "unit_tests") {
      const Fields node(e);
      const dom::element* config_element = node.Find("config");
      if (config_element && !config_element->is_object()) config_element = nullptr;
      const Fields config = config_element ? Fields(*config_element) : Fields();
      selector_nodes_.Node(section, id, node, config, config_element);
      if (section == "nodes" || section == "sources")
        Node(id, node, config, config_element != nullptr);
      else if (section == "exposures")
        Exposure(id, e);
      else if (passage)
        Passage(id, node);
    } else if (section == "groups") {
      Group(id, e);
    } else if (section == "disabled") {
      disabled_.insert(id);
      DisabledEntry(e);
    } else if (section == "macros") {
      if (Str(e, "package_name") == project_)
        macros_[std::string(Str(e, "name"))] = std::string(Str(e, "macro_sql"));
      selector_nodes_.Macro(id, e);
    }
  }

  void DisabledList(const dom::element& list) {
    for (const dom::element node : list.get_array()) {
      const auto id = Str(node, "unique_id");
      if (!id.empty()) disabled_.insert(std::string(id));
    }
  }
  void DisabledEntry(const dom::element& e) {
    dom::array list;
    if (e.get(list)) return;
    for (const dom::element node : list) {
      if (Str(node, "resource_type") != "test") continue;
      const std::string id(Str(node, "unique_id"));
      dom::element config;
      Test(id, Fields(node), Child(node, "config", config) ? Fields(config) : Fields(), "/disabled/" + id);
      if (!tests_.empty() && tests_.back().check.id == id) tests_.back().check.enabled = false;
    }
  }

  void Group(const std::string& id, const dom::element& e) {
    dom::element owner;
    if (!Child(e, "owner", owner)) return;
    const auto emails = Strings(owner, "email");
    const auto name = OptStr(owner, "name");
    groups_[Split(id, '.').back()] = {name.value_or(emails.empty() ? "" : emails[0]),
                                      emails.empty() ? "" : emails[0]};
  }

  // Metrics, semantic models and saved queries are passages: an exposure on one reads the models below it.
  // What a saved query exports as a table keeps the numbers that it was filled with.
  void Passage(const std::string& id, const Fields& e) {
    dom::element depends, list;
    passages_[id] = Child(e, "depends_on", depends) ? Strings(depends, "nodes") : std::vector<std::string>();
    dom::array exports;
    if (!Child(e, "exports", list) || list.get(exports)) return;
    for (const dom::element item : exports) {
      dom::element config;
      if (!Child(item, "config", config) || Lower(Str(config, "export_as")) != "table") continue;
      PendingExposure exported;
      exported.id = fmt::format("{}.{}", id, Str(item, "name"));
      exported.type = "export";
      exported.parents = {id};
      CopyFact& copy = exported.copy;
      copy.id = exported.id;
      copy.kind = "export";
      copy.at = {file_, "/saved_queries/" + id};
      std::vector<std::string> parts;
      for (const char* part : {"database", "schema_name", "alias"})
        if (const auto text = Str(config, part); !text.empty()) parts.emplace_back(text);
      if (Str(config, "alias").empty()) parts.emplace_back(Str(item, "name"));
      copy.where = Join(parts, ".");
      std::string group(Str(e, "group"));
      exported.group = group;
      copy.note = "a table that dbt's saved query exports: it is filled anew when the export runs";
      exposures_.push_back(std::move(exported));
    }
  }

  void Node(const std::string& id, const Fields& e, const Fields& config, bool configured) {
    const std::string type = DbtNodeType(id, e);
    if (type == "test") return Test(id, e, config, "/nodes/" + id);
    if (type == "operation" && (project_.empty() || Str(e, "package_name") == project_))
      operations_.emplace_back(
          id, std::string(Str(e, "raw_code").empty() ? Str(e, "raw_sql") : Str(e, "raw_code")));
    if (type != "model" && type != "seed" && type != "snapshot" && type != "source") return;
    DatasetFact& fact = facts_.datasets.emplace_back();
    PendingNode& node = nodes_.emplace_back(fact);
    node.resource_type = type;
    fact.name = id;
    fact.at = {file_, "/" + std::string(type == "source" ? "sources" : "nodes") + "/" + id};
    const std::string name(Str(e, "name")), alias(Str(e, "alias")), identifier(Str(e, "identifier"));
    node.package = std::string(Str(e, "package_name"));
    const std::string database(Str(e, "database")), schema(Str(e, "schema"));
    const std::string table =
        type == "source" ? (identifier.empty() ? name : identifier) : (alias.empty() ? name : alias);
    node.write->config.materialized = Lower(Str(config, "materialized"));
    if (type == "seed") node.write->config.materialized = "seed";
    if (type == "snapshot") node.write->config.materialized = "snapshot";
    if (node.write->config.materialized.empty() && type == "model") node.write->config.materialized = "view";
    const bool stored = node.write->config.materialized != "ephemeral";
    if (stored && !table.empty()) {
      for (const std::string& part : {database, schema, table})
        if (!part.empty()) fact.relation.push_back(part);
      fact.writes_relation = type != "source";
    }
    if (type == "source") {
      const std::string source_name(Str(e, "source_name"));
      fact.short_names = {source_name + "." + name, name};
      fact.kind = "source";
    } else {
      fact.short_names = {name};
      if (!alias.empty() && alias != name) fact.short_names.push_back(alias);
      if (!node.package.empty()) fact.short_names.push_back(node.package + "." + name);
      dom::element version;
      if (Child(e, "version", version)) {
        std::string_view s;
        std::int64_t n;
        const std::string v = !version.get(s) ? std::string(s) : !version.get(n) ? std::to_string(n) : "";
        if (!v.empty()) fact.short_names.push_back(name + ".v" + v);
      }
    }
    if (type == "model")
      fact.kind = node.write->config.materialized == "view"        ? "view"
                  : node.write->config.materialized == "ephemeral" ? "ephemeral"
                                                                   : "table";
    else if (type != "source")
      fact.kind = type;
    // A node of another project that only stands here as a reference: everything about it is a default.
    if (type == "model" && Str(e, "original_file_path").empty() && Str(e, "path").empty() &&
        Str(e, "raw_code").empty() && Str(e, "raw_sql").empty() && node.package != project_) {
      node.external = true;
      fact.kind = "external";
      fact.writes_relation = false;
    }
    node.fqn = Strings(e, "fqn");
    dom::element depends;
    if (Child(e, "depends_on", depends)) node.parents = Strings(depends, "nodes");
    if (configured) Config(config, node);
    const std::string_view sql = Str(e, "raw_code").empty() ? Str(e, "raw_sql") : Str(e, "raw_code");
    if (node.write->config.materialized == "incremental" ||
        (node.write->config.materialized == "table" && AsksForNow(sql)))
      node.write->sql = std::string(sql);
    node.write->python = Str(e, "language") == "python";
    Constraints(e, config, node);
    Ownership(e, config, fact);
    fact.tags = Strings(e, "tags");
    MetaBlock(e, fact);
    MetaBlock(config, fact);
  }

  void Config(const Fields& config, PendingNode& node) {
    DatasetFact& fact = node.fact;
    node.write->config.strategy = Lower(Str(config, "incremental_strategy"));
    dom::element key;
    node.write->config.key_given = Child(config, "unique_key", key);
    node.write->config.key = KeyColumns(config);
    node.event_time = std::string(Str(config, "event_time"));
    node.write->microbatch =
        node.write->config.materialized == "incremental" && node.write->config.strategy == "microbatch";
    node.write->batch_size = Lower(Str(config, "batch_size"));
    node.write->begin = std::string(Str(config, "begin"));
    if (node.write->microbatch && Bool(config, "concurrent_batches") == false) fact.sequential = true;
    if (const auto full_refresh = Bool(config, "full_refresh"))
      fact.write.full_refresh = *full_refresh ? "true" : "false";
    dom::element partition;
    if (Child(config, "partition_by", partition) || Child(config, "partitioned_by", partition)) {
      node.write->has_partition_by = true;
      node.write->partition.field = std::string(Str(partition, "field"));
      node.write->partition.granularity = Lower(Str(partition, "granularity"));
      node.write->partition.data_type = Lower(Str(partition, "data_type"));
      if (partition.is_object() && node.write->partition.data_type.empty())
        node.write->partition.data_type = "date";
      node.write->partition.texts = Strings(partition);
    }
    dom::element properties;
    if (Child(config, "properties", properties))  // Trino's table properties
      for (const char* name : {"partitioning", "partitioned_by"})
        for (std::string& text : Strings(properties, name)) {
          node.write->has_partition_by = true;
          node.write->partition.texts.push_back(std::move(text));
        }
    node.write->static_partitions = Strings(config, "partitions");
    node.write->config.clustered = Child(config, "liquid_clustered_by", partition);
    node.write->config.static_partitions = !node.write->static_partitions.empty();
    node.write->config.table_type = Lower(Str(config, "table_type"));
    node.write->config.inserts_only = Bool(config, "inserts_only").value_or(false);
    node.write->skips_matched = Bool(config, "skip_matched_step").value_or(false);
    for (const char* when : {"pre-hook", "post-hook", "pre_hook", "post_hook"}) {
      dom::element hooks;
      dom::array list;
      if (!Child(config, when, hooks)) continue;
      std::string_view text;
      if (!hooks.get(text)) node.write->hooks.emplace_back(text);
      if (hooks.get(list)) continue;
      for (const dom::element hook : list) {
        if (!hook.get(text))
          node.write->hooks.emplace_back(text);
        else if (!Str(hook, "sql").empty())
          node.write->hooks.emplace_back(Str(hook, "sql"));
      }
    }
    dom::element predicates;
    node.write->config.has_predicates =
        Child(config, "incremental_predicates", predicates) || Child(config, "predicates", predicates);
    if (node.write->config.has_predicates) node.write->predicates = Strings(predicates);
    node.write->update_columns = Strings(config, "merge_update_columns");
    node.write->exclude_columns = Strings(config, "merge_exclude_columns");
    node.write->on_schema_change = Lower(Str(config, "on_schema_change"));
  }

  // Keys that the platform enforces: where a contract is, on PostgreSQL-like platforms and DuckDB.
  void Constraints(const Fields& e, const Fields& config, const PendingNode& node) {
    dom::element contract;
    bool enforced = false;
    if (Child(e, "contract", contract)) enforced = Bool(contract, "enforced").value_or(false);
    if (!enforced && Child(config, "contract", contract))
      enforced = Bool(contract, "enforced").value_or(false);
    if (!enforced) return;
    const auto add = [&](std::string_view type, const std::vector<std::string>& columns) {
      if (columns.empty()) return;
      const bool key = type == "primary_key" || type == "unique";
      if (!key && type != "not_null") return;
      CheckFact check;
      check.id = fmt::format("constraint {} of {} ({})", type, node.fact.name, Join(columns, ", "));
      check.dataset = node.fact.name;
      check.kind = key ? "constraint" : "not_null_constraint";
      check.columns = columns;
      check.at = node.fact.at;
      constraints_.push_back(check);
      if (type == "primary_key") {
        check.kind = "not_null_constraint";
        constraints_.push_back(std::move(check));
      }
    };
    dom::element list;
    dom::array items;
    if (Child(e, "constraints", list) && !list.get(items))
      for (const dom::element c : items) add(Str(c, "type"), Strings(c, "columns"));
    dom::element columns;
    dom::object by_name;
    if (Child(e, "columns", columns) && !columns.get(by_name))
      for (const auto& field : by_name) {
        if (!Child(field.value, "constraints", list) || list.get(items)) continue;
        for (const dom::element c : items) add(Str(c, "type"), {std::string(field.key)});
      }
  }

  // A first look, since the texts of all tables together are most of a manifest: is there a word for now in
  // it, which ends at a bracket or goes on behind an underscore?
  static bool AsksForNow(std::string_view sql) {
    const auto ends = [&](std::size_t at, std::string_view word) {
      return at >= word.size() && Lower(sql.substr(at - word.size(), word.size())) == word;
    };
    for (std::size_t at = sql.find('('); at != std::string_view::npos; at = sql.find('(', at + 1)) {
      const char last = at == 0 ? ' ' : sql[at - 1];
      if ((last == 'w' || last == 'W') && ends(at, "now")) return true;
      if ((last == 'y' || last == 'Y') && ends(at, "today")) return true;
      if ((last == 'e' || last == 'E') && (ends(at, "getdate") || ends(at, "sysdate"))) return true;
    }
    for (std::size_t at = sql.find('_'); at != std::string_view::npos; at = sql.find('_', at + 1)) {
      const char last = at == 0 ? ' ' : sql[at - 1];
      if ((last == 't' || last == 'T') && ends(at, "current")) return true;
      if ((last == 'n' || last == 'N') && ends(at, "run")) return true;  // run_started_at
    }
    return false;
  }

  // A batch smaller than the partition that it overwrites leaves of that partition what the batch has.
  void CoarsePartitions(const PendingNode& node, const std::string& mode, DatasetFact& fact) const {
    if (!node.write->microbatch || mode != "dynamic_overwrite") return;
    DbtPartitionConfig config = node.write->partition;
    config.adapter = adapter_;
    const auto partition = ReadDbtPartition(config);
    const auto size = [](const std::string& grain) {
      const std::string_view order[] = {"hour", "day", "week", "month", "quarter", "year"};
      return std::find(std::begin(order), std::end(order), grain) - std::begin(order);
    };
    if (partition && size(partition->grain) > size(node.write->batch_size))
      fact.findings.push_back(
          {"partial-overwrite",
           fmt::format("each batch of one {} overwrites a partition of one {} with its own rows alone",
                       node.write->batch_size, partition->grain),
           {{"by", "configuration"}},
           fact.at});
  }

  // What the model's own SQL and settings do to a rerun of the past.
  void Traits(PendingNode& node, Facts& facts) {
    DatasetFact& fact = node.fact;
    const auto find = [&](const char* code, const std::string& detail,
                          std::map<std::string, std::string> data = {}) {
      fact.findings.push_back({code, detail, std::move(data), fact.at});
    };
    const std::string mode = fact.write.mode.value_or("");
    if (!node.write->on_schema_change.empty() && node.write->config.materialized == "incremental")
      find("on-schema-change", node.write->on_schema_change);
    if (node.write->config.materialized == "table" && !node.write->sql.empty() && !node.write->python) {
      // Matters where it holds a history by partitions, which a registry may say.
      const SqlTraits traits = ReadSqlTraits(node.write->sql, macros_);
      if (traits.date_bound_days)
        find("partial-overwrite",
             fmt::format("its query takes only rows of the last {:g} days before the run",
                         *traits.date_bound_days),
             {{"days", fmt::format("{}", *traits.date_bound_days)}, {"history", "only"}});
    }
    if (node.write->config.materialized != "incremental") return;
    if (mode == "merge" && (!node.write->update_columns.empty() || !node.write->exclude_columns.empty()))
      find("columns-kept", node.write->update_columns.empty()
                               ? "all columns but " + Join(node.write->exclude_columns, ", ") + " are updated"
                               : "only " + Join(node.write->update_columns, ", ") + " are updated");
    if (mode == "merge" && node.write->skips_matched)
      find("columns-kept",
           "rows that exist are left as they are (skip_matched_step), only new ones are inserted");
    if (adapter_ == "bigquery" && node.write->config.strategy == "insert_overwrite" &&
        !node.write->static_partitions.empty())
      StaticPartitions(node, find);
    if (mode == "merge" || mode == "delete_insert")
      for (const std::string& predicate : node.write->predicates) {
        const PredicateBound bound = ReadPredicate(predicate);
        if (!bound.bounds) continue;
        std::map<std::string, std::string> data;
        if (bound.days) data["days"] = fmt::format("{}", *bound.days);
        find("bounded-match", "only target rows with " + predicate + " are matched", std::move(data));
      }
    // Every batch inserts all rows of its result: whole parents, where they are not filtered.
    const bool inserts_all = adapter_ == "snowflake" || adapter_ == "redshift" || adapter_ == "trino" ||
                             adapter_ == "sqlserver" ||
                             (adapter_ == "fabric" && node.write->config.key.empty());
    CoarsePartitions(node, mode, fact);
    if (node.write->microbatch && inserts_all)
      for (const std::string& parent : node.parents)
        if (IsData(parent) && !event_timed_.count(parent)) find("unfiltered-batch", parent);
    if (node.write->sql.empty() || node.write->microbatch) {
      if (!node.write->sql.empty() && ReadSqlTraits(node.write->sql, macros_).reads_itself)
        SelfEdge(node, facts);
      return;
    }
    if (node.write->python) return PythonTraits(node, mode, facts);
    const SqlTraits traits = ReadSqlTraits(node.write->sql, macros_);
    if (traits.watermark && mode != "whole")
      find("watermark-filter", traits.watermark_how, {{"instead", Join(traits.instead_of_watermark, ",")}});
    if (traits.date_bound_days)
      find(mode == "whole" ? "partial-overwrite" : "watermark-filter",
           fmt::format("takes only rows of the last {:g} days before the run", *traits.date_bound_days),
           {{"days", fmt::format("{}", *traits.date_bound_days)},
            {"instead", Join(traits.instead_of_bound, ",")}});
    if (!traits.variables.empty()) find("range-not-passed", Join(traits.variables, ", "));
    if (traits.reads_itself) SelfEdge(node, facts);
    if (mode != "whole")
      for (const std::string& macro : traits.unknown_filters)
        facts.unresolved.push_back({macro + "()", "macro", fact.name,
                                    fmt::format("{}: its rows may be filtered by the macro '{}', whose body "
                                                "is not the project's own or is empty: "
                                                "which rows a rerun of the past takes is not known",
                                                fact.name, macro),
                                    fact.at});
  }

  // A Python model is not read, but for whether it looks at its own rows.
  void PythonTraits(PendingNode& node, const std::string& mode, Facts& facts) const {
    const std::string& code = node.write->sql;
    if (code.find("dbt.this") == std::string::npos || mode == "whole") return;
    const bool newest = Lower(code).find("max(") != std::string::npos;
    if (newest)
      node.fact.findings.push_back(
          {"watermark-filter", "asks its own rows for their newest, in Python", {}, node.fact.at});
    else
      facts.unresolved.push_back(
          {"dbt.this", "python", node.fact.name,
           fmt::format("{} is written in Python and looks at its own rows: whether to filter by them "
                       "is not known",
                       node.fact.name),
           node.fact.at});
  }

  // BigQuery's insert_overwrite of listed partitions: rows of any other partition are inserted beside what is
  // there.
  template <typename Find>
  void StaticPartitions(const PendingNode& node, const Find& find) const {
    std::optional<double> days = 0.0;
    for (const std::string& partition : node.write->static_partitions) {
      const PredicateBound bound = ReadPredicate("DBT_INTERNAL_DEST.partition >= " + partition);
      if (!bound.bounds || !bound.days)
        days.reset();
      else if (days)
        days = std::max(*days, *bound.days);
    }
    std::map<std::string, std::string> data;
    if (days) data["days"] = fmt::format("{}", *days);
    find("bounded-match",
         fmt::format(
             "only the listed partitions ({}) are replaced, rows of others are inserted beside what is there",
             ListOf(node.write->static_partitions, 3)),
         std::move(data));
  }

  void SelfEdge(const PendingNode& node, Facts& facts) const {
    EdgeFact edge;
    edge.from = edge.to = node.fact.name;
    edge.known = "assumed";
    edge.note = "its SQL uses its own rows";
    edge.at = node.fact.at;
    facts.edges.push_back(std::move(edge));
  }

  void Ownership(const Fields& e, const Fields& config, DatasetFact& fact) {
    std::string group(Str(e, "group"));
    if (group.empty()) group = std::string(Str(config, "group"));
    if (!group.empty()) fact.group = group;
    dom::element meta;
    if (Child(e, "meta", meta)) fact.owner = OptStr(meta, "owner");
    if (!fact.owner && Child(config, "meta", meta)) fact.owner = OptStr(meta, "owner");
  }

  // `meta.backreach` takes the registry's dataset block, in either place where dbt keeps meta.
  void MetaBlock(const Fields& at, DatasetFact& fact) {
    dom::element meta, block;
    if (!Child(at, "meta", meta) || !Child(meta, "backreach", block) || !block.is_object()) return;
    if (!meta_done_.insert(fact.name).second) return;
    ReadDatasetBlock(simdjson::minify(block), file_ + fact.at.place, fact, diagnostics_);
  }

  void Test(const std::string& id, const Fields& e, const Fields& config, const std::string& pointer) {
    PendingTest test;
    CheckFact& check = test.check;
    check.id = id;
    check.at = {file_, pointer};
    dom::element meta, kwargs;
    std::string name;
    if (Child(e, "test_metadata", meta)) {
      name = std::string(Str(meta, "name"));
      if (Child(meta, "kwargs", kwargs)) {
        for (const char* field : {"combination_of_columns", "column_list", "column_names", "column_name"}) {
          check.columns = Strings(kwargs, field);
          if (!check.columns.empty()) break;
        }
        test.model_kwarg = std::string(Str(kwargs, "model"));
      }
    }
    check.kind = name == "unique" || name == "unique_combination_of_columns" ||
                         name == "expect_compound_columns_to_be_unique" ||
                         name == "expect_column_values_to_be_unique" || name == "primary_key" ||
                         name == "unique_key"
                     ? "unique"
                 : name == "not_null" || name == "expect_column_values_to_not_be_null" ? "not_null"
                                                                                       : "other";
    {
      check.enabled = Bool(config, "enabled").value_or(true);
      check.fails_run = Lower(Str(config, "severity")) != "warn";
      const auto error_if = Str(config, "error_if");
      std::string squeezed;
      for (const char c : error_if)
        if (c != ' ') squeezed += c;
      dom::element limit;
      check.covers_all_rows =
          Str(config, "where").empty() &&
          (squeezed.empty() || squeezed == "!=0" || squeezed == ">0" || squeezed == "<>0") &&
          !Child(config, "limit", limit);
    }
    test.attached = std::string(Str(e, "attached_node"));
    dom::element depends;
    if (Child(e, "depends_on", depends)) test.parents = Strings(depends, "nodes");
    tests_.push_back(std::move(test));
  }

  void Exposure(const std::string& id, const dom::element& e) {
    PendingExposure exposure;
    exposure.id = id;
    exposure.type = Lower(Str(e, "type"));
    CopyFact& copy = exposure.copy;
    copy.id = id;
    copy.exposure = true;
    copy.at = {file_, "/exposures/" + id};
    dom::element owner, depends, config, meta;
    if (Child(e, "owner", owner)) {
      const auto emails = Strings(owner, "email");
      copy.owner = OptStr(owner, "name");
      if (!emails.empty()) copy.contact = "mailto:" + emails[0];
      if (!copy.owner && !emails.empty()) copy.owner = emails[0];
    }
    copy.where = OptStr(e, "url");
    exposure.url = copy.where;
    if (Child(e, "depends_on", depends)) exposure.parents = Strings(depends, "nodes");
    if (Child(e, "config", config) && Bool(config, "enabled") == false) return;
    std::vector<dom::element> metas;
    if (Child(e, "meta", meta)) metas.push_back(meta);
    if (Child(e, "config", config) && Child(config, "meta", meta)) metas.push_back(meta);
    for (const dom::element& m : metas) {
      for (const char* word : {"extract", "holds_extract", "cache", "cached"}) {
        dom::element value;
        if (Child(m, word, value) && !(value.is_bool() && !bool(value))) exposure.holds_extract = true;
      }
      for (const char* word : {"taken", "trained_on"})
        for (const std::string& taken : Strings(m, word))
          if (std::find(copy.taken.begin(), copy.taken.end(), taken) == copy.taken.end())
            copy.taken.push_back(taken);
      dom::element block;
      if (exposure.meta_block.empty() && Child(m, "backreach", block) && block.is_object())
        exposure.meta_block = simdjson::minify(block);
      if (Child(m, "destinations", block))
        copy.note = "meta.destinations: " + std::string(simdjson::minify(block));
    }
    exposures_.push_back(std::move(exposure));
  }

  // ---- After the walk: everything that needs the adapter, or other nodes ----

  void Grain(PendingNode& node) {
    DatasetFact& fact = node.fact;
    if (!node.event_time.empty() && !fact.row_time && fact.kind != "view" && fact.kind != "ephemeral")
      fact.row_time = "exact";
    const bool declared = !fact.partitions.empty() && fact.partitions[0].grain;
    if (declared) return;
    PartitionFact p = fact.partitions.empty() ? PartitionFact() : fact.partitions[0];
    if (node.write->microbatch) {
      if (node.write->batch_size == "hour" || node.write->batch_size == "day" ||
          node.write->batch_size == "month" || node.write->batch_size == "year") {
        p.grain = node.write->batch_size;
        if (!p.timezone) p.timezone = "UTC";  // dbt cuts batches in UTC, always
        if (!p.column && !node.event_time.empty()) p.column = node.event_time;
        if (!node.write->begin.empty()) {
          if (ParseDate(node.write->begin, Calendar()).span)
            p.first = node.write->begin;
          else
            diagnostics_.Warning(path_,
                                 fmt::format("begin '{}' of {} is no date: its first partition is unknown",
                                             node.write->begin, fact.name));
        }
      } else {
        diagnostics_.Warning(
            path_,
            fmt::format("batch_size '{}' of {} is none of hour, day, month, year: its grain is unknown",
                        node.write->batch_size, fact.name),
            {"declare it in a registry: datasets: [{name: " + fact.name + ", partitions: ...}]"});
      }
    } else if (node.write->config.materialized != "view") {
      node.write->partition.adapter = adapter_;
      if (const auto partition = ReadDbtPartition(node.write->partition)) {
        p.grain = partition->grain;
        if (!p.column) p.column = partition->column;
        if (partition->utc && !p.timezone) p.timezone = "UTC";
      }
    }
    if (p.grain) fact.partitions.assign(1, p);
  }

  void Write(PendingNode& node) {
    DatasetFact& fact = node.fact;
    if (fact.write.mode) return;  // meta.backreach said it
    node.write->config.adapter = adapter_;
    const bool readable =
        adapter_ == "bigquery" ? !node.write->partition.field.empty() : node.write->has_partition_by;
    node.write->config.partitioned = readable;
    if (node.external) {
      fact.write.mode = "unknown";
      fact.write.why = "a node of another project: how it is written is not in this manifest";
      return;
    }
    if (node.resource_type == "source") return;
    const DbtWrite write = ResolveDbtWrite(node.write->config);
    fact.write.mode = write.mode;
    fact.write.why = write.why;
    if (!fact.write.key_given) {
      fact.write.key = write.key;
      fact.write.key_given = node.write->config.key_given;
    }
    if (fact.kind != "view" && fact.kind != "ephemeral" && fact.write.mode && *fact.write.mode == "none")
      fact.write.mode.reset();
  }

  // What a hook does beside the model: rows that leave, tables that it writes, calls of which nothing is
  // known.
  void Hooks(PendingNode& node, Facts& facts) {
    for (const std::string& hook : node.write->hooks) {
      std::string unknown;
      const auto sql = HookText(hook, unknown);
      const auto find = [&](std::string detail) {
        node.fact.findings.push_back({"side-effects", std::move(detail), {}, node.fact.at});
      };
      if (!unknown.empty())
        find("calls the macro '" + unknown + "', whose body is not in the manifest: what it does is unknown");
      if (!sql) continue;
      for (const SqlExport& found : FindExports(*sql)) {
        find(fmt::format("a hook writes out to {} ({})", found.destination, found.how));
        Exported(found, node.fact.name, "a hook of " + node.fact.name, node.fact.at, facts);
      }
      for (const std::string& effect : SideEffects(*sql)) find(effect);
    }
  }

  // What the project's on-run-start and on-run-end hooks write out, whatever is run.
  void Operations(Facts& facts) {
    for (const auto& [id, hook] : operations_) {
      std::string unknown;
      const auto sql = HookText(hook, unknown);
      if (!sql) continue;
      for (const SqlExport& found : FindExports(*sql))
        Exported(found, "", "the project's hook " + Split(id, '.').back(), {file_, "/nodes/" + id}, facts);
    }
  }

  // A hook that is one call of a macro is judged by the macro's body. Nothing for a variable, and for a macro
  // without body, which is named in `unknown`.
  std::optional<std::string> HookText(const std::string& hook, std::string& unknown) const {
    const auto tokens = TokenizeSql(hook);
    if (tokens.size() != 1 || tokens[0].kind != SqlToken::Kind::kJinja) return hook;
    const std::string call = tokens[0].text.substr(0, tokens[0].text.find('('));
    if (call == tokens[0].text) return std::nullopt;
    const auto body = macros_.find(call);
    if (body != macros_.end() && !body->second.empty()) return body->second;
    unknown = call;
    return std::nullopt;
  }

  void Exported(const SqlExport& found, const std::string& self, const std::string& who, const Place& at,
                Facts& facts) const {
    std::vector<std::string> datasets;
    for (const SqlTable& table : found.tables)
      datasets.push_back(table.jinja ? Referred(table.name, self) : table.name);
    if (datasets.empty() && !self.empty()) datasets.push_back(self);
    for (const std::string& dataset : datasets) {
      ExtractFact extract;
      extract.dataset = dataset;
      extract.destination = found.destination.empty() ? "(not in the hook)" : found.destination;
      extract.what = fmt::format("{} writes out ({})", who, found.how);
      extract.at = at;
      facts.extracts.push_back(std::move(extract));
    }
    if (datasets.empty())
      facts.unresolved.push_back({found.destination, "export", std::nullopt,
                                  fmt::format("{} writes out to {} ({}), and does not say from which table",
                                              who, found.destination, found.how),
                                  at});
  }

  // The dataset that a Jinja expression means: this, ref('x'), source('a', 'b').
  std::string Referred(const std::string& expression, const std::string& self) const {
    if (expression == "this") return self;
    std::vector<std::string> words;
    for (std::size_t at = 0; (at = expression.find_first_of("'\"", at)) != std::string::npos;) {
      const std::size_t end = expression.find(expression[at], at + 1);
      if (end == std::string::npos) break;
      words.push_back(expression.substr(at + 1, end - at - 1));
      at = end + 1;
    }
    if (words.empty()) return "{{ " + expression + " }}";
    const std::string tail = "." + Join(words, ".");
    for (const PendingNode& other : nodes_)
      if (EndsWith(other.fact.name, tail) &&
          (other.resource_type == "source") == StartsWith(expression, "source"))
        return other.fact.name;
    return Join(words, ".");
  }

  // The datasets that ids of any kind lead to: metrics and semantic models are walked through.
  std::vector<std::string> Through(const std::vector<std::string>& ids,
                                   const std::unordered_set<std::string_view>& known) const {
    std::vector<std::string> out, todo(ids.rbegin(), ids.rend());
    std::unordered_set<std::string> seen;
    while (!todo.empty()) {
      const std::string id = todo.back();
      todo.pop_back();
      if (!seen.insert(id).second) continue;
      if (known.count(id)) out.push_back(id);
      const auto it = passages_.find(id);
      if (it != passages_.end()) todo.insert(todo.end(), it->second.rbegin(), it->second.rend());
    }
    return out;
  }

  static bool IsData(const std::string& id) {
    for (const char* prefix : {"model.", "source.", "seed.", "snapshot."})
      if (id.rfind(prefix, 0) == 0) return true;
    return false;
  }

  void Edges(const std::unordered_set<std::string_view>& known, Facts& facts) {
    std::size_t edges = facts.edges.size();
    for (const PendingNode& node : nodes_) edges += node.parents.size();
    facts.edges.reserve(edges);
    std::unordered_set<std::string_view> done;
    for (const PendingNode& node : nodes_) {
      done.clear();
      for (const std::string& parent : node.parents) {
        if (!done.insert(parent).second || parent == node.fact.name) continue;
        if (known.count(parent)) {
          EdgeFact edge;
          edge.from = parent;
          edge.to = node.fact.name;
          edge.at = {file_, node.fact.at.place};
          // A batch filters the parents that declare an event time, and reads the others whole.
          if (node.microbatch) {
            if (event_timed_.count(parent))
              edge.reads = "\"same\"";
            else {
              edge.reads = "\"all\"";
              edge.note = "read whole by every batch: it declares no event_time";
            }
          }
          facts.edges.push_back(std::move(edge));
        } else if (IsData(parent)) {
          const bool off = disabled_.count(parent) > 0;
          const std::string message = fmt::format("{} reads {}, which is {}", node.fact.name, parent,
                                                  off ? "disabled" : "not in this manifest");
          diagnostics_.Warning(path_, message, {"something above it may be missing from plans"});
          facts.unresolved.push_back(
              {parent, "missing-node", node.fact.name, message, {file_, node.fact.at.place}});
        }
      }
    }
  }

  // The dataset that a generic test is about: told by attached_node, by the ref in its arguments, or by its
  // parents.
  std::string SubjectOf(const PendingTest& test, const std::unordered_set<std::string_view>& known) const {
    if (known.count(test.attached)) return test.attached;
    for (const char* call : {"ref('", "source('", "ref(\"", "source(\""}) {
      const std::size_t at = test.model_kwarg.find(call);
      if (at == std::string::npos) continue;
      const char quote = call[std::string_view(call).size() - 1];
      std::string name;
      std::size_t from = at + std::string_view(call).size();
      for (int part = 0; part < 2; ++part) {
        const std::size_t end = test.model_kwarg.find(quote, from);
        if (end == std::string::npos) break;
        name = test.model_kwarg.substr(from, end - from);
        const std::size_t next = test.model_kwarg.find(quote, end + 1);
        if (next == std::string::npos || test.model_kwarg.find_first_not_of(", ", end + 1) != next) break;
        from = next + 1;
      }
      for (const std::string& parent : test.parents)
        if (known.count(parent) &&
            (EndsWith(parent, "." + name) || parent.find("." + name + ".v") != std::string::npos))
          return parent;
    }
    return test.parents.size() == 1 && known.count(test.parents[0]) ? test.parents[0] : "";
  }

  void Exposures(const std::unordered_set<std::string_view>& known, Facts& facts) {
    for (PendingExposure& exposure : exposures_) {
      CopyFact& copy = exposure.copy;
      copy.of = Through(exposure.parents, known);
      if (const auto group = groups_.find(exposure.group); group != groups_.end()) {
        copy.owner = group->second.first;
        if (!group->second.second.empty()) copy.contact = "mailto:" + group->second.second;
      }
      for (const std::string& parent : exposure.parents) {
        if (known.count(parent) || passages_.count(parent) || !IsData(parent)) continue;
        facts.unresolved.push_back(
            {parent, "missing-node", std::nullopt,
             fmt::format("exposure {} reads {}, which is not in this manifest", exposure.id, parent),
             copy.at});
      }
      if (!exposure.meta_block.empty())
        ReadCopyBlock(exposure.meta_block, file_ + copy.at.place, copy, diagnostics_);
      const bool live = exposure.type == "dashboard" && !exposure.holds_extract &&
                        !(copy.kind && *copy.kind != "dashboard");
      if (live) {
        DatasetFact board;
        board.name = exposure.id;
        board.kind = "dashboard";
        board.short_names = {Split(exposure.id, '.').back()};
        board.owner = copy.owner;
        board.contact = copy.contact;
        board.url = exposure.url;
        board.at = copy.at;
        for (const std::string& parent : copy.of) {
          EdgeFact edge;
          edge.from = parent;
          edge.to = board.name;
          edge.at = copy.at;
          facts.edges.push_back(std::move(edge));
        }
        facts.datasets.push_back(std::move(board));
        continue;
      }
      if (!copy.kind)
        copy.kind = exposure.type == "dashboard"  ? "dashboard_cache"
                    : exposure.type == "ml"       ? "ml_model"
                    : exposure.type == "notebook" ? "notebook"
                                                  : "other";
      facts.copies.push_back(std::move(copy));
    }
  }

  void Finish(SourceFacts& out) {
    if (project_.empty()) {
      std::map<std::string, int>
          packages;  // older manifests do not name their project: the package of most models
      for (const PendingNode& node : nodes_)
        if (node.resource_type == "model") ++packages[node.package];
      int most = 0;
      for (const auto& [name, count] : packages)
        if (count > most) most = count, project_ = name;
      if (project_.empty()) project_ = "dbt";
    }
    out.source.kind = "dbt";
    out.source.name = out.source.key = project_;
    Facts& facts = facts_;
    std::unordered_set<std::string_view> known;  // into the names of nodes_
    for (const PendingNode& node : nodes_) {
      known.insert(node.fact.name);
      if (!node.event_time.empty()) event_timed_.insert(node.fact.name);
    }
    for (PendingNode& node : nodes_) {
      Grain(node);
      Write(node);
      Hooks(node, facts);
      Traits(node, facts);
      node.fact.platform = adapter_.empty() ? Text() : Text(adapter_);
      if (node.fact.group && !node.fact.owner) {
        const auto it = groups_.find(*node.fact.group);
        if (it != groups_.end()) {
          node.fact.owner = it->second.first;
          if (!it->second.second.empty()) node.fact.contact = "mailto:" + it->second.second;
        }
      }
      if (node.resource_type != "source" && !node.external) {
        // dbt selects by the fully qualified name, folders and all; older manifests without one by the name
        // alone.
        node.fact.methods["dbt"] = node.fqn.empty() ? node.fact.short_names[0] : Join(node.fqn, ".");
        if (node.write->microbatch) node.fact.methods["dbt_batches"] = node.write->batch_size;
      }
      node.microbatch = node.write->microbatch;
      node.write.reset();
    }
    Operations(facts);
    Edges(known, facts);
    Exposures(known, facts);
    const bool enforces =
        adapter_ == "postgres" || adapter_ == "duckdb" || adapter_ == "sqlserver" || adapter_ == "mysql";
    for (CheckFact& check : constraints_)
      if (enforces || check.kind == "not_null_constraint") facts.checks.push_back(std::move(check));
    for (PendingTest& test : tests_) {
      test.check.dataset = SubjectOf(test, known);
      if (!test.check.dataset.empty()) facts.checks.push_back(std::move(test.check));
    }
    facts.nodes = selector_nodes_.Take();
    out.facts = std::move(facts_);
  }

  std::string path_, file_, project_, adapter_, schema_version_;
  Diagnostics& diagnostics_;
  dom::parser parser_;
  std::string sha256_;
  std::size_t base_ = 0;
  MacroBodies macros_;  // the project's own: name -> body
  std::set<std::string> sections_;
  Facts facts_;
  std::deque<PendingNode> nodes_;
  std::vector<std::pair<std::string, std::string>> operations_;  // id and text
  std::vector<PendingTest> tests_;
  std::vector<CheckFact> constraints_;
  DbtNodeReader selector_nodes_;
  std::vector<PendingExposure> exposures_;
  std::unordered_map<std::string, std::vector<std::string>> passages_;
  std::unordered_set<std::string> disabled_, event_timed_, meta_done_;
  std::map<std::string, std::pair<std::string, std::string>> groups_;
};

// The files that were named, and those that lie beside the manifest in a folder of dbt.
DbtArtifacts ArtifactsOf(const ImportRequest& request, const std::string& manifest, bool folder) {
  const auto named = [&](const char* option) {
    const auto given = request.options.find(option);
    return given == request.options.end() ? std::vector<std::string>() : given->second;
  };
  const auto files = [&](const char* option, const char* name) {
    std::vector<std::string> out = named(option);
    const std::string beside = (std::filesystem::path(manifest).parent_path() / name).string();
    std::error_code ec;
    if (out.empty() && folder && std::filesystem::exists(beside, ec)) out.push_back(beside);
    return out;
  };
  const auto one = [&](const char* option, const char* name) {
    const auto list = files(option, name);
    return list.empty() ? std::string() : list.back();
  };
  return {files("run-results", "run_results.json"), one("catalog", "catalog.json"),
          one("sources", "sources.json")};
}

std::vector<SourceFacts> Run(const ImportRequest& request, Diagnostics& diagnostics) {
  std::vector<SourceFacts> out;
  std::string path = request.inputs.empty() ? "target" : request.inputs[0];
  std::error_code ec;
  const bool folder = std::filesystem::is_directory(path, ec);
  if (folder) {
    const std::string inside = (std::filesystem::path(path) / "manifest.json").string();
    if (!std::filesystem::exists(inside, ec)) {
      diagnostics.Error(path, "this folder holds no manifest.json",
                        {"run dbt (parse, compile, run or build) first, or give its target folder"});
      return out;
    }
    path = inside;
  }
  const auto project = request.options.find("project");
  ManifestReader reader(path, project == request.options.end() ? "" : project->second.back(), diagnostics);
  SourceFacts facts;
  if (!reader.Read(facts)) return out;
  AddDbtArtifacts(ArtifactsOf(request, path, folder), facts, diagnostics);
  if (!diagnostics.has_errors()) out.push_back(std::move(facts));
  return out;
}

}  // namespace

Importer DbtImporter() {
  return {
      "dbt",
      "MANIFEST|FOLDER",
      "A dbt project: its manifest.json, or the target folder that holds it",
      "  backreach ingest dbt target/\n"
      "  backreach ingest dbt build/manifest.json --project shop",
      false,
      {{"catalog", "catalog.json: types of columns, row counts (default: the folder's)", false},
       {"run-results",
        "run_results.json of earlier runs: which tests failed, how long runs took (default: the folder's)",
        true},
       {"sources", "sources.json: when sources were loaded (default: the folder's)", false},
       {"project", "name under which the facts are kept (default: the project's own)", false}},
      Run};
}

}  // namespace backreach
