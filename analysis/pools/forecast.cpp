// The pool is played through, cell by cell: the plan's steps in their order and under a cap, beside every job
// that names the pool, which starts when its schedule says and takes as long as its runs took (their times
// one after the other, so that their spread counts). A run is late when it ends later than its dataset's
// service level after its tick. Then the cap and the start are varied: every full hour of a day, and the
// largest cap that makes nobody late. Cost: events times the variants, both bounded.

#include "analysis/pools/forecast.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analysis/pools/queue.hpp"
#include "analysis/steps/ticks.hpp"
#include "graph/base/words.hpp"

namespace backreach {

namespace {

constexpr std::int64_t kMostCells = 1000;      // played one by one; more are taken several at a time
constexpr std::size_t kMostEvents = 200'000;   // of one play
constexpr std::size_t kMostInAll = 1'000'000;  // of all variants: then the hours looked at so far have to do
constexpr int kHours = 24;

// A step of the plan, as work.
struct StepWork {
  int id = 0;
  std::vector<std::size_t> next;  // that wait for it
  int waits = 0;
  std::int64_t cells = 0, at_a_time = 1, slots = 1;
  double seconds = 0;  // of a cell
  int pool = -1;
};

// A job beside the plan.
struct Other {
  const Job* job = nullptr;
  Ticks ticks = Ticks::Listed({});
  std::vector<double> seconds;  // of its runs, oldest first
  std::int64_t slots = 1;
  int pool = -1;
  std::vector<std::pair<DatasetId, Duration>> levels;
};

struct Played {
  std::size_t events = 0;
  bool through = false;
  Instant end = 0;
  std::vector<LateDataset> late;
};

class Player {
 public:
  Player(const LineageGraph& graph, const std::vector<StepWork>& steps, const std::vector<Other>& others,
         const std::vector<std::int64_t>& pools)
      : graph_(graph), steps_(steps), others_(others) {
    for (const std::int64_t slots : pools) queue_.AddPool(slots);
  }

  // `with_plan`: false plays the others alone, for a day.
  Played Play(Instant start, std::int64_t cap, bool with_plan) {
    double longest = kHour;
    for (const Other& o : others_)
      for (const double s : o.seconds) longest = std::max(longest, s);
    const std::int64_t before = std::min<std::int64_t>(kDay, static_cast<std::int64_t>(2 * longest));
    zero_ = start - before;
    start_ = start, cap_ = cap;
    for (std::size_t i = 0; i < others_.size(); ++i) WakeOther(i, zero_ - 1);
    queue_.Wake(static_cast<double>(before), kPlan);
    left_ = with_plan ? static_cast<std::int64_t>(steps_.size()) : 0;
    waits_.clear(), left_of_.clear(), running_.assign(steps_.size(), 0);
    for (const StepWork& s : steps_)
      waits_.push_back(s.waits), left_of_.push_back(s.cells), to_end_.push_back(s.cells);
    with_plan_ = with_plan;
    Played out;
    for (; out.events < kMostEvents; ++out.events) {
      if (Over()) {
        out.through = true;
        break;
      }
      if (!queue_.Next([&](int owner) { Woken(owner); }, [&](const PoolWork& w) { Ended(w); })) {
        out.through = left_ == 0;
        break;
      }
    }
    out.end = zero_ + static_cast<Instant>(std::ceil(end_));
    for (auto& [dataset, spans] : late_)
      for (const Span& s : spans) out.late.push_back({dataset, s.start, s.end});
    return out;
  }

 private:
  static constexpr int kPlan = -1;

  bool Over() const {
    if (!started_ || left_ > 0) return false;
    // What came while the plan ran is through, and one more hour after that nobody waits.
    return open_others_ == 0 && queue_.now() >= end_ + (with_plan_ ? 1 : kDay);
  }

  void WakeOther(std::size_t i, Instant after) {
    const auto t = others_[i].ticks.After(after);
    if (t) ticks_[i] = *t, queue_.Wake(static_cast<double>(*t - zero_), static_cast<int>(i));
  }

  void Woken(int owner) {
    if (owner == kPlan) {
      started_ = true;
      end_ = queue_.now();
      return Fill();
    }
    const std::size_t i = static_cast<std::size_t>(owner);
    const Other& o = others_[i];
    // Once the plan is through, further runs are none of its doing.
    if (left_ == 0 && started_ && with_plan_ && queue_.now() > end_ && queue_.Waiting(o.pool) == 0) return;
    runs_.push_back({i, ticks_[i]});
    PoolWork work;
    work.pool = o.pool, work.slots = o.slots;
    work.seconds = o.seconds[count_[i]++ % o.seconds.size()];
    work.owner = -2 - static_cast<int>(runs_.size() - 1);
    ++open_others_;
    queue_.Submit(work);
    WakeOther(i, ticks_[i]);
  }

  void Ended(const PoolWork& w) {
    if (w.owner >= 0) {
      const std::size_t step = static_cast<std::size_t>(w.owner);
      --running_[step], --running_all_;
      end_ = std::max(end_, queue_.now());
      if (--to_end_[step] == 0) {
        --left_;
        for (const std::size_t next : steps_[step].next) --waits_[next];
      }
      return Fill();
    }
    --open_others_;
    const auto& [i, tick] = runs_[static_cast<std::size_t>(-2 - w.owner)];
    const Instant ended = zero_ + static_cast<Instant>(std::ceil(queue_.now()));
    for (const auto& [dataset, level] : others_[i].levels) {
      const Instant due = AddDuration(*Zone::Utc(), DueFrom(others_[i], dataset, tick), level);
      if (ended > due && ended > start_) late_[dataset].Add(SpanSet(Span{std::max(due, start_), ended}));
    }
  }

  // A partition is to be there so long after its end, which is the tick where nothing tells what it writes.
  Instant DueFrom(const Other& other, DatasetId dataset, Instant tick) const {
    const Dataset& d = graph_[dataset];
    if (!d.layout) return tick;
    const SpanSet written = WrittenAt(*other.job->schedule, other.ticks, tick, d);
    if (written.empty() || written.IsAll()) return tick;
    return std::min(tick, written.back().end);
  }

  // Starts as many cells as the cap, the steps' own limits and the order let.
  void Fill() {
    if (!started_ || !with_plan_) return;
    for (std::size_t s = 0; s < steps_.size() && running_all_ < cap_; ++s) {
      const StepWork& step = steps_[s];
      while (waits_[s] == 0 && left_of_[s] > 0 && running_[s] < step.at_a_time && running_all_ < cap_) {
        --left_of_[s], ++running_[s], ++running_all_;
        PoolWork work;
        work.pool = step.pool, work.slots = step.slots, work.seconds = step.seconds;
        work.owner = static_cast<int>(s);
        queue_.Submit(work);
      }
    }
  }

  const LineageGraph& graph_;
  const std::vector<StepWork>& steps_;
  const std::vector<Other>& others_;
  PoolQueue queue_;
  Instant zero_ = 0, start_ = 0;
  std::int64_t cap_ = 1, left_ = 0, running_all_ = 0;
  std::int64_t open_others_ = 0;
  bool started_ = false, with_plan_ = true;
  double end_ = 0;
  std::vector<int> waits_;
  std::vector<std::int64_t> left_of_, to_end_, running_;
  std::map<std::size_t, Instant> ticks_;
  std::map<std::size_t, std::size_t> count_;
  std::vector<std::pair<std::size_t, Instant>> runs_;
  std::map<DatasetId, SpanSet> late_;
};

class Forecaster {
 public:
  Forecaster(const LineageGraph& graph, const Plan& plan) : graph_(graph), plan_(plan) {
    const Dataset* first = plan.request.targets.empty() ? nullptr : &graph[plan.request.targets[0].dataset];
    zone_ = first ? &first->calendar.zone() : Zone::Utc();
  }

  std::vector<PoolUse> Make() {
    FindPools();
    if (uses_.empty()) return {};
    MakeSteps();
    MakeOthers();
    FreeSlots();
    if (can_) Vary();
    Sentences();
    std::vector<PoolUse> out;
    for (auto& [name, use] : uses_) out.push_back(std::move(use));
    return out;
  }

 private:
  // ---- What is known ----

  // The pool that a step takes its slots of, and how many of its cells go together.
  const Job* JobOf(const Step& step) const {
    const Job* found = nullptr;
    for (const JobId id : graph_[step.dataset].jobs)
      if (!graph_[id].pool.empty() && (!found || graph_[id].slots.value_or(1) > found->slots.value_or(1)))
        found = &graph_[id];
    return found;
  }

  void FindPools() {
    for (const Step& step : plan_.steps) {
      const Job* job = step.correct ? nullptr : JobOf(step);
      if (!job) continue;
      PoolUse& use = uses_[job->pool];
      use.pool = job->pool;
      use.steps.push_back(step.id);
    }
    // A pool of unknown size is none that could be short: doctor lists it.
    for (auto it = uses_.begin(); it != uses_.end();) {
      const auto pool = std::find_if(graph_.pools.begin(), graph_.pools.end(),
                                     [&](const Pool& p) { return p.name == it->first; });
      if (pool == graph_.pools.end() || !pool->slots) {
        it = uses_.erase(it);
        continue;
      }
      it->second.slots = pool->slots, it->second.usual_load = pool->usual_load;
      numbers_[it->first] = static_cast<int>(slots_.size());
      slots_.push_back(*pool->slots);
      ++it;
    }
  }

  void Unknown(PoolUse& use, std::string what) {
    can_ = false;
    use.unknown.push_back(std::move(what));
  }

  void MakeSteps() {
    std::map<int, std::size_t> of_id;
    std::set<int> runs;
    std::int64_t all = 0;
    for (const Step& step : plan_.steps)
      if (!step.correct) all += std::max<std::int64_t>(1, step.partitions.value_or(1));
    const std::int64_t together = std::max<std::int64_t>(1, (all + kMostCells - 1) / kMostCells);
    if (together > 1)
      for (auto& [name, use] : uses_)
        use.assumptions.push_back(fmt::format("{} cells are played {} at a time", Thousands(all), together));
    for (const Step& step : plan_.steps) {
      of_id[step.id] = steps_.size();
      StepWork work;
      work.id = step.id;
      work.waits = static_cast<int>(step.after.size());
      const Job* job = step.correct ? nullptr : JobOf(step);
      const std::int64_t n = std::max<std::int64_t>(1, step.partitions.value_or(1));
      const bool once = step.correct || step.whole || (step.run && !runs.insert(*step.run).second);
      work.cells = once ? 1 : (n + together - 1) / together;
      work.at_a_time = step.sequential || step.whole || (job && job->sequential)
                           ? 1
                           : (job && job->max_parallel ? *job->max_parallel : work.cells);
      if (step.seconds && !step.correct) work.seconds = *step.seconds / static_cast<double>(work.cells);
      if (job) {
        work.slots = job->slots.value_or(1);
        if (const auto it = numbers_.find(job->pool); it != numbers_.end()) work.pool = it->second;
      }
      if (!step.correct && !step.seconds)
        for (auto& [name, use] : uses_)
          if (!job || job->pool == name) {
            Unknown(use, fmt::format("how long {} takes (jobs: seconds_per_cell, or run results)",
                                     graph_[step.dataset].name));
            break;
          }
      most_ = std::max(most_, work.at_a_time);
      steps_.push_back(std::move(work));
    }
    std::map<int, std::int64_t> wave;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      for (const int before : plan_.steps[i].after) steps_[of_id[before]].next.push_back(i);
      if (!plan_.steps[i].correct)
        wave[plan_.steps[i].wave] += std::min(steps_[i].at_a_time, steps_[i].cells);
    }
    for (const auto& [number, cells] : wave) most_ = std::max(most_, cells);
    most_ = std::min<std::int64_t>(most_, 10'000);
  }

  void MakeOthers() {
    for (const Job& job : graph_.jobs) {
      const auto it = uses_.find(job.pool);
      if (job.pool.empty() || it == uses_.end() || !job.schedule) continue;
      auto ticks = TicksOf(*job.schedule);
      if (!ticks) {
        if (job.schedule->cron || job.schedule->every)
          it->second.unknown.push_back(
              fmt::format("when {} runs ({})", job.name, ScheduleText(*job.schedule)));
        continue;
      }
      Other other;
      other.job = &job, other.ticks = std::move(*ticks);
      other.slots = job.slots.value_or(1);
      if (const auto number = numbers_.find(job.pool); number != numbers_.end()) other.pool = number->second;
      if (job.seconds_per_cell) other.seconds.push_back(*job.seconds_per_cell);
      for (const DatasetId id : job.writes) {
        if (other.seconds.empty() || !job.seconds_per_cell)
          for (const TimingFact& t : graph_[id].timings)
            if (!t.full_refresh) other.seconds.push_back(t.seconds);
        const bool planned = std::any_of(plan_.steps.begin(), plan_.steps.end(),
                                         [&](const Step& s) { return s.dataset == id; });
        if (graph_[id].fresh_within && !planned) other.levels.emplace_back(id, *graph_[id].fresh_within);
      }
      if (other.seconds.empty()) {
        it->second.unknown.push_back(
            fmt::format("how long {} takes, so what it needs of pool {} is not counted", job.name, job.pool));
        continue;
      }
      others_.push_back(std::move(other));
    }
  }

  // Slots that the usual load leaves, beside the jobs that are played.
  void FreeSlots() {
    for (auto& [name, use] : uses_) {
      const auto it = numbers_.find(name);
      if (it == numbers_.end()) continue;
      std::int64_t played = 0, widest = 0;
      std::vector<std::string> names;
      for (const Other& o : others_)
        if (o.pool == it->second) {
          played += o.slots, widest = std::max(widest, o.slots);
          names.push_back(o.job->name);
        }
      for (const StepWork& s : steps_)
        if (s.pool == it->second) widest = std::max(widest, s.slots);
      const std::int64_t rest = std::max<std::int64_t>(0, use.usual_load.value_or(0) - played);
      slots_[static_cast<std::size_t>(it->second)] = *use.slots - rest;
      use.assumptions.push_back("first come, first served; nobody else starts anything there");
      use.assumptions.push_back(names.empty() ? "no job with a schedule names the pool"
                                              : fmt::format("beside the plan run {}", ListOf(names)));
      if (rest > 0)
        use.assumptions.push_back(
            fmt::format("{} of its usual load of {} are taken all the time", rest, *use.usual_load));
      use.assumptions.push_back(
          "a cell takes as long as the average of earlier runs, a job beside it as long as each of its runs "
          "in turn");
      if (widest > *use.slots - rest)
        Unknown(use, fmt::format("how anything can run: {} slots are asked for at once, and {} are left",
                                 widest, *use.slots - rest));
    }
  }

  // ---- Caps and starts ----

  PoolForecast Try(Instant start, std::int64_t cap) {
    Played played = Player(graph_, steps_, others_, slots_).Play(start, cap, true);
    events_ += played.events;
    PoolForecast out{cap, start, played.end, {}};
    if (!played.through) out.late.push_back({DatasetId{}, start, kMaxInstant});
    for (LateDataset& l : played.late)
      if (!late_anyway_.count(l.dataset)) out.late.push_back(l);
    return out;
  }

  static std::vector<std::int64_t> Caps(std::int64_t most) {
    std::vector<std::int64_t> out;
    for (std::int64_t n = 1; n < most; n = n < 4 ? n + 1 : n + n / 2) out.push_back(n);
    out.push_back(most);
    return out;
  }

  void Vary() {
    const Instant now = plan_.request.now;
    for (const LateDataset& l : Player(graph_, steps_, others_, slots_).Play(now, 1, false).late)
      late_anyway_.insert(l.dataset);
    all_ = Try(now, most_);
    if (all_->late.empty()) {
      best_ = all_;
      return;
    }
    const std::vector<std::int64_t> caps = Caps(most_);
    for (int hour = 0; hour <= kHours && events_ < kMostInAll; ++hour) {
      const Instant start = hour == 0 ? now : FloorDiv(now, kHour) * kHour + hour * kHour;
      // The largest cap that makes nobody late, where fewer cells at a time are never worse.
      std::size_t low = 0, high = caps.size();
      std::optional<PoolForecast> found;
      while (low < high) {
        const std::size_t middle = (low + high) / 2;
        PoolForecast tried = Try(start, caps[middle]);
        if (tried.late.empty()) {
          found = std::move(tried);
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      if (found && (!best_ || found->end < best_->end)) best_ = std::move(found);
    }
  }

  // ---- In words ----

  std::string At(Instant t) const {
    const Civil c = zone_->ToCivil(t), today = zone_->ToCivil(plan_.request.now);
    const std::string time =
        fmt::format("{:02}:{:02}", FloorMod(c, kDay) / kHour, FloorMod(c, kHour) / kMinute);
    if (FloorDiv(c, kDay) == FloorDiv(today, kDay)) return time;
    const CivilDate d = CivilFromDays(FloorDiv(c, kDay));
    return fmt::format("{:04}-{:02}-{:02} {}", d.year, d.month, d.day, time);
  }

  std::string LateText(const std::vector<LateDataset>& late) const {
    std::map<DatasetId, Span> all;
    for (const LateDataset& l : late) {
      if (!l.dataset.valid()) return "it does not end within what can be played";
      const auto [it, fresh] = all.emplace(l.dataset, Span{l.from, l.to});
      if (!fresh) it->second = {std::min(it->second.start, l.from), std::max(it->second.end, l.to)};
    }
    std::vector<std::string> out;
    for (const auto& [id, span] : all)
      out.push_back(fmt::format("{} is late from {} to {}", graph_[id].name, At(span.start), At(span.end)));
    return out.empty() ? "nobody late" : ListOf(out, 4);
  }

  std::string Sentence(const PoolForecast& f) const {
    const bool all = f.at_a_time == most_;
    const std::string how = most_ == 1 ? "one at a time"
                            : all      ? fmt::format("{} at once", f.at_a_time)
                                       : fmt::format("{} at a time", f.at_a_time);
    const std::string from = f.start == plan_.request.now ? "" : " from " + At(f.start);
    const std::string late = LateText(f.late);
    return f.late.empty() ? fmt::format("{}{}: done {}, {}", how, from, At(f.end), late)
                          : fmt::format("{}{}: {}", how, from, late);
  }

  void Sentences() {
    bool levels = false;
    for (const Other& o : others_) levels = levels || !o.levels.empty();
    for (auto& [name, use] : uses_) {
      if (!all_) {
        use.sentence = "what becomes of others on pool " + name + " cannot be told: nobody knows " +
                       ListOf(use.unknown.empty() ? std::vector<std::string>{"enough of the pools beside it"}
                                                  : use.unknown,
                              3);
        continue;
      }
      use.forecasts.push_back(*all_);
      if (best_ && !(best_->at_a_time == all_->at_a_time && best_->start == all_->start))
        use.forecasts.push_back(*best_);
      use.advised = best_;
      use.sentence = best_ ? Sentence(*best_) : "no cap and no hour of the next day makes nobody late";
      if (!best_ || !all_->late.empty()) use.sentence += "; " + Sentence(*all_);
      use.sentence += fmt::format(" ({})", zone_->name());
      if (events_ >= kMostInAll && !all_->late.empty())
        use.assumptions.push_back(
            "there is too much to play through: not every hour of the next day was looked at");
      if (!levels)
        use.assumptions.push_back(
            "nothing else on the pool has a service level (slo), so nobody can be late");
      for (const DatasetId id : late_anyway_)
        use.assumptions.push_back(graph_[id].name + " misses its service level without the plan too");
    }
  }

  const LineageGraph& graph_;
  const Plan& plan_;
  const Zone* zone_;
  bool can_ = true;
  std::map<std::string, PoolUse> uses_;
  std::map<std::string, int> numbers_;
  std::vector<std::int64_t> slots_;
  std::vector<StepWork> steps_;
  std::vector<Other> others_;
  std::int64_t most_ = 1;
  std::set<DatasetId> late_anyway_;
  std::size_t events_ = 0;
  std::optional<PoolForecast> all_, best_;
};

}  // namespace

std::vector<PoolUse> ForecastPools(const LineageGraph& graph, const Plan& plan) {
  return Forecaster(graph, plan).Make();
}

}  // namespace backreach
