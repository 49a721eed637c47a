// Mappings in the contract's JSON form, both ways.

#include "graph/reads/reads_json.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

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
  } else if (const auto* p = std::get_if<reads::Period>(&reads)) {
    j["period"] = FormatGrain(Grain{p->unit, 1});
    if (p->offset != 0) j["offset"] = p->offset;
  } else if (const auto* f = std::get_if<reads::Fixed>(&reads)) {
    j["fixed"] = {{"from", FormatDay(f->from)}, {"to", FormatDay(f->to)}};
  } else {
    j = FormatReads(reads);
  }
  return j.dump();
}

namespace {

std::optional<Reads> FromJson(const Json& j) {
  if (j.is_string()) {
    const auto word = j.get<std::string>();
    if (word == "same") return reads::Same{};
    if (word == "key") return reads::Key{};
    if (word == "previous") return reads::Previous{};
    if (word == "following") return reads::Following{};
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
  if (j.contains("period") && j["period"].is_string()) {
    const auto grain = ParseGrain(j["period"].get<std::string>());
    if (!grain || grain->unit < Grain::Unit::kWeek) return std::nullopt;
    return reads::Period{grain->unit, j.value("offset", std::int64_t{0})};
  }
  if (j.contains("fixed") && j["fixed"].is_object()) {
    const auto from = ParseDay(j["fixed"].value("from", "")), to = ParseDay(j["fixed"].value("to", ""));
    if (!from || !to || *from > *to) return std::nullopt;
    return reads::Fixed{*from, *to};
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

}  // namespace

std::optional<Reads> ReadsFromJson(const std::string& text) {
  return FromJson(Json::parse(text, nullptr, false));
}

std::vector<Reads> ReadsListFromJson(const std::string& text) {
  const Json j = Json::parse(text, nullptr, false);
  std::vector<Reads> out;
  if (!j.is_array()) {
    if (const auto one = FromJson(j)) out.push_back(*one);
    return out;
  }
  for (const Json& item : j)
    if (const auto one = FromJson(item); one && std::find(out.begin(), out.end(), *one) == out.end())
      out.push_back(*one);
  return out;
}

std::optional<std::string> ReadsListToJson(const std::vector<Reads>& reads) {
  if (reads.size() == 1) return ReadsToJson(reads[0]);
  std::string out = "[";
  for (const Reads& one : reads) {
    const auto text = ReadsToJson(one);
    if (!text) return std::nullopt;
    out += (out.size() > 1 ? "," : "") + *text;
  }
  return out + "]";
}

}  // namespace backreach
