// What is drawn: the steps with their periods, by wave from left to right; what is right by itself; what
// stays as it is; copies beyond the platform's border. Copies and what stays are never folded away; past a
// bound the steps farthest from the targets are folded into one card per wave that says how many it stands
// for.
//
// cgraph builds the graph and quotes every text; gvc lays it out. The layout runs in a child process, so that
// one that does not end can be stopped without harm.

#include "render/view/dot.hpp"

#include <fmt/format.h>
#include <graphviz/cgraph.h>
#include <graphviz/gvc.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "graph/base/error.hpp"
#include "graph/base/words.hpp"
#include "render/view/text.hpp"

namespace backreach {

namespace {

constexpr const char* kTargetColour = "#b3261e";
constexpr const char* kStepFill = "#e8f0fe";
constexpr const char* kWholeFill = "#fdecc8";
constexpr const char* kFreshFill = "#e6f4ea";
constexpr const char* kStaleFill = "#e8e8e8";
constexpr const char* kCopyFill = "#fce4ec";

// Long names are broken where people would read on: after dots, slashes and underscores. A card has room for
// some 400 characters: of a longer name the two ends are shown.
std::string Broken(const std::string& given, std::size_t most = 36) {
  if (given.size() <= most) return given;
  constexpr std::size_t kRoom = 400;
  std::string name = given;
  if (name.size() > kRoom) {
    std::size_t head = kRoom / 2, tail = name.size() - kRoom / 2;
    while (head > 0 && (static_cast<unsigned char>(name[head]) & 0xC0) == 0x80) --head;
    while (tail < name.size() && (static_cast<unsigned char>(name[tail]) & 0xC0) == 0x80) ++tail;
    name = name.substr(0, head) + "\xE2\x80\xA6" + name.substr(tail);
  }
  std::string out;
  std::size_t line = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    out += name[i];
    ++line;
    const bool joint = name[i] == '.' || name[i] == '/' || name[i] == '_' || name[i] == '-';
    const bool whole_character =
        i + 1 == name.size() || (static_cast<unsigned char>(name[i + 1]) & 0xC0) != 0x80;
    if (((joint && line >= most / 2) || line >= most) && whole_character && i + 1 < name.size()) {
      out += '\n';
      line = 0;
    }
  }
  return out;
}

// A text as a label: what Graphviz reads as an escape is escaped, lines are broken.
std::string Label(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) {
    if (line.empty()) continue;
    if (!out.empty()) out += "\\n";
    for (const std::string& part : Split(line, '\n')) {
      if (!out.empty() && !EndsWith(out, "\\n")) out += "\\n";
      for (const char c : Printable(part))
        out += c == '\\' ? std::string("\\\\") : c == '&' ? std::string("&amp;") : std::string(1, c);
    }
  }
  return out;
}

class Picture {
 public:
  Picture(const LineageGraph& graph, const Plan& plan, const PictureOptions& options)
      : g_(graph),
        plan_(plan),
        options_(options),
        names_(graph),
        graph_(agopen(Mutable("blast_radius"), Agdirected, nullptr)) {}
  ~Picture() { agclose(graph_); }
  Picture(const Picture&) = delete;
  Picture& operator=(const Picture&) = delete;

  void Draw() {
    Set(graph_, "rankdir", "LR");
    Set(graph_, "fontname", "Helvetica");
    Set(graph_, "fontsize", "11");
    Set(graph_, "labelloc", "t");
    Set(graph_, "ranksep", "0.7");
    Set(graph_, "nodesep", "0.25");
    Set(graph_, "charset", "UTF-8");
    agattr(graph_, AGNODE, Mutable("shape"), Mutable("box"));
    agattr(graph_, AGNODE, Mutable("style"), Mutable("rounded,filled"));
    agattr(graph_, AGNODE, Mutable("fontname"), Mutable("Helvetica"));
    agattr(graph_, AGNODE, Mutable("fontsize"), Mutable("11"));
    agattr(graph_, AGNODE, Mutable("fillcolor"), Mutable("white"));
    agattr(graph_, AGEDGE, Mutable("fontname"), Mutable("Helvetica"));
    agattr(graph_, AGEDGE, Mutable("fontsize"), Mutable("9"));
    agattr(graph_, AGEDGE, Mutable("color"), Mutable("#5f6368"));
    platform_ = agsubg(graph_, Mutable("cluster_platform"), 1);
    Set(platform_, "label", Label({"platform"}).c_str());
    Set(platform_, "style", "dashed");
    Set(platform_, "color", "#9aa0a6");
    Choose();
    Steps();
    Others();
    Edges();
    Copies();
    if (plan_.copies.size() + plan_.steps.size() > 200) {
      Set(graph_, "nslimit", "2");
      Set(graph_, "mclimit", "0.5");
    }
    Set(graph_, "label", Label({plan_.summary, left_out_}).c_str());
  }

  std::string Dot() {
    char* buffer = nullptr;
    std::size_t size = 0;
    FILE* out = open_memstream(&buffer, &size);
    agwrite(graph_, out);
    std::fclose(out);
    std::string text(buffer, size);
    std::free(buffer);
    return text;
  }

  Agraph_t* graph() { return graph_; }

 private:
  static char* Mutable(const char* s) { return const_cast<char*>(s); }
  template <typename T>
  void Set(T* object, const char* name, const char* value) {
    agsafeset(object, Mutable(name), Mutable(value), Mutable(""));
  }
  void Set(Agraph_t* graph, const char* name, const char* value) {
    if (graph == graph_)
      agattr(graph_, AGRAPH, Mutable(name), Mutable(value));
    else
      agsafeset(graph, Mutable(name), Mutable(value), Mutable(""));
  }

  // Which steps are drawn as cards of their own: all, or those nearest to the targets.
  void Choose() {
    std::map<int, std::size_t> per_wave;
    for (const Step& s : plan_.steps) ++per_wave[s.wave];
    int deepest = plan_.steps.empty() ? 0 : plan_.steps.back().wave;
    std::size_t drawn = 0;
    for (const auto& [wave, n] : per_wave) {
      if (options_.depth && wave > *options_.depth) {
        deepest = std::min(deepest, *options_.depth);
        break;
      }
      drawn += n;
      if (drawn > static_cast<std::size_t>(options_.most_nodes)) {
        deepest = std::max(0, wave - 1);
        break;
      }
    }
    std::size_t in_wave = 0;
    int wave = -1;
    for (const Step& s : plan_.steps) {
      if (s.wave != wave) in_wave = 0, wave = s.wave;
      if (s.wave > deepest || ++in_wave > static_cast<std::size_t>(options_.most_nodes)) {
        ++folded_[s.wave];
        continue;
      }
      shown_.insert(s.dataset);
    }
    std::size_t hidden = 0;
    for (const auto& [w, n] : folded_) hidden += n;
    if (hidden > 0)
      left_out_ = fmt::format("+ {} more steps are not drawn one by one; all of them are in the plan",
                              Thousands(static_cast<std::int64_t>(hidden)));
  }

  // Nodes are named by number: names of datasets are labels, whatever characters they have.
  std::string NodeName(DatasetId id) const { return fmt::format("d{}", id.value); }
  Agnode_t* Node(const std::string& name, Agraph_t* in) { return agnode(in, Mutable(name.c_str()), 1); }

  void Steps() {
    std::map<DatasetId, std::vector<const Step*>> by_dataset;
    for (const Step& s : plan_.steps)
      if (shown_.count(s.dataset)) by_dataset[s.dataset].push_back(&s);
    std::set<DatasetId> targets;
    for (const Target& t : plan_.request.targets) targets.insert(t.dataset);
    for (const auto& [id, steps] : by_dataset) {
      const Step& s = *steps.front();
      std::vector<std::string> lines = {Broken(names_(id))};
      std::string cells = s.whole ? "whole table" : StepCells(s);
      if (steps.size() > 1) cells = fmt::format("{} turns", steps.size());
      const std::string period = s.whole ? "" : SpansText(g_[id], AllSpans(steps));
      lines.push_back(period.empty() ? cells : cells + " \xC2\xB7 " + period);
      std::string how = s.correct                           ? "corrected here"
                        : g_[id].writes == Writes::kUnknown ? ""
                                                            : ToString(g_[id].writes);
      if (s.sequential) how += how.empty() ? "one at a time" : ", one at a time";
      lines.push_back(how);
      if (!s.widened_by.empty()) lines.push_back("widened by " + names_.List(s.widened_by, 2));
      if (const std::string marks = Marks(id); !marks.empty()) lines.push_back(marks);
      Agnode_t* node = Node(NodeName(id), platform_);
      Set(node, "label", Label(lines).c_str());
      Set(node, "fillcolor", s.whole ? kWholeFill : kStepFill);
      if (targets.count(id)) {
        Set(node, "color", kTargetColour);
        Set(node, "penwidth", "2.5");
      }
    }
    for (const auto& [wave, n] : folded_) {
      Agnode_t* node = Node(fmt::format("wave{}", wave), platform_);
      Set(node, "label",
          Label({fmt::format("+ {} more in wave {}", Thousands(static_cast<std::int64_t>(n)), wave)})
              .c_str());
      Set(node, "style", "rounded,dashed");
    }
    for (auto it = folded_.begin(); it != folded_.end(); ++it) {
      if (const auto next = std::next(it); next != folded_.end())
        agedge(graph_, Node(fmt::format("wave{}", it->first), graph_),
               Node(fmt::format("wave{}", next->first), graph_), nullptr, 1);
    }
    // What is folded hangs on one of the steps that it waits for.
    std::set<int> hung;
    std::map<int, const Step*> by_id;
    for (const Step& s : plan_.steps) by_id[s.id] = &s;
    for (const Step& s : plan_.steps) {
      if (shown_.count(s.dataset) || hung.count(s.wave)) continue;
      for (const int before : s.after)
        if (shown_.count(by_id[before]->dataset) && hung.insert(s.wave).second)
          agedge(graph_, Node(NodeName(by_id[before]->dataset), graph_),
                 Node(fmt::format("wave{}", s.wave), graph_), nullptr, 1);
    }
  }
  static SpanSet AllSpans(const std::vector<const Step*>& steps) {
    SpanSet all;
    for (const Step* s : steps) all.Add(s->spans);
    return all;
  }

  // "x append-duplicates, ! side-effects": letters, not colour alone.
  std::string Marks(DatasetId id) const {
    std::vector<std::string> marks;
    for (const Hazard& h : plan_.hazards) {
      if (h.dataset != id || h.severity == HazardSeverity::kNote || h.accepted) continue;
      const std::string mark = (h.severity == HazardSeverity::kBlocking ? "x " : "! ") + h.code;
      if (std::find(marks.begin(), marks.end(), mark) == marks.end()) marks.push_back(mark);
    }
    return ListOf(marks, 3);
  }

  void Others() {
    std::size_t drawn = 0;
    for (const Fresh& f : plan_.fresh) {
      if (++drawn > 200) break;
      Agnode_t* node = Node(NodeName(f.dataset), platform_);
      const Dataset& d = g_[f.dataset];
      Set(node, "label",
          Label({Broken(names_(f.dataset)), std::string(ToString(d.kind)) + ", right by itself"}).c_str());
      Set(node, "fillcolor", kFreshFill);
      Set(node, "shape", d.kind == Kind::kDashboard ? "tab" : "ellipse");
      shown_.insert(f.dataset);
    }
    if (plan_.fresh.size() > 200)
      left_out_ += fmt::format("{}+ {} more views are right by themselves", left_out_.empty() ? "" : "; ",
                               plan_.fresh.size() - 200);
    for (const LeftStale& l : plan_.left_stale) {
      const bool also_step = shown_.count(l.cells.dataset) > 0;
      const std::string name = also_step ? "stale" + NodeName(l.cells.dataset) : NodeName(l.cells.dataset);
      Agnode_t* node = Node(name, platform_);
      Set(node, "label",
          Label({Broken(names_(l.cells.dataset)), "stays as it is: " + std::string(ToString(l.reason)),
                 l.cells.whole ? "" : SpansText(g_[l.cells.dataset], l.cells.spans)})
              .c_str());
      Set(node, "fillcolor", kStaleFill);
      Set(node, "style", "rounded,filled,dashed");
      shown_.insert(l.cells.dataset);
    }
  }

  void Edges() {
    for (const DatasetId id : shown_) {
      for (const EdgeId e : g_.in(id)) {
        const Edge& edge = g_[e];
        if (!shown_.count(edge.from)) continue;
        Agnode_t* from = agnode(graph_, Mutable(NodeName(edge.from).c_str()), 0);
        Agnode_t* to = agnode(graph_, Mutable(NodeName(id).c_str()), 0);
        if (!from || !to) continue;
        Agedge_t* drawn = agedge(graph_, from, to, Mutable(fmt::format("e{}", e.value).c_str()), 1);
        if (!drawn) continue;
        const std::string how = FormatReads(edge.effective);
        if (how != "same") Set(drawn, "label", Label({how}).c_str());
        for (const Step& s : plan_.steps)
          if (s.dataset == id &&
              std::find(s.widened_by.begin(), s.widened_by.end(), edge.from) != s.widened_by.end()) {
            Set(drawn, "style", "bold");
            Set(drawn, "label", Label({"any row may change"}).c_str());
          }
      }
    }
  }

  void Copies() {
    for (const AffectedCopy& c : plan_.copies) {
      const std::string name = fmt::format("copy{}", ++copies_);
      Agnode_t* node = Node(name, graph_);
      std::vector<std::string> lines = {Broken(c.id), c.kind + (c.known ? "" : ", undocumented")};
      if (!c.taken.empty()) lines.push_back("taken " + ListOf(c.taken, 3));
      if (c.keyed_by.valid()) lines.push_back("wrong in it: " + SpansText(g_[c.keyed_by], c.affected));
      lines.push_back(c.owner.empty() ? "nobody named" : c.owner + ": " + c.action);
      Set(node, "label", Label(lines).c_str());
      Set(node, "shape", "note");
      Set(node, "style", "filled");
      Set(node, "fillcolor", kCopyFill);
      Set(node, "color", "#880e4f");
      for (const DatasetId id : c.datasets) {
        if (Agnode_t* from = agnode(graph_, Mutable(NodeName(id).c_str()), 0)) {
          Agedge_t* edge = agedge(graph_, from, node, nullptr, 1);
          Set(edge, "style", "dotted");
        }
      }
    }
  }

  const LineageGraph& g_;
  const Plan& plan_;
  const PictureOptions& options_;
  ShortNames names_;
  Agraph_t* graph_;
  Agraph_t* platform_ = nullptr;
  std::set<DatasetId> shown_;
  std::map<int, std::size_t> folded_;
  std::string left_out_;
  int copies_ = 0;
};

// Runs the layout in a child; returns its SVG, or nothing if it had to be stopped or failed.
std::optional<std::string> LayOut(const std::string& dot, double seconds) {
  int ends[2];
  if (pipe(ends) != 0) throw Error("a picture cannot be laid out: no pipe", Status::kInternal);
  const pid_t child = fork();
  if (child < 0) throw Error("a picture cannot be laid out: no process", Status::kInternal);
  if (child == 0) {
    close(ends[0]);
    GVC_t* gvc = gvContext();
    Agraph_t* graph = agmemread(dot.c_str());
    int status = 1;
    if (graph && gvLayout(gvc, graph, "dot") == 0) {
      if (FILE* out = fdopen(ends[1], "w")) {
        status = gvRender(gvc, graph, "svg", out) == 0 ? 0 : 1;
        std::fclose(out);
      }
    }
    _exit(status);
  }
  close(ends[1]);
  std::string svg;
  const int limit = static_cast<int>(seconds * 1000);
  int left = limit;
  bool stopped = false;
  char buffer[65536];
  while (true) {
    pollfd wait{ends[0], POLLIN, 0};
    const int step = std::min(left, 200);
    const int ready = poll(&wait, 1, std::max(1, step));
    if (ready == 0) {
      left -= step;
      if (left <= 0) {
        stopped = true;
        break;
      }
      continue;
    }
    const ssize_t n = read(ends[0], buffer, sizeof buffer);
    if (n <= 0) break;
    svg.append(buffer, static_cast<std::size_t>(n));
  }
  close(ends[0]);
  if (stopped) kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  if (stopped || !WIFEXITED(status) || WEXITSTATUS(status) != 0) return std::nullopt;
  return svg;
}

}  // namespace

std::string PlanDot(const LineageGraph& graph, const Plan& plan, const PictureOptions& options) {
  Picture picture(graph, plan, options);
  picture.Draw();
  return picture.Dot();
}

std::string PlanSvg(const LineageGraph& graph, const Plan& plan, const PictureOptions& options) {
  const std::string dot = PlanDot(graph, plan, options);
  const auto svg = LayOut(dot, options.seconds);
  if (!svg)
    throw Error(fmt::format("backreach: error: the drawing was not finished within {} s", options.seconds));
  return *svg;
}

}  // namespace backreach
