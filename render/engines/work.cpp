// What a feed runs together. Steps of one wave that dbt does with the same words are one call of it, since
// most of a short run is its start; what a wave touched is tested before the next one begins. Everything else
// stays as the plan has it: a command is a line, and no line is ever taken apart.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "graph/base/shell.hpp"
#include "graph/base/words.hpp"
#include "render/engines/feed.hpp"
#include "render/quote.hpp"

namespace backreach {

namespace {

const FeedMethod* MethodFor(const FeedStep& step, const std::string& engine) {
  for (const FeedMethod& m : step.methods)
    if (m.engine == engine) return &m;
  return step.methods.empty() ? nullptr : &step.methods[0];
}

bool CallsDbt(const FeedMethod& m) {
  return !m.commands.empty() && std::all_of(m.commands.begin(), m.commands.end(), [](const FeedLine& c) {
    return c.words.size() > 3 && c.words[0] == "dbt" &&
           std::count(c.words.begin(), c.words.end(), "--select") == 1;
  });
}

// A name in a query of dbt's whose platform is not known here: as a label for people, without what any of
// them, or Jinja, could read as its own.
std::string Label(const std::string& name) {
  std::string out = Printable(name);
  for (char& c : out)
    if (std::string_view("'\"\\`{}%#$;").find(c) != std::string_view::npos) c = '_';
  return "'" + out + "'";
}

// A call of dbt, split at what it selects.
struct DbtCall {
  std::vector<std::string> before, selected, behind;
  explicit DbtCall(const std::vector<std::string>& words) {
    std::size_t i = 0;
    for (; words[i] != "--select"; ++i) before.push_back(words[i]);
    for (++i; i < words.size() && words[i].rfind("--", 0) != 0; ++i) selected.push_back(words[i]);
    for (; i < words.size(); ++i) behind.push_back(words[i]);
  }
};

std::string PeriodOf(const FeedStep& step) {
  std::string out = step.whole ? "whole" : "";
  for (std::size_t i = 0; i < step.spans.size() && i < 4; ++i)
    out += (i ? ", " : "") + (step.spans[i].from.empty() ? std::string("beginning") : step.spans[i].from) +
           " .. " + step.spans[i].to;
  if (step.spans.size() > 4) out += fmt::format(" and {} more spans", step.spans.size() - 4);
  return out;
}

class Planner {
 public:
  Planner(const FeedPlan& plan, const FeedOptions& options, std::string engine,
          std::vector<std::string>& warnings)
      : plan_(plan), options_(options), engine_(std::move(engine)), warnings_(warnings) {}

  std::vector<Work> Make() {
    std::map<int, std::vector<const FeedStep*>> waves;
    for (const FeedStep& step : plan_.steps) waves[step.wave].push_back(&step);
    for (const auto& [wave, steps] : waves) {
      std::map<std::vector<std::vector<std::string>>, std::size_t> calls;
      std::map<int, std::size_t> runs;
      const std::size_t first = works_.size();
      for (const FeedStep* step : steps) Place(*step, calls, runs);
      for (std::size_t i = first; i < works_.size(); ++i)
        if (!works_[i].done_before) Describe(works_[i], i);
      if (options_.tests) Check(wave, steps, wave == waves.rbegin()->first);
    }
    for (std::size_t i = 0; i < works_.size(); ++i) Wait(i);
    return std::move(works_);
  }

 private:
  void Place(const FeedStep& step, std::map<std::vector<std::vector<std::string>>, std::size_t>& calls,
             std::map<int, std::size_t>& runs) {
    const FeedMethod* method = MethodFor(step, engine_);
    // Where a second run would add rows a second time, what failed must not take what succeeded along.
    const bool together = !options_.staged && method && CallsDbt(*method) && method->effect != "duplicated" &&
                          method->effect != "unknown" && step.interleaved.empty();
    if (together) {
      std::vector<std::vector<std::string>> key;
      for (const FeedLine& c : method->commands) {
        const DbtCall call(c.words);
        key.push_back(call.before);
        key.push_back(call.behind);
      }
      const auto [it, fresh] = calls.emplace(std::move(key), works_.size());
      if (fresh) works_.push_back({{}, step.wave, {}, "", {}, "", false});
      return Join(step, *method, it->second);
    }
    // One run writes several datasets: it is started once.
    if (step.run && method && runs.count(*step.run)) return Join(step, *method, runs[*step.run]);
    works_.push_back({{}, step.wave, {}, "", {}, "", false});
    if (step.run) runs[*step.run] = works_.size() - 1;
    if (!method || method->commands.empty()) {
      of_step_[step.id] = works_.size() - 1;
      works_.back().steps.push_back(&step);
      works_.back().done_before = step.action == "correct";
      if (!works_.back().done_before)
        works_.back().by_hand =
            "no command is known for this step: rebuild " + step.dataset + " " + PeriodOf(step) + " by hand";
      return;
    }
    Join(step, *method, works_.size() - 1);
  }

  void Join(const FeedStep& step, const FeedMethod& method, std::size_t at) {
    works_[at].steps.push_back(&step);
    methods_[at].push_back(&method);
    of_step_[step.id] = at;
    if (method.effect != "kept-old") return;
    const bool other = std::any_of(step.methods.begin(), step.methods.end(),
                                   [](const FeedMethod& m) { return m.effect == "replaced"; });
    warnings_.push_back(fmt::format("step {} ({}): its command changes nothing of the period (kept-old){}",
                                    step.id, step.dataset,
                                    other ? "; another of its methods in the plan does" : ""));
  }

  // The sentence and the lines of a work, once all of its steps are there.
  void Describe(Work& work, std::size_t at) {
    if (!work.what.empty()) return;
    std::vector<std::string> names;
    std::set<std::string> periods;
    for (const FeedStep* step : work.steps) names.push_back(step->dataset), periods.insert(PeriodOf(*step));
    work.what =
        ListOf(names, 6) + (periods.size() == 1 && !periods.begin()->empty() ? " " + *periods.begin() : "");
    const auto it = methods_.find(at);
    if (it == methods_.end()) {
      warnings_.push_back(
          fmt::format("step {} ({}) has no command: it stops there until that is done by hand",
                      work.steps[0]->id, work.steps[0]->dataset));
      return;
    }
    const FeedStep& first = *work.steps[0];
    if (!first.interleaved.empty()) {
      work.by_hand =
          fmt::format("the cells of {} take turns with those of {}: run them one at a time, oldest first",
                      first.dataset, ListOf(first.interleaved));
      warnings_.push_back(fmt::format("step {} ({}) takes turns with another: it is left to a person",
                                      first.id, first.dataset));
      return;
    }
    if (CallsDbt(*it->second[0]))
      DbtCommands(work, it->second);
    else if (it->second[0]->engine == "sql")
      SqlCommands(work, *it->second[0]);
    else
      for (const FeedMethod* m : it->second) OtherCommands(work, *m);
  }

  void DbtCommands(Work& work, const std::vector<const FeedMethod*>& methods) {
    for (std::size_t c = 0; c < methods[0]->commands.size(); ++c) {
      DbtCall call(methods[0]->commands[c].words);
      for (std::size_t m = 1; m < methods.size(); ++m)
        for (std::string& name : DbtCall(methods[m]->commands[c].words).selected)
          call.selected.push_back(std::move(name));
      for (const auto& names : Parts(call.selected))
        work.commands.push_back(Dbt(call.before, names, call.behind));
    }
  }

  // A call of dbt with the options that every one of this feed has.
  std::string Dbt(std::vector<std::string> words, const std::vector<std::string>& selected,
                  const std::vector<std::string>& behind) const {
    const auto option = [&](const char* name, const std::string& value) {
      if (!value.empty()) words.insert(words.end(), {name, value});
    };
    option("--project-dir", options_.project_dir);
    option("--profiles-dir", options_.profiles_dir);
    option("--target", options_.target);
    if (std::find(behind.begin(), behind.end(), "--threads") == behind.end())
      option("--threads", options_.threads);
    if (!selected.empty()) words.push_back("--select");
    words.insert(words.end(), selected.begin(), selected.end());
    words.insert(words.end(), behind.begin(), behind.end());
    return ShellLine(words);
  }

  void SqlCommands(Work& work, const FeedMethod& method) {
    std::vector<std::string> statements;
    for (const FeedLine& c : method.commands) {
      statements.push_back(c.text);
      if (StandsBare(method.client, "{sql}"))
        if (auto line = ShellFilled(method.client, {{"{sql}", c.text}}))
          work.commands.push_back(std::move(*line));
    }
    if (!method.client.empty() && work.commands.size() == method.commands.size()) return;
    work.commands.clear();
    work.by_hand = "run this where the table lives: " + backreach::Join(statements, "; ");
    warnings_.push_back(fmt::format(
        "step {} ({}) is SQL: it stops there for a person; clients: in the registry names what runs SQL",
        work.steps[0]->id, work.steps[0]->dataset));
  }

  void OtherCommands(Work& work, const FeedMethod& method) {
    std::size_t n = 0;
    for (const FeedLine& c : method.commands) {
      const std::string id = fmt::format("backreach_{}_{}_{}", plan_.id.substr(0, 8), work.steps[0]->id, ++n);
      const Awaited awaited =
          method.engine == "airflow"   ? WithWait(c.words, id)
          : method.engine == "dagster" ? Awaited{WithDagsterWait(c.text), std::string()}
                                       : Awaited{c.text, std::string()};
      if (!awaited.dag.empty()) work.waits_for.insert(awaited.dag);
      if (std::find(work.commands.begin(), work.commands.end(), awaited.line) == work.commands.end())
        work.commands.push_back(awaited.line);
    }
  }

  // A line of shell is one argument where a scheduler starts it, and one of 128 kB is refused by the kernel.
  static constexpr std::size_t kLongest = 60'000;

  static std::vector<std::vector<std::string>> Parts(const std::vector<std::string>& names) {
    std::vector<std::vector<std::string>> out(1);
    std::size_t size = 0;
    for (const std::string& name : names) {
      size += name.size() + 1;
      if (size > kLongest && !out.back().empty()) out.emplace_back(), size = name.size() + 1;
      out.back().push_back(name);
    }
    return out;
  }
  // Queries are one, as far as that is an argument.
  static void AddQuery(const std::string& query, std::vector<std::string>& queries) {
    if (queries.empty() || queries.back().size() + query.size() > kLongest)
      queries.push_back(query);
    else
      queries.back() += "\nunion all\n" + query;
  }

  // dbt's tests of what the wave touched, as far as nothing that a later wave rebuilds has a part in them;
  // after the last wave those of all that was touched. And the plan's own, all in one query.
  void Check(int wave, const std::vector<const FeedStep*>& steps, bool last) {
    std::set<std::string> touched;
    std::vector<std::string> faults;
    std::set<std::size_t> after;
    const auto touch = [&](const FeedStep& step) {
      for (const std::string& name : SelectedBy(step)) touched.insert(name), after.insert(of_step_[step.id]);
    };
    if (last)
      for (const FeedStep& step : plan_.steps) touch(step);
    else
      for (const FeedStep* step : steps) touch(*step);
    for (const FeedStep* step : steps)
      for (const std::string& check :
           SelectedBy(*step).empty() ? std::vector<std::string>() : step->dbt_checks)
        AddQuery(
            fmt::format("select {} as dataset, c.copies from (\n{}\n) as c", Label(step->dataset), check),
            faults);
    if (touched.empty()) return;
    Work work;
    work.wave = wave;
    work.what = last && wave > 0 ? "tests of all that was rebuilt" : fmt::format("tests of wave {}", wave);
    for (const auto& names : Parts({touched.begin(), touched.end()}))
      work.commands.push_back(Dbt(
          {"dbt", "test"}, names,
          last ? std::vector<std::string>() : std::vector<std::string>{"--indirect-selection", "buildable"}));
    for (const std::string& query : faults)
      work.commands.push_back(
          Dbt({"dbt", "--quiet", "show"}, {}, {"--output", "json", "--limit", "20", "--inline", query}) +
          " | tee /dev/stderr | grep -F '\"show\": []' >/dev/null");
    work.after.assign(after.begin(), after.end());
    check_of_[wave] = works_.size();
    works_.push_back(std::move(work));
  }

  // What the step's method selects in dbt.
  std::vector<std::string> SelectedBy(const FeedStep& step) const {
    const FeedMethod* method = MethodFor(step, engine_);
    return method && CallsDbt(*method) ? DbtCall(method->commands[0].words).selected
                                       : std::vector<std::string>();
  }

  void Wait(std::size_t i) {
    std::set<std::size_t> after(works_[i].after.begin(), works_[i].after.end());
    for (const FeedStep* step : works_[i].steps)
      for (const int before : step->after) {
        const std::size_t at = of_step_[before];
        if (at == i) continue;
        const auto check = check_of_.find(works_[at].wave);
        const bool checked =
            check != check_of_.end() &&
            std::binary_search(works_[check->second].after.begin(), works_[check->second].after.end(), at);
        after.insert(checked ? check->second : at);
      }
    works_[i].after.assign(after.begin(), after.end());
  }

  const FeedPlan& plan_;
  const FeedOptions& options_;
  const std::string engine_;
  std::vector<std::string>& warnings_;
  std::vector<Work> works_;
  std::map<std::size_t, std::vector<const FeedMethod*>> methods_;  // of each work, one a step
  std::map<int, std::size_t> of_step_, check_of_;                  // by id, by wave
};

}  // namespace

std::vector<Work> WorkOf(const FeedPlan& plan, const FeedOptions& options, const std::string& engine,
                         std::vector<std::string>& warnings) {
  return Planner(plan, options, engine, warnings).Make();
}

}  // namespace backreach
