// Names are paths: `zone__region__name` is the dimension `name` of the model of the entity `region`, reached
// by that of `zone`. They stand in calls (Dimension('zone__name'), also within filters) or bare in a list.

#include "ingest/dbt/semantics.hpp"

#include <algorithm>
#include <cctype>

#include "graph/base/words.hpp"

namespace backreach {

namespace {

using json::Child;
using json::Element;
using json::Key;
using json::Str;

// Every text within a value.
std::vector<std::string> TextsIn(const Element& e) {
  std::vector<std::string> out;
  std::vector<Element> todo = {e};
  while (!todo.empty()) {
    const Element at = todo.back();
    todo.pop_back();
    std::string_view s;
    simdjson::dom::array list;
    simdjson::dom::object fields;
    if (!at.get(s))
      out.emplace_back(s);
    else if (!at.get(list))
      for (const Element item : list) todo.push_back(item);
    else if (!at.get(fields))
      for (const auto& field : fields) todo.push_back(field.value);
  }
  return out;
}

std::vector<std::string> PathOf(std::string_view name) {
  std::vector<std::string> out;
  for (std::size_t from = 0;;) {
    const std::size_t next = name.find("__", from);
    out.emplace_back(name.substr(from, next == std::string_view::npos ? next : next - from));
    if (next == std::string_view::npos) break;
    from = next + 2;
  }
  static const std::set<std::string> kGrains = {"nanosecond", "microsecond", "millisecond", "second",
                                                "minute",     "hour",        "day",         "week",
                                                "month",      "quarter",     "year"};
  if (out.size() > (out[0] == "metric_time" ? 1u : 2u) && kGrains.count(out.back()))
    out.pop_back();  // ride__on__month
  return out;
}

// The quoted texts of a bracket's inside.
std::vector<std::string> Quoted(std::string_view inside) {
  std::vector<std::string> out;
  for (std::size_t i = inside.find_first_of("'\""); i != std::string_view::npos;
       i = inside.find_first_of("'\"", i + 1)) {
    const std::size_t end = inside.find(inside[i], i + 1);
    if (end == std::string_view::npos) break;
    out.emplace_back(inside.substr(i + 1, end - i - 1));
    i = end;
  }
  return out;
}

}  // namespace

void DbtSemantics::Model(const std::string& id, const json::Fields& e) {
  Semantic& model = models_.emplace_back();
  model.id = id;
  Element list;
  simdjson::dom::array items;
  if (Child(e, "entities", list) && !list.get(items))
    for (const Element item : items) {
      const std::string type = Lower(Str(item, "type"));
      bool& own = model.entities[Lower(Str(item, "name"))];
      own = own || type == "primary" || type == "unique" || type == "natural";
    }
  if (const auto primary = Str(e, "primary_entity"); !primary.empty()) model.entities[Lower(primary)] = true;
  if (Child(e, "dimensions", list) && !list.get(items))
    for (const Element item : items) model.dimensions.insert(Lower(Str(item, "name")));
}

void DbtSemantics::Query(const std::string& section, const std::string& id, const json::Fields& e) {
  const bool saved = section == "saved_queries";
  if (!saved) {
    metrics_.emplace(Lower(Str(e, "name")), id);
    Element child;
    for (const Key key : {Key("filter"), Key("type_params")})
      if (Child(e, key, child))
        for (const std::string& text : TextsIn(child)) Calls(text, id, false);
    return;
  }
  Element query, child;
  if (!Child(e, "query_params", query)) return;
  if (Child(query, "where", child))
    for (const std::string& text : TextsIn(child)) Calls(text, id, true);
  if (!Child(query, "group_by", child)) return;
  for (const std::string& text : TextsIn(child)) {
    if (text.find('(') != std::string::npos)
      Calls(text, id, true);
    else if (!text.empty())
      uses_.push_back({id, PathOf(Lower(text)), false, true});
  }
}

void DbtSemantics::Calls(std::string_view text, const std::string& id, bool saved) {
  for (std::size_t open = text.find('('); open != std::string_view::npos; open = text.find('(', open + 1)) {
    std::size_t from = open;
    while (from > 0 && std::isalpha(static_cast<unsigned char>(text[from - 1]))) --from;
    const std::string call = Lower(text.substr(from, open - from));
    const bool entity = call == "entity", metric = call == "metric";
    if (!entity && !metric && call != "dimension" && call != "timedimension") continue;
    const std::size_t close = std::min(text.find(')', open), text.size());
    const std::string_view inside = text.substr(open + 1, close - open - 1);
    const auto words = Quoted(inside);
    if (words.empty()) continue;
    if (metric) {
      metric_uses_.emplace_back(id, Lower(words[0]));
      continue;
    }
    std::vector<std::string> path;
    if (const std::size_t at = inside.find("entity_path"); at != std::string_view::npos)
      for (const std::string& word : Quoted(inside.substr(at)))
        for (const std::string& part : PathOf(Lower(word))) path.push_back(part);
    for (const std::string& part : PathOf(Lower(words[0]))) path.push_back(part);
    uses_.push_back({id, std::move(path), entity, saved});
  }
}

// The models that have the dimension, and those that lead to it; `below`: those that the query has anyway.
bool DbtSemantics::Place(const Use& use, const std::set<std::string>& below,
                         std::set<std::string>& out) const {
  const std::string& name = use.path.back();
  if (name == "metric_time") return true;
  if (use.entity && use.path.size() == 1) {
    for (const Semantic& model : models_)
      if (below.count(model.id) && model.entities.count(name)) return true;
  }
  const auto has = [&](const Semantic& model) {
    return use.entity ? model.entities.count(name) > 0 : model.dimensions.count(name) > 0;
  };
  const auto collect = [&](auto fits) {
    bool found = false;
    for (const Semantic& model : models_)
      if (fits(model)) out.insert(model.id), found = true;
    return found;
  };
  bool placed;
  if (use.path.size() == 1) {
    placed = collect([&](const Semantic& m) { return has(m) && below.count(m.id) > 0; }) || collect(has);
  } else {
    const std::string& by = use.path[use.path.size() - 2];
    const auto own = [&](const Semantic& m) {
      const auto it = m.entities.find(by);
      return it != m.entities.end() && it->second && has(m);
    };
    placed = collect(own) || collect([&](const Semantic& m) { return m.entities.count(by) > 0 && has(m); }) ||
             collect(has);
  }
  for (std::size_t i = 0; i + 2 < use.path.size(); ++i)
    collect([&](const Semantic& m) {
      const auto it = m.entities.find(use.path[i]);
      return it != m.entities.end() && it->second && m.entities.count(use.path[i + 1]) > 0;
    });
  return placed;
}

std::vector<DbtSemantics::Unplaced> DbtSemantics::Resolve(
    std::unordered_map<std::string, std::vector<std::string>>& passages) const {
  std::vector<Unplaced> out;
  for (const auto& [query, metric] : metric_uses_)
    if (const auto it = metrics_.find(metric); it != metrics_.end()) passages[query].push_back(it->second);
  std::set<std::string> semantic;
  for (const Semantic& model : models_) semantic.insert(model.id);
  std::map<std::string, std::set<std::string>> below, more;  // of each query
  for (const Use& use : uses_) {
    const auto [known, fresh] = below.try_emplace(use.query);
    if (fresh) {
      std::vector<std::string> todo = {use.query};
      std::set<std::string> seen;
      while (!todo.empty()) {
        const std::string id = todo.back();
        todo.pop_back();
        if (!seen.insert(id).second) continue;
        if (semantic.count(id)) known->second.insert(id);
        if (const auto it = passages.find(id); it != passages.end())
          todo.insert(todo.end(), it->second.begin(), it->second.end());
      }
    }
    if (!Place(use, known->second, more[use.query]))
      out.push_back({use.query, Join(use.path, "__"), use.saved});
  }
  for (const auto& [query, ids] : more) passages[query].insert(passages[query].end(), ids.begin(), ids.end());
  return out;
}

}  // namespace backreach
