// Keys in one fixed order; null where nothing is known.

#include "render/plan_file/audit_file.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "graph/base/words.hpp"

namespace backreach {

using Json = nlohmann::ordered_json;

namespace {

Json Opt(const Text& t) { return t ? Json(*t) : Json(); }
Json OrNull(const std::string& text) { return text.empty() ? Json() : Json(text); }

// `14`, `14:5`: a line; a JSON pointer has none.
Json LineOf(const std::string& place) {
  if (place.empty() || place[0] < '0' || place[0] > '9') return {};
  return std::atol(place.c_str());
}

Json FindingJson(const AuditFinding& f) {
  return {{"code", f.code},
          {"dataset", f.dataset},
          {"destination", f.destination},
          {"user", Opt(f.user)},
          {"first_seen", Opt(f.first_seen)},
          {"last_seen", Opt(f.last_seen)},
          {"times", f.times},
          {"statement_ids", f.statement_ids},
          {"severity", ToString(f.severity)},
          {"message", f.message},
          {"remedy", OrNull(f.remedy)},
          {"client", Opt(f.client)},
          {"behind", f.behind},
          {"copy", OrNull(f.copy)},
          {"rows", f.rows < 0 ? Json() : Json(f.rows)},
          {"upstream", f.upstream},
          {"seen",
           {{"source", OrNull(f.seen.source)},
            {"file", OrNull(f.seen.at.file)},
            {"place", OrNull(f.seen.at.place)}}}};
}

std::string Dump(const Json& j) { return j.dump(1, ' ', false, Json::error_handler_t::replace) + "\n"; }

}  // namespace

std::string AuditJson(const Audit& audit) {
  Json j;
  j["format"] = "backreach.audit/1";
  j["findings"] = Json::array();
  for (const AuditFinding& f : audit.findings) j["findings"].push_back(FindingJson(f));
  j["readers"] = Json::array();
  for (const AuditReader& r : audit.readers)
    j["readers"].push_back({{"dataset", r.dataset},
                            {"user", Opt(r.user)},
                            {"client", Opt(r.client)},
                            {"first_seen", Opt(r.first_seen)},
                            {"last_seen", Opt(r.last_seen)},
                            {"times", r.times},
                            {"whole_rows", r.whole_rows}});
  j["documented"] = Json::array();
  for (const AuditDocumented& d : audit.documented)
    j["documented"].push_back({{"copy", d.copy},
                               {"dataset", d.dataset},
                               {"destination", d.destination},
                               {"user", Opt(d.user)},
                               {"times", d.times},
                               {"statement_ids", d.statement_ids},
                               {"first_seen", Opt(d.first_seen)},
                               {"last_seen", Opt(d.last_seen)}});
  j["not_understood"] = Json::array();
  for (const AuditNotUnderstood& n : audit.not_understood)
    j["not_understood"].push_back({{"id", n.id},
                                   {"file", n.file},
                                   {"line", LineOf(n.place)},
                                   {"reason", n.reason},
                                   {"possible_extract", n.possible_extract}});
  j["accepted"] = Json::array();
  for (const AuditAccepted& a : audit.accepted)
    j["accepted"].push_back({{"code", a.finding.code},
                             {"dataset", a.finding.dataset},
                             {"destination", a.finding.destination},
                             {"user", Opt(a.finding.user)},
                             {"reason", a.reason},
                             {"until", Opt(a.until)}});
  j["exposures"] = Json::array();
  for (const AuditExposure& e : audit.exposures)
    j["exposures"].push_back({{"id", e.id}, {"dataset", OrNull(e.dataset)}, {"kind", e.kind}});
  j["looked_at"] = Json::object();
  for (const auto& [what, n] : audit.looked_at) j["looked_at"][what] = n;
  j["not_looked_into"] = audit.not_looked_into;
  return Dump(j);
}

std::string AuditSarif(const Audit& audit) {
  static const std::map<std::string, std::string> rules = {
      {"undocumented-extract", "Rows leave the platform, and no registry entry says so"},
      {"probable-extract", "A client pulls whole tables again and again"},
      {"frozen-copy", "A table was written once and is never brought up to date"},
      {"never-seen", "A registry entry that nothing was seen to write"},
      {"unknown-dataset", "A registry entry of a dataset that nobody knows"},
      {"no-owner", "A registry entry that names nobody who could act on it"},
      {"expired", "A registry entry whose file is not kept any more"},
      {"retrained", "A model that was trained again since it was written down"},
      {"not-understood", "A statement that may take rows out and was not understood"}};
  Json rule_list = Json::array(), results = Json::array();
  std::set<std::string> used;
  const auto result = [&](const std::string& code, const char* level, const std::string& message,
                          const std::string& file, const std::string& place) {
    used.insert(code);
    Json r = {{"ruleId", code}, {"level", level}, {"message", {{"text", message}}}};
    Json location = {{"artifactLocation", {{"uri", file.empty() ? "unknown" : file}}}};
    if (const Json line = LineOf(place); !line.is_null() && line.get<long>() > 0)
      location["region"] = {{"startLine", line}};
    r["locations"] = Json::array({{{"physicalLocation", location}}});
    results.push_back(std::move(r));
  };
  for (const AuditFinding& f : audit.findings)
    result(f.code,
           f.severity == HazardSeverity::kBlocking  ? "error"
           : f.severity == HazardSeverity::kWarning ? "warning"
                                                    : "note",
           f.message, f.seen.at.file, f.seen.at.place);
  for (const AuditNotUnderstood& n : audit.not_understood)
    if (n.possible_extract) result("not-understood", "error", n.id + ": " + n.reason, n.file, n.place);
  for (const auto& [code, text] : rules)
    if (used.count(code)) rule_list.push_back({{"id", code}, {"shortDescription", {{"text", text}}}});
  Json j;
  j["version"] = "2.1.0";
  j["$schema"] = "https://json.schemastore.org/sarif-2.1.0.json";
  j["runs"] = Json::array(
      {{{"tool", {{"driver", {{"name", "backreach"}, {"rules", rule_list}}}}}, {"results", results}}});
  return Dump(j);
}

}  // namespace backreach
