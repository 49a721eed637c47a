// Plans, graphs, datasets, copies and audits in the contract's JSON, keys in one fixed order.

#include "render/plan_file/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <deque>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/reads/reads_json.hpp"
#include "render/commands/lines.hpp"
#include "render/commands/rollback.hpp"

namespace backreach {

using Json = nlohmann::ordered_json;

namespace {

// An object of keys and values in this order, each key once: a list in braces makes an array of two of each
// pair first, which took half the time of a large plan's JSON.
void Add(Json::object_t&) {}
template <typename V, typename... Rest>
void Add(Json::object_t& object, const char* key, V&& value, Rest&&... rest) {
  object.emplace_back(key, Json(std::forward<V>(value)));
  Add(object, std::forward<Rest>(rest)...);
}
template <typename... Pairs>
Json Object(Pairs&&... pairs) {
  Json j = Json::object();
  auto& object = j.get_ref<Json::object_t&>();
  object.reserve(sizeof...(pairs) / 2);
  Add(object, std::forward<Pairs>(pairs)...);
  return j;
}

Json OrNull(const std::string& text) { return text.empty() ? Json() : Json(text); }
Json Time(Instant t) { return IsFinite(t) ? Json(FormatInstant(t)) : Json(); }

Json SpanJson(const Calendar& calendar, Span span, const std::optional<Duration>& offset = std::nullopt) {
  const auto [from, to] = KeysOf(calendar, span);
  Json j = Object("from", OrNull(from), "to", OrNull(to), "start", Time(span.start), "end", Time(span.end));
  if (offset) {
    // The run's own date: the partition's, so much later.
    const auto run = [&](Instant t) { return calendar.Key(AddDuration(calendar.zone(), t, *offset)); };
    if (IsFinite(span.start)) j["run_from"] = run(span.start);
    if (IsFinite(span.end)) j["run_to"] = run(calendar.Floor(span.end - 1));
  }
  return j;
}

// Spans of a dataset by its own calendar, block by block.
Json SpansJson(const Dataset& d, const SpanSet& spans) {
  Json out = Json::array();
  if (!d.layout) {
    for (const Span& s : spans) {
      if (s == kAllTime) continue;
      const Zone& zone = d.calendar.zone();
      out.push_back(Object("from", IsFinite(s.start) ? Json(FormatCivilInstant(s.start, zone)) : Json(), "to",
                           IsFinite(s.end) ? Json(d.calendar.Key(s.end - 1)) : Json(), "start", Time(s.start),
                           "end", Time(s.end)));
    }
    return out;
  }
  for (const Block& b : d.layout->blocks()) {
    const SpanSet part = d.layout->single() ? spans : spans.Clip(b.from, b.until);
    for (const Span& s : part) out.push_back(SpanJson(b.calendar, s, d.run_date_offset));
  }
  return out;
}

Json NamesJson(const LineageGraph& g, const std::vector<DatasetId>& ids) {
  Json out = Json::array();
  for (const DatasetId id : ids) out.push_back(g[id].name);
  return out;
}

Json CellsJson(const LineageGraph& g, const Cells& cells) {
  return Object("dataset", g[cells.dataset].name, "spans", SpansJson(g[cells.dataset], cells.spans), "whole",
                cells.whole);
}

Json ReadsOf(const Reads& reads) {
  const auto text = ReadsToJson(reads);
  return text ? Json::parse(*text) : Json();
}

// "window [-6, 0] day", with what was assumed.
std::string ReadsText(const LineageGraph& g, const Edge& edge) {
  if (std::holds_alternative<reads::Unknown>(edge.reads)) {
    if (edge.self())
      return FormatReads(edge.effective) + " (assumed: it reads itself, and nothing says which rows)";
    if (!g[edge.from].layout && g[edge.from].stores()) return "all of it (its rows have no known dates)";
    return "same (assumed: nothing says otherwise)";
  }
  if (edge.code && edge.known != Known::kDeclared) {
    std::string text = FormatReads(edge.effective);
    if (edge.known == Known::kAssumed)
      text += " (assumed" + (edge.code->why.empty() ? "" : ": " + edge.code->why) +
              (edge.code->place.empty() ? "" : ", " + edge.code->place) + ")";
    else if (edge.known == Known::kInferred)
      text += edge.code->place.empty() ? " (read in the code)" : " (read in " + edge.code->place + ")";
    return text;
  }
  std::string text = FormatReads(edge.reads);
  if (const auto* w = std::get_if<reads::Window>(&edge.reads); w && !w->unit) {
    const Dataset& child = g[edge.to];
    if (child.grain && !child.grain->none()) text += " " + FormatGrain(*child.grain);
  }
  if (!(edge.reads == edge.effective)) text += " (cannot stand; read as " + FormatReads(edge.effective) + ")";
  if (!edge.note.empty()) text += " (" + edge.note + ")";
  return text;
}

Json BecauseJson(const LineageGraph& g, const std::vector<StepBecause>& because) {
  Json out = Json::array();
  for (const StepBecause& b : because) {
    const Edge& edge = g[b.edge];
    Json reads = ReadsOf(edge.reads);
    if (const auto* w = std::get_if<reads::Window>(&edge.reads);
        w && !w->unit && g[edge.to].grain && !g[edge.to].grain->none())
      reads["unit"] = FormatGrain(*g[edge.to].grain);
    out.push_back(Object("from", g[edge.from].name, "reads", std::move(reads), "reads_text",
                         ReadsText(g, edge), "known", ToString(edge.known), "spans",
                         b.spans ? SpansJson(g[edge.to], *b.spans) : Json()));
  }
  return out;
}

// To the millisecond: more is noise.
Json SecondsJson(const std::optional<double>& seconds) {
  return seconds ? Json(std::round(*seconds * 1000) / 1000) : Json();
}

Json ChecksJson(const std::vector<Check>& checks) {
  Json out = Json::array();
  for (const Check& c : checks) out.push_back(Object("name", c.name, "kind", c.kind, "text", c.text));
  return out;
}

Json EffectJson(Effect effect) { return effect == Effect::kNone ? Json() : Json(ToString(effect)); }

// `argv`: the words of each command that calls one program; `client`: the line of shell that runs SQL there.
Json MethodJson(const Step& s, const Method& m) {
  const std::vector<Line> lines = LinesOf(s, m);
  Json commands = Json::array(), argv = Json::array();
  std::string all;
  for (const Line& line : lines) {
    all += (all.empty() ? "" : " && ") + line.text;
    commands.push_back(line.text);
    if (!line.words.empty()) argv.push_back(line.words);
  }
  Json j = Object("engine", m.engine, "command", std::move(all), "commands", std::move(commands), "effect",
                  EffectJson(m.effect));
  if (!argv.empty()) j["argv"] = std::move(argv);
  if (const auto* refresh = std::get_if<way::Refresh>(&m.way)) j["client"] = OrNull(refresh->client);
  return j;
}

// The values of dimensions that a step is for, those of all its parts together.
Json StepValues(const Step& s) {
  std::map<std::string, std::set<std::string>> values;
  for (const StepPart& part : s.parts)
    for (const auto& [name, list] : part.values) values[name].insert(list.begin(), list.end());
  return Json(values);
}

// Steps that wait for each other in all pairs (a thousand tables that a thousand others read through a view)
// would be a document of gigabytes. Where a plan has more pairs than this, long lists are said once: what a
// step reads as {"like": ID} of the first step that reads the same, ids in a row as [first, last].
class Pairs {
 public:
  explicit Pairs(const std::vector<Step>& steps) {
    constexpr std::size_t kMost = 200'000;
    std::size_t pairs = 0;
    for (const Step& s : steps) pairs += s.after.size() + s.reads.size();
    short_ = pairs > kMost;
  }
  bool any() const { return any_; }

  Json After(const Step& s) {
    if (!Long(s.after.size())) return s.after;
    Json out = Json::array();
    std::vector<int> ids(s.after.begin(), s.after.end());
    std::sort(ids.begin(), ids.end());
    for (std::size_t i = 0, end = 0; i < ids.size(); i = end) {
      for (end = i + 1; end < ids.size() && ids[end] == ids[end - 1] + 1;) ++end;
      if (end - i > 2)
        out.push_back(Json::array({ids[i], ids[end - 1]})), any_ = true;
      else
        for (std::size_t k = i; k < end; ++k) out.push_back(ids[k]);
    }
    return out;
  }

  // The step that reads the same and was said before; nothing if this is the first.
  std::optional<int> Like(const Step& s) {
    if (!Long(s.reads.size())) return std::nullopt;
    std::size_t hash = s.reads.size();
    for (const StepReads& r : s.reads) hash = hash * 1'000'003 + r.cells.dataset.value;
    for (const Step* other : said_[hash])
      if (Same(other->reads, s.reads)) {
        any_ = true;
        return other->id;
      }
    said_[hash].push_back(&s);
    return std::nullopt;
  }

 private:
  bool Long(std::size_t entries) const { return short_ && entries > 200; }
  static bool Same(const std::vector<StepReads>& a, const std::vector<StepReads>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const StepReads& x, const StepReads& y) {
      return x.cells.dataset == y.cells.dataset && x.cells.whole == y.cells.whole && x.clipped == y.clipped &&
             x.cells.spans == y.cells.spans;
    });
  }
  bool short_ = false, any_ = false;
  std::unordered_map<std::size_t, std::vector<const Step*>> said_;
};

Json ReadsJson(const LineageGraph& g, const Step& s, Pairs& pairs) {
  Json out = Json::array();
  if (const auto like = pairs.Like(s)) {
    out.push_back(Object("like", *like));
    return out;
  }
  for (const StepReads& r : s.reads) {
    Json j = CellsJson(g, r.cells);
    j["clipped"] = r.clipped;
    out.push_back(std::move(j));
  }
  return out;
}

Json StepJson(const LineageGraph& g, const Step& s, Pairs& pairs) {
  const Dataset& d = g[s.dataset];
  Json spans = Json::array();
  if (!s.whole && s.parts.empty())
    for (const Span& span : s.spans) spans.push_back(SpanJson(*s.calendar, span, d.run_date_offset));
  for (const StepPart& part : s.parts) {
    for (const Span& span : s.whole ? SpanSet() : part.spans) {
      Json j = SpanJson(*s.calendar, span, d.run_date_offset);
      j["where"] = part.values;
      spans.push_back(std::move(j));
    }
  }
  Json rewrites = Json::array();
  for (const Cells& cells : s.rewrites) {
    Json j = CellsJson(g, cells);
    j["clipped"] = false;
    rewrites.push_back(std::move(j));
  }
  Json methods = Json::array();
  for (const Method& m : s.methods) methods.push_back(MethodJson(s, m));
  Json detected = Json::array();
  for (const DetectedBy& by : s.detected_by)
    detected.push_back(by.constraint.empty() ? Json(by.test) : Json{{"constraint", by.constraint}});
  Json j;
  j["id"] = s.id;
  j["wave"] = s.wave;
  j["after"] = pairs.After(s);
  j["dataset"] = d.name;
  j["action"] = s.correct ? "correct" : "rebuild";
  j["grain"] = s.calendar ? Json(FormatGrain(s.calendar->grain()))
               : d.grain  ? Json(FormatGrain(*d.grain))
                          : Json();
  j["timezone"] = s.calendar ? s.calendar->zone().name() : d.calendar.zone().name();
  j["whole"] = s.whole;
  j["sequential"] = s.sequential;
  j["interleaved"] = NamesJson(g, s.interleaved);
  j["run"] = s.run ? Json(*s.run) : Json();
  j["spans"] = std::move(spans);
  if (!s.parts.empty()) j["where"] = StepValues(s);
  j["partitions"] = s.partitions ? Json(*s.partitions) : Json();
  j["reads"] = ReadsJson(g, s, pairs);
  j["rewrites"] = std::move(rewrites);
  j["because"] = BecauseJson(g, s.because);
  j["estimate"] = Object("seconds", SecondsJson(s.seconds), "from_runs", s.from_runs);
  j["effect"] = EffectJson(s.correct ? Effect::kNone : s.effect);
  j["detected_by"] = std::move(detected);
  j["methods"] = std::move(methods);
  j["checks"] = Object("before_publish", ChecksJson(s.before_publish), "after", ChecksJson(s.after_run));
  if (const auto rollback = s.correct ? std::nullopt : RollbackOf(d))
    j["rollback"] = Object("kind", rollback->kind, "position", OrNull(rollback->position), "back",
                           OrNull(rollback->back), "note", OrNull(rollback->note));
  j["hazards"] = s.hazards;
  return j;
}

Json RequestJson(const LineageGraph& g, const Request& r) {
  Json targets = Json::array();
  for (const Target& t : r.targets) {
    const Dataset& d = g[t.dataset];
    targets.push_back({{"dataset", d.name},
                       {"spans", SpansJson(d, d.layout  ? t.cells
                                              : t.whole ? SpanSet()
                                                        : t.asked)},
                       {"whole", t.whole}});
    // What widening to cells added is no part of the question.
    if (d.layout && d.stores() && !(t.asked == t.cells)) {
      Json asked = Json::array();
      for (const Span& s : t.asked) asked.push_back({{"start", Time(s.start)}, {"end", Time(s.end)}});
      targets.back()["asked"] = asked;
    }
  }
  Json excluded = Json::array(), accepted = Json::array();
  for (const Exclusion& e : r.exclusions)
    excluded.push_back({{"dataset", g[e.dataset].name},
                        {"spans", SpansJson(g[e.dataset], e.spans.IsAll() ? SpanSet() : e.spans)},
                        {"whole", e.spans.IsAll()}});
  for (const Acceptance& a : r.accepted)
    accepted.push_back(a.dataset.valid() ? a.code + ":" + g[a.dataset].name : a.code);
  Json narrow = Json::array(), where = Json::object();
  for (const DatasetId id : r.narrow) narrow.push_back(g[id].name);
  Json full_refresh = Json::array();
  for (const DatasetId id : r.full_refresh) full_refresh.push_back(g[id].name);
  for (const auto& [name, values] : r.where) where[name] = values;
  Json unchanged = Json::array();
  for (const auto& [id, cells] : r.unchanged)
    unchanged.push_back({{"dataset", g[id].name}, {"spans", SpansJson(g[id], cells)}, {"whole", false}});
  Json out = {{"targets", targets},
              {"now", FormatInstant(r.now)},
              {"excluded", excluded},
              {"accepted", accepted},
              {"narrow", narrow},
              {"where", where},
              {"include_open", r.include_open},
              {"full_refresh", full_refresh},
              {"strict", r.strict},
              {"as_of", r.as_of ? Json(FormatInstant(*r.as_of)) : Json()}};
  if (!unchanged.empty()) out["unchanged"] = unchanged;
  return out;
}

Json ChangesJson(const LineageGraph& g, const std::vector<PlanChange>& changes) {
  Json out = Json::array();
  for (const PlanChange& c : changes) {
    const auto d =
        std::lower_bound(g.datasets.begin(), g.datasets.end(), c.dataset,
                         [](const Dataset& known, const std::string& name) { return known.name < name; });
    Json spans = Json::array();
    if (d != g.datasets.end() && d->name == c.dataset)
      spans = SpansJson(*d, c.cells);
    else
      for (const Span& s : c.cells)
        spans.push_back({{"from", Json()}, {"to", Json()}, {"start", Time(s.start)}, {"end", Time(s.end)}});
    out.push_back({{"dataset", c.dataset}, {"spans", spans}, {"whole", c.whole}, {"because", c.because}});
  }
  return out;
}

Json DifferenceJson(const LineageGraph& g, const PlanDifference& d) {
  return {{"old", d.old_id},
          {"new", d.new_id},
          {"same_graph", d.same_graph},
          {"request", d.request},
          {"added", ChangesJson(g, d.added)},
          {"gone", ChangesJson(g, d.gone)}};
}

Json ForecastJson(const LineageGraph& g, const PoolForecast& f) {
  Json late = Json::array();
  for (const LateDataset& l : f.late)
    late.push_back({{"dataset", l.dataset.valid() ? Json(g[l.dataset].name) : Json()},
                    {"from", Time(l.from)},
                    {"to", Time(l.to)}});
  return {{"at_a_time", f.at_a_time},
          {"start", FormatInstant(f.start)},
          {"end", FormatInstant(f.end)},
          {"late", late}};
}

Json PoolsJson(const LineageGraph& g, const std::vector<PoolUse>& pools) {
  Json out = Json::array();
  for (const PoolUse& p : pools) {
    Json forecasts = Json::array();
    for (const PoolForecast& f : p.forecasts) forecasts.push_back(ForecastJson(g, f));
    out.push_back({{"pool", p.pool},
                   {"slots", p.slots ? Json(*p.slots) : Json()},
                   {"usual_load", p.usual_load ? Json(*p.usual_load) : Json()},
                   {"steps", p.steps},
                   {"sentence", p.sentence},
                   {"advised", p.advised ? ForecastJson(g, *p.advised) : Json()},
                   {"forecasts", forecasts},
                   {"unknown", p.unknown},
                   {"assumptions", p.assumptions}});
  }
  return out;
}

Json SourceListJson(const std::vector<Source>& sources) {
  Json out = Json::array();
  for (const Source& s : sources) out.push_back({{"kind", s.kind}, {"name", s.name}, {"sha256", s.sha256}});
  return out;
}

Json AffectedCopyJson(const LineageGraph& g, const AffectedCopy& c) {
  static const Calendar utc;
  Json affected = Json::array();
  const Dataset* key = c.keyed_by.valid() ? &g[c.keyed_by] : nullptr;
  for (const Span& s : c.affected) {
    const auto [from, to] = KeysOf(key ? key->layout && key->stores()
                                             ? key->layout->BlockAt(IsFinite(s.start) ? s.start : 0).calendar
                                             : key->calendar
                                       : utc,
                                   s);
    affected.push_back(
        {{"from", OrNull(from)}, {"to", OrNull(to)}, {"start", Time(s.start)}, {"end", Time(s.end)}});
  }
  Json heals;
  if (c.heals)
    heals = {{"at", FormatInstant(c.heals->at)},
             {"spans", key ? SpansJson(*key, c.heals->spans) : Json::array()}};
  Json j = {{"id", c.id},
            {"of", c.of},
            {"kind", c.kind},
            {"where", OrNull(c.where)},
            {"owner", OrNull(c.owner)},
            {"contact", OrNull(c.contact)},
            {"taken", c.taken},
            {"affected", affected},
            {"known", c.known},
            {"content", c.content},
            {"heals", heals},
            {"action", c.action}};
  if (c.personal_data) j["personal_data"] = true;
  if (!c.note.empty()) j["note"] = c.note;
  j["holds"] = c.content_text;
  if (!c.stays.empty()) j["stays"] = c.stays;
  if (!c.mismatch.empty()) j["mismatch"] = c.mismatch;
  if (!c.by.empty()) j["by"] = c.by;
  if (!c.feeds.empty()) j["feeds"] = c.feeds;
  if (c.first_seen || c.last_seen || c.times > 0)
    j["seen"] = {{"first", c.first_seen ? Json(*c.first_seen) : Json()},
                 {"last", c.last_seen ? Json(*c.last_seen) : Json()},
                 {"times", c.times}};
  return j;
}

Json SeenJson(const std::vector<Seen>& seen) {
  Json out = Json::array();
  for (const Seen& s : seen)
    out.push_back({{"source", s.source}, {"file", OrNull(s.at.file)}, {"place", OrNull(s.at.place)}});
  return out;
}

Json DurationJson(const std::optional<Duration>& d) { return d ? Json(FormatDuration(*d)) : Json(); }

Json DatasetJson(const Dataset& d) {
  Json j;
  j["name"] = d.name;
  j["kind"] = ToString(d.kind);
  j["aliases"] = d.aliases;
  j["grain"] = d.grain ? Json(FormatGrain(*d.grain)) : Json();
  j["grain_known"] = !d.grain ? Json() : d.grain_inferred ? "inferred" : "declared";
  j["timezone"] = d.calendar.zone().name();
  j["timezone_assumed"] = d.zone_assumed;
  Json starts_at;
  if (const std::int64_t s = d.calendar.starts_at(); s != 0) {
    starts_at = fmt::format("{:02}:{:02}", s / kHour, s / kMinute % 60);
  }
  j["starts_at"] = starts_at;
  j["first"] = IsFinite(d.first) ? Json(d.layout ? d.layout->Key(d.first) : d.first_text) : Json();
  j["last"] = IsFinite(d.last_end) ? Json(d.layout ? d.layout->Key(d.last_end - 1) : d.last_text) : Json();
  j["complete_after"] = DurationJson(d.complete_after);
  j["writes"] = d.writes == Writes::kUnknown ? Json() : Json(ToString(d.writes));
  j["key"] = d.key;
  j["row_time"] = d.row_time ? Json(d.row_time->exact ? "exact" : FormatGrain(d.row_time->grain)) : Json();
  j["retention"] = DurationJson(d.retention);
  j["dimensions"] = d.dimensions.empty() ? Json() : Json(d.dimensions);
  j["owner"] = OrNull(d.owner);
  if (!d.built.empty()) j["built"] = d.built;
  if (d.layout && !d.layout->single()) {
    Json blocks = Json::array();
    for (const Block& b : d.layout->blocks())
      blocks.push_back({{"grain", FormatGrain(b.calendar.grain())},
                        {"timezone", b.calendar.zone().name()},
                        {"from", Time(b.from)},
                        {"until", Time(b.until)}});
    j["partitions"] = blocks;
  }
  j["seen"] = SeenJson(d.seen);
  if (!d.names.empty()) {
    Json names = Json::array();
    for (const NameSaid& n : d.names)
      names.push_back({{"name", n.name}, {"how", n.how}, {"seen", SeenJson({n.seen})}});
    j["names"] = names;
  }
  if (!d.conflicts.empty()) {
    Json conflicts = Json::array();
    for (const Conflict& c : d.conflicts) {
      Json values = Json::array();
      for (const auto& v : c.values) values.push_back({{"value", v.value}, {"seen", SeenJson(v.seen)}});
      conflicts.push_back({{"field", c.field}, {"values", values}, {"used", c.used}});
    }
    j["conflicts"] = conflicts;
  }
  return j;
}

Json HoldsJson(const std::optional<HoldsFact>& holds) {
  if (!holds) return {};
  if (holds->all) return "all";
  Json j = Json::object();
  if (holds->from) j["from"] = *holds->from;
  if (holds->to) j["to"] = *holds->to;
  if (holds->last) j["last"] = *holds->last;
  return j;
}

Json CopyJson(const LineageGraph& g, const Copy& c) {
  Json of = Json::array();
  for (const CopyOf& o : c.of) of.push_back(o.dataset.valid() ? g[o.dataset].name : o.name);
  Json refresh;
  if (c.refresh) {
    refresh = Json::object();
    if (c.refresh->cron) refresh["cron"] = *c.refresh->cron;
    if (c.refresh->keeps) refresh["keeps"] = *c.refresh->keeps;
    if (c.refresh->holds) refresh["holds"] = HoldsJson(c.refresh->holds);
  }
  bool placed = true;
  for (const CopyOf& o : c.of) placed = placed && o.placed();
  return {{"id", c.id},
          {"of", of},
          {"placed", placed},
          {"kind", c.kind},
          {"where", OrNull(c.where)},
          {"by", c.by},
          {"owner", OrNull(c.owner)},
          {"contact", OrNull(c.contact)},
          {"taken", c.taken},
          {"holds", HoldsJson(c.holds)},
          {"refresh", refresh},
          {"feeds", NamesJson(g, c.feeds)},
          {"personal_data", c.personal_data},
          {"known", c.known},
          {"times", c.times > 0 ? Json(c.times) : Json()},
          {"first_seen", OrNull(c.first_seen)},
          {"last_seen", OrNull(c.last_seen)},
          {"note", OrNull(c.note)},
          {"expires", OrNull(c.expires)},
          {"seen", SeenJson(c.seen)}};
}

// Text that came from outside may hold bytes that are no UTF-8: shown, never fatal.
std::string Dump(const Json& j, int indent) {
  return j.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string PlanJson(const LineageGraph& g, const Plan& plan, const PlanDifference* difference) {
  // Kept to the end of the process, which comes soon: to take a large document apart takes as long as to make
  // it.
  static auto& kept = *new std::deque<Json>;
  Json& j = kept.emplace_back();
  j["format"] = "backreach.plan/1";
  j["id"] = plan.id;
  j["graph"] = {{"fingerprint", g.fingerprint}, {"sources", SourceListJson(g.sources)}};
  j["request"] = RequestJson(g, plan.request);
  j["outcome"] = plan.nothing_to_do ? "nothing-to-do" : "planned";
  j["summary"] = plan.summary;
  j["notes"] = plan.notes;
  j["steps"] = Json::array();
  Pairs pairs(plan.steps);
  for (const Step& s : plan.steps) j["steps"].push_back(StepJson(g, s, pairs));
  if (pairs.any())
    j["notes"].push_back(
        "in this file long lists of steps are said once: [first, last] in 'after' are all ids from the one "
        "to "
        "the other, {\"like\": ID} in 'reads' is what that step reads");
  j["afterwards"] = Json::array();
  for (const Afterwards& a : plan.afterwards) {
    Json e = CellsJson(g, a.cells);
    e["waits_for"] = NamesJson(g, a.waits_for);
    e["what"] = a.what;
    j["afterwards"].push_back(std::move(e));
  }
  j["fresh_on_read"] = Json::array();
  for (const Fresh& f : plan.fresh)
    j["fresh_on_read"].push_back(Object("dataset", g[f.dataset].name, "because", BecauseJson(g, f.because)));
  j["copies"] = Json::array();
  for (const AffectedCopy& c : plan.copies) j["copies"].push_back(AffectedCopyJson(g, c));
  j["left_stale"] = Json::array();
  for (const LeftStale& l : plan.left_stale) {
    Json e = CellsJson(g, l.cells);
    e["reason"] = ToString(l.reason);
    e["read_by"] = NamesJson(g, l.read_by);
    e["mixes_into"] = NamesJson(g, l.mixes_into);
    j["left_stale"].push_back(std::move(e));
  }
  j["hazards"] = Json::array();
  for (const Hazard& h : plan.hazards) {
    j["hazards"].push_back(Object("code", h.code, "severity", ToString(h.severity), "dataset",
                                  h.dataset.valid() ? Json(g[h.dataset].name) : Json(), "spans",
                                  h.dataset.valid() ? SpansJson(g[h.dataset], h.spans) : Json::array(),
                                  "whole", h.whole, "message", h.message, "evidence",
                                  h.evidence.empty() ? Json::object() : Json(h.evidence), "remedy", h.remedy,
                                  "accepted", h.accepted));
  }
  j["assumed"] = Json::array();
  for (const AssumedMapping& a : plan.assumed) {
    const Edge& edge = g[a.edges[0]];
    Json reads = ReadsOf(edge.effective);
    if (a.edges.size() > 1) {
      reads = Json::array();
      for (const EdgeId e : a.edges) reads.push_back(ReadsOf(g[e].effective));
    }
    j["assumed"].push_back(Object("from", g[edge.from].name, "to", g[edge.to].name, "reads", std::move(reads),
                                  "known", ToString(edge.known), "place",
                                  edge.code ? OrNull(edge.code->place) : Json(), "why",
                                  edge.code ? OrNull(edge.code->why) : Json(), "partitions",
                                  a.cells ? Json(*a.cells) : Json(), "stanza", a.stanza));
  }
  if (difference) j["difference"] = DifferenceJson(g, *difference);
  if (!plan.pools.empty()) j["pools"] = PoolsJson(g, plan.pools);
  const Totals& t = plan.totals;
  j["totals"] = {{"datasets", t.datasets},
                 {"steps", t.steps},
                 {"partitions", t.partitions ? Json(*t.partitions) : Json()},
                 {"copies", t.copies},
                 {"seconds", SecondsJson(t.seconds)},
                 {"critical_path", SecondsJson(t.critical_path)},
                 {"threads", t.threads}};
  return Dump(j, 1);
}

std::string DatasetsJson(const LineageGraph& g, const std::vector<DatasetId>& ids) {
  Json j = {{"format", "backreach.datasets/1"}, {"datasets", Json::array()}};
  for (const DatasetId id : ids) j["datasets"].push_back(DatasetJson(g[id]));
  return Dump(j, 1);
}

std::string AffectedCopiesJson(const LineageGraph& g, const Plan& plan) {
  Json j = {{"format", "backreach.copies/1"}, {"copies", Json::array()}};
  for (const AffectedCopy& c : plan.copies) j["copies"].push_back(AffectedCopyJson(g, c));
  return Dump(j, 1);
}

std::string CopiesJson(const LineageGraph& g, const std::vector<CopyId>& ids) {
  Json j = {{"format", "backreach.copies/1"}, {"copies", Json::array()}};
  for (const CopyId id : ids) j["copies"].push_back(CopyJson(g, g[id]));
  return Dump(j, 1);
}

// `all`, or a number.
Json CellsPerRun(const std::string& text) {
  std::int64_t n = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), n);
  return ec == std::errc{} && end == text.data() + text.size() ? Json(n) : Json(text);
}

static Json ColumnsJson(const Edge& e) {
  if (e.columns.empty()) return {};
  Json out = Json::array();
  for (const auto& pair : e.columns) out.push_back(Json::array({pair[0], OrNull(pair[1])}));
  return out;
}

std::string GraphJson(const LineageGraph& g) {
  Json j;
  j["format"] = "backreach.graph/1";
  j["fingerprint"] = g.fingerprint;
  j["sources"] = SourceListJson(g.sources);
  j["datasets"] = Json::array();
  for (const Dataset& d : g.datasets) j["datasets"].push_back(DatasetJson(d));
  j["edges"] = Json::array();
  for (std::size_t i = 0; i < g.edges.size(); ++i) {
    const Edge& e = g.edges[i];
    // What was said at once, of an edge that reads by several mappings, is one edge again.
    const auto at_once = [&](const Edge& other) {
      return other.from == e.from && other.to == e.to && other.known == e.known && other.note == e.note &&
             other.memory == e.memory && other.seen == e.seen && other.job == e.job;
    };
    Json reads = ReadsOf(e.reads);
    if (i + 1 < g.edges.size() && at_once(g.edges[i + 1])) reads = Json::array({std::move(reads)});
    for (; i + 1 < g.edges.size() && at_once(g.edges[i + 1]); ++i)
      reads.push_back(ReadsOf(g.edges[i + 1].reads));
    j["edges"].push_back({{"from", g[e.from].name},
                          {"to", g[e.to].name},
                          {"reads", std::move(reads)},
                          {"known", ToString(e.known)},
                          {"job", OrNull(e.job)},
                          {"jobs", e.jobs.size() > 1 ? Json(e.jobs)
                                   : e.job.empty()   ? Json::array()
                                                     : Json::array({e.job})},
                          {"columns", ColumnsJson(e)},
                          {"memory", DurationJson(e.memory)},
                          {"first_seen", OrNull(e.first_seen)},
                          {"last_seen", OrNull(e.last_seen)},
                          {"failed_only", e.failed_only},
                          {"note", OrNull(e.note)},
                          {"seen", SeenJson(e.seen)}});
  }
  j["jobs"] = Json::array();
  for (const Job& job : g.jobs) {
    Json schedule;
    if (job.schedule) {
      const ScheduleFact& s = *job.schedule;
      schedule = {{"class", s.type ? Json(*s.type) : Json()},
                  {"cron", s.cron ? Json(*s.cron) : Json()},
                  {"timezone", s.timezone ? Json(*s.timezone) : Json()}};
      if (s.every) schedule["every"] = *s.every;
      if (s.interval) schedule["interval"] = *s.interval;
      if (s.inner) schedule["times"] = *s.inner;
      if (s.start) schedule["start"] = *s.start;
      if (!s.events.empty()) schedule["events"] = s.events;
      if (s.engine_version) schedule["engine_version"] = *s.engine_version;
      if (s.covers) schedule["covers"] = *s.covers;
      if (s.rewrites) schedule["rewrites"] = *s.rewrites;
      if (!job.fires_on.empty()) schedule["on"] = NamesJson(g, job.fires_on);
      if (s.condition) schedule["condition"] = *s.condition;
      if (s.max_runs) schedule["max_runs"] = *s.max_runs;
    }
    const auto number = [](const std::optional<std::int64_t>& n) { return n ? Json(*n) : Json(); };
    j["jobs"].push_back(
        {{"name", job.name},
         {"orchestrator", OrNull(job.orchestrator)},
         {"schedule", schedule},
         {"reads", NamesJson(g, job.reads)},
         {"writes", NamesJson(g, job.writes)},
         {"pool", OrNull(job.pool)},
         {"slots", number(job.slots)},
         {"max_parallel", number(job.max_parallel)},
         {"cells_per_run", job.cells_per_run.empty() ? Json() : CellsPerRun(job.cells_per_run)},
         {"sequential", job.sequential},
         {"owner", OrNull(job.owner)},
         {"parent", OrNull(job.parent)},
         {"after", job.after},
         {"starts", job.starts},
         {"seen", SeenJson(job.seen)}});
  }
  j["pools"] = Json::array();
  for (const Pool& p : g.pools)
    j["pools"].push_back({{"name", p.name},
                          {"slots", p.slots ? Json(*p.slots) : Json()},
                          {"usual_load", p.usual_load ? Json(*p.usual_load) : Json()}});
  j["copies"] = Json::array();
  for (const Copy& c : g.copies) j["copies"].push_back(CopyJson(g, c));
  j["unresolved"] = Json::array();
  for (const Unresolved& u : g.unresolved)
    j["unresolved"].push_back({{"name", u.fact.name},
                               {"what", u.fact.what},
                               {"dataset", u.dataset.valid() ? Json(g[u.dataset].name) : Json()},
                               {"message", u.fact.message},
                               {"seen", SeenJson({u.seen})}});
  return Dump(j, 1);
}

}  // namespace backreach
