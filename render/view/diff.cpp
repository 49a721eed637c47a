#include "render/view/diff.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "graph/base/words.hpp"
#include "graph/reads/reads_json.hpp"
#include "render/view/words.hpp"

namespace backreach {

namespace {

using Json = nlohmann::ordered_json;
using What = NodeChange::What;

std::string OrUnknown(const std::string& text) { return text.empty() ? "unknown" : Printable(text); }

std::string ReadingsText(const std::vector<EdgeReading>& list) {
  std::vector<std::string> out;
  for (const EdgeReading& r : list)
    out.push_back(fmt::format("{} ({})", FormatReads(r.reads), ToString(r.known)));
  return Join(out, " and ");
}

class Lines {
 public:
  explicit Lines(int width) : width_(width) {}
  void Head(const std::string& head) { out_ += (out_.empty() ? "" : "\n") + head + "\n"; }
  void Line(char mark, const std::string& text) {
    out_ += fmt::format("  {} {}\n", mark, Wrapped(text, width_, 4, 6));
  }
  void Nodes(const char* head, const std::vector<NodeChange>& list) {
    if (list.empty()) return;
    Head(head);
    for (const NodeChange& c : list) {
      std::vector<std::string> fields;
      for (const FieldChange& f : c.fields)
        fields.push_back(fmt::format("{}: {} -> {}", f.field, OrUnknown(f.before), OrUnknown(f.after)));
      const char mark = c.what == What::kAdded ? '+' : c.what == What::kRemoved ? '-' : '~';
      Line(mark, Printable(c.name) + (fields.empty() ? "" : "  " + Join(fields, "; ")));
    }
  }
  void Edges(const std::vector<EdgeChange>& list) {
    if (list.empty()) return;
    Head("EDGES");
    for (const EdgeChange& e : list) {
      const char mark = e.before.empty() ? '+' : e.after.empty() ? '-' : '~';
      std::string reads = ReadingsText(e.before.empty() ? e.after : e.before);
      if (mark == '~') reads += " -> " + ReadingsText(e.after);
      Line(mark, fmt::format("{} -> {}  {}", Printable(e.from), Printable(e.to), reads));
    }
  }
  void Names(char mark, const char* what, const std::vector<std::string>& names) {
    if (names.empty()) return;
    std::vector<std::string> shown;
    for (const std::string& name : names) shown.push_back(Printable(name));
    Line(mark, std::string(what) + Join(shown, ", "));
  }
  std::string Take() { return std::move(out_); }

 private:
  int width_;
  std::string out_;
};

Json OrNull(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json ReadingsJson(const std::vector<EdgeReading>& list) {
  Json out = Json::array();
  for (const EdgeReading& r : list) {
    const auto reads = ReadsToJson(r.reads);
    out.push_back({{"reads", reads ? Json::parse(*reads) : Json()}, {"known", ToString(r.known)}});
  }
  return out;
}

Json NodesJson(const std::vector<NodeChange>& list) {
  Json added = Json::array(), removed = Json::array(), changed = Json::array();
  for (const NodeChange& c : list) {
    if (c.what == What::kAdded) added.push_back(c.name);
    if (c.what == What::kRemoved) removed.push_back(c.name);
    for (const FieldChange& f : c.fields)
      changed.push_back(
          {{"name", c.name}, {"field", f.field}, {"before", OrNull(f.before)}, {"after", OrNull(f.after)}});
  }
  return {{"added", added}, {"removed", removed}, {"changed", changed}};
}

Json EdgesJson(const std::vector<EdgeChange>& list) {
  Json added = Json::array(), removed = Json::array(), changed = Json::array();
  for (const EdgeChange& e : list) {
    Json j = {{"from", e.from}, {"to", e.to}};
    if (!e.before.empty()) j["before"] = ReadingsJson(e.before);
    if (!e.after.empty()) j["after"] = ReadingsJson(e.after);
    (e.before.empty() ? added : e.after.empty() ? removed : changed).push_back(std::move(j));
  }
  return {{"added", added}, {"removed", removed}, {"changed", changed}};
}

}  // namespace

std::string DiffText(const DiffView& v, int width) {
  Lines text(width);
  text.Head(fmt::format("from {} to {}", FormatInstant(v.from), FormatInstant(v.to)));
  if (!v.sources.empty()) {
    text.Head("SOURCES");
    for (const SourceChange& s : v.sources) {
      const std::string name = fmt::format("{}:{}", s.kind, Printable(s.name));
      if (s.before == 0)
        text.Line('+', fmt::format("{}  version {}", name, s.after));
      else if (s.after == 0)
        text.Line('-', name);
      else
        text.Line('~', fmt::format("{}  version {} -> {}", name, s.before, s.after));
    }
  }
  text.Nodes("DATASETS", v.diff.datasets);
  text.Edges(v.diff.edges);
  text.Nodes("COPIES", v.diff.copies);
  if (v.diff.empty()) text.Head("nothing changed that the graph holds");
  if (!v.target.empty()) {
    const ReachChange& r = v.reach;
    text.Head("FOR A CORRECTION OF " + Printable(v.target));
    text.Names('+', "reaches now: ", r.reached);
    text.Names('-', "no longer reaches: ", r.no_longer);
    text.Names('+', "copies reached now: ", r.copies_reached);
    text.Names('-', "copies no longer reached: ", r.copies_no_longer);
    std::vector<std::string> changed;
    for (const NodeChange& c : r.on_the_way.datasets)
      if (c.what == What::kChanged) changed.push_back(c.name);
    text.Names('~', "changed among what it reaches: ", changed);
    std::vector<std::string> edges;
    for (const EdgeChange& e : r.on_the_way.edges) edges.push_back(e.from + " -> " + e.to);
    text.Names('~', "edges into it that changed: ", edges);
    if (r.reached.empty() && r.no_longer.empty() && r.copies_reached.empty() && r.copies_no_longer.empty() &&
        r.on_the_way.empty())
      text.Line(' ', "nothing: it reaches what it reached, in the same way");
  }
  return text.Take();
}

std::string DiffJson(const DiffView& v) {
  Json j;
  j["format"] = "backreach.diff/1";
  j["from"] = {{"at", FormatInstant(v.from)}, {"fingerprint", v.from_fingerprint}};
  j["to"] = {{"at", FormatInstant(v.to)}, {"fingerprint", v.to_fingerprint}};
  j["sources"] = Json::array();
  for (const SourceChange& s : v.sources)
    j["sources"].push_back({{"kind", s.kind},
                            {"name", s.name},
                            {"before", s.before ? Json(s.before_sha256) : Json()},
                            {"after", s.after ? Json(s.after_sha256) : Json()}});
  j["datasets"] = NodesJson(v.diff.datasets);
  j["edges"] = EdgesJson(v.diff.edges);
  j["copies"] = NodesJson(v.diff.copies);
  j["target"] = Json();
  if (!v.target.empty()) {
    j["target"] = {{"dataset", v.target},
                   {"reached", v.reach.reached},
                   {"no_longer_reached", v.reach.no_longer},
                   {"copies_reached", v.reach.copies_reached},
                   {"copies_no_longer_reached", v.reach.copies_no_longer},
                   {"datasets", NodesJson(v.reach.on_the_way.datasets)},
                   {"edges", EdgesJson(v.reach.on_the_way.edges)},
                   {"copies", NodesJson(v.reach.on_the_way.copies)}};
  }
  return j.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace backreach
