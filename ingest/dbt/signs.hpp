// Signs of how a dbt model or source is cut in time, for people to say yes or no to.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "graph/facts/facts.hpp"
#include "graph/time/calendar.hpp"

namespace backreach {

// How a model's config lays it out on its platform: columns, or expressions over one.
struct DbtLayoutConfig {
  std::vector<std::string> partition, cluster, sort;
  std::string loaded_at;  // a source's loaded_at_field
};

// The one column that an expression of a config is about (`created_at::date`, `date_trunc('month', ts)`), in
// lower case, with the unit that it is cut to; nothing where it is about none or several.
struct DbtLaidBy {
  std::string column;
  Grain::Unit cut = Grain::Unit::kNone;
};
std::optional<DbtLaidBy> ReadDbtLaidBy(std::string_view expression);

// Adds the sign unless it is there; true if it was not.
bool AddGrainSign(GrainSign::Kind kind, const std::string& column, Grain::Unit unit, DatasetFact& fact);
void AddLayoutSigns(const DbtLayoutConfig& config, DatasetFact& fact);
// Columns that the model's query cuts, or that hold days.
void AddColumnSigns(const std::map<std::string, Grain::Unit>& cuts, const std::set<std::string>& days,
                    DatasetFact& fact);

}  // namespace backreach
