// Mappings in the contract's JSON form, both ways.

#include "graph/reads_json.hpp"

#include <nlohmann/json.hpp>

namespace backreach {

using Json = nlohmann::ordered_json;

std::optional<std::string> ReadsToJson(const Reads& reads) {
  if (std::holds_alternative<reads::Unknown>(reads)) return std::nullopt;
  Json j;
  if (const auto* w = std::get_if<reads::Window>(&reads)) {
    j["window"] = {w->start, w->end};
    if (w->unit) j["unit"] = FormatGrain(*w->unit);
    if (w->by_key) j["by"] = "key";
  } else if (const auto* t = std::get_if<reads::ToDate>(&reads)) {
    j["to_date"] = FormatGrain(Grain{t->period, 1});
  } else {
    j = FormatReads(reads);
  }
  return j.dump();
}

std::optional<Reads> ReadsFromJson(const std::string& text) {
  const Json j = Json::parse(text, nullptr, false);
  if (j.is_string()) {
    const auto word = j.get<std::string>();
    if (word == "same") return reads::Same{};
    if (word == "key") return reads::Key{};
    if (word == "previous") return reads::Previous{};
    if (word == "all") return reads::All{};
    if (word == "latest") return reads::Latest{};
    if (word == "latest_then") return reads::LatestThen{};
    return std::nullopt;
  }
  if (!j.is_object()) return std::nullopt;
  if (j.contains("to_date") && j["to_date"].is_string()) {
    const auto grain = ParseGrain(j["to_date"].get<std::string>());
    if (!grain || grain->unit < Grain::Unit::kWeek) return std::nullopt;
    return reads::ToDate{grain->unit};
  }
  if (!j.contains("window") || !j["window"].is_array() || j["window"].size() != 2) return std::nullopt;
  reads::Window w;
  w.start = j["window"][0].get<std::int64_t>();
  w.end = j["window"][1].get<std::int64_t>();
  if (j.contains("unit")) {
    w.unit = ParseGrain(j["unit"].get<std::string>());
    if (!w.unit) return std::nullopt;
  }
  w.by_key = j.contains("by");
  return w;
}

}  // namespace backreach
