// Which project: told by the packages that the selection names, by the folder, by being the only one, or by
// being the only one in which the selection finds anything.

#include "graph/join/dbt_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "graph/base/error.hpp"
#include "graph/base/words.hpp"
#include "graph/selection/packed_nodes.hpp"
#include "graph/selection/selector.hpp"

namespace backreach {

struct DbtProjects::Project {
  std::string name, folder;  // where its manifest was made; "" if no seed tells
  std::string default_selector;
  std::set<std::string> packages;
  std::vector<NodeFact> nodes;
  std::map<std::string, const NodeFact*> by_id;
  SelectorInput input;
  std::optional<NodeSelector> selector;

  // What a call writes here. Throws Error where dbt would refuse.
  std::vector<std::string> WritesOf(const DbtRunFact& run) {
    SelectorRequest request{run.select, run.exclude, run.resource_types, run.exclude_types, run.selector};
    if (!request.named.empty())
      request.select.clear(), request.exclude.clear();
    else if (request.select.empty() && request.exclude.empty())
      request.named = default_selector;
    std::vector<std::string> out;
    for (const std::string& id : selector->Choose(request).ids)
      if (const auto it = by_id.find(id); it != by_id.end() && Written(*it->second, run.command))
        out.push_back(id);
    return out;
  }

 private:
  static bool Written(const NodeFact& n, const std::string& command) {
    if (n.type != "model")
      return (n.type == "seed" || n.type == "snapshot") && (command == n.type || command == "build");
    const auto it = n.config.find("materialized");
    const bool ephemeral = it != n.config.end() && !it->second.empty() && it->second[0] == "ephemeral";
    return !ephemeral && (command == "run" || command == "build");
  }
};

namespace {

// The packages that a selection names for itself.
std::set<std::string> PackagesOf(const std::vector<std::string>& select) {
  std::set<std::string> out;
  for (const std::string& words : select)
    for (const std::string& word : Split(words, ' '))
      for (const std::string& criterion : Split(word, ',')) {
        const std::size_t begin = criterion.find_first_not_of("@+0123456789");
        if (begin == std::string::npos) continue;
        const std::string text = criterion.substr(begin);
        std::string name;
        if (StartsWith(text, "package:"))
          name = text.substr(8, text.find('+') - 8);
        else if (StartsWith(text, "fqn:") && text.find('.') != std::string::npos)
          name = text.substr(4, text.find('.') - 4);
        if (!name.empty() && name != "this" && name.find_first_of("*?[") == std::string::npos)
          out.insert(name);
      }
  return out;
}

std::string Parent(const std::string& folder) { return folder.substr(0, folder.rfind('/')); }

}  // namespace

DbtProjects::DbtProjects(const std::vector<SourceFacts>& sources) {
  for (const SourceFacts& source : sources) {
    if (source.facts.nodes.empty()) continue;
    auto p = std::make_unique<Project>();
    p->nodes = Unpack(source.facts.nodes);
    p->name = source.source.name;
    for (const NodeFact& n : p->nodes)
      if (n.type == "project") p->name = n.name;
    for (const NodeFact& n : p->nodes) {
      p->input.nodes.push_back(&n);
      p->by_id.emplace(n.id, &n);
      if (!n.package.empty()) p->packages.insert(n.package);
      if (n.type == "selector" && n.more.count("default")) p->default_selector = n.name;
      if (const auto it = n.more.find("root_path"); it != n.more.end() && n.package == p->name)
        p->folder = it->second;
    }
    p->selector.emplace(p->input);
    projects_.push_back(std::move(p));
  }
}
DbtProjects::~DbtProjects() = default;
bool DbtProjects::empty() const { return projects_.empty(); }

// The projects that a call can mean by what it names; `told` where it names them.
std::vector<DbtProjects::Project*> DbtProjects::Meant(const DbtRunFact& run, bool& told) const {
  std::vector<Project*> all;
  for (const auto& p : projects_) all.push_back(p.get());
  told = true;
  const auto those = [&](auto is) {
    std::vector<Project*> out;
    std::copy_if(all.begin(), all.end(), std::back_inserter(out), [&](const Project* p) { return is(*p); });
    return out;
  };
  // A folder is a project's by its path, or by the name of its last part; dbt searches upwards.
  for (std::string at = run.folder; !at.empty() && at != "?"; at = Parent(at)) {
    if (auto found = those([&](const Project& p) { return p.folder == at; }); !found.empty()) return found;
    if (auto found = those([&](const Project& p) { return p.name == BaseName(at); }); !found.empty()) {
      told = at == run.folder;  // a folder above may hold others beside
      return found;
    }
    if (at.find('/') == std::string::npos) break;
  }
  for (const std::string& package : PackagesOf(run.select)) {
    auto found = those([&](const Project& p) { return p.name == package; });
    if (found.empty()) found = those([&](const Project& p) { return p.packages.count(package) > 0; });
    if (!found.empty() && found.size() < all.size()) all = found;
    if (all.size() == 1 && !found.empty()) return found;
  }
  told = false;
  return all;
}

DbtProjects::Answer DbtProjects::WritesOf(const DbtRunFact& run) {
  if (!run.unknown.empty()) return {{}, run.unknown};
  bool told = false;
  const std::vector<Project*> meant = Meant(run, told);
  std::map<std::vector<std::string>, std::vector<std::string>> found;  // writes -> projects
  std::string refused;
  for (Project* p : meant) {
    // Beside the project that is known lies another one.
    if (!told && !p->folder.empty() && run.folder != p->folder && !run.folder.empty() &&
        Parent(run.folder) == Parent(p->folder) && run.folder[0] != '?')
      continue;
    try {
      if (std::vector<std::string> writes = p->WritesOf(run); !writes.empty() || told)
        found[std::move(writes)].push_back(p->name);
    } catch (const Error& e) {
      refused = e.what();
    }
  }
  if (found.size() == 1) return {found.begin()->first, ""};
  if (found.empty()) {
    if (told && !refused.empty()) return {{}, "dbt would refuse what it selects"};
    return {{},
            run.folder.empty()
                ? "no dbt project that was ingested has what it selects"
                : fmt::format("no dbt project that was ingested is known to lie in {} and to have "
                              "what it selects",
                              run.folder)};
  }
  std::vector<std::string> names;
  for (const auto& [writes, projects] : found) names.insert(names.end(), projects.begin(), projects.end());
  std::sort(names.begin(), names.end());
  return {{}, fmt::format("it may be a run of {}: what it selects is in each", ListOf(names))};
}

DbtProjects::Answer DbtProjects::Matching(const std::string& selector) {
  Answer out;
  for (const auto& p : projects_) {
    try {
      for (const std::string& id : p->selector->Choose({{selector}, {}, {}, {}, ""}).ids)
        out.writes.push_back(id);
    } catch (const Error& e) {
      out.unknown = e.what();
    }
  }
  std::sort(out.writes.begin(), out.writes.end());
  out.writes.erase(std::unique(out.writes.begin(), out.writes.end()), out.writes.end());
  return out;
}

}  // namespace backreach
