// dbt takes a dotted name for every node whose own name begins with it, with or without the package in front.
// A wildcard changes that: from its part on, the rest has to match as a whole. So `pkg.order[s]` is the model
// alone, and is written where the bare name would take more.

#include "ingest/dbt/selectors.hpp"

#include <set>
#include <string_view>
#include <unordered_map>

namespace backreach {

namespace {

// A name's characters by what dbt makes of them. Its own signs stand in brackets, which mean the sign itself.
// A space and a comma split what dbt is given before it looks at brackets, and no line break is ever matched:
// these stand for what is left when all others are excluded.
struct Masked {
  std::string name;  // to be selected by
  std::string like;  // equal for names that would take each other
  bool any = false;
  explicit Masked(std::string_view plain) {
    for (std::size_t i = 0; i < plain.size(); ++i) {
      const auto c = static_cast<unsigned char>(plain[i]);
      const bool dash = i == 0 && c == '-';  // else an option
      if (c < 0x21 || c == 0x7F) {
        Class("[!!-~]");
      } else if (c == ',') {
        Class("[!!-+--~]");
      } else if (dash || std::string_view(":+@*?[]").find(plain[i]) != std::string_view::npos) {
        name += {'[', plain[i], ']'};
        like += plain[i];
        any = true;
      } else if (c < 0x80) {
        name += plain[i];
        like += plain[i];
      } else {
        name += plain[i];
        if ((c & 0xC0) != 0x80) like += ' ';
      }
    }
  }

 private:
  void Class(const char* text) {
    name += text;
    like += ' ';
    any = true;
  }
};

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
  std::unordered_map<std::string, std::set<std::string_view>> alike;
  for (const DbtSelectable& node : nodes)
    if (Masked masked(*node.selector); masked.any || masked.like != *node.selector)
      alike[std::move(masked.like)].insert(*node.selector);
  std::vector<std::string> exact;
  exact.reserve(nodes.size());
  for (const DbtSelectable& node : nodes) {
    const Taken& t = taken.at(*node.selector);
    const Masked masked(*node.selector);
    std::string name = masked.name;
    if (!masked.any && t.inside && !name.empty()) {
      std::size_t last = name.size() - 1;  // where its last character begins
      while (last > 0 && (static_cast<unsigned char>(name[last]) & 0xC0) == 0x80) --last;
      name = name.substr(0, last) + "[" + name.substr(last) + "]";
    }
    if ((t.elsewhere || t.times > 1) && !node.package.empty())
      name += ",package:" + (node.package == "this" ? "[t]his" : Masked(node.package).name);
    const auto it = masked.any ? alike.find(masked.like) : alike.end();
    const bool one = it == alike.end() || it->second.size() == 1;
    exact.push_back(one ? std::move(name) : "");
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) *nodes[i].selector = std::move(exact[i]);
}

}  // namespace backreach
