// dbt's manifest.json (v1 to v12 and 2.0), read by the keys that are there and not by its version. The file
// is split into nodes and each node is parsed by itself, so memory does not grow with the file.

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <unordered_set>

#include "graph/base/digest.hpp"
#include "graph/base/words.hpp"
#include "graph/time/calendar.hpp"
#include "ingest/dbt/artifacts.hpp"
#include "ingest/dbt/pending.hpp"
#include "ingest/dbt/stale.hpp"
#include "ingest/declared/blocks.hpp"
#include "ingest/importer.hpp"
#include "ingest/read/file.hpp"
#include "ingest/read/json_fields.hpp"
#include "ingest/read/json_split.hpp"

namespace backreach {

namespace {

namespace dom = simdjson::dom;
using json::Bool;
using json::Child;
using json::Fields;
using json::Key;
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

// The parts of `"DB".PUBLIC.orders` as Snowflake stores them: capitals, unless quoted.
std::vector<std::string> StoredParts(std::string_view relation) {
  std::vector<std::string> parts;
  std::string part;
  bool quoted = false;
  for (std::size_t i = 0; i <= relation.size(); ++i) {
    const char c = i < relation.size() ? relation[i] : '.';
    if (c == '"' && quoted && i + 1 < relation.size() && relation[i + 1] == '"') {
      part += relation[i++];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == '.' && !quoted) {
      parts.push_back(std::move(part)), part.clear();
    } else {
      part += quoted ? c : c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
    }
  }
  return relation.empty() || parts.size() != 3 ? std::vector<std::string>() : parts;
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

class ManifestReader {
 public:
  ManifestReader(std::string path, std::string project, Diagnostics& diagnostics)
      : diagnostics_(diagnostics) {
    m_.path = std::move(path);
    m_.file = BaseName(m_.path);
    m_.project = std::move(project);
  }

  bool Read(SourceFacts& out) {
    auto file = MappedFile::Open(m_.path, diagnostics_);
    if (!file) return false;
    const std::string_view all = file->bytes(), text = WithoutMark(all);
    base_ = all.size() - text.size();
    if (text.empty()) return NotAManifest("the file is empty");
    if ((text.size() > 1 && (text.substr(0, 2) == "\xFF\xFE" || text.substr(0, 2) == "\xFE\xFF")) ||
        text.substr(0, 8).find('\0') != std::string_view::npos) {
      diagnostics_.Error(m_.path, "is encoded in UTF-16: convert it to UTF-8 (iconv -f UTF-16 -t UTF-8)");
      return false;
    }
    Diagnostics faults;  // of a file that changes under us these are not its own
    std::swap(faults, diagnostics_);
    const bool walked = Walk(*file, text);
    std::swap(faults, diagnostics_);
    if (!file->Settled(m_.path, diagnostics_)) return false;
    diagnostics_.Append(std::move(faults));
    if (!walked || !Judge()) return false;
    SettleDbtManifest(std::move(m_), out, diagnostics_);
    if (!file->Settled(m_.path, diagnostics_)) return false;  // models' code was read once more
    out.source.sha256 = sha256_;
    return !diagnostics_.has_errors();
  }

 private:
  bool NotAManifest(const std::string& why) {
    diagnostics_.Error(m_.path, "not a dbt manifest: " + why,
                       {"give target/manifest.json, or the target folder that holds it"});
    return false;
  }

  bool Broken(const SplitError& e, const std::string& pointer) {
    diagnostics_.Error(
        m_.path,
        fmt::format("{} (byte {}){}", e.what, Thousands(static_cast<std::int64_t>(e.byte + base_)),
                    pointer.empty() ? "" : ", in " + pointer),
        {"the file is damaged or was cut off: run dbt again; nothing was changed"});
    return false;
  }

  // Says where the first byte stands that is no UTF-8, counted in the whole file.
  bool NotUtf8(std::string_view document, const std::string& pointer) {
    diagnostics_.Error(m_.path, EncodingFault(document).value_or("is not UTF-8") + ", in " + pointer,
                       {"nothing was changed"});
    return false;
  }

  // Parses one value completely, so that broken JSON and bad UTF-8 are refused wherever they stand. `pointer`
  // says where that is.
  template <typename Pointer>
  bool Parse(std::string_view document, std::string_view value, const Pointer& pointer, dom::element& out) {
    const std::size_t behind =
        static_cast<std::size_t>(document.data() + document.size() - (value.data() + value.size()));
    const auto result = parser_.parse(value.data(), value.size(), behind < simdjson::SIMDJSON_PADDING);
    if (!result.get(out)) return true;
    const std::size_t at = static_cast<std::size_t>(value.data() - document.data()) + base_;
    if (!simdjson::validate_utf8(value.data(), value.size())) {
      return NotUtf8(document, pointer());
    } else {
      diagnostics_.Error(
          m_.path,
          fmt::format("broken JSON in {} (value at byte {}): {}", pointer(),
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
        if (!Parse(
                text, value, [&] { return pointer; }, element))
          return false;
        if (section == "metadata") Metadata(element);
        if (section == "disabled" && element.is_array()) DisabledList(element);
        continue;
      }
      const Section kind = SectionOf(section);
      ObjectSplitter members(text, top.value_begin());
      while (members.Next()) {
        if (!simdjson::validate_utf8(members.key().data(), members.key().size()))
          return NotUtf8(text, pointer);
        std::string_view value;
        if (!members.Value(value)) {
          SplitError e = *members.error();
          e.what = "the file ends inside " + pointer + "/" + Unescape(members.key());
          return Broken(e, "");
        }
        dom::element element;
        if (!Parse(
                text, value, [&] { return pointer + "/" + Unescape(members.key()); }, element))
          return false;
        member_ = value;
        Member(kind, section, Unescape(members.key()), element);
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
    m_.adapter = Lower(Str(m, "adapter_type"));
    const std::string project(Str(m, "project_name"));
    if (!project.empty()) m_.selector_nodes.Project(project);
    if (m_.project.empty()) m_.project = project;
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
          m_.path, "no schema version (metadata.dbt_schema_version): read by the keys that are there");
    }
    return true;
  }

  enum class Section {
    kData,
    kFunctions,
    kPassages,
    kExposures,
    kUnitTests,
    kGroups,
    kDisabled,
    kMacros,
    kSelectors,
    kOther  // of a kind that is not known: what depends on something passes it on all the same
  };
  static bool HoldsNodes(Section kind) {
    return kind == Section::kData || kind == Section::kFunctions || kind == Section::kPassages ||
           kind == Section::kExposures || kind == Section::kUnitTests;
  }
  static Section SectionOf(std::string_view name) {
    if (name == "nodes" || name == "sources") return Section::kData;
    if (name == "functions") return Section::kFunctions;
    if (name == "metrics" || name == "semantic_models" || name == "saved_queries") return Section::kPassages;
    if (name == "exposures") return Section::kExposures;
    if (name == "unit_tests") return Section::kUnitTests;
    if (name == "groups") return Section::kGroups;
    if (name == "disabled") return Section::kDisabled;
    if (name == "macros") return Section::kMacros;
    if (name == "selectors") return Section::kSelectors;
    return Section::kOther;
  }

  void Member(Section kind, const std::string& section, const std::string& id, const dom::element& e) {
    if (HoldsNodes(kind)) {
      const Fields node(e);
      const dom::element* config_element = node.Find("config");
      if (config_element && !config_element->is_object()) config_element = nullptr;
      const Fields config = config_element ? Fields(*config_element) : Fields();
      m_.selector_nodes.Node(id, node, config, config_element);
      if (kind == Section::kData)
        Node(id, node, config, config_element != nullptr);
      else if (kind == Section::kExposures)
        Exposure(id, e);
      else
        Passage(section, id, node);
    } else if (kind == Section::kOther) {
      Other(section, id, e);
    } else if (kind == Section::kGroups) {
      Group(id, e);
    } else if (kind == Section::kDisabled) {
      if (m_.disabled.insert(id).second) m_.selector_nodes.Disabled(id);
      DisabledEntry(e);
    } else if (kind == Section::kMacros) {
      const std::string package(Str(e, "package_name")), name(Str(e, "name"));
      if (m_.project.empty() || !sections_.count("nodes") || package == m_.project ||
          hook_packages_.count(package))
        m_.macros[package][name] = std::string(Str(e, "macro_sql"));
      m_.selector_nodes.Macro(id, e);
    } else if (kind == Section::kSelectors) {
      m_.selector_nodes.Named(id, e);
    }
  }

  void DisabledList(const dom::element& list) {
    for (const dom::element node : list.get_array()) {
      const auto id = Str(node, "unique_id");
      if (!id.empty() && m_.disabled.insert(std::string(id)).second)
        m_.selector_nodes.Disabled(std::string(id));
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
      if (!m_.tests.empty() && m_.tests.back().check.id == id) m_.tests.back().check.enabled = false;
    }
  }

  void Group(const std::string& id, const dom::element& e) {
    dom::element owner;
    if (!Child(e, "owner", owner)) return;
    const auto emails = Strings(owner, "email");
    const auto name = OptStr(owner, "name");
    m_.groups[Split(id, '.').back()] = {name.value_or(emails.empty() ? "" : emails[0]),
                                        emails.empty() ? "" : emails[0]};
  }

  // A member of a section that is not known.
  void Other(const std::string& section, const std::string& id, const dom::element& e) {
    dom::element depends, list;
    if (!Child(e, "depends_on", depends) || !Child(depends, "nodes", list)) return;
    const Fields node(e);
    const dom::element* config = node.Find("config");
    if (config && !config->is_object()) config = nullptr;
    m_.selector_nodes.Node(id, node, config ? Fields(*config) : Fields(), config);
    Passage(section, id, node);
  }

  // Whatever is no data itself and depends on something is a passage: what reads a function, a metric or a
  // thing of an unknown kind reads the models below it. What a saved query exports as a table keeps the
  // numbers that it was filled with.
  void Passage(const std::string& section, const std::string& id, const Fields& e) {
    dom::element depends, list;
    m_.passages[id] =
        Child(e, "depends_on", depends) ? Strings(depends, "nodes") : std::vector<std::string>();
    if (section == "semantic_models") m_.semantics.Model(id, e);
    if (section == "metrics" || section == "saved_queries") m_.semantics.Query(section, id, e);
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
      copy.at = {m_.file, "/saved_queries/" + id};
      std::vector<std::string> parts;
      for (const Key part : {Key("database"), Key("schema_name"), Key("alias")})
        if (const auto text = Str(config, part); !text.empty()) parts.emplace_back(text);
      if (Str(config, "alias").empty()) parts.emplace_back(Str(item, "name"));
      copy.where = Join(parts, ".");
      std::string group(Str(e, "group"));
      exported.group = group;
      copy.note = "a table that dbt's saved query exports: it is filled anew when the export runs";
      m_.exposures.push_back(std::move(exported));
    }
  }

  void Node(const std::string& id, const Fields& e, const Fields& config, bool configured) {
    const std::string type = DbtNodeType(id, e);
    if (type == "test") return Test(id, e, config, "/nodes/" + id);
    if (type == "operation") {
      const std::string_view text = Str(e, "raw_code").empty() ? Str(e, "raw_sql") : Str(e, "raw_code");
      m_.operations.push_back({id, std::string(text), std::string(Str(e, "package_name"))});
      hook_packages_.insert(m_.operations.back().package);
      NotePackages(text);
    }
    if (type != "model" && type != "seed" && type != "snapshot" && type != "source") {
      if (type != "operation") Passage("nodes", id, e);
      return;
    }
    DatasetFact& fact = m_.facts.datasets.emplace_back();
    PendingNode& node = m_.nodes.emplace_back(fact);
    node.resource_type = type;
    fact.name = id;
    fact.at = {m_.file, "/" + std::string(type == "source" ? "sources" : "nodes") + "/" + id};
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
      if (m_.adapter == "snowflake") fact.stored = StoredParts(Str(e, "relation_name"));
    } else if (!stored && !database.empty() && !schema.empty() && !table.empty()) {
      fact.names.Make().push_back({database + "." + schema + "." + table, NameRule::kUnstored, ""});
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
        Str(e, "raw_code").empty() && Str(e, "raw_sql").empty() && node.package != m_.project) {
      node.external = true;
      fact.kind = "external";
      fact.writes_relation = false;
    }
    dom::element depends;
    if (Child(e, "depends_on", depends)) node.parents = Strings(depends, "nodes");
    if (configured) Config(config, node);
    const std::string_view sql = Str(e, "raw_code").empty() ? Str(e, "raw_sql") : Str(e, "raw_code");
    if (node.write->config.materialized == "incremental" ||
        (node.write->config.materialized == "table" && AsksForNow(sql)))
      node.write->sql = std::string(sql);
    node.write->python = Str(e, "language") == "python";
    if (IsRefreshed(node.write->config.materialized)) node.write->relation_name = Str(e, "relation_name");
    if (type == "source") node.write->layout.loaded_at = std::string(Str(e, "loaded_at_field"));
    if (type == "model") Code(e, sql, node);
    DayColumns(e, node);
    Constraints(e, config, node);
    Ownership(e, config, fact);
    fact.tags = Strings(e, "tags");
    MetaBlock(e, fact);
    MetaBlock(config, fact);
    // dbt selects by the fully qualified name, folders and all; older manifests without one by the name
    // alone.
    if (type != "source" && !node.external) {
      dom::element list;
      std::string fqn;
      if (Child(e, "fqn", list))
        json::ForStrings(list, [&](std::string_view part) {
          if (!fqn.empty()) fqn += '.';
          fqn += part;
        });
      fact.methods["dbt"] = fqn.empty() ? name : std::move(fqn);
    }
  }

  // A model's code, to be read for what it tells of its parents.
  void Code(const Fields& e, std::string_view raw, PendingNode& node) const {
    std::string_view compiled = Str(e, "compiled_code");
    if (compiled.empty()) compiled = Str(e, "compiled_sql");
    if (raw.empty() && compiled.empty()) return;
    constexpr std::size_t kLongest = 2'000'000;
    if (raw.size() <= kLongest && compiled.size() <= kLongest) node.code_at = member_;
  }
  // Columns that are said to hold dates, without a time.
  void DayColumns(const Fields& e, PendingNode& node) const {
    dom::element columns;
    dom::object fields;
    if (!Child(e, "columns", columns) || columns.get(fields)) return;
    for (const auto& field : fields) {
      if (!field.value.is_object()) continue;
      const std::string type = Lower(Str(field.value, "data_type"));
      if (type == "date" || type == "date32") node.days.insert(Lower(field.key));
    }
    if (node.write->partition.data_type == "date" && !node.write->partition.field.empty() &&
        m_.adapter == "bigquery")
      node.days.insert(Lower(node.write->partition.field));
  }

  // The packages that a hook's text calls macros of: `{{ elementary.on_run_end() }}`.
  void NotePackages(std::string_view text) {
    const auto letter = [&](std::size_t i) {
      return std::isalnum(static_cast<unsigned char>(text[i])) || text[i] == '_';
    };
    for (std::size_t dot = text.find('.'); dot != std::string_view::npos; dot = text.find('.', dot + 1)) {
      std::size_t from = dot;
      while (from > 0 && letter(from - 1)) --from;
      if (from < dot) hook_packages_.emplace(text.substr(from, dot - from));
    }
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
      for (const Key name : {Key("partitioning"), Key("partitioned_by")})
        for (std::string& text : Strings(properties, name)) {
          node.write->has_partition_by = true;
          node.write->partition.texts.push_back(std::move(text));
        }
    LaidOut(config, node.write->partition, node.write->layout);
    node.write->static_partitions = Strings(config, "partitions");
    node.write->config.clustered = Child(config, "liquid_clustered_by", partition);
    node.write->config.static_partitions = !node.write->static_partitions.empty();
    node.write->config.table_type = Lower(Str(config, "table_type"));
    node.write->config.inserts_only = Bool(config, "inserts_only").value_or(false);
    if (IsRefreshed(node.write->config.materialized)) Refreshing(config, node.write->config);
    node.write->skips_matched = Bool(config, "skip_matched_step").value_or(false);
    for (const Key when : {Key("pre-hook"), Key("post-hook"), Key("pre_hook"), Key("post_hook")}) {
      dom::element hooks;
      dom::array list;
      if (!Child(config, when, hooks)) continue;
      const auto add = [&](std::string_view text) {
        if (text.empty()) return;
        node.write->hooks.emplace_back(text);
        hook_packages_.insert(node.package);
        NotePackages(text);
      };
      std::string_view text;
      if (!hooks.get(text)) add(text);
      if (hooks.get(list)) continue;
      for (const dom::element hook : list) add(!hook.get(text) ? text : Str(hook, "sql"));
    }
    dom::element predicates;
    node.write->config.has_predicates =
        Child(config, "incremental_predicates", predicates) || Child(config, "predicates", predicates);
    if (node.write->config.has_predicates) node.write->predicates = Strings(predicates);
    node.write->update_columns = Strings(config, "merge_update_columns");
    node.write->exclude_columns = Strings(config, "merge_exclude_columns");
    node.write->on_schema_change = Lower(Str(config, "on_schema_change"));
  }

  // By which columns the platform lays a table out. ClickHouse's `order_by` may be one text with brackets.
  static void LaidOut(const Fields& config, const DbtPartitionConfig& partition, DbtLayoutConfig& out) {
    const auto take = [&](const Key key, std::vector<std::string>& list) {
      dom::element value;
      if (!Child(config, key, value)) return;
      for (std::string text : Strings(value)) {
        if (text.size() > 2 && text.front() == '(' && text.back() == ')')
          text = text.substr(1, text.size() - 2);
        const bool several = text.find('(') == std::string::npos;
        for (std::string& part : several ? Split(text, ',') : std::vector<std::string>{text})
          list.push_back(std::move(part));
      }
    };
    take(Key("cluster_by"), out.cluster);
    take(Key("liquid_clustered_by"), out.cluster);
    take(Key("sort"), out.sort);
    take(Key("order_by"), out.sort);
    out.partition = partition.texts;
    if (!partition.field.empty()) out.partition.push_back(partition.field);
  }

  // Who refreshes what the platform keeps up to date.
  static void Refreshing(const Fields& config, DbtWriteConfig& out) {
    dom::element value;
    out.refreshable = Child(config, "refreshable", value);
    out.scheduled = Child(config, "schedule", value);
    out.auto_refresh = Bool(config, "auto_refresh");
    if (!out.auto_refresh) out.auto_refresh = Bool(config, "enable_refresh");
    out.target_lag = Child(config, "target_lag", value);
    out.scheduler_off = Lower(Str(config, "scheduler")) == "disable";
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
      m_.constraints.push_back(check);
      if (type == "primary_key") {
        check.kind = "not_null_constraint";
        m_.constraints.push_back(std::move(check));
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
    ReadDatasetBlock(simdjson::minify(block), m_.file + fact.at.place, fact, diagnostics_);
  }

  void Test(const std::string& id, const Fields& e, const Fields& config, const std::string& pointer) {
    PendingTest test;
    CheckFact& check = test.check;
    check.id = id;
    check.at = {m_.file, pointer};
    dom::element meta, kwargs;
    std::string name;
    if (Child(e, "test_metadata", meta)) {
      name = std::string(Str(meta, "name"));
      if (Child(meta, "kwargs", kwargs)) {
        for (const Key field :
             {Key("combination_of_columns"), Key("column_list"), Key("column_names"), Key("column_name")}) {
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
    m_.tests.push_back(std::move(test));
  }

  void Exposure(const std::string& id, const dom::element& e) {
    PendingExposure exposure;
    exposure.id = id;
    exposure.type = Lower(Str(e, "type"));
    CopyFact& copy = exposure.copy;
    copy.id = id;
    copy.exposure = true;
    copy.at = {m_.file, "/exposures/" + id};
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
    m_.passages[id] = exposure.parents;
    if (Child(e, "config", config) && Bool(config, "enabled") == false) return;
    std::vector<dom::element> metas;
    if (Child(e, "meta", meta)) metas.push_back(meta);
    if (Child(e, "config", config) && Child(config, "meta", meta)) metas.push_back(meta);
    for (const dom::element& m : metas) {
      for (const Key word : {Key("extract"), Key("holds_extract"), Key("cache"), Key("cached")}) {
        dom::element value;
        if (Child(m, word, value) && !(value.is_bool() && !bool(value))) exposure.holds_extract = true;
      }
      for (const Key word : {Key("taken"), Key("trained_on")})
        for (const std::string& taken : Strings(m, word))
          if (std::find(copy.taken.begin(), copy.taken.end(), taken) == copy.taken.end())
            copy.taken.push_back(taken);
      dom::element block;
      if (exposure.meta_block.empty() && Child(m, "backreach", block) && block.is_object())
        exposure.meta_block = simdjson::minify(block);
      if (Child(m, "destinations", block))
        copy.note = "meta.destinations: " + std::string(simdjson::minify(block));
    }
    m_.exposures.push_back(std::move(exposure));
  }

  DbtManifest m_;
  std::string schema_version_;
  Diagnostics& diagnostics_;
  dom::parser parser_;
  std::string sha256_;
  std::string_view member_;  // the one that is being read, as it stands in the file
  std::size_t base_ = 0;
  std::set<std::string> sections_;
  std::unordered_set<std::string> meta_done_;
  std::set<std::string> hook_packages_;  // whose macros hooks may call
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
  WarnIfStale(path, diagnostics);
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
      {{"catalog", "catalog.json: types of columns, row counts (default: the folder's)", false, "FILE"},
       {"run-results",
        "run_results.json of earlier runs: which tests failed, how long runs took (default: the folder's)",
        true, "FILE"},
       {"sources", "sources.json: when sources were loaded (default: the folder's)", false, "FILE"},
       {"project", "name under which the facts are kept (default: the project's own)", false}},
      Run};
}

}  // namespace backreach
