// Bounds are lists of steps and not sums: cutting to a month and going back a day are not the same the other
// way round. Each step is non-decreasing, so a bound of a cell is that of its first or of its last second.

#include "graph/facts/code_reach.hpp"

#include <algorithm>
#include <map>

#include "graph/base/words.hpp"

namespace backreach {

namespace {

using Kind = TimeStep::Kind;

Civil AddMonths(Civil c, std::int64_t n, bool last_stays) {
  const std::int64_t day = FloorDiv(c, kDay);
  const CivilDate d = CivilFromDays(day);
  const std::int64_t months = d.year * 12LL + d.month - 1 + n;
  const std::int64_t year = FloorDiv(months, 12);
  const int month = static_cast<int>(FloorMod(months, 12)) + 1;
  const int length = DaysInMonth(year, month);
  const bool last = last_stays && d.day == DaysInMonth(d.year, d.month);
  return DaysFromCivil(year, month, last ? length : std::min(d.day, length)) * kDay + c - day * kDay;
}

Civil FloorTo(Civil c, Grain::Unit unit, int week) {
  const std::int64_t day = FloorDiv(c, kDay);
  const CivilDate d = CivilFromDays(day);
  switch (unit) {
    case Grain::Unit::kMinutes: return FloorDiv(c, kMinute) * kMinute;
    case Grain::Unit::kHour:
    case Grain::Unit::kHours: return FloorDiv(c, kHour) * kHour;
    case Grain::Unit::kDay: return day * kDay;
    case Grain::Unit::kWeek: return (day - FloorMod(day + 3 - week, 7)) * kDay;
    case Grain::Unit::kMonth: return DaysFromCivil(d.year, d.month, 1) * kDay;
    case Grain::Unit::kQuarter: return DaysFromCivil(d.year, (d.month - 1) / 3 * 3 + 1, 1) * kDay;
    case Grain::Unit::kYear: return DaysFromCivil(d.year, 1, 1) * kDay;
    case Grain::Unit::kNone: break;
  }
  return c;
}
Civil NextUnit(Civil start, Grain::Unit unit) {
  switch (unit) {
    case Grain::Unit::kMinutes: return start + kMinute;
    case Grain::Unit::kHour:
    case Grain::Unit::kHours: return start + kHour;
    case Grain::Unit::kDay: return start + kDay;
    case Grain::Unit::kWeek: return start + 7 * kDay;
    case Grain::Unit::kMonth: return AddMonths(start, 1, false);
    case Grain::Unit::kQuarter: return AddMonths(start, 3, false);
    case Grain::Unit::kYear: return AddMonths(start, 12, false);
    case Grain::Unit::kNone: break;
  }
  return start;
}

TimeStep Make(Kind kind, std::int64_t low = 0, std::int64_t high = 0) {
  TimeStep s;
  s.kind = kind;
  s.low = low;
  s.high = high;
  return s;
}
TimeStep Cut(Kind kind, const TimeStep& like) {
  TimeStep s;
  s.kind = kind;
  s.unit = like.unit;
  s.week = like.week;
  return s;
}
TimeStep OneUnit(const TimeStep& like) {
  switch (like.unit) {
    case Grain::Unit::kMinutes: return Make(Kind::kShift, kMinute, kMinute);
    case Grain::Unit::kHour:
    case Grain::Unit::kHours: return Make(Kind::kShift, kHour, kHour);
    case Grain::Unit::kWeek: return Make(Kind::kShift, 7 * kDay, 7 * kDay);
    case Grain::Unit::kMonth: return Make(Kind::kMonths, 1);
    case Grain::Unit::kQuarter: return Make(Kind::kMonths, 3);
    case Grain::Unit::kYear: return Make(Kind::kMonths, 12);
    default: return Make(Kind::kShift, kDay, kDay);
  }
}

// Shifts in a row are one.
void Put(TimeBound& bound, TimeStep step) {
  if (bound.open) return;
  if (step.kind == Kind::kConstant) bound.steps.clear();
  if (step.kind == Kind::kShift && !bound.steps.empty() && bound.steps.back().kind == Kind::kShift) {
    bound.steps.back().low += step.low;
    bound.steps.back().high += step.high;
    step = bound.steps.back();
    bound.steps.pop_back();
  }
  if (step.kind == Kind::kShift && step.low == 0 && step.high == 0) return;
  if ((step.kind == Kind::kMonths || step.kind == Kind::kMonthsMost) && step.low == 0) return;
  if (!bound.steps.empty() && step == bound.steps.back() &&
      (step.kind == Kind::kFloor || step.kind == Kind::kCeil))
    return;
  bound.steps.push_back(std::move(step));
}

const char* const kUnits[] = {"none", "minutes", "hour", "hours", "day", "week", "month", "quarter", "year"};

std::string FormatStep(const TimeStep& s) {
  const auto unit = [&] {
    return std::string(kUnits[static_cast<int>(s.unit)]) + (s.week ? std::to_string(s.week) : "");
  };
  switch (s.kind) {
    case Kind::kFloor: return "F" + unit();
    case Kind::kCeil: return "C" + unit();
    case Kind::kMonths: return "M" + std::to_string(s.low);
    case Kind::kMonthsMost: return "N" + std::to_string(s.low);
    case Kind::kShift:
      return "S" + std::to_string(s.low) + (s.high == s.low ? "" : ":" + std::to_string(s.high));
    case Kind::kZone: return "Z" + s.from + ">" + s.to;
    case Kind::kConstant: return "K" + std::to_string(s.low);
    case Kind::kCellStart: return "B";
    case Kind::kCellEnd: return "E";
  }
  return "";
}

std::optional<TimeStep> ParseStep(std::string_view t) {
  if (t.empty()) return std::nullopt;
  TimeStep s;
  const std::string rest(t.substr(1));
  switch (t[0]) {
    case 'F':
    case 'C': {
      s.kind = t[0] == 'F' ? Kind::kFloor : Kind::kCeil;
      std::string name = rest;
      if (!name.empty() && name.back() >= '1' && name.back() <= '6')
        s.week = name.back() - '0', name.pop_back();
      for (int i = 0; i < 9; ++i)
        if (name == kUnits[i]) s.unit = static_cast<Grain::Unit>(i);
      return s;
    }
    case 'M':
    case 'N':
      s.kind = t[0] == 'M' ? Kind::kMonths : Kind::kMonthsMost;
      s.low = std::atoll(rest.c_str());
      return s;
    case 'S': {
      s.kind = Kind::kShift;
      const std::size_t colon = rest.find(':');
      s.low = std::atoll(rest.c_str());
      s.high = colon == std::string::npos ? s.low : std::atoll(rest.c_str() + colon + 1);
      return s;
    }
    case 'Z': {
      const std::size_t to = rest.find('>');
      if (to == std::string::npos) return std::nullopt;
      s.kind = Kind::kZone;
      s.from = rest.substr(0, to);
      s.to = rest.substr(to + 1);
      return s;
    }
    case 'K':
      s.kind = Kind::kConstant;
      s.low = std::atoll(rest.c_str());
      return s;
    case 'B': s.kind = Kind::kCellStart; return s;
    case 'E': s.kind = Kind::kCellEnd; return s;
    default: return std::nullopt;
  }
}

std::string FormatBound(const TimeBound& b) {
  if (b.open) return "~";
  std::string out;
  for (const TimeStep& s : b.steps) out += (out.empty() ? "" : " ") + FormatStep(s);
  return out;
}
TimeBound ParseBound(std::string_view text) {
  TimeBound b;
  if (text == "~") return b;
  b.open = false;
  while (!text.empty()) {
    const std::size_t blank = std::min(text.find(' '), text.size());
    if (const auto s = ParseStep(text.substr(0, blank)))
      b.steps.push_back(*s);
    else if (blank > 0)
      return TimeBound{};  // not known: no bound
    text.remove_prefix(std::min(blank + 1, text.size()));
  }
  return b;
}

std::string Clean(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\t' || c == '\n'; }, ' ');
  return text;
}

}  // namespace

const CodeTrace* CodeReads::Of(std::string_view column) const {
  const CodeTrace* any = nullptr;
  for (const CodeTrace& t : traces)
    for (const std::string& c : t.columns) {
      if (c == column) return &t;
      if (c == "*") any = &t;
    }
  return any;
}

// Lines: a head, then `c COLUMNS` and its uses: `u COLUMN LOW HIGH ...` or `a LINE WHY`, with tabs between.
std::string FormatCodeReads(const CodeReads& r) {
  std::string out = Clean(r.place) + "\t" + (r.plain ? "" : Clean(r.sign)) + "\t" + std::to_string(r.line) +
                    "\t" + Clean(r.unread) + "\t" + (r.batched ? "batched" : "") + (r.plain ? "" : "!");
  for (const CodeTrace& t : r.traces) {
    out += "\nc";
    for (const std::string& c : t.columns) out += "\t" + Clean(c);
    for (const CodeUse& u : t.uses) {
      if (u.ways.empty()) {
        out += "\na\t" + std::to_string(u.line) + "\t" + Clean(u.why);
        continue;
      }
      out += "\nu";
      for (const CodeUse::Way& w : u.ways)
        out += "\t" + Clean(w.column) + "\t" + FormatBound(w.reach.low) + "\t" + FormatBound(w.reach.high);
    }
  }
  return out;
}

CodeReads ParseCodeReads(std::string_view text) {
  CodeReads r;
  bool head = true;
  for (const std::string& line : Split(std::string(text), '\n')) {
    const std::vector<std::string> f = Split(line, '\t');
    if (head) {
      head = false;
      if (f.size() < 5) return r;
      r.place = f[0];
      r.sign = f[1];
      r.line = static_cast<std::size_t>(std::atoll(f[2].c_str()));
      r.unread = f[3];
      r.batched = StartsWith(f[4], "batched");
      r.plain = !EndsWith(f[4], "!");
    } else if (f[0] == "c") {
      r.traces.push_back({{f.begin() + 1, f.end()}, {}});
    } else if (r.traces.empty()) {
      continue;
    } else if (f[0] == "a" && f.size() >= 3) {
      CodeUse& u = r.traces.back().uses.emplace_back();
      u.line = static_cast<std::size_t>(std::atoll(f[1].c_str()));
      u.why = f[2];
    } else if (f[0] == "u") {
      CodeUse& u = r.traces.back().uses.emplace_back();
      for (std::size_t i = 1; i + 2 < f.size(); i += 3)
        u.ways.push_back({f[i], {ParseBound(f[i + 1]), ParseBound(f[i + 2])}});
    }
  }
  return r;
}

ZoneShift ZoneShiftOf(const std::string& from, const std::string& to) {
  static std::map<std::pair<std::string, std::string>, ZoneShift> known;
  const auto [it, fresh] = known.try_emplace({from, to});
  if (!fresh) return it->second;
  const Zone *a = Zone::Find(from), *b = Zone::Find(to);
  if (!a || !b) return it->second = {-26 * kHour, 26 * kHour};  // anywhere
  std::int64_t low = kMaxInstant, high = kMinInstant;
  const Instant begin = DaysFromCivil(2000, 1, 1) * kDay;
  for (int week = 0; week < 52 * 40; ++week) {
    const Instant t = begin + week * 7 * kDay;
    const std::int64_t shift = b->OffsetAt(t) - a->OffsetAt(t);
    low = std::min(low, shift), high = std::max(high, shift);
  }
  return it->second = {low, high};
}

std::int64_t WorthOfBound(const TimeBound& bound, bool upper, Civil start, Civil end) {
  Civil c = upper ? end - 1 : start;
  for (const TimeStep& s : bound.steps) {
    switch (s.kind) {
      case Kind::kFloor: c = FloorTo(c, s.unit, s.week); break;
      case Kind::kCeil: {
        const Civil floor = FloorTo(c, s.unit, s.week);
        if (floor < c) c = NextUnit(floor, s.unit);
        break;
      }
      case Kind::kMonths: c = AddMonths(c, s.low, false); break;
      case Kind::kMonthsMost: c = AddMonths(c, s.low, true); break;
      case Kind::kShift: c += upper ? s.high : s.low; break;
      case Kind::kZone: {
        const ZoneShift z = ZoneShiftOf(s.from, s.to);
        c += upper ? z.high : z.low;
        break;
      }
      case Kind::kConstant: c = s.low; break;
      case Kind::kCellStart: c = start; break;
      case Kind::kCellEnd: c = end; break;
    }
  }
  return c;
}

TimeReach Through(const TimeReach& reach, const std::vector<TimeStep>& steps) {
  TimeReach out = reach;
  for (const TimeStep& s : steps) {
    Put(out.low, s);
    TimeStep high = s;
    if (high.kind == Kind::kMonths) high.kind = Kind::kMonthsMost;
    Put(out.high, high);
  }
  return out;
}

TimeReach Backwards(const TimeReach& reach, const std::vector<TimeStep>& steps) {
  TimeReach out = reach;
  for (auto s = steps.rbegin(); s != steps.rend(); ++s) {
    switch (s->kind) {
      case Kind::kFloor:
        Put(out.low, Cut(Kind::kCeil, *s));
        Put(out.high, Cut(Kind::kFloor, *s));
        Put(out.high, OneUnit(*s));
        Put(out.high, Make(Kind::kShift, -1, -1));
        break;
      case Kind::kMonths:
      case Kind::kMonthsMost:
        Put(out.low, Make(Kind::kMonths, -s->low));
        Put(out.high, Make(Kind::kMonthsMost, -s->low));
        break;
      case Kind::kShift:
        Put(out.low, Make(Kind::kShift, -s->high, -s->low));
        Put(out.high, Make(Kind::kShift, -s->high, -s->low));
        break;
      case Kind::kZone: {
        TimeStep back = *s;
        std::swap(back.from, back.to);
        Put(out.low, back);
        Put(out.high, back);
        break;
      }
      default: out.low = out.high = TimeBound{}; break;
    }
  }
  return out;
}

}  // namespace backreach
