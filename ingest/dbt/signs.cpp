// Expressions of configs are short, and read word by word: a column is what is neither called nor a unit.

#include "ingest/dbt/signs.hpp"

#include <algorithm>

#include "graph/base/words.hpp"
#include "ingest/sql/scan.hpp"

namespace backreach {

namespace {

Grain::Unit UnitOf(std::string word) {
  if (word.size() > 3 && word.back() == 's') word.pop_back();
  if (word == "hour") return Grain::Unit::kHour;
  if (word == "day" || word == "date" || word == "date32" || word == "yyyymmdd") return Grain::Unit::kDay;
  if (word == "week" || word == "monday" || word == "isoweek") return Grain::Unit::kWeek;
  if (word == "month" || word == "yyyymm") return Grain::Unit::kMonth;
  if (word == "quarter") return Grain::Unit::kQuarter;
  if (word == "year") return Grain::Unit::kYear;
  return Grain::Unit::kNone;
}

// The unit in the name of a function that cuts: `to_date`, `toStartOfMonth`, `toYYYYMM`.
Grain::Unit UnitInName(const std::string& name) {
  for (const char* before : {"tostartof", "to_", "to", ""})
    if (StartsWith(name, before))
      if (const auto unit = UnitOf(name.substr(std::string_view(before).size())); unit != Grain::Unit::kNone)
        return unit;
  return Grain::Unit::kNone;
}

}  // namespace

std::optional<DbtLaidBy> ReadDbtLaidBy(std::string_view expression) {
  const SqlTokens t = TokenizeSql(expression);
  DbtLaidBy out;
  using Kind = SqlToken::Kind;
  for (std::size_t i = 0; i < t.size(); ++i) {
    const std::string word = Lower(t[i].text);
    const bool called = i + 1 < t.size() && t[i + 1].IsSymbol('(');
    const bool type = i > 0 && (t[i - 1].IsSymbol(':') || t[i - 1].Is("AS"));
    if (t[i].kind == Kind::kJinja || t[i].kind == Kind::kBlock) return std::nullopt;
    if (t[i].kind == Kind::kString || called || type) {
      const Grain::Unit unit = called ? UnitInName(word) : UnitOf(word);
      if (unit != Grain::Unit::kNone) out.cut = unit;
      continue;
    }
    if (t[i].kind != Kind::kWord && t[i].kind != Kind::kQuoted) continue;
    if (t[i].Is("AS") || t[i].Is("ASC") || t[i].Is("DESC")) continue;
    const bool qualifier = i + 1 < t.size() && t[i + 1].IsSymbol('.');
    // A bare unit beside a comma is an argument: date_trunc(ts, month).
    const bool argument = i > 0 && i + 1 < t.size() && (t[i - 1].IsSymbol(',') || t[i + 1].IsSymbol(','));
    if (qualifier) continue;
    if (argument && UnitOf(word) != Grain::Unit::kNone && t.size() > 3) {
      out.cut = UnitOf(word);
      continue;
    }
    if (!out.column.empty() && out.column != word) return std::nullopt;
    out.column = word;
  }
  if (out.column.empty()) return std::nullopt;
  return out;
}

bool AddGrainSign(GrainSign::Kind kind, const std::string& column, Grain::Unit unit, DatasetFact& fact) {
  if (column.empty()) return false;
  GrainSign sign;
  sign.kind = kind;
  sign.column = Lower(column);
  if (unit != Grain::Unit::kNone) sign.grain = FormatGrain({unit, 1});
  const auto& known = *fact.signs;
  if (std::find(known.begin(), known.end(), sign) != known.end()) return false;
  fact.signs.Make().push_back(std::move(sign));
  return true;
}

void AddLayoutSigns(const DbtLayoutConfig& config, DatasetFact& fact) {
  const auto all = [&](const std::vector<std::string>& list, GrainSign::Kind kind) {
    for (const std::string& text : list) {
      const auto by = ReadDbtLaidBy(text);
      if (by) AddGrainSign(kind, by->column, by->cut, fact);
    }
  };
  all(config.partition, GrainSign::Kind::kPartition);
  all(config.cluster, GrainSign::Kind::kCluster);
  all(config.sort, GrainSign::Kind::kSort);
  if (!config.loaded_at.empty()) all({config.loaded_at}, GrainSign::Kind::kLoaded);
}

void AddColumnSigns(const std::map<std::string, Grain::Unit>& cuts, const std::set<std::string>& days,
                    DatasetFact& fact) {
  for (const auto& [column, unit] : cuts) AddGrainSign(GrainSign::Kind::kCut, column, unit, fact);
  for (const std::string& column : days)
    if (!cuts.count(column)) AddGrainSign(GrainSign::Kind::kDays, column, Grain::Unit::kDay, fact);
}

}  // namespace backreach
