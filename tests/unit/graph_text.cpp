#include "tests/unit/graph_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <stdexcept>

#include "analysis/planner.hpp"
#include "graph/base/words.hpp"

namespace backreach::test {

namespace {

std::string Trim(std::string text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.pop_back();
  text.erase(0, text.find_first_not_of(' '));
  return text;
}

std::vector<std::string> Words(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> out;
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

std::vector<std::string> Parts(const std::string& text, const std::string& separator) {
  std::vector<std::string> out;
  std::size_t start = 0;
  for (std::size_t at; (at = text.find(separator, start)) != std::string::npos; start = at + separator.size())
    out.push_back(Trim(text.substr(start, at - start)));
  out.push_back(Trim(text.substr(start)));
  return out;
}

class Reader {
 public:
  SourceFacts Read(const std::string& text) {
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
      line_ = Trim(line.substr(0, line.find('#')));
      if (!line_.empty()) Line();
    }
    return std::move(out_);
  }

 private:
  [[noreturn]] void Fail(const std::string& why) const { throw std::runtime_error(why + ": " + line_); }

  void Line() {
    if (StartsWith(line_, "copy ")) return Copy();
    if (StartsWith(line_, "job ")) return Job();
    if (StartsWith(line_, "pool ")) return Pool();
    if (line_.find("->") == std::string::npos) {
      Dataset(line_);
      return;
    }
    std::string chain = line_, mapping;
    if (const std::size_t colon = line_.find(": "); colon != std::string::npos)
      chain = line_.substr(0, colon), mapping = Trim(line_.substr(colon + 1));
    const std::vector<std::string> ends = Parts(chain, "->");
    std::vector<std::string> names;
    for (const std::string& end : ends) names.push_back(Dataset(end));
    for (std::size_t i = 1; i < names.size(); ++i) {
      EdgeFact edge;
      edge.from = names[i - 1], edge.to = names[i];
      const bool last = i + 1 == names.size();
      if (!last)
        edge.reads = "\"same\"";
      else if (!mapping.empty())
        edge.reads = Reads(mapping);
      out_.facts.edges.push_back(edge);
    }
  }

  std::string Reads(const std::string& mapping) const {
    const std::vector<std::string> w = Words(mapping);
    if (w[0] == "window" && w.size() >= 3)
      return fmt::format("{{\"window\":[{},{}]{}}}", w[1], w[2],
                         w.size() > 3 ? ",\"unit\":\"" + w[3] + "\"" : "");
    if (w[0] == "to_date" && w.size() == 2) return fmt::format("{{\"to_date\":\"{}\"}}", w[1]);
    if (w[0] == "period" && w.size() >= 2)
      return fmt::format("{{\"period\":\"{}\",\"offset\":{}}}", w[1], w.size() > 2 ? w[2] : "0");
    if (w[0] == "fixed" && w.size() == 3)
      return fmt::format("{{\"fixed\":{{\"from\":\"{}\",\"to\":\"{}\"}}}}", w[1], w[2]);
    if (w.size() == 1) return "\"" + w[0] + "\"";
    Fail("no mapping");
  }

  // `orders@day writes=append`: what it says is added to what is known; returns the name.
  std::string Dataset(const std::string& text) {
    std::vector<std::string> words = Words(text);
    if (words.empty()) Fail("a dataset without a name");
    const std::size_t at = words[0].find('@');
    const std::string name = words[0].substr(0, at);
    DatasetFact* fact = nullptr;
    for (DatasetFact& d : out_.facts.datasets)
      if (d.name == name) fact = &d;
    if (!fact) {
      fact = &out_.facts.datasets.emplace_back();
      fact->name = name;
    }
    if (at != std::string::npos) Partitions(*fact).grain = Grain(words[0].substr(at + 1));
    for (std::size_t i = 1; i < words.size(); ++i) Word(*fact, words[i]);
    return name;
  }
  // `6-hours` is `6 hours`: a word holds no space.
  static std::string Grain(std::string text) {
    std::replace(text.begin(), text.end(), '-', ' ');
    return text;
  }
  static PartitionFact& Partitions(DatasetFact& fact) {
    if (fact.partitions.empty()) fact.partitions.emplace_back();
    return fact.partitions[0];
  }

  void Word(DatasetFact& d, const std::string& word) const {
    static const std::vector<std::string> kinds = {"source", "view", "snapshot", "seed", "ephemeral"};
    if (std::find(kinds.begin(), kinds.end(), word) != kinds.end()) {
      d.kind = word;
      return;
    }
    const std::size_t equal = word.find('=');
    const std::string key = word.substr(0, equal),
                      value = equal == std::string::npos ? "" : word.substr(equal + 1);
    if (key == "writes")
      d.write.mode = value;
    else if (key == "key")
      d.write.key = Split(value, '+'), d.write.key_given = true;
    else if (key == "first")
      Partitions(d).first = value;

    else if (key == "begin")
      Partitions(d).first = value, d.findings.push_back({"stated", "", {{"first", "begin"}}, {}});
    else if (key == "zone")
      Partitions(d).timezone = value;
    else if (key == "until")
      Partitions(d).until = value;
    else if (key == "then")
      d.partitions.push_back({Grain(value), {}, {}, {}, {}, {}, {}, {}, {}, {}});
    else if (key == "column")
      Partitions(d).column = value;
    else if (key == "complete_after")
      d.complete_after = value;
    else if (key == "retention")
      d.retention = value;
    else if (key == "row_time")
      d.row_time = value;
    else if (key == "origin")
      d.origin = value;
    else if (key == "rollback")
      d.rollback = value;
    else if (key == "unique")
      d.proven_unique = value == "yes";
    else if (key == "not_null")
      d.proven_not_null = value == "yes";
    else if (key == "never_rebuild")
      d.never_rebuild = true;
    else if (key == "deletions")
      d.deletions = true;
    else if (key == "sequential")
      d.sequential = true;
    else if (key == "effect")
      d.side_effects.push_back(value);
    else if (key == "change")
      d.changes.push_back({value.substr(0, 10), value.substr(11), "declared"});
    else if (key == "from_var")
      d.vars["from"] = value;
    else if (key == "finding")
      Finding(d, value);
    else if (key == "shell")
      d.methods["shell"] = Grain(value);
    else
      Fail("no word for a dataset: " + word);
  }
  // `watermark-filter`, or with what is known of it: `watermark-filter,bound=day~-3d` (a word holds no
  // space).
  static void Finding(DatasetFact& d, const std::string& text) {
    const std::vector<std::string> parts = Split(text, ',');
    FindingFact f;
    f.code = parts[0], f.detail = "does what " + parts[0] + " says";
    for (std::size_t i = 1; i < parts.size(); ++i) {
      const std::size_t equal = parts[i].find('=');
      std::string value = parts[i].substr(equal + 1);
      std::replace(value.begin(), value.end(), '~', ' ');
      f.data[parts[i].substr(0, equal)] = value;
    }
    d.findings.push_back(f);
  }

  void Copy() {
    const std::vector<std::string> w = Words(line_);
    CopyFact copy;
    copy.id = w.at(1), copy.kind = "spreadsheet";
    for (std::size_t i = 2; i + 1 < w.size(); ++i) {
      if (w[i] == "of")
        copy.of.push_back(w[++i]);
      else if (w[i] == "taken")
        copy.taken.push_back(w[++i]);
      else if (w[i] == "holds" && w[i + 1] == "all")
        copy.holds = HoldsFact{true, {}, {}, {}}, ++i;
      else if (w[i] == "holds" && i + 3 < w.size())
        copy.holds = HoldsFact{false, w[i + 1], w[i + 3], {}}, i += 3;
      else
        Fail("no word for a copy: " + w[i]);
    }
    out_.facts.copies.push_back(copy);
  }

  void Pool() {
    const std::vector<std::string> w = Words(line_);
    PoolFact pool;
    pool.name = w.at(1);
    if (w.size() > 2 && StartsWith(w[2], "slots=")) pool.slots = std::stoll(w[2].substr(6));
    out_.facts.pools.push_back(pool);
  }

  void Job() {
    JobFact job;
    const std::vector<std::string> w = Words(line_);
    job.name = w.at(1);
    std::vector<std::string>* list = nullptr;
    for (std::size_t i = 2; i < w.size(); ++i) {
      std::string word = w[i];
      if (!word.empty() && word.back() == ',') word.pop_back();
      if (word == "writes")
        list = &job.writes;
      else if (word == "reads")
        list = &job.reads;
      else if (word == "on") {
        if (!job.schedule) job.schedule.emplace();
        list = &job.schedule->on;
      } else if (StartsWith(word, "pool="))
        job.pool = word.substr(5);
      else if (StartsWith(word, "cron=")) {
        if (!job.schedule) job.schedule.emplace();
        job.schedule->cron = Grain(word.substr(5));
      } else if (StartsWith(word, "rewrites=")) {
        if (!job.schedule) job.schedule.emplace();
        job.schedule->rewrites = word.substr(9);
      } else if (StartsWith(word, "run_grain="))
        job.run_grain = Grain(word.substr(10));
      else if (StartsWith(word, "shell="))
        job.methods["shell"] = Grain(word.substr(6));
      else if (list)
        list->push_back(word);
      else
        Fail("no word for a job: " + word);
    }
    out_.facts.jobs.push_back(job);
  }

  std::string line_;
  SourceFacts out_{{"registry", "test.yml", "test.yml", "", ""}, {}};
};

}  // namespace

SourceFacts FactsOf(const std::string& text) { return Reader().Read(text); }

Plan Asked::Ask(const std::string& question) {
  RequestText r = request;
  if (r.now == 0) r.now = *ParseInstant("2026-04-20T09:00Z", true);
  const std::vector<std::string> w = Words(question);
  r.targets = {w.at(0)};
  if (w.size() == 1) r.whole = true;
  if (w.size() > 1) r.from = w[1], r.to = w.size() > 3 ? w[3] : w[1];
  Request asked = ReadRequest(built_.graph, built_.names, r);
  asked.log = log;
  return MakePlan(built_.graph, asked);
}

std::string StepsOf(const Asked& asked, const Plan& plan) {
  std::string out;
  int wave = 0;
  for (const Step& s : plan.steps) {
    if (!out.empty()) out += s.wave == wave ? ", " : " | ";
    wave = s.wave;
    const Dataset& d = asked.graph()[s.dataset];
    out += d.name + " " + (s.whole ? "whole" : SpansText(d, s.spans));
  }
  return out;
}

std::string StepsOf(const std::string& graph, const std::string& question) {
  Asked asked(graph);
  return StepsOf(asked, asked.Ask(question));
}

std::vector<std::string> HazardsOf(const Asked& asked, const Plan& plan) {
  std::set<std::string> out;
  for (const Hazard& h : plan.hazards)
    out.insert(h.code + (h.dataset.valid() ? " " + asked.graph()[h.dataset].name : ""));
  return {out.begin(), out.end()};
}

bool Has(const Plan& plan, const std::string& code) {
  return std::any_of(plan.hazards.begin(), plan.hazards.end(),
                     [&](const Hazard& h) { return h.code == code; });
}

}  // namespace backreach::test
