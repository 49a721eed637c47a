// A criterion is `@`, `N+`, method:value, `+N`; commas intersect, blanks and several arguments unite. Each
// method says of one node whether it is meant; the operators then walk the graph of all nodes, tests among
// them. Which tests come along by themselves (indirect selection) does not matter here: they hold no data.

#include "graph/selection/selector.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>

#include "graph/base/error.hpp"
#include "graph/base/words.hpp"
#include "graph/selection/packed_nodes.hpp"
#include "graph/time/time.hpp"

namespace backreach {

namespace {

// Shell wildcards: * ? [abc] [!abc].
bool Wild(std::string_view text) { return text.find_first_of("*?[]") != std::string_view::npos; }
bool Matches(std::string_view name, std::string_view pattern) {
  std::size_t n = 0, p = 0, star = std::string_view::npos, mark = 0;
  const auto one = [&](std::size_t& at) {  // does pattern[at] match name[n]? moves behind it
    if (pattern[at] == '?') return ++at, true;
    if (pattern[at] == '[') {
      const std::size_t close = pattern.find(']', at + 2);
      if (close != std::string_view::npos) {
        std::size_t i = at + 1;
        const bool negate = pattern[i] == '!';
        if (negate) ++i;
        bool in = false;
        for (; i < close; ++i) {
          if (i + 2 < close && pattern[i + 1] == '-') {
            in = in || (name[n] >= pattern[i] && name[n] <= pattern[i + 2]);
            i += 2;
          } else {
            in = in || name[n] == pattern[i];
          }
        }
        at = close + 1;
        return in != negate;
      }
    }
    return pattern[at++] == name[n];
  };
  while (n < name.size()) {
    std::size_t next = p;
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = n;
    } else if (p < pattern.size() && one(next)) {
      p = next;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++mark;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

struct Criterion {
  bool at = false;
  std::optional<int> parents, children;  // how many hops; -1: all
  std::string method, value, text;
};

constexpr const char* kMethods[] = {"fqn",         "tag",           "group",    "access", "source",
                                    "path",        "file",          "package",  "config", "test_name",
                                    "test_type",   "resource_type", "exposure", "metric", "semantic_model",
                                    "saved_query", "unit_test",     "state",    "result", "source_status",
                                    "version"};

Criterion Parse(const std::string& text) {
  Criterion c;
  c.text = text;
  std::string rest = text;
  if (!rest.empty() && rest[0] == '@') c.at = true, rest.erase(0, 1);
  std::size_t digits = 0;
  while (digits < rest.size() && rest[digits] >= '0' && rest[digits] <= '9') ++digits;
  if (digits < rest.size() && rest[digits] == '+') {
    c.parents = digits == 0 ? -1 : std::atoi(rest.substr(0, digits).c_str());
    rest.erase(0, digits + 1);
  }
  // The method: up to the first colon, if what stands before is a word.
  const std::size_t colon = rest.find(':');
  if (colon != std::string::npos && colon > 0 &&
      rest.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.") >= colon) {
    c.method = rest.substr(0, colon);
    rest.erase(0, colon + 1);
  }
  const std::size_t plus = rest.rfind('+');
  if (plus != std::string::npos && plus > 0 &&
      rest.find_first_not_of("0123456789", plus + 1) == std::string::npos) {
    c.children = plus + 1 == rest.size() ? -1 : std::atoi(rest.substr(plus + 1).c_str());
    rest.erase(plus);
  }
  c.value = rest;
  if (c.at && c.children)
    throw Error(fmt::format("backreach: error: selector '{}': @ and a trailing + exclude each other", text));
  if (c.method.empty()) {
    const bool path = rest.find('/') != std::string::npos;
    const bool file =
        EndsWith(Lower(rest), ".sql") || EndsWith(Lower(rest), ".csv") || EndsWith(Lower(rest), ".py");
    c.method = path ? "path" : file ? "file" : "fqn";
  }
  const std::string base = c.method.substr(0, c.method.find('.'));
  if (std::find(std::begin(kMethods), std::end(kMethods), base) == std::end(kMethods)) {
    std::vector<std::string> known(std::begin(kMethods), std::end(kMethods));
    const auto near = Nearest(base, known, 1);
    throw Error(fmt::format("backreach: error: selector '{}': '{}' is no method{}\n  known: {}", text, base,
                            near.empty() ? "" : "; did you mean '" + near[0] + "'?", Join(known, ", ")));
  }
  return c;
}

}  // namespace

class Selector {
 public:
  explicit Selector(const SelectorInput& input) : in_(input) {
    for (const NodeFact* n : in_.nodes) {
      if (n->type == "disabled") continue;
      if (n->type == "project")
        project_ = n->name;
      else if (n->type == "selector")
        named_.emplace(n->name, n);
      else
        (n->type == "macro" ? macros_ : nodes_).push_back(n);
    }
    std::set<std::string> known;
    for (const NodeFact* n : nodes_) known.insert(n->id);
    for (const NodeFact* n : nodes_)
      for (const std::string& parent : n->parents)
        if (known.count(parent)) children_[parent].push_back(n->id), parents_[n->id].push_back(parent);
    for (const NodeFact* n : in_.state)
      if (n->type != "disabled") old_.emplace(n->id, n);
    if (in_.has_state) FindChangedMacros();
  }
  const std::vector<const NodeFact*>& nodes() const { return nodes_; }

  // What selectors.yml calls by this name: its definition is run over a stack of sets.
  std::set<std::string> Named(const std::string& name, std::vector<std::string>* warnings) {
    std::vector<std::set<std::string>> stack;
    struct Level {
      const NodeFact* selector;
      std::size_t at;
    };
    std::vector<Level> levels = {{Definition(name, name), 0}};
    const auto unreadable = [&]() -> Error {
      return Error(
          fmt::format("backreach: error: the selector '{}' of selectors.yml has a form that is not known",
                      levels.back().selector->name));
    };
    while (!levels.empty()) {
      Level& level = levels.back();
      if (level.at == level.selector->tags.size()) {
        levels.pop_back();
        continue;
      }
      const std::string& item = level.selector->tags[level.at++];
      const std::string rest = item.substr(1);
      if (item[0] == '=') {
        stack.push_back(One(Parse(rest), warnings));
      } else if (item[0] == '$') {
        if (levels.size() > 64) throw unreadable();  // one that names itself
        levels.push_back({Definition(rest, name), 0});
      } else if (item[0] == '-' && stack.size() > 1) {
        const std::set<std::string> out = std::move(stack.back());
        stack.pop_back();
        for (const std::string& id : out) stack.back().erase(id);
      } else if (const std::size_t n = static_cast<std::size_t>(std::atoi(rest.c_str()));
                 (item[0] == '|' || item[0] == '&') && n <= stack.size()) {
        std::set<std::string> joined;
        for (std::size_t i = stack.size() - n; i < stack.size(); ++i) {
          if (item[0] == '|' || i == stack.size() - n)
            joined.insert(stack[i].begin(), stack[i].end());
          else
            std::erase_if(joined, [&](const std::string& id) { return !stack[i].count(id); });
        }
        stack.resize(stack.size() - n);
        stack.push_back(std::move(joined));
      } else {
        throw unreadable();
      }
    }
    return stack.empty() ? std::set<std::string>() : stack.back();
  }

  std::set<std::string> Union(const std::vector<std::string>& arguments, std::vector<std::string>* warnings) {
    std::set<std::string> out;
    for (const std::string& argument : arguments)
      for (const std::string& part : Split(argument, ' ')) {
        if (part.empty()) continue;
        std::optional<std::set<std::string>> all;
        for (const std::string& criterion : Split(part, ',')) {
          std::set<std::string> one =
              criterion.empty() ? std::set<std::string>() : One(Parse(criterion), warnings);
          if (!all)
            all = std::move(one);
          else
            for (auto it = all->begin(); it != all->end();)
              it = one.count(*it) ? std::next(it) : all->erase(it);
        }
        out.insert(all->begin(), all->end());
      }
    return out;
  }

 private:
  const NodeFact* Definition(const std::string& name, const std::string& asked) const {
    const auto it = named_.find(name);
    if (it != named_.end()) return it->second;
    std::vector<std::string> known;
    for (const auto& [n, node] : named_) known.push_back(n);
    throw Error(fmt::format("backreach: error: selectors.yml has no selector '{}'{}\n  {}", name,
                            name == asked ? "" : ", of which '" + asked + "' is made",
                            known.empty()
                                ? "the dbt projects in the store have none; ingest them again if they do"
                                : "known: " + Join(known, ", ")));
  }

  std::set<std::string> One(const Criterion& c, std::vector<std::string>* warnings) {
    std::set<std::string> found;
    const auto matches = Method(c);
    const bool by_index = c.method == "fqn" && !Wild(c.value) && ++plain_names_ > kScans;
    const auto choose = [&](const std::vector<const NodeFact*>& among) {
      for (const NodeFact* n : among)
        if (matches(*n)) found.insert(n->id);
    };
    by_index ? choose(Called(c.value)) : choose(nodes_);
    if (found.empty() && warnings) warnings->push_back(c.text);
    std::set<std::string> out = found;
    if (c.at) {
      const auto below = Walk(found, children_, -1);
      out = Walk(below, parents_, -1);
    }
    if (c.parents) Add(out, Walk(found, parents_, *c.parents));
    if (c.children) Add(out, Walk(found, children_, *c.children));
    return out;
  }
  static void Add(std::set<std::string>& to, const std::set<std::string>& more) {
    to.insert(more.begin(), more.end());
  }

  using Links = std::unordered_map<std::string, std::vector<std::string>>;
  static std::set<std::string> Walk(const std::set<std::string>& from, const Links& links, int hops) {
    std::set<std::string> seen = from;
    std::vector<std::string> front(from.begin(), from.end());
    for (int hop = 0; !front.empty() && (hops < 0 || hop < hops); ++hop) {
      std::vector<std::string> next;
      for (const std::string& id : front) {
        const auto it = links.find(id);
        if (it == links.end()) continue;
        for (const std::string& to : it->second)
          if (seen.insert(to).second) next.push_back(to);
      }
      front = std::move(next);
    }
    return seen;
  }

  // The nodes that a name without wildcards can mean: a project in which every node has a task is asked once
  // for each.
  std::vector<const NodeFact*> Called(const std::string& name) {
    if (by_name_.empty())
      for (const NodeFact* n : nodes_) Index(*n);
    std::vector<const NodeFact*> out = versioned_;
    if (const auto it = by_name_.find(name); it != by_name_.end())
      out.insert(out.end(), it->second.begin(), it->second.end());
    return out;
  }
  void Index(const NodeFact& n) {
    if (n.fqn.empty()) return;
    if (!n.version.empty()) {
      versioned_.push_back(&n);
      return;
    }
    std::set<std::string> names = {n.fqn.back()};
    for (const std::size_t from : {0, 1}) {
      std::string name;
      for (std::size_t i = from; i < n.fqn.size(); ++i)
        for (const std::string& piece : Split(n.fqn[i], '.')) {
          name += (name.empty() ? "" : ".") + piece;
          names.insert(name);
        }
    }
    for (const std::string& name : names) by_name_[name].push_back(&n);
  }

  static bool HasFqn(const NodeFact& n) { return n.type != "source"; }

  static bool FqnIs(const std::vector<std::string>& fqn, const std::string& given, bool versioned) {
    if (fqn.empty()) return false;
    const auto parts = Split(given, '.');
    if (versioned && fqn.size() > 1) {
      if (fqn[fqn.size() - 2] == given) return true;
      const std::string last = fqn[fqn.size() - 2] + "_" + fqn.back();
      const std::string asked =
          parts.size() > 1 ? parts[parts.size() - 2] + "_" + parts.back() : parts.back();
      if (last == asked) return true;
    } else if (Matches(fqn.back(), given)) {
      return true;
    }
    std::vector<std::string> flat;
    for (const std::string& segment : fqn)
      for (std::string& piece : Split(segment, '.')) flat.push_back(std::move(piece));
    if (flat.size() < parts.size()) return false;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (Wild(parts[i])) {
        const std::vector<std::string> tail(flat.begin() + i, flat.end()),
            pattern(parts.begin() + i, parts.end());
        return Matches(Join(tail, "."), Join(pattern, "."));
      }
      if (flat[i] != parts[i]) return false;
    }
    return true;
  }

  std::function<bool(const NodeFact&)> Method(const Criterion& c) {
    const std::string& v = c.value;
    const std::string base = c.method.substr(0, c.method.find('.'));
    const std::string argument = c.method.size() > base.size() ? c.method.substr(base.size() + 1) : "";
    if (base == "fqn")
      return [=](const NodeFact& n) {
        if (!HasFqn(n)) return false;
        const std::vector<std::string> unscoped(n.fqn.empty() ? n.fqn.begin() : n.fqn.begin() + 1,
                                                n.fqn.end());
        return FqnIs(n.fqn, v, !n.version.empty()) || FqnIs(unscoped, v, !n.version.empty());
      };
    if (base == "tag")
      return [=](const NodeFact& n) {
        return std::any_of(n.tags.begin(), n.tags.end(), [&](const std::string& t) { return Matches(t, v); });
      };
    if (base == "group") return [=](const NodeFact& n) { return !n.group.empty() && Matches(n.group, v); };
    if (base == "access") return [=](const NodeFact& n) { return n.type == "model" && n.access == v; };
    if (base == "package")
      return [=, this](const NodeFact& n) { return Matches(n.package, v == "this" ? Root() : v); };
    if (base == "source") {
      const auto parts = Split(v, '.');
      return [=](const NodeFact& n) {
        if (n.type != "source") return false;
        if (parts.size() == 1) return Matches(n.source_name, parts[0]);
        if (parts.size() == 2) return Matches(n.source_name, parts[0]) && Matches(n.name, parts[1]);
        return parts.size() == 3 && Matches(n.package, parts[0]) && Matches(n.source_name, parts[1]) &&
               Matches(n.name, parts[2]);
      };
    }
    if (base == "path") {
      std::string path = v;
      if (StartsWith(path, "./")) path = path.substr(2);
      while (path.size() > 1 && path.back() == '/') path.pop_back();
      return [=](const NodeFact& n) {
        for (const std::string& p : {n.path, n.patch_path}) {
          if (p.empty()) continue;
          // The path itself or a folder above it; wildcards count part by part, as a shell's do.
          const auto own = Split(p, '/'), asked = Split(path, '/');
          if (path == ".") return true;
          if (asked.size() > own.size()) {
            if (path.find("**") == std::string::npos) continue;
          }
          if (path.find("**") != std::string::npos && Matches(p, path)) return true;
          bool all = asked.size() <= own.size();
          for (std::size_t i = 0; all && i < asked.size(); ++i) all = Matches(own[i], asked[i]);
          if (all) return true;
        }
        return false;
      };
    }
    if (base == "file")
      return [=](const NodeFact& n) {
        const std::string name = BaseName(n.path);
        const std::size_t dot = name.rfind('.');
        return Matches(name, v) || Matches(name.substr(0, dot), v);
      };
    if (base == "config") {
      if (argument.size() + v.size() > kLongestConfigName)
        throw Error(
            fmt::format("backreach: error: selector '{}...': names inside a config are kept up to {} "
                        "characters, and this one has more",
                        c.text.substr(0, 60), kLongestConfigName));
      return [=](const NodeFact& n) {
        const auto it = n.config.find(argument);
        if (it == n.config.end()) {
          // A mapping: its keys.
          for (const auto& [key, values] : n.config)
            if (StartsWith(key, argument + ".") &&
                key.substr(argument.size() + 1).find('.') == std::string::npos &&
                key.substr(argument.size() + 1) == v)
              return true;
          return false;
        }
        const std::string low = Lower(v);
        for (const std::string& value : it->second)
          if (value == v || ((value == "true" || value == "false") && value == low)) return true;
        return false;
      };
    }
    if (base == "test_name")
      return [=](const NodeFact& n) {
        const auto it = n.more.find("test_name");
        return it != n.more.end() && Matches(it->second, v);
      };
    if (base == "test_type") {
      if (v != "generic" && v != "singular" && v != "unit" && v != "data" && v != "schema")
        throw Error(fmt::format(
            "backreach: error: selector '{}': a test type is generic, singular, unit or data", c.text));
      return [=](const NodeFact& n) {
        const auto it = n.more.find("test_type");
        if (it == n.more.end()) return false;
        return it->second == v || (v == "data" && it->second != "unit") ||
               (v == "schema" && it->second == "generic");
      };
    }
    if (base == "resource_type") {
      CheckType(v, c.text);
      return [=](const NodeFact& n) { return n.type == v; };
    }
    for (const char* kind : {"exposure", "metric", "semantic_model", "saved_query", "unit_test"}) {
      if (base != kind) continue;
      const auto parts = Split(v, '.');
      const std::string type = kind;
      return [=](const NodeFact& n) {
        if (n.type != type) return false;
        if (parts.size() == 1) return Matches(n.name, parts[0]);
        return parts.size() == 2 && Matches(n.package, parts[0]) && Matches(n.name, parts[1]);
      };
    }
    if (base == "version")
      return [=](const NodeFact& n) {
        if (n.type != "model") return false;
        const auto it = n.more.find("latest_version");
        const std::string latest = it == n.more.end() ? "" : it->second;
        if (v == "none") return n.version.empty();
        if (n.version.empty()) return false;
        const double own = std::atof(n.version.c_str()), newest = std::atof(latest.c_str());
        if (v == "latest") return n.version == latest;
        if (v == "prerelease") return own > newest;
        if (v == "old") return own < newest;
        throw Error(fmt::format(
            "backreach: error: selector '{}': a version is latest, prerelease, old or none", c.text));
      };
    if (base == "result") {
      if (!in_.results)
        throw Error(
            fmt::format("backreach: error: selector '{}' asks how a run ended: give the folder of its "
                        "run_results.json with --state",
                        c.text));
      return [=, this](const NodeFact& n) {
        const auto it = in_.results->find(n.id);
        return it != in_.results->end() && it->second == v;
      };
    }
    if (base == "source_status") return SourceStatus(v, c.text);
    if (base == "state") return State(v, argument, c.text);
    throw Error(fmt::format("backreach: error: selector '{}' needs files that were not given", c.text));
  }

  // Sources that were loaded since the state was kept, or that it does not know.
  std::function<bool(const NodeFact&)> SourceStatus(const std::string& v, const std::string& text) const {
    if (v != "fresher")
      throw Error(fmt::format("backreach: error: selector '{}': a source's status is fresher", text));
    if (!in_.loaded_before || in_.loaded.empty())
      throw Error(fmt::format("backreach: error: selector '{}' compares two freshness checks: {}", text,
                              in_.loaded_before ? "the store has none; run dbt source freshness and ingest "
                                                  "the target folder with its sources.json"
                                                : "give the folder of the older sources.json with --state"));
    return [this](const NodeFact& n) {
      const auto now = in_.loaded.find(n.id);
      if (now == in_.loaded.end() || now->second.empty()) return false;  // the check itself failed
      const auto before = in_.loaded_before->find(n.id);
      return before == in_.loaded_before->end() || Newer(now->second, before->second);
    };
  }
  static bool Newer(const std::string& a, const std::string& b) {
    const auto x = ParseInstant(a, true), y = ParseInstant(b, true);
    return x && y && *x != *y ? *x > *y : a > b;  // within one second, by the text
  }

  std::string Root() const { return !project_.empty() ? project_ : nodes_.empty() ? "" : nodes_[0]->package; }

  static void CheckType(const std::string& type, const std::string& text) {
    for (const char* known : {"model", "seed", "snapshot", "source", "test", "unit_test", "exposure",
                              "metric", "semantic_model", "saved_query", "analysis", "function"})
      if (type == known) return;
    throw Error(fmt::format("backreach: error: '{}': unknown resource type '{}'", text, type));
  }

  void FindChangedMacros() {
    Links callers;
    std::set<std::string> changed;
    for (const NodeFact* m : macros_) {
      const auto old = old_.find(m->id);
      if (old == old_.end() || More(*old->second, "body") != More(*m, "body")) changed.insert(m->id);
      for (const std::string& called : Called(*m)) callers[called].push_back(m->id);
    }
    changed_macros_ = Walk(changed, callers, -1);
  }
  static std::string More(const NodeFact& n, const char* key) {
    const auto it = n.more.find(key);
    return it == n.more.end() ? "" : it->second;
  }
  static std::vector<std::string> Called(const NodeFact& n) {
    const auto it = n.more.find("macros");
    return it == n.more.end() ? std::vector<std::string>() : Split(it->second, ' ');
  }
  bool CallsChanged(const NodeFact& n) const {
    const auto called = Called(n);
    return std::any_of(called.begin(), called.end(),
                       [&](const std::string& id) { return changed_macros_.count(id) > 0; });
  }

  // What of a node is not as it was; `contents`: whatever dbt compares for its type.
  struct Change {
    bool body = false, configs = false, relation = false, contract = false, described = false;
    bool contents = false;
  };
  // Models, seeds, snapshots, tests, analyses and functions are compared alike; other types each have a list
  // of their own.
  static bool IsParsed(const NodeFact& n) {
    for (const char* type : {"source", "exposure", "metric", "semantic_model", "saved_query", "unit_test"})
      if (n.type == type) return false;
    return true;
  }

  // A node that was not there: dbt takes each single comparison that its type has as failed; as a whole it
  // counts sources, exposures and what is of the semantic layer as new and not as modified.
  static Change IfNew(const NodeFact& n) {
    const bool parsed = IsParsed(n);
    return {parsed, n.type != "unit_test",          parsed || n.type == "source", parsed,
            parsed, parsed || n.type == "unit_test"};
  }

  static Change Compare(const NodeFact& n, const NodeFact& o) {
    const auto differs = [&](const char* key) { return More(n, key) != More(o, key); };
    const auto any = [&](std::initializer_list<const char*> keys) {
      return std::any_of(keys.begin(), keys.end(), differs);
    };
    Change c;
    c.configs = n.more.count("unrendered_config") && o.more.count("unrendered_config")
                    ? differs("unrendered_config")
                    : n.config != o.config;
    if (IsParsed(n)) {
      c.body = n.type == "seed" ? differs("checksum") : differs("body");
      c.relation = n.more.count("placed") && o.more.count("placed") ? differs("placed")
                                                                    : any({"database", "schema", "alias"});
      c.contract = n.type == "model" && differs("contract");
      c.described = differs("described");
      const bool generic = n.type == "test" && More(n, "test_type") == "generic";
      c.contents = generic ? c.configs || n.fqn != o.fqn
                           : c.body || c.configs || c.relation || c.contract || c.described || n.fqn != o.fqn;
      if (n.type == "model")
        c.contents = c.contents || n.access != o.access || any({"latest_version", "deprecation_date"});
      if (n.type == "function") c.contents = c.contents || any({"arguments", "returns"});
    } else if (n.type == "source") {
      c.relation = any({"database", "schema", "identifier"});
      c.contents = c.configs || c.relation || n.fqn != o.fqn ||
                   any({"freshness", "loaded_at_field", "quoting", "external"});
    } else if (n.type == "exposure") {
      const std::set<std::string> now(n.parents.begin(), n.parents.end()),
          before(o.parents.begin(), o.parents.end());
      c.contents = c.configs || n.fqn != o.fqn || now != before ||
                   any({"type", "owner", "maturity", "url", "description", "label"});
    } else if (n.type == "metric") {
      c.contents = c.configs || any({"type", "description", "label"});
    } else if (n.type == "unit_test") {
      c.configs = false;
      c.contents = differs("checksum");
    } else {
      c.configs = differs("config");
      c.contents = c.configs || n.group != o.group || (n.type == "saved_query" && n.tags != o.tags) ||
                   any({"model", "defaults", "entities", "dimensions", "measures", "primary_entity",
                        "description", "label", "metrics", "group_by", "where", "exports"});
    }
    return c;
  }

  std::function<bool(const NodeFact&)> State(const std::string& v, const std::string&,
                                             const std::string& text) {
    if (!in_.has_state)
      throw Error(fmt::format(
          "backreach: error: selector '{}' compares with an older manifest: give its folder with --state",
          text));
    const std::string kind = v.substr(0, v.find('.')),
                      sub = v.size() > kind.size() ? v.substr(kind.size() + 1) : "";
    static const std::set<std::string> subs = {"",         "body",   "configs", "persisted_descriptions",
                                               "relation", "macros", "contract"};
    const bool known = kind == "modified"
                           ? subs.count(sub) > 0
                           : sub.empty() && (kind == "new" || kind == "old" || kind == "unmodified");
    if (!known)
      throw Error(fmt::format(
          "backreach: error: selector '{}': a state is new, old, unmodified, modified, or modified.X "
          "(body, configs, persisted_descriptions, relation, macros, contract)",
          text));
    const auto modified = [this, sub](const NodeFact& n) {
      const auto old = old_.find(n.id);
      const Change change = old == old_.end() ? IfNew(n) : Compare(n, *old->second);
      if (sub == "body") return change.body;
      if (sub == "configs") return change.configs;
      if (sub == "relation") return change.relation;
      if (sub == "contract") return change.contract;
      if (sub == "persisted_descriptions") return change.described;
      if (sub == "macros") return CallsChanged(n);
      return change.contents || CallsChanged(n);
    };
    if (kind == "new") return [this](const NodeFact& n) { return !old_.count(n.id); };
    if (kind == "old") return [this](const NodeFact& n) { return old_.count(n.id) > 0; };
    if (kind == "unmodified")
      return [this, modified](const NodeFact& n) { return old_.count(n.id) > 0 && !modified(n); };
    return modified;
  }

  static constexpr int kScans = 8;  // so often all nodes are looked through before names are sorted
  const SelectorInput& in_;
  std::string project_;
  int plain_names_ = 0;
  std::unordered_map<std::string, std::vector<const NodeFact*>> by_name_;
  std::vector<const NodeFact*> versioned_;  // which go by more names
  std::vector<const NodeFact*> nodes_, macros_;
  std::map<std::string, const NodeFact*> named_;
  std::unordered_map<std::string, const NodeFact*> old_;
  std::set<std::string> changed_macros_;  // and those that call them
  Links children_, parents_;
};

NodeSelector::NodeSelector(const SelectorInput& input) : selector_(std::make_unique<Selector>(input)) {}
NodeSelector::NodeSelector(NodeSelector&&) noexcept = default;
NodeSelector::~NodeSelector() = default;

SelectorResult Select(const SelectorInput& input, const SelectorRequest& request) {
  return NodeSelector(input).Choose(request);
}

SelectorResult NodeSelector::Choose(const SelectorRequest& request) {
  Selector& selector = *selector_;
  SelectorResult out;
  if (!request.named.empty()) {
    out.ids = selector.Named(request.named, &out.warnings);
  } else if (request.select.empty()) {
    for (const NodeFact* n : selector.nodes()) out.ids.insert(n->id);
  } else {
    out.ids = selector.Union(request.select, &out.warnings);
  }
  for (const std::string& id : selector.Union(request.exclude, nullptr)) out.ids.erase(id);
  const auto types_of = [&](const std::vector<std::string>& given, const char* option) {
    static const std::set<std::string> all = {
        "model",  "seed",           "snapshot",    "source",   "test",     "unit_test", "exposure",
        "metric", "semantic_model", "saved_query", "analysis", "function", "all",       "default"};
    for (const std::string& type : given)
      if (!all.count(type))
        throw Error(fmt::format("backreach: error: {} '{}' is none that dbt has", option, type));
    return std::set<std::string>(given.begin(), given.end());
  };
  const std::set<std::string> only = types_of(request.resource_types, "--resource-type"),
                              none = types_of(request.exclude_types, "--exclude-resource-type");
  if (only.empty() && none.empty()) return out;
  std::map<std::string, std::string> type_of;
  for (const NodeFact* n : selector.nodes()) type_of[n->id] = n->type;
  for (auto it = out.ids.begin(); it != out.ids.end();) {
    const std::string& type = type_of[*it];
    const bool kept =
        (only.empty() || only.count("all") || only.count("default") || only.count(type)) && !none.count(type);
    it = kept ? std::next(it) : out.ids.erase(it);
  }
  return out;
}

bool LooksLikeSelector(const std::string& text) {
  if (text.find_first_of("+@*?[, ") != std::string::npos) return true;
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos || text.compare(colon, 3, "://") == 0) return false;
  const std::string base = text.substr(0, std::min(colon, text.find('.')));
  return std::find(std::begin(kMethods), std::end(kMethods), base) != std::end(kMethods);
}

}  // namespace backreach
