// A run is told by its tick. The class of the timetable says what the run's data interval is: from the tick
// before up to the tick (data interval timetables), so much before the tick (triggers; often nothing at all),
// or the partition that the tick names.

#include "analysis/steps/airflow_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analysis/steps/methods.hpp"
#include "graph/base/words.hpp"
#include "graph/time/schedule.hpp"

namespace backreach {

std::optional<AirflowTask> AirflowTaskOf(const Job& job) {
  const auto it = job.methods.find("airflow");
  if (it == job.methods.end()) return std::nullopt;
  // `DAG TASK`; an id that has a space itself is said beside.
  const auto dag = job.methods.find("airflow_dag");
  const std::size_t end = dag == job.methods.end() ? it->second.find(' ') : dag->second.size();
  if (end >= it->second.size()) return AirflowTask{it->second, ""};
  return AirflowTask{it->second.substr(0, end), it->second.substr(end + 1)};
}

std::string RunsAs(const Job& job) {
  const auto task = AirflowTaskOf(job);
  return task ? job.name.substr(0, job.name.size() - std::min(job.name.size(), task->task.size() + 1))
              : job.name;
}

namespace {

constexpr std::size_t kMostSingleRuns = 1000;

enum class Times { kNone, kInterval, kTrigger, kPartition };

Times TimesOf(const ScheduleFact& s) {
  const std::string type = s.inner ? *s.inner : s.type.value_or("");
  if (type == "CronDataIntervalTimetable" || type == "DeltaDataIntervalTimetable") return Times::kInterval;
  if (type == "CronTriggerTimetable" || type == "MultipleCronTriggerTimetable" ||
      type == "DeltaTriggerTimetable" || type == "EventsTimetable")
    return Times::kTrigger;
  return type == "CronPartitionTimetable" ? Times::kPartition : Times::kNone;
}

// Which partition a run writes, where a person said so: of this job, or of one that a registry has under
// another name for the same table and the same clock.
Text DeclaredCovers(const LineageGraph& graph, const Dataset& d, const Job& job) {
  if (job.schedule->covers_declared) return job.schedule->covers;
  for (const JobId id : d.jobs) {
    const auto& other = graph[id].schedule;
    if (other && other->covers_declared && other->cron && other->cron == job.schedule->cron &&
        other->timezone.value_or("UTC") == job.schedule->timezone.value_or("UTC") &&
        !AirflowTaskOf(graph[id]))
      return other->covers;
  }
  return std::nullopt;
}

// Finds the runs of one timetable for stretches of cells.
class RunFinder {
 public:
  RunFinder(const ScheduleFact& schedule, const Dataset& d, const Calendar& calendar, Text covers)
      : s_(schedule), d_(d), calendar_(calendar), times_(TimesOf(schedule)), covers_(std::move(covers)) {
    Read();
  }

  AirflowRuns For(const SpanSet& spans) {
    AirflowRuns out;
    out.periodic = readable_ && times_ != Times::kNone && !s_.backfill_refused;
    if (!out.periodic) return out;
    out.known = times_ != Times::kTrigger || !interval_.none() || covers_ || d_.run_date_offset;
    for (Span span : spans) {
      if (!IsFinite(span.start)) {  // from the DAG's first run on, for want of a better beginning
        const auto start = s_.start ? ParseInstant(*s_.start, true) : std::nullopt;
        out.known = false;
        if (start && *start < span.end) span.start = calendar_.Floor(*start);
      }
      if (!IsFinite(span.start) || !IsFinite(span.end) || !Add(span, out)) {
        out.periodic = false;
        return out;
      }
    }
    return out;
  }

  // The ticks that a stretch consists of, for those who need them one by one: at most `most`.
  std::vector<Instant> Each(const AirflowStretch& stretch, std::size_t most) const {
    std::vector<Instant> out = {stretch.first};
    while (out.back() < stretch.last && out.size() <= most) {
      const auto next = ticks_.After(out.back());
      if (!next) break;
      out.push_back(*next);
    }
    return out;
  }

  // A date as the command takes it. A backfill begins at the first run that it finds from there on.
  std::string From(Instant t) const {
    return Written(times_ == Times::kPartition ? t : ticks_.StartOfWalk(t));
  }
  std::string To(Instant t) const { return Written(t); }

 private:
  void Read() {
    if (s_.interval) {
      const auto length = ParseScheduleLength(*s_.interval);
      if (!length) return;
      interval_ = *length;
    }
    zone_ = ZoneOfSchedule(s_.timezone.value_or("UTC"));
    const std::string type = s_.inner ? *s_.inner : s_.type.value_or("");
    if (type == "EventsTimetable") {
      std::vector<Instant> moments;
      for (const std::string& text : s_.events)
        if (const auto t = ParseInstant(text, true)) moments.push_back(*t);
      ticks_ = Ticks::Listed(std::move(moments));
      readable_ = true;
    } else if (s_.cron) {
      std::vector<Cron> crons;
      for (std::string_view rest = *s_.cron; !rest.empty();) {
        const auto bar = rest.find(" | ");
        const auto cron = Cron::Parse(rest.substr(0, bar));
        if (!cron) return;
        crons.push_back(*cron);
        rest = bar == std::string_view::npos ? std::string_view() : rest.substr(bar + 3);
      }
      if (!zone_) return;
      ticks_ = Ticks::Of(std::move(crons), zone_);
      readable_ = true;
    } else if (s_.every) {
      const auto step = ParseScheduleLength(*s_.every);
      if (!step || step->none()) return;
      every_ = *step;
      readable_ = true;
    }
  }

  // A steady timetable counts from the date that a backfill begins at: that has to be one of the DAG's own,
  // which counts from its start; before that on the same steps, where these have a way back.
  void Anchor(Instant a) {
    if (every_.none()) return;
    auto anchor = s_.start ? ParseInstant(*s_.start, true) : std::nullopt;
    if (anchor && every_.months != 0 && *anchor > a) {
      const bool clamped = CivilFromDays(FloorDiv(*anchor, kDay)).day > 28 || every_.seconds != 0;
      while (!clamped && *anchor > a) *anchor = AddLength(*anchor, every_, -1);
      if (clamped) anchor.reset();
    }
    ticks_ = Ticks::Steady(anchor.value_or(a), every_);
  }

  bool Add(Span span, AirflowRuns& out) {
    Anchor(span.start);
    std::optional<AirflowStretch> found;
    Span written = span;
    if (d_.run_date_offset) {
      found = ByRunDate(span);
    } else if (covers_ && times_ != Times::kPartition && *covers_ != "interval") {
      found = ByTick(span, written);
    } else if (times_ == Times::kPartition) {
      found = Partitions(span, written);
    } else {
      found = Intervals(span, written);
    }
    if (!found) return false;
    out.written.Add(SpanSet(written));
    if (!out.stretches.empty()) {
      AirflowStretch& before = out.stretches.back();
      const auto next = ticks_.After(before.last);
      if (!every_.none() ? found->first <= before.last : next && found->first <= *next) {
        before.last = std::max(before.last, found->last);
        return true;
      }
    }
    out.stretches.push_back(*found);
    return true;
  }

  // Ticks in [a, b], or nothing.
  std::optional<AirflowStretch> Between(std::optional<Instant> a, std::optional<Instant> b) const {
    if (!a || !b || *a > *b) return std::nullopt;
    return AirflowStretch{*a, *b};
  }

  // The beginning of the data interval of the run at tick `t`; what a command compares is that of the run.
  Instant BeginOf(Instant t) const {
    if (times_ == Times::kInterval || (covers_ && interval_.none())) return ticks_.Before(t).value_or(t);
    return AddLength(t, interval_, -1);
  }

  // As the command compares them: of data intervals their beginning, of all else the tick.
  std::optional<AirflowStretch> Asked(std::optional<AirflowStretch> ticks) const {
    if (!ticks || times_ != Times::kInterval) return ticks;
    return Between(ticks_.Before(ticks->first), ticks_.Before(ticks->last));
  }

  // The last tick whose data interval begins before `b`.
  std::optional<Instant> LastBeginningBefore(Instant b) const {
    if (times_ == Times::kInterval || (covers_ && interval_.none())) {
      const auto begin = ticks_.AtOrBefore(b - 1);
      return begin ? ticks_.After(*begin) : std::nullopt;
    }
    if (interval_.none()) return ticks_.AtOrBefore(b - 1);
    auto t =
        ticks_.AtOrBefore(AddLength(b, interval_) + 4 * kDay);  // months are not exact: a little too late
    while (t && AddLength(*t, interval_, -1) >= b) t = ticks_.Before(*t);
    return t;
  }

  // Runs whose data interval overlaps the cells. Where the registry says that a run writes the cells which
  // end in its interval, one that only has the end of the cell before is left out, and nothing beside is
  // written.
  std::optional<AirflowStretch> Intervals(Span span, Span& written) const {
    const bool moment = times_ == Times::kTrigger && interval_.none() && !covers_;
    auto first = moment ? ticks_.AtOrAfter(span.start) : ticks_.After(span.start);
    const auto last = LastBeginningBefore(span.end);
    if (first && covers_ && BeginOf(*first) < span.start)
      first = ticks_.AtOrAfter(
          std::max(*first, std::min(calendar_.Next(span.start), FirstBeginningAt(span.start))));
    const auto found = Between(first, last);
    if (!found || moment) return found;
    const Instant begin = BeginOf(found->first);
    if (!covers_) {
      written = {std::min(begin, span.start), std::max(found->last, span.end)};
    } else {
      written.start = std::min(span.start, calendar_.Floor(begin));
      written.end = std::max(span.end, calendar_.Floor(found->last));
    }
    return Asked(found);
  }

  // The first tick whose data interval begins at `a` or later.
  Instant FirstBeginningAt(Instant a) const {
    if (times_ == Times::kInterval || interval_.none()) {
      const auto begin = ticks_.AtOrAfter(a);
      return begin ? ticks_.After(*begin).value_or(kMaxInstant) : kMaxInstant;
    }
    return ticks_.AtOrAfter(AddLength(a, interval_)).value_or(kMaxInstant);
  }

  // `tick`: the cell that the tick lies in; `last 1d`: what overlaps so much before it.
  std::optional<AirflowStretch> ByTick(Span span, Span& written) const {
    if (*covers_ == "tick")
      return Asked(Between(ticks_.AtOrAfter(span.start), ticks_.AtOrBefore(span.end - 1)));
    const auto length = ParseDuration(std::string_view(*covers_).substr(5));
    if (!length) return std::nullopt;
    const Zone& zone = calendar_.zone();
    const auto first = ticks_.After(span.start);
    auto last = ticks_.AtOrBefore(AddDuration(zone, span.end, *length) + 4 * kDay);
    while (last && AddDuration(zone, *last, *length, -1) >= span.end) last = ticks_.Before(*last);
    const auto found = Between(first, last);
    if (found)
      written = {std::min(span.start, AddDuration(zone, found->first, *length, -1)),
                 std::max(span.end, found->last)};
    return Asked(found);
  }

  // A run's partition is the cell that its date lies in, and those that lie between its date and the next.
  std::optional<AirflowStretch> Partitions(Span span, Span& written) const {
    auto first = ticks_.AtOrBefore(span.start);
    if (first && *first < span.start) {
      const auto next = ticks_.After(*first);
      if (!next || calendar_.Next(span.start) > *next) first = next;
    } else if (!first) {
      first = ticks_.AtOrAfter(span.start);
    }
    const auto found = Between(first, ticks_.AtOrBefore(span.end - 1));
    if (!found) return std::nullopt;
    const auto end = ticks_.After(found->last);
    written.start = std::min(span.start, calendar_.Floor(found->first));
    if (end) written.end = std::max(span.end, calendar_.Floor(*end));
    return found;
  }

  // Runs by their logical date, which is the partition plus the declared offset.
  std::optional<AirflowStretch> ByRunDate(Span span) const {
    const Zone& zone = calendar_.zone();
    const Instant a = AddDuration(zone, span.start, *d_.run_date_offset),
                  b = AddDuration(zone, span.end, *d_.run_date_offset);
    if (times_ == Times::kTrigger && !interval_.none())
      return Between(ticks_.AtOrAfter(AddLength(a, interval_)),
                     ticks_.AtOrBefore(AddLength(b, interval_) - 1));
    return Between(ticks_.AtOrAfter(a), ticks_.AtOrBefore(b - 1));
  }

  // In the schedule's own zone, with its offset. (Of partitions Airflow reads the wall clock and drops the
  // offset.)
  std::string Written(Instant t) const {
    const Zone& zone = zone_ ? *zone_ : *Zone::Utc();
    const std::int32_t offset = zone.OffsetAt(t);
    std::string text = FormatInstant(t + offset);
    if (offset == 0) return text;
    text.pop_back();
    return text + FormatOffset(offset);
  }

  const ScheduleFact& s_;
  const Dataset& d_;
  const Calendar& calendar_;
  const Times times_;
  const Text covers_;
  const Zone* zone_ = nullptr;
  Ticks ticks_ = Ticks::Listed({});
  ScheduleLength interval_, every_;
  bool readable_ = false;
};

// A DAG's id that begins with a dash would be read as an option.
std::string DagWord(const std::string& dag) { return (StartsWith(dag, "-") ? "-- " : "") + ShellWord(dag); }

std::string Trigger(const std::string& dag) { return "airflow dags trigger " + DagWord(dag); }

std::string Command(const std::string& dag, bool second, bool one_at_a_time, const std::string& from,
                    const std::string& to) {
  if (second)
    return fmt::format("airflow dags backfill --reset-dagruns --yes -s {} -e {} {}", ShellWord(from),
                       ShellWord(to), DagWord(dag));
  const std::string named =
      StartsWith(dag, "-") ? ShellWord("--dag-id=" + dag) : "--dag-id " + ShellWord(dag);
  return fmt::format(
      "airflow backfill create {} --from-date {} --to-date {} --reprocess-behavior completed{}", named,
      ShellWord(from), ShellWord(to), one_at_a_time ? " --max-active-runs 1" : "");
}

// What a run does that need not be of these cells.
Effect OfAnyRun(Effect effect) { return effect == Effect::kReplaced ? Effect::kUnknown : effect; }

Method MethodOf(std::vector<std::string> commands, Effect effect) {
  return {"airflow", std::move(commands), effect};
}

Method BackfillOf(const LineageGraph& graph, const Job& job, const AirflowTask& task, Effect effect,
                  const Step& step) {
  const Dataset& d = graph[step.dataset];
  RunFinder finder(*job.schedule, d, *step.calendar, DeclaredCovers(graph, d, job));
  const AirflowRuns runs = finder.For(step.spans);
  if (!runs.periodic || runs.stretches.empty()) return MethodOf({Trigger(task.dag)}, OfAnyRun(effect));
  // Airflow 2 has no option for one run at a time: then each run is a backfill of its own, unless the DAG or
  // its tasks see to the order.
  const bool second = job.schedule->engine_version == "2";
  const bool single =
      second && step.sequential && !job.sequential && job.schedule->max_runs.value_or(16) != 1;
  bool known = runs.known;
  std::vector<std::string> commands;
  for (const AirflowStretch& stretch : runs.stretches) {
    const auto each = single ? finder.Each(stretch, kMostSingleRuns) : std::vector<Instant>();
    if (single && each.size() <= kMostSingleRuns) {
      for (const Instant t : each)
        commands.push_back(Command(task.dag, second, false, finder.From(t), finder.To(t)));
      continue;
    }
    known = known && !single;
    commands.push_back(
        Command(task.dag, second, step.sequential, finder.From(stretch.first), finder.To(stretch.last)));
  }
  return MethodOf(std::move(commands), known ? effect : OfAnyRun(effect));
}

}  // namespace

AirflowRuns RunsFor(const LineageGraph& graph, const Job& job, const Step& step) {
  if (step.whole || !step.calendar || !job.schedule) {
    AirflowRuns none;
    none.periodic = false;
    return none;
  }
  const Dataset& d = graph[step.dataset];
  return RunFinder(*job.schedule, d, *step.calendar, DeclaredCovers(graph, d, job)).For(step.spans);
}

void AirflowMethods(const LineageGraph& graph, Effect effect, Step& step) {
  std::set<std::string> dags;  // one run of a DAG runs all of its tasks
  for (const JobId id : graph[step.dataset].jobs) {
    const Job& job = graph[id];
    const auto task = AirflowTaskOf(job);
    if (!task || !dags.insert(task->dag).second) continue;
    if (task->dag.find('\0') != std::string::npos) continue;  // no word of any shell
    if (step.whole || !step.calendar)
      step.methods.push_back(MethodOf({Trigger(task->dag)}, effect));
    else if (!job.schedule)
      step.methods.push_back(MethodOf({Trigger(task->dag)}, OfAnyRun(effect)));
    else
      step.methods.push_back(BackfillOf(graph, job, *task, effect, step));
  }
}

}  // namespace backreach
