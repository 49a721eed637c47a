// dbt takes a dotted name for every node whose own name begins with it, with or without the package in front.
// A wildcard changes that: from its part on, the rest has to match as a whole. So `pkg.order[s]` is the model
// alone, and is written where the bare name would take more.

#include "ingest/dbt/selectors.hpp"

#include <string_view>
#include <unordered_map>

namespace backreach {

namespace {

// What the grammar of selectors would read as its own stands for any one character.
bool Masked(std::string& name) {
  bool any = false;
  for (char& c : name)
    if (std::string_view(" ,:+@*?[]").find(c) != std::string_view::npos) c = '?', any = true;
  return any;
}

}  // namespace

void MakeSelectorsExact(std::vector<DbtSelectable>& nodes) {
  struct Taken {
    bool inside = false, elsewhere = false;  // by what lies below it, by another package's
    std::size_t times = 0;
  };
  std::unordered_map<std::string_view, Taken> taken;
  for (const DbtSelectable& node : nodes) taken.try_emplace(*node.selector).first->second.times++;
  for (const DbtSelectable& node : nodes) {
    const std::string_view full = *node.selector;
    const std::size_t dot = full.find('.');
    const auto mark = [&](std::string_view name, bool unscoped) {
      for (std::size_t end = name.find('.'); end != std::string_view::npos; end = name.find('.', end + 1)) {
        const auto it = taken.find(name.substr(0, end));
        if (it == taken.end()) continue;
        (unscoped ? it->second.elsewhere : it->second.inside) = true;
        it->second.inside = true;
      }
      if (const auto it = taken.find(name); unscoped && it != taken.end()) it->second.elsewhere = true;
    };
    mark(full, false);
    if (dot != std::string_view::npos) mark(full.substr(dot + 1), true);
  }
  std::vector<std::string> exact;
  exact.reserve(nodes.size());
  for (const DbtSelectable& node : nodes) {
    const Taken& t = taken.at(*node.selector);
    std::string name = *node.selector;
    const bool masked = Masked(name);
    if (!masked && t.inside && !name.empty())
      name = name.substr(0, name.size() - 1) + "[" + name.back() + "]";
    if ((t.elsewhere || t.times > 1) && !node.package.empty()) name += ",package:" + node.package;
    exact.push_back(std::move(name));
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) *nodes[i].selector = std::move(exact[i]);
}

}  // namespace backreach
