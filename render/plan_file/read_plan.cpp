// A plan file, read as a feed needs it. It may have been written by another version or changed by hand, and
// what is made of it is run: its form is checked before anything is taken from it, and every fault is said
// with its place.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <string_view>

#include "graph/base/error.hpp"
#include "graph/base/shell.hpp"
#include "graph/base/words.hpp"
#include "graph/time/time.hpp"
#include "render/plan_file/read_plan.hpp"

namespace backreach {

using Json = nlohmann::json;

namespace {

constexpr std::size_t kMostFaults = 20;

// One value of the plan with its JSON pointer. What is missing or of another type is a fault, and reads as
// nothing.
class Value {
 public:
  Value(const Json* json, std::string place, std::vector<std::string>& faults)
      : json_(json), place_(std::move(place)), faults_(&faults) {}

  void Fail(const std::string& what) const {
    faults_->push_back((place_.empty() ? "/" : place_) + ": " + what);
  }
  bool null() const { return json_ && json_->is_null(); }
  bool is_list() const { return json_ && json_->is_array(); }
  Value operator[](const char* key) const {
    const std::string place = place_ + "/" + key;
    if (!json_) return {nullptr, place, *faults_};
    if (!json_->is_object()) {
      Fail("must be an object");
      return {nullptr, place, *faults_};
    }
    const auto it = json_->find(key);
    if (it == json_->end()) Value(nullptr, place, *faults_).Fail("is missing");
    return {it == json_->end() ? nullptr : &*it, place, *faults_};
  }
  bool Has(const char* key) const {
    return json_ && json_->is_object() && json_->contains(key) && !(*json_)[key].is_null();
  }
  std::string Text() const {
    if (json_ && json_->is_string()) {
      const auto& text = json_->get_ref<const std::string&>();
      if (text.find('\0') != std::string::npos) Fail("holds a byte 0, which no command can");
      return text;
    }
    Wrong("a text");
    return "";
  }
  std::string TextOrNull() const { return null() ? "" : Text(); }
  bool Bool() const {
    if (json_ && json_->is_boolean()) return json_->get<bool>();
    Wrong("true or false");
    return false;
  }
  int Number() const {
    if (json_ && json_->is_number_integer() && *json_ >= 0 && *json_ < 1'000'000'000)
      return json_->get<int>();
    Wrong("a whole number from 0 on");
    return 0;
  }
  std::vector<Value> List() const {
    std::vector<Value> out;
    if (!json_ || !json_->is_array()) {
      Wrong("a list");
      return out;
    }
    for (std::size_t i = 0; i < json_->size(); ++i)
      out.emplace_back(&(*json_)[i], fmt::format("{}/{}", place_, i), *faults_);
    return out;
  }
  std::vector<std::string> Texts() const {
    std::vector<std::string> out;
    for (const Value& item : List()) out.push_back(item.Text());
    return out;
  }
  std::vector<std::string> Keys() const {
    std::vector<std::string> out;
    if (json_ && !json_->is_object()) Wrong("an object");
    if (json_ && json_->is_object())
      for (const auto& [key, value] : json_->items()) out.push_back(key);
    return out;
  }
  std::string OneOf(const std::vector<std::string>& words) const {
    const std::string text = Text();
    if (json_ && json_->is_string() && std::find(words.begin(), words.end(), text) == words.end())
      Fail(fmt::format("'{}' is none of {}", text, Join(words, ", ")));
    return text;
  }

 private:
  void Wrong(const char* wanted) const {
    if (json_)
      Fail(fmt::format("must be {}, and is {}", wanted, json_->is_null() ? "null" : json_->type_name()));
  }
  const Json* json_;  // null: missing, and said so
  std::string place_;
  std::vector<std::string>* faults_;
};

// A tool is called by words, and its line is nothing but these words: what a registry's line may do, chain
// and redirect and substitute, no tool's line does.
void ReadWords(const Value& m, FeedMethod& method) {
  const std::vector<Value> commands = m["commands"].List();
  const bool program = method.engine == "dbt" || method.engine == "airflow";
  for (std::size_t i = 0; i < method.commands.size(); ++i) {
    FeedLine& line = method.commands[i];
    if (line.words.empty())
      if (auto words = ShellWords(line.text)) line.words = std::move(*words);
    if (line.words.empty() || ShellLine(line.words) != line.text)
      commands[i].Fail(m.Has("argv") ? "is not what its argv says" : "is no plain call of a program");
    else if (program && line.words[0] != method.engine)
      commands[i].Fail(fmt::format("calls '{}', and its engine is {}", line.words[0], method.engine));
  }
}

FeedMethod ReadMethod(const Value& m) {
  FeedMethod method;
  method.engine = m["engine"].Text();
  method.effect = m["effect"].TextOrNull();
  m["command"].Text();
  for (const std::string& line : m["commands"].Texts()) method.commands.push_back({line, {}});
  if (m.Has("client")) method.client = m["client"].Text();
  if (m.Has("argv")) {
    const std::vector<Value> argv = m["argv"].List();
    if (argv.size() != method.commands.size())
      m["argv"].Fail(fmt::format("has {} entries for {} commands", argv.size(), method.commands.size()));
    for (std::size_t i = 0; i < std::min(argv.size(), method.commands.size()); ++i)
      method.commands[i].words = argv[i].Texts();
  }
  if (method.engine != "shell" && method.engine != "sql") ReadWords(m, method);
  if (!method.client.empty() && !StandsBare(method.client, "{sql}"))
    m["client"].Fail("must hold {sql}, and not in quotes");
  return method;
}

// An id, or [first, last] for all from the one to the other.
void ReadWaits(const Value& value, std::vector<int>& after) {
  if (!value.is_list()) return after.push_back(value.Number());
  const std::vector<Value> ends = value.List();
  if (ends.size() != 2) return value.Fail("must be an id, or the first and the last of some");
  const int first = ends[0].Number(), last = ends[1].Number();
  if (last < first || last - first > 10'000'000) return value.Fail("its last id must be behind its first");
  for (int id = first; id <= last; ++id) after.push_back(id);
}

// dbt runs the templates in a check: there is a ref in it, and braces that are text (see JinjaText).
bool OnlyRefs(const std::string& text) {
  static const std::regex allowed(
      R"(\{\{ ref\('[^'"\\{}%#]*'(, v=('[^'"\\{}%#]*'|[0-9]+))?\) \}\}|\{\{ '(\{|\\r)' \}\})");
  for (std::size_t at = 0; at + 1 < text.size(); ++at) {
    if (text[at] != '{' || std::string_view("{%#").find(text[at + 1]) == std::string_view::npos) continue;
    // No longer than a name is: what a regular expression goes through is bounded.
    std::smatch found;
    const std::string from_here = text.substr(at, 1000);
    if (!std::regex_search(from_here, found, allowed, std::regex_constants::match_continuous)) return false;
    at += static_cast<std::size_t>(found.length()) - 1;
  }
  return true;
}

FeedStep ReadStep(const Value& s) {
  FeedStep step;
  step.id = s["id"].Number();
  step.wave = s["wave"].Number();
  for (const Value& before : s["after"].List()) ReadWaits(before, step.after);
  step.dataset = s["dataset"].Text();
  step.action = s["action"].OneOf({"correct", "rebuild"});
  step.whole = s["whole"].Bool();
  step.sequential = s["sequential"].Bool();
  step.interleaved = s["interleaved"].Texts();
  if (!s["run"].null()) step.run = s["run"].Number();
  for (const Value& span : s["spans"].List())
    step.spans.push_back({span["from"].TextOrNull(), span["to"].TextOrNull()});
  for (const Value& m : s["methods"].List()) step.methods.push_back(ReadMethod(m));
  for (const Value& check : s["checks"]["after"].List())
    if (check["kind"].OneOf({"sql", "dbt-test"}) == "dbt-test") {
      step.dbt_checks.push_back(check["text"].Text());
      if (!OnlyRefs(step.dbt_checks.back()))
        check["text"].Fail("holds more of Jinja than one ref to a model");
    }
  const Value checks = s["checks"];
  for (const Value& check :
       checks.Has("before_publish") ? checks["before_publish"].List() : std::vector<Value>())
    if (check["name"].Text() == "the key is unique in the staged rows")
      step.staged_check = check["text"].Text();
  if (s.Has("rollback")) {
    step.position = s["rollback"]["position"].TextOrNull();
    step.back = s["rollback"]["back"].TextOrNull();
    if (step.back.empty()) step.back = s["rollback"]["note"].TextOrNull();
  }
  return step;
}

// ---- The whole plan ----

Instant ReadInstant(const Value& value, Instant unknown) {
  if (value.null()) return unknown;
  const std::string text = value.Text();
  const auto t = ParseInstant(text, true);
  if (!t && !text.empty()) value.Fail(fmt::format("'{}' is no instant such as 2026-04-20T09:00:00Z", text));
  return t.value_or(unknown);
}

std::map<std::string, std::vector<std::string>> ReadLists(const Value& value) {
  std::map<std::string, std::vector<std::string>> out;
  for (const std::string& key : value.Keys()) out[key] = value[key.c_str()].Texts();
  return out;
}

RecordedSpan ReadSpan(const Value& s) {
  RecordedSpan span;
  span.from = s["from"].TextOrNull(), span.to = s["to"].TextOrNull();
  span.span = {ReadInstant(s["start"], kMinInstant), ReadInstant(s["end"], kMaxInstant)};
  if (span.span.empty()) s.Fail("ends before it begins");
  if (s.Has("where")) span.where = ReadLists(s["where"]);
  return span;
}

RecordedCells ReadCells(const Value& c) {
  RecordedCells cells;
  cells.dataset = c["dataset"].TextOrNull();
  cells.whole = c["whole"].Bool();
  for (const Value& span : c["spans"].List()) cells.spans.push_back(ReadSpan(span));
  return cells;
}

std::vector<RecordedCheck> ReadChecks(const Value& list) {
  std::vector<RecordedCheck> out;
  for (const Value& c : list.List())
    out.push_back({c["name"].Text(), c["kind"].OneOf({"sql", "dbt-test"}), c["text"].Text()});
  return out;
}

// What a step reads, where it is not said to be the same as of an earlier one.
void ReadReads(const Value& list, const std::map<int, std::size_t>& before, const RecordedPlan& plan,
               std::vector<RecordedCells>& out) {
  for (const Value& r : list.List()) {
    if (!r.Has("like")) {
      out.push_back(ReadCells(r));
      continue;
    }
    const auto it = before.find(r["like"].Number());
    if (it == before.end())
      r["like"].Fail("is no step before this one");
    else
      out = plan.steps[it->second].reads;
  }
}

RecordedStep ReadWholeStep(const Value& s, const std::map<int, std::size_t>& before,
                           const RecordedPlan& plan) {
  RecordedStep step;
  step.id = s["id"].Number(), step.wave = s["wave"].Number();
  for (const Value& id : s["after"].List()) ReadWaits(id, step.after);
  step.cells = ReadCells(s);
  step.correct = s["action"].OneOf({"correct", "rebuild"}) == "correct";
  step.sequential = s["sequential"].Bool();
  if (!s["run"].null()) step.run = s["run"].Number();
  if (const std::string grain = s["grain"].TextOrNull(); !grain.empty()) {
    step.grain = ParseGrain(grain);
    if (!step.grain) s["grain"].Fail(fmt::format("'{}' is no grain", grain));
    if (step.grain && step.grain->none()) step.grain.reset();
  }
  step.timezone = s["timezone"].Text();
  if (!s["partitions"].null()) step.partitions = s["partitions"].Number();
  ReadReads(s["reads"], before, plan, step.reads);
  for (const Value& r : s["rewrites"].List()) step.rewrites.push_back(ReadCells(r));
  for (const Value& b : s["because"].List())
    step.because.push_back({b["from"].Text(), b["reads_text"].Text()});
  step.effect = s["effect"].TextOrNull();
  for (const Value& m : s["methods"].List())
    step.methods.push_back({m["engine"].Text(), m["commands"].Texts()});
  step.before = ReadChecks(s["checks"]["before_publish"]);
  step.after_run = ReadChecks(s["checks"]["after"]);
  step.hazards = s["hazards"].Texts();
  return step;
}

void ReadRequest(const Value& r, RecordedPlan& plan) {
  plan.now = ReadInstant(r["now"], 0);
  for (const Value& t : r["targets"].List()) {
    RecordedTarget target;
    target.cells = ReadCells(t);
    target.asked = target.cells.Set();
    if (t.Has("asked")) {
      target.asked.Clear();
      for (const Value& s : t["asked"].List())
        target.asked.Add(
            SpanSet(Span{ReadInstant(s["start"], kMinInstant), ReadInstant(s["end"], kMaxInstant)}));
    }
    plan.targets.push_back(std::move(target));
  }
  for (const Value& e : r["excluded"].List()) plan.excluded.push_back(ReadCells(e));
  if (r.Has("unchanged"))
    for (const Value& u : r["unchanged"].List()) plan.unchanged.push_back(ReadCells(u));
  plan.accepted = r["accepted"].Texts(), plan.narrow = r["narrow"].Texts();
  plan.full_refresh = r["full_refresh"].Texts();
  plan.where = ReadLists(r["where"]);
  plan.include_open = r["include_open"].Bool(), plan.strict = r["strict"].Bool();
}

RecordedHazard ReadHazard(const Value& h) {
  RecordedHazard hazard;
  hazard.code = h["code"].Text();
  hazard.severity = h["severity"].OneOf({"note", "warning", "blocking"});
  hazard.message = h["message"].Text();
  hazard.cells = ReadCells(h);
  hazard.accepted = h["accepted"].Bool();
  hazard.evidence = ReadLists(h["evidence"]);
  return hazard;
}

// What the steps say of each other: ids stand once, and every wait is for an earlier wave.
void CheckOrder(const Value& steps_value, const std::vector<FeedStep>& steps) {
  const std::vector<Value> places = steps_value.List();
  std::map<int, const FeedStep*> by_id;
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (!by_id.emplace(steps[i].id, &steps[i]).second)
      places[i]["id"].Fail(fmt::format("step {} stands twice", steps[i].id));
  for (std::size_t i = 0; i < steps.size(); ++i)
    for (const int before : steps[i].after) {
      const auto it = by_id.find(before);
      if (it == by_id.end())
        places[i]["after"].Fail(fmt::format("waits for step {}, which is not in the plan", before));
      else if (it->second->wave >= steps[i].wave)
        places[i]["after"].Fail(fmt::format("waits for step {}, which is in no earlier wave", before));
    }
}

}  // namespace

namespace {

Json ParsePlan(const std::string& text, const std::string& path) {
  Json j = Json::parse(text, nullptr, false);
  if (j.is_discarded() || !j.is_object() || !j.contains("format") || j["format"] != "backreach.plan/1")
    throw Error(path +
                ": error: not a plan (backreach.plan/1)\n  make one with: backreach plan TARGET --format json "
                "--out plan.json");
  return j;
}

std::string ReadId(const Value& top) {
  std::string id = top["id"].Text();
  if (id.size() < 8 || id.size() > 64 || id.find_first_not_of("0123456789abcdef") != std::string::npos)
    top["id"].Fail("is no plan's id");
  return id;
}

void RefuseFaults(const std::vector<std::string>& faults, const std::string& path) {
  if (faults.empty()) return;
  std::string message = path + ": error: this plan does not hold to its form";
  for (std::size_t i = 0; i < std::min(faults.size(), kMostFaults); ++i)
    message += "\n  " + Printable(faults[i]);
  if (faults.size() > kMostFaults) message += fmt::format("\n  and {} more", faults.size() - kMostFaults);
  throw Error(message + "\n  make it again with: backreach plan TARGET --format json --out plan.json");
}

}  // namespace

RecordedPlan ReadRecordedPlan(const std::string& text, const std::string& path) {
  const Json j = ParsePlan(text, path);
  std::vector<std::string> faults;
  const Value top(&j, "", faults);
  RecordedPlan plan;
  plan.path = path;
  plan.id = ReadId(top);
  plan.fingerprint = top["graph"]["fingerprint"].Text();
  plan.summary = top["summary"].Text();
  ReadRequest(top["request"], plan);
  std::map<int, std::size_t> before;
  for (const Value& step : top["steps"].List()) {
    plan.steps.push_back(ReadWholeStep(step, before, plan));
    if (!before.emplace(plan.steps.back().id, plan.steps.size() - 1).second)
      step["id"].Fail(fmt::format("step {} stands twice", plan.steps.back().id));
  }
  for (const Value& a : top["afterwards"].List()) plan.afterwards.push_back(ReadCells(a));
  for (const Value& f : top["fresh_on_read"].List()) plan.fresh_on_read.push_back(f["dataset"].Text());
  for (const Value& h : top["hazards"].List()) plan.hazards.push_back(ReadHazard(h));
  RefuseFaults(faults, path);
  std::stable_sort(plan.steps.begin(), plan.steps.end(), [](const RecordedStep& a, const RecordedStep& b) {
    return std::pair(a.wave, a.id) < std::pair(b.wave, b.id);
  });
  return plan;
}

FeedPlan ReadFeedPlan(const std::string& text, const std::string& path) {
  const Json j = ParsePlan(text, path);
  std::vector<std::string> faults;
  const Value top(&j, "", faults);
  FeedPlan plan;
  plan.id = ReadId(top);
  plan.summary = top["summary"].Text();
  plan.now = top["request"]["now"].Text();
  // It stands in comments of what is run.
  if (!plan.now.empty() &&
      (plan.now.find_first_not_of("0123456789-:+.TZ") != std::string::npos || !ParseInstant(plan.now, false)))
    top["request"]["now"].Fail("is no time such as 2026-04-20T09:00Z");
  for (const Value& step : top["steps"].List()) plan.steps.push_back(ReadStep(step));
  for (const Value& a : top["afterwards"].List())
    plan.afterwards.push_back(a["dataset"].Text() + ": " + a["what"].Text());
  for (const Value& h : top["hazards"].List()) {
    FeedHazard hazard;
    hazard.line = h["code"].Text() + " " + h["dataset"].TextOrNull() + ": " + h["message"].Text();
    hazard.blocking = h["severity"].OneOf({"note", "warning", "blocking"}) == "blocking";
    hazard.accepted = h["accepted"].Bool();
    plan.hazards.push_back(std::move(hazard));
  }
  if (top.Has("pools"))
    for (const Value& pool : top["pools"].List())
      if (pool.Has("advised")) {
        const int most = pool["advised"]["at_a_time"].Number();
        plan.at_a_time = std::min(plan.at_a_time.value_or(most), most);
        plan.best_start = std::max(plan.best_start, pool["advised"]["start"].Text());
      }
  if (faults.empty()) CheckOrder(top["steps"], plan.steps);
  RefuseFaults(faults, path);
  std::stable_sort(plan.steps.begin(), plan.steps.end(), [](const FeedStep& a, const FeedStep& b) {
    return std::pair(a.wave, a.id) < std::pair(b.wave, b.id);
  });
  return plan;
}

}  // namespace backreach
