// Everything about a dbt project that needs its adapter, its macros, or other nodes than the one that is
// judged.

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

#include "graph/base/words.hpp"
#include "graph/time/calendar.hpp"
#include "ingest/dbt/hooks.hpp"
#include "ingest/dbt/pending.hpp"
#include "ingest/dbt/refresh.hpp"
#include "ingest/dbt/refs.hpp"
#include "ingest/dbt/selectors.hpp"
#include "ingest/declared/blocks.hpp"
#include "ingest/sql/bounds.hpp"
#include "ingest/sql/scan.hpp"

namespace backreach {

namespace {

std::string Unknown(const DbtHook& hook) {
  return fmt::format("calls the macro '{}', {}: what it does is unknown", hook.unknown,
                     hook.missing ? "whose body is not in the manifest" : "which cannot be read to its end");
}

class Settler {
 public:
  Settler(DbtManifest manifest, Diagnostics& diagnostics)
      : m_(std::move(manifest)), diagnostics_(diagnostics) {}

  void Finish(SourceFacts& out) {
    if (m_.project.empty()) {
      std::map<std::string, int>
          packages;  // older manifests do not name their project: the package of most models
      for (const PendingNode& node : m_.nodes)
        if (node.resource_type == "model") ++packages[node.package];
      int most = 0;
      for (const auto& [name, count] : packages)
        if (count > most) most = count, m_.project = name;
      if (m_.project.empty()) m_.project = "dbt";
    }
    own_macros_ = &m_.macros[m_.project];
    hooks_.emplace(m_.adapter, m_.project, m_.macros);
    out.source.kind = "dbt";
    out.source.name = out.source.key = m_.project;
    Facts& facts = m_.facts;
    std::unordered_set<std::string_view> known;  // into the names of m_.nodes
    for (const PendingNode& node : m_.nodes) {
      known.insert(node.fact.name);
      if (!node.event_time.empty()) event_timed_.insert(node.fact.name);
    }
    for (PendingNode& node : m_.nodes) {
      Grain(node);
      Write(node);
      Hooks(node, facts);
      Traits(node, facts);
      node.fact.platform = m_.adapter.empty() ? Text() : Text(m_.adapter);
      if (node.fact.group && !node.fact.owner) {
        const auto it = m_.groups.find(*node.fact.group);
        if (it != m_.groups.end()) {
          node.fact.owner = it->second.first;
          if (!it->second.second.empty()) node.fact.contact = "mailto:" + it->second.second;
        }
      }
      if (node.resource_type != "source" && !node.external && node.write->microbatch) NoteBatches(node);
      AddLayoutSigns(node.write->layout, node.fact);
      node.microbatch = node.write->microbatch;
      node.write.reset();
    }
    Selectors();
    Operations(facts);
    Semantics(facts);
    ReadCode();
    Signs();
    Edges(known, facts);
    Disabled(known, facts);
    Exposures(known, facts);
    const bool enforces = m_.adapter == "postgres" || m_.adapter == "duckdb" || m_.adapter == "sqlserver" ||
                          m_.adapter == "mysql";
    for (CheckFact& check : m_.constraints)
      if (enforces || check.kind == "not_null_constraint") facts.checks.push_back(std::move(check));
    for (PendingTest& test : m_.tests) {
      test.check.dataset = SubjectOf(test, known);
      if (!test.check.dataset.empty()) facts.checks.push_back(std::move(test.check));
    }
    facts.nodes = m_.selector_nodes.Take();
    out.facts = std::move(m_.facts);
  }

 private:
  static void NoteBatches(PendingNode& node) {
    node.fact.methods["dbt_batches"] = node.write->batch_size;
    if (!node.write->begin.empty()) node.fact.methods["dbt_begin"] = node.write->begin;
  }

  void Selectors() {
    std::vector<DbtSelectable> nodes;
    for (PendingNode& node : m_.nodes)
      if (const auto it = node.fact.methods.find("dbt"); it != node.fact.methods.end())
        nodes.push_back({&it->second, node.package});
    MakeSelectorsExact(nodes);
    for (PendingNode& node : m_.nodes)  // without a selector it is left to a person
      if (const auto it = node.fact.methods.find("dbt"); it != node.fact.methods.end() && it->second.empty())
        node.fact.methods.erase(it);
  }

  void Grain(PendingNode& node) {
    CutBy(node);
    // Its event time cuts it where nothing else is known to.
    DatasetFact& fact = node.fact;
    if (node.event_time.empty() || fact.partitions.size() > 1) return;
    if (fact.partitions.empty()) fact.partitions.emplace_back();
    if (!fact.partitions[0].column) fact.partitions[0].column = node.event_time;
  }

  void CutBy(PendingNode& node) {
    DatasetFact& fact = node.fact;
    std::map<std::string, std::string> stated;  // what was taken from which of dbt's settings
    if (!node.event_time.empty() && !fact.row_time && fact.kind != "view" && fact.kind != "ephemeral") {
      fact.row_time = "exact";
      stated["row_time"] = "event_time";
    }
    if (fact.partitions.size() < 2) {
      PartitionFact p = fact.partitions.empty() ? PartitionFact() : fact.partitions[0];
      const bool declared = p.grain.has_value();
      if (!declared) Cut(node, p, stated);
      Begin(node, p, stated);
      if (!p.column && node.write->microbatch && p.grain && !node.event_time.empty())
        p.column = node.event_time;
      if (p.grain) fact.partitions.assign(1, p);
    }
    if (!stated.empty()) fact.findings.push_back({"stated", "", std::move(stated), fact.at});
  }

  // dbt's `begin` is where a build from nothing starts: taken as the first partition until somebody states
  // one, and told apart from a stated one.
  void Begin(PendingNode& node, PartitionFact& p, std::map<std::string, std::string>& stated) {
    if (!node.write->microbatch || node.write->begin.empty() || p.first || !p.grain) return;
    if (ParseDate(node.write->begin, Calendar()).span) {
      p.first = node.write->begin;
      stated["first"] = "begin";
    } else {
      diagnostics_.Warning(m_.path, fmt::format("begin '{}' of {} is no date: its first partition is unknown",
                                                node.write->begin, node.fact.name));
    }
  }

  // The grain that dbt itself has for a model: its batches, or what its adapter partitions by.
  void Cut(PendingNode& node, PartitionFact& p, std::map<std::string, std::string>& stated) {
    DatasetFact& fact = node.fact;
    if (node.write->microbatch) {
      if (node.write->batch_size == "hour" || node.write->batch_size == "day" ||
          node.write->batch_size == "month" || node.write->batch_size == "year") {
        p.grain = node.write->batch_size;
        if (!p.timezone) p.timezone = "UTC";  // dbt cuts batches in UTC, always
        stated["grain"] = "batch_size";
      } else {
        diagnostics_.Warning(
            m_.path,
            fmt::format("batch_size '{}' of {} is none of hour, day, month, year: its grain is unknown",
                        node.write->batch_size, fact.name),
            {"declare it in a registry: datasets: [{name: " + fact.name + ", partitions: ...}]"});
      }
    } else if (node.write->config.materialized != "view") {
      node.write->partition.adapter = m_.adapter;
      if (const auto partition = ReadDbtPartition(node.write->partition)) {
        p.grain = partition->grain;
        if (!p.column) p.column = partition->column;
        if (partition->utc && !p.timezone) p.timezone = "UTC";
        stated["grain"] = "partition_by";
      }
    }
  }

  void Write(PendingNode& node) {
    DatasetFact& fact = node.fact;
    if (fact.write.mode) return;  // meta.backreach said it
    node.write->config.adapter = m_.adapter;
    const bool readable =
        m_.adapter == "bigquery" ? !node.write->partition.field.empty() : node.write->has_partition_by;
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
    NoteRefresh(node.write->config, write, node.write->relation_name, fact);
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
    for (const std::string& text : node.write->hooks) {
      const DbtHook& hook = hooks_->Meaning(text, node.package);
      const auto find = [&](std::string detail) {
        node.fact.findings.push_back({"side-effects", std::move(detail), {}, node.fact.at});
      };
      if (!hook.unknown.empty()) find(Unknown(hook));
      for (const SqlExport& found : hook.exports) {
        find(fmt::format("a hook writes out to {} ({})", found.destination, found.how));
        Exported(found, node.fact.name, "a hook of " + node.fact.name, node.fact.at, facts);
      }
      for (const std::string& effect : hook.effects) find(effect);
    }
  }

  // What on-run-start and on-run-end hooks write out or else do, whatever is run.
  void Operations(Facts& facts) {
    for (const auto& [id, text, package] : m_.operations) {
      const DbtHook& hook = hooks_->Meaning(text, package);
      const Place at{m_.file, "/nodes/" + id};
      const std::string hook_name = Split(id, '.').back();
      const std::string who = package.empty() || package == m_.project
                                  ? "the project's hook " + hook_name
                                  : "the hook " + hook_name + " of the package " + package;
      const auto say = [&](const std::string& name, const std::string& what) {
        facts.unresolved.push_back(
            {name, "hook", std::nullopt, who + ", which runs with every dbt command, " + what, at});
      };
      if (!hook.unknown.empty()) say(hook.unknown + "()", Unknown(hook));
      for (const SqlExport& found : hook.exports) Exported(found, "", who, at, facts);
      for (const std::string& effect : hook.effects) say(id, effect);
    }
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
    for (const PendingNode& other : m_.nodes)
      if (EndsWith(other.fact.name, tail) &&
          (other.resource_type == "source") == StartsWith(expression, "source"))
        return other.fact.name;
    return Join(words, ".");
  }

  // The datasets that ids of any kind lead to, functions, metrics and whatever else depends on something
  // walked through, and the names on the way that nothing defines.
  struct Reached {
    std::vector<std::string> datasets, missing;
  };
  Reached Through(const std::vector<std::string>& ids,
                  const std::unordered_set<std::string_view>& known) const {
    Reached out;
    std::vector<std::string> todo(ids.rbegin(), ids.rend());
    std::unordered_set<std::string> seen;
    while (!todo.empty()) {
      const std::string id = todo.back();
      todo.pop_back();
      if (!seen.insert(id).second) continue;
      if (known.count(id))
        out.datasets.push_back(id);
      else if (const std::vector<std::string>* passed = PassedOnBy(id))
        todo.insert(todo.end(), passed->rbegin(), passed->rend());
      else
        out.missing.push_back(id);
    }
    return out;
  }

  // What something that is no data depends on; null where nothing defines it.
  const std::vector<std::string>* PassedOnBy(const std::string& id) const {
    if (const auto it = m_.passages.find(id); it != m_.passages.end()) return &it->second;
    if (id.rfind("test.", 0) == 0)
      for (const PendingTest& test : m_.tests)
        if (test.check.id == id) return &test.parents;
    return nullptr;
  }

  std::string WhyMissing(const std::string& id) const {
    return m_.disabled.count(id) > 0 ? "disabled" : "not in this manifest";
  }

  // What saved queries and metrics group and filter by.
  void Semantics(Facts& facts) {
    for (const DbtSemantics::Unplaced& u : m_.semantics.Resolve(m_.passages))
      facts.unresolved.push_back(
          {u.name,
           u.saved ? "copy" : "dimension",
           std::nullopt,
           fmt::format("{} groups or filters by '{}', which no semantic model of this manifest has", u.query,
                       u.name),
           {m_.file, (u.saved ? "/saved_queries/" : "/metrics/") + u.query}});
  }

  static bool IsData(const std::string& id) {
    for (const char* prefix : {"model.", "source.", "seed.", "snapshot."})
      if (id.rfind(prefix, 0) == 0) return true;
    return false;
  }

  // Each name once, where it stood first.
  static void Once(std::vector<std::string>& names) {
    if (names.size() < 2) return;
    std::unordered_set<std::string> seen;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto first = names.begin(), end = first + static_cast<std::ptrdiff_t>(kept);
      const bool before =
          names.size() > 16 ? !seen.insert(names[i]).second : std::find(first, end, names[i]) != end;
      if (before) continue;
      if (kept != i) names[kept].swap(names[i]);
      ++kept;
    }
    names.resize(kept);
  }

  // What is switched off is kept by its name, for whoever asks for it.
  void Disabled(const std::unordered_set<std::string_view>& known, Facts& facts) const {
    std::vector<std::string> ids;
    for (const std::string& id : m_.disabled)
      if (IsData(id) && !known.count(id)) ids.push_back(id);
    std::sort(ids.begin(), ids.end());
    for (const std::string& id : ids)
      facts.unresolved.push_back(
          {id, "disabled", std::nullopt, id + " is disabled", {m_.file, "/disabled/" + id}});
  }

  // Models after those that they read: which columns hold days is passed on.
  void ReadCode() {
    std::unordered_map<std::string_view, std::size_t> at;
    for (std::size_t i = 0; i < m_.nodes.size(); ++i) at.emplace(m_.nodes[i].fact.name, i);
    std::vector<std::uint8_t> state(m_.nodes.size(), 0);
    std::vector<std::pair<std::size_t, std::size_t>> walk;
    reads_.resize(m_.nodes.size());
    for (std::size_t root = 0; root < m_.nodes.size(); ++root) {
      if (state[root]) continue;
      walk.push_back({root, 0});
      state[root] = 1;
      while (!walk.empty()) {
        auto& [i, next] = walk.back();
        const std::vector<std::string>& parents = m_.nodes[i].parents;
        if (next < parents.size()) {
          const auto p = at.find(parents[next++]);
          if (p != at.end() && !state[p->second]) {
            state[p->second] = 1;
            walk.push_back({p->second, 0});
          }
          continue;
        }
        ReadCodeOf(i, at);
        walk.pop_back();
      }
    }
    ReadAgain(at);
  }
  void ReadCodeOf(std::size_t i, const std::unordered_map<std::string_view, std::size_t>& at) {
    PendingNode& node = m_.nodes[i];
    if (node.code_at.empty()) return;
    Once(node.parents);
    std::vector<DbtParent> parents;
    std::vector<PendingNode*> nodes;
    for (const std::string& id : node.parents) {
      const auto known = at.find(id);
      if (known == at.end()) continue;
      PendingNode& p = m_.nodes[known->second];
      nodes.push_back(&p);
      parents.push_back({id, p.fact.relation, p.fact.short_names, p.resource_type == "source",
                         p.fact.kind == "ephemeral", &p.days, &p.cuts});
    }
    if (parents.empty()) return;
    std::vector<std::string> wanted;
    for (const PartitionFact& p : node.fact.partitions)
      if (p.column) wanted.push_back(Lower(*p.column));
    Reads& kept = reads_[i];
    kept.days.clear();
    for (const PendingNode* p : nodes) kept.days.push_back(p->days.size());
    DbtCodeReads reads = ReadDbtCode(code_loader_.Load(node.code_at), parents, node.fact.relation, wanted,
                                     *own_macros_, m_.adapter);
    node.days.insert(reads.days.begin(), reads.days.end());
    node.cuts = std::move(reads.cuts);
    for (std::size_t k = 0; k < parents.size(); ++k) {
      // A source has no code of its own: its readers tell which of its columns hold days.
      if (!nodes[k]->code_at.empty()) continue;
      nodes[k]->days.insert(reads.parents_days[k].begin(), reads.parents_days[k].end());
      kept.days[k] = nodes[k]->days.size();
    }
    for (std::size_t k = 0; k < parents.size(); ++k) {
      if (reads.told[k]) kept.of[parents[k].id] = std::move(reads.of[k]);
    }
    index_.emplace(&node, i);
  }
  // Again, where another reader has since shown that a parent's column holds days.
  void ReadAgain(const std::unordered_map<std::string_view, std::size_t>& at) {
    for (std::size_t i = 0; i < m_.nodes.size(); ++i) {
      PendingNode& node = m_.nodes[i];
      if (node.code_at.empty() || reads_[i].days.empty()) continue;
      std::size_t k = 0;
      bool more = false;
      for (const std::string& id : node.parents) {
        const auto known = at.find(id);
        if (known == at.end() || k >= reads_[i].days.size()) continue;
        more = more || m_.nodes[known->second].days.size() > reads_[i].days[k];
        ++k;
      }
      if (more) ReadCodeOf(i, at);
    }
  }
  // What may cut nodes whose grain nobody stated. A column that shows signs passes them on to the column of a
  // parent that it is taken from, through views: the readers of a source are all that tells of it.
  void Signs() {
    std::unordered_map<std::string_view, std::size_t> by_name;
    std::vector<std::size_t> todo;
    for (std::size_t i = 0; i < m_.nodes.size(); ++i) {
      PendingNode& node = m_.nodes[i];
      by_name.emplace(node.fact.name, i);
      std::set<std::string> days;
      for (const std::string& column : node.days)
        if (TakenFromRows(reads_[i].of, column)) days.insert(column);
      AddColumnSigns(node.cuts, days, node.fact);
      if (!node.fact.signs.empty()) todo.push_back(i);
    }
    while (!todo.empty()) {
      const std::size_t i = todo.back();
      todo.pop_back();
      const std::vector<GrainSign> signs = *m_.nodes[i].fact.signs;
      const bool view = m_.nodes[i].fact.kind == "view" || m_.nodes[i].fact.kind == "ephemeral";
      for (const auto& [parent, code] : reads_[i].of) {
        const auto at = by_name.find(parent);
        if (at != by_name.end() && PassSigns(signs, view, code, m_.nodes[at->second].fact))
          todo.push_back(at->second);
      }
    }
  }
  // Not the same on every row; of what has no code nobody knows.
  static bool TakenFromRows(const std::map<std::string, CodeReads>& of, const std::string& column) {
    if (of.empty()) return true;
    for (const auto& [parent, code] : of)
      if (const CodeTrace* trace = code.Of(column))
        for (const CodeUse& use : trace->uses)
          for (const CodeUse::Way& way : use.ways)
            if (!way.reach.low.open && !way.reach.high.open) return true;
    return false;
  }
  static bool PassSigns(const std::vector<GrainSign>& signs, bool view, const CodeReads& code,
                        DatasetFact& parent) {
    bool added = false;
    for (const GrainSign& sign : signs) {
      if (sign.kind == GrainSign::Kind::kLoaded || (sign.kind == GrainSign::Kind::kReader && !view)) continue;
      const CodeTrace* trace = code.Of(sign.column);
      if (!trace) continue;
      for (const CodeUse& use : trace->uses)
        for (const CodeUse::Way& way : use.ways)
          if (!way.reach.low.open && !way.reach.high.open)
            added |= AddGrainSign(GrainSign::Kind::kReader, way.column == "=" ? sign.column : way.column,
                                  Grain::Unit::kNone, parent);
    }
    return added;
  }
  const CodeReads* CodeOf(const PendingNode& node, const std::string& parent) const {
    const auto i = index_.find(&node);
    if (i == index_.end()) return nullptr;
    const auto it = reads_[i->second].of.find(parent);
    return it == reads_[i->second].of.end() ? nullptr : &it->second;
  }
  void Edges(const std::unordered_set<std::string_view>& known, Facts& facts) {
    std::size_t edges = facts.edges.size();
    for (const PendingNode& node : m_.nodes) edges += node.parents.size();
    facts.edges.reserve(edges);
    for (PendingNode& node : m_.nodes) {
      Once(node.parents);
      for (std::string& parent : node.parents) {
        if (parent == node.fact.name) continue;
        if (!known.count(parent)) {
          EdgesThrough(node, parent, known, facts);
          continue;
        }
        EdgeFact& edge = facts.edges.emplace_back();
        edge.to = node.fact.name;
        edge.at = {m_.file, node.fact.at.place};
        if (node.microbatch)
          BatchReads(node, parent, edge);
        else if (const CodeReads* code = CodeOf(node, parent))
          edge.code = FormatCodeReads(*code);
        edge.from = std::move(parent);
      }
    }
  }

  // A batch filters the parents that declare an event time, unless their names alone are taken, and reads
  // the others whole.
  void BatchReads(const PendingNode& node, const std::string& parent, EdgeFact& edge) const {
    edge.reads = "\"all\"";
    if (!event_timed_.count(parent)) {
      edge.note = "read whole by every batch: it declares no event_time";
    } else if (const auto it = node.rendered.find(parent); it != node.rendered.end()) {
      edge.known = "assumed";
      edge.note = it->second;
    } else {
      edge.reads = "\"same\"";
      edge.known = "proven";
    }
  }

  // What a model reads through something that is no data: a function, a thing of an unknown kind. Which
  // rows it looks up there is not known.
  void EdgesThrough(const PendingNode& node, const std::string& through,
                    const std::unordered_set<std::string_view>& known, Facts& facts) {
    const Place at{m_.file, node.fact.at.place};
    Reached reached = Through({through}, known);
    for (std::string& from : reached.datasets) {
      EdgeFact& edge = facts.edges.emplace_back();
      edge.to = node.fact.name;
      edge.at = at;
      edge.known = "assumed";
      edge.note = "read inside " + through;
      if (from != node.fact.name) edge.reads = "\"all\"";
      edge.from = std::move(from);
    }
    for (const std::string& missing : reached.missing) {
      const std::string message =
          fmt::format("{} reads {}{}, which is {}", node.fact.name, missing,
                      missing == through ? "" : " through " + through, WhyMissing(missing));
      diagnostics_.Warning(m_.path, message, {"something above it may be missing from plans"});
      facts.unresolved.push_back({missing, "missing-node", node.fact.name, message, at});
    }
  }

  // Which parents with an event time a microbatch model takes the names of.
  void Rendered(PendingNode& node) const {
    if (node.write->sql.empty() || node.write->python) return;
    for (const RenderedRef& ref : FindRenderedRefs(node.write->sql, *own_macros_)) {
      std::vector<std::string> inside = ref.words;
      for (std::string& word : inside) word = "'" + word + "'";
      if (!ref.version.empty()) inside.push_back("v=" + ref.version);
      const std::string call = ref.words.empty()
                                   ? "a ref that could not be followed"
                                   : (ref.source ? "source(" : "ref(") + Join(inside, ", ") + ")";
      const std::string how =
          fmt::format("line {} takes the name of {} alone{} (.render()), which lifts dbt's filter by batch",
                      ref.line, call, ref.macro.empty() ? "" : ", in the macro '" + ref.macro + "'");
      for (const std::string& parent : node.parents)
        if (event_timed_.count(parent) && Means(ref, parent)) node.rendered.emplace(parent, how);
    }
  }
  static bool Means(const RenderedRef& ref, const std::string& id) {
    if (ref.words.empty()) return true;
    const auto parts = Split(id, '.');  // model.package.name[.v2], source.package.source.table
    if (parts.size() < 3 || ref.source != (parts[0] == "source")) return false;
    if (ref.source)
      return parts.size() > 3 && ref.words.size() == 2 && EndsWith(id, "." + Join(ref.words, "."));
    if (ref.words.size() > 1 && ref.words[0] != parts[1]) return false;
    return parts[2] == ref.words.back() &&
           (ref.version.empty() || (parts.size() > 3 && parts[3] == "v" + ref.version));
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
    for (PendingExposure& exposure : m_.exposures) {
      CopyFact& copy = exposure.copy;
      Reached reached = Through(exposure.parents, known);
      copy.of = std::move(reached.datasets);
      if (const auto group = m_.groups.find(exposure.group); group != m_.groups.end()) {
        copy.owner = group->second.first;
        if (!group->second.second.empty()) copy.contact = "mailto:" + group->second.second;
      }
      for (const std::string& parent : reached.missing)
        facts.unresolved.push_back(
            {parent, "copy", std::nullopt,
             fmt::format("exposure {} reads {}, which is {}", exposure.id, parent, WhyMissing(parent)),
             copy.at});
      if (!exposure.meta_block.empty())
        ReadCopyBlock(exposure.meta_block, m_.file + copy.at.place, copy, diagnostics_);
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

  // A batch smaller than the partition that it overwrites leaves of that partition what the batch has.
  void CoarsePartitions(const PendingNode& node, const std::string& mode, DatasetFact& fact) const {
    if (!node.write->microbatch || mode != "dynamic_overwrite") return;
    DbtPartitionConfig config = node.write->partition;
    config.adapter = m_.adapter;
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
    if (node.write->microbatch) Rendered(node);
    if (!node.write->on_schema_change.empty() && node.write->config.materialized == "incremental")
      find("on-schema-change", node.write->on_schema_change);
    if (node.write->config.materialized == "table" && !node.write->sql.empty() && !node.write->python) {
      // Matters where it holds a history by partitions, which a registry may say.
      const SqlTraits traits = ReadRunBounds(node.write->sql, *own_macros_, DialectOf(m_.adapter));
      if (!traits.first_bound_how.empty())
        find("partial-overwrite", "its query " + traits.first_bound_how, {{"history", "only"}});
    }
    if (node.write->config.materialized != "incremental") return;
    if (mode == "merge" && (!node.write->update_columns.empty() || !node.write->exclude_columns.empty()))
      find("columns-kept", node.write->update_columns.empty()
                               ? "all columns but " + Join(node.write->exclude_columns, ", ") + " are updated"
                               : "only " + Join(node.write->update_columns, ", ") + " are updated");
    if (mode == "merge" && node.write->skips_matched)
      find("columns-kept",
           "rows that exist are left as they are (skip_matched_step), only new ones are inserted");
    if (m_.adapter == "bigquery" && node.write->config.strategy == "insert_overwrite" &&
        !node.write->static_partitions.empty())
      StaticPartitions(node, find);
    if (mode == "merge" || mode == "delete_insert")
      for (const std::string& predicate : node.write->predicates) {
        const PredicateBound bound = ReadPredicate(predicate, DialectOf(m_.adapter));
        if (!bound.bounds) continue;
        std::map<std::string, std::string> data;
        if (bound.reach) data["bound"] = FormatRunBound(*bound.reach);
        if (bound.since) data["since"] = std::to_string(*bound.since);
        find("bounded-match", "only target rows with " + predicate + " are matched", std::move(data));
      }
    // Every batch inserts all rows of its result: whole parents, where they are not filtered.
    const bool inserts_all = m_.adapter == "snowflake" || m_.adapter == "redshift" || m_.adapter == "trino" ||
                             m_.adapter == "sqlserver" ||
                             (m_.adapter == "fabric" && node.write->config.key.empty());
    CoarsePartitions(node, mode, fact);
    if (node.write->microbatch && inserts_all)
      for (const std::string& parent : node.parents)
        if (IsData(parent) && !event_timed_.count(parent)) find("unfiltered-batch", parent);
    if (node.write->sql.empty()) return;
    if (node.write->python) return PythonTraits(node, mode, facts);
    const SqlTraits traits =
        ReadSqlTraits(node.write->sql, *own_macros_, fact.relation, DialectOf(m_.adapter));
    for (const std::string& column : traits.watermark_columns)
      AddGrainSign(GrainSign::Kind::kWatermark, column, Grain::Unit::kNone, fact);
    // What each batch or run leaves out of its own result. A range that is replaced by nothing is emptied.
    const bool empties = node.write->microbatch && mode == "replace";
    const char* code = mode == "whole" || empties ? "partial-overwrite" : "watermark-filter";
    const auto bounded = [&](const std::string& how, const std::vector<RunBound>& bounds,
                             const std::vector<std::string>& instead) {
      std::map<std::string, std::string> data = {{"instead", Join(instead, ",")}};
      if (!bounds.empty()) data["bound"] = FormatRunBounds(bounds);
      if (traits.only_new_keys) data["takes"] = "new keys";
      if (empties) data["each"] = "batch";
      find(code, how, std::move(data));
    };
    if (traits.watermark && mode != "whole")
      bounded(traits.watermark_how, traits.watermark_bounds, traits.instead_of_watermark);
    if (!traits.bound_how.empty()) bounded(traits.bound_how, traits.bounds, traits.instead_of_bound);
    // Batches after the first find a table, in a full refresh too.
    const bool as_rerun = node.write->microbatch && !traits.bound_how.empty();
    const auto& [rebuild, how] = as_rerun ? std::tie(traits.bounds, traits.bound_how)
                                          : std::tie(traits.first_bounds, traits.first_bound_how);
    if (!how.empty())
      find("bounded-rebuild", how, {{"bound", rebuild.empty() ? "?" : FormatRunBounds(rebuild)}});
    if (!traits.variables.empty() && !node.write->microbatch)
      find("range-not-passed", Join(traits.variables, ", "));
    if (!traits.environment.empty() && !node.write->microbatch)
      find("range-not-passed", Join(traits.environment, ", "), {{"by", "environment"}});
    if (traits.bounded_aside && mode != "whole")
      facts.unresolved.push_back(
          {"target", "condition", fact.name,
           fmt::format("{}: it takes only recent rows where the target is another than "
                       "production; planned for a run in production",
                       fact.name),
           fact.at});
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

  // BigQuery's insert_overwrite of listed partitions: rows of any other partition are inserted beside what
  // is there.
  template <typename Find>
  void StaticPartitions(const PendingNode& node, const Find& find) const {
    std::optional<RunBound> furthest;
    bool known = true;
    for (const std::string& partition : node.write->static_partitions) {
      const PredicateBound bound =
          ReadPredicate("DBT_INTERNAL_DEST.partition >= " + partition, DialectOf(m_.adapter));
      known = known && bound.reach;
      if (bound.reach && (!furthest || bound.reach->Typical() < furthest->Typical())) furthest = bound.reach;
    }
    std::map<std::string, std::string> data;
    if (known && furthest) data["bound"] = FormatRunBound(*furthest);
    find("bounded-match",
         fmt::format("only the listed partitions ({}) are replaced, rows of others are inserted beside "
                     "what is there",
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

  DbtManifest m_;
  Diagnostics& diagnostics_;
  std::unordered_set<std::string> event_timed_;
  const MacroBodies* own_macros_ = nullptr;
  std::optional<DbtHooks> hooks_;
  struct Reads {
    std::map<std::string, CodeReads> of;  // by parent
    std::vector<std::size_t> days;        // of each parent, how many columns were known to hold days
    std::set<std::string> rendered;
  };
  std::vector<Reads> reads_;  // by node
  DbtCodeLoader code_loader_;
  std::unordered_map<const PendingNode*, std::size_t> index_;
};

}  // namespace

void SettleDbtManifest(DbtManifest manifest, SourceFacts& out, Diagnostics& diagnostics) {
  Settler(std::move(manifest), diagnostics).Finish(out);
}

}  // namespace backreach
