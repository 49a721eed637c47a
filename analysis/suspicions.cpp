// Every sign is about one column. Columns gather weight; the heaviest is the guess, if enough speaks for it.
// That a column is cut, or holds days, is a sign only where no other one is or does: a table of contracts has
// many dates. A column that the catalog gives another type than one of time is none, whatever its name; one
// whose name says that it is about loading counts for little: a correction gives its rows new times.

#include "analysis/suspicions.hpp"

#include <algorithm>
#include <map>

#include "graph/base/words.hpp"

namespace backreach {

namespace {

using Kind = GrainEvidence::Kind;

// Something that is said of one column of a table, and not of any date in it.
bool Strong(Kind kind) {
  return kind != Kind::kCut && kind != Kind::kReader && kind != Kind::kDays && kind != Kind::kType &&
         kind != Kind::kLoaded;
}

int WeightOf(Kind kind) {
  switch (kind) {
    case Kind::kColumn:
    case Kind::kPartition: return 6;
    case Kind::kWatermark:
    case Kind::kKey: return 5;
    case Kind::kUnique: return 4;
    case Kind::kCut: return 3;
    case Kind::kReader:
    case Kind::kDays:
    case Kind::kType:
    case Kind::kCluster:
    case Kind::kSort: return 2;
    case Kind::kLoaded: return 1;
  }
  return 0;
}

bool HasPart(const std::string& name, std::initializer_list<const char*> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](const char* part) { return name.find(part) != std::string::npos; });
}

// A name that may be a time's.
bool TimeName(const std::string& name) {
  if (EndsWith(name, "_key") || EndsWith(name, "_id")) return false;
  if (name == "ds" || name == "dt" || name == "ts" || EndsWith(name, "_at") || EndsWith(name, "_on") ||
      EndsWith(name, "_ts") || EndsWith(name, "_dt") || EndsWith(name, "_ds"))
    return true;
  return HasPart(name, {"date", "day", "hour", "week", "month", "quarter", "year", "time"});
}

// Of a period's other end, or of something that happens later.
bool LaterName(const std::string& name) {
  return HasPart(name, {"end", "valid", "expir", "due", "birth", "cancel", "close", "until", "_to"});
}

bool LoadingName(const std::string& name) {
  return HasPart(name, {"load", "insert", "ingest", "sync", "upload", "extract", "dbt_", "etl", "batch",
                        "updated", "modified", "processed"});
}

std::optional<Grain::Unit> UnitInName(const std::string& name) {
  if (name.find("hour") != std::string::npos) return Grain::Unit::kHour;
  if (name.find("week") != std::string::npos) return Grain::Unit::kWeek;
  if (name.find("quarter") != std::string::npos) return Grain::Unit::kQuarter;
  if (name.find("month") != std::string::npos) return Grain::Unit::kMonth;
  if (EndsWith(name, "year")) return Grain::Unit::kYear;
  return std::nullopt;
}

struct Candidate {
  int weight = 0;
  std::vector<GrainEvidence> evidence;
  Grain::Unit unit = Grain::Unit::kNone;
  bool shown = false;  // something but its name shows that it holds times
};

std::string Bare(std::string text) {
  std::erase_if(text, [](char c) { return c == '"' || c == '`' || c == '[' || c == ']'; });
  return Lower(text);
}

class Guesser {
 public:
  explicit Guesser(const Dataset& d) : d_(d) {}

  std::optional<GrainGuess> Guess() {
    Signs();
    Stated();
    Types();
    const auto by_weight = [](const auto& a, const auto& b) { return a.second.weight < b.second.weight; };
    std::erase_if(columns_, [&](auto& c) { return !Holds(c.first, c.second); });
    for (auto& [name, c] : columns_) {
      if (TimeName(name)) ++c.weight;
      if (LoadingName(name)) c.weight -= 7;
      if (LaterName(name)) c.weight -= 2;
    }
    const auto best = std::max_element(columns_.begin(), columns_.end(), by_weight);
    if (best == columns_.end() || best->second.weight < kEnough) return std::nullopt;
    const bool strong = std::any_of(best->second.evidence.begin(), best->second.evidence.end(),
                                    [](const GrainEvidence& e) { return Strong(e.kind); });
    if (!strong && columns_.size() > 1) return std::nullopt;
    // Of a source its readers are all that tells; of what has a query of its own that is too little.
    const bool own =
        std::any_of(best->second.evidence.begin(), best->second.evidence.end(), [](const GrainEvidence& e) {
          return Strong(e.kind) || e.kind == Kind::kCut || e.kind == Kind::kDays;
        });
    if (!own && d_.kind != backreach::Kind::kSource) return std::nullopt;
    GrainGuess out;
    out.column = best->first;
    out.weight = best->second.weight;
    out.evidence = std::move(best->second.evidence);
    std::stable_sort(out.evidence.begin(), out.evidence.end(),
                     [](const auto& a, const auto& b) { return WeightOf(a.kind) > WeightOf(b.kind); });
    Grain::Unit unit = best->second.unit;
    if (unit == Grain::Unit::kNone || unit == Grain::Unit::kDay)
      unit = UnitInName(out.column).value_or(Grain::Unit::kDay);
    out.grain = {unit, 1};
    for (const auto& [name, c] : columns_)
      if (name != out.column && c.weight + 2 >= out.weight) out.others.push_back(name);
    return out;
  }

 private:
  static constexpr int kEnough = 3;

  void Add(const std::string& column, Kind kind, std::string detail = "",
           Grain::Unit unit = Grain::Unit::kNone) {
    Candidate& c = columns_[column];
    for (const GrainEvidence& e : c.evidence)
      if (e.kind == kind) return;
    c.weight += WeightOf(kind);
    c.evidence.push_back({kind, std::move(detail)});
    c.unit = std::max(c.unit, unit);
    c.shown = c.shown || kind == Kind::kCut || kind == Kind::kDays || kind == Kind::kColumn ||
              kind == Kind::kLoaded;
  }

  void Signs() {
    for (const GrainSign& s : d_.signs) {
      const Grain::Unit unit = s.grain ? ParseGrain(*s.grain).value_or(Grain{}).unit : Grain::Unit::kNone;
      switch (s.kind) {
        case GrainSign::Kind::kWatermark: Add(s.column, Kind::kWatermark, "", unit); break;
        case GrainSign::Kind::kCut: Add(s.column, Kind::kCut, s.grain.value_or(""), unit); break;
        case GrainSign::Kind::kDays: Add(s.column, Kind::kDays, "", unit); break;
        case GrainSign::Kind::kPartition: Add(s.column, Kind::kPartition, "", unit); break;
        case GrainSign::Kind::kCluster: Add(s.column, Kind::kCluster, "", unit); break;
        case GrainSign::Kind::kSort: Add(s.column, Kind::kSort, "", unit); break;
        case GrainSign::Kind::kReader: Add(s.column, Kind::kReader); break;
        case GrainSign::Kind::kLoaded: Add(s.column, Kind::kLoaded); break;
        case GrainSign::Kind::kNone: break;
      }
    }
  }

  void Stated() {
    if (!d_.column.empty()) Add(Bare(d_.column), Kind::kColumn);
    if (d_.key.size() == 1 && (d_.writes == Writes::kDeleteInsert || d_.writes == Writes::kMerge))
      Add(Bare(d_.key[0]), Kind::kKey);
    // Of several columns that rows are unique by, one may be the time.
    const auto unique = [&](const std::vector<std::string>& columns, const std::string& id) {
      if (columns.size() < 2) return;
      for (const std::string& column : columns) Add(Bare(column), Kind::kUnique, id);
    };
    for (const CheckFact& check : d_.checks)
      if (check.kind == "unique" || check.kind == "constraint") unique(check.columns, check.id);
    unique(d_.key, "");
  }

  void Types() {
    if (!d_.measure) return;
    for (const auto& [column, type] : d_.measure->column_types)
      if (StartsWith(type, "date") || StartsWith(type, "timestamp"))
        if (columns_.count(column) || (StartsWith(type, "date") && TimeName(column)))
          Add(column, Kind::kType, type);
  }

  bool Holds(const std::string& column, const Candidate& c) const {
    if (d_.measure) {
      const auto type = d_.measure->column_types.find(column);
      if (type != d_.measure->column_types.end())
        return type->second.find("date") != std::string::npos ||
               type->second.find("time") != std::string::npos || c.shown;
    }
    return c.shown || TimeName(column);
  }

  const Dataset& d_;
  std::map<std::string, Candidate> columns_;
};

}  // namespace

std::optional<GrainGuess> GuessGrain(const Dataset& d) {
  if (d.grain || !d.stores()) return std::nullopt;
  return Guesser(d).Guess();
}

}  // namespace backreach
