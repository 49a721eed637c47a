// What differs between hazards of one code is most often the dataset alone: its name is taken out of the
// messages, and what is left the same is said once. Where more differs, the code's own sentence is said, and
// the messages are in the plan's JSON and behind --all.

#include "render/view/plan_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "analysis/hazards/hazard.hpp"
#include "graph/base/words.hpp"
#include "render/commands/lines.hpp"

namespace backreach {

namespace {

constexpr std::size_t kApart = 2;  // so many of one code are said one by one
constexpr const char* kEach = "each of them";

// A message without its dataset's name.
std::string WithoutName(const LineageGraph& g, const Hazard& h) {
  if (!h.dataset.valid()) return h.message;
  const std::string& name = g[h.dataset].name;
  std::string out = h.message;
  for (std::size_t at = out.find(name); at != std::string::npos; at = out.find(name, at + 1)) {
    const auto inside = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
             c == '.';
    };
    const std::size_t end = at + name.size();
    if ((at > 0 && inside(out[at - 1])) ||
        (end < out.size() && inside(out[end]) && !(out[end] == '.' && end + 1 == out.size())))
      continue;
    out.replace(at, name.size(), kEach);
  }
  // Whom that reaches is each one's own, and so is what stands in brackets.
  for (std::size_t open = out.find(" ("); open != std::string::npos; open = out.find(" (", open)) {
    const std::size_t close = out.find(')', open);
    if (close == std::string::npos) break;
    out.erase(open, close - open + 1);
  }
  if (const std::size_t at = out.find(", and so in "); at != std::string::npos)
    out = out.substr(0, at) + ", and in what reads it";
  return out;
}

void AddGroup(const LineageGraph& g, std::vector<const Hazard*> same, bool apart,
              std::vector<HazardGroup>& out) {
  const Hazard& first = *same[0];
  if (apart || same.size() <= kApart) {
    for (const Hazard* h : same) out.push_back({h->code, h->severity, {h}, h->message, h->remedy});
    return;
  }
  std::vector<std::pair<std::string, std::vector<const Hazard*>>> shapes;
  for (const Hazard* h : same) {
    const std::string shape = WithoutName(g, *h);
    const auto it =
        std::find_if(shapes.begin(), shapes.end(), [&](const auto& s) { return s.first == shape; });
    if (it == shapes.end())
      shapes.push_back({shape, {h}});
    else
      it->second.push_back(h);
  }
  // What to do is said once for all of them.
  const HazardKind* kind = FindHazardKind(first.code);
  const bool one =
      std::all_of(same.begin(), same.end(), [&](const Hazard* h) { return h->remedy == first.remedy; });
  const std::string remedy = one || !kind ? first.remedy : kind->remedy;
  constexpr std::size_t kShapes = 4;
  const std::size_t shown = shapes.size() <= kShapes ? shapes.size() : kShapes - 1;
  std::vector<const Hazard*> rest;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const auto& [shape, list] = shapes[i];
    if (i >= shown)
      rest.insert(rest.end(), list.begin(), list.end());
    else if (list.size() == 1)
      out.push_back({first.code, first.severity, list, list[0]->message, remedy});
    else
      out.push_back({first.code, first.severity, list, shape, remedy});
  }
  if (rest.empty()) return;
  const std::string sentence =
      fmt::format("and {} more ({})", rest.size(), kind ? kind->outcome : first.message.c_str());
  out.push_back({first.code, first.severity, std::move(rest), sentence, remedy});
}

// A call of dbt, split at what it selects.
struct Call {
  std::vector<std::string> before, selected, behind;
};
bool Split(const Line& line, Call& out) {
  const auto& w = line.words;
  const auto at = std::find(w.begin(), w.end(), "--select");
  if (w.empty() || w[0] != "dbt" || at == w.end()) return false;
  out.before.assign(w.begin(), at);
  auto i = at + 1;
  for (; i != w.end() && i->rfind("--", 0) != 0; ++i) out.selected.push_back(*i);
  out.behind.assign(i, w.end());
  return true;
}

// A bare name selects the model of that name, and all in a folder or package of that name: it is enough where
// no other path has it in it.
class ShortSelectors {
 public:
  explicit ShortSelectors(const LineageGraph& g) {
    for (const Dataset& d : g.datasets)
      if (const auto it = d.methods.find("dbt"); it != d.methods.end())
        for (const std::string& part : backreach::Split(it->second, '.')) ++parts_[part];
  }
  std::string operator()(const std::string& selector) const {
    const std::string name = selector.substr(selector.rfind('.') + 1);
    const bool plain = std::all_of(selector.begin(), selector.end(),
                                   [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '.'; });
    const bool version =
        name.size() > 1 && name[0] == 'v' && std::isdigit(static_cast<unsigned char>(name[1]));
    const auto it = parts_.find(name);
    return plain && !version && it != parts_.end() && it->second == 1 ? name : selector;
  }

 private:
  std::map<std::string, int, std::less<>> parts_;
};

std::string Typed(const Call& c) {
  std::vector<std::string> words;
  for (const std::string& w : c.before) words.push_back(ShellWord(w));
  words.push_back("--select");
  for (const std::string& w : c.selected) words.push_back(ShellWord(w));
  for (const std::string& w : c.behind) words.push_back(ShellWord(w));
  return Join(words, " ");
}

}  // namespace

std::vector<HazardGroup> GroupHazards(const LineageGraph& g, const Plan& plan, bool apart) {
  std::vector<HazardGroup> out;
  std::vector<const Hazard*> same;
  const auto flush = [&] {
    if (!same.empty()) AddGroup(g, std::move(same), apart, out);
    same.clear();
  };
  for (const Hazard& h : plan.hazards) {
    if (h.accepted) continue;
    if (!same.empty() && (same[0]->code != h.code || same[0]->severity != h.severity)) flush();
    same.push_back(&h);
  }
  flush();
  return out;
}

std::string NumbersText(std::vector<int> numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    if (end - i > 2)
      parts.push_back(fmt::format("{}-{}", numbers[i], numbers[end - 1]));
    else
      for (std::size_t k = i; k < end; ++k) parts.push_back(std::to_string(numbers[k]));
    i = end;
  }
  return ListOf(parts, 1000);
}

std::string WhoOf(const HazardGroup& group, const Plan& plan,
                  const std::function<std::string(DatasetId)>& name) {
  std::set<DatasetId> datasets;
  for (const Hazard* h : group.hazards)
    if (h->dataset.valid()) datasets.insert(h->dataset);
  std::vector<std::string> names;
  std::vector<int> numbers;
  std::map<DatasetId, std::vector<int>> steps;
  for (const Step& s : plan.steps) steps[s.dataset].push_back(s.id);
  for (const DatasetId id : datasets) {
    const auto it = steps.find(id);
    if (datasets.size() <= 4 || it == steps.end())
      names.push_back(name(id));
    else
      numbers.insert(numbers.end(), it->second.begin(), it->second.end());
  }
  if (!numbers.empty()) names.insert(names.begin(), "steps " + NumbersText(numbers));
  return ListOf(names, 8);
}

std::vector<StepGroup> GroupSteps(const LineageGraph& g, const Plan& plan) {
  const ShortSelectors shorter(g);
  std::vector<StepGroup> out;
  std::map<std::vector<std::vector<std::string>>, std::size_t> known;  // of one wave
  std::vector<std::vector<Call>> calls;                                // by group
  int wave = -1;
  for (const Step& step : plan.steps) {
    if (step.wave != wave) known.clear(), wave = step.wave;
    std::vector<Call> own;
    bool dbt = !step.methods.empty() && !step.correct && step.interleaved.empty();
    if (dbt)
      for (const Line& line : LinesOf(step, step.methods[0])) dbt = dbt && Split(line, own.emplace_back());
    dbt = dbt && !own.empty();
    std::vector<std::vector<std::string>> key = {{std::to_string(step.whole)}};
    for (const Call& c : own) key.push_back(c.before), key.push_back(c.behind);
    const auto it = dbt ? known.find(key) : known.end();
    if (it != known.end()) {
      out[it->second].steps.push_back(&step);
      for (std::size_t i = 0; i < own.size(); ++i) {
        std::vector<std::string>& all = calls[it->second][i].selected;
        all.insert(all.end(), own[i].selected.begin(), own[i].selected.end());
      }
      continue;
    }
    if (dbt) known.emplace(std::move(key), out.size());
    out.push_back({step.wave, {&step}, {}});
    calls.push_back(dbt ? std::move(own) : std::vector<Call>());
    if (!dbt && !step.methods.empty() && !step.correct)
      for (const Line& line : LinesOf(step, step.methods[0])) out.back().commands.push_back(line.text);
  }
  for (std::size_t i = 0; i < out.size(); ++i)
    for (Call& c : calls[i]) {
      for (std::string& selector : c.selected) selector = shorter(selector);
      out[i].commands.push_back(Typed(c));
    }
  return out;
}

std::string CommandLines(const std::string& command, int width, const std::string& indent) {
  std::string out = indent;
  std::size_t column = indent.size();
  bool first = true;
  const std::size_t most = static_cast<std::size_t>(width) - 2;
  // A blank in quotes is no place to go on at: lines with quotes stay whole.
  if (command.find_first_of("'\"\\") != std::string::npos || command.find('\n') != std::string::npos)
    return indent + command;
  for (const std::string& word : backreach::Split(command, ' ')) {
    if (!first && column + 1 + word.size() > most) {
      out += " \\\n" + indent + "  ";
      column = indent.size() + 2;
    } else if (!first) {
      out += ' ', ++column;
    }
    out += word;
    column += word.size();
    first = false;
  }
  return out;
}

}  // namespace backreach
